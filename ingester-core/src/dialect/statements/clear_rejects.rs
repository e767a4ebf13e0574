//! Rejects, deleted.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;

/// Deletes the rejects of some objects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_rejects"
WHERE "uid" IN ({{ uids.len()|parameters }})"#
)]
pub struct ClearRejects<'a> {
    /// The uids.
    pub uids: &'a [&'a str],
}

impl Statement for ClearRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        Param::texts(self.uids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ClearRejects { uids: UIDS });
    }
}
