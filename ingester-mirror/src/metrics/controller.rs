//! The metrics of a kind and of its controllers. Their label values are bound, so counting takes one or a few atomic operations.

use super::class_label;
use super::families::{Counters, Families};
use ingester_core::protobuf::Lost;
use ingester_store::ErrorClass;
use prometheus::{Gauge, Histogram, IntCounter, IntGauge};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

/// How the reconciliation of an object ended, in controller-runtime's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done, until the object changes.
    Success,
    /// It failed. This also counts in `controller_runtime_reconcile_errors_total`.
    Error,
    /// The object goes back to the queue at once.
    Requeue,
    /// The object goes back to the queue later, for example because its deletion is delayed.
    RequeueAfter,
}

impl Outcome {
    const ALL: [Outcome; 4] = [Outcome::Success, Outcome::Error, Outcome::Requeue, Outcome::RequeueAfter];

    fn label(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Error => "error",
            Outcome::Requeue => "requeue",
            Outcome::RequeueAfter => "requeue_after",
        }
    }
}

/// Why a row was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    /// SQL has this version.
    Unchanged,
    /// SQL has a newer version, or a tombstone.
    Stale,
}

/// How a list read its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Whole, as a stream.
    Stream,
    /// Whole, page by page.
    Pages,
    /// Their metadata.
    Metadata,
}

impl Read {
    const ALL: [Read; 3] = [Read::Stream, Read::Pages, Read::Metadata];

    fn text(self) -> &'static str {
        match self {
            Read::Stream => "stream",
            Read::Pages => "pages",
            Read::Metadata => "metadata",
        }
    }
}

/// Why an object is left without our finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// The API server refused it.
    Refused,
    /// It was removed again each time.
    Removed,
}

impl GivenUp {
    const ALL: [GivenUp; 2] = [GivenUp::Refused, GivenUp::Removed];

    fn label(self) -> &'static str {
        match self {
            GivenUp::Refused => "refused",
            GivenUp::Removed => "removed",
        }
    }
}

/// Why a watch was restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// The API server no longer has the watch's version (410 Gone): all objects are listed again.
    Expired,
    /// The cluster is behind what was observed, as after a restore from a backup: all objects are listed again.
    Behind,
    /// The kind's CRD was removed.
    NotInstalled,
    /// The connection broke, or the API server ended the watch with an error: the watch continues at its version.
    Connection,
}

impl Restart {
    const ALL: [Restart; 4] = [Restart::Expired, Restart::Behind, Restart::NotInstalled, Restart::Connection];

    fn label(self) -> &'static str {
        match self {
            Restart::Expired => "expired",
            Restart::Behind => "behind",
            Restart::NotInstalled => "not_installed",
            Restart::Connection => "connection",
        }
    }
}

/// Codes whose series exist from the start, at 0, so that an alert sees the first error of each: `rate` sees no increase in a
/// series that did not exist before.
const API_CODES: [&str; 12] = [NETWORK, "lease", "401", "403", "404", "409", "410", "422", "429", "500", "503", "504"];

/// The code of an error without a readable answer of the API server.
const NETWORK: &str = "network";

/// The metrics of one controller. Clones share them. They count objects unless a method says otherwise.
///
/// A kind has one controller, or one for each configured namespace; all of them have the kind's series. Counters and histograms count
/// together. Gauges are added up when they are read, so each controller keeps its own numbers.
#[derive(Clone)]
pub struct ControllerMetrics {
    kind: Arc<KindMetrics>,
    own: Arc<Own>,
}

/// The gauges of one controller.
#[derive(Default)]
struct Own {
    /// Another member has the unit.
    elsewhere: AtomicBool,
    depth: AtomicUsize,
    waiting_bytes: AtomicUsize,
    max_concurrent: AtomicUsize,
    objects: AtomicUsize,
    rejected_objects: AtomicUsize,
    held: AtomicUsize,
    ghosts: AtomicUsize,
    synced: AtomicBool,
    installed: AtomicBool,
    last_list: Time,
    last_event: Time,
    oldest: Mutex<Option<Oldest>>,
}

/// For how long the oldest object has waited; `None` if none waits.
type Oldest = Box<dyn Fn() -> Option<Duration> + Send + Sync>;

