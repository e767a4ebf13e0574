//! What it takes to make one schema out of another, as data: [`diff`] finds the changes, [`plan`] puts them into steps
//! of one statement each, [`SchemaChange::rules`] says what a step costs on which server.
//!
//! May use: schema, kind.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod cost;
mod diff;
mod generated;
mod model;
mod plan;
mod storage;
mod summary;

pub use cost::{Cost, Family, Rule, Server};
pub use diff::{Retyping, SchemaChange, diff, retyping};
pub use generated::GeneratedSql;
pub use model::{ColumnDef, KeyDef, Schema, TableDef};
pub use plan::{Phase, Step, plan};
pub use storage::storage_class;
pub use summary::{losses, summary};

#[cfg(test)]
mod tests;
