//! Brings a database to the released schema, and back.
//!
//! A ledger, which is sqlx's own table unless the lock file names another one, records which migrations were run, so that `sqlx migrate
//! info` agrees. MySQL commits before and after each change of a definition, so a migration that was interrupted there may be before any of
//! its steps. The catalog tells which one, because the lock file describes the effect of each step.

use super::drift::{self, Drift, is_key};
use super::error::ApplyError;
use super::keys;
use super::lock_file::{AddedColumn, ReleasedMigration};
use super::progress::progress;
use super::released::{ReleasedSchema, parts};
use crate::driver::{ErrorClass, StoreError};
use crate::ledger::catalog::Catalog;
use crate::ledger::foreign::{Harm, declared_tables, foreign};
use crate::ledger::migrations::{LedgerEntry, MigrationSession};
use crate::ledger::view::Likeness;
use crate::store::Store;
use ingester_core::kind::Kind;
use ingester_core::schema::{Ident, SqlType, Stays};
use ingester_sql::ddl::{ColumnDef, KeyDef, Schema, SchemaChange, TableDef, ViewDef, steps_of};
use ingester_sql::dialect::Dialect;
use ingester_sql::dialect::statements::RecordResets;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The number of attempts of a migration whose table is in use, and the pause between them.
const ATTEMPTS: u32 = 120;
const PAUSE: Duration = Duration::from_secs(2);

/// Far longer than the gap between two migrations on SQLite.
const BETWEEN: Duration = Duration::from_millis(500);

/// The progress of migrations, reported before each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The migration that begins.
    pub migration: String,
    /// Its place among the migrations of this run, from 1.
    pub place: usize,
    /// The number of migrations of this run.
    pub of: usize,
}

/// The result of [`ReleasedSchema::apply`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyReport {
    /// Migrations that were run, in their order.
    pub run: Vec<String>,
    /// Migrations that were only recorded, because the tables had their effect already.
    pub recorded: Vec<String>,
    /// Remaining differences from the released schema.
    pub drift: Vec<Drift>,
}

