//! Restores objects into the cluster: creates an object from the row of an evicted or deleted one.
//!
//! | file | what it has |
//! |---|---|
//! | `flow.rs` | one restore, from the row to the new object |
//! | `object.rs` | makes the new object from the stored text |
//! | `cluster.rs` | the requests to the API server |
//! | `rights.rs` | the identity with which a server acts in the cluster for its callers |
//! | `abandonment.rs` | gives up an interrupted restore |
//!
//! A former version of an object is restored in the same way, even if its row was purged; but a version of an evicted object goes back into its row.
//!
//! # Flow
//! 1. The row: if several rows have the name, an evicted one before a deleted one, then the newest; or the row with a given uid.
//! 2. The name must be free in the cluster. If the object with this name was restored from this row, only the remaining steps are done: so
//!    the same request can be repeated, even after a crash between any two steps.
//! 3. [`Store::begin_restore`] records the restore and reads the row in one transaction. From then on the row does not change: writes get
//!    409, and rules and purges leave it alone. An interrupted restore continues with the same number.
//! 4. The object is created with the annotations `RestoredFrom` and `RestoreNonce`; then its status is written, if it has a subresource. A
//!    failure to write the status is an error, and the same request tries again. The managed fields of the object show if the status was
//!    written.
//! 5. The transaction of the mirror that stores the new object marks the old row as deleted and ends the restore. If this takes too long, the
//!    old row stays as it is, and the answer says so.
//!
//! A restore whose object was certainly not created ends at once. Otherwise [`give_up`] ends it, when no request can be in progress any
//! more.
//!
//! May use: ingester-core, ingester-sql, ingester-store, answer, caller, former, identity, read, status, write.

mod abandonment;
mod cluster;
mod flow;
mod object;
pub mod rights;

use crate::former::Reach;
use crate::status::{Reason, Resource, Status};
use crate::write::find::{failed, find};
use crate::write::version::to_version;
use crate::write::{Options, WriteResponse, WriteTarget, leaving};
pub use abandonment::{Abandonment, give_up};
use cluster::Cluster;
use flow::{Source, Task};
use http::StatusCode;
use ingester_core::Kind;
use ingester_sql::query::States;
use ingester_store::guard::Eviction;
use ingester_store::{Effect, Store};
use std::time::Duration;

/// The time that a request waits for the mirror to store the new object.
const PATIENCE: Duration = Duration::from_secs(10);

/// The object to restore, and how.
#[derive(Clone, Copy, Debug)]
pub struct RestoreRequest<'a> {
    /// The namespace; empty for any, and for objects without one.
    pub namespace: &'a str,
    /// The name; empty if the uid is given.
    pub name: &'a str,
    /// The uid of the row.
    pub uid: Option<&'a str>,
    /// Creates the object, or only tries to.
    pub effect: Effect,
    /// The time to wait for the mirror to store the new object.
    pub patience: Duration,
    /// The caller, for an annotation of the object.
    pub by: Option<&'a str>,
    /// `Ok` to restore the status as well, otherwise the reason why it is left out.
    pub status: Result<(), &'a str>,
    /// The rows that the caller may see.
    pub former: Reach,
    /// The text of a version of the object with this uid, instead of its row's text.
    pub version: Option<&'a str>,
}

/// A restored object.
#[derive(Clone, Debug, PartialEq)]
pub struct RestoredObject {
    /// The text of the object in the cluster; in a dry run, the text that it would have.
    pub object: String,
    /// Its name.
    pub name: String,
    /// The uid of the row that it came from.
    pub from: Box<str>,
    /// It had been restored before: nothing was written to the cluster.
    pub before: bool,
    /// Nothing is left to do: the old row is marked as deleted. Always set for a dry run.
    pub finished: bool,
    /// It is in SQL but not in the cluster: the object was evicted.
    pub in_sql: bool,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// The caller who restores an object.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The user.
    pub user: &'a str,
    /// `Ok` if they may write the status of the object, otherwise the reason why not.
    pub status: Result<(), &'a str>,
}

