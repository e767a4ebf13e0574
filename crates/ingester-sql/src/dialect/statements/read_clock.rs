//! Reads the database's clock.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};
use ingester_core::schema::SqlType;
use ingester_core::value::Value;

/// Reads the time in UTC from the database's clock.
#[derive(Debug)]
pub struct ReadClock;

impl Statement for ReadClock {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().clock)
    }
}

impl Query for ReadClock {
    type Row = Value;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_value(0, SqlType::DateTime)
    }
}
