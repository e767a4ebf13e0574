//! Backfilling columns of rows that are stored: one page of rows per transaction, and the progress of each new column.
//!
//! Must not: decode an object; the caller brings the decoder.

use super::chunks::{MOST_ROWS, chunks, most_rows, packets, room, too_large};
use super::history::{Beginnings, mark_deleted};
use super::locked::LockedRows;
use super::rejects::{self, Reject};
use crate::driver::{ErrorClass, StoreError, Transaction};
use crate::store::Store;
use ingester_core::kind::Kind;
use ingester_core::protobuf::Lost;
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Ident, Table};
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::Access;
use ingester_sql::dialect::BACKFILLS;
use ingester_sql::dialect::statements::{
    BackfillRow, BackfilledRow, BeginBackfill, ChangeKind, EndBackfill, ForgetBackfills, GoneObject, MarkRows,
    OlderRows, ReadBackfills, ReadForBackfill, RecordRejects, RecordRowChanges, RowToBackfill, RowsToBackfill,
    SettleRejects, StepBackfill, WriteBackfilled,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The result of backfilling one page of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Page {
    /// The uid of the last row; `None` if no row was left.
    pub(crate) last: Option<String>,
    /// Rows that were read.
    pub(crate) read: u64,
    /// Rows that got other values.
    pub(crate) filled: u64,
    /// Rows that were marked as deleted, because the filter leaves out their objects.
    pub(crate) marked: u64,
    /// Rows whose objects the filter leaves out, and that stay as they are for now.
    pub(crate) waiting: u64,
    /// Rows that cannot be filled, with their reasons. They are recorded as rejects.
    pub(crate) failed: Vec<Reject>,
    /// Bytes of the objects and of the values that are made from them.
    pub(crate) bytes: usize,
}

/// Selects the rows of a table to backfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All, because a user asked for it.
    Asked,
    /// All but those of later definitions, because columns were added.
    Added,
    /// The rows of older definitions.
    Older,
}

/// True if the row says that its object is in the cluster. Its kind's filter applies only then: any other row keeps its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InCluster(pub(crate) bool);

/// The columns of a kind that are backfilled together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackfillColumns<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) scope: Scope,
    /// Their indexes among the table's columns.
    pub(crate) places: &'a [usize],
    /// True if they are all the columns that are computed from the object. The rows then belong to the kind's definition afterwards.
    pub(crate) whole: bool,
    /// True if rows in the cluster that the filter leaves out are marked as deleted ([`super::left_out`]).
    pub(crate) marks: bool,
    /// The names of the columns whose progress is recorded.
    pub(crate) noted: &'a [Ident],
    /// True if the rows of companion tables are filled, too.
    pub(crate) companions: bool,
}

impl Store {
    /// Returns the progress of every column whose backfill was ever begun.
    pub(crate) async fn backfills(&self) -> Result<Vec<BackfillRow>, StoreError> {
        if !self.tables().await?.contains(BACKFILLS) {
            return Ok(Vec::new());
        }
        let doing = || format!("reading {BACKFILLS}");
        self.with_retries(doing, || async { self.pool.fetch(&ReadBackfills).await }).await
    }

    /// Records that columns need a backfill from the first row on. Each entry has table, column and migration.
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

    /// Deletes the progress of columns that migrations after `version` have added to these tables.
    pub(crate) async fn forget_backfills(&self, version: i64, tables: &[&str]) -> Result<(), StoreError> {
        if tables.is_empty() {
            return Ok(());
        }
        let doing = || format!("writing {BACKFILLS}");
        let forget = ForgetBackfills { after: version, tables };
        self.with_retries(doing, || async { self.pool.execute(&forget).await }).await.map(drop)
    }

    /// Records that columns of a table are complete.
    pub(crate) async fn end_backfill(&self, table: &str, columns: &[Ident]) -> Result<(), StoreError> {
        self.with_retries(
            || format!("writing {BACKFILLS}"),
            || async {
                let mut tx = self.pool.begin(Access::Write).await?;
                let written = async {
                    for column in columns {
                        let complete_time = Micros::now();
                        tx.execute(&EndBackfill { table, column: column.as_str(), complete_time }).await?;
                    }
                    Ok(())
                }
                .await;
                tx.end(written).await
            },
        )
        .await
    }

