//! The Leases of a group, behind a trait, and the real ones.

use super::record::{GROUP, Record};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, PostParams, Preconditions, WatchEvent, WatchParams};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Which members share the work: those of one group, in one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Where the Leases are.
    pub namespace: String,
    /// What the members have in common, such as `ingester-4f1c2a9b`.
    pub name: String,
}

/// Why a Lease was not read or written.
#[derive(Debug)]
pub enum LeaseError {
    /// It is not there any more.
    Gone,
    /// It has another version than the one that was to be replaced.
    Conflict,
    /// The API server did not do it, or nobody knows.
    Failed(String),
}

impl fmt::Display for LeaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeaseError::Gone => f.write_str("the Lease is gone"),
            LeaseError::Conflict => f.write_str("the Lease was changed by somebody else"),
            LeaseError::Failed(reason) => f.write_str(reason),
        }
    }
}

/// The Leases of a group.
///
/// # Guarantees of an implementation
/// - [`Leases::list`] is a consistent read: it shows what was stored when it was asked for.
/// - [`Leases::replace`] and [`Leases::delete`] do nothing if the Lease has another version.
/// - An error may also mean that the answer was lost.
pub(crate) trait Leases: Send + Sync {
    /// All Leases of the group.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>>;

    /// Makes a Lease that is not there; returns it with its version.
    fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>>;

    /// Replaces the Lease of the version that the record has; returns it with its new one.
    fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>>;

    /// Deletes the Lease of this version.
    fn delete<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), LeaseError>>;

    /// Waits until a member comes or goes, or claims other units. It may come back for no reason, or never.
    fn changed(&self) -> BoxFuture<'_, ()>;
}

/// The Leases of a group on the API server.
#[derive(Clone)]
pub struct KubeLeases {
    api: Api<Lease>,
    group: Group,
    /// What the last list, and events since then, said of each member's claims.
    known: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>,
}

/// After how many seconds the API server ends a watch of Leases.
const WATCH_SECONDS: u32 = 240;

/// The pause after a watch that could not be opened, or ended.
const PAUSE: Duration = Duration::from_secs(5);

impl KubeLeases {
    /// The Leases of a group.
    pub fn new(client: Client, group: Group) -> Self {
        KubeLeases { api: Api::namespaced(client, &group.namespace), group, known: Arc::default() }
    }

    /// The members of every group whose name begins like this, each with its group.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn members(client: Client, namespace: &str, name: &str) -> Result<Vec<(String, Record)>, kube::Error> {
        let api: Api<Lease> = Api::namespaced(client, namespace);
        let leases = api.list(&ListParams::default().labels(GROUP)).await?;
        let of_group = |lease: Lease| {
            let group = lease.metadata.labels.as_ref()?.get(GROUP)?.clone();
            let rest = group.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('-')).then(|| (group, Record::of(lease)))
        };
        Ok(leases.into_iter().filter_map(of_group).collect())
    }

    fn selector(&self) -> String {
        format!("{GROUP}={}", self.group.name)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<String>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn watch(&self) -> Result<(), kube::Error> {
        let parameters = WatchParams::default().labels(&self.selector()).timeout(WATCH_SECONDS);
        // The present state comes first, which the last list had.
        let mut events = std::pin::pin!(self.api.watch(&parameters, "0").await?);
        while let Some(event) = events.next().await {
            let mut known = self.known();
            let news = match event? {
                WatchEvent::Added(lease) | WatchEvent::Modified(lease) => {
                    let Record { name, claims, .. } = Record::of(lease);
                    known.insert(name, claims.clone()) != Some(claims)
                }
                WatchEvent::Deleted(lease) => known.remove(&lease.metadata.name.unwrap_or_default()).is_some(),
                WatchEvent::Bookmark(_) => false,
                WatchEvent::Error(_) => break,
            };
            if news {
                return Ok(());
            }
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}

impl Leases for KubeLeases {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>> {
        async {
            let leases = self.api.list(&ListParams::default().labels(&self.selector())).await.map_err(failed)?;
            let records: Vec<Record> = leases.into_iter().map(Record::of).collect();
            *self.known() = records.iter().map(|record| (record.name.clone(), record.claims.clone())).collect();
            Ok(records)
        }
        .boxed()
    }

    fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        async move {
            let made = self.api.create(&PostParams::default(), &record.lease(&self.group.name)).await;
            made.map(Record::of).map_err(|error| match failed(error) {
                LeaseError::Gone => LeaseError::Failed(format!("there is no namespace {}", self.group.namespace)),
                error => error,
            })
        }
        .boxed()
    }

    fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        async move {
            let lease = record.lease(&self.group.name);
            let replaced = self.api.replace(&record.name, &PostParams::default(), &lease).await;
            replaced.map(Record::of).map_err(failed)
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
            if self.watch().await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
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
