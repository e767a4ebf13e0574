//! Reading back what is stored: whole rows, which rows are live, whose they are, what is rejected.
//!
//! Nothing here takes a lock. What belongs together is read in one transaction that sees one state of the database, so
//! a row is never seen with the labels of another version.

use super::batch::{MOST_ROWS, chunks};
use super::transaction::Transaction;
use super::{Rejected, Store, StoreError};
use ingester_core::dialect::Access;
use ingester_core::dialect::statements::{Live, Names, Newest, Read, ReadCompanion, ReadRejects};
use ingester_core::object::StringMap;
use ingester_core::schema::{Companion, Table, base};
use ingester_core::value::{Micros, Value};
use std::collections::HashMap;

/// One object's rows as they stand in its three tables; beside what was to be written, see
/// [`differences`](super::compare::differences).
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRow {
    /// `uid`
    pub uid: Box<str>,
    /// `res_version`
    pub res_version: u64,
    /// `delete_time`; 1970 where somebody wrote what is no time.
    pub delete_time: Option<Micros>,
    /// `evict_time`; 1970 where somebody wrote what is no time.
    pub evict_time: Option<Micros>,
    /// Every column of the main table in its order, these four and `update_time` too. A value that the column's type
    /// cannot have, which SQLite lets people write, comes as what it is.
    pub values: Box<[Value]>,
    /// The rows of the labels table, sorted by key.
    pub labels: StringMap,
    /// The rows of the annotations table, sorted by key.
    pub annotations: StringMap,
}

/// What a live row is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRow {
    /// `uid`
    pub uid: Box<str>,
    /// `res_version`
    pub res_version: u64,
    /// `evict_time` is set: the object lives in its row only.
    pub evicted: bool,
}

impl Store {
    /// Everything that is stored of these uids, live or not, in the order of the uids; those without a row are left out.
    ///
    /// All of it is in memory at once, so a caller with many uids asks in portions.
    ///
    /// # Errors
    /// When the tables cannot be read within the retries.
    pub async fn stored(&self, table: &'static Table, uids: &[&str]) -> Result<Vec<StoredRow>, StoreError> {
        let uids = &once_each(uids)[..];
        self.retrying(
            || format!("reading {} rows of `{}`", uids.len(), table.name),
            || async {
                let mut tx = self.pool.begin(Access::Read).await?;
                let rows = read_rows(&mut tx, table, uids).await;
                tx.end(rows).await
            },
        )
        .await
    }

    /// Up to `limit` live rows whose uids come after `after`, in the order of the uids: a page of all live rows, evicted
    /// ones too. The first page comes after the empty text; a page with fewer than `limit` rows is the last.
    ///
    /// # Errors
    /// When the table cannot be read within the retries.
    pub async fn live(
        &self,
        table: &'static Table,
        namespace: Option<&str>,
        after: &str,
        limit: usize,
    ) -> Result<Vec<LiveRow>, StoreError> {
        let page = &Live { table, namespace, after, limit };
        let read = self.retrying(
            || format!("reading which rows of `{}` are live", table.name),
            || async { self.pool.fetch(page).await },
        );
        let row = |(uid, version): (String, super::guard::Version)| LiveRow {
            uid: uid.into(),
            res_version: version.res_version,
            evicted: version.evicted,
        };
        Ok(read.await?.into_iter().map(row).collect())
    }

    /// Uid, namespace and name of these uids' rows, live or not, in the order of the uids; those without a row are left
    /// out.
    ///
    /// # Errors
    /// When the table cannot be read within the retries.
    pub async fn names(
        &self,
        table: &'static Table,
        uids: &[&str],
    ) -> Result<Vec<(Box<str>, Box<str>, Box<str>)>, StoreError> {
        let uids = &once_each(uids)[..];
        let read = self.retrying(
            || format!("reading the names of {} rows of `{}`", uids.len(), table.name),
            || async {
                let mut tx = self.pool.begin(Access::Read).await?;
                let names = read_names(&mut tx, table, uids).await;
                tx.end(names).await
            },
        );
        Ok(read.await?.into_iter().map(|(uid, namespace, name)| (uid.into(), namespace.into(), name.into())).collect())
    }

