//! Decides which former objects (deleted and evicted ones) a request may see: the rule of `serve.formerObjects`.
//!
//! May use: ingester-config, ingester-core, ingester-sql, ingester-store, status, read.
//!
//! Rights are checked in their present state, and rows are older. A caller who has the right in a namespace now would see the objects that
//! its former tenant deleted. The rule is applied once for a request and gives a [`Reach`], which narrows every query of that request.

use crate::read::{refused, resource};
use crate::status::Status;
use ingester_config::FormerObjects;
use ingester_core::Kind;
use ingester_core::schema::{BASE_COLUMNS, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::Store;
use ingester_store::query::{Limits, RequestedParts};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// The time for which the creation time of a namespace is cached.
const CREATED: Duration = Duration::from_secs(5);

/// The time for which the existence of hidden rows in a namespace is cached. Only the warning depends on it.
const HIDES: Duration = Duration::from_secs(60);

/// The time limit for an answer of the API server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most namespaces that are remembered.
const MOST: usize = 10_000;

/// Decides which former objects callers may see: the rule, and the cluster that knows when namespaces were created.
pub struct FormerAccess {
    rule: FormerObjects,
    namespaces: Namespaces,
}

/// The former objects that a request may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All of them.
    #[default]
    All,
    /// Those created at this time or later.
    Since(Micros),
    /// None of them.
    Live,
}

impl Reach {
    /// Excludes from a query the objects that may not be seen. A live object is never excluded.
    pub(crate) fn narrow(self, query: &mut Query) {
        match self {
            Reach::All => {}
            Reach::Live => query.states = States { live: query.states.live, evicted: false, deleted: false },
            Reach::Since(_) if query.states == States::LIVE => {}
            Reach::Since(time) => {
                let absent = |place| Filter::field(name(place), Test::Exists).negated();
                let is_live = absent(base::DELETE_TIME).and(absent(base::EVICT_TIME));
                query.filters.push(is_live.or(created_since(time)));
            }
        }
    }
}

impl Reach {
    /// Narrows a query about the past. There, an object that is live now may have belonged to a former tenant, so only its creation time
    /// counts.
    ///
    /// # Errors
    /// 403 if only present objects may be seen.
    pub(crate) fn narrow_past(self, query: &mut Query, kind: &Kind, name: &str) -> Result<(), Status> {
        match self {
            Reach::All => {}
            Reach::Since(time) => query.filters.push(created_since(time)),
            Reach::Live => {
                let why = "former versions are hidden as deleted objects are (serve.formerObjects)";
                return Err(Status::forbidden(resource(kind).as_resource(), name, why));
            }
        }
        Ok(())
    }
}

fn name(place: usize) -> &'static str {
    BASE_COLUMNS[place].name.as_str()
}

fn created_since(time: Micros) -> Filter {
    Filter::field(name(base::CREATE_TIME), Test::GreaterOrEqual(Value::Time(time)))
}

impl FormerAccess {
    /// Applies this rule. [`FormerObjects::OlderHidden`] asks the cluster, so the client's account needs the right to get namespaces.
    /// Without a cluster no namespace exists, so the rule hides all former objects.
    pub fn new(rule: FormerObjects, cluster: Option<Client>) -> Self {
        let namespaces =
            Namespaces { client: cluster, created: AnswerCache::new(CREATED), hides: AnswerCache::new(HIDES) };
        FormerAccess { rule, namespaces }
    }

    /// Returns the rule.
    pub(crate) fn rule(&self) -> FormerObjects {
        self.rule
    }

    /// Returns the objects of a kind that a request, with or without a namespace, may see in these states; and a warning if that hides any.
    ///
    /// A request over all namespaces needs the right to all of them, so its sender is not a tenant, and no object is too old to be seen.
    /// The same is true for kinds without namespaces.
    ///
    /// # Errors
    /// 500 and 503 if the API server does not say when the namespace was created: then nothing is shown.
    pub(crate) async fn reach(
        &self,
        store: &Store,
        kind: &Kind,
        namespace: Option<&str>,
        states: States,
        limits: Limits,
    ) -> Result<(Reach, Option<String>), Status> {
        match (self.rule, namespace) {
            (FormerObjects::Granted, _) | (FormerObjects::OlderHidden, None) => Ok((Reach::All, None)),
            (FormerObjects::None, _) => {
                let warning = (states.deleted || !states.live).then(|| {
                    "this server shows live objects only: deleted and evicted ones are hidden (serve.formerObjects)"
                        .into()
                });
                Ok((Reach::Live, warning))
            }
            (FormerObjects::OlderHidden, Some(_)) if states == States::LIVE => Ok((Reach::Live, None)),
            (FormerObjects::OlderHidden, Some(namespace)) => {
                let created = self.namespaces.created(namespace).await?;
                let hides = self.namespaces.hides(store, kind, namespace, created, limits).await?;
                let warning = hides.then(|| match created {
                    Some(time) => format!(
                        "objects that were deleted or evicted before the namespace {namespace} was created ({}) are hidden (serve.formerObjects)",
                        format_time(time)
                    ),
                    None => format!(
                        "the namespace {namespace} is not in the cluster: its deleted and evicted objects are hidden (serve.formerObjects)"
                    ),
                });
                Ok((created.map_or(Reach::Live, Reach::Since), warning))
            }
        }
    }
}

