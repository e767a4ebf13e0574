//! Writes to evicted objects, which live in SQL alone: PATCH, PUT, DELETE, and DELETE of a collection.
//!
//! | file | what it has |
//! |---|---|
//! | `options.rs` | `dryRun`, and the body of DELETE |
//! | `patch.rs` | JSON patches and merge patches, applied to an object |
//! | `check.rs` | what a new state of an object changes, and whether it may |
//! | `text.rs` | the object's text with other labels and annotations, else as it is stored |
//! | `find.rs` | the row that a name means |
//!
//! Only labels and annotations can be changed. A live object is written where it lives: in the cluster.
//!
//! May use: ingester-core, ingester-store, body, marks, read, status.

mod check;
pub(crate) mod find;
mod options;
mod patch;
mod text;

use crate::body::MOST;
use crate::status::{Resource, Status};
use find::{Found, failed, find};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::query::{Query, States};
use ingester_core::row::Row;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_store::query::{FoundRow, Limits, Wanted};
use ingester_store::{Changed, Effect, Store, StoredRow};
pub use options::Options;
use options::{DeleteOptions, Preconditions};
use serde::Serialize;

/// For how long after its eviction an object whose row still has our finalizer is taken for one that is still in etcd: the mirror
/// writes the row once more then.
const LEAVING: i64 = 60_000_000;

const NONE: States = States { live: false, evicted: false, deleted: false };

/// The most bytes of an object that is changed: etcd takes no request that is larger.
const MOST_TEXT: usize = 3 << 19;

/// How often a collection is read again because objects of it were changed meanwhile.
const ROUNDS: usize = 5;

/// What is answered with 200.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The body, in JSON.
    pub body: String,
    /// Texts for `Warning` headers.
    pub warnings: Vec<String>,
}

/// What a request is about.
#[derive(Clone, Copy)]
struct Target<'a> {
    kind: &'a Kind,
    plural: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl Target<'_> {
    fn resource(&self) -> Resource<'_> {
        Resource { group: self.kind.group(), plural: self.plural }
    }
}

