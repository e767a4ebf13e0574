//! Hints for clients that find nothing.

use super::Inner;
use crate::former::Reach;
use crate::request::parameters::is_parameter;
use crate::request::path::OUTER_GROUP;
use crate::status::{Reason, Status};
use crate::write::Target;
use crate::write::find::find;
use axum::body::Body;
use http::Response;
use ingester_core::Kind;
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::query::{Limits, Wanted};

/// Whether a request asks only for a name and states.
pub(super) fn by_name_alone(query: &Query) -> bool {
    query.filters.is_empty() && query.uids.is_empty()
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
