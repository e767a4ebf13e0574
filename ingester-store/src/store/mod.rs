//! Runs SQL: connecting, writing batches of rows under the guard, reading them back, recording rejects. One
//! file a database.
//!
//! May use: ingester-core.
//! Must not: hold SQL text (that is `ingester_core::dialect`), know Kubernetes.
//!
//! # Guarantees
//! - A batch is one transaction: all of it is stored or nothing.
//! - A stale write changes nothing, neither in the main table nor in its companions ([`guard`]).
//! - What a database refuses because of one object is rejected alone: a failing batch is halved until the culprit
//!   stands alone.
//! - Deadlocks, lock waits, lost connections and the like are tried again ([`Retry`]).

pub(crate) mod backfill;
mod batch;
pub mod catalog;
mod companions;
pub mod compare;
mod connect;
mod driver;
mod error;
pub mod guard;
pub(crate) mod ledger;
mod mysql;
mod read;
mod retry;
mod single;
mod sqlite;
mod tls;
mod transaction;

pub use connect::{Address, ConnectOptions};
pub use error::{ErrorClass, StoreError};
pub use read::{LiveRow, StoredRow};
pub use tls::{Tls, TlsMode};

use guard::Guard;
use ingester_core::ddl::Schema;
use ingester_core::dialect::statements::{
    AnyRejects, CreateBackfills, CreateRejects, Peek, RecordRejects, RejectRow, Server, Tables,
};
use ingester_core::dialect::{Access, Dialect, Sql, Statement};
use ingester_core::kind::Kind;
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Table};
use ingester_core::value::Micros;
use single::Tried;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transaction::Pool;

/// One thing to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum RowChange {
    /// An object's row; a tombstone where `delete_time` is set, an eviction where `evict_time` is.
    Row(Row),
    /// An object that is gone, of which only its uid is known.
    Tombstone {
        /// The object's uid.
        uid: Box<str>,
        /// At which resourceVersion it was found to be gone: rows of later versions are left alone.
        res_version: u64,
        /// When.
        delete_time: Micros,
    },
}

impl RowChange {
    /// The object's uid.
    pub fn uid(&self) -> &str {
        match self {
            RowChange::Row(row) => &row.uid,
            RowChange::Tombstone { uid, .. } => uid,
        }
    }

    fn res_version(&self) -> u64 {
        match self {
            RowChange::Row(row) => row.res_version,
            RowChange::Tombstone { res_version, .. } => *res_version,
        }
    }
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Rows written.
    pub written: usize,
    /// Rows that were stored already, in the same version.
    pub unchanged: usize,
    /// The uids of rows of which a later version is stored.
    pub stale: Vec<Box<str>>,
    /// Objects that the database refused.
    pub rejected: Vec<Rejected>,
}

/// An object that the database refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// Its uid.
    pub uid: Box<str>,
    /// Why, in a person's words.
    pub reason: String,
}

impl Report {
    fn add(&mut self, other: Report) {
        self.written += other.written;
        self.unchanged += other.unchanged;
        self.stale.extend(other.stale);
        self.rejected.extend(other.rejected);
    }
}

