//! Queues and reconciliations, with the names of client-go and controller-runtime.

use super::family::{Counters, Gauges, Histograms, Seconds, metrics};
use super::{ControllerMetrics, count};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Buckets of client-go's work queues, in seconds: from 10 ns to 1000 s.
const QUEUE_SECONDS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0];

/// Buckets of controller-runtime's reconciliations, in seconds.
const RECONCILE_SECONDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];

metrics! {
    /// The queue and the workers of one kind.
    WorkSeries of WorkFamilies:
    adds: Counters by Queue, "workqueue_adds_total", "Adds to the queue, also of a newer version that replaces a waiting one";
    retries: Counters by Queue, "workqueue_retries_total", "Objects queued again after a failure";
    queue_duration: Histograms by Queue, "workqueue_queue_duration_seconds",
        "Time in the queue until a worker takes the object", QUEUE_SECONDS;
    work_duration: Histograms by Queue, "workqueue_work_duration_seconds",
        "Time that a worker spends on the object's batch, once per object", QUEUE_SECONDS;
    unfinished_work: Seconds by Queue, "workqueue_unfinished_work_seconds",
        "Seconds of work in progress, summed over all workers; its growth rate is the number of stuck workers";
    longest_running: Seconds by Queue, "workqueue_longest_running_processor_seconds",
        "Seconds that the longest busy worker has spent on its batch";
    reconciles: Counters ["result" in Outcome::LABELS] by Controller, "controller_runtime_reconcile_total",
        "Objects reconciled, by result: success, error, requeue, requeue_after";
    reconcile_errors: Counters by Controller, "controller_runtime_reconcile_errors_total",
        "Objects whose reconciliation failed";
    reconcile_time: Histograms by Controller, "controller_runtime_reconcile_time_seconds",
        "Time that the object's batch took, once per reconciled object", RECONCILE_SECONDS;
    active_workers: Gauges by Controller, "controller_runtime_active_workers",
        "Workers that are busy now";
}

/// The outcome of an object's reconciliation, in controller-runtime's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done, until the object changes.
    Success = 0,
    /// It failed. This also counts in `controller_runtime_reconcile_errors_total`.
    Error = 1,
    /// The object goes back to the queue later, for example because its deletion is delayed.
    RequeueAfter = 3,
}

impl Outcome {
    /// Indexed by outcome. `requeue` (at once) stays 0: dashboards for other controllers expect its series.
    const LABELS: [&str; 4] = ["success", "error", "requeue", "requeue_after"];
}

/// The time since when each busy worker has been busy, by a number for each worker.
#[derive(Default)]
pub(super) struct BusyTimes(Mutex<BusyWorkers>);

#[derive(Default)]
struct BusyWorkers {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

impl BusyTimes {
    fn begin(&self, since: Instant) -> u64 {
        let mut workers = self.0.lock();
        workers.next += 1;
        let number = workers.next;
        workers.since.insert(number, since);
        number
    }

    fn end(&self, number: u64) {
        self.0.lock().since.remove(&number);
    }

    fn seconds(&self) -> Vec<f64> {
        let workers = self.0.lock();
        workers.since.values().map(|since| since.elapsed().as_secs_f64()).collect()
    }
}

impl WorkSeries {
    /// Shows the present work of the workers.
    pub(super) fn update(&self, busy: &BusyTimes) {
        let seconds = busy.seconds();
        self.unfinished_work.set(seconds.iter().sum());
        self.longest_running.set(seconds.iter().copied().fold(0.0, f64::max));
    }
}

impl ControllerMetrics {
    /// An object was added to the queue, or replaced an older version there.
    pub(crate) fn added(&self) {
        self.kind.work.adds.inc();
    }

    /// Objects went back into the queue because their work failed.
    pub(crate) fn retried(&self, objects: usize) {
        self.kind.work.retries.inc_by(count(objects));
    }

    /// An object was taken from the queue after this wait.
    pub(crate) fn taken(&self, waited: Duration) {
        self.kind.work.queue_duration.observe(waited.as_secs_f64());
    }

    /// A worker starts a batch of this many objects. It is busy until the returned value is dropped. Then the time is counted once per
    /// object, in `workqueue_work_duration_seconds` and `controller_runtime_reconcile_time_seconds`.
    pub(crate) fn work(&self, objects: usize) -> BusyWorker {
        let since = Instant::now();
        let number = self.kind.busy.begin(since);
        self.kind.work.active_workers.inc();
        BusyWorker { controller: self.clone(), number, objects, since }
    }

    /// Reconciliations ended.
    pub(crate) fn reconciled(&self, outcome: Outcome, objects: usize) {
        self.kind.work.reconciles[outcome as usize].inc_by(count(objects));
        if outcome == Outcome::Error {
            self.kind.work.reconcile_errors.inc_by(count(objects));
        }
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
        let kind = &self.controller.kind;
        let seconds = self.since.elapsed().as_secs_f64();
        kind.busy.end(self.number);
        kind.work.active_workers.dec();
        for histogram in [&kind.work.work_duration, &kind.work.reconcile_time] {
            // Observe locally first: one round of atomic operations for the whole batch.
            let histogram = histogram.local();
            (0..self.objects).for_each(|_| histogram.observe(seconds));
            histogram.flush();
        }
    }
}
