//! Runs migrations on a separate connection, and keeps the tables of the migrations that were run, which are made like sqlx's own.

use super::catalog::{Catalog, CatalogRows};
use super::view::RECORDS;
use crate::driver::{Call, Migrations, Session, StoreError, TransactionEnd, read};
use crate::store::Store;
use ingester_core::schema::Ident;
use ingester_core::value::Value;
use ingester_sql::dialect::statements::{
    AnyRow, CatalogColumns, CatalogKeys, CatalogViews, ForgetMigration, ReadMigration, ReadSettings, RecordInterrupted,
    RecordResets, SettleMigration,
};
use ingester_sql::dialect::{Access, Dialect, Query, Sql, Statement};
use serde::{Deserialize, Serialize};
use sqlx::migrate::{Migrate, MigrateError, Migration};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The table in which a database records which migrations of one folder were run. Each folder has its own, so that the numbers of two
/// folders never meet in one database.
///
/// It is sqlx's own table by default, so that `sqlx migrate info` finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ledger(Ident);

/// A text that cannot be the name of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a ledger: it is `_sqlx_migrations`, or `ingester_migrations_` and 1 to {LONGEST} lower-case letters, digits and underscores"
)]
pub struct LedgerError(String);

/// The prefix of ledgers that are not sqlx's. No table of a kind has it.
const PREFIX: &str = "ingester_migrations_";

/// The most characters behind the prefix: PostgreSQL cuts a name after 63.
const LONGEST: usize = 63 - PREFIX.len();

impl Ledger {
    /// Returns the ledger for the migrations of a file of kinds with this name: `ingester_migrations_kinds` for `kinds.yaml`.
    pub fn of_file(name: &str) -> Self {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let letter = |letter: char| if is_letter(letter) { letter } else { '_' };
        let own: String = stem.to_ascii_lowercase().chars().map(letter).take(LONGEST).collect();
        Ledger(Ident::join("ingester_migrations", if own.is_empty() { "_" } else { &own }))
    }

    /// Returns true if it is sqlx's own.
    pub(crate) fn is_default(&self) -> bool {
        *self == Ledger::default()
    }
}

/// Returns true if a ledger's name may have this letter. Letters must be in lower case, because sqlx writes the name without quotes.
fn is_letter(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger(Ident::new("_sqlx_migrations"))
    }
}

impl TryFrom<String> for Ledger {
    type Error = LedgerError;

    fn try_from(name: String) -> Result<Self, LedgerError> {
        let is_own = |own: &str| (1..=LONGEST).contains(&own.len()) && own.chars().all(is_letter);
        let ident = Ident::parse(&name).ok().map(Ledger);
        let is_ledger = |ledger: &Ledger| ledger.is_default() || name.strip_prefix(PREFIX).is_some_and(is_own);
        ident.filter(is_ledger).ok_or_else(|| LedgerError(name.clone()))
    }
}

impl From<Ledger> for String {
    fn from(ledger: Ledger) -> Self {
        ledger.to_string()
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// After this time, waiting for another program's migrations is logged.
const WAITING: Duration = Duration::from_secs(2);

/// The ledger's entry about one migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LedgerEntry {
    /// The checksum of the text that was run.
    pub(crate) checksum: Vec<u8>,
    /// True if it began and is not known to have ended.
    pub(crate) interrupted: bool,
}

/// A connection that runs migrations. Dropping it releases its lock.
pub(crate) struct MigrationSession {
    connection: Box<dyn Migrations>,
    ledger: Ident,
    dialect: Dialect,
}

impl Store {
    /// Returns a connection for migrations of this ledger. On a server it holds a lock, so that no other program migrates this database; if
    /// servers form a group, also the lock of the group. On SQLite each migration takes the database's write lock.
    pub(crate) async fn migrating(&self, ledger: Ledger) -> Result<MigrationSession, StoreError> {
        if self.pool.servers().certifies() {
            // The lock of a group is a setting, so its table must exist.
            Box::pin(self.create_settings()).await?;
        }
        let mut migrating = self.connection_for_migrations("preparing migrations", ledger).await?;
        migrating.lock().await.map_err(|error| migrate_failed("waiting for other migrations", error))?;
        Ok(migrating)
    }

    /// Returns a ledger's entries by version; none if the database does not have it.
    pub(crate) async fn ledger(&self, ledger: Ledger) -> Result<BTreeMap<i64, LedgerEntry>, StoreError> {
        if !self.tables().await?.contains(ledger.0.as_str()) {
            return Ok(BTreeMap::new());
        }
        self.connection_for_migrations("reading which migrations were run", ledger).await?.entries().await
    }