/// PATCH of an object.
///
/// # Errors
/// [`Status`], as the API server says it: 400 and 422 for a patch or an object that is not valid, 404, 405 for a live object, 409 for
/// another version, 413, 415 for another type of patch.
pub async fn patch(
    store: &Store,
    kind: &Kind,
    namespace: &str,
    name: &str,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<Answer, Status> {
    let effect = options.effect("PatchOptions")?;
    let patch = patch::read(content_type, limited(body)?)?;
    let plural = kind.plural();
    let target = Target { kind, plural: &plural, namespace, name };
    change(store, target, options, effect, |stored| patch.apply(stored)).await
}

/// PUT of an object.
///
/// # Errors
/// As [`patch`].
pub async fn put(
    store: &Store,
    kind: &Kind,
    namespace: &str,
    name: &str,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<Answer, Status> {
    let effect = options.effect("UpdateOptions")?;
    options::is_json(content_type)?;
    let object: serde_json::Value = serde_json::from_slice(limited(body)?)
        .map_err(|error| Status::bad_request(format!("the body is no JSON object: {error}")))?;
    check::is_object_of(kind, &object)?;
    let plural = kind.plural();
    let target = Target { kind, plural: &plural, namespace, name };
    change(store, target, options, effect, |stored| Ok(check::completed(&object, stored))).await
}

/// DELETE of an object: its row is marked as deleted.
///
/// # Errors
/// [`Status`]: 400, 404, 405 for a live object, 409 if a precondition does not hold, 415, 422.
pub async fn delete(
    store: &Store,
    kind: &Kind,
    namespace: &str,
    name: &str,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<Answer, Status> {
    let asked = DeleteOptions::read(options, content_type, limited(body)?)?;
    let plural = kind.plural();
    let target = Target { kind, plural: &plural, namespace, name };
    let found = find(store, kind, namespace, name, options.uid.as_deref(), States::default()).await?;
    let refuse = |stored: &StoredRow| {
        asked.preconditions.hold(target.resource(), name, &stored.uid, stored.res_version)?;
        has_left(target, stored)
    };
    let deleted = store.delete_evicted(kind, &found.uid, asked.effect, refuse).await.map_err(failed)?;
    let stored = done(target, deleted)?;
    let details = SuccessDetails { name, group: kind.group(), kind: &plural, uid: &stored.uid };
    Ok(Answer { body: success(details), warnings: Vec::new() })
}

/// DELETE of a collection: all evicted objects of the query. Live ones are left, and a warning says how many.
///
/// # Errors
/// [`Status`]: 400 if the query cannot be asked, 415, 422, 500, 503, 504.
pub async fn delete_collection(
    store: &Store,
    kind: &Kind,
    query: &Query,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<Answer, Status> {
    let asked = DeleteOptions::read(options, content_type, limited(body)?)?;
    if asked.preconditions != Preconditions::default() {
        // Of one object each; nothing is deleted that does not fulfil them.
        let message = "preconditions are those of one object: delete it by its name, or leave them out";
        return Err(Status::bad_request(message));
    }
    let limits = Limits::default();
    // Of the states that are asked for, and no others.
    let States { live, evicted, .. } = query.states;
    let among = |states: States| Query { states, ..query.clone() };
    let mut changed = 0;
    let mut leaving = 0;
    for _ in 0..ROUNDS {
        (changed, leaving) = (0, 0);
        let evicted = store.ask_about(kind, &among(States { evicted, ..NONE }), limits).map_err(find::wrong)?;
        let places = vec![base::RES_VERSION, base::EVICT_TIME];
        let mut reader = evicted
            .reader(&Wanted { places, labels: false }, None)
            .map_err(|error| find::unanswered(kind)(error.into()))?;
        loop {
            let rows = reader.next().await.map_err(find::unanswered(kind))?;
            if rows.is_empty() {
                break;
            }
            let still_there = still_there(store, kind, &rows).await?;
            leaving += still_there.len();
            let versions: Vec<(&str, u64)> = rows
                .iter()
                .filter(|row| !still_there.iter().any(|uid| **uid == *row.uid()))
                .map(|row| (row.uid(), find::version(row)))
                .collect();
            let deleted = store.delete_evicted_of(kind.table(), &versions, asked.effect).await.map_err(failed)?;
            changed += deleted.changed.len();
        }
        if changed == 0 || asked.effect == Effect::Tried {
            break;
        }
    }
    let live = store.ask_about(kind, &among(States { live, ..NONE }), limits).map_err(find::wrong)?;
    let live = live.count().await.map_err(find::unanswered(kind))?;
    let mut warnings = Vec::new();
    let plural = kind.plural();
    let left = |count: &dyn std::fmt::Display, why: &str| format!("{count} {plural} were left: {why}");
    if live > 0 {
        warnings.push(left(&live, "they are in the cluster, and are deleted at its API server"));
    }
    if leaving > 0 {
        warnings.push(left(&leaving, "they are just leaving the cluster, try again in a minute"));
    }
    if changed > 0 {
        warnings.push(left(&changed, "somebody changes them all the time"));
    }
    let details = SuccessDetails { name: "", group: kind.group(), kind: &plural, uid: "" };
    Ok(Answer { body: success(details), warnings })
}

/// Changes labels and annotations of an evicted object to what `wanted` makes of it.
async fn change(
    store: &Store,
    target: Target<'_>,
    options: &Options,
    effect: Effect,
    wanted: impl Fn(&serde_json::Value) -> Result<serde_json::Value, Status>,
) -> Result<Answer, Status> {
    let Target { kind, namespace, name, .. } = target;
    let Found { uid, .. } = find(store, kind, namespace, name, options.uid.as_deref(), States::default()).await?;
    let edit = |stored: &StoredRow| {
        has_left(target, stored)?;
        let object: serde_json::Value = serde_json::from_str(json_of(stored)).map_err(Status::internal)?;
        let wanted = wanted(&object)?;
        let version = stored.res_version;
        let Some(pairs) = check::changed(kind, target.resource(), name, version, &object, &wanted)? else {
            return Ok(None);
        };
        let next = version.checked_add(1).ok_or_else(|| Status::internal("there is no higher resourceVersion"))?;
        let text = text::rewritten(json_of(stored), next, &pairs).map_err(Status::internal)?;
        if text.len() > MOST_TEXT && text.len() > json_of(stored).len() {
            // The API server would not take it back.
            return Err(Status::too_large(MOST_TEXT));
        }
        row(kind, stored, text).map(Some)
    };
    let changed = store.change_evicted(kind, &uid, effect, edit).await.map_err(failed)?;
    let body = match changed {
        Changed::Unchanged(stored) => json_of(&stored).to_owned(),
        changed => text_of(&done(target, changed)?.values).to_owned(),
    };
    let warnings = check::warnings(&body);
    Ok(Answer { body, warnings })
}

/// What was done, or the status for why not.
fn done<T>(target: Target<'_>, changed: Changed<T, Status>) -> Result<T, Status> {
    match changed {
        Changed::Done(done) => Ok(done),
        Changed::Refused(status) => Err(status),
        Changed::NotEvicted => Err(find::live(target.resource(), target.name)),
        // An unchanged row is no answer to what marks it as deleted.
        Changed::NotFound | Changed::Deleted | Changed::Unchanged(_) => {
            Err(Status::not_found(target.resource(), target.name))
        }
    }
}

/// The new row of a stored object. Where the object cannot be decoded, its columns stay as they are: neither spec nor status has
/// changed.
fn row(kind: &Kind, stored: &StoredRow, text: String) -> Result<Row, Status> {
    let object = Object::parse(text, ManagedFields::Prune).map_err(Status::internal)?;
    if let Ok(Some(row)) = kind.row(&object) {
        return Ok(row);
    }
    let mut row = kind.bare_row(&object).map_err(|error| Status::invalid(error.to_string(), Vec::new()))?;
    row.ingest_version = stored.ingest_version;
    row.many.clone_from(&stored.many);
    let from = base::JSON + 1;
    for place in std::iter::once(base::INGEST_VERSION).chain(from..kind.table().columns.len()) {
        if let (Some(value), Some(stored)) = (row.values.get_mut(place), stored.values.get(place)) {
            *value = stored.clone();
        }
    }
    Ok(row)
}

/// Refuses a change of labels and annotations while the object is still in etcd, though its row is evicted: it waits there for somebody's
/// finalizer, or the mirror was stopped in between. What is changed now would be written over by its next event. Only a row whose
/// object had finalizers, or was to be deleted, has to be looked for; an object that is gone never comes back with its uid.
///
/// # Errors
/// [`Status`]: 409 while it is there; 404 without such a row; 503 if the API server does not answer.
pub async fn is_out_of_the_cluster(
    store: &Store,
    cluster: &kube::Client,
    kind: &Kind,
    namespace: &str,
    name: &str,
    options: &Options,
) -> Result<(), Status> {
    let Found { uid, .. } = find(store, kind, namespace, name, options.uid.as_deref(), States::default()).await?;
    let stored = store.stored(kind.table(), &[&*uid]).await.map_err(failed)?;
    let may_be_there = stored.first().filter(|stored| stored.evict_time.is_some()).is_some_and(|stored| {
        Object::parse(json_of(stored), ManagedFields::Prune).is_ok_and(|object| {
            let meta = object.meta();
            meta.deletion_timestamp.is_some() || !meta.finalizers.is_empty()
        })
    });
    if !may_be_there {
        return Ok(());
    }
    let plural = kind.plural();
    let group = if kind.group().is_empty() { "/api".to_owned() } else { format!("/apis/{}", kind.group()) };
    let place = if kind.namespaced() { format!("namespaces/{namespace}/") } else { String::new() };
    let path = format!("{group}/{}/{place}{plural}/{name}", kind.version());
    let request = http::Request::get(path).body(Vec::new()).map_err(Status::internal)?;
    let there = match cluster.request::<serde_json::Value>(request).await {
        Ok(object) => object["metadata"]["uid"].as_str() == Some(&*uid),
        Err(kube::Error::Api(status)) if status.code == 404 => false,
        Err(error) => {
            return Err(Status::unavailable(format!("the API server does not say whether it is still there: {error}")));
        }
    };
    if there {
        let why = "it is still in the cluster, and waits there for its finalizers; try again when it is gone";
        return Err(Status::conflict(Resource { group: kind.group(), plural: &plural }, name, why));
    }
    Ok(())
}

/// Refuses an object that is still on its way out of etcd: what is written now would be written over.
fn has_left(target: Target<'_>, stored: &StoredRow) -> Result<(), Status> {
    if !is_leaving(stored) {
        return Ok(());
    }
    let why = "it is just being moved from etcd to SQL; try again in a moment";
    Err(Status::conflict(target.resource(), target.name, why))
}

/// Whether the mirror is about to write the row once more. A terminating object keeps our finalizer in its last state.
pub(crate) fn is_leaving(stored: &StoredRow) -> bool {
    let recent = stored.evict_time.is_some_and(|time| Micros::now().0.saturating_sub(time.0) < LEAVING);
    recent
        && Object::parse(json_of(stored), ManagedFields::Prune).is_ok_and(|object| {
            let meta = object.meta();
            meta.deletion_timestamp.is_none()
                && meta.finalizers.iter().any(|finalizer| &**finalizer == crate::marks::FINALIZER)
        })
}

/// The uids of those rows whose objects are still on their way out of etcd.
async fn still_there(store: &Store, kind: &Kind, rows: &[FoundRow]) -> Result<Vec<Box<str>>, Status> {
    let now = Micros::now().0;
    let recent = |row: &&FoundRow| row.time(base::EVICT_TIME).is_some_and(|time| now.saturating_sub(time.0) < LEAVING);
    let uids: Vec<&str> = rows.iter().filter(recent).map(FoundRow::uid).collect();
    let mut there = Vec::new();
    // Whole objects, so few at a time.
    for uids in uids.chunks(32) {
        let stored = store.stored(kind.table(), uids).await.map_err(failed)?;
        there.extend(stored.into_iter().filter(is_leaving).map(|stored| stored.uid));
    }
    Ok(there)
}

/// The stored object.
pub(crate) fn json_of(stored: &StoredRow) -> &str {
    text_of(&stored.values)
}

fn text_of(values: &[Value]) -> &str {
    match values.get(base::JSON) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

fn limited(body: &[u8]) -> Result<&[u8], Status> {
    if body.len() > MOST { Err(Status::too_large(MOST)) } else { Ok(body) }
}

/// `metav1.Status` of what was done.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    status: &'static str,
    details: SuccessDetails<'a>,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct SuccessDetails<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
}

fn success(details: SuccessDetails<'_>) -> String {
    let success = Success { kind: "Status", api_version: "v1", metadata: Empty {}, status: "Success", details };
    serde_json::to_string(&success).unwrap_or_default()
}

#[cfg(test)]
mod tests;
