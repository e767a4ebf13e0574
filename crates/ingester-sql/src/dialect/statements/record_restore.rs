//! Records a restore.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Ident;
use ingester_core::value::Micros;

/// Records that a row is being restored, or when the last attempt to create its object began. The transaction has locked the row.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_restores" ("table_name", "uid", "nonce", "restore_time") VALUES (?, ?, ?, ?)
{{ ["table_name", "uid"]|on_conflict }}
  {{ "nonce"|write_inserted }}, {{ "restore_time"|write_inserted }}"#
)]
pub struct RecordRestore<'a> {
    /// The kind's table.
    pub table: Ident,
    /// The uid of the row.
    pub uid: &'a str,
    /// The number of the restore.
    pub nonce: &'a str,
    /// When this attempt to create the object began.
    pub restore_time: Micros,
}

impl Statement for RecordRestore<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let texts = [self.table.as_str(), self.uid, self.nonce].map(Param::Text);
        texts.into_iter().chain([Param::Time(self.restore_time)]).collect()
    }
}
