//! Reads settings of the server and of the session.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads settings that may make a database unfit, or slow, for what the ingester does: names and values. A server leaves out those that it
/// does not have. The driver interprets them.
#[derive(Debug)]
pub struct ReadVariables;

impl Statement for ReadVariables {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().variables)
    }
}

impl Query for ReadVariables {
    type Row = (String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_text(1)?))
    }
}
