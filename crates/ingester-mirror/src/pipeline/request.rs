//! Requests to the API server: those that must precede a write, and those that follow a commit. They run concurrently with the batches.

use super::acknowledge::Acknowledgement;
use super::known::Choice;
use super::work::{Arrival, HeldResource, Item, LookReason, ObjectRef, Trail, Work};
use super::{Pipeline, REQUESTS, UnitStopError};
use crate::cluster::ApiErrorKind;
use crate::lifecycle::{self, NextStep};
use crate::policies::{held, restored};
use ingester_core::object::{ManagedFields, Meta, Object};
use ingester_store::guard::Version;
use std::sync::Arc;
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument as _;

/// A worker takes no further batch while this many requests wait or are running.
const MOST: usize = 2 * super::MOST_OBJECTS;

/// A request that must precede a write.
#[derive(Debug)]
pub(super) enum Request {
    /// Add the finalizer to a new object first, so that the version with the finalizer is the one that is written.
    AddFinalizer { object: Box<Object>, trail: Trail },
    /// Get the object as it is now.
    Look { object: ObjectRef, why: LookReason, seen: Option<Version>, trail: Trail },
}

/// The running requests of one worker.
pub(super) struct Requests {
    pipeline: Arc<Pipeline>,
    tasks: JoinSet<()>,
}

impl Requests {
    pub(super) fn new(pipeline: Arc<Pipeline>) -> Self {
        Requests { pipeline, tasks: JoinSet::new() }
    }

    pub(super) fn has_room(&self) -> bool {
        self.tasks.len() < MOST
    }

    /// Waits until a request has ended; never returns if none is running.
    pub(super) async fn ended(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => rethrow(ended),
            None => std::future::pending().await,
        }
    }

    /// Waits until all requests have ended.
    pub(super) async fn finish(&mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            rethrow(ended);
        }
    }

    pub(super) fn send(&mut self, request: Request) {
        let pipeline = self.pipeline.clone();
        let work = async move {
            let item = match request {
                Request::AddFinalizer { object, trail } => pipeline.add_finalizer_first(object, trail).await,
                Request::Look { object, why, seen, trail } => pipeline.look(object, why, seen, trail).await,
            };
            match item {
                Ok(item) => pipeline.queue.hand_back(item),
                Err(uid) => pipeline.queue.done([&*uid]),
            }
        };
        self.tasks.spawn(work.in_current_span());
    }

    pub(super) fn acknowledge(&mut self, acknowledgement: Acknowledgement) {
        let pipeline = self.pipeline.clone();
        let work = async move {
            let uid = acknowledgement.object.uid.clone();
            if let Ok(_permit) = pipeline.acknowledgements.acquire().await {
                pipeline.acknowledge(acknowledgement).await;
            }
            pipeline.queue.done([&*uid]);
        };
        self.tasks.spawn(work.in_current_span());
    }
}

