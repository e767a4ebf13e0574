//! Prepares a batch: the write for each object, or the request that must come before it.

use super::acknowledge::StoredObject;
use super::decide::waits_for_us;
use super::known::RowState;
use super::request::Request;
use super::work::{Arrival, Item, LookReason, ObjectRef, Trail, Work};
use super::{Pipeline, UnitStopError};
use crate::lifecycle::{Action, Content, LifecycleState, NextStep, Omission, RowWrite, Step, is_leaving};
use ingester_core::object::{Identity, Meta, Object};
use ingester_core::row::{Row, Version};
use ingester_core::value::Micros;
use ingester_store::{Reject, RowChange};
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// A batch after preparation.
#[derive(Default)]
pub(super) struct PreparedBatch {
    /// The rows to write.
    pub(super) writes: Vec<Write>,
    /// Rows to mark because the filter leaves out their objects, which stay in the cluster.
    left_out: Vec<Write>,
    /// Objects that cannot be mirrored in their present state.
    pub(super) rejections: Vec<Rejection>,
    /// The requests that must come before a write.
    pub(super) requests: Vec<Request>,
    /// The uids of objects that need nothing.
    pub(super) done: Vec<Box<str>>,
}

/// One object's row, ready to be written.
pub(super) struct Write {
    pub(super) change: RowChange,
    pub(super) consequences: Consequences,
}

/// The steps for an object after the commit of its change. The store gets the change itself.
pub(super) struct Consequences {
    pub(super) object: ObjectRef,
    pub(super) becomes: StateAfterCommit,
    /// The request to send once the row is committed.
    pub(super) then: Action,
    /// The object that the request is about; `None` if none is sent.
    pub(super) subject: Option<StoredObject>,
    /// When to look at it again even if nothing changes.
    pub(super) again: Option<Duration>,
    pub(super) trail: Trail,
}

impl Consequences {
    fn new(object: ObjectRef, becomes: StateAfterCommit, trail: Trail) -> Self {
        Consequences { object, becomes, then: Action::Nothing, subject: None, again: None, trail }
    }
}

/// The state to remember for an object once its row is committed.
#[derive(Clone, Copy, Debug)]
pub(super) enum StateAfterCommit {
    /// Its row's state, and the hash of its labels and annotations.
    Stored(LifecycleState, NonZeroU64),
    /// The kind's predicate leaves it out, and its row is marked as deleted.
    LeftOut,
    /// The object is gone, and is forgotten. `swept`: a list lacked it.
    Gone { swept: bool },
    /// The object has left etcd, and its row says so.
    Confirmed,
}

/// An object that cannot be mirrored in its present state.
pub(super) struct Rejection {
    pub(super) object: ObjectRef,
    pub(super) reject: Reject,
    /// Kubernetes waits for us to store it.
    pub(super) held: bool,
    /// When to look at it again even if nothing changes.
    pub(super) again: Option<Duration>,
    pub(super) trail: Trail,
}

/// An object as the kind's definition reads it.
struct DecodedObject {
    content: Content,
    row: Option<Row>,
    /// The reason why the object cannot be decoded.
    reason: Option<String>,
}

impl Pipeline {
    pub(super) async fn prepare(&self, items: Vec<Item>) -> Result<PreparedBatch, UnitStopError> {
        let stored = self.stored_versions(&items).await?;
        let mut batch = PreparedBatch::default();
        for item in items {
            let seen = stored.get(&item.uid).copied();
            self.prepare_item(item, seen, &mut batch);
        }
        let left_out = std::mem::take(&mut batch.left_out);
        self.mark_left_out(left_out, &mut batch).await?;
        Ok(batch)
    }

    /// Returns the stored versions of the objects whose plan depends on them: the ones to look at, and the ones that must be deleted.
    async fn stored_versions(&self, items: &[Item]) -> Result<HashMap<Box<str>, Version>, UnitStopError> {
        let rules = self.unit.rules();
        let depends = |item: &&Item| match &item.work {
            Work::Look { .. } => true,
            Work::Object { object, arrival } => {
                let asked = matches!(arrival, Arrival::Deletion | Arrival::Look { .. });
                !asked && is_leaving(object.meta(), rules) && !self.known().is_own(&item.uid)
            }
            Work::Gone { .. } | Work::Broken { .. } => false,
        };
        let uids: Vec<&str> = items.iter().filter(depends).map(|item| item.uid.as_ref()).collect();
        if uids.is_empty() {
            return Ok(HashMap::new());
        }
        let uids = &uids;
        self.unit.until_done("reading versions", move || self.unit.rows.versions(uids)).await
    }

