//! This server's own resources, which are not objects of a kind: saved queries, parameters, counts, rejects, units, policies, namespaces, and reviews of the
//! caller's own rights.

use super::stages::AuthenticatedRequest;
use super::{Inner, Sources, of_text, text_of};
use crate::answer::OwnObjects;
use crate::caller::Verb;
use crate::counts;
use crate::namespaces::{self, Asker};
use crate::rejects::{self, REJECTS};
use crate::request::parameters::Include;
use crate::request::path::{OUTER_GROUP, SelfReview};
use crate::request::{accept, steps};
use crate::self_review;
use crate::status::{Resource, Status};
use crate::units::{self, UnitResource};
use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Response, StatusCode};
use ingester_config::FormerObjects;
use ingester_declare::saved::{Parameter, SavedQuery};
use ingester_sql::query::{AskKey, Meaning, Spelling, States};
use serde_json::{Value as Json, json};

/// The version of this server's own resources.
const API_VERSION: &str = "mirror.michelangelo.api/v1";

/// Parameters that are not keys of a question, with their values and effects.
const OTHERS: [(&str, &str, &str); 4] = [
    ("count", "boolean", "Count the objects: remainingItemCount of the first page"),
    ("limit", "integer", "The most objects of the whole answer, whatever the number of pages"),
    ("listOptionsExt", "string", "The list options of Michelangelo's API, in JSON"),
    ("query", "string", "A saved query; its parameters are `param.NAME`"),
];

impl Inner {
    /// Answers with the saved queries, or one of them.
    pub(super) fn queries(&self, request: &AuthenticatedRequest<'_>) -> Result<Response<Body>, Status> {
        let row = |query: &SavedQuery| {
            let cells = vec![json!(query.name()), json!(query.kind().name()), first_line(query.description())];
            (query.to_json(), cells)
        };
        let chosen = self.sources.saved.iter();
        let all = OwnObjects {
            api_version: API_VERSION,
            kind: "Query",
            columns: &[
                ("Name", "The query's name."),
                ("Kind", "The kind that it asks about."),
                ("Description", "What it is for."),
            ],
            objects: chosen.map(row).collect(),
        };
        answered(all, "queries", request)
    }

    /// Answers with the parameters for label selectors, including the parameters of the saved queries; or with one of them.
    pub(super) fn parameters(&self, request: &AuthenticatedRequest<'_>) -> Result<Response<Body>, Status> {
        let keys = AskKey::all().iter().filter_map(|key| {
            let name = key.name(Spelling::PseudoLabel)?;
            Some(parameter(name, None, type_of(key), None, &key.about(Spelling::PseudoLabel)))
        });
        let others = OTHERS.iter().map(|(name, ty, about)| parameter(name, None, ty, None, about));
        let of_queries = self.sources.saved.iter().flat_map(|query| {
            query.parameters().iter().map(move |of_query: &Parameter| {
                let ty = of_query.parameter_type().name();
                parameter(of_query.name(), Some(query), ty, of_query.default_text(), of_query.description())
            })
        });
        let mut objects: Vec<(Json, Vec<Json>)> = keys.chain(others).collect();
        objects.sort_by_key(|(_, cells)| cells[0].to_string());
        objects.extend(of_queries);
        let all = OwnObjects {
            api_version: API_VERSION,
            kind: "Parameter",
            columns: &[
                ("Name", "The parameter's name; of a saved query's, behind the name of the query."),
                ("Kind", "The kind that it asks about; without one, every kind."),
                ("Type", "What its values are."),
                ("Default", "The value that it has if none is given."),
                ("Description", "What it is for."),
            ],
            objects,
        };
        answered(all, "parameters", request)
    }

