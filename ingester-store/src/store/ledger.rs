//! Running migrations on a connection of their own, and sqlx's table of the migrations that were run.

use super::catalog::{Catalog, CatalogRows};
use super::driver::on_driver;
use super::holder::Held;
use super::transaction::{Drivers, Pool, raw};
use super::{Store, StoreError};
use ingester_core::dialect::statements::{
    CatalogColumns, CatalogKeys, CatalogViews, ForgetMigration, ReadMigration, ReadViewRecords, RecordInterrupted,
    SettleMigration,
};
use ingester_core::dialect::{Access, Dialect, Query, Sql, Statement};
use ingester_core::value::Value;
use sqlx::migrate::{Migrate, MigrateError, Migration};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySql, Sqlite};
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
pub(crate) struct Migrating {
    open: Open,
    /// The lock for all servers of a group.
    held: Option<Held>,
}

enum Open {
    MySql(PoolConnection<MySql>),
    Sqlite(PoolConnection<Sqlite>),
}

impl Store {
    /// A connection for migrations. On MySQL it holds a lock, so that no other program migrates this database; where servers form a
    /// group, also the lock of the group. On SQLite each migration takes the database's write lock.
    pub(crate) async fn migrating(&self) -> Result<Migrating, StoreError> {
        if self.servers.certifies() {
            Box::pin(self.create_settings()).await?;
        }
        let mut migrating = Migrating::acquire(&self.pool, "preparing migrations").await?;
        migrating.prepare().await.map_err(|error| failed("preparing migrations", error))?;
        migrating.lock().await.map_err(|error| migrate_failed("waiting for other migrations", error))?;
        if let (Drivers::MySql(pool), Open::MySql(connection), true) =
            (&self.pool.open, &mut migrating.open, self.servers.certifies())
        {
            // A lock of the server is none for the others of its group.
            // In a box, because it is large, and most servers form no group.
            let held = Box::pin(Held::take(connection, pool.connect_options().as_ref().clone())).await;
            migrating.held = Some(held.map_err(|error| failed("waiting for other migrations", error))?);
        }
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
        let failed = |error| failed(doing, error);
        let open = match &pool.open {
            Drivers::MySql(driver) => Open::MySql(pool.lend(driver.acquire()).await.map_err(failed)?),
            Drivers::Sqlite(driver) => Open::Sqlite(pool.lend(driver.acquire()).await.map_err(failed)?),
        };
        Ok(Migrating { open, held: None })
    }

    fn dialect(&self) -> Dialect {
        on_driver!(Open, &self.open, |_connection, driver| driver::DIALECT)
    }

    /// Whether a lock of the connection keeps other programs from migrating. Without one, the transaction of each migration does.
    fn has_lock(&self) -> bool {
        self.dialect().lock_migrations().is_some()
    }

