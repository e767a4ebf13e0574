//! Marks rows as deleted.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Micros;

/// Marks existing rows of the main table as deleted. The transaction has locked them.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{#- The rows exist and are locked, so nothing is ever inserted. The placeholders are for columns that may not be NULL. -#}
INSERT INTO {{ table.name|ident }} ("uid", "group_ver", "namespace", "name", "json", "res_version", "delete_time", "update_time")
{{ gone.len()|rows_of(self.describe_rows()) }}
{{ ["uid"]|on_conflict }} {{ "res_version"|write_inserted }}, {{ "delete_time"|write_inserted }}, {{ "update_time"|write_inserted }}"#
)]
pub struct Tombstone<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The objects that are gone.
    pub gone: &'a [GoneObject<'a>],
    /// `update_time` of all of them.
    pub update_time: Micros,
}

impl Statement for Tombstone<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        params(self.gone, self.update_time)
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        Some(RowsOf { shape: "?, '', '', '', '{}', ?, ?, ?".into(), ..RowsOf::new(&TYPES) })
    }
}

/// The types of a tombstone's values: uid, version, `delete_time` and `update_time`.
pub(super) const TYPES: [SqlType; 4] = [SqlType::Text, SqlType::BigIntUnsigned, SqlType::DateTime, SqlType::DateTime];

/// Its values.
pub(super) fn params<'a>(gone: &'a [GoneObject<'a>], update_time: Micros) -> Vec<Param<'a>> {
    let of = |gone: &'a GoneObject<'a>| {
        let update_time = Param::Time(update_time);
        [Param::Text(gone.uid), Param::UInt(gone.res_version), Param::Time(gone.delete_time), update_time]
    };
    gone.iter().flat_map(of).collect()
}

/// An object that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoneObject<'a> {
    /// Its uid.
    pub uid: &'a str,
    /// The resourceVersion at which it was found to be gone.
    pub res_version: u64,
    /// The time of the tombstone.
    pub delete_time: Micros,
}