    /// The highest `res_version` of all rows, tombstones and evicted ones too; 0 without rows. There is no key for it:
    /// every row is looked at.
    ///
    /// # Errors
    /// When the table cannot be read within the retries.
    pub async fn newest(&self, table: &'static Table) -> Result<u64, StoreError> {
        let read = self.retrying(
            || format!("reading the newest version in `{}`", table.name),
            || async { self.pool.fetch(&Newest { table }).await },
        );
        Ok(match read.await?.first() {
            Some(Value::UInt(newest)) => *newest,
            _ => 0,
        })
    }

    /// The objects of one kind that are rejected now, in the order of their uids, each with its reason.
    ///
    /// # Errors
    /// When `ingester_rejects` cannot be read within the retries.
    pub async fn rejects(&self, group_ver: &str, kind: &str) -> Result<Vec<Rejected>, StoreError> {
        let read = self.retrying(
            || format!("reading the rejects of {kind} in ingester_rejects"),
            || async { self.pool.fetch(&ReadRejects { group_ver, kind }).await },
        );
        Ok(read.await?.into_iter().map(|(uid, reason)| Rejected { uid: uid.into(), reason }).collect())
    }
}

async fn read_rows(tx: &mut Transaction, table: &'static Table, uids: &[&str]) -> Result<Vec<StoredRow>, sqlx::Error> {
    let mut rows = Vec::with_capacity(uids.len());
    let mut companions = [HashMap::new(), HashMap::new()];
    for uids in chunks(uids, MOST_ROWS) {
        rows.extend(tx.fetch(&Read { table, uids }).await?);
        for (companion, of_uids) in Companion::ALL.into_iter().zip(&mut companions) {
            for (uid, key, value) in tx.fetch(&ReadCompanion { table, companion, uids }).await? {
                let of_uid: &mut Vec<_> = of_uids.entry(uid).or_default();
                of_uid.push((key.into_boxed_str(), value.into_boxed_str()));
            }
        }
    }
    let [mut labels, mut annotations] = companions;
    rows.into_iter()
        .map(|values| {
            let (Some(Value::Text(uid)), Some(Value::UInt(res_version))) =
                (values.get(base::UID), values.get(base::RES_VERSION))
            else {
                return Err(sqlx::Error::Decode("a row without uid or res_version".into()));
            };
            Ok(StoredRow {
                uid: (&**uid).into(),
                res_version: *res_version,
                delete_time: time(values.get(base::DELETE_TIME)),
                evict_time: time(values.get(base::EVICT_TIME)),
                labels: sorted(labels.remove(uid.as_ref())),
                annotations: sorted(annotations.remove(uid.as_ref())),
                values,
            })
        })
        .collect()
}

async fn read_names(
    tx: &mut Transaction,
    table: &'static Table,
    uids: &[&str],
) -> Result<Vec<(String, String, String)>, sqlx::Error> {
    let mut names = Vec::with_capacity(uids.len());
    for uids in chunks(uids, MOST_ROWS) {
        names.extend(tx.fetch(&Names { table, uids }).await?);
    }
    Ok(names)
}

/// In order and without repeats: a uid in two chunks would come back twice.
fn once_each<'u>(uids: &[&'u str]) -> Vec<&'u str> {
    let mut uids = uids.to_vec();
    uids.sort_unstable();
    uids.dedup();
    uids
}

fn time(value: Option<&Value>) -> Option<Micros> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::Time(time)) => Some(*time),
        Some(_) => Some(Micros(0)),
    }
}

/// The server sorts by the key's collation, which may be another than ours when somebody has changed the table.
fn sorted(rows: Option<Vec<(Box<str>, Box<str>)>>) -> StringMap {
    let mut rows = rows.unwrap_or_default();
    rows.sort_unstable();
    rows.into()
}
