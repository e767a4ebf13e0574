//! Writes a batch, retrying as long as it takes, and remembers the state of each row.

use super::backoff::{DATABASE, delay};
use super::controller::Controller;
use super::job::{Job, ObjectRef};
use super::known::RowState;
use super::lifecycle::{State, Then};
use super::worker::LOGGED_SINGLY;
use crate::metrics::{Outcome, Skip};
use backon::Retryable as _;
use ingester_core::object::Identity;
use ingester_store::{ErrorClass, Reject, Report, RowChange, StoreError, latest_of_each};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long the database may take to answer before its connection is given up.
const SILENCE: Duration = Duration::from_secs(60);

/// How long a stopping process waits for a batch that cannot be written.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// The process is stopping and the batch could not be written.
pub(super) struct Stopped;

impl Controller {
    /// Writes the batch, retrying as long as it takes.
    pub(super) async fn commit(&self, jobs: &mut [Job], stop: &CancellationToken) -> Result<(), Stopped> {
        let mut refused: HashMap<Box<str>, String> = HashMap::new();
        let mut postponed: HashMap<Box<str>, String> = HashMap::new();
        let mut stale: HashSet<Box<str>> = HashSet::new();
        let singly = jobs.len() <= LOGGED_SINGLY;
        for job in jobs.iter().filter(|job| job.change.is_some()) {
            self.log(singly, &job.object.namespace, &job.object.name, "Syncing object to metadata storage");
        }
        let written: Vec<bool> = jobs.iter().map(|job| job.change.is_some()).collect();
        for overrule in [false, true] {
            let group = jobs.iter_mut().filter(|job| job.overrule == overrule);
            let mut changes: Vec<RowChange> = group.filter_map(|job| job.change.take()).collect();
            if changes.is_empty() {
                continue;
            }
            let (count, begin) = (changes.len(), Instant::now());
            if overrule {
                self.metrics.restored(count);
                changes = self.replacing(changes, stop).await?;
            }
            let report = self.write(changes, stop).await?;
            tracing::debug!(
                kind = self.kind.kind(),
                objects = count,
                written = report.written,
                unchanged = report.unchanged,
                stale = report.stale.len(),
                rejected = report.rejected.len(),
                postponed = report.postponed.len(),
                "Batch committed"
            );
            self.metrics.batch(count, begin.elapsed());
            self.count(&report);
            stale.extend(report.stale);
            refused.extend(report.rejected.into_iter().map(|rejected| (rejected.uid, rejected.reason)));
            postponed.extend(report.postponed.into_iter().map(|postponed| (postponed.uid, postponed.reason)));
        }
        let (mut rejects, mut orphans) = (Vec::new(), Vec::new());
        for (job, written) in jobs.iter_mut().zip(written) {
            self.metrics.lag(job.since.elapsed());
            if let Some(reason) = refused.remove(&job.object.uid) {
                // Nothing is sent to Kubernetes for an object that is not stored.
                if job.gone() {
                    orphans.push(job.tombstone());
                }
                let held = job.then != Then::Nothing && job.then != Then::AddFinalizer;
                job.then = Then::Nothing;
                job.reject = Some(self.reject_at(&job.object, reason.clone()));
                if held {
                    self.publisher.held(
                        &self.kind,
                        job.object.subject(&self.api_version, &job.object.version.to_string()),
                        &reason,
                    );
                    self.refresh_later(job, self.settings.requeue_period);
                }
            } else if let Some(reason) = postponed.remove(&job.object.uid) {
                // Nothing is sent to Kubernetes for an object that is not stored.
                job.then = Then::Nothing;
                job.again = None;
                self.metrics.database_error(ErrorClass::Unknown);
                self.metrics.reconciled(Outcome::Error, 1);
                let ObjectRef { namespace, name, .. } = &job.object;
                tracing::warn!(kind = self.kind.kind(), %namespace, %name, reason, attempt = job.attempt,
                    "Object not stored, with an error that is not known: it is tried again");
                self.refresh_later(job, delay(job.attempt, self.settings.requeue_period));
            } else if stale.contains(&job.object.uid) {
                job.then = Then::Nothing;
                job.again = None;
                self.refresh_stale(job);
            } else if job.reject.is_none() && written {
                self.remember(job);
                self.log(
                    singly,
                    &job.object.namespace,
                    &job.object.name,
                    "Successfully synced object to metadata storage",
                );
            } else if job.left_out {
                self.known().set(&job.object.uid, job.object.version, RowState::LeftOut, None);
            }
            if let Some(reject) = &job.reject {
                // Nobody can mend an object that is gone.
                if !orphans.iter().any(|orphan: &RowChange| orphan.uid() == reject.uid) {
                    rejects.push(reject.clone());
                }
                self.rejected(job, &reject.reason);
            }
        }
        if !singly {
            tracing::info!(
                kind = self.kind.kind(),
                objects = jobs.len(),
                "Successfully synced objects to metadata storage"
            );
        }
        let (live, rejected) = {
            let known = self.known();
            (known.live(), known.rejected())
        };
        self.metrics.objects(live);
        self.metrics.rejected_objects(rejected);
        if !orphans.is_empty() {
            self.write(orphans, stop).await?;
        }
        if !rejects.is_empty() {
            let rejects = &rejects;
            self.until_done("recording rejects", stop, move || self.store.record_rejects(rejects)).await?;
        }
        Ok(())
    }

