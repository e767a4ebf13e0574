//! Objects that are written, rejected or skipped in SQL.

use super::family::{Counters, Histograms, metrics};
use super::{ControllerMetrics, count};
use ingester_core::protobuf::Lost;
use ingester_store::ErrorClass;
use std::time::Duration;

/// Buckets of a batch's commit, in seconds: an embedded database takes less than a millisecond, a lock wait up to a minute.
const COMMIT_SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// Buckets of the lag behind the watch, in seconds: up to minutes, because a database may be down that long.
const LAG_SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0];

/// Buckets of a batch's size, in objects.
const BATCH_OBJECTS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];

metrics! {
    /// The rows of one kind.
    RowSeries of RowFamilies:
    mirrored: Counters by Kind, "ingester_objects_mirrored_total",
        "Objects brought to SQL, even if no row had to change";
    written: Counters by Kind, "ingester_rows_written_total", "Rows of the main table inserted or updated";
    skipped: Counters ["reason" in SkipReason::LABELS] by Kind, "ingester_rows_skipped_total",
        "Rows not written: SQL has the same version (unchanged) or a newer one (stale), or the write was combined with later ones (settling)";
    deleted: Counters by Kind, "ingester_rows_deleted_total", "Rows marked as deleted (delete_time)";
    orphans_swept: Counters by Kind, "ingester_orphans_swept_total",
        "Rows marked as deleted because a list lacked their objects";
    sweeps_refused: Counters by Kind, "ingester_sweeps_refused_total",
        "Lists after which no row was marked as deleted, because more objects were missing than ingester.sweepLimit allows";
    restored: Counters by Kind, "ingester_restored_total",
        "Objects that had an older version in the cluster than in SQL, as after a restore of etcd; the row now follows the cluster";
    evicted: Counters by Kind, "ingester_objects_evicted_total",
        "Objects that left etcd and are now only in SQL";
    evictions_failed: Counters by Kind, "ingester_evictions_failed_total",
        "Attempts to evict an object that failed: its row, read back, was not as expected, or the API server refused; they are repeated";
    evictions_lost: Counters by Kind, "ingester_evictions_lost_total",
        "Objects that this process had evicted, and whose rows the database has lost since, as after a fail-over";
    annotations_ignored: Counters by Kind, "ingester_annotations_ignored_total",
        "Objects with annotations that request an eviction or a deletion, although their kind is not evictable";
    rejects: Counters by Kind, "ingester_rejects_total", "Times that an object could not be mirrored; the log, the table ingester_rejects and an Event on the object have the reason";
    proto_lost: Counters ["what" in ["field", "enum", "value"]] by Kind, "ingester_proto_lost_total",
        "Values that do not fit the protobuf message and are left out of proto: unknown fields (field), unknown names of enums (enum), values of another type (value)";
    nul_values: Counters by Kind, "ingester_nul_values_total",
        "Values with NUL (U+0000) in written rows; PostgreSQL cannot store them";
    unfit_values: Counters by Kind, "ingester_unfit_values_total",
        "Values in written rows that do not fit their columns, which are NULL; the log names them";
    database_errors: Counters ["class" in CLASSES] by Kind, "ingester_database_errors_total",
        "Errors of the database: transient (retried), object (this object was refused), operator (needs action: rights, tables, disk), lease (not sent, because the Lease of this replica had expired), unknown (unclassified)";
    batch_size: Histograms by Kind, "ingester_batch_size", "Objects per transaction: 1 in a quiet cluster, up to 256 with a backlog", BATCH_OBJECTS;
    batches_split: Counters by Kind, "ingester_batches_split_total",
        "Batches that the database refused, so that their halves were written separately; the log has the reason";
    batch_duration: Histograms by Kind, "ingester_batch_duration_seconds",
        "Time per transaction, up to its commit", COMMIT_SECONDS;
    lag: Histograms by Kind, "ingester_sync_lag_seconds",
        "Time from the receipt of an event to its commit", LAG_SECONDS;
}

/// Why a row was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkipReason {
    /// SQL has this version.
    Unchanged,
    /// SQL has a newer version, or a tombstone.
    Stale,
    /// The object settles: it is written with later changes.
    Settling,
}

