//! Removes our finalizer from every object, for uninstalling.
//!
//! May use: ingester-core, cluster, lifecycle, replicas, unit.

use crate::cluster::{ApiError, ApiErrorKind, ApiServer, Cluster, PartialObjectMeta, StreamedLists};
use crate::lifecycle::finalizer;
use crate::replicas::shard::Shard;
use crate::unit::parse;
use futures::StreamExt as _;
use ingester_core::kind::Kind;
use ingester_core::object::ManagedFields;

/// The number of concurrent requests.
const REQUESTS: usize = 16;

/// Attempts at an object that keeps changing.
const ATTEMPTS: u32 = 5;

/// The result for one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Objects read.
    pub objects: usize,
    /// Objects whose finalizer was removed.
    pub removed: usize,
    /// The reasons why finalizers could not be removed, one message per object.
    pub failed: Vec<String>,
    /// The kind is not installed in the cluster.
    pub not_installed: bool,
}

/// Removes our finalizer, and nothing else, from the objects of a kind, in all namespaces or in one.
///
/// The API server then deletes every terminating object that has no other finalizer. Stop the ingester first, or it adds the
/// finalizer again.
///
/// # Errors
/// When the objects cannot be listed.
pub async fn remove_finalizers(
    client: &kube::Client,
    kind: &Kind,
    namespace: Option<&str>,
) -> Result<Removal, ApiError> {
    let server =
        ApiServer::new(client.clone(), *kind, namespace.map(Into::into), Shard::WHOLE, StreamedLists::default());
    let mut removal = Removal::default();
    let mut next = None;
    loop {
        let page = match server.list_metadata(next.as_deref()).await {
            Ok(page) => page,
            Err(error) if error.kind() == ApiErrorKind::NotFound => {
                return Ok(Removal { not_installed: true, ..removal });
            }
            // The list took longer than the API server keeps its version: start over.
            Err(error) if error.kind() == ApiErrorKind::Expired && next.is_some() => {
                next = None;
                continue;
            }
            Err(error) => return Err(error),
        };
        removal.objects += page.items.len();
        let results: Vec<Result<bool, String>> = futures::stream::iter(page.items)
            .map(|partial| remove(kind, &server, partial))
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

async fn remove(kind: &Kind, server: &ApiServer, partial: PartialObjectMeta) -> Result<bool, String> {
    let mut meta = partial.into_meta();
    for attempt in 1.. {
        let Some(patch) = finalizer::removal(&meta, kind.marks()) else { return Ok(false) };
        let error = match server.patch(&meta.namespace, &meta.name, &patch).await {
            Ok(_) => return Ok(true),
            Err(error) => error,
        };
        match error.kind() {
            ApiErrorKind::NotFound => return Ok(false),
            ApiErrorKind::Conflict if attempt < ATTEMPTS => {
                let now = server.look(&meta.namespace, &meta.name).await.map_err(|error| error.to_string())?;
                let now = now.map(|text| parse(kind, text, ManagedFields::Prune)).transpose();
                match now.map_err(|(_, reason)| reason)? {
                    Some(now) if now.meta().uid == meta.uid => meta = now.meta().clone(),
                    _ => return Ok(false),
                }
            }
            _ => return Err(error.to_string()),
        }
    }
    Ok(false)
}
