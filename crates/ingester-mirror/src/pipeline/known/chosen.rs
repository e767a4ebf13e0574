//! The objects that rules chose to leave etcd, and the progress of their evictions.
//!
//! Each was counted against the limit of an hour when a round handed it on. Its count is given back if the object certainly stays, because
//! nobody asked the API server to delete it.

use super::super::work::ObjectRef;
use crate::policies::Mandate;
use ingester_core::value::Micros;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The time during which a deletion that was sent may still arrive at the API server: longer than we wait for an answer, plus the time for
/// which a proxy may hold it.
pub(crate) const IN_FLIGHT: Duration = Duration::from_secs(90);

/// The progress of an object's eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A round has handed it on. The next step is to look it up.
    Handed,
    /// It was found in the chosen version, so its row may say that it leaves.
    Chosen,
    /// Its deletion in the chosen version was sent at this time, and no answer showed the result.
    Sent(Instant),
    /// Its deletion was accepted.
    Requested,
}

/// An object that a rule chose to leave etcd.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// The object in the judged version, or in the version that differs from it only in our finalizer.
    pub(crate) object: ObjectRef,
    pub(crate) stage: Stage,
    /// The rules that the round obeyed; `None` if an earlier process requested the deletion.
    pub(crate) mandate: Option<Arc<Mandate>>,
    /// A hash of what the rules read of the object's row.
    pub(crate) evidence: u64,
    /// When the object was counted against the limit of an hour.
    counted: Option<Micros>,
}

impl Choice {
    /// A choice of a round that counted the object at this time.
    pub(crate) fn handed(object: ObjectRef, mandate: Arc<Mandate>, counted: Micros) -> Self {
        Choice { object, stage: Stage::Handed, mandate: Some(mandate), evidence: 0, counted: Some(counted) }
    }

    /// Adds the hash of the parts that the rules read.
    pub(crate) fn proved_by(self, evidence: u64) -> Self {
        Choice { evidence, ..self }
    }

    /// A choice whose deletion an earlier process requested.
    pub(crate) fn requested(object: ObjectRef) -> Self {
        Choice { object, stage: Stage::Requested, mandate: None, evidence: 0, counted: None }
    }

    /// Returns for how long the deletion may still take effect, if it was sent and its result is unknown.
    pub(crate) fn in_doubt_for(&self) -> Option<Duration> {
        match self.stage {
            Stage::Sent(at) => IN_FLIGHT.checked_sub(at.elapsed()).filter(|left| !left.is_zero()),
            Stage::Handed | Stage::Chosen | Stage::Requested => None,
        }
    }
}

/// All choices, by uid. They do not survive the process: a new process judges the objects again, or, if they are terminating, their rows
/// show that a rule chose them.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    objects: HashMap<Box<str>, Choice>,
    /// How many of the objects that were counted at each time stay.
    unsent: BTreeMap<Micros, u64>,
}

impl Choices {
    pub(crate) fn get(&self, uid: &str) -> Option<&Choice> {
        self.objects.get(uid)
    }

    /// Adds a choice, which ends an earlier choice of the same object.
    pub(crate) fn add(&mut self, choice: Choice) {
        self.forget(&choice.object.uid);
        self.objects.insert(choice.object.uid.clone(), choice);
    }

    /// Records that the object was looked up. If it is in the version that a round handed on, and stays in it, its row may now say that it
    /// leaves; otherwise the object stays.
    pub(crate) fn confirm(&mut self, uid: &str, version: u64, stays: bool) {
        match self.objects.get_mut(uid) {
            Some(choice) if choice.stage != Stage::Handed => {}
            Some(choice) if choice.object.version == version && !stays => choice.stage = Stage::Chosen,
            Some(_) => self.forget(uid),
            None => {}
        }
    }

    /// Records that the chosen version of an object has a successor that differs from it only in our finalizer.
    pub(crate) fn succeed(&mut self, uid: &str, from: u64, version: u64) {
        if let Some(choice) = self.objects.get_mut(uid).filter(|choice| choice.object.version == from) {
            choice.object.version = version;
        }
    }

    /// Records that the deletion of this version is about to be sent. Returns the stage before.
    pub(crate) fn sending(&mut self, uid: &str, version: u64) -> Option<Stage> {
        let choice = self.objects.get_mut(uid).filter(|choice| choice.object.version == version)?;
        Some(std::mem::replace(&mut choice.stage, Stage::Sent(Instant::now())))
    }