/// An object that could not be mirrored, as it is recorded in `ingester_rejects`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    /// The object's uid, or the name-based one.
    pub uid: String,
    /// `apiVersion`
    pub group_ver: String,
    /// `kind`
    pub kind: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.resourceVersion` as it came.
    pub res_version: String,
    /// Why, in a person's words; what goes over 16,000 characters is cut off.
    pub reason: String,
}

/// How often and how patiently passing errors are tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The first pause; each following one is twice as long. Every pause is shortened at random by up to a half.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// How many attempts there are in all; `None` for no end.
    pub attempts: Option<u32>,
}

impl Retry {
    /// For work that a person waits for: 6 attempts within about 3 seconds.
    pub const SHORT: Retry =
        Retry { first: Duration::from_millis(100), longest: Duration::from_secs(2), attempts: Some(6) };
    /// For work that must not give up.
    pub const ENDLESS: Retry =
        Retry { first: Duration::from_millis(50), longest: Duration::from_secs(10), attempts: None };

    /// The pause before attempt number `attempt` (the second is 1); `None` when there is to be no more.
    fn pause(&self, attempt: u32) -> Option<Duration> {
        if self.attempts.is_some_and(|attempts| attempt >= attempts) {
            return None;
        }
        let full = self.first.saturating_mul(1 << attempt.min(16).saturating_sub(1)).min(self.longest);
        // The standard library's hash seeds are random: enough to keep workers from trying in step.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), attempt);
        Some(full.mul_f64(0.5 + (random % 1000) as f64 / 2000.0))
    }
}

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The ingester's own tables.
const REJECTS: &str = "ingester_rejects";
const BACKFILLS: &str = "ingester_backfills";

/// One database with the kinds' tables.
pub struct Store {
    pool: Pool,
    dialect: Dialect,
    server: String,
    max_packet: usize,
    retry: Retry,
    // Whether `ingester_rejects` may hold anything: while it is empty, nothing is ever deleted from it.
    any_rejects: AtomicBool,
}

impl Store {
    /// Connects, and asks the server who it is.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the user or the database; the error says what to do.
    pub async fn connect(address: &Address, options: ConnectOptions) -> Result<Self, StoreError> {
        let mut attempt = 1;
        let begin = std::time::Instant::now();
        loop {
            let connecting = tokio::time::timeout(CONNECT, Self::connect_once(address, options));
            let result = connecting.await.unwrap_or_else(|_| {
                let timeout = std::io::Error::new(std::io::ErrorKind::TimedOut, "the server does not answer");
                Err(StoreError::of(format!("connecting to {address}"), timeout.into()))
            });
            match result {
                Ok(store) => return Ok(store),
                Err(error) if error.class() == ErrorClass::Transient => match options.retry.pause(attempt) {
                    // Attempts are counted for servers that refuse at once; one that is silent uses up time instead.
                    Some(_) if options.retry.attempts.is_some() && begin.elapsed() > 2 * CONNECT => return Err(error),
                    Some(pause) => {
                        tracing::debug!(%error, attempt, "database not reached, trying again");
                        tokio::time::sleep(pause).await;
                        attempt += 1;
                    }
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            }
        }
    }

    async fn connect_once(address: &Address, options: ConnectOptions) -> Result<Self, StoreError> {
        address.check_files()?;
        let dialect = address.dialect();
        let doing = format!("connecting to {address}");
        let pool = match dialect {
            Dialect::MySql => mysql::connect(address, options).await.map(Pool::MySql),
            Dialect::Sqlite => sqlite::connect(address, options).await.map(Pool::Sqlite),
        }
        .map_err(|error| StoreError::of(doing.clone(), error))?;
        let answer = pool.fetch(&Server).await.map_err(|error| StoreError::of(doing, error))?;
        let (server, max_packet) = answer.into_iter().next().unwrap_or_default();
        Ok(Store {
            pool,
            dialect,
            server,
            max_packet: usize::try_from(max_packet).unwrap_or(usize::MAX),
            retry: options.retry,
            any_rejects: AtomicBool::new(true),
        })
    }

    /// The server's name and version, as it says it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The family of statements that the server takes.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Waits until everything is written to disk and closes the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Makes the tables of `kinds` that are missing, and the ingester's own. Returns the names of those it made.
    ///
    /// # Errors
    /// When the database cannot be read, or a missing table cannot be made.
    pub async fn create_missing(&self, kinds: &[Kind]) -> Result<Vec<String>, StoreError> {
        let there = self.tables().await?;
        let mut made = Vec::new();
        for kind in kinds {
            let table = kind.table();
            let missing: Vec<String> = tables_of(table).filter(|name| !there.contains(name)).collect();
            if !missing.is_empty() {
                for sql in self.dialect.create_all(&Schema::of(std::slice::from_ref(kind))) {
                    self.define(&sql, &format!("creating the tables of {}", kind.kind())).await?;
                }
                made.extend(missing);
            }
        }
        self.create_own().await?;
        Ok(made)
    }

    /// Makes the ingester's own tables where they are missing.
    ///
    /// # Errors
    /// As [`Store::create_missing`].
    pub async fn create_own(&self) -> Result<(), StoreError> {
        let there = self.tables().await?;
        let dialect = self.dialect;
        for (table, sql) in [(REJECTS, CreateRejects.sql(dialect)), (BACKFILLS, CreateBackfills.sql(dialect))] {
            if !there.contains(table) {
                self.define(&sql, &format!("creating table {table}")).await?;
            }
        }
        self.look_for_rejects().await
    }

    /// The names of the ingester's own tables.
    pub(crate) const OWN: [&'static str; 2] = [REJECTS, BACKFILLS];

    /// Looks whether any object is rejected: while none is, nothing is ever deleted from `ingester_rejects`.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub async fn look_for_rejects(&self) -> Result<(), StoreError> {
        let any = self.pool.fetch(&AnyRejects).await;
        let any = any.map_err(|error| StoreError::of("reading ingester_rejects".into(), error))?;
        self.any_rejects.store(any.contains(&true), Ordering::Relaxed);
        Ok(())
    }

    /// The names of the tables in the database.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub async fn tables(&self) -> Result<HashSet<String>, StoreError> {
        let tables = self.pool.fetch(&Tables).await;
        let tables = tables.map_err(|error| StoreError::of("reading the names of the tables".into(), error))?;
        Ok(tables.into_iter().collect())
    }

    async fn define(&self, sql: &Sql, doing: &str) -> Result<(), StoreError> {
        self.pool.define(sql).await.map_err(|error| StoreError::of(doing.to_owned(), error))
    }

    /// Writes changes of objects of one table; of several changes of one uid only the latest.
    ///
    /// What the database refuses because of one object is in the report's `rejected` and recorded nowhere yet: see
    /// [`Store::record_rejects`].
    ///
    /// # Errors
    /// When the database is not to be reached within the retries, or nothing at all can be written and a person must
    /// act (disk full, no rights, a missing table). Nothing of the batch is stored then.
    pub async fn write(&self, table: &'static Table, changes: Vec<RowChange>) -> Result<Report, StoreError> {
        self.write_under(Guard::Holds, table, &latest_of_each(changes)).await
    }

    /// As [`Store::write`], with or without the guard: [`Guard::Overruled`] is for objects of a cluster that went back
    /// behind what is stored, because it was restored from a backup. `changes` are as [`latest_of_each`]
    /// gives them.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn write_under(
        &self,
        guard: Guard,
        table: &'static Table,
        changes: &[RowChange],
    ) -> Result<Report, StoreError> {
        let mut report = Report::default();
        // From where to where, each to be written in a transaction of its own; the next one last.
        let mut pieces = vec![(0, changes.len())];
        let mut any_stored = false;
        while let Some((start, end)) = pieces.pop() {
            if start == end {
                continue;
            }
            let error = match self.write_batch(guard, table, &changes[start..end]).await {
                Ok(part) => {
                    any_stored = true;
                    report.add(part);
                    continue;
                }
                Err(error) => error,
            };
            match error.class() {
                ErrorClass::Transient | ErrorClass::Operator => return Err(error),
                ErrorClass::Object | ErrorClass::Unknown if end - start > 1 => {
                    let middle = start + (end - start) / 2;
                    // The first half is taken next, so that objects stay in the order of their uids.
                    pieces.push((middle, end));
                    pieces.push((start, middle));
                }
                // Not one of many could be written, for a reason that need not be the objects': somebody should look.
                ErrorClass::Unknown if !any_stored && changes.len() > 1 && pieces.is_empty() => return Err(error),
                ErrorClass::Object | ErrorClass::Unknown => {
                    let reason = error.reason().to_owned();
                    report.rejected.push(Rejected { uid: changes[start].uid().into(), reason });
                }
            }
        }
        Ok(report)
    }

    /// One transaction, tried again while the error is a passing one.
    async fn write_batch(
        &self,
        guard: Guard,
        table: &'static Table,
        changes: &[RowChange],
    ) -> Result<Report, StoreError> {
        self.retrying(
            || format!("writing {} rows of `{}`", changes.len(), table.name),
            || async {
                let mut batch = batch::Batch {
                    table,
                    changes,
                    now: Micros::now(),
                    max_packet: self.max_packet,
                    clear_rejects: self.any_rejects.load(Ordering::Relaxed),
                    guard,
                    trusting: true,
                };
                match self.write_single(&batch).await? {
                    Tried::Written(report) => return Ok(report),
                    Tried::Refused => batch.trusting = false,
                    Tried::Not => {}
                }
                let mut tx = self.pool.begin(Access::Write).await?;
                let report = batch.write(&mut tx).await;
                tx.end(report).await
            },
        )
        .await
    }

    /// Records objects that could not be mirrored; an object is recorded once, with its latest reason.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn record_rejects(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        self.any_rejects.store(true, Ordering::Relaxed);
        for chunk in rejects.chunks(100) {
            let reasons: Vec<String> =
                chunk.iter().map(|reject| reject.reason.chars().take(16_000).collect()).collect();
            let rows: Vec<RejectRow<'_>> =
                chunk.iter().zip(&reasons).map(|(reject, reason)| row(reject, reason)).collect();
            let record = &RecordRejects { rejects: &rows, reject_time: Micros::now() };
            let doing = || "recording rejects in ingester_rejects".into();
            self.retrying(doing, || async { self.pool.execute(record).await }).await?;
        }
        Ok(())
    }

    /// Up to `limit` live rows of a kind in the order of namespace and name: these two, then the indexed columns, as text.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub async fn peek(&self, table: &'static Table, limit: usize) -> Result<Vec<Vec<Option<String>>>, StoreError> {
        let rows = self.pool.fetch(&Peek { table, limit }).await;
        rows.map_err(|error| StoreError::of(format!("reading `{}`", table.name), error))
    }
}

/// The names of a kind's three tables.
fn tables_of(table: &Table) -> impl Iterator<Item = String> {
    [table.name, table.companion(Companion::Labels), table.companion(Companion::Annotations)]
        .map(|name| name.to_string())
        .into_iter()
}

/// A reject as it is recorded: each text cut to its column.
fn row<'r>(reject: &'r Reject, reason: &'r str) -> RejectRow<'r> {
    RejectRow {
        uid: head(&reject.uid, 64),
        group_ver: head(&reject.group_ver, 128),
        kind: head(&reject.kind, 128),
        namespace: head(&reject.namespace, 256),
        name: head(&reject.name, 256),
        res_version: head(&reject.res_version, 128),
        reason,
    }
}

/// The first `limit` characters: what is recorded about a reject must not be a reason to refuse the record.
fn head(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// Sorted by uid, so that transactions lock rows in one order; of each uid the change with the highest version, of
/// equal ones the last.
pub fn latest_of_each(mut changes: Vec<RowChange>) -> Vec<RowChange> {
    changes.sort_by(|a, b| a.uid().cmp(b.uid()).then(a.res_version().cmp(&b.res_version())));
    let mut latest: Vec<RowChange> = Vec::with_capacity(changes.len());
    for change in changes {
        match latest.last_mut() {
            Some(last) if last.uid() == change.uid() => *last = change,
            _ => latest.push(change),
        }
    }
    latest
}

#[cfg(test)]
mod tests;
