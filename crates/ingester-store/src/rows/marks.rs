//! Rows that are the only copy of their object leave SQL in two steps. A rule first marks a row, which also deletes it for readers; after a
//! grace the same rule, unchanged, must still let it go before the row is purged. A mark can be taken back in between: by the program if
//! the rule no longer holds, by a user with `ingester policies revert`.
//!
//! Like every writer, it locks main rows first, so a mark and its row agree.

use super::chunks::{MOST_ROWS, chunks};
use super::history::{Beginnings, keep_versions, mark_deleted};
use super::proof::{Premise, proved};
use super::restores::open_restores;
use super::rows_named;
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::row::Standing;
use ingester_core::schema::{Fingerprint, Table};
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    ChangeKind, ForgetMarks, GoneObject, LockPurgeable, MarksOf, Namesakes, ReadMarks, RecordMarks, Undelete,
};
use std::collections::{HashMap, HashSet};

pub use ingester_sql::dialect::statements::Mark;

/// A rule that marks rows, as marks record it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkingRule<'a> {
    /// Its name.
    pub name: &'a str,
    /// The fingerprint of its content. A mark with another fingerprint no longer counts.
    pub fingerprint: Fingerprint,
}

/// The result of marking rows by a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkingResult {
    /// Rows that are marked now.
    pub marked: u64,
    /// Rows that no rule may judge now.
    pub pending: u64,
    /// Rows for which a user has reverted the rule, and whose text is unchanged since.
    pub exempt: u64,
}

/// The reason for taking a mark back. It decides what the rule may do with the row later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// The rule no longer holds: it may mark the row again later.
    Lapsed,
    /// A user has reverted the rule: it leaves the row alone until the row's text changes.
    Reverted,
}

/// The result of taking marks back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WithdrawalResult {
    /// Rows that are no longer deleted.
    pub restored: u64,
    /// Namespace and name of rows that stay deleted, because a live row has the same name.
    pub namesakes: Vec<(String, String)>,
}

/// Returns the hash of a row's text, as marks record it.
pub fn text_hash(text: &str) -> String {
    Fingerprint::NONE.text(text).to_string()
}

impl Store {
    /// Returns the marks of these rows, in the order of uid and rule.
    ///
    /// # Errors
    /// If the table of marks cannot be read within the retries.
    pub async fn marks_of(&self, table: &'static Table, uids: &[&str]) -> Result<Vec<Mark>, StoreError> {
        let doing = || format!("reading the marks of {}", rows_named(uids.len(), table));
        self.with_retries(doing, || async {
            let mut marks = Vec::new();
            for uids in chunks(uids, MOST_ROWS, self.dialect) {
                let of = MarksOf::Rows(uids);
                marks.extend(self.pool.fetch(&ReadMarks { table: table.name.as_str(), of }).await?);
            }
            Ok(marks)
        })
        .await
    }

    /// Returns a page of a table's marks in the order of uid and rule: the ones after `last`.
    ///
    /// # Errors
    /// As [`Store::marks_of`].
    pub async fn marks_after(&self, table: &'static Table, last: Option<&Mark>) -> Result<Vec<Mark>, StoreError> {
        let uid = last.map_or("", |mark| &mark.uid);
        let rule = last.map_or("", |mark| &mark.rule);
        let of = MarksOf::After { uid, rule, limit: MOST_ROWS };
        let doing = || format!("reading the marks of `{}`", table.name);
        self.with_retries(doing, || async { self.pool.fetch(&ReadMarks { table: table.name.as_str(), of }).await })
            .await
    }

