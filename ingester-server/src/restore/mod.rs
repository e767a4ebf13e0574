//! Restores objects into the cluster: creates an object from the row of an evicted or deleted one.
//!
//! | file | what it has |
//! |---|---|
//! | `object.rs` | the object that is created, out of the stored text |
//! | `cluster.rs` | the API server |
//!
//! A former version of an object is restored in the same way, even if its row was purged; but a version of an evicted object goes back into its row.
//!
//! # Flow
//! 1. The row: of several with the name, an evicted one before a deleted one, then the newest; or the row of a given uid.
//! 2. The name must be free in the cluster. If the object that has it was restored from this row, only the rest is done: so the same
//!    request can be repeated, also after a crash between any two steps.
//! 3. The object is created with the annotation `RestoredFrom`, then its status is written, if it has a subresource. A
//!    status that could not be written is a failure: the old row stays, and the same request tries again. The managed fields of
//!    the object say whether the status was written.
//! 4. Once the mirror has stored the new object, the old row is marked as deleted. If this takes too long, the old row stays, and the
//!    answer says so.
//!
//! May use: ingester-core, ingester-sql, ingester-store, answer, former, status, write.

mod cluster;
mod object;

use crate::former::Reach;
use crate::status::{Reason, Resource, Status};
use crate::write::find::{failed, find};
use crate::write::version::to_version;
use crate::write::{Answer, Options, Target, json_of, leaving};
use cluster::{Cluster, Ownership, WRITES_STATUS};
use http::StatusCode;
use ingester_core::Kind;
use ingester_sql::query::States;
use ingester_store::guard::Eviction;
use ingester_store::{Changed, Effect, Store, StoredRow};
use object::{Restorable, StatusIs, restored_from, status_of};
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a request waits for the mirror to store the new object.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two looks at the new row.
const PAUSE: Duration = Duration::from_millis(100);

/// What to restore.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The namespace; empty for any, and for objects without one.
    pub namespace: &'a str,
    /// The name; empty if the uid is given.
    pub name: &'a str,
    /// The uid of the row.
    pub uid: Option<&'a str>,
    /// Whether to create anything, or only try.
    pub effect: Effect,
    /// How long to wait for the mirror to store the new object.
    pub patience: Duration,
    /// The caller, as it is written into the object.
    pub by: Option<&'a str>,
    /// Whether to restore the status as well; otherwise why it is left out.
    pub status: Result<(), &'a str>,
    /// Which rows may be seen.
    pub former: Reach,
    /// The text of a version of the object with this uid, instead of its row's text.
    pub version: Option<&'a str>,
}

/// What was restored.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// The object as it is in the cluster now; in a dry run, as it would be.
    pub object: Value,
    /// The uid of the row that it came from.
    pub from: Box<str>,
    /// It had been restored before: nothing was written to the cluster.
    pub before: bool,
    /// Nothing is left to do: the old row is marked as deleted. Always set for a dry run.
    pub finished: bool,
    /// It is in SQL but not in the cluster: the object was evicted.
    pub in_sql: bool,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

/// The caller who restores an object.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The user.
    pub user: &'a str,
    /// Whether they may write the status of the object; otherwise why not.
    pub status: Result<(), &'a str>,
}

/// POST of `<name>/restore`: of the object's last state, or of a former version, given as the uid of its object and its text.
///
/// # Errors
/// As [`restore`].
pub async fn post(
    store: &Store,
    client: kube::Client,
    target: Target<'_>,
    options: &Options,
    asker: Asker<'_>,
    version: Option<(&str, &str)>,
) -> Result<Answer, Status> {
    let effect = options.effect("CreateOptions")?;
    let Target { kind, namespace, name } = target;
    let Asker { user, status } = asker;
    let uid = version.map(|(uid, _)| uid).or(options.uid.as_deref());
    let (former, version) = (options.former, version.map(|(_, text)| text));
    let wanted = Wanted { namespace, name, uid, effect, patience: PATIENCE, by: Some(user), status, former, version };
    let note = |uid: &str| options.note(|log| log.uid(uid));
    let restored = restore_noting(store, client, kind, wanted, note).await?;
    let body = serde_json::to_string(&restored.object).map_err(Status::internal)?;
    Ok(Answer { body, warnings: restored.warnings })
}

