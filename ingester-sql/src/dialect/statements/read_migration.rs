//! Whether a migration was run.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};
use askama::Template;

/// Reads whether a migration that the ledger has was done; no row if it does not have it.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT success FROM _sqlx_migrations WHERE version = ?"#)]
pub struct ReadMigration {
    /// Its version.
    pub version: i64,
}

impl Statement for ReadMigration {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.version)]
    }
}

impl Query for ReadMigration {
    type Row = bool;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(row.int(0)? != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ReadMigration { version: 2 });
    }
}
