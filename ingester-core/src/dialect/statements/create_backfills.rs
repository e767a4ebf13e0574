//! Makes the table `ingester_backfills` where it is missing.

use crate::dialect::{Dialect, Sql, Statement};

/// Makes the table `ingester_backfills` where it is missing.
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