/// Restores an object.
///
/// # Errors
/// [`Status`]: 404 without such a row; 409 if a live object has the name, or the old object has not left yet; 422 for a kind whose objects
/// are evicted at once, or that prunes them; the API server's errors about the object; 503 and 504 if it does not answer.
pub async fn restore(store: &Store, client: kube::Client, kind: &Kind, wanted: Wanted<'_>) -> Result<Restored, Status> {
    restore_noting(store, client, kind, wanted, |_| ()).await
}

/// The same; `note` gets the uid of the row as soon as it is known, whatever the outcome.
async fn restore_noting(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    wanted: Wanted<'_>,
    note: impl Fn(&str),
) -> Result<Restored, Status> {
    let plural = kind.plural();
    let resource = Resource { group: kind.group(), plural: &plural };
    if let (Some(uid), Some(version)) = (wanted.uid, wanted.version) {
        note(uid);
        if let Some(restored) = in_sql(store, kind, wanted, uid, version).await? {
            return Ok(restored);
        }
    }
    ensure_restorable(kind, wanted.name)?;
    let (uid, mut object, is_leaving) = begin(store, kind, wanted).await?;
    note(&uid);
    let Restorable { namespace, name, .. } = object.clone();
    let cluster = Cluster::new(client, kind, &namespace);

    let dry_run = wanted.effect == Effect::Tried;
    let mut warnings = Vec::new();

    if let Some(there) = cluster.get(&name).await? {
        let from = of_this_name(store, kind, wanted, &uid, &there).await?;
        let Some(from) = from else { return Err(taken(resource, &name, &uid, &there)) };
        if from != uid {
            note(&from);
            object = read(kind, &row(store, kind, &from, wanted.name).await?)?;
        }
        leave_out_status(&mut object, wanted, &mut warnings);
        let is = object.status().map_or(StatusIs::Written, |status| status_of(&there, status, WRITES_STATUS));
        if is == StatusIs::Anothers {
            warnings
                .push("its status was not restored: another writer has written one since, which is kept".to_owned());
        }
        let (object, before) = match object.status().filter(|_| is == StatusIs::Missing) {
            Some(status) => with_status(&cluster, &name, there, status, dry_run).await?,
            None => (there, true),
        };
        if wanted.version.is_some() && before {
            warnings.push("it was restored before, perhaps from another version, and is left as it is".to_owned());
        }
        let mut restored = Restored { object: shown(object), from, before, finished: true, in_sql: false, warnings };
        finish(store, kind, wanted, &mut restored).await?;
        return Ok(restored);
    }
    if is_leaving {
        return Err(leaving(resource, &name));
    }
    leave_out_status(&mut object, wanted, &mut warnings);
    if let Some(user) = wanted.by {
        object.asked_by(user);
    }
    warnings.extend(keep_owners(&cluster, &mut object, &namespace).await?);
    let mut created = cluster.create(object.value(), dry_run).await.map_err(|error| raced(error, resource, &name))?;
    if let Some(status) = object.stored_status().filter(|status| created.get("status") != Some(status)) {
        (created, _) = with_status(&cluster, &name, created, status, dry_run).await?;
    }
    let (object, from) = (shown(created), uid);
    let mut restored = Restored { object, from, before: false, finished: true, in_sql: false, warnings };
    finish(store, kind, wanted, &mut restored).await?;
    Ok(restored)
}

/// Refuses kinds whose objects cannot come back.
fn ensure_restorable(kind: &Kind, name: &str) -> Result<(), Status> {
    let plural = kind.plural();
    let resource = Resource { group: kind.group(), plural: &plural };
    let message = if kind.immutable() {
        format!(
            "every {} leaves the cluster as soon as it is stored: a restored one would, too; read and change it where it is",
            kind.kind()
        )
    } else if !kind.prune().is_empty() {
        format!(
            "no {} is stored as a whole: its row lacks {}, and so would the restored object; create it from where it came from",
            kind.kind(),
            kind.prune().join(", ")
        )
    } else {
        return Ok(());
    };
    Err(Status::invalid(message, Vec::new()).about(resource, name))
}

/// The restored version, its uid, and whether its object is leaving the cluster.
async fn begin(store: &Store, kind: &Kind, wanted: Wanted<'_>) -> Result<(Box<str>, Restorable, bool), Status> {
    if let (Some(uid), Some(version)) = (wanted.uid, wanted.version) {
        let object = Restorable::read(kind, uid, version).map_err(Status::internal)?;
        return Ok((uid.into(), object, false));
    }
    let uid = source(store, kind, wanted).await?;
    let stored = row(store, kind, &uid, wanted.name).await?;
    Ok((uid, read(kind, &stored)?, stored.eviction == Eviction::Intended))
}

