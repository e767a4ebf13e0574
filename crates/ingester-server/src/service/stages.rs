//! The stages of a request: [`ParsedRequest`], [`AuthenticatedRequest`], [`AuthorizedRequest`], [`NarrowedRequest`].
//!
//! Each type has private fields, so only this module makes its values, each in the function that does the work of the stage.
//! Handlers of objects take [`NarrowedRequest`], so a handler that skips authorization does not compile.
//! Handlers of the server's own resources take [`AuthenticatedRequest`]: they answer every authenticated caller, or check rights object by object.
//!
//! Errors are reported in the order of the stages, so a caller without the right learns nothing about objects or parameters.

use super::Sources;
use crate::access::AccessLog;
use crate::caller::{Attributes, Caller, Verb};
use crate::former::Reach;
use crate::identity::{Bearer, Identity, Peer};
use crate::namespaces::NAMESPACES;
use crate::places::RequestSlot;
use crate::read;
use crate::request::parameters::{self, Parameters, SavedQueryCall};
use crate::request::path::{self, Objects, RequestTarget};
use crate::request::query::QueryString;
use crate::status::{Reason, Resource, Status};
use crate::write;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use http::request::Parts;
use http::{HeaderName, Method};
use ingester_core::Kind;
use ingester_declare::saved::SavedQueries;
use ingester_sql::query::{QueryError, States};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// A request whose path was parsed.
pub(super) struct ParsedRequest<'r> {
    target: Result<RequestTarget<'r>, Status>,
}

/// A request's target, verb and parameters, before the caller's rights are checked.
pub(super) struct Question<'r> {
    pub(super) target: &'r RequestTarget<'r>,
    /// The request's verb in terms of RBAC; 404 or 405 if the target does not take the request's method.
    pub(super) verb: Result<Verb, Status>,
    pub(super) query: QueryString,
    /// The parameters; 400 or 422 if they cannot be parsed. Report such an error only to callers who have the right to the objects.
    pub(super) parameters: Result<Parameters, Status>,
    /// The only name that the answer can contain: the name in the path, or in the field selector.
    pub(super) only_name: Option<String>,
    /// The kind, if the target is a kind's objects.
    kind: Option<&'static Kind>,
    /// The attributes for authorization and for the access log.
    attributes: Option<Attributes>,
}

/// A request of an authenticated caller who has not exceeded `serve.rate`.
pub(super) struct AuthenticatedRequest<'r> {
    question: Question<'r>,
    caller: Caller,
    /// The parts of the request, without credentials.
    parts: Parts,
}

/// A caller's request for objects of a kind.
pub(super) struct ObjectRequest {
    pub(super) caller: Caller,
    /// The token by which the caller was authenticated.
    pub(super) token: Option<Bearer>,
    pub(super) kind: &'static Kind,
    pub(super) attributes: Attributes,
    /// The name in the path; empty if the path names no object. (This differs from the name in `attributes` for a restore: a restore is
    /// authorized as a create, which has no name.)
    pub(super) name: String,
    pub(super) accept: String,
    pub(super) content_type: Option<String>,
    is_history: bool,
}

/// A request for objects whose caller has the right to them.
pub(super) struct AuthorizedRequest {
    request: Arc<ObjectRequest>,
    parameters: Result<Parameters, Status>,
    place: RequestSlot,
    may_write_status: Result<(), String>,
}

/// A request for objects, narrowed to those that its caller may see.
pub(super) struct NarrowedRequest {
    request: Arc<ObjectRequest>,
    /// The parameters, to which the conditions of the path, of the saved query and of `serve.formerObjects` were added.
    pub(super) parameters: Parameters,
    /// True if the request is for a history, or for objects as they were at a time or in a version.
    pub(super) is_past: bool,
    /// The requested states, before former objects were left out.
    pub(super) states: States,
    /// True if the request selects only by name and state.
    pub(super) is_by_name: bool,
    pub(super) former: Reach,
    pub(super) cost: read::Cost,
    pub(super) place: RequestSlot,
    /// For restores: `Ok` if the caller may write the object's status, otherwise the reason why not.
    pub(super) may_write_status: Result<(), String>,
}

impl<'r> ParsedRequest<'r> {
    pub(super) fn parse(path: &'r str, kinds: &[Kind]) -> Self {
        ParsedRequest { target: path::parse(path).map(|target| target.among(kinds)) }
    }