impl ReleasedSchema {
    /// Runs the pending migrations. Concurrent runs wait for each other, and an interrupted run is continued.
    ///
    /// A database that has the tables but was never migrated is taken over: migrations whose effect it has already are recorded, and the
    /// others are run.
    ///
    /// # Errors
    /// If the database has migrations that this program does not have, or a statement fails. Earlier migrations stay done, and the next run
    /// continues from there.
    pub async fn apply(
        &self,
        store: &Store,
        report: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ApplyReport, ApplyError> {
        let dialect = store.dialect();
        let mut applied = ApplyReport::default();
        let entries = self.entries(store).await?;
        self.check(dialect, &entries)?;
        if self.unrun(&entries).next().is_none() {
            // Every start of the ingester comes here, so without pending migrations nothing is written.
            return self.applied(store, applied, &[], &entries).await;
        }
        self.refuse_foreign(store).await?;
        let mut migrating = store.migrating(self.lock_file().ledger).await?;
        migrating.ensure().await?;
        // Read the catalog before the ledger. On SQLite others may migrate in between: if the catalog has a table of theirs, the ledger
        // then has their migration.
        let catalog = migrating.catalog().await?;
        let entries = migrating.entries().await?;
        self.check(dialect, &entries)?;
        let todo: Vec<&ReleasedMigration> = self.unrun(&entries).collect();
        // True if the database has tables of ours but was never migrated.
        let unknown = entries.is_empty() && self.any_table(&catalog);
        let mut made = Vec::new();
        let current = unknown && drift::drift(&self.lock_file().tables, &catalog, dialect).is_empty();
        for (place, released) in todo.iter().enumerate() {
            report(Progress { migration: released.name(), place: place + 1, of: todo.len() });
            let migration = self.migration(dialect, released, true)?;
            let steps = steps_of(&released.changes).len();
            let recorded = entries.contains_key(&migration.version);
            let behind = match current {
                true => steps,
                false if unknown || recorded => {
                    progress(&released.changes, &migrating.catalog().await?, dialect, true).unwrap_or(0)
                }
                false => 0,
            };
            let done = behind == steps;
            let resets = store.resets(&mut migrating, replaced_tables(&released.changes)).await?;
            if done {
                migrating.reset_logs(&resets).await?;
            }
            match (done, recorded) {
                (true, true) => migrating.settle(migration.version, true).await?,
                (true, false) => migrating.skip(&migration).await?,
                (false, _) => {
                    Run { released, migration: &migration, dialect, up: true, behind, recorded, resets }
                        .run(&mut migrating)
                        .await?;
                    made.extend(created_views(&released.changes));
                }
            }
            if done { &mut applied.recorded } else { &mut applied.run }.push(released.name());
        }
        migrating.end().await?;
        self.applied(store, applied, &made, &self.entries(store).await?).await
    }

    /// Waits until no other program migrates this database. If no lock can show that one does (SQLite, and connections that a pooler
    /// exchanges), it waits for the time of a few migrations.
    ///
    /// # Errors
    /// If the database cannot be asked.
    pub async fn wait_for_others(&self, store: &Store) -> Result<(), StoreError> {
        if store.dialect().locks_migrations() {
            match store.migrating(self.lock_file().ledger).await {
                Err(error) if error.is_configuration() => {}
                locked => return locked?.end().await,
            }
        }
        tokio::time::sleep(BETWEEN).await;
        Ok(())
    }

    /// Does the steps that follow the migrations. The migrations are `entries` of the ledger, and `made` has the views that they have made
    /// now.
    async fn applied(
        &self,
        store: &Store,
        mut applied: ApplyReport,
        made: &[Ident],
        entries: &BTreeMap<i64, LedgerEntry>,
    ) -> Result<ApplyReport, ApplyError> {
        let schema = &self.lock_file().tables;
        let mut catalog = store.create_own_beside(store.checked_catalog().await?).await?;
        // Record the views before checking for drift: the server may describe a view that was made now in other words than the view of an
        // earlier release.
        if store.record_views(&catalog, &schema.views, made, true).await? {
            catalog = store.catalog().await?;
        }
        applied.drift = drift::drift(schema, &catalog, store.dialect());
        store.begin_backfills(&self.added(entries)).await?;
        Ok(applied)
    }

    /// Reverts the migrations after `version`, the last one first. Columns that are added again stay empty until a program whose structs
    /// have them backfills them.
    ///
    /// # Errors
    /// As [`ReleasedSchema::apply`].
    pub async fn revert(
        &self,
        store: &Store,
        version: u32,
        report: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Vec<String>, ApplyError> {
        let dialect = store.dialect();
        let last = self.lock_file().migrations.last().map_or(0, |last| last.version);
        if version > last {
            return Err(ApplyError::Missing(version, last));
        }
        // Before the first statement, check the tables that would be dropped or altered.
        let entries = self.entries(store).await?;
        self.refuse_foreign_below(store, &self.taken_back(version, &entries), &entries).await?;
        let mut migrating = store.migrating(self.lock_file().ledger).await?;
        migrating.ensure().await?;
        let entries = migrating.entries().await?;
        self.check(dialect, &entries)?;
        let todo = self.taken_back(version, &entries);
        let mut reverted = Vec::new();
        for (place, released) in todo.iter().enumerate() {
            report(Progress { migration: released.name(), place: place + 1, of: todo.len() });
            let migration = self.migration(dialect, released, false)?;
            let steps = steps_of(&released.changes).len();
            let interrupted = entries.get(&migration.version).is_some_and(|entry| entry.interrupted);
            let behind = match interrupted {
                true => progress(&released.changes, &migrating.catalog().await?, dialect, false).unwrap_or(steps),
                false => steps,
            };
            let changes: Vec<SchemaChange> = released.changes.iter().map(SchemaChange::inverse).collect();
            let resets = store.resets(&mut migrating, replaced_tables(&changes)).await?;
            if behind == 0 {
                migrating.reset_logs(&resets).await?;
                migrating.settle(migration.version, false).await?;
            } else {
                let run = Run { released, migration: &migration, dialect, up: false, behind, recorded: true, resets };
                run.run(&mut migrating).await?;
            }
            reverted.push(released.name());
        }
        migrating.end().await?;
        store.create_own().await?;
        let tables = self.table_names();
        store.forget_backfills(i64::from(version), &tables).await?;
        if !todo.is_empty() {
            // From now on, an earlier program has the latest definition.
            for table in &tables {
                store.forget_latest(table).await?;
            }
        }
        // Views that were made again belong to an earlier release, which records them when it runs.
        let changed: Vec<Ident> = todo.iter().flat_map(|released| created_views(&released.changes)).collect();
        store.forget_views(&changed).await?;
        Ok(reverted)
    }

    /// Returns the migrations after `version` that the ledger has, the last one first.
    fn taken_back(&self, version: u32, entries: &BTreeMap<i64, LedgerEntry>) -> Vec<&ReleasedMigration> {
        let is_recorded = |released: &&ReleasedMigration| {
            released.version > version && entries.contains_key(&i64::from(released.version))
        };
        self.lock_file().migrations.iter().rev().filter(is_recorded).collect()
    }

    /// Checks, before anything is changed, that no other program has made a table that a pending migration would make or alter. If none is
    /// pending, only the ingester's own tables are checked. A table with the shape of any release is ours: an interrupted migration or an
    /// earlier program has made it.
    ///
    /// # Errors
    /// If another program has made such a table, or the database cannot be read.
    pub async fn refuse_foreign(&self, store: &Store) -> Result<(), StoreError> {
        let entries = self.entries(store).await?;
        let pending: BTreeSet<u32> = self.unrun(&entries).map(|migration| migration.version).collect();
        let migrations = self.lock_file().migrations.iter().filter(|_| !pending.is_empty());
        let concerned = concerned(migrations, |migration| pending.contains(&migration.version));
        store.refuse_foreign(|_| self.in_each_release(&concerned), Harm::Changed).await.map(drop)
    }

    /// Like [`ReleasedSchema::refuse_foreign`], before these migrations are reverted. The tables that they made would be dropped.
    async fn refuse_foreign_below(
        &self,
        store: &Store,
        taken_back: &[&ReleasedMigration],
        entries: &BTreeMap<i64, LedgerEntry>,
    ) -> Result<(), StoreError> {
        let is_taken_back =
            |migration: &ReleasedMigration| taken_back.iter().any(|back| back.version == migration.version);
        let made = taken_back.iter().flat_map(|migration| &migration.changes).filter_map(|change| match change {
            SchemaChange::CreateTable(table) => Some(table.name),
            _ => None,
        });
        let made = made.collect();
        store.refuse_foreign(|_| self.in_each_release(&made), Harm::Dropped).await?;
        let recorded = self
            .lock_file()
            .migrations
            .iter()
            .filter(|migration| !taken_back.is_empty() && entries.contains_key(&i64::from(migration.version)));
        let concerned = concerned(recorded, is_taken_back);
        store.refuse_foreign(|_| self.in_each_release(&concerned), Harm::Changed).await.map(drop)
    }

    /// Returns the tables of these names, in the shape that they have in each release.
    fn in_each_release(&self, names: &BTreeSet<Ident>) -> Vec<TableDef> {
        let mut made: Vec<TableDef> = Vec::new();
        let mut schema = self.lock_file().tables.clone();
        let mut add = |tables: &[TableDef]| {
            for table in tables {
                if names.contains(&table.name) && !made.contains(table) {
                    made.push(table.clone());
                }
            }
        };
        add(&schema.tables);
        for migration in self.lock_file().migrations.iter().rev() {
            // A lock file of an earlier release may not have the schema from before.
            let Some(before) = schema.before(&migration.changes) else { break };
            add(&before.tables);
            schema = before;
        }
        made
    }

    /// Returns the names of the migrations that this database has not run.
    ///
    /// # Errors
    /// As [`ReleasedSchema::apply`].
    pub async fn pending(&self, store: &Store) -> Result<Vec<String>, ApplyError> {
        let entries = self.entries(store).await?;
        self.check(store.dialect(), &entries)?;
        Ok(self.unrun(&entries).map(ReleasedMigration::name).collect())
    }

    /// Returns the entries of the ledger of these migrations; none if the database does not have it.
    pub(super) async fn entries(&self, store: &Store) -> Result<BTreeMap<i64, LedgerEntry>, StoreError> {
        store.ledger(self.lock_file().ledger).await
    }

    /// Returns the names that these migrations have given to tables.
    fn table_names(&self) -> Vec<&str> {
        let changes = self.lock_file().migrations.iter().flat_map(|migration| &migration.changes);
        let named = changes.filter_map(|change| match change {
            SchemaChange::CreateTable(table) => Some(table.name.as_str()),
            SchemaChange::RenameTable { to, .. } => Some(to.as_str()),
            _ => None,
        });
        named.collect()
    }

    /// Returns the migrations that the ledger does not record as done.
    pub(super) fn unrun(&self, entries: &BTreeMap<i64, LedgerEntry>) -> impl Iterator<Item = &ReleasedMigration> {
        let done = |version| entries.get(&version).is_some_and(|entry| !entry.interrupted);
        self.lock_file().migrations.iter().filter(move |released| !done(i64::from(released.version)))
    }

    /// Returns the columns that migrations have added to tables of this database.
    pub(super) fn added(&self, entries: &BTreeMap<i64, LedgerEntry>) -> Vec<AddedColumn> {
        let run = |version| entries.get(&i64::from(version)).is_some_and(|entry| !entry.interrupted);
        self.lock_file().added(run)
    }

    /// Checks that the ledger has only these migrations, with the same texts.
    pub(super) fn check(&self, dialect: Dialect, entries: &BTreeMap<i64, LedgerEntry>) -> Result<(), ApplyError> {
        for (version, entry) in entries {
            let released = self.lock_file().migrations.iter().find(|released| i64::from(released.version) == *version);
            let released = released.ok_or(ApplyError::Later(*version))?;
            if self.migration(dialect, released, true)?.checksum != entry.checksum {
                return Err(ApplyError::Another(released.name()));
            }
        }
        Ok(())
    }

    pub(super) fn any_table(&self, catalog: &Catalog) -> bool {
        self.lock_file().tables.tables.iter().any(|table| catalog.tables.contains_key(table.name.as_str()))
    }
}

/// Returns the names of the tables that migrations have made, and the names that the migrations of this run touch. Another program may have
/// a table with a name that a migration has dropped or given up.
fn concerned<'r>(
    migrations: impl Iterator<Item = &'r ReleasedMigration>,
    is_open: impl Fn(&ReleasedMigration) -> bool,
) -> BTreeSet<Ident> {
    let mut names = BTreeSet::new();
    for migration in migrations {
        let is_open = is_open(migration);
        for change in &migration.changes {
            let (made, gone) = match change {
                SchemaChange::CreateTable(table) => (Some(table.name), None),
                SchemaChange::DropTable(table) => (None, Some(table.name)),
                SchemaChange::RenameTable { from, to } => (Some(*to), Some(*from)),
                _ => (None, None),
            };
            names.extend(made);
            match gone {
                Some(gone) if is_open => drop(names.insert(gone)),
                Some(gone) => drop(names.remove(&gone)),
                None => {}
            }
        }
    }
    names
}

/// Returns the tables that now have other rows than the table of the same name had before.
pub(super) fn replaced_tables(changes: &[SchemaChange]) -> impl Iterator<Item = Ident> {
    changes.iter().filter_map(|change| match change {
        SchemaChange::CreateTable(table) => Some(table.name),
        SchemaChange::RenameTable { to, .. } => Some(*to),
        _ => None,
    })
}

/// Returns the views that changes make.
fn created_views(changes: &[SchemaChange]) -> impl Iterator<Item = Ident> {
    changes.iter().filter_map(|change| match change {
        SchemaChange::CreateView(view) => Some(view.name),
        _ => None,
    })
}

/// One migration to run, up or down.
struct Run<'a> {
    released: &'a ReleasedMigration,
    migration: &'a sqlx::migrate::Migration,
    dialect: Dialect,
    up: bool,
    /// The number of its steps that have their effect, counted upwards.
    behind: usize,
    /// True if the ledger has it.
    recorded: bool,
    /// The resets that it records in the log of changes, before the ledger says that it is done. If they came after and the process were
    /// killed in between, no later run would record them.
    resets: Vec<RecordResets>,
}

