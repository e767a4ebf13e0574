//! Statements of the MySQL dialect.

use super::statements::implement_statements;
use super::{Bookkeeping, Param, Sql, Statement, render};
use crate::ddl::{Change, Phase, Step, TableDef};
use crate::schema::{Column, Ident, Table};
use crate::value::Value;
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
    // Strict: a value that does not fit is an error of its object, never cut off. How text is quoted follows from it, too.
    vec![
        Sql::new("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"),
        Sql::new("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"),
        // A server may have been told otherwise; a statement by itself would never be committed then.
        Sql::new("SET SESSION autocommit = 1"),
    ]
}

pub(super) fn at_once(begin: &str, statements: &[(Sql, Vec<Param<'_>>)]) -> Sql {
    let bytes: usize =
        statements.iter().map(|(sql, params)| sql.as_str().len() + params.iter().map(room).sum::<usize>()).sum();
    let mut text = String::with_capacity(bytes + 128);
    text.push_str(begin);
    for (sql, params) in statements {
        text.push_str("; ");
        // No name has a question mark in it, so each stands for a parameter.
        let mut pieces = sql.as_str().split('?');
        text.push_str(pieces.next().unwrap_or_default());
        for (piece, param) in pieces.zip(params) {
            literal(&mut text, *param);
            text.push_str(piece);
        }
    }
    text.push_str("; COMMIT");
    Sql::new(text)
}

/// About how many bytes a parameter takes as text.
fn room(param: &Param<'_>) -> usize {
    match param {
        Param::Value(Value::Bytes(bytes)) => 2 * bytes.len() + 3,
        param => param.bytes() + 32,
    }
}

fn literal(out: &mut String, param: Param<'_>) {
    use std::fmt::Write as _;
    // Writing into a string does not fail.
    let _ = match param {
        Param::Value(Value::Null) | Param::Null => out.write_str("NULL"),
        Param::Value(Value::Bool(value)) => write!(out, "{}", u8::from(*value)),
        Param::Value(Value::Int(value)) => write!(out, "{value}"),
        // With an exponent it is read as a double, without as an exact decimal.
        Param::Value(Value::Double(value)) => write!(out, "{value:e}"),
        Param::Value(Value::UInt(value)) => write!(out, "{value}"),
        Param::Value(Value::Time(value)) => write!(out, "'{}'", value.sql()),
        Param::Value(Value::Text(text)) => quoted(out, text),
        Param::Value(Value::Bytes(bytes)) => hexadecimal(out, bytes),
        Param::Text(text) => quoted(out, text),
        Param::UInt(value) => write!(out, "{value}"),
        Param::Time(value) => write!(out, "'{}'", value.sql()),
    };
}

/// By the rules of the mode that [`session`] sets, in which a backslash escapes what follows, and of utf8mb4, in which neither it
/// nor a quote is ever a part of another character; an [`Address`](crate::store::Address) takes no other.
fn quoted(out: &mut String, text: &str) -> std::fmt::Result {
    out.push('\'');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(|byte| matches!(byte, b'\'' | b'\\' | 0)) {
        out.push_str(&rest[..place]);
        out.push_str(match rest.as_bytes()[place] {
            b'\'' => "\\'",
            b'\\' => "\\\\",
            _ => "\\0",
        });
        rest = &rest[place + 1..];
    }
    out.push_str(rest);
    out.push('\'');
    Ok(())
}

fn hexadecimal(out: &mut String, bytes: &[u8]) -> std::fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("x'");
    let mut digits = [0; 128];
    for chunk in bytes.chunks(digits.len() / 2) {
        for (pair, byte) in digits.chunks_exact_mut(2).zip(chunk) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.push_str(std::str::from_utf8(&digits[..2 * chunk.len()]).map_err(|_| std::fmt::Error)?);
    }
    out.push('\'');
    Ok(())
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
    update: "mysql/update.sql",
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
