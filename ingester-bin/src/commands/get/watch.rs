//! `--watch`: asks again every second, and prints the rows that came, changed or went. Only the uid and version of each row are read
//! and remembered; what is printed is read for those that differ.

use super::format::Printer;
use super::layout::Layout;
use super::question::Question;
use super::{Limits, failed};
use crate::ending::{Ending, Failure};
use crate::output::print_on;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_server::answer::STATE_PLACES;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{Asked, FoundRow, Wanted};
use std::collections::HashMap;
use std::time::Duration;

/// The time between two questions.
const PAUSE: Duration = Duration::from_secs(1);

/// The uids in one question.
const AT_ONCE: usize = 500;

/// The version and state of each row by its uid: what tells that it has changed.
pub(super) type Seen = HashMap<Box<str>, (Option<u64>, &'static str)>;

/// Remembers these rows.
pub(super) fn see(rows: &[FoundRow], seen: &mut Seen) {
    let version = |row: &FoundRow| match row.get(base::RES_VERSION) {
        Some(Value::UInt(version)) => Some(*version),
        _ => None,
    };
    seen.extend(rows.iter().map(|row| (row.uid().into(), (version(row), row.state()))));
}

/// Prints what changes, until nobody reads it.
pub(super) async fn watch(
    printer: &mut Printer<'_>,
    question: &Question,
    layout: &Layout,
    asked: &Asked<'_>,
    store: &Store,
    limits: Limits,
    mut seen: Seen,
) -> Result<Ending, Failure> {
    loop {
        tokio::time::sleep(PAUSE).await;
        let now = read(asked).await?;
        let mut changed: Vec<&str> =
            now.iter().filter(|(uid, row)| seen.get(*uid) != Some(row)).map(|(uid, _)| &**uid).collect();
        // What is no longer asked for is printed as it is now: deleted, or different.
        changed.extend(seen.keys().filter(|uid| !now.contains_key(*uid)).map(|uid| &**uid));
        changed.sort_unstable();
        for uids in changed.chunks(AT_ONCE) {
            let uids: Vec<String> = uids.iter().map(|uid| (*uid).to_owned()).collect();
            let order = question.query.order.clone();
            let query = Query { uids, order, states: States::ALL, ..Query::default() };
            let asked = store.ask_about(&question.kind, &query, limits).map_err(|error| failed(error.into()))?;
            let mut reader = asked.reader(&layout.wanted(), None).map_err(|error| failed(error.into()))?;
            loop {
                let rows = reader.next().await.map_err(failed)?;
                if rows.is_empty() {
                    break;
                }
                if !print_on(&printer.rows(layout, &rows, Micros::now())?)? {
                    return Ok(Ending::Done);
                }
            }
        }
        seen = now;
    }
}

async fn read(asked: &Asked<'_>) -> Result<Seen, Failure> {
    let mut places = vec![base::RES_VERSION];
    places.extend(STATE_PLACES);
    let mut reader = asked.reader(&Wanted { places, labels: false }, None).map_err(|error| failed(error.into()))?;
    let mut seen = Seen::new();
    loop {
        let rows = reader.next().await.map_err(failed)?;
        if rows.is_empty() {
            return Ok(seen);
        }
        see(&rows, &mut seen);
    }
}
