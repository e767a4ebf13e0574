//! Reads the rights of the user.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads the rights of the session's user: a line each. Its form differs from dialect to dialect: MySQL lists what was granted, PostgreSQL
/// what is missing. The driver interprets them.
#[derive(Debug)]
pub struct ReadGrants;

impl Statement for ReadGrants {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().grants)
    }
}

impl Query for ReadGrants {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(0)
    }
}
