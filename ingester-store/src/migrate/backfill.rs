//! Values for columns that were added to tables with rows in them: from the stored objects, by the decoder that would
//! give them to a new row. Live, deleted and evicted rows alike.
//!
//! `ingester_backfills` says how far each column is, for readers and for the next run: a column is complete when its
//! `complete_time` is set, or when it has no row there because it is as old as its table.

use super::lock_file::AddedColumn;
use super::released::Released;
use crate::store::backfill::Target;
use crate::store::{Store, StoreError};
use ingester_core::dialect::statements::BackfillRow;
use ingester_core::kind::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Column, base};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Rows of one page, at first and at most.
const ROWS: (usize, usize) = (50, 500);

/// Bytes of objects that one page should have, about: what is in memory at once.
const BYTES: usize = 2 << 20;

/// How fast columns are filled unless somebody says otherwise: slow enough for writers not to notice.
pub const RATE: u32 = 5_000;

/// What to fill.
#[derive(Clone, Debug)]
pub struct Backfill {
    /// The kind whose table it is.
    pub kind: Kind,
    /// The places of the columns in the kind's table.
    places: Vec<usize>,
}

/// How it went, so far or in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillProgress {
    /// Rows that were read.
    pub read: u64,
    /// Rows that got other values.
    pub filled: u64,
    /// Rows whose objects cannot be decoded; their values stay as they were.
    pub failed: u64,
    /// Whether all rows were read; otherwise the next run goes on.
    pub complete: bool,
}

/// How far one column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnBackfill {
    /// Its table.
    pub table: String,
    /// The column.
    pub column: String,
    /// Rows that were read, over all runs.
    pub read: u64,
    /// Rows that got other values.
    pub filled: u64,
    /// Rows whose objects cannot be decoded.
    pub failed: u64,
    /// Whether it is complete.
    pub complete: bool,
}

impl Backfill {
    /// All columns of a kind that come from its objects, or those of these names: the indexed ones, and `proto`.
    ///
    /// # Errors
    /// The first name that is no column which could be filled.
    pub fn of(kind: &Kind, columns: &[String]) -> Result<Self, String> {
        let table = kind.table();
        let proto = kind.protobuf().map(|_| base::PROTO);
        let all: Vec<usize> = proto.into_iter().chain(base::JSON + 1..table.columns.len()).collect();
        if columns.is_empty() {
            return Ok(Backfill { kind: *kind, places: all });
        }
        let place = |name: &String| {
            all.iter().copied().find(|place| table.columns[*place].name.same_as(name)).ok_or_else(|| name.clone())
        };
        Ok(Backfill { kind: *kind, places: columns.iter().map(place).collect::<Result<_, _>>()? })
    }

    /// The columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> {
        let table = self.kind.table();
        self.places.iter().map(|place| &table.columns[*place])
    }
}

impl Store {
    /// Notes that columns which migrations have added are to be filled, where that is not noted yet.
    pub(super) async fn begin_backfills(&self, added: &[AddedColumn]) -> Result<(), StoreError> {
        let marks = self.backfills().await?;
        let new: Vec<(String, String, i64)> = added
            .iter()
            .map(|added| (added.table.to_string(), added.column.to_string(), i64::from(added.version)))
            .filter(|(table, column, version)| {
                !marks.iter().any(|mark| (&mark.table, &mark.column) == (table, column) && mark.migration >= *version)
            })
            .collect();
        if new.is_empty() { Ok(()) } else { self.begin_backfill(&new).await }
    }