    /// Answers with the number of objects of each kind, or of one kind.
    pub(super) async fn counts(
        &self,
        request: &AuthenticatedRequest<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let (form, include) = form(request)?;
        let steps = steps::parse(&request.query)?;
        // As for lists over all namespaces: the callers have the right to all of them, so `olderHidden` hides nothing.
        let states = match self.sources.former.rule() {
            FormerObjects::Granted | FormerObjects::OlderHidden => States::ALL,
            FormerObjects::None => States::LIVE,
        };
        let asker = self.asker(request, states);
        let _place = self.sources.places.take(&asker.caller.user)?;
        let json = match request.target.name() {
            Some(name) => counts::get(asker, name, steps).await?.first(form, include).unwrap_or_default(),
            None if steps.is_some() => {
                return Err(Status::bad_request(
                    "`from`, `to` and `steps` are about one kind: counts/PLURAL.GROUP?from=7d",
                ));
            }
            None => {
                let (all, more) = counts::list(asker, request.only_name.as_deref()).await?;
                warnings.extend(more);
                all.list(form, include)
            }
        };
        Ok(of_text(json.to_string()))
    }

    /// Answers with the objects that could not be stored, or one of them.
    pub(super) async fn rejects(
        &self,
        request: &AuthenticatedRequest<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let (form, include) = form(request)?;
        let states = match self.sources.former.rule() {
            FormerObjects::Granted => States::ALL,
            FormerObjects::OlderHidden | FormerObjects::None => States::LIVE,
        };
        let asker = self.asker(request, states);
        let _place = self.sources.places.take(&asker.caller.user)?;
        let (all, warning) = rejects::list(asker, request.only_name.as_deref()).await?;
        warnings.extend(warning);
        let json = match request.target.name() {
            Some(name) => all.first(form, include).ok_or_else(|| Status::not_found(REJECTS, name))?,
            None => all.list(form, include),
        };
        Ok(of_text(json.to_string()))
    }

    /// Answers with the states of the units of `ingester run`, or with the effects of its rules; with all or with one.
    pub(super) async fn units(
        &self,
        which: UnitResource,
        request: &AuthenticatedRequest<'_>,
    ) -> Result<Response<Body>, Status> {
        let (form, include) = form(request)?;
        let asker = self.asker(request, States::ALL);
        let _place = self.sources.places.take(&asker.caller.user)?;
        let json = match request.target.name() {
            Some(name) => units::get(asker, which, name).await?.first(form, include).unwrap_or_default(),
            None => only(units::list(asker, which).await?, request).list(form, include),
        };
        Ok(of_text(json.to_string()))
    }

    /// Returns a caller's question about the rows in these states.
    fn asker<'a>(&'a self, request: &'a AuthenticatedRequest<'_>, states: States) -> Asker<'a> {
        let Sources { identity, kinds, reads, limits, .. } = &self.sources;
        Asker { identity, caller: request.caller(), kinds, store: reads, states, limits: *limits }
    }

    /// Answers a review that a caller requests about themselves.
    pub(super) async fn self_review(
        &self,
        review: SelfReview,
        request: &AuthenticatedRequest<'_>,
        body: Body,
    ) -> Result<Response<Body>, Status> {
        accept::plain(text_of(request.headers(), &ACCEPT))?;
        let content = Some(text_of(request.headers(), &CONTENT_TYPE));
        let answer = self_review::answer(review, &self.sources.identity, request.caller(), content, body).await?;
        let mut response = of_text(answer.to_string());
        *response.status_mut() = StatusCode::CREATED;
        Ok(response)
    }

    /// Answers with the namespaces in which the caller may list something, or one of them.
    pub(super) async fn namespaces(
        &self,
        request: &AuthenticatedRequest<'_>,
        verb: Verb,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        // If former objects may be hidden, they do not count for their namespaces.
        let states = match self.sources.former.rule() {
            FormerObjects::Granted => States::default(),
            FormerObjects::OlderHidden | FormerObjects::None => States::LIVE,
        };
        let asker = self.asker(request, states);
        let _place = self.sources.places.take(&asker.caller.user)?;
        if verb == Verb::Watch {
            let mut status = Status::method_not_allowed();
            status.message = "namespaces are not watched: list them again".to_owned();
            return Err(status);
        }
        let is_list = verb == Verb::List;
        let all = match request.only_name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => match namespaces::get(asker, name).await {
                Err(status) if is_list && status.code == StatusCode::FORBIDDEN => namespaces::objects([]),
                other => other?,
            },
            None => {
                let (all, warning) = self.namespaces.list(asker).await?;
                warnings.extend(warning);
                all
            }
        };
        let (form, include) = form(request)?;
        let json = if is_list { Some(all.list(form, include)) } else { all.first(form, include) };
        Ok(of_text(json.unwrap_or_default().to_string()))
    }
}

