//! Turns rows into the forms that clients want: objects, tables, metadata. It takes rows and returns values and text. The server's answers
//! use the same parts as the output of `ingester get`, so that the two cannot differ.
//!
//! | file | what it has |
//! |---|---|
//! | `columns.rs` | the columns of tables, and the cells of a row |
//! | `object.rs` | the object of a row, and parts of it |
//! | `own.rs` | this server's own objects, such as saved queries |
//! | `event.rs` | the objects of a watch's events |
//! | `renderer.rs` | a form of answers about a kind: the columns to read, and the text of a row |
//! | `spelled.rs` | JSON whose numbers keep their spelling, for differences |
//! | `versions.rs` | versions of an object, and the differences between two |
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
pub use event::ObjectFacts;
pub use ingester_store::query::{STATE_PLACES, ShownState};
pub(crate) use object::has_version;
pub use object::object;
pub use own::OwnObjects;
pub use renderer::{ListTrailer, Renderer};
pub use spelled::ObjectPatch;
pub use versions::{changed, changes_always, patch, version};
