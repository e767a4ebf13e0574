//! Statements of the MySQL dialect.

use super::statements::implement_statements;
use super::{Bookkeeping, Sql, Statement, render};
use crate::schema::{BASE_COLUMNS, Column, Companion, Ident, Key, Table, base};
use askama::Template;

mod filters {
    pub(super) use super::super::filters::{backticks, mysql_type, number};
}

#[derive(Template)]
#[template(path = "mysql/create_table.sql")]
struct CreateTable<'a> {
    name: Ident,
    columns: &'a [Column],
    primary: &'a [Column],
    keys: &'a [Key],
}

pub(super) fn create(table: &Table) -> Vec<Sql> {
    let main = CreateTable {
        name: table.name,
        columns: table.columns,
        primary: &table.columns[..=base::UID],
        keys: table.keys,
    };
    let companions = Companion::ALL.map(|companion| {
        let columns = companion.columns();
        render(&CreateTable {
            name: table.companion(companion),
            columns,
            primary: &columns[..2],
            keys: companion.keys(),
        })
    });
    std::iter::once(render(&main)).chain(companions).collect()
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
    upsert: "mysql/upsert.sql",
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
}

/// Whether the guard reads this column, so that it is assigned after the others.
fn guarding(column: &Column) -> bool {
    [base::RES_VERSION, base::DELETE_TIME, base::EVICT_TIME]
        .iter()
        .any(|place| column.name == BASE_COLUMNS[*place].name)
}

/// Whether a value is read as text: the driver has times as a type of its own only, which the two dialects do not share.
fn as_text(column: &Column) -> bool {
    column.ty == crate::schema::SqlType::DateTime
}
