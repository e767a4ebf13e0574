//! Reading objects of a kind: one, a list, changes as they happen.

use super::{Inner, Sources};
use crate::caller::{Attributes, Caller, Verb};
use crate::former::Reach;
use crate::identity::Bearer;
use crate::places::Place;
use crate::read::{self, HistoryOf, Log};
use crate::request::accept::Form;
use crate::request::parameters::Parameters;
use crate::request::watching::without_initial_events;
use crate::status::{Reason, Status};
use crate::{watch, write};
use axum::body::Body;
use http::Response;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_sql::query::{AsOf, Query, QueryError, States};
use ingester_store::query::{VersionError, VersionOf, Wanted};
use std::sync::Arc;

/// A caller's read, after authorization.
pub(super) struct Reading<'r> {
    pub(super) caller: &'r Caller,
    /// The token by which the caller was authenticated.
    pub(super) token: Option<&'r Bearer>,
    pub(super) attributes: &'r Attributes,
    pub(super) kind: &'r Kind,
    pub(super) namespace: &'r str,
    pub(super) name: &'r str,
    pub(super) form: Form,
    pub(super) cost: read::Cost,
    /// The requested states, before former objects were left out.
    pub(super) states: States,
    pub(super) former: Reach,
}

impl Inner {
    /// The answer. `by_name` are the states in which an object was requested, if only by its name.
    pub(super) async fn read(
        self: &Arc<Self>,
        of: Reading<'_>,
        parameters: Parameters,
        by_name: Option<States>,
        place: &Place,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let Reading { caller, token, attributes, kind, namespace, name, form, cost, states, former } = of;
        let (reads, limits) = (&self.sources.reads, self.sources.limits);
        let changes = self.changes().await?;
        match attributes.verb {
            Verb::List => {
                // Who asks for some objects may not see others, and each page would say the same.
                let is_whole = parameters.query.filters.is_empty() && attributes.name.is_empty();
                if is_whole && parameters.token.is_none() {
                    let unknown = self.unknown_at(kind, (namespace, None), parameters.query.at, former).await;
                    let warning = |(object, why)| format!("the list may lack objects such as {object}: {why}");
                    warnings.extend(unknown.map(warning));
                }
                warnings.extend(self.lacks_prefix(kind, &parameters.query, limits).await);
                read::list((&caller.user, cost), (reads, changes), kind, parameters, form, limits).await
            }
            Verb::Watch => {
                let standing = self.standing((caller, token), attributes, (kind, namespace), states, former);
                let (kind, user, place) = (*kind, caller.user.clone(), place.clone());
                let watch =
                    watch::Request { kind, user, parameters, reach: former, form, cost, limits, place, standing };
                self.watch(changes, watch).await
            }
            _ => {
                if let Some(changes) = changes {
                    changes.reached(kind.table(), parameters.version).await?;
                }
                let at = parameters.query.at;
                let mut answer = read::get(reads, kind, parameters, name, form, limits).await;
                if let Err(status) = &mut answer
                    && status.reason == Reason::NotFound
                    && let Some((_, why)) = self.unknown_at(kind, (namespace, Some(name)), at, former).await
                {
                    status.message = format!("{}: {why}", status.message);
                }
                self.or_hint(answer, write::Target { kind, namespace, name }, by_name, former).await
            }
        }
    }

    /// The versions of the objects that have had a name.
    pub(super) async fn history(
        &self,
        caller: &Caller,
        kind: &Kind,
        (namespace, name): (&str, &str),
        parameters: &Parameters,
        former: Reach,
    ) -> Result<Response<Body>, Status> {
        if kind.history().is_none() {
            return Err(Status::no_such_path());
        }
        let objects = visible(kind, (namespace, name), parameters, former)?;
        let of = HistoryOf { user: &caller.user, kind, name, objects };
        read::history(&self.sources.reads, of, parameters, self.sources.limits).await
    }