    /// How far the columns of these kinds are filled that were ever to be.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn column_backfills(&self, kinds: &[Kind]) -> Result<Vec<ColumnBackfill>, StoreError> {
        let known = |mark: &BackfillRow| {
            let of = |kind: &&Kind| kind.table().name.as_str() == mark.table;
            kinds.iter().find(of).is_some_and(|kind| kind.table().columns.iter().any(|c| c.name.same_as(&mark.column)))
        };
        let filling = |mark: BackfillRow| ColumnBackfill {
            table: mark.table,
            column: mark.column,
            read: mark.rows_read,
            filled: mark.rows_filled,
            failed: mark.rows_failed,
            complete: mark.complete,
        };
        Ok(self.backfills().await?.into_iter().filter(known).map(filling).collect())
    }

    /// What is to be filled in the tables of these kinds. Where migrations were run by another program (sqlx's own), the
    /// columns they added are noted first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn incomplete_backfills(
        &self,
        kinds: &[Kind],
        released: Option<&Released>,
    ) -> Result<Vec<Backfill>, StoreError> {
        if let Some(released) = released {
            self.begin_backfills(&released.added(self).await?).await?;
        }
        let mut incomplete = Vec::new();
        let column_backfills = self.column_backfills(kinds).await?;
        for kind in kinds {
            let table = kind.table().name;
            let columns: Vec<String> = column_backfills
                .iter()
                .filter(|filling| !filling.complete && table.same_as(&filling.table))
                .map(|filling| filling.column.clone())
                .collect();
            if !columns.is_empty() {
                incomplete.extend(Backfill::of(kind, &columns));
            }
        }
        Ok(incomplete)
    }

    /// Fills columns from where they were left, or from the first row on where they are complete or nobody began.
    ///
    /// At most `rate` rows a second; `tell` hears of each page. Where `stop` is cancelled, it ends after the page in hand.
    ///
    /// # Errors
    /// When the database fails within the retries; what is filled stays filled, and the next run goes on.
    pub async fn backfill(
        &self,
        backfill: &Backfill,
        rate: Option<NonZeroU32>,
        stop: &CancellationToken,
        mut tell: impl FnMut(&BackfillProgress),
    ) -> Result<BackfillProgress, StoreError> {
        let table = backfill.kind.table().name.to_string();
        self.create_own().await?;
        let marks = self.backfills().await?;
        let mark = |column: &Column| marks.iter().find(|mark| mark.table == table && column.name.same_as(&mark.column));
        let begun = |column: &&Column| mark(column).is_none_or(|mark| mark.complete);
        let again: Vec<(String, String, i64)> = backfill
            .columns()
            .filter(begun)
            .map(|column| (table.clone(), column.name.to_string(), mark(column).map_or(0, |mark| mark.migration)))
            .collect();
        self.begin_backfill(&again).await?;
        // Columns that were left at different places go on together from the first of them.
        let left = backfill.columns().map(|column| match mark(column) {
            Some(mark) if !mark.complete => mark.position.clone(),
            _ => String::new(),
        });
        let mut position = left.min().unwrap_or_default();
        let mut filled = BackfillProgress::default();
        let (mut rows, most) = ROWS;
        let begin = Instant::now();
        let target = Target { table: backfill.kind.table(), places: &backfill.places };
        while !stop.is_cancelled() {
            let page = self.backfill_page(target, &position, rows, |json| derived(&backfill.kind, json)).await?;
            for (uid, reason) in &page.failed {
                tracing::warn!(table, uid, reason, "The columns of this row cannot be filled");
            }
            let Some(last) = page.last else {
                let columns: Vec<&Column> = backfill.columns().collect();
                self.end_backfill(&table, &columns).await?;
                filled.complete = true;
                break;
            };
            position = last;
            filled.read += page.read;
            filled.filled += page.filled;
            filled.failed += page.failed.len() as u64;
            tell(&filled);
            // No more than twice as many at once: objects that are suddenly large must not fill the memory.
            let fitting = rows * BYTES / page.bytes.max(1);
            rows = fitting.min(2 * rows).clamp(1, most);
            if let Some(rate) = rate {
                let due = begin + Duration::from_secs_f64(filled.read as f64 / f64::from(rate.get()));
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep_until(due) => {}
                }
            }
        }
        Ok(filled)
    }
}

/// The row that a stored object gives today.
fn derived(kind: &Kind, json: Arc<str>) -> Result<Option<Row>, String> {
    let object = Object::parse(json, ManagedFields::Keep).map_err(|error| error.to_string())?;
    kind.row(&object).map_err(|error| error.to_string())
}
