//! Backfilling new columns of tables that have rows: one page of rows per transaction, and the progress of each column.
//!
//! Must not: decode an object; the caller brings the decoder.

use super::transaction::Transaction;
use super::{Store, StoreError};
use ingester_core::dialect::Access;
use ingester_core::dialect::statements::{
    BackfillRow, BeginBackfill, EndBackfill, ForgetBackfills, ReadBackfills, ReadForBackfill, StepBackfill,
    WriteBackfilled,
};
use ingester_core::row::Row;
use ingester_core::schema::{Column, Table};
use ingester_core::value::{Micros, Value};
use std::sync::Arc;

/// The name of the table with the progress of each column.
pub(super) const BACKFILLS: &str = "ingester_backfills";

/// The result of backfilling one page of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// The uid of the last row; `None` if no row was left.
    pub(crate) last: Option<String>,
    /// Rows that were read.
    pub(crate) read: u64,
    /// Rows that got other values.
    pub(crate) filled: u64,
    /// Rows whose objects cannot be decoded: uid and reason.
    pub(crate) failed: Vec<(String, String)>,
    /// Bytes of the objects.
    pub(crate) bytes: usize,
}

/// The columns of a table that are backfilled together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) table: &'static Table,
    /// Their places in the table.
    pub(crate) places: &'a [usize],
}

impl Store {
    /// The progress of every column that was ever to be backfilled.
    pub(crate) async fn backfills(&self) -> Result<Vec<BackfillRow>, StoreError> {
        if !self.tables().await?.contains(BACKFILLS) {
            return Ok(Vec::new());
        }
        let doing = || format!("reading {BACKFILLS}");
        self.with_retries(doing, || async { self.pool.fetch(&ReadBackfills).await }).await
    }

    /// Notes that columns are to be backfilled from the first row on. Of each: table, column and migration.
    pub(crate) async fn begin_backfill(&self, columns: &[(String, String, i64)]) -> Result<(), StoreError> {
        self.with_retries(
            || format!("writing {BACKFILLS}"),
            || async {
                let mut tx = self.pool.begin(Access::Write).await?;
                let written = async {
                    for (table, column, migration) in columns {
                        let begin_time = Micros::now();
                        tx.execute(&BeginBackfill { table, column, migration: *migration, begin_time }).await?;
                    }
                    Ok(())
                }
                .await;
                tx.end(written).await
            },
        )
        .await
    }

    /// Deletes the progress of columns that migrations after `version` have added.
    pub(crate) async fn forget_backfills(&self, version: i64) -> Result<(), StoreError> {
        let doing = || format!("writing {BACKFILLS}");
        self.with_retries(doing, || async { self.pool.execute(&ForgetBackfills { after: version }).await })
            .await
            .map(drop)
    }

    /// Notes that columns of a table are complete.
    pub(crate) async fn end_backfill(&self, table: &str, columns: &[&Column]) -> Result<(), StoreError> {
        self.with_retries(
            || format!("writing {BACKFILLS}"),
            || async {
                let mut tx = self.pool.begin(Access::Write).await?;
                let written = async {
                    for column in columns {
                        let complete_time = Micros::now();
                        tx.execute(&EndBackfill { table, column: column.name.as_str(), complete_time }).await?;
                    }
                    Ok(())
                }
                .await;
                tx.end(written).await
            },
        )
        .await
    }

    /// Backfills up to `limit` rows that come after the uid `after`, in the order of their uids, and notes the progress in the
    /// same transaction.
    ///
    /// The rows are locked, so nothing that others write in the meantime is overwritten. `decode` makes the row of a stored
    /// object; `None` if its kind leaves it out.
    pub(crate) async fn backfill_page(
        &self,
        target: Target<'_>,
        after: &str,
        limit: usize,
        decode: impl Fn(Arc<str>) -> Result<Option<Row>, String>,
    ) -> Result<Page, StoreError> {
        self.with_retries(
            || format!("backfilling columns of `{}`", target.table.name),
            || async {
                let mut tx = self.pool.begin(Access::Write).await?;
                let page = page(&mut tx, target, after, limit, &decode).await;
                tx.end(page).await
            },
        )
        .await
    }
}

async fn page(
    tx: &mut Transaction,
    Target { table, places }: Target<'_>,
    after: &str,
    limit: usize,
    decode: impl Fn(Arc<str>) -> Result<Option<Row>, String>,
) -> Result<Page, sqlx::Error> {
    let mut page = Page::default();
    let mut changed: Vec<(String, Row)> = Vec::new();
    for stored in tx.fetch(&ReadForBackfill { table, places, after, limit }).await? {
        let Value::Text(json) = stored.json else {
            return Err(sqlx::Error::Decode("a row without json".into()));
        };
        page.last = Some(stored.uid.clone());
        page.read += 1;
        page.bytes += json.len();
        match decode(json) {
            Ok(Some(row)) => {
                if !places.iter().zip(stored.values).all(|(place, stored)| row.values[*place] == stored) {
                    changed.push((stored.uid, row));
                }
            }
            // The kind leaves such objects out today, so nobody needs their values.
            Ok(None) => {}
            Err(reason) => page.failed.push((stored.uid, reason)),
        }
    }
    page.filled = changed.len() as u64;
    if !changed.is_empty() {
        tx.execute(&WriteBackfilled { table, places, rows: &changed }).await?;
    }
    if let Some(position) = &page.last {
        for place in places {
            let step = StepBackfill {
                table: table.name.as_str(),
                column: table.columns[*place].name.as_str(),
                position,
                read: page.read,
                filled: page.filled,
                failed: page.failed.len() as u64,
            };
            tx.execute(&step).await?;
        }
    }
    Ok(page)
}
