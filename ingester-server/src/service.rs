//! Answers one request: authenticates the caller, parses the path and the parameters, authorizes, and runs the handler.
//!
//! May use: ingester-config, ingester-core, ingester-declare, ingester-sql, ingester-store, access, answer, status, caller, request, discovery, read, identity, metrics, body, namespaces, counts, rejects, units, places, volume, self_review, write, restore, former, watch, console.

mod hints;
mod own;
mod reads;
mod writes;

use crate::access::AccessLog;
use crate::body::{self, Waits};
use crate::caller::{Attributes, Caller, Verb};
use crate::console;
use crate::discovery::{Document, Documents, Writable};
use crate::former::FormerAccess;
use crate::identity::{Bearer, Identity, Peer};
use crate::namespaces::KnownNamespaces;
use crate::places::Places;
use crate::read;
use crate::request::parameters::{self, Parameters, Saved};
use crate::request::path::{self, Objects, Target};
use crate::request::watching::is_true;
use crate::request::{accept, parameters::Include};
use crate::restore::rights::RestoreRights;
use crate::status::{Reason, Status};
use crate::units::Which;
use crate::volume::WriteVolumes;
use crate::watch::Hub;
use crate::write;
use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY, WARNING};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use ingester_core::Kind;
use ingester_core::value::Value;
use ingester_declare::saved::SavedQueries;
use ingester_sql::query::{Filter, QueryError, States, Test};
use ingester_store::Store;
use ingester_store::query::Limits;
use reads::Reading;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower::ServiceExt as _;
use tower_http::compression::Compression;
use tower_http::compression::predicate::{DefaultPredicate, Predicate as _};
use writes::{Write, Writes};

/// How long the database may take to say that it is there, and how long that counts.
const READY: Duration = Duration::from_secs(2);

/// What a server needs to answer.
pub struct Sources {
    /// The kinds that are served.
    pub kinds: &'static [Kind],
    /// Reads.
    pub reads: Arc<Store>,
    /// Writes to evicted objects; `None` if nothing may be changed.
    pub writes: Option<Arc<Store>>,
    /// Creates objects again; `None` without a cluster.
    pub cluster: Option<kube::Client>,
    /// As whom it does that.
    pub restores: RestoreRights,
    /// Says who calls and what they may.
    pub identity: Identity,
    /// Who may see former objects.
    pub former: FormerAccess,
    /// The saved queries.
    pub saved: SavedQueries,
    /// What bounds the cost of a question.
    pub limits: Limits,
    /// How many requests for objects are answered at the same time.
    pub places: Places,
    /// How many bytes of evicted objects each user may write.
    pub volumes: WriteVolumes,
    /// The watches; `None` where the log of changes cannot be numbered.
    pub watches: Option<Hub>,
    /// Whether discovery says that there are watches: whether there was a log when the server was started.
    pub watchable: bool,
}

/// Answers requests.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    sources: Sources,
    documents: Documents,
    /// When the database was last asked whether it is there, and whether it was.
    ready: tokio::sync::Mutex<Option<(Instant, bool)>>,
    writes: Writes,
    namespaces: KnownNamespaces,
}

/// A request for objects of a kind.
struct Asked<'r> {
    caller: &'r Caller,
    kind: &'static Kind,
    objects: &'r Objects<'r>,
    attributes: Attributes,
    /// They are an error only for those who may ask.
    parameters: Result<Parameters, Status>,
}

impl Service {
    /// A service of these sources.
    pub fn new(sources: Sources) -> Self {
        let writable = match (&sources.writes, &sources.restores) {
            (None, _) => Writable::Nothing,
            (Some(_), RestoreRights::Off) => Writable::InSql,
            (Some(_), RestoreRights::User(_) | RestoreRights::Server) => Writable::All,
        };
        let documents = Documents::new(sources.kinds, writable, sources.watchable);
        let ready = tokio::sync::Mutex::default();
        let (writes, namespaces) = (Writes::default(), KnownNamespaces::default());
        Service(Arc::new(Inner { sources, documents, ready, writes, namespaces }))
    }