    /// Returns the target, for answers that need no authentication.
    pub(super) fn target(&self) -> Option<&RequestTarget<'r>> {
        self.target.as_ref().ok()
    }

    /// Authenticates the caller, parses the parameters, and tells the access log the user, the verb and the objects.
    ///
    /// # Errors
    /// First 401, 403, 429, 500 and 503 of [`Identity::authenticate`]; then 429 of [`Identity::admit`]; then 404 for a path that does not
    /// exist.
    pub(super) async fn authenticate(
        &'r self,
        sources: &Sources,
        mut parts: Parts,
        peer: &Peer,
        log: &AccessLog,
    ) -> Result<AuthenticatedRequest<'r>, Status> {
        let caller = sources.identity.authenticate(&mut parts, peer).await?;
        log.user(&caller.user);
        let question = self.target.as_ref().map(|target| Question::new(target, &parts, sources.kinds));
        if let Ok(question) = &question {
            question.note(log);
        }
        sources.identity.admit(&caller)?;
        Ok(AuthenticatedRequest { question: question.map_err(Status::clone)?, caller, parts })
    }
}

impl<'r> Question<'r> {
    fn new(target: &'r RequestTarget<'r>, parts: &Parts, kinds: &'static [Kind]) -> Self {
        let query = QueryString::parse(parts.uri.query().unwrap_or_default());
        let kind = match target {
            RequestTarget::Objects(path) => path.kind(kinds),
            _ => None,
        };
        let parameters = parameters::parse(&query, kind.map_or("", Kind::kind));
        let only_name = target.name().or_else(|| parameters.as_ref().ok()?.only_name()).map(str::to_owned);
        let read = match target.name() {
            Some(_) => Verb::Get,
            None if query.is_watch() => Verb::Watch,
            None => Verb::List,
        };
        let verb = match target {
            RequestTarget::Objects(path) => verb_of_objects(path, kind, &parts.method, read),
            RequestTarget::SelfReview(_) if parts.method == Method::POST => Ok(Verb::Create),
            RequestTarget::SelfReview(_) => Err(Status::method_not_allowed()),
            _ if reads(&parts.method) => Ok(read),
            _ => Err(Status::method_not_allowed()),
        };
        // As in the API server, the right to objects with certain names also allows a list that selects one of these names, and a right to
        // create has no name.
        let name = only_name.as_ref().filter(|_| !matches!(verb, Ok(Verb::Create))).cloned().unwrap_or_default();
        let attributes = match (target, kind, &verb) {
            (RequestTarget::Objects(path), Some(kind), Ok(verb)) => Some(Attributes {
                subresource: path
                    .subresource
                    .as_deref()
                    .filter(|name| *name == "status")
                    .unwrap_or_default()
                    .to_owned(),
                namespace: unwrap_part(&path.namespace).to_owned(),
                name,
                ..Attributes::of_all(*verb, kind.group(), kind.version(), &kind.plural())
            }),
            // Log these as reads even if the method is refused.
            (RequestTarget::Namespaces(_), ..) => {
                Some(Attributes { name, ..Attributes::of_all(read, NAMESPACES.group, "v1", NAMESPACES.plural) })
            }
            _ => None,
        };
        Question { target, verb, query, parameters, only_name, kind, attributes }
    }

    fn note(&self, log: &AccessLog) {
        let Some(attributes) = &self.attributes else { return };
        match self.target {
            RequestTarget::Objects(path) => {
                log.about(attributes, unwrap_part(&path.name), unwrap_part(&path.subresource))
            }
            _ => log.about(attributes, &attributes.name, ""),
        }
    }
}

/// Returns the verb of a request for objects; `read` is the verb of GET.
///
/// # Errors
/// 404 for a kind or a subresource that does not exist; 405 for a method that the target does not take.
fn verb_of_objects(path: &Objects<'_>, kind: Option<&Kind>, method: &Method, read: Verb) -> Result<Verb, Status> {
    let kind = kind.ok_or_else(Status::no_such_path)?;
    // The path of a namespaced object must name its namespace. The path of a cluster-scoped kind must not name one.
    let is_named = path.name.is_some();
    if (path.namespace.is_some() && !kind.namespaced()) || (path.namespace.is_none() && kind.namespaced() && is_named) {
        return Err(Status::no_such_path());
    }
    match (method, path.subresource.as_deref(), is_named) {
        // A read of the status returns the whole object, as in Kubernetes.
        (method, None | Some("status" | "history"), _) if reads(method) => Ok(read),
        (&Method::PUT, None, true) => Ok(Verb::Update),
        (&Method::PATCH, None, true) => Ok(Verb::Patch),
        (&Method::DELETE, None, true) => Ok(Verb::Delete),
        (&Method::DELETE, None, false) => Ok(Verb::DeleteCollection),
        (&Method::POST, Some("restore"), true) => Ok(Verb::Create),
        (&Method::POST, None, false) => {
            let resource = Resource { group: kind.group(), plural: &kind.plural() };
            let mut status = Status::method_not_allowed();
            status.message = format!(
                "{resource} are created in the cluster: send this to its API server; former ones are restored by POST of NAME/restore"
            );
            Err(status)
        }
        (_, None | Some("restore" | "status" | "history"), _) => Err(Status::method_not_allowed()),
        _ => Err(Status::no_such_path()),
    }
}

fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn unwrap_part<'t>(part: &'t Option<Cow<'_, str>>) -> &'t str {
    part.as_deref().unwrap_or_default()
}

impl<'r> Deref for AuthenticatedRequest<'r> {
    type Target = Question<'r>;

    fn deref(&self) -> &Question<'r> {
        &self.question
    }
}

impl AuthenticatedRequest<'_> {
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Takes a place (`serve.maxInFlight`), and checks that the caller has the right to the requested objects.
    ///
    /// # Errors
    /// 429 if no place is free; 403 without the right; 404 if the request is not for objects; 500 or 503 if the API server cannot be asked.
    pub(super) async fn authorize(self, sources: &Sources) -> Result<AuthorizedRequest, Status> {
        let AuthenticatedRequest { question, caller, mut parts } = self;
        let Question { target: RequestTarget::Objects(path), kind: Some(kind), attributes: Some(attributes), .. } =
            question
        else {
            return Err(Status::no_such_path());
        };
        let place = sources.places.take(&caller.user)?;
        let header = |name: HeaderName| parts.headers.get(name)?.to_str().ok().map(str::to_owned);
        let request = ObjectRequest {
            kind,
            name: unwrap_part(&path.name).to_owned(),
            is_history: path.is_history(),
            accept: header(ACCEPT).unwrap_or_default(),
            content_type: header(CONTENT_TYPE),
            token: parts.extensions.remove::<Bearer>(),
            attributes,
            caller,
        };
        let allowed = sources.identity.authorize(&request.caller, &request.attributes).await;
        allowed.map_err(|status| if request.is_history { needs_the_object(status) } else { status })?;
        let parameters = question.parameters;
        let may_write_status = match request.attributes.verb {
            Verb::Create => authorize_restore(&sources.identity, &request, parameters.as_ref().ok()).await?,
            _ => Ok(()),
        };
        Ok(AuthorizedRequest { request: Arc::new(request), parameters, place, may_write_status })
    }
}

/// Adds to the refusal of a history which right the history needs.
fn needs_the_object(mut refused: Status) -> Status {
    if refused.reason == Reason::Forbidden {
        refused.message.push_str("; the history of an object needs the right to the object");
    }
    refused
}

/// Checks the rights that a restore needs besides `create`. It needs `get`, because it shows the stored object, and `delete`, because it
/// marks the object's row as deleted. For a former version it also needs `update`, because a former version of an evicted object goes back
/// into its row. Returns `Ok(Ok(()))` if the caller may also write the status, and `Ok(Err(reason))` if not.
async fn authorize_restore(
    identity: &Identity,
    request: &ObjectRequest,
    parameters: Option<&Parameters>,
) -> Result<Result<(), String>, Status> {
    let ObjectRequest { caller, attributes, name, .. } = request;
    let is_former = parameters.is_some_and(|given| given.of_version.is_some() || given.query.at.is_some());
    for verb in [Verb::Get, Verb::Delete].into_iter().chain(is_former.then_some(Verb::Update)) {
        identity.authorize(caller, &Attributes { verb, name: name.clone(), ..attributes.clone() }).await?;
    }
    let subresource = "status".to_owned();
    identity
        .also(caller, &Attributes { verb: Verb::Patch, subresource, name: name.clone(), ..attributes.clone() })
        .await
}

impl ObjectRequest {
    /// Returns the namespace in the path; `None` if the request is for all namespaces, or the kind has none.
    pub(super) fn namespace(&self) -> Option<&str> {
        Some(self.attributes.namespace.as_str()).filter(|namespace| !namespace.is_empty())
    }

