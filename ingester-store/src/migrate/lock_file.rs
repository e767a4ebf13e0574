//! The lock file `schema.lock.json`: the released schema as data, and the migrations that lead to it, with their checksums.

use ingester_core::ddl::{Schema, SchemaChange};
use ingester_core::schema::Ident;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The contents of the lock file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    /// The tables, in the order in which they are created.
    pub tables: Schema,
    /// The migrations, in the order in which they run.
    pub migrations: Vec<ReleasedMigration>,
}

/// One released migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedMigration {
    /// Its number, from 1.
    pub version: u32,
    /// What it does, in words joined by underscores.
    pub description: String,
    /// What it changes. After an interruption, they tell whether it was done.
    pub changes: Vec<SchemaChange>,
    /// The SHA-256 of each of its files, by path within the folder.
    pub files: BTreeMap<String, String>,
}

/// A column that a migration added to an existing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedColumn {
    /// The current name of its table.
    pub table: Ident,
    /// Its current name.
    pub column: Ident,
    /// The migration that added it.
    pub version: u32,
}

impl LockFile {
    /// The columns that the migrations in `applied` added to tables, by their current names, without those that were dropped
    /// later.
    pub(crate) fn added(&self, applied: impl Fn(u32) -> bool) -> Vec<AddedColumn> {
        let mut added: Vec<AddedColumn> = Vec::new();
        for migration in self.migrations.iter().filter(|migration| applied(migration.version)) {
            for change in &migration.changes {
                match change {
                    SchemaChange::AddColumn { table, column } => {
                        added.push(AddedColumn { table: *table, column: column.name, version: migration.version });
                    }
                    SchemaChange::DropColumn { table, column } => {
                        added.retain(|added| (added.table, added.column) != (*table, column.name));
                    }
                    SchemaChange::RenameColumn { table, column, to } => added
                        .iter_mut()
                        .filter(|added| (added.table, added.column) == (*table, column.name))
                        .for_each(|added| added.column = *to),
                    SchemaChange::DropTable(table) => added.retain(|added| added.table != table.name),
                    SchemaChange::RenameTable { from, to } => {
                        added.iter_mut().filter(|added| added.table == *from).for_each(|added| added.table = *to);
                    }
                    _ => {}
                }
            }
        }
        added
    }
}

impl ReleasedMigration {
    /// Its number and description, as in the names of its files: `0002_add_owner`.
    pub fn name(&self) -> String {
        format!("{:04}_{}", self.version, self.description)
    }
}
