//! The statements, one file each: parameters, template, columns of the result, and a test with a snapshot of its text in each
//! dialect.
//!
//! May use: schema, value, row, dialect.

mod any_rejects;
mod begin_backfill;
mod catalog_columns;
mod catalog_keys;
mod clear_rejects;
mod create_backfills;
mod create_rejects;
mod delete_companion;
mod end_backfill;
mod forget_backfills;
mod forget_migration;
mod insert;
mod live;
mod live_by_namespace;
mod names;
mod newest;
mod overwrite;
mod peek;
mod read;
mod read_backfills;
mod read_companion;
mod read_for_backfill;
mod read_rejects;
mod read_server;
mod read_tables;
mod record_rejects;
mod rewind;
mod settle_migration;
mod step_backfill;
mod tombstone;
mod update;
mod versions;
mod write_backfilled;
mod write_companion;

pub use any_rejects::AnyRejects;
pub use begin_backfill::BeginBackfill;
pub use catalog_columns::{CatalogColumn, CatalogColumns};
pub use catalog_keys::{CatalogKey, CatalogKeys};
pub use clear_rejects::ClearRejects;
pub use create_backfills::CreateBackfills;
pub use create_rejects::CreateRejects;
pub use delete_companion::DeleteCompanion;
pub use end_backfill::EndBackfill;
pub use forget_backfills::ForgetBackfills;
pub use forget_migration::ForgetMigration;
pub use insert::Insert;
pub use live::Live;
pub use live_by_namespace::LiveByNamespace;
pub use names::Names;
pub use newest::Newest;
pub use overwrite::Overwrite;
pub use peek::Peek;
pub use read::Read;
pub use read_backfills::{BackfillRow, ReadBackfills};
pub use read_companion::ReadCompanion;
pub use read_for_backfill::{ReadForBackfill, RowToBackfill};
pub use read_rejects::ReadRejects;
pub use read_server::ReadServer;
pub use read_tables::ReadTables;
pub use record_rejects::{RecordRejects, RejectRow};
pub use rewind::Rewind;
pub use settle_migration::SettleMigration;
pub use step_backfill::StepBackfill;
pub use tombstone::{Gone, Tombstone};
pub use update::Update;
pub use versions::Versions;
pub use write_backfilled::WriteBackfilled;
pub use write_companion::WriteCompanion;

/// The API group of a kind's rows, whatever their version: rows that were written under an older version of the kind are followed
/// all the same.
#[derive(Clone, Debug)]
pub struct OfGroup(Option<[String; 2]>);

impl OfGroup {
    /// The group; empty for the core group, whose `group_ver` is a version alone.
    pub fn new(group: &str) -> Self {
        // By byte, as `group_ver` compares, everything that begins with a slash lies between `/` and `0`.
        OfGroup((!group.is_empty()).then(|| [format!("{group}/"), format!("{group}0")]))
    }

    /// Whether it is the core group.
    pub(super) fn is_core(&self) -> bool {
        self.0.is_none()
    }

    /// The parameters of the condition: from which `group_ver` on, and below which.
    pub(super) fn params(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().map(String::as_str)
    }
}
