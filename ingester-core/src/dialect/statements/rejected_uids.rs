//! The uids of rejected objects.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;

/// Reads uids in `ingester_rejects`, in no order.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT "uid" FROM "ingester_rejects" LIMIT {{ limit|number }}"#)]
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
        snapshot(&RejectedUids { limit: 2 });
    }
}
