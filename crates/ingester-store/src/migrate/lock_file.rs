//! The lock file `schema.lock.json`: the released schema as data, and the migrations that lead to it, with their checksums.

use crate::ledger::Ledger;
use ingester_core::kind::{IngestVersion, Kind, ProtobufError};
use ingester_core::schema::{BASE_COLUMNS, Companion, Fingerprint, Ident, Stays, base};
use ingester_sql::ddl::{Schema, SchemaChange, TableDef, ViewDef};
use ingester_sql::dialect::Dialect;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the lock file in its folder.
pub(super) const LOCK_FILE: &str = "schema.lock.json";

/// The contents of the lock file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "LockFileContent", into = "LockFileContent")]
pub struct LockFile {
    /// The table in which a database records the migrations that it has run.
    pub ledger: Ledger,
    /// The names of the dialects that have files; none for all of them.
    pub(super) dialects: Vec<String>,
    /// The tables and views, in the order in which they are created.
    pub tables: Schema,
    /// The definitions of each kind, by the name of its main table.
    pub definitions: BTreeMap<Ident, Definitions>,
    /// The migrations, in the order in which they run.
    pub migrations: Vec<ReleasedMigration>,
}

/// The lock file in its written form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFileContent {
    #[serde(default, skip_serializing_if = "Ledger::is_default")]
    ledger: Ledger,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dialects: Vec<String>,
    tables: Vec<TableDef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<ViewDef>,
    #[serde(default)]
    definitions: BTreeMap<Ident, Definitions>,
    migrations: Vec<ReleasedMigration>,
}

impl From<LockFileContent> for LockFile {
    fn from(written: LockFileContent) -> Self {
        let LockFileContent { ledger, dialects, tables, views, definitions, migrations } = written;
        LockFile { ledger, dialects, tables: Schema { tables, views }, definitions, migrations }
    }
}

impl From<LockFile> for LockFileContent {
    fn from(file: LockFile) -> Self {
        let LockFile { ledger, dialects, tables: Schema { tables, views }, definitions, migrations } = file;
        LockFileContent { ledger, dialects, tables, views, definitions, migrations }
    }
}

/// The definitions that a kind has had. `ingest_version` says which one wrote a row, as a place in this list, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definitions {
    /// True if rows with 0 belong to the first definition, because their table is older than `ingest_version` and had the columns of that
    /// definition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_is_unmarked: bool,
    /// The fingerprint of each definition. A fingerprint that returns counts as another definition, to distinguish its rows from older ones
    /// and from rows in between.
    pub fingerprints: Vec<Fingerprint>,
}

/// One released migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedMigration {
    /// The migration's number, from 1.
    pub version: u32,
    /// A description in words joined by underscores.
    pub description: String,
    /// The changes that it makes. After an interruption, they tell if it was done.
    pub changes: Vec<SchemaChange>,
    /// The SHA-256 of each of its files, by path within the folder.
    pub files: BTreeMap<String, String>,
}

/// A column that a migration added to an existing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AddedColumn {
    /// The current name of the column's table.
    pub(super) table: Ident,
    /// The column's current name.
    pub(super) column: Ident,
    /// The migration that added it.
    pub(super) version: u32,
}

/// Returns true if every main table has this column. The values of such a column are not computed from an object's text, except for
/// `proto`.
pub(super) fn is_base(column: Ident) -> bool {
    BASE_COLUMNS.iter().any(|base| base.name == column)
}

impl LockFile {
    /// Returns the dialects that have files.
    pub fn dialects(&self) -> Vec<Dialect> {
        let has =
            |dialect: &Dialect| self.dialects.is_empty() || self.dialects.iter().any(|name| name == dialect.name());
        Dialect::ALL.into_iter().filter(has).collect()
    }