    async fn connection_for_migrations(&self, doing: &str, ledger: Ledger) -> Result<MigrationSession, StoreError> {
        let connection = self.pool.migrations().await.map_err(|error| failed(doing, error))?;
        Ok(MigrationSession { connection, ledger: ledger.0, dialect: self.dialect })
    }
}

impl MigrationSession {
    /// Returns the dialect of the statements.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn session(&mut self) -> &mut dyn Session {
        self.connection.session()
    }

    /// Waits until no other program migrates this database.
    async fn lock(&mut self) -> Result<(), MigrateError> {
        let mut lock = self.connection.lock();
        match tokio::time::timeout(WAITING, &mut lock).await {
            Ok(locked) => locked,
            Err(_) => {
                tracing::warn!("Another program migrates this database: waiting until it has ended");
                lock.await
            }
        }
    }

    /// Creates the ledger if it is missing.
    pub(crate) async fn ensure(&mut self) -> Result<(), StoreError> {
        let name = self.ledger;
        let ensured = async { self.session().ledger().await?.ensure_migrations_table(name.as_str()).await };
        ensured.await.map_err(|error| migrate_failed("creating the table of migrations", error))
    }

    /// Returns the ledger's entries by version.
    pub(crate) async fn entries(&mut self) -> Result<BTreeMap<i64, LedgerEntry>, StoreError> {
        let name = self.ledger;
        let read = async {
            let ledger = self.session().ledger().await?;
            let applied = ledger.list_applied_migrations(name.as_str()).await?;
            Ok((applied, ledger.dirty_version(name.as_str()).await?))
        };
        let (applied, dirty) =
            read.await.map_err(|error| migrate_failed("reading which migrations were run", error))?;
        let entry = |applied: sqlx::migrate::AppliedMigration| {
            let interrupted = dirty == Some(applied.version);
            (applied.version, LedgerEntry { checksum: applied.checksum.into_owned(), interrupted })
        };
        Ok(applied.into_iter().map(entry).collect())
    }

    /// Returns the present tables and views.
    pub(crate) async fn catalog(&mut self) -> Result<Catalog, StoreError> {
        let read = async {
            let mut rows = CatalogRows {
                columns: self.fetch(&CatalogColumns).await?,
                keys: self.fetch(&CatalogKeys).await?,
                views: self.fetch(&CatalogViews).await?,
                records: Vec::new(),
            };
            if rows.may_have_records() {
                rows.records = self.fetch(&ReadSettings::below(RECORDS)).await?;
            }
            Ok(Catalog::new(rows))
        };
        read.await.map_err(|error| failed("reading the catalog of the database", error))
    }

    /// Records a reset in the logs of these tables, if they were ever read.
    pub(crate) async fn reset_logs(&mut self, resets: &[RecordResets]) -> Result<(), StoreError> {
        let recorded = self.try_reset_logs(resets).await;
        recorded.map_err(|error| failed("recording that the log of changes begins anew", error))
    }

    async fn try_reset_logs(&mut self, resets: &[RecordResets]) -> Result<(), sqlx::Error> {
        for reset in resets {
            self.execute(reset).await?;
        }
        Ok(())
    }

    pub(super) async fn fetch<Q: Query>(&mut self, query: &Q) -> Result<Vec<Q::Row>, sqlx::Error> {
        let call = Call::new(query, self.dialect);
        read(query, &*self.session().fetch(call).await?)
    }

    async fn execute(&mut self, statement: &impl Statement) -> Result<u64, sqlx::Error> {
        let call = Call::new(statement, self.dialect);
        self.session().execute(call).await
    }

    /// Runs a migration up in one transaction with its resets. A dialect without transactions has no resets here. On SQLite another program
    /// may have run it in the meantime; then nothing is done.
    pub(crate) async fn apply(&mut self, migration: &Migration, resets: &[RecordResets]) -> Result<(), StoreError> {
        self.run(migration, Run::Up, resets).await
    }

    /// Runs a migration down in the same way, unless another program has done so in the meantime.
    pub(crate) async fn revert(&mut self, migration: &Migration, resets: &[RecordResets]) -> Result<(), StoreError> {
        self.run(migration, Run::Down, resets).await
    }

    /// Records a migration as run without running it, unless another program has done so in the meantime.
    pub(crate) async fn skip(&mut self, migration: &Migration) -> Result<(), StoreError> {
        self.run(migration, Run::Skip, &[]).await
    }

    async fn run(&mut self, migration: &Migration, run: Run, resets: &[RecordResets]) -> Result<(), StoreError> {
        self.connection.check().await?;
        self.try_run(migration, run, resets).await.map_err(|error| migrate_failed(&doing(migration), error))
    }

