//! Tables of kinds without a lock file: kinds of a file, and structs in a program without migrations. These tables follow the declaration.
//! The database itself counts the definitions of such a kind.

use super::apply::{replaced_tables, schema_of};
use super::keys;
use crate::driver::{ErrorClass, ErrorSubject, StoreError};
use crate::ledger::catalog::Catalog;
use crate::ledger::{DeclaredRecords, Ledger};
use crate::store::Store;
use ingester_core::Registry;
use ingester_core::kind::{Counted, Kind, ProtobufError};
use ingester_core::schema::{Fingerprint, Ident, SqlType, Stays};
use ingester_sql::ddl::{self, Schema, SchemaChange, Step, ViewDef};
use ingester_sql::dialect::{Dialect, SETTINGS};
use std::time::Duration;

/// The number of attempts of a change whose table is in use, and the pause between them.
const ATTEMPTS: u32 = 120;
const PAUSE: Duration = Duration::from_secs(2);

/// The number of times that the tables are read if no lock keeps others from changing them, and the pause in between.
const LOOKS: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(300);

/// The column for the values in a table of many values.
const VALUE: Ident = Ident::new("value");
/// The column for the keys in a table of labels or annotations.
const KEY: Ident = Ident::new("key");

/// Tries a change again while its table is in use.
pub(super) async fn while_in_use(mut change: impl AsyncFnMut() -> Result<(), StoreError>) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        match change().await {
            Err(error) if error.class() == ErrorClass::Transient && attempt < ATTEMPTS => {
                tracing::warn!(%error, "A table is in use, trying again");
                tokio::time::sleep(PAUSE).await;
            }
            done => return done,
        }
        attempt += 1;
    }
}

/// The result of bringing tables to the declaration of their kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclareReport {
    /// The changes that were made, for people.
    pub made: Vec<String>,
    /// Items of the database that are no longer declared and were left alone.
    pub left: Vec<String>,
}

/// The reason why tables cannot follow the declaration of their kinds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeclaredError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The message of a kind cannot be used.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
    /// Changes that do more than add.
    #[error("the tables need changes that are not made at the start: {}", .0.join("; "))]
    MoreThanAdded(Vec<String>),
    /// A table of this name that is not ours.
    #[error(
        "the table `{0}` of this database belongs to another program: it has another primary key; give the kind another table with `table`"
    )]
    Foreign(String),
    /// A view of this name that is not ours.
    #[error(
        "the view `{0}` of this database belongs to another program: nothing is recorded about it; give this view another name, or drop the other one"
    )]
    ForeignView(String),
    /// A table with the rows of another kind: each program would mark the other's rows as deleted.
    #[error("the table `{table}` has the rows of {owner}: give this kind another table with `table`")]
    Owned {
        /// The table.
        table: String,
        /// The kind, with its group.
        owner: String,
    },
    /// Changes that drop data.
    #[error("these changes drop data: {}", .0.join("; "))]
    Destructive(Vec<String>),
}

impl DeclaredError {
    /// Returns true if the database's disk is full or broken.
    fn is_of_disk(&self) -> bool {
        matches!(self, DeclaredError::Store(error) if error.is_about(ErrorSubject::Storage))
    }
}

/// The changes that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedChanges {
    /// Adding tables, columns and keys.
    Add,
    /// Every declared change that drops no data.
    Change,
    /// Every declared change.
    Drop,
}

