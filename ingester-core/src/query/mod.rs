//! What is asked of a kind's tables, as data. Everything that reads objects asks by a [`Query`].
//!
//! | file | what it has |
//! |---|---|
//! | `model.rs` | the query, as it is asked |
//!
//! May use: schema, value.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod model;

pub use model::{Filter, Order, Query, States, Test};
