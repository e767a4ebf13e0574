//! Metrics for Prometheus. Those of queues and reconciliations have the names, labels and buckets of client-go and
//! controller-runtime, so dashboards and alerts for other controllers work unchanged. All others begin with `ingester_`.
//! `docs/metrics.md` lists them all.
//!
//! May use: ingester-core, ingester-store.
//!
//! Nothing here is global: each [`Metrics`] has its own registry. Nothing here does I/O.

mod controller;
mod families;
#[cfg(test)]
mod tests;

pub(crate) use controller::{AuditMetrics, FINDINGS, GivenUp, Outcome, Read, Restart, RetentionMetrics, Skip};
pub use controller::{BackfillMetrics, ControllerMetrics};

use controller::KindMetrics;
use families::Families;
use ingester_store::{ErrorClass, Store};
use prometheus::{IntCounter, IntGauge, Registry, TextEncoder};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// All metrics of one ingester. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    families: Families,
    events: EventCounters,
    kinds: Mutex<BTreeMap<Box<str>, Arc<KindMetrics>>>,
    /// The database, while it is open.
    store: Mutex<Weak<Store>>,
}

/// The counters of Kubernetes Events.
#[derive(Clone, Debug)]
pub(crate) struct EventCounters {
    pub(crate) published: IntCounter,
    pub(crate) failed: IntCounter,
    pub(crate) dropped: IntCounter,
}

