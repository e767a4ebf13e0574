//! Reads stored rows back: whole rows, the live rows, and their names.
//!
//! Nothing here takes a lock. A row and its labels are read in one transaction that sees one state of the database, so the labels never
//! belong to another version.

use super::chunks::{MOST_ROWS, chunks};
use super::guard::{Eviction, Version};
use super::rows_named;
use crate::driver::{ErrorSubject, StoreError, Transaction, is_about};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::object::StringMap;
use ingester_core::schema::{Companion, Table, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::{Live, LiveByNamespace, Names, Newest, Peek, Read, ReadCompanion, Versions};
use ingester_sql::dialect::{Access, GroupFilter, Query};
use std::collections::HashMap;
use std::time::Duration;

/// One object's rows in its tables. [`differences`](super::compare::differences) compares them with the row that should be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRow {
    /// `uid`
    pub uid: Box<str>,
    /// `res_version`
    pub res_version: u64,
    /// `ingest_version`; 0 if the column does not hold a number of 32 bits.
    pub ingest_version: u32,
    /// `delete_time`; 1970 if the column holds something that is not a time.
    pub delete_time: Option<Micros>,
    /// `evict_time`; 1970 if the column holds something that is not a time.
    pub evict_time: Option<Micros>,
    /// The progress of the eviction, from `evict_time` and `evict_confirmed`.
    pub eviction: Eviction,
    /// Every column of the main table in its order, including these four and `update_time`. SQLite accepts values of other types
    /// than the column's; they are returned as they are.
    pub values: Box<[Value]>,
    /// The rows of the labels table, sorted by key.
    pub labels: StringMap,
    /// The rows of the annotations table, sorted by key.
    pub annotations: StringMap,
    /// The rows of each table of many values, as in [`Row::many`](ingester_core::row::Row::many).
    pub many: Box<[StringMap]>,
}

impl StoredRow {
    /// Returns the row's version.
    pub fn version(&self) -> Version {
        Version {
            res_version: self.res_version,
            ingest_version: self.ingest_version,
            deleted: self.delete_time.is_some(),
            eviction: self.eviction,
        }
    }

    /// Returns true if the row belongs to the kind's group, in any version.
    pub(super) fn is_of(&self, kind: &Kind) -> bool {
        let Some(Value::Text(group_ver)) = self.values.get(base::GROUP_VER) else { return false };
        group_ver.rsplit_once('/').map_or("", |(group, _)| group) == kind.group()
    }

    /// Returns the object's text.
    pub fn json(&self) -> &str {
        match self.values.get(base::JSON) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
}

/// A row whose object is not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRow {
    /// `uid`
    pub uid: Box<str>,
    /// `res_version`
    pub res_version: u64,
    /// `ingest_version`: the definition of the kind that wrote it, see [`Kind::is_older`](ingester_core::Kind::is_older).
    pub ingest_version: u32,
    /// The eviction's progress: the object is leaving etcd, or has left it.
    pub eviction: Eviction,
}

/// Includes or leaves out rows with a confirmed eviction, whose objects exist only in these rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictedRows {
    /// The rows are read as well.
    Included,
    /// The database leaves the rows out.
    LeftOut,
}

/// The time limit of the database for one page of live rows.
const PAGE: Duration = Duration::from_secs(30);

impl Store {
    /// Returns the stored rows of these uids, live or not, in the order of the uids; uids without a row are left out.
    ///
    /// All rows are in memory at once, so ask for many uids in portions.
    ///
    /// # Errors
    /// If the tables cannot be read within the retries.
    pub async fn read_stored(&self, table: &'static Table, uids: &[&str]) -> Result<Vec<StoredRow>, StoreError> {
        let uids = &once_each(uids)[..];
        self.with_retries(
            || format!("reading {}", rows_named(uids.len(), table)),
            || async {
                let mut tx = self.pool.begin(Access::Read).await?;
                let rows = read_rows(&mut tx, table, uids).await;
                tx.end(rows).await
            },
        )
        .await
    }

