//! PostgreSQL.
//!
//! May use: ingester-core, ddl, dialect, query.

mod catalog;
pub(super) mod ddl;
mod inline;
pub mod session;

use super::facts::Facts;
use super::rows_of::RowsOf;
use super::rules::Rules;
use super::{KeyBesideWriters, Sql};
use crate::ddl::{SchemaChange, Servers, Step, TableDef, ViewDef};
use crate::query::JsonPath;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::view::ViewType;
use std::borrow::Cow;

pub(super) struct Postgres;

/// A time as text, as all dialects have it.
fn time(value: &str) -> String {
    format!("TO_CHAR({value} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')")
}

/// Rows made of arrays of parameters, with a name for each column.
fn unnested(rows: &RowsOf) -> String {
    let names: Vec<String> = (1..=rows.types.len()).map(|number| format!("c{number}")).collect();
    format!("{} AS r ({})", arrays(rows), names.join(", "))
}

fn arrays(rows: &RowsOf) -> String {
    let arrays: Vec<String> = rows.types.iter().map(|ty| format!("CAST(? AS {})", catalog::array_of(*ty))).collect();
    format!("UNNEST({})", arrays.join(", "))
}

/// Rows of arrays of parameters as a query.
fn select(rows: &RowsOf) -> String {
    let fit: Vec<String> = match rows.skips_unfit {
        // `r IS NOT NULL` would make a row of the values first, and costs more than the conditions of all columns.
        true => (1..=rows.types.len()).map(|number| format!("c{number} IS NOT NULL")).collect(),
        false => Vec::new(),
    };
    let condition = if fit.is_empty() { String::new() } else { format!(" WHERE {}", fit.join(" AND ")) };
    format!("SELECT {} FROM {}{condition}", selected(rows), unnested(rows))
}

/// The columns of one such row, and constants between them.
fn selected(rows: &RowsOf) -> String {
    if rows.shape.is_empty() {
        return "*".to_owned();
    }
    let mut selected = String::new();
    for (place, piece) in rows.shape.split('?').enumerate() {
        if place > 0 {
            selected.push_str(&format!("r.c{place}"));
        }
        selected.push_str(piece);
    }
    selected
}

