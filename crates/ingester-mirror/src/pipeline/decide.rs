//! Gathers the facts for a decision about an object, calls `lifecycle::decide`, and records the results of the decision.

use super::Pipeline;
use super::known::{Choice, KnownObject, Stage};
use crate::lifecycle::{
    self, Arrival, Case, ChosenEviction, NextStep, Progress, Step, finalizer, is_being_evicted, is_leaving,
};
use crate::metrics::SkipReason;
use ingester_core::marks::Marks;
use ingester_core::object::{Identity, Meta};
use ingester_core::row::Version;
use std::time::Duration;

impl Pipeline {
    /// Decides about an object that was just received from its metadata alone.
    pub(crate) fn decide_by_metadata(&self, meta: &Meta, arrival: Arrival) -> NextStep {
        let waiting = arrival == Arrival::Deletion && self.queue.holds(&meta.uid);
        let settles = arrival == Arrival::Watch && !self.settling_time().is_zero();
        self.decide(meta, arrival, None, Step::Received { waiting, settles })
    }

    /// Decides about an object. `stored` is its row, if the row was read before the object.
    pub(super) fn decide(&self, meta: &Meta, arrival: Arrival, stored: Option<Version>, step: Step) -> NextStep {
        let decision = lifecycle::decide(&self.case(meta, arrival, stored, step));
        if decision.planned {
            {
                let mut known = self.known();
                if is_leaving(meta, self.unit.rules()) {
                    known.leaving(&meta.uid);
                } else {
                    known.staying(&meta.uid);
                }
            }
            self.hold(meta, arrival == Arrival::Deletion);
        }
        if decision.withdrawn {
            self.known().choices.forget(&meta.uid);
        }
        decision.next
    }

    fn case<'a>(&self, meta: &'a Meta, arrival: Arrival, stored: Option<Version>, step: Step) -> Case<'a> {
        let terminating_for = meta.deletion_timestamp.as_ref().map_or(Duration::ZERO, |time| {
            let passed = self.unit.clock.now().0.saturating_sub(time.micros().0);
            Duration::from_micros(u64::try_from(passed).unwrap_or_default())
        });
        let known = self.known();
        let entry = known.get(&meta.uid);
        Case {
            meta,
            rules: self.unit.rules(),
            arrival,
            step,
            remembered: entry.map(KnownObject::remembered),
            stored,
            chosen: known.choices.get(&meta.uid).map(|choice| self.chosen(choice)),
            held: known.is_held(&meta.uid),
            leaving_for: known.leaving_for(&meta.uid),
            terminating_for,
        }
    }

    fn chosen(&self, choice: &Choice) -> ChosenEviction {
        let progress = match choice.stage {
            Stage::Handed => Progress::Handed,
            Stage::Chosen | Stage::Sent(_) => Progress::Begun,
            Stage::Requested => Progress::Requested,
        };
        ChosenEviction {
            progress,
            version: choice.object.version,
            in_force: self.holds(choice),
            in_doubt: choice.in_doubt_for(),
        }
    }

    /// Counts an object that brings nothing new, and forgets it if no further event of it can come.
    pub(crate) fn nothing_new(&self, uid: &str, next: NextStep) {
        if next == NextStep::Forget {
            self.known().remove(uid);
        }
        self.unit.metrics.skipped(SkipReason::Unchanged, 1);
    }

    /// Records whether an object is terminating and waits for our finalizer to be removed.
    pub(crate) fn hold(&self, meta: &Meta, gone: bool) {
        let held =
            !gone && meta.deletion_timestamp.is_some() && finalizer::holds(&meta.finalizers, self.unit.kind.marks());
        let objects = self.known().hold(&meta.uid, held);
        self.unit.metrics.held(objects);
    }

    /// Does the same as `hold` for an object that cannot be read.
    pub(crate) fn hold_unreadable(&self, uid: &str, identity: &Identity, gone: bool) {
        let objects = self.known().hold(uid, !gone && waits_for_us(identity, self.unit.kind.marks()));
        self.unit.metrics.held(objects);
    }

    /// Returns true if the object's row says that it leaves etcd, and the object has not left.
    pub(super) fn is_being_evicted(&self, uid: &str, stored: Option<Version>) -> bool {
        is_being_evicted(stored, self.known().get(uid).map(|entry| entry.state))
    }
}

/// Returns true if an object that cannot be read is terminating and has our finalizer.
pub(super) fn waits_for_us(identity: &Identity, marks: &Marks) -> bool {
    identity.terminating && finalizer::holds(&identity.finalizers, marks)
}