    /// Sets the dialects that have files. Returns the paths of the files of migrations that are left out now.
    pub(super) fn set_dialects(&mut self, dialects: &[Dialect]) -> Vec<String> {
        let is_all = Dialect::ALL.iter().all(|dialect| dialects.contains(dialect));
        let names = Dialect::ALL.into_iter().filter(|dialect| !is_all && dialects.contains(dialect));
        self.dialects = names.map(|dialect| dialect.name().to_owned()).collect();
        let mut left_out = Vec::new();
        for dialect in Dialect::ALL.into_iter().filter(|dialect| !dialects.contains(dialect)) {
            let folder = format!("{dialect}/");
            for migration in &mut self.migrations {
                let (its, others) =
                    std::mem::take(&mut migration.files).into_iter().partition(|(path, _)| path.starts_with(&folder));
                migration.files = others;
                let its: BTreeMap<String, String> = its;
                left_out.extend(its.into_keys());
            }
        }
        left_out
    }

    /// Returns the number of the kind's definition; the default if it is not the last one here.
    ///
    /// # Errors
    /// If the kind's message cannot be used.
    pub fn ingest_version(&self, kind: &Kind) -> Result<IngestVersion, ProtobufError> {
        let fingerprint = kind.fingerprint()?;
        Ok(match self.definitions.get(&kind.table().name) {
            Some(definitions) if definitions.fingerprints.last() == Some(&fingerprint) => IngestVersion {
                number: u32::try_from(definitions.fingerprints.len()).unwrap_or(u32::MAX),
                of_unmarked: definitions.first_is_unmarked.into(),
            },
            _ => IngestVersion::default(),
        })
    }

    /// Adds the definitions of these kinds that are new after `changes`, and forgets the definitions of other kinds. Returns a line about
    /// each one that refills rows.
    pub(super) fn define(&mut self, kinds: &[Kind], changes: &[SchemaChange]) -> Result<Vec<String>, ProtobufError> {
        for change in changes {
            if let SchemaChange::RenameTable { from, to } = change
                && let Some(definitions) = self.definitions.remove(from)
            {
                self.definitions.insert(*to, definitions);
            }
        }
        self.definitions.retain(|table, _| kinds.iter().any(|kind| kind.table().name == *table));
        let mut lines = Vec::new();
        for kind in kinds {
            let table = kind.table().name;
            let fingerprint = kind.fingerprint()?;
            let created = changes
                .iter()
                .any(|change| matches!(change, SchemaChange::CreateTable(created) if created.name == table));
            let definitions = self.definitions.entry(table).or_default();
            if definitions.fingerprints.last() == Some(&fingerprint) {
                continue;
            }
            if definitions.fingerprints.is_empty() {
                let within = || changes.iter().filter(|change| change.within() == Some(table));
                let marked = within().any(|change| {
                    matches!(change, SchemaChange::AddColumn { column, .. }
                        if column.name == BASE_COLUMNS[base::INGEST_VERSION].name)
                });
                let filled = within()
                    .any(|change| matches!(change, SchemaChange::AddColumn { column, .. } if !is_base(column.name)));
                definitions.first_is_unmarked = marked && !filled;
            }
            definitions.fingerprints.push(fingerprint);
            if !created && !definitions.first_is_unmarked || definitions.fingerprints.len() > 1 {
                let staying: Vec<String> = kind
                    .table()
                    .indexed()
                    .iter()
                    .filter(|column| !column.stays.is_none())
                    .map(|column| format!("`{}` ({})", column.name, column.stays.word()))
                    .collect();
                let but = match &staying[..] {
                    [] => String::new(),
                    staying => format!(", but for what stays in {}", staying.join(", ")),
                };
                lines.push(format!(
                    "definition {} of {}: the rows of earlier ones are filled again from the stored objects{but}\n",
                    definitions.fingerprints.len(),
                    kind.name()
                ));
            }
        }
        Ok(lines)
    }

    /// Takes the last migration back. Definitions keep their numbers, because a database that has run the migration may have rows of them.
    /// Returns `None` if there is no migration, or if the lock file does not have what it dropped.
    pub(super) fn take_back(&mut self) -> Option<ReleasedMigration> {
        let last = self.migrations.last()?.clone();
        self.tables = self.tables.before(&last.changes)?;
        self.migrations.pop();
        for change in last.changes.iter().rev() {
            if let SchemaChange::RenameTable { from, to } = change
                && let Some(definitions) = self.definitions.remove(to)
            {
                self.definitions.insert(*from, definitions);
            }
        }
        Some(last)
    }

