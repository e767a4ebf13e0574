//! What is recorded about views.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};
use askama::Template;

/// Reads what `ingester_settings` has about each view.
#[derive(Debug, Template)]
#[template(ext = "sql", source = r#"SELECT "name", "value" FROM "ingester_settings" WHERE "name" LIKE 'view:%'"#)]
pub struct ReadViewRecords;

impl ReadViewRecords {
    /// The prefix of these settings; the view's name follows.
    pub const PREFIX: &'static str = "view:";
}

impl Statement for ReadViewRecords {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }
}

impl Query for ReadViewRecords {
    /// The name of the setting, and its value.
    type Row = (String, String);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.text(0)?, row.text(1)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ReadViewRecords);
    }
}
