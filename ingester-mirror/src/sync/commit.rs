//! Writes a batch, for as long as it takes, and remembers how each of its objects stands then.

use super::controller::Controller;
use super::job::{Job, Place};
use super::known::Standing;
use super::lifecycle::{State, Then};
use super::worker::LOGGED_SINGLY;
use crate::metrics::{Outcome, Skip};
use ingester_core::object::Identity;
use ingester_store::guard::Guard;
use ingester_store::{Change, Reject, Report, StoreError, latest_of_each};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a database may be silent before its connection is given up.
const SILENCE: Duration = Duration::from_secs(60);

/// How long a batch that cannot be written may keep a stopping process waiting.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// The process is stopping and the batch could not be written.
pub(super) struct Stopped;

impl Controller {
    /// Writes the batch, for as long as it takes.
    pub(super) async fn commit(&self, jobs: &mut [Job], stop: &CancellationToken) -> Result<(), Stopped> {
        let mut refused: HashMap<Box<str>, String> = HashMap::new();
        let mut stale: HashSet<Box<str>> = HashSet::new();
        let singly = jobs.len() <= LOGGED_SINGLY;
        for job in jobs.iter().filter(|job| job.change.is_some()) {
            self.log(singly, &job.place.namespace, &job.place.name, "Syncing object to metadata storage");
        }
        let written: Vec<bool> = jobs.iter().map(|job| job.change.is_some()).collect();
        for guard in [Guard::Holds, Guard::Overruled] {
            let overrule = guard == Guard::Overruled;
            let group = jobs.iter_mut().filter(|job| job.overrule == overrule);
            let changes: Vec<Change> = group.filter_map(|job| job.change.take()).collect();
            if changes.is_empty() {
                continue;
            }
            let (count, begin) = (changes.len(), Instant::now());
            if overrule {
                self.metrics.restored(count);
            }
            let report = self.write(guard, changes, stop).await?;
            tracing::debug!(
                kind = self.kind.kind(),
                objects = count,
                written = report.written,
                unchanged = report.unchanged,
                stale = report.stale.len(),
                rejected = report.rejected.len(),
                "Batch committed"
            );
            self.metrics.batch(count, begin.elapsed());
            self.count(&report);
            stale.extend(report.stale);
            refused.extend(report.rejected.into_iter().map(|rejected| (rejected.uid, rejected.reason)));
        }
        let (mut rejects, mut orphans) = (Vec::new(), Vec::new());
        for (job, written) in jobs.iter_mut().zip(written) {
            self.metrics.lag(job.since.elapsed());
            if let Some(reason) = refused.remove(&job.place.uid) {
                // Nobody tells Kubernetes anything about what is not stored.
                if job.gone() {
                    orphans.push(job.tombstone());
                }
                let held = job.then != Then::Nothing && job.then != Then::Adopt;
                job.then = Then::Nothing;
                job.reject = Some(self.reject_at(&job.place, reason.clone()));
                if held {
                    self.publisher.held(
                        &self.kind,
                        job.place.subject(&self.api_version, &job.place.version.to_string()),
                        &reason,
                    );
                    self.look_later(job, self.settings.requeue_period);
                }
            } else if stale.contains(&job.place.uid) {
                job.then = Then::Nothing;
                job.again = None;
                self.look_behind(job);
            } else if job.reject.is_none() && written {
                self.remember(job);
                self.log(
                    singly,
                    &job.place.namespace,
                    &job.place.name,
                    "Successfully synced object to metadata storage",
                );
            } else if job.left_out {
                self.known().set(&job.place.uid, job.place.version, Standing::LeftOut, None);
            }
            if let Some(reject) = &job.reject {
                rejects.push(reject.clone());
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
            self.write(Guard::Holds, orphans, stop).await?;
        }
        if !rejects.is_empty() {
            let rejects = &rejects;
            self.until_done("recording rejects", stop, move || self.store.record_rejects(rejects)).await?;
        }
        Ok(())
    }

    pub(super) async fn write(
        &self,
        guard: Guard,
        changes: Vec<Change>,
        stop: &CancellationToken,
    ) -> Result<Report, Stopped> {
        let (table, changes) = (self.kind.table(), &latest_of_each(changes));
        self.until_done("writing", stop, move || self.store.write_under(guard, table, changes)).await
    }

    /// Repeats what a database does not do now, until it does; a stopping process gives up after [`LAST_CHANCE`].
    pub(super) async fn until_done<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        doing: &str,
        stop: &CancellationToken,
        work: impl Fn() -> F,
    ) -> Result<T, Stopped> {
        let mut attempt = 0;
        let trying = async {
            loop {
                // A server that was frozen, or a network that swallows packets, gives no error at all.
                let error = match tokio::time::timeout(SILENCE, work()).await {
                    Ok(Ok(done)) => return done,
                    Ok(Err(error)) => error,
                    Err(_) => StoreError::silent(doing, SILENCE),
                };
                self.metrics.database_error(error.class());
                // The first says it, then one in a while: an outage of an hour is not worth ten thousand lines.
                if attempt % 10 == 0 {
                    tracing::error!(kind = self.kind.kind(), %error, attempt, doing,
                        "Metadata storage failed, trying again");
                }
                tokio::time::sleep(database_pause(attempt)).await;
                attempt += 1;
            }
        };
        let deadline = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_CHANCE).await;
        };
        tokio::select! {
            done = trying => Ok(done),
            () = deadline => Err(Stopped),
        }
    }

    /// What is known after the commit.
    pub(super) fn remember(&self, job: &Job) {
        let mut known = self.known();
        let before = known.get(&job.place.uid).map(|entry| entry.standing);
        match job.state {
            Some(state) => known.set(&job.place.uid, job.place.version, Standing::Stored(state), job.pairs),
            None if job.left_out => known.set(&job.place.uid, job.place.version, Standing::LeftOut, None),
            None => known.remove(&job.place.uid),
        }
        drop(known);
        let was_marked = matches!(before, Some(Standing::Stored(State::Deleted) | Standing::Released));
        match job.state {
            Some(State::Live) => self.metrics.mirrored(1),
            Some(State::Evicted) => {}
            Some(State::Deleted) | None if job.swept => self.metrics.orphans_swept(1),
            Some(State::Deleted) | None if was_marked => {}
            Some(State::Deleted) | None => self.metrics.deleted(1),
        }
        if before == Some(Standing::Rejected) && job.state.is_some() {
            self.publisher.mirrored(&self.kind, job.place.subject(&self.api_version, &job.place.version.to_string()));
        }
        self.metrics.reconciled(if job.again.is_some() { Outcome::RequeueAfter } else { Outcome::Success }, 1);
    }

    pub(super) fn rejected(&self, job: &Job, reason: &str) {
        let Place { uid, namespace, name, version } = &job.place;
        self.known().set(uid, *version, Standing::Rejected, None);
        self.metrics.rejected();
        self.metrics.reconciled(Outcome::Error, 1);
        tracing::error!(kind = self.kind.kind(), %namespace, %name, resource_version = version, reason,
            "Object rejected: recorded in ingester_rejects, to be tried again when it changes");
        self.publisher.rejected(&self.kind, job.place.subject(&self.api_version, &version.to_string()), reason);
    }

    pub(super) fn count(&self, report: &Report) {
        self.metrics.written(report.written);
        self.metrics.skipped(Skip::Unchanged, report.unchanged);
        self.metrics.skipped(Skip::Stale, report.stale.len());
    }

    pub(super) fn reject_at(&self, place: &Place, reason: String) -> Reject {
        Reject {
            uid: place.uid.to_string(),
            group_ver: self.kind.api_version(),
            kind: self.kind.kind().to_owned(),
            namespace: place.namespace.to_string(),
            name: place.name.to_string(),
            res_version: place.version.to_string(),
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

/// Between attempts at a database that does not answer. Short: when it is back, everything waits for this.
fn database_pause(attempt: u32) -> Duration {
    Duration::from_millis(200).saturating_mul(1 << attempt.min(16)).min(Duration::from_secs(3))
}
