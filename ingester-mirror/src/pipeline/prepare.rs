//! Prepares a batch: what to write for each object, or what to request first.

use super::acknowledge::FollowUp;
use super::known::{RowState, Stage};
use super::request::Request;
use super::work::{Arrival, Item, ObjectRef, Trail, Why, Work};
use super::{Pipeline, Stopped};
use crate::lifecycle::{self, Action, Circumstances, LifecycleState, ObjectPlan, finalizer, is_leaving};
use crate::metrics::Skip;
use ingester_core::marks::Marks;
use ingester_core::object::{Identity, Meta, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::guard::{Eviction, Verdict, Version, verdict};
use ingester_store::{Reject, RowChange};
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// A batch after preparation.
#[derive(Default)]
pub(super) struct PreparedBatch {
    /// What is to be written.
    pub(super) writes: Vec<Write>,
    /// Rows to mark because the filter leaves out their objects, which stay in the cluster.
    left_out: Vec<Write>,
    /// Objects that cannot be mirrored as they are.
    pub(super) rejections: Vec<Rejection>,
    /// What has to be requested first.
    pub(super) requests: Vec<Request>,
    /// The uids of objects that need nothing.
    pub(super) done: Vec<Box<str>>,
}

/// One object's row, ready to be written.
pub(super) struct Write {
    pub(super) change: RowChange,
    pub(super) consequences: Consequences,
}

/// What follows for an object from the commit of its change, which was given to the store.
pub(super) struct Consequences {
    pub(super) object: ObjectRef,
    pub(super) becomes: Becomes,
    /// What is requested once the row is committed.
    pub(super) then: FollowUp,
    /// When to look at it again even if nothing changes.
    pub(super) again: Option<Duration>,
    pub(super) trail: Trail,
}

/// What is remembered of an object once its row is committed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Becomes {
    /// Its row's state, and the hash of its labels and annotations.
    Stored(LifecycleState, NonZeroU64),
    /// The kind's predicate leaves it out, and its row is marked as deleted.
    LeftOut,
    /// It is gone, and is forgotten. `swept`: a list lacked it.
    Gone { swept: bool },
    /// It has left etcd, and its row says so.
    Confirmed,
}

/// An object that cannot be mirrored as it is.
pub(super) struct Rejection {
    pub(super) object: ObjectRef,
    pub(super) reject: Reject,
    /// Kubernetes waits for us to store it.
    pub(super) held: bool,
    /// When to look at it again even if nothing changes.
    pub(super) again: Option<Duration>,
    pub(super) trail: Trail,
}

