//! Decides what happens to an object, its row and its finalizer during the object's life, for the mirror and for the audit. Pure.
//!
//! May use: ingester-config, ingester-core, ingester-store.
//!
//! [`decide`] takes a [`Case`] (the object, how it arrived, its row, what this process remembers of it, what a rule chose) and returns the
//! next step: what to write, what to request from Kubernetes, what to wait for. It calls `plan` in this file, which derives the row's state
//! and the request from the object's metadata, the rules of its kind and a few circumstances. This room uses nothing of ingester-store but
//! the guard, which is pure, too.

mod case;
mod decide;
pub(crate) mod finalizer;

pub(crate) use case::{Arrival, Case, ChosenEviction, Content, Progress, RowMemory, RowState, Step};
pub(crate) use decide::{MayWait, NextStep, Omission, RowWrite, decide, is_as_remembered, is_being_evicted};

use ingester_config::Finalizer;
use ingester_core::marks::{Mark, MarkName, Marks};
use ingester_core::object::Meta;
use ingester_core::row::{Eviction, Version};
use std::time::Duration;

/// The settings of a kind that decide about its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Which objects carry our finalizer.
    pub(crate) finalizer: Finalizer,
    /// How long a deleted object's row stays live.
    pub(crate) deletion_delay: Duration,
    /// Every object of the kind leaves etcd once it is in SQL.
    pub(crate) immutable: bool,
    /// Annotations can take an object out of the cluster.
    pub(crate) evictable: bool,
    /// This ingester evicts objects. If false, another one does.
    pub(crate) evictions: bool,
    /// The names of the finalizer and the annotations.
    pub(crate) marks: &'static Marks,
}

impl Rules {
    fn asks(self, meta: &Meta, mark: Mark) -> Option<MarkName> {
        self.marks.asked(&meta.annotations, mark)
    }

    /// Returns true if an annotation requests the object's deletion.
    fn deletes(self, meta: &Meta) -> bool {
        self.evictable && self.asks(meta, Mark::Deleting).is_some()
    }

    /// Returns true if the object leaves etcd once it is in SQL.
    pub(crate) fn evicts(self, meta: &Meta) -> bool {
        self.immutable || self.evictable && self.asks(meta, Mark::Immutable).is_some()
    }

    /// Returns the annotation that requests the object's deletion or eviction although its kind is not evictable. Such an annotation has no
    /// effect.
    pub(crate) fn ignored(self, meta: &Meta) -> Option<MarkName> {
        if self.evictable {
            return None;
        }
        [Mark::Deleting, Mark::Immutable].into_iter().find_map(|mark| self.asks(meta, mark))
    }
}

/// The state that a row records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifecycleState {
    /// With neither `delete_time` nor `evict_time`.
    Live,
    /// With `delete_time`.
    Deleted,
    /// With `evict_time`.
    Evicted,
}

/// A request to Kubernetes after the row is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Nothing,
    /// Add our finalizer.
    AddFinalizer,
    /// Remove our finalizer.
    RemoveFinalizer,
    /// Delete the object. Our finalizer, if the object has it, keeps the object in the cluster until its row has its last state.
    Delete,
    /// Read the row back, remove our finalizer, delete the object.
    Evict,
}

/// The row's state and the request that an object needs in its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObjectPlan {
    state: LifecycleState,
    then: Action,
    /// Read the object again after this time, even if nothing changes.
    again: Option<Duration>,
}

impl ObjectPlan {
    fn new(state: LifecycleState, then: Action) -> Self {
        ObjectPlan { state, then, again: None }
    }
}

/// Facts about an object besides its metadata.
#[derive(Clone, Copy, Debug, Default)]
struct Circumstances {
    /// It was deleted from the cluster.
    gone: bool,
    /// Its row has an `evict_time`, as far as this process knows.
    evicted: bool,
    /// A rule chose this version to leave etcd, or this object's deletion was requested because a rule had chosen it.
    chosen: bool,
    /// Its row already has a `delete_time`.
    deleted: bool,
    /// The time since this process first saw that the object must be deleted.
    leaving_for: Duration,
    /// The time since its deletionTimestamp, by this node's clock.
    terminating_for: Duration,
}

