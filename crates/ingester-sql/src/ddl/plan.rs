//! Steps of changes. Each step is one statement on MySQL and one transaction on SQLite, so an interrupted migration is either
//! before a step or after it.

use super::diff::SchemaChange;
use super::schema::Schema;
use super::table::TableDef;
use super::view::ViewDef;
use ingester_core::schema::Ident;

/// The kinds of steps, in the order in which they run. Views are dropped before their tables change, and made afterwards. Keys are dropped
/// before their columns, and added after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// Drops views that exist.
    DropViews,
    /// Renames tables, all at once.
    RenameTables,
    /// Drops keys of a table.
    DropKeys,
    /// Renames columns of a table.
    RenameColumns,
    /// Renames keys of a table.
    RenameKeys,
    /// Drops columns of a table.
    DropColumns,
    /// Changes the types of columns without a copy of the table, or their nullability.
    WidenColumns,
    /// Changes the types of columns with a copy of the table.
    CopyColumns,
    /// Changes the primary key of a table.
    ChangePrimaryKey,
    /// Adds columns to a table.
    AddColumns,
    /// Adds keys to a table.
    AddKeys,
    /// Creates tables that are missing.
    CreateTables,
    /// Drops tables that exist.
    DropTables,
    /// Makes views.
    CreateViews,
}

/// Changes that are made together.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The kind of step.
    pub phase: StepKind,
    /// The changes. Changes within a table are all within the same table.
    pub changes: Vec<SchemaChange>,
    /// The changed tables before and after the step; none for tables that it creates or drops.
    pub tables: Vec<(TableDef, TableDef)>,
}

impl StepKind {
    fn for_change(change: &SchemaChange) -> Self {
        match change {
            SchemaChange::RenameTable { .. } => StepKind::RenameTables,
            SchemaChange::DropKey { .. } => StepKind::DropKeys,
            SchemaChange::RenameColumn { .. } => StepKind::RenameColumns,
            SchemaChange::RenameKey { .. } => StepKind::RenameKeys,
            SchemaChange::DropColumn { .. } => StepKind::DropColumns,
            SchemaChange::Retype { from, to, .. } if from.ty == to.ty || change.is_longer_varchar() => {
                StepKind::WidenColumns
            }
            SchemaChange::Retype { .. } => StepKind::CopyColumns,
            SchemaChange::PrimaryKey { .. } => StepKind::ChangePrimaryKey,
            SchemaChange::AddColumn { .. } => StepKind::AddColumns,
            SchemaChange::AddKey { .. } => StepKind::AddKeys,
            SchemaChange::CreateTable(_) => StepKind::CreateTables,
            SchemaChange::DropTable(_) => StepKind::DropTables,
            SchemaChange::CreateView(_) => StepKind::CreateViews,
            SchemaChange::DropView(_) => StepKind::DropViews,
        }
    }

    /// Describes the phase in words.
    pub fn words(self) -> &'static str {
        match self {
            StepKind::DropViews => "drop views",
            StepKind::RenameTables => "rename tables",
            StepKind::DropKeys => "drop keys",
            StepKind::RenameColumns => "rename columns",
            StepKind::RenameKeys => "rename keys",
            StepKind::DropColumns => "drop columns",
            StepKind::WidenColumns => "widen columns",
            StepKind::CopyColumns => "retype columns",
            StepKind::ChangePrimaryKey => "change primary key",
            StepKind::AddColumns => "add columns",
            StepKind::AddKeys => "add keys",
            StepKind::CreateTables => "create tables",
            StepKind::DropTables => "drop tables",
            StepKind::CreateViews => "create views",
        }
    }
}

/// The steps that make these changes to `before`, in a working order.
pub fn plan(before: &Schema, changes: &[SchemaChange]) -> Vec<Step> {
    let whole = |phase: StepKind| {
        let changes: Vec<SchemaChange> =
            changes.iter().filter(|change| StepKind::for_change(change) == phase).cloned().collect();
        (!changes.is_empty()).then_some(Step { phase, changes, tables: Vec::new() })
    };
    let mut steps: Vec<Step> = [StepKind::DropViews, StepKind::RenameTables].into_iter().filter_map(whole).collect();
    for step in &mut steps {
        step.tables.extend(step.changes.iter().filter_map(|change| {
            let SchemaChange::RenameTable { from, to } = change else { return None };
            let table = before.table(*from)?;
            Some((table.clone(), TableDef { name: *to, was: Vec::new(), ..table.clone() }))
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
        let mut table = TableDef { name, was: Vec::new(), ..table.clone() };
        let mut within: Vec<&SchemaChange> = changes.iter().filter(|change| change.within() == Some(name)).collect();
        // The sort is stable. The order within a phase matters for chained renames.
        within.sort_by_key(|change| StepKind::for_change(change));
        for changes in within.chunk_by(|a, b| StepKind::for_change(a) == StepKind::for_change(b)) {
            let before = table.clone();
            changes.iter().for_each(|change| change.apply(&mut table));
            steps.push(Step {
                phase: StepKind::for_change(changes[0]),
                changes: changes.iter().copied().cloned().collect(),
                tables: vec![(before, table.clone())],
            });
        }
    }
    // A table that is made again was dropped in an earlier phase.
    let created = |name: Ident| {
        changes.iter().any(|change| matches!(change, SchemaChange::CreateTable(table) if table.name == name))
    };
    let (anew, gone): (Vec<_>, Vec<_>) = whole(StepKind::DropTables)
        .into_iter()
        .flat_map(|step| step.changes)
        .partition(|change| matches!(change, SchemaChange::DropTable(table) if created(table.name)));
    let dropped = |changes: Vec<SchemaChange>| {
        (!changes.is_empty()).then_some(Step { phase: StepKind::DropTables, changes, tables: Vec::new() })
    };
    steps.extend(dropped(anew));
    steps.extend(whole(StepKind::CreateTables));
    steps.extend(dropped(gone));
    steps.extend(whole(StepKind::CreateViews));
    steps
}

/// Splits recorded changes into the steps in which they were made, as [`plan`] does, but without the tables.
pub fn steps_of(changes: &[SchemaChange]) -> Vec<&[SchemaChange]> {
    changes.chunk_by(|a, b| (StepKind::for_change(a), a.within()) == (StepKind::for_change(b), b.within())).collect()
}

impl Step {
    /// The views that it makes.
    pub(crate) fn created_views(&self) -> Vec<ViewDef> {
        let made = |change: &SchemaChange| match change {
            SchemaChange::CreateView(view) => Some(view.clone()),
            _ => None,
        };
        self.changes.iter().filter_map(made).collect()
    }

    /// The step that reverts this one.
    pub fn inverse(&self) -> Self {
        let changes: Vec<SchemaChange> = self.changes.iter().rev().map(SchemaChange::inverse).collect();
        // Columns that are widened without a copy are narrowed with one.
        let phase = changes.iter().map(StepKind::for_change).max().unwrap_or(self.phase);
        let tables = self.tables.iter().rev().cloned().map(|(before, after)| (after, before)).collect();
        Step { phase, changes, tables }
    }
}