/// A time of day, as Prometheus has it: seconds since 1970, 0 for never.
#[derive(Default)]
struct Time(AtomicU64);

impl Time {
    fn now() -> f64 {
        SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64()
    }

    fn set_now(&self) {
        self.0.store(Time::now().to_bits(), Relaxed);
    }

    /// Sets it if it is never.
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

/// The series of one kind.
pub(super) struct KindMetrics {
    kind: Box<str>,
    depth: IntGauge,
    waiting_bytes: IntGauge,
    adds: IntCounter,
    retries: IntCounter,
    queue_duration: Histogram,
    work_duration: Histogram,
    unfinished_work: Gauge,
    longest_running: Gauge,
    reconciles: [IntCounter; Outcome::ALL.len()],
    reconcile_errors: IntCounter,
    reconcile_time: Histogram,
    max_concurrent: IntGauge,
    active_workers: IntGauge,
    objects: IntGauge,
    mirrored: IntCounter,
    written: IntCounter,
    unchanged: IntCounter,
    stale: IntCounter,
    deleted: IntCounter,
    evicted: IntCounter,
    evictions_failed: IntCounter,
    evictions_lost: IntCounter,
    batch_size: Histogram,
    batch_duration: Histogram,
    lag: Histogram,
    rejects: IntCounter,
    rejected_objects: IntGauge,
    backfill_rows: [IntCounter; 3],
    proto_lost: [IntCounter; 3],
    incomplete_columns: IntGauge,
    orphans_swept: IntCounter,
    purged: IntCounter,
    database_errors: [IntCounter; CLASSES.len()],
    /// Not bound: the codes are not known in advance, and errors are rare.
    api_errors: Counters<2>,
    finalizers_added: IntCounter,
    finalizers_removed: IntCounter,
    finalizers_given_up: [IntCounter; GivenUp::ALL.len()],
    lists: IntCounter,
    objects_listed: [IntCounter; Read::ALL.len()],
    watch_restarts: [IntCounter; Restart::ALL.len()],
    panics: IntCounter,
    restored: IntCounter,
    synced: IntGauge,
    installed: IntGauge,
    sweeps_refused: IntCounter,
    oldest_waiting: Gauge,
    held_objects: IntGauge,
    ghosts: IntGauge,
    last_list: Gauge,
    last_event: Gauge,
    pub(super) suspended: IntGauge,
    /// Succeeded, failed.
    audits: [IntCounter; 2],
    audit_findings: [IntGauge; FINDINGS.len()],
    last_audit: Gauge,
    /// The busy workers.
    busy: Mutex<Busy>,
    /// The kind's controllers. Those that are dropped count no longer.
    controllers: Mutex<Vec<Weak<Own>>>,
}

/// Since when each busy worker has been busy, by a number of its own.
#[derive(Default)]
struct Busy {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

impl KindMetrics {
    pub(super) fn new(kind: &str, families: &Families) -> Self {
        let name = &format!("ingester_{kind}");
        for code in API_CODES {
            families.api_errors.of([kind, code]);
        }
        KindMetrics {
            kind: kind.into(),
            depth: families.depth.of([name]),
            waiting_bytes: families.waiting_bytes.of([kind]),
            adds: families.adds.of([name]),
            retries: families.retries.of([name]),
            queue_duration: families.queue_duration.of([name]),
            work_duration: families.work_duration.of([name]),
            unfinished_work: families.unfinished_work.of([name]),
            longest_running: families.longest_running.of([name]),
            reconciles: Outcome::ALL.map(|outcome| families.reconciles.of([name, outcome.label()])),
            reconcile_errors: families.reconcile_errors.of([name]),
            reconcile_time: families.reconcile_time.of([name]),
            max_concurrent: families.max_concurrent.of([name]),
            active_workers: families.active_workers.of([name]),
            objects: families.objects.of([kind]),
            mirrored: families.mirrored.of([kind]),
            written: families.written.of([kind]),
            unchanged: families.skipped.of([kind, "unchanged"]),
            stale: families.skipped.of([kind, "stale"]),
            deleted: families.deleted.of([kind]),
            evicted: families.evicted.of([kind]),
            evictions_failed: families.evictions_failed.of([kind]),
            evictions_lost: families.evictions_lost.of([kind]),
            batch_size: families.batch_size.of([kind]),
            batch_duration: families.batch_duration.of([kind]),
            lag: families.lag.of([kind]),
            rejects: families.rejects.of([kind]),
            rejected_objects: families.rejected_objects.of([kind]),
            backfill_rows: ["filled", "unchanged", "failed"].map(|result| families.backfill_rows.of([kind, result])),
            proto_lost: ["field", "enum", "value"].map(|what| families.proto_lost.of([kind, what])),
            incomplete_columns: families.incomplete_columns.of([kind]),
            orphans_swept: families.orphans_swept.of([kind]),
            purged: families.purged.of([kind]),
            database_errors: CLASSES.map(|class| families.database_errors.of([kind, class_label(class)])),
            api_errors: families.api_errors.clone(),
            finalizers_added: families.finalizers_added.of([kind]),
            finalizers_removed: families.finalizers_removed.of([kind]),
            finalizers_given_up: GivenUp::ALL.map(|why| families.finalizers_given_up.of([kind, why.label()])),
            lists: families.lists.of([kind]),
            objects_listed: Read::ALL.map(|read| families.objects_listed.of([kind, read.text()])),
            watch_restarts: Restart::ALL.map(|reason| families.watch_restarts.of([kind, reason.label()])),
            panics: families.panics.of([kind]),
            restored: families.restored.of([kind]),
            synced: families.synced.of([kind]),
            installed: families.installed.of([kind]),
            sweeps_refused: families.sweeps_refused.of([kind]),
            oldest_waiting: families.oldest_waiting.of([kind]),
            held_objects: families.held_objects.of([kind]),
            ghosts: families.ghosts.of([kind]),
            last_list: families.last_list.of([kind]),
            last_event: families.last_event.of([kind]),
            suspended: families.suspended.of([kind]),
            audits: ["success", "failed"].map(|result| families.audits.of([kind, result])),
            audit_findings: FINDINGS.map(|finding| families.audit_findings.of([kind, finding])),
            last_audit: families.last_audit.of([kind]),
            busy: Mutex::default(),
            controllers: Mutex::default(),
        }
    }

