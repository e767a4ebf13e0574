//! What a program needs: kinds and migrations.
//!
//! May use: ingester-core.

use ingester_core::GeneratedSql;
use ingester_core::Kind;

/// An ingester for a registry of kinds.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub(crate) kinds: &'static [Kind],
    pub(crate) sql: Option<GeneratedSql>,
}

impl Program {
    /// An ingester for these kinds.
    pub const fn new(kinds: &'static [Kind]) -> Self {
        Program { kinds, sql: None }
    }

    /// Builds the migrations of the kinds in, see [`generated_sql!`](ingester_core::generated_sql). Without them, the program
    /// creates missing tables but does not change existing ones.
    #[must_use]
    pub const fn sql(mut self, sql: GeneratedSql) -> Self {
        self.sql = Some(sql);
        self
    }
}
