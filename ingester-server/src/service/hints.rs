//! Hints for clients that find nothing.

use super::{Inner, is_watch, of_text, text_of};
use crate::former::Reach;
use crate::request::accept;
use crate::request::parameters::is_parameter;
use crate::request::path::OUTER_GROUP;
use crate::status::{Reason, Resource, Status};
use crate::write::Target;
use crate::write::find::find;
use axum::body::Body;
use http::Response;
use http::header::ACCEPT;
use http::request::Parts;
use ingester_core::Kind;
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::query::{Limits, Wanted};

/// Whether a request asks only for a name and states.
pub(super) fn by_name_alone(query: &Query) -> bool {
    query.filters.is_empty() && query.uids.is_empty()
}

/// The answer about Events, of which there are none. `kubectl describe` asks for those of its object, and shows none.
pub(super) fn no_events(
    name: Option<&str>,
    parts: &Parts,
    warnings: &mut Vec<String>,
) -> Result<Response<Body>, Status> {
    const ELSEWHERE: &str = "Events are not mirrored here: ask the cluster's API server for them";
    accept::plain(text_of(&parts.headers, &ACCEPT))?;
    let query = parts.uri.query().unwrap_or_default();
    if let Some(name) = name {
        return Err(Status::not_found(Resource { group: "", plural: "events" }, name));
    }
    if is_watch(query) {
        let mut status = Status::method_not_allowed();
        status.message = ELSEWHERE.to_owned();
        return Err(status);
    }
    if !form_urlencoded::parse(query.as_bytes()).any(|(key, _)| key == "fieldSelector") {
        warnings.push(ELSEWHERE.to_owned());
    }
    let none = serde_json::json!({"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": []});
    Ok(of_text(none.to_string()))
}

impl Inner {
    /// The answer about an object that is requested only by its name, in these states. If it is not found, the error says whether the name is that of
    /// an object in another state, which the caller may read by the same right.
    pub(super) async fn or_hint(
        &self,
        answer: Result<Response<Body>, Status>,
        target: Target<'_>,
        states: Option<States>,
        former: Reach,
    ) -> Result<Response<Body>, Status> {
        match (answer, states) {
            (Err(status), Some(states)) => Err(self.not_found(status, target, states, former).await),
            (answer, _) => answer,
        }
    }

    async fn not_found(&self, mut status: Status, target: Target<'_>, states: States, former: Reach) -> Status {
        let others = States { live: !states.live, evicted: !states.evicted, deleted: !states.deleted };
        if status.reason != Reason::NotFound || others == States::NONE {
            return status;
        }
        let Ok(found) = find(&self.sources.reads, target, None, others, former).await else { return status };
        let (article, state) = match (found.deleted, found.evicted) {
            (true, _) => ("a", "deleted"),
            (false, true) => ("an", "evicted"),
            (false, false) => ("a", "live"),
        };
        status.message = format!(
            "{}; {article} {state} object of this name is in SQL: list it with the field selector metadata.name={} and the label selector \
             {OUTER_GROUP}/state={state}",
            status.message, target.name
        );
        status
    }

    /// A warning if a label selector finds nothing, and has a label with the name of a parameter.
    pub(super) async fn lacks_prefix(&self, kind: &Kind, query: &Query, limits: Limits) -> Option<String> {
        let name = query.filters.iter().find_map(|filter| match filter {
            Filter::Label { key, test: Test::Equal(_) | Test::In(_) } if is_parameter(key) => Some(key),
            _ => None,
        })?;
        let asked = self.sources.reads.ask_about(kind, query, limits).ok()?;
        let page = asked.page(&Wanted::default(), 1, None).await.ok()?;
        let warning =
            || format!("no object has such a label `{name}`; the parameter of this name is {OUTER_GROUP}/{name}");
        page.rows.is_empty().then(warning)
    }
}
