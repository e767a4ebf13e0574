//! The units of this process, which know dependents: objects in the cluster that name others as their owners. Kubernetes deletes an object
//! as garbage once its owners are gone, so an owner must not leave etcd before its dependents.
//!
//! May use: ingester-core.

use ingester_core::Kind;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Weak};

/// The uids of objects.
pub(crate) type Uids = BTreeSet<Box<str>>;

/// A unit that this process works on.
pub(crate) trait FollowedUnit: Send + Sync {
    /// Returns true if SQL or this memory has every object that the cluster has of the unit.
    fn is_current(&self) -> bool;

    /// Returns the uids, out of these, of owners of objects in the cluster whose rows do not show the owners: rejected objects, objects
    /// that a filter leaves out, and ghosts.
    fn owners_among(&self, uids: &Uids) -> Uids;
}

/// The mirrored kinds, and the units of them that this process works on. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct MirroredKinds {
    pub(crate) kinds: Arc<[Kind]>,
    units: Arc<Mutex<BTreeMap<String, Weak<dyn FollowedUnit>>>>,
}

impl MirroredKinds {
    pub(crate) fn new(kinds: Arc<[Kind]>) -> Self {
        MirroredKinds { kinds, units: Arc::default() }
    }

    /// Records that this process works on a unit while `unit` lives.
    pub(crate) fn follow(&self, name: String, unit: Weak<dyn FollowedUnit>) {
        self.units().insert(name, unit);
    }

    /// Returns true if this process works on the unit of this name and knows all of its objects.
    pub(crate) fn is_current(&self, name: &str) -> bool {
        let unit = self.units().get(name).and_then(Weak::upgrade);
        unit.is_some_and(|unit| unit.is_current())
    }

    /// Returns the uids, out of these, of owners of objects without rows, as far as the units of this process know.
    pub(crate) fn owners_among(&self, uids: &Uids) -> Uids {
        // Do not hold the lock while asking units: each has its own.
        let units: Vec<Arc<dyn FollowedUnit>> = self.units().values().filter_map(Weak::upgrade).collect();
        units.iter().flat_map(|unit| unit.owners_among(uids)).collect()
    }

    fn units(&self) -> MutexGuard<'_, BTreeMap<String, Weak<dyn FollowedUnit>>> {
        self.units.lock()
    }
}

impl fmt::Debug for MirroredKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MirroredKinds").field("units", &self.units().keys()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{FollowedUnit, MirroredKinds, Uids};
    use crate::fixture::MODEL;
    use std::sync::{Arc, Weak};

    struct FixedUnit(bool, &'static str);

    impl FollowedUnit for FixedUnit {
        fn is_current(&self) -> bool {
            self.0
        }

        fn owners_among(&self, uids: &Uids) -> Uids {
            uids.iter().filter(|uid| ***uid == *self.1).cloned().collect()
        }
    }

    fn uids(names: &[&str]) -> Uids {
        names.iter().map(|name| Box::from(*name)).collect()
    }

    #[test]
    fn a_unit_counts_as_long_as_this_process_works_on_it() {
        let mirrored = MirroredKinds::new([MODEL].into());
        let current = Arc::new(FixedUnit(true, "a"));
        let behind = Arc::new(FixedUnit(false, "b"));
        for (name, unit) in [("Model in x", &current), ("Model in y", &behind)] {
            let unit: Weak<FixedUnit> = Arc::downgrade(unit);
            mirrored.follow(name.to_owned(), unit);
        }
        let all = uids(&["a", "b", "c"]);
        let is_current = |name: &str| mirrored.is_current(name);
        assert!(is_current("Model in x") && !is_current("Model in y") && !is_current("Model"));
        assert_eq!(mirrored.owners_among(&all), uids(&["a", "b"]));
        drop(current);
        assert!(!is_current("Model in x"));
        assert_eq!(mirrored.owners_among(&all), uids(&["b"]));
    }
}