    /// Returns the object that the path names.
    pub(super) fn target(&self) -> write::WriteTarget<'_> {
        write::WriteTarget { kind: self.kind, namespace: &self.attributes.namespace, name: &self.name }
    }
}

impl AuthorizedRequest {
    /// Completes the query, and makes it leave out the former objects that the caller may not see. Adds warnings to `warnings`, even if the
    /// request fails.
    ///
    /// # Errors
    /// 400 and 422 for the parameters; 403 for a request about the past if the caller may see only live objects; the errors of
    /// [`FormerAccess::reach`](crate::former::FormerAccess::reach).
    pub(super) async fn narrow(self, sources: &Sources, warnings: &mut Vec<String>) -> Result<NarrowedRequest, Status> {
        let AuthorizedRequest { request, parameters, place, may_write_status } = self;
        let kind = request.kind;
        let mut parameters = parameters?;
        warnings.append(&mut parameters.warnings);
        if let Some(namespace) = request.namespace() {
            parameters.query.namespaces = vec![namespace.to_owned()];
        }
        add_saved(&sources.saved, kind, &mut parameters)?;
        let is_past = is_past(&request, &parameters)?;
        let states = if is_past { States::ALL } else { parameters.query.states };
        let is_by_name = !is_past && parameters.query.filters.is_empty() && parameters.query.uids.is_empty();
        // Compute the cost before adding the condition that leaves out former objects: the caller did not ask for it, so it must
        // not count. All requests but lists and watches count as reads by key.
        let cost = match request.attributes.verb {
            Verb::List | Verb::Watch => read::cost(&sources.reads, kind, &parameters)?,
            _ => read::Cost::Keyed,
        };
        let namespace = request.namespace();
        let reach = sources.former.reach(&sources.reads, kind, namespace, states, sources.limits).await?;
        let (former, warning) = reach;
        warnings.extend(warning);
        match is_past {
            true => former.narrow_past(&mut parameters.query, kind, &request.name)?,
            false => former.narrow(&mut parameters.query),
        }
        Ok(NarrowedRequest { request, parameters, is_past, states, is_by_name, former, cost, place, may_write_status })
    }
}

/// Adds the saved query that the parameters name.
fn add_saved(queries: &SavedQueries, kind: &Kind, parameters: &mut Parameters) -> Result<(), Status> {
    let Some(SavedQueryCall { name, parameters: given, mut ask }) = parameters.saved.take() else { return Ok(()) };
    let saved = queries.get(&name).map_err(|error| Status::bad_request(error.to_string()))?;
    if saved.kind().table().name != kind.table().name {
        let message = format!("the query `{name}` is about {}, not about {}", saved.kind().name(), kind.name());
        return Err(Status::bad_request(message));
    }
    // The saved query is limited to the namespace in the path.
    parameters.query.namespaces.drain(..).for_each(|namespace| ask.namespace(namespace));
    let bound = saved.bind_within(&given, ask);
    let bound = bound.map_err(|error| Status::bad_request(format!("the query `{name}`: {error}")))?;
    parameters.query = bound.query;
    let most = bound.limit.map(|limit| limit as usize);
    parameters.most = most.into_iter().chain(parameters.most).min();
    Ok(())
}

/// Returns true if a request is about the past. Such a request can show the content of deleted objects.
///
/// # Errors
/// 400 for `at`, unless the request is a GET of an object, a list or a restore; 400 for `version`, unless the request is for a history or is
/// a restore.
fn is_past(request: &ObjectRequest, parameters: &Parameters) -> Result<bool, Status> {
    let verb = request.attributes.verb;
    let is_history = request.is_history;
    let is_restore = verb == Verb::Create;
    let is_of_moment = parameters.query.at.is_some();
    let is_of_version = parameters.of_version.is_some();
    if is_of_moment && (is_history || !(is_restore || matches!(verb, Verb::Get | Verb::List))) {
        return Err(Status::bad_request(QueryError::OfMoment.to_string()));
    }
    if is_of_version && !is_history && !is_restore {
        return Err(Status::bad_request("version: it is a parameter of NAME/history and NAME/restore"));
    }
    Ok(is_history || is_of_moment || is_of_version)
}

impl Deref for NarrowedRequest {
    type Target = ObjectRequest;

    fn deref(&self) -> &ObjectRequest {
        &self.request
    }
}

