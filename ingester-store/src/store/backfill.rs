//! Backfilling columns that were added to tables with rows in them: one page of rows a transaction, and how far it is.
//!
//! Must not: decode an object; the caller brings the decoder.

use super::{BACKFILLS, Store, StoreError};
use ingester_core::dialect::Access;
use ingester_core::dialect::statements::{
    BackfillRow, BeginBackfill, EndBackfill, ForgetBackfills, ReadBackfills, ReadForBackfill, StepBackfill,
    WriteBackfilled,
};
use ingester_core::row::Row;
use ingester_core::schema::{Column, Table};
use ingester_core::value::{Micros, Value};
use std::sync::Arc;

/// What became of one page of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// The uid of the last row; `None` where there was none left.
    pub(crate) last: Option<String>,
    /// Rows that were read.
    pub(crate) read: u64,
    /// Rows that got other values.
    pub(crate) filled: u64,
    /// Rows whose objects cannot be decoded; each with its uid and the reason.
    pub(crate) failed: Vec<(String, String)>,
    /// Bytes of the objects.
    pub(crate) bytes: usize,
}

/// The columns of a table that are filled together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) table: &'static Table,
    /// Their places in the table.
    pub(crate) places: &'a [usize],
}

impl Store {
    /// How far each column is filled that was ever to be.
    pub(crate) async fn backfills(&self) -> Result<Vec<BackfillRow>, StoreError> {
        if !self.tables().await?.contains(BACKFILLS) {
            return Ok(Vec::new());
        }
        let doing = || format!("reading {BACKFILLS}");
        self.retrying(doing, || async { self.pool.fetch(&ReadBackfills).await }).await
    }

    /// Columns are to be filled from the first row on; each with its table and its migration.
    pub(crate) async fn begin_backfill(&self, columns: &[(String, String, i64)]) -> Result<(), StoreError> {
        self.retrying(
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

    /// What migrations after `version` have added is not there any more.
    pub(crate) async fn forget_backfills(&self, version: i64) -> Result<(), StoreError> {
        let doing = || format!("writing {BACKFILLS}");
        self.retrying(doing, || async { self.pool.execute(&ForgetBackfills { after: version }).await }).await.map(drop)
    }

    /// Columns of a table are complete.
    pub(crate) async fn end_backfill(&self, table: &str, columns: &[&Column]) -> Result<(), StoreError> {
        self.retrying(
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

    /// Fills columns in up to `limit` rows that come after `after` in the order of their uids, and notes how far that is, in
    /// one transaction. The rows are locked meanwhile, so nothing that others write is ever overwritten; what is not read as a
    /// value of the columns' types stays as it is. `decode` gives the row of a stored object, `None` where its kind leaves it
    /// out.
    pub(crate) async fn backfill_page(
        &self,
        target: Target<'_>,
        after: &str,
        limit: usize,
        decode: impl Fn(Arc<str>) -> Result<Option<Row>, String>,
    ) -> Result<Page, StoreError> {
        self.retrying(
            || format!("filling columns of `{}`", target.table.name),
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
    tx: &mut super::transaction::Transaction,
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
            // The kind leaves such objects out now: nobody misses their values.
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