    /// Returns true if an older definition wrote any row of a kind.
    ///
    /// # Errors
    /// If the database fails beyond the retries.
    pub async fn any_older(&self, kind: &Kind) -> Result<bool, StoreError> {
        if kind.ingest_version() == 0 {
            return Ok(false);
        }
        let doing = || format!("looking for rows of `{}` of older definitions", kind.table().name);
        let first = || async { self.by_narrow_key(older(kind, "", 1)).await };
        Ok(!self.with_retries(doing, first).await?.is_empty())
    }

    /// Backfills up to `limit` rows that come after the uid `after`, in the order of their uids, and records the progress in the same
    /// transaction.
    ///
    /// The rows are locked, so nothing that others write in the meantime is overwritten. `decode` makes the row of a stored object, or
    /// returns `None` if its kind leaves the object out. A row that the database refuses keeps its values, and is among the failed ones.
    pub(crate) async fn backfill_page(
        &self,
        target: BackfillColumns<'_>,
        after: &str,
        mut limit: usize,
        decode: impl Fn(Arc<str>, InCluster) -> Result<Option<Row>, String>,
    ) -> Result<Page, StoreError> {
        loop {
            let error = match self.fill_page(target, after, limit, &decode).await {
                Err(error) if error.class() == ErrorClass::Object => error,
                page => return page,
            };
            if limit <= 1 {
                let refused = |_, _| Err(error.reason().to_owned());
                return self.fill_page(target, after, 1, refused).await;
            }
            limit /= 2;
        }
    }

    async fn fill_page(
        &self,
        target: BackfillColumns<'_>,
        after: &str,
        limit: usize,
        decode: impl Fn(Arc<str>, InCluster) -> Result<Option<Row>, String>,
    ) -> Result<Page, StoreError> {
        let page = self.with_retries(
            || format!("backfilling columns of `{}`", target.kind.table().name),
            || async {
                // Search without locks and outside of a transaction, because most rows need no change.
                let found = match target.scope {
                    Scope::Older => Some(self.by_narrow_key(older(target.kind, after, limit)).await?),
                    Scope::Asked | Scope::Added => None,
                };
                let rows = match &found {
                    Some(uids) if uids.is_empty() => return Ok(Page::default()),
                    Some(uids) => Rows::These(uids),
                    None => Rows::After(after, limit),
                };
                let logs = self.logs().await?;
                // Use the database's clock: it also decides how long ago a row was marked.
                let terms =
                    Terms { now: self.now(), max_packet: self.max_packet, settle: !self.recorded().is_empty(), logs };
                let mut tx = self.pool.begin(Access::Write).await?;
                let page = page(&mut tx, target, rows, terms, &decode).await;
                tx.end(page).await
            },
        );
        let page = page.await?;
        if !page.failed.is_empty() {
            self.recorded().add(page.failed.iter().map(rejects::named));
        }
        Ok(page)
    }
}

/// Rows of older definitions of a kind.
fn older<'a>(kind: &Kind, after: &'a str, limit: usize) -> impl Fn(bool) -> OlderRows<'a> + use<'a> {
    let table = kind.table();
    let ingest_version = kind.ingest_version();
    let unmarked = kind.is_older(0);
    move |narrow| OlderRows { table, ingest_version, unmarked, after, limit, narrow }
}

/// The terms on which a page is written.
#[derive(Clone, Copy)]
struct Terms {
    /// The time at which rows are marked.
    now: Micros,
    /// The server's `max_allowed_packet`, in bytes.
    max_packet: usize,
    /// True if the rejects of rows that can be filled now are deleted.
    settle: bool,
    /// True if the log records the rows that are marked as deleted.
    logs: bool,
}

