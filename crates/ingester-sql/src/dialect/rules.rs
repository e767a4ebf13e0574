//! How each dialect renders what it writes differently. A new dialect implements this trait and has its [`Facts`], so the compiler names what is
//! missing.

use super::facts::Facts;
use super::{KeyBesideWriters, RowsOf, Sql};
use crate::ddl::{SchemaChange, Step, TableDef, ViewDef};
use crate::query::JsonPath;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::view::ViewType;
use std::borrow::Cow;

pub(super) trait Rules: Sync {
    /// The constants.
    fn facts(&self) -> &'static Facts;

    // Parts of shared statements.

    /// Replaces the double quotes around names by the dialect's quotes.
    fn requote(&self, text: &str) -> String;
    /// Replaces the question marks of a statement by the dialect's parameters.
    fn number(&self, text: String) -> String;
    /// The condition that the column is one of a list of texts.
    fn is_one_of(&self, column: &str, count: usize) -> String;
    /// Rows of parameters, as an INSERT has them after its columns.
    fn render_rows(&self, rows: &RowsOf, count: usize) -> String;
    /// Rows of parameters that an UPDATE takes its values from, with these names, as [`Rules::render_inserted`] calls them; `None` if an UPDATE cannot, or
    /// if that costs more than a read before it.
    fn rows_inserted(&self, _rows: &RowsOf, _names: &[&str]) -> Option<String> {
        None
    }
    /// A table that is upserted, so that [`Rules::render_stored`] finds its columns.
    fn upserted(&self, table: &str) -> String;
    /// The stored value of a column in an upsert.
    fn render_stored(&self, column: &str) -> String;
    /// The clause that turns an INSERT into an upsert. The columns to write follow, each written by [`Rules::write_inserted`].
    fn on_conflict(&self, key: &[&str]) -> Cow<'static, str>;
    /// The value of a column that an upsert was to insert.
    fn render_inserted(&self, column: &str) -> String;
    /// Replaces the stored value of a column by the inserted one.
    fn write_inserted(&self, column: &str) -> String;
    /// Replaces the stored value of a column by the inserted one, unless neither is NULL.
    fn write_first_inserted(&self, column: &str) -> String;
    /// A list of rows of parameters in `IN (...)`.
    fn row_values(&self, rows: &RowsOf, count: usize) -> String;
    /// A column in a condition, written so that the database does not use the column's index.
    fn without_index(&self, column: &str) -> String;
    /// A column of this type as text, for people and in companion tables.
    fn cast_to_text(&self, column: &str, ty: SqlType) -> String;
    /// A column of this type as the driver reads it.
    fn read(&self, column: &str, ty: SqlType) -> String;

    // Parts of queries.

    /// The beginning of a SELECT that the server ends after this many milliseconds.
    fn select_within(&self, milliseconds: u64) -> Cow<'static, str>;
    /// A path of [`Facts::json_text`], out of `$."a"."b"[0]`.
    fn json_path<'p>(&self, path: &'p JsonPath) -> &'p str;
    /// A column in an order. NULL comes before everything else.
    fn order(&self, column: &str, nullable: bool, descending: bool) -> String;
    /// The hint that makes the database read a table only through the key of this name; empty if the database has no such hint.
    fn by_key(&self, key: &str) -> String;

    // Parts of views.

    /// A text as a literal, which is compared by byte.
    fn literal(&self, text: &str) -> String;
    /// A truth value as 1 or 0.
    fn truth(&self, column: &str) -> String;
    /// A value as another type.
    fn cast(&self, value: &str, to: ViewType) -> String;
    /// Texts, concatenated; NULL if one of them is.
    fn concat(&self, values: &[String]) -> String;

    // Names of types and keys.

    /// The type in a definition.
    fn type_name(&self, ty: SqlType) -> Cow<'static, str>;
    /// Returns true if a catalog's `spelled` type is this one.
    fn is_type(&self, ty: SqlType, spelled: &str) -> bool;
    /// The type of a catalog's name for it, if our tables have such a type.
    fn type_of(&self, spelled: &str) -> Option<SqlType>;
    /// The name of a table's key in the catalog.
    fn key_name(&self, table: Ident, key: Ident) -> Ident;

    /// See [`Dialect::key_columns`](super::Dialect::key_columns).
    fn key_columns(&self, columns: &[Ident], primary: &[Ident]) -> Vec<Ident>;

    // Definitions.

    /// Creates a table with its keys.
    fn create(&self, table: &TableDef) -> Vec<Sql>;
    /// Drops a table.
    fn drop(&self, table: Ident) -> Sql;
    /// Makes a view, and replaces one of its name.
    fn create_view(&self, view: &ViewDef) -> Vec<Sql>;
    /// Drops a view.
    fn drop_view(&self, view: Ident) -> Sql;
    /// One step of a migration, among all changes of it.
    fn step(&self, step: &Step, among: &[SchemaChange]) -> Vec<Sql>;
    /// See [`Dialect::compress_versions`](super::Dialect::compress_versions).
    fn compress_versions(&self, _table: Ident, _json: &str) -> Option<Sql> {
        None
    }
    /// See [`Dialect::key_beside_writers`](super::Dialect::key_beside_writers).
    fn key_beside_writers(&self, _table: Ident, _key: Ident, _columns: &[(Ident, bool)]) -> Option<KeyBesideWriters> {
        None
    }
}