    /// Waits for the writes that have outlived their requests, so long at most; what is not finished then is given up.
    pub async fn finish(&self, patience: Duration) {
        self.0.writes.finish(patience).await;
    }

    /// Answers one request.
    pub async fn answer(self, request: Request<Body>, peer: Peer, log: AccessLog) -> Response<Body> {
        let plain = tower::service_fn(move |request: Request<Body>| {
            let (service, peer, log) = (self.clone(), peer.clone(), log.clone());
            async move { Ok::<_, std::convert::Infallible>(service.respond(request, peer, &log).await) }
        });
        // What is compressed comes in blocks, and an event is to come at once.
        let ends =
            |_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions| extensions.get::<Waits>().is_none();
        let compressed = Compression::new(plain).compress_when(DefaultPredicate::new().and(ends));
        match compressed.oneshot(request).await {
            Ok(response) => response.map(Body::new),
        }
    }

    async fn respond(self, request: Request<Body>, peer: Peer, log: &AccessLog) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let mut warnings = Vec::new();
        let answered = self.0.answer(&mut parts, body, &peer, log, &mut warnings).await;
        let mut response = answered.unwrap_or_else(|status| status.response());
        for warning in &warnings {
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{}\"", escaped(warning))) {
                response.headers_mut().append(WARNING, value);
            }
        }
        response
    }
}

/// A text in a header, between quotes.
fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .flat_map(|c| if matches!(c, '"' | '\\') { vec!['\\', c] } else { vec![c] })
        .collect()
}

impl Inner {
    async fn answer(
        self: &Arc<Self>,
        parts: &mut Parts,
        body: Body,
        peer: &Peer,
        log: &AccessLog,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let uri = parts.uri.clone();
        let target = path::parse(uri.path()).map(|target| target.among(self.sources.kinds));
        match &target {
            Ok(Target::Health(name)) => return Ok(self.health(name).await),
            // Kubernetes shows it to everybody.
            Ok(Target::Version) if reads(&parts.method) => return self.document(&Target::Version, &parts.headers),
            _ => {}
        }
        if let Some(file) = target.as_ref().ok().and_then(|target| console::answer(target, parts)) {
            return Ok(file);
        }
        // Authenticate before answering even 404.
        let caller = self.sources.identity.authenticate(parts, peer).await?;
        log.user(&caller.user);
        let asked = match &target {
            Ok(Target::Objects(objects)) => self.asked(&caller, objects, parts),
            Ok(_) => Err(Status::method_not_allowed()),
            Err(status) => Err(status.clone()),
        };
        if let Ok(Asked { attributes, objects, .. }) = &asked {
            let part = |part: &Option<std::borrow::Cow<'_, str>>| part.as_deref().unwrap_or_default().to_owned();
            log.about(attributes, &part(&objects.name), &part(&objects.subresource));
        }
        let of_namespaces = match &target {
            Ok(Target::Namespaces(name)) => Some(own::about_namespaces(name.as_deref(), parts)),
            _ => None,
        };
        if let Some(attributes) = &of_namespaces {
            log.about(attributes, &attributes.name, "");
        }
        self.sources.identity.admit(&caller)?;
        match target.as_ref().map_err(Status::clone)? {
            Target::Objects(_) => self.objects(asked?, parts, body, log, warnings).await,
            Target::Namespaces(_) if reads(&parts.method) => {
                let attributes = of_namespaces.ok_or_else(Status::no_such_path)?;
                self.namespaces(&attributes, &caller, parts, warnings).await
            }
            // These come out of memory, and need no place.
            Target::Queries(name) if reads(&parts.method) => self.queries(name.as_deref(), parts),
            Target::Parameters(name) if reads(&parts.method) => self.parameters(name.as_deref(), parts),
            Target::Events(name) if reads(&parts.method) => hints::no_events(name.as_deref(), parts, warnings),
            Target::Counts(name) if reads(&parts.method) => {
                self.counts(name.as_deref(), &caller, parts, warnings).await
            }
            Target::Rejects(name) if reads(&parts.method) => {
                self.rejects(name.as_deref(), &caller, parts, warnings).await
            }
            Target::Units(name) if reads(&parts.method) => {
                self.units(Which::Units, name.as_deref(), &caller, parts).await
            }
            Target::Policies(name) if reads(&parts.method) => {
                self.units(Which::Policies, name.as_deref(), &caller, parts).await
            }
            Target::SelfReview(review) if parts.method == Method::POST => {
                self.self_review(*review, &caller, parts, body).await
            }
            Target::SelfReview(_) => Err(Status::method_not_allowed()),
            target if reads(&parts.method) => self.document(target, &parts.headers),
            _ => Err(Status::method_not_allowed()),
        }
    }