/// The rows of a page.
enum Rows<'a> {
    After(&'a str, usize),
    These(&'a [String]),
}

/// The writes that a page needs.
#[derive(Default)]
struct Changes<'k> {
    /// Rows with other values.
    write: Vec<BackfilledRow>,
    /// Rows of an older definition that have their values already. Only the number of their definition is written.
    mark: Vec<String>,
    /// Rows with a definition's number although no definition has computed their columns.
    unmark: Vec<String>,
    /// Rows in the cluster that their kind leaves out now, with their versions.
    gone: Vec<(String, u64)>,
    /// Rows that can be filled, with their versions.
    good: Vec<(String, String)>,
    /// Rows of companion tables to fill. The main rows in here have no columns.
    pairs: Vec<(RowFill<'k>, Row)>,
}

/// The parts of a row to fill.
#[derive(Clone, Copy)]
struct RowFill<'k> {
    kind: &'k Kind,
    /// The definition that wrote the row, to fill only the parts that are computed differently since; `None` to fill all.
    version: Option<u32>,
}

impl RowFill<'_> {
    /// Returns true if all parts are filled.
    fn row(self) -> bool {
        self.version.is_none_or(|version| self.kind.changed_since(version))
    }

    /// Returns true if the column at this index of the table is filled.
    fn place(self, place: usize) -> bool {
        self.column(self.kind.table().columns[place].name)
    }

    fn column(self, name: Ident) -> bool {
        self.version.is_none_or(|version| self.kind.column_changed_since(name, version))
    }

    /// Returns true if the rows in a companion table are filled.
    fn companion(self, companion: Companion) -> bool {
        match companion {
            Companion::Labels | Companion::Annotations => self.row(),
            Companion::Values(many) => self.column(many.name),
        }
    }

    /// Returns true if the rows in any companion table are filled.
    fn companions(self) -> bool {
        self.kind.table().companions().any(|companion| self.companion(companion))
    }

    /// Returns `new` with the stored values in the columns that are computed as before.
    fn within(self, mut new: Row, places: &[usize], stored: &[Value]) -> Row {
        for (place, stored) in places.iter().zip(stored).filter(|(place, _)| !self.place(**place)) {
            new.values[*place] = stored.clone();
        }
        new
    }
}

impl<'k> Changes<'k> {
    /// Decides what to write for a row, and counts it in `page`.
    fn add(
        &mut self,
        row: RowToBackfill,
        target: BackfillColumns<'k>,
        max_packet: usize,
        decode: impl Fn(Arc<str>, InCluster) -> Result<Option<Row>, String>,
        page: &mut Page,
    ) -> Result<(), sqlx::Error> {
        let BackfillColumns { kind, scope, places, whole, marks, companions, .. } = target;
        let table = kind.table();
        let number = kind.ingest_version();
        let Value::Text(json) = &row.json else {
            return Err(sqlx::Error::Decode("a row without json".into()));
        };
        if page.last.as_ref().is_none_or(|last| *last < row.uid) {
            page.last = Some(row.uid.clone());
        }
        page.read += 1;
        page.bytes += json.len();
        // Another writer may have written it since it was found.
        let skipped = match scope {
            Scope::Asked => false,
            Scope::Added => row.ingest_version > number,
            Scope::Older => !kind.is_older(row.ingest_version),
        };
        if skipped {
            return Ok(());
        }
        // If only some columns are filled, the row keeps the lower number: its other columns are still those of the older definition.
        let ingest_version = if whole { number } else { number.min(row.ingest_version) };
        let changed = RowFill { kind, version: (scope == Scope::Older).then_some(row.ingest_version) };
        // Nothing in this row is computed differently.
        if whole && !changed.row() && !places.iter().any(|place| changed.place(*place)) && !changed.companions() {
            self.mark.push(row.uid);
            return Ok(());
        }
        let decoded = decode(json.clone(), InCluster(row.in_cluster))
            .map(|new| new.map(|new| changed.within(new, places, &row.values)));
        let reason = match decoded {
            Ok(Some(new))
                if !places.iter().zip(&row.values).all(|(place, stored)| has(table, *place, stored, &new)) =>
            {
                let write = BackfilledRow { uid: row.uid.clone(), ingest_version, row: new };
                let bytes = write.bytes(places);
                page.bytes += bytes;
                if bytes <= room(max_packet) {
                    self.pairs.extend(companions.then(|| (changed, pairs_of(&row.uid, &write.row))));
                    self.good.push((row.uid, row.res_version.to_string()));
                    self.write.push(write);
                    return Ok(());
                }
                too_large(bytes, max_packet)
            }
            // Keep the number of the older definition: the backfill must find this row again once it may be marked.
            Ok(None) if whole && number > 0 && row.in_cluster && !marks => {
                page.waiting += 1;
                return Ok(());
            }
            Ok(same) => {
                self.keep(row, same, target, changed);
                return Ok(());
            }
            Err(reason) => reason,
        };
        page.failed.push(Reject {
            uid: row.uid,
            group_ver: row.group_ver,
            kind: kind.kind().to_owned(),
            namespace: row.namespace,
            name: row.name,
            res_version: row.res_version.to_string(),
            reason,
        });
        Ok(())
    }

