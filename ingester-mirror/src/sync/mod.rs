//! The live mirror: watch -> queue -> batch -> store -> acknowledge, separately for each kind.
//!
//! May use: ingester-core, ingester-store, audit, config, events, health, metrics.
//! Must not: know SQL text, a particular kind, or command line arguments.
//!
//! | file | what it does |
//! |---|---|
//! | `lifecycle` | what to do with an object, by its metadata: pure |
//! | `finalizer` | the JSON patches that add and remove our finalizer: pure |
//! | `remote` | the API server, with objects as JSON texts |
//! | `work`, `queue`, `known` | what waits to be reconciled, and what is remembered of each object |
//! | `backoff` | the pauses between failed attempts |
//! | `controller` | list and watch of one kind |
//! | `resync` | what a watch does not report: objects that are gone, missed changes, missing finalizers |
//! | `audit` | compares cluster and SQL, and repairs |
//! | `uninstall` | removes the finalizer from every object |
//! | `worker` | prepares a batch: what to do with each of its objects (`job`) |
//! | `commit`, `acknowledge` | the batch's transaction, and the requests to Kubernetes after it |

mod acknowledge;
mod audit;
mod backoff;
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
pub use remote::ApiError;
pub use uninstall::{Removal, remove_finalizers};

use crate::config::Config;
use crate::events::Publisher;
use crate::health::{Health, KindState};
use crate::metrics::Metrics;
use backoff::{Backoff, RESTART, RESTART_LONGEST};
use controller::{Controller, ControllerSetup, Settings, panic_of};
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
pub struct Context {
    /// The API server.
    pub client: kube::Client,
    /// The database.
    pub store: Arc<Store>,
    /// Where everything is counted.
    pub metrics: Metrics,
    /// What the probes report.
    pub health: Health,
    /// Publishes Kubernetes Events.
    pub publisher: Publisher,
}

/// The shortest requeue period: below it, an object that keeps failing would be retried without a pause.
const SHORTEST_REQUEUE: Duration = Duration::from_millis(100);

/// Mirrors `kinds` until `stop` is cancelled, then finishes the current batches.
///
/// Each kind has its own controller; with `ingester.namespaces`, each kind has one for each namespace. A controller that
/// panics is started again after a pause; the others are not affected.
pub async fn run(context: Context, kinds: &[Kind], config: &Config, stop: CancellationToken) {
    let mut controllers = JoinSet::new();
    for setup in setups(&context, kinds, config) {
        controllers.spawn(supervise(setup, stop.clone()));
    }
    while let Some(ended) = controllers.join_next().await {
        if let Err(error) = ended {
            let reason = panic_of(error);
            context.health.dead("supervisor of a controller", &reason);
            tracing::error!(reason, "A supervisor panicked");
        }
    }
}

/// The names of the controllers, for [`Health::new`].
pub fn names(kinds: &[Kind], config: &Config) -> Vec<String> {
    scopes(kinds, config).iter().map(|(kind, namespace)| controller_name(kind, namespace.as_deref())).collect()
}

/// A controller's name in [`Health`].
fn controller_name(kind: &Kind, namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => format!("{} in {namespace}", kind.kind()),
        None => kind.kind().to_owned(),
    }
}

/// The mirrored kinds, each once for all namespaces or once per configured namespace.
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

/// The setups of the controllers of `kinds`.
fn setups(context: &Context, kinds: &[Kind], config: &Config) -> Vec<ControllerSetup> {
    let Context { client, store, metrics, health, publisher } = context;
    let ingester = &config.ingester;
    let managed_fields = if ingester.prune_managed_fields { ManagedFields::Prune } else { ManagedFields::Keep };
    let scopes = scopes(kinds, config).into_iter();
    scopes
        .map(|(kind, namespace)| ControllerSetup {
            kind,
            namespace,
            client: client.clone(),
            store: store.clone(),
            rules: Rules {
                finalizer: ingester.finalizer_of(&kind),
                deletion_delay: config.metadata_storage.deletion_delay,
                immutable: kind.immutable(),
            },
            settings: Settings {
                workers: ingester.concurrent_reconciles_of(kind.kind()),
                requeue_period: ingester.requeue_period_of(kind.kind()).max(SHORTEST_REQUEUE),
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

/// Runs a controller. If it panics, a new one takes its place: what the old one remembered may be wrong, what is in SQL is
/// not.
async fn supervise(setup: ControllerSetup, stop: CancellationToken) {
    let mut backoff = Backoff::new(RESTART);
    loop {
        let controller = Arc::new(Controller::new(setup.clone()));
        let (name, begin) = (controller.name(), tokio::time::Instant::now());
        let Err(reason) = controller.run(stop.clone()).await else { return };
        setup.metrics.panicked();
        setup.health.kind(&name, KindState::Failed(format!("panicked: {reason}")));
        tracing::error!(kind = setup.kind.kind(), reason, "Controller panicked and is started again; please report it");
        if begin.elapsed() > RESTART_LONGEST {
            backoff.reset();
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(backoff.pause()) => {}
        }
    }
}
