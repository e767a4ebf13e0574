//! The Leases of a group: a trait, and its implementation with the API server.

use super::group::Group;
use super::record::{GROUP, NAME, Record};
use crate::backoff::{Backoff, LEASES};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, PostParams, Preconditions, WatchEvent, WatchParams};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The reason why a Lease was not read or written.
#[derive(Debug)]
pub enum LeaseError {
    /// It does not exist any more.
    Gone,
    /// Its version is not the one that the request wanted to replace.
    Conflict,
    /// The API server refused or failed, or its answer was lost.
    Failed(String),
}

impl fmt::Display for LeaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeaseError::Gone => f.write_str("the Lease does not exist"),
            LeaseError::Conflict => f.write_str("the Lease was changed meanwhile"),
            LeaseError::Failed(reason) => f.write_str(reason),
        }
    }
}

/// The Leases of a group.
///
/// # Guarantees of an implementation
/// - [`Leases::list`] is a consistent read: it shows what was stored at the time of the request.
/// - [`Leases::replace`] and [`Leases::delete`] do nothing if the Lease has another version.
/// - An error may also mean that the answer was lost.
pub(crate) trait Leases: Send + Sync {
    /// Returns all Leases of the group.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>>;

    /// Creates a Lease that does not exist. Returns it with its version.
    fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>>;

    /// Replaces the Lease if it has the record's version. Returns it with its new version.
    fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>>;

    /// Deletes the Lease if it has this version.
    fn delete<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), LeaseError>>;

    /// Waits until a member comes or goes, or claims other units. It may return without a reason, or never.
    fn changed(&self) -> BoxFuture<'_, ()>;
}

/// The Leases of a group on the API server.
#[derive(Clone)]
pub struct KubeLeases {
    api: Api<Lease>,
    group: Group,
    known: Arc<Mutex<KnownLeases>>,
}

/// The state of the Leases after the last list and the events since then.
struct KnownLeases {
    /// The version of this state; `None` until the next list.
    version: Option<String>,
    /// The claims of each member.
    claims: BTreeMap<String, BTreeSet<String>>,
    /// The pause after watches that failed, or sent nothing.
    backoff: Backoff,
}

impl KnownLeases {
    /// Returns true if this version is later than the latest known one, and records it.
    fn advances(&mut self, version: Option<String>) -> bool {
        let number = |version: &Option<String>| version.as_deref().and_then(|version| version.parse::<u64>().ok());
        if number(&version) <= number(&self.version) {
            return false;
        }
        self.version = version;
        true
    }
}

/// The number of seconds after which the API server ends a watch of Leases.
const WATCH_SECONDS: u32 = 240;

impl KubeLeases {
    /// The Leases of a group.
    pub fn new(client: Client, group: Group) -> Self {
        let known = KnownLeases { version: None, claims: BTreeMap::new(), backoff: Backoff::new(LEASES) };
        KubeLeases { api: Api::namespaced(client, &group.namespace), group, known: Arc::new(Mutex::new(known)) }
    }