/// Restores a version of an object that was evicted into its row. `None` if the object was deleted or purged: it goes into the cluster.
///
/// # Errors
/// 409 for a live object, and for one that is leaving the cluster.
async fn in_sql(
    store: &Store,
    kind: &Kind,
    wanted: Wanted<'_>,
    uid: &str,
    version: &str,
) -> Result<Option<Restored>, Status> {
    let Wanted { namespace, name, effect, .. } = wanted;
    let plural = kind.plural();
    let resource = Resource { group: kind.group(), plural: &plural };
    let stored = store.stored(kind.table(), &[uid]).await.map_err(failed)?;
    let Some(stored) = stored.first().filter(|stored| stored.delete_time.is_none()) else { return Ok(None) };
    match stored.eviction {
        Eviction::None => return Err(live(resource, name)),
        Eviction::Intended => return Err(leaving(resource, name)),
        Eviction::Confirmed | Eviction::Unrecorded => {}
    }
    let (object, is_changed) = to_version(store, Target { kind, namespace, name }, uid, version, effect).await?;
    let (from, before) = (uid.into(), !is_changed);
    Ok(Some(Restored { object, from, before, finished: true, in_sql: true, warnings: Vec::new() }))
}

/// Leaves out the status if the caller may not write it.
fn leave_out_status(object: &mut Restorable, wanted: Wanted<'_>, warnings: &mut Vec<String>) {
    if let Err(why) = wanted.status
        && object.without_status()
    {
        warnings.push(format!("its status is left out: {why}"));
    }
}

/// Writes the status of an object that was created. Returns the object with it, and whether it stays as it was, because its kind
/// has no subresource for the status.
///
/// # Errors
/// The API server's error. The object exists then, and the same request writes its status.
async fn with_status(
    cluster: &Cluster,
    name: &str,
    mut object: Value,
    status: &Value,
    dry_run: bool,
) -> Result<(Value, bool), Status> {
    if dry_run {
        // The status that the next request would write.
        object["status"] = status.clone();
        return Ok((object, false));
    }
    match cluster.set_status(name, status).await {
        Ok(Some(object)) => Ok((object, false)),
        Ok(None) => Ok((object, true)),
        Err(mut error) => {
            error.message = format!(
                "it was created, but its status was not restored: {}; the old row stays as it is, restore the same again",
                error.message
            );
            Err(error)
        }
    }
}

/// The uid of the row to restore from.
async fn source(store: &Store, kind: &Kind, wanted: Wanted<'_>) -> Result<Box<str>, Status> {
    let gone = States { live: false, ..States::ALL };
    let Wanted { namespace, name, uid, former, .. } = wanted;
    let target = Target { kind, namespace, name };
    match find(store, target, uid, gone, former).await {
        Ok(found) => Ok(found.uid),
        // Does it exist at all?
        Err(status) if status.reason == Reason::NotFound => {
            find(store, target, uid, States::LIVE, former).await?;
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

/// The uid of the row from which the object that has the name was restored, if that is the wanted row: the one that was found,
/// or, without a given uid, any with this name.
async fn of_this_name(
    store: &Store,
    kind: &Kind,
    wanted: Wanted<'_>,
    found: &str,
    there: &Value,
) -> Result<Option<Box<str>>, Status> {
    let Some(from) = restored_from(kind, there) else { return Ok(None) };
    if from == found {
        return Ok(Some(from.into()));
    }
    if wanted.uid.is_some() {
        return Ok(None);
    }
    let gone = States { live: false, ..States::ALL };
    let Wanted { namespace, name, former, .. } = wanted;
    match find(store, Target { kind, namespace, name }, Some(from), gone, former).await {
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

/// Another writer was faster.
fn raced(error: Status, resource: Resource<'_>, name: &str) -> Status {
    if error.reason == Reason::AlreadyExists { live(resource, name) } else { error }
}

/// Leaves out owners that are gone; returns warnings about them.
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
    let old = store.stored(kind.table(), &[&restored.from]).await.map_err(failed)?;
    // The row of a former version may be purged.
    if old.first().is_none_or(|old| old.delete_time.is_some()) {
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
        Changed::NotEvicted | Changed::Leaving => {
            restored.warnings.push("the old row is no longer evicted, and stays".to_owned())
        }
        Changed::Refused(never) => match never {},
    }
    Ok(())
}

/// As objects are shown: without `managedFields`.
fn shown(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

#[cfg(test)]
mod tests;
