//! Definitions of tables, and their changes.

use super::MySql;
use crate::ddl::{SchemaChange, Step, StepKind, TableDef, ViewDef};
use crate::dialect::{Dialect, Sql, render_own, views};
use askama::Template;
use ingester_core::schema::Ident;

mod filters {
    pub(super) use crate::dialect::filters::{backticks, default_zero, mysql_type};
}

#[derive(Template)]
#[template(path = "mysql/create_table.sql")]
struct CreateTable<'a> {
    table: &'a TableDef,
}

#[derive(Template)]
#[template(path = "mysql/rename_tables.sql")]
struct RenameTables<'a> {
    names: &'a [(Ident, Ident)],
}

#[derive(Template)]
#[template(path = "mysql/alter_table.sql")]
struct AlterTable<'a> {
    name: Ident,
    changes: &'a [SchemaChange],
    phase: StepKind,
}

#[derive(Template)]
#[template(path = "mysql/drop_table.sql")]
struct DropTable {
    name: Ident,
}

#[derive(Template)]
#[template(path = "mysql/compress_versions.sql")]
struct CompressVersions {
    name: Ident,
}

#[derive(Template)]
#[template(path = "mysql/drop_view.sql")]
struct DropView {
    name: Ident,
}

pub(super) fn create(table: &TableDef) -> Vec<Sql> {
    vec![render_own(&CreateTable { table })]
}

pub(super) fn create_view(view: &ViewDef) -> Vec<Sql> {
    // With the rights of the caller: a view must not bypass the rights on the tables.
    let head = format!("CREATE OR REPLACE SQL SECURITY INVOKER VIEW `{}` AS\n", view.name);
    vec![Sql::new(head + &views::body(&MySql, view))]
}

pub(super) fn drop_view(name: Ident) -> Sql {
    render_own(&DropView { name })
}

pub(super) fn step(step: &Step) -> Vec<Sql> {
    let mut names = Vec::new();
    let mut statements = Dialect::MySql.create_views(&step.created_views());
    for change in &step.changes {
        match change {
            SchemaChange::CreateTable(table) => statements.extend(create(table)),
            SchemaChange::DropTable(table) => statements.push(drop(table.name)),
            SchemaChange::RenameTable { from, to } => names.push((*from, *to)),
            SchemaChange::DropView(view) => statements.push(drop_view(view.name)),
            _ => {}
        }
    }
    if !names.is_empty() {
        statements.push(render_own(&RenameTables { names: &names }));
    }
    if let Some(name) = step.changes.first().and_then(SchemaChange::within) {
        statements.push(render_own(&AlterTable { name, changes: &step.changes, phase: step.phase }));
    }
    statements
}

pub(super) fn compress_versions(name: Ident) -> Sql {
    render_own(&CompressVersions { name })
}

pub(super) fn drop(name: Ident) -> Sql {
    render_own(&DropTable { name })
}
