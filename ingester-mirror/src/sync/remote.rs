//! The API server: one kind's objects as JSON text, listed, watched, read, patched and deleted.
//!
//! kube's client sends the requests. Its typed objects are not used, because the text itself is stored, and because a list
//! item of a built-in kind lacks the `apiVersion` and `kind` that an object has everywhere else.

use futures::{Stream, StreamExt as _};
use ingester_core::json::{self, Reader};
use ingester_core::kind::Kind;
use kube::Client;
use kube::core::WatchEvent;
use kube::core::params::{DeleteParams, GetParams, ListParams, Preconditions, WatchParams};
use kube::core::request::Request;
use serde_json::value::RawValue;
use std::fmt;
use std::time::Duration;

/// Objects per page of a list. Two pages are in memory at a time, as text and as parsed objects. (kubectl asks for 500.)
const PAGE: u32 = 250;

/// Objects per page of a list of metadata, which is a tenth of the size.
const METADATA_PAGE: u32 = 2000;

/// How long one request may take, as in the reference system.
const REQUEST: Duration = Duration::from_secs(30);

/// After how many seconds the API server ends a watch: fewer than the five minutes after which proxies cut a connection.
const WATCH_SECONDS: u32 = 290;

/// How long a watch may be silent. Bookmarks come once a minute, and the server ends the watch after [`WATCH_SECONDS`].
const SILENCE: Duration = Duration::from_secs(330);

/// Whether a name can be a segment of an API path.
fn is_path_segment(name: &str) -> bool {
    !name.is_empty()
        && !matches!(name, "." | "..")
        && name.bytes().all(|b| b.is_ascii_graphic() && !b"/%?#".contains(&b))
}

/// The kinds of errors, by what to do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiErrorKind {
    /// 404: the object or the kind does not exist.
    NotFound,
    /// 409, 412, or 422 for a patch whose tests failed: the object has changed.
    Conflict,
    /// 410: the API server no longer has this version.
    Expired,
    /// 401 and 403: somebody must grant a right.
    Forbidden,
    /// Worth a retry: no connection, a time-out, 429, 5xx.
    Transient,
    /// Everything else, such as 400 and 405.
    Other,
}

/// An error of the API server: what was being done, and the reason.
#[derive(Debug)]
pub struct ApiError {
    doing: String,
    reason: String,
    code: u16,
    kind: ApiErrorKind,
}

impl ApiError {
    fn of(doing: impl Into<String>, error: kube::Error) -> Self {
        let doing = doing.into();
        match error {
            kube::Error::Api(status) => {
                let reason = if status.message.is_empty() { status.reason.clone() } else { status.message.clone() };
                ApiError { doing, reason, code: status.code, kind: kind_of(status.code) }
            }
            error => ApiError { doing, reason: chain(&error), code: 0, kind: ApiErrorKind::Transient },
        }
    }

    fn new(doing: impl Into<String>, reason: impl Into<String>, kind: ApiErrorKind) -> Self {
        ApiError { doing: doing.into(), reason: reason.into(), code: 0, kind }
    }

    pub(crate) fn kind(&self) -> ApiErrorKind {
        self.kind
    }