    /// Returns the members of every group with this name, each with its group.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn members(client: Client, namespace: &str, name: &str) -> Result<Vec<(String, Record)>, kube::Error> {
        let api: Api<Lease> = Api::namespaced(client, namespace);
        let leases = api.list(&ListParams::default().labels(&format!("{NAME}={name}"))).await?;
        let of_group = |lease: Lease| {
            let group = lease.metadata.labels.as_ref()?.get(GROUP)?.clone();
            Some((group, Record::from_lease(lease)))
        };
        Ok(leases.into_iter().filter_map(of_group).collect())
    }

    fn selector(&self) -> String {
        format!("{GROUP}={}", self.group.name)
    }

    fn known(&self) -> MutexGuard<'_, KnownLeases> {
        self.known.lock()
    }

    /// Waits for changes. It begins at the version of the last list: the state that a server sends without a version may be an old one,
    /// which would count as a change each time.
    async fn watch(&self) -> Result<WatchResult, kube::Error> {
        let Some(version) = self.known().version.clone() else { return Ok(WatchResult::Nothing) };
        let parameters = WatchParams::default().labels(&self.selector()).timeout(WATCH_SECONDS);
        let mut events = std::pin::pin!(self.api.watch(&parameters, &version).await?);
        while let Some(event) = events.next().await {
            let event = event?;
            let mut known = self.known();
            known.backoff.reset();
            let news = match event {
                WatchEvent::Added(lease) | WatchEvent::Modified(lease) => {
                    let advances = known.advances(lease.metadata.resource_version.clone());
                    let Record { name, claims, .. } = Record::from_lease(lease);
                    advances && known.claims.insert(name, claims.clone()) != Some(claims)
                }
                WatchEvent::Deleted(lease) => {
                    let advances = known.advances(lease.metadata.resource_version.clone());
                    advances && known.claims.remove(&lease.metadata.name.unwrap_or_default()).is_some()
                }
                WatchEvent::Bookmark(bookmark) => {
                    known.advances(Some(bookmark.metadata.resource_version));
                    false
                }
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            };
            if news {
                return Ok(WatchResult::News);
            }
        }
        Ok(WatchResult::Nothing)
    }
}

/// The way a watch ended.
enum WatchResult {
    News,
    Nothing,
}

impl Leases for KubeLeases {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>> {
        async {
            let leases = self.api.list(&ListParams::default().labels(&self.selector())).await.map_err(failed)?;
            let version = leases.metadata.resource_version.clone();
            let records: Vec<Record> = leases.into_iter().map(Record::from_lease).collect();
            let mut known = self.known();
            known.advances(version);
            known.claims = records.iter().map(|record| (record.name.clone(), record.claims.clone())).collect();
            drop(known);
            Ok(records)
        }
        .boxed()
    }

    fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        async move {
            let made = self.api.create(&PostParams::default(), &record.lease(&self.group)).await;
            made.map(Record::from_lease).map_err(|error| match failed(error) {
                LeaseError::Gone => LeaseError::Failed(format!("there is no namespace {}", self.group.namespace)),
                error => error,
            })
        }
        .boxed()
    }

    fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        async move {
            let lease = record.lease(&self.group);
            let replaced = self.api.replace(&record.name, &PostParams::default(), &lease).await;
            replaced.map(Record::from_lease).map_err(failed)
        }
        .boxed()
    }

    fn delete<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), LeaseError>> {
        async move {
            let preconditions =
                Preconditions { uid: Some(record.uid.clone()), resource_version: Some(record.version.clone()) };
            let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            self.api.delete(&record.name, &parameters).await.map(drop).map_err(failed)
        }
        .boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        async {
            let watched = self.watch().await;
            let pause = {
                let mut known = self.known();
                match watched {
                    Ok(WatchResult::News) => return,
                    // The server has forgotten this version. The next list, which comes soon, has a later one.
                    Err(kube::Error::Api(status)) if status.code == 410 => known.version = None,
                    Ok(WatchResult::Nothing) | Err(_) => {}
                }
                known.backoff.pause()
            };
            tokio::time::sleep(pause).await;
        }
        .boxed()
    }
}

