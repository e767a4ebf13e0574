//! Overwrites one row of the main table, if it is the expected one.

use super::insert::columns;
use crate::dialect::statements::ChangeEntry;
use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Row;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Overwrites one row of the main table if it is live, has the version that the writer expects, and has no later definition. With
/// `record`, the log gets an entry if the row is written, and none otherwise. Both are one statement where [a statement can do
/// that](Dialect::records_in_one_statement), otherwise two in one text.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{% if record.is_some() %}{{ "before"|recorded }}{% endif %}UPDATE {{ table|by_uid }} SET
{%- for column in table.columns[1..] %}
  {{ column|write_parameter }}{% if !loop.last %},{% endif %}
{%- endfor %}
WHERE "uid" = ? AND "res_version" = ? AND "ingest_version" <= ? AND "delete_time" IS NULL AND "evict_time" IS NULL
{%- if let Some(former) = former %}
  AND EXISTS (SELECT 1 FROM {{ former.name|ident }} WHERE "uid" = ? AND "valid_from" = {{ table.name|ident }}."update_time" AND "valid_to" = ?)
{%- endif %}
{%- if record.is_some() %}{{ "between"|recorded }}
INSERT INTO "ingester_changes" ("table_name", "uid", "namespace", "name", "res_version", "change", "at")
SELECT ?, ?, ?, ?, ?, ?, ?
{{ "behind"|recorded }}
{%- endif %}"#
)]
pub struct Update<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The row.
    pub row: &'a Row,
    /// The `res_version` that the stored row must have.
    pub expected: u64,
    /// Its new `update_time`.
    pub update_time: Micros,
    /// The table of the kind's history, if it has one: the row is written if it was kept there, as a version that ends at the same time.
    pub former: Option<&'a Table>,
    /// The entry of the log that the same statement adds.
    pub record: Option<ChangeEntry<'a>>,
}

impl Statement for Update<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let ingest_version = Param::UInt(self.row.ingest_version.into());
        let condition = [Param::Text(&self.row.uid), Param::UInt(self.expected), ingest_version];
        let kept = self.former.iter().flat_map(|_| [Param::Text(&self.row.uid), Param::Time(self.update_time)]);
        let record = self.record.iter().flat_map(|record| record.params(self.table, self.update_time));
        columns(self.row, self.update_time).skip(1).chain(condition).chain(kept).chain(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::record_changes::RECORDED;
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        let update = Update { table: &TABLE, row: &row(), expected: 7, update_time: NOW, former: None, record: None };
        let recorded = Update { record: Some(RECORDED), ..update };
        let kept = Update { table: &WITH_HISTORY, former: Some(&FORMER), ..recorded };
        snapshot_of("Update", &[&update, &Update { table: &STAYING, ..update }, &recorded, &kept]);
    }
}
