//! Begins the backfill of a column.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::value::Micros;

/// Records that a column has to be backfilled, beginning with the first row.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_backfills" ("table_name", "column_name", "migration", "position", "rows_read", "rows_filled", "rows_failed", "begin_time", "complete_time")
VALUES (?, ?, ?, '', 0, 0, 0, ?, NULL)
{{ ["table_name", "column_name"]|on_conflict }}
  {{ "migration"|write_inserted }},
  {{ "position"|write_inserted }},
  {{ "rows_read"|write_inserted }},
  {{ "rows_filled"|write_inserted }},
  {{ "rows_failed"|write_inserted }},
  {{ "begin_time"|write_inserted }},
  {{ "complete_time"|write_inserted }}"#
)]
pub struct BeginBackfill<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// The migration that added the column; 0 if a person asked for the backfill.
    pub migration: i64,
    /// The current time.
    pub begin_time: Micros,
}

impl Statement for BeginBackfill<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::Text(self.table),
            Param::Text(self.column),
            Param::Int(self.migration),
            Param::Time(self.begin_time),
        ]
    }
}
