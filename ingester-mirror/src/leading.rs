//! Which kinds this process leads: what is done once for all units of a kind, it does for these.
//!
//! May use: ingester-core, config, replicas, unit.

use crate::config::Live;
use crate::replicas::Share;
use crate::unit::leads;
use ingester_core::Kind;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kinds that this process leads, and when they become more.
#[derive(Debug)]
pub struct Leading {
    kinds: Vec<Kind>,
    live: Live,
    share: Share,
    /// Those that were looked at last, and were not given away since.
    seen: Mutex<BTreeSet<&'static str>>,
    /// Whether others have written rows by other definitions since.
    mixed: AtomicBool,
}

impl Leading {
    /// Of these kinds.
    pub fn new(kinds: Vec<Kind>, live: Live, share: Share) -> Self {
        Leading { kinds, live, share, seen: Mutex::default(), mixed: AtomicBool::new(false) }
    }

    /// The kinds that it leads now. [`Leading::gains`] waits for one that is not among them.
    pub fn look(&self) -> Vec<Kind> {
        let led = self.led();
        self.mixed.store(self.share.is_mixed(), Ordering::Release);
        *self.seen() = led.iter().map(Kind::name).collect();
        led
    }

    /// A kind is another member's by now: if it comes back, that is a gain.
    pub fn given_away(&self, kind: &Kind) {
        self.seen().remove(kind.name());
    }

    /// Whether it leads a kind now.
    pub fn leads(&self, kind: &Kind) -> bool {
        leads(kind, &self.live.now(), &self.share)
    }

    /// Waits until it leads a kind that it did not lead when it looked last, or that it has given away since, or until the last member has
    /// left that wrote rows by other definitions.
    pub async fn gains(&self) {
        let mut changes = self.share.changes();
        loop {
            let led: BTreeSet<&'static str> = self.led().iter().map(Kind::name).collect();
            let is_mixed = self.share.is_mixed();
            let others_left = self.mixed.fetch_or(is_mixed, Ordering::AcqRel) && !is_mixed;
            if !led.is_subset(&self.seen()) || others_left && !led.is_empty() {
                return;
            }
            *self.seen() = led;
            changes.next().await;
        }
    }

    /// Waits until it does not lead a kind any more.
    pub async fn loses(&self, kind: &Kind) {
        let mut changes = self.share.changes();
        while self.leads(kind) {
            changes.next().await;
        }
    }

    fn seen(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn led(&self) -> Vec<Kind> {
        self.kinds.iter().filter(|kind| self.leads(kind)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Leading;
    use crate::config::{Config, Live};
    use crate::fixture::MODEL;
    use crate::replicas::Share;
    use futures::FutureExt as _;
    use ingester_core::Kind;
    use ingester_core::kind::Definition;

    const PROJECT: Kind = Kind::new(Definition { kind: "Project", ..*MODEL.definition() }, *MODEL.functions());

    fn names(leading: &Leading) -> Vec<&'static str> {
        leading.look().iter().map(Kind::name).collect()
    }

    fn leading(share: &Share) -> Leading {
        Leading::new(vec![MODEL, PROJECT], Live::fixed(Config::default()), share.clone())
    }

    fn allow(share: &Share, units: &[&str]) {
        share.allow(units.iter().map(|unit| (*unit).to_owned()).collect());
    }

    #[test]
    fn who_is_alone_leads_everything_for_good() {
        let leading = leading(&Share::alone());
        assert_eq!(names(&leading), ["Model", "Project"]);
        assert!(leading.gains().now_or_never().is_none() && leading.loses(&MODEL).now_or_never().is_none());
    }

    #[test]
    fn one_kind_for_another_is_a_gain_although_they_are_as_many() {
        let share = Share::of_members();
        let leading = leading(&share);
        assert!(names(&leading).is_empty());
        // It came between the look and the wait.
        allow(&share, &["Model"]);
        assert!(leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Model"]);
        assert!(leading.gains().now_or_never().is_none());
        allow(&share, &["Project"]);
        assert!(leading.loses(&MODEL).now_or_never().is_some());
        assert!(leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Project"]);
        // Less is no reason to look, and what comes back may have been left in the middle.
        allow(&share, &[]);
        assert!(leading.gains().now_or_never().is_none());
        allow(&share, &["Project"]);
        assert!(leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Project"]);
        leading.given_away(&PROJECT);
        assert!(leading.gains().now_or_never().is_some());
    }

    #[test]
    fn when_the_last_of_another_release_has_left_its_rows_are_looked_for() {
        let share = Share::of_members();
        let leading = leading(&share);
        allow(&share, &["Model"]);
        assert_eq!(names(&leading), ["Model"]);
        share.mix(true);
        assert!(leading.gains().now_or_never().is_none(), "it writes more of them");
        share.mix(false);
        // It stays so until somebody looks.
        assert!(leading.gains().now_or_never().is_some() && leading.gains().now_or_never().is_some());
        assert_eq!(names(&leading), ["Model"]);
        assert!(leading.gains().now_or_never().is_none());
    }
}
