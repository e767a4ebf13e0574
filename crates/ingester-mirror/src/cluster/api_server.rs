//! The API server of a cluster.
//!
//! kube's client sends the requests. Its typed objects are not used, because the text itself is stored, and because a list
//! item of a built-in kind lacks the `apiVersion` and `kind` that an object has everywhere else.

use super::dropped::DroppedFields;
use super::error::{ApiError, ApiErrorKind};
use super::events::{Event, Events, FromText, left_out, readable};
use super::{
    Cluster, Deletion, ListEvent, ListPosition, ListStream, MetadataPage, Page, PartialObjectMeta, RemoteEvent, Watch,
};
use crate::dependents::Uids;
use crate::replicas::shard::Shard;
use futures::future::BoxFuture;
use futures::{AsyncBufRead, AsyncBufReadExt as _, FutureExt as _, StreamExt as _};
use ingester_config::Selection;
use ingester_core::json::{self, Reader};
use ingester_core::kind::Kind;
use ingester_core::object::{Meta, owner_uids};
use kube::Client;
use kube::core::params::{DeleteParams, ListParams, Preconditions, WatchParams};
use kube::core::request::Request;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// The most objects in a page of a list of metadata, which is a tenth of the size.
const METADATA_PAGE: u32 = 2000;

/// If a page of metadata arrives within this time, the next one may have twice as many objects.
const FAST: Duration = Duration::from_secs(3);

/// The time limit for one request, as in the reference system.
const REQUEST: Duration = Duration::from_secs(30);

/// The number of seconds after which the API server ends a watch: fewer than the five minutes after which proxies cut a connection.
const WATCH_SECONDS: u32 = 290;

/// The longest silence of a watch. Bookmarks come once a minute, and the server ends the watch after [`WATCH_SECONDS`].
const SILENCE: Duration = Duration::from_secs(330);

/// The number of seconds after which the API server ends a streamed list: as many as for a watch without a time. A reader that has not read
/// everything by then continues with a list that skips stored objects.
const STREAM_SECONDS: u32 = 3600;

/// The longest silence of a streamed list.
const STREAM_SILENCE: Duration = REQUEST;

/// Remembers if the API server has streamed lists (`sendInitialEvents`), as the first request for one has shown. All kinds of a process
/// share it.
#[derive(Clone, Default)]
pub(crate) struct StreamedLists(Arc<AtomicU8>);

impl StreamedLists {
    const THERE: u8 = 1;
    const MISSING: u8 = 2;

    fn is_missing(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::MISSING
    }

    /// Records that a list was streamed to its end.
    fn there(&self) {
        self.0.store(Self::THERE, Ordering::Relaxed);
    }

    /// Records that the API server refused. If it is known to have streamed lists, another replica may have answered, or it is being
    /// replaced right now.
    fn refused(&self, why: &ApiError) {
        if self.0.compare_exchange(0, Self::MISSING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            tracing::info!(%why, "This API server has no streamed lists: objects are listed page by page");
        }
    }
}

/// Returns true if a name can be a segment of an API path.
fn is_path_segment(name: &str) -> bool {
    !name.is_empty()
        && !matches!(name, "." | "..")
        && name.bytes().all(|b| b.is_ascii_graphic() && !b"/%?#".contains(&b))
}

/// The objects of one kind on the API server, in all namespaces or in one.
#[derive(Clone)]
pub(crate) struct ApiServer {
    client: Client,
    kind: Kind,
    namespace: Option<Box<str>>,
    /// The shard to request. An API server without shards sends all objects.
    shard: Shard,
    /// The objects to request.
    selection: Arc<Selection>,
    streams: StreamedLists,
    /// Asks for objects without `metadata.managedFields`; `None` if the mirror reads them.
    dropped: Option<DroppedFields>,
    /// The number of objects in a page of metadata: fewer after a page took too long.
    metadata_page: Arc<AtomicU32>,
}

impl ApiServer {
    pub(crate) fn new(
        client: Client,
        kind: Kind,
        namespace: Option<Box<str>>,
        shard: Shard,
        streams: StreamedLists,
    ) -> Self {
        let metadata_page = Arc::new(AtomicU32::new(METADATA_PAGE));
        ApiServer { client, kind, namespace, shard, selection: Arc::default(), streams, dropped: None, metadata_page }
    }

    /// All objects of a kind.
    pub(crate) fn of_all(client: &Client, kind: &Kind) -> Self {
        ApiServer::new(client.clone(), *kind, None, Shard::WHOLE, StreamedLists::default())
    }

    /// Limits lists and watches to these objects.
    pub(crate) fn selecting(self, selection: Arc<Selection>) -> Self {
        ApiServer { selection, ..self }
    }