    /// Returns a page of the kind's live rows: up to `limit` rows whose uids come after `after`, in the order of the uids. The first page
    /// comes after the empty text; a page with fewer than `limit` rows is the last. Rows of the kind's group belong to it in any version;
    /// rows of other groups are left out. Each page has its own time-out and retries, so a table of any size can be read.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn live(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        evicted: EvictedRows,
        after: &str,
        limit: usize,
    ) -> Result<Vec<LiveRow>, StoreError> {
        let table = kind.table();
        let group = &GroupFilter::new(kind.group());
        let confirmed = evicted == EvictedRows::Included;
        let page = |narrow| Live { table, group, namespace, confirmed, after, limit, narrow };
        let read = self.with_retries(
            || format!("reading which rows of `{}` are live", table.name),
            || async {
                let page = tokio::time::timeout(PAGE, self.by_narrow_key(page)).await;
                page.unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))
            },
        );
        let row = |(uid, version): (String, Version)| LiveRow {
            uid: uid.into(),
            res_version: version.res_version,
            ingest_version: version.ingest_version,
            eviction: version.eviction,
        };
        Ok(read.await?.into_iter().map(row).collect())
    }

    /// Returns the namespaces in which the kind has live rows, in their order, each with the number of rows. Evicted rows are not counted.
    /// The namespace of cluster-scoped objects is empty. All entries of the narrow key are read.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn live_by_namespace(&self, kind: &Kind) -> Result<Vec<(String, u64)>, StoreError> {
        let table = kind.table();
        let group = &GroupFilter::new(kind.group());
        self.with_retries(
            || format!("counting the live rows of `{}`", table.name),
            || async { self.by_narrow_key(|narrow| LiveByNamespace { table, group, narrow }).await },
        )
        .await
    }

    /// Runs a query that the [narrow key](ingester_core::schema::NARROW_KEY) can answer. If the database lacks the key, as before the
    /// migration that adds it, reads the rows themselves.
    pub(crate) async fn by_narrow_key<Q: Query>(&self, read: impl Fn(bool) -> Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        match self.pool.fetch(&read(true)).await {
            Err(error) if is_about(&error, ErrorSubject::Key) => self.pool.fetch(&read(false)).await,
            read => read,
        }
    }

    /// Returns the stored versions of these uids, live or not; uids without a row are left out.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn versions(
        &self,
        table: &'static Table,
        uids: &[&str],
    ) -> Result<HashMap<Box<str>, Version>, StoreError> {
        let uids = &once_each(uids)[..];
        let read = self.with_retries(
            || format!("reading the versions of {}", rows_named(uids.len(), table)),
            || async {
                let mut versions = HashMap::with_capacity(uids.len());
                for uids in chunks(uids, MOST_ROWS, self.dialect) {
                    let read = self.pool.fetch(&Versions { table, uids, lock: false }).await?;
                    versions.extend(read.into_iter().map(|(uid, version)| (uid.into_boxed_str(), version)));
                }
                Ok(versions)
            },
        );
        read.await
    }

    /// Returns uid, namespace and name of the rows of these uids, live or not, in the order of the uids; uids without a row are left out.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn names(
        &self,
        table: &'static Table,
        uids: &[&str],
    ) -> Result<Vec<(Box<str>, Box<str>, Box<str>)>, StoreError> {
        let uids = &once_each(uids)[..];
        let read = self.with_retries(
            || format!("reading the names of {}", rows_named(uids.len(), table)),
            || async {
                let mut tx = self.pool.begin(Access::Read).await?;
                let names = read_names(&mut tx, table, uids).await;
                tx.end(names).await
            },
        );
        Ok(read.await?.into_iter().map(|(uid, namespace, name)| (uid.into(), namespace.into(), name.into())).collect())
    }

    /// Returns the highest `res_version` of all rows, including tombstones and evicted rows; 0 without rows. All entries of the narrow key
    /// are read.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn newest(&self, table: &'static Table) -> Result<u64, StoreError> {
        let read = self.with_retries(
            || format!("reading the newest version in `{}`", table.name),
            || async { self.by_narrow_key(|narrow| Newest { table, narrow }).await },
        );
        Ok(match read.await?.first() {
            Some(Value::UInt(newest)) => *newest,
            _ => 0,
        })
    }

    /// Returns up to `limit` live rows for people, in the order of namespace and name. Each has namespace, name, then the indexed columns,
    /// all as text.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub async fn peek(&self, table: &'static Table, limit: usize) -> Result<Vec<Vec<Option<String>>>, StoreError> {
        let rows = self.pool.fetch(&Peek { table, limit }).await;
        rows.map_err(|error| StoreError::from_sqlx(format!("reading `{}`", table.name), error))
    }
}

