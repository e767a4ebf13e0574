//! Changes as steps: each is one statement on MySQL and one transaction on SQLite, so that whoever is interrupted is
//! either before a step or after it.

use super::diff::SchemaChange;
use super::model::{ColumnDef, KeyDef, Schema, TableDef};
use crate::schema::Ident;

/// What a step does; in this order. Keys go before what they are over, and come after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Tables get other names, all of them at once.
    RenameTables,
    /// A table loses keys.
    DropKeys,
    /// Columns of a table get other names.
    RenameColumns,
    /// Keys of a table get other names.
    RenameKeys,
    /// A table loses columns.
    DropColumns,
    /// Columns of a table get types that are written alike, or may be NULL.
    WidenColumns,
    /// Columns of a table get other types, for which the table is copied.
    CopyColumns,
    /// A table gets another primary key.
    ChangePrimaryKey,
    /// A table gets more columns.
    AddColumns,
    /// A table gets more keys.
    AddKeys,
    /// Tables are made, each where it is missing.
    CreateTables,
    /// Tables are dropped, each where it is there.
    DropTables,
}

/// Changes that happen together.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub phase: Phase,
    /// The changes; those within a table are all within one.
    pub changes: Vec<SchemaChange>,
    /// The tables that are there before it and after it, as they are before and after.
    pub tables: Vec<(TableDef, TableDef)>,
}

impl Phase {
    fn of(change: &SchemaChange) -> Self {
        match change {
            SchemaChange::RenameTable { .. } => Phase::RenameTables,
            SchemaChange::DropKey { .. } => Phase::DropKeys,
            SchemaChange::RenameColumn { .. } => Phase::RenameColumns,
            SchemaChange::RenameKey { .. } => Phase::RenameKeys,
            SchemaChange::DropColumn { .. } => Phase::DropColumns,
            SchemaChange::Retype { from, to, .. } if from.ty == to.ty || change.is_longer_varchar() => {
                Phase::WidenColumns
            }
            SchemaChange::Retype { .. } => Phase::CopyColumns,
            SchemaChange::PrimaryKey { .. } => Phase::ChangePrimaryKey,
            SchemaChange::AddColumn { .. } => Phase::AddColumns,
            SchemaChange::AddKey { .. } => Phase::AddKeys,
            SchemaChange::CreateTable(_) => Phase::CreateTables,
            SchemaChange::DropTable(_) => Phase::DropTables,
        }
    }

    /// Its name, in words joined by underscores.
    pub fn name(self) -> &'static str {
        match self {
            Phase::RenameTables => "rename_tables",
            Phase::DropKeys => "drop_keys",
            Phase::RenameColumns => "rename_columns",
            Phase::RenameKeys => "rename_keys",
            Phase::DropColumns => "drop_columns",
            Phase::WidenColumns => "widen_columns",
            Phase::CopyColumns => "retype_columns",
            Phase::ChangePrimaryKey => "change_primary_key",
            Phase::AddColumns => "add_columns",
            Phase::AddKeys => "add_keys",
            Phase::CreateTables => "create_tables",
            Phase::DropTables => "drop_tables",
        }
    }
}

impl SchemaChange {
    /// The table that it is within, under its new name; `None` for changes of whole tables.
    pub fn within(&self) -> Option<Ident> {
        match self {
            SchemaChange::CreateTable(_) | SchemaChange::DropTable(_) | SchemaChange::RenameTable { .. } => None,
            SchemaChange::AddColumn { table, .. }
            | SchemaChange::DropColumn { table, .. }
            | SchemaChange::RenameColumn { table, .. }
            | SchemaChange::Retype { table, .. }
            | SchemaChange::PrimaryKey { table, .. }
            | SchemaChange::AddKey { table, .. }
            | SchemaChange::DropKey { table, .. }
            | SchemaChange::RenameKey { table, .. } => Some(*table),
        }
    }

    /// Makes it in `table`.
    fn apply(&self, table: &mut TableDef) {
        match self {
            SchemaChange::CreateTable(_) | SchemaChange::DropTable(_) => {}
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

/// The steps that make these changes of `before`, in the order in which they can be made.
pub fn plan(before: &Schema, changes: &[SchemaChange]) -> Vec<Step> {
    let whole = |phase: Phase| {
        let changes: Vec<SchemaChange> = changes.iter().filter(|change| Phase::of(change) == phase).cloned().collect();
        (!changes.is_empty()).then_some(Step { phase, changes, tables: Vec::new() })
    };
    let mut steps: Vec<Step> = whole(Phase::RenameTables).into_iter().collect();
    for step in &mut steps {
        step.tables.extend(step.changes.iter().filter_map(|change| {
            let SchemaChange::RenameTable { from, to } = change else { return None };
            let table = before.table(*from)?;
            Some((table.clone(), TableDef { name: *to, was: None, ..table.clone() }))
        }));
    }
    let mut tables: Vec<Ident> = Vec::new();
    for table in changes.iter().filter_map(SchemaChange::within) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for name in tables {
        let former = changes.iter().find_map(|change| match change {
            SchemaChange::RenameTable { from, to } if *to == name => Some(*from),
            _ => None,
        });
        let Some(table) = before.table(former.unwrap_or(name)) else { continue };
        let mut table = TableDef { name, was: None, ..table.clone() };
        let mut within: Vec<&SchemaChange> = changes.iter().filter(|change| change.within() == Some(name)).collect();
        // Stable: within a phase the order of the changes stays, which matters to names that are handed on.
        within.sort_by_key(|change| Phase::of(change));
        for changes in within.chunk_by(|a, b| Phase::of(a) == Phase::of(b)) {
            let before = table.clone();
            changes.iter().for_each(|change| change.apply(&mut table));
            steps.push(Step {
                phase: Phase::of(changes[0]),
                changes: changes.iter().copied().cloned().collect(),
                tables: vec![(before, table.clone())],
            });
        }
    }
    steps.extend(whole(Phase::CreateTables));
    steps.extend(whole(Phase::DropTables));
    steps
}

impl Step {
    /// The step that takes this one back.
    pub fn inverse(&self) -> Self {
        let changes: Vec<SchemaChange> = self.changes.iter().rev().map(SchemaChange::inverse).collect();
        // What is widened without a copy is narrowed with one.
        let phase = changes.iter().map(Phase::of).max().unwrap_or(self.phase);
        let tables = self.tables.iter().rev().cloned().map(|(before, after)| (after, before)).collect();
        Step { phase, changes, tables }
    }
}
