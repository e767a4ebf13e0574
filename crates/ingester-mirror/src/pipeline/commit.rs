//! Writes a batch, retrying as long as necessary, and remembers the state of each row. Only stored objects are acknowledged.

use super::acknowledge::Acknowledgement;
use super::known::RowState;
use super::prepare::{Consequences, Rejection, StateAfterCommit, Write};
use super::work::{Item, LookReason, ObjectRef, Trail};
use super::{Pipeline, UnitStopError};
use crate::backoff::delay;
use crate::lifecycle::{Action, LifecycleState};
use crate::metrics::{Outcome, SkipReason};
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_store::{ErrorClass, Reject, RejectedObject, Report, RowChange, latest_of_each};
use std::collections::{HashMap, HashSet};
use tokio::time::Instant;

/// The work that remains after a batch was written.
#[derive(Default)]
struct RemainingWork {
    acknowledgements: Vec<Acknowledgement>,
    rejections: Vec<Rejection>,
    /// Changes that mark the rows of objects that are gone and whose last states were refused.
    orphans: Vec<RowChange>,
    /// The uids of objects that need nothing more.
    done: Vec<Box<str>>,
}

impl Pipeline {
    /// Writes the rows of a batch, and records the objects that cannot be mirrored.
    pub(super) async fn commit(
        &self,
        writes: Vec<Write>,
        rejections: Vec<Rejection>,
        restores: u32,
    ) -> Result<Vec<Acknowledgement>, UnitStopError> {
        self.count_swept(&writes).await?;
        let (changes, consequences): (Vec<_>, Vec<_>) =
            writes.into_iter().map(|write| (write.change, write.consequences)).unzip();
        let mut remaining = RemainingWork { rejections, ..RemainingWork::default() };
        match self.write(changes, restores).await? {
            Some(report) => self.conclude(consequences, &report, &mut remaining),
            None => {
                for Consequences { object, .. } in consequences {
                    self.known().doubt(&object.uid);
                    remaining.done.push(object.uid);
                }
            }
        }
        let RemainingWork { acknowledgements, rejections, orphans, mut done } = remaining;
        self.record(rejections, &mut done).await?;
        // After the rejects, because these changes delete the rejects: nobody can correct a deleted object.
        if !orphans.is_empty() {
            self.write(orphans, restores).await?;
        }
        self.show_known();
        self.queue.done(done.iter().map(AsRef::as_ref));
        Ok(acknowledgements)
    }

    /// Counts the rows that a sweep is about to mark, if sweeps have a limit.
    async fn count_swept(&self, writes: &[Write]) -> Result<(), UnitStopError> {
        let rows = {
            let known = self.known();
            let is_swept = |write: &&Write| {
                let Consequences { object, becomes, .. } = &write.consequences;
                matches!(becomes, StateAfterCommit::Gone { swept: true }) && known.live_version(&object.uid).is_some()
            };
            writes.iter().filter(is_swept).count() as u64
        };
        if rows == 0 || self.unit.config().ingester.sweep_limit.to_rows().is_none() {
            return Ok(());
        }
        // Before they are marked: if the process is killed in between, it has counted too many, not too few.
        let name = &self.unit.name();
        let count = || self.unit.rows.count_swept(name, rows);
        self.unit.until_done("counting rows that are marked as deleted", count).await
    }

