//! Finds the row for a name, and translates the store's errors into Kubernetes' terms.

use super::WriteTarget;
use crate::former::Reach;
use crate::read;
use crate::status::{Reason, Resource, Status};
use http::StatusCode;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_sql::query::{Query, QueryError, States};
use ingester_store::query::{AskError, FoundRow, RequestedParts};
use ingester_store::{ErrorClass, Store, StoreError};

/// A row by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedRow {
    pub(crate) uid: Box<str>,
    pub(crate) deleted: bool,
    pub(crate) evicted: bool,
}

/// Finds the newest visible row of this name in these states; with a uid, that row. An empty namespace or name matches any: use it for a
/// kind without namespaces, and together with a uid.
///
/// # Errors
/// 404 if there is no such row.
pub(crate) async fn find(
    store: &Store,
    target: WriteTarget<'_>,
    uid: Option<&str>,
    states: States,
    former: Reach,
) -> Result<NamedRow, Status> {
    let WriteTarget { kind, namespace, name } = target;
    let mut query = Query {
        namespaces: if kind.namespaced() { given(namespace) } else { Vec::new() },
        names: given(name),
        uids: uid.map(str::to_owned).into_iter().collect(),
        states,
        ..Query::default()
    };
    former.narrow(&mut query);
    let asked = store.ask_about(kind, &query, store.limits()).map_err(wrong)?;
    let places = vec![base::RES_VERSION, base::CREATE_TIME, base::DELETE_TIME, base::EVICT_TIME];
    let mut reader = asked
        .reader(&RequestedParts { places, labels: false }, None)
        .map_err(|error| unanswered(kind)(error.into()))?;
    let mut newest: Option<FoundRow> = None;
    loop {
        let rows = reader.next().await.map_err(unanswered(kind))?;
        if rows.is_empty() {
            break;
        }
        // Existing objects precede deleted ones.
        let age = |row: &FoundRow| (row.time(base::DELETE_TIME).is_none(), row.time(base::CREATE_TIME), version(row));
        newest = newest.into_iter().chain(rows).max_by_key(age);
    }
    let found = |row: FoundRow| NamedRow {
        uid: row.uid().into(),
        deleted: row.time(base::DELETE_TIME).is_some(),
        evicted: row.time(base::EVICT_TIME).is_some(),
    };
    newest.map(found).ok_or_else(|| Status::not_found(target.resource().as_resource(), name))
}

fn given(text: &str) -> Vec<String> {
    Some(text).filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect()
}

/// Returns the row's `res_version`.
pub(crate) fn version(row: &FoundRow) -> u64 {
    match row.get(base::RES_VERSION) {
        Some(Value::UInt(version)) => *version,
        _ => 0,
    }
}

/// Returns 405: the object is in the cluster.
pub(crate) fn live(resource: Resource<'_>, name: &str) -> Status {
    let message = format!(
        "{resource} \"{name}\" is in the cluster: write to its API server; only objects that were evicted from it can be changed here"
    );
    Status::failure(StatusCode::METHOD_NOT_ALLOWED, Reason::MethodNotAllowed, message).about(resource, name)
}

/// Returns the status for a query that cannot be asked.
pub(crate) fn wrong(error: QueryError) -> Status {
    Status::bad_request(error.for_request())
}

/// Returns the status for a query without an answer.
pub(crate) fn unanswered(kind: &Kind) -> impl Fn(AskError) -> Status {
    let group = kind.group();
    let plural = kind.plural();
    move |error| read::refused(error, Resource { group, plural: &plural })
}

/// Returns the status when the database failed, or refuses the object.
pub(crate) fn failed(error: StoreError) -> Status {
    match error.class() {
        ErrorClass::Object => Status::invalid(error.to_string(), Vec::new()),
        _ => read::of_store(&error),
    }
}