/// Formats a time as in objects.
fn format_time(time: Micros) -> String {
    Timestamp::from_microsecond(time.0).map(|time| time.to_string()).unwrap_or_default()
}

/// The creation times of a cluster's namespaces, cached for seconds.
struct Namespaces {
    /// `None` without a cluster.
    client: Option<Client>,
    created: AnswerCache<String, Option<Micros>>,
    hides: AnswerCache<(&'static str, String, Option<Micros>), bool>,
}

impl Namespaces {
    /// Returns the creation time of this namespace; `None` if it does not exist.
    async fn created(&self, namespace: &str) -> Result<Option<Micros>, Status> {
        let Some(client) = &self.client else { return Ok(None) };
        let key = namespace.to_owned();
        if let Some(known) = self.created.get(&key) {
            return Ok(known);
        }
        let unanswered = || Status::unavailable("the API server does not say when the namespace was created");
        let all: Api<Namespace> = Api::all(client.clone());
        let answer = tokio::time::timeout(TIMEOUT, all.get_metadata_opt(namespace)).await.map_err(|_| unanswered())?;
        let found = answer.map_err(|error| {
            tracing::warn!(%error, "Cannot read when a namespace was created, which `serve.formerObjects` needs");
            match error {
                kube::Error::Api(status) if matches!(status.code, 401 | 403) => Status::internal(
                    "the server's account may not read namespaces, which `serve.formerObjects: olderHidden` needs: give it the right to `get` them",
                ),
                _ => unanswered(),
            }
        })?;
        let created = match found {
            None => None,
            Some(found) => {
                let time = found.metadata.creation_timestamp.ok_or_else(unanswered)?;
                Some(Micros(time.0.as_microsecond()))
            }
        };
        self.created.put(key, created);
        Ok(created)
    }

    /// Returns true if the namespace has hidden rows of the kind.
    async fn hides(
        &self,
        store: &Store,
        kind: &Kind,
        namespace: &str,
        created: Option<Micros>,
        limits: Limits,
    ) -> Result<bool, Status> {
        let key = (kind.table().name.as_str(), namespace.to_owned(), created);
        if let Some(known) = self.hides.get(&key) {
            return Ok(known);
        }
        let resource = resource(kind);
        let query = Query {
            namespaces: vec![namespace.to_owned()],
            states: States { live: false, ..States::ALL },
            filters: created.map(|time| created_since(time).negated()).into_iter().collect(),
            ..Query::default()
        };
        let asked =
            store.ask_about(kind, &query, limits).map_err(|error| refused(error.into(), resource.as_resource()))?;
        let page = asked
            .page(&RequestedParts::default(), 1, None)
            .await
            .map_err(|error| refused(error, resource.as_resource()))?;
        let hides = !page.rows.is_empty();
        self.hides.put(key, hides);
        Ok(hides)
    }
}

/// Answers that are valid for a while.
struct AnswerCache<K, V> {
    time: Duration,
    answers: Mutex<HashMap<K, (Instant, V)>>,
}

impl<K: Hash + Eq, V: Copy> AnswerCache<K, V> {
    fn new(time: Duration) -> Self {
        AnswerCache { time, answers: Mutex::default() }
    }

    fn get(&self, key: &K) -> Option<V> {
        let answers = self.answers.lock();
        answers.get(key).filter(|(when, _)| when.elapsed() < self.time).map(|(_, value)| *value)
    }

    fn put(&self, key: K, value: V) {
        let mut answers = self.answers.lock();
        if answers.len() >= MOST {
            answers.clear();
        }
        answers.insert(key, (Instant::now(), value));
    }
}
