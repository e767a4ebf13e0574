//! Rows as a client wants to have them: objects, tables, metadata. Rows in, text out.
//!
//! | file | what it has |
//! |---|---|
//! | `view.rs` | a form of answers about a kind: what is read for it, and how a row is written |
//! | `table.rs` | the columns of a table and the cells of a row |
//! | `object.rs` | parts of a stored object, without the others |
//!
//! May use: ingester-core, ingester-sql, ingester-store, status, request.
//! Must not: do I/O.

mod object;
mod table;
mod view;

pub use view::{Rest, View};
