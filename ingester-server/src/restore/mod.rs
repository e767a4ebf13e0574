//! Back into the cluster: creates an object from the row of one that was evicted or deleted.
//!
//! | file | what it has |
//! |---|---|
//! | `object.rs` | the object that is created, out of the stored text |
//! | `cluster.rs` | the API server |
//!
//! # Flow
//! 1. The row: of several with the name, one that is evicted before one that is deleted, then the newest; or that of a uid.
//! 2. The name must be free in the cluster. If the object that has it was restored from this row, only the rest is done: so the same
//!    request can be repeated.
//! 3. The object is created with the annotation `michelangelo/RestoredFrom`, then its status is written, if it has a subresource.
//! 4. Once the mirror has stored the new object, the old row is marked as deleted. If that takes too long, the old row stays, and the
//!    answer says so.
//!
//! May use: ingester-core, ingester-store, marks, status, write.

mod cluster;
mod object;

use crate::status::{Reason, Resource, Status};
use crate::write::find::{failed, find};
use crate::write::{Answer, Options, is_leaving, json_of};
use cluster::{Cluster, Ownership};
use http::StatusCode;
use ingester_core::Kind;
use ingester_core::query::States;
use ingester_store::{Changed, Effect, Store, StoredRow};
use object::{Restorable, restored_from};
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a request waits for the mirror to store the new object.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two looks at the new row.
const PAUSE: Duration = Duration::from_millis(100);

/// What is to be restored.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The namespace; empty for any, and for objects without one.
    pub namespace: &'a str,
    /// The name; empty if the uid is given.
    pub name: &'a str,
    /// The uid of the row.
    pub uid: Option<&'a str>,
    /// Whether anything is to be created.
    pub effect: Effect,
    /// How long to wait for the mirror to store the new object.
    pub patience: Duration,
}

/// What was restored.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// The object as it is in the cluster now; of a dry run, as it would be.
    pub object: Value,
    /// The uid of the row that it came from.
    pub from: Box<str>,
    /// It was restored before.
    pub before: bool,
    /// Nothing is left to do: the old row is marked as deleted. Always so of a dry run.
    pub finished: bool,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

/// POST of `<name>/restore`.
///
/// # Errors
/// As [`restore`].
pub async fn post(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    namespace: &str,
    name: &str,
    options: &Options,
) -> Result<Answer, Status> {
    let effect = options.effect("CreateOptions")?;
    let wanted = Wanted { namespace, name, uid: options.uid.as_deref(), effect, patience: PATIENCE };
    let restored = restore(store, client, kind, wanted).await?;
    let body = serde_json::to_string(&restored.object).map_err(Status::internal)?;
    Ok(Answer { body, warnings: restored.warnings })
}

/// Restores an object.
///
/// # Errors
/// [`Status`]: 404 without such a row; 409 if a live object has the name, or the old one has not left yet; 422 for a kind whose objects
/// are evicted at once; what the API server says of the object; 503 and 504 if it does not answer.
pub async fn restore(store: &Store, client: kube::Client, kind: &Kind, wanted: Wanted<'_>) -> Result<Restored, Status> {
    let plural = kind.plural();
    let resource = Resource { group: kind.group(), plural: &plural };
    if kind.immutable() {
        let message = format!(
            "every {} leaves the cluster as soon as it is stored: a restored one would, too; read and change it where it is",
            kind.kind()
        );
        return Err(Status::invalid(message, Vec::new()).about(resource, wanted.name));
    }
    let uid = source(store, kind, wanted).await?;
    let stored = row(store, kind, &uid, wanted.name).await?;
    let mut object = read(kind, &stored)?;
    let Restorable { namespace, name, .. } = object.clone();
    let cluster = Cluster::new(client, kind, &namespace);

    if let Some(there) = cluster.get(&name).await? {
        let from = of_this_name(store, kind, wanted, &stored.uid, &there).await?;
        let Some(from) = from else { return Err(taken(resource, &name, &stored.uid, &there)) };
        let mut restored = Restored { object: shown(there), from, before: true, finished: true, warnings: Vec::new() };
        finish(store, kind, wanted, &mut restored).await?;
        return Ok(restored);
    }
    if is_leaving(&stored) {
        let why = "it is just being moved from etcd to SQL; try again in a moment";
        return Err(Status::conflict(resource, &name, why));
    }
    let mut warnings = keep_owners(&cluster, &mut object, &namespace).await?;
    let dry_run = wanted.effect == Effect::Tried;
    let mut created = cluster.create(object.value(), dry_run).await.map_err(|error| raced(error, resource, &name))?;
    if let Some(status) = object.status().filter(|status| created.get("status") != Some(status)) {
        if dry_run {
            // What the next request would write.
            created["status"] = status.clone();
        } else {
            match cluster.set_status(&name, status).await {
                Ok(Some(object)) => created = object,
                Ok(None) => {}
                Err(error) => warnings.push(format!("its status was not restored: {error}")),
            }
        }
    }
    let mut restored = Restored { object: shown(created), from: uid, before: false, finished: true, warnings };
    finish(store, kind, wanted, &mut restored).await?;
    Ok(restored)
}

