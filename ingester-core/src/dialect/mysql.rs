//! Statements of the MySQL dialect.

use super::{Bookkeeping, Sql, Statement, render};
use crate::schema::{BASE_COLUMNS, Column, Companion, Ident, Key, Table, base};
use askama::Template;

mod filters {
    pub(super) use super::super::filters::{backticks, number, mysql_type};
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
    Versions "mysql/versions.sql";
    Tombstone "mysql/tombstone.sql";
    ReadPairs "mysql/read_pairs.sql";
    WritePairs "mysql/write_pairs.sql";
    DeletePairs "mysql/delete_pairs.sql";
}

#[derive(Template)]
#[template(path = "mysql/upsert.sql")]
struct Upsert<'a> {
    name: Ident,
    columns: &'a [Column],
    rows: usize,
}

#[derive(Template)]
#[template(path = "mysql/peek.sql")]
struct Peek<'a> {
    name: Ident,
    columns: &'a [Column],
    rows: usize,
}

#[derive(Template)]
#[template(path = "mysql/create_rejects.sql")]
struct CreateRejects;

#[derive(Template)]
#[template(path = "mysql/record_rejects.sql")]
struct RecordRejects {
    rows: usize,
}

#[derive(Template)]
#[template(path = "mysql/clear_rejects.sql")]
struct ClearRejects {
    rows: usize,
}

#[derive(Template)]
#[template(path = "mysql/drop_table.sql")]
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

/// Whether the guard reads this column, so that it is assigned after the others.
fn guarding(column: &Column) -> bool {
    [base::RES_VERSION, base::DELETE_TIME, base::EVICT_TIME].iter().any(|place| column.name == BASE_COLUMNS[*place].name)
}
