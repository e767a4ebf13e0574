//! Writes backfilled columns of existing rows.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::row::Row;
use ingester_core::schema::{SqlType, Table, base};

/// Writes some columns of existing rows. The transaction has locked them.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{#- The rows exist and are locked, so nothing is ever inserted. The placeholders are for columns that may not be NULL. -#}
INSERT INTO {{ table.name|upserted }} ("uid", "group_ver", "namespace", "name", "res_version", "update_time"{% if !self.writes_json() %}, "json"{% endif %}, "ingest_version"{% for place in places.iter().copied() %}, {{ table.columns[place].name|ident }}{% endfor %})
{{ rows.len()|rows_of(self.describe_rows()) }}
{{ ["uid"]|on_conflict }}
  {{ "ingest_version"|write_inserted }}
{%- for place in places.iter().copied() %},
  {{ table.columns[place]|write_column_inserted }}
{%- endfor %}"#
)]
pub struct WriteBackfilled<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The places of the columns.
    pub places: &'a [usize],
    /// The rows as they should be today.
    pub rows: &'a [&'a BackfilledRow],
}

impl WriteBackfilled<'_> {
    /// True for a kind that prunes: the object's text is one of the columns.
    fn writes_json(&self) -> bool {
        self.places.contains(&base::JSON)
    }
}

impl Statement for WriteBackfilled<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(self.rows.len() * (2 + self.places.len()));
        for BackfilledRow { uid, ingest_version, row } in self.rows.iter().copied() {
            params.push(Param::Text(uid));
            params.push(Param::UInt((*ingest_version).into()));
            params.extend(self.places.iter().map(|place| Param::Value(&row.values[*place])));
        }
        params
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        let own = [SqlType::Text, SqlType::IntUnsigned].into_iter();
        let types: Vec<SqlType> = own.chain(self.places.iter().map(|place| self.table.columns[*place].ty)).collect();
        let json = if self.writes_json() { "" } else { "'{}', " };
        let shape = format!("?, '', '', '', 0, '1970-01-01', {json}?{}", ", ?".repeat(self.places.len()));
        Some(RowsOf { shape: shape.into(), ..RowsOf::new(&types) })
    }
}

/// A row with new values to write.
#[derive(Clone, Debug, PartialEq)]
pub struct BackfilledRow {
    /// The stored uid.
    pub uid: String,
    /// The definition that the stored row has afterwards.
    pub ingest_version: u32,
    /// The row as it should be.
    pub row: Row,
}

impl BackfilledRow {
    /// About how many bytes it takes in a statement's packet that writes the columns at `places`.
    pub fn bytes(&self, places: &[usize]) -> usize {
        self.uid.len() + 32 + places.iter().map(|place| self.row.values[*place].bytes()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    fn backfilled(uid: &str) -> BackfilledRow {
        BackfilledRow { uid: uid.into(), ingest_version: 3, row: row() }
    }

    #[test]
    fn reads_well() {
        let rows: &[&BackfilledRow] = &[&backfilled("a"), &backfilled("b")];
        let write = WriteBackfilled { table: &TABLE, places: &[13, 14], rows };
        let with_json = WriteBackfilled { places: &[base::JSON, 13], ..write };
        snapshot_of("WriteBackfilled", &[&write, &WriteBackfilled { table: &STAYING, ..write }, &with_json]);
    }
}
