//! The live mirror of many kinds: one unit for each kind, or for each of its namespaces.
//!
//! May use: ingester-core, ingester-store, backoff, budget, clock, cluster, config, events, follow, health, metrics, rows, suspend, unit.
//! Must not: know SQL text, a particular kind, or command line arguments.
//!
//! ```text
//! follow: list, watch, resync ──> pipeline: queue ─> prepare ─> commit ─> acknowledge
//! ```

use crate::backoff::{Backoff, RESTART, RESTART_LONGEST};
use crate::budget::Budget;
use crate::clock::SystemClock;
use crate::cluster::{Server, StreamedLists};
use crate::config::{Config, Live};
use crate::events::Publisher;
use crate::follow::{Follower, panic_of};
use crate::health::{Health, KindState};
use crate::metrics::Metrics;
use crate::rows::StoreRows;
use crate::suspend::Suspension;
use crate::unit::{Unit, name};
use ingester_core::kind::Kind;
use ingester_store::Store;
use std::sync::Arc;
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

/// Mirrors `kinds` until `stop` is cancelled, then finishes the current batches.
///
/// Each kind has its own unit; with `ingester.namespaces`, each kind has one for each namespace. One that
/// panics is started again after a pause; the others are not affected. One whose kind is suspended is stopped, and started again
/// when the kind goes on.
pub async fn run(context: Context, kinds: &[Kind], live: &Live, suspension: &Suspension, stop: CancellationToken) {
    let mut controllers = JoinSet::new();
    for unit in units(&context, kinds, live, &stop) {
        controllers.spawn(supervise(unit, suspension.clone()));
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
    let mirrored = kinds.iter().filter(|kind| ingester.has_kind(kind.name()));
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
pub(crate) fn units(context: &Context, kinds: &[Kind], live: &Live, exit: &CancellationToken) -> Vec<Unit> {
    let Context { client, store, metrics, health, publisher } = context;
    let (budget, streams) = (Budget::new(MEMORY), StreamedLists::default());
    let scopes = scopes(kinds, &live.now()).into_iter();
    scopes
        .map(|(kind, namespace)| Unit {
            kind,
            cluster: Arc::new(Server::new(client.clone(), kind, namespace.clone(), streams.clone())),
            rows: Arc::new(StoreRows { store: store.clone(), kind, namespace: namespace.clone() }),
            clock: Arc::new(SystemClock),
            memory: budget.part(),
            namespace,
            live: live.clone(),
            metrics: metrics.controller(kind.name()),
            health: health.clone(),
            publisher: publisher.clone(),
            stop: exit.child_token(),
            exit: exit.clone(),
        })
        .collect()
}

/// Mirrors a unit whenever its kind is not suspended. If that panics, it begins again: what was remembered may be wrong, what is in SQL
/// is not.
async fn supervise(unit: Unit, suspension: Suspension) {
    let (kind, name) = (unit.kind.name(), unit.name());
    let mut backoff = Backoff::new(RESTART);
    while !unit.exit.is_cancelled() {
        let suspended = suspension.is_suspended(kind);
        if suspended {
            unit.health.kind(&name, KindState::Suspended);
        }
        let Some(Some(mut permit)) = unit.exit.run_until_cancelled(suspension.permit(kind)).await else { return };
        if suspended {
            // The rows are read before anything is listed, which may take long.
            unit.health.kind(&name, KindState::Listing);
        }
        let begin = tokio::time::Instant::now();
        let stop = unit.exit.child_token();
        let mut following = std::pin::pin!(Follower::run(Unit { stop: stop.clone(), ..unit.clone() }));
        let ended = tokio::select! {
            biased;
            ended = &mut following => ended,
            () = permit.revoked() => {
                stop.cancel();
                following.await
            }
        };
        unit.metrics.stopped();
        if suspension.is_suspended(kind) {
            unit.health.kind(&name, KindState::Suspended);
        }
        drop(permit);
        let Err(reason) = ended else { continue };
        unit.metrics.panicked();
        unit.health.kind(&name, KindState::Failed(format!("panicked: {reason}")));
        tracing::error!(kind, reason, "Controller panicked and is started again; please report it");
        if begin.elapsed() > RESTART_LONGEST {
            backoff.reset();
        }
        let _ = unit.exit.run_until_cancelled(tokio::time::sleep(backoff.pause())).await;
    }
}
