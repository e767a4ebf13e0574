//! The table `ingester_rejects`.

use crate::dialect::{Dialect, Sql, Statement};

/// Creates the table `ingester_rejects` if it is missing.
#[derive(Debug)]
pub struct CreateRejects;

impl Statement for CreateRejects {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.rules().create_rejects()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&CreateRejects);
    }
}
