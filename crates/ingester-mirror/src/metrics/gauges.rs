//! The gauges of controllers. A kind has one controller, or one for each configured namespace and shard. Each keeps its own numbers, which
//! are added up when they are read.

use super::family::{Gauges, Seconds, metrics};
use super::{ControllerMetrics, gauge};
use ingester_store::units::RuleRecord;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::{Duration, SystemTime};

metrics! {
    /// The gauges of one kind.
    GaugeSeries of GaugeFamilies:
    depth: Gauges by Queue, "workqueue_depth", "Objects waiting in the queue";
    max_concurrent: Gauges by Controller, "controller_runtime_max_concurrent_reconciles",
        "Workers that may be busy at the same time";
    spooled: Gauges by Kind, "ingester_spooled_objects",
        "Objects in the queue that are in the temporary file of a large fill";
    waiting_bytes: Gauges by Kind, "ingester_waiting_bytes", "Bytes of the objects in the queue";
    oldest_waiting: Seconds by Kind, "ingester_oldest_waiting_seconds",
        "Seconds that the oldest waiting object has waited; 0 if none waits. Delayed deletions and retries do not count";
    objects: Gauges by Kind, "ingester_objects", "Objects that are mirrored and live";
    rejected_objects: Gauges by Kind, "ingester_rejected_objects",
        "Objects whose current version could not be mirrored";
    held_objects: Gauges by Kind, "ingester_held_objects",
        "Terminating objects that wait for our finalizer: for deletionDelay, the database, or the API server; 0 while the kind is suspended";
    ghosts: Gauges by Kind, "ingester_ghosts",
        "Evicted objects that are in the cluster again, in another state than their rows; 0 before the first list";
    policy_objects: Gauges by Kind, "ingester_policy_objects",
        "Objects that rules evict, or would evict if they were enforced; 0 before the first round";
    policy_waiting: Gauges by Kind, "ingester_policy_waiting_objects",
        "Of ingester_policy_objects, those that enforced rules evict and that were still in etcd after the last round: over the hourly limit, or hindered";
    synced: Gauges by Kind, "ingester_synced", "1 once the first list is in SQL";
    installed: Gauges by Kind, "ingester_installed", "1 while the kind's CRD is installed";
    last_list: Seconds by Kind, "ingester_last_list_timestamp_seconds",
        "Unix time at which a list or a resync last read all objects; 0 before the first, while the kind is suspended, and while this member holds none of its units";
    last_event: Seconds by Kind, "ingester_last_event_timestamp_seconds",
        "Unix time at which the watch last sent an object or a bookmark, which an API server sends every minute, or at which the first list ended; 0 before that, while the kind is suspended, and while this member holds none of its units";
}

/// The numbers of one controller.
#[derive(Default)]
pub(super) struct OwnGauges {
    /// Another member has the unit.
    elsewhere: AtomicBool,
    depth: AtomicUsize,
    spooled: AtomicUsize,
    waiting_bytes: AtomicUsize,
    max_concurrent: AtomicUsize,
    objects: AtomicUsize,
    rejected_objects: AtomicUsize,
    held: AtomicUsize,
    ghosts: AtomicUsize,
    policy_objects: AtomicUsize,
    policy_waiting: AtomicUsize,
    synced: AtomicBool,
    installed: AtomicBool,
    last_list: Time,
    last_event: Time,
    oldest: Mutex<Option<Oldest>>,
    rules: Mutex<Vec<RuleRecord>>,
}

/// The present numbers of one controller, for its record in the database.
pub(crate) struct OwnNumbers {
    /// Objects that wait in the queue.
    pub(crate) waiting: usize,
    /// Objects that are mirrored and live.
    pub(crate) objects: usize,
    /// Terminating objects that have our finalizer.
    pub(crate) held: usize,
    /// Objects whose present version could not be mirrored.
    pub(crate) rejected: usize,
    /// How long the oldest waiting object has waited.
    pub(crate) oldest: Duration,
}

/// For how long the oldest object has waited; `None` if none waits.
type Oldest = Box<dyn Fn() -> Option<Duration> + Send + Sync>;

/// A time of day, as Prometheus has it: seconds since 1970, 0 for never.
#[derive(Default)]
pub(super) struct Time(AtomicU64);

impl Time {
    pub(super) fn now() -> f64 {
        SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64()
    }

    fn set_now(&self) {
        self.0.store(Time::now().to_bits(), Relaxed);
    }

    /// Sets it if it was never set.
    fn begin(&self) {
        let _ = self.0.compare_exchange(0, Time::now().to_bits(), Relaxed, Relaxed);
    }

    fn forget(&self) {
        self.0.store(0, Relaxed);
    }

    fn seconds(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }
}