    /// Records that the deletion of this version was accepted, or was not sent after all.
    pub(crate) fn reach(&mut self, uid: &str, version: u64, stage: Stage) {
        if let Some(choice) = self.objects.get_mut(uid).filter(|choice| choice.object.version == version) {
            choice.stage = stage;
        }
    }

    /// Ends the choice of an object that has changed since, or that stays for another reason.
    pub(crate) fn reconsider(&mut self, uid: &str) {
        if self.objects.get(uid).is_some_and(|choice| choice.stage != Stage::Requested) {
            self.forget(uid);
        }
    }

    /// Ends a choice.
    pub(crate) fn forget(&mut self, uid: &str) {
        let Some(choice) = self.objects.remove(uid) else { return };
        if let (Stage::Handed | Stage::Chosen, Some(counted)) = (choice.stage, choice.counted) {
            self.give_back(counted, 1);
        }
    }

    /// Records that this many of the objects that were counted at this time stay.
    pub(crate) fn give_back(&mut self, counted: Micros, objects: u64) {
        *self.unsent.entry(counted).or_default() += objects;
    }

    /// Returns how many of the objects that were counted at each time stay, since the last call.
    pub(crate) fn take_unsent(&mut self) -> BTreeMap<Micros, u64> {
        std::mem::take(&mut self.unsent)
    }

    /// Returns the choices whose objects may stay after all, in a fixed order.
    pub(crate) fn unrequested(&self) -> Vec<Choice> {
        let unrequested = self.objects.values().filter(|choice| choice.stage != Stage::Requested);
        let mut choices: Vec<Choice> = unrequested.cloned().collect();
        choices.sort_unstable_by(|one, other| one.object.uid.cmp(&other.object.uid));
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Choices, IN_FLIGHT, Stage};
    use crate::pipeline::work::ObjectRef;
    use ingester_core::value::Micros;
    use std::sync::Arc;
    use tokio::time::Instant;

    fn handed(uid: &str) -> Choice {
        let object = ObjectRef { uid: uid.into(), namespace: "ml".into(), name: uid.into(), version: 7 };
        Choice::handed(object, Arc::default(), Micros(5))
    }

    fn stage(choices: &Choices) -> Option<Stage> {
        choices.get("a").map(|choice| choice.stage)
    }

    #[test]
    fn only_what_was_certainly_not_sent_is_given_back() {
        type Step = fn(&mut Choices);
        let steps: [(&str, Step, u64); 7] = [
            ("it has changed", |choices| choices.confirm("a", 8, false), 1),
            ("something holds it", |choices| choices.confirm("a", 7, true), 1),
            ("it is gone", |choices| choices.forget("a"), 1),
            ("it is chosen again", |choices| choices.add(handed("a")), 1),
            (
                "it has changed before the deletion",
                |choices| {
                    choices.confirm("a", 7, false);
                    choices.reconsider("a")
                },
                1,
            ),
            (
                "the deletion was sent",
                |choices| {
                    choices.sending("a", 7);
                    choices.reconsider("a")
                },
                0,
            ),
            (
                "it was accepted",
                |choices| {
                    choices.sending("a", 7);
                    choices.reach("a", 7, Stage::Requested);
                    choices.forget("a")
                },
                0,
            ),
        ];
        for (what, step, given_back) in steps {
            let mut choices = Choices::default();
            choices.add(handed("a"));
            step(&mut choices);
            assert_eq!(choices.take_unsent().values().sum::<u64>(), given_back, "{what}");
            assert!(choices.take_unsent().is_empty(), "once");
        }
    }

    #[test]
    fn a_choice_is_of_one_version_and_of_its_successor_without_our_finalizer() {
        let mut choices = Choices::default();
        choices.add(handed("a"));
        choices.confirm("a", 7, false);
        choices.succeed("a", 6, 8);
        assert_eq!(choices.sending("a", 8), None, "another version");
        choices.succeed("a", 7, 8);
        assert_eq!(choices.sending("a", 8), Some(Stage::Chosen));
        choices.reach("a", 8, Stage::Requested);
        choices.reconsider("a");
        assert_eq!(stage(&choices), Some(Stage::Requested));
        assert!(choices.unrequested().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_is_in_doubt_as_long_as_it_may_arrive() {
        let mut choice = handed("a");
        assert_eq!(choice.in_doubt_for(), None);
        choice.stage = Stage::Sent(Instant::now());
        assert_eq!(choice.in_doubt_for(), Some(IN_FLIGHT));
        tokio::time::advance(IN_FLIGHT).await;
        assert_eq!(choice.in_doubt_for(), None);
    }
}
