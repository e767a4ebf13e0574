//! Writes to evicted objects, which exist only in SQL: PATCH, PUT, DELETE, and DELETE of a collection.
//!
//! | file | what it has |
//! |---|---|
//! | `options.rs` | `dryRun`, and the body of DELETE |
//! | `patch.rs` | JSON patches and merge patches, applied to an object |
//! | `check.rs` | finds the changes in a new state of an object, and refuses those that are not allowed |
//! | `text.rs` | the object's text with other labels and annotations, otherwise as it is stored |
//! | `find.rs` | the row for a name |
//! | `version.rs` | an object as it was in a former version |
//!
//! Clients change only labels and annotations. A live object is written in the cluster.
//!
//! May use: ingester-core, ingester-sql, ingester-store, access, answer, body, former, read, status, volume.

mod check;
pub(crate) mod find;
mod options;
mod patch;
pub(crate) mod text;
pub(crate) mod version;

use crate::answer::ShownState;
use crate::body::{MOST, is_json};
use crate::read::{self, Cost, OwnedResource};
use crate::status::{Resource, Status};
use find::{NamedRow, failed, find};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_sql::query::{Query, States};
use ingester_store::query::RequestedParts;
use ingester_store::{ChangeResult, Effect, OpenRestore, Store, StoredRow};
pub use options::Options;
use options::{DeleteOptions, Preconditions};
use serde::Serialize;

/// The most bytes of an object that is changed: etcd does not accept larger requests.
const MOST_TEXT: usize = 3 << 19;

/// The number of times that a collection is read again because some of its objects were changed in the meantime.
const ROUNDS: usize = 5;

/// An answer with 200.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteResponse {
    /// The body, in JSON.
    pub body: String,
    /// Texts for `Warning` headers.
    pub warnings: Vec<String>,
}

/// The object that a request is about.
#[derive(Clone, Copy, Debug)]
pub struct WriteTarget<'a> {
    /// Its kind.
    pub kind: &'a Kind,
    /// Its namespace; empty for a kind without namespaces.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
}

impl WriteTarget<'_> {
    fn resource(&self) -> OwnedResource {
        read::resource(self.kind)
    }

    /// Returns the uid of the row to change.
    async fn uid(self, store: &Store, options: &Options) -> Result<Box<str>, Status> {
        let NamedRow { uid, .. } = find(store, self, options.uid.as_deref(), States::default(), options.former).await?;
        options.note(|log| log.uid(&uid));
        Ok(uid)
    }
}

/// Answers the PATCH of an object.
///
/// # Errors
/// [`Status`], as in the API server: 400 and 422 for an invalid patch or object, 404, 405 for a live object, 409 for another version, 413,
/// 415 for another type of patch, 429 for more bytes than the caller may write in a minute.
pub async fn patch(
    store: &Store,
    target: WriteTarget<'_>,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<WriteResponse, Status> {
    let effect = options.effect("PatchOptions")?;
    let patch = patch::read(content_type, limited(body)?)?;
    change(store, target, options, effect, |stored| Ok(check::with_own_metadata(patch.apply(stored)?, stored))).await
}

/// Answers the PUT of an object.
///
/// # Errors
/// As [`patch`].
pub async fn put(
    store: &Store,
    target: WriteTarget<'_>,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<WriteResponse, Status> {
    let effect = options.effect("UpdateOptions")?;
    is_json(content_type)?;
    let object: serde_json::Value = serde_json::from_slice(limited(body)?)
        .map_err(|error| Status::bad_request(format!("the body is not a JSON object: {error}")))?;
    check::is_object_of(target.kind, &object)?;
    change(store, target, options, effect, |stored| Ok(check::completed(&object, stored))).await
}

/// Answers the DELETE of an object: its row is marked as deleted.
///
/// # Errors
/// [`Status`]: 400, 404, 405 for a live object, 409 if a precondition does not hold, 415, 422.
pub async fn delete(
    store: &Store,
    target: WriteTarget<'_>,
    options: &Options,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<WriteResponse, Status> {
    let asked = DeleteOptions::read(options, content_type, limited(body)?)?;
    let WriteTarget { kind, name, .. } = target;
    let uid = target.uid(store, options).await?;
    let refuse = |stored: &StoredRow| {
        asked.preconditions.hold(target.resource().as_resource(), name, &stored.uid, stored.res_version)
    };
    let deleted = store.delete_evicted(kind, &uid, asked.effect, refuse).await.map_err(failed)?;
    let stored = done(target, deleted)?;
    let details = SuccessDetails { name, group: kind.group(), kind: &kind.plural(), uid: &stored.uid };
    Ok(WriteResponse { body: success(details), warnings: Vec::new() })
}

/// Answers the DELETE of a collection: all evicted objects of the query. Live objects stay, and a warning gives their number. Searching and
/// counting have the time limit of a list that may read a whole table.
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
) -> Result<WriteResponse, Status> {
    let asked = DeleteOptions::read(options, content_type, limited(body)?)?;
    if asked.preconditions != Preconditions::default() {
        // For each object; objects that do not fulfil them are not deleted.
        let message = "preconditions are those of one object: delete it by its name, or leave them out";
        return Err(Status::bad_request(message));
    }
    options.note(|log| log.count(0));
    let limits = read::limits_of(Cost::Whole, store.limits());
    // Only objects in the requested states.
    let States { live, evicted, .. } = query.states;
    let among = |states: States| Query { states, ..query.clone() };
    let mut changed = 0;
    let mut leaving = 0;
    let mut restoring = 0;
    for _ in 0..ROUNDS {
        (changed, leaving, restoring) = (0, 0, 0);
        let evicted = store.ask_about(kind, &among(States { evicted, ..States::NONE }), limits).map_err(find::wrong)?;
        let places = vec![base::RES_VERSION];
        let mut reader = evicted
            .reader(&RequestedParts { places, labels: false }, None)
            .map_err(|error| find::unanswered(kind)(error.into()))?;
        loop {
            let rows = reader.next().await.map_err(find::unanswered(kind))?;
            if rows.is_empty() {
                break;
            }
            let versions: Vec<(&str, u64)> = rows.iter().map(|row| (row.uid(), find::version(row))).collect();
            let deleted = store.delete_evicted_of(kind.table(), &versions, asked.effect).await.map_err(failed)?;
            changed += deleted.changed.len();
            leaving += deleted.leaving;
            restoring += deleted.restoring;
            options.note(|log| log.count(deleted.rows));
        }
        if changed == 0 || asked.effect == Effect::Tried {
            break;
        }
    }
    let live = store.ask_about(kind, &among(States { live, ..States::NONE }), limits).map_err(find::wrong)?;
    let live = live.count().await.map_err(find::unanswered(kind))?;
    let mut warnings = Vec::new();
    let plural = kind.plural();
    let left = |count: &dyn std::fmt::Display, why: &str| format!("{count} {plural} were left: {why}");
    if live > 0 {
        warnings.push(left(&live, "they are in the cluster, and are deleted at its API server"));
    }
    if leaving > 0 {
        warnings.push(left(&leaving, "they are leaving the cluster: try again when they have left it"));
    }
    if restoring > 0 {
        warnings.push(left(&restoring, "they are being restored into the cluster"));
    }
    if changed > 0 {
        warnings.push(left(&changed, "they are being changed: try again"));
    }
    let details = SuccessDetails { name: "", group: kind.group(), kind: &plural, uid: "" };
    Ok(WriteResponse { body: success(details), warnings })
}

