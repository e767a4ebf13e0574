//! Reads objects of a kind: one, a list, or changes as they happen.

use super::stages::{NarrowedRequest, ObjectRequest};
use super::{Inner, Sources, holding};
use crate::read::{self, HistoryOf, Log};
use crate::request::accept::{self, Form};
use crate::request::parameters::Include;
use crate::request::watching::without_initial_events;
use crate::status::{Reason, Status};
use crate::watch;
use axum::body::Body;
use http::Response;
use ingester_core::schema::base;
use ingester_sql::query::{AsOf, Query, QueryError};
use ingester_store::query::{RequestedParts, VersionError, VersionOf};
use std::sync::Arc;

impl Inner {
    /// Answers with one object, by its name.
    pub(super) async fn get(&self, mut request: NarrowedRequest) -> Result<Response<Body>, Status> {
        let form = form(&mut request)?;
        let Sources { reads, limits, .. } = &self.sources;
        let parameters = std::mem::take(&mut request.parameters);
        if let Some(changes) = self.changes().await? {
            changes.reached(request.kind.table(), parameters.version).await?;
        }
        let at = parameters.query.at;
        let mut answer = read::get(reads, request.kind, parameters, &request.name, form, *limits).await;
        if let Err(status) = &mut answer
            && status.reason == Reason::NotFound
            && let Some((_, why)) = self.unknown_at(&request, at).await
        {
            status.message = format!("{}: {why}", status.message);
        }
        Ok(holding(self.or_hint(answer, &request).await?, request.place))
    }

    /// Answers with a list of objects.
    pub(super) async fn list(
        &self,
        mut request: NarrowedRequest,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let form = form(&mut request)?;
        let Sources { reads, limits, .. } = &self.sources;
        let parameters = std::mem::take(&mut request.parameters);
        let changes = self.changes().await?;
        // A caller who asks for some objects may not be allowed to see others, and each page would repeat the warning.
        let is_whole = parameters.query.filters.is_empty() && request.attributes.name.is_empty();
        if is_whole && parameters.token.is_none() {
            let unknown = self.unknown_at(&request, parameters.query.at).await;
            let warning = |(object, why)| format!("the list may lack objects such as {object}: {why}");
            warnings.extend(unknown.map(warning));
        }
        warnings.extend(self.lacks_prefix(request.kind, &parameters.query, *limits).await);
        let reader = (request.caller.user.as_str(), request.cost);
        let answer = read::list(reader, (reads, changes), request.kind, parameters, form, *limits).await?;
        Ok(holding(answer, request.place))
    }

    /// Streams changes as they happen, if the database has a log of them. A watch that only waits leaves its place to other requests.
    pub(super) async fn watch(self: &Arc<Self>, mut request: NarrowedRequest) -> Result<Response<Body>, Status> {
        let form = form(&mut request)?;
        let changes = self.changes().await?;
        let standing = self.standing(&request);
        let kind = *request.kind;
        let user = request.caller.user.clone();
        let limits = self.sources.limits;
        let NarrowedRequest { parameters, former: reach, cost, place, .. } = request;
        let watch = parameters.watch.unwrap_or_default();
        let request = watch::Request { kind, user, parameters, reach, form, cost, limits, place, standing };
        match (&self.sources.watches, changes) {
            (Some(hub), Some(_)) => hub.watch(request).await,
            _ if watch.initial.is_some() => Err(without_initial_events(read::WITHOUT_LOG)),
            _ => Ok(read::watch(watch.time)),
        }
    }

    /// Answers with the versions of all objects that have had a name.
    pub(super) async fn history(&self, request: NarrowedRequest) -> Result<Response<Body>, Status> {
        accept::plain(&request.accept)?;
        if request.kind.history().is_none() {
            return Err(Status::no_such_path());
        }
        let objects = visible(&request)?;
        let of = HistoryOf { user: &request.caller.user, kind: request.kind, name: &request.name, objects };
        let answer = read::history(&self.sources.reads, of, &request.parameters, self.sources.limits).await?;
        Ok(holding(answer, request.place))
    }