/// Returns the plan for an object.
///
/// The order of the rules matters: a deletion takes precedence over an eviction. There is one exception: an immutable object that is
/// terminating, and has no annotation that requests its deletion, is being evicted.
fn plan(meta: &Meta, rules: Rules, circumstances: Circumstances) -> ObjectPlan {
    // A finalizer of a former prefix is removed together with ours. But an object that has only this one still lacks ours.
    let (held, ours) =
        (finalizer::holds(&meta.finalizers, rules.marks), finalizer::is_there(&meta.finalizers, rules.marks));
    let deleting = rules.deletes(meta);
    let immutable = rules.evicts(meta) || circumstances.chosen;
    let terminating = meta.deletion_timestamp.is_some();
    // Returns the rest of the deletion delay; `None` once the delay has passed. A clock that is behind cannot prolong the delay: it ends at
    // the latest `deletion_delay` after this process first saw the request.
    let wait = |passed: Duration| {
        if circumstances.deleted {
            return None;
        }
        let passed = passed.max(circumstances.leaving_for);
        rules.deletion_delay.checked_sub(passed).filter(|left| !left.is_zero())
    };
    let remove = if held { Action::RemoveFinalizer } else { Action::Nothing };
    if circumstances.gone {
        // If another ingester does the evictions, take it that it has evicted this object.
        let evicted = circumstances.evicted || !rules.evictions;
        let state = if evicted && immutable && !deleting { LifecycleState::Evicted } else { LifecycleState::Deleted };
        return ObjectPlan::new(state, Action::Nothing);
    }
    if terminating && immutable && !deleting {
        return ObjectPlan::new(LifecycleState::Evicted, remove);
    }
    if terminating {
        return match wait(circumstances.terminating_for) {
            Some(left) => ObjectPlan { again: Some(left), ..ObjectPlan::new(LifecycleState::Live, Action::Nothing) },
            None => ObjectPlan::new(LifecycleState::Deleted, remove),
        };
    }
    if deleting {
        return match wait(Duration::ZERO) {
            Some(left) => ObjectPlan { again: Some(left), ..ObjectPlan::new(LifecycleState::Live, Action::Nothing) },
            None => ObjectPlan::new(LifecycleState::Deleted, Action::Delete),
        };
    }
    if immutable && rules.evictions {
        return ObjectPlan::new(LifecycleState::Evicted, Action::Evict);
    }
    // A live object keeps the finalizer that it has, whatever is configured: another ingester may want it there.
    let adds = rules.finalizer == Finalizer::Ensure && !ours;
    let then = if adds { Action::AddFinalizer } else { Action::Nothing };
    ObjectPlan::new(LifecycleState::Live, then)
}

/// Returns true if an object must be deleted: it is terminating, or the annotation requests it.
pub(crate) fn is_leaving(meta: &Meta, rules: Rules) -> bool {
    meta.deletion_timestamp.is_some() || rules.deletes(meta)
}

/// Returns true if a terminating object is being evicted: it is immutable, and nobody requested its deletion.
pub(crate) fn is_evicted(meta: &Meta, rules: Rules) -> bool {
    rules.evicts(meta) && !rules.deletes(meta)
}

/// Returns true if an object in the cluster must not change its row, because the object had left etcd before: the row is the only copy of
/// the state with which it left, and the versions do not show which of the two is right. `stored` was read before the object.
pub(crate) fn is_ghost(stored: Version, meta: &Meta, rules: Rules) -> bool {
    match stored.eviction {
        Eviction::None => false,
        // The cluster went back before the eviction was confirmed.
        Eviction::Intended => meta.resource_version < stored.res_version,
        Eviction::Confirmed => true,
        // If an earlier release began to evict this version, and the object still has this version, the eviction goes on.
        Eviction::Unrecorded => {
            let begun = meta.resource_version == stored.res_version && !stored.deleted;
            !(begun && is_evicted(meta, rules))
        }
    }
}

