//! Takes batches from the queue: reads what is to be looked at, decodes, writes one transaction, and then tells Kubernetes.
//!
//! # Guarantees
//! - SQL is committed before Kubernetes is told; every step may be repeated after a crash at any point.
//! - What Kubernetes is told holds for the very version that is stored: patches and deletions carry uid and resourceVersion.
//! - One object that cannot be read, decoded, stored or acknowledged holds up no other.

use super::controller::Controller;
use super::finalizer;
use super::known::Standing;
use super::lifecycle::{Circumstances, Plan, State, Then, asks_for_deletion, plan};
use super::remote::{Refusal, RemoteError};
use super::work::{Item, Origin, Work};
use crate::events::Subject;
use crate::metrics::{Outcome, Skip};
use crate::object::{Identity, Meta, Object};
use crate::store::compare::differences;
use crate::store::guard::Guard;
use crate::store::{Change, Reject, Report, StoreError, latest_of_each};
use crate::value::{Micros, Row};
use futures::{FutureExt as _, StreamExt as _};
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Objects in one transaction, at most.
const MOST_OBJECTS: usize = 256;

/// Bytes of objects in one transaction, about, unless one alone has more.
const MOST_BYTES: usize = 4 << 20;

/// Requests to the API server that one batch has under way at a time.
const REQUESTS: usize = 16;

/// Up to so many objects in a batch are logged one by one at level info; of more, the batch is.
const LOGGED_SINGLY: usize = 3;

/// How long a database may be silent before its connection is given up.
const SILENCE: Duration = Duration::from_secs(60);

/// How long a batch that cannot be written may keep a stopping process waiting.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// Where an object is, for messages and requests.
#[derive(Clone, Debug)]
struct Place {
    uid: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
    version: u64,
}

/// One object on its way through a batch.
struct Job {
    place: Place,
    /// With the object's metadata, unless only its name is known.
    meta: Option<Meta>,
    /// What is written; taken when the transaction begins.
    change: Option<Change>,
    /// The row of an object that is to be evicted, to be compared with what is read back.
    wanted: Option<Row>,
    /// How it stands once that is committed; `None` for what is forgotten then.
    state: Option<State>,
    then: Then,
    again: Option<Duration>,
    overrule: bool,
    origin: Origin,
    since: Instant,
    attempt: u32,
    /// The kind's predicate leaves it out.
    left_out: bool,
    /// A list did not have it, and neither had the API server when asked.
    swept: bool,
    /// Why it is not stored.
    reject: Option<Reject>,
}

impl Job {
    /// The object has left the cluster, so that its row is to say so, whatever else.
    fn gone(&self) -> bool {
        self.state.is_none()
    }

    fn tombstone(&self) -> Change {
        let Place { uid, version, .. } = &self.place;
        Change::Tombstone { uid: uid.clone(), res_version: *version, delete_time: Micros::now() }
    }
}

/// The process is stopping and the batch could not be written.
pub(super) struct Stopped;