    /// A further controller of the kind.
    pub(super) fn controller(self: &Arc<Self>) -> ControllerMetrics {
        let own = Arc::<Own>::default();
        let mut controllers = self.controllers.lock().unwrap_or_else(PoisonError::into_inner);
        controllers.retain(|own| own.strong_count() > 0);
        controllers.push(Arc::downgrade(&own));
        ControllerMetrics { kind: self.clone(), own }
    }

    /// Updates the gauges from what the controllers and their workers do now.
    pub(super) fn update(&self) {
        let controllers: Vec<Arc<Own>> = {
            let controllers = self.controllers.lock().unwrap_or_else(PoisonError::into_inner);
            // What another member has is shown by that one alone.
            controllers.iter().filter_map(Weak::upgrade).filter(|own| !own.elsewhere.load(Relaxed)).collect()
        };
        let sum = |of: fn(&Own) -> &AtomicUsize| gauge(controllers.iter().map(|own| of(own).load(Relaxed)).sum());
        self.depth.set(sum(|own| &own.depth));
        self.waiting_bytes.set(sum(|own| &own.waiting_bytes));
        self.max_concurrent.set(sum(|own| &own.max_concurrent));
        self.objects.set(sum(|own| &own.objects));
        self.rejected_objects.set(sum(|own| &own.rejected_objects));
        self.held_objects.set(sum(|own| &own.held));
        self.ghosts.set(sum(|own| &own.ghosts));
        // The one that was listed longest ago, and the one whose watch has been silent for longest.
        let earliest = |of: fn(&Own) -> &Time| controllers.iter().map(|own| of(own).seconds()).reduce(f64::min);
        self.last_list.set(earliest(|own| &own.last_list).unwrap_or_default());
        self.last_event.set(earliest(|own| &own.last_event).unwrap_or_default());
        let oldest = controllers.iter().filter_map(|own| {
            let oldest = own.oldest.lock().unwrap_or_else(PoisonError::into_inner);
            oldest.as_ref().and_then(|oldest| oldest())
        });
        self.oldest_waiting.set(oldest.max().unwrap_or_default().as_secs_f64());
        // True of the kind once it is true of all that this process has of it.
        let all = |of: fn(&Own) -> &AtomicBool| {
            !controllers.is_empty() && controllers.iter().all(|own| of(own).load(Relaxed))
        };
        self.synced.set(all(|own| &own.synced).into());
        self.installed.set(all(|own| &own.installed).into());
        self.update_busy_workers();
    }

