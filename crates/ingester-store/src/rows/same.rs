//! Objects without a resourceVersion, such as objects from hand-written files. No version tells whether such an object has changed, so its
//! row is compared with the stored one. An unchanged file that is imported again ends no version of its objects and adds no entry to the
//! log.

use super::change::RowChange;
use super::compare::differences;
use super::guard::Version;
use super::read::read_rows;
use super::rows_named;
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::row::Row;
use ingester_core::schema::Table;
use ingester_sql::dialect::Access;
use std::collections::{HashMap, HashSet};

/// Returns the rows that must be compared with the stored ones column by column: neither has a resourceVersion, and both have the same
/// definition and state.
pub(super) fn without_version(changes: &[RowChange], stored: impl Fn(&str) -> Option<Version>) -> Vec<&Row> {
    let rows = changes.iter().filter_map(|change| match change {
        RowChange::Row(row) => Some(row),
        RowChange::Replacement { .. } | RowChange::Tombstone { .. } => None,
    });
    rows.filter(|row| row.res_version == 0 && stored(&row.uid) == Some(row.version())).collect()
}

/// Returns the uids of the `rows` that are stored already. The rows are sorted by uid.
pub(super) async fn same<'r>(
    tx: &mut Transaction,
    table: &'static Table,
    rows: &[&'r Row],
) -> Result<HashSet<&'r str>, sqlx::Error> {
    if rows.is_empty() {
        return Ok(HashSet::new());
    }
    let uids: Vec<&str> = rows.iter().map(|row| &*row.uid).collect();
    let stored = read_rows(tx, table, &uids).await?;
    let stored: HashMap<&str, _> = stored.iter().map(|stored| (&*stored.uid, stored)).collect();
    let is_same = |row: &&Row| stored.get(&*row.uid).is_some_and(|stored| differences(table, row, stored).is_empty());
    Ok(rows.iter().copied().filter(|row| is_same(row)).map(|row| &*row.uid).collect())
}

impl Store {
    /// Returns the uids of the changes that a write would leave out because their rows are stored already. `stored` has the versions of the
    /// stored rows.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub(super) async fn same<'c>(
        &self,
        table: &'static Table,
        changes: &'c [RowChange],
        stored: &HashMap<Box<str>, Version>,
    ) -> Result<HashSet<&'c str>, StoreError> {
        let rows = without_version(changes, |uid| stored.get(uid).copied());
        let read = self.with_retries(
            || format!("reading {}", rows_named(rows.len(), table)),
            || async {
                let mut tx = self.pool.begin(Access::Read).await?;
                let found = same(&mut tx, table, &rows).await;
                tx.end(found).await
            },
        );
        if rows.is_empty() { Ok(HashSet::new()) } else { read.await }
    }
}
