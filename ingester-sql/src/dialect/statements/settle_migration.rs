//! An interrupted migration that was done.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;

/// Records in the ledger that an interrupted migration was done.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"UPDATE _sqlx_migrations SET success = TRUE WHERE version = ?"#)]
pub struct SettleMigration {
    /// Its version.
    pub version: i64,
}

impl Statement for SettleMigration {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.version)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&SettleMigration { version: 2 });
    }
}