impl Controller {
    /// Works until told to stop; the batch in hand is finished.
    pub(super) async fn work(&self, stop: &CancellationToken) {
        loop {
            let items = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                items = self.queue.take(MOST_OBJECTS, MOST_BYTES) => items,
            };
            if self.reconcile(items, stop).await.is_err() {
                return;
            }
        }
    }

    /// Works until nothing waits.
    pub(super) async fn settle(&self, stop: &CancellationToken) {
        while !self.queue.is_idle() {
            let items = self.queue.take(MOST_OBJECTS, MOST_BYTES).await;
            if self.reconcile(items, stop).await.is_err() {
                return;
            }
        }
    }

    async fn reconcile(&self, items: Vec<Item>, stop: &CancellationToken) -> Result<(), Stopped> {
        let working = self.metrics.work(items.len());
        let uids: Vec<Box<str>> = items.iter().map(|item| item.uid.clone()).collect();
        let preparing: Vec<_> = items.into_iter().map(|item| self.prepare(item).boxed()).collect();
        let prepared: Vec<Option<Job>> = futures::stream::iter(preparing).buffered(REQUESTS).collect().await;
        let mut jobs: Vec<Job> = prepared.into_iter().flatten().collect();
        if !jobs.is_empty() {
            self.commit(&mut jobs, stop).await?;
            let waiting = jobs.iter().filter(|job| job.then != Then::Nothing || job.again.is_some());
            let telling: Vec<_> = waiting.map(|job| self.acknowledge(job).boxed()).collect();
            futures::stream::iter(telling).buffer_unordered(REQUESTS).collect::<()>().await;
        }
        self.queue.done(uids.iter().map(AsRef::as_ref));
        drop(working);
        Ok(())
    }

    /// Turns an item into what is to be written; `None` where it is to be looked at again later.
    async fn prepare(&self, item: Item) -> Option<Job> {
        let Item { uid, work, origin, since, attempt, overrule, behind } = item;
        let mut job = Job {
            place: Place { uid, namespace: "".into(), name: "".into(), version: 0 },
            meta: None,
            change: None,
            wanted: None,
            state: None,
            then: Then::Nothing,
            again: None,
            overrule,
            origin,
            since,
            attempt,
            left_out: false,
            swept: false,
            reject: None,
        };
        match work {
            // While it waited, another worker has stored the answer to our own patch, of which this is the echo.
            Work::Object { object, gone } if !overrule && self.is_echo(object.meta(), gone) => {
                self.metrics.skipped(Skip::Unchanged, 1);
                return None;
            }
            Work::Object { object, gone } => self.prepare_object(&mut job, *object, gone).await,
            Work::Broken { identity, reason } => job.reject = Some(self.reject_of(&job.place.uid, &identity, reason)),
            Work::Look { namespace, name, version, swept, .. } => {
                job.place = Place { namespace, name, version, ..job.place };
                tracing::debug!(kind = self.kind.kind(), namespace = %job.place.namespace, name = %job.place.name, "Reconciling object");
                let before = self.known().get(&job.place.uid);
                match self.remote.get(&job.place.namespace, &job.place.name).await {
                    Ok(text) => match text.map(|text| self.parse(text)) {
                        Some(Ok(object)) if object.meta().uid == job.place.uid => {
                            let version = object.meta().resource_version;
                            // The API server has just said what it is at: what is stored beyond that is of a past that is gone.
                            job.overrule |= behind.is_some_and(|behind| version <= behind)
                                || before.is_some_and(|entry| entry.version > version);
                            self.prepare_object(&mut job, object, false).await;
                        }
                        Some(Err((identity, reason))) => {
                            job.reject = Some(self.reject_of(&job.place.uid, &identity, reason));
                        }
                        // There is none of the name, or another one by now.
                        _ => {
                            let known = before.map(|entry| entry.version).unwrap_or_default();
                            job.place.version = version.max(known);
                            job.swept = swept;
                            job.change = Some(job.tombstone());
                        }
                    },
                    Err(error) => {
                        self.refused(&job, &error);
                        return None;
                    }
                }
            }
        }
        Some(job)
    }

    /// Reads a text; where it is no object, what can be told of it and why.
    pub(super) fn parse(&self, text: Box<str>) -> Result<Object, (Box<Identity>, String)> {
        match self.parse_as_it_is(text) {
            Ok(object) => Ok(object),
            Err((text, reason)) => Err((Box::new(Identity::probe(&text)), reason)),
        }
    }

    async fn prepare_object(&self, job: &mut Job, object: Object, gone: bool) {
        let meta = object.meta();
        job.place = Place {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
        };
        tracing::debug!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name, "Reconciling object");
        let plan = self.plan(meta, gone);
        let row = self.row(&object);
        let mut object = object;
        let (plan, row) = match (plan.then, row) {
            // It appeared while the process runs: its finalizer first, so that what is written is its last state.
            (Then::Adopt, Ok(Some(row))) if job.origin == Origin::Watch => match self.adopt(object.meta()).await {
                Ok(Some(adopted)) => {
                    let (plan, row) = (self.plan(adopted.meta(), false), self.row(&adopted));
                    job.place.version = adopted.meta().resource_version;
                    object = adopted;
                    (plan, row)
                }
                // Refused: the row is written all the same.
                Ok(None) | Err(_) => (Plan { then: Then::Nothing, ..plan }, Ok(Some(row))),
            },
            (_, row) => (plan, row),
        };
        job.then = plan.then;
        job.again = plan.again;
        job.state = if gone { None } else { Some(plan.state) };
        let stored = |mut row: Row| {
            match plan.state {
                State::Live => {}
                State::Deleted => row.delete_time = Some(Micros::now()),
                State::Evicted => row.evict_time = Some(Micros::now()),
            }
            row
        };
        match row {
            Ok(Some(row)) => {
                let row = stored(row);
                job.wanted = (plan.then == Then::Evict).then(|| row.clone());
                job.change = Some(Change::Row(row));
            }
            // The kind's predicate leaves it out: where it has a row, that is of a time when it did not.
            Ok(None) => {
                job.left_out = !gone;
                job.state = None;
                job.again = None;
                if !matches!(job.then, Then::Release | Then::Delete) {
                    job.then = Then::Nothing;
                }
                let known = self.known().get(&job.place.uid);
                if known.is_some_and(|entry| entry.standing == Standing::Stored(State::Live)) {
                    job.change = Some(job.tombstone());
                }
            }
            Err(reason) => match self.kind.bare_row(&object) {
                // It goes for good: its text is kept, whatever its columns would have been.
                Ok(row) if plan.state == State::Deleted => {
                    tracing::warn!(kind = self.kind.kind(), namespace = %job.place.namespace, name = %job.place.name, reason,
                        "Object that cannot be decoded is deleted: stored without its indexed columns");
                    job.change = Some(Change::Row(stored(row)));
                }
                _ => {
                    job.then = Then::Nothing;
                    job.reject = Some(self.reject_at(&job.place, reason));
                }
            },
        }
        job.meta = Some(object.meta().clone());
    }

    fn plan(&self, meta: &Meta, gone: bool) -> Plan {
        let mut known = self.known();
        let deleted = matches!(known.get(&meta.uid), Some(entry) if entry.standing == Standing::Stored(State::Deleted));
        let deleting_for = if asks_for_deletion(meta) {
            Some(known.deleting_since(&meta.uid).elapsed())
        } else {
            known.not_deleting(&meta.uid);
            None
        };
        drop(known);
        let terminating_for = meta.deletion_timestamp.as_ref().map(|time| {
            let passed = Micros::now().0.saturating_sub(time.micros().0);
            Duration::from_micros(u64::try_from(passed).unwrap_or_default())
        });
        plan(meta, self.rules, Circumstances { gone, deleted, deleting_for, terminating_for })
    }

    /// Whether what was heard of an object says nothing new. An end that does not is forgotten.
    pub(super) fn is_echo(&self, meta: &Meta, gone: bool) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        if gone {
            let said = matches!(entry.standing, Standing::Released | Standing::Stored(State::Evicted));
            if said {
                self.known().remove(&meta.uid);
            }
            return said;
        }
        entry.version == meta.resource_version && self.settled(meta)
    }

    /// Whether SQL and Kubernetes already are as this version, the known one, asks.
    pub(super) fn settled(&self, meta: &Meta) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        let state = match entry.standing {
            // Tried again when it changes; on its way out; left out.
            Standing::Rejected | Standing::Released | Standing::LeftOut => return true,
            Standing::Stored(state) => state,
        };
        let plan = self.plan(meta, false);
        state == plan.state && plan.again.is_none() && plan.then == Then::Nothing
    }

    /// Whether only our finalizer is missing.
    pub(super) fn lacks_finalizer_only(&self, meta: &Meta) -> bool {
        let stored = self.known().get(&meta.uid).is_some_and(|entry| {
            entry.version == meta.resource_version && entry.standing == Standing::Stored(State::Live)
        });
        stored && self.plan(meta, false).then == Then::Adopt
    }

    /// The row; a decoder that panics is its object's fault, as any other error of it.
    pub(super) fn row(&self, object: &Object) -> Result<Option<Row>, String> {
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.kind.row(object))) {
            Ok(row) => row.map_err(|error| error.to_string()),
            Err(_) => Err("the decoder of this kind panicked; please report it with the object".into()),
        }
    }

    /// Puts our finalizer on; `None` where the object has changed since or is gone, so that news of it is on its way.
    pub(super) async fn adopt(&self, meta: &Meta) -> Result<Option<Object>, RemoteError> {
        let Some(patch) = finalizer::addition(meta) else { return Ok(None) };
        match self.remote.patch(&meta.namespace, &meta.name, &patch).await {
            Ok(text) => {
                self.metrics.finalizers_added(1);
                Ok(self.parse(text).ok())
            }
            Err(error) if matches!(error.refusal(), Refusal::NotFound | Refusal::Conflict) => Ok(None),
            Err(error) => {
                self.metrics.api_error(&error.code());
                tracing::warn!(kind = self.kind.kind(), namespace = %meta.namespace, name = %meta.name, %error,
                    "Finalizer not added; the object is mirrored all the same");
                self.adoption_wanted();
                Err(error)
            }
        }
    }

    /// Writes the batch, for as long as it takes.
    async fn commit(&self, jobs: &mut [Job], stop: &CancellationToken) -> Result<(), Stopped> {
        let mut refused: HashMap<Box<str>, String> = HashMap::new();
        let mut stale: HashSet<Box<str>> = HashSet::new();
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
        let singly = jobs.len() <= LOGGED_SINGLY;
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
                self.log_synced(job, singly);
            } else if job.left_out {
                self.known().set(&job.place.uid, job.place.version, Standing::LeftOut);
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

    async fn write(&self, guard: Guard, changes: Vec<Change>, stop: &CancellationToken) -> Result<Report, Stopped> {
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
    fn remember(&self, job: &Job) {
        let mut known = self.known();
        let before = known.get(&job.place.uid).map(|entry| entry.standing);
        match job.state {
            Some(state) => known.set(&job.place.uid, job.place.version, Standing::Stored(state)),
            None if job.left_out => known.set(&job.place.uid, job.place.version, Standing::LeftOut),
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

    fn log_synced(&self, job: &Job, singly: bool) {
        let (kind, Place { namespace, name, version, .. }) = (self.kind.kind(), &job.place);
        if singly {
            tracing::info!(kind, %namespace, %name, resource_version = version, "Successfully synced object to metadata storage");
        } else {
            tracing::debug!(kind, %namespace, %name, resource_version = version, "Successfully synced object to metadata storage");
        }
    }

    fn rejected(&self, job: &Job, reason: &str) {
        let Place { uid, namespace, name, version } = &job.place;
        self.known().set(uid, *version, Standing::Rejected);
        self.metrics.rejected();
        self.metrics.reconciled(Outcome::Error, 1);
        tracing::error!(kind = self.kind.kind(), %namespace, %name, resource_version = version, reason,
            "Object rejected: recorded in ingester_rejects, to be tried again when it changes");
        self.publisher.rejected(&self.kind, job.place.subject(&self.api_version, &version.to_string()), reason);
    }

    /// Tells Kubernetes what the plan says; SQL has been committed.
    async fn acknowledge(&self, job: &Job) {
        if let Some(delay) = job.again {
            self.look_later(job, delay);
        }
        let Some(meta) = &job.meta else { return };
        let result = match job.then {
            Then::Nothing => return,
            Then::Adopt => return self.adoption_wanted(),
            Then::Release => self.release(meta).await,
            Then::Delete => self.delete(meta).await,
            Then::Evict => self.evict(job, meta).await,
        };
        if let Err(error) = result {
            self.refused(job, &error);
        }
    }

    async fn release(&self, meta: &Meta) -> Result<(), RemoteError> {
        let Some(patch) = finalizer::removal(meta) else { return Ok(()) };
        let text = self.remote.patch(&meta.namespace, &meta.name, &patch).await?;
        self.metrics.finalizers_removed(1);
        // Without any finalizer left the API server deletes it at once: what its DELETED event says is stored.
        let last = self.parse(text).is_ok_and(|object| object.meta().finalizers.is_empty());
        if last && meta.deletion_timestamp.is_some() {
            self.known().set(&meta.uid, meta.resource_version, Standing::Released);
        }
        Ok(())
    }

    async fn delete(&self, meta: &Meta) -> Result<(), RemoteError> {
        self.remote.delete(&meta.namespace, &meta.name, &meta.uid, meta.resource_version).await
    }

    /// Reads the row back, takes our finalizer off, stores the state without it, reads that back, deletes.
    async fn evict(&self, job: &Job, meta: &Meta) -> Result<(), RemoteError> {
        let Some(row) = &job.wanted else { return Ok(()) };
        self.read_back(row).await?;
        let mut last = meta.clone();
        if let Some(patch) = finalizer::removal(meta) {
            let text = self.remote.patch(&meta.namespace, &meta.name, &patch).await?;
            self.metrics.finalizers_removed(1);
            let unlike = |reason: String| RemoteError::unlike("evicting", reason);
            let object = self.parse(text).map_err(|(_, reason)| unlike(reason))?;
            let row = self.row(&object).map_err(unlike)?;
            let Some(mut row) = row else { return Ok(()) };
            row.evict_time = job.wanted.as_ref().and_then(|row| row.evict_time);
            let table = self.kind.table();
            let report = self.store.write(table, vec![Change::Row(row.clone())]).await;
            let report = report.map_err(|error| unlike(error.to_string()))?;
            self.count(&report);
            self.read_back(&row).await?;
            last = object.meta().clone();
            self.known().set(&last.uid, last.resource_version, Standing::Stored(State::Evicted));
        }
        self.delete(&last).await?;
        self.metrics.evicted(1);
        tracing::info!(kind = self.kind.kind(), namespace = %last.namespace, name = %last.name, "Immutable object evicted from etcd");
        Ok(())
    }

    /// Makes sure that a row is stored as it should be, every column of it, before its object goes.
    async fn read_back(&self, wanted: &Row) -> Result<(), RemoteError> {
        let table = self.kind.table();
        let unlike = |reason: String| RemoteError::unlike("reading back the row of an object to be evicted", reason);
        let stored = self.store.stored(table, &[&wanted.uid]).await.map_err(|error| unlike(error.to_string()))?;
        let Some(stored) = stored.first() else { return Err(unlike("it is not there".into())) };
        match differences(table, wanted, stored).first() {
            None => Ok(()),
            Some(difference) => Err(unlike(difference.to_string())),
        }
    }

    /// What the API server has refused is tried again, sooner or later.
    fn refused(&self, job: &Job, error: &RemoteError) {
        let Place { namespace, name, .. } = &job.place;
        match error.refusal() {
            // It is gone: its DELETED event says the rest.
            Refusal::NotFound => {}
            Refusal::Conflict | Refusal::Expired => self.look_later(job, self.pause(job.attempt) / 10),
            Refusal::Transient | Refusal::Forbidden | Refusal::Other => {
                self.metrics.api_error(&error.code());
                self.metrics.reconciled(Outcome::Error, 1);
                tracing::warn!(kind = self.kind.kind(), %namespace, %name, %error, attempt = job.attempt, "Reconciler error");
                self.look_later(job, self.pause(job.attempt));
            }
        }
    }

    /// From a second on, twice as long each time, up to the kind's requeuePeriod.
    fn pause(&self, attempt: u32) -> Duration {
        Duration::from_secs(1).saturating_mul(1 << attempt.min(16)).min(self.settings.requeue_period)
    }

    fn look_later(&self, job: &Job, delay: Duration) {
        let mut item = Item::new(look(&job.place), Origin::Watch);
        // Being looked at again because it is due is no failure.
        if job.again.is_none() {
            item.attempt = job.attempt.saturating_add(1);
            self.metrics.retried(1);
        }
        self.queue.push_later(item, delay);
    }

    /// What is stored is ahead of what was to be stored: another ingester was faster, or the cluster went back.
    fn look_behind(&self, job: &Job) {
        let mut item = Item::new(look(&job.place), Origin::Watch);
        item.behind = Some(job.place.version);
        self.queue.push_now(item);
    }

    fn count(&self, report: &Report) {
        self.metrics.written(report.written);
        self.metrics.skipped(Skip::Unchanged, report.unchanged);
        self.metrics.skipped(Skip::Stale, report.stale.len());
    }

    fn reject_at(&self, place: &Place, reason: String) -> Reject {
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

    fn reject_of(&self, uid: &str, identity: &Identity, reason: String) -> Reject {
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

fn look(place: &Place) -> Work {
    Work::Look {
        uid: place.uid.clone(),
        namespace: place.namespace.clone(),
        name: place.name.clone(),
        version: place.version,
        swept: false,
    }
}

impl Place {
    /// What an Event is about.
    fn subject<'a>(&'a self, api_version: &'a str, resource_version: &'a str) -> Subject<'a> {
        let Place { uid, namespace, name, .. } = self;
        Subject { api_version, namespace, name, uid, resource_version }
    }
}
