//! Definitions of tables, and their changes.

use super::{Postgres, catalog};
use crate::ddl::{KeyDef, SchemaChange, Step, TableDef, ViewDef};
use crate::dialect::{Dialect, KeyBesideWriters, Sql, index_name, render_own, views};
use askama::Template;
use ingester_core::schema::{Ident, limits};

mod filters {
    pub(super) use crate::dialect::filters::{default_zero, ident, postgres_default, postgres_type};
}

#[derive(Template)]
#[template(path = "postgres/create_table.sql")]
struct CreateTable<'a> {
    table: &'a TableDef,
}

#[derive(Template)]
#[template(path = "postgres/create_index.sql")]
struct CreateIndex<'a> {
    /// Build the key outside of a transaction while others write.
    concurrently: bool,
    index: Ident,
    table: Ident,
    columns: &'a [(Ident, bool)],
}

#[derive(Template)]
#[template(path = "postgres/alter_table.sql")]
struct AlterTable<'a> {
    name: Ident,
    changes: &'a [SchemaChange],
}

#[derive(Template)]
#[template(path = "postgres/alter_name.sql")]
struct AlterName<'a> {
    change: &'a SchemaChange,
}

#[derive(Template)]
#[template(path = "postgres/rename_index.sql")]
struct RenameIndex {
    from: Ident,
    to: Ident,
}

#[derive(Template)]
#[template(path = "postgres/primary_key.sql")]
struct PrimaryKey<'a> {
    table: Ident,
    name: Ident,
    columns: &'a [Ident],
}

#[derive(Template)]
#[template(path = "sqlite/drop_index.sql")]
struct DropIndex {
    index: Ident,
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

/// The name of a table's key, which a schema has once.
pub(super) fn key_name(table: Ident, key: Ident) -> Ident {
    index_name(table, key, limits::IDENTIFIER_BYTES)
}

/// The primary key is at the end of each key, as in InnoDB: so a page in the order of a key needs no sorting.
pub(super) fn key_columns(columns: &[Ident], primary: &[Ident]) -> Vec<Ident> {
    let more = primary.iter().filter(|name| !columns.contains(name));
    columns.iter().chain(more).copied().collect()
}

pub(super) fn create(table: &TableDef) -> Vec<Sql> {
    let mut statements = vec![render_own(&CreateTable { table })];
    statements.extend(table.keys.iter().map(|key| create_index(table, key)));
    statements
}

/// NULL comes first, as in the order of our queries.
fn create_index(table: &TableDef, key: &KeyDef) -> Sql {
    let nullable = |name: &Ident| table.columns.iter().any(|column| column.name == *name && column.nullable);
    let columns = key_columns(&key.columns, &table.primary_key);
    let columns: Vec<(Ident, bool)> = columns.into_iter().map(|name| (name, nullable(&name))).collect();
    let index = key_name(table.name, key.name);
    render_own(&CreateIndex { concurrently: false, index, table: table.name, columns: &columns })
}

pub(super) fn key_beside_writers(table: Ident, key: Ident, columns: &[(Ident, bool)]) -> KeyBesideWriters {
    let index = key_name(table, key);
    KeyBesideWriters {
        unfinished: catalog::unfinished(index),
        drop: drop_index(table, key),
        create: render_own(&CreateIndex { concurrently: true, index, table, columns }),
    }
}

fn drop_index(table: Ident, key: Ident) -> Sql {
    render_own(&DropIndex { index: key_name(table, key) })
}

pub(super) fn create_view(view: &ViewDef) -> Vec<Sql> {
    // With the rights of the caller: a view must not bypass the rights on the tables.
    let head = format!("CREATE VIEW \"{}\" WITH (security_invoker = TRUE) AS\n", view.name);
    vec![drop_view(view.name), Sql::new(head + &views::body(&Postgres, view))]
}

pub(super) fn drop_view(name: Ident) -> Sql {
    render_own(&DropView { name })
}

pub(super) fn step(step: &Step) -> Vec<Sql> {
    let after = |name: Ident| step.tables.iter().map(|(_, after)| after).find(|table| table.name == name);
    let mut statements = Vec::new();
    for change in &step.changes {
        match change {
            SchemaChange::CreateTable(table) => statements.extend(create(table)),
            SchemaChange::DropTable(table) => statements.push(drop(table.name)),
            SchemaChange::DropView(view) => statements.push(drop_view(view.name)),
            SchemaChange::RenameTable { from, to } => {
                statements.push(render_own(&AlterName { change }));
                // The names of indexes contain the table's name. This includes the primary key's index.
                let keys = after(*to).map(|table| table.keys.as_slice()).unwrap_or_default();
                let renamed = keys.iter().map(|key| (key_name(*from, key.name), key_name(*to, key.name)));
                let primary = (primary_key_name(*from), primary_key_name(*to));
                statements.extend(renamed.chain([primary]).map(|(from, to)| render_own(&RenameIndex { from, to })));
            }
            SchemaChange::RenameColumn { .. } => statements.push(render_own(&AlterName { change })),
            SchemaChange::AddKey { table, key } => {
                statements.extend(after(*table).map(|table| create_index(table, key)));
            }
            SchemaChange::DropKey { table, key } => statements.push(drop_index(*table, key.name)),
            SchemaChange::RenameKey { table, key, to } => statements
                .push(render_own(&RenameIndex { from: key_name(*table, key.name), to: key_name(*table, *to) })),
            SchemaChange::PrimaryKey { table, to, .. } => {
                statements.push(render_own(&PrimaryKey { table: *table, name: primary_key_name(*table), columns: to }));
                // It is at the end of the other keys.
                if let Some((before, after)) = step.tables.iter().find(|(_, after)| after.name == *table) {
                    statements.extend(before.keys.iter().map(|key| drop_index(*table, key.name)));
                    statements.extend(after.keys.iter().map(|key| create_index(after, key)));
                }
            }
            SchemaChange::AddColumn { .. }
            | SchemaChange::DropColumn { .. }
            | SchemaChange::Retype { .. }
            | SchemaChange::CreateView(_) => {}
        }
    }
    let altered = |change: &SchemaChange| {
        let alters = matches!(
            change,
            SchemaChange::AddColumn { .. } | SchemaChange::DropColumn { .. } | SchemaChange::Retype { .. }
        );
        change.within().filter(|_| alters)
    };
    if let Some(name) = step.changes.first().and_then(altered) {
        statements.push(render_own(&AlterTable { name, changes: &step.changes }));
    }
    statements.extend(Dialect::Postgres.create_views(&step.created_views()));
    statements
}

/// The name that PostgreSQL itself gives a table's primary key.
fn primary_key_name(table: Ident) -> Ident {
    let most = limits::IDENTIFIER_BYTES - "_pkey".len();
    Ident::join(&table.as_str()[..table.as_str().len().min(most)], "pkey")
}

pub(super) fn drop(name: Ident) -> Sql {
    render_own(&DropTable { name })
}
