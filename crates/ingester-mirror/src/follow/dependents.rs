//! Finds the dependents that no live row shows. A current unit remembers the owners of its objects without rows. For units that are not
//! current (their kind is suspended, their watch is lost, or they run in another process), this process asks the API server.

use super::Follower;
use crate::dependents::{FollowedUnit, Uids};
use crate::policies::{Candidate, Dependents, KindPart, WeighedCandidates, can_depend, list_dependents, namespaces};
use crate::unit::{Scope, scopes};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// After this silence, a watch may be lost without an error: bookmarks come once a minute.
const SILENT: Duration = Duration::from_secs(90);

/// The record of how far a unit is behind the cluster.
#[derive(Debug, Default)]
pub(super) struct Currency(Mutex<CurrencyState>);

#[derive(Debug, Default)]
struct CurrencyState {
    /// The last list is in SQL.
    listed: bool,
    /// The version that the open watch must reach to have delivered all events from before it was opened; `None` if no watch is open.
    reaches: Option<u64>,
    /// A watch failed, and no watch has been opened since.
    failed: bool,
    /// The time when the watch was opened, or last delivered something.
    heard: Option<Instant>,
}

impl Currency {
    /// Records that a list begins.
    pub(super) fn listing(&self) {
        *self.state() = CurrencyState::default();
    }

    /// Records that the list is in SQL.
    pub(super) fn listed(&self) {
        self.state().listed = true;
    }

    /// Records that the watch was opened at a version. `cluster` is the version of the cluster just before, if it was requested.
    pub(super) fn opened(&self, version: u64, cluster: Option<u64>) {
        let mut state = self.state();
        // After a watch that ended normally, at most some milliseconds are missing.
        let missing = cluster.filter(|_| std::mem::take(&mut state.failed));
        state.reaches = Some(missing.unwrap_or(version));
        state.heard = Some(Instant::now());
    }

    /// Records that the watch delivered something.
    pub(super) fn heard(&self) {
        self.state().heard = Some(Instant::now());
    }

    /// Records that the watch has ended.
    pub(super) fn ended(&self, failed: bool) {
        let mut state = self.state();
        state.reaches = None;
        state.failed |= failed;
    }

    fn is_current(&self, observed: u64) -> bool {
        let state = self.state();
        let is_silent = state.heard.is_none_or(|heard| heard.elapsed() >= SILENT);
        state.listed && !is_silent && state.reaches.is_some_and(|version| version <= observed)
    }

    fn state(&self) -> MutexGuard<'_, CurrencyState> {
        self.0.lock()
    }
}

impl FollowedUnit for Follower {
    fn is_current(&self) -> bool {
        let unit = self.unit();
        // Objects that are not selected are not read at all.
        unit.selection.is_all()
            && !unit.stop.is_cancelled()
            && self.currency.is_current(self.observed.load(Ordering::Relaxed))
            && !self.pipeline.known().has_unread()
    }

    fn owners_among(&self, uids: &Uids) -> Uids {
        self.pipeline.known().owners_among(uids)
    }
}

impl Follower {
    /// Returns the dependents of these objects that no live row shows. Asks the API server at most once for each kind and namespace.
    pub(super) async fn dependents(&self, leaving: &[Candidate]) -> Dependents {
        let unit = self.unit();
        let mirrored = &unit.mirrored;
        let uids: Uids = leaving.iter().map(|candidate| candidate.uid.clone()).collect();
        // Include units that are behind: their memory can only keep too many objects.
        let remembered = mirrored.owners_among(&uids);
        let parts = self.parts_behind(leaving);
        let mut found = list_dependents(&*unit.cluster, &mirrored.kinds, &unit.kind, parts, &uids).await;
        for part in &found.unlisted {
            tracing::warn!(dependents = part.kind, why = %part.why,
                "Evictions by rules wait: the API server does not list objects that the chosen objects may own");
        }
        found.owners.extend(remembered);
        found
    }

    /// Checks once more after the rows were read. In the meantime an object may have lost its row, for example because a filter now leaves
    /// it out, and a unit that was current may have fallen behind.
    pub(super) fn check_again(&self, weighed: &mut WeighedCandidates, mut dependents: Dependents) {
        let unit = self.unit();
        let uids: Uids = weighed.free.iter().map(|candidate| candidate.uid.clone()).collect();
        dependents.owners.extend(unit.mirrored.owners_among(&uids));
        if !weighed.free.is_empty() {
            dependents.fell_behind(self.parts_behind(&weighed.free), &unit.kind);
        }
        weighed.take_back(&dependents);
    }

    /// Returns the parts of the mirrored kinds that may have dependents of these objects, if this process does not know every object in
    /// them.
    fn parts_behind(&self, leaving: &[Candidate]) -> BTreeSet<KindPart> {
        let unit = self.unit();
        let config = unit.config();
        let namespaces = namespaces(&unit.kind, leaving);
        let mut behind = BTreeSet::new();
        for kind in unit.mirrored.kinds.iter().filter(|kind| can_depend(kind, &unit.kind)) {
            let name = kind.name();
            for scope in scopes(std::slice::from_ref(kind), &config) {
                if unit.mirrored.is_current(&scope.name()) {
                    continue;
                }
                let Scope { namespace: of_unit, .. } = scope;
                let wanted =
                    |namespace: &&Option<Box<str>>| of_unit.is_none() || namespace.is_none() || **namespace == of_unit;
                let parts = namespaces.iter().filter(wanted);
                behind.extend(parts.map(|namespace| {
                    let namespace = namespace.clone().or_else(|| of_unit.clone()).filter(|_| kind.namespaced());
                    KindPart { namespace, kind: name }
                }));
            }
        }
        behind
    }
}

#[cfg(test)]
mod tests {
    use super::{Currency, SILENT};

    #[tokio::test(start_paused = true)]
    async fn a_unit_is_current_once_its_watch_has_brought_what_it_missed() {
        let unit = Currency::default();
        unit.listing();
        unit.opened(7, None);
        assert!(!unit.is_current(7), "the list is not in SQL");
        unit.listed();
        assert!(unit.is_current(7));
        unit.ended(false);
        assert!(!unit.is_current(7), "no watch is open");
        unit.opened(7, Some(9));
        assert!(unit.is_current(7));
        unit.ended(true);
        unit.ended(false);
        unit.opened(7, Some(9));
        assert!(!unit.is_current(8), "it failed, and what happened meanwhile comes now");
        assert!(unit.is_current(9));
        unit.listing();
        assert!(!unit.is_current(9));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_is_silent_for_long_may_be_lost() {
        let unit = Currency::default();
        unit.opened(7, None);
        unit.listed();
        tokio::time::advance(SILENT).await;
        assert!(!unit.is_current(7));
        unit.heard();
        assert!(unit.is_current(7));
    }
}