    fn update_busy_workers(&self) {
        let seconds: Vec<f64> = {
            let busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
            busy.since.values().map(|since| since.elapsed().as_secs_f64()).collect()
        };
        self.unfinished_work.set(seconds.iter().sum());
        self.longest_running.set(seconds.iter().copied().fold(0.0, f64::max));
    }
}

/// The metrics of a kind's backfills, of which there is one for all its controllers.
#[derive(Clone)]
pub struct BackfillMetrics(pub(super) Arc<KindMetrics>);

impl BackfillMetrics {
    /// Rows were read to backfill columns: some were filled, some had their values, some have objects that cannot be decoded.
    pub fn rows(&self, filled: u64, unchanged: u64, failed: u64) {
        for (counter, rows) in self.0.backfill_rows.iter().zip([filled, unchanged, failed]) {
            counter.inc_by(rows);
        }
    }

    /// How many columns are not backfilled completely.
    pub fn incomplete_columns(&self, columns: usize) {
        self.0.incomplete_columns.set(gauge(columns));
    }
}

/// The metric of a kind's retention.
#[derive(Clone)]
pub(crate) struct RetentionMetrics(pub(super) Arc<KindMetrics>);

impl RetentionMetrics {
    /// Rows were purged.
    pub(crate) fn purged(&self, rows: u64) {
        self.0.purged.inc_by(rows);
    }
}

impl fmt::Debug for BackfillMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackfillMetrics({})", self.0.kind)
    }
}

/// What an audit may find, by the names of its report.
pub(crate) const FINDINGS: [&str; 8] =
    ["missing", "stale", "ahead", "different", "deleted", "orphaned", "ghost", "rejected"];

/// The metrics of a kind's scheduled audits.
#[derive(Clone)]
pub(crate) struct AuditMetrics(pub(super) Arc<KindMetrics>);

impl AuditMetrics {
    /// An audit ended with so many findings of each of [`FINDINGS`].
    pub(crate) fn succeeded(&self, findings: [u64; FINDINGS.len()]) {
        for (gauge, found) in self.0.audit_findings.iter().zip(findings) {
            gauge.set(i64::try_from(found).unwrap_or(i64::MAX));
        }
        self.0.audits[0].inc();
        self.0.last_audit.set(Time::now());
    }

    /// What the last one found is not looked at again: the kind is not audited any more.
    pub(crate) fn forgotten(&self) {
        self.0.audit_findings.iter().for_each(|gauge| gauge.set(0));
    }

    /// An audit could not be finished: the findings remain those of the one before.
    pub(crate) fn failed(&self) {
        self.0.audits[1].inc();
    }
}

impl ControllerMetrics {
    /// What waits in the queue now: objects, and the bytes of their texts.
    pub(crate) fn waiting(&self, objects: usize, bytes: usize) {
        self.own.depth.store(objects, Relaxed);
        self.own.waiting_bytes.store(bytes, Relaxed);
    }

    /// An object was added to the queue, or replaced an older version there.
    pub(crate) fn added(&self) {
        self.kind.adds.inc();
    }

    /// Objects went back into the queue because their work failed.
    pub(crate) fn retried(&self, objects: usize) {
        self.kind.retries.inc_by(count(objects));
    }

    /// An object was taken from the queue after this wait.
    pub(crate) fn taken(&self, waited: Duration) {
        self.kind.queue_duration.observe(waited.as_secs_f64());
    }

    /// How many workers may be busy at once.
    pub(crate) fn workers(&self, workers: usize) {
        self.own.max_concurrent.store(workers, Relaxed);
    }

