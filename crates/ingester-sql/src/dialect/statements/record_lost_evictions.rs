//! Records evictions that the database has lost.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Micros;

/// Records evictions of one kind whose rows are lost. One that is recorded already keeps the time when it was found first.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_lost_evictions" ("table_name", "uid", "namespace", "name", "res_version", "lost_time")
{{ lost.len()|rows_of(self.describe_rows()) }}
{{ ["table_name", "uid"]|on_conflict }}
  {{ "res_version"|write_inserted }}"#
)]
pub struct RecordLostEvictions<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The evictions.
    pub lost: &'a [LostRow<&'a str>],
    /// When that was found.
    pub lost_time: Micros,
}

/// A row of `ingester_lost_evictions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostRow<T> {
    /// The object's uid.
    pub uid: T,
    /// `metadata.namespace`
    pub namespace: T,
    /// `metadata.name`
    pub name: T,
    /// The version that was evicted.
    pub res_version: u64,
}

impl Statement for RecordLostEvictions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(6 * self.lost.len());
        for LostRow { uid, namespace, name, res_version } in self.lost {
            params.extend([self.table.name.as_str(), uid, namespace, name].map(Param::Text));
            params.extend([Param::UInt(*res_version), Param::Time(self.lost_time)]);
        }
        params
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        use SqlType::{BigIntUnsigned, DateTime, Text};
        Some(RowsOf::new(&[Text, Text, Text, Text, BigIntUnsigned, DateTime]))
    }
}
