//! Statements of the SQLite dialect.

use super::{Bookkeeping, Sql, Statement, render};
use crate::schema::{Column, Companion, Ident, Key, Table, base};
use askama::Template;

mod filters {
    pub(super) use super::super::filters::{quotes, number, sqlite_type};
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

/// A statement over n rows of one table.
macro_rules! over_rows {
    ($($name:ident $path:literal;)*) => { $(
        #[derive(Template)]
        #[template(path = $path)]
        struct $name {
            name: Ident,
            rows: usize,
        }
    )* };
}

over_rows! {
    Versions "sqlite/versions.sql";
    Tombstone "sqlite/tombstone.sql";
    ReadPairs "sqlite/read_pairs.sql";
    WritePairs "sqlite/write_pairs.sql";
    DeletePairs "sqlite/delete_pairs.sql";
}

#[derive(Template)]
#[template(path = "sqlite/upsert.sql")]
struct Upsert<'a> {
    name: Ident,
    columns: &'a [Column],
    rows: usize,
}

#[derive(Template)]
#[template(path = "sqlite/peek.sql")]
struct Peek<'a> {
    name: Ident,
    columns: &'a [Column],
    rows: usize,
}

#[derive(Template)]
#[template(path = "sqlite/create_rejects.sql")]
struct CreateRejects;

#[derive(Template)]
#[template(path = "sqlite/record_rejects.sql")]
struct RecordRejects {
    rows: usize,
}

#[derive(Template)]
#[template(path = "sqlite/clear_rejects.sql")]
struct ClearRejects {
    rows: usize,
}

#[derive(Template)]
#[template(path = "sqlite/drop_table.sql")]
struct DropTable {
    name: Ident,
}

/// The companions first: a main table without them would be no schema at all.
pub(super) fn drop(table: &Table) -> Vec<Sql> {
    let companions = Companion::ALL.map(|companion| table.companion(companion));
    companions.into_iter().rev().chain([table.name]).map(|name| render(&DropTable { name })).collect()
}

pub(super) fn statement(statement: Statement, table: &Table, rows: usize) -> Sql {
    let name = table.name;
    match statement {
        Statement::Versions => render(&Versions { name, rows }),
        Statement::Upsert => render(&Upsert { name, columns: table.columns, rows }),
        Statement::Tombstone => render(&Tombstone { name, rows }),
        Statement::ReadPairs(companion) => render(&ReadPairs { name: table.companion(companion), rows }),
        Statement::WritePairs(companion) => render(&WritePairs { name: table.companion(companion), rows }),
        Statement::DeletePairs(companion) => render(&DeletePairs { name: table.companion(companion), rows }),
        Statement::Peek => render(&Peek { name, columns: table.indexed(), rows }),
    }
}

pub(super) fn bookkeeping(statement: Bookkeeping, rows: usize) -> Sql {
    match statement {
        Bookkeeping::CreateRejects => render(&CreateRejects),
        Bookkeeping::AnyRejects => Sql::new("SELECT COUNT(*) FROM (SELECT 1 FROM ingester_rejects LIMIT 1) AS one"),
        Bookkeeping::RecordRejects => render(&RecordRejects { rows }),
        Bookkeeping::ClearRejects => render(&ClearRejects { rows }),
    }
}
