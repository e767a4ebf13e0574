//! Every metric: name, help, labels, buckets. `docs/metrics.md` describes each; a test compares the two.

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, Result,
};

/// Buckets of client-go's work queues, in seconds: from 10 ns to 1000 s.
const QUEUE_SECONDS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0];

/// Buckets of controller-runtime's reconciliations, in seconds.
const RECONCILE_SECONDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];

/// Buckets of a batch's commit, in seconds: an embedded database takes less than a millisecond, a lock wait up to a minute.
const COMMIT_SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// Buckets of the lag behind the watch, in seconds: up to minutes, because a database may be down that long.
const LAG_SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0];

/// Buckets of a batch's size, in objects.
const BATCH_OBJECTS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];

/// Counters of one name. `N` is the number of labels, so a missing or additional value does not compile.
#[derive(Clone)]
pub(super) struct Counters<const N: usize>(IntCounterVec);

impl<const N: usize> Counters<N> {
    pub(super) fn of(&self, values: [&str; N]) -> IntCounter {
        self.0.with_label_values(&values)
    }
}

/// Gauges of one name.
pub(super) struct Gauges<const N: usize>(IntGaugeVec);

impl<const N: usize> Gauges<N> {
    pub(super) fn of(&self, values: [&str; N]) -> IntGauge {
        self.0.with_label_values(&values)
    }
}

/// Gauges of one name, in seconds with fractions.
pub(super) struct SecondsGauges<const N: usize>(prometheus::GaugeVec);

impl<const N: usize> SecondsGauges<N> {
    pub(super) fn of(&self, values: [&str; N]) -> prometheus::Gauge {
        self.0.with_label_values(&values)
    }
}

/// Counters of one name, in seconds with fractions.
pub(super) struct SecondsCounters<const N: usize>(prometheus::CounterVec);

impl<const N: usize> SecondsCounters<N> {
    pub(super) fn of(&self, values: [&str; N]) -> prometheus::Counter {
        self.0.with_label_values(&values)
    }
}

/// Histograms of one name.
pub(super) struct Histograms<const N: usize>(HistogramVec);

impl<const N: usize> Histograms<N> {
    pub(super) fn of(&self, values: [&str; N]) -> Histogram {
        self.0.with_label_values(&values)
    }
}

/// All metrics, registered.
pub(super) struct Families {
    // With client-go's names, for each work queue.
    pub(super) depth: Gauges<1>,
    pub(super) adds: Counters<1>,
    pub(super) retries: Counters<1>,
    pub(super) queue_duration: Histograms<1>,
    pub(super) work_duration: Histograms<1>,
    pub(super) unfinished_work: SecondsGauges<1>,
    pub(super) longest_running: SecondsGauges<1>,
    // With controller-runtime's names, for each controller.
    pub(super) reconciles: Counters<2>,
    pub(super) reconcile_errors: Counters<1>,
    pub(super) reconcile_time: Histograms<1>,
    pub(super) max_concurrent: Gauges<1>,
    pub(super) active_workers: Gauges<1>,
    // Ours, for each kind.
    pub(super) objects: Gauges<1>,
    pub(super) mirrored: Counters<1>,
    pub(super) written: Counters<1>,
    pub(super) skipped: Counters<2>,
    pub(super) deleted: Counters<1>,
    pub(super) evicted: Counters<1>,
    pub(super) evictions_failed: Counters<1>,
    pub(super) evictions_lost: Counters<1>,
    pub(super) batch_size: Histograms<1>,
    pub(super) batch_duration: Histograms<1>,
    pub(super) lag: Histograms<1>,
    pub(super) rejects: Counters<1>,
    pub(super) rejected_objects: Gauges<1>,
    pub(super) proto_lost: Counters<2>,
    pub(super) orphans_swept: Counters<1>,
    pub(super) sweeps_refused: Counters<1>,
    pub(super) purged: Counters<1>,
    pub(super) backfill_rows: Counters<2>,
    pub(super) incomplete_columns: Gauges<1>,
    pub(super) database_errors: Counters<2>,
    pub(super) api_errors: Counters<2>,
    pub(super) finalizers_added: Counters<1>,
    pub(super) finalizers_removed: Counters<1>,
    pub(super) finalizers_given_up: Counters<2>,
    pub(super) lists: Counters<1>,
    pub(super) objects_listed: Counters<2>,
    pub(super) watch_restarts: Counters<2>,
    pub(super) panics: Counters<1>,
    pub(super) restored: Counters<1>,
    pub(super) synced: Gauges<1>,
    pub(super) installed: Gauges<1>,
    pub(super) waiting_bytes: Gauges<1>,
    pub(super) oldest_waiting: SecondsGauges<1>,
    pub(super) held_objects: Gauges<1>,
    pub(super) ghosts: Gauges<1>,
    pub(super) last_list: SecondsGauges<1>,
    pub(super) last_event: SecondsGauges<1>,
    pub(super) suspended: Gauges<1>,
    pub(super) audits: Counters<2>,
    pub(super) audit_findings: Gauges<2>,
    pub(super) last_audit: SecondsGauges<1>,
    // Ours, for the process.
    pub(super) events: Counters<1>,
    pub(super) cluster_checked: Gauges<0>,
    pub(super) connections: Gauges<1>,
    pub(super) clock_offset: SecondsGauges<0>,
    pub(super) connections_limit: Gauges<0>,
    pub(super) connections_waiting: Gauges<0>,
    pub(super) connection_waits: Counters<0>,
    pub(super) connection_wait_seconds: SecondsCounters<0>,
    pub(super) config_reloads: Counters<1>,
    pub(super) config_current: Gauges<0>,
    pub(super) build_info: Gauges<1>,
    // Of members that share the work.
    pub(super) replica_units: Gauges<0>,
    pub(super) replica_members: Gauges<0>,
    pub(super) replica_group_units: Gauges<0>,
    pub(super) replica_handovers: Counters<1>,
    pub(super) lease_renewals: Counters<1>,
    pub(super) leases_lost: Counters<0>,
}