    /// Asks for objects without `metadata.managedFields`, if the API server can leave them out.
    pub(crate) fn dropping(self, dropped: DroppedFields) -> Self {
        ApiServer { dropped: Some(dropped), ..self }
    }

    /// Sends a request and returns the body of its answer.
    async fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<impl AsyncBufRead + Unpin + Send + use<>, kube::Error> {
        if let Some(dropped) = &self.dropped
            && let Some(shorter) = dropped.shorten(&request)
        {
            match self.client.request_stream(shorter).await {
                Err(kube::Error::Api(status)) if status.code == NOT_ACCEPTABLE => dropped.refuse(),
                answer => return answer,
            }
        }
        self.client.request_stream(request).await
    }

    /// Returns the same request for the selected objects of the shard.
    fn of_part(&self, mut request: http::Request<Vec<u8>>) -> http::Request<Vec<u8>> {
        let mut parameters = self.selection.parameters();
        if !self.shard.is_whole() {
            // All its characters are valid in a query.
            let separator = if parameters.is_empty() { "" } else { "&" };
            parameters.push_str(&format!("{separator}shardSelector={}", self.shard.selector()));
        }
        if parameters.is_empty() {
            return request;
        }
        let uri = request.uri().to_string();
        let separator = if uri.contains('?') { '&' } else { '?' };
        // A URI stays valid with more parameters.
        if let Ok(uri) = format!("{uri}{separator}{parameters}").parse() {
            *request.uri_mut() = uri;
        }
        request
    }

    fn url(&self, namespace: Option<&str>) -> String {
        let group = self.kind.group();
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let version = self.kind.version();
        let plural = self.kind.plural();
        match namespace.filter(|namespace| self.kind.namespaced() && !namespace.is_empty()) {
            Some(namespace) => format!("{root}/{version}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{version}/{plural}"),
        }
    }

    fn all(&self) -> Request {
        Request::new(self.url(self.namespace.as_deref()))
    }

    /// A request for one object, and the text for an error.
    fn one(&self, doing: &str, namespace: &str, name: &str) -> Result<(Request, String), ApiError> {
        let doing = format!("{doing} {} {}", self.kind.name(), Named(namespace, name));
        if !is_path_segment(name) || !(namespace.is_empty() || is_path_segment(namespace)) {
            return Err(ApiError::new(doing, "this name cannot stand in a path of the API", ApiErrorKind::NotFound));
        }
        Ok((Request::new(self.url(Some(namespace))), doing))
    }

    /// Returns the text of an answer. Bytes that are not UTF-8 spoil only the object that contains them.
    async fn fetch_text(&self, doing: &str, request: http::Request<Vec<u8>>) -> Result<String, ApiError> {
        let answer = async {
            let body = self.send(request).await;
            let mut body = body.map_err(|error| ApiError::from_kube(doing, error))?;
            // Collect the answer in pieces: the last growth of a single vector would hold up to three times a large page.
            let mut pieces = Vec::new();
            loop {
                let piece = body.fill_buf().await;
                let piece = piece
                    .map_err(|error| ApiError::new(doing, super::error::chain(&error), ApiErrorKind::Transient))?;
                if piece.is_empty() {
                    return Ok(readable(pieces.concat()));
                }
                let length = piece.len();
                pieces.push(piece.to_vec());
                body.consume_unpin(length);
            }
        };
        match tokio::time::timeout(REQUEST, answer).await {
            Ok(text) => text,
            Err(_) => {
                let reason = format!("no answer within {} s", REQUEST.as_secs());
                Err(ApiError { timeout: true, ..ApiError::new(doing, reason, ApiErrorKind::Transient) })
            }
        }
    }

    async fn send_patch(
        &self,
        namespace: &str,
        name: &str,
        patch: &Value,
        parameters: &str,
    ) -> Result<Box<str>, ApiError> {
        let (_, doing) = self.one("patching the finalizers of", namespace, name)?;
        let request = http::Request::patch(format!("{}/{name}{parameters}", self.url(Some(namespace))))
            .header(http::header::CONTENT_TYPE, "application/json-patch+json")
            .body(patch.to_string().into_bytes())
            .map_err(|error| ApiError::new(doing.as_str(), error.to_string(), ApiErrorKind::Other))?;
        self.fetch_text(&doing, request).await.map(Into::into)
    }

    /// Asks everything that may refuse a JSON patch, without changing the object (`dryRun`, Kubernetes 1.18).
    pub(crate) async fn try_patch(&self, namespace: &str, name: &str, patch: &Value) -> Result<(), ApiError> {
        self.send_patch(namespace, name, patch, "?dryRun=All").await.map(drop)
    }

