//! Several settings of the database.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};
use askama::Template;

/// Reads the names and values of the settings in `ingester_settings` whose names lie between two others.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "name", "value"
FROM "ingester_settings"
WHERE "name" > ? AND "name" < ?
ORDER BY "name""#
)]
pub struct ReadSettings<'a> {
    /// The name after which they begin.
    pub after: &'a str,
    /// The name before which they end.
    pub before: &'a str,
}

impl Statement for ReadSettings<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.after), Param::Text(self.before)]
    }
}

impl Query for ReadSettings<'_> {
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
        snapshot(&ReadSettings { after: "sweep/a/", before: "sweep/a0" });
    }
}
