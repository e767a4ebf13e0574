//! Decides which kinds this process leads: for these it does the work that is done once for all units of a kind.
//!
//! May use: ingester-config, ingester-core, health, replicas, unit.

use crate::health::Health;
use crate::replicas::Assignment;
use crate::unit::{leads, scopes};
use ingester_config::Live;
use ingester_core::Kind;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// The kinds that this process leads, and the signal when it gains one.
#[derive(Debug)]
pub struct LedKinds {
    kinds: Vec<Kind>,
    live: Live,
    assignment: Assignment,
    /// The kinds that it led at the last look and has not given away since.
    seen: Mutex<BTreeSet<&'static str>>,
    /// Others have written rows by other definitions since then.
    mixed: AtomicBool,
}

impl LedKinds {
    /// For these kinds.
    pub fn new(kinds: Vec<Kind>, live: Live, assignment: Assignment) -> Self {
        LedKinds { kinds, live, assignment, seen: Mutex::default(), mixed: AtomicBool::new(false) }
    }

    /// Returns the kinds that it leads now. [`LedKinds::gains`] waits for a kind that is not among them.
    pub fn look(&self) -> Vec<Kind> {
        let led = self.led();
        self.mixed.store(self.assignment.is_mixed(), Ordering::Release);
        *self.seen() = led.iter().map(Kind::name).collect();
        led
    }

    /// Returns true if the first list of a unit that this process holds is on its way into SQL.
    pub fn is_first_listed(&self, health: &Health) -> bool {
        let units = scopes(&self.kinds, &self.live.now());
        let mut held = units.iter().map(|unit| unit.name()).filter(|unit| self.assignment.holds(unit));
        held.any(|unit| health.is_first_listed(&unit))
    }

    /// Records that another member now has the kind: if it comes back, that counts as a gain.
    pub fn given_away(&self, kind: &Kind) {
        self.seen().remove(kind.name());
    }

    /// Returns true if it leads a kind now.
    pub fn leads(&self, kind: &Kind) -> bool {
        leads(kind, &self.live.now(), &self.assignment)
    }

    /// Waits until it leads a kind that it did not lead at the last look or has given away since, or until the last member that
    /// wrote rows by other definitions has left.
    pub async fn gains(&self) {
        let mut changes = self.assignment.changes();
        loop {
            let led: BTreeSet<&'static str> = self.led().iter().map(Kind::name).collect();
            let is_mixed = self.assignment.is_mixed();
            let others_left = self.mixed.fetch_or(is_mixed, Ordering::AcqRel) && !is_mixed;
            if !led.is_subset(&self.seen()) || others_left && !led.is_empty() {
                return;
            }
            *self.seen() = led;
            changes.next().await;
        }
    }

    /// Waits until it no longer leads a kind.
    pub async fn loses(&self, kind: &Kind) {
        let mut changes = self.assignment.changes();
        while self.leads(kind) {
            changes.next().await;
        }
    }

    fn seen(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.seen.lock()
    }

    fn led(&self) -> Vec<Kind> {
        self.kinds.iter().filter(|kind| self.leads(kind)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::LedKinds;
    use crate::fixture::MODEL;
    use crate::health::{Health, KindState};
    use crate::replicas::Assignment;
    use futures::FutureExt as _;
    use ingester_config::{Config, Live};
    use ingester_core::Kind;
    use ingester_core::kind::Definition;

    const PROJECT: Kind = Kind::new(Definition { kind: "Project", ..*MODEL.definition() }, *MODEL.functions());

    fn names(leading: &LedKinds) -> Vec<&'static str> {
        leading.look().iter().map(Kind::name).collect()
    }

    fn leading(assignment: &Assignment) -> LedKinds {
        LedKinds::new(vec![MODEL, PROJECT], Live::fixed(Config::default()), assignment.clone())
    }

    fn allow(assignment: &Assignment, units: &[&str]) {
        assignment.allow(units.iter().map(|unit| (*unit).to_owned()).collect());
    }

    #[test]
    fn a_single_member_leads_everything_for_good() {
        let leading = leading(&Assignment::alone());
        assert_eq!(names(&leading), ["Model", "Project"]);
        assert!(leading.gains().now_or_never().is_none() && leading.loses(&MODEL).now_or_never().is_none());
    }

    #[test]
    fn one_kind_for_another_is_a_gain_although_they_are_as_many() {
        let assignment = Assignment::of_members();
        let leading = leading(&assignment);
        assert!(names(&leading).is_empty());
        // The kind came between the look and the wait.
        allow(&assignment, &["Model"]);
        assert!(leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Model"]);
        assert!(leading.gains().now_or_never().is_none());
        allow(&assignment, &["Project"]);
        assert!(leading.loses(&MODEL).now_or_never().is_some());
        assert!(leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Project"]);
        // Losing units needs no look, but a kind that comes back may have been left half done.
        allow(&assignment, &[]);
        assert!(leading.gains().now_or_never().is_none());
        allow(&assignment, &["Project"]);
        assert!(leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Project"]);
        leading.given_away(&PROJECT);
        assert!(leading.gains().now_or_never().is_some());
    }

    #[test]
    fn first_lists_are_those_of_the_units_that_are_held() {
        let assignment = Assignment::of_members();
        let leading = leading(&assignment);
        let health = Health::new(["Model", "Project"]);
        assert!(!leading.is_first_listed(&health), "it holds nothing");
        allow(&assignment, &["Model"]);
        assert!(leading.is_first_listed(&health));
        health.kind("Model", KindState::Synced);
        assert!(!leading.is_first_listed(&health), "Project is of another member");
        allow(&assignment, &["Model", "Project"]);
        assert!(leading.is_first_listed(&health));
    }

    #[test]
    fn when_the_last_of_another_release_has_left_its_rows_are_looked_for() {
        let assignment = Assignment::of_members();
        let leading = leading(&assignment);
        allow(&assignment, &["Model"]);
        assert_eq!(names(&leading), ["Model"]);
        assignment.mix(true);
        assert!(leading.gains().now_or_never().is_none(), "it writes more of them");
        assignment.mix(false);
        // The gain stays until the kinds are looked at.
        assert!(leading.gains().now_or_never().is_some() && leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Model"]);
        assert!(leading.gains().now_or_never().is_none());
    }
}
