//! The constants in which dialects differ: each dialect has one value of [`Facts`].

use super::{Param, Sql, TransactionForm};
use crate::ddl::Servers;

/// Writes statements with the values of their parameters as the text of one transaction.
pub(super) type TransactionWriter = fn(TransactionForm, &[(Sql, Vec<Param<'_>>)]) -> Sql;

/// The constants of a dialect.
pub(super) struct Facts {
    // The dialect and its servers.
    /// The name on the command line and in `generated-sql/`.
    pub(super) name: &'static str,
    /// See [`Dialect::title`](super::Dialect::title).
    pub(super) title: &'static str,
    /// See [`Dialect::who_holds_locks`](super::Dialect::who_holds_locks).
    pub(super) who_holds_locks: &'static str,
    /// See [`Dialect::collation`](super::Dialect::collation).
    pub(super) collation: &'static str,
    /// See [`Dialect::pads_texts`](super::Dialect::pads_texts).
    pub(super) pads_texts: bool,
    /// See [`Dialect::has_nul`](super::Dialect::has_nul).
    pub(super) has_nul: bool,
    /// See [`Dialect::reserved_prefix`](super::Dialect::reserved_prefix).
    pub(super) reserved_prefix: Option<&'static str>,
    /// See [`Dialect::servers`](super::Dialect::servers).
    pub(super) servers: Servers,

    // Statements that write.
    /// A list of values, and a column of several rows, is one parameter: an array.
    pub(super) has_arrays: bool,
    /// The end of an INSERT that leaves out rows that exist, and returns the uids of the others; `None` if there is none.
    pub(super) skip_stored: Option<&'static str>,
    /// The end of a SELECT that locks its rows until the transaction ends; empty if the transaction locks them anyway.
    pub(super) for_update: &'static str,
    /// Joins an UPDATE and the INSERT of its entry in the log into one text, in which the INSERT does nothing unless the UPDATE did:
    /// the text before the UPDATE, between both, and after the SELECT of the INSERT.
    pub(super) recorded: [&'static str; 3],
    /// See [`Dialect::records_in_one_statement`](super::Dialect::records_in_one_statement).
    pub(super) records_in_one_statement: bool,
    /// See [`Dialect::in_one_text`](super::Dialect::in_one_text).
    pub(super) in_one_text: Option<TransactionWriter>,

    // Queries.
    /// The comparison of a text with a pattern.
    pub(super) like: &'static str,
    /// `like` takes the pattern as GLOB has it.
    pub(super) globs: bool,
    /// The condition that the column `value` is a whole number of 63 bits, and that number.
    pub(super) whole_number: (&'static str, &'static str),
    /// The value of the column `json` at a path, as text or NULL. The path is each of its parameters.
    pub(super) json_text: &'static str,
    /// A range of a key is found by `(a, b) > (?, ?)`; otherwise by `a > ? OR a = ? AND b > ?`.
    pub(super) compares_rows: bool,
    /// See [`Dialect::has_routes`](super::Dialect::has_routes).
    pub(super) has_routes: bool,
    /// A join that reads its first table first.
    pub(super) join_in_order: &'static str,
    /// The words that ask for a statement's plan, and the index of the column that has it.
    pub(super) explain: (&'static str, usize),

    // Views.
    /// A view joins the settings that it reads; otherwise each is a subquery in the place of its value. MySQL does not use the keys of a table for
    /// a query about a view with such a subquery: it makes a temporary table of all rows first.
    pub(super) joins_settings: bool,
    /// A line break, without a literal.
    pub(super) line_break: &'static str,

    // Sessions and transactions. The dialect's `session.rs` has what a driver says about them.
    /// See [`Dialect::is_embedded`](super::Dialect::is_embedded).
    pub(super) is_embedded: bool,
    /// See [`Dialect::defines_in_transactions`](super::Dialect::defines_in_transactions).
    pub(super) defines_in_transactions: bool,
    /// See [`Dialect::locks_migrations`](super::Dialect::locks_migrations).
    pub(super) locks_migrations: bool,
    /// See [`Dialect::durability_is_of_connections`](super::Dialect::durability_is_of_connections).
    pub(super) durability_is_of_connections: bool,

    // Queries of the catalog. The statements of the same names define their columns.
    /// See [`statements::ReadServer`](super::statements::ReadServer).
    pub(super) server: &'static str,
    /// See [`statements::ReadVariables`](super::statements::ReadVariables).
    pub(super) variables: &'static str,
    /// See [`statements::ReadGrants`](super::statements::ReadGrants).
    pub(super) grants: &'static str,
    /// See [`statements::ReadSize`](super::statements::ReadSize).
    pub(super) size: &'static str,
    /// See [`statements::ReadClock`](super::statements::ReadClock).
    pub(super) clock: &'static str,
    /// See [`statements::ReadTables`](super::statements::ReadTables).
    pub(super) tables: &'static str,
    /// See [`statements::CatalogColumns`](super::statements::CatalogColumns).
    pub(super) catalog_columns: &'static str,
    /// See [`statements::CatalogKeys`](super::statements::CatalogKeys).
    pub(super) catalog_keys: &'static str,
    /// See [`statements::CatalogViews`](super::statements::CatalogViews).
    pub(super) catalog_views: &'static str,
}
