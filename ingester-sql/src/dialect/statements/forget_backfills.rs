//! Backfills of reverted migrations, deleted.

use crate::dialect::{Dialect, Param, Sql, Statement};
use askama::Template;

/// Deletes the progress of columns that later migrations have added.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_backfills"
WHERE "migration" > ?"#
)]
pub struct ForgetBackfills {
    /// The last migration whose columns stay.
    pub after: i64,
}

impl Statement for ForgetBackfills {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.after)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ForgetBackfills { after: 2 });
    }
}
