//! Lists rejects for people.

use super::forget_rejects::RejectsOf;
use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;
use ingester_core::value::{Micros, Value};

/// Reads rejects, in the order of kind, namespace and name.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} "uid", "group_ver", "kind", "namespace", "name", "res_version", "reason", {{ "reject_time"|read_time }}
FROM "ingester_rejects"
WHERE 1 = 1{% if !of.kinds.is_empty() %} AND {{ of.kinds|is_of_kinds }}{% endif %}{% if !of.namespaces.is_empty() %} AND {{ "namespace"|is_one_of(of.namespaces.len()) }}{% endif %}{% if !of.uids.is_empty() %} AND {{ "uid"|is_one_of(of.uids.len()) }}{% endif %}
ORDER BY "kind", "namespace", "name", "uid"
LIMIT {{ limit|number }}"#
)]
pub struct ListRejects<'a> {
    /// The rejects to list.
    pub of: RejectsOf<'a>,
    /// The most rejects.
    pub limit: usize,
    /// The time after which the server ends the statement.
    pub milliseconds: u64,
}

impl Statement for ListRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.of.params()
    }
}

/// A row of `ingester_rejects`, as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedReject {
    /// The object's uid, or the name-based one.
    pub uid: String,
    /// `apiVersion`
    pub group_ver: String,
    /// `kind`
    pub kind: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.resourceVersion`, as the object has it.
    pub res_version: String,
    /// Why it was rejected.
    pub reason: String,
    /// When it was rejected last; 1970 if the column holds something that is not a time.
    pub reject_time: Micros,
}

impl Query for ListRejects<'_> {
    type Row = RecordedReject;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(RecordedReject {
            uid: row.read_text(0)?,
            group_ver: row.read_text(1)?,
            kind: row.read_text(2)?,
            namespace: row.read_text(3)?,
            name: row.read_text(4)?,
            res_version: row.read_text(5)?,
            reason: row.read_text(6)?,
            reject_time: match row.read_value(7, SqlType::DateTime)? {
                Value::Time(time) => time,
                _ => Micros(0),
            },
        })
    }
}