    /// Returns true if the kind's companion tables were made later than its main table, so that older rows may lack some of their
    /// companions.
    pub(super) fn has_later_companions(&self, kind: &Kind) -> bool {
        let made = |table: Ident| {
            let makes = |change: &SchemaChange| matches!(change, SchemaChange::CreateTable(made) if made.name == table);
            self.migrations.iter().rposition(|migration| migration.changes.iter().any(makes))
        };
        let table = kind.table();
        let main = made(table.name);
        table.companions().any(|companion| made(table.companion(companion)) > main)
    }

    /// Records the columns whose values stay, which changes no table.
    pub(super) fn set_stays(&mut self, code: &Schema) {
        for table in &mut self.tables.tables {
            let Some(of) = code.tables.iter().find(|other| other.name == table.name) else { continue };
            for column in &mut table.columns {
                let same = of.columns.iter().find(|other| other.name == column.name);
                column.stays = same.map_or(Stays::None, |same| same.stays);
            }
        }
    }

    /// Returns the columns that the migrations in `applied` added to tables, with their current names and without the ones that were
    /// dropped later. A column of many values counts if its table was made after the main one.
    pub(super) fn added(&self, applied: impl Fn(u32) -> bool) -> Vec<AddedColumn> {
        let mut added: Vec<AddedColumn> = Vec::new();
        // The existing tables, with the migration that made each.
        let mut made: Vec<(Ident, u32)> = Vec::new();
        for migration in self.migrations.iter().filter(|migration| applied(migration.version)) {
            for change in &migration.changes {
                match change {
                    SchemaChange::AddColumn { table, column } if !is_base(column.name) => {
                        added.push(AddedColumn { table: *table, column: column.name, version: migration.version });
                    }
                    SchemaChange::DropColumn { table, column } => {
                        added.retain(|added| (added.table, added.column) != (*table, column.name));
                    }
                    SchemaChange::RenameColumn { table, column, to } => added
                        .iter_mut()
                        .filter(|added| (added.table, added.column) == (*table, column.name))
                        .for_each(|added| added.column = *to),
                    SchemaChange::CreateTable(table) => made.push((table.name, migration.version)),
                    SchemaChange::DropTable(table) => {
                        added.retain(|added| added.table != table.name);
                        made.retain(|(made, _)| *made != table.name);
                    }
                    SchemaChange::RenameTable { from, to } => {
                        made.iter_mut().filter(|(made, _)| made == from).for_each(|(made, _)| *made = *to);
                        added.iter_mut().filter(|added| added.table == *from).for_each(|added| added.table = *to);
                    }
                    _ => {}
                }
            }
        }
        let later = |(table, version): &(Ident, u32)| {
            let (main, column) = self.many_of(*table)?;
            let main_version = made.iter().find(|(made, _)| *made == main)?.1;
            (*version > main_version).then_some(AddedColumn { table: main, column, version: *version })
        };
        added.extend(made.iter().filter_map(later));
        added
    }

    /// Returns the main table, and its column of many values that is stored in this table.
    fn many_of(&self, table: Ident) -> Option<(Ident, Ident)> {
        let tables = &self.tables.tables;
        if !tables.iter().any(|other| other.name == table && other.is_companion()) {
            return None;
        }
        let mains = tables.iter().filter(|other| !other.is_companion());
        let parts = mains.filter_map(|main| {
            let column = table.as_str().strip_prefix(main.name.as_str())?.strip_prefix('_')?;
            Some((main.name, Ident::parse(column).ok()?))
        });
        // Take the longest one: no main table begins with the name of another's companion.
        let (main, column) = parts.max_by_key(|(main, _)| main.as_str().len())?;
        let of_metadata = Companion::OF_METADATA.iter().any(|companion| column.same_as(companion.suffix()));
        (!of_metadata).then_some((main, column))
    }
}

impl ReleasedMigration {
    /// Returns number and description, as in the names of the files: `0002_add_owner`.
    pub fn name(&self) -> String {
        format!("{:04}_{}", self.version, self.description)
    }
}