/// Returns true if an object is terminating, and neither its annotations nor its kind say why: somebody deleted it, or the ingester did,
/// because a rule had chosen it.
pub(crate) fn may_be_chosen(meta: &Meta, rules: Rules) -> bool {
    meta.deletion_timestamp.is_some() && rules.evictable && !rules.evicts(meta) && !rules.deletes(meta)
}

/// Returns true if an object is terminating because of a deletion, not an eviction, and only other finalizers hold it.
pub(crate) fn is_released(meta: &Meta, rules: Rules) -> bool {
    meta.deletion_timestamp.is_some() && !finalizer::holds(&meta.finalizers, rules.marks) && !is_evicted(meta, rules)
}

#[cfg(test)]
mod tests {
    use super::{Action, Circumstances, LifecycleState, ObjectPlan, Rules, is_ghost, is_leaving, is_released, plan};
    use ingester_config::Finalizer;
    use ingester_core::marks::Marks;
    use ingester_core::object::Meta;
    use ingester_core::row::{Eviction, Version};
    use std::sync::LazyLock;
    use std::time::Duration;

    const RULES: Rules = Rules {
        finalizer: Finalizer::Ensure,
        deletion_delay: Duration::from_secs(10),
        immutable: false,
        evictable: true,
        evictions: true,
        marks: &Marks::MICHELANGELO,
    };
    const DELETING: &str = "michelangelo/Deleting";
    const IMMUTABLE: &str = "michelangelo/Immutable";

    fn object(finalizers: &[&str], annotations: &[(&str, &str)], terminating: bool) -> Meta {
        let mut annotations: Vec<_> = annotations.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        annotations.sort();
        Meta {
            finalizers: finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
            annotations: annotations.into(),
            deletion_timestamp: terminating.then(|| ingester_core::wire::Time("2026-01-01T00:00:00Z".parse().unwrap())),
            ..Meta::default()
        }
    }

    const OURS: &str = "michelangelo/Ingester";
    const NOW: Circumstances = Circumstances {
        gone: false,
        evicted: false,
        chosen: false,
        deleted: false,
        leaving_for: Duration::ZERO,
        terminating_for: Duration::ZERO,
    };

    fn after(seconds: u64) -> Circumstances {
        Circumstances { leaving_for: Duration::from_secs(seconds), ..NOW }
    }

    #[test]
    fn a_live_object_is_mirrored_and_gets_the_finalizer() {
        assert_eq!(
            plan(&object(&[], &[], false), RULES, NOW),
            ObjectPlan::new(LifecycleState::Live, Action::AddFinalizer)
        );
        assert_eq!(
            plan(&object(&["x", OURS], &[], false), RULES, NOW),
            ObjectPlan::new(LifecycleState::Live, Action::Nothing)
        );
    }

    #[test]
    fn where_another_ingester_evicts_objects_stay_and_are_evicted_once_they_are_gone() {
        let rules = Rules { evictions: false, finalizer: Finalizer::Existing, ..RULES };
        let gone = Circumstances { gone: true, ..NOW };
        let immutable = object(&[OURS], &[(IMMUTABLE, "true")], false);
        for rules in [rules, Rules { immutable: true, ..rules }] {
            assert_eq!(plan(&immutable, rules, NOW), ObjectPlan::new(LifecycleState::Live, Action::Nothing));
            assert_eq!(plan(&immutable, rules, gone), ObjectPlan::new(LifecycleState::Evicted, Action::Nothing));
        }
        // An object without annotations was deleted, and so was an object whose deletion an annotation requested.
        assert_eq!(plan(&object(&[], &[], false), rules, gone).state, LifecycleState::Deleted);
        let both = object(&[], &[(IMMUTABLE, "true"), (DELETING, "true")], false);
        assert_eq!(plan(&both, rules, gone).state, LifecycleState::Deleted);
        // If this ingester does the evictions, it remembers its own. Any other object that is gone was deleted.
        assert_eq!(plan(&immutable, RULES, gone).state, LifecycleState::Deleted);
    }

