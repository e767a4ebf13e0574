//! Live rows whose stored objects the filter of their kind leaves out, because they were written under another filter. A filter with a
//! mistake may leave out a whole kind, so such rows are counted before any is marked as deleted. Above the limit of sweeps ([`Fuse`]), they
//! wait.
//!
//! Only [`Store::judge_left_out`] decides whether they may be marked: the backfill and all units of the mirror call it. They share the
//! count in a setting, named `filter/` and the kind's table. A call after [`FRESH`] seconds counts again, because a person may have marked
//! the rows meanwhile, or another program may have written more of them.
//!
//! An object that leaves the filter because it has changed does not count: its stored text still passes.

use super::fuse::Fuse;
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::Fingerprint;
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::{LiveTexts, ReadSetting, WriteSetting};
use ingester_sql::dialect::{GroupFilter, SETTINGS};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// A count is valid for this many seconds.
pub const FRESH: u64 = 600;

/// The rows of the first page, and the most rows of a page.
const ROWS: (usize, usize) = (8, 500);

/// A page should have about this many bytes of objects.
const BYTES: usize = 2 << 20;

/// The time limit of the database for a page.
const PAGE: Duration = Duration::from_secs(60);

/// The number of live rows that a filter leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOutCount {
    /// Rows whose stored objects do not pass.
    pub rows: u64,
    /// All live rows of the kind, without the rows of evicted objects.
    pub live: u64,
}

/// The decision whether rows that a filter leaves out may be marked as deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterVerdict {
    /// They may be marked.
    Marks(LeftOutCount),
    /// They are too many. None is marked until a person confirms that this is intended.
    Waits(LeftOutCount),
}

impl FilterVerdict {
    /// Returns the verdict for this many rows; without a limit they may be marked.
    pub fn new(found: LeftOutCount, fuse: Option<&Fuse>) -> Self {
        match fuse {
            Some(fuse) if fuse.refuses(found.rows, found.live) => FilterVerdict::Waits(found),
            _ => FilterVerdict::Marks(found),
        }
    }

    /// Returns true if rows may be marked.
    pub fn marks(self) -> bool {
        matches!(self, FilterVerdict::Marks(_))
    }

    /// Returns the number of rows that wait.
    pub fn waiting(self) -> u64 {
        match self {
            FilterVerdict::Marks(_) => 0,
            FilterVerdict::Waits(found) => found.rows,
        }
    }
}

/// Returns true if the filter of a kind leaves out the object of a row. A text that the filter cannot judge is an error, and does not count
/// as left out.
pub fn leaves_out(kind: &Kind, json: impl Into<Arc<str>>) -> Result<bool, String> {
    let object = Object::parse(json.into(), ManagedFields::Keep).map_err(|error| error.to_string())?;
    // A filter may be a function of the program.
    let judged = std::panic::catch_unwind(AssertUnwindSafe(|| kind.leaves_out(&object)));
    judged.map_err(|_| "the filter of this kind panicked".to_owned())?.map_err(|error| error.to_string())
}

/// A count, with its time and the definition for which it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CountRecord {
    filter: String,
    found: LeftOutCount,
    /// Seconds since 1970, by the database's clock.
    time: i64,
}

impl CountRecord {
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [filter, rows, live, time, ..] = words.as_slice() else { return None };
        let found = LeftOutCount { rows: rows.parse().ok()?, live: live.parse().ok()? };
        Some(CountRecord { filter: (*filter).to_owned(), found, time: time.parse().ok()? })
    }

    fn to_text(&self) -> String {
        let CountRecord { filter, found: LeftOutCount { rows, live }, time } = self;
        format!("{filter} {rows} {live} {time}")
    }

    /// Returns true if the count is valid for a filter now.
    fn holds(&self, filter: &str, now: i64) -> bool {
        self.filter == filter && (0..FRESH.cast_signed()).contains(&(now - self.time))
    }
}

fn seconds(time: Micros) -> i64 {
    time.0.div_euclid(1_000_000)
}

fn name(kind: &Kind) -> String {
    format!("filter/{}", Fingerprint::NONE.text(kind.table().name.as_str()))
}

/// Identifies the present filter of a kind. A definition that was replaced and then returns counts as another one, because rows of the
/// definition in between were written meanwhile.
fn filter_of(kind: &Kind) -> String {
    let row = kind.recipes().map_or(Fingerprint::NONE, |recipes| recipes.row);
    row.number(kind.ingest_version().into()).to_string()
}