impl NarrowedRequest {
    /// Returns the authorized request, for a later check of the same right. Keeping it does not keep the place.
    pub(super) fn request(&self) -> Arc<ObjectRequest> {
        self.request.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{ParsedRequest, Question};
    use crd_specs::KINDS;
    use http::Request;

    /// Returns what a request asks for as text: the verb, or the status code of the refusal; the verb, namespace and name of the right that
    /// is checked; and the only name that the answer can contain.
    fn question(method: &str, path: &str) -> String {
        let (parts, ()) = Request::builder().method(method).uri(path).body(()).unwrap().into_parts();
        let parsed = ParsedRequest::parse(parts.uri.path(), KINDS);
        let question = Question::new(parsed.target().unwrap(), &parts, KINDS);
        let verb = match &question.verb {
            Ok(verb) => verb.as_str().to_owned(),
            Err(status) => status.code.as_str().to_owned(),
        };
        let right = question.attributes.map(|of| format!("{} {}/{}", of.verb.as_str(), of.namespace, of.name));
        format!("{verb}, {}, {}", right.unwrap_or_default(), question.only_name.unwrap_or_default())
    }

    const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

    #[test]
    fn a_method_and_a_path_are_a_verb_and_a_right() {
        for (method, path, expected) in [
            ("GET", "", "list, list ml/, "),
            ("HEAD", "?watch=0", "list, list ml/, "),
            ("GET", "?watch=true", "watch, watch ml/, "),
            ("GET", "/a?watch=true", "get, get ml/a, a"),
            ("GET", "/a/status", "get, get ml/a, a"),
            ("GET", "/a/history", "get, get ml/a, a"),
            ("PUT", "/a", "update, update ml/a, a"),
            ("PATCH", "/a", "patch, patch ml/a, a"),
            ("DELETE", "/a", "delete, delete ml/a, a"),
            ("DELETE", "", "deletecollection, deletecollection ml/, "),
            ("POST", "/a/restore", "create, create ml/, a"),
            ("POST", "", "405, , "),
            ("PATCH", "", "405, , "),
            ("PUT", "/a/status", "405, , a"),
            ("GET", "/a/restore", "405, , a"),
            ("GET", "/a/logs", "404, , a"),
            ("OPTIONS", "", "405, , "),
        ] {
            assert_eq!(question(method, &format!("{MODELS}{path}")), expected, "{method} {path}");
        }
        for (method, path, expected) in [
            ("GET", "/apis/michelangelo.api/v2/models", "list, list /, "),
            ("GET", "/apis/michelangelo.api/v2/models/a", "404, , a"),
            ("GET", "/apis/michelangelo.api/v1/namespaces/ml/models", "404, , "),
            ("GET", "/api/v1/namespaces/ml", "get, get /ml, ml"),
            ("GET", "/api/v1/namespaces?watch=1", "watch, watch /, "),
            // Refused, but logged as a read.
            ("POST", "/api/v1/namespaces", "405, list /, "),
            ("GET", "/api/v1/namespaces/ml/events", "list, , "),
            ("GET", "/apis/mirror.michelangelo.api/v1/counts/a.b", "get, , a.b"),
            ("DELETE", "/apis/mirror.michelangelo.api/v1/counts/a.b", "405, , a.b"),
            ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "create, , "),
            ("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "405, , "),
            ("GET", "/openapi/v2", "list, , "),
        ] {
            assert_eq!(question(method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn the_only_name_is_that_of_the_path_or_of_the_field_selector() {
        for (path, expected) in [
            ("?fieldSelector=metadata.name%3Da", "list, list ml/a, a"),
            ("?fieldSelector=metadata.name%3Da&watch=1", "watch, watch ml/a, a"),
            ("/a?fieldSelector=metadata.name%3Db", "get, get ml/a, a"),
            ("?fieldSelector=metadata.name!%3Da", "list, list ml/, "),
            ("?fieldSelector=metadata.namespace%3Da", "list, list ml/, "),
            // If the parameters cannot be parsed, the right to all names is checked.
            ("?fieldSelector=metadata.name%3Da&limit=many", "list, list ml/, "),
        ] {
            assert_eq!(question("GET", &format!("{MODELS}{path}")), expected, "{path}");
        }
        let units = "/apis/mirror.michelangelo.api/v1/units?fieldSelector=metadata.name%3Da";
        assert_eq!(question("GET", units), "list, , a");
        assert_eq!(question("GET", "/api/v1/namespaces?fieldSelector=metadata.name%3Dml"), "list, list /ml, ml");
    }
}