    /// The HTTP status code, or `network` if there was none.
    pub(crate) fn code(&self) -> String {
        if self.code == 0 { "network".into() } else { self.code.to_string() }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.reason)?;
        match self.kind {
            ApiErrorKind::Forbidden => f.write_str(" (grant the verb to the ingester's ClusterRole)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}

/// An error with its causes: kube's own text for a lost connection does not have them.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// By the HTTP status codes of the Kubernetes API conventions.
fn kind_of(code: u16) -> ApiErrorKind {
    match code {
        404 => ApiErrorKind::NotFound,
        409 | 412 | 422 => ApiErrorKind::Conflict,
        410 => ApiErrorKind::Expired,
        401 | 403 => ApiErrorKind::Forbidden,
        0 | 408 | 429 | 500..=599 => ApiErrorKind::Transient,
        _ => ApiErrorKind::Other,
    }
}

/// One page of a list.
#[derive(Debug, PartialEq)]
pub(crate) struct Page {
    /// The version of the whole list, the same on each page.
    pub(crate) version: u64,
    /// The token that requests the next page; `None` on the last page.
    pub(crate) next: Option<String>,
    /// The objects' texts.
    pub(crate) items: Vec<Box<str>>,
}

/// What is read of an object's metadata when the object itself is not needed.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PartialObjectMeta {
    pub(crate) uid: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    resource_version: Box<str>,
    pub(crate) finalizers: Vec<Box<str>>,
    deletion_timestamp: Option<Box<str>>,
}

impl PartialObjectMeta {
    /// Its resourceVersion; 0 if it is not a number.
    pub(crate) fn version(&self) -> u64 {
        self.resource_version.parse().unwrap_or_default()
    }

    pub(crate) fn terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The metadata that a patch of the finalizers needs.
    pub(crate) fn meta(&self) -> ingester_core::object::Meta {
        ingester_core::object::Meta {
            uid: self.uid.clone(),
            resource_version: self.version(),
            finalizers: self.finalizers.clone().into(),
            ..Default::default()
        }
    }
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
    /// An object was deleted; its last state.
    Deleted(Box<str>),
    /// All events up to this version were sent.
    Bookmark(u64),
}

/// The objects of one kind on the API server, in all namespaces or in one.
#[derive(Clone)]
pub(crate) struct Remote {
    client: Client,
    kind: Kind,
    namespace: Option<Box<str>>,
}

impl Remote {
    pub(crate) fn new(client: Client, kind: Kind, namespace: Option<Box<str>>) -> Self {
        Remote { client, kind, namespace }
    }

    fn url(&self, namespace: Option<&str>) -> String {
        let group = self.kind.group();
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let (version, plural) = (self.kind.version(), self.kind.plural());
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
        let doing = format!("{doing} {} {}", self.kind.kind(), Named(namespace, name));
        if !is_path_segment(name) || !(namespace.is_empty() || is_path_segment(namespace)) {
            return Err(ApiError::new(doing, "this name cannot stand in a path of the API", ApiErrorKind::NotFound));
        }
        Ok((Request::new(self.url(Some(namespace))), doing))
    }

    async fn text(&self, doing: &str, request: http::Request<Vec<u8>>) -> Result<String, ApiError> {
        match tokio::time::timeout(REQUEST, self.client.request_text(request)).await {
            Ok(result) => result.map_err(|error| ApiError::of(doing, error)),
            Err(_) => {
                let reason = format!("no answer within {} s", REQUEST.as_secs());
                Err(ApiError::new(doing, reason, ApiErrorKind::Transient))
            }
        }
    }

    /// The answer to a list. "Not found" counts only from a server that is ready: one that is starting answers so for every
    /// CustomResourceDefinition that it has not read yet.
    async fn listed(&self, doing: &str, request: http::Request<Vec<u8>>) -> Result<String, ApiError> {
        match self.text(doing, request.clone()).await {
            Err(error) if error.kind == ApiErrorKind::NotFound => {
                self.ready(doing).await?;
                self.text(doing, request).await
            }
            answer => answer,
        }
    }

    /// Fails if the API server says that it is not ready. One that does not answer the question counts as ready.
    async fn ready(&self, doing: &str) -> Result<(), ApiError> {
        let request = http::Request::get("/readyz").body(Vec::new());
        let request = request.map_err(|error| ApiError::new(doing, error.to_string(), ApiErrorKind::Other))?;
        match self.text(doing, request).await {
            Err(error) if error.kind == ApiErrorKind::Transient => {
                Err(ApiError { reason: format!("the API server is not ready: {}", error.reason), ..error })
            }
            _ => Ok(()),
        }
    }

    fn page(&self, limit: u32, next: Option<&str>) -> ListParams {
        let mut parameters = ListParams::default().limit(limit);
        if let Some(token) = next {
            parameters = parameters.continue_token(token);
        }
        parameters
    }

    /// One page of the objects, by a consistent read.
    pub(crate) async fn list(&self, next: Option<&str>) -> Result<Page, ApiError> {
        let doing = format!("listing {}", self.kind.plural());
        let request = self.all().list(&self.page(PAGE, next)).map_err(|error| built(&doing, error))?;
        let text = self.listed(&doing, request).await?;
        split(&text).map_err(|error| ApiError::new(doing, error.locate(&text).to_string(), ApiErrorKind::Other))
    }

    /// One page of the objects' metadata, by a consistent read.
    pub(crate) async fn list_metadata(&self, next: Option<&str>) -> Result<MetadataPage, ApiError> {
        self.metadata(METADATA_PAGE, next).await
    }

    /// The cluster's current version.
    pub(crate) async fn version(&self) -> Result<u64, ApiError> {
        self.metadata(1, None).await.map(|page| page.version)
    }

    async fn metadata(&self, limit: u32, next: Option<&str>) -> Result<MetadataPage, ApiError> {
        #[derive(serde::Deserialize)]
        struct List {
            metadata: ListMeta,
            #[serde(default)]
            items: Vec<Item>,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ListMeta {
            resource_version: Box<str>,
            #[serde(default)]
            r#continue: Option<String>,
        }
        #[derive(serde::Deserialize)]
        struct Item {
            metadata: PartialObjectMeta,
        }
        let doing = format!("listing the metadata of {}", self.kind.plural());
        let request = self.all().list_metadata(&self.page(limit, next)).map_err(|error| built(&doing, error))?;
        let text = self.listed(&doing, request).await?;
        let list: List = serde_json::from_str(&text)
            .map_err(|error| ApiError::new(doing.as_str(), error.to_string(), ApiErrorKind::Other))?;
        let version = list.metadata.resource_version.parse();
        Ok(MetadataPage {
            version: version.map_err(|_| ApiError::new(doing, NO_VERSION, ApiErrorKind::Other))?,
            next: list.metadata.r#continue.filter(|token| !token.is_empty()),
            items: list.items.into_iter().map(|item| item.metadata).collect(),
        })
    }

    /// The events after `version`, until the server or the connection ends the watch.
    pub(crate) async fn watch(
        &self,
        version: u64,
    ) -> Result<impl Stream<Item = Result<RemoteEvent, ApiError>> + use<>, ApiError> {
        let doing = format!("watching {}", self.kind.plural());
        let parameters = WatchParams::default().timeout(WATCH_SECONDS);
        let request = self.all().watch(&parameters, &version.to_string()).map_err(|error| built(&doing, error))?;
        let opening = tokio::time::timeout(REQUEST, self.client.request_events::<Box<RawValue>>(request));
        let events = match opening.await {
            Ok(events) => events.map_err(|error| ApiError::of(doing.as_str(), error))?,
            Err(_) => return Err(ApiError::new(doing, "no answer", ApiErrorKind::Transient)),
        };
        let events = with_time_limit(events.boxed());
        Ok(events.map(move |event| match event {
            None => Err(ApiError::new(doing.as_str(), "no sign of life from the API server", ApiErrorKind::Transient)),
            Some(Err(error)) => Err(ApiError::of(doing.as_str(), error)),
            Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                Ok(RemoteEvent::Applied(object.into()))
            }
            Some(Ok(WatchEvent::Deleted(object))) => Ok(RemoteEvent::Deleted(object.into())),
            Some(Ok(WatchEvent::Bookmark(bookmark))) => match bookmark.metadata.resource_version.parse() {
                Ok(version) => Ok(RemoteEvent::Bookmark(version)),
                Err(_) => Err(ApiError::new(doing.as_str(), NO_VERSION, ApiErrorKind::Other)),
            },
            Some(Ok(WatchEvent::Error(status))) => Err(ApiError::of(doing.as_str(), kube::Error::Api(status))),
        }))
    }

    /// The current object; `None` if no object has that name.
    pub(crate) async fn get(&self, namespace: &str, name: &str) -> Result<Option<Box<str>>, ApiError> {
        let (request, doing) = self.one("reading", namespace, name)?;
        let request = request.get(name, &GetParams::default()).map_err(|error| built(&doing, error))?;
        match self.text(&doing, request).await {
            Ok(text) => Ok(Some(text.into())),
            Err(error) if error.kind == ApiErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The current metadata of an object; `None` if no object has that name.
    pub(crate) async fn get_metadata(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<PartialObjectMeta>, ApiError> {
        #[derive(serde::Deserialize)]
        struct Item {
            metadata: PartialObjectMeta,
        }
        let (request, doing) = self.one("reading the metadata of", namespace, name)?;
        let request = request.get_metadata(name, &GetParams::default()).map_err(|error| built(&doing, error))?;
        match self.text(&doing, request).await {
            Ok(text) => match serde_json::from_str::<Item>(&text) {
                Ok(item) => Ok(Some(item.metadata)),
                Err(error) => Err(ApiError::new(doing, error.to_string(), ApiErrorKind::Other)),
            },
            Err(error) if error.kind == ApiErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Applies a JSON patch; returns the patched object.
    pub(crate) async fn patch(
        &self,
        namespace: &str,
        name: &str,
        patch: &serde_json::Value,
    ) -> Result<Box<str>, ApiError> {
        let (_, doing) = self.one("patching the finalizers of", namespace, name)?;
        let request = http::Request::patch(format!("{}/{name}", self.url(Some(namespace))))
            .header(http::header::CONTENT_TYPE, "application/json-patch+json")
            .body(patch.to_string().into_bytes())
            .map_err(|error| ApiError::new(doing.as_str(), error.to_string(), ApiErrorKind::Other))?;
        self.text(&doing, request).await.map(Into::into)
    }

    /// Deletes the object if it still has this uid and version.
    pub(crate) async fn delete(&self, namespace: &str, name: &str, uid: &str, version: u64) -> Result<(), ApiError> {
        let (request, doing) = self.one("deleting", namespace, name)?;
        let preconditions = Preconditions { resource_version: Some(version.to_string()), uid: Some(uid.to_owned()) };
        let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let request = request.delete(name, &parameters).map_err(|error| built(&doing, error))?;
        self.text(&doing, request).await.map(drop)
    }
}

const NO_VERSION: &str = "the answer has no resourceVersion that is a number";

/// Ends with `None` after a silence of [`SILENCE`]. (tokio-stream's adapter would not end the stream.)
fn with_time_limit<S: Stream + Unpin>(stream: S) -> impl Stream<Item = Option<S::Item>> {
    futures::stream::unfold(Some(stream), |stream| async {
        let mut stream = stream?;
        match tokio::time::timeout(SILENCE, stream.next()).await {
            Ok(item) => item.map(|item| (Some(item), Some(stream))),
            Err(_) => Some((None, None)),
        }
    })
}

/// The error of a request that cannot be built.
fn built(doing: &str, error: kube::core::request::Error) -> ApiError {
    ApiError::new(doing, error.to_string(), ApiErrorKind::Other)
}

/// Displays `namespace/name`, or the name alone.
pub(crate) struct Named<'a>(pub(crate) &'a str, pub(crate) &'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str(self.1) } else { write!(f, "{}/{}", self.0, self.1) }
    }
}

/// Splits a list's text into the texts of its items.
fn split(text: &str) -> Result<Page, json::Error> {
    let mut page = Page { version: 0, next: None, items: Vec::new() };
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
                            let version = reader.string()?;
                            page.version = version.parse().map_err(|_| json::Error::value(at, NO_VERSION))?;
                        }
                        "continue" => page.next = Some(reader.string()?.into_owned()).filter(|token| !token.is_empty()),
                        _ => reader.skip()?,
                    }
                }
            }
            "items" => {
                if reader.peek()? == json::TokenKind::Null {
                    reader.null()?;
                    continue;
                }
                reader.begin_array()?;
                while reader.next_element()? {
                    page.items.push(reader.raw()?.into());
                }
            }
            _ => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok(page)
}

/// An item's text with `apiVersion` and `kind`, which the API server leaves out of the list items of built-in kinds.
pub(crate) fn with_type(text: &str, kind: &Kind) -> String {
    let members = text.trim_start().strip_prefix('{').unwrap_or_default();
    let comma = if members.trim_start().starts_with('}') { "" } else { "," };
    format!(r#"{{"apiVersion":"{}","kind":"{}"{comma}{members}"#, kind.api_version(), kind.kind())
}

#[cfg(test)]
mod tests {
    use super::{ApiErrorKind, Page, Remote, is_path_segment, kind_of, split};
    use crate::fixture::MODEL;
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    const LIST: &str = "/apis/michelangelo.api/v2/models";

    /// The result of a list if the server answers these paths, in this order, with these codes.
    async fn listed(answers: &[(&'static str, u16)]) -> Result<Page, ApiErrorKind> {
        let answers = Arc::new(Mutex::new(answers.iter().copied().collect::<VecDeque<_>>()));
        let left = answers.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (path, code) = answers.lock().unwrap().pop_front().expect("one request more than there are answers");
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
        let page = Remote::new(Client::new(service, "default"), MODEL, None).list(None).await;
        assert!(left.lock().unwrap().is_empty(), "requests that were not made: {left:?}");
        page.map_err(|error| error.kind())
    }

    #[tokio::test]
    async fn a_kind_counts_as_missing_only_if_a_ready_server_says_so() {
        let page = || Page { version: 1, next: None, items: vec![] };
        assert_eq!(listed(&[(LIST, 200)]).await, Ok(page()));
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 500)]).await, Err(ApiErrorKind::Transient));
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 200), (LIST, 404)]).await, Err(ApiErrorKind::NotFound));
        // It became ready in between.
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 200), (LIST, 200)]).await, Ok(page()));
        // The right to ask may be missing, and so may the endpoint.
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 403), (LIST, 404)]).await, Err(ApiErrorKind::NotFound));
        assert_eq!(listed(&[(LIST, 404), ("/readyz", 404), (LIST, 404)]).await, Err(ApiErrorKind::NotFound));
        assert_eq!(listed(&[(LIST, 503)]).await, Err(ApiErrorKind::Transient));
    }

    #[test]
    fn a_list_is_split_into_its_items_unchanged() {
        let text = r#"{"kind":"XList","apiVersion":"a/v1","metadata":{"continue":"abc","remainingItemCount":7,
            "resourceVersion":"42"},"items":[{"a":1}, {"b":{"c":[2]}}]}"#;
        let items = vec![r#"{"a":1}"#.into(), r#"{"b":{"c":[2]}}"#.into()];
        assert_eq!(split(text).unwrap(), Page { version: 42, next: Some("abc".into()), items });
        let empty = r#"{"metadata":{"resourceVersion":"1","continue":""},"items":null}"#;
        assert_eq!(split(empty).unwrap(), Page { version: 1, next: None, items: vec![] });
    }

    #[test]
    fn a_response_that_is_no_list_is_an_error() {
        for text in ["", "[]", r#"{"metadata":{"resourceVersion":"x"},"items":[]}"#, r#"{"items":[{}"#] {
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
