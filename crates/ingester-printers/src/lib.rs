//! Prints objects and tables as kubectl does, byte for byte. Values in, text out.
//!
//! | module | what it prints |
//! |---|---|
//! | [`Tree`] | nothing: a JSON value as Go's client holds it, for the others |
//! | [`json`], [`yaml`] | an object or a `List` |
//! | [`jsonpath`] | kubectl's templates, and what they find |
//! | [`custom_columns`] | `-o custom-columns` |
//! | [`name`] | objects by kind and name |
//! | [`table`] | rows of cells, for people |
//! | [`csv`] | rows of cells, for spreadsheets |
//!
//! It may use serde and the standard library. It does no I/O, and knows no other crate of this project: neither databases nor kinds nor the
//! command line. It does not read JSON either: the caller deserializes a [`Tree`] with a reader that it trusts.

pub mod csv;
pub mod custom_columns;
pub mod json;
pub mod jsonpath;
pub mod name;
mod number;
mod obeyed;
pub mod table;
mod tree;
pub mod yaml;

pub use tree::Tree;