    #[test]
    fn finalizers_are_added_or_left_as_configured_and_taken_off_terminating_objects_alone() {
        for (finalizer, without, with) in [
            (Finalizer::Ensure, Action::AddFinalizer, Action::Nothing),
            (Finalizer::Existing, Action::Nothing, Action::Nothing),
            (Finalizer::Never, Action::Nothing, Action::Nothing),
        ] {
            let rules = Rules { finalizer, ..RULES };
            assert_eq!(plan(&object(&[], &[], false), rules, NOW).then, without, "{finalizer:?}");
            assert_eq!(plan(&object(&[OURS], &[], false), rules, NOW).then, with, "{finalizer:?}");
            // Whatever the setting, a terminating object must not wait for us for ever.
            assert_eq!(
                plan(&object(&[OURS], &[], true), rules, after(10)).then,
                Action::RemoveFinalizer,
                "{finalizer:?}"
            );
        }
    }

    #[test]
    fn a_terminating_object_loses_only_our_finalizer_after_the_delay() {
        let meta = object(&[OURS, "x"], &[], true);
        let waiting = plan(&meta, RULES, after(4));
        assert_eq!(
            waiting,
            ObjectPlan {
                again: Some(Duration::from_secs(6)),
                ..ObjectPlan::new(LifecycleState::Live, Action::Nothing)
            }
        );
        assert_eq!(plan(&meta, RULES, after(10)), ObjectPlan::new(LifecycleState::Deleted, Action::RemoveFinalizer));
        assert_eq!(
            plan(&object(&["x"], &[], true), RULES, after(11)),
            ObjectPlan::new(LifecycleState::Deleted, Action::Nothing)
        );
        let before_this_process = Circumstances { terminating_for: Duration::from_secs(7), ..after(4) };
        assert_eq!(plan(&meta, RULES, before_this_process).again, Some(Duration::from_secs(3)));
        assert_eq!(plan(&meta, RULES, NOW).again, Some(Duration::from_secs(10)));
    }

    #[test]
    fn an_object_that_had_left_etcd_is_a_ghost_whatever_its_version() {
        let stored = |eviction| Version { res_version: 5, ingest_version: 1, deleted: false, eviction };
        let at = |resource_version, annotations: &[(&str, &str)]| Meta {
            resource_version,
            ..object(&[], annotations, false)
        };
        let ghost = |eviction, meta: &Meta| is_ghost(stored(eviction), meta, RULES);
        let immutable = [(IMMUTABLE, "true")];
        for version in [4, 5, 6] {
            assert!(!ghost(Eviction::None, &at(version, &[])));
            assert!(ghost(Eviction::Confirmed, &at(version, &immutable)));
            assert_eq!(ghost(Eviction::Intended, &at(version, &immutable)), version < 5);
            assert_eq!(ghost(Eviction::Unrecorded, &at(version, &immutable)), version != 5);
            assert!(ghost(Eviction::Unrecorded, &at(version, &[])));
        }
        let deleted = Version { deleted: true, ..stored(Eviction::Unrecorded) };
        assert!(is_ghost(deleted, &at(5, &immutable), RULES));
    }

    #[test]
    fn an_object_is_released_once_only_others_hold_it() {
        assert!(is_released(&object(&["x"], &[], true), RULES));
        assert!(!is_released(&object(&["x", OURS], &[], true), RULES));
        assert!(!is_released(&object(&["x"], &[], false), RULES));
        // An evicted object exists only in its row, which is never purged.
        let immutable = (IMMUTABLE, "true");
        assert!(!is_released(&object(&["x"], &[immutable], true), RULES));
        assert!(!is_released(&object(&["x"], &[], true), Rules { immutable: true, ..RULES }));
        assert!(is_released(&object(&["x"], &[immutable, (DELETING, "true")], true), RULES));
    }

