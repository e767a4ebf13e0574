//! Reads the names of all tables.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads the names of the tables in the current database.
#[derive(Debug)]
pub struct ReadTables;

impl Statement for ReadTables {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().tables)
    }
}

impl Query for ReadTables {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}