const FACTS: Facts = Facts {
    name: "postgres",
    title: "PostgreSQL",
    who_holds_locks: "pg_blocking_pids() and pg_stat_activity tell which one",
    collation: "C",
    pads_texts: false,
    has_nul: false,
    reserved_prefix: None,
    servers: Servers::Postgres,
    has_arrays: true,
    // An INSERT that is refused would end the transaction.
    skip_stored: Some("\nON CONFLICT (\"uid\") DO NOTHING\nRETURNING \"uid\""),
    for_update: "\nFOR UPDATE",
    recorded: ["WITH \"written\" AS (\n", "\nRETURNING 1)", "FROM \"written\""],
    records_in_one_statement: true,
    in_one_text: Some(inline::in_one_text),
    like: "LIKE ?",
    globs: false,
    // Conditions are evaluated in any order, except within CASE.
    whole_number: (
        "CASE WHEN \"value\" ~ '^[0-9]{1,63}$' THEN CAST(\"value\" AS NUMERIC) <= 9223372036854775807 ELSE FALSE END",
        "CASE WHEN \"value\" ~ '^[0-9]{1,63}$' THEN CAST(\"value\" AS NUMERIC) END",
    ),
    json_text: "((\"json\" #>> CAST(CAST(? AS TEXT) AS TEXT[])) COLLATE \"C\")",
    compares_rows: true,
    // PostgreSQL has statistics, and histograms of the values of a column.
    has_routes: false,
    join_in_order: "JOIN",
    explain: ("EXPLAIN ", 0),
    joins_settings: false,
    line_break: "CHR(10)",
    is_embedded: false,
    defines_in_transactions: true,
    locks_migrations: true,
    // `synchronous_commit` could be, and is on unless an operator turns it off for the server.
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

impl Rules for Postgres {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn requote(&self, text: &str) -> String {
        text.to_owned()
    }

    fn number(&self, text: String) -> String {
        let mut numbered = String::with_capacity(text.len() + 16);
        for (place, piece) in text.split('?').enumerate() {
            if place > 0 {
                numbered.push_str(&format!("${place}"));
            }
            numbered.push_str(piece);
        }
        numbered
    }

    fn is_one_of(&self, column: &str, _: usize) -> String {
        format!("\"{column}\" = ANY(?)")
    }

    fn render_rows(&self, rows: &RowsOf, _: usize) -> String {
        select(rows)
    }

    fn upserted(&self, table: &str) -> String {
        format!("\"{table}\" AS \"stored\"")
    }

    fn rows_inserted(&self, rows: &RowsOf, names: &[&str]) -> Option<String> {
        // A lock is written into the row and into the log of the server, as an update is.
        Some(format!("{} AS excluded (\"{}\")", arrays(rows), names.join("\", \"")))
    }

    fn render_stored(&self, column: &str) -> String {
        format!("\"stored\".\"{column}\"")
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
            "\"{column}\" = CASE WHEN excluded.\"{column}\" IS NULL THEN NULL ELSE COALESCE(\"stored\".\"{column}\", excluded.\"{column}\") END"
        )
    }

    fn row_values(&self, rows: &RowsOf, _: usize) -> String {
        select(rows)
    }

    fn without_index(&self, column: &str) -> String {
        format!("\"{column}\"")
    }

    fn cast_to_text(&self, column: &str, ty: SqlType) -> String {
        let column = format!("\"{column}\"");
        match ty {
            SqlType::DateTime => time(&column),
            _ => format!("CAST({column} AS TEXT)"),
        }
    }

    fn read(&self, column: &str, ty: SqlType) -> String {
        let column = format!("\"{column}\"");
        match ty {
            SqlType::DateTime => time(&column),
            // As it was sent, and read like any other text.
            SqlType::Json => format!("CAST({column} AS TEXT)"),
            SqlType::Boolean
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::IntUnsigned
            | SqlType::BigIntUnsigned
            | SqlType::Double
            | SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::LongBlob => column,
        }
    }

    fn select_within(&self, _: u64) -> Cow<'static, str> {
        // The transaction around it has a limit.
        "SELECT".into()
    }

    fn json_path<'p>(&self, path: &'p JsonPath) -> &'p str {
        path.array()
    }

    fn order(&self, column: &str, nullable: bool, descending: bool) -> String {
        // For a column that is never NULL the text does not say where NULL comes, because its keys do not say it either.
        let order = match (nullable, descending) {
            (false, false) => "",
            (false, true) => " DESC",
            (true, false) => " NULLS FIRST",
            (true, true) => " DESC NULLS LAST",
        };
        format!("\"{column}\"{order}")
    }

    fn by_key(&self, _: &str) -> String {
        String::new()
    }

    fn literal(&self, text: &str) -> String {
        // Otherwise, in a view that shows it alone, the column would have the collation of the database.
        format!("CAST('{}' AS TEXT) COLLATE \"C\"", text.replace('\'', "''"))
    }

    fn truth(&self, column: &str) -> String {
        format!("CAST({column} AS INTEGER)")
    }

    fn cast(&self, value: &str, to: ViewType) -> String {
        if value == "NULL" {
            let ty = match to {
                ViewType::Integer => "BIGINT",
                ViewType::Time => "TIMESTAMPTZ(6)",
                _ => "TEXT",
            };
            return format!("CAST(NULL AS {ty})");
        }
        match to {
            // A text that is not a number is 0, as elsewhere. CAST would be an error of the whole query.
            ViewType::Integer => format!(
                "CASE WHEN {value} IS NOT NULL THEN COALESCE(CAST(SUBSTRING(CAST({value} AS TEXT) FROM '^ *([-+]?[0-9]{{1,18}})') AS BIGINT), 0) END"
            ),
            // A text that is not a time is NULL, as elsewhere.
            ViewType::Time => format!(
                "CASE WHEN CAST({value} AS TEXT) ~ '^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]*)?(Z|[+]00(:00)?)?)?$' THEN CAST(CAST({value} AS TEXT) AS TIMESTAMPTZ(6)) END"
            ),
            // Checked views have no other casts.
            _ => format!("CAST({value} AS TEXT) COLLATE \"C\""),
        }
    }

    fn concat(&self, values: &[String]) -> String {
        format!("({})", values.join(" || "))
    }

    fn type_name(&self, ty: SqlType) -> Cow<'static, str> {
        catalog::type_name(ty)
    }

    fn is_type(&self, ty: SqlType, spelled: &str) -> bool {
        catalog::is_type(ty, spelled)
    }

    fn type_of(&self, spelled: &str) -> Option<SqlType> {
        catalog::type_of(spelled)
    }

    fn key_name(&self, table: Ident, key: Ident) -> Ident {
        ddl::key_name(table, key)
    }

    fn key_columns(&self, columns: &[Ident], primary: &[Ident]) -> Vec<Ident> {
        ddl::key_columns(columns, primary)
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

    fn step(&self, step: &Step, _among: &[SchemaChange]) -> Vec<Sql> {
        ddl::step(step)
    }

    fn key_beside_writers(&self, table: Ident, key: Ident, columns: &[(Ident, bool)]) -> Option<KeyBesideWriters> {
        Some(ddl::key_beside_writers(table, key, columns))
    }
}
