//! Restores create the object of a row in the cluster again. A restore is open from the transaction that reads the text for the new object
//! until the transaction that stores the new object marks the old row, or until the restore is given up.
//!
//! While it is open, nothing else changes the row: the change would be lost, because the new object already has the old text, and the row is
//! about to be marked as deleted. All writers lock the row before they read `ingester_restores`, so what they read there holds until they
//! commit.
//!
//! The annotation `RestoreNonce` ties an object to its restore. An object whose restore is no longer open changes nothing here: the create
//! request of an abandoned restore may arrive late, with a text that is older than the row.

use super::chunks::{MOST_ROWS, chunks};
use super::guard::{Eviction, Version};
use super::history::{Beginnings, mark_deleted};
use super::log::Log;
use super::read::{StoredRow, read_rows};
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::row::Origin;
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    ChangeKind, ForgetRestores, GoneObject, ReadRestores, RecordRestore, RestoreRow, Versions,
};
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

/// A restore that has begun and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRestore {
    /// Its number, which the new object has in the annotation `RestoreNonce`.
    pub nonce: Box<str>,
    /// The time at which the last attempt to create its object began, by the database's clock.
    pub time: Micros,
}

/// The result of [`Store::begin_restore`].
#[derive(Clone, Debug, PartialEq)]
pub enum RestoreBegin {
    /// The restore is open.
    Open {
        /// The row, which changes no more until the restore ends.
        row: Box<StoredRow>,
        /// The restore.
        restore: OpenRestore,
        /// True if it was open before: a request of an earlier attempt may still create the object.
        is_continued: bool,
    },
    /// There is no row of this kind with this uid.
    NotFound,
    /// Its object is in the cluster.
    NotEvicted,
    /// Its object is leaving the cluster.
    Leaving,
}

impl Store {
    /// Begins the restore of an evicted or deleted row, or continues the open one. Returns the row as it is in the same transaction.
    ///
    /// # Errors
    /// If the row cannot be read, or the restore cannot be recorded within the retries.
    pub async fn begin_restore(&self, kind: &Kind, uid: &str) -> Result<RestoreBegin, StoreError> {
        self.with_retries(
            || format!("beginning the restore of a row of `{}`", kind.table().name),
            || async {
                // The caller creates the object once this is answered, so the record of the restore must not get lost.
                let mut tx = self.pool.begin_durably(true).await?;
                let begun = begin(&mut tx, kind, uid, self.now()).await;
                tx.end(begun).await
            },
        )
        .await
    }

    /// Returns the open restore of a row, if there is one.
    ///
    /// # Errors
    /// If it cannot be read within the retries.
    pub async fn open_restore(&self, kind: &Kind, uid: &str) -> Result<Option<OpenRestore>, StoreError> {
        let read = &ReadRestores { table: kind.table().name, uids: &[uid] };
        let doing = || format!("reading restores of rows of `{}`", kind.table().name);
        let rows = self.with_retries(doing, || async { self.pool.fetch(read).await }).await?;
        Ok(rows.into_iter().next().map(|row| open(row).1))
    }

    /// Ends a restore whose new object is stored: marks the old row as deleted, unless it is, and forgets the restore. With a nonce, it
    /// does so only if that restore is open; without one, the object is from a program that wrote none. Returns true if the old row is
    /// deleted now, or gone.
    ///
    /// # Errors
    /// If the rows cannot be read or written within the retries.
    pub async fn end_restore(&self, kind: &Kind, uid: &str, nonce: Option<&str>) -> Result<bool, StoreError> {
        let table = kind.table();
        self.with_retries(
            || format!("ending the restore of a row of `{}`", table.name),
            || async {
                let mut log = self.log(table, self.now()).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let ended = end(&mut tx, table, (uid, nonce), self.now(), &mut log).await;
                log.end(tx, ended, self.max_packet).await
            },
        )
        .await
    }

    /// Gives up a restore if it is still as it was read, which means that nobody has tried to create its object since. The row can then be
    /// changed again. Returns true if it was given up.
    ///
    /// # Errors
    /// If it cannot be read or written within the retries.
    pub async fn give_up_restore(&self, kind: &Kind, uid: &str, read: &OpenRestore) -> Result<bool, StoreError> {
        let table = kind.table();
        self.with_retries(
            || format!("giving up the restore of a row of `{}`", table.name),
            || async {
                let mut tx = self.pool.begin_durably(true).await?;
                let given_up = async {
                    tx.fetch(&Versions { table, uids: &[uid], lock: true }).await?;
                    if open_restores(&mut tx, table, &[uid]).await?.get(uid) != Some(read) {
                        return Ok(false);
                    }
                    tx.execute(&ForgetRestores { table: table.name, uids: &[uid] }).await?;
                    Ok(true)
                }
                .await;
                tx.end(given_up).await
            },
        )
        .await
    }
}