    /// Returns the answer to a list. "Not found" counts only from a server that is ready: a starting server gives this answer for every
    /// CustomResourceDefinition that it has not read yet.
    async fn listed(&self, doing: &str, request: http::Request<Vec<u8>>) -> Result<String, ApiError> {
        match self.fetch_text(doing, request.clone()).await {
            Err(error) if error.kind == ApiErrorKind::NotFound => {
                self.ready(doing).await?;
                self.fetch_text(doing, request).await
            }
            answer => answer,
        }
    }

    /// Fails if the API server says that it is not ready. A server that does not answer this question counts as ready.
    async fn ready(&self, doing: &str) -> Result<(), ApiError> {
        let request = http::Request::get("/readyz").body(Vec::new());
        let request = request.map_err(|error| ApiError::new(doing, error.to_string(), ApiErrorKind::Other))?;
        match self.fetch_text(doing, request).await {
            Err(error) if error.kind == ApiErrorKind::Transient => {
                Err(ApiError { reason: format!("the API server is not ready: {}", error.reason), ..error })
            }
            _ => Ok(()),
        }
    }

    /// A page of the texts of objects that have only their metadata.
    async fn metadata(&self, limit: u32, next: Option<&str>) -> Result<Page, ApiError> {
        let doing = self.listing_metadata();
        let request = self.all().list_metadata(&page(limit, next)).map_err(|error| built(&doing, error))?;
        let text = self.listed(&doing, self.of_part(request)).await?;
        split(&text).map_err(|error| no_list(&doing, &error, &text))
    }

    fn listing_metadata(&self) -> String {
        format!("listing the metadata of {}", self.kind.plural())
    }

    /// Returns the uids, out of these, of owners of the objects. An object whose metadata cannot be read is an error, because its owners
    /// are unknown.
    async fn owners(&self, uids: &Uids) -> Result<Uids, ApiError> {
        let mut found = Uids::new();
        let mut next: Option<String> = None;
        loop {
            let page = self.metadata_in_time(next.as_deref()).await?;
            for item in &page.items {
                let owners = owner_uids(item);
                let owners = owners.map_err(|error| no_list(&self.listing_metadata(), &error, item))?;
                found.extend(owners.into_iter().filter(|owner| uids.contains(owner)));
            }
            next = page.next;
            if next.is_none() {
                return Ok(found);
            }
        }
    }

    /// Lets the API server select, by its own labels at this moment. The result is not cached, because namespaces may change.
    async fn all_namespaces(&self, selector: &str) -> Result<Vec<Box<str>>, ApiError> {
        let doing = format!("listing the namespaces with `{selector}`");
        let (mut names, mut next): (_, Option<String>) = (Vec::new(), None);
        loop {
            let parameters = page(METADATA_PAGE, next.as_deref()).labels(selector);
            let request = Request::new("/api/v1/namespaces").list_metadata(&parameters);
            let text = match self.listed(&doing, request.map_err(|error| built(&doing, error))?).await {
                // A server that has only custom resources answers with its paths, which kube turns into an empty Status.
                Err(error) if error.reason.is_empty() => {
                    self.ready(&doing).await?;
                    return Err(ApiError::new(doing, "the API server has no namespaces", ApiErrorKind::NotFound));
                }
                text => text?,
            };
            let page = split(&text).map_err(|error| no_list(&doing, &error, &text))?;
            let read = page.items.iter().filter_map(|item| PartialObjectMeta::from_text(item).ok());
            names.extend(read.map(|namespace| namespace.name));
            next = page.next;
            if next.is_none() {
                return Ok(names);
            }
        }
    }

    /// Returns a page of metadata. A page that takes too long is requested again with half as many objects, down to one, so that even a
    /// slow API server can be read.
    async fn metadata_in_time(&self, next: Option<&str>) -> Result<Page, ApiError> {
        loop {
            let limit = self.metadata_page.load(Ordering::Relaxed);
            let begin = Instant::now();
            match self.metadata(limit, next).await {
                Err(error) if error.kind == ApiErrorKind::Transient && error.is_timeout() && limit > 1 => {
                    let objects = limit / 2;
                    self.metadata_page.store(objects, Ordering::Relaxed);
                    tracing::warn!(kind = self.kind.name(), %error, objects, "Asking for a smaller page of metadata");
                }
                Ok(page) => {
                    if begin.elapsed() < FAST && limit < METADATA_PAGE {
                        self.metadata_page.store(limit.saturating_mul(2).min(METADATA_PAGE), Ordering::Relaxed);
                    }
                    return Ok(page);
                }
                error => return error,
            }
        }
    }