    /// Adds a row whose columns stay as they are: they have the values of its new row already, or its kind leaves it out.
    fn keep(&mut self, row: RowToBackfill, new: Option<Row>, target: BackfillColumns<'k>, changed: RowFill<'k>) {
        let BackfillColumns { kind, whole, companions, .. } = target;
        let number = kind.ingest_version();
        // If its kind leaves the row out now while the object is in the cluster, it is no live row. Other rows that the kind leaves
        // out keep their values.
        if new.is_none() && whole && number > 0 && row.in_cluster {
            self.gone.push((row.uid.clone(), row.res_version));
        }
        // Nothing proves the values of this row, so no rule may judge them.
        let is_unproved = new.is_none() && whole && !row.in_cluster;
        self.pairs.extend(new.filter(|_| companions).map(|new| (changed, pairs_of(&row.uid, &new))));
        if is_unproved && row.ingest_version != 0 {
            self.unmark.push(row.uid.clone());
        } else if whole && !is_unproved && row.ingest_version != number {
            self.mark.push(row.uid.clone());
        }
        self.good.push((row.uid, row.res_version.to_string()));
    }
}

async fn page(
    tx: &mut Transaction,
    target: BackfillColumns<'_>,
    rows: Rows<'_>,
    terms: Terms,
    decode: impl Fn(Arc<str>, InCluster) -> Result<Option<Row>, String>,
) -> Result<Page, sqlx::Error> {
    let mut page = Page::default();
    if let Rows::These(uids) = rows {
        page.last = uids.last().cloned();
    }
    // Compare with the row as the database would store it.
    let dialect = tx.dialect();
    let has_nul = dialect.has_nul();
    let decode = |json, in_cluster| {
        let row = decode(json, in_cluster)?;
        Ok(row.map(|row| if has_nul { row } else { row.without_nul() }))
    };
    let mut changes = Changes::default();
    for row in read(tx, target, rows).await? {
        changes.add(row, target, terms.max_packet, decode, &mut page)?;
    }
    page.filled = write(tx, target, &changes, terms).await?;
    page.marked = changes.gone.len() as u64;
    note(tx, target.kind.table(), target.noted, &page).await?;
    record(tx, target.kind, &page.failed, &changes.good, terms).await?;
    Ok(page)
}

/// Reads the rows of a page.
async fn read(
    tx: &mut Transaction,
    target: BackfillColumns<'_>,
    rows: Rows<'_>,
) -> Result<Vec<RowToBackfill>, sqlx::Error> {
    let table = target.kind.table();
    let places = target.places;
    match rows {
        Rows::After(uid, limit) => {
            tx.fetch(&ReadForBackfill { table, places, rows: RowsToBackfill::After { uid, limit } }).await
        }
        Rows::These(uids) => {
            let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
            let mut stored = Vec::with_capacity(uids.len());
            for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
                stored.extend(tx.fetch(&ReadForBackfill { table, places, rows: RowsToBackfill::These(uids) }).await?);
            }
            Ok(stored)
        }
    }
}