impl Store {
    /// Brings the tables of a list of kinds, or of a [`Registry`] with its views, to their declaration, and records their definitions. From
    /// then on the kinds know their versions. Concurrent runs wait for each other.
    ///
    /// # Errors
    /// [`DeclaredError`]. With [`AllowedChanges::Add`], nothing is changed if a kind needs other changes as well.
    pub async fn make_declared<'a>(
        &self,
        registry: impl Into<Registry<'a>>,
        may: AllowedChanges,
    ) -> Result<DeclareReport, DeclaredError> {
        let registry = registry.into();
        let mut declared = DeclareReport::default();
        if registry.kinds.is_empty() {
            return Ok(declared);
        }
        let wanted = Schema::from_registry(registry);
        let catalog = self.refuse_foreign_tables(registry).await?;
        let mut catalog = self.create_own_beside(catalog).await?;
        let mut records = self.declared_records().await?;
        refuse_other_owners(&records, registry.kinds)?;
        if may != AllowedChanges::Drop {
            refuse_what_stays_no_more(&records, registry.kinds)?;
        }
        for attempt in 1.. {
            match self.change_tables(&wanted, may, &catalog, &records).await {
                Ok(made) => {
                    declared = made;
                    break;
                }
                // Without a lock, another program may be making the same changes right now, so the state that was read may be neither the
                // old one nor the new one.
                Err(error) if !self.dialect().locks_migrations() && attempt < LOOKS && !error.is_of_disk() => {
                    tokio::time::sleep(BETWEEN).await;
                }
                Err(error) => return Err(error),
            }
            catalog = self.catalog().await?;
        }
        if !declared.made.is_empty() {
            records = self.declared_records().await?;
        }
        for kind in registry.kinds {
            let recorded = match may {
                // Kinds and columns that have left the file have been dropped.
                AllowedChanges::Drop => "",
                AllowedChanges::Add | AllowedChanges::Change => records.stays(kind),
            };
            let stays = staying(kind, recorded);
            if stays != records.stays(kind) {
                self.record_stays(kind, &stays).await?;
            }
            if !self.dialect().tells_types() {
                self.record_declared_types(kind, &records).await?;
            }
            let fingerprint = kind.fingerprint()?;
            let recipes = kind.recipes()?;
            let counted = match records.whole_definition(kind, fingerprint, &recipes) {
                Some(counted) => counted,
                None => self.record_definition(kind, fingerprint, &recipes).await?,
            };
            know(kind, counted);
        }
        Ok(declared)
    }

    /// Checks that these kinds can be written into their tables if another program makes the tables: no table has another kind's rows, and
    /// no value that stays would be lost.
    ///
    /// # Errors
    /// [`DeclaredError`]
    pub async fn check_declared(&self, kinds: &[Kind]) -> Result<(), DeclaredError> {
        let records = self.declared_records().await?;
        refuse_other_owners(&records, kinds)?;
        refuse_what_stays_no_more(&records, kinds)
    }

    /// Returns the changes that [`Store::make_declared`] would make, and the items that it would leave alone.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn plan_declared<'a>(
        &self,
        registry: impl Into<Registry<'a>>,
        may: AllowedChanges,
    ) -> Result<(Vec<Step>, DeclareReport), StoreError> {
        let registry = registry.into();
        let wanted = Schema::from_registry(registry);
        let catalog = self.catalog().await?;
        let narrowed = self.narrowed(&catalog, &wanted).await?;
        let live = live_schema(&catalog, self.dialect(), &wanted, &narrowed);
        let (changes, left) = changes(&live, &wanted, may);
        Ok((
            ddl::plan(&live, &changes),
            DeclareReport { made: changes.iter().map(SchemaChange::sentence).collect(), left },
        ))
    }

    /// Returns the columns of `wanted` whose new type holds less than the last declared one, with the type as it was declared, if the
    /// catalog has one name for both types. They are in tables with their names in `catalog`.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn narrowed(&self, catalog: &Catalog, wanted: &Schema) -> Result<Schema, StoreError> {
        if self.dialect().tells_types() || !catalog.tables.contains_key(SETTINGS) {
            return Ok(Schema::default());
        }
        Ok(self.narrowed_by(&self.declared_records().await?, catalog, wanted))
    }

    fn narrowed_by(&self, records: &DeclaredRecords, catalog: &Catalog, wanted: &Schema) -> Schema {
        let mut narrowed = Schema::default();
        if self.dialect().tells_types() {
            return narrowed;
        }
        // The declared tables and columns, with their types.
        let mut declared = Vec::new();
        for table in wanted.tables.iter().filter(|table| !table.is_companion()) {
            for (name, ty) in records.types(table.name) {
                // A column that the main table lacks is one of many values, in a separate table, or was removed. Removing a column `labels`
                // does not make the table of labels one of many values: that table has keys.
                let of_many = Ident::parse(&format!("{}_{name}", table.name)).ok();
                let is_of_many = |many: &Ident| {
                    table.column(name).is_none() && wanted.table(*many).is_none_or(|many| many.column(KEY).is_none())
                };
                declared.push(match of_many.filter(is_of_many) {
                    Some(many) => (many, VALUE, ty),
                    None => (table.name, name, ty),
                });
            }
        }
        // If the catalog's name fits the wanted type, `schema_of` assumes the wanted type.
        for mut table in schema_of(catalog, self.dialect(), wanted).tables {
            let its = table.name;
            table.columns.retain_mut(|column| {
                let is_narrowed = |(table, name, ty): &&(Ident, Ident, SqlType)| {
                    (*table, *name) == (its, column.name) && ddl::narrows(*ty, column.ty)
                };
                let before = declared.iter().find(is_narrowed);
                column.ty = before.map_or(column.ty, |(_, _, ty)| *ty);
                before.is_some()
            });
            narrowed.tables.push(table);
        }
        narrowed
    }

    /// Changes the tables, once.
    async fn change_tables(
        &self,
        wanted: &Schema,
        may: AllowedChanges,
        catalog: &Catalog,
        records: &DeclaredRecords,
    ) -> Result<DeclareReport, DeclaredError> {
        // Do this before taking the connection that changes tables: SQLite may have no other one.
        self.announce_views(catalog, &wanted.views).await?;
        let narrowed = self.narrowed_by(records, catalog, wanted);
        let (needed, left) = changes(&live_schema(catalog, self.dialect(), wanted, &narrowed), wanted, may);
        // If the tables follow the declaration already, no lock is needed.
        if needed.is_empty() && catalog.foreign_view(&wanted.views).is_none() {
            self.record_views(catalog, &wanted.views, &[], false).await?;
            return Ok(DeclareReport { made: Vec::new(), left });
        }
        // No ledger records these changes. The tables themselves show if they were made.
        let mut migrating = self.migrating(Ledger::default()).await?;
        let catalog = migrating.catalog().await?;
        if let Some(view) = catalog.foreign_view(&wanted.views).filter(|_| may != AllowedChanges::Drop) {
            migrating.end().await?;
            return Err(DeclaredError::ForeignView(view.to_string()));
        }
        let live = live_schema(&catalog, self.dialect(), wanted, &narrowed);
        let (changes, left) = changes(&live, wanted, may);
        let mut declared = DeclareReport { made: Vec::new(), left };
        let refused = refusal(&changes, wanted, may);
        if let Some(refused) = refused {
            migrating.end().await?;
            return Err(refused);
        }
        for step in ddl::plan(&live, &changes) {
            // Record the resets before the step as well: no ledger has the step, so if the process is killed behind it, no later run would
            // record them.
            let resets = self.resets(&mut migrating, replaced_tables(&step.changes)).await?;
            migrating.reset_logs(&resets).await?;
            self.make_step(&mut migrating, &step).await?;
            migrating.reset_logs(&resets).await?;
            declared.made.extend(step.changes.iter().map(SchemaChange::sentence));
        }
        migrating.end().await?;
        for change in &changes {
            if let SchemaChange::RenameTable { from, to } = change {
                self.forget_definition(from.as_str()).await?;
                self.forget_definition(to.as_str()).await?;
            }
        }
        let made: Vec<Ident> = changes.iter().filter_map(SchemaChange::view).map(|view| view.name).collect();
        if !wanted.views.is_empty() {
            self.record_views(&self.catalog().await?, &wanted.views, &made, false).await?;
        }
        Ok(declared)
    }

    async fn make_step(
        &self,
        migrating: &mut crate::ledger::migrations::MigrationSession,
        step: &Step,
    ) -> Result<(), StoreError> {
        let statements = self.dialect().step(step, &step.changes);
        let make = async || match keys::make_beside_writers(migrating, &step.changes).await {
            Ok(false) => migrating.define(&statements).await,
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        while_in_use(make).await
    }

    /// Tells kinds their versions, as far as this database knows them. Writes nothing.
    ///
    /// # Errors
    /// If the database cannot be read, or the message of a kind cannot be used.
    pub async fn learn_declared(&self, kinds: &[Kind]) -> Result<(), DeclaredError> {
        if kinds.is_empty() || !self.has_settings().await? {
            return Ok(());
        }
        let records = self.declared_records().await?;
        for kind in kinds {
            if let Some(counted) = records.definition(kind, kind.fingerprint()?, &kind.recipes()?) {
                know(kind, counted);
            }
        }
        Ok(())
    }
}

