//! Deletes marks of rules.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;

/// Deletes the marks of one rule, or of all rules, on some rows.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_marks"
WHERE "table_name" = ?{% if rule.is_some() %} AND "rule" = ?{% endif %} AND {{ "uid"|is_one_of(uids.len()) }}"#
)]
pub struct ForgetMarks<'a> {
    /// The kind's main table.
    pub table: &'a str,
    /// The rule; `None` for all.
    pub rule: Option<&'a str>,
    /// The uids of the rows.
    pub uids: &'a [&'a str],
}

impl Statement for ForgetMarks<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let names = [self.table].into_iter().chain(self.rule).map(Param::Text);
        names.chain(Param::texts(self.uids)).collect()
    }
}
