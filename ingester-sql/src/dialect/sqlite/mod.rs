//! SQLite.
//!
//! May use: ingester-core, ddl, dialect, query.

mod catalog;
pub(super) mod ddl;
pub mod session;

use super::Sql;
use super::rows_of::{RowsOf, repeated};
use super::rules::{InOneText, Rules};
use crate::ddl::{SchemaChange, Servers, Step, TableDef, ViewDef, storage_class};
use crate::query::JsonPath;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::view::ViewType;
use std::borrow::Cow;

pub(super) struct Sqlite;

impl Rules for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn title(&self) -> &'static str {
        "SQLite"
    }

    fn who_holds_locks(&self) -> &'static str {
        "of a program that has the file open"
    }

    fn collation(&self) -> &'static str {
        "BINARY"
    }

    fn requote(&self, text: &str) -> String {
        text.to_owned()
    }

    fn number(&self, text: String) -> String {
        text
    }

    fn has_arrays(&self) -> bool {
        false
    }

    fn is_one_of(&self, column: &str, count: usize) -> String {
        format!("\"{column}\" IN ({})", repeated("?", count))
    }

    fn rows(&self, rows: &RowsOf, count: usize) -> String {
        format!("VALUES {}", rows.repeated(count))
    }

    fn upserted(&self, table: &str) -> String {
        format!("\"{table}\"")
    }

    fn stored(&self, column: &str) -> String {
        format!("\"{column}\"")
    }

    fn skip_stored(&self) -> Option<&'static str> {
        None
    }

    fn for_update(&self) -> &'static str {
        // A transaction for writing has locked the whole database.
        ""
    }

    fn on_conflict(&self, key: &[&str]) -> Cow<'static, str> {
        format!("ON CONFLICT (\"{}\") DO UPDATE SET", key.join("\", \"")).into()
    }

    fn inserted(&self, column: &str) -> String {
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

    fn recorded(&self) -> [&'static str; 3] {
        ["", ";", "WHERE CHANGES() = 1"]
    }

    fn records_in_one_statement(&self) -> bool {
        false
    }

    fn row_values(&self, rows: &RowsOf, count: usize) -> String {
        format!("VALUES {}", rows.repeated(count))
    }

    fn without_index(&self, column: &str) -> String {
        // With the plus sign, the column's index is not used. With the index, every page would read and sort all remaining rows.
        format!("+\"{column}\"")
    }

    fn shown(&self, column: &str, _: SqlType) -> String {
        format!("CAST(\"{column}\" AS TEXT)")
    }

    fn read(&self, column: &str, _: SqlType) -> String {
        format!("\"{column}\"")
    }

    fn select_within(&self, _: u64) -> Cow<'static, str> {
        // The connection itself ends it.
        "SELECT".into()
    }

    fn like(&self) -> &'static str {
        // LIKE does not distinguish upper and lower case.
        "GLOB ?"
    }

    fn globs(&self) -> bool {
        true
    }

    fn whole_number(&self) -> (&'static str, &'static str) {
        (
            "\"value\" <> '' AND \"value\" NOT GLOB '*[^0-9]*' AND (LENGTH(LTRIM(\"value\", '0')) < 19 \
             OR LENGTH(LTRIM(\"value\", '0')) = 19 AND LTRIM(\"value\", '0') <= '9223372036854775807')",
            "CAST(\"value\" AS INTEGER)",
        )
    }

    fn json_text(&self) -> &'static str {
        "CASE JSON_TYPE(\"json\", ?) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(JSON_EXTRACT(\"json\", ?) AS TEXT) END"
    }

    fn json_path<'p>(&self, path: &'p JsonPath) -> &'p str {
        path.dollar()
    }

    fn order(&self, column: &str, _: bool, descending: bool) -> String {
        format!("\"{column}\"{}", if descending { " DESC" } else { "" })
    }

    fn compares_rows(&self) -> bool {
        true
    }

    fn has_routes(&self) -> bool {
        // It has statistics only after an ANALYZE by hand.
        false
    }

    fn by_key(&self, _: &str) -> String {
        String::new()
    }

    fn join_in_order(&self) -> &'static str {
        "CROSS JOIN"
    }

    fn explain(&self) -> (&'static str, usize) {
        ("EXPLAIN QUERY PLAN ", 3)
    }

    fn joins_settings(&self) -> bool {
        false
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

    fn line_break(&self) -> &'static str {
        "CHAR(10)"
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

    fn servers(&self) -> Servers {
        Servers::Sqlite
    }

    fn key_name(&self, table: Ident, key: Ident) -> Ident {
        ddl::index_name(table, key)
    }

    fn key_columns(&self, columns: &[Ident], _: &[Ident]) -> Vec<Ident> {
        columns.to_vec()
    }

    fn reserved_prefix(&self) -> Option<&'static str> {
        Some("sqlite_")
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

    fn is_embedded(&self) -> bool {
        true
    }

    fn defines_in_transactions(&self) -> bool {
        true
    }

    fn locks_migrations(&self) -> bool {
        false
    }

    fn durability_is_of_connections(&self) -> bool {
        true
    }

    fn in_one_text(&self) -> Option<InOneText> {
        None
    }

    fn server(&self) -> &'static str {
        catalog::SERVER
    }

    fn variables(&self) -> &'static str {
        catalog::VARIABLES
    }

    fn grants(&self) -> &'static str {
        catalog::GRANTS
    }

    fn size(&self) -> &'static str {
        catalog::SIZE
    }

    fn clock(&self) -> &'static str {
        catalog::CLOCK
    }

    fn tables(&self) -> &'static str {
        catalog::TABLES
    }

    fn catalog_columns(&self) -> &'static str {
        catalog::COLUMNS
    }

    fn catalog_keys(&self) -> &'static str {
        catalog::KEYS
    }

    fn catalog_views(&self) -> &'static str {
        catalog::VIEWS
    }
}
