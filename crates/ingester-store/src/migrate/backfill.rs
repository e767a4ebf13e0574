//! Backfills rows that an older definition of their kind wrote: they get their values from the stored objects, through the same decoder as
//! new rows. This covers live, deleted and evicted rows. `ingest_version` identifies such rows, whichever program wrote them last. After
//! columns were added, all rows are read once.
//!
//! The table `ingester_backfills` has the progress of each added column, for people and for the next run. A column is complete if its
//! `complete_time` is set, or if the column has no row there because it is as old as its table.

use super::lock_file::AddedColumn;
use super::released::ReleasedSchema;
use crate::driver::StoreError;
use crate::rows::backfill::{BackfillColumns, InCluster, Scope};
use crate::rows::fuse::Fuse;
use crate::rows::left_out::{FilterVerdict, LeftOutCount};
use crate::store::Store;
use ingester_core::kind::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Ident, base};
use ingester_sql::dialect::statements::BackfillRow;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The rows of the first page, and the most rows of a page.
const ROWS: (usize, usize) = (8, 500);

/// A page should have about this many bytes of objects, because they are in memory at once.
const BYTES: usize = 2 << 20;

/// The default rate of a backfill in rows per second: slow enough that writers do not notice.
pub const RATE: u32 = 5_000;

/// The columns of one kind to backfill.
#[derive(Clone, Debug)]
pub struct Backfill {
    /// The kind.
    pub kind: Kind,
    scope: Scope,
    /// The indexes of the columns in the kind's table.
    places: Vec<usize>,
    /// The names of the columns whose progress is recorded.
    noted: Vec<Ident>,
    /// True if the rows of companion tables are filled, too.
    companions: bool,
    /// The limit of rows that a changed filter may mark as deleted; `None` for no limit.
    fuse: Option<Fuse>,
}

/// A name that belongs to no column that can be backfilled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} has no indexed column `{column}`; there are {}", .columns.join(", "))]
pub struct UnknownColumn {
    /// The kind.
    pub kind: String,
    /// The name.
    pub column: String,
    /// The columns that can be backfilled.
    pub columns: Vec<String>,
}

/// The progress of a backfill, or its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillProgress {
    /// Rows that were read.
    pub read: u64,
    /// Rows that got other values.
    pub filled: u64,
    /// Rows that cannot be filled; their values stay as they were, and `ingester_rejects` has the reasons.
    pub failed: u64,
    /// Rows that were marked as deleted, because the filter leaves out their objects.
    pub marked: u64,
    /// The rows that the filter leaves out, if they are so many that they wait for a person.
    pub waits: Option<LeftOutCount>,
    /// True if all rows were read; otherwise the next run continues.
    pub complete: bool,
}

/// The progress of one column, over all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnBackfill {
    /// The column's table.
    pub table: String,
    /// The column.
    pub column: String,
    /// Rows that were read.
    pub read: u64,
    /// Rows that got other values.
    pub filled: u64,
    /// Rows whose objects cannot be decoded.
    pub failed: u64,
    /// True if the backfill of the column is complete.
    pub complete: bool,
}

impl Backfill {
    /// Selects the columns of a kind that are computed from its objects, or the ones with these names. Computed columns are the indexed
    /// ones and `proto`, and `json` if the kind prunes.
    ///
    /// # Errors
    /// If a name is not one of these columns.
    pub fn for_columns(kind: &Kind, columns: &[String]) -> Result<Self, UnknownColumn> {
        let table = kind.table();
        if columns.is_empty() {
            let companions = table.companions().next().is_some();
            let older = Backfill::older(kind);
            return Ok(Backfill { scope: Scope::Asked, noted: all(kind), companions, ..older });
        }
        let mut places = Vec::new();
        let mut noted = Vec::new();
        let mut companions = false;
        for asked in columns {
            let place = computed(kind).into_iter().find(|place| table.columns[*place].name.same_as(asked));
            if let Some(place) = place {
                places.push(place);
                noted.push(table.columns[place].name);
            } else if let Some(many) = table.many.iter().find(|many| many.name.same_as(asked)) {
                companions = true;
                noted.push(many.name);
            } else {
                return Err(UnknownColumn {
                    kind: kind.name().to_owned(),
                    column: asked.clone(),
                    columns: all(kind).iter().map(ToString::to_string).collect(),
                });
            }
        }
        Ok(Backfill { kind: *kind, scope: Scope::Asked, places, noted, companions, fuse: None })
    }