fn failed(error: kube::Error) -> LeaseError {
    match &error {
        kube::Error::Api(status) if status.code == 404 => LeaseError::Gone,
        kube::Error::Api(status) if status.code == 409 => LeaseError::Conflict,
        _ => LeaseError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, KubeLeases, LeaseError, Leases as _};
    use crate::replicas::record::Record;
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use std::collections::{BTreeSet, VecDeque};
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::Instant;

    fn group() -> Group {
        Group::of_database("ns".into(), "ingester", "abc", "metadata")
    }

    /// A Lease of this version that claims units.
    fn lease(name: &str, version: u32, claims: &[&str]) -> Value {
        let units = |units: &[&str]| -> BTreeSet<String> { units.iter().map(|unit| (*unit).to_owned()).collect() };
        let record =
            Record { version: version.to_string(), ..Record::member(name, name, units(&["A", "B"]), units(claims)) };
        serde_json::to_value(record.lease(&group())).unwrap()
    }

    fn list(version: u32, leases: &[Value]) -> (u16, String) {
        (200, json!({ "metadata": { "resourceVersion": version.to_string() }, "items": leases }).to_string())
    }

    fn events(events: &[(&str, Value)]) -> (u16, String) {
        let line = |(what, object): &(&str, Value)| format!("{}\n", json!({ "type": what, "object": object }));
        (200, events.iter().map(line).collect())
    }

    fn expired() -> Value {
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "message": "too old", "code": 410 })
    }

    type RequestLog = Arc<Mutex<Vec<String>>>;

    /// Returns a server that gives these answers, and the version from which each watch was requested, `list` for a list.
    fn server(answers: Vec<(u16, String)>) -> (KubeLeases, RequestLog) {
        let asked = RequestLog::default();
        let mut answers = VecDeque::from(answers);
        let asks = asked.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let version = query.split('&').find_map(|part| part.strip_prefix("resourceVersion="));
            let what = if query.contains("watch=true") { version.unwrap_or("?") } else { "list" };
            asks.lock().push(what.to_owned());
            let (code, text) = answers.pop_front().expect("one request more than there are answers");
            let answer = Response::builder().status(code).body(Body::from(text.into_bytes())).unwrap();
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        (KubeLeases::new(Client::new(service, "ns"), group()), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_begins_at_the_list_and_goes_on_where_it_was() {
        let (leases, asked) = server(vec![
            list(7, &[lease("a", 5, &["A"])]),
            // The answers are a cache that lags behind the list, a renewal, and then a change.
            events(&[
                ("ADDED", lease("a", 3, &[])),
                ("MODIFIED", lease("a", 8, &["A"])),
                ("MODIFIED", lease("a", 9, &["B"])),
            ]),
            events(&[("DELETED", lease("a", 12, &["B"]))]),
        ]);
        leases.list().await.unwrap();
        let begin = Instant::now();
        leases.changed().await;
        leases.changed().await;
        assert_eq!(*asked.lock(), ["list", "7", "9"]);
        assert_eq!(begin.elapsed(), Duration::ZERO, "it does not wait for news");
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_that_is_forgotten_is_asked_for_once() {
        let refused = (410, expired().to_string());
        for gone in [refused, events(&[("ERROR", expired())])] {
            let (leases, asked) =
                server(vec![list(7, &[]), gone, list(9, &[]), events(&[("ADDED", lease("a", 10, &["A"]))])]);
            leases.list().await.unwrap();
            let begin = Instant::now();
            leases.changed().await;
            assert!(begin.elapsed() >= Duration::from_secs(1), "{:?}", begin.elapsed());
            // Without a list, a watch has no version to begin at.
            leases.changed().await;
            assert_eq!(*asked.lock(), ["list", "7"]);
            leases.list().await.unwrap();
            leases.changed().await;
            assert_eq!(*asked.lock(), ["list", "7", "list", "9"]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_ends_every_watch_is_asked_less_and_less_often() {
        let (leases, asked) = server([vec![list(7, &[])], vec![events(&[]); 6]].concat());
        leases.list().await.unwrap();
        let begin = Instant::now();
        for _ in 0..6 {
            leases.changed().await;
        }
        assert!(begin.elapsed() > Duration::from_secs(31), "{:?}", begin.elapsed());
        assert_eq!(asked.lock().len(), 7);
    }

    #[tokio::test]
    async fn a_missing_namespace_is_not_taken_for_a_missing_lease() {
        let missing =
            json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": 404 });
        let (leases, _) = server(vec![(404, missing.to_string())]);
        let made = leases.create(&Record::member("a", "a", BTreeSet::new(), BTreeSet::new())).await;
        assert!(matches!(made, Err(LeaseError::Failed(reason)) if reason == "there is no namespace ns"));
    }
}