/// Refuses kinds that give up the rule that a column's values stay. Such a column has values that no object has any more, and the next
/// write would overwrite them.
fn refuse_what_stays_no_more(records: &DeclaredRecords, kinds: &[Kind]) -> Result<(), DeclaredError> {
    let mut losses = Vec::new();
    for kind in kinds {
        for (mark, stays) in records.stays(kind).split(',').filter_map(|entry| entry.split_once(' ')) {
            let its = [Stays::Keep, Stays::First].into_iter().find(|its| its.word() == stays).unwrap_or_default();
            let is = |column: &&ingester_core::schema::Column| {
                [Some(column.name), column.was].into_iter().flatten().any(|name| mark_of(name) == mark)
            };
            let column = kind.table().columns.iter().find(is);
            if let Some(column) = column.filter(|column| its.is_weakened_by(column.stays)) {
                losses.push(format!("the values of `{}`.`{}` that `{stays}` has kept", kind.table().name, column.name));
            }
        }
    }
    if losses.is_empty() { Ok(()) } else { Err(DeclaredError::Destructive(losses)) }
}

pub(super) fn refuse_other_owners(records: &DeclaredRecords, kinds: &[Kind]) -> Result<(), DeclaredError> {
    let owned = kinds.iter().find_map(|kind| Some((kind.table().name, records.other_owner(kind)?)));
    owned.map_or(Ok(()), |(table, owner)| {
        Err(DeclaredError::Owned { table: table.to_string(), owner: owner.to_owned() })
    })
}

