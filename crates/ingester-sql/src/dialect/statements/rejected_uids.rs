//! Reads the uids and kinds of rejected objects.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;

/// Reads uids in `ingester_rejects` with the kinds of their objects, in no order.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT "uid", "kind" FROM "ingester_rejects" LIMIT {{ limit|number }}"#)]
pub struct RejectedUids {
    /// The most uids.
    pub limit: usize,
}

impl Statement for RejectedUids {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for RejectedUids {
    type Row = (String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_text(1)?))
    }
}