impl Metrics {
    /// A registry with all metrics. The series of a kind exist from the first call of [`Metrics::controller`] or
    /// [`Metrics::backfill`] on.
    ///
    /// # Errors
    /// If two metrics have the same name, which would be a defect of this crate.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let families = Families::new(&registry)?;
        families.cluster_checked.of([]).set(0);
        families.config_current.of([]).set(1);
        for result in RELOADS {
            families.config_reloads.of([result]);
        }
        for state in STATES {
            families.connections.of([state]).set(0);
        }
        for gauge in [&families.connections_limit, &families.connections_waiting] {
            gauge.of([]).set(0);
        }
        families.clock_offset.of([]).set(0.0);
        families.connection_waits.of([]);
        families.connection_wait_seconds.of([]);
        families.build_info.of([env!("CARGO_PKG_VERSION")]).set(1);
        ReplicaMetrics::of(&families);
        let events = EventCounters {
            published: families.events.of(["published"]),
            failed: families.events.of(["failed"]),
            dropped: families.events.of(["dropped"]),
        };
        Ok(Metrics(Arc::new(Inner { registry, families, events, kinds: Mutex::default(), store: Mutex::default() })))
    }

    /// The metrics of one controller of a kind. What several controllers count is in the same series; their gauges add up as long as
    /// each is kept. This takes a lock, so get them once.
    pub fn controller(&self, kind: &str) -> ControllerMetrics {
        self.kind(kind).controller()
    }

    /// The metrics of a kind's backfills.
    pub fn backfill(&self, kind: &str) -> BackfillMetrics {
        BackfillMetrics(self.kind(kind))
    }

    /// The metric of a kind's retention.
    pub(crate) fn retention(&self, kind: &str) -> RetentionMetrics {
        RetentionMetrics(self.kind(kind))
    }

    /// The metrics of a kind's scheduled audits.
    pub(crate) fn audit(&self, kind: &str) -> AuditMetrics {
        AuditMetrics(self.kind(kind))
    }

    /// The metrics of a member that shares the work.
    pub fn replicas(&self) -> ReplicaMetrics {
        ReplicaMetrics::of(&self.0.families)
    }

    /// Whether a kind is suspended.
    pub(crate) fn suspended(&self, kind: &str, suspended: bool) {
        self.kind(kind).suspended.set(suspended.into());
    }

    /// The configuration file was changed, and can be used or not.
    pub fn config_reloaded(&self, usable: bool) {
        let families = &self.0.families;
        families.config_reloads.of([RELOADS[usize::from(!usable)]]).inc();
        families.config_current.of([]).set(usable.into());
    }

    /// The connections and the clock of this store are shown as long as it is open.
    pub fn database(&self, store: &Arc<Store>) {
        *self.0.store.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(store);
    }

    fn update_database(&self) {
        let families = &self.0.families;
        let store = self.0.store.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        families.clock_offset.of([]).set(store.as_ref().map_or(0.0, |store| store.clock_offset()));
        let connections = store.map(|store| store.connections()).unwrap_or_default();
        for (state, count) in STATES.into_iter().zip([connections.used, connections.idle]) {
            families.connections.of([state]).set(count.into());
        }
        families.connections_limit.of([]).set(connections.limit.into());
        families.connections_waiting.of([]).set(connections.waiting.into());
        // The store counts on, this process has one.
        let waits = families.connection_waits.of([]);
        waits.inc_by(connections.taken.saturating_sub(waits.get()));
        let seconds = families.connection_wait_seconds.of([]);
        seconds.inc_by((connections.waited.as_secs_f64() - seconds.get()).max(0.0));
    }

    /// The series of a kind, which exist from then on, at 0.
    fn kind(&self, kind: &str) -> Arc<KindMetrics> {
        let mut kinds = self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kinds.get(kind) {
            return known.clone();
        }
        let new = Arc::new(KindMetrics::new(kind, &self.0.families));
        kinds.insert(kind.into(), new.clone());
        new
    }

    /// The database is known to belong to this cluster.
    pub fn cluster_checked(&self) {
        self.0.families.cluster_checked.of([]).set(1);
    }

    /// All metrics in Prometheus' text format, sorted by name.
    pub fn render(&self) -> String {
        let kinds: Vec<_> = self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        kinds.iter().for_each(|kind| kind.update());
        self.update_database();
        let mut text = String::new();
        for family in self.0.registry.gather() {
            // One family at a time, so that an error in one does not hide the others.
            if let Err(error) = TextEncoder::new().encode_utf8(std::slice::from_ref(&family), &mut text) {
                tracing::debug!(metric = family.name(), %error, "a metric cannot be shown");
            }
        }
        text
    }

    pub(crate) fn events(&self) -> EventCounters {
        self.0.events.clone()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// The metrics of a member that shares the work.
#[derive(Clone, Debug)]
pub struct ReplicaMetrics {
    units: IntGauge,
    members: IntGauge,
    group_units: IntGauge,
    taken: IntCounter,
    given: IntCounter,
    renewed: IntCounter,
    failed: IntCounter,
    lost: IntCounter,
}

impl ReplicaMetrics {
    /// The series exist from then on.
    fn of(families: &Families) -> Self {
        ReplicaMetrics {
            units: families.replica_units.of([]),
            members: families.replica_members.of([]),
            group_units: families.replica_group_units.of([]),
            taken: families.replica_handovers.of(["taken"]),
            given: families.replica_handovers.of(["given"]),
            renewed: families.lease_renewals.of(["success"]),
            failed: families.lease_renewals.of(["failed"]),
            lost: families.leases_lost.of([]),
        }
    }

    pub(crate) fn units(&self, held: usize) {
        self.units.set(held as i64);
    }

    pub(crate) fn members(&self, living: usize) {
        self.members.set(living as i64);
    }

    /// How many units there are to share. Who shares says so before it is a member: otherwise nobody would see that there is none.
    pub fn group_units(&self, units: usize) {
        self.group_units.set(units as i64);
    }

    pub(crate) fn taken(&self) {
        self.taken.inc();
    }

    pub(crate) fn given(&self) {
        self.given.inc();
    }

    pub(crate) fn renewal(&self, done: bool) {
        if done { &self.renewed } else { &self.failed }.inc();
    }

    pub(crate) fn lease_lost(&self) {
        self.lost.inc();
    }
}

/// What a change of the configuration file comes to.
const RELOADS: [&str; 2] = ["success", "failed"];

/// What connections do.
const STATES: [&str; 2] = ["used", "idle"];

/// The label of a class of database errors.
fn class_label(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Transient => "transient",
        ErrorClass::Object => "object",
        ErrorClass::Operator => "operator",
        ErrorClass::Lease => "lease",
        ErrorClass::Unknown => "unknown",
    }
}
