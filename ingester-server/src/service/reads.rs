//! Reading objects of a kind: one, a list, changes as they happen.

use super::{Inner, Sources};
use crate::caller::{Attributes, Caller, Verb};
use crate::former::Reach;
use crate::places::Place;
use crate::read::{self, Log};
use crate::request::accept::Form;
use crate::request::parameters::Parameters;
use crate::request::watching::without_initial_events;
use crate::status::Status;
use crate::{watch, write};
use axum::body::Body;
use http::Response;
use ingester_core::Kind;
use ingester_sql::query::States;
use std::sync::Arc;

/// Who reads what, once it is known that they may.
pub(super) struct Reading<'r> {
    pub(super) caller: &'r Caller,
    pub(super) attributes: &'r Attributes,
    pub(super) kind: &'r Kind,
    pub(super) namespace: &'r str,
    pub(super) name: &'r str,
    pub(super) form: Form,
    pub(super) cost: read::Cost,
    /// The states that were asked for, before former objects were left out.
    pub(super) states: States,
    pub(super) former: Reach,
}

impl Inner {
    /// The answer. `by_name` are the states in which an object was asked for, if by nothing but its name.
    pub(super) async fn read(
        self: &Arc<Self>,
        of: Reading<'_>,
        parameters: Parameters,
        by_name: Option<States>,
        place: &Place,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let Reading { caller, attributes, kind, namespace, name, form, cost, states, former } = of;
        let (reads, limits) = (&self.sources.reads, self.sources.limits);
        let changes = self.changes().await?;
        match attributes.verb {
            Verb::List => {
                warnings.extend(self.lacks_prefix(kind, &parameters.query, limits).await);
                read::list((&caller.user, cost), (reads, changes), kind, parameters, form, limits).await
            }
            Verb::Watch => {
                let standing = self.standing(caller, attributes, (kind, namespace), states, former);
                let (kind, user, place) = (*kind, caller.user.clone(), place.clone());
                let watch =
                    watch::Request { kind, user, parameters, reach: former, form, cost, limits, place, standing };
                self.watch(changes, watch).await
            }
            _ => {
                if let Some(changes) = changes {
                    changes.reached(kind.table(), parameters.version).await?;
                }
                let answer = read::get(reads, kind, parameters, name, form, limits).await;
                self.or_hint(answer, write::Target { kind, namespace, name }, by_name, former).await
            }
        }
    }

    /// The log of changes, for those who read.
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

    /// Whether the caller may go on watching: whether they have the right, and see what they saw of former objects.
    fn standing(
        self: &Arc<Self>,
        caller: &Caller,
        attributes: &Attributes,
        (kind, namespace): (&Kind, &str),
        states: States,
        seen: Reach,
    ) -> watch::Standing {
        let (inner, caller, attributes) = (self.clone(), caller.clone(), attributes.clone());
        let (kind, namespace) = (*kind, namespace.to_owned());
        Box::new(move || {
            let (inner, caller, attributes, namespace) =
                (inner.clone(), caller.clone(), attributes.clone(), namespace.clone());
            Box::pin(async move {
                let Sources { identity, former, reads, limits, .. } = &inner.sources;
                identity.authorize(&caller, &attributes).await?;
                let within = Some(&*namespace).filter(|namespace| !namespace.is_empty());
                let (reach, _) = former.reach(reads, &kind, within, states, *limits).await?;
                if reach == seen { Ok(()) } else { Err(Status::expired("the namespace is another one: list again")) }
            })
        })
    }
}