    /// Marks the rows that are unchanged since they were judged and whose texts prove what the rule reads (the premise). A marked row
    /// counts as deleted for readers. A row that another rule has marked stays as it is.
    ///
    /// # Errors
    /// If the rows cannot be read or written within the retries.
    pub async fn mark_by_rule(
        &self,
        kind: &Kind,
        rule: MarkingRule<'_>,
        rows: &[(&str, Standing)],
        premise: &Premise,
    ) -> Result<MarkingResult, StoreError> {
        let table = kind.table();
        let judged: HashMap<&str, Standing> = rows.iter().copied().collect();
        let mut uids: Vec<&str> = judged.keys().copied().collect();
        uids.sort_unstable();
        let mut marking = MarkingResult::default();
        for uids in chunks(&uids, MOST_ROWS, self.dialect) {
            let mark = || async {
                let now = self.now();
                let mut log = self.log(table, now).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let done = mark_locked(&mut tx, kind, rule, (uids, &judged), (premise, now)).await;
                let done = done.map(|(done, deleted)| {
                    let known = uids.iter().filter(|uid| deleted.contains(**uid));
                    log.add_uids(ChangeKind::Deleted, known.copied());
                    done
                });
                log.end(tx, done, self.max_packet).await
            };
            let done = self.with_retries(|| format!("marking rows of `{}`", table.name), mark).await?;
            marking.marked += done.marked;
            marking.pending += done.pending;
            marking.exempt += done.exempt;
        }
        Ok(marking)
    }

    /// Takes marks back. A row that its mark had deleted lives again, unless a live row has its name by now.
    ///
    /// # Errors
    /// If the rows cannot be read or written within the retries.
    pub async fn withdraw_marks(
        &self,
        kind: &Kind,
        marks: &[Mark],
        withdrawal: Withdrawal,
    ) -> Result<WithdrawalResult, StoreError> {
        let table = kind.table();
        let mut withdrawn = WithdrawalResult::default();
        for marks in chunks(marks, MOST_ROWS, self.dialect) {
            let withdraw = || async {
                let now = self.now();
                let mut log = self.log(table, now).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let done = withdraw_locked(&mut tx, table, marks, (withdrawal, now)).await;
                let done = done.map(|(done, restored)| {
                    let uids = || marks.iter().map(|mark| mark.uid.as_str()).filter(|uid| restored.contains(*uid));
                    log.add_uids(ChangeKind::Revived, uids());
                    log.add_uids(ChangeKind::Evicted, uids());
                    done
                });
                log.end(tx, done, self.max_packet).await
            };
            let doing = || format!("taking marks of rows of `{}` back", table.name);
            let done = self.with_retries(doing, withdraw).await?;
            withdrawn.restored += done.restored;
            withdrawn.namesakes.extend(done.namesakes);
        }
        Ok(withdrawn)
    }
}

/// Marks rows. Returns the result, and the uids of rows that are deleted now.
async fn mark_locked(
    tx: &mut Transaction,
    kind: &Kind,
    rule: MarkingRule<'_>,
    (uids, judged): (&[&str], &HashMap<&str, Standing>),
    (premise, now): (&Premise, Micros),
) -> Result<(MarkingResult, HashSet<String>), sqlx::Error> {
    let table = kind.table();
    let mut locked = tx.fetch(&LockPurgeable { table, uids }).await?;
    locked.retain(|(uid, standing)| judged.get(uid.as_str()) == Some(standing));
    let restoring = open_restores(tx, table, uids).await?;
    locked.retain(|(uid, _)| !restoring.contains_key(uid));
    let uids: Vec<&str> = locked.iter().map(|(uid, _)| uid.as_str()).collect();
    let (rows, pending) = proved(tx, kind, &uids, premise).await?;
    let mut marking = MarkingResult { pending, ..MarkingResult::default() };
    let before = match uids.is_empty() {
        true => Vec::new(),
        false => tx.fetch(&ReadMarks { table: table.name.as_str(), of: MarksOf::Rows(&uids) }).await?,
    };
    let mut marks = Vec::new();
    let mut gone = Vec::new();
    let mut deleted = HashSet::new();
    for row in &rows {
        let text_hash = text_hash(row.json());
        let its = || before.iter().filter(|mark| *mark.uid == *row.uid);
        if its().any(|mark| mark.revert_time.is_none()) {
            continue;
        }
        if its().any(|mark| mark.rule == rule.name && mark.text_hash == text_hash) {
            marking.exempt += 1;
            continue;
        }
        marks.push(Mark {
            uid: row.uid.to_string(),
            rule: rule.name.to_owned(),
            fingerprint: rule.fingerprint.to_string(),
            text_hash,
            mark_time: now,
            revert_time: None,
        });
        if row.delete_time.is_none() {
            gone.push(GoneObject { uid: &row.uid, res_version: row.res_version, delete_time: now });
            deleted.insert(row.uid.to_string());
        }
    }
    mark_deleted(tx, table, &gone, now, &Beginnings::new()).await?;
    for marks in chunks(&marks, MOST_ROWS, tx.dialect()) {
        tx.execute(&RecordMarks { table: table.name.as_str(), marks }).await?;
    }
    marking.marked = marks.len() as u64;
    Ok((marking, deleted))
}