    #[test]
    fn a_clock_that_is_behind_makes_no_delay_longer() {
        // By this node's clock, the object will be deleted in an hour.
        let meta = object(&[OURS], &[], true);
        let behind = Circumstances { terminating_for: Duration::ZERO, ..after(10) };
        assert_eq!(plan(&meta, RULES, behind), ObjectPlan::new(LifecycleState::Deleted, Action::RemoveFinalizer));
    }

    #[test]
    fn the_deleting_annotation_waits_for_the_delay_only_once() {
        let annotated = [(DELETING, "true")];
        let meta = object(&[OURS], &annotated, false);
        assert_eq!(plan(&meta, RULES, after(3)).again, Some(Duration::from_secs(7)));
        assert_eq!(plan(&meta, RULES, after(10)), ObjectPlan::new(LifecycleState::Deleted, Action::Delete));
        let marked = Circumstances { deleted: true, ..NOW };
        let terminating = object(&[OURS], &annotated, true);
        assert_eq!(
            plan(&terminating, RULES, marked),
            ObjectPlan::new(LifecycleState::Deleted, Action::RemoveFinalizer)
        );
    }

    #[test]
    fn only_the_text_true_counts() {
        for value in ["True", "1", "yes", ""] {
            let meta = object(&[OURS], &[(DELETING, value), (IMMUTABLE, value)], false);
            assert_eq!(plan(&meta, RULES, NOW), ObjectPlan::new(LifecycleState::Live, Action::Nothing), "{value:?}");
        }
    }

    #[test]
    fn an_immutable_object_is_evicted_and_its_row_stays_live_to_the_end() {
        let annotated = [(IMMUTABLE, "true")];
        assert_eq!(
            plan(&object(&[], &annotated, false), RULES, NOW),
            ObjectPlan::new(LifecycleState::Evicted, Action::Evict)
        );
        let terminating = object(&[OURS], &annotated, true);
        assert_eq!(plan(&terminating, RULES, NOW), ObjectPlan::new(LifecycleState::Evicted, Action::RemoveFinalizer));
        let immutable = Rules { immutable: true, ..RULES };
        assert_eq!(
            plan(&object(&[], &[], false), immutable, NOW),
            ObjectPlan::new(LifecycleState::Evicted, Action::Evict)
        );
    }

    #[test]
    fn a_program_with_a_name_of_its_own_obeys_its_own_names_and_those_of_before() {
        static OWN: LazyLock<Marks> = LazyLock::new(|| Marks::new("data.example.com", &[]).unwrap());
        static MOVED: LazyLock<Marks> = LazyLock::new(|| Marks::new("data.example.com", &["michelangelo"]).unwrap());
        let own = Rules { marks: &OWN, ..RULES };
        let moved = Rules { marks: &MOVED, ..RULES };
        let adds = ObjectPlan::new(LifecycleState::Live, Action::AddFinalizer);
        let evicts = ObjectPlan::new(LifecycleState::Evicted, Action::Evict);
        // To this program, the finalizer and the annotations of another ingester have no meaning.
        assert_eq!(plan(&object(&[OURS], &[(IMMUTABLE, "true"), (DELETING, "true")], false), own, NOW), adds);
        assert_eq!(plan(&object(&[], &[("data.example.com/Immutable", "true")], false), own, NOW), evicts);
        // Annotations of a former prefix are obeyed, and its finalizer is removed where ours would be.
        assert_eq!(plan(&object(&[OURS], &[], false), moved, NOW), adds);
        assert_eq!(plan(&object(&[OURS], &[(IMMUTABLE, "true")], false), moved, NOW), evicts);
        for (rules, then, released) in [(own, Action::Nothing, true), (moved, Action::RemoveFinalizer, false)] {
            let terminating = object(&[OURS], &[], true);
            assert_eq!(plan(&terminating, rules, after(10)), ObjectPlan::new(LifecycleState::Deleted, then));
            assert_eq!(is_released(&terminating, rules), released);
        }
    }

