//! Evictions by rules, from the round that hands the objects on to the request that deletes them: decides whether they may go on.
//!
//! A round judges under the rules that were in force when it began. Each step on the way of an object compares these rules with the
//! configuration, the last time right before a request is sent: so after a change of rules only requests that were already sent take
//! effect. If an object stays, a look at it makes its row live again.

use super::Pipeline;
use super::acknowledge::Halt;
use super::known::{Choice, Stage};
use super::work::{Item, LookReason, ObjectRef};
use crate::cluster::ApiErrorKind;
use crate::policies::{Candidate, Mandate};
use ingester_core::object::{Meta, Object};
use ingester_core::value::Micros;
use std::sync::Arc;
use std::time::Duration;

/// The pause before another look at an object that could not be evicted because its kind is being suspended. Usually the unit stops before.
const PAUSE: Duration = Duration::from_secs(5);

impl Pipeline {
    /// Hands objects that a round chose to the workers. They were counted against the limit at this time.
    pub(crate) fn hand_on(&self, candidates: &[Candidate], mandate: &Arc<Mandate>, counted: Micros) {
        for Candidate { uid, namespace, name, version, evidence, .. } in candidates {
            let object =
                ObjectRef { uid: uid.clone(), namespace: namespace.clone(), name: name.clone(), version: *version };
            self.known().choices.add(Choice::handed(object.clone(), mandate.clone(), counted).proved_by(*evidence));
            self.queue.push(Item::look(object, LookReason::Judged, 0));
        }
    }

    /// Returns true if the configuration has the rules of this mandate, and the unit may begin requests.
    pub(crate) fn may_hand_on(&self, mandate: &Mandate) -> bool {
        self.unit.may_begin() && mandate.holds(&self.unit.kind, &self.unit.config().policies)
    }

    /// Returns true if the rules have not changed since they chose an object.
    pub(super) fn holds(&self, choice: &Choice) -> bool {
        let holds = |mandate: &Arc<Mandate>| mandate.holds(&self.unit.kind, &self.unit.config().policies);
        choice.mandate.as_ref().is_none_or(holds)
    }

    /// Returns true if the object equals the row that a round judged, in all parts that rules read.
    pub(super) fn is_proved(&self, object: &Object) -> bool {
        let choice = self.known().choices.get(&object.meta().uid).cloned();
        let Some(Choice { mandate: Some(mandate), evidence, .. }) = choice else { return true };
        mandate.premise.evidence(&self.unit.kind, object) == Ok(evidence)
    }

    /// Returns true if a round handed the object on under rules that have changed since: then a look at it has no purpose.
    pub(super) fn is_withdrawn(&self, uid: &str) -> bool {
        let choice = self.known().choices.get(uid).cloned();
        choice.is_some_and(|choice| choice.stage == Stage::Handed && !self.holds(&choice))
    }

    /// Gives up choices that no work item covers any more, and has the objects looked at whose rules have changed: their rows may say that
    /// they leave.
    pub(crate) fn review_choices(&self) {
        let choices = self.known().choices.unrequested();
        for choice in choices {
            let uid = &choice.object.uid;
            // The worker that has it compares the rules itself.
            if self.queue.holds(uid) {
                continue;
            }
            if choice.stage != Stage::Handed && !self.holds(&choice) {
                self.queue.push(Item::look(choice.object, LookReason::Due, 0));
            } else if !self.queue.is_due(uid) && choice.in_doubt_for().is_none() {
                self.known().choices.forget(uid);
            }
        }
    }

    /// Returns an error if the eviction of a stored object may not go on. Called right before each request.
    pub(super) fn may_evict(&self, meta: &Meta) -> Result<(), Halt> {
        if !self.unit.may_begin() {
            return Err(Halt::Stopping);
        }
        // An eviction that an annotation or the kind asks for does not depend on rules.
        if self.unit.rules().evicts(meta) {
            return Ok(());
        }
        let known = self.known();
        let choice = known.choices.get(&meta.uid).filter(|choice| choice.object.version == meta.resource_version);
        let may = choice.is_some_and(|choice| self.holds(choice));
        // A deletion of a version that our own patch replaces would only fail, and nobody could tell this failure from a deletion that took
        // effect.
        if may && !known.additions.outdates(&meta.uid, meta.resource_version) { Ok(()) } else { Err(Halt::Withdrawn) }
    }

    /// Returns true if the deletion of an object was sent because a rule chose it. A patch would only make that deletion fail.
    pub(super) fn is_being_deleted_by_rule(&self, uid: &str) -> bool {
        let choice = self.known().choices.get(uid).cloned();
        choice.is_some_and(|choice| matches!(choice.stage, Stage::Sent(_)) && self.holds(&choice))
    }

    /// Handles a stored object that is not evicted now.
    pub(super) fn halted(&self, object: ObjectRef, attempt: u32, halt: &Halt) {
        match halt {
            // A unit that stops forgets its queue. The next unit finds the object as after a restart.
            Halt::Stopping => self.queue.push_later(Item::look(object, LookReason::Due, attempt), PAUSE),
            Halt::Withdrawn => {
                let mut known = self.known();
                if known.choices.get(&object.uid).is_none_or(|choice| choice.in_doubt_for().is_none()) {
                    known.choices.reconsider(&object.uid);
                }
                drop(known);
                // The look makes its row live again. Our own patch has probably been answered before then.
                self.queue.push_later(Item::look(object, LookReason::Due, 0), Duration::ZERO);
            }
            Halt::Failed(error) => {
                if error.kind() == ApiErrorKind::Conflict {
                    self.known().choices.reconsider(&object.uid);
                }
                // If the object changed meanwhile, the next attempt begins with its present state. Without a Lease, no attempt was made.
                if !matches!(error.kind(), ApiErrorKind::Conflict | ApiErrorKind::NotFound | ApiErrorKind::Lease) {
                    self.unit.metrics.eviction_failed();
                }
                self.try_again(object, LookReason::Due, attempt, error);
            }
        }
    }
}
