//! SQLite.
//!
//! May use: ingester-core, ddl, dialect, query.

mod catalog;
pub(super) mod ddl;
pub mod session;

use super::Sql;
use super::facts::Facts;
use super::rows_of::{RowsOf, repeated};
use super::rules::Rules;
use crate::ddl::{SchemaChange, Servers, Step, TableDef, ViewDef, storage_class};
use crate::query::JsonPath;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::view::ViewType;
use std::borrow::Cow;

pub(super) struct Sqlite;

const FACTS: Facts = Facts {
    name: "sqlite",
    title: "SQLite",
    who_holds_locks: "of a program that has the file open",
    collation: "BINARY",
    pads_texts: false,
    has_nul: true,
    reserved_prefix: Some("sqlite_"),
    servers: Servers::Sqlite,
    has_arrays: false,
    skip_stored: None,
    // A transaction for writing has locked the whole database.
    for_update: "",
    recorded: ["", ";", "WHERE CHANGES() = 1"],
    records_in_one_statement: false,
    in_one_text: None,
    // LIKE does not distinguish upper and lower case.
    like: "GLOB ?",
    globs: true,
    whole_number: (
        "\"value\" <> '' AND \"value\" NOT GLOB '*[^0-9]*' AND (LENGTH(LTRIM(\"value\", '0')) < 19 \
             OR LENGTH(LTRIM(\"value\", '0')) = 19 AND LTRIM(\"value\", '0') <= '9223372036854775807')",
        "CAST(\"value\" AS INTEGER)",
    ),
    json_text: "CASE JSON_TYPE(\"json\", ?) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(JSON_EXTRACT(\"json\", ?) AS TEXT) END",
    compares_rows: true,
    // It has statistics only after an ANALYZE by hand.
    has_routes: false,
    join_in_order: "CROSS JOIN",
    explain: ("EXPLAIN QUERY PLAN ", 3),
    joins_settings: false,
    line_break: "CHAR(10)",
    is_embedded: true,
    defines_in_transactions: true,
    locks_migrations: false,
    durability_is_of_connections: true,
    server: catalog::SERVER,
    variables: catalog::VARIABLES,
    grants: catalog::GRANTS,
    size: catalog::SIZE,
    clock: catalog::CLOCK,
    tables: catalog::TABLES,
    catalog_columns: catalog::COLUMNS,
    catalog_keys: catalog::KEYS,
    catalog_views: catalog::VIEWS,
};

impl Rules for Sqlite {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn requote(&self, text: &str) -> String {
        text.to_owned()
    }

    fn number(&self, text: String) -> String {
        text
    }

    fn is_one_of(&self, column: &str, count: usize) -> String {
        format!("\"{column}\" IN ({})", repeated("?", count))
    }

    fn render_rows(&self, rows: &RowsOf, count: usize) -> String {
        format!("VALUES {}", rows.repeated(count))
    }

    fn upserted(&self, table: &str) -> String {
        format!("\"{table}\"")
    }

    fn render_stored(&self, column: &str) -> String {
        format!("\"{column}\"")
    }

    fn on_conflict(&self, key: &[&str]) -> Cow<'static, str> {
        format!("ON CONFLICT (\"{}\") DO UPDATE SET", key.join("\", \"")).into()
    }

    fn render_inserted(&self, column: &str) -> String {
        format!("excluded.\"{column}\"")
    }

    fn write_inserted(&self, column: &str) -> String {
        format!("\"{column}\" = excluded.\"{column}\"")
    }

    fn write_first_inserted(&self, column: &str) -> String {
        format!(
            "\"{column}\" = CASE WHEN excluded.\"{column}\" IS NULL THEN NULL ELSE COALESCE(\"{column}\", excluded.\"{column}\") END"
        )
    }

    fn row_values(&self, rows: &RowsOf, count: usize) -> String {
        format!("VALUES {}", rows.repeated(count))
    }

    fn without_index(&self, column: &str) -> String {
        // With the plus sign, the column's index is not used. With the index, every page would read and sort all remaining rows.
        format!("+\"{column}\"")
    }

    fn cast_to_text(&self, column: &str, _: SqlType) -> String {
        format!("CAST(\"{column}\" AS TEXT)")
    }

    fn read(&self, column: &str, _: SqlType) -> String {
        format!("\"{column}\"")
    }

    fn select_within(&self, _: u64) -> Cow<'static, str> {
        // The connection itself ends it.
        "SELECT".into()
    }

    fn json_path<'p>(&self, path: &'p JsonPath) -> &'p str {
        path.dollar()
    }

    fn order(&self, column: &str, _: bool, descending: bool) -> String {
        format!("\"{column}\"{}", if descending { " DESC" } else { "" })
    }

    fn by_key(&self, _: &str) -> String {
        String::new()
    }

    fn literal(&self, text: &str) -> String {
        format!("'{}'", text.replace('\'', "''"))
    }

    fn truth(&self, column: &str) -> String {
        column.to_owned()
    }

    fn cast(&self, value: &str, to: ViewType) -> String {
        match to {
            ViewType::Integer => format!("CAST({value} AS INTEGER)"),
            // Our times have microseconds, SQLite's functions milliseconds.
            ViewType::Time => format!("STRFTIME('%Y-%m-%d %H:%M:%f', {value}) || '000'"),
            // Checked views have no other casts.
            _ => format!("CAST({value} AS TEXT)"),
        }
    }

    fn concat(&self, values: &[String]) -> String {
        format!("({})", values.join(" || "))
    }

    fn type_name(&self, ty: SqlType) -> Cow<'static, str> {
        storage_class(ty).into()
    }

    fn is_type(&self, ty: SqlType, spelled: &str) -> bool {
        spelled.eq_ignore_ascii_case(storage_class(ty))
    }

    fn type_of(&self, spelled: &str) -> Option<SqlType> {
        catalog::type_of(spelled)
    }

    fn key_name(&self, table: Ident, key: Ident) -> Ident {
        ddl::index_name(table, key)
    }

    fn key_columns(&self, columns: &[Ident], _: &[Ident]) -> Vec<Ident> {
        columns.to_vec()
    }

    fn create(&self, table: &TableDef) -> Vec<Sql> {
        ddl::create(table)
    }

    fn drop(&self, table: Ident) -> Sql {
        ddl::drop(table)
    }

    fn create_view(&self, view: &ViewDef) -> Vec<Sql> {
        ddl::create_view(view)
    }

    fn drop_view(&self, view: Ident) -> Sql {
        ddl::drop_view(view)
    }

    fn step(&self, step: &Step, among: &[SchemaChange]) -> Vec<Sql> {
        ddl::step(step, among)
    }
}
