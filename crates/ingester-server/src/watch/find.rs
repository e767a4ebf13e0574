//! The questions to the database about changed objects: one for the rows, and one for each distinct selector.

use crate::read::{refused, resource};
use crate::status::Status;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{AskError, FoundRow, Limits, RequestedParts};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The columns that are read of each row, besides the columns of the answer.
const PLACES: [usize; 6] =
    [base::NAMESPACE, base::NAME, base::RES_VERSION, base::CREATE_TIME, base::DELETE_TIME, base::EVICT_TIME];

/// The answers to the questions.
#[derive(Debug, Default)]
pub(super) struct LookupResult {
    /// The rows by their uids.
    pub(super) rows: HashMap<Box<str>, Arc<FoundRow>>,
    /// The uids that each selector matches.
    pub(super) selected: Vec<HashSet<Box<str>>>,
}

/// A selector, and the objects that it is evaluated for.
pub(super) struct Question<'a> {
    pub(super) rest: &'a Query,
    pub(super) uids: Vec<&'a str>,
}

/// Finds the objects with these uids. `places`: the columns of the answers.
///
/// Selectors are evaluated before rows are read: versions only grow, so a row that then still has an entry's version also had it when the
/// selector was evaluated.
///
/// # Errors
/// The [`Status`] of a failure of the database.
pub(super) async fn find(
    (store, kind): (&Store, &Kind),
    limits: Limits,
    questions: &[Question<'_>],
    uids: &[&str],
    places: &[usize],
) -> Result<LookupResult, Status> {
    let refused = |error| refused(error, resource(kind).as_resource());
    let mut found = LookupResult::default();
    for Question { rest, uids } in questions {
        let query = Query { uids: texts(uids), ..(*rest).clone() };
        let rows = rows_of(store, kind, limits, &query, &RequestedParts::default()).await.map_err(refused)?;
        found.selected.push(rows.iter().map(|row| row.uid().into()).collect());
    }
    if !uids.is_empty() {
        let query = Query { uids: texts(uids), states: States::ALL, ..Query::default() };
        let wanted = RequestedParts { places: [&PLACES, places].concat(), labels: false };
        let rows = rows_of(store, kind, limits, &query, &wanted).await.map_err(refused)?;
        found.rows = rows.into_iter().map(|row| (row.uid().into(), Arc::new(row))).collect();
    }
    Ok(found)
}

fn texts(uids: &[&str]) -> Vec<String> {
    uids.iter().map(|uid| (*uid).to_owned()).collect()
}

async fn rows_of(
    store: &Store,
    kind: &Kind,
    limits: Limits,
    query: &Query,
    wanted: &RequestedParts,
) -> Result<Vec<FoundRow>, AskError> {
    let asked = store.ask_about(kind, query, limits)?;
    let mut reader = asked.reader(wanted, None)?;
    let mut rows = Vec::new();
    // There are at most as many rows as uids.
    loop {
        let portion = reader.next().await?;
        if portion.is_empty() {
            return Ok(rows);
        }
        rows.extend(portion);
    }
}