/// Takes marks back. Returns the result, and the uids of rows that live again.
async fn withdraw_locked(
    tx: &mut Transaction,
    table: &'static Table,
    marks: &[Mark],
    (withdrawal, now): (Withdrawal, Micros),
) -> Result<(WithdrawalResult, HashSet<String>), sqlx::Error> {
    let mut uids: Vec<&str> = marks.iter().map(|mark| mark.uid.as_str()).collect();
    uids.sort_unstable();
    uids.dedup();
    let locked = tx.fetch(&LockPurgeable { table, uids: &uids }).await?;
    // Another process may have taken some of the marks back meanwhile.
    let recorded = tx.fetch(&ReadMarks { table: table.name.as_str(), of: MarksOf::Rows(&uids) }).await?;
    let marks: Vec<&Mark> = marks.iter().filter(|mark| recorded.contains(mark)).collect();
    let deleted_by = |uid: &str, standing: &Standing| {
        let time = standing.delete_time;
        marks.iter().any(|mark| mark.uid == uid && mark.revert_time.is_none() && Some(mark.mark_time) == time)
    };
    let deleted: Vec<&str> =
        (locked.iter()).filter(|(uid, standing)| deleted_by(uid, standing)).map(|(uid, _)| uid.as_str()).collect();
    let mut withdrawn = WithdrawalResult::default();
    let mut staying = HashSet::new();
    for uids in chunks(&deleted, MOST_ROWS, tx.dialect()) {
        for (uid, namespace, name) in tx.fetch(&Namesakes { table, uids }).await? {
            staying.insert(uid);
            withdrawn.namesakes.push((namespace, name));
        }
    }
    let restored: Vec<&str> = deleted.into_iter().filter(|uid| !staying.contains(*uid)).collect();
    undelete(tx, table, &restored, now).await?;
    for mark in &marks {
        match withdrawal {
            Withdrawal::Lapsed => {
                let uids = &[mark.uid.as_str()];
                tx.execute(&ForgetMarks { table: table.name.as_str(), rule: Some(&mark.rule), uids }).await?;
            }
            Withdrawal::Reverted => {
                let reverted = Mark { revert_time: Some(now), ..(*mark).clone() };
                tx.execute(&RecordMarks { table: table.name.as_str(), marks: &[reverted] }).await?;
            }
        }
    }
    withdrawn.restored = restored.len() as u64;
    Ok((withdrawn, restored.into_iter().map(str::to_owned).collect()))
}

/// Undoes the deletion of rows that the transaction has locked, and copies their versions until now into the history.
async fn undelete(tx: &mut Transaction, table: &Table, uids: &[&str], now: Micros) -> Result<(), sqlx::Error> {
    if uids.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = uids.iter().map(|uid| (*uid, Some(ChangeKind::Revived))).collect();
    let times = keep_versions(tx, table, &rows, now, &Beginnings::new()).await?;
    let (usual, others): (Vec<&str>, Vec<&str>) = uids.iter().partition(|uid| times.get(uid) == now);
    for uids in chunks(&usual, MOST_ROWS, tx.dialect()) {
        tx.execute(&Undelete { table, uids, update_time: now }).await?;
    }
    for uid in others {
        tx.execute(&Undelete { table, uids: &[uid], update_time: times.get(uid) }).await?;
    }
    Ok(())
}