    async fn try_run(&mut self, migration: &Migration, run: Run, resets: &[RecordResets]) -> Result<(), MigrateError> {
        let name = self.ledger;
        if !self.dialect.defines_in_transactions() {
            debug_assert!(resets.is_empty(), "sqlx would record that the migration is done before its resets are");
            return run.on(self.session().ledger().await?, name.as_str(), migration).await;
        }
        // If there is no lock of migrations, the transaction has the write lock, so the ledger cannot change until the end.
        self.session().begin(Access::Write, false).await?;
        let ran = async {
            let ledger = self.session().ledger().await?;
            let applied = ledger.list_applied_migrations(name.as_str()).await?;
            let is_recorded = applied.iter().any(|applied| applied.version == migration.version);
            if is_recorded == (run == Run::Down) {
                run.on(ledger, name.as_str(), migration).await?;
                self.try_reset_logs(resets).await?;
            }
            Ok(())
        }
        .await;
        let end = if ran.is_ok() { TransactionEnd::Commit(None) } else { TransactionEnd::RollBack(None) };
        self.session().end(end).await?;
        ran
    }

    /// Runs the rest of a migration that was interrupted between two of its statements. Then records its resets, and finally that it was
    /// done. `recorded` is true if the ledger has it already. If not, it is recorded before the first statement, so that the next run knows
    /// where to look.
    pub(crate) async fn finish(
        &mut self,
        migration: &Migration,
        rest: &[&str],
        up: bool,
        recorded: bool,
        resets: &[RecordResets],
    ) -> Result<(), StoreError> {
        if up && !recorded {
            self.record_begun(migration).await?;
        }
        if self.dialect.defines_in_transactions() {
            let finished = Box::pin(self.finish_at_once(migration, rest, up, resets)).await;
            return finished.map_err(|error| failed(&doing(migration), error));
        }
        for text in rest {
            self.run_step(migration, text).await?;
        }
        self.reset_logs(resets).await?;
        self.settle(migration.version, up).await
    }

    /// Records that a migration is not known to be done, before its steps are run one by one, up or down. `recorded` is true if the ledger
    /// has it.
    pub(crate) async fn begin(&mut self, migration: &Migration, recorded: bool) -> Result<(), StoreError> {
        if !recorded {
            return self.record_begun(migration).await;
        }
        let begun = SettleMigration { ledger: self.ledger, version: migration.version, done: false };
        self.execute(&begun).await.map(drop).map_err(|error| failed(&doing(migration), error))
    }

    async fn record_begun(&mut self, migration: &Migration) -> Result<(), StoreError> {
        let checksum = Value::Bytes(migration.checksum.as_ref().into());
        let version = migration.version;
        let description = migration.description.as_ref();
        let begun = RecordInterrupted { ledger: self.ledger, version, description, checksum: &checksum };
        match self.execute(&begun).await {
            // Without a lock, another program may have recorded it meanwhile.
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(()),
            begun => begun.map(drop).map_err(|error| failed(&doing(migration), error)),
        }
    }

    /// Runs one step of a migration, as a transaction if the database can define tables in one.
    pub(crate) async fn run_step(&mut self, migration: &Migration, text: &str) -> Result<(), StoreError> {
        self.connection.check().await?;
        self.session().run(text.into()).await.map_err(|error| failed(&doing(migration), error))
    }

    /// Runs a statement outside of a transaction. Nothing waits for it, so it may wait for others as long as it takes.
    pub(crate) async fn run_apart(&mut self, sql: &Sql) -> Result<(), StoreError> {
        self.connection.check().await?;
        self.connection.run_apart(sql.shared()).await.map_err(|error| failed("changing tables", error))
    }

    /// Returns true if a table has rows.
    pub(crate) async fn has_rows(&mut self, table: Ident) -> Result<bool, StoreError> {
        let rows = self.fetch(&AnyRow { table }).await;
        rows.map(|rows| !rows.is_empty()).map_err(|error| failed(&format!("reading `{table}`"), error))
    }

    /// Does [`MigrationSession::finish`] in one transaction, unless another program has done it in the meantime.
    async fn finish_at_once(
        &mut self,
        migration: &Migration,
        rest: &[&str],
        up: bool,
        resets: &[RecordResets],
    ) -> Result<(), sqlx::Error> {
        let ledger = self.ledger;
        let version = migration.version;
        self.in_transaction(async |migrating| {
            let is_done = migrating.fetch(&ReadMigration { ledger, version }).await?.pop();
            if is_done.is_none_or(|is_done| up && is_done) {
                return Ok(());
            }
            for text in rest {
                migrating.session().run((*text).into()).await?;
            }
            migrating.try_reset_logs(resets).await?;
            match up {
                true => migrating.execute(&SettleMigration { ledger, version, done: true }).await.map(drop),
                false => migrating.execute(&ForgetMigration { ledger, version }).await.map(drop),
            }
        })
        .await
    }

