//! Adds entries to the log of changes.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::{SqlType, Table};
use ingester_core::value::Micros;

/// Records changes of objects in the log, in their order.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_changes" ("table_name", "uid", "namespace", "name", "res_version", "change", "at")
{{ changes.len()|rows_of(self.describe_rows()) }}"#
)]
pub struct RecordChanges<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The changes.
    pub changes: &'a [ChangeEntry<'a>],
    /// The time of all of them.
    pub at: Micros,
}

/// A change, as the log records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeEntry<'a> {
    /// The object's uid.
    pub uid: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The `res_version` of its row after the change.
    pub res_version: u64,
    /// How the row changed.
    pub what: ChangeKind,
}

impl ChangeEntry<'_> {
    /// The parameters of an entry in a table's log.
    pub(super) fn params<'p>(&'p self, table: &'p Table, at: Micros) -> [Param<'p>; 7] {
        [
            Param::Text(table.name.as_str()),
            Param::Text(self.uid),
            Param::Text(self.namespace),
            Param::Text(self.name),
            Param::UInt(self.res_version),
            Param::Text(self.what.as_str()),
            Param::Time(at),
        ]
    }
}

/// How an object's row changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// There is a row, and there was none.
    Inserted,
    /// It has another state of the object, which is live as before, or evicted as before: a user has changed it then.
    Updated,
    /// It is live again: it was marked as deleted, or as evicted. An eviction of a deleted row has this entry before its own.
    Revived,
    /// It is marked as deleted.
    Deleted,
    /// Its object is to leave etcd, and may still be there. The eviction of a live row has this entry before [`Evicted`](ChangeKind::Evicted).
    Evicting,
    /// Its object has left etcd; the row lives.
    Evicted,
    /// It is gone for good, some time after it was marked as deleted.
    Purged,
    /// Not about a single row: the log lacks earlier changes of the table, so its readers have to read all rows again. `res_version` is the
    /// highest version among the rows that the reset was recorded with, or 0 if there were none.
    Reset,
}

impl ChangeKind {
    /// Every kind of change.
    pub const ALL: [ChangeKind; 8] = [
        ChangeKind::Inserted,
        ChangeKind::Updated,
        ChangeKind::Revived,
        ChangeKind::Deleted,
        ChangeKind::Evicting,
        ChangeKind::Evicted,
        ChangeKind::Purged,
        ChangeKind::Reset,
    ];

    /// As the column `change` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Inserted => "inserted",
            ChangeKind::Updated => "updated",
            ChangeKind::Revived => "revived",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Evicting => "evicting",
            ChangeKind::Evicted => "evicted",
            ChangeKind::Purged => "purged",
            ChangeKind::Reset => "reset",
        }
    }

    /// The one with this text. An unknown text, which a later release may write, is a reset: so readers read the rows, which are right.
    pub fn from_text(text: &str) -> Self {
        ChangeKind::ALL.into_iter().find(|what| what.as_str() == text).unwrap_or(ChangeKind::Reset)
    }
}

impl Statement for RecordChanges<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.changes.iter().flat_map(|change| change.params(self.table, self.at)).collect()
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        use SqlType::{BigIntUnsigned, DateTime, Text};
        Some(RowsOf::new(&[Text, Text, Text, Text, BigIntUnsigned, Text, DateTime]))
    }
}

#[cfg(test)]
pub(super) const RECORDED: ChangeEntry<'_> =
    ChangeEntry { uid: "a", namespace: "ml", name: "w", res_version: 7, what: ChangeKind::Updated };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&RecordChanges { table: &TABLE, changes: &[RECORDED, RECORDED], at: NOW });
    }

    #[test]
    fn what_a_later_release_records_is_a_reset() {
        for what in ChangeKind::ALL {
            assert_eq!(ChangeKind::from_text(what.as_str()), what);
        }
        assert_eq!(ChangeKind::from_text("merged"), ChangeKind::Reset);
    }
}
