//! Marks rows as deleted if they are not of a later version.

use super::record_changes::{ChangeEntry, ChangeKind};
use super::tombstone::{GoneObject, TYPES, params};
use crate::dialect::{Columns, Dialect, Param, Query, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{History, Table};
use ingester_core::value::Micros;

/// Marks rows of the main table as deleted if they are live and have no later version. Returns the log entry of each. Only for dialects
/// where [a statement can judge](Dialect::judges). It keeps the versions that end, as [`OverwriteExpected`](super::OverwriteExpected) does.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{% if table.history.is_some() %}WITH "ended" AS (
{% endif %}UPDATE {{ table.name|upserted }} SET {{ "res_version"|write_inserted }}, {{ "delete_time"|write_inserted }}, {% if table.history.is_some() %}{{ "update_time"|write_after_former }}{% else %}{{ "update_time"|write_inserted }}{% endif %}
FROM {{ ["uid", "res_version", "delete_time", "update_time"]|rows_inserted(self.describe_rows()) }}{% if table.history.is_some() %}, {{ table.name|ident }} AS "before"{% endif %}
WHERE "stored"."uid" = excluded."uid" AND "stored"."res_version" <= excluded."res_version"
  AND "stored"."delete_time" IS NULL AND "stored"."evict_time" IS NULL
{%- if let Some(History { table: former, .. }) = table.history %}
  AND {% include "history/before.sql" %}
RETURNING {{ table.columns|values_before }}, "stored"."update_time" AS "valid_to", 'deleted' AS "change", "stored"."res_version" AS "marked version"
{% include "history/keep.sql" %}
SELECT "uid", "namespace", "name", "marked version" FROM "ended"
{%- else %}
RETURNING "stored"."uid", "stored"."namespace", "stored"."name", "stored"."res_version"
{%- endif %}"#
)]
pub struct TombstoneOlder<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The objects that are gone.
    pub gone: &'a [GoneObject<'a>],
    /// `update_time` of all of them; of a kind with a history, later if the version before began later.
    pub update_time: Micros,
}

/// A row that is marked as deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedRow {
    /// The object's uid.
    pub uid: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The `res_version` of its row.
    pub res_version: u64,
}

impl MarkedRow {
    /// Its entry of the log.
    pub fn recorded(&self) -> ChangeEntry<'_> {
        let MarkedRow { uid, namespace, name, res_version } = self;
        ChangeEntry { uid, namespace, name, res_version: *res_version, what: ChangeKind::Deleted }
    }
}

impl Statement for TombstoneOlder<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        params(self.gone, self.update_time)
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf::new(&TYPES))
    }
}

impl Query for TombstoneOlder<'_> {
    type Row = MarkedRow;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(MarkedRow {
            uid: row.read_text(0)?,
            namespace: row.read_text(1)?,
            name: row.read_text(2)?,
            res_version: row.read_uint(3)?,
        })
    }
}
