//! Deletes rejects of stored versions.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;

/// Deletes rejects of exactly these versions, which a backfill has recorded. A reject of a later version stays.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_rejects"
WHERE "kind" = ? AND ("uid", "res_version") IN ({{ versions.len()|row_values(self.describe_rows()) }})"#
)]
pub struct SettleRejects<'a> {
    /// The kind: an object of another one may have the same uid in files that were written by hand.
    pub kind: &'a str,
    /// Uids with `res_version` as text.
    pub versions: &'a [(&'a str, String)],
}

impl Statement for SettleRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let versions = self.versions.iter().flat_map(|(uid, version)| [Param::Text(uid), Param::Text(version)]);
        std::iter::once(Param::Text(self.kind)).chain(versions).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf { after: 1, ..RowsOf::new(&[SqlType::Text; 2]) })
    }
}