impl SkipReason {
    /// Indexed by reason.
    const LABELS: [&str; 3] = ["unchanged", "stale", "settling"];
}

/// The classes of database errors.
const CLASSES: [&str; 5] = ["transient", "object", "operator", "lease", "unknown"];

/// The place of a class in [`CLASSES`].
fn place(class: ErrorClass) -> usize {
    match class {
        ErrorClass::Transient => 0,
        ErrorClass::Object => 1,
        ErrorClass::Operator => 2,
        ErrorClass::Lease => 3,
        ErrorClass::Unknown => 4,
    }
}

impl ControllerMetrics {
    /// Objects were mirrored, whether or not their rows had to change.
    pub(crate) fn mirrored(&self, objects: usize) {
        self.kind.rows.mirrored.inc_by(count(objects));
    }

    /// Rows of the main table were inserted or updated.
    pub fn written(&self, rows: usize) {
        self.kind.rows.written.inc_by(count(rows));
    }

    /// Rows were not written, for this reason.
    pub(crate) fn skipped(&self, reason: SkipReason, rows: usize) {
        self.kind.rows.skipped[reason as usize].inc_by(count(rows));
    }

    /// Rows got a `delete_time`.
    pub(crate) fn deleted(&self, rows: usize) {
        self.kind.rows.deleted.inc_by(count(rows));
    }

    /// Rows were marked as deleted because a list lacked their objects.
    pub(crate) fn orphans_swept(&self, rows: usize) {
        self.kind.rows.orphans_swept.inc_by(count(rows));
    }

    /// A list lacked so many of the live rows that none was marked as deleted.
    pub(crate) fn sweep_refused(&self) {
        self.kind.rows.sweeps_refused.inc();
    }

    /// The cluster was behind SQL with these objects, and won.
    pub(crate) fn restored(&self, objects: usize) {
        self.kind.rows.restored.inc_by(count(objects));
    }

    /// Immutable objects left etcd.
    pub(crate) fn evicted(&self, objects: usize) {
        self.kind.rows.evicted.inc_by(count(objects));
    }

    /// An object could not be evicted now.
    pub(crate) fn eviction_failed(&self) {
        self.kind.rows.evictions_failed.inc();
    }

    /// The database has lost the row of an evicted object.
    pub(crate) fn eviction_lost(&self) {
        self.kind.rows.evictions_lost.inc();
    }

    /// An object's annotations request what its kind does not allow.
    pub(crate) fn annotation_ignored(&self) {
        self.kind.rows.annotations_ignored.inc();
    }

    /// An object could not be mirrored.
    pub(crate) fn rejected(&self) {
        self.kind.rows.rejects.inc();
    }

    /// An object had values that do not fit its protobuf message.
    pub(crate) fn lost(&self, lost: Lost) {
        for (counter, count) in self.kind.rows.proto_lost.iter().zip([lost.fields, lost.enums, lost.values]) {
            counter.inc_by(count);
        }
    }

    /// Values of rows have NUL, which the database's text cannot have.
    pub(crate) fn nul_values(&self, values: usize) {
        self.kind.rows.nul_values.inc_by(count(values));
    }

    /// Values of rows do not fit their columns.
    pub(crate) fn unfit_values(&self, values: usize) {
        self.kind.rows.unfit_values.inc_by(count(values));
    }

    /// The database refused batches, whose halves were then written separately.
    pub(crate) fn batches_split(&self, batches: usize) {
        self.kind.rows.batches_split.inc_by(count(batches));
    }

    /// The database returned an error of this class.
    pub(crate) fn database_error(&self, class: ErrorClass) {
        self.kind.rows.database_errors[place(class)].inc();
    }

    /// A batch was committed: its objects, and the time since the start of its transaction.
    pub(crate) fn batch(&self, objects: usize, took: Duration) {
        self.kind.rows.batch_size.observe(objects as f64);
        self.kind.rows.batch_duration.observe(took.as_secs_f64());
    }

    /// The time from an object's event to its commit.
    pub(crate) fn lag(&self, lag: Duration) {
        self.kind.rows.lag.observe(lag.as_secs_f64());
    }
}
