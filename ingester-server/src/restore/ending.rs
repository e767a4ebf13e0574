//! How a restore ends: the new object is stored and the old row marked, or it is given up.

use super::cluster::Cluster;
use super::flow::{Source, Task};
use super::object::ClusterObject;
use super::{Restored, Wanted};
use crate::read;
use crate::status::Status;
use crate::write::find::failed;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::{Effect, OpenRestore, Store};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The pause between two looks at the new row.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a request to create the object may be under way: longer than its sender waits, and longer than the API server works on it.
const UNDER_WAY: Duration = Duration::from_secs(90);

/// The result of [`give_up`].
#[derive(Clone, Debug, PartialEq)]
pub enum Abandonment {
    /// The object had been created, and its restore was completed.
    Completed(Box<Restored>),
    /// The restore was given up: the row is as it was before.
    GivenUp {
        /// The object's name.
        name: String,
        /// The uid of the row.
        uid: Box<str>,
    },
}

/// Waits until the mirror has stored the new object, whose transaction also marks the old row. If another program stored it, marks the old row
/// here.
pub(super) async fn finish(task: Task<'_>, there: &ClusterObject, restored: &mut Restored) -> Result<(), Status> {
    let Task { store, kind, wanted, .. } = task;
    if wanted.effect == Effect::Tried {
        return Ok(());
    }
    let old = store.stored(kind.table(), &[&restored.from]).await.map_err(failed)?;
    // The row of a former version may be purged.
    if old.first().is_none_or(|old| old.delete_time.is_some()) {
        return Ok(());
    }
    let end = Instant::now() + wanted.patience;
    while store.versions(kind.table(), &[there.uid()]).await.map_err(failed)?.is_empty() {
        if Instant::now() >= end {
            restored.finished = false;
            restored.warnings.push(format!(
                "it is not in SQL yet: is `ingester run` running? The old row (uid {}) is marked as deleted when the new object is stored, and \
                 cannot be changed until then",
                restored.from
            ));
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    if !store.end_restore(kind, &restored.from, there.nonce(kind)).await.map_err(failed)? {
        // The cluster has the old object again.
        restored.warnings.push("the old row is no longer evicted, and stays".to_owned());
    }
    Ok(())
}

/// Ends a restore whose object was certainly not created.
pub(super) async fn withdraw(store: &Store, kind: &Kind, uid: &str, restore: &OpenRestore) {
    if let Err(error) = store.give_up_restore(kind, uid, restore).await {
        tracing::warn!(kind = kind.name(), uid, %error, "A restore that was refused stays open: end it with `ingester restore --abandon`");
    }
}

/// Gives up an interrupted restore. If its object is in the cluster after all, completes it.
///
/// # Errors
/// [`Status`]: 404 without such a row; 409 if no restore of it is open, or if its object may still be created; the API server's errors.
pub async fn give_up(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    wanted: Wanted<'_>,
) -> Result<Abandonment, Status> {
    // Before the cluster is asked: a request that arrives later is younger.
    let now = store.read_clock().await.map_err(failed)?;
    give_up_at(store, client, kind, wanted, now).await
}

/// The same at a time of the database's clock.
pub(super) async fn give_up_at(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    wanted: Wanted<'_>,
    now: Micros,
) -> Result<Abandonment, Status> {
    let source = Source::find(store, kind, wanted).await?;
    let resource = read::resource(kind);
    let name = source.object.name.clone();
    let conflict = |why: &str| Status::conflict(resource.of(), &name, why);
    let open = store.open_restore(kind, &source.uid).await.map_err(failed)?;
    let open = open.ok_or_else(|| conflict("no restore of it is open"))?;
    let cluster = Cluster::new(client, kind, &source.object.namespace);
    let there = cluster.get(&name).await?;
    if let Some(there) = there.filter(|there| there.nonce(kind) == Some(&open.nonce)) {
        let task = Task { store, kind, wanted, cluster: &cluster };
        return Ok(Abandonment::Completed(Box::new(task.complete(source, there, &|_| ()).await?)));
    }
    if let Some(left) = left(open.time, now) {
        let why = format!(
            "a request that creates it may still be under way: repeat it in {} seconds, or continue the restore without `--abandon`",
            left.as_secs() + 1
        );
        return Err(conflict(&why));
    }
    let uid = source.uid;
    if wanted.effect == Effect::Written && !store.give_up_restore(kind, &uid, &open).await.map_err(failed)? {
        return Err(conflict("its restore was continued or has ended meanwhile"));
    }
    Ok(Abandonment::GivenUp { name, uid })
}

/// How long a request of this time may still be under way.
fn left(sent: Micros, now: Micros) -> Option<Duration> {
    let until = sent.0.saturating_add(i64::try_from(UNDER_WAY.as_micros()).unwrap_or(i64::MAX));
    let left = u64::try_from(until.saturating_sub(now.0)).ok().filter(|left| *left > 0)?;
    Some(Duration::from_micros(left))
}

#[cfg(test)]
mod tests {
    use super::left;
    use ingester_core::value::Micros;
    use std::time::Duration;

    #[test]
    fn a_request_may_be_under_way_for_ninety_seconds() {
        let sent = Micros(1_000_000);
        assert_eq!(left(sent, sent), Some(Duration::from_secs(90)));
        assert_eq!(left(sent, Micros(90_999_999)), Some(Duration::from_micros(1)));
        assert_eq!(left(sent, Micros(91_000_000)), None);
        assert!(left(Micros(i64::MAX), sent).is_some());
    }
}