/// The uid of the row to restore from.
async fn source(store: &Store, kind: &Kind, wanted: Wanted<'_>) -> Result<Box<str>, Status> {
    let gone = States { live: false, ..States::ALL };
    let Wanted { namespace, name, uid, .. } = wanted;
    match find(store, kind, namespace, name, uid, gone).await {
        Ok(found) => Ok(found.uid),
        // Is it there at all?
        Err(status) if status.reason == Reason::NotFound => {
            find(store, kind, namespace, name, uid, States::LIVE).await?;
            let plural = kind.plural();
            Err(live(
                Resource { group: kind.group(), plural: &plural },
                if name.is_empty() { uid.unwrap_or("") } else { name },
            ))
        }
        Err(status) => Err(status),
    }
}

async fn row(store: &Store, kind: &Kind, uid: &str, name: &str) -> Result<StoredRow, Status> {
    let stored = store.stored(kind.table(), &[uid]).await.map_err(failed)?;
    let none = || Status::not_found(Resource { group: kind.group(), plural: &kind.plural() }, name);
    stored.into_iter().next().ok_or_else(none)
}

fn read(kind: &Kind, stored: &StoredRow) -> Result<Restorable, Status> {
    Restorable::read(kind, &stored.uid, json_of(stored)).map_err(Status::internal)
}

/// The uid of the row from which the object that has the name was restored, if that is the row that is wanted: the one that was found,
/// or, where no uid is given, any of this name.
async fn of_this_name(
    store: &Store,
    kind: &Kind,
    wanted: Wanted<'_>,
    found: &str,
    there: &Value,
) -> Result<Option<Box<str>>, Status> {
    let Some(from) = restored_from(there) else { return Ok(None) };
    if from == found {
        return Ok(Some(from.into()));
    }
    if wanted.uid.is_some() {
        return Ok(None);
    }
    let gone = States { live: false, ..States::ALL };
    match find(store, kind, wanted.namespace, wanted.name, Some(from), gone).await {
        Ok(found) => Ok(Some(found.uid)),
        Err(status) if status.reason == Reason::NotFound => Ok(None),
        Err(status) => Err(status),
    }
}

/// Why an object that has the name is in the way.
fn taken(resource: Resource<'_>, name: &str, old: &str, there: &Value) -> Status {
    let metadata = &there["metadata"];
    if metadata["uid"] == old {
        return Status::conflict(resource, name, "it is still in the cluster");
    }
    live(resource, name)
}

/// 409: a live object has the name.
fn live(resource: Resource<'_>, name: &str) -> Status {
    let message = format!(
        "{resource} \"{name}\" already exists in the cluster: nothing is restored over a live object; delete or rename that one first"
    );
    Status::failure(StatusCode::CONFLICT, Reason::AlreadyExists, message).about(resource, name)
}

/// Somebody else was faster.
fn raced(error: Status, resource: Resource<'_>, name: &str) -> Status {
    if error.reason == Reason::AlreadyExists { live(resource, name) } else { error }
}

/// Leaves out owners that are gone; returns what to say of them.
async fn keep_owners(cluster: &Cluster, object: &mut Restorable, namespace: &str) -> Result<Vec<String>, Status> {
    let (mut keep, mut warnings) = (Vec::new(), Vec::new());
    for owner in object.owners() {
        let ownership = cluster.owner(&owner, namespace).await?;
        keep.push(ownership == Ownership::There);
        if let Ownership::Gone(why) = ownership {
            warnings.push(format!("the reference to its owner {} {} is left out: {why}", owner.kind, owner.name));
        }
    }
    object.keep_owners(&keep);
    Ok(warnings)
}

/// Marks the old row as deleted once the new object is stored.
async fn finish(store: &Store, kind: &Kind, wanted: Wanted<'_>, restored: &mut Restored) -> Result<(), Status> {
    if wanted.effect == Effect::Tried {
        return Ok(());
    }
    let old = row(store, kind, &restored.from, wanted.name).await?;
    if old.delete_time.is_some() {
        return Ok(());
    }
    let uid = restored.object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let end = Instant::now() + wanted.patience;
    while store.versions(kind.table(), &[uid.as_str()]).await.map_err(failed)?.is_empty() {
        if Instant::now() >= end {
            restored.finished = false;
            restored.warnings.push(format!(
                "it is not in SQL yet: is `ingester run` running? The old row stays until then; restore the same again to mark it as deleted (uid {})",
                restored.from
            ));
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    let keep_nothing = |_: &StoredRow| Ok::<_, Infallible>(());
    match store.delete_evicted(kind, &restored.from, Effect::Written, keep_nothing).await.map_err(failed)? {
        Changed::Done(_) | Changed::Unchanged(_) | Changed::Deleted | Changed::NotFound => {}
        // The cluster has the old object again.
        Changed::NotEvicted => restored.warnings.push("the old row is not evicted any more, and stays".to_owned()),
        Changed::Refused(never) => match never {},
    }
    Ok(())
}

/// As objects are shown: without the fields' managers.
fn shown(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

#[cfg(test)]
mod tests;
