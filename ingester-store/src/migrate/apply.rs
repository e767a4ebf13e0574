//! Bringing a database to the released schema, and back.
//!
//! What has been run stands in sqlx's own table, so that `sqlx migrate info` tells the same. MySQL commits before and
//! after each change of a definition, so a migration that was interrupted there may have been done or not: the catalog
//! tells, because each is one statement whose effect the lock describes.

use super::drift::{self, Drift, is, is_key, same};
use super::folder::GenerateError;
use super::lock_file::{AddedColumn, ReleasedMigration};
use super::released::Released;
use crate::store::catalog::{Catalog, FoundTable};
use crate::store::ledger::{LedgerEntry, Migrating};
use crate::store::{ErrorClass, Store, StoreError};
use ingester_core::ddl::{ColumnDef, KeyDef, Schema, SchemaChange};
use ingester_core::dialect::Dialect;
use ingester_core::kind::Kind;
use ingester_core::schema::{Ident, SqlType};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a migration is tried again that found its table in use, and the pause before that.
const ATTEMPTS: u32 = 120;
const PAUSE: Duration = Duration::from_secs(2);

/// Why migrations cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The migrations themselves.
    #[error(transparent)]
    Files(#[from] GenerateError),
    /// The database has run what this program does not have.
    #[error(
        "the database has run migration {0:04}, which this program does not have; it belongs to a later release: use that one"
    )]
    Later(i64),
    /// The database has run another text under this number.
    #[error(
        "the database has run another migration {0} than the one released under that name; take the file that was run from version control again"
    )]
    Another(String),
    /// A migration that does not exist.
    #[error("there is no migration {0}; the last one is {1}")]
    Missing(u32, u32),
}

/// How far migrations are, told before each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The migration that begins.
    pub migration: String,
    /// Its place among those to be run, from 1.
    pub place: usize,
    /// How many are to be run.
    pub of: usize,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Migrations that were run, in their order.
    pub run: Vec<String>,
    /// Migrations whose effect was there already, so that they were only recorded.
    pub recorded: Vec<String>,
    /// What differs from the released schema all the same.
    pub drift: Vec<Drift>,
}

impl Released {
    /// Runs what has not been run yet. Two at once wait for each other; one that was interrupted is taken up again.
    ///
    /// A database whose tables are there, but that nobody has migrated so far, is taken as it is: what it has already is
    /// recorded, what it lacks is run.
    ///
    /// # Errors
    /// When the database has migrations that this program does not know, or a statement fails; the earlier ones stay done
    /// then, and running it again goes on.
    pub async fn apply(&self, store: &Store, tell: &mut (dyn FnMut(Progress) + Send)) -> Result<Applied, ApplyError> {
        let dialect = store.dialect();
        let mut applied = Applied::default();
        if self.pending(store).await?.is_empty() {
            // Nothing is written where there is nothing to do: an ingester that starts again asks each time.
            applied.drift = drift::drift(&self.lock_file().tables, &store.catalog().await?, dialect);
            return self.applied(store, applied).await;
        }
        let mut migrating = store.migrating().await?;
        migrating.ensure().await?;
        // The catalog before the ledger: on SQLite, where others may migrate meanwhile, a table of theirs that is seen
        // here is in the ledger that is read after it.
        let catalog = migrating.catalog().await?;
        let entries = migrating.entries().await?;
        self.check(dialect, &entries)?;
        let todo: Vec<&ReleasedMigration> = self.unrun(&entries).collect();
        // Tables that nobody has migrated so far.
        let unknown = entries.is_empty() && self.any_table(&catalog);
        let current = unknown && drift::drift(&self.lock_file().tables, &catalog, dialect).is_empty();
        for (place, released) in todo.iter().enumerate() {
            tell(Progress { migration: released.name(), place: place + 1, of: todo.len() });
            let migration = self.migration(dialect, released, true);
            let interrupted = entries.contains_key(&migration.version);
            let done = current
                || ((unknown || interrupted) && is_done(&released.changes, &migrating.catalog().await?, dialect));
            match (done, interrupted) {
                (true, true) => migrating.settle(migration.version, true).await?,
                (true, false) => migrating.skip(&migration).await?,
                (false, interrupted) => {
                    if interrupted {
                        migrating.settle(migration.version, false).await?;
                    }
                    run(&mut migrating, dialect, released, &migration, true).await?;
                }
            }
            if done { &mut applied.recorded } else { &mut applied.run }.push(released.name());
        }
        applied.drift = drift::drift(&self.lock_file().tables, &migrating.catalog().await?, dialect);
        migrating.end().await?;
        self.applied(store, applied).await
    }

    /// What comes after the migrations.
    async fn applied(&self, store: &Store, applied: Applied) -> Result<Applied, ApplyError> {
        store.create_own().await?;
        store.begin_backfills(&self.added(store).await?).await?;
        Ok(applied)
    }