impl GaugeSeries {
    /// Shows the present numbers of the controllers.
    pub(super) fn update(&self, controllers: &[Arc<OwnGauges>]) {
        // Another member shows the numbers of its units, so leave them out here.
        let here: Vec<&OwnGauges> =
            controllers.iter().map(AsRef::as_ref).filter(|own| !own.elsewhere.load(Relaxed)).collect();
        let sum = |of: fn(&OwnGauges) -> &AtomicUsize| gauge(here.iter().map(|own| of(own).load(Relaxed)).sum());
        self.depth.set(sum(|own| &own.depth));
        self.spooled.set(sum(|own| &own.spooled));
        self.waiting_bytes.set(sum(|own| &own.waiting_bytes));
        self.max_concurrent.set(sum(|own| &own.max_concurrent));
        self.objects.set(sum(|own| &own.objects));
        self.rejected_objects.set(sum(|own| &own.rejected_objects));
        self.held_objects.set(sum(|own| &own.held));
        self.ghosts.set(sum(|own| &own.ghosts));
        self.policy_objects.set(sum(|own| &own.policy_objects));
        self.policy_waiting.set(sum(|own| &own.policy_waiting));
        // The controller that was listed longest ago, and the one whose watch has been silent longest.
        let earliest = |of: fn(&OwnGauges) -> &Time| here.iter().map(|own| of(own).seconds()).reduce(f64::min);
        self.last_list.set(earliest(|own| &own.last_list).unwrap_or_default());
        self.last_event.set(earliest(|own| &own.last_event).unwrap_or_default());
        let oldest = here.iter().filter_map(|own| {
            let oldest = own.oldest.lock();
            oldest.as_ref().and_then(|oldest| oldest())
        });
        self.oldest_waiting.set(oldest.max().unwrap_or_default().as_secs_f64());
        // The kind has a property once all its controllers in this process have it.
        let all = |of: fn(&OwnGauges) -> &AtomicBool| !here.is_empty() && here.iter().all(|own| of(own).load(Relaxed));
        self.synced.set(all(|own| &own.synced).into());
        self.installed.set(all(|own| &own.installed).into());
    }
}

impl ControllerMetrics {
    /// Sets the objects that wait in the queue, in memory and in a temporary file, and the bytes of those in memory.
    pub(crate) fn waiting(&self, objects: usize, spooled: usize, bytes: usize) {
        self.own.depth.store(objects + spooled, Relaxed);
        self.own.spooled.store(spooled, Relaxed);
        self.own.waiting_bytes.store(bytes, Relaxed);
    }

    /// Calls `oldest` from now on to find out how long the oldest object has waited.
    pub(crate) fn oldest(&self, oldest: impl Fn() -> Option<Duration> + Send + Sync + 'static) {
        *self.own.oldest.lock() = Some(Box::new(oldest));
    }

    /// Sets the number of workers that may be busy at once.
    pub(crate) fn workers(&self, workers: usize) {
        self.own.max_concurrent.store(workers, Relaxed);
    }

    /// Sets the number of objects that are mirrored and live.
    pub(crate) fn objects(&self, objects: usize) {
        self.own.objects.store(objects, Relaxed);
    }

    /// Sets the number of objects with a current version that could not be mirrored.
    pub(crate) fn rejected_objects(&self, objects: usize) {
        self.own.rejected_objects.store(objects, Relaxed);
    }

    /// Sets the number of terminating objects that have our finalizer.
    pub(crate) fn held(&self, objects: usize) {
        self.own.held.store(objects, Relaxed);
    }

    /// Sets the number of objects in the cluster that had left it.
    pub(crate) fn ghosts(&self, objects: usize) {
        self.own.ghosts.store(objects, Relaxed);
    }

    /// Sets the number of objects that rules choose to leave etcd, and how many of these still exist although their rules are enforced.
    pub(crate) fn policies(&self, objects: usize, waiting: usize) {
        self.own.policy_objects.store(objects, Relaxed);
        self.own.policy_waiting.store(waiting, Relaxed);
    }

    /// Records the results of each rule in its last round; empty without rules.
    pub(crate) fn record_rules(&self, rules: Vec<RuleRecord>) {
        *self.own.rules.lock() = rules;
    }

    /// Returns the recorded results of rules.
    pub(crate) fn rules(&self) -> Vec<RuleRecord> {
        self.own.rules.lock().clone()
    }

    /// Returns the present numbers of this controller.
    pub(crate) fn numbers(&self) -> OwnNumbers {
        let oldest = self.own.oldest.lock();
        OwnNumbers {
            waiting: self.own.depth.load(Relaxed),
            objects: self.own.objects.load(Relaxed),
            held: self.own.held.load(Relaxed),
            rejected: self.own.rejected_objects.load(Relaxed),
            oldest: oldest.as_ref().and_then(|oldest| oldest()).unwrap_or_default(),
        }
    }

    /// Records whether the first list is in SQL.
    pub(crate) fn synced(&self, synced: bool) {
        self.own.synced.store(synced, Relaxed);
    }

    /// Records whether the CRD is installed.
    pub(crate) fn installed(&self, installed: bool) {
        self.own.installed.store(installed, Relaxed);
    }

    /// All objects were listed, or their metadata. From the first list on, a watch that never sends anything is silent.
    pub(crate) fn list_ended(&self) {
        self.own.last_list.set_now();
        self.own.last_event.begin();
    }

    /// The watch sent something.
    pub(crate) fn event_received(&self) {
        self.own.last_event.set_now();
    }

    /// The controller has stopped: nothing waits, no worker is busy, and nothing is known of the cluster.
    pub(crate) fn stopped(&self) {
        for gauge in [&self.own.depth, &self.own.waiting_bytes, &self.own.max_concurrent, &self.own.held] {
            gauge.store(0, Relaxed);
        }
        self.policies(0, 0);
        self.record_rules(Vec::new());
        self.own.last_list.forget();
        self.own.last_event.forget();
        self.own.synced.store(false, Relaxed);
    }

    /// Another member has the unit from now on, so this process's knowledge of it is out of date.
    pub(crate) fn given_away(&self) {
        self.stopped();
        self.own.elsewhere.store(true, Relaxed);
        for gauge in [&self.own.objects, &self.own.rejected_objects, &self.own.ghosts] {
            gauge.store(0, Relaxed);
        }
        self.own.installed.store(false, Relaxed);
        *self.own.oldest.lock() = None;
    }

    /// The unit now belongs to this process.
    pub(crate) fn taken_over(&self) {
        self.own.elsewhere.store(false, Relaxed);
    }
}
