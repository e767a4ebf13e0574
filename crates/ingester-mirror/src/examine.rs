//! Finds out what an API server would answer to a mirror, without changing anything.
//!
//! May use: ingester-core, cluster, lifecycle, replicas.

use crate::cluster::{ApiError, ApiErrorKind, ApiServer, Cluster as _, StreamedLists};
use crate::lifecycle::finalizer;
use crate::replicas::shard::Shard;
use ingester_core::kind::Kind;

/// The number of objects that are skipped because they change in the meantime. A webhook may refuse with the code of a conflict, too.
const ATTEMPTS: usize = 3;

fn server(client: &kube::Client, kind: &Kind, namespace: Option<&str>) -> ApiServer {
    ApiServer::new(client.clone(), *kind, namespace.map(Into::into), Shard::WHOLE, StreamedLists::default())
}

/// Returns true if the API server sends the objects of a kind as a stream (`sendInitialEvents`, Kubernetes 1.32); otherwise the mirror
/// lists them page by page. This only begins the stream.
///
/// # Errors
/// If it does not answer, refuses the request, or does not serve the kind.
pub async fn has_streamed_lists(client: &kube::Client, kind: &Kind, namespace: Option<&str>) -> Result<bool, ApiError> {
    Ok(server(client, kind, namespace).stream_metadata().await?.is_some())
}

/// Returns the names of the namespaces that a label selector matches, as an eviction rule with `namespaceSelector` requests them.
///
/// # Errors
/// If the API server does not answer, has no namespaces, or refuses to list them; see [`ApiError::may_pass`].
pub async fn namespaces(client: &kube::Client, kind: &Kind, selector: &str) -> Result<Vec<Box<str>>, ApiError> {
    server(client, kind, None).namespaces(selector).await
}

/// The result of an attempt to add our finalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The API server would add it to this object.
    Admitted(String),
    /// Every object of the first page has it already, or is terminating.
    There,
    /// There are no objects.
    NoObjects,
}

/// Asks the API server to add our finalizer to one object of a kind, as a mirror does first, but without changing anything (`dryRun`):
/// webhooks and policies that would refuse it do so now.
///
/// # Errors
/// If the API server does not answer, refuses a request, or something in it refuses the finalizer; the error says what refuses it.
pub async fn try_finalizer(client: &kube::Client, kind: &Kind, namespace: Option<&str>) -> Result<Admission, ApiError> {
    let server = server(client, kind, namespace);
    let page = server.list_metadata(None).await?;
    let any = !page.items.is_empty();
    let without = page.items.into_iter().filter(|partial| !partial.terminating()).filter_map(|partial| {
        let meta = partial.into_meta();
        let patch = finalizer::addition(&meta, kind.marks())?;
        Some((meta, patch))
    });
    for (attempt, (meta, patch)) in without.enumerate() {
        match server.try_patch(&meta.namespace, &meta.name, &patch).await {
            Ok(()) if meta.namespace.is_empty() => return Ok(Admission::Admitted(meta.name.into())),
            Ok(()) => return Ok(Admission::Admitted(format!("{}/{}", meta.namespace, meta.name))),
            // The object has changed in the meantime, or is gone: try another one.
            Err(error)
                if attempt < ATTEMPTS && matches!(error.kind(), ApiErrorKind::Conflict | ApiErrorKind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(if any { Admission::There } else { Admission::NoObjects })
}
