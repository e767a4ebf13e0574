//! Takes our finalizer off every object, for the day when the ingester goes.

use super::finalizer;
use super::remote::{Refusal, Remote, RemoteError, Stub};
use futures::StreamExt as _;
use ingester_core::kind::Kind;
use ingester_core::object::Meta;

/// Requests under way at a time.
const REQUESTS: usize = 16;

/// Attempts at one object that changes all the time.
const ATTEMPTS: u32 = 5;

/// What became of one kind's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Objects looked at.
    pub objects: usize,
    /// Objects whose finalizer was taken off.
    pub removed: usize,
    /// Objects whose finalizer could not be taken off, and why.
    pub failed: Vec<String>,
    /// The kind is not installed in the cluster.
    pub not_installed: bool,
}

/// Takes the finalizer off the objects of a kind, of all namespaces or of one. Only ours, and nothing else of an object.
///
/// Whoever waits for nothing else is deleted by the API server at once. So the ingester is stopped before, or it would put the
/// finalizer on again.
///
/// # Errors
/// When the objects cannot be listed.
pub async fn remove_finalizers(
    client: &kube::Client,
    kind: &Kind,
    namespace: Option<&str>,
) -> Result<Removal, RemoteError> {
    let remote = Remote::new(client.clone(), *kind, namespace.map(Into::into));
    let mut removal = Removal::default();
    let mut next = None;
    loop {
        let page = match remote.list_metadata(next.as_deref()).await {
            Ok(page) => page,
            Err(error) if error.refusal() == Refusal::NotFound => {
                return Ok(Removal { not_installed: true, ..removal });
            }
            // The list has grown older than what the API server remembers: from the beginning.
            Err(error) if error.refusal() == Refusal::Expired && next.is_some() => {
                next = None;
                continue;
            }
            Err(error) => return Err(error),
        };
        removal.objects += page.items.len();
        let results: Vec<Result<bool, String>> = futures::stream::iter(page.items)
            .map(|stub| remove(&remote, stub))
            .buffer_unordered(REQUESTS)
            .collect()
            .await;
        for result in results {
            match result {
                Ok(removed) => removal.removed += usize::from(removed),
                Err(reason) => removal.failed.push(reason),
            }
        }
        next = page.next;
        if next.is_none() {
            return Ok(removal);
        }
    }
}

async fn remove(remote: &Remote, stub: Stub) -> Result<bool, String> {
    let mut meta = Meta { namespace: stub.namespace.clone(), name: stub.name.clone(), ..stub.meta() };
    for attempt in 1.. {
        let Some(patch) = finalizer::removal(&meta) else { return Ok(false) };
        let error = match remote.patch(&meta.namespace, &meta.name, &patch).await {
            Ok(_) => return Ok(true),
            Err(error) => error,
        };
        match error.refusal() {
            Refusal::NotFound => return Ok(false),
            Refusal::Conflict if attempt < ATTEMPTS => {
                match remote.get_metadata(&meta.namespace, &meta.name).await.map_err(|error| error.to_string())? {
                    Some(now) if now.uid == meta.uid => {
                        meta = Meta { namespace: meta.namespace, name: meta.name, ..now.meta() };
                    }
                    _ => return Ok(false),
                }
            }
            _ => return Err(error.to_string()),
        }
    }
    Ok(false)
}
