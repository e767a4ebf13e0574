//! Reads the log of changes: the changes of a kind's rows, in an order in which a reader can stop at any place and continue there.
//!
//! May use: ingester-core, ingester-sql, driver, store, ledger, rows.
//! Must not: hold SQL text (that is `ingester_sql::dialect`), name a database, decode an object.
//!
//! A writer records an entry for each row that it changes, in its own transaction (`rows/log.rs`). The database counts the ids of entries
//! when they are written, but commits them in another order. So a reader numbers them: under a lock that only readers take, each committed
//! entry gets a number above all earlier ones. An entry whose transaction commits later gets a later number, so a reader that has read up
//! to a number has missed nothing below it.
//!
//! # Guarantees
//! - An entry that is committed when [`Store::number_changes`](crate::Store::number_changes) begins has a number when it returns. Entries
//!   that are committed afterwards get higher ones.
//! - Entries of one object have the order of its rows.
//! - Entries are deleted from the beginning, and never the last one. A position is valid as long as no entry behind it is deleted
//!   ([`Store::is_known`](crate::Store::is_known)).

mod follow;
mod number;
mod purge;
mod read;

pub use follow::FollowError;
use ingester_core::value::Micros;
pub use ingester_sql::dialect::statements::ChangeKind;
use ingester_sql::dialect::statements::ChangeRow;

/// The first position among the resourceVersions: above the versions of any cluster.
const FIRST: u64 = 1 << 62;

/// A place in the log of one kind: behind the entry with this number. Ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    /// Returns the position as a resourceVersion: 2^62 and more, which no cluster reaches.
    pub fn version(self) -> u64 {
        FIRST | self.0
    }

    /// Returns the position of this resourceVersion; `None` if the version belongs to an object.
    pub fn of_version(version: u64) -> Option<Self> {
        // The column has 63 bits, and numbers are microseconds since 1970.
        (FIRST..FIRST << 1).contains(&version).then_some(Position(version & !FIRST))
    }

    fn from_seq(seq: i64) -> Self {
        Position(u64::try_from(seq).unwrap_or(0) & !FIRST)
    }

    fn seq(self) -> i64 {
        self.0.cast_signed()
    }
}

/// An entry of the log: the change of an object's row. The row may have changed again since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The position behind this entry.
    pub position: Position,
    /// The object's uid; empty for a [reset](ChangeKind::Reset), as are its namespace and name.
    pub uid: Box<str>,
    /// The object's namespace; empty if it has none.
    pub namespace: Box<str>,
    /// The object's name.
    pub name: Box<str>,
    /// The `res_version` of the row after the change.
    pub res_version: u64,
    /// The kind of change.
    pub what: ChangeKind,
    /// The time of the change, by the database's clock.
    pub at: Micros,
}

impl From<ChangeRow> for Change {
    fn from(row: ChangeRow) -> Self {
        Change {
            position: Position::from_seq(row.seq),
            uid: row.uid.into(),
            namespace: row.namespace.into(),
            name: row.name.into(),
            res_version: row.res_version,
            what: row.what,
            at: row.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn a_position_is_a_resource_version_that_no_object_has() {
        for seq in [0, 1, 1_773_088_606_500_000, (1 << 62) - 1] {
            let position = Position::from_seq(seq);
            assert_eq!(position.seq(), seq);
            assert!(position.version() >= 1 << 62);
            assert_eq!(Position::of_version(position.version()), Some(position));
        }
        for version in [0, 1, (1 << 62) - 1, 1 << 63, u64::MAX] {
            assert_eq!(Position::of_version(version), None, "{version}");
        }
        assert!(Position::from_seq(1) < Position::from_seq(2));
    }
}
