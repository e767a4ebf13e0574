//! The table `ingester_backfills`.

use crate::dialect::{Dialect, Sql, Statement};

/// Creates the table `ingester_backfills` if it is missing.
#[derive(Debug)]
pub struct CreateBackfills;

impl Statement for CreateBackfills {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.rules().create_backfills()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&CreateBackfills);
    }
}