    /// What a request for objects asks for.
    fn asked<'r>(&self, caller: &'r Caller, objects: &'r Objects<'r>, parts: &Parts) -> Result<Asked<'r>, Status> {
        let kind = objects.kind(self.sources.kinds).ok_or_else(Status::no_such_path)?;
        // Objects in namespaces are named in their namespaces, the others without one.
        let named = objects.name.is_some();
        if (objects.namespace.is_some() && !kind.namespaced())
            || (objects.namespace.is_none() && kind.namespaced() && named)
        {
            return Err(Status::no_such_path());
        }
        let query = parts.uri.query().unwrap_or_default();
        let verb = match (&parts.method, objects.subresource.as_deref(), named) {
            // A status is read with the whole object, as in Kubernetes.
            (method, None | Some("status" | "history"), true) if reads(method) => Verb::Get,
            (method, None, false) if reads(method) && is_watch(query) => Verb::Watch,
            (method, None, false) if reads(method) => Verb::List,
            (&Method::PUT, None, true) => Verb::Update,
            (&Method::PATCH, None, true) => Verb::Patch,
            (&Method::DELETE, None, true) => Verb::Delete,
            (&Method::DELETE, None, false) => Verb::DeleteCollection,
            (&Method::POST, Some("restore"), true) => Verb::Create,
            (&Method::POST, None, false) => {
                let mut status = Status::method_not_allowed();
                status.message = format!(
                    "{} are created in the cluster: send this to its API server; former ones are restored by POST of NAME/restore",
                    read::resource(kind).of()
                );
                return Err(status);
            }
            (_, None | Some("restore" | "status" | "history"), _) => return Err(Status::method_not_allowed()),
            _ => return Err(Status::no_such_path()),
        };
        let parameters = parameters::parse(query, kind.kind());
        let attributes = Attributes {
            verb,
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            resource: kind.plural().into_owned(),
            subresource: objects.subresource.as_deref().filter(|name| *name == "status").unwrap_or_default().to_owned(),
            namespace: objects.namespace.as_deref().unwrap_or_default().to_owned(),
            // As the API server: a right to objects of certain names is also one to list just those.
            name: match (&objects.name, &parameters) {
                (Some(_), _) if verb == Verb::Create => String::new(),
                (Some(name), _) => name.to_string(),
                (None, Ok(parameters)) => only_name(parameters).unwrap_or_default(),
                (None, Err(_)) => String::new(),
            },
        };
        Ok(Asked { caller, kind, objects, attributes, parameters })
    }

    /// How expensive the reading of a list or a watch is. Other requests count as reads by key.
    fn cost(&self, verb: Verb, kind: &Kind, parameters: &Parameters) -> Result<read::Cost, Status> {
        match verb {
            Verb::List | Verb::Watch => Ok(read::cost(&self.sources.reads, kind, parameters)?),
            _ => Ok(read::Cost::Keyed),
        }
    }

    /// Objects of a kind.
    async fn objects(
        self: &Arc<Self>,
        asked: Asked<'_>,
        parts: &Parts,
        body: Body,
        log: &AccessLog,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let Asked { caller, kind, objects, attributes, parameters } = asked;
        let verb = attributes.verb;
        let place = self.sources.places.take(&caller.user)?;
        let allowed = self.sources.identity.authorize(caller, &attributes).await;
        allowed.map_err(|status| if is_history(objects) { needs_the_object(status) } else { status })?;
        let name = objects.name.as_deref().unwrap_or_default();
        let status = match verb {
            Verb::Create => self.authorize_restore(caller, &attributes, name, parameters.as_ref().ok()).await?,
            _ => Ok(()),
        };
        let mut parameters = parameters?;
        warnings.append(&mut parameters.warnings);
        if let Some(namespace) = &objects.namespace {
            parameters.query.namespaces = vec![namespace.to_string()];
        }
        let kind = &self.with_saved(kind, &mut parameters)?;
        let past = past(objects, verb, &parameters)?;
        let limits = self.sources.limits;
        let namespace = objects.namespace.as_deref().unwrap_or_default();
        let states = if past { States::ALL } else { parameters.query.states };
        let within = objects.namespace.as_deref();
        let asked_states = (!past && hints::by_name_alone(&parameters.query)).then_some(states);
        // Before former objects are left out, which is not the caller's choice.
        let cost = self.cost(verb, kind, &parameters)?;
        let (former, warning) = self.sources.former.reach(&self.sources.reads, kind, within, states, limits).await?;
        warnings.extend(warning);
        match past {
            true => former.narrow_past(&mut parameters.query, kind, name)?,
            false => former.narrow(&mut parameters.query),
        }
        let mut response = match verb {
            Verb::Get if is_history(objects) => {
                accept::plain(text_of(&parts.headers, &ACCEPT))?;
                self.history(caller, kind, (namespace, name), &parameters, former).await?
            }
            Verb::Get | Verb::List | Verb::Watch => {
                let form = form(&parts.headers, &mut parameters.include)?;
                let attributes = &attributes;
                let token = parts.extensions.get::<Bearer>();
                let of = Reading { caller, token, attributes, kind, namespace, name, form, cost, states, former };
                self.read(of, parameters, asked_states, &place, warnings).await?
            }
            Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::DeleteCollection => {
                if verb == Verb::DeleteCollection {
                    refuse_partial_deletion(&parameters)?;
                }
                let content = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
                // A restore has none.
                let body = if verb == Verb::Create { Bytes::new() } else { body::read(body).await? };
                let version = match past {
                    true => Some(self.version(kind, (namespace, name), &parameters, former).await?),
                    false => None,
                };
                let Parameters { dry_run, mut query, .. } = parameters;
                // For a collection, uids act as selectors.
                let uid = if verb == Verb::DeleteCollection { None } else { query.uids.pop() };
                let volume = Some(Arc::new(self.sources.volumes.of(&caller.user)));
                let write = Write {
                    verb,
                    kind: *kind,
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                    query,
                    options: write::Options { dry_run, uid, former, log: Some(log.clone()), volume },
                    caller: caller.clone(),
                    token: parts.extensions.get::<Bearer>().cloned(),
                    status,
                    version,
                    content: content.map(str::to_owned),
                    body,
                };
                let answer = self.begin(write, place.clone(), log).await?;
                warnings.extend(answer.warnings);
                of_text(answer.body)
            }
        };
        // What only waits leaves its place to others.
        if response.extensions().get::<Waits>().is_none() {
            response.extensions_mut().insert(place);
        }
        Ok(response)
    }

    /// The kind, and the parameters with those of the saved query that they name.
    fn with_saved(&self, kind: &Kind, parameters: &mut Parameters) -> Result<Kind, Status> {
        let Some(Saved { name, parameters: given, mut ask }) = parameters.saved.take() else { return Ok(*kind) };
        let wrong = |error: &dyn std::fmt::Display| Status::bad_request(format!("the query `{name}`: {error}"));
        let saved = self.sources.saved.get(&name).map_err(|error| Status::bad_request(error.to_string()))?;
        if saved.kind().table().name != kind.table().name {
            let message = format!("the query `{name}` is about {}, not about {}", saved.kind().name(), kind.name());
            return Err(Status::bad_request(message));
        }
        // That of the path.
        parameters.query.namespaces.drain(..).for_each(|namespace| ask.namespace(namespace));
        let bound = saved.bind_within(&given, ask).map_err(|error| wrong(&error))?;
        parameters.query = bound.query;
        let most = bound.limit.map(|limit| limit as usize);
        parameters.most = most.into_iter().chain(parameters.most).min();
        Ok(*kind)
    }

    /// A document of discovery.
    fn document(&self, target: &Target<'_>, headers: &HeaderMap) -> Result<Response<Body>, Status> {
        let form = accept::other_form(text_of(headers, &ACCEPT), Documents::other_form(target))?;
        let document = self.documents.get(target, form).ok_or_else(Status::no_such_path)?;
        Ok(of_document(document, headers))
    }

    /// Whether the server works, and can answer.
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

    /// Whether the database answers. Everybody may ask, so the database is asked once in a while, and by one at a time.
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

