//! Answers one request: takes the request through typed stages, and runs the handler for its target and verb.
//!
//! | file | what it has |
//! |---|---|
//! | `stages.rs` | the stages, from the path to a query for only those objects that the caller may see |
//! | `reads.rs` | handlers that read objects: one object, a list, a watch, a history |
//! | `writes.rs` | the handler of changes and restores, and the list of writes that still run |
//! | `own.rs` | handlers of the server's own resources |
//! | `hints.rs` | hints for clients that find nothing |
//!
//! May use: ingester-config, ingester-core, ingester-declare, ingester-sql, ingester-store, access, answer, status, caller, request, discovery, read, identity, metrics, body, namespaces, counts, rejects, units, places, volume, self_review, write, restore, former, watch, console.

mod hints;
mod own;
mod reads;
mod stages;
mod writes;

use crate::access::AccessLog;
use crate::body::WaitMark;
use crate::caller::Verb;
use crate::console;
use crate::discovery::{Document, Documents, WriteScope};
use crate::former::FormerAccess;
use crate::identity::{Identity, Peer};
use crate::namespaces::KnownNamespaces;
use crate::places::{RequestSlot, RequestSlots};
use crate::request::accept;
use crate::request::path::RequestTarget;
use crate::restore::rights::RestoreRights;
use crate::status::Status;
use crate::units::UnitResource;
use crate::volume::WriteVolumes;
use crate::watch::Hub;
use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY, WARNING};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use ingester_core::Kind;
use ingester_declare::saved::SavedQueries;
use ingester_store::Store;
use ingester_store::query::Limits;
use stages::{AuthenticatedRequest, NarrowedRequest, ParsedRequest};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower::ServiceExt as _;
use tower_http::compression::Compression;
use tower_http::compression::predicate::{DefaultPredicate, Predicate as _};
use writes::Writes;

/// How long a readiness check waits for the database, and how long its result is cached.
const READY: Duration = Duration::from_secs(2);

/// Everything that a server needs to answer.
pub struct Sources {
    /// The kinds that are served.
    pub kinds: &'static [Kind],
    /// The database for reads.
    pub reads: Arc<Store>,
    /// The database for changes of evicted objects; `None` if nothing may be changed.
    pub writes: Option<Arc<Store>>,
    /// The cluster into which objects are restored; `None` without a cluster.
    pub cluster: Option<kube::Client>,
    /// The identity with which restored objects are created.
    pub restores: RestoreRights,
    /// Authenticates callers and checks their rights.
    pub identity: Identity,
    /// Decides who may see former objects.
    pub former: FormerAccess,
    /// The saved queries.
    pub saved: SavedQueries,
    /// The limits of each query: time, rows and bytes.
    pub limits: Limits,
    /// The limit on concurrent requests for objects.
    pub places: RequestSlots,
    /// The limit on the bytes of evicted objects that each user may write in a minute.
    pub volumes: WriteVolumes,
    /// The watches; `None` if the log of changes cannot be numbered.
    pub watches: Option<Hub>,
    /// True if discovery advertises watches, because the database had a log of changes when the server started.
    pub watchable: bool,
}

/// Answers requests.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    sources: Sources,
    documents: Documents,
    /// The time and the result of the last readiness check of the database.
    ready: tokio::sync::Mutex<Option<(Instant, bool)>>,
    writes: Writes,
    namespaces: KnownNamespaces,
}

impl Service {
    /// Creates a service of these sources.
    pub fn new(sources: Sources) -> Self {
        let writable = match (&sources.writes, &sources.restores) {
            (None, _) => WriteScope::Nothing,
            (Some(_), RestoreRights::Off) => WriteScope::InSql,
            (Some(_), RestoreRights::User(_) | RestoreRights::Server) => WriteScope::All,
        };
        let documents = Documents::new(sources.kinds, writable, sources.watchable);
        let ready = tokio::sync::Mutex::default();
        let writes = Writes::default();
        let namespaces = KnownNamespaces::default();
        Service(Arc::new(Inner { sources, documents, ready, writes, namespaces }))
    }

    /// Waits for writes that still run although their requests have ended. After `patience`, gives up the unfinished ones.
    pub async fn finish(&self, patience: Duration) {
        self.0.writes.finish(patience).await;
    }

    /// Answers one request.
    pub async fn answer(self, request: Request<Body>, peer: Peer, log: AccessLog) -> Response<Body> {
        let plain = tower::service_fn(move |request: Request<Body>| {
            let service = self.clone();
            let peer = peer.clone();
            let log = log.clone();
            async move { Ok::<_, std::convert::Infallible>(service.respond(request, peer, &log).await) }
        });
        // Do not compress watches: a compressor sends its output in blocks, but each event must be sent at once.
        let ends =
            |_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions| extensions.get::<WaitMark>().is_none();
        let compressed = Compression::new(plain).compress_when(DefaultPredicate::new().and(ends));
        match compressed.oneshot(request).await {
            Ok(response) => response.map(Body::new),
        }
    }

    async fn respond(self, request: Request<Body>, peer: Peer, log: &AccessLog) -> Response<Body> {
        let mut warnings = Vec::new();
        let answered = self.0.answer(request, &peer, log, &mut warnings).await;
        let mut response = answered.unwrap_or_else(|status| status.response());
        for warning in &warnings {
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{}\"", escaped(warning))) {
                response.headers_mut().append(WARNING, value);
            }
        }
        response
    }
}

