//! The live mirror: watch -> queue -> batch -> store -> acknowledge, for each kind on its own.
//!
//! May use: ingester-core, ingester-store, audit, config, events, health, metrics.
//! Must not: know SQL text, a particular kind, or arguments.
//!
//! | file | what it does |
//! |---|---|
//! | `lifecycle` | what becomes of an object, by its metadata: pure |
//! | `finalizer` | the JSON patches that put our finalizer on and take it off: pure |
//! | `remote` | the API server as JSON texts |
//! | `work`, `queue`, `known` | what waits, and what is remembered of each object |
//! | `controller` | list and watch of one kind |
//! | `resync` | sweep, resync, adoption: what a watch does not tell |
//! | `audit` | cluster and SQL compared, and mended |
//! | `uninstall` | takes the finalizer off everything |
//! | `worker` | batches: what becomes of each object of one (`job`) |
//! | `commit`, `acknowledge` | the batch's transaction, and what Kubernetes is told then |

mod acknowledge;
mod audit;
mod commit;
mod controller;
mod finalizer;
mod job;
mod known;
mod lifecycle;
mod queue;
mod remote;
mod resync;
mod uninstall;
mod work;
mod worker;

pub use audit::{AuditError, Repaired, audit};
pub use finalizer::FINALIZER;
pub use lifecycle::{DELETING, IMMUTABLE};
pub use remote::{Refusal, RemoteError};
pub use uninstall::{Removal, remove_finalizers};

use crate::config::Config;
use crate::events::Publisher;
use crate::health::{Health, KindState};
use crate::metrics::Metrics;
use controller::{Controller, Parts, Settings, panic_of};
use ingester_core::kind::Kind;
use ingester_core::object::ManagedFields;
use ingester_store::Store;
use lifecycle::Rules;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What every controller needs.
#[derive(Clone)]
pub struct Surroundings {
    /// The API server.
    pub client: kube::Client,
    /// The database.
    pub store: Arc<Store>,
    /// What is counted.
    pub metrics: Metrics,
    /// What the probes say.
    pub health: Health,
    /// Where Kubernetes Events go.
    pub publisher: Publisher,
}

/// A controller that has failed and is started again waits as long, at first and at most.
const RESTART: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Mirrors `kinds` until `stop` is cancelled, then finishes the batches in hand.
///
/// Each kind, and with `ingester.namespaces` each namespace of it, has a controller of its own. One that panics is started
/// again after a pause; it does not touch the others.
pub async fn run(surroundings: Surroundings, kinds: &[Kind], config: &Config, stop: CancellationToken) {
    let mut controllers = JoinSet::new();
    for parts in parts(&surroundings, kinds, config) {
        controllers.spawn(supervise(parts, stop.clone()));
    }
    while let Some(ended) = controllers.join_next().await {
        if let Err(error) = ended {
            tracing::error!(reason = panic_of(error), "A supervisor panicked");
        }
    }
}

/// The names of the controllers, as [`Health`] has them.
pub fn names(kinds: &[Kind], config: &Config) -> Vec<String> {
    scopes(kinds, config).iter().map(|(kind, namespace)| part(kind, namespace.as_deref())).collect()
}

/// A controller's name among the parts of [`Health`].
fn part(kind: &Kind, namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => format!("{} in {namespace}", kind.kind()),
        None => kind.kind().to_owned(),
    }
}

/// Which kinds are mirrored, each in all namespaces or in which.
fn scopes(kinds: &[Kind], config: &Config) -> Vec<(Kind, Option<Box<str>>)> {
    let ingester = &config.ingester;
    let mirrored = kinds.iter().filter(|kind| ingester.has_kind(kind.kind()));
    mirrored
        .flat_map(|kind| {
            let namespaces: Vec<Option<Box<str>>> = if ingester.namespaces.is_empty() || !kind.namespaced() {
                vec![None]
            } else {
                ingester.namespaces.iter().map(|namespace| Some(namespace.as_str().into())).collect()
            };
            namespaces.into_iter().map(|namespace| (*kind, namespace))
        })
        .collect()
}

/// What the controllers of `kinds` are made of.
fn parts(surroundings: &Surroundings, kinds: &[Kind], config: &Config) -> Vec<Parts> {
    let Surroundings { client, store, metrics, health, publisher } = surroundings;
    let ingester = &config.ingester;
    let managed_fields = if ingester.prune_managed_fields { ManagedFields::Prune } else { ManagedFields::Keep };
    let scopes = scopes(kinds, config).into_iter();
    scopes
        .map(|(kind, namespace)| Parts {
            kind,
            namespace,
            client: client.clone(),
            store: store.clone(),
            rules: Rules {
                finalizer: ingester.finalizer,
                deletion_delay: config.metadata_storage.deletion_delay,
                immutable: kind.immutable(),
            },
            settings: Settings {
                workers: ingester.concurrent_reconciles_of(kind.kind()),
                requeue_period: ingester.requeue_period_of(kind.kind()),
                resync_period: ingester.resync_period,
                finalizer_rate: ingester.finalizer_rate,
                managed_fields,
            },
            metrics: metrics.controller(kind.kind()),
            health: health.clone(),
            publisher: publisher.clone(),
        })
        .collect()
}

/// Runs a controller, and a new one in its place whenever it panics: what it remembers may be wrong, SQL is not.
async fn supervise(parts: Parts, stop: CancellationToken) {
    let (mut pause, longest) = RESTART;
    loop {
        let controller = Arc::new(Controller::new(parts.clone()));
        let (part, begin) = (controller.part(), tokio::time::Instant::now());
        let Err(reason) = controller.run(stop.clone()).await else { return };
        parts.metrics.panicked();
        parts.health.kind(&part, KindState::Failed(format!("panicked: {reason}")));
        tracing::error!(kind = parts.kind.kind(), reason, "Controller panicked and is started again; please report it");
        if begin.elapsed() > longest {
            pause = RESTART.0;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => pause = (2 * pause).min(longest),
        }
    }
}
