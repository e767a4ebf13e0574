//! Statements of the SQLite dialect.

use super::statements::implement_statements;
use super::{Bookkeeping, Sql, Statement, render};
use crate::schema::{Column, Companion, Ident, Key, Table, base};
use askama::Template;

mod filters {
    pub(super) use super::super::filters::{number, quotes, sqlite_type};
}

#[derive(Template)]
#[template(path = "sqlite/create_table.sql")]
struct CreateTable<'a> {
    name: Ident,
    columns: &'a [Column],
    primary: &'a [Column],
    clustered: bool,
}

#[derive(Template)]
#[template(path = "sqlite/create_index.sql")]
struct CreateIndex<'a> {
    index: Ident,
    name: Ident,
    columns: &'a [Column],
    key: &'a Key,
}

pub(super) fn create(table: &Table) -> Vec<Sql> {
    let mut statements = vec![render(&CreateTable {
        name: table.name,
        columns: table.columns,
        primary: &table.columns[..=base::UID],
        clustered: false,
    })];
    statements.extend(indexes(table.name, table.columns, table.keys));
    for companion in Companion::ALL {
        let (name, columns) = (table.companion(companion), companion.columns());
        statements.push(render(&CreateTable { name, columns, primary: &columns[..2], clustered: true }));
        statements.extend(indexes(name, columns, companion.keys()));
    }
    statements
}

/// Indexes share one space of names in SQLite, so the table's name goes in front, two underscores between.
fn indexes(name: Ident, columns: &[Column], keys: &[Key]) -> impl Iterator<Item = Sql> {
    keys.iter().map(move |key| render(&CreateIndex { index: index_name(name, key.name), name, columns, key }))
}

/// `<table>__<key>`, shortened at the table's end where both together are too long.
pub(super) fn index_name(table: Ident, key: Ident) -> Ident {
    let room = crate::schema::limits::IDENTIFIER_BYTES - 2;
    let (table, key) = (table.as_str(), key.as_str());
    // At most 64 - 12 bytes are a table's name (its companion's must fit), so a cut name still tells the table.
    let key = &key[..key.len().min(room - table.len().min(room / 2))];
    let table = &table[..table.len().min(room - key.len())];
    Ident::join(&format!("{table}_"), key)
}

implement_statements! {
    versions: "sqlite/versions.sql",
    tombstone: "sqlite/tombstone.sql",
    rewind: "sqlite/rewind.sql",
    read_pairs: "sqlite/read_pairs.sql",
    write_pairs: "sqlite/write_pairs.sql",
    delete_pairs: "sqlite/delete_pairs.sql",
    upsert: "sqlite/upsert.sql",
    peek: "sqlite/peek.sql",
    read: "sqlite/read.sql",
    live: "sqlite/live.sql",
    names: "sqlite/names.sql",
    newest: "sqlite/newest.sql",
    create_rejects: "sqlite/create_rejects.sql",
    record_rejects: "sqlite/record_rejects.sql",
    clear_rejects: "sqlite/clear_rejects.sql",
    read_rejects: "sqlite/read_rejects.sql",
    drop_table: "sqlite/drop_table.sql",
}
