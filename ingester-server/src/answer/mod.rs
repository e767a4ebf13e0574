//! Rows as a client wants to have them: objects, tables, metadata. Rows in, values and text out. The server's answers are made from
//! the same parts as the output of `ingester get`, so that the two cannot differ.
//!
//! | file | what it has |
//! |---|---|
//! | `columns.rs` | the columns of tables, and the cells of a row |
//! | `object.rs` | the object of a row, and parts of it without the others |
//! | `own.rs` | what is this server's own, such as saved queries |
//! | `event.rs` | the objects of a watch's events |
//! | `renderer.rs` | a form of answers about a kind: what is read for it, and how a row is written |
//! | `spelled.rs` | JSON whose numbers keep their spelling, for what differs |
//! | `versions.rs` | versions of an object, and what differs between two |
//!
//! May use: ingester-core, ingester-sql, ingester-store, status, request.
//! Must not: do I/O.

mod columns;
mod event;
mod object;
mod own;
mod renderer;
mod spelled;
mod versions;

pub use columns::{AnswerColumn, UnknownColumn, named, of_spreadsheet, of_table};
pub use event::Bare;
pub use ingester_store::query::{STATE_PLACES, ShownState};
pub(crate) use object::has_version;
pub use object::object;
pub use own::OwnObjects;
pub use renderer::{Renderer, Rest};
pub use spelled::ObjectPatch;
pub use versions::{changed, changes_always, patch, version};
