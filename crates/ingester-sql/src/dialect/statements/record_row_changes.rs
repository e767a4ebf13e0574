//! Adds entries for stored rows to the log of changes.

use crate::dialect::statements::ChangeKind;
use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Records changes of objects when the writer knows only the uids. Everything else comes from the stored rows, which the transaction has
/// locked. The entries are in the order of the uids.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_changes" ("table_name", "uid", "namespace", "name", "res_version", "change", "at")
SELECT ?, "uid", "namespace", "name", "res_version", ?, ?
FROM {{ table.name|ident }}
WHERE {{ "uid"|is_one_of(uids.len()) }}
ORDER BY "uid""#
)]
pub struct RecordRowChanges<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// How the rows changed, the same for all of them.
    pub what: ChangeKind,
    /// The time of all of them.
    pub at: Micros,
}

impl Statement for RecordRowChanges<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params =
            vec![Param::Text(self.table.name.as_str()), Param::Text(self.what.as_str()), Param::Time(self.at)];
        params.extend(Param::texts(self.uids));
        params
    }
}
