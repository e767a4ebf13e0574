//! The live mirror of many kinds: one unit for each kind, or for each of its namespaces.
//!
//! May use: ingester-core, ingester-store, backoff, budget, clock, cluster, config, events, follow, health, lifecycle, metrics, rows, unit.
//! Must not: know SQL text, a particular kind, or command line arguments.
//!
//! ```text
//! follow: list, watch, resync ──> pipeline: queue ─> prepare ─> commit ─> acknowledge
//! ```

use crate::backoff::{Backoff, RESTART, RESTART_LONGEST};
use crate::budget::Budget;
use crate::clock::SystemClock;
use crate::cluster::Server;
use crate::config::Config;
use crate::events::Publisher;
use crate::follow::{Follower, panic_of};
use crate::health::{Health, KindState};
use crate::lifecycle::Rules;
use crate::metrics::Metrics;
use crate::rows::StoreRows;
use crate::unit::{Settings, Unit, name};
use ingester_core::kind::Kind;
use ingester_core::object::ManagedFields;
use ingester_store::Store;
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

/// The memory for objects that were read and are not written yet, in bytes.
const MEMORY: usize = 32 << 20;

/// The shortest requeue period: below it, an object that keeps failing would be retried without a pause.
const SHORTEST_REQUEUE: Duration = Duration::from_millis(100);

/// Mirrors `kinds` until `stop` is cancelled, then finishes the current batches.
///
/// Each kind has its own unit; with `ingester.namespaces`, each kind has one for each namespace. One that
/// panics is started again after a pause; the others are not affected.
pub async fn run(context: Context, kinds: &[Kind], config: &Config, stop: CancellationToken) {
    let mut controllers = JoinSet::new();
    for unit in units(&context, kinds, config, &stop) {
        controllers.spawn(supervise(unit));
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
    scopes(kinds, config).iter().map(|(kind, namespace)| name(kind, namespace.as_deref())).collect()
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

/// The units of `kinds`.
pub(crate) fn units(context: &Context, kinds: &[Kind], config: &Config, stop: &CancellationToken) -> Vec<Unit> {
    let Context { client, store, metrics, health, publisher } = context;
    let ingester = &config.ingester;
    let managed_fields = if ingester.prune_managed_fields { ManagedFields::Prune } else { ManagedFields::Keep };
    let budget = Budget::new(MEMORY);
    let scopes = scopes(kinds, config).into_iter();
    scopes
        .map(|(kind, namespace)| Unit {
            kind,
            cluster: Arc::new(Server::new(client.clone(), kind, namespace.clone())),
            rows: Arc::new(StoreRows { store: store.clone(), kind, namespace: namespace.clone() }),
            clock: Arc::new(SystemClock),
            memory: budget.part(),
            namespace,
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
                sweep_limit: ingester.sweep_limit,
                managed_fields,
            },
            metrics: metrics.controller(kind.kind()),
            health: health.clone(),
            publisher: publisher.clone(),
            stop: stop.clone(),
        })
        .collect()
}

/// Mirrors a unit. If that panics, it begins again: what was remembered may be wrong, what is in SQL is not.
async fn supervise(unit: Unit) {
    let mut backoff = Backoff::new(RESTART);
    loop {
        let begin = tokio::time::Instant::now();
        let Err(reason) = Follower::run(unit.clone()).await else { return };
        unit.metrics.panicked();
        unit.health.kind(&unit.name(), KindState::Failed(format!("panicked: {reason}")));
        tracing::error!(kind = unit.kind.kind(), reason, "Controller panicked and is started again; please report it");
        if begin.elapsed() > RESTART_LONGEST {
            backoff.reset();
        }
        tokio::select! {
            biased;
            () = unit.stop.cancelled() => return,
            () = tokio::time::sleep(backoff.pause()) => {}
        }
    }
}