    /// Selects all computed columns of the rows that older definitions of the kind wrote.
    pub fn older(kind: &Kind) -> Self {
        let places = computed(kind);
        Backfill { kind: *kind, scope: Scope::Older, places, noted: Vec::new(), companions: false, fuse: None }
    }

    /// Selects columns that were added, in all rows. A kind that knows its definition fills all computed columns, so that the rows belong
    /// to this definition afterwards.
    fn added(kind: &Kind, columns: &[String]) -> Result<Self, UnknownColumn> {
        let Backfill { places, noted, companions, .. } = Backfill::for_columns(kind, columns)?;
        let places = if kind.ingest_version() > 0 { computed(kind) } else { places };
        Ok(Backfill { kind: *kind, scope: Scope::Added, places, noted, companions, fuse: None })
    }

    /// Sets a limit. Above it, rows that a changed filter leaves out stay live until a person confirms that this is intended.
    #[must_use]
    pub fn limited(self, fuse: Option<Fuse>) -> Self {
        Backfill { fuse, ..self }
    }

    /// Returns the names of the columns that were added or requested; for rows of older definitions, all computed columns.
    pub fn columns(&self) -> Vec<Ident> {
        if self.noted.is_empty() { all(&self.kind) } else { self.noted.clone() }
    }
}

impl Store {
    /// Records that columns added by migrations need a backfill, unless that is recorded already.
    pub(super) async fn begin_backfills(&self, added: &[AddedColumn]) -> Result<(), StoreError> {
        if added.is_empty() {
            return Ok(());
        }
        let begun = self.backfills().await?;
        let new: Vec<(String, String, i64)> = added
            .iter()
            .map(|added| (added.table.to_string(), added.column.to_string(), i64::from(added.version)))
            .filter(|(table, column, version)| {
                !begun.iter().any(|row| (&row.table, &row.column) == (table, column) && row.migration >= *version)
            })
            .collect();
        if new.is_empty() { Ok(()) } else { self.begin_backfill(&new).await }
    }