fn is_history(objects: &Objects<'_>) -> bool {
    objects.subresource.as_deref() == Some("history")
}

/// The refusal of a history: it is read with the right to its object.
fn needs_the_object(mut refused: Status) -> Status {
    if refused.reason == Reason::Forbidden {
        refused.message.push_str("; the history of an object needs the right to the object");
    }
    refused
}

/// Whether a request is about the past, and so about what deleted objects are like.
///
/// # Errors
/// 400 for a moment of anything but objects, lists of them and restores, and for a version of anything but a history or a restore.
fn past(objects: &Objects<'_>, verb: Verb, parameters: &Parameters) -> Result<bool, Status> {
    let is_history = is_history(objects);
    let is_restore = verb == Verb::Create;
    if parameters.query.at.is_some() && (is_history || !(is_restore || matches!(verb, Verb::Get | Verb::List))) {
        return Err(Status::bad_request(QueryError::OfMoment.to_string()));
    }
    if parameters.of_version.is_some() && !is_history && !is_restore {
        return Err(Status::bad_request("version: it is a parameter of NAME/history and NAME/restore"));
    }
    if is_restore && parameters.of_version.is_some() {
        return Ok(true);
    }
    Ok(is_history || parameters.query.at.is_some())
}

/// Refuses the deletion of a collection that asks for less than would be deleted: all evicted objects that its selectors choose.
fn refuse_partial_deletion(parameters: &Parameters) -> Result<(), Status> {
    let Parameters { query, limit, most, token, offset, .. } = parameters;
    let why = if !query.states.evicted {
        "only evicted objects can be deleted here, and `state` leaves them out"
    } else if limit.or(*most).is_some() || token.is_some() || *offset > 0 {
        "it deletes all objects that its selectors choose: a limit, also that of a saved query, and pages are for lists"
    } else {
        return Ok(());
    };
    Err(Status::bad_request(format!("the deletion of a collection: {why}")))
}

/// In which form objects are answered. What of them a table has is of no meaning for others.
fn form(headers: &HeaderMap, include: &mut Include) -> Result<accept::Form, Status> {
    let form = accept::form(text_of(headers, &ACCEPT))?;
    if form != accept::Form::Table {
        *include = Include::default();
    }
    Ok(form)
}

fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn is_watch(query: &str) -> bool {
    let values = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == "watch");
    values.map(|(_, value)| value).filter(|value| !value.is_empty()).last().is_some_and(|value| is_true(&value))
}

/// The only name that the parameters let through.
fn only_name(parameters: &Parameters) -> Option<String> {
    parameters.query.filters.iter().find_map(|filter| match filter {
        Filter::Field { field, test: Test::Equal(Value::Text(name)) } if field == "metadata.name" => {
            Some(name.to_string())
        }
        _ => None,
    })
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