    fn prepare_item(&self, item: Item, seen: Option<Version>, batch: &mut PreparedBatch) {
        let Item { uid, work, trail } = item;
        match work {
            Work::Object { object, arrival } => {
                let stored = if let Arrival::Look { seen, .. } = arrival { seen } else { seen };
                self.prepare_object(object, arrival, stored, trail, batch);
            }
            Work::Look { why: LookReason::Judged, .. } if self.is_withdrawn(&uid) => {
                self.known().choices.reconsider(&uid);
                batch.done.push(uid);
            }
            Work::Look { object, why } => batch.requests.push(Request::Look { object, why, seen, trail }),
            Work::Gone { object, swept } => {
                let change = self.tombstone(&object);
                let evicted = self.known().get(&uid).is_some_and(|entry| entry.state.is_leaving());
                let becomes = if evicted { StateAfterCommit::Confirmed } else { StateAfterCommit::Gone { swept } };
                batch.writes.push(Write { change, consequences: Consequences::new(object, becomes, trail) });
            }
            Work::Broken { identity, reason } => {
                let text = |part: &Option<Box<str>>| part.clone().unwrap_or_default();
                let version = identity.resource_version.as_deref().and_then(|version| version.parse().ok());
                let object = ObjectRef {
                    uid,
                    namespace: text(&identity.namespace),
                    name: text(&identity.name),
                    version: version.unwrap_or_default(),
                };
                let reject = self.reject_of(&object, &identity, reason);
                self.known().owned_by(&object.uid, identity.owners.clone());
                let held = waits_for_us(&identity, self.unit.kind.marks());
                batch.rejections.push(Rejection { object, reject, held, again: None, trail });
            }
        }
    }

    fn prepare_object(
        &self,
        object: Box<Object>,
        arrival: Arrival,
        stored: Option<Version>,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let meta = object.meta();
        let mut decoded = None;
        loop {
            let content = decoded.as_ref().map(|decoded: &DecodedObject| decoded.content);
            match self.decide(meta, arrival, stored, Step::Prepared { content }) {
                NextStep::Read => {
                    self.report_ignored(meta);
                    decoded = Some(self.decode(&object, arrival));
                }
                NextStep::Write(write) => {
                    let current = decoded.get_or_insert_with(|| self.decode(&object, arrival));
                    match current.row.take().or_else(|| self.bare_row(&object, current.reason.as_deref())) {
                        Some(row) => return self.write_row(meta, row, arrival, write, trail, batch),
                        // Decide again with this knowledge.
                        None => current.content = current.content.unstorable(),
                    }
                }
                NextStep::Look { after: None } => {
                    self.queue.push(Item::look(ObjectRef::from_meta(meta), LookReason::Due, 0));
                    return batch.done.push(meta.uid.clone());
                }
                NextStep::Look { after: Some(left) } => {
                    self.queue.push_later(Item::look(ObjectRef::from_meta(meta), LookReason::Due, trail.attempt), left);
                    return batch.done.push(meta.uid.clone());
                }
                NextStep::AddFinalizer => {
                    // The object has no row until the API server has answered.
                    if decoded.is_some() {
                        self.remember_owners(&meta.uid, object.text());
                    }
                    return batch.requests.push(Request::AddFinalizer { object, trail });
                }
                NextStep::MarkGone => {
                    let reference = ObjectRef::from_meta(meta);
                    let change = self.tombstone(&reference);
                    let consequences = Consequences::new(reference, StateAfterCommit::Gone { swept: false }, trail);
                    return batch.writes.push(Write { change, consequences });
                }
                NextStep::LeaveOut(omission) => return self.leave_out(&object, arrival, omission, trail, batch),
                NextStep::Reject { held, again } => {
                    let reference = ObjectRef::from_meta(meta);
                    let reason = decoded.and_then(|decoded| decoded.reason).unwrap_or_default();
                    let reject = self.reject_at(&reference, reason);
                    return batch.rejections.push(Rejection { object: reference, reject, held, again, trail });
                }
                // While it waited, another worker stored the answer to our own patch. This is the event of that patch.
                next @ (NextStep::Unchanged | NextStep::Forget) => {
                    self.nothing_new(&meta.uid, next);
                    return batch.done.push(meta.uid.clone());
                }
                // Only for objects that were just received or looked up.
                NextStep::Outdated | NextStep::RequestFinalizers | NextStep::Queue(_) | NextStep::MeetGhost => {
                    self.queue.push(Item::look(ObjectRef::from_meta(meta), LookReason::Due, trail.attempt));
                    return batch.done.push(meta.uid.clone());
                }
            }
        }
    }

    /// Makes the object's row. Remembers the owners of an object that cannot be decoded, which no row will show.
    fn decode(&self, object: &Object, arrival: Arrival) -> DecodedObject {
        match self.unit.row(object) {
            Ok(Some(row)) => {
                let content = Content::Row { ingest_version: row.ingest_version };
                DecodedObject { content, row: Some(row), reason: None }
            }
            Ok(None) => {
                let selected = self.unit.selection.has(object);
                DecodedObject { content: Content::LeftOut { storable: true, selected }, row: None, reason: None }
            }
            Err(reason) => {
                if arrival != Arrival::Deletion {
                    self.remember_owners(&object.meta().uid, object.text());
                }
                DecodedObject { content: Content::Undecodable { storable: true }, row: None, reason: Some(reason) }
            }
        }
    }