    /// Returns the progress of every column of these kinds whose backfill was ever begun.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn column_backfills(&self, kinds: &[Kind]) -> Result<Vec<ColumnBackfill>, StoreError> {
        let known = |row: &BackfillRow| {
            let of = |kind: &&Kind| kind.table().name.as_str() == row.table;
            kinds.iter().find(of).is_some_and(|kind| all(kind).iter().any(|column| column.same_as(&row.column)))
        };
        let progress = |row: BackfillRow| ColumnBackfill {
            table: row.table,
            column: row.column,
            read: row.rows_read,
            filled: row.rows_filled,
            failed: row.rows_failed,
            complete: row.complete,
        };
        Ok(self.backfills().await?.into_iter().filter(known).map(progress).collect())
    }

    /// Returns the backfills that remain in the tables of these kinds: columns that were added, and rows of older definitions. If another
    /// program (sqlx's own) has run migrations, it first records the columns that they added.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn incomplete_backfills(
        &self,
        kinds: &[Kind],
        released: Option<&ReleasedSchema>,
    ) -> Result<Vec<Backfill>, StoreError> {
        if let Some(released) = released {
            self.begin_backfills(&released.added(&released.entries(self).await?)).await?;
        }
        let mut incomplete = Vec::new();
        let progress = self.column_backfills(kinds).await?;
        for kind in kinds {
            let table = kind.table().name;
            let columns: Vec<String> = progress
                .iter()
                .filter(|progress| !progress.complete && table.same_as(&progress.table))
                .map(|progress| progress.column.clone())
                .collect();
            let backfill = if !columns.is_empty() {
                Backfill::added(kind, &columns).ok()
            } else if self.any_older(kind).await? {
                Some(Backfill::older(kind))
            } else {
                None
            };
            // If no lock file counts the kind, it may have had no such tables before.
            let companions = released.is_some_and(|released| released.lock_file().has_later_companions(kind))
                || (kind.record().is_some() && kind.table().companions)
                // The functions that compute these values may have changed.
                || !kind.table().many.is_empty()
                // Stored annotations may have values that are pruned now.
                || !kind.prune().is_empty();
            incomplete.extend(backfill.map(|backfill| Backfill { companions, ..backfill }));
        }
        Ok(incomplete)
    }

    /// Backfills columns. It continues an interrupted backfill, and begins with the first row if the columns are complete or their backfill
    /// was never begun.
    ///
    /// It reads at most `rate` rows per second, and calls `report` after each page. If `stop` is cancelled, it ends after the
    /// current page.
    ///
    /// # Errors
    /// If the database fails beyond the retries. The rows of earlier pages stay written, and the next run continues.
    pub async fn backfill(
        &self,
        backfill: &Backfill,
        rate: Option<NonZeroU32>,
        stop: &CancellationToken,
        mut report: impl FnMut(&BackfillProgress),
    ) -> Result<BackfillProgress, StoreError> {
        let table = backfill.kind.table().name.to_string();
        self.create_own().await?;
        let begun = self.backfills().await?;
        let row = |column: &Ident| begun.iter().find(|row| row.table == table && column.same_as(&row.column));
        let to_begin: Vec<(String, String, i64)> = (backfill.noted.iter())
            .filter(|column| row(column).is_none_or(|row| row.complete))
            .map(|column| (table.clone(), column.to_string(), row(column).map_or(0, |row| row.migration)))
            .collect();
        self.begin_backfill(&to_begin).await?;
        // Columns with different positions continue together from the lowest position.
        let positions = backfill.noted.iter().map(|column| match row(column) {
            Some(row) if !row.complete => row.position.clone(),
            _ => String::new(),
        });
        let mut position = positions.min().unwrap_or_default();
        let mut progress = BackfillProgress::default();
        let (mut rows, most) = ROWS;
        let begin = Instant::now();
        let whole = backfill.places == computed(&backfill.kind);
        // Rows are marked as deleted only if all their columns are computed again.
        let verdict = async {
            match whole {
                true => self.judge_left_out(&backfill.kind, backfill.fuse.as_ref()).await,
                false => Ok(FilterVerdict::Marks(LeftOutCount::default())),
            }
        };
        let Some(verdict) = stop.run_until_cancelled(verdict).await else { return Ok(progress) };
        let verdict = verdict?;
        let target = BackfillColumns {
            kind: &backfill.kind,
            scope: backfill.scope,
            places: &backfill.places,
            whole,
            marks: verdict.marks(),
            noted: &backfill.noted,
            companions: backfill.companions,
        };
        while !stop.is_cancelled() {
            let page =
                self.backfill_page(target, &position, rows, |json, at| derived(&backfill.kind, json, at)).await?;
            for reject in &page.failed {
                tracing::warn!(
                    table,
                    uid = reject.uid,
                    reason = reject.reason,
                    "The columns of this row cannot be filled"
                );
            }
            let Some(last) = page.last else {
                self.end_backfill(&table, &backfill.noted).await?;
                progress.complete = true;
                break;
            };
            position = last;
            progress.read += page.read;
            progress.filled += page.filled;
            progress.failed += page.failed.len() as u64;
            progress.marked += page.marked;
            if let FilterVerdict::Waits(found) = verdict
                && page.waiting > 0
            {
                progress.waits = Some(found);
            }
            report(&progress);
            // A page has at most twice as many rows as the one before, so that suddenly large objects do not fill the memory.
            let fitting = rows * BYTES / page.bytes.max(1);
            rows = fitting.min(2 * rows).clamp(1, most);
            if let Some(rate) = rate {
                let due = begin + Duration::from_secs_f64(progress.read as f64 / f64::from(rate.get()));
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep_until(due) => {}
                }
            }
        }
        Ok(progress)
    }
}

/// Returns the indexes of the columns that are computed from an object: `proto` if the kind has it, the indexed ones, and the text itself
/// if the kind prunes.
fn computed(kind: &Kind) -> Vec<usize> {
    let proto = kind.protobuf().map(|_| base::PROTO);
    let json = (!kind.prune().is_empty()).then_some(base::JSON);
    proto.into_iter().chain(json).chain(base::JSON + 1..kind.table().columns.len()).collect()
}

/// Returns the names of the columns that are computed from an object, including columns of many values.
pub(super) fn all(kind: &Kind) -> Vec<Ident> {
    let table = kind.table();
    let columns = computed(kind).into_iter().map(|place| table.columns[place].name);
    columns.chain(table.many.iter().map(|many| many.name)).collect()
}

/// Returns the row that the present definition makes of a stored object.
fn derived(kind: &Kind, json: Arc<str>, InCluster(in_cluster): InCluster) -> Result<Option<Row>, String> {
    let object = Object::parse(json, ManagedFields::Keep).map_err(|error| error.to_string())?;
    let row = if in_cluster { kind.row(&object) } else { kind.unfiltered_row(&object) };
    row.map_err(|error| error.to_string())
}