impl Run<'_> {
    /// Runs the remaining steps, and tries again while a table is in use.
    ///
    /// The loop does not use the general retries, because the catalog decides which steps remain, not the error alone.
    async fn run(mut self, migrating: &mut MigrationSession) -> Result<(), StoreError> {
        let steps = steps_of(&self.released.changes).len();
        let mut attempt = 1;
        loop {
            let Err(error) = self.attempt(migrating, steps).await else { return Ok(()) };
            // MySQL has committed the record of the attempt and the steps before the one that failed. The failed step may be done in spite
            // of the error, for example if the connection was lost afterwards. If the catalog cannot be read either, the next run finds
            // out.
            let Ok(catalog) = migrating.catalog().await else { return Err(error) };
            self.behind = progress(&self.released.changes, &catalog, self.dialect, self.up).unwrap_or(self.behind);
            let Ok(entries) = migrating.entries().await else { return Err(error) };
            self.recorded = entries.contains_key(&self.migration.version);
            if self.behind == if self.up { steps } else { 0 } {
                migrating.reset_logs(&self.resets).await?;
                return match self.up && !self.recorded {
                    true => migrating.skip(self.migration).await,
                    false => migrating.settle(self.migration.version, self.up).await,
                };
            }
            if self.behind == if self.up { 0 } else { steps } {
                migrating.settle(self.migration.version, !self.up).await?;
                self.recorded = !self.up;
            }
            if error.class() != ErrorClass::Transient || attempt == ATTEMPTS {
                return Err(error);
            }
            tracing::warn!(%error, migration = self.released.name(), "A table is in use, trying again");
            attempt += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns the changes of each step, in the order in which they run.
    fn changes(&self) -> Vec<Vec<SchemaChange>> {
        let steps = steps_of(&self.released.changes);
        match self.up {
            true => steps.into_iter().map(<[SchemaChange]>::to_vec).collect(),
            false => {
                steps.into_iter().rev().map(|step| step.iter().rev().map(SchemaChange::inverse).collect()).collect()
            }
        }
    }

    async fn attempt(&self, migrating: &mut MigrationSession, steps: usize) -> Result<(), StoreError> {
        let texts = parts(self.migration.sql.as_str());
        let migration = self.migration;
        let first = if self.up { self.behind } else { steps - self.behind };
        if texts.len() == steps {
            let changes = self.changes();
            if keys::any_beside_writers(migrating, &changes[first..].concat()).await? {
                migrating.begin(migration, self.recorded).await?;
                for (text, changes) in texts.iter().zip(&changes).skip(first) {
                    if !keys::make_beside_writers(migrating, changes).await? {
                        migrating.run_step(migration, text).await?;
                    }
                }
                migrating.reset_logs(&self.resets).await?;
                return migrating.settle(migration.version, self.up).await;
            }
        }
        let rest = if texts.len() == steps { &texts[first..] } else { &texts[..] };
        if !self.resets.is_empty() && !self.dialect.defines_in_transactions() {
            migrating.begin(migration, self.recorded).await?;
            return migrating.finish(migration, rest, self.up, true, &self.resets).await;
        }
        if rest.len() < texts.len() {
            return migrating.finish(migration, rest, self.up, self.recorded, &self.resets).await;
        }
        if self.up && self.recorded {
            migrating.settle(migration.version, false).await?;
        }
        match self.up {
            true => migrating.apply(migration, &self.resets).await,
            false => migrating.revert(migration, &self.resets).await,
        }
    }
}

/// Returns the tables of a database as a schema that [`diff`](ingester_sql::ddl::diff) compares with `wanted`. It has the tables of
/// `wanted` under their current or former names, and its views. A type that our columns never have becomes LONGBLOB, which differs from all
/// types of indexed columns.
pub fn schema_of(catalog: &Catalog, dialect: Dialect, wanted: &Schema) -> Schema {
    let mut tables = Vec::new();
    let names = wanted.tables.iter().flat_map(|table| std::iter::once(table.name).chain(table.was.iter().copied()));
    for name in names {
        let Some(found) = catalog.tables.get(name.as_str()) else { continue };
        if tables.iter().any(|table: &TableDef| table.name == name) {
            continue;
        }
        let like = wanted.tables.iter().find(|table| table.name == name || table.was.contains(&name));
        let columns: Vec<ColumnDef> = found
            .columns
            .iter()
            .filter_map(|found| {
                let column = Ident::parse(&found.name).ok()?;
                let like =
                    like.and_then(|like| like.columns.iter().find(|c| c.name == column || c.was == Some(column)));
                let ty = match like {
                    Some(like) if dialect.is_type(like.ty, &found.ty) => like.ty,
                    // A column of an unknown type has none of our values.
                    _ => dialect.type_of(&found.ty).unwrap_or(SqlType::LongBlob),
                };
                let stays = like.map_or(Stays::None, |like| like.stays);
                Some(ColumnDef { name: column, was: None, ty, nullable: found.nullable, stays })
            })
            .collect();
        let idents = |names: &[String]| names.iter().filter_map(|name| Ident::parse(name).ok()).collect();
        let primary: Vec<Ident> = idents(&found.primary_key);
        let keys = found
            .keys
            .iter()
            .filter_map(|(found_name, found)| {
                // On SQLite the name of a key begins with the name of its table.
                let known = like.and_then(|like| {
                    like.keys.iter().find(|key| dialect.key_name(name, key.name).as_str() == found_name)
                });
                if let Some(key) = known.filter(|key| is_key(dialect, key, &primary, found)) {
                    return Some(key.clone());
                }
                let key = known.map(|key| key.name).or_else(|| {
                    let own = found_name.strip_prefix(&format!("{name}__")).unwrap_or(found_name);
                    Ident::parse(own).ok()
                })?;
                Some(KeyDef { name: key, columns: idents(&found.columns) })
            })
            .collect();
        tables.push(TableDef { name, was: Vec::new(), columns, primary_key: primary, keys });
    }
    let like = |view: &ViewDef| match catalog.views.get(view.name.as_str())?.likeness(view) {
        Likeness::Same => Some(view.clone()),
        // We cannot represent what the view selects, so it becomes a view that selects nothing.
        Likeness::OtherColumns | Likeness::OtherDefinition | Likeness::Changed => {
            Some(ViewDef { name: view.name, columns: Vec::new(), sources: Vec::new() })
        }
    };
    Schema { tables, views: wanted.views.iter().filter_map(like).collect() }
}

/// The tables and columns that a database lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingParts {
    /// Tables and columns of kinds.
    pub of_kinds: Vec<String>,
    /// The ingester's own tables.
    pub own: Vec<String>,
    /// True if a table of a kind looks like another program's.
    is_foreign: bool,
}