/// Escapes a text for a quoted string in a header.
fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .flat_map(|c| if matches!(c, '"' | '\\') { vec!['\\', c] } else { vec![c] })
        .collect()
}

impl Inner {
    async fn answer(
        self: &Arc<Self>,
        request: Request<Body>,
        peer: &Peer,
        log: &AccessLog,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let (parts, body) = request.into_parts();
        let uri = parts.uri.clone();
        let parsed = ParsedRequest::parse(uri.path(), self.sources.kinds);
        match parsed.target() {
            Some(RequestTarget::Health(name)) => return Ok(self.health(name).await),
            // Kubernetes shows its version without authentication, too.
            Some(RequestTarget::Version) if matches!(parts.method, Method::GET | Method::HEAD) => {
                return self.document(&RequestTarget::Version, &parts.headers);
            }
            _ => {}
        }
        if let Some(file) = parsed.target().and_then(|target| console::answer(target, &parts)) {
            return Ok(file);
        }
        // Authenticate before any other answer, even before a 404.
        let request = parsed.authenticate(&self.sources, parts, peer, log).await?;
        self.handle(request, body, log, warnings).await
    }

    /// Runs the handler for the request's target and verb.
    async fn handle(
        self: &Arc<Self>,
        request: AuthenticatedRequest<'_>,
        body: Body,
        log: &AccessLog,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        use Verb::{Create, Delete, DeleteCollection, Get, List, Patch, Update, Watch};
        match (request.target, request.verb.clone()?) {
            (RequestTarget::Objects(path), Get) if path.is_history() => {
                self.history(self.narrowed(request, warnings).await?).await
            }
            (RequestTarget::Objects(_), Get) => self.get(self.narrowed(request, warnings).await?).await,
            (RequestTarget::Objects(_), List) => self.list(self.narrowed(request, warnings).await?, warnings).await,
            (RequestTarget::Objects(_), Watch) => self.watch(self.narrowed(request, warnings).await?).await,
            (RequestTarget::Objects(_), Create | Update | Patch | Delete | DeleteCollection) => {
                self.change(self.narrowed(request, warnings).await?, body, log, warnings).await
            }
            (RequestTarget::SelfReview(review), _) => self.self_review(*review, &request, body).await,
            (RequestTarget::Namespaces(_), verb) => self.namespaces(&request, verb, warnings).await,
            (RequestTarget::Counts(_), _) => self.counts(&request, warnings).await,
            (RequestTarget::Rejects(_), _) => self.rejects(&request, warnings).await,
            (RequestTarget::Units(_), _) => self.units(UnitResource::Units, &request).await,
            (RequestTarget::Policies(_), _) => self.units(UnitResource::Policies, &request).await,
            // Served from memory; not counted against `serve.maxInFlight`.
            (RequestTarget::Queries(_), _) => self.queries(&request),
            (RequestTarget::Parameters(_), _) => self.parameters(&request),
            (RequestTarget::Events(_), verb) => hints::no_events(&request, verb, warnings),
            (target, _) => self.document(target, request.headers()),
        }
    }

    async fn narrowed(
        &self,
        request: AuthenticatedRequest<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<NarrowedRequest, Status> {
        request.authorize(&self.sources).await?.narrow(&self.sources, warnings).await
    }

    /// Returns a document of discovery.
    fn document(&self, target: &RequestTarget<'_>, headers: &HeaderMap) -> Result<Response<Body>, Status> {
        let form = accept::other_form(text_of(headers, &ACCEPT), Documents::other_form(target))?;
        let document = self.documents.get(target, form).ok_or_else(Status::no_such_path)?;
        Ok(of_document(document, headers))
    }

    /// Answers a health check. `readyz` fails if the database does not answer; the other checks always succeed.
    async fn health(&self, name: &str) -> Response<Body> {
        let works = name != "readyz" || self.is_ready().await;
        let (code, text) = match works {
            true => (StatusCode::OK, "ok"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "[-]database does not answer\nreadyz check failed\n"),
        };
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = code;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response
    }

    /// Returns true if the database answers. Everybody may send this request, so the answer is cached, and only one check runs at a time.
    async fn is_ready(&self) -> bool {
        let mut last = self.ready.lock().await;
        if let Some((when, ready)) = *last
            && when.elapsed() < READY
        {
            return ready;
        }
        let ready = self.sources.reads.answers(READY).await.is_ok();
        *last = Some((Instant::now(), ready));
        ready
    }
}

/// Attaches the request's place to the response, so the place becomes free when the response has been sent.
fn holding(mut response: Response<Body>, place: RequestSlot) -> Response<Body> {
    response.extensions_mut().insert(place);
    response
}

fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn of_text(text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn of_document(document: &Document, headers: &HeaderMap) -> Response<Body> {
    let known = text_of(headers, &IF_NONE_MATCH).split(',').any(|etag| etag.trim() == document.etag);
    let mut response = Response::new(Body::from(if known { Bytes::new() } else { document.body.clone() }));
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(document.media));
    if let Ok(etag) = HeaderValue::from_str(&document.etag) {
        headers.insert(ETAG, etag);
    }
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

#[cfg(test)]
mod tests;
