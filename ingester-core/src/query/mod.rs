//! What is asked of a kind's objects, as a struct's own code writes it: conditions and orders by the kind's columns.
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