impl Families {
    /// Creates and registers all metrics.
    ///
    /// # Errors
    /// If two have the same name, or a name is not valid. A test creates them all.
    pub(super) fn new(registry: &Registry) -> Result<Self> {
        let on = Builder(registry);
        Ok(Families {
            depth: on.gauges("workqueue_depth", "Objects that wait in the queue", ["name"])?,
            adds: on.counters("workqueue_adds_total", "Adds that the queue has handled", ["name"])?,
            retries: on.counters("workqueue_retries_total", "Retries that the queue has handled", ["name"])?,
            queue_duration: on.histograms(
                "workqueue_queue_duration_seconds",
                "How long an object stays in the queue before it is taken",
                ["name"],
                QUEUE_SECONDS,
            )?,
            work_duration: on.histograms(
                "workqueue_work_duration_seconds",
                "How long it takes to process an object from the queue",
                ["name"],
                QUEUE_SECONDS,
            )?,
            unfinished_work: on.seconds(
                "workqueue_unfinished_work_seconds",
                "Seconds of work in progress, all workers added up, that work_duration has not seen yet. Large values \
                 mean stuck workers; the rate at which it grows is their number",
                ["name"],
            )?,
            longest_running: on.seconds(
                "workqueue_longest_running_processor_seconds",
                "For how many seconds the worker that is busy longest has been at it",
                ["name"],
            )?,
            reconciles: on.counters(
                "controller_runtime_reconcile_total",
                "Reconciliations of each controller, by result",
                ["controller", "result"],
            )?,
            reconcile_errors: on.counters(
                "controller_runtime_reconcile_errors_total",
                "Reconciliations of each controller that failed",
                ["controller"],
            )?,
            reconcile_time: on.histograms(
                "controller_runtime_reconcile_time_seconds",
                "How long a reconciliation takes",
                ["controller"],
                RECONCILE_SECONDS,
            )?,
            max_concurrent: on.gauges(
                "controller_runtime_max_concurrent_reconciles",
                "Workers that each controller may use at once",
                ["controller"],
            )?,
            active_workers: on.gauges(
                "controller_runtime_active_workers",
                "Workers that each controller uses now",
                ["controller"],
            )?,
            objects: on.gauges("ingester_objects", "Objects that are mirrored and live now", BY_KIND)?,
            mirrored: on.counters(
                "ingester_objects_mirrored_total",
                "Objects brought to SQL, whether or not a row had to change for it",
                BY_KIND,
            )?,
            written: on.counters(
                "ingester_rows_written_total",
                "Rows of the main table inserted or updated",
                BY_KIND,
            )?,
            skipped: on.counters(
                "ingester_rows_skipped_total",
                "Rows left alone: SQL has the same version (unchanged) or a newer one (stale)",
                ["kind", "reason"],
            )?,
            deleted: on.counters("ingester_rows_deleted_total", "Rows that got a delete_time", BY_KIND)?,
            evicted: on.counters(
                "ingester_objects_evicted_total",
                "Immutable objects that left etcd and live on in SQL",
                BY_KIND,
            )?,
            evictions_lost: on.counters(
                "ingester_evictions_lost_total",
                "Evicted objects whose rows the database has lost",
                BY_KIND,
            )?,
            evictions_failed: on.counters(
                "ingester_evictions_failed_total",
                "Attempts to evict an object that failed and are repeated",
                BY_KIND,
            )?,
            batch_size: on.histograms("ingester_batch_size", "Objects in one transaction", BY_KIND, BATCH_OBJECTS)?,
            batch_duration: on.histograms(
                "ingester_batch_duration_seconds",
                "How long a batch takes from the start of its transaction to the commit",
                BY_KIND,
                COMMIT_SECONDS,
            )?,
            lag: on.histograms(
                "ingester_sync_lag_seconds",
                "How long an object takes from its event being received to its commit in SQL",
                BY_KIND,
                LAG_SECONDS,
            )?,
            rejects: on.counters("ingester_rejects_total", "Times that an object could not be mirrored", BY_KIND)?,
            rejected_objects: on.gauges(
                "ingester_rejected_objects",
                "Objects whose present version could not be mirrored",
                BY_KIND,
            )?,
            orphans_swept: on.counters(
                "ingester_orphans_swept_total",
                "Rows deleted because their object was gone when a list was compared with SQL",
                BY_KIND,
            )?,
            purged: on.counters(
                "ingester_purged_rows_total",
                "Rows that were purged because their objects were deleted long ago",
                BY_KIND,
            )?,
            sweeps_refused: on.counters(
                "ingester_sweeps_refused_total",
                "Lists that lacked so many objects that no row was deleted",
                BY_KIND,
            )?,
            proto_lost: on.counters(
                "ingester_proto_lost_total",
                "What objects said that their message has no place for",
                ["kind", "what"],
            )?,
            backfill_rows: on.counters(
                "ingester_backfill_rows_total",
                "Rows read to fill new columns, by what became of them",
                ["kind", "result"],
            )?,
            incomplete_columns: on.gauges(
                "ingester_incomplete_columns",
                "Columns whose rows are not all filled yet",
                BY_KIND,
            )?,
            database_errors: on.counters(
                "ingester_database_errors_total",
                "Errors of the database, by what they mean for the work",
                ["kind", "class"],
            )?,
            api_errors: on.counters(
                "ingester_api_errors_total",
                "Errors of the API server, by HTTP code; `network` where it gave no answer that can be read, `lease` where it was not asked",
                ["kind", "code"],
            )?,
            finalizers_added: on.counters("ingester_finalizers_added_total", "Finalizers added to objects", BY_KIND)?,
            finalizers_removed: on.counters(
                "ingester_finalizers_removed_total",
                "Finalizers removed from objects",
                BY_KIND,
            )?,
            finalizers_given_up: on.counters(
                "ingester_finalizers_given_up_total",
                "Objects that are left without the finalizer: the API server refused it, or it was removed again each time",
                ["kind", "reason"],
            )?,
            objects_listed: on.counters(
                "ingester_objects_listed_total",
                "Objects that lists brought: whole, in a stream or in pages, or as metadata",
                ["kind", "read"],
            )?,
            lists: on.counters("ingester_lists_total", "Lists of all objects that were read to their end", BY_KIND)?,
            watch_restarts: on.counters(
                "ingester_watch_restarts_total",
                "Watches begun anew after an error, by reason",
                ["kind", "reason"],
            )?,
            panics: on.counters(
                "ingester_controller_panics_total",
                "Panics in the controller, a defect of the ingester",
                BY_KIND,
            )?,
            restored: on.counters(
                "ingester_restored_total",
                "Objects of which the cluster went back behind SQL, as after a restore of etcd",
                BY_KIND,
            )?,
            synced: on.gauges("ingester_synced", "1 once the first list is in SQL", BY_KIND)?,
            installed: on.gauges("ingester_installed", "1 while the kind's CRD is installed", BY_KIND)?,
            waiting_bytes: on.gauges(
                "ingester_waiting_bytes",
                "Bytes of the objects that wait in the queue",
                BY_KIND,
            )?,
            oldest_waiting: on.seconds(
                "ingester_oldest_waiting_seconds",
                "How long ago the object came that waits longest; 0 if none waits",
                BY_KIND,
            )?,
            held_objects: on.gauges(
                "ingester_held_objects",
                "Terminating objects that cannot leave yet because they have our finalizer",
                BY_KIND,
            )?,
            ghosts: on.gauges(
                "ingester_ghosts",
                "Objects that are in the cluster although they were evicted from it, in another state than their rows hold",
                BY_KIND,
            )?,
            last_list: on.seconds(
                "ingester_last_list_timestamp_seconds",
                "When all objects were last listed to the end, by a list or a resync; 0 before the first and while suspended",
                BY_KIND,
            )?,
            last_event: on.seconds(
                "ingester_last_event_timestamp_seconds",
                "When the watch last sent something, if only a bookmark, or the first list ended; 0 before that and while suspended",
                BY_KIND,
            )?,
            suspended: on.gauges("ingester_suspended", "1 while the kind is suspended", BY_KIND)?,
            audits: on.counters("ingester_audits_total", "Scheduled audits, by result", ["kind", "result"])?,
            audit_findings: on.gauges(
                "ingester_audit_findings",
                "Objects and rows that differed in the last scheduled audit, by what was found",
                ["kind", "finding"],
            )?,
            last_audit: on.seconds(
                "ingester_last_audit_timestamp_seconds",
                "When the last scheduled audit succeeded; 0 before the first",
                BY_KIND,
            )?,
            connections: on.gauges(
                "ingester_database_connections",
                "Connections to the database, by what they do: used or idle",
                ["state"],
            )?,
            clock_offset: on.seconds(
                "ingester_database_clock_offset_seconds",
                "By how much the database's clock is ahead of this node's; below zero if it is behind",
                [],
            )?,
            connections_limit: on.gauges(
                "ingester_database_connections_limit",
                "The most connections to the database that may be open",
                [],
            )?,
            connections_waiting: on.gauges(
                "ingester_database_connections_waiting",
                "Statements that wait for a connection now",
                [],
            )?,
            connection_waits: on.counters(
                "ingester_database_connection_waits_total",
                "Connections that were taken from the pool",
                [],
            )?,
            connection_wait_seconds: on.seconds_total(
                "ingester_database_connection_wait_seconds_total",
                "How long statements waited for a connection, all added up",
                [],
            )?,
            config_reloads: on.counters(
                "ingester_config_reloads_total",
                "Changes of the configuration file, by whether it could be used",
                ["result"],
            )?,
            config_current: on.gauges(
                "ingester_config_last_reload_successful",
                "1 unless the configuration file has mistakes now, so that an older one is in use",
                [],
            )?,
            events: on.counters(
                "ingester_events_total",
                "Kubernetes Events: published, failed, or dropped because too many waited",
                ["result"],
            )?,
            cluster_checked: on.gauges(
                "ingester_cluster_checked",
                "1 once the database is known to belong to this cluster",
                [],
            )?,
            replica_units: on.gauges("ingester_replica_units", "Units of work that this member holds", [])?,
            replica_members: on.gauges(
                "ingester_replica_members",
                "Members that live and share the work, as this one sees it",
                [],
            )?,
            replica_group_units: on.gauges(
                "ingester_replica_group_units",
                "Units of work that the members share among them, as this one sees it",
                [],
            )?,
            replica_handovers: on.counters(
                "ingester_replica_handovers_total",
                "Units that this member has taken over, or given away",
                ["direction"],
            )?,
            lease_renewals: on.counters(
                "ingester_lease_renewals_total",
                "Attempts to renew the Lease of this member",
                ["result"],
            )?,
            leases_lost: on.counters(
                "ingester_leases_lost_total",
                "How often the Lease of this member was not renewed in time, and every unit was stopped",
                [],
            )?,
            build_info: on.gauges(
                "ingester_build_info",
                "1, with the version of the ingester as a label",
                ["version"],
            )?,
        })
    }
}