    /// Opens a watch. It is not compressed, because each event would be compressed by itself.
    async fn open(
        &self,
        doing: &str,
        mut request: http::Request<Vec<u8>>,
    ) -> Result<impl AsyncBufRead + Unpin + Send + use<>, ApiError> {
        let identity = http::HeaderValue::from_static("identity");
        request.headers_mut().insert(http::header::ACCEPT_ENCODING, identity);
        match tokio::time::timeout(REQUEST, self.send(request)).await {
            Ok(lines) => lines.map_err(|error| ApiError::from_kube(doing, error)),
            Err(_) => Err(ApiError::new(doing, "no answer", ApiErrorKind::Transient)),
        }
    }

    async fn open_watch(&self, version: u64) -> Result<Watch, ApiError> {
        let doing = format!("watching {}", self.kind.plural());
        let parameters = WatchParams::default().timeout(WATCH_SECONDS);
        let request = self.all().watch(&parameters, &version.to_string()).map_err(|error| built(&doing, error))?;
        let lines = self.open(&doing, self.of_part(request)).await?;
        let events = futures::stream::unfold(Some(Events::new(lines, doing)), |events| async {
            let mut events = events?;
            let event = match events.next(SILENCE).await? {
                Ok(Event::Applied(text)) => RemoteEvent::Applied(text),
                Ok(Event::Deleted(text)) => RemoteEvent::Deleted(text),
                Ok(Event::Bookmark { version, .. }) => RemoteEvent::Bookmark(version),
                Err(error) => return Some((Err(error), None)),
            };
            Some((Ok(event), Some(events)))
        });
        Ok(events.boxed())
    }

    /// Requests all objects, or the parts of them that `accept` asks for, as the beginning of a watch. kube's own parameters limit a watch
    /// to five minutes, and a first fill may take longer.
    async fn open_list<T: FromText + Send + 'static>(&self, accept: &str) -> Result<Option<ListStream<T>>, ApiError> {
        if self.streams.is_missing() {
            return Ok(None);
        }
        let doing = format!("listing {} as a stream", self.kind.plural());
        let parameters = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let url = format!(
            "{}?{parameters}&resourceVersion=&timeoutSeconds={STREAM_SECONDS}",
            self.url(self.namespace.as_deref())
        );
        let request = http::Request::get(url).header(http::header::ACCEPT, accept).body(Vec::new());
        let request = request.map_err(|error| ApiError::new(doing.as_str(), error.to_string(), ApiErrorKind::Other))?;
        let request = self.of_part(request);
        let lines = match self.open(&doing, request.clone()).await {
            // A field that selectors do not support is refused with the same code; a list in pages then tells the reason.
            Err(error) if error.code == 400 && !self.selection.is_all() => return Ok(None),
            // Older servers refuse the parameters.
            Err(error) if matches!(error.code, 400 | 422) => {
                self.streams.refused(&error);
                return Ok(None);
            }
            // As in `listed`.
            Err(error) if error.kind == ApiErrorKind::NotFound => {
                self.ready(&doing).await?;
                self.open(&doing, request).await?
            }
            lines => lines?,
        };
        let state = Some((Events::new(lines, doing.clone()), self.streams.clone()));
        let list = futures::stream::unfold(state, move |state| {
            let doing = doing.clone();
            async move {
                let (mut events, streams) = state?;
                loop {
                    let listed = match events.next::<T>(STREAM_SILENCE).await {
                        Some(Ok(Event::Applied(object))) => ListEvent::Object(object),
                        Some(Ok(Event::Bookmark { version, listed: true })) => {
                            streams.there();
                            return Some((Ok(ListEvent::End(version)), None));
                        }
                        Some(Ok(Event::Deleted(object))) => ListEvent::Deleted(object),
                        Some(Ok(Event::Bookmark { .. })) => continue,
                        Some(Err(error)) => return Some((Err(error), None)),
                        None => {
                            let error =
                                ApiError::new(doing, "the stream ended before the list", ApiErrorKind::Transient);
                            return Some((Err(error), None));
                        }
                    };
                    return Some((Ok(listed), Some((events, streams))));
                }
            }
        });
        Ok(Some(list.boxed()))
    }
}

/// The code by which a server refuses the media types of a request.
const NOT_ACCEPTABLE: u16 = http::StatusCode::NOT_ACCEPTABLE.as_u16();

/// Requests only the objects' metadata.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

impl Cluster for ApiServer {
    fn list<'a>(&'a self, limit: u32, next: Option<&'a str>) -> BoxFuture<'a, Result<Page, ApiError>> {
        async move {
            let doing = format!("listing {}", self.kind.plural());
            let request = self.all().list(&page(limit, next)).map_err(|error| built(&doing, error))?;
            let text = self.listed(&doing, self.of_part(request)).await?;
            split(&text).map_err(|error| no_list(&doing, &error, &text))
        }
        .boxed()
    }