    #[test]
    fn an_object_of_a_kind_that_is_not_evictable_lives_as_if_it_had_no_annotations() {
        let kept = Rules { evictable: false, ..RULES };
        let requests: [&[(&str, &str)]; 3] =
            [&[(DELETING, "true")], &[(IMMUTABLE, "true")], &[(DELETING, "true"), (IMMUTABLE, "true")]];
        for annotations in requests {
            for (finalizers, terminating) in
                [(&[][..], false), (&[OURS][..], false), (&[OURS, "x"][..], true), (&["x"][..], true)]
            {
                let [annotated, plain] =
                    [annotations, &[]].map(|annotations| object(finalizers, annotations, terminating));
                for circumstances in [NOW, after(10), Circumstances { gone: true, evicted: true, ..NOW }] {
                    let planned = plan(&annotated, kept, circumstances);
                    assert_eq!(planned, plan(&plain, RULES, circumstances), "{annotations:?}");
                    assert!(!matches!(planned.then, Action::Delete | Action::Evict), "{annotations:?}");
                }
                assert_eq!(is_leaving(&annotated, kept), terminating);
                assert_eq!(is_released(&annotated, kept), is_released(&plain, RULES));
                assert!(kept.ignored(&annotated).is_some() && kept.ignored(&plain).is_none());
                assert_eq!(RULES.ignored(&annotated), None, "there it has an effect");
            }
        }
        assert_eq!(kept.ignored(&object(&[], &[(IMMUTABLE, "false")], false)), None);
    }

    #[test]
    fn an_object_that_a_rule_has_chosen_is_evicted_as_one_with_the_annotation() {
        let chosen = Circumstances { chosen: true, ..NOW };
        let evicts = ObjectPlan::new(LifecycleState::Evicted, Action::Evict);
        assert_eq!(plan(&object(&[OURS], &[], false), RULES, chosen), evicts);
        let removes = ObjectPlan::new(LifecycleState::Evicted, Action::RemoveFinalizer);
        assert_eq!(plan(&object(&[OURS], &[], true), RULES, chosen), removes);
        let gone = Circumstances { gone: true, evicted: true, ..chosen };
        assert_eq!(plan(&object(&[], &[], true), RULES, gone).state, LifecycleState::Evicted);
        // A requested deletion and an ingester that does not evict take precedence.
        let deleting = object(&[], &[(DELETING, "true")], false);
        assert_eq!(
            plan(&deleting, RULES, Circumstances { leaving_for: Duration::from_secs(10), ..chosen }).state,
            LifecycleState::Deleted
        );
        let elsewhere = Rules { evictions: false, ..RULES };
        assert_eq!(plan(&object(&[], &[], false), elsewhere, chosen).state, LifecycleState::Live);
    }

    #[test]
    fn a_requested_deletion_precedes_an_eviction() {
        let both = [(DELETING, "true"), (IMMUTABLE, "true")];
        assert_eq!(plan(&object(&[], &both, false), RULES, after(10)).state, LifecycleState::Deleted);
        assert_eq!(plan(&object(&[OURS], &both, true), RULES, after(10)).state, LifecycleState::Deleted);
    }

    #[test]
    fn the_row_of_an_evicted_object_stays_evicted_unless_its_deletion_was_requested() {
        let gone = Circumstances { gone: true, evicted: true, ..NOW };
        let state = |annotations: &[(&str, &str)]| plan(&object(&[], annotations, true), RULES, gone).state;
        assert_eq!(state(&[(IMMUTABLE, "true")]), LifecycleState::Evicted);
        assert_eq!(state(&[(IMMUTABLE, "true"), (DELETING, "true")]), LifecycleState::Deleted);
        assert_eq!(state(&[]), LifecycleState::Deleted, "it lived again before it was deleted");
    }

    #[test]
    fn the_row_of_a_gone_object_is_marked_deleted_at_once() {
        let gone = Circumstances { gone: true, ..NOW };
        for meta in [object(&[OURS], &[], true), object(&[], &[(IMMUTABLE, "true")], false), object(&[], &[], false)] {
            assert_eq!(plan(&meta, RULES, gone), ObjectPlan::new(LifecycleState::Deleted, Action::Nothing));
        }
    }
}
