//! Counts rejects.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement, filters};
use askama::Template;

/// Counts the rejects of each kind in each namespace, in that order.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} "kind", "group_ver", "namespace", COUNT(*)
FROM "ingester_rejects"
GROUP BY "kind", "group_ver", "namespace"
ORDER BY "kind", "group_ver", "namespace"
LIMIT {{ limit|number }}"#
)]
pub struct CountRejects {
    /// The most kinds and namespaces.
    pub limit: usize,
    /// The time after which the server ends the statement.
    pub milliseconds: u64,
}

impl Statement for CountRejects {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

/// How many objects of a kind in a namespace are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectCount {
    /// `kind`
    pub kind: String,
    /// `apiVersion`
    pub group_ver: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// Their number.
    pub count: u64,
}

impl Query for CountRejects {
    type Row = RejectCount;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let kind = row.read_text(0)?;
        let group_ver = row.read_text(1)?;
        let namespace = row.read_text(2)?;
        Ok(RejectCount { kind, group_ver, namespace, count: row.read_uint(3)? })
    }
}