    fn list_metadata<'a>(&'a self, next: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>> {
        async move {
            let Page { version, next, items, .. } = self.metadata_in_time(next).await?;
            let read = |item: Box<str>| match PartialObjectMeta::from_text(&item) {
                Ok(partial) => Some(partial),
                Err(error) => {
                    left_out(&self.listing_metadata(), &error);
                    None
                }
            };
            Ok(MetadataPage { version, next, items: items.into_iter().filter_map(read).collect() })
        }
        .boxed()
    }

    fn stream(&self) -> BoxFuture<'_, Result<Option<ListStream<Box<str>>>, ApiError>> {
        self.open_list("application/json").boxed()
    }

    fn stream_metadata(&self) -> BoxFuture<'_, Result<Option<ListStream<PartialObjectMeta>>, ApiError>> {
        self.open_list(METADATA).boxed()
    }

    fn position(&self) -> BoxFuture<'_, Result<ListPosition, ApiError>> {
        async move {
            let Page { version, next, remaining, items } = self.metadata(1, None).await?;
            let all = items.len() as u64;
            let objects =
                if next.is_none() { Some(all) } else { remaining.map(|remaining| remaining.saturating_add(all)) };
            Ok(ListPosition { version, objects })
        }
        .boxed()
    }

    fn watch(&self, version: u64) -> BoxFuture<'_, Result<Watch, ApiError>> {
        self.open_watch(version).boxed()
    }

    /// Lists this one name. For the API server this is as cheap as reading the object, and its answer distinguishes a missing object from a
    /// kind that is not served: reading the object returns "not found" for both.
    fn look<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>> {
        async move {
            let (request, doing) = self.one("reading", namespace, name)?;
            let parameters = ListParams::default().fields(&format!("metadata.name={name}")).limit(1);
            let request = request.list(&parameters).map_err(|error| built(&doing, error))?;
            let text = self.listed(&doing, request).await?;
            let page = split(&text).map_err(|error| no_list(&doing, &error, &text))?;
            Ok(page.items.into_iter().next())
        }
        .boxed()
    }

    fn namespaces<'a>(&'a self, selector: &'a str) -> BoxFuture<'a, Result<Vec<Box<str>>, ApiError>> {
        self.all_namespaces(selector).boxed()
    }

    fn owners_among<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
        uids: &'a Uids,
    ) -> BoxFuture<'a, Result<Uids, ApiError>> {
        async move {
            if let Some(namespace) = namespace.filter(|namespace| !is_path_segment(namespace)) {
                let reason = format!("the namespace `{namespace}` cannot stand in a path of the API");
                return Err(ApiError::new(self.listing_metadata(), reason, ApiErrorKind::Other));
            }
            let client = self.client.clone();
            let streams = self.streams.clone();
            let namespace = namespace.map(Into::into);
            ApiServer::new(client, *kind, namespace, Shard::WHOLE, streams).owners(uids).await
        }
        .boxed()
    }

    fn patch<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<Box<str>, ApiError>> {
        self.send_patch(namespace, name, patch, "").boxed()
    }

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<Deletion, ApiError>> {
        async move {
            let (request, doing) = self.one("deleting", &meta.namespace, &meta.name)?;
            let preconditions = Preconditions {
                resource_version: Some(meta.resource_version.to_string()),
                uid: Some(meta.uid.to_string()),
            };
            let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            let request = request.delete(&meta.name, &parameters).map_err(|error| built(&doing, error))?;
            self.fetch_text(&doing, request).await.map(|answer| deletion(&answer))
        }
        .boxed()
    }
}

/// Reads the answer to a deletion. The API server answers with `Status: Success` once an object is gone, and with the object while
/// finalizers hold it. Any other answer says nothing, so the object may still exist.
fn deletion(answer: &str) -> Deletion {
    #[derive(serde::Deserialize)]
    struct DeletionResponse<'a> {
        #[serde(borrow, default)]
        kind: std::borrow::Cow<'a, str>,
        #[serde(default, rename = "apiVersion", borrow)]
        api_version: std::borrow::Cow<'a, str>,
        status: Option<serde_json::Value>,
    }
    match serde_json::from_str::<DeletionResponse<'_>>(answer) {
        Ok(DeletionResponse { kind, api_version, status: Some(status) })
            if kind == "Status" && api_version == "v1" && status == "Success" =>
        {
            Deletion::Gone
        }
        _ => Deletion::Terminating,
    }
}

/// Returns the parameters of one page of a list.
fn page(limit: u32, next: Option<&str>) -> ListParams {
    let parameters = ListParams::default().limit(limit);
    match next {
        Some(token) => parameters.continue_token(token),
        None => parameters,
    }
}

const NO_VERSION: &str = "the answer has no resourceVersion that is a number";

