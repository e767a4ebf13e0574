//! Finds objects with many former versions.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;

/// Reads which objects have more former versions than `most`, and how many each has. All entries of one key are read, and no text.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", COUNT(*)
FROM {{ former.name|by_key("namespace_name") }}
GROUP BY "namespace", "name", "uid"
HAVING COUNT(*) > ?
LIMIT {{ limit|number }}"#
)]
pub struct ManyVersions<'a> {
    /// The table of the kind's history.
    pub former: &'a Table,
    /// Only objects with more former versions than this.
    pub most: u32,
    /// The most objects.
    pub limit: usize,
}

impl Statement for ManyVersions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Int(self.most.into())]
    }
}

impl Query for ManyVersions<'_> {
    type Row = (String, u64);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, u64::try_from(row.read_int(1)?).unwrap_or(0)))
    }
}
