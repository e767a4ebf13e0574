//! Definitions of tables, and their changes.

use super::Sqlite;
use crate::ddl::{ChangeReplacement, ColumnDef, KeyDef, SchemaChange, Step, TableDef, ViewDef, in_place};
use crate::dialect::{Dialect, Sql, render_own, views};
use askama::Template;
use ingester_core::schema::{Ident, SqlType, limits};

mod filters {
    pub(super) use crate::dialect::filters::{default_zero, ident, sqlite_default, sqlite_type, sqlite_unfit};
}

#[derive(Template)]
#[template(path = "sqlite/create_table.sql")]
struct CreateTable<'a> {
    name: Ident,
    table: &'a TableDef,
    clustered: bool,
}

#[derive(Template)]
#[template(path = "sqlite/create_index.sql")]
struct CreateIndex<'a> {
    index: Ident,
    table: Ident,
    key: &'a KeyDef,
}

#[derive(Template)]
#[template(path = "sqlite/drop_index.sql")]
struct DropIndex {
    index: Ident,
}

#[derive(Template)]
#[template(path = "sqlite/alter_table.sql")]
struct AlterTable<'a> {
    change: &'a SchemaChange,
}

#[derive(Template)]
#[template(path = "sqlite/rename_table.sql")]
struct RenameTable {
    from: Ident,
    to: Ident,
}

#[derive(Template)]
#[template(path = "sqlite/copy_rows.sql")]
struct CopyRows<'a> {
    from: Ident,
    to: Ident,
    columns: &'a [ColumnDef],
}

#[derive(Template)]
#[template(path = "sqlite/clear_values.sql")]
struct ClearValues {
    table: Ident,
    column: Ident,
    unfit: (Ident, SqlType),
}

#[derive(Template)]
#[template(path = "sqlite/drop_table.sql")]
struct DropTable {
    name: Ident,
}

#[derive(Template)]
#[template(path = "sqlite/drop_view.sql")]
struct DropView {
    name: Ident,
}

pub(super) fn create(table: &TableDef) -> Vec<Sql> {
    let mut statements = vec![create_as(table, table.name)];
    statements.extend(table.keys.iter().map(|key| create_index(table.name, key)));
    statements
}

fn create_as(table: &TableDef, name: Ident) -> Sql {
    // The rows of main tables are large. The rows of other tables are found by their primary key, so they are clustered by it; a counted
    // table is clustered anyway.
    let clustered = !table.is_counted() && table.columns.iter().all(|column| column.ty != SqlType::Json);
    render_own(&CreateTable { name, table, clustered })
}

fn create_index(table: Ident, key: &KeyDef) -> Sql {
    render_own(&CreateIndex { index: index_name(table, key.name), table, key })
}

fn drop_index(table: Ident, key: Ident) -> Sql {
    render_own(&DropIndex { index: index_name(table, key) })
}

pub(super) fn step(step: &Step, among: &[SchemaChange]) -> Vec<Sql> {
    // For changes that ALTER TABLE cannot make, the rows are copied into a new table.
    let copied = step.changes.iter().any(SchemaChange::copies_rows);
    if let (true, Some((_, after))) = (copied, step.tables.first()) {
        return copy(after);
    }
    let views = Dialect::Sqlite.create_views(&step.created_views());
    let made = |change: &SchemaChange| match in_place(change, among) {
        None => one(change, &step.tables),
        Some(ChangeReplacement::Nothing) => Vec::new(),
        Some(ChangeReplacement::Clear { table, column, ty }) => {
            vec![render_own(&ClearValues { table, column, unfit: (column, ty) })]
        }
    };
    step.changes.iter().flat_map(made).chain(views).collect()
}

pub(super) fn create_view(view: &ViewDef) -> Vec<Sql> {
    let head = format!("CREATE VIEW \"{}\" AS\n", view.name);
    vec![drop_view(view.name), Sql::new(head + &views::body(&Sqlite, view))]
}

pub(super) fn drop_view(name: Ident) -> Sql {
    render_own(&DropView { name })
}

fn one(change: &SchemaChange, tables: &[(TableDef, TableDef)]) -> Vec<Sql> {
    match change {
        SchemaChange::CreateTable(table) => create(table),
        SchemaChange::DropTable(table) => vec![drop(table.name)],
        SchemaChange::RenameTable { from, to } => {
            // The names of indexes contain the table's name.
            let keys = tables.iter().find(|(before, _)| before.name == *from).map_or(&[][..], |(table, _)| &table.keys);
            let mut statements: Vec<Sql> = keys.iter().map(|key| drop_index(*from, key.name)).collect();
            statements.push(render_own(&RenameTable { from: *from, to: *to }));
            statements.extend(keys.iter().map(|key| create_index(*to, key)));
            statements
        }
        SchemaChange::AddColumn { .. } | SchemaChange::DropColumn { .. } | SchemaChange::RenameColumn { .. } => {
            vec![render_own(&AlterTable { change })]
        }
        SchemaChange::AddKey { table, key } => vec![create_index(*table, key)],
        SchemaChange::DropKey { table, key } => vec![drop_index(*table, key.name)],
        SchemaChange::RenameKey { table, key, to } => {
            let columns = key.columns.clone();
            vec![drop_index(*table, key.name), create_index(*table, &KeyDef { name: *to, columns })]
        }
        SchemaChange::DropView(view) => vec![drop_view(view.name)],
        // The storage class stays the same, so there is nothing to do. Views are made together.
        SchemaChange::Retype { .. } | SchemaChange::PrimaryKey { .. } | SchemaChange::CreateView(_) => Vec::new(),
    }
}

/// A new table with the old one's rows and name (SQLite, "ALTER TABLE", "Making Other Kinds Of Table Schema Changes").
fn copy(after: &TableDef) -> Vec<Sql> {
    let name = after.name;
    let new = Ident::join(&name.as_str()[..name.as_str().len().min(58)], "copy");
    let mut statements = vec![
        drop(new),
        create_as(after, new),
        render_own(&CopyRows { from: name, to: new, columns: &after.columns }),
        drop(name),
        render_own(&RenameTable { from: new, to: name }),
    ];
    statements.extend(after.keys.iter().map(|key| create_index(name, key)));
    statements
}

/// See [`index_name`](crate::dialect::index_name).
pub(in crate::dialect) fn index_name(table: Ident, key: Ident) -> Ident {
    crate::dialect::index_name(table, key, limits::IDENTIFIER_BYTES)
}

pub(super) fn drop(name: Ident) -> Sql {
    render_own(&DropTable { name })
}