    /// Changes tables without a record. The statements belong together, and run in one transaction if the dialect allows that.
    pub(crate) async fn define(&mut self, statements: &[Sql]) -> Result<(), StoreError> {
        self.connection.check().await?;
        let all = async |migrating: &mut Self| {
            for sql in statements {
                migrating.session().run(sql.shared()).await?;
            }
            Ok(())
        };
        let defined = match self.dialect.defines_in_transactions() {
            true => self.in_transaction(all).await,
            false => all(self).await,
        };
        defined.map_err(|error| failed("changing tables", error))
    }

    /// Does work in a transaction for writing.
    async fn in_transaction(
        &mut self,
        work: impl AsyncFnOnce(&mut Self) -> Result<(), sqlx::Error>,
    ) -> Result<(), sqlx::Error> {
        self.session().begin(Access::Write, false).await?;
        let done = work(self).await;
        let end =
            if done.is_ok() { TransactionEnd::Commit(None) } else { TransactionEnd::RollBack(done.as_ref().err()) };
        self.session().end(end).await?;
        done
    }

    /// Records if an interrupted migration was done.
    pub(crate) async fn settle(&mut self, version: i64, done: bool) -> Result<(), StoreError> {
        let ledger = self.ledger;
        let run = match done {
            true => self.execute(&SettleMigration { ledger, version, done }).await,
            false => self.execute(&ForgetMigration { ledger, version }).await,
        };
        run.map(drop).map_err(|error| failed(&format!("settling migration {version}"), error))
    }

    /// Releases the locks, so that others may migrate.
    pub(crate) async fn end(mut self) -> Result<(), StoreError> {
        self.connection.unlock().await.map_err(|error| migrate_failed("ending migrations", error))
    }
}

/// The action for a migration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Up,
    Down,
    Skip,
}

impl Run {
    async fn on(
        self,
        connection: &mut (dyn Migrate + Send),
        ledger: &str,
        migration: &Migration,
    ) -> Result<(), MigrateError> {
        match self {
            Run::Up => connection.apply(ledger, migration).await.map(drop),
            Run::Down => connection.revert(ledger, migration).await.map(drop),
            Run::Skip => connection.skip(ledger, migration).await,
        }
    }
}

fn doing(migration: &Migration) -> String {
    format!("running migration {:04} ({})", migration.version, migration.description)
}

pub(super) fn failed(doing: &str, error: sqlx::Error) -> StoreError {
    StoreError::from_sqlx(doing.to_owned(), error)
        .or_hint("fix what the database reports; the next `ingester schema apply` continues here, and `ingester schema info` shows where")
}

fn migrate_failed(doing: &str, error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(doing, error),
        other => StoreError::wrong(doing, other.to_string(), "see `ingester schema verify`"),
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Ledger, failed};

    #[test]
    fn a_ledger_has_a_name_that_needs_no_quotes_and_that_no_kind_has() {
        let long = "x".repeat(LONGEST);
        for name in ["_sqlx_migrations", "ingester_migrations_kinds", &format!("ingester_migrations_{long}")] {
            assert_eq!(Ledger::try_from(name.to_owned()).unwrap().to_string(), name);
        }
        let too_long = format!("ingester_migrations_{long}x");
        for name in ["", "job", "ingester_settings", "ingester_migrations_", "ingester_migrations_Kinds", &too_long] {
            let error = Ledger::try_from(name.to_owned()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{name}` is not a ledger: it is `_sqlx_migrations`, or ")), "{error}");
        }
        assert!(Ledger::try_from("ingester_migrations_a; DROP TABLE job".to_owned()).is_err());
    }

    #[test]
    fn a_failed_migration_says_where_the_next_run_continues() {
        let said = failed("running migration 0002 (add_owner)", sqlx::Error::RowNotFound).to_string();
        assert!(said.starts_with("running migration 0002 (add_owner): "), "{said}");
        assert!(said.ends_with("continues here, and `ingester schema info` shows where)"), "{said}");
    }

    #[test]
    fn a_file_of_kinds_gives_its_ledger_a_name() {
        let long = format!("{}.yaml", "x".repeat(99));
        for name in ["kinds.yaml", "Kinds of the team.v2.yml", "größe", ".yaml", &long] {
            let ledger = Ledger::of_file(name).to_string();
            assert_eq!(Ledger::try_from(ledger.clone()).map(|ledger| ledger.to_string()), Ok(ledger), "{name}");
        }
        assert_eq!(Ledger::of_file("Kinds-2.yaml").to_string(), "ingester_migrations_kinds_2");
    }
}