pub(super) async fn read_rows(
    tx: &mut Transaction,
    table: &'static Table,
    uids: &[&str],
) -> Result<Vec<StoredRow>, sqlx::Error> {
    let mut rows = Vec::with_capacity(uids.len());
    let mut companions: Vec<(Companion, HashMap<String, Vec<_>>)> =
        table.companions().map(|companion| (companion, HashMap::new())).collect();
    for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
        rows.extend(tx.fetch(&Read { table, uids }).await?);
        for (companion, of_uids) in &mut companions {
            for (uid, key, value) in tx.fetch(&ReadCompanion { table, companion: *companion, uids }).await? {
                of_uids.entry(uid).or_default().push((key.into_boxed_str(), value.into_boxed_str()));
            }
        }
    }
    rows.into_iter()
        .map(|values| {
            let (Some(Value::Text(uid)), Some(Value::UInt(res_version))) =
                (values.get(base::UID), values.get(base::RES_VERSION))
            else {
                return Err(sqlx::Error::Decode("a row without uid or res_version".into()));
            };
            let mut labels = StringMap::default();
            let mut annotations = StringMap::default();
            let mut many = Vec::new();
            for (companion, of_uids) in &mut companions {
                let pairs = sorted(of_uids.remove(uid.as_ref()));
                match companion {
                    Companion::Labels => labels = pairs,
                    Companion::Annotations => annotations = pairs,
                    Companion::Values(_) => many.push(pairs),
                }
            }
            Ok(StoredRow {
                uid: (&**uid).into(),
                res_version: *res_version,
                ingest_version: number(values.get(base::INGEST_VERSION)),
                delete_time: time(values.get(base::DELETE_TIME)),
                evict_time: time(values.get(base::EVICT_TIME)),
                eviction: Eviction::stored(
                    time(values.get(base::EVICT_TIME)).is_some(),
                    values.get(base::EVICT_CONFIRMED).unwrap_or(&Value::Null),
                ),
                labels,
                annotations,
                many: many.into(),
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
    for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
        names.extend(tx.fetch(&Names { table, uids }).await?);
    }
    Ok(names)
}

/// Returns the uids sorted and without duplicates: the row of a uid in two chunks would be returned twice.
fn once_each<'u>(uids: &[&'u str]) -> Vec<&'u str> {
    let mut uids = uids.to_vec();
    uids.sort_unstable();
    uids.dedup();
    uids
}

fn number(value: Option<&Value>) -> u32 {
    match value {
        Some(Value::UInt(number)) => u32::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

fn time(value: Option<&Value>) -> Option<Micros> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::Time(time)) => Some(*time),
        Some(_) => Some(Micros(0)),
    }
}

/// Sorts by key, by byte. The server sorts by the column's collation, which may have been changed by hand.
fn sorted(rows: Option<Vec<(Box<str>, Box<str>)>>) -> StringMap {
    let mut rows = rows.unwrap_or_default();
    rows.sort_unstable();
    rows.into()
}