/// Returns the schema of a database. A view that this release writes in another way is made once more.
fn live_schema(catalog: &Catalog, dialect: Dialect, wanted: &Schema, narrowed: &Schema) -> Schema {
    let mut live = schema_of(catalog, dialect, wanted);
    dialect.learn_types(&mut live, narrowed);
    for view in live.views.iter_mut().filter(|view| wanted.views.contains(view) && catalog.lacks_view(view, dialect)) {
        *view = ViewDef { name: view.name, columns: Vec::new(), sources: Vec::new() };
    }
    live
}

/// Returns a short mark of a column for a setting, which has no room for names.
fn mark_of(name: Ident) -> String {
    let mark = Fingerprint::NONE.text(&name.as_str().to_ascii_lowercase()).to_string();
    mark.chars().take(6).collect()
}

/// Returns the columns of a kind whose values stay, as a setting stores them. Recorded columns that the kind no longer has are included:
/// such a column is still in the table, with the values that it kept.
fn staying(kind: &Kind, recorded: &str) -> String {
    let columns = kind.table().columns;
    let own = columns.iter().filter(|column| !column.stays.is_none());
    let own = own.map(|column| format!("{} {}", mark_of(column.name), column.stays.word()));
    let marks: Vec<String> =
        columns.iter().flat_map(|column| [Some(column.name), column.was]).flatten().map(mark_of).collect();
    let left = recorded
        .split(',')
        .filter(|entry| entry.split_once(' ').is_some_and(|(mark, _)| !marks.iter().any(|its| its == mark)));
    let entries: Vec<String> = own.chain(left.map(str::to_owned)).take(MOST_STAYING).collect();
    entries.join(",")
}

/// A setting has room for this many columns: 6 digits, a blank, a word and a comma each.
const MOST_STAYING: usize = 19;

