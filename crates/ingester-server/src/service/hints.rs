//! Hints for clients whose request finds nothing.

use super::stages::{AuthenticatedRequest, NarrowedRequest};
use super::{Inner, of_text, text_of};
use crate::caller::Verb;
use crate::request::accept;
use crate::request::parameters::is_parameter;
use crate::request::path::OUTER_GROUP;
use crate::status::{Reason, Resource, Status};
use crate::write::find::find;
use axum::body::Body;
use http::Response;
use http::header::ACCEPT;
use ingester_core::Kind;
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::query::{Limits, RequestedParts};

/// Answers that there are no Events. `kubectl describe` asks for the Events of its object, and then shows none.
pub(super) fn no_events(
    request: &AuthenticatedRequest<'_>,
    verb: Verb,
    warnings: &mut Vec<String>,
) -> Result<Response<Body>, Status> {
    const ELSEWHERE: &str = "Events are not mirrored here: ask the cluster's API server for them";
    accept::plain(text_of(request.headers(), &ACCEPT))?;
    if let Some(name) = request.target.name() {
        return Err(Status::not_found(Resource { group: "", plural: "events" }, name));
    }
    if verb == Verb::Watch {
        let mut status = Status::method_not_allowed();
        status.message = ELSEWHERE.to_owned();
        return Err(status);
    }
    if !request.query.has("fieldSelector") {
        warnings.push(ELSEWHERE.to_owned());
    }
    let none = serde_json::json!({"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": []});
    Ok(of_text(none.to_string()))
}

impl Inner {
    /// Adds a hint to the answer about an object. If the object is not found, and the request names it and nothing else, the error says if
    /// the name belongs to an object in another state. The caller may read that one by the same right.
    pub(super) async fn or_hint(
        &self,
        answer: Result<Response<Body>, Status>,
        request: &NarrowedRequest,
    ) -> Result<Response<Body>, Status> {
        match answer {
            Err(status) if request.is_by_name => Err(self.not_found(status, request).await),
            answer => answer,
        }
    }

    async fn not_found(&self, mut status: Status, request: &NarrowedRequest) -> Status {
        let States { live, evicted, deleted } = request.states;
        let others = States { live: !live, evicted: !evicted, deleted: !deleted };
        if status.reason != Reason::NotFound || others == States::NONE {
            return status;
        }
        let found = find(&self.sources.reads, request.target(), None, others, request.former).await;
        let Ok(found) = found else { return status };
        let (article, state) = match (found.deleted, found.evicted) {
            (true, _) => ("a", "deleted"),
            (false, true) => ("an", "evicted"),
            (false, false) => ("a", "live"),
        };
        status.message = format!(
            "{}; {article} {state} object of this name is in SQL: list it with the field selector metadata.name={} and the label selector \
             {OUTER_GROUP}/state={state}",
            status.message, request.name
        );
        status
    }

    /// Returns a warning if a label selector finds nothing and uses the name of a parameter as a label.
    pub(super) async fn lacks_prefix(&self, kind: &Kind, query: &Query, limits: Limits) -> Option<String> {
        let name = query.filters.iter().find_map(|filter| match filter {
            Filter::Label { key, test: Test::Equal(_) | Test::In(_) } if is_parameter(key) => Some(key),
            _ => None,
        })?;
        let asked = self.sources.reads.ask_about(kind, query, limits).ok()?;
        let page = asked.page(&RequestedParts::default(), 1, None).await.ok()?;
        let warning =
            || format!("no object has such a label `{name}`; the parameter of this name is {OUTER_GROUP}/{name}");
        page.rows.is_empty().then(warning)
    }
}