impl Pipeline {
    pub(super) async fn prepare(&self, items: Vec<Item>) -> Result<PreparedBatch, Stopped> {
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

    /// The stored versions of the objects whose plan depends on them: those to look at, and those that are to be deleted.
    async fn stored_versions(&self, items: &[Item]) -> Result<HashMap<Box<str>, Version>, Stopped> {
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
            // While it waited, another worker stored the answer to our own patch. This is the event of that patch.
            Work::Object { object, arrival } if self.is_echo(object.meta(), arrival) => {
                self.unit.metrics.skipped(Skip::Unchanged, 1);
                batch.done.push(uid);
            }
            // Its present state is compared with its row, and nothing else is done with it.
            Work::Object { object, arrival } if self.is_ghost(&uid, arrival) => {
                self.look_first(object.meta(), batch);
            }
            Work::Object { object, arrival } => self.prepare_object(object, arrival, seen, trail, batch),
            Work::Look { why: Why::Judged, .. } if self.is_withdrawn(&uid) => {
                self.known().choices.reconsider(&uid);
                batch.done.push(uid);
            }
            Work::Look { object, why } => batch.requests.push(Request::Look { object, why, seen, trail }),
            Work::Gone { object, swept } => {
                let change = self.tombstone(&object);
                let evicted = self.known().get(&uid).is_some_and(|entry| entry.state.is_leaving());
                let becomes = if evicted { Becomes::Confirmed } else { Becomes::Gone { swept } };
                let consequences = Consequences { object, becomes, then: FollowUp::Nothing, again: None, trail };
                batch.writes.push(Write { change, consequences });
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
        seen: Option<Version>,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let seen = if let Arrival::Look { seen, .. } = arrival { seen } else { seen };
        let (gone, uid) = (arrival == Arrival::Deletion, &object.meta().uid);
        if gone && self.known().get(uid).is_some_and(|entry| entry.state == RowState::Left) {
            // The row has its last state: it was deleted at exactly that version.
            return self.mark_gone(ObjectRef::of(object.meta()), trail, batch);
        }
        let plan = self.plan(object.meta(), gone, seen);
        if self.stays_after_all(object.meta(), plan, arrival) || self.may_be_leaving(object.meta(), seen, plan, arrival)
        {
            return self.look_first(object.meta(), batch);
        }
        let Some((object, trail)) = self.outlast_deletion(object, plan, arrival, trail, batch) else { return };
        self.report_ignored(object.meta());
        let uid = &object.meta().uid;
        match self.unit.row(&object) {
            Ok(Some(_)) if plan.then == Action::AddFinalizer && arrival == Arrival::Watch => {
                // It has no row until the API server has answered.
                self.remember_owners(uid, object.text());
                batch.requests.push(Request::AddFinalizer { object, trail });
            }
            Ok(Some(row)) => self.write_row(&object, row, plan, arrival, trail, batch),
            Ok(None) if self.is_being_evicted(uid, seen) => {
                self.prepare_left_out_while_evicted(&object, plan, arrival, seen, trail, batch);
            }
            Ok(None) => self.prepare_left_out(&object, arrival, seen, trail, batch),
            Err(reason) => self.prepare_undecodable(&object, reason, plan, arrival, trail, batch),
        }
    }

    /// Whether the row says that the object is to leave etcd in this version, but no mark says so any more: a rule had chosen it, and the
    /// process ended before that was done.
    fn stays_after_all(&self, meta: &Meta, plan: ObjectPlan, arrival: Arrival) -> bool {
        let evicted = RowState::Stored(LifecycleState::Evicted);
        let intended = |uid| {
            self.known().get(uid).is_some_and(|entry| (entry.version, entry.state) == (meta.resource_version, evicted))
        };
        plan.state == LifecycleState::Live
            && matches!(arrival, Arrival::List { .. } | Arrival::Watch)
            && intended(&meta.uid)
    }

    /// Whether the object is terminating and its row says that it is to leave etcd, which may come from a rule: its row shows that.
    fn may_be_leaving(&self, meta: &Meta, seen: Option<Version>, plan: ObjectPlan, arrival: Arrival) -> bool {
        plan.state != LifecycleState::Evicted
            && !matches!(arrival, Arrival::Look { .. } | Arrival::Deletion)
            && lifecycle::may_be_chosen(meta, self.unit.rules())
            && self.is_being_evicted(&meta.uid, seen)
    }

    /// The eviction of the object began before the filter left it out, and goes on: its row is about to be the only copy of its last
    /// state. If the object is not to leave any more, its row is marked, like that of any object that is left out.
    fn prepare_left_out_while_evicted(
        &self,
        object: &Object,
        plan: ObjectPlan,
        arrival: Arrival,
        seen: Option<Version>,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let gone = arrival == Arrival::Deletion;
        if !gone && !matches!(arrival, Arrival::Look { .. }) {
            return self.look_first(object.meta(), batch);
        }
        let Ok(row) = self.unit.kind.bare_row(object) else {
            return self.leave_out(object, gone, seen, trail, batch);
        };
        let plan = match plan.state {
            LifecycleState::Live => ObjectPlan { state: LifecycleState::Deleted, then: Action::Nothing, again: None },
            _ => plan,
        };
        self.write_row(object, row, plan, arrival, trail, batch);
    }

    /// The kind's predicate leaves the object out.
    fn prepare_left_out(
        &self,
        object: &Object,
        arrival: Arrival,
        seen: Option<Version>,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let meta = object.meta();
        let (gone, looked) = (arrival == Arrival::Deletion, matches!(arrival, Arrival::Look { .. }));
        let released = matches!(self.plan_left_out(meta, gone), Action::RemoveFinalizer | Action::Delete);
        // Its row may be the only copy of it, or another replica may be evicting it, which a look finds out.
        if !gone && !looked && (released || self.may_have_live_row(&meta.uid)) {
            return self.look_first(meta, batch);
        }
        // The object was read after its row: so the row is out of date, whatever its version.
        let seen = seen.filter(|_| looked);
        self.leave_out(object, gone, seen, trail, batch);
    }

    /// The object cannot be decoded. If it is about to disappear, its text is stored without indexed columns.
    fn prepare_undecodable(
        &self,
        object: &Object,
        reason: String,
        plan: ObjectPlan,
        arrival: Arrival,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let (meta, gone) = (object.meta(), arrival == Arrival::Deletion);
        let leaves = plan.state != LifecycleState::Live && (gone || is_leaving(meta, self.unit.rules()));
        if !gone {
            self.remember_owners(&meta.uid, object.text());
        }
        if !leaves {
            return self.reject(ObjectRef::of(meta), reason, plan, trail, batch);
        }
        match self.unit.kind.bare_row(object) {
            Ok(row) => {
                tracing::warn!(kind = self.unit.kind.name(), namespace = %meta.namespace, name = %meta.name, reason,
                    "Deleted object cannot be decoded: stored without its indexed columns");
                self.write_row(object, row, plan, arrival, trail, batch);
            }
            // Its text can no longer be stored, and the object cannot be corrected any more: its row is marked.
            Err(_) if gone => self.mark_gone(ObjectRef::of(meta), trail, batch),
            Err(_) => self.reject(ObjectRef::of(meta), reason, plan, trail, batch),
        }
    }

    /// Looks at the object beside its row before anything is done with it.
    fn look_first(&self, meta: &Meta, batch: &mut PreparedBatch) {
        self.queue.push(Item::look(ObjectRef::of(meta), Why::Due, 0));
        batch.done.push(meta.uid.clone());
    }

    /// Marks the row of an object that is gone.
    fn mark_gone(&self, object: ObjectRef, trail: Trail, batch: &mut PreparedBatch) {
        let (change, becomes) = (self.tombstone(&object), Becomes::Gone { swept: false });
        let consequences = Consequences { object, becomes, then: FollowUp::Nothing, again: None, trail };
        batch.writes.push(Write { change, consequences });
    }

    /// Writes the object's row in the state that its plan says.
    fn write_row(
        &self,
        object: &Object,
        mut row: Row,
        plan: ObjectPlan,
        arrival: Arrival,
        trail: Trail,
        batch: &mut PreparedBatch,
    ) {
        let (meta, gone) = (object.meta(), arrival == Arrival::Deletion);
        let now = self.unit.clock.now();
        match plan.state {
            LifecycleState::Live => {}
            LifecycleState::Deleted => row.delete_time = Some(now),
            LifecycleState::Evicted => (row.evict_time, row.evict_confirmed) = (Some(now), gone),
        }
        let pairs = row.companions_hash();
        let then = match plan.then {
            Action::Nothing => FollowUp::Nothing,
            Action::AddFinalizer if matches!(arrival, Arrival::Patch { again: false }) => FollowUp::Nothing,
            Action::AddFinalizer => FollowUp::RequestFinalizers,
            Action::RemoveFinalizer => FollowUp::RemoveFinalizer(meta.clone()),
            Action::Delete => FollowUp::Delete(meta.clone()),
            Action::Evict => FollowUp::Evict(meta.clone(), Box::new(row.clone())),
        };
        let becomes = if gone { Becomes::Gone { swept: false } } else { Becomes::Stored(plan.state, pairs) };
        let reference = ObjectRef::of(meta);
        let change = self.change(row, arrival, &reference);
        let consequences = Consequences { object: reference, becomes, then, again: plan.again, trail };
        batch.writes.push(Write { change, consequences });
    }

    /// How the row is written: under the guard, unless the cluster itself contradicts the row, which was read before the object.
    fn change(&self, mut row: Row, arrival: Arrival, object: &ObjectRef) -> RowChange {
        let replaced = match arrival {
            Arrival::Look { seen: Some(seen), rewrite } => {
                let wrong = rewrite && seen.res_version == row.res_version;
                let stale = verdict(seen, row.version()) == Verdict::Stale;
                // An object that a rule had chosen and that is there as before stays until it is judged again.
                let stays = seen.eviction == Eviction::Intended && seen.res_version == row.res_version;
                let stays = stays && !seen.deleted && row.evict_time.is_none() && row.delete_time.is_none();
                (wrong || stale || stays).then_some(seen)
            }
            Arrival::List { behind: true } => {
                // This row was read, or written, before the list. The cluster may have given the same version once more, to another
                // state.
                let stored = self.known().live_version(&object.uid).filter(|version| *version >= object.version);
                stored.map(|res_version| Version { res_version, ..row.version() })
            }
            _ => None,
        };
        match replaced {
            Some(seen) => {
                self.unit.metrics.restored(1);
                RowChange::Replacement { row, seen }
            }
            None => {
                row.expected = self.known().expected(&object.uid);
                RowChange::Row(row)
            }
        }
    }

    /// Whether the object's row says that it is to leave etcd, and it has not left.
    pub(super) fn is_being_evicted(&self, uid: &str, seen: Option<Version>) -> bool {
        match seen {
            Some(seen) => seen.eviction == Eviction::Intended && !seen.deleted,
            None => self.known().get(uid).is_some_and(|entry| entry.state == RowState::Stored(LifecycleState::Evicted)),
        }
    }

    /// The kind's predicate leaves the object out: it has no live row, and does not wait for us.
    fn leave_out(&self, object: &Object, gone: bool, seen: Option<Version>, trail: Trail, batch: &mut PreparedBatch) {
        let meta = object.meta();
        if !gone {
            // Before its row is marked.
            self.remember_owners(&meta.uid, object.text());
        }
        let reference = ObjectRef::of(meta);
        let then = match self.plan_left_out(meta, gone) {
            Action::RemoveFinalizer => FollowUp::RemoveFinalizer(meta.clone()),
            Action::Delete => FollowUp::Delete(meta.clone()),
            _ => FollowUp::Nothing,
        };
        if self.may_have_live_row(&meta.uid) || !matches!(then, FollowUp::Nothing) {
            let becomes = if gone { Becomes::Gone { swept: false } } else { Becomes::LeftOut };
            let version = reference.version.max(seen.map_or(0, |seen| seen.res_version));
            let change = self.tombstone(&ObjectRef { version, ..reference.clone() });
            let consequences = Consequences { object: reference, becomes, then, again: None, trail };
            let write = Write { change, consequences };
            // Do not withhold the row of an object that is being deleted: the deletion would wait for it.
            let stays = !gone && !is_leaving(meta, self.unit.rules()) && self.unit.selection.has(object);
            if stays {
                batch.left_out.push(write)
            } else {
                batch.writes.push(write)
            }
            return;
        }
        let mut known = self.known();
        if gone {
            known.remove(&meta.uid);
        } else {
            known.set(&meta.uid, meta.resource_version, RowState::LeftOut, None);
        }
        drop(known);
        batch.done.push(reference.uid);
    }

    /// Whether an object that is left out has a row from before. An object that was rejected since may have one, too.
    fn may_have_live_row(&self, uid: &str) -> bool {
        let state = self.known().get(uid).map(|entry| entry.state);
        matches!(state, Some(RowState::Rejected | RowState::Stored(LifecycleState::Live)))
    }

    /// What to request for an object that is left out. Its row is not live, so nothing waits for the end of a delay.
    fn plan_left_out(&self, meta: &Meta, gone: bool) -> Action {
        let circumstances = Circumstances { gone, deleted: true, ..Circumstances::default() };
        lifecycle::plan(meta, self.unit.rules(), circumstances).then
    }

    fn reject(&self, object: ObjectRef, reason: String, plan: ObjectPlan, trail: Trail, batch: &mut PreparedBatch) {
        let held = matches!(plan.then, Action::RemoveFinalizer);
        let reject = self.reject_at(&object, reason);
        batch.rejections.push(Rejection { object, reject, held, again: plan.again, trail });
    }

    /// What to do with the object. `seen` is the stored version of an object that is to be deleted.
    fn plan(&self, meta: &Meta, gone: bool, seen: Option<Version>) -> ObjectPlan {
        let (rules, mut known) = (self.unit.rules(), self.known());
        let leaving = is_leaving(meta, rules);
        let entry = known.get(&meta.uid);
        let remembered = entry.is_some_and(|entry| entry.state == RowState::Stored(LifecycleState::Deleted));
        let (terminating, version) = (meta.deletion_timestamp.is_some(), meta.resource_version);
        let chosen = known.choices.get(&meta.uid).is_some_and(|choice| match choice.stage {
            Stage::Handed => false,
            Stage::Chosen | Stage::Sent(_) => choice.object.version == version && !gone && self.holds(choice),
            Stage::Requested => terminating || gone,
        });
        let leaving_for = if leaving {
            known.leaving_since(&meta.uid).elapsed()
        } else {
            known.staying(&meta.uid);
            Duration::ZERO
        };
        drop(known);
        self.hold(meta, gone);
        let deleted = remembered || (leaving && seen.is_some_and(|seen| seen.deleted));
        let terminating_for = meta.deletion_timestamp.as_ref().map_or(Duration::ZERO, |time| {
            let passed = self.unit.clock.now().0.saturating_sub(time.micros().0);
            Duration::from_micros(u64::try_from(passed).unwrap_or_default())
        });
        let evicted = entry.is_some_and(|entry| entry.state == RowState::Stored(LifecycleState::Evicted));
        let circumstances = Circumstances { gone, evicted, chosen, deleted, leaving_for, terminating_for };
        lifecycle::plan(meta, rules, circumstances)
    }

    /// Remembers whether an object is terminating and waits for our finalizer to be removed.
    pub(crate) fn hold(&self, meta: &Meta, gone: bool) {
        let held =
            !gone && meta.deletion_timestamp.is_some() && finalizer::holds(&meta.finalizers, self.unit.kind.marks());
        let objects = self.known().hold(&meta.uid, held);
        self.unit.metrics.held(objects);
    }

    /// The same for an object that cannot be read.
    pub(crate) fn hold_unreadable(&self, uid: &str, identity: &Identity, gone: bool) {
        let objects = self.known().hold(uid, !gone && waits_for_us(identity, self.unit.kind.marks()));
        self.unit.metrics.held(objects);
    }

    /// Whether a received object brings nothing new. The echo of a deletion also drops what is remembered.
    pub(crate) fn is_echo(&self, meta: &Meta, arrival: Arrival) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        match arrival {
            Arrival::Deletion => {
                let echo = matches!(entry.state, RowState::Released | RowState::Confirmed | RowState::Ghost);
                if echo {
                    self.known().remove(&meta.uid);
                }
                echo
            }
            Arrival::Look { .. } | Arrival::Patch { .. } | Arrival::List { behind: true } => false,
            Arrival::List { behind: false } | Arrival::Watch => {
                entry.version == meta.resource_version && self.is_settled(meta)
            }
        }
    }

    /// Whether SQL and Kubernetes already have what this version, which is the remembered one, requires.
    fn is_settled(&self, meta: &Meta) -> bool {
        let Some(entry) = self.known().get(&meta.uid) else { return false };
        let state = match entry.state {
            // Retried when it changes. If Kubernetes waits for us, it is retried in any case: this one may have replaced the delayed look.
            RowState::Rejected => return !self.known().is_held(&meta.uid),
            // About to be deleted, or gone; looked at when it changes.
            RowState::Released | RowState::Left | RowState::Confirmed | RowState::Ghost => {
                return true;
            }
            RowState::LeftOut => {
                let then = self.plan_left_out(meta, false);
                return !matches!(then, Action::RemoveFinalizer | Action::Delete);
            }
            RowState::Stored(state) => state,
        };
        let plan = self.plan(meta, false, None);
        state == plan.state && plan.again.is_none() && plan.then == Action::Nothing
    }

    /// Whether a change may be written later, with others: the object is stored and stays, and nothing but its row depends on it.
    pub(super) fn may_wait(&self, meta: &Meta) -> bool {
        let entry = self.known().get(&meta.uid);
        let is_live = entry.is_some_and(|entry| entry.state == RowState::Stored(LifecycleState::Live));
        is_live && {
            let plan = self.plan(meta, false, None);
            plan.state == LifecycleState::Live && plan.again.is_none() && plan.then == Action::Nothing
        }
    }

    /// Whether a received object is in the cluster although it had left it.
    fn is_ghost(&self, uid: &str, arrival: Arrival) -> bool {
        !matches!(arrival, Arrival::Look { .. })
            && self.known().get(uid).is_some_and(|entry| entry.state == RowState::Ghost)
    }

    /// Whether only our finalizer is missing.
    pub(crate) fn lacks_finalizer_only(&self, meta: &Meta) -> bool {
        self.known().live_version(&meta.uid) == Some(meta.resource_version)
            && self.plan(meta, false, None).then == Action::AddFinalizer
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

/// Whether an object that cannot be read is terminating and has our finalizer.
fn waits_for_us(identity: &Identity, marks: &Marks) -> bool {
    identity.terminating && finalizer::holds(&identity.finalizers, marks)
}

/// The time of a tombstone for objects whose rejects are out of date.
pub(crate) fn forgotten(uid: &str, version: u64, now: Micros) -> RowChange {
    RowChange::Tombstone { uid: uid.into(), res_version: version, delete_time: now }
}
