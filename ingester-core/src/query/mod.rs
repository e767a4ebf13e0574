//! Conditions and orders on a kind's columns, as a struct's own code writes them.
//!
//! | file | what it has |
//! |---|---|
//! | `filter.rs` | conditions and orders, as data |
//! | `handle.rs` | the columns of a kind as Rust knows them, with the types of their values |
//!
//! A whole query is `ingester_sql::query::Query`.
//!
//! May use: schema, value.

mod filter;
mod handle;

pub use filter::{Filter, Order, Test};
pub use handle::{Dynamic, Entry, Handle, PartOf, Parts, Predicate, Sort};
