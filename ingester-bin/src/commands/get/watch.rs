//! `--watch`: asks again when the log of changes has new entries, or every second without a log, and prints the rows that came, changed or
//! went. Only the uid and version of each row are read and remembered; the printed columns are read only for rows that differ. With a log,
//! only rows that it names are read again, and all of them from time to time: the log does not contain changes by hand, or by the passing
//! of time.

use super::layout::Layout;
use super::printer::Printer;
use super::question::Question;
use super::{Limits, failed};
use crate::ending::{Ending, Failure};
use crate::output::print_on;
use ingester_core::schema::{Table, base};
use ingester_core::value::{Micros, Value};
use ingester_server::answer::STATE_PLACES;
use ingester_sql::query::{Query, States};
use ingester_store::changes::Position;
use ingester_store::query::{FoundRow, PreparedQuery, RequestedParts};
use ingester_store::{Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// The time between two questions, without a log of changes.
const PAUSE: Duration = Duration::from_secs(1);

/// The time between two looks at the log, once all of it is read.
const LOOK: Duration = Duration::from_millis(250);

/// The time after which all rows are read again, even if the log has nothing new.
const ALL: Duration = Duration::from_secs(10);

/// The uids in one question.
const AT_ONCE: usize = 500;

/// The version and state of each row by its uid, which show if the row has changed.
pub(super) type SeenRows = HashMap<Box<str>, (Option<u64>, &'static str)>;

/// Remembers these rows.
pub(super) fn see(rows: &[FoundRow], seen: &mut SeenRows) {
    let version = |row: &FoundRow| match row.get(base::RES_VERSION) {
        Some(Value::UInt(version)) => Some(*version),
        _ => None,
    };
    seen.extend(rows.iter().map(|row| (row.uid().into(), (version(row), row.state()))));
}

/// Prints changes until standard output is closed.
pub(super) async fn watch(
    printer: &mut Printer<'_>,
    question: &Question,
    layout: &Layout,
    asked: &PreparedQuery<'_>,
    store: &Store,
    limits: Limits,
    mut seen: SeenRows,
) -> Result<Ending, Failure> {
    let table = question.kind.table();
    // Changes after this position may be missing in the printed rows. The position is read first, so that nothing is lost.
    let mut log = position(store, table).await;
    let (mut named, mut all): (Option<HashSet<Box<str>>>, _) = (None, Instant::now());
    loop {
        let now = match &named {
            None => {
                all = Instant::now() + ALL;
                read(asked).await?
            }
            Some(uids) => {
                let query = Query { uids: uids.iter().map(ToString::to_string).collect(), ..question.query.clone() };
                read(&store.ask_about(&question.kind, &query, limits).map_err(|error| failed(error.into()))?).await?
            }
        };
        let is_named = |uid: &str| named.as_ref().is_none_or(|uids| uids.contains(uid));
        let mut changed: Vec<Box<str>> =
            now.iter().filter(|(uid, row)| seen.get(*uid) != Some(row)).map(|(uid, _)| uid.clone()).collect();
        // Objects that no longer match are printed in their present state: deleted, or different.
        let gone: Vec<Box<str>> = seen.keys().filter(|uid| is_named(uid) && !now.contains_key(*uid)).cloned().collect();
        for uid in &gone {
            seen.remove(uid);
        }
        changed.extend(gone);
        changed.sort_unstable();
        for uids in changed.chunks(AT_ONCE) {
            let uids: Vec<String> = uids.iter().map(ToString::to_string).collect();
            let order = question.query.order.clone();
            let query = Query { uids, order, states: States::ALL, ..Query::default() };
            let asked = store.ask_about(&question.kind, &query, limits).map_err(|error| failed(error.into()))?;
            let mut reader = asked.reader(&layout.wanted(), None).map_err(|error| failed(error.into()))?;
            loop {
                let rows = reader.next().await.map_err(failed)?;
                if rows.is_empty() {
                    break;
                }
                if !print_on(&printer.render_rows(layout, &rows, Micros::now())?)? {
                    return Ok(Ending::Done);
                }
            }
        }
        seen.extend(now);
        named = match question.query.uids.is_empty() {
            true => next(store, table, &mut log, all).await,
            false => next(store, table, &mut log, all).await.and(None),
        };
    }
}

/// Returns the end of the log of changes; `None` if the database has none, or the log cannot be numbered, which requires the right to
/// write.
async fn position(store: &Store, table: &'static Table) -> Option<Position> {
    match store.has_changes().await {
        Ok(true) => store.number_changes(table).await.ok(),
        _ => None,
    }
}

/// Waits for the next changes, at most until all rows are due to be read. Returns the uids of their objects; `None` if any row may have changed.
async fn next(
    store: &Store,
    table: &'static Table,
    log: &mut Option<Position>,
    all: Instant,
) -> Option<HashSet<Box<str>>> {
    while let Some(at) = *log {
        if Instant::now() >= all {
            return None;
        }
        let read = async {
            store.number_changes(table).await?;
            let changes = store.changes_after(table, at, AT_ONCE).await?;
            Ok::<_, StoreError>((changes, store.is_known(table, at).await?))
        };
        match read.await {
            Ok((changes, true)) if changes.is_empty() => tokio::time::sleep(LOOK).await,
            Ok((changes, true)) => {
                *log = changes.last().map(|change| change.position);
                // A reset names no object.
                let is_reset = changes.iter().any(|change| change.uid.is_empty());
                return (!is_reset).then(|| changes.into_iter().map(|change| change.uid).collect());
            }
            // The log was purged or switched off, or the database was restored.
            Ok((_, false)) | Err(_) => {
                *log = position(store, table).await;
                return None;
            }
        }
    }
    tokio::time::sleep(PAUSE).await;
    None
}

async fn read(asked: &PreparedQuery<'_>) -> Result<SeenRows, Failure> {
    let mut places = vec![base::RES_VERSION];
    places.extend(STATE_PLACES);
    let mut reader =
        asked.reader(&RequestedParts { places, labels: false }, None).map_err(|error| failed(error.into()))?;
    let mut seen = SeenRows::new();
    loop {
        let rows = reader.next().await.map_err(failed)?;
        if rows.is_empty() {
            return Ok(seen);
        }
        see(&rows, &mut seen);
    }
}