    /// Decides the next steps from the result of each write.
    fn conclude(&self, all: Vec<Consequences>, report: &Report, remaining: &mut RemainingWork) {
        let reasons = |rejected: &'_ [RejectedObject]| -> HashMap<Box<str>, String> {
            rejected.iter().map(|rejected| (rejected.uid.clone(), rejected.reason.clone())).collect()
        };
        let mut refused = reasons(&report.rejected);
        let mut postponed = reasons(&report.postponed);
        let stale: HashSet<&str> = report.stale.iter().map(AsRef::as_ref).collect();
        for its in all {
            self.unit.metrics.lag(its.trail.since.elapsed());
            let uid = its.object.uid.clone();
            if let Some(reason) = refused.remove(&uid) {
                self.refused(its, reason, remaining);
            } else if let Some(reason) = postponed.remove(&uid) {
                self.postpone(its.object, &its.trail, &reason);
                remaining.done.push(uid);
            } else if stale.contains(&*uid) {
                self.look_at_stale(its.object, &its.trail);
                remaining.done.push(uid);
            } else {
                self.finish_stored(its, remaining);
            }
        }
    }

    /// The database refused the object because of its content.
    fn refused(&self, its: Consequences, reason: String, remaining: &mut RemainingWork) {
        let Consequences { object, becomes, subject, again, trail, .. } = its;
        // If the object is gone, its row must not stay live, even if its last state was refused.
        if let StateAfterCommit::Gone { .. } | StateAfterCommit::LeftOut | StateAfterCommit::Confirmed = becomes {
            let orphan = super::prepare::forgotten(&object.uid, object.version, self.unit.clock.now());
            remaining.orphans.push(orphan);
            // A deleted object cannot be corrected.
            self.known().remove(&object.uid);
            remaining.done.push(object.uid);
            return;
        }
        // Nothing is sent to Kubernetes for an object that is not stored.
        let held = subject.is_some();
        let reject = self.reject_at(&object, reason);
        remaining.rejections.push(Rejection { object, reject, held, again, trail });
    }

    /// Starts the work that was waiting for the row to be stored.
    fn finish_stored(&self, its: Consequences, remaining: &mut RemainingWork) {
        self.remember(&its);
        let Consequences { object, then, subject, again, trail, .. } = its;
        tracing::debug!(namespace = %object.namespace, name = %object.name, "Successfully synced object to metadata storage");
        if let Some(delay) = again {
            // A planned look is not a failure.
            self.queue.push_later(Item::look(object.clone(), LookReason::Due, 0), delay);
        }
        if then == Action::AddFinalizer {
            self.request_finalizers();
        }
        match subject {
            Some(subject) => {
                remaining.acknowledgements.push(Acknowledgement { object, then, subject, attempt: trail.attempt });
            }
            None => remaining.done.push(object.uid),
        }
    }

    /// Publishes counts of the known objects as metrics.
    fn show_known(&self) {
        let (live, rejected, held, ghosts) = {
            let known = self.known();
            (known.live(), known.rejected(), known.held(), known.ghosts())
        };
        self.unit.metrics.held(held);
        self.unit.metrics.ghosts(ghosts);
        self.unit.metrics.objects(live);
        self.unit.metrics.rejected_objects(rejected);
    }

    /// Writes the changes. Returns `None` if the cluster went back in the meantime; then it is unknown whether anything was written.
    async fn write(&self, changes: Vec<RowChange>, restores: u32) -> Result<Option<Report>, UnitStopError> {
        if changes.is_empty() {
            return Ok(Some(Report::default()));
        }
        let count = changes.len();
        let begin = Instant::now();
        let changes = &latest_of_each(changes);
        let write = async || match self.is_outdated(restores) {
            true => Ok(None),
            false => self.unit.rows.write(changes).await.map(Some),
        };
        let Some(report) = self.unit.until_done("writing", write).await? else { return Ok(None) };
        tracing::debug!(
            objects = count,
            written = report.written,
            unchanged = report.unchanged,
            stale = report.stale.len(),
            rejected = report.rejected.len(),
            postponed = report.postponed.len(),
            "Batch committed"
        );
        self.remember_owners_of_unstored(changes, &report);
        self.unit.metrics.batch(count, begin.elapsed());
        self.unit.metrics.written(report.written);
        self.unit.metrics.nul_values(report.nul_values);
        self.unit.metrics.unfit_values(report.unfit_values);
        self.unit.metrics.batches_split(report.splits);
        self.unit.metrics.skipped(SkipReason::Unchanged, report.unchanged);
        self.unit.metrics.skipped(SkipReason::Stale, report.stale.len());
        Ok(Some(report))
    }

    /// Remembers the owners of objects that the database refused.
    fn remember_owners_of_unstored(&self, changes: &[RowChange], report: &Report) {
        let unstored: HashSet<&str> =
            report.rejected.iter().chain(&report.postponed).map(|refused| &*refused.uid).collect();
        for change in changes.iter().filter(|_| !unstored.is_empty()) {
            if let RowChange::Row(row) | RowChange::Replacement { row, .. } = change
                && unstored.contains(&*row.uid)
                && let Some(Value::Text(text)) = row.values.get(base::JSON)
            {
                self.remember_owners(&row.uid, text);
            }
        }
    }

    /// The stored row is not the row of this batch: another ingester was faster, the cluster was restored to an earlier state, or somebody
    /// changed the row by hand. A look finds out which.
    fn look_at_stale(&self, object: ObjectRef, trail: &Trail) {
        let item = Item::look(object, LookReason::Due, trail.attempt.saturating_add(1));
        self.queue.push_later(item, delay(trail.attempt, self.unit.requeue_period()));
    }

    /// The database refused the object with an unclassified error, which may be transient. So nothing is sent to Kubernetes.
    fn postpone(&self, object: ObjectRef, trail: &Trail, reason: &str) {
        let metrics = &self.unit.metrics;
        metrics.database_error(ErrorClass::Unknown);
        metrics.reconciled(Outcome::Error, 1);
        metrics.retried(1);
        tracing::warn!(namespace = %object.namespace, name = %object.name, reason,
            attempt = trail.attempt, "Object not stored: unclassified error; retrying");
        let pause = delay(trail.attempt, self.unit.requeue_period());
        self.queue.push_later(Item::look(object, LookReason::Due, trail.attempt.saturating_add(1)), pause);
    }

    /// Remembers the row's state after the commit.
    fn remember(&self, its: &Consequences) {
        let ObjectRef { uid, version, .. } = &its.object;
        let mut known = self.known();
        let before = known.get(uid).map(|entry| entry.state);
        match its.becomes {
            StateAfterCommit::Stored(state, pairs) => known.set(uid, *version, RowState::Stored(state), Some(pairs)),
            StateAfterCommit::LeftOut => known.set(uid, *version, RowState::LeftOut, None),
            StateAfterCommit::Gone { .. } => known.remove(uid),
            StateAfterCommit::Confirmed => known.set(uid, *version, RowState::Confirmed, None),
        }
        drop(known);
        let metrics = &self.unit.metrics;
        let was_marked = matches!(before, Some(RowState::Stored(LifecycleState::Deleted) | RowState::Released));
        match its.becomes {
            StateAfterCommit::Stored(LifecycleState::Live, _) => metrics.mirrored(1),
            StateAfterCommit::Stored(LifecycleState::Evicted, _) | StateAfterCommit::Confirmed => {}
            StateAfterCommit::Gone { .. } if before.is_some_and(RowState::is_leaving) => {}
            StateAfterCommit::Gone { swept: true } => {
                metrics.orphans_swept(1);
                log_deleted(&its.object);
            }
            StateAfterCommit::Stored(LifecycleState::Deleted, _)
            | StateAfterCommit::LeftOut
            | StateAfterCommit::Gone { .. }
                if was_marked => {}
            StateAfterCommit::LeftOut => metrics.deleted(1),
            StateAfterCommit::Stored(LifecycleState::Deleted, _) | StateAfterCommit::Gone { .. } => {
                metrics.deleted(1);
                log_deleted(&its.object);
            }
        }
        if before == Some(RowState::Rejected) && matches!(its.becomes, StateAfterCommit::Stored(..)) {
            let api_version = self.unit.kind.api_version();
            let version = version.to_string();
            self.unit.publisher.mirrored(&self.unit.kind, its.object.subject(&api_version, &version));
        }
        metrics.reconciled(if its.again.is_some() { Outcome::RequeueAfter } else { Outcome::Success }, 1);
    }

    /// Records objects that cannot be mirrored. An object that Kubernetes keeps for us is tried again, and an Event says so.
    async fn record(&self, rejections: Vec<Rejection>, done: &mut Vec<Box<str>>) -> Result<(), UnitStopError> {
        if rejections.is_empty() {
            return Ok(());
        }
        let rejects: &Vec<Reject> = &rejections.iter().map(|rejection| rejection.reject.clone()).collect();
        self.unit.until_done("recording rejects", move || self.unit.rows.record_rejects(rejects)).await?;
        for Rejection { object, reject, held, again, trail } in rejections {
            self.known().set(&object.uid, object.version, RowState::Rejected, None);
            self.unit.metrics.rejected();
            self.unit.metrics.reconciled(Outcome::Error, 1);
            tracing::error!(namespace = %object.namespace, name = %object.name,
                resource_version = object.version, reason = reject.reason,
                "Object rejected: recorded in ingester_rejects, to be tried again when it changes");
            let api_version = self.unit.kind.api_version();
            let version = object.version.to_string();
            self.unit.publisher.rejected(&self.unit.kind, object.subject(&api_version, &version), &reject.reason);
            if held {
                self.unit.publisher.held(&self.unit.kind, object.subject(&api_version, &version), &reject.reason);
            }
            let period = self.unit.requeue_period();
            if let Some(pause) = again.or(held.then_some(period)) {
                let attempt = trail.attempt.saturating_add(1);
                self.queue.push_later(Item::look(object.clone(), LookReason::Due, attempt), pause);
            }
            done.push(object.uid);
        }
        Ok(())
    }
}

fn log_deleted(object: &ObjectRef) {
    tracing::info!(namespace = %object.namespace, name = %object.name, "Object deleted: its row has a delete_time");
}
