//! Copies rows into the history as former versions.

use crate::dialect::statements::ChangeKind;
use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Copies rows of the main table into the table of its history, as versions that end now, because the transaction overwrites or deletes
/// them. The transaction has locked the rows. With `expected`, the statement is about a single row: it locks the row and copies it only
/// under this condition.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO {{ former.name|ident }} ({{ former.columns|names }})
SELECT {{ table.columns|version_values }}, ?, ?
FROM {{ table|by_uid }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
{%- if expected.is_some() %} AND "res_version" = ? AND "ingest_version" <= ? AND "update_time" < ? AND "delete_time" IS NULL AND "evict_time" IS NULL{{ table|lock_rows }}
{%- else %}
ORDER BY "uid"
{%- endif %}"#
)]
pub struct KeepVersions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The table of its history.
    pub former: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// When the versions end.
    pub valid_to: Micros,
    /// How the rows change after the copy.
    pub change: ChangeKind,
    /// The `res_version` of the one row, and the latest definition that it may be of. It is live, and began before `valid_to`.
    pub expected: Option<(u64, u32)>,
}

impl Statement for KeepVersions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = vec![Param::Time(self.valid_to), Param::Text(self.change.as_str())];
        params.extend(Param::texts(self.uids));
        if let Some((res_version, ingest_version)) = self.expected {
            let of_definition = Param::UInt(ingest_version.into());
            params.extend([Param::UInt(res_version), of_definition, Param::Time(self.valid_to)]);
        }
        params
    }
}