    /// Takes back the migrations after `version`, the last one first. Columns that come back are empty: a backfill by the
    /// program that knows them fills them again.
    ///
    /// # Errors
    /// As [`Released::apply`].
    pub async fn revert(
        &self,
        store: &Store,
        version: u32,
        tell: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Vec<String>, ApplyError> {
        let dialect = store.dialect();
        let last = self.lock_file().migrations.last().map_or(0, |last| last.version);
        if version > last {
            return Err(ApplyError::Missing(version, last));
        }
        let mut migrating = store.migrating().await?;
        migrating.ensure().await?;
        let entries = migrating.entries().await?;
        self.check(dialect, &entries)?;
        let todo: Vec<&ReleasedMigration> = self
            .lock_file()
            .migrations
            .iter()
            .rev()
            .filter(|released| released.version > version && entries.contains_key(&i64::from(released.version)))
            .collect();
        let mut reverted = Vec::new();
        for (place, released) in todo.iter().enumerate() {
            tell(Progress { migration: released.name(), place: place + 1, of: todo.len() });
            let migration = self.migration(dialect, released, false);
            let interrupted = entries.get(&migration.version).is_some_and(|entry| entry.interrupted);
            if interrupted && !is_done(&released.changes, &migrating.catalog().await?, dialect) {
                migrating.settle(migration.version, false).await?;
            } else {
                run(&mut migrating, dialect, released, &migration, false).await?;
            }
            reverted.push(released.name());
        }
        migrating.end().await?;
        store.create_own().await?;
        store.forget_backfills(i64::from(version)).await?;
        Ok(reverted)
    }

    /// The migrations that have not been run on this database, by name.
    ///
    /// # Errors
    /// As [`Released::apply`].
    pub async fn pending(&self, store: &Store) -> Result<Vec<String>, ApplyError> {
        let entries = store.ledger().await?;
        self.check(store.dialect(), &entries)?;
        Ok(self.unrun(&entries).map(ReleasedMigration::name).collect())
    }

    /// The migrations that a ledger does not know to be done.
    fn unrun(&self, entries: &BTreeMap<i64, LedgerEntry>) -> impl Iterator<Item = &ReleasedMigration> {
        let done = |version| entries.get(&version).is_some_and(|entry| !entry.interrupted);
        self.lock_file().migrations.iter().filter(move |released| !done(i64::from(released.version)))
    }

    /// The columns that migrations have added to this database.
    pub(super) async fn added(&self, store: &Store) -> Result<Vec<AddedColumn>, StoreError> {
        let entries = store.ledger().await?;
        let run = |version| entries.get(&i64::from(version)).is_some_and(|entry| !entry.interrupted);
        Ok(self.lock_file().added(run))
    }

    /// Whether the ledger is one of these migrations.
    fn check(&self, dialect: Dialect, entries: &BTreeMap<i64, LedgerEntry>) -> Result<(), ApplyError> {
        for (version, entry) in entries {
            let released = self.lock_file().migrations.iter().find(|released| i64::from(released.version) == *version);
            let released = released.ok_or(ApplyError::Later(*version))?;
            if self.migration(dialect, released, true).checksum != entry.checksum {
                return Err(ApplyError::Another(released.name()));
            }
        }
        Ok(())
    }

    fn any_table(&self, catalog: &Catalog) -> bool {
        self.lock_file().tables.tables.iter().any(|table| catalog.tables.contains_key(table.name.as_str()))
    }
}

/// Runs one migration, again and again while its table is in use.
async fn run(
    migrating: &mut Migrating,
    dialect: Dialect,
    released: &ReleasedMigration,
    migration: &sqlx::migrate::Migration,
    up: bool,
) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        let run = if up { migrating.apply(migration).await } else { migrating.revert(migration).await };
        let Err(error) = run else { return Ok(()) };
        // MySQL has recorded the attempt and has committed that by itself. What the error says need not be so: a
        // connection that is lost when the server is done. Where even that cannot be asked, the next run will.
        let Ok(catalog) = migrating.catalog().await else { return Err(error) };
        let done = is_done(&released.changes, &catalog, dialect);
        migrating.settle(migration.version, done).await?;
        if done == up {
            return Ok(());
        }
        if error.class() != ErrorClass::Transient || attempt == ATTEMPTS {
            return Err(error);
        }
        tracing::warn!(%error, migration = released.name(), "A table is in use, trying again");
        attempt += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether a database has what these changes make.
fn is_done(changes: &[SchemaChange], catalog: &Catalog, dialect: Dialect) -> bool {
    let table = |name: Ident| catalog.tables.get(name.as_str());
    let column = |table: Option<&FoundTable>, column: &ColumnDef| {
        table.and_then(|table| table.column(column.name.as_str())).is_some_and(|found| is(dialect, column, found))
    };
    let key = |name: Ident, key: &KeyDef| table(name).is_some_and(|live| is_key(dialect, name, key, live));
    changes.iter().all(|change| match change {
        SchemaChange::CreateTable(made) => table(made.name).is_some(),
        SchemaChange::DropTable(dropped) => table(dropped.name).is_none(),
        SchemaChange::RenameTable { from, to } => {
            let handed_on =
                changes.iter().any(|other| matches!(other, SchemaChange::RenameTable { to, .. } if to == from));
            table(*to).is_some() && (handed_on || table(*from).is_none())
        }
        SchemaChange::AddColumn { table: name, column: added } => column(table(*name), added),
        SchemaChange::DropColumn { table: name, column: dropped } => {
            table(*name).is_some() && !column(table(*name), dropped)
        }
        SchemaChange::RenameColumn { table: name, column: was, to } => {
            let handed_on =
                changes.iter().any(|other| matches!(other, SchemaChange::RenameColumn { to, .. } if *to == was.name));
            column(table(*name), &ColumnDef { name: *to, ..*was })
                && (handed_on || table(*name).is_some_and(|live| live.column(was.name.as_str()).is_none()))
        }
        SchemaChange::Retype { table: name, to, .. } => column(table(*name), to),
        SchemaChange::PrimaryKey { table: name, to, .. } => {
            table(*name).is_some_and(|live| same(to, &live.primary_key))
        }
        SchemaChange::AddKey { table: name, key: added } => key(*name, added),
        SchemaChange::DropKey { table: name, key: dropped } => table(*name).is_some() && !key(*name, dropped),
        SchemaChange::RenameKey { table: name, key: was, to } => {
            key(*name, &KeyDef { name: *to, columns: was.columns.clone() }) && !key(*name, was)
        }
    })
}

/// What the tables of a database would need to become those of `kinds`: the database's own tables as a schema, as far as
/// its types are ones that ours have.
pub fn schema_of(catalog: &Catalog, dialect: Dialect, wanted: &Schema) -> Schema {
    let mut tables = Vec::new();
    let names = wanted.tables.iter().flat_map(|table| [Some(table.name), table.was]).flatten();
    for name in names {
        let Some(live) = catalog.tables.get(name.as_str()) else { continue };
        if tables.iter().any(|table: &ingester_core::ddl::TableDef| table.name == name) {
            continue;
        }
        let like = wanted.tables.iter().find(|table| table.name == name || table.was == Some(name));
        let columns: Vec<ColumnDef> = live
            .columns
            .iter()
            .filter_map(|found| {
                let column = Ident::parse(&found.name).ok()?;
                let like =
                    like.and_then(|like| like.columns.iter().find(|c| c.name == column || c.was == Some(column)));
                let ty = match like {
                    Some(like) if dialect.is_type(like.ty, &found.ty) => like.ty,
                    // Whatever else it is, values of ours are not in it.
                    _ => dialect.type_of(&found.ty).unwrap_or(SqlType::LongBlob),
                };
                Some(ColumnDef { name: column, was: None, ty, nullable: found.nullable })
            })
            .collect();
        let idents = |names: &[String]| names.iter().filter_map(|name| Ident::parse(name).ok()).collect();
        let keys = live
            .keys
            .iter()
            .filter_map(|(found, live)| {
                // On SQLite the table's name stands in front.
                let known = like.and_then(|like| {
                    like.keys.iter().find(|key| dialect.key_name(name, key.name).as_str() == found).map(|key| key.name)
                });
                let key = known.or_else(|| {
                    let own = found.strip_prefix(&format!("{name}__")).unwrap_or(found);
                    Ident::parse(own).ok()
                })?;
                Some(KeyDef { name: key, columns: idents(&live.columns) })
            })
            .collect();
        tables.push(ingester_core::ddl::TableDef {
            name,
            was: None,
            columns,
            primary_key: idents(&live.primary_key),
            keys,
        });
    }
    Schema { tables }
}

impl Store {
    /// What these kinds need that is not there: tables and columns. The ingester's own tables are
    /// [`Store::missing_own`]'s.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub async fn missing(&self, kinds: &[Kind]) -> Result<Vec<String>, StoreError> {
        let catalog = self.catalog().await?;
        let mut missing = Vec::new();
        for drift in drift::drift(&Schema::of(kinds), &catalog, self.dialect()) {
            match drift {
                Drift::MissingTable { table } => missing.push(table),
                Drift::MissingColumn { table, column, .. } => missing.push(format!("{table}.{column}")),
                _ => {}
            }
        }
        Ok(missing)
    }

    /// The ingester's own tables that are not there.
    ///
    /// # Errors
    /// When the names of the tables cannot be read.
    pub async fn missing_own(&self) -> Result<Vec<String>, StoreError> {
        let there = self.tables().await?;
        Ok(Store::OWN.iter().filter(|own| !there.contains(**own)).map(|own| (*own).to_owned()).collect())
    }
}