    /// A worker starts a batch of so many objects. It is busy until the returned value is dropped. Then the time is counted
    /// once per object, in `workqueue_work_duration_seconds` and `controller_runtime_reconcile_time_seconds`.
    pub(crate) fn work(&self, objects: usize) -> BusyWorker {
        let since = Instant::now();
        let number = {
            let mut busy = self.kind.busy.lock().unwrap_or_else(PoisonError::into_inner);
            busy.next += 1;
            let number = busy.next;
            busy.since.insert(number, since);
            number
        };
        self.kind.active_workers.inc();
        BusyWorker { controller: self.clone(), number, objects, since }
    }

    /// Reconciliations ended.
    pub(crate) fn reconciled(&self, outcome: Outcome, objects: usize) {
        self.kind.reconciles[outcome as usize].inc_by(count(objects));
        if outcome == Outcome::Error {
            self.kind.reconcile_errors.inc_by(count(objects));
        }
    }

    /// How many objects are mirrored and live now.
    pub(crate) fn objects(&self, objects: usize) {
        self.own.objects.store(objects, Relaxed);
    }

    /// Objects were mirrored, whether or not their rows had to change.
    pub(crate) fn mirrored(&self, objects: usize) {
        self.kind.mirrored.inc_by(count(objects));
    }

    /// Rows of the main table were inserted or updated.
    pub fn written(&self, rows: usize) {
        self.kind.written.inc_by(count(rows));
    }

    /// Rows were not written, for this reason.
    pub(crate) fn skipped(&self, reason: Skip, rows: usize) {
        let counter = match reason {
            Skip::Unchanged => &self.kind.unchanged,
            Skip::Stale => &self.kind.stale,
        };
        counter.inc_by(count(rows));
    }

    /// Rows got a `delete_time`.
    pub(crate) fn deleted(&self, rows: usize) {
        self.kind.deleted.inc_by(count(rows));
    }

    /// Immutable objects left etcd.
    pub(crate) fn evicted(&self, objects: usize) {
        self.kind.evicted.inc_by(count(objects));
    }

    /// An object could not be evicted now.
    pub(crate) fn eviction_failed(&self) {
        self.kind.evictions_failed.inc();
    }

    /// The database has lost the row of an evicted object.
    pub(crate) fn eviction_lost(&self) {
        self.kind.evictions_lost.inc();
    }

    /// A batch was committed: its objects, and the time since the start of its transaction.
    pub(crate) fn batch(&self, objects: usize, took: Duration) {
        self.kind.batch_size.observe(objects as f64);
        self.kind.batch_duration.observe(took.as_secs_f64());
    }

    /// The time from an object's event to its commit.
    pub(crate) fn lag(&self, lag: Duration) {
        self.kind.lag.observe(lag.as_secs_f64());
    }

    /// An object could not be mirrored.
    pub(crate) fn rejected(&self) {
        self.kind.rejects.inc();
    }

    /// An object had values that do not fit its protobuf message.
    pub(crate) fn lost(&self, lost: Lost) {
        for (counter, count) in self.kind.proto_lost.iter().zip([lost.fields, lost.enums, lost.values]) {
            counter.inc_by(count);
        }
    }

    /// How many objects have a current version that could not be mirrored.
    pub(crate) fn rejected_objects(&self, objects: usize) {
        self.own.rejected_objects.store(objects, Relaxed);
    }

    /// Rows were marked as deleted because a list lacked their objects.
    pub(crate) fn orphans_swept(&self, rows: usize) {
        self.kind.orphans_swept.inc_by(count(rows));
    }

    /// A list lacked so many of the live rows that none was marked as deleted.
    pub fn sweep_refused(&self) {
        self.kind.sweeps_refused.inc();
    }

    /// The database returned an error of this class.
    pub(crate) fn database_error(&self, class: ErrorClass) {
        for (known, counter) in CLASSES.iter().zip(&self.kind.database_errors) {
            if *known == class {
                counter.inc();
            }
        }
    }

    /// A request to the API server failed with this HTTP status code, with `network` if it gave no readable answer, or with `lease` if it
    /// was not sent.
    pub(crate) fn api_error(&self, code: &str) {
        self.kind.api_errors.of([&self.kind.kind, code]).inc();
    }

    /// Finalizers were added.
    pub(crate) fn finalizers_added(&self, objects: usize) {
        self.kind.finalizers_added.inc_by(count(objects));
    }

