//! What a program of the ingester is made of.
//!
//! May use: ingester-core.

use ingester_core::Kind;
use ingester_core::ddl::GeneratedSql;

/// The program for some kinds.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub(crate) kinds: &'static [Kind],
    pub(crate) sql: Option<GeneratedSql>,
}

impl Program {
    /// The program for these kinds.
    pub const fn new(kinds: &'static [Kind]) -> Self {
        Program { kinds, sql: None }
    }

    /// With their migrations built in, by [`generated_sql!`](ingester_core::generated_sql). Without them it makes tables that
    /// are missing and changes none.
    #[must_use]
    pub const fn sql(mut self, sql: GeneratedSql) -> Self {
        self.sql = Some(sql);
        self
    }
}
