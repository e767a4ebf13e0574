//! Tombstones of rows that are not of a later version.

use super::tombstone::{Gone, TYPES, params};
use crate::dialect::{Columns, Dialect, Param, Query, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Marks those of the main table's rows as deleted that are live and of no later version. Returns their uids. Only where [a statement can
/// judge](Dialect::judges).
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"UPDATE {{ table.name|upserted }} SET {{ "res_version"|write_inserted }}, {{ "delete_time"|write_inserted }}, {{ "update_time"|write_inserted }}
FROM {{ ["uid", "res_version", "delete_time", "update_time"]|rows_inserted(self.rows()) }}
WHERE "stored"."uid" = excluded."uid" AND "stored"."res_version" <= excluded."res_version"
  AND "stored"."delete_time" IS NULL AND "stored"."evict_time" IS NULL
RETURNING "stored"."uid""#
)]
pub struct TombstoneOlder<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The objects that are gone.
    pub gone: &'a [Gone<'a>],
    /// `update_time` of all of them.
    pub update_time: Micros,
}

impl Statement for TombstoneOlder<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        params(self.gone, self.update_time)
    }

    fn rows(&self) -> Option<RowsOf> {
        Some(RowsOf::new(&TYPES))
    }
}

impl Query for TombstoneOlder<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.text(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        let gone = Gone { uid: "a", res_version: 7, delete_time: NOW };
        let tombstone = TombstoneOlder { table: &TABLE, gone: &[gone, gone], update_time: NOW };
        let judging = Dialect::ALL.into_iter().filter(|dialect| dialect.judges());
        snapshot_on(judging, "TombstoneOlder", &[&tombstone]);
    }
}