/// The error of a request that cannot be built.
fn built(doing: &str, error: kube::core::request::Error) -> ApiError {
    ApiError::new(doing, error.to_string(), ApiErrorKind::Other)
}

/// The error of an answer that is not a list.
fn no_list(doing: &str, error: &json::Error, text: &str) -> ApiError {
    ApiError::new(doing, error.clone().locate(text).to_string(), ApiErrorKind::Other)
}

/// Displays `namespace/name`, or the name alone.
struct Named<'a>(&'a str, &'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str(self.1) } else { write!(f, "{}/{}", self.0, self.1) }
    }
}

/// Splits a list's text into the texts of its items. An item is cut out by its brackets, however deep they are nested. Later code decides
/// for each item alone if it can be read.
fn split(text: &str) -> Result<Page, json::Error> {
    let mut version = None;
    let mut next = None;
    let mut remaining = None;
    let mut items = Vec::new();
    let mut reader = Reader::new(text);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        match key.as_ref() {
            "metadata" => {
                reader.begin_object()?;
                while let Some(key) = reader.next_key()? {
                    match key.as_ref() {
                        "resourceVersion" => {
                            let at = reader.offset();
                            let number = reader.string()?.parse();
                            version = Some(number.map_err(|_| json::Error::value(at, NO_VERSION))?);
                        }
                        "continue" => next = Some(reader.string()?.into_owned()).filter(|token| !token.is_empty()),
                        // Only an estimate: ignore a value that is not a number.
                        "remainingItemCount" => remaining = reader.pass()?.parse().ok(),
                        _ => reader.pass().map(drop)?,
                    }
                }
            }
            "items" => {
                // An API server may write an empty list as null.
                if reader.peek()? == json::TokenKind::Null {
                    reader.null()?;
                    continue;
                }
                reader.begin_array()?;
                while reader.next_element()? {
                    items.push(reader.pass()?.into());
                }
            }
            _ => reader.pass().map(drop)?,
        }
    }
    reader.finish()?;
    let version = version.ok_or_else(|| json::Error::value(0, NO_VERSION))?;
    Ok(Page { version, next, remaining, items })
}