    /// Returns a row without indexed columns, for an object that the kind has no row for; `None` if the object's text cannot be stored. If
    /// the object cannot be decoded, `reason` says why.
    fn bare_row(&self, object: &Object, reason: Option<&str>) -> Option<Row> {
        let row = self.unit.kind.bare_row(object).ok()?;
        if let Some(reason) = reason {
            let meta = object.meta();
            tracing::warn!(namespace = %meta.namespace, name = %meta.name, reason,
                "Deleted object cannot be decoded: stored without its indexed columns");
        }
        Some(row)
    }

    /// Adds the write of the object's row, as decided.
    fn write_row(
        &self,
        meta: &Meta,
        mut row: Row,
        arrival: Arrival,
        write: RowWrite,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let gone = arrival == Arrival::Deletion;
        let now = self.unit.clock.now();
        match write.state {
            LifecycleState::Live => {}
            LifecycleState::Deleted => row.delete_time = Some(now),
            LifecycleState::Evicted => (row.evict_time, row.evict_confirmed) = (Some(now), gone),
        }
        let becomes = match gone {
            true => StateAfterCommit::Gone { swept: false },
            false => StateAfterCommit::Stored(write.state, row.companions_hash()),
        };
        let subject = match write.then {
            Action::Nothing | Action::AddFinalizer => None,
            Action::RemoveFinalizer | Action::Delete => Some(StoredObject { meta: meta.clone(), row: None }),
            Action::Evict => Some(StoredObject { meta: meta.clone(), row: Some(Box::new(row.clone())) }),
        };
        let change = match write.replaces {
            Some(seen) => {
                self.unit.metrics.restored(1);
                RowChange::Replacement { row, seen }
            }
            None => {
                row.expected = self.known().expected(&meta.uid);
                RowChange::Row(row)
            }
        };
        let consequences = Consequences {
            then: write.then,
            subject,
            again: write.again,
            ..Consequences::new(ObjectRef::from_meta(meta), becomes, trail)
        };
        batch.writes.push(Write { change, consequences });
    }

    /// Handles an object that the kind's filter leaves out: it has no live row, and does not wait for us.
    fn leave_out(
        &self,
        object: &Object,
        arrival: Arrival,
        omission: Omission,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let meta = object.meta();
        let gone = arrival == Arrival::Deletion;
        if !gone {
            // Before its row is marked.
            self.remember_owners(&meta.uid, object.text());
        }
        let reference = ObjectRef::from_meta(meta);
        let Some(version) = omission.marks else {
            let mut known = self.known();
            if gone {
                known.remove(&meta.uid);
            } else {
                known.set(&meta.uid, meta.resource_version, RowState::LeftOut, None);
            }
            drop(known);
            return batch.done.push(reference.uid);
        };
        let becomes = if gone { StateAfterCommit::Gone { swept: false } } else { StateAfterCommit::LeftOut };
        let change = self.tombstone(&ObjectRef { version, ..reference.clone() });
        let sends = omission.then != Action::Nothing;
        let subject = sends.then(|| StoredObject { meta: meta.clone(), row: None });
        let consequences =
            Consequences { then: omission.then, subject, ..Consequences::new(reference, becomes, trail) };
        let write = Write { change, consequences };
        if omission.may_wait {
            batch.left_out.push(write);
        } else {
            batch.writes.push(write);
        }
    }

    fn tombstone(&self, object: &ObjectRef) -> RowChange {
        let ObjectRef { uid, version, .. } = object;
        RowChange::Tombstone { uid: uid.clone(), res_version: *version, delete_time: self.unit.clock.now() }
    }

    pub(super) fn reject_at(&self, object: &ObjectRef, reason: String) -> Reject {
        Reject {
            uid: object.uid.to_string(),
            group_ver: self.unit.kind.api_version(),
            kind: self.unit.kind.kind().to_owned(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
            res_version: object.version.to_string(),
            reason,
        }
    }

    fn reject_of(&self, object: &ObjectRef, identity: &Identity, reason: String) -> Reject {
        let res_version = identity.resource_version.as_deref().unwrap_or_default().to_owned();
        Reject { res_version, ..self.reject_at(object, reason) }
    }
}

/// Returns a tombstone for an object whose reject is out of date.
pub(crate) fn forgotten(uid: &str, version: u64, now: Micros) -> RowChange {
    RowChange::Tombstone { uid: uid.into(), res_version: version, delete_time: now }
}
