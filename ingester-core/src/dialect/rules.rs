//! What a dialect says in its own way. A new dialect implements this trait, and the compiler names what is missing.

use super::{Access, Param, Sql};
use crate::ddl::{Step, TableDef};
use crate::schema::{Ident, SqlType};
use std::borrow::Cow;

/// Writes statements and their parameters' values as one text, a transaction of its own; given what begins it.
pub(super) type InOneText = fn(&str, &[(Sql, Vec<Param<'_>>)]) -> Sql;

pub(super) trait Rules: Sync {
    /// As on the command line and in `generated-sql/`.
    fn name(&self) -> &'static str;

    // Words within shared statements.

    /// Puts the dialect's quotes around names that stand in double quotes.
    fn requote(&self, text: &str) -> String;
    /// What a SELECT ends with to lock its rows until the transaction ends; empty where the transaction locks them anyhow.
    fn for_update(&self) -> &'static str;
    /// What turns an INSERT into an upsert; followed by the columns to be written, each as [`Rules::write_inserted`] has it.
    fn on_conflict(&self, key: &[&str]) -> Cow<'static, str>;
    /// Writes the inserted value of a column over the stored one.
    fn write_inserted(&self, column: &str) -> String;
    /// What a list of rows in `IN (...)` begins with.
    fn row_values(&self) -> &'static str;
    /// A column that may not choose the index by which rows are read.
    fn without_index(&self, column: &str) -> String;
    /// A column as text for people.
    fn shown(&self, column: &str) -> String;
    /// A column of this type as the driver reads it.
    fn read(&self, column: &str, ty: SqlType) -> String;

    // Types and names as the catalog spells them.

    /// The type in a definition.
    fn type_name(&self, ty: SqlType) -> Cow<'static, str>;
    /// Whether a type in a catalog is this one.
    fn is_type(&self, ty: SqlType, spelled: &str) -> bool;
    /// The type that a catalog spells, where it is one that tables of ours have.
    fn type_of(&self, spelled: &str) -> Option<SqlType>;
    /// The name of a table's key.
    fn key_name(&self, table: Ident, key: Ident) -> Ident;

    // Definitions.

    /// Makes a table with its keys.
    fn create(&self, table: &TableDef) -> Vec<Sql>;
    /// Drops a table.
    fn drop(&self, table: Ident) -> Sql;
    /// One step of a migration.
    fn step(&self, step: &Step) -> Vec<Sql>;
    /// Makes `ingester_rejects`.
    fn create_rejects(&self) -> Sql;
    /// Makes `ingester_backfills`.
    fn create_backfills(&self) -> Sql;

    // Sessions and transactions.

    /// What a new connection runs first.
    fn session(&self) -> &'static [&'static str];
    /// What a connection for migrations runs as well.
    fn session_of_migrations(&self) -> &'static [&'static str];
    /// Waits for other migrations.
    fn lock_migrations(&self) -> Option<&'static str>;
    /// Begins a transaction.
    fn begin(&self, access: Access) -> &'static str;
    /// See [`Dialect::in_one_text`](super::Dialect::in_one_text).
    fn in_one_text(&self) -> Option<InOneText>;

    // The catalog. The columns are those of the statements of the same names.

    /// See [`statements::ReadServer`](super::statements::ReadServer).
    fn server(&self) -> &'static str;
    /// See [`statements::ReadTables`](super::statements::ReadTables).
    fn tables(&self) -> &'static str;
    /// See [`statements::CatalogColumns`](super::statements::CatalogColumns).
    fn catalog_columns(&self) -> &'static str;
    /// See [`statements::CatalogKeys`](super::statements::CatalogKeys).
    fn catalog_keys(&self) -> &'static str;
}
