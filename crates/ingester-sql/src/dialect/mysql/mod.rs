//! MySQL, MariaDB, and other servers that understand their SQL.
//!
//! May use: ingester-core, ddl, dialect, query.

mod catalog;
pub(super) mod ddl;
mod inline;
mod one_text;
pub mod session;

use super::Sql;
use super::facts::Facts;
use super::rows_of::{RowsOf, repeated};
use super::rules::Rules;
use crate::ddl::{SchemaChange, Servers, Step, TableDef, ViewDef};
use crate::query::JsonPath;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::view::ViewType;
use std::borrow::Cow;

pub(super) struct MySql;

const FACTS: Facts = Facts {
    name: "mysql",
    title: "MySQL",
    who_holds_locks: "SHOW FULL PROCESSLIST tells which one",
    collation: "utf8mb4_bin",
    pads_texts: true,
    has_nul: true,
    reserved_prefix: None,
    servers: Servers::MySql,
    has_arrays: false,
    skip_stored: None,
    for_update: "\nFOR UPDATE",
    recorded: ["", ";", "FROM DUAL\nWHERE ROW_COUNT() = 1"],
    records_in_one_statement: false,
    in_one_text: Some(one_text::in_one_text),
    like: "LIKE ?",
    globs: false,
    whole_number: (
        "\"value\" REGEXP '^[0-9]{1,63}$' AND CAST(\"value\" AS DECIMAL(65, 0)) <= 9223372036854775807",
        "CAST(\"value\" AS DECIMAL(65, 0))",
    ),
    json_text: "IF(JSON_TYPE(JSON_EXTRACT(\"json\", ?)) = 'NULL', NULL, JSON_UNQUOTE(JSON_EXTRACT(\"json\", ?)))",
    // It would read the whole index.
    compares_rows: false,
    has_routes: true,
    join_in_order: "STRAIGHT_JOIN",
    explain: ("EXPLAIN FORMAT=JSON ", 0),
    joins_settings: true,
    // MySQL forgets the character set of `CHAR(10 USING utf8mb4)` in a view.
    line_break: "CONVERT(CHAR(10) USING utf8mb4) COLLATE utf8mb4_bin",
    is_embedded: false,
    // A change of a table commits.
    defines_in_transactions: false,
    locks_migrations: true,
    // It is a setting of the server (innodb_flush_log_at_trx_commit).
    durability_is_of_connections: false,
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

impl Rules for MySql {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn requote(&self, text: &str) -> String {
        // Backticks quote names in every sql_mode, also for proxies that do not know the session's mode.
        text.replace('"', "`")
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

    fn on_conflict(&self, _: &[&str]) -> Cow<'static, str> {
        "ON DUPLICATE KEY UPDATE".into()
    }

    fn render_inserted(&self, column: &str) -> String {
        format!("VALUES(\"{column}\")")
    }

    fn write_inserted(&self, column: &str) -> String {
        ["\"", column, "\" = VALUES(\"", column, "\")"].concat()
    }

    fn write_first_inserted(&self, column: &str) -> String {
        format!("\"{column}\" = IF(VALUES(\"{column}\") IS NULL, NULL, COALESCE(\"{column}\", VALUES(\"{column}\")))")
    }

    fn row_values(&self, rows: &RowsOf, count: usize) -> String {
        rows.repeated(count)
    }

    fn without_index(&self, column: &str) -> String {
        format!("\"{column}\"")
    }

    fn cast_to_text(&self, column: &str, _: SqlType) -> String {
        format!("CAST(\"{column}\" AS CHAR)")
    }

    fn read(&self, column: &str, ty: SqlType) -> String {
        match ty {
            // The driver reads times only as a separate type; as text, they are the same for all dialects.
            SqlType::DateTime => self.cast_to_text(column, ty),
            SqlType::Boolean
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::IntUnsigned
            | SqlType::BigIntUnsigned
            | SqlType::Double
            | SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::LongBlob
            | SqlType::Json => format!("\"{column}\""),
        }
    }

    fn select_within(&self, milliseconds: u64) -> Cow<'static, str> {
        // The first comment is read by MariaDB alone, the second by MySQL.
        let seconds = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
        format!("/*M!100102 SET STATEMENT max_statement_time={seconds} FOR */ SELECT /*+ MAX_EXECUTION_TIME({milliseconds}) */")
            .into()
    }

    fn json_path<'p>(&self, path: &'p JsonPath) -> &'p str {
        path.dollar()
    }

    fn order(&self, column: &str, _: bool, descending: bool) -> String {
        format!("\"{column}\"{}", if descending { " DESC" } else { "" })
    }

    fn by_key(&self, key: &str) -> String {
        format!(" FORCE INDEX (\"{key}\")")
    }

    fn literal(&self, text: &str) -> String {
        // Whatever character set the client has. Otherwise, in a view that shows it alone, the column would have the collation of the
        // session that made the view.
        format!("_utf8mb4'{}' COLLATE utf8mb4_bin", text.replace('\'', "''"))
    }

    fn truth(&self, column: &str) -> String {
        column.to_owned()
    }

    fn cast(&self, value: &str, to: ViewType) -> String {
        match to {
            ViewType::Integer => format!("CAST({value} AS SIGNED)"),
            ViewType::Time => format!("CAST({value} AS DATETIME(6))"),
            // Checked views have no other casts.
            _ => format!("CAST({value} AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_bin"),
        }
    }

    fn concat(&self, values: &[String]) -> String {
        format!("CONCAT({})", values.join(", "))
    }

    fn type_name(&self, ty: SqlType) -> Cow<'static, str> {
        ty.name()
    }

    fn is_type(&self, ty: SqlType, spelled: &str) -> bool {
        catalog::is_type(ty, spelled)
    }

    fn type_of(&self, spelled: &str) -> Option<SqlType> {
        catalog::type_of(spelled)
    }

    fn key_name(&self, _: Ident, key: Ident) -> Ident {
        key
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

    fn compress_versions(&self, table: Ident, json: &str) -> Option<Sql> {
        catalog::is_uncompressed(json).then(|| ddl::compress_versions(table))
    }

    fn step(&self, step: &Step, _among: &[SchemaChange]) -> Vec<Sql> {
        ddl::step(step)
    }
}