    /// Finalizers were removed.
    pub(crate) fn finalizers_removed(&self, objects: usize) {
        self.kind.finalizers_removed.inc_by(count(objects));
    }

    /// An object is left without our finalizer, for this reason.
    pub(crate) fn finalizer_given_up(&self, why: GivenUp) {
        self.kind.finalizers_given_up[why as usize].inc();
    }

    /// A list brought objects, whether it was read to its end or not.
    pub(crate) fn objects_listed(&self, read: Read, objects: usize) {
        self.kind.objects_listed[read as usize].inc_by(count(objects));
    }

    /// A list of all objects was completed.
    pub(crate) fn listed(&self) {
        self.kind.lists.inc();
    }

    /// A watch was restarted, for this reason.
    pub(crate) fn watch_restarted(&self, reason: Restart) {
        self.kind.watch_restarts[reason as usize].inc();
    }

    /// The controller panicked.
    pub(crate) fn panicked(&self) {
        self.kind.panics.inc();
    }

    /// The cluster was behind SQL with these objects, and won.
    pub(crate) fn restored(&self, objects: usize) {
        self.kind.restored.inc_by(count(objects));
    }

    /// How many terminating objects have our finalizer.
    pub(crate) fn held(&self, objects: usize) {
        self.own.held.store(objects, Relaxed);
    }

    /// How many objects are in the cluster although they had left it.
    pub(crate) fn ghosts(&self, objects: usize) {
        self.own.ghosts.store(objects, Relaxed);
    }

    /// From now on, `oldest` is asked for how long the oldest object has waited.
    pub(crate) fn oldest(&self, oldest: impl Fn() -> Option<Duration> + Send + Sync + 'static) {
        *self.own.oldest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(oldest));
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

    /// The controller has stopped: nothing waits, nobody works, and nothing is known of the cluster.
    pub(crate) fn stopped(&self) {
        for gauge in [&self.own.depth, &self.own.waiting_bytes, &self.own.max_concurrent, &self.own.held] {
            gauge.store(0, Relaxed);
        }
        self.own.last_list.forget();
        self.own.last_event.forget();
        self.own.synced.store(false, Relaxed);
    }

    /// Another member has the unit from now on: what this one knew of it says nothing any more.
    pub(crate) fn given_away(&self) {
        self.stopped();
        self.own.elsewhere.store(true, Relaxed);
        for gauge in [&self.own.objects, &self.own.rejected_objects, &self.own.ghosts] {
            gauge.store(0, Relaxed);
        }
        self.own.installed.store(false, Relaxed);
        *self.own.oldest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The unit is this process's own.
    pub(crate) fn taken_over(&self) {
        self.own.elsewhere.store(false, Relaxed);
    }

    /// Whether the first list is in SQL.
    pub(crate) fn synced(&self, synced: bool) {
        self.own.synced.store(synced, Relaxed);
    }

    /// Whether the CRD is installed.
    pub(crate) fn installed(&self, installed: bool) {
        self.own.installed.store(installed, Relaxed);
    }
}

impl fmt::Debug for ControllerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ControllerMetrics({})", self.kind.kind)
    }
}

/// A worker that is busy with a batch, see [`ControllerMetrics::work`]. It counts when it is dropped, even by a panic.
#[derive(Debug)]
#[must_use = "the work ends when this is dropped"]
pub(crate) struct BusyWorker {
    controller: ControllerMetrics,
    number: u64,
    objects: usize,
    since: Instant,
}

impl Drop for BusyWorker {
    fn drop(&mut self) {
        let bound = &self.controller.kind;
        let seconds = self.since.elapsed().as_secs_f64();
        bound.busy.lock().unwrap_or_else(PoisonError::into_inner).since.remove(&self.number);
        bound.active_workers.dec();
        for histogram in [&bound.work_duration, &bound.reconcile_time] {
            // Observed locally first: one round of atomic operations for the whole batch.
            let histogram = histogram.local();
            (0..self.objects).for_each(|_| histogram.observe(seconds));
            histogram.flush();
        }
    }
}

/// The classes of database errors.
const CLASSES: [ErrorClass; 5] =
    [ErrorClass::Transient, ErrorClass::Object, ErrorClass::Operator, ErrorClass::Lease, ErrorClass::Unknown];

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn gauge(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
