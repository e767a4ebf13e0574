//! Schemas and their changes, as data: [`diff`] finds the changes between two schemas, [`plan`] puts them into steps of one
//! statement each, and [`SchemaChange::cost`] says what a change costs on a server.
//!
//! May use: ingester-core.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod cost;
mod diff;
mod effect;
mod in_place;
mod plan;
mod redundant;
mod schema;
mod storage;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod view;

pub use cost::{Cost, ServerVersion, Servers};
pub use diff::{SchemaChange, diff, narrows};
pub(crate) use in_place::{ChangeReplacement, in_place};
pub use plan::{Step, StepKind, plan, steps_of};
pub use redundant::{RedundantKey, redundant_keys};
pub use schema::Schema;
pub(crate) use storage::storage_class;
pub use summary::{ForeignType, emptied_tables, losses, questions, staying_losses, summary};
pub use table::{ColumnDef, KeyDef, TableDef};
pub use view::{ConditionDef, ExpressionDef, LiteralDef, SourceDef, ViewColumnDef, ViewDef};