/// Tells a kind its version. A process writes into one database, so a kind has one version there. A version that was known before stays.
fn know(kind: &Kind, counted: Counted) {
    if let Some(record) = kind.record() {
        let number = counted.number;
        if !record.learn(counted) && kind.ingest_version() != number {
            tracing::warn!(
                kind = kind.name(),
                number,
                "Another definition of this kind was recorded meanwhile: this program continues with its own"
            );
        }
    }
}

/// Returns the changes that may be made, and the items that are left alone.
fn changes(live: &Schema, wanted: &Schema, may: AllowedChanges) -> (Vec<SchemaChange>, Vec<String>) {
    let mut changes = ddl::diff(live, wanted);
    let mut left = Vec::new();
    if may != AllowedChanges::Drop {
        let alone = left_alone(&changes);
        changes.retain(|change| !alone.contains(change));
        left = alone.iter().filter_map(described).collect();
        // Only views remain, which would be made again around the items that are left.
        if changes.iter().all(SchemaChange::is_of_view) {
            let same = |view: &ddl::ViewDef| live.views.contains(view) && wanted.views.contains(view);
            changes.retain(|change| !change.view().is_some_and(same));
        }
    }
    (changes, left)
}

/// Returns the reason why these changes may not be made.
fn refusal(changes: &[SchemaChange], wanted: &Schema, may: AllowedChanges) -> Option<DeclaredError> {
    let foreign = changes.iter().find_map(|change| match change {
        SchemaChange::PrimaryKey { table, .. } => Some(table.to_string()),
        _ => None,
    });
    if let Some(table) = foreign {
        return Some(DeclaredError::Foreign(table));
    }
    if may == AllowedChanges::Add && !changes.iter().all(adds) {
        return Some(DeclaredError::MoreThanAdded(changes.iter().map(SchemaChange::sentence).collect()));
    }
    let losses = ddl::losses(changes, wanted);
    (may != AllowedChanges::Drop && !losses.is_empty()).then_some(DeclaredError::Destructive(losses))
}

/// Describes an item that is left alone. The key of such a column is not mentioned.
fn described(change: &SchemaChange) -> Option<String> {
    match change {
        SchemaChange::DropColumn { table, column } => Some(format!("column `{table}`.`{}`", column.name)),
        SchemaChange::DropKey { table, key } => Some(format!("key `{}` of `{table}`", key.name)),
        _ => None,
    }
}

/// Returns true if a change only adds. A view has no data, so it may be made again.
fn adds(change: &SchemaChange) -> bool {
    matches!(change, SchemaChange::CreateTable(_) | SchemaChange::AddColumn { .. } | SchemaChange::AddKey { .. })
        || change.is_of_view()
}

/// Returns columns and keys that are no longer declared. They do no harm, because indexed columns may be NULL.
pub fn left_alone(changes: &[SchemaChange]) -> Vec<SchemaChange> {
    let added = |change: &SchemaChange| {
        changes.iter().any(|other| match (change, other) {
            (SchemaChange::DropColumn { table, column }, SchemaChange::AddColumn { table: at, column: other }) => {
                table == at && column.name.same_as(other.name.as_str())
            }
            (SchemaChange::DropKey { table, key }, SchemaChange::AddKey { table: at, key: other }) => {
                table == at && key.name.same_as(other.name.as_str())
            }
            _ => false,
        })
    };
    // A key is replaced together with a column that changes.
    let changed = |at: &Ident, name: &Ident| {
        changes.iter().any(|change| match change {
            SchemaChange::Retype { table, to, .. } => table == at && to.name.same_as(name.as_str()),
            SchemaChange::AddColumn { table, column } => table == at && column.name.same_as(name.as_str()),
            _ => false,
        })
    };
    let of_changed = |change: &SchemaChange| match change {
        SchemaChange::DropKey { table, key } => key.columns.iter().any(|column| changed(table, column)),
        _ => false,
    };
    let dropped = changes.iter().filter(|change| {
        matches!(change, SchemaChange::DropColumn { .. } | SchemaChange::DropKey { .. })
            && !added(change)
            && !of_changed(change)
    });
    dropped.cloned().collect()
}
