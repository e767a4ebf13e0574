//! Reads the size of the database.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads how many bytes the database takes, as far as the server knows.
#[derive(Debug)]
pub struct ReadSize;

impl Statement for ReadSize {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().size)
    }
}

impl Query for ReadSize {
    type Row = u64;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_uint(0)
    }
}