/// Answers a POST to `<name>/restore`. It restores the object's last state, or a former version, given as the uid of its object and its
/// text. The client, or the reason why there is none, matters only if the cluster is needed.
///
/// # Errors
/// As [`restore`].
pub async fn post(
    store: &Store,
    client: Result<kube::Client, Status>,
    target: WriteTarget<'_>,
    (options, asker): (&Options, Asker<'_>),
    version: Option<(&str, &str)>,
) -> Result<WriteResponse, Status> {
    let effect = options.effect("CreateOptions")?;
    let WriteTarget { kind, namespace, name } = target;
    let Asker { user, status } = asker;
    let uid = version.map(|(uid, _)| uid).or(options.uid.as_deref());
    let former = options.former;
    let version = version.map(|(_, text)| text);
    let wanted =
        RestoreRequest { namespace, name, uid, effect, patience: PATIENCE, by: Some(user), status, former, version };
    let note = |uid: &str| options.note(|log| log.uid(uid));
    let restored = restore_noting(store, client, kind, wanted, note).await?;
    Ok(WriteResponse { body: restored.object, warnings: restored.warnings })
}

/// Restores an object.
///
/// # Errors
/// [`Status`]: 404 without such a row; 409 if a live object has the name, or the old object has not left yet; 422 for a kind whose objects
/// are evicted at once, or whose fields are pruned; the API server's errors about the object; 503 and 504 if it does not answer.
/// are evicted at once, or that prunes them; the API server's errors about the object; 503 and 504 if it does not answer.
pub async fn restore(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    wanted: RestoreRequest<'_>,
) -> Result<RestoredObject, Status> {
    restore_noting(store, Ok(client), kind, wanted, |_| ()).await
}

/// Does the same; `note` gets the uid of the row as soon as it is known, whatever the outcome.
async fn restore_noting(
    store: &Store,
    client: Result<kube::Client, Status>,
    kind: &Kind,
    wanted: RestoreRequest<'_>,
    note: impl Fn(&str),
) -> Result<RestoredObject, Status> {
    if let (Some(uid), Some(version)) = (wanted.uid, wanted.version) {
        note(uid);
        if let Some(restored) = in_sql(store, kind, wanted, uid, version).await? {
            return Ok(restored);
        }
    }
    ensure_restorable(kind, wanted.name)?;
    let client = client?;
    let source = Source::find(store, kind, wanted).await?;
    note(&source.uid);
    let cluster = Cluster::new(client, kind, &source.object.namespace);
    let task = Task { store, kind, wanted, cluster: &cluster };
    if let Some(there) = cluster.get(&source.object.name).await? {
        return task.complete(source, there, &note).await;
    }
    if source.is_leaving {
        return Err(leaving(task.resource().as_resource(), &source.object.name));
    }
    task.begin(source, &note).await
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

/// Restores a version of an evicted object into its row. Returns `None` if the object was deleted or purged: then it goes into the cluster.
///
/// # Errors
/// 409 for a live object, and for an object that is leaving the cluster.
async fn in_sql(
    store: &Store,
    kind: &Kind,
    wanted: RestoreRequest<'_>,
    uid: &str,
    version: &str,
) -> Result<Option<RestoredObject>, Status> {
    let RestoreRequest { namespace, name, effect, .. } = wanted;
    let plural = kind.plural();
    let resource = Resource { group: kind.group(), plural: &plural };
    let stored = store.read_stored(kind.table(), &[uid]).await.map_err(failed)?;
    let Some(stored) = stored.first().filter(|stored| stored.delete_time.is_none()) else { return Ok(None) };
    match stored.eviction {
        Eviction::None => return Err(live(resource, name)),
        Eviction::Intended => return Err(leaving(resource, name)),
        Eviction::Confirmed | Eviction::Unrecorded => {}
    }
    let (object, is_changed) = to_version(store, WriteTarget { kind, namespace, name }, uid, version, effect).await?;
    Ok(Some(RestoredObject {
        object,
        name: name.to_owned(),
        from: uid.into(),
        before: !is_changed,
        finished: true,
        in_sql: true,
        warnings: Vec::new(),
    }))
}

/// Returns the uid of the row to restore from.
async fn row_to_restore(store: &Store, kind: &Kind, wanted: RestoreRequest<'_>) -> Result<Box<str>, Status> {
    let gone = States { live: false, ..States::ALL };
    let RestoreRequest { namespace, name, uid, former, .. } = wanted;
    let target = WriteTarget { kind, namespace, name };
    match find(store, target, uid, gone, former).await {
        Ok(found) => Ok(found.uid),
        // Find out if the object exists at all.
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

/// Returns 409: a live object has the name.
fn live(resource: Resource<'_>, name: &str) -> Status {
    let message = format!(
        "{resource} \"{name}\" already exists in the cluster: nothing is restored over a live object; delete or rename that one first"
    );
    Status::failure(StatusCode::CONFLICT, Reason::AlreadyExists, message).about(resource, name)
}

#[cfg(test)]
mod tests;