impl Store {
    /// Counts the live rows that the filter of a kind leaves out. Reads the stored objects of all live rows, or nothing if the kind has no
    /// filter.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn count_left_out(&self, kind: &Kind) -> Result<LeftOutCount, StoreError> {
        let mut found = LeftOutCount::default();
        if !kind.filtered() {
            return Ok(found);
        }
        let table = kind.table();
        let group = &GroupFilter::new(kind.group());
        let (mut limit, most) = ROWS;
        let mut last = String::new();
        loop {
            let after = last.as_str();
            let read = || async {
                let texts = LiveTexts { table, group, after, limit };
                let page = tokio::time::timeout(PAGE, self.pool.fetch(&texts)).await;
                page.unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))
            };
            let doing = || format!("counting the rows of `{}` that its filter leaves out", table.name);
            let page = self.with_retries(doing, read).await?;
            let Some((uid, _)) = page.last() else { return Ok(found) };
            last.clone_from(uid);
            let mut bytes = 0;
            for (_, json) in page {
                found.live += 1;
                if let Value::Text(json) = json {
                    bytes += json.len();
                    found.rows += u64::from(leaves_out(kind, json) == Ok(true));
                }
            }
            limit = (limit * BYTES / bytes.max(1)).min(2 * limit).clamp(1, most);
        }
    }

    /// Decides whether rows whose stored objects the filter of a kind leaves out may be marked as deleted. Counts them first, unless a recent
    /// count for this filter exists.
    ///
    /// # Errors
    /// As [`Store::count_left_out`], or if the settings cannot be read or written.
    pub async fn judge_left_out(&self, kind: &Kind, fuse: Option<&Fuse>) -> Result<FilterVerdict, StoreError> {
        if fuse.is_none() || !kind.filtered() {
            return Ok(FilterVerdict::Marks(LeftOutCount::default()));
        }
        let name = &name(kind);
        let filter = filter_of(kind);
        let now = seconds(self.now());
        let read = || async { self.pool.fetch(&ReadSetting { name }).await };
        let stored = self.with_retries(|| format!("reading {name} in {SETTINGS}"), read).await?.pop();
        if let Some(counted) =
            stored.as_deref().and_then(CountRecord::parse).filter(|counted| counted.holds(&filter, now))
        {
            return Ok(FilterVerdict::new(counted.found, fuse));
        }
        let found = self.count_left_out(kind).await?;
        let value = &CountRecord { filter, found, time: now }.to_text();
        let write = || async { self.pool.execute(&WriteSetting { name, value }).await };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), write).await?;
        Ok(FilterVerdict::new(found, fuse))
    }
}

#[cfg(test)]
mod tests {
    use super::{CountRecord, FRESH, FilterVerdict, LeftOutCount};
    use crate::rows::fuse::Fuse;

    #[test]
    fn a_filter_waits_above_the_limit_of_sweeps() {
        let fuse = Fuse { limit: 100, namespaces: Vec::new() };
        for (rows, live, marks) in
            [(0, 0, true), (100, 100, true), (101, 101, false), (101, 505, true), (202, 202, false)]
        {
            let found = LeftOutCount { rows, live };
            let verdict = FilterVerdict::new(found, Some(&fuse));
            assert_eq!((verdict.marks(), verdict.waiting()), (marks, if marks { 0 } else { rows }), "{found:?}");
            assert!(FilterVerdict::new(found, None).marks(), "without a limit");
        }
    }

    #[test]
    fn a_count_holds_for_its_filter_and_for_some_time() {
        let counted = CountRecord { filter: "f".into(), found: LeftOutCount { rows: 7, live: 9 }, time: 1000 };
        assert_eq!(CountRecord::parse(&counted.to_text()), Some(counted.clone()));
        let fresh = FRESH.cast_signed();
        for (filter, now, holds) in [
            ("f", 1000, true),
            ("f", 999 + fresh, true),
            ("f", 1000 + fresh, false),
            ("f", 999, false),
            ("g", 1000, false),
        ] {
            assert_eq!(counted.holds(filter, now), holds, "{filter} {now}");
        }
        assert!(["", "by hand", "f 1 2 x"].iter().all(|text| CountRecord::parse(text).is_none()));
    }
}
