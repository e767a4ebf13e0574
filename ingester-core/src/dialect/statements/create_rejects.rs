//! Makes the table `ingester_rejects` where it is missing.

use crate::dialect::{Dialect, Sql, Statement};

/// Makes the table `ingester_rejects` where it is missing.
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