/// Returns the form that a request wants, and the part of each object that a table has.
///
/// # Errors
/// 406; 400 for a selector of anything but the name.
fn form(request: &AuthenticatedRequest<'_>) -> Result<(accept::Form, Include), Status> {
    let form = accept::form(text_of(request.headers(), &ACCEPT))?;
    let parameters = request.parameters.as_ref().map_err(Status::clone)?;
    if parameters.query.filters.len() > usize::from(parameters.only_name().is_some()) {
        return Err(Status::bad_request("these objects can only be selected by their name: `metadata.name=NAME`"));
    }
    Ok((form, parameters.include))
}

/// Keeps only the object that the request names, if it names one.
fn only(mut all: OwnObjects, request: &AuthenticatedRequest<'_>) -> OwnObjects {
    if let Some(only) = &request.only_name {
        all.objects.retain(|(object, _)| object["metadata"]["name"] == only.as_str());
    }
    all
}

/// Answers with all objects, or with the object that the path names.
fn answered(all: OwnObjects, plural: &str, request: &AuthenticatedRequest<'_>) -> Result<Response<Body>, Status> {
    let (form, include) = form(request)?;
    let all = only(all, request);
    let json = match request.target.name() {
        None => all.list(form, include),
        Some(name) => {
            let missing = || Status::not_found(Resource { group: OUTER_GROUP, plural }, name);
            all.first(form, include).ok_or_else(missing)?
        }
    };
    Ok(of_text(json.to_string()))
}

/// Returns a parameter of a saved query or of all kinds, with its cells.
fn parameter(
    name: &str,
    query: Option<&SavedQuery>,
    ty: &str,
    default: Option<String>,
    description: &str,
) -> (Json, Vec<Json>) {
    let (full, label) = match query {
        None => (name.to_owned(), format!("{OUTER_GROUP}/{name}")),
        Some(query) => (format!("{}.{name}", query.name()), format!("{OUTER_GROUP}/param.{name}")),
    };
    let kind = query.map(|query| query.kind().name());
    let mut spec = json!({"label": label, "type": ty, "description": description});
    for (field, value) in [("query", query.map(SavedQuery::name)), ("kind", kind), ("default", default.as_deref())] {
        if let Some(value) = value {
            spec[field] = value.into();
        }
    }
    let cells = vec![json!(full), json!(kind), json!(ty), json!(default), first_line(description)];
    let object = json!({
        "apiVersion": API_VERSION, "kind": "Parameter", "metadata": {"name": full}, "spec": spec,
    });
    (object, cells)
}

/// Returns the type of a key's values, in the terms of saved queries.
fn type_of(key: &AskKey) -> &'static str {
    match key.meaning() {
        Meaning::Namespaces | Meaning::Uids | Meaning::States => "list",
        Meaning::Labels | Meaning::Fields | Meaning::Order => "string",
        Meaning::Time { .. } | Meaning::At => "time",
        Meaning::Scan => "boolean",
    }
}

/// Returns the part of a text that fits into a cell.
fn first_line(text: &str) -> Json {
    text.lines().next().unwrap_or_default().into()
}