/// An item's text with `apiVersion` and `kind`, which the API server leaves out of the list items of built-in kinds.
pub(crate) fn with_type(text: &str, kind: &Kind) -> String {
    let members = text.trim_start().strip_prefix('{').unwrap_or_default();
    let comma = if members.trim_start().starts_with('}') { "" } else { "," };
    format!(r#"{{"apiVersion":"{}","kind":"{}"{comma}{members}"#, kind.api_version(), kind.kind())
}

#[cfg(test)]
mod tests {
    use super::super::DroppedFields;
    use super::{
        ApiError, ApiErrorKind, ApiServer, Cluster as _, Deletion, ListEvent, ListPosition, METADATA, Page,
        StreamedLists, deletion, is_path_segment, split,
    };
    use crate::cluster::error::kind_of;
    use crate::fixture::MODEL;
    use crate::replicas::shard::Shard;
    use futures::TryStreamExt as _;
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use parking_lot::Mutex;
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::sync::Arc;

    #[test]
    fn only_a_status_of_success_says_that_an_object_is_gone() {
        let status = r#"{"kind":"Status","apiVersion":"v1","status":"Success","details":{"uid":"u"}}"#;
        assert_eq!(deletion(status), Deletion::Gone);
        for other in [
            r#"{"kind":"Model","apiVersion":"michelangelo.api/v2","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}"#,
            r#"{"kind":"Model","apiVersion":"v1","status":"Success"}"#,
            r#"{"kind":"Status","apiVersion":"michelangelo.api/v2","status":"Success"}"#,
            r#"{"kind":"Status","apiVersion":"v1","status":"Failure"}"#,
            r#"{"kind":"Status","apiVersion":"v1","status":{"status":"Success"}}"#,
            r#"{"kind":"Status","apiVersion":"v1"}"#,
            "{}",
            "",
            "Success",
        ] {
            assert_eq!(deletion(other), Deletion::Terminating, "{other}");
        }
    }

    const LIST: &str = "/apis/michelangelo.api/v2/models";

    /// The result of a list if the server answers these paths, in this order, with these codes.
    async fn listed(answers: &[(&'static str, u16)]) -> Result<Page, ApiErrorKind> {
        let answers = Arc::new(Mutex::new(answers.iter().copied().collect::<VecDeque<_>>()));
        let left = answers.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (path, code) = answers.lock().pop_front().expect("one request more than there are answers");
            assert_eq!(request.uri().path(), path);
            let text = match code {
                200 => r#"{"metadata":{"resourceVersion":"1"},"items":[]}"#.to_owned(),
                _ => {
                    format!(r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":{code}}}"#)
                }
            };
            let answer = Response::builder().status(code).body(Body::from(text.into_bytes())).unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        let page = ApiServer::new(Client::new(service, "default"), MODEL, None, Shard::WHOLE, StreamedLists::default())
            .list(2, None)
            .await;
        assert!(left.lock().is_empty(), "requests that were not made: {left:?}");
        page.map_err(|error| error.kind())
    }

    #[tokio::test]
    async fn a_kind_counts_as_missing_only_if_a_ready_server_says_so() {
        let page = || Page { version: 1, ..Page::default() };
        assert_eq!(listed(&[(LIST, 200)]).await, Ok(page()));
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 500)]).await, Err(ApiErrorKind::Transient));
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 200), (LIST, 404)]).await, Err(ApiErrorKind::NotFound));
        // The server became ready in between.
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 200), (LIST, 200)]).await, Ok(page()));
        // The right to ask may be missing, or the endpoint.
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 403), (LIST, 404)]).await, Err(ApiErrorKind::NotFound));
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 404), (LIST, 404)]).await, Err(ApiErrorKind::NotFound));
        assert_eq!(listed(&[(LIST, 503)]).await, Err(ApiErrorKind::Transient));
    }

    /// The results of streamed lists if the server answers each with this code and text, and the number of requests.
    async fn streamed(
        lists: usize,
        code: u16,
        text: &'static str,
    ) -> (Vec<Result<Option<Vec<String>>, ApiErrorKind>>, usize) {
        let asked = Arc::new(Mutex::new(0));
        let count = asked.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            *count.lock() += 1;
            let query = request.uri().query().unwrap_or_default();
            assert!(query.contains("sendInitialEvents=true&resourceVersionMatch=NotOlderThan"), "{query}");
            let answer = Response::builder().status(code).body(Body::from(text.as_bytes().to_vec())).unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        let server =
            ApiServer::new(Client::new(service, "default"), MODEL, None, Shard::WHOLE, StreamedLists::default());
        let mut results = Vec::new();
        for _ in 0..lists {
            results.push(match server.stream().await {
                Ok(None) => Ok(None),
                Ok(Some(stream)) => {
                    let listed: Result<Vec<ListEvent<Box<str>>>, _> = stream.try_collect().await;
                    let told = |listed: &ListEvent<Box<str>>| match listed {
                        ListEvent::Object(text) => text.to_string(),
                        ListEvent::Deleted(text) => format!("deleted {text}"),
                        ListEvent::End(version) => format!("end {version}"),
                    };
                    listed.map(|listed| Some(listed.iter().map(told).collect())).map_err(|error| error.kind())
                }
                Err(error) => Err(error.kind()),
            });
        }
        (results, *asked.clone().lock())
    }

    #[tokio::test]
    async fn a_streamed_list_ends_at_its_bookmark() {
        let text = concat!(
            r#"{"type":"ADDED","object":{"a":1}}"#,
            "\n",
            r#"{"type":"DELETED","object":{"a":1}}"#,
            "\n",
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}}"#,
            "\n",
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
            "\n",
            r#"{"type":"ADDED","object":{"b":1}}"#,
            "\n",
        );
        let expected = [r#"{"a":1}"#, r#"deleted {"a":1}"#, "end 7"].map(str::to_owned).to_vec();
        assert_eq!(streamed(1, 200, text).await, (vec![Ok(Some(expected))], 1));
    }

    #[tokio::test]
    async fn a_stream_without_its_bookmark_is_not_a_list() {
        let text = "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n";
        assert_eq!(streamed(1, 200, text).await, (vec![Err(ApiErrorKind::Transient)], 1));
    }

    #[tokio::test]
    async fn a_server_without_streamed_lists_is_asked_once() {
        let refused = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden","code":422}"#;
        assert_eq!(streamed(3, 422, refused).await, (vec![Ok(None); 3], 1));
        let server = StreamedLists::default();
        server.there();
        server.refused(&ApiError::new("listing", "no", ApiErrorKind::Conflict));
        assert!(!server.is_missing(), "one that had them may have them again");
        let busy = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"busy","code":503}"#;
        assert_eq!(streamed(2, 503, busy).await, (vec![Err(ApiErrorKind::Transient); 2], 2));
    }

    /// Sends each kind of read to a server that answers with `code` while a request drops fields, and returns the Accept headers of all
    /// requests.
    async fn accepted(dropped: Option<DroppedFields>, code: u16) -> Vec<String> {
        let headers = Arc::new(Mutex::new(Vec::new()));
        let seen = headers.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let accept = request.headers().get(http::header::ACCEPT);
            let accept = accept.map_or("", |value| value.to_str().unwrap()).to_owned();
            let code = if accept.contains("drop=") { code } else { 200 };
            seen.lock().push(accept);
            let text = match code {
                200 => r#"{"metadata":{"resourceVersion":"1"},"items":[]}"#,
                _ => r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":406}"#,
            };
            let answer = Response::builder().status(code).body(Body::from(text.as_bytes().to_vec())).unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        let client = Client::new(service, "default");
        let server = ApiServer { dropped, ..ApiServer::of_all(&client, &MODEL) };
        server.list(2, None).await.unwrap();
        server.list_metadata(None).await.unwrap();
        server.look("ml", "a").await.unwrap();
        drop(server.watch(1).await.unwrap());
        drop(server.stream().await.unwrap());
        drop(server.stream_metadata().await.unwrap());
        headers.lock().clone()
    }

    #[tokio::test]
    async fn every_read_asks_for_objects_without_managed_fields() {
        let full = accepted(None, 200).await;
        assert_eq!(full.len(), 6);
        let drops = |header: &String| header.ends_with(";drop=metadata.managedFields");
        assert!(!full.iter().any(drops), "{full:?}");
        let short = accepted(Some(DroppedFields::default()), 200).await;
        assert!(short.len() == 6 && short.iter().all(drops), "{short:?}");
        assert!(short.iter().any(|header| header.starts_with(METADATA)), "{short:?}");
    }

    #[tokio::test]
    async fn a_server_that_refuses_to_drop_fields_is_asked_once() {
        let headers = accepted(Some(DroppedFields::default()), 406).await;
        let dropping = headers.iter().filter(|header| header.contains("drop=")).count();
        assert_eq!((dropping, headers.len()), (1, 7), "{headers:?}");
    }

    #[tokio::test]
    async fn the_number_of_objects_is_what_the_api_server_says() {
        for (metadata, objects) in [
            (r#""continue":"""#, Some(1)),
            (r#""continue":"abc","remainingItemCount":7"#, Some(8)),
            (r#""continue":"abc","remainingItemCount":18446744073709551615"#, Some(u64::MAX)),
            (r#""continue":"abc","remainingItemCount":-1"#, None),
            (r#""continue":"abc""#, None),
        ] {
            let text = format!(r#"{{"metadata":{{"resourceVersion":"42",{metadata}}},"items":[{{}}]}}"#);
            let service = tower::service_fn(move |_: Request<Body>| {
                let answer = Response::new(Body::from(text.clone().into_bytes()));
                async move { Ok::<_, Infallible>(answer) }
            });
            let server = ApiServer::of_all(&Client::new(service, "default"), &MODEL);
            assert_eq!(server.position().await.unwrap(), ListPosition { version: 42, objects }, "{metadata}");
        }
    }

    #[test]
    fn a_list_is_split_into_its_items_unchanged() {
        let text = r#"{"kind":"XList","apiVersion":"a/v1","metadata":{"continue":"abc","remainingItemCount":7,
            "resourceVersion":"42"},"items":[{"a":1}, {"b":{"c":[2]}}]}"#;
        let items = vec![r#"{"a":1}"#.into(), r#"{"b":{"c":[2]}}"#.into()];
        let page = Page { version: 42, next: Some("abc".into()), remaining: Some(7), items };
        assert_eq!(split(text).unwrap(), page);
        let empty = r#"{"metadata":{"resourceVersion":"1","continue":""},"items":null}"#;
        assert_eq!(split(empty).unwrap(), Page { version: 1, ..Page::default() });
    }

    #[test]
    fn a_response_that_is_not_a_list_is_an_error() {
        for text in [
            "",
            "[]",
            r#"{"metadata":{},"items":[]}"#,
            r#"{"metadata":{"resourceVersion":"x"},"items":[]}"#,
            r#"{"metadata":{"resourceVersion":"1"},"items":[{}"#,
            r#"{"metadata":{"resourceVersion":"1"},"items":[{"a":["}]}"#,
        ] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    #[test]
    fn api_errors_are_classified_by_the_codes_of_the_api_conventions() {
        for (code, expected) in [
            (404, ApiErrorKind::NotFound),
            (409, ApiErrorKind::Conflict),
            (422, ApiErrorKind::Conflict),
            (410, ApiErrorKind::Expired),
            (403, ApiErrorKind::Forbidden),
            (429, ApiErrorKind::Transient),
            (503, ApiErrorKind::Transient),
            (400, ApiErrorKind::Other),
        ] {
            assert_eq!(kind_of(code), expected, "{code}");
        }
    }

    #[test]
    fn names_that_would_leave_their_url_segment_are_not_sent() {
        for name in ["a", "a.b-c", "system:node"] {
            assert!(is_path_segment(name), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a%2fb", "a b", "a?b", "ü"] {
            assert!(!is_path_segment(name), "{name}");
        }
    }
}
