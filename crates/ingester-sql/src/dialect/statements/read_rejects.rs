//! Reads the rejects of one kind.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};
use askama::Template;

/// Reads which objects of one kind are rejected: uid and reason.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "reason"
FROM "ingester_rejects"
WHERE "group_ver" = ? AND "kind" = ?{% if namespace.is_some() %} AND "namespace" = ?{% endif %}
ORDER BY "uid""#
)]
pub struct ReadRejects<'a> {
    /// `apiVersion`
    pub group_ver: &'a str,
    /// `kind`
    pub kind: &'a str,
    /// Only objects of this namespace.
    pub namespace: Option<&'a str>,
}

impl Statement for ReadRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        [self.group_ver, self.kind].into_iter().chain(self.namespace).map(Param::Text).collect()
    }
}

impl Query for ReadRejects<'_> {
    type Row = (String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, row.read_text(1)?))
    }
}