    /// Returns the version that a restore names by a resourceVersion or a time, as the uid of its object and the text.
    pub(super) async fn version(&self, request: &NarrowedRequest) -> Result<(String, String), Status> {
        let store = &self.sources.reads;
        let limits = self.sources.limits;
        let kind = request.kind;
        if kind.history().is_none() {
            return Err(Status::bad_request(QueryError::NoHistory { kind: kind.kind() }.to_string()));
        }
        let of = match (request.parameters.of_version, request.parameters.query.at) {
            (Some(version), None) => VersionOf::Version(version),
            (None, Some(at)) => VersionOf::At(at),
            _ => return Err(Status::bad_request("name one version: by `version` or by `at`")),
        };
        let objects = visible(request)?;
        let row = read::version(store, (kind, &request.name), &objects, of, &RequestedParts::object(), limits).await?;
        Ok((row.uid().to_owned(), row.get_text(base::JSON).to_owned()))
    }

    /// Returns a warning that an answer about a moment may lack a visible object: the object and the reason.
    async fn unknown_at(&self, request: &NarrowedRequest, at: Option<AsOf>) -> Option<(String, VersionError)> {
        let mut query = Query { at: Some(at?), ..named(request) };
        request.former.narrow_past(&mut query, request.kind, "").ok()?;
        // Ignore an error: the answer is the same without the warning.
        let (life, why) = self.sources.reads.unknown_at(request.kind, &query, self.sources.limits).await.ok()??;
        let object = if life.namespace.is_empty() { String::new() } else { format!("{}/", life.namespace) };
        Some((format!("{object}{}", life.name), why))
    }

    /// Returns the log of changes for readers.
    async fn changes(&self) -> Result<Option<&Log>, Status> {
        match &self.sources.watches {
            Some(hub) if hub.log().is_there().await? => Ok(Some(hub.log())),
            _ => Ok(None),
        }
    }

    /// Returns the check that a watch repeats: the caller still exists, still has the right, and still sees the same former objects.
    fn standing(self: &Arc<Self>, request: &NarrowedRequest) -> watch::WatchRightCheck {
        let inner = self.clone();
        let states = request.states;
        let seen = request.former;
        let request = request.request();
        Box::new(move || {
            let inner = inner.clone();
            let request = request.clone();
            Box::pin(async move {
                let Sources { identity, former, reads, limits, .. } = &inner.sources;
                let caller = identity.again(&request.caller, request.token.as_ref()).await?;
                identity.authorize(&caller, &request.attributes).await?;
                let (reach, _) = former.reach(reads, request.kind, request.namespace(), states, *limits).await?;
                if reach == seen { Ok(()) } else { Err(Status::expired("the namespace is another one: list again")) }
            })
        })
    }
}

/// Returns the form in which objects are answered. Forms other than tables ignore the parameter about the part of an object that a table
/// has.
fn form(request: &mut NarrowedRequest) -> Result<Form, Status> {
    let form = accept::form(&request.accept)?;
    if form != Form::Table {
        request.parameters.include = Include::default();
    }
    Ok(form)
}

/// Returns the query for objects that have, or had, the requested name and that the caller may see as they were.
fn visible(request: &NarrowedRequest) -> Result<Query, Status> {
    let mut objects = named(request);
    objects.uids.clone_from(&request.parameters.query.uids);
    request.former.narrow_past(&mut objects, request.kind, &request.name)?;
    Ok(objects)
}

/// Returns the query for objects that have, or had, the requested name; without a name, for all objects.
fn named(request: &ObjectRequest) -> Query {
    let name = Some(request.name.clone()).filter(|name| !name.is_empty());
    Query {
        namespaces: request.namespace().map(str::to_owned).into_iter().collect(),
        names: name.into_iter().collect(),
        ..Query::default()
    }
}
