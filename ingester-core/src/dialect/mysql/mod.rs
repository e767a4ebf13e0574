//! MySQL, MariaDB, and whatever else takes their statements.
//!
//! May use: schema, value, ddl, dialect.

mod catalog;
pub(super) mod ddl;
mod inline;

use super::rules::{InOneText, Rules};
use super::{Access, Sql};
use crate::ddl::{Step, TableDef};
use crate::schema::{Ident, SqlType};
use std::borrow::Cow;

pub(super) struct MySql;

const SESSION: &[&str] = &[
    // Strict: a value that does not fit is an error of its object, never cut off. How text is quoted follows from it, too.
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    // A server may be configured otherwise; a statement by itself would never be committed then.
    "SET SESSION autocommit = 1",
];

// A change of a table's definition waits for the transactions that use it, and whoever comes later waits behind it: after a
// second it gives up and lets them through.
const SESSION_OF_MIGRATIONS: &[&str] = &["SET SESSION lock_wait_timeout = 1"];

// sqlx's own lock waits for ever by a negative time-out, which MariaDB does not know: it answers NULL at once.
const LOCK_MIGRATIONS: &str = "SELECT GET_LOCK(CONCAT('ingester', SHA2(DATABASE(), 224)), 31536000)";

impl Rules for MySql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn requote(&self, text: &str) -> String {
        // Backticks are names under every sql_mode, and for proxies that do not know the session's.
        text.replace('"', "`")
    }

    fn for_update(&self) -> &'static str {
        "\nFOR UPDATE"
    }

    fn on_conflict(&self, _: &[&str]) -> Cow<'static, str> {
        "ON DUPLICATE KEY UPDATE".into()
    }

    fn write_inserted(&self, column: &str) -> String {
        format!("\"{column}\" = VALUES(\"{column}\")")
    }

    fn row_values(&self) -> &'static str {
        ""
    }

    fn without_index(&self, column: &str) -> String {
        format!("\"{column}\"")
    }

    fn shown(&self, column: &str) -> String {
        format!("CAST(\"{column}\" AS CHAR)")
    }

    fn read(&self, column: &str, ty: SqlType) -> String {
        match ty {
            // The driver has times as a type of its own only, which SQLite does not share.
            SqlType::DateTime => self.shown(column),
            _ => format!("\"{column}\""),
        }
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

    fn create(&self, table: &TableDef) -> Vec<Sql> {
        ddl::create(table)
    }

    fn drop(&self, table: Ident) -> Sql {
        ddl::drop(table)
    }

    fn step(&self, step: &Step) -> Vec<Sql> {
        ddl::step(step)
    }

    fn create_rejects(&self) -> Sql {
        ddl::create_rejects()
    }

    fn create_backfills(&self) -> Sql {
        ddl::create_backfills()
    }

    fn session(&self) -> &'static [&'static str] {
        SESSION
    }

    fn session_of_migrations(&self) -> &'static [&'static str] {
        SESSION_OF_MIGRATIONS
    }

    fn lock_migrations(&self) -> Option<&'static str> {
        Some(LOCK_MIGRATIONS)
    }

    fn begin(&self, access: Access) -> &'static str {
        match access {
            // The sessions are READ COMMITTED, where each statement sees a state of its own.
            Access::Read => "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION READ ONLY",
            Access::Write => "START TRANSACTION",
        }
    }

    fn in_one_text(&self) -> Option<InOneText> {
        Some(inline::in_one_text)
    }

    fn server(&self) -> &'static str {
        catalog::SERVER
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
}
