//! Objects and rows as kubectl prints them. Text in, text out: nothing here knows a database.
//!
//! | file | what it prints |
//! |---|---|
//! | `tree.rs` | nothing: an object as Go's client holds it, for the others |
//! | `number.rs` | numbers as Go writes them |
//! | `json.rs`, `yaml.rs` | an object or a `List`, byte for byte as kubectl |
//! | `jsonpath/` | kubectl's templates, and what they find |
//! | `columns.rs` | `custom-columns` |
//! | `table.rs`, `csv.rs` | rows of cells, for people and for spreadsheets |
//!
//! May use: ingester-core.
//! Must not: do I/O, know SQL or the command line.

pub(crate) mod columns;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod jsonpath;
mod number;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod tree;
pub(crate) mod yaml;

pub(crate) use tree::Tree;
