//! Asks for the names of the tables in the present database.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Asks for the names of the tables in the present database.
#[derive(Debug)]
pub struct ReadTables;

impl Statement for ReadTables {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.rules().tables())
    }
}

impl Query for ReadTables {
    type Row = String;

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.text(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ReadTables);
    }
}
