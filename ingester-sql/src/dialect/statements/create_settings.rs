//! The table `ingester_settings`.

use crate::dialect::{Dialect, Sql, Statement};

/// Creates the table `ingester_settings` if it is missing.
#[derive(Debug)]
pub struct CreateSettings;

impl Statement for CreateSettings {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.rules().create_settings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&CreateSettings);
    }
}