/// Changes the labels and annotations of an evicted object as `wanted` decides.
async fn change(
    store: &Store,
    target: WriteTarget<'_>,
    options: &Options,
    effect: Effect,
    wanted: impl Fn(&serde_json::Value) -> Result<serde_json::Value, Status>,
) -> Result<WriteResponse, Status> {
    let WriteTarget { kind, name, .. } = target;
    let uid = target.uid(store, options).await?;
    let edit = |stored: &StoredRow| {
        let object: serde_json::Value = serde_json::from_str(json_of(stored)).map_err(Status::internal)?;
        // A patch applies to the state of the object that its client saw.
        let shown = ShownState::evicted(stored.evict_time).object(json_of(stored));
        let wanted = wanted(&serde_json::from_str(&shown).map_err(Status::internal)?)?;
        let version = stored.res_version;
        let Some(pairs) = check::changed(kind, target.resource().as_resource(), name, version, &object, &wanted)?
        else {
            return Ok(None);
        };
        let next = version.checked_add(1).ok_or_else(|| Status::internal("there is no higher resourceVersion"))?;
        let text = text::rewritten(json_of(stored), next, &pairs).map_err(Status::internal)?;
        if text.len() > MOST_TEXT && text.len() > json_of(stored).len() {
            // The API server would not accept it back.
            return Err(Status::too_large(MOST_TEXT));
        }
        // The history keeps the stored text.
        options.take(effect, text.len().max(json_of(stored).len()))?;
        row(kind, stored, text).map(Some)
    };
    let changed = store.change_evicted(kind, &uid, effect, edit).await.map_err(failed)?;
    let (text, evicted) = match changed {
        ChangeResult::Unchanged(stored) => (json_of(&stored).to_owned(), stored.evict_time),
        changed => {
            let row = done(target, changed)?;
            (text_of(&row.values).to_owned(), row.evict_time)
        }
    };
    let body = ShownState::evicted(evicted).object(&text).into_owned();
    Ok(WriteResponse { warnings: check::warnings(kind, &body), body })
}

/// Returns the result of a change, or the status with the reason why nothing was done.
fn done<T>(target: WriteTarget<'_>, changed: ChangeResult<T, Status>) -> Result<T, Status> {
    let resource = target.resource();
    let name = target.name;
    match changed {
        ChangeResult::Done(done) => Ok(done),
        ChangeResult::Refused(status) => Err(status),
        ChangeResult::NotEvicted => Err(find::live(resource.as_resource(), name)),
        ChangeResult::Leaving => Err(leaving(resource.as_resource(), name)),
        ChangeResult::Restoring(restore) => Err(restoring(target, &restore)),
        // A deletion that leaves the row unchanged is not a success.
        ChangeResult::NotFound | ChangeResult::Deleted | ChangeResult::Unchanged(_) => {
            Err(Status::not_found(resource.as_resource(), name))
        }
    }
}

/// Returns the new row of a stored object. If the object cannot be decoded, its columns stay: neither spec nor status has changed.
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

/// Returns 409: the object may still change in the cluster, and that change would overwrite a write now.
pub(crate) fn leaving(resource: Resource<'_>, name: &str) -> Status {
    let why = "it is leaving the cluster and may still change there; try again when it has left it";
    Status::conflict(resource, name, why)
}

/// Returns 409: a change now would be missing in both the row and the object that the restore creates.
fn restoring(target: WriteTarget<'_>, restore: &OpenRestore) -> Status {
    let WriteTarget { kind, namespace, name } = target;
    let within = if kind.namespaced() { format!(" -n {namespace}") } else { String::new() };
    let why = format!(
        "it has been restored into the cluster since {}, and a change now would be lost; if that was interrupted, continue it with `ingester \
         restore {} {name}{within}`, or give it up with `--abandon`",
        restore.time.rfc3339(),
        kind.name()
    );
    Status::conflict(target.resource().as_resource(), name, &why)
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

/// `metav1.Status` of a success.
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
