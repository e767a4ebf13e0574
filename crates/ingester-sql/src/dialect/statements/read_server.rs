//! Reads the server's version and largest packet.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads the server's name and version, and its largest packet in bytes.
#[derive(Debug)]
pub struct ReadServer;

impl Statement for ReadServer {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().server)
    }
}

impl Query for ReadServer {
    type Row = (String, u64);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_uint(1)?))
    }
}
