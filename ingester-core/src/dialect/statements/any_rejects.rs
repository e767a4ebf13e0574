//! Whether any object is rejected.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};
use askama::Template;

/// Reads whether `ingester_rejects` has any row.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT COUNT(*) FROM (SELECT 1 FROM ingester_rejects LIMIT 1) AS one"#)]
pub struct AnyRejects;

impl Statement for AnyRejects {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for AnyRejects {
    type Row = bool;

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(row.int(0)? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&AnyRejects);
    }
}
