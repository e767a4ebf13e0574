//! Records marks of rules.

use super::read_marks::Mark;
use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;

/// Records marks, and replaces older marks of the same rows by the same rules.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_marks" ("table_name", "uid", "rule", "fingerprint", "text_hash", "mark_time", "revert_time")
{{ marks.len()|rows_of(self.describe_rows()) }}
{{ ["table_name", "uid", "rule"]|on_conflict }}
  {{ "fingerprint"|write_inserted }}, {{ "text_hash"|write_inserted }}, {{ "mark_time"|write_inserted }}, {{ "revert_time"|write_inserted }}"#
)]
pub struct RecordMarks<'a> {
    /// The kind's main table.
    pub table: &'a str,
    /// The marks.
    pub marks: &'a [Mark],
}

impl Statement for RecordMarks<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(7 * self.marks.len());
        for mark in self.marks {
            params.extend([self.table, &mark.uid, &mark.rule, &mark.fingerprint, &mark.text_hash].map(Param::Text));
            params.push(Param::Time(mark.mark_time));
            params.push(mark.revert_time.map_or(Param::Null, Param::Time));
        }
        params
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        const TEXT: SqlType = SqlType::Text;
        const TIME: SqlType = SqlType::DateTime;
        Some(RowsOf::new(&[TEXT, TEXT, TEXT, TEXT, TEXT, TIME, TIME]))
    }
}