/// The labels of most metrics.
const BY_KIND: [&str; 1] = ["kind"];

/// Creates metrics and registers them.
struct Builder<'r>(&'r Registry);

impl Builder<'_> {
    fn counters<const N: usize>(&self, name: &str, help: &str, labels: [&str; N]) -> Result<Counters<N>> {
        self.register(IntCounterVec::new(Opts::new(name, help), &labels)?).map(Counters)
    }

    fn gauges<const N: usize>(&self, name: &str, help: &str, labels: [&str; N]) -> Result<Gauges<N>> {
        self.register(IntGaugeVec::new(Opts::new(name, help), &labels)?).map(Gauges)
    }

    fn seconds<const N: usize>(&self, name: &str, help: &str, labels: [&str; N]) -> Result<SecondsGauges<N>> {
        self.register(prometheus::GaugeVec::new(Opts::new(name, help), &labels)?).map(SecondsGauges)
    }

    fn seconds_total<const N: usize>(&self, name: &str, help: &str, labels: [&str; N]) -> Result<SecondsCounters<N>> {
        self.register(prometheus::CounterVec::new(Opts::new(name, help), &labels)?).map(SecondsCounters)
    }

    fn histograms<const N: usize>(
        &self,
        name: &str,
        help: &str,
        labels: [&str; N],
        buckets: &[f64],
    ) -> Result<Histograms<N>> {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        self.register(HistogramVec::new(options, &labels)?).map(Histograms)
    }

    fn register<C: Collector + Clone + 'static>(&self, family: C) -> Result<C> {
        self.0.register(Box::new(family.clone()))?;
        Ok(family)
    }
}
