//! The changes between two schemas.

use super::schema::Schema;
use super::table::{ColumnDef, KeyDef, TableDef};
use super::view::ViewDef;
use ingester_core::schema::{Ident, SqlType};
use serde::{Deserialize, Deserializer, Serialize};

/// One change of a schema. For a created table or view, the lock file has only the name, because it has the whole elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SchemaChange {
    /// A table is created.
    CreateTable(#[serde(with = "name_alone")] TableDef),
    /// A table is dropped with its rows.
    DropTable(#[serde(deserialize_with = "whole_table")] TableDef),
    /// A table is renamed.
    RenameTable {
        /// The former name.
        from: Ident,
        /// The new name.
        to: Ident,
    },
    /// A column is added; it is NULL until it is backfilled.
    AddColumn {
        /// Its table.
        table: Ident,
        /// The column.
        column: ColumnDef,
    },
    /// A column is dropped with its values.
    DropColumn {
        /// Its table.
        table: Ident,
        /// The column.
        column: ColumnDef,
    },
    /// A column is renamed and keeps its values.
    RenameColumn {
        /// Its table.
        table: Ident,
        /// The column before the change.
        column: ColumnDef,
        /// The new name.
        to: Ident,
    },
    /// A column gets another type or nullability and keeps its values.
    Retype {
        /// Its table.
        table: Ident,
        /// The column before the change, with its new name.
        from: ColumnDef,
        /// The column after the change.
        to: ColumnDef,
    },
    /// A table gets another primary key.
    PrimaryKey {
        /// Its table.
        table: Ident,
        /// The columns of the former key.
        from: Vec<Ident>,
        /// The columns of the new key.
        to: Vec<Ident>,
    },
    /// A key is added.
    AddKey {
        /// Its table.
        table: Ident,
        /// The key.
        key: KeyDef,
    },
    /// A key is dropped.
    DropKey {
        /// Its table.
        table: Ident,
        /// The key.
        key: KeyDef,
    },
    /// A key is renamed.
    RenameKey {
        /// Its table.
        table: Ident,
        /// The key before the change, with the new names of its columns.
        key: KeyDef,
        /// The new name.
        to: Ident,
    },
    /// A view is made.
    CreateView(#[serde(with = "view_name_alone")] ViewDef),
    /// A view is dropped, for good or while a table under it changes.
    DropView(#[serde(deserialize_with = "whole_view")] ViewDef),
}

/// How the values of a column fit another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retyping {
    /// Every value fits the new type.
    Widened,
    /// Some values of the old type do not fit the new one.
    Narrowed,
    /// The types hold different kinds of values.
    Incompatible,
}

/// Returns how values of type `from` fit a column of type `to`.
pub(super) fn retyping(from: SqlType, to: SqlType) -> Retyping {
    use Retyping::{Incompatible, Narrowed, Widened};
    use SqlType::{BigInt, BigIntUnsigned, Int, MediumText, Text, VarChar};
    match (from, to) {
        _ if from == to => Widened,
        (VarChar(from), VarChar(to)) if from <= to => Widened,
        // The longest VARCHAR has 16,383 characters, which always fit TEXT's 65,535 bytes.
        (VarChar(_), Text | MediumText) | (Text, MediumText) | (Int, BigInt) => Widened,
        _ if from.may_become(to) => Narrowed,
        (Int | BigInt, BigIntUnsigned) | (BigIntUnsigned, Int | BigInt) => Narrowed,
        _ => Incompatible,
    }
}

/// Returns true if both types hold the same kind of values, but some values of type `from` do not fit a column of type `to`.
pub fn narrows(from: SqlType, to: SqlType) -> bool {
    retyping(from, to) == Retyping::Narrowed
}

impl SchemaChange {
    /// Returns the new name of the table that the change is about; `None` for changes of whole tables and of views.
    pub fn within(&self) -> Option<Ident> {
        match self {
            SchemaChange::CreateTable(_)
            | SchemaChange::DropTable(_)
            | SchemaChange::RenameTable { .. }
            | SchemaChange::CreateView(_)
            | SchemaChange::DropView(_) => None,
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

    /// Returns true if the change makes or drops a view.
    pub fn is_of_view(&self) -> bool {
        self.view().is_some()
    }

    /// Returns the view that the change makes or drops.
    pub fn view(&self) -> Option<&ViewDef> {
        match self {
            SchemaChange::CreateView(view) | SchemaChange::DropView(view) => Some(view),
            _ => None,
        }
    }

    /// Returns the change that reverts this one. If that adds a column or a table again, its contents are lost.
    pub fn inverse(&self) -> Self {
        match self.clone() {
            SchemaChange::CreateTable(table) => SchemaChange::DropTable(table),
            SchemaChange::DropTable(table) => SchemaChange::CreateTable(table),
            SchemaChange::RenameTable { from, to } => SchemaChange::RenameTable { from: to, to: from },
            SchemaChange::AddColumn { table, column } => SchemaChange::DropColumn { table, column },
            SchemaChange::DropColumn { table, column } => SchemaChange::AddColumn { table, column },
            SchemaChange::RenameColumn { table, column, to } => {
                SchemaChange::RenameColumn { table, column: ColumnDef { name: to, ..column }, to: column.name }
            }
            SchemaChange::Retype { table, from, to } => SchemaChange::Retype { table, from: to, to: from },
            SchemaChange::PrimaryKey { table, from, to } => SchemaChange::PrimaryKey { table, from: to, to: from },
            SchemaChange::AddKey { table, key } => SchemaChange::DropKey { table, key },
            SchemaChange::DropKey { table, key } => SchemaChange::AddKey { table, key },
            SchemaChange::RenameKey { table, key, to } => {
                let from = key.name;
                SchemaChange::RenameKey { table, key: KeyDef { name: to, ..key }, to: from }
            }
            SchemaChange::CreateView(view) => SchemaChange::DropView(view),
            SchemaChange::DropView(view) => SchemaChange::CreateView(view),
        }
    }
}

/// Returns the changes that lead from `before` to `after`. The order of columns and keys is ignored, because it makes no difference to a
/// database.
///
/// An indexed column whose values might not fit its new type is dropped, added again, and then backfilled from the objects' JSON. This
/// blocks no writer, and no value can make it fail.
pub fn diff(before: &Schema, after: &Schema) -> Vec<SchemaChange> {
    let old_names: Vec<Ident> = before.tables.iter().map(|table| table.name).collect();
    let former = |table: &TableDef| table.was.iter().copied().find(|was| old_names.contains(was));
    let new_names: Vec<_> = after.tables.iter().map(|table| (table.name, former(table))).collect();
    let sources = sources(&old_names, &new_names);
    let mut changes: Vec<SchemaChange> = renames(&after.tables, &sources, |new| new.name)
        .into_iter()
        .map(|(from, new)| SchemaChange::RenameTable { from, to: new.name })
        .collect();
    for (new, source) in after.tables.iter().zip(&sources) {
        match source.and_then(|source| before.table(source)) {
            // Its rows are made again from the stored objects, as the values of a column would be.
            Some(old) if is_made_anew(old, new) => {
                changes.push(SchemaChange::DropTable(TableDef { name: new.name, ..old.clone() }));
                changes.push(SchemaChange::CreateTable(new.clone()));
            }
            Some(old) => table(old, new, &mut changes),
            None => changes.push(SchemaChange::CreateTable(new.clone())),
        }
    }
    let dropped = before.tables.iter().filter(|old| !sources.contains(&Some(old.name)));
    changes.extend(dropped.cloned().map(SchemaChange::DropTable));
    views(before, after, &mut changes);
    changes
}

/// True if a companion must be dropped and created again, because its values might not fit their new type or have no keys.
fn is_made_anew(old: &TableDef, new: &TableDef) -> bool {
    let fits = |column: &ColumnDef| {
        new.column(column.name).is_some_and(|new| retyping(column.ty, new.ty) == Retyping::Widened)
    };
    let alike = old.columns.len() == new.columns.len() && old.columns.iter().all(fits);
    old.is_companion() && new.is_companion() && !alike
}

/// Columns of `before` whose values stay, and whose values `after` may overwrite: their tables, the columns, and the columns after the
/// change. `changes` are those between the two.
pub(super) fn no_longer_staying(
    before: &Schema,
    after: &Schema,
    changes: &[SchemaChange],
) -> Vec<(Ident, ColumnDef, ColumnDef)> {
    let mut found = Vec::new();
    for new in &after.tables {
        let former = changes.iter().find_map(|change| match change {
            SchemaChange::RenameTable { from, to } if *to == new.name => Some(*from),
            _ => None,
        });
        let Some(old) = before.table(former.unwrap_or(new.name)) else { continue };
        let within = || changes.iter().filter(|change| change.within() == Some(new.name));
        for column in &new.columns {
            let added = |change: &SchemaChange| matches!(change, SchemaChange::AddColumn { column: added, .. } if added.name == column.name);
            if within().any(added) {
                continue;
            }
            let former = within().find_map(|change| match change {
                SchemaChange::RenameColumn { column: was, to, .. } if *to == column.name => Some(was.name),
                _ => None,
            });
            let Some(was) = old.column(former.unwrap_or(column.name)) else { continue };
            if was.stays.is_weakened_by(column.stays) {
                found.push((new.name, *was, *column));
            }
        }
    }
    found
}

/// Adds the changes of views to the changes of the tables. A view is dropped and made again if its definition changes, or if a table under
/// it changes in a way that it would not survive on every server.
fn views(before: &Schema, after: &Schema, changes: &mut Vec<SchemaChange>) {
    let touched = |view: &ViewDef| changes.iter().filter_map(disturbed).any(|table| view.reads(table));
    let keeps = |view: &ViewDef| after.views.contains(view) && !touched(view);
    let kept: Vec<Ident> = before.views.iter().filter(|view| keeps(view)).map(|view| view.name).collect();
    let others = |views: &[ViewDef]| -> Vec<ViewDef> {
        views.iter().filter(|view| !kept.contains(&view.name)).cloned().collect()
    };
    changes.extend(others(&before.views).into_iter().map(SchemaChange::DropView));
    changes.extend(others(&after.views).into_iter().map(SchemaChange::CreateView));
}

/// The table that a change renames, drops, makes again, or takes a column or its type from. Views over it are invalid afterwards, or have
/// columns of other types; SQLite refuses such a change while there is one.
fn disturbed(change: &SchemaChange) -> Option<Ident> {
    match change {
        SchemaChange::DropTable(table) => Some(table.name),
        SchemaChange::RenameTable { from, .. } => Some(*from),
        SchemaChange::DropColumn { table, .. }
        | SchemaChange::RenameColumn { table, .. }
        | SchemaChange::Retype { table, .. }
        | SchemaChange::PrimaryKey { table, .. } => Some(*table),
        SchemaChange::CreateTable(_)
        | SchemaChange::AddColumn { .. }
        | SchemaChange::AddKey { .. }
        | SchemaChange::DropKey { .. }
        | SchemaChange::RenameKey { .. }
        | SchemaChange::CreateView(_)
        | SchemaChange::DropView(_) => None,
    }
}

/// The old name of each new name (given with its `was`); `None` for a new one.
///
/// `was` stays in the code after the rename. So if the old schema has both names, the rename counts as done, unless the current name
/// is itself renamed: with `c` that was `b` and `b` that was `a`, an old `a` and an old `b` are both renamed. A swap of two names
/// looks the same before and after it, and counts as done.
fn sources(old: &[Ident], new: &[(Ident, Option<Ident>)]) -> Vec<Option<Ident>> {
    fn is_renamed(index: usize, old: &[Ident], new: &[(Ident, Option<Ident>)], depth: usize) -> bool {
        let (name, was) = new[index];
        let exists = was.is_some_and(|was| old.contains(&was));
        exists && depth <= new.len() && (!old.contains(&name) || becomes_another(name, old, new, depth + 1))
    }
    fn becomes_another(name: Ident, old: &[Ident], new: &[(Ident, Option<Ident>)], depth: usize) -> bool {
        (0..new.len()).any(|index| new[index].1 == Some(name) && is_renamed(index, old, new, depth))
    }
    let source = |(index, (name, was)): (usize, &(Ident, Option<Ident>))| {
        if is_renamed(index, old, new, 0) {
            *was
        } else {
            Some(*name).filter(|name| old.contains(name) && !becomes_another(*name, old, new, 0))
        }
    };
    new.iter().enumerate().map(source).collect()
}

/// The renamed tables or columns with their former names, in an order in which every new name is free when it is needed.
fn renames<'n, T>(new: &'n [T], sources: &[Option<Ident>], name: impl Fn(&T) -> Ident) -> Vec<(Ident, &'n T)> {
    let mut waiting: Vec<(Ident, &T)> = new
        .iter()
        .zip(sources)
        .filter_map(|(new, source)| source.filter(|source| *source != name(new)).map(|source| (source, new)))
        .collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let free = waiting.iter().position(|(_, new)| waiting.iter().all(|(from, _)| *from != name(new)));
        ordered.push(waiting.remove(free.unwrap_or(0)));
    }
    ordered
}

/// The changes within a table that has its new name already.
fn table(old: &TableDef, new: &TableDef, changes: &mut Vec<SchemaChange>) {
    let table = new.name;
    let old_names: Vec<Ident> = old.columns.iter().map(|column| column.name).collect();
    let new_names: Vec<_> = new.columns.iter().map(|column| (column.name, column.was)).collect();
    let sources = sources(&old_names, &new_names);
    let renames = renames(&new.columns, &sources, |column| column.name);
    changes.extend(renames.into_iter().filter_map(|(from, column)| {
        let column_was = ColumnDef { was: None, ..*old.column(from)? };
        Some(SchemaChange::RenameColumn { table, column: column_was, to: column.name })
    }));
    // The former and the current name of each column that keeps its values.
    let mut kept = Vec::new();
    for (column, source) in new.columns.iter().zip(&sources) {
        let to = ColumnDef { was: None, ..*column };
        let Some(old) = source.and_then(|source| old.column(source)) else {
            changes.push(SchemaChange::AddColumn { table, column: to });
            continue;
        };
        let from = ColumnDef { name: to.name, was: None, ..*old };
        // No statement is needed for the rule that values stay.
        let alike = ColumnDef { stays: to.stays, ..from } == to;
        if !alike && retyping(from.ty, to.ty) != Retyping::Widened && new.is_derived(to.name) {
            changes.push(SchemaChange::DropColumn { table, column: from });
            changes.push(SchemaChange::AddColumn { table, column: to });
            continue;
        }
        kept.push((old.name, to.name));
        if !alike {
            changes.push(SchemaChange::Retype { table, from, to });
        }
    }
    for column in old.columns.iter().filter(|column| !sources.contains(&Some(column.name))) {
        changes.push(SchemaChange::DropColumn { table, column: ColumnDef { was: None, ..*column } });
    }
    let primary_key: Option<Vec<Ident>> = old.primary_key.iter().map(|column| current(*column, &kept)).collect();
    if primary_key.as_ref() != Some(&new.primary_key) {
        changes.push(SchemaChange::PrimaryKey { table, from: old.primary_key.clone(), to: new.primary_key.clone() });
    }
    keys(old, new, &kept, changes);
}

/// The current name of a column that keeps its values.
fn current(column: Ident, kept: &[(Ident, Ident)]) -> Option<Ident> {
    kept.iter().find(|(was, _)| *was == column).map(|(_, is)| *is)
}

fn keys(old: &TableDef, new: &TableDef, kept: &[(Ident, Ident)], changes: &mut Vec<SchemaChange>) {
    let table = new.name;
    // The old keys with the current names of their columns, if all of them are kept.
    let mut left: Vec<(&KeyDef, Option<KeyDef>)> = old
        .keys
        .iter()
        .map(|key| {
            let columns: Option<Vec<Ident>> = key.columns.iter().map(|column| current(*column, kept)).collect();
            (key, columns.map(|columns| KeyDef { name: key.name, columns }))
        })
        .collect();
    let mut wanted: Vec<&KeyDef> = new.keys.iter().collect();
    wanted.retain(|key| match left.iter().position(|(_, old)| old.as_ref() == Some(key)) {
        Some(place) => {
            left.remove(place);
            false
        }
        None => true,
    });
    let mut renamed = Vec::new();
    wanted.retain(|key| {
        // The name of an old key is not free, even if that key is dropped.
        let free = old.keys.iter().all(|old| old.name != key.name);
        let same = |(_, old): &(&KeyDef, Option<KeyDef>)| old.as_ref().is_some_and(|old| old.columns == key.columns);
        match left.iter().position(same).filter(|_| free) {
            Some(place) => {
                let (_, old) = left.remove(place);
                renamed.extend(old.map(|old| SchemaChange::RenameKey { table, key: old, to: key.name }));
                false
            }
            None => true,
        }
    });
    changes.extend(left.into_iter().map(|(key, _)| SchemaChange::DropKey { table, key: key.clone() }));
    changes.append(&mut renamed);
    changes.extend(wanted.into_iter().map(|key| SchemaChange::AddKey { table, key: key.clone() }));
}

/// A dropped item in a lock file. Lock files of earlier releases have only its name.
#[derive(Deserialize)]
#[serde(untagged)]
enum DroppedItem<T> {
    Name(Ident),
    Whole(T),
}

fn whole_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TableDef, D::Error> {
    Ok(match DroppedItem::deserialize(deserializer)? {
        DroppedItem::Name(name) => name_alone::table(name),
        DroppedItem::Whole(table) => table,
    })
}

fn whole_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ViewDef, D::Error> {
    Ok(match DroppedItem::deserialize(deserializer)? {
        DroppedItem::Name(name) => view_name_alone::view(name),
        DroppedItem::Whole(view) => view,
    })
}

/// The lock file has the whole tables elsewhere.
mod name_alone {
    use super::TableDef;
    use ingester_core::schema::Ident;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(table: &TableDef, serializer: S) -> Result<S::Ok, S::Error> {
        table.name.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TableDef, D::Error> {
        Ident::deserialize(deserializer).map(table)
    }

    pub(super) fn table(name: Ident) -> TableDef {
        TableDef { name, was: Vec::new(), columns: Vec::new(), primary_key: Vec::new(), keys: Vec::new() }
    }
}

/// As [`name_alone`].
mod view_name_alone {
    use super::ViewDef;
    use ingester_core::schema::Ident;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(view: &ViewDef, serializer: S) -> Result<S::Ok, S::Error> {
        view.name.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ViewDef, D::Error> {
        Ident::deserialize(deserializer).map(view)
    }

    pub(super) fn view(name: Ident) -> ViewDef {
        ViewDef { name, columns: Vec::new(), sources: Vec::new() }
    }
}