    /// The version that a restore names by its resourceVersion or a moment: the uid of its object, and its text.
    pub(super) async fn version(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        parameters: &Parameters,
        former: Reach,
    ) -> Result<(String, String), Status> {
        let (store, limits) = (&self.sources.reads, self.sources.limits);
        if kind.history().is_none() {
            return Err(Status::bad_request(QueryError::NoHistory { kind: kind.kind() }.to_string()));
        }
        let of = match (parameters.of_version, parameters.query.at) {
            (Some(version), None) => VersionOf::Version(version),
            (None, Some(at)) => VersionOf::At(at),
            _ => return Err(Status::bad_request("name one version: by `version` or by `at`")),
        };
        let objects = visible(kind, (namespace, name), parameters, former)?;
        let row = read::version(store, (kind, name), &objects, of, &Wanted::object(), limits).await?;
        Ok((row.uid().to_owned(), row.text(base::JSON).to_owned()))
    }

    /// A warning that an answer about a moment may lack a visible object: which one, and why.
    async fn unknown_at(
        &self,
        kind: &Kind,
        (namespace, name): (&str, Option<&str>),
        at: Option<AsOf>,
        former: Reach,
    ) -> Option<(String, VersionError)> {
        let mut query = Query { at: Some(at?), ..named(namespace, name) };
        former.narrow_past(&mut query, kind, "").ok()?;
        // Without it, the answer is the same.
        let (life, why) = self.sources.reads.unknown_at(kind, &query, self.sources.limits).await.ok()??;
        let object = if life.namespace.is_empty() { String::new() } else { format!("{}/", life.namespace) };
        Some((format!("{object}{}", life.name), why))
    }

    /// The log of changes, for readers.
    async fn changes(&self) -> Result<Option<&Log>, Status> {
        match &self.sources.watches {
            Some(hub) if hub.log().is_there().await? => Ok(Some(hub.log())),
            _ => Ok(None),
        }
    }

    /// Changes as they happen, if the database has a log of them.
    async fn watch(&self, changes: Option<&Log>, request: watch::Request) -> Result<Response<Body>, Status> {
        let watch = request.parameters.watch.unwrap_or_default();
        match (&self.sources.watches, changes) {
            (Some(hub), Some(_)) => hub.watch(request).await,
            _ if watch.initial.is_some() => Err(without_initial_events(read::WITHOUT_LOG)),
            _ => Ok(read::watch(watch.time)),
        }
    }

    /// Whether the caller may continue to watch: whether they are still there, still have the right, and still see the same former objects.
    fn standing(
        self: &Arc<Self>,
        (caller, token): (&Caller, Option<&Bearer>),
        attributes: &Attributes,
        (kind, namespace): (&Kind, &str),
        states: States,
        seen: Reach,
    ) -> watch::Standing {
        let (inner, attributes) = (self.clone(), attributes.clone());
        let (caller, token) = (caller.clone(), token.cloned());
        let (kind, namespace) = (*kind, namespace.to_owned());
        Box::new(move || {
            let (inner, attributes, namespace) = (inner.clone(), attributes.clone(), namespace.clone());
            let (caller, token) = (caller.clone(), token.clone());
            Box::pin(async move {
                let Sources { identity, former, reads, limits, .. } = &inner.sources;
                let caller = identity.again(&caller, token.as_ref()).await?;
                identity.authorize(&caller, &attributes).await?;
                let within = Some(&*namespace).filter(|namespace| !namespace.is_empty());
                let (reach, _) = former.reach(reads, &kind, within, states, *limits).await?;
                if reach == seen { Ok(()) } else { Err(Status::expired("the namespace is another one: list again")) }
            })
        })
    }
}

/// The objects that have, or had, a name, and that may be seen as they were.
fn visible(
    kind: &Kind,
    (namespace, name): (&str, &str),
    parameters: &Parameters,
    former: Reach,
) -> Result<Query, Status> {
    let mut objects = named(namespace, Some(name));
    objects.uids.clone_from(&parameters.query.uids);
    former.narrow_past(&mut objects, kind, name)?;
    Ok(objects)
}

/// The objects that have, or had, a name; without a name, all of them.
fn named(namespace: &str, name: Option<&str>) -> Query {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Query {
        namespaces: given(namespace).into_iter().collect(),
        names: name.and_then(given).into_iter().collect(),
        ..Query::default()
    }
}
