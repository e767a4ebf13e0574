//! Running migrations on a connection of their own, and sqlx's table of the migrations that were run.

use super::catalog::Catalog;
use super::transaction::{Pool, raw};
use super::{Store, StoreError, mysql, sqlite};
use ingester_core::dialect::statements::{CatalogColumns, CatalogKeys, ForgetMigration, SettleMigration};
use ingester_core::dialect::{Access, Dialect, Query, Statement};
use sqlx::migrate::{Migrate, MigrateError, Migration};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySql, Sqlite, SqliteConnection};
use std::collections::BTreeMap;
use std::time::Duration;

/// sqlx's own table, so that `sqlx migrate info` finds it.
pub(crate) const LEDGER: &str = "_sqlx_migrations";

/// After this time, waiting for another program's migrations is logged.
const WAITING: Duration = Duration::from_secs(2);

/// What the ledger says about one migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LedgerEntry {
    /// The checksum of the text that was run.
    pub(crate) checksum: Vec<u8>,
    /// Whether it began and is not known to have ended.
    pub(crate) interrupted: bool,
}

/// A connection that runs migrations. Dropping it releases its lock.
pub(crate) enum Migrating {
    MySql(PoolConnection<MySql>),
    Sqlite(PoolConnection<Sqlite>),
}

/// Runs `$work` on the connection of any dialect.
macro_rules! on_connection {
    ($migrating:expr, |$connection:ident| $work:expr) => {
        match $migrating {
            Migrating::MySql($connection) => $work,
            Migrating::Sqlite($connection) => $work,
        }
    };
}

impl Store {
    /// A connection for migrations. On MySQL it holds a lock, so that no other program migrates this database. On SQLite each
    /// migration takes the database's write lock.
    pub(crate) async fn migrating(&self) -> Result<Migrating, StoreError> {
        let mut migrating = Migrating::acquire(&self.pool, "preparing migrations").await?;
        migrating.prepare().await.map_err(|error| failed("preparing migrations", error))?;
        migrating.lock().await.map_err(|error| migrate_failed("waiting for other migrations", error))?;
        Ok(migrating)
    }

    /// The ledger's entries by version; none if there is no ledger.
    pub(crate) async fn ledger(&self) -> Result<BTreeMap<i64, LedgerEntry>, StoreError> {
        if !self.tables().await?.contains(LEDGER) {
            return Ok(BTreeMap::new());
        }
        Migrating::acquire(&self.pool, "reading which migrations were run").await?.entries().await
    }
}

impl Migrating {
    async fn acquire(pool: &Pool, doing: &str) -> Result<Self, StoreError> {
        let connection = match pool {
            Pool::MySql(pool) => pool.acquire().await.map(Migrating::MySql),
            Pool::Sqlite(pool) => pool.acquire().await.map(Migrating::Sqlite),
        };
        connection.map_err(|error| failed(doing, error))
    }

