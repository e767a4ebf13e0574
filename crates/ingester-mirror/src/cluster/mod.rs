//! The mirror's interface to the API server: one kind's objects as JSON texts, listed, watched, looked up, patched and deleted.
//!
//! May use: ingester-config, ingester-core, dependents, replicas.
//!
//! [`Cluster`] is the interface that the mirror needs. `api_server` implements it over kube's client; `dropped` makes answers smaller; `events` reads the events of a watch,
//! and `partial` an object's metadata. `properties` tests all of this against the bytes of answers.
//!
//! An object is cut out of an answer by its brackets, whatever its nesting and its errors. The decision if it can be read concerns this
//! object alone, and does not affect the objects that came with it.

mod api_server;
mod dropped;
mod error;
mod events;
mod partial;
#[cfg(test)]
mod properties;

pub(crate) use api_server::{ApiServer, StreamedLists, with_type};
pub(crate) use dropped::DroppedFields;
pub use error::ApiError;
pub(crate) use error::ApiErrorKind;
pub(crate) use partial::PartialObjectMeta;

use crate::dependents::Uids;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use ingester_core::Kind;
use ingester_core::object::Meta;
use serde_json::Value;

/// One page of a list.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Page {
    /// The version of the whole list, the same on each page.
    pub(crate) version: u64,
    /// The token that requests the next page; `None` on the last page.
    pub(crate) next: Option<String>,
    /// About how many objects the following pages have; `None` if the API server does not say.
    pub(crate) remaining: Option<u64>,
    /// The objects' texts.
    pub(crate) items: Vec<Box<str>>,
}

/// The state of the cluster before a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListPosition {
    pub(crate) version: u64,
    /// The number of objects; `None` if the API server does not say, as for selected objects.
    pub(crate) objects: Option<u64>,
}

/// One page of a list of metadata.
#[derive(Debug)]
pub(crate) struct MetadataPage {
    pub(crate) version: u64,
    pub(crate) next: Option<String>,
    pub(crate) items: Vec<PartialObjectMeta>,
}

/// One event of a watch.
#[derive(Debug)]
pub(crate) enum RemoteEvent {
    /// An object was created or changed.
    Applied(Box<str>),
    /// An object was deleted, or is not selected any more; its last state.
    Deleted(Box<str>),
    /// All events up to this version were sent.
    Bookmark(u64),
}

/// An event of a streamed list.
#[derive(Debug)]
pub(crate) enum ListEvent<T> {
    /// One of the objects.
    Object(T),
    /// One of the objects was deleted while the list was read; its last state. Some servers send the changes until the end of the list.
    Deleted(T),
    /// The list is complete, and shows the objects at this version. Nothing follows.
    End(u64),
}

/// A streamed list. If it ends without [`ListEvent::End`], there was no list.
pub(crate) type ListStream<T> = BoxStream<'static, Result<ListEvent<T>, ApiError>>;

/// The objects of one kind, or the selected ones, in all namespaces or in one.
///
/// # Guarantees of an implementation
/// - Lists, streamed or not, and [`Cluster::look`] are consistent reads: they show everything that existed at the time of the request.
/// - "Not found" as the answer to a list or a look means that a server that is ready does not serve the kind. A missing object is not an
///   error, but an empty answer. So no error ever means that an object is gone.
pub(crate) trait Cluster: Send + Sync {
    /// Returns a page of up to `limit` objects: the first, or the one that the previous page's token requests.
    fn list<'a>(&'a self, limit: u32, next: Option<&'a str>) -> BoxFuture<'a, Result<Page, ApiError>>;

    /// Returns a page of the objects' metadata.
    fn list_metadata<'a>(&'a self, next: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>>;

    /// Returns all objects as a stream; `None` if the API server has no streamed lists. A slow reader may be cut off.
    fn stream(&self) -> BoxFuture<'_, Result<Option<ListStream<Box<str>>>, ApiError>>;

    /// Returns the metadata of all objects as a stream; `None` if the API server has no streamed lists.
    fn stream_metadata(&self) -> BoxFuture<'_, Result<Option<ListStream<PartialObjectMeta>>, ApiError>>;

    /// Returns the cluster's current version, and about how many objects there are.
    fn position(&self) -> BoxFuture<'_, Result<ListPosition, ApiError>>;

    /// Returns the events after `version`, until the server or the connection ends the watch.
    fn watch(&self, version: u64) -> BoxFuture<'_, Result<Watch, ApiError>>;

    /// Returns the present object of this name, selected or not; `None` if there is none.
    fn look<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>>;

    /// Returns the names of the namespaces that a label selector matches now.
    fn namespaces<'a>(&'a self, selector: &'a str) -> BoxFuture<'a, Result<Vec<Box<str>>, ApiError>>;

    /// Returns the uids, out of these, of owners of objects of a kind, which may be another one, in a namespace or in all of them. It
    /// considers all objects, selected or not, and is a consistent read of their metadata.
    fn owners_among<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
        uids: &'a Uids,
    ) -> BoxFuture<'a, Result<Uids, ApiError>>;

    /// Applies a JSON patch; returns the patched object.
    fn patch<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<Box<str>, ApiError>>;

    /// Deletes the object if it still has the uid and the version of `meta`.
    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<Deletion, ApiError>>;
}

/// The result of deleting an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// It is gone.
    Gone,
    /// It is terminating, and finalizers hold it.
    Terminating,
}

/// The events of a watch.
pub(crate) type Watch = BoxStream<'static, Result<RemoteEvent, ApiError>>;