    /// Rows that replace what is stored.
    async fn replacing(&self, changes: Vec<RowChange>, stop: &CancellationToken) -> Result<Vec<RowChange>, Stopped> {
        let uids: Vec<Box<str>> = changes.iter().map(|change| change.uid().into()).collect();
        let uids: Vec<&str> = uids.iter().map(AsRef::as_ref).collect();
        let (table, uids) = (self.kind.table(), &uids);
        let stored = self.until_done("reading versions", stop, move || self.store.versions(table, uids)).await?;
        let replacing = |change| match change {
            RowChange::Row(row) => match stored.get(&row.uid) {
                Some(seen) => RowChange::Replacement { row, seen: *seen },
                None => RowChange::Row(row),
            },
            change => change,
        };
        Ok(changes.into_iter().map(replacing).collect())
    }

    pub(super) async fn write(&self, changes: Vec<RowChange>, stop: &CancellationToken) -> Result<Report, Stopped> {
        let (table, changes) = (self.kind.table(), &latest_of_each(changes));
        self.until_done("writing", stop, move || self.store.write_latest(table, changes)).await
    }

    /// Retries `work` until the database does it. A stopping process gives up after [`LAST_CHANCE`].
    pub(super) async fn until_done<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        doing: &str,
        stop: &CancellationToken,
        work: impl Fn() -> F,
    ) -> Result<T, Stopped> {
        let mut attempt = 0;
        let attempts = async || {
            // A frozen server, or a network that drops packets, gives no error at all.
            match tokio::time::timeout(SILENCE, work()).await {
                Ok(result) => result,
                Err(_) => Err(StoreError::silent(doing, SILENCE)),
            }
        };
        let attempts = attempts.retry(DATABASE).notify(|error: &StoreError, _| {
            self.metrics.database_error(error.class());
            // Every tenth error is logged: an outage of an hour is not worth ten thousand lines.
            if attempt % 10 == 0 {
                tracing::error!(kind = self.kind.kind(), %error, attempt, doing,
                    "Metadata storage failed, trying again");
            }
            attempt += 1;
        });
        let deadline = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_CHANCE).await;
        };
        tokio::select! {
            // The attempts end only with a success.
            Ok(done) = attempts => Ok(done),
            () = deadline => Err(Stopped),
        }
    }

    /// Remembers the row's state after the commit.
    pub(super) fn remember(&self, job: &Job) {
        let mut known = self.known();
        let before = known.get(&job.object.uid).map(|entry| entry.state);
        match job.state {
            Some(state) => known.set(&job.object.uid, job.object.version, RowState::Stored(state), job.pairs),
            None if job.left_out => known.set(&job.object.uid, job.object.version, RowState::LeftOut, None),
            None => known.remove(&job.object.uid),
        }
        drop(known);
        let was_marked = matches!(before, Some(RowState::Stored(State::Deleted) | RowState::Released));
        match job.state {
            Some(State::Live) => self.metrics.mirrored(1),
            Some(State::Evicted) => {}
            Some(State::Deleted) | None if job.swept => self.metrics.orphans_swept(1),
            Some(State::Deleted) | None if was_marked => {}
            Some(State::Deleted) | None => self.metrics.deleted(1),
        }
        if before == Some(RowState::Rejected) && job.state.is_some() {
            self.publisher.mirrored(&self.kind, job.object.subject(&self.api_version, &job.object.version.to_string()));
        }
        self.metrics.reconciled(if job.again.is_some() { Outcome::RequeueAfter } else { Outcome::Success }, 1);
    }

    pub(super) fn rejected(&self, job: &Job, reason: &str) {
        let ObjectRef { uid, namespace, name, version } = &job.object;
        self.known().set(uid, *version, RowState::Rejected, None);
        self.metrics.rejected();
        self.metrics.reconciled(Outcome::Error, 1);
        tracing::error!(kind = self.kind.kind(), %namespace, %name, resource_version = version, reason,
            "Object rejected: recorded in ingester_rejects, to be tried again when it changes");
        self.publisher.rejected(&self.kind, job.object.subject(&self.api_version, &version.to_string()), reason);
    }

    pub(super) fn count(&self, report: &Report) {
        self.metrics.written(report.written);
        self.metrics.skipped(Skip::Unchanged, report.unchanged);
        self.metrics.skipped(Skip::Stale, report.stale.len());
    }

    pub(super) fn reject_at(&self, object: &ObjectRef, reason: String) -> Reject {
        Reject {
            uid: object.uid.to_string(),
            group_ver: self.kind.api_version(),
            kind: self.kind.kind().to_owned(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
            res_version: object.version.to_string(),
            reason,
        }
    }

    pub(super) fn reject_of(&self, uid: &str, identity: &Identity, reason: String) -> Reject {
        let text = |part: &Option<Box<str>>| part.as_deref().unwrap_or_default().to_owned();
        Reject {
            uid: uid.to_owned(),
            group_ver: self.kind.api_version(),
            kind: self.kind.kind().to_owned(),
            namespace: text(&identity.namespace),
            name: text(&identity.name),
            res_version: text(&identity.resource_version),
            reason,
        }
    }
}