async fn begin(tx: &mut Transaction, kind: &Kind, uid: &str, now: Micros) -> Result<RestoreBegin, sqlx::Error> {
    let table = kind.table();
    let uids = &[uid];
    tx.fetch(&Versions { table, uids, lock: true }).await?;
    let Some(row) = read_rows(tx, table, uids).await?.into_iter().find(|row| row.is_of(kind)) else {
        return Ok(RestoreBegin::NotFound);
    };
    match row.eviction {
        _ if row.delete_time.is_some() => {}
        Eviction::None => return Ok(RestoreBegin::NotEvicted),
        Eviction::Intended => return Ok(RestoreBegin::Leaving),
        Eviction::Confirmed | Eviction::Unrecorded => {}
    }
    let before = open_restores(tx, table, uids).await?.remove(uid);
    let is_continued = before.is_some();
    let restore = match before {
        // Never record the same time twice: a refused attempt identifies the record that it may give up by this time.
        Some(OpenRestore { nonce, time }) => OpenRestore { nonce, time: now.max(Micros(time.0.saturating_add(1))) },
        None => OpenRestore { nonce: new_nonce(uid, now), time: now },
    };
    let record = RecordRestore { table: table.name, uid, nonce: &restore.nonce, restore_time: restore.time };
    tx.execute(&record).await?;
    Ok(RestoreBegin::Open { row: Box::new(row), restore, is_continued })
}

async fn end<'a>(
    tx: &mut Transaction,
    table: &'static Table,
    (uid, nonce): (&'a str, Option<&str>),
    now: Micros,
    log: &mut Log<'a>,
) -> Result<bool, sqlx::Error> {
    let stored = tx.fetch(&Versions { table, uids: &[uid], lock: true }).await?.pop();
    let open = open_restores(tx, table, &[uid]).await?.remove(uid);
    let is_this = nonce.is_none() || open.as_ref().map(|open| &*open.nonce) == nonce;
    if is_this && open.is_some() {
        tx.execute(&ForgetRestores { table: table.name, uids: &[uid] }).await?;
    }
    match stored {
        Some((_, stored)) if !stored.deleted => {
            let marks = is_this && stored.eviction.is_only_copy();
            if marks {
                mark_deleted(tx, table, &[gone(uid, stored, now)], now, &Beginnings::new()).await?;
                log.add_uids(ChangeKind::Deleted, [uid]);
            }
            Ok(marks)
        }
        Some(_) | None => Ok(true),
    }
}

/// Ends the restores whose new objects this transaction has inserted, as [`Store::end_restore`] does.
pub(super) async fn end_restores<'a>(
    tx: &mut Transaction,
    table: &'static Table,
    origins: &[&'a Origin],
    now: Micros,
    log: &mut Log<'a>,
) -> Result<(), sqlx::Error> {
    let mut origins = origins.to_vec();
    // Rows are locked in the order of their uids.
    origins.sort_unstable_by(|a, b| a.from.cmp(&b.from));
    for origin in origins {
        end(tx, table, (&origin.from, Some(&origin.nonce)), now, log).await?;
    }
    Ok(())
}

/// Returns the open restores of rows that the transaction has locked, by the rows' uids. Nothing else may change, mark or purge such a row.
pub(super) async fn open_restores(
    tx: &mut Transaction,
    table: &Table,
    uids: &[&str],
) -> Result<HashMap<String, OpenRestore>, sqlx::Error> {
    let mut all = HashMap::new();
    for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
        all.extend(tx.fetch(&ReadRestores { table: table.name, uids }).await?.into_iter().map(open));
    }
    Ok(all)
}

fn open(row: RestoreRow) -> (String, OpenRestore) {
    (row.uid, OpenRestore { nonce: row.nonce.into(), time: row.restore_time })
}

fn gone(uid: &str, stored: Version, now: Micros) -> GoneObject<'_> {
    GoneObject { uid, res_version: stored.res_version, delete_time: now }
}

/// Returns a number that no other restore has: 128 bits from the seeds of two hash functions.
fn new_nonce(uid: &str, now: Micros) -> Box<str> {
    let part = || RandomState::new().hash_one((uid, now.0));
    format!("{:016x}{:016x}", part(), part()).into()
}

#[cfg(test)]
mod tests {
    use super::new_nonce;
    use ingester_core::value::Micros;

    #[test]
    fn two_restores_of_one_row_have_different_numbers() {
        let numbers = [0, 0, 1].map(|now| new_nonce("a", Micros(now)));
        assert!(numbers.iter().all(|nonce| nonce.len() == 32), "{numbers:?}");
        assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2], "{numbers:?}");
    }
}
