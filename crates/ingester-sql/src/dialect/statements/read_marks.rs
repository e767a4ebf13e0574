//! Reads marks of rules.

use super::changes_after::time_of;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;
use ingester_core::value::{Micros, Value};

/// Reads marks of a table's rows, in the order of uid and rule.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "rule", "fingerprint", "text_hash", {{ "mark_time"|read_time }}, {{ "revert_time"|read_time }}
FROM "ingester_marks"
WHERE "table_name" = ?
{%- match of %}
{%- when MarksOf::Rows(uids) %} AND {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid", "rule"
{%- when MarksOf::After { limit, .. } %} AND ("uid" > ? OR "uid" = ? AND "rule" > ?)
ORDER BY "uid", "rule"
LIMIT {{ **limit|number }}
{%- endmatch %}"#
)]
pub struct ReadMarks<'a> {
    /// The kind's main table.
    pub table: &'a str,
    /// The marks to read.
    pub of: MarksOf<'a>,
}

/// The marks of a table to read.
#[derive(Clone, Copy, Debug)]
pub enum MarksOf<'a> {
    /// The marks of the rows with these uids.
    Rows(&'a [&'a str]),
    /// A page.
    After {
        /// The last uid of the page before; empty for the first page.
        uid: &'a str,
        /// Its rule.
        rule: &'a str,
        /// The most marks.
        limit: usize,
    },
}

/// A mark: a rule has chosen this row to leave SQL, or a user has reverted that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The row's uid.
    pub uid: String,
    /// The name of the rule.
    pub rule: String,
    /// The rule's fingerprint when it marked the row.
    pub fingerprint: String,
    /// A hash of the text that the row had then.
    pub text_hash: String,
    /// When the row was marked. If that also deleted the row, its `delete_time` is the same.
    pub mark_time: Micros,
    /// When a user reverted the rule for this row.
    pub revert_time: Option<Micros>,
}

impl Statement for ReadMarks<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = vec![Param::Text(self.table)];
        match self.of {
            MarksOf::Rows(uids) => params.extend(Param::texts(uids)),
            MarksOf::After { uid, rule, .. } => params.extend([uid, uid, rule].map(Param::Text)),
        }
        params
    }
}

impl Query for ReadMarks<'_> {
    type Row = Mark;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(Mark {
            uid: row.read_text(0)?,
            rule: row.read_text(1)?,
            fingerprint: row.read_text(2)?,
            text_hash: row.read_text(3)?,
            mark_time: time_of(row, 4)?,
            revert_time: match row.read_value(5, SqlType::DateTime)? {
                Value::Null => None,
                Value::Time(time) => Some(time),
                // Something else, written by hand, still says that it was reverted.
                _ => Some(Micros(0)),
            },
        })
    }
}
