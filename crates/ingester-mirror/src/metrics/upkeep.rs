//! Tasks that run once for a kind, concurrently with its controllers: backfills, retention, audits, suspension.

use super::family::{Counters, Gauges, Seconds, metrics};
use super::gauges::Time;
use super::{ControllerMetrics, KindMetrics, gauge};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

metrics! {
    /// The upkeep of one kind.
    UpkeepSeries of UpkeepFamilies:
    backfill_rows: Counters ["result" in ["filled", "unchanged", "failed"]] by Kind, "ingester_backfill_rows_total",
        "Rows read by a backfill: they got values (filled), already had them (unchanged), or their object cannot be decoded (failed)";
    incomplete_columns: Gauges by Kind, "ingester_incomplete_columns", "Columns not yet backfilled in all rows; the table ingester_backfills has their progress";
    left_out: Gauges by Kind, "ingester_left_out_waiting_rows",
        "Rows that are live although the kind's changed filter leaves them out, because they are more than ingester.sweepLimit allows; every process shows the number for the whole kind";
    purged: Counters by Kind, "ingester_purged_rows_total",
        "Rows purged by retention.deleted or by a retention rule";
    retention_rows: Gauges by Kind, "ingester_retention_rows",
        "Rows that retention rules purge, or would purge if they were enforced; 0 before the first round, and where another replica leads the kind";
    retention_waiting: Gauges by Kind, "ingester_retention_waiting_rows",
        "Of ingester_retention_rows, those that enforced rules purge and that are still there: the grace of their mark is not over, their export failed, or they have changed meanwhile";
    retention_failed: Counters by Kind, "ingester_retention_failures_total",
        "Rounds in which a rule of retention.rules purged nothing because of an error, such as a folder that is not writable";
    audits: Counters ["result" in ["success", "failed"]] by Kind, "ingester_audits_total",
        "Audits scheduled by ingester.auditPeriod: success, with or without findings, or failed";
    audit_findings: Gauges ["finding" in FINDINGS] by Kind, "ingester_audit_findings",
        "Objects and rows that differed in the last scheduled audit: missing, stale, ahead, different, deleted, orphaned, ghost, rejected, as ingester audit calls them; 0 while the kind is not audited, and after another replica has taken over a part of it, until the next audit";
    last_audit: Seconds by Kind, "ingester_last_audit_timestamp_seconds",
        "Unix time at which the last scheduled audit succeeded; 0 before the first";
    suspended: Gauges by Kind, "ingester_suspended", "1 while the kind is suspended: nothing is written for it";
}

impl ControllerMetrics {
    /// Sets the number of waiting rows that a changed filter leaves out.
    pub(crate) fn left_out_waiting(&self, rows: u64) {
        self.kind.upkeep.left_out.set(i64::try_from(rows).unwrap_or(i64::MAX));
    }
}

impl UpkeepSeries {
    pub(super) fn suspended(&self, suspended: bool) {
        self.suspended.set(suspended.into());
    }
}

/// The metrics of a kind's backfills. All controllers of the kind share them.
#[derive(Clone)]
pub struct BackfillMetrics(pub(super) Arc<KindMetrics>);

impl BackfillMetrics {
    /// Rows were read to backfill columns: some were filled, some had their values, some have objects that cannot be decoded.
    pub fn count_rows(&self, filled: u64, unchanged: u64, failed: u64) {
        for (counter, rows) in self.0.upkeep.backfill_rows.iter().zip([filled, unchanged, failed]) {
            counter.inc_by(rows);
        }
    }

    /// Sets the number of waiting rows that a changed filter leaves out.
    pub fn left_out_waiting(&self, rows: u64) {
        self.0.upkeep.left_out.set(i64::try_from(rows).unwrap_or(i64::MAX));
    }

    /// Sets the number of columns that are not backfilled completely.
    pub fn incomplete_columns(&self, columns: usize) {
        self.0.upkeep.incomplete_columns.set(gauge(columns));
    }
}

impl fmt::Debug for BackfillMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackfillMetrics({})", self.0.kind)
    }
}

/// The metrics of a kind's retention.
#[derive(Clone)]
pub(crate) struct RetentionMetrics(pub(super) Arc<KindMetrics>);

impl RetentionMetrics {
    /// Rows were purged.
    pub(crate) fn purged(&self, rows: u64) {
        self.0.upkeep.purged.inc_by(rows);
    }

    /// Sets the number of rows that rules let go, and how many of these still exist although their rules are enforced.
    pub(crate) fn rules(&self, rows: u64, waiting: u64) {
        let rows_of = |rows| i64::try_from(rows).unwrap_or(i64::MAX);
        self.0.upkeep.retention_rows.set(rows_of(rows));
        self.0.upkeep.retention_waiting.set(rows_of(waiting));
    }

    /// This many rules purged nothing because of an error.
    pub(crate) fn failed(&self, rules: u64) {
        self.0.upkeep.retention_failed.inc_by(rules);
    }
}

/// The possible findings of an audit, by the names in its report.
pub(crate) const FINDINGS: [&str; 8] =
    ["missing", "stale", "ahead", "different", "deleted", "orphaned", "ghost", "rejected"];

/// The metrics of a kind's scheduled audits.
#[derive(Clone)]
pub(crate) struct AuditMetrics(pub(super) Arc<KindMetrics>);

impl AuditMetrics {
    /// An audit ended with this many findings of each of [`FINDINGS`].
    pub(crate) fn succeeded(&self, findings: [u64; FINDINGS.len()]) {
        for (gauge, found) in self.0.upkeep.audit_findings.iter().zip(findings) {
            gauge.set(i64::try_from(found).unwrap_or(i64::MAX));
        }
        self.0.upkeep.audits[0].inc();
        self.0.upkeep.last_audit.set(Time::now());
        let found = findings.iter().fold(0, |sum: u64, found| sum.saturating_add(*found));
        *self.0.audited.lock() = Some((Instant::now(), found));
    }

    /// The findings of the last audit do not count any more: the kind is not audited now.
    pub(crate) fn forgotten(&self) {
        self.0.upkeep.audit_findings.iter().for_each(|gauge| gauge.set(0));
        *self.0.audited.lock() = None;
    }

    /// An audit could not be finished, so the findings of the audit before stay.
    pub(crate) fn failed(&self) {
        self.0.upkeep.audits[1].inc();
    }
}

impl ControllerMetrics {
    /// Returns how long ago the last scheduled audit of the kind ended, and how many objects and rows differed.
    pub(crate) fn last_audit(&self) -> Option<(Duration, u64)> {
        let audited = *self.kind.audited.lock();
        audited.map(|(ended, found)| (ended.elapsed(), found))
    }
}