    /// Prepares the session for migrations.
    async fn prepare(&mut self) -> Result<(), sqlx::Error> {
        let has_lock = self.has_lock();
        on_driver!(Open, &mut self.open, |connection, driver| {
            if has_lock {
                // The server releases the lock when the connection is closed, whatever happens.
                connection.close_on_drop();
            }
            for sql in driver::DIALECT.session_of_migrations() {
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
        on_driver!(Open, &mut self.open, |connection, driver| connection.lock().await)?;
        if let Some(sql) = self.dialect().lock_migrations() {
            let query = AssertSqlSafe(sql.shared());
            let locked: Option<i64> = on_driver!(Open, &mut self.open, |connection, driver| {
                sqlx::query_scalar(query).fetch_one(&mut **connection).await?
            });
            if locked != Some(1) {
                return Err(sqlx::Error::Protocol("the server gave no lock".into()).into());
            }
        }
        Ok(())
    }

    /// Creates the ledger if it is missing.
    pub(crate) async fn ensure(&mut self) -> Result<(), StoreError> {
        on_driver!(Open, &mut self.open, |connection, driver| connection.ensure_migrations_table(LEDGER).await)
            .map_err(|error| migrate_failed("creating the table of migrations", error))
    }

    /// The ledger's entries by version.
    pub(crate) async fn entries(&mut self) -> Result<BTreeMap<i64, LedgerEntry>, StoreError> {
        let read = on_driver!(Open, &mut self.open, |connection, driver| async {
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

    /// The tables and views as they are now.
    pub(crate) async fn catalog(&mut self) -> Result<Catalog, StoreError> {
        let read = async {
            let mut rows = CatalogRows {
                columns: self.fetch(&CatalogColumns).await?,
                keys: self.fetch(&CatalogKeys).await?,
                views: self.fetch(&CatalogViews).await?,
                records: Vec::new(),
            };
            if rows.may_have_records() {
                rows.records = self.fetch(&ReadViewRecords).await?;
            }
            Ok(Catalog::new(rows))
        };
        read.await.map_err(|error| failed("reading the catalog of the database", error))
    }

    async fn fetch<Q: Query>(&mut self, statement: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        on_driver!(Open, &mut self.open, |connection, driver| driver::fetch(&mut **connection, statement).await)
    }

    async fn execute(&mut self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        on_driver!(Open, &mut self.open, |connection, driver| driver::execute(&mut **connection, statement).await)
    }

    /// Whether this process still has the lock.
    async fn check(&mut self) -> Result<(), StoreError> {
        match (&self.held, &mut self.open) {
            (Some(held), Open::MySql(connection)) => Box::pin(held.check(connection)).await,
            _ => Ok(()),
        }
    }

    /// Runs a migration up. Without a lock, another program may have run it in the meantime; then nothing is done.
    pub(crate) async fn apply(&mut self, migration: &Migration) -> Result<(), StoreError> {
        self.run(migration, Run::Up).await
    }

    /// Runs a migration down, unless another program has done so in the meantime.
    pub(crate) async fn revert(&mut self, migration: &Migration) -> Result<(), StoreError> {
        self.run(migration, Run::Down).await
    }

    /// Records a migration as run without running it, unless another program has done so in the meantime.
    pub(crate) async fn skip(&mut self, migration: &Migration) -> Result<(), StoreError> {
        self.run(migration, Run::Skip).await
    }

    async fn run(&mut self, migration: &Migration, run: Run) -> Result<(), StoreError> {
        self.check().await?;
        self.try_run(migration, run).await.map_err(|error| migrate_failed(&doing(migration), error))
    }

    async fn try_run(&mut self, migration: &Migration, run: Run) -> Result<(), MigrateError> {
        let has_lock = self.has_lock();
        on_driver!(Open, &mut self.open, |connection, driver| {
            if has_lock {
                return run.on(&mut **connection, migration).await;
            }
            // The transaction has the write lock, so the ledger cannot change until the end.
            let mut tx = connection.begin_with(driver::DIALECT.begin(Access::Write)).await?;
            let applied = tx.list_applied_migrations(LEDGER).await?;
            let is_recorded = applied.iter().any(|applied| applied.version == migration.version);
            if is_recorded == (run == Run::Down) {
                run.on(&mut *tx, migration).await?;
            }
            Ok(tx.commit().await?)
        })
    }

    /// Runs the rest of a migration that was interrupted between two of its statements, and records that it was done. `recorded` is
    /// whether the ledger has it already; if not, it has it before the first of them, so that the next run knows where to look.
    pub(crate) async fn finish(
        &mut self,
        migration: &Migration,
        rest: &[&str],
        up: bool,
        recorded: bool,
    ) -> Result<(), StoreError> {
        let failed = |error| failed(&doing(migration), error);
        if up && !recorded {
            let checksum = Value::Bytes(migration.checksum.as_ref().into());
            let (version, description) = (migration.version, migration.description.as_ref());
            match self.execute(&RecordInterrupted { version, description, checksum: &checksum }).await {
                // Without a lock, another program may have recorded it meanwhile.
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                begun => drop(begun.map_err(failed)?),
            }
        }
        if !self.has_lock() {
            return Box::pin(self.finish_at_once(migration, rest, up)).await.map_err(failed);
        }
        for text in rest {
            self.check().await?;
            let ran: Result<(), sqlx::Error> = on_driver!(Open, &mut self.open, |connection, _driver| {
                connection.execute(rest_of(text)).await.map(drop)
            });
            ran.map_err(failed)?;
        }
        self.settle(migration.version, up).await
    }

    /// [`Migrating::finish`] as one transaction, unless another program has done it in the meantime.
    async fn finish_at_once(&mut self, migration: &Migration, rest: &[&str], up: bool) -> Result<(), sqlx::Error> {
        let version = migration.version;
        on_driver!(Open, &mut self.open, |connection, driver| {
            let mut tx = connection.begin_with(driver::DIALECT.begin(Access::Write)).await?;
            let is_done = driver::fetch(&mut *tx, &ReadMigration { version }).await?.pop();
            if is_done.is_none_or(|is_done| up && is_done) {
                return tx.rollback().await;
            }
            for text in rest {
                tx.execute(rest_of(text)).await?;
            }
            match up {
                true => driver::execute(&mut *tx, &SettleMigration { version }).await?,
                false => driver::execute(&mut *tx, &ForgetMigration { version }).await?,
            };
            tx.commit().await
        })
    }

    /// Changes tables without a record: statements that belong together, in one transaction where the dialect has that.
    pub(crate) async fn define(&mut self, statements: &[Sql]) -> Result<(), StoreError> {
        self.check().await?;
        let has_lock = self.has_lock();
        let defined: Result<(), sqlx::Error> = on_driver!(Open, &mut self.open, |connection, driver| async {
            if has_lock {
                for sql in statements {
                    connection.execute(raw(sql)).await?;
                }
                return Ok(());
            }
            let mut tx = connection.begin_with(driver::DIALECT.begin(Access::Write)).await?;
            for sql in statements {
                tx.execute(raw(sql)).await?;
            }
            tx.commit().await
        }
        .await);
        defined.map_err(|error| failed("changing tables", error))
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
        if let Some(held) = self.held.take() {
            held.release().await;
        }
        on_driver!(Open, &mut self.open, |connection, driver| connection.unlock().await)
            .map_err(|error| migrate_failed("ending migrations", error))
    }
}

/// A part of the text of a migration, which the ingester has generated, and whose checksum was compared.
fn rest_of(text: &str) -> sqlx::RawSql {
    sqlx::raw_sql(AssertSqlSafe(text.to_owned()))
}

/// What to do with a migration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Up,
    Down,
    Skip,
}

impl Run {
    async fn on(self, connection: &mut impl Migrate, migration: &Migration) -> Result<(), MigrateError> {
        match self {
            Run::Up => connection.apply(LEDGER, migration).await.map(drop),
            Run::Down => connection.revert(LEDGER, migration).await.map(drop),
            Run::Skip => connection.skip(LEDGER, migration).await,
        }
    }
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
