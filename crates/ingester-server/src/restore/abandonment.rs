//! Gives up a restore that was interrupted.

use super::cluster::Cluster;
use super::flow::{Source, Task};
use super::{RestoreRequest, RestoredObject};
use crate::read;
use crate::status::Status;
use crate::write::find::failed;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::{Effect, Store};
use std::time::Duration;

/// The time for which a request to create the object may be in progress: longer than its sender waits, and longer than the API server works
/// on it.
const UNDER_WAY: Duration = Duration::from_secs(90);

/// The result of [`give_up`].
#[derive(Clone, Debug, PartialEq)]
pub enum Abandonment {
    /// The object had been created, and its restore was completed.
    Completed(Box<RestoredObject>),
    /// The restore was given up: the row is as it was before.
    GivenUp {
        /// The object's name.
        name: String,
        /// The uid of the row.
        uid: Box<str>,
    },
}

/// Gives up an interrupted restore. If its object is in the cluster after all, completes the restore.
///
/// # Errors
/// [`Status`]: 404 without such a row; 409 if no restore of it is open, or if its object may still be created; the API server's errors.
pub async fn give_up(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    wanted: RestoreRequest<'_>,
) -> Result<Abandonment, Status> {
    // Read the clock before asking the cluster, so that a request that arrives later counts as younger.
    let now = store.read_clock().await.map_err(failed)?;
    give_up_at(store, client, kind, wanted, now).await
}

/// Does the same at a time of the database's clock.
pub(super) async fn give_up_at(
    store: &Store,
    client: kube::Client,
    kind: &Kind,
    wanted: RestoreRequest<'_>,
    now: Micros,
) -> Result<Abandonment, Status> {
    let source = Source::find(store, kind, wanted).await?;
    let resource = read::resource(kind);
    let name = source.object.name.clone();
    let conflict = |why: &str| Status::conflict(resource.as_resource(), &name, why);
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

/// Returns how long a request that was sent at this time may still be in progress.
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