impl MissingParts {
    /// Returns true if the database has everything, in tables of the ingester.
    pub fn is_nothing(&self) -> bool {
        self.of_kinds.is_empty() && self.own.is_empty() && !self.is_foreign
    }

    /// Returns all of them, the ones of kinds first.
    pub fn all(self) -> Vec<String> {
        [self.of_kinds, self.own].concat()
    }
}

impl Store {
    /// Returns the tables and columns that these kinds need and the database lacks. [`Store::lacking`] checks the ingester's own tables,
    /// too.
    ///
    /// # Errors
    /// If the catalog cannot be read, or the server has kept the names of these tables in lower case, so that they would never be found.
    pub async fn missing(&self, kinds: &[Kind]) -> Result<Vec<String>, StoreError> {
        self.missing_in(&self.catalog().await?, kinds).await
    }

    async fn missing_in(&self, catalog: &Catalog, kinds: &[Kind]) -> Result<Vec<String>, StoreError> {
        let mut missing = Vec::new();
        for drift in drift::drift(&Schema::from_registry(kinds), catalog, self.dialect()) {
            match drift {
                Drift::MissingTable { table } => missing.push(table),
                Drift::MissingColumn { table, column, .. } => missing.push(format!("{table}.{column}")),
                _ => {}
            }
        }
        let upper: Vec<&String> =
            missing.iter().filter(|name| name.contains(|c: char| c.is_ascii_uppercase())).collect();
        if let Some(first) = upper.first() {
            let there = self.tables().await?;
            if upper.iter().all(|name| there.contains(name.to_ascii_lowercase().as_str())) {
                let lower = first.to_ascii_lowercase();
                return Err(StoreError::wrong(
                    "looking for the tables",
                    format!(
                        "the server has the table `{lower}` and not `{first}`: it keeps names of tables in lower case"
                    ),
                    format!("give the kind a table in lower case, with `table`: `{lower}`"),
                ));
            }
        }
        Ok(missing)
    }

    /// Returns the tables and columns that these kinds and the ingester itself need and the database lacks, with one reading of the
    /// catalog.
    ///
    /// # Errors
    /// As [`Store::missing`], and if one of the ingester's own tables belongs to another program.
    pub async fn lacking(&self, kinds: &[Kind]) -> Result<MissingParts, StoreError> {
        let catalog = self.checked_catalog().await?;
        let mut own: Vec<String> = Store::OWN.map(str::to_owned).into();
        own.retain(|own| !catalog.tables.contains_key(own));
        if !own.is_empty() {
            // The catalog has only tables whose columns the user may see.
            let there = self.tables().await?;
            own.retain(|own| !there.contains(own));
        }
        let is_foreign = foreign(&declared_tables(kinds, &catalog), &catalog, self.dialect()).is_some();
        Ok(MissingParts { of_kinds: self.missing_in(&catalog, kinds).await?, own, is_foreign })
    }
}
