//! What is asked of a kind's tables, as data. Everything that reads objects asks by a [`Query`].
//!
//! | file | what it has |
//! |---|---|
//! | `model.rs` | the query, as it is asked |
//! | `check.rs` | the same query about a kind's table: every field is a column, every value of that column's type |
//! | `handle.rs` | the columns of a kind as Rust knows them, with the types of their values |
//!
//! May use: schema, value, nearest.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod check;
mod handle;
mod model;

pub use check::{Checked, Comparison, Condition, Operand, PairTest, Pattern, QueryError, SortKey};
pub use handle::{Dynamic, Handle, PartOf, Parts, Predicate, Sort};
pub use model::{Filter, Order, Query, States, Test};
