//! Statements of the MySQL dialect.

use super::statements::implement_statements;
use super::{Bookkeeping, Sql, Statement, render};
use crate::ddl::{Change, Phase, Step, TableDef};
use crate::schema::{Column, Ident, Table};
use askama::Template;

mod filters {
    pub(super) use super::super::filters::{backticks, mysql_type, number};
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
    changes: &'a [Change],
    phase: Phase,
}

pub(super) fn create(table: &TableDef) -> Vec<Sql> {
    vec![render(&CreateTable { table })]
}

pub(super) fn step(step: &Step) -> Vec<Sql> {
    let mut names = Vec::new();
    let mut statements = Vec::new();
    for change in &step.changes {
        match change {
            Change::CreateTable(table) => statements.extend(create(table)),
            Change::DropTable(table) => statements.push(drop(table.name)),
            Change::RenameTable { from, to } => names.push((*from, *to)),
            _ => {}
        }
    }
    if !names.is_empty() {
        statements.push(render(&RenameTables { names: &names }));
    }
    if let Some(name) = step.changes.first().and_then(Change::within) {
        statements.push(render(&AlterTable { name, changes: &step.changes, phase: step.phase }));
    }
    statements
}

pub(super) fn session() -> Vec<Sql> {
    // Strict: a value that does not fit is an error of its object, never cut off.
    vec![
        Sql::new("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"),
        Sql::new("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"),
    ]
}

implement_statements! {
    versions: "mysql/versions.sql",
    tombstone: "mysql/tombstone.sql",
    rewind: "mysql/rewind.sql",
    read_pairs: "mysql/read_pairs.sql",
    write_pairs: "mysql/write_pairs.sql",
    delete_pairs: "mysql/delete_pairs.sql",
    insert: "mysql/insert.sql",
    overwrite: "mysql/overwrite.sql",
    peek: "mysql/peek.sql",
    read: "mysql/read.sql",
    live: "mysql/live.sql",
    names: "mysql/names.sql",
    newest: "mysql/newest.sql",
    create_rejects: "mysql/create_rejects.sql",
    record_rejects: "mysql/record_rejects.sql",
    clear_rejects: "mysql/clear_rejects.sql",
    read_rejects: "mysql/read_rejects.sql",
    drop_table: "mysql/drop_table.sql",
    catalog_columns: "mysql/catalog_columns.sql",
    catalog_keys: "mysql/catalog_keys.sql",
    create_backfills: "mysql/create_backfills.sql",
    read_backfills: "mysql/read_backfills.sql",
    begin_backfill: "mysql/begin_backfill.sql",
    step_backfill: "mysql/step_backfill.sql",
    end_backfill: "mysql/end_backfill.sql",
    forget_backfills: "mysql/forget_backfills.sql",
    fill_read: "mysql/fill_read.sql",
    fill_write: "mysql/fill_write.sql",
}

/// Whether a value is read as text: the driver has times as a type of its own only, which the two dialects do not share.
fn as_text(column: &Column) -> bool {
    column.ty == crate::schema::SqlType::DateTime
}