/// Records rows that cannot be filled, and deletes the rejects of those that can be.
async fn record(
    tx: &mut Transaction,
    kind: &Kind,
    failed: &[Reject],
    good: &[(String, String)],
    terms: Terms,
) -> Result<(), sqlx::Error> {
    let rejected: Vec<_> = failed.iter().map(rejects::row).collect();
    for rejects in rejected.chunks(100) {
        tx.execute(&RecordRejects { rejects, reject_time: terms.now }).await?;
    }
    if terms.settle {
        let versions: Vec<(&str, String)> = good.iter().map(|(uid, version)| (uid.as_str(), version.clone())).collect();
        for versions in chunks(&versions, MOST_ROWS, tx.dialect()) {
            tx.execute(&SettleRejects { kind: kind.kind(), versions }).await?;
        }
    }
    Ok(())
}

/// Returns the rows of companion tables, with the uid of the stored row.
fn pairs_of(uid: &str, row: &Row) -> Row {
    Row {
        uid: uid.into(),
        values: Box::default(),
        labels: row.labels.clone(),
        annotations: row.annotations.clone(),
        many: row.many.clone(),
        lost: Lost::default(),
        unfit: Box::default(),
        origin: None,
        ..*row
    }
}

/// Returns true if a column already has the value that `new` would leave in it.
fn has(table: &Table, place: usize, stored: &Value, new: &Row) -> bool {
    let new = &new.values[place];
    new == stored || table.columns[place].stays.holds(*stored == Value::Null, *new == Value::Null)
}

/// Writes what a page changes. Returns how many rows got other values.
async fn write(
    tx: &mut Transaction,
    target: BackfillColumns<'_>,
    changes: &Changes<'_>,
    Terms { now, max_packet, logs, .. }: Terms,
) -> Result<u64, sqlx::Error> {
    let BackfillColumns { kind, places, .. } = target;
    let table = kind.table();
    let rows: Vec<&BackfilledRow> = changes.write.iter().collect();
    for rows in packets(&rows, most_rows(2 + places.len()), max_packet, tx.dialect(), |row| row.bytes(places))? {
        tx.execute(&WriteBackfilled { table, places, rows }).await?;
    }
    let mut filled: HashSet<Box<str>> = changes.write.iter().map(|write| write.uid.as_str().into()).collect();
    if !changes.pairs.is_empty() {
        let locked = LockedRows { table, now, max_packet, no_leftovers: false, began: &Beginnings::new() };
        for companion in table.companions() {
            let rows: Vec<&Row> =
                changes.pairs.iter().filter(|(changed, _)| changed.companion(companion)).map(|(_, row)| row).collect();
            locked.write_companion(tx, companion, &[], &rows, Some(&mut filled)).await?;
        }
    }
    let gone_rows = changes.gone.len();
    let gone = changes.gone.iter();
    let gone: Vec<GoneObject<'_>> =
        gone.map(|(uid, res_version)| GoneObject { uid, res_version: *res_version, delete_time: now }).collect();
    mark_deleted(tx, table, &gone, now, &Beginnings::new()).await?;
    for gone in chunks(&gone, MOST_ROWS, tx.dialect()).filter(|_| logs) {
        let uids: &Vec<&str> = &gone.iter().map(|gone| gone.uid).collect();
        tx.execute(&RecordRowChanges { table, uids, what: ChangeKind::Deleted, at: now }).await?;
    }
    for (ingest_version, uids) in [(kind.ingest_version(), &changes.mark), (0, &changes.unmark)] {
        let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
        for uids in chunks(&uids, MOST_ROWS, tx.dialect()) {
            tx.execute(&MarkRows { table, ingest_version, uids }).await?;
        }
    }
    Ok((filled.len() + gone_rows) as u64)
}

/// Records the progress of columns.
async fn note(tx: &mut Transaction, table: &Table, noted: &[Ident], page: &Page) -> Result<(), sqlx::Error> {
    let Some(position) = &page.last else { return Ok(()) };
    for column in noted {
        let step = StepBackfill {
            table: table.name.as_str(),
            column: column.as_str(),
            position,
            read: page.read,
            filled: page.filled,
            failed: page.failed.len() as u64,
        };
        tx.execute(&step).await?;
    }
    Ok(())
}
