//! What a program needs: kinds and migrations.
//!
//! May use: ingester-core.

use ingester_core::GeneratedSql;
use ingester_core::Kind;
use ingester_core::declare::DeclaredKinds;

/// An ingester for a registry of kinds.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// All kinds: those that are built in, then the declared ones.
    pub(crate) kinds: &'static [Kind],
    /// The kinds that are built in. The migrations are theirs.
    pub(crate) built_in: &'static [Kind],
    /// The kinds of a file.
    pub(crate) declared: &'static [Kind],
    pub(crate) sql: Option<GeneratedSql>,
}

impl Program {
    /// An ingester for these kinds.
    pub const fn new(kinds: &'static [Kind]) -> Self {
        Program { kinds, built_in: kinds, declared: &[], sql: None }
    }

    /// Builds the migrations of the kinds in, see [`generated_sql!`](ingester_core::generated_sql). Without them, the program
    /// creates missing tables but does not change existing ones.
    #[must_use]
    pub const fn sql(mut self, sql: GeneratedSql) -> Self {
        self.sql = Some(sql);
        self
    }

    /// The same program with what a file declares.
    pub(crate) fn with_declared(self, file: DeclaredKinds) -> Self {
        let declared = file.kinds.leak();
        match file.built_in {
            true => Program { declared, ..self }.with_built_in(self.built_in),
            false => Program { kinds: declared, built_in: &[], declared, sql: None },
        }
    }

    /// The same program with other kinds in place of those that are built in.
    pub(crate) fn with_built_in(self, built_in: &'static [Kind]) -> Self {
        let kinds: &'static [Kind] = match self.declared {
            [] => built_in,
            // Once or twice in a process, which uses its kinds to its end.
            declared => [built_in, declared].concat().leak(),
        };
        Program { kinds, built_in, ..self }
    }

    /// The kinds that the schema commands are about: the declared ones if there are any, for those that are built in have migrations of
    /// their own.
    pub(crate) fn of_schema(&self) -> &'static [Kind] {
        if self.declared.is_empty() { self.built_in } else { self.declared }
    }
}