/// A panic in a request is a panic of its worker.
fn rethrow(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

impl Pipeline {
    /// Adds our finalizer to a new object. If the API server does not accept it, for whatever reason, the object is written anyway.
    async fn add_finalizer_first(&self, object: Box<Object>, trail: Trail) -> Result<Item, Box<str>> {
        let meta = object.meta();
        let permit = self.acknowledgements.acquire().await;
        if !self.unit.may_begin() {
            return Ok(Item { trail, ..Item::new(Work::Object { object, arrival: Arrival::Patch { again: true } }) });
        }
        let patched = self.add_finalizer(meta).await;
        drop(permit);
        let work = match patched {
            Ok(Some(patched)) => Work::Object { object: Box::new(patched), arrival: Arrival::Patch { again: false } },
            // The object changed in the meantime, and an event follows; or it is left without the finalizer.
            Ok(None) => Work::Object { object, arrival: Arrival::Patch { again: false } },
            Err(error) if error.kind() == ApiErrorKind::NotFound => {
                // The object is gone, and an event follows; or the server is starting and does not know the kind yet.
                self.try_again(ObjectRef::from_meta(meta), LookReason::Due, 0, &error);
                Work::Object { object, arrival: Arrival::Patch { again: false } }
            }
            Err(error) => {
                tracing::warn!(namespace = %meta.namespace, name = %meta.name, %error,
                    "Finalizer not added; the object is mirrored anyway");
                // The rounds that add finalizers skip objects without a row.
                let again = error.may_pass();
                Work::Object { object, arrival: Arrival::Patch { again } }
            }
        };
        Ok(Item { trail, ..Item::new(work) })
    }

    /// Looks the object up. `seen` is its row's version, which was read before.
    async fn look(
        &self,
        object: ObjectRef,
        why: LookReason,
        seen: Option<Version>,
        trail: Trail,
    ) -> Result<Item, Box<str>> {
        // An object that was looked up holds its permit until it is written. Once the unit stops, nothing is written, so do not wait for a
        // permit then.
        let permit = match self.unit.stop.run_until_cancelled(self.looks.clone().acquire_owned()).await {
            Some(Ok(permit)) => HeldResource::Look { _permit: permit },
            Some(Err(_)) => HeldResource::Nothing,
            None => return Err(object.uid),
        };
        let text = match self.unit.cluster.look(&object.namespace, &object.name).await {
            Ok(text) => text,
            Err(error) => {
                let uid = object.uid.clone();
                self.try_again(object, why, trail.attempt, &error);
                return Err(uid);
            }
        };
        let work = match text.map(|text| self.unit.parse(text)) {
            Some(Ok(found)) if found.meta().uid == object.uid => {
                let arrival = Arrival::Look { seen, rewrite: why == LookReason::Rewrite };
                if let Some(seen) = seen
                    && self.decide_by_metadata(found.meta(), arrival) == NextStep::MeetGhost
                {
                    return Err(self.meet_ghost(object, &found, seen, trail.attempt).await);
                }
                if seen.is_some_and(|seen| {
                    let live = !seen.deleted && !seen.evicted();
                    live && seen.res_version == found.meta().resource_version
                }) {
                    // A person decided about the ghost's object, so this does not count as a lost eviction.
                    self.evictions().forget(&object.uid);
                }
                let meta = found.meta();
                let unchanged = meta.resource_version == object.version;
                if why == LookReason::Judged {
                    let marks = self.unit.kind.marks();
                    let grace = self.unit.config().policies.restore_grace;
                    let restored = restored(meta, marks, grace, self.unit.clock.now());
                    let hindered = held(meta, marks).or(restored).is_some();
                    let stays = !unchanged || hindered || !self.is_proved(&found);
                    self.known().choices.confirm(&meta.uid, meta.resource_version, stays);
                }
                match self.was_chosen(meta, seen).await {
                    Ok(true) => self.known().choices.add(Choice::requested(ObjectRef::from_meta(meta))),
                    Ok(false) => {}
                    Err(UnitStopError) => return Err(object.uid),
                }
                Work::Object { object: Box::new(found), arrival }
            }
            Some(Err((identity, reason))) if identity.uid.as_ref().is_none_or(|uid| *uid == object.uid) => {
                Work::Broken { identity, reason }
            }
            // A lost eviction has left this row, so its state does not show a deletion: a person decides.
            _ if self.evictions().has_lost(&object.uid) => return Err(object.uid),
            // No object has this name, or another object now has it.
            _ => match self.evicted_elsewhere(&object, seen).await {
                Err(UnitStopError) => return Err(object.uid),
                Ok(Some(evicted)) => Work::Object { object: Box::new(evicted), arrival: Arrival::Deletion },
                Ok(None) => {
                    let version = object.version.max(seen.map_or(0, |seen| seen.res_version));
                    Work::Gone { object: ObjectRef { version, ..object.clone() }, swept: why == LookReason::Swept }
                }
            },
        };
        Ok(Item { uid: object.uid, work, trail: Trail { held: permit, ..trail } })
    }

    /// Returns true if a terminating object is leaving because a rule chose it. Its row says that it leaves etcd, and the text in the row
    /// has no annotation that requested it. So a slow deletion counts as an eviction, even in a process that did not request it.
    async fn was_chosen(&self, meta: &Meta, seen: Option<Version>) -> Result<bool, UnitStopError> {
        let rules = self.unit.rules();
        if !lifecycle::may_be_chosen(meta, rules) || !self.is_being_evicted(&meta.uid, seen) {
            return Ok(false);
        }
        let uids = &[&*meta.uid];
        let read = || self.unit.rows.read_stored(uids);
        let stored = self.unit.until_done("reading the row of an object that is leaving", read).await?;
        // If the row has changed since, it holds a later state, which does not say why the object was leaving.
        let row = stored.first().filter(|row| seen == Some(row.version()));
        let text = row.and_then(|row| Object::parse(row.json(), ManagedFields::Keep).ok());
        Ok(text.is_some_and(|text| !lifecycle::is_evicted(text.meta(), rules)))
    }

    /// Returns the last stored state of an object that is gone, if another ingester evicted it because this one must not evict.
    async fn evicted_elsewhere(
        &self,
        object: &ObjectRef,
        seen: Option<Version>,
    ) -> Result<Option<Object>, UnitStopError> {
        let rules = self.unit.rules();
        if rules.evictions || !seen.is_some_and(|seen| !seen.deleted && !seen.evicted()) {
            return Ok(None);
        }
        let uids = &[&*object.uid];
        let stored =
            self.unit.until_done("reading a row whose object is gone", || self.unit.rows.read_stored(uids)).await?;
        let last = stored.first().and_then(|row| Object::parse(row.json(), ManagedFields::Keep).ok());
        Ok(last.filter(|last| lifecycle::is_evicted(last.meta(), rules)))
    }
}

const _: () = assert!(REQUESTS < MOST);