    fn dialect(&self) -> Dialect {
        match self {
            Migrating::MySql(_) => Dialect::MySql,
            Migrating::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// Prepares the session for migrations.
    async fn prepare(&mut self) -> Result<(), sqlx::Error> {
        let dialect = self.dialect();
        on_connection!(self, |connection| {
            if dialect.lock_migrations().is_some() {
                // The server releases the lock when the connection is closed, whatever happens.
                connection.close_on_drop();
            }
            for sql in dialect.session_of_migrations() {
                connection.execute(raw(&sql)).await?;
            }
            Ok(())
        })
    }

    /// Waits until no other program migrates this database.
    async fn lock(&mut self) -> Result<(), MigrateError> {
        let mut lock = std::pin::pin!(self.take_locks());
        match tokio::time::timeout(WAITING, &mut lock).await {
            Ok(locked) => locked,
            Err(_) => {
                tracing::warn!("Another program migrates this database: waiting until it has ended");
                lock.await
            }
        }
    }

    /// Takes sqlx's lock and ours. sqlx's lock keeps out sqlx's own tool, on servers where that lock works.
    async fn take_locks(&mut self) -> Result<(), MigrateError> {
        on_connection!(self, |connection| connection.lock().await)?;
        if let Some(sql) = self.dialect().lock_migrations() {
            let query = AssertSqlSafe(sql.shared());
            let locked: Option<i64> =
                on_connection!(self, |connection| sqlx::query_scalar(query).fetch_one(&mut **connection).await)?;
            if locked != Some(1) {
                return Err(sqlx::Error::Protocol("the server gave no lock".into()).into());
            }
        }
        Ok(())
    }

    /// Creates the ledger if it is missing.
    pub(crate) async fn ensure(&mut self) -> Result<(), StoreError> {
        on_connection!(self, |connection| connection.ensure_migrations_table(LEDGER).await)
            .map_err(|error| migrate_failed("creating the table of migrations", error))
    }

    /// The ledger's entries by version.
    pub(crate) async fn entries(&mut self) -> Result<BTreeMap<i64, LedgerEntry>, StoreError> {
        let read = on_connection!(self, |connection| async {
            let applied = connection.list_applied_migrations(LEDGER).await?;
            Ok((applied, connection.dirty_version(LEDGER).await?))
        }
        .await);
        let (applied, dirty) = read.map_err(|error| migrate_failed("reading which migrations were run", error))?;
        let entry = |applied: sqlx::migrate::AppliedMigration| {
            let interrupted = dirty == Some(applied.version);
            (applied.version, LedgerEntry { checksum: applied.checksum.into_owned(), interrupted })
        };
        Ok(applied.into_iter().map(entry).collect())
    }

    /// The tables as they are now.
    pub(crate) async fn catalog(&mut self) -> Result<Catalog, StoreError> {
        let read = async { Ok(Catalog::new(self.fetch(&CatalogColumns).await?, self.fetch(&CatalogKeys).await?)) };
        read.await.map_err(|error| failed("reading the catalog of the database", error))
    }

    async fn fetch<Q: Query>(&mut self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        match self {
            Migrating::MySql(connection) => mysql::fetch(&mut **connection, statement).await,
            Migrating::Sqlite(connection) => sqlite::fetch(&mut **connection, statement).await,
        }
    }

    async fn execute(&mut self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        match self {
            Migrating::MySql(connection) => mysql::execute(&mut **connection, statement).await,
            Migrating::Sqlite(connection) => sqlite::execute(&mut **connection, statement).await,
        }
    }

    /// Runs a migration up. On SQLite another program may have run it in the meantime; then nothing is done.
    pub(crate) async fn apply(&mut self, migration: &Migration) -> Result<(), StoreError> {
        self.run(migration, true).await.map_err(|error| migrate_failed(&doing(migration), error))
    }

    /// Runs a migration down.
    pub(crate) async fn revert(&mut self, migration: &Migration) -> Result<(), StoreError> {
        self.run(migration, false).await.map_err(|error| migrate_failed(&doing(migration), error))
    }

    async fn run(&mut self, migration: &Migration, up: bool) -> Result<(), MigrateError> {
        match self {
            Migrating::MySql(connection) if up => connection.apply(LEDGER, migration).await.map(drop),
            Migrating::MySql(connection) => connection.revert(LEDGER, migration).await.map(drop),
            Migrating::Sqlite(connection) => {
                // With the write lock, the ledger cannot change until the end.
                let mut tx = connection.begin_with(Dialect::Sqlite.begin(Access::Write)).await?;
                match (up, is_recorded(&mut tx, migration).await?) {
                    (true, false) => tx.apply(LEDGER, migration).await.map(drop)?,
                    (false, true) => tx.revert(LEDGER, migration).await.map(drop)?,
                    _ => {}
                }
                Ok(tx.commit().await?)
            }
        }
    }

    /// Records a migration as run without running it. On SQLite another program may have recorded it in the meantime; then
    /// nothing is done.
    pub(crate) async fn skip(&mut self, migration: &Migration) -> Result<(), StoreError> {
        let skipped = match self {
            Migrating::MySql(connection) => connection.skip(LEDGER, migration).await,
            Migrating::Sqlite(connection) => {
                async {
                    let mut tx = connection.begin_with(Dialect::Sqlite.begin(Access::Write)).await?;
                    if !is_recorded(&mut tx, migration).await? {
                        tx.skip(LEDGER, migration).await?;
                    }
                    Ok(tx.commit().await?)
                }
                .await
            }
        };
        skipped.map_err(|error| migrate_failed(&doing(migration), error))
    }

    /// Records whether an interrupted migration was done.
    pub(crate) async fn settle(&mut self, version: i64, done: bool) -> Result<(), StoreError> {
        let run = match done {
            true => self.execute(&SettleMigration { version }).await,
            false => self.execute(&ForgetMigration { version }).await,
        };
        run.map(drop).map_err(|error| failed(&format!("settling migration {version}"), error))
    }

    /// Releases the locks, so that others may migrate.
    pub(crate) async fn end(mut self) -> Result<(), StoreError> {
        on_connection!(&mut self, |connection| connection.unlock().await)
            .map_err(|error| migrate_failed("ending migrations", error))
    }
}

/// Whether the ledger of an SQLite database has a migration.
async fn is_recorded(connection: &mut SqliteConnection, migration: &Migration) -> Result<bool, MigrateError> {
    let applied = connection.list_applied_migrations(LEDGER).await?;
    Ok(applied.iter().any(|applied| applied.version == migration.version))
}

fn doing(migration: &Migration) -> String {
    format!("running migration {:04} ({})", migration.version, migration.description)
}

fn failed(doing: &str, error: sqlx::Error) -> StoreError {
    StoreError::of(doing.to_owned(), error)
}

fn migrate_failed(doing: &str, error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(doing, error),
        other => StoreError::wrong(doing, other.to_string(), "see `ingester schema verify`"),
    }
}
