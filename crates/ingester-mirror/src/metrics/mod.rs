//! Metrics for Prometheus. The metrics of queues and reconciliations have the names, labels and buckets of client-go and
//! controller-runtime, so dashboards and alerts for other controllers work unchanged. All others begin with `ingester_`. `docs/metrics.md`
//! lists them all, in a table that a test writes.
//!
//! May use: ingester-core, ingester-store.
//!
//! A metric is declared, counted and shown in the file of its subject. A new one is a line of the file's `metrics!` and a method next to
//! it; its text is also its row in `docs/metrics.md`. [`ControllerMetrics`] is here, because each subject adds its methods to it. Label
//! values are bound, so counting takes one or a few atomic operations.
//!
//! | file | subject |
//! |---|---|
//! | `gauges` | the current numbers of each controller, and their sums for a kind |
//! | `work` | queues and reconciliations |
//! | `rows` | objects that are written, rejected or skipped in SQL |
//! | `cluster` | lists, watches and requests |
//! | `upkeep` | backfills, retention, audits, suspension |
//! | `process` | the database, the configuration, Events |
//! | `replicas` | members that share the work |
//! | `rules` | rows that rules may not judge |
//! | `controller` | registers the metrics of a kind, and adds up the numbers of its controllers |
//! | `family` | declares metrics |
//!
//! Nothing here is global: each [`Metrics`] has its own registry. Nothing here does I/O.

mod cluster;
mod controller;
mod family;
mod gauges;
mod process;
mod replicas;
mod rows;
mod rules;
#[cfg(test)]
mod tests;
mod upkeep;
mod work;

pub(crate) use cluster::{GiveUpReason, ListMethod, Restart};
pub(crate) use process::EventCounters;
pub use replicas::ReplicaMetrics;
pub(crate) use rows::SkipReason;
pub use upkeep::BackfillMetrics;
pub(crate) use upkeep::{AuditMetrics, FINDINGS, RetentionMetrics};
pub(crate) use work::Outcome;

use cluster::{ApiErrors, ClusterSeries};
use controller::KindFamilies;
use gauges::{GaugeSeries, OwnGauges};
use ingester_store::Store;
use parking_lot::Mutex;
use process::{ProcessFamilies, ProcessSeries};
use prometheus::{Registry, TextEncoder};
use replicas::ReplicaFamilies;
use rows::RowSeries;
use rules::RuleSeries;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Instant;
use upkeep::UpkeepSeries;
use work::{BusyTimes, WorkSeries};

/// All metrics of one ingester. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    families: KindFamilies,
    process: ProcessSeries,
    replicas: ReplicaMetrics,
    kinds: Mutex<BTreeMap<Box<str>, Arc<KindMetrics>>>,
    /// The database, while it is open.
    store: Mutex<Weak<Store>>,
}

impl Metrics {
    /// A registry with all metrics. The series of a kind exist from the first call of [`Metrics::controller`] or
    /// [`Metrics::backfill`] on.
    ///
    /// # Errors
    /// If two metrics have the same name, which would be a defect of this crate.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let families = KindFamilies::register(&registry)?;
        let process = ProcessFamilies::register(&registry)?.for_kind("");
        process.begin();
        let replicas = ReplicaMetrics(Arc::new(ReplicaFamilies::register(&registry)?.for_kind("")));
        let kinds = Mutex::default();
        let store = Mutex::default();
        Ok(Metrics(Arc::new(Inner { registry, families, process, replicas, kinds, store })))
    }

    /// Returns the metrics of one controller of a kind. The counts of several controllers go into the same series; their gauges add up
    /// while each is kept. This takes a lock, so get them once.
    pub fn controller(&self, kind: &str) -> ControllerMetrics {
        self.kind(kind).controller()
    }

    /// The metrics of a kind's backfills.
    pub fn backfill(&self, kind: &str) -> BackfillMetrics {
        BackfillMetrics(self.kind(kind))
    }

    /// The metrics of a kind's retention.
    pub(crate) fn retention(&self, kind: &str) -> RetentionMetrics {
        RetentionMetrics(self.kind(kind))
    }

    /// The metrics of a kind's scheduled audits.
    pub(crate) fn audit(&self, kind: &str) -> AuditMetrics {
        AuditMetrics(self.kind(kind))
    }

    /// The metrics of a member that shares the work.
    pub fn replicas(&self) -> ReplicaMetrics {
        self.0.replicas.clone()
    }

    /// Records whether a kind is suspended.
    pub(crate) fn suspended(&self, kind: &str, suspended: bool) {
        self.kind(kind).upkeep.suspended(suspended);
    }

    /// The configuration file was changed, and is usable or not.
    pub fn config_reloaded(&self, usable: bool) {
        self.0.process.config_reloaded(usable);
    }

    /// The connections and the clock of this store are shown as long as it is open.
    pub fn database(&self, store: &Arc<Store>) {
        *self.0.store.lock() = Arc::downgrade(store);
    }

    /// The series of a kind, which exist from then on, at 0.
    fn kind(&self, kind: &str) -> Arc<KindMetrics> {
        let mut kinds = self.0.kinds.lock();
        if let Some(known) = kinds.get(kind) {
            return known.clone();
        }
        let new = Arc::new(self.0.families.for_kind(kind));
        kinds.insert(kind.into(), new.clone());
        new
    }

    /// The database is known to belong to this cluster.
    pub fn cluster_checked(&self) {
        self.0.process.cluster_checked();
    }

    /// All metrics in Prometheus' text format, sorted by name.
    pub fn render(&self) -> String {
        let kinds: Vec<_> = self.0.kinds.lock().values().cloned().collect();
        kinds.iter().for_each(|kind| kind.update());
        let store = self.0.store.lock().upgrade();
        self.0.process.update(store.as_deref());
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
        self.0.process.events()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// The metrics of one controller. Clones share them. They count objects unless a method says otherwise.
///
/// A kind has one controller, or one for each configured namespace; all of them have the kind's series. Counters and histograms count
/// together. Gauges are added up when they are read, so each controller keeps its own numbers.
#[derive(Clone)]
pub struct ControllerMetrics {
    kind: Arc<KindMetrics>,
    own: Arc<OwnGauges>,
}

impl fmt::Debug for ControllerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ControllerMetrics({})", self.kind.kind)
    }
}

/// The series of one kind, by subject.
struct KindMetrics {
    kind: Box<str>,
    gauges: GaugeSeries,
    work: WorkSeries,
    rows: RowSeries,
    cluster: ClusterSeries,
    api_errors: ApiErrors,
    upkeep: UpkeepSeries,
    /// Of all kinds.
    rules: Arc<RuleSeries>,
    /// The busy workers.
    busy: BusyTimes,
    /// The end of the last scheduled audit, and the number of its findings; `None` if there was none, or its findings are out of date.
    audited: Mutex<Option<(Instant, u64)>>,
    /// The kind's controllers. Those that are dropped count no longer.
    controllers: Mutex<Vec<Weak<OwnGauges>>>,
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn gauge(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
