//! Applies changes to a table and to a schema.

use super::diff::SchemaChange;
use super::schema::Schema;
use super::table::{ColumnDef, KeyDef, TableDef};
use ingester_core::schema::Ident;

impl SchemaChange {
    /// Applies it to `table`.
    pub(super) fn apply(&self, table: &mut TableDef) {
        match self {
            SchemaChange::CreateTable(_)
            | SchemaChange::DropTable(_)
            | SchemaChange::CreateView(_)
            | SchemaChange::DropView(_) => {}
            SchemaChange::RenameTable { to, .. } => table.name = *to,
            SchemaChange::AddColumn { column, .. } => table.columns.push(*column),
            SchemaChange::DropColumn { column, .. } => table.columns.retain(|other| other.name != column.name),
            SchemaChange::RenameColumn { column, to, .. } => {
                let rename = |name: &mut Ident| {
                    if *name == column.name {
                        *name = *to;
                    }
                };
                table.columns.iter_mut().map(|column| &mut column.name).for_each(rename);
                table.primary_key.iter_mut().for_each(rename);
                table.keys.iter_mut().flat_map(|key| &mut key.columns).for_each(rename);
            }
            SchemaChange::Retype { to, .. } => {
                let column = table.columns.iter_mut().find(|column| column.name == to.name);
                column.into_iter().for_each(|column| *column = ColumnDef { was: None, ..*to });
            }
            SchemaChange::PrimaryKey { to, .. } => table.primary_key.clone_from(to),
            SchemaChange::AddKey { key, .. } => table.keys.push(key.clone()),
            SchemaChange::DropKey { key, .. } => table.keys.retain(|other| other.name != key.name),
            SchemaChange::RenameKey { key, to, .. } => {
                let key = table.keys.iter_mut().find(|other| other.name == key.name);
                key.into_iter().for_each(|key| *key = KeyDef { name: *to, columns: std::mem::take(&mut key.columns) });
            }
        }
    }
}

impl Schema {
    /// Returns the schema that `changes` turned into this one; what they dropped may be in another order. `None` if an earlier release's
    /// lock file has only the name of an item that was dropped.
    pub fn before(&self, changes: &[SchemaChange]) -> Option<Self> {
        let mut schema = self.clone();
        for change in changes.iter().rev().map(SchemaChange::inverse) {
            match change {
                SchemaChange::CreateTable(table) if table.columns.is_empty() => return None,
                SchemaChange::CreateView(view) if view.columns.is_empty() => return None,
                SchemaChange::CreateTable(table) => schema.tables.push(table),
                SchemaChange::CreateView(view) => schema.views.push(view),
                SchemaChange::DropTable(table) => schema.tables.retain(|other| other.name != table.name),
                SchemaChange::DropView(view) => schema.views.retain(|other| other.name != view.name),
                SchemaChange::RenameTable { from, to } => {
                    schema.tables.iter_mut().filter(|table| table.name == from).for_each(|table| table.name = to);
                }
                within => {
                    let its = within.within();
                    schema
                        .tables
                        .iter_mut()
                        .filter(|table| Some(table.name) == its)
                        .for_each(|table| within.apply(table));
                }
            }
        }
        Some(schema)
    }
}
