//! What each dialect writes differently. A new dialect implements this trait, so the compiler names what is missing.

use super::{KeyBesideWriters, OneText, Param, RowsOf, Sql};
use crate::ddl::{SchemaChange, Servers, Step, TableDef, ViewDef};
use crate::query::JsonPath;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::view::ViewType;
use std::borrow::Cow;

/// Writes statements with the values of their parameters as the text of one transaction.
pub(super) type InOneText = fn(OneText, &[(Sql, Vec<Param<'_>>)]) -> Sql;

pub(super) trait Rules: Sync {
    /// The name on the command line and in `generated-sql/`.
    fn name(&self) -> &'static str;
    /// See [`Dialect::title`](super::Dialect::title).
    fn title(&self) -> &'static str;

    /// See [`Dialect::who_holds_locks`](super::Dialect::who_holds_locks).
    fn who_holds_locks(&self) -> &'static str;

    /// See [`Dialect::collation`](super::Dialect::collation).
    fn collation(&self) -> &'static str;
    /// See [`Dialect::pads_texts`](super::Dialect::pads_texts).
    fn pads_texts(&self) -> bool {
        false
    }

    // Parts of shared statements.

    /// Replaces the double quotes around names by the dialect's quotes.
    fn requote(&self, text: &str) -> String;
    /// Replaces the question marks of a statement by the dialect's parameters.
    fn number(&self, text: String) -> String;
    /// Whether a list of values, and a column of several rows, is one parameter: an array.
    fn has_arrays(&self) -> bool;
    /// The condition that the column is one of a list of texts.
    fn is_one_of(&self, column: &str, count: usize) -> String;
    /// Rows of parameters, as an INSERT has them behind its columns.
    fn rows(&self, rows: &RowsOf, count: usize) -> String;
    /// Rows of parameters that an UPDATE takes its values from, with these names, as [`Rules::inserted`] calls them; `None` if an UPDATE cannot, or
    /// if that costs more than a read before it.
    fn rows_inserted(&self, _rows: &RowsOf, _names: &[&str]) -> Option<String> {
        None
    }
    /// A table that is upserted, so that [`Rules::stored`] finds its columns.
    fn upserted(&self, table: &str) -> String;
    /// The stored value of a column in an upsert.
    fn stored(&self, column: &str) -> String;
    /// The end of an INSERT that leaves out rows that exist, and returns the uids of the others; `None` if there is none.
    fn skip_stored(&self) -> Option<&'static str>;
    /// The end of a SELECT that locks its rows until the transaction ends; empty if the transaction locks them anyway.
    fn for_update(&self) -> &'static str;
    /// What turns an INSERT into an upsert. The columns to be written follow, each written by [`Rules::write_inserted`].
    fn on_conflict(&self, key: &[&str]) -> Cow<'static, str>;
    /// The value of a column that an upsert was to insert.
    fn inserted(&self, column: &str) -> String;
    /// Replaces the stored value of a column by the inserted one.
    fn write_inserted(&self, column: &str) -> String;
    /// Replaces the stored value of a column by the inserted one, unless neither is NULL.
    fn write_first_inserted(&self, column: &str) -> String;
    /// What joins an UPDATE and the INSERT of its entry in the log into one text, in which the INSERT does nothing unless the UPDATE did:
    /// the text before the UPDATE, between both, and behind the SELECT of the INSERT.
    fn recorded(&self) -> [&'static str; 3];
    /// See [`Dialect::records_in_one_statement`](super::Dialect::records_in_one_statement).
    fn records_in_one_statement(&self) -> bool;
    /// A list of rows of parameters in `IN (...)`.
    fn row_values(&self, rows: &RowsOf, count: usize) -> String;
    /// A column in a condition, written so that the database does not use the column's index.
    fn without_index(&self, column: &str) -> String;
    /// A column of this type as text, for people and in companion tables.
    fn shown(&self, column: &str, ty: SqlType) -> String;
    /// A column of this type as the driver reads it.
    fn read(&self, column: &str, ty: SqlType) -> String;

    // Parts of queries.

    /// The beginning of a SELECT that the server ends after this many milliseconds.
    fn select_within(&self, milliseconds: u64) -> Cow<'static, str>;
    /// The comparison of a text with a pattern.
    fn like(&self) -> &'static str;
    /// Whether [`Rules::like`] takes the pattern as GLOB has it.
    fn globs(&self) -> bool;
    /// The condition that the column `value` is a whole number of 63 bits, and that number.
    fn whole_number(&self) -> (&'static str, &'static str);
    /// What the column `json` has at a path, as text or NULL. The path is each of its parameters.
    fn json_text(&self) -> &'static str;
    /// A path of [`Rules::json_text`], out of `$."a"."b"[0]`.
    fn json_path<'p>(&self, path: &'p JsonPath) -> &'p str;
    /// A column in an order. NULL comes before everything else.
    fn order(&self, column: &str, nullable: bool, descending: bool) -> String;
    /// Whether a range of a key is found by `(a, b) > (?, ?)`; else by `a > ? OR a = ? AND b > ?`.
    fn compares_rows(&self) -> bool;
    /// Whether routes to rows are chosen here, because the database's own choice follows statistics that may be wrong.
    fn has_routes(&self) -> bool;
    /// What makes the database read a table by only the key of this name; empty if the database cannot be told.
    fn by_key(&self, key: &str) -> String;
    /// A join that reads its first table first.
    fn join_in_order(&self) -> &'static str;
    /// What asks for a statement's plan, and the place of the column that has it.
    fn explain(&self) -> (&'static str, usize);

    // Parts of views.

    /// Whether a view joins the settings that it reads; else each is a subquery in the place of its value. MySQL does not use the
    /// keys of a table for a query about a view with such a subquery: it makes a temporary table of all rows first.
    fn joins_settings(&self) -> bool;
    /// A text as a literal, which is compared by byte.
    fn literal(&self, text: &str) -> String;
    /// A truth value as 1 or 0.
    fn truth(&self, column: &str) -> String;
    /// A value as another type.
    fn cast(&self, value: &str, to: ViewType) -> String;
    /// Texts, concatenated; NULL if one of them is.
    fn concat(&self, values: &[String]) -> String;
    /// A line break, without a literal.
    fn line_break(&self) -> &'static str;

    // Names of types and keys.

    /// See [`Dialect::has_nul`](super::Dialect::has_nul).
    fn has_nul(&self) -> bool {
        true
    }
    /// The type in a definition.
    fn type_name(&self, ty: SqlType) -> Cow<'static, str>;
    /// Whether a type in a catalog is this one.
    fn is_type(&self, ty: SqlType, spelled: &str) -> bool;
    /// The type of a catalog's name for it, if our tables have such a type.
    fn type_of(&self, spelled: &str) -> Option<SqlType>;
    /// See [`Dialect::servers`](super::Dialect::servers).
    fn servers(&self) -> Servers;
    /// The name of a table's key in the catalog.
    fn key_name(&self, table: Ident, key: Ident) -> Ident;

    /// See [`Dialect::key_columns`](super::Dialect::key_columns).
    fn key_columns(&self, columns: &[Ident], primary: &[Ident]) -> Vec<Ident>;
    /// See [`Dialect::reserved_prefix`](super::Dialect::reserved_prefix).
    fn reserved_prefix(&self) -> Option<&'static str>;

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
    /// See [`Dialect::key_beside_writers`](super::Dialect::key_beside_writers).
    fn key_beside_writers(&self, _table: Ident, _key: Ident, _columns: &[(Ident, bool)]) -> Option<KeyBesideWriters> {
        None
    }

    // Sessions and transactions. The dialect's `session.rs` has what a driver says about them.

    /// See [`Dialect::is_embedded`](super::Dialect::is_embedded).
    fn is_embedded(&self) -> bool;
    /// See [`Dialect::defines_in_transactions`](super::Dialect::defines_in_transactions).
    fn defines_in_transactions(&self) -> bool;
    /// See [`Dialect::locks_migrations`](super::Dialect::locks_migrations).
    fn locks_migrations(&self) -> bool;
    /// See [`Dialect::durability_is_of_connections`](super::Dialect::durability_is_of_connections).
    fn durability_is_of_connections(&self) -> bool;
    /// See [`Dialect::in_one_text`](super::Dialect::in_one_text).
    fn in_one_text(&self) -> Option<InOneText>;

    // Queries of the catalog. The statements of the same names define their columns.

    /// See [`statements::ReadServer`](super::statements::ReadServer).
    fn server(&self) -> &'static str;
    /// See [`statements::ReadVariables`](super::statements::ReadVariables).
    fn variables(&self) -> &'static str;
    /// See [`statements::ReadGrants`](super::statements::ReadGrants).
    fn grants(&self) -> &'static str;
    /// See [`statements::ReadSize`](super::statements::ReadSize).
    fn size(&self) -> &'static str;
    /// See [`statements::ReadClock`](super::statements::ReadClock).
    fn clock(&self) -> &'static str;
    /// See [`statements::ReadTables`](super::statements::ReadTables).
    fn tables(&self) -> &'static str;
    /// See [`statements::CatalogColumns`](super::statements::CatalogColumns).
    fn catalog_columns(&self) -> &'static str;
    /// See [`statements::CatalogKeys`](super::statements::CatalogKeys).
    fn catalog_keys(&self) -> &'static str;
    /// See [`statements::CatalogViews`](super::statements::CatalogViews).
    fn catalog_views(&self) -> &'static str;
}
