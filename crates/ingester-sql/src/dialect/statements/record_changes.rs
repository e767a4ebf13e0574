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
{{ changes.len()|rows_of(self.rows()) }}"#
)]
pub struct RecordChanges<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The changes.
    pub changes: &'a [Recorded<'a>],
    /// The time of all of them.
    pub at: Micros,
}

/// A change, as the log records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// The object's uid.
    pub uid: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The `res_version` of its row after the change.
    pub res_version: u64,
    /// How the row changed.
    pub what: What,
}

impl Recorded<'_> {
    /// The parameters of an entry in a table's log.
    pub(super) fn params<'p>(&'p self, table: &'p Table, at: Micros) -> [Param<'p>; 7] {
        [
            Param::Text(table.name.as_str()),
            Param::Text(self.uid),
            Param::Text(self.namespace),
            Param::Text(self.name),
            Param::UInt(self.res_version),
            Param::Text(self.what.text()),
            Param::Time(at),
        ]
    }
}

/// How an object's row changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// There is a row, and there was none.
    Inserted,
    /// It has another state of the object, which is live as before, or evicted as before: a user has changed it then.
    Updated,
    /// It is live again: it was marked as deleted, or as evicted. An eviction of a deleted row has this entry before its own.
    Revived,
    /// It is marked as deleted.
    Deleted,
    /// Its object is to leave etcd, and may still be there. The eviction of a live row has this entry before [`Evicted`](What::Evicted).
    Evicting,
    /// Its object has left etcd; the row lives.
    Evicted,
    /// It is gone for good, some time after it was marked as deleted.
    Purged,
    /// Not about a single row: the log lacks earlier changes of the table, so its readers have to read all rows again. `res_version` is the
    /// highest version among the rows that the reset was recorded with, or 0 if there were none.
    Reset,
}

impl What {
    /// Every kind of change.
    pub const ALL: [What; 8] = [
        What::Inserted,
        What::Updated,
        What::Revived,
        What::Deleted,
        What::Evicting,
        What::Evicted,
        What::Purged,
        What::Reset,
    ];

    /// As the column `change` has it.
    pub fn text(self) -> &'static str {
        match self {
            What::Inserted => "inserted",
            What::Updated => "updated",
            What::Revived => "revived",
            What::Deleted => "deleted",
            What::Evicting => "evicting",
            What::Evicted => "evicted",
            What::Purged => "purged",
            What::Reset => "reset",
        }
    }

    /// The one with this text. An unknown text, which a later release may write, is a reset: so readers read the rows, which are right.
    pub fn of(text: &str) -> Self {
        What::ALL.into_iter().find(|what| what.text() == text).unwrap_or(What::Reset)
    }
}

impl Statement for RecordChanges<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.changes.iter().flat_map(|change| change.params(self.table, self.at)).collect()
    }

    fn rows(&self) -> Option<RowsOf> {
        use SqlType::{BigIntUnsigned, DateTime, Text};
        Some(RowsOf::new(&[Text, Text, Text, Text, BigIntUnsigned, Text, DateTime]))
    }
}

#[cfg(test)]
pub(super) const RECORDED: Recorded<'_> =
    Recorded { uid: "a", namespace: "ml", name: "w", res_version: 7, what: What::Updated };

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
        for what in What::ALL {
            assert_eq!(What::of(what.text()), what);
        }
        assert_eq!(What::of("merged"), What::Reset);
    }
}
