//! The objects that this process evicted last. Their rows are the only copies, and a database that fails over may lose them: so it is
//! remembered which rows must exist.

use ingester_core::object::Meta;
use ingester_store::guard::Version;
use std::collections::{HashMap, HashSet, VecDeque};
use tokio::time::Instant;

/// How many are remembered. Each takes its uid twice, its namespace and its name: about a megabyte in all.
const MOST: usize = if cfg!(test) { 4 } else { 4096 };

/// An object that left etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EvictedObject {
    pub(crate) uid: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    /// The version that was evicted.
    pub(crate) version: u64,
    /// When its deletion was requested.
    pub(crate) since: Instant,
}

/// The last evictions.
#[derive(Debug, Default)]
pub(crate) struct Evictions {
    objects: HashMap<Box<str>, EvictedObject>,
    /// Their uids, the oldest first.
    last: VecDeque<Box<str>>,
    /// Those whose rows were reported as lost.
    lost: HashSet<Box<str>>,
}

impl Evictions {
    /// An object was deleted from etcd, and its row is the only copy.
    pub(crate) fn add(&mut self, meta: &Meta) {
        let eviction = EvictedObject {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
            since: Instant::now(),
        };
        // An object that another finalizer holds may stay after all, and be evicted again.
        if self.objects.insert(meta.uid.clone(), eviction).is_some() {
            return;
        }
        self.last.push_back(meta.uid.clone());
        if self.last.len() > MOST
            && let Some(oldest) = self.last.pop_front()
        {
            self.objects.remove(&oldest);
            self.lost.remove(&oldest);
        }
    }

    /// The object is in the cluster, and its row is live; or a rule may have purged the row.
    pub(crate) fn forget(&mut self, uid: &str) {
        if self.objects.remove(uid).is_some() {
            self.last.retain(|other| **other != *uid);
            self.lost.remove(uid);
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<EvictedObject> {
        self.last.iter().filter_map(|uid| self.objects.get(uid)).cloned().collect()
    }

    /// Those of these objects that this process evicted recently.
    pub(crate) fn of(&self, uids: &[Box<str>]) -> Vec<EvictedObject> {
        uids.iter().filter_map(|uid| self.objects.get(uid)).cloned().collect()
    }

    /// Whether its row had lost the eviction when [`Evictions::lost`] was last asked about it.
    pub(crate) fn has_lost(&self, uid: &str) -> bool {
        self.lost.contains(uid)
    }

    /// Those of `asked` whose rows have lost the eviction since the last call. `stored` is what was read of them.
    pub(crate) fn lost(&mut self, asked: &[EvictedObject], stored: &HashMap<Box<str>, Version>) -> Vec<EvictedObject> {
        let is_lost = |eviction: &EvictedObject| match stored.get(&eviction.uid) {
            None => true,
            // Users change and delete evicted rows, and an object that another finalizer holds may stay: these rows have a later version.
            Some(stored) => {
                stored.res_version < eviction.version || (stored.res_version == eviction.version && !stored.evicted())
            }
        };
        let mut lost = Vec::new();
        for eviction in asked.iter().filter(|eviction| self.objects.contains_key(&eviction.uid)) {
            if !is_lost(eviction) {
                self.lost.remove(&eviction.uid);
            } else if self.lost.insert(eviction.uid.clone()) {
                lost.push(eviction.clone());
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::{Evictions, MOST};
    use ingester_core::object::{ManagedFields, Meta, Object};
    use ingester_store::guard::{Eviction, Version};
    use std::collections::HashMap;

    fn meta(uid: &str, version: u64) -> Meta {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"A","metadata":{{"namespace":"ml","name":"n-{uid}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
        );
        Object::parse(text, ManagedFields::Keep).unwrap().meta().clone()
    }

    fn stored(rows: &[(&str, u64, bool, bool)]) -> HashMap<Box<str>, Version> {
        let version = |res_version, evicted, deleted| Version {
            res_version,
            ingest_version: 0,
            deleted,
            eviction: if evicted { Eviction::Confirmed } else { Eviction::None },
        };
        rows.iter().map(|(uid, at, evicted, deleted)| ((*uid).into(), version(*at, *evicted, *deleted))).collect()
    }

    #[test]
    fn rows_that_lost_an_eviction_are_told_once() {
        let mut evictions = Evictions::default();
        for uid in ["whole", "missing", "live", "changed"] {
            evictions.add(&meta(uid, 5));
        }
        let rows = stored(&[("whole", 5, true, false), ("live", 4, false, false), ("changed", 6, true, true)]);
        let all = evictions.all();
        let lost = evictions.lost(&all, &rows);
        assert_eq!(lost.iter().map(|eviction| &*eviction.uid).collect::<Vec<_>>(), ["missing", "live"]);
        assert_eq!((&*lost[0].namespace, &*lost[0].name, lost[0].version), ("ml", "n-missing", 5));
        assert!(evictions.lost(&all, &rows).is_empty(), "once");
        assert!(evictions.has_lost("live"), "its row is not swept");
    }

    #[test]
    fn a_row_of_a_later_version_has_not_lost_its_eviction() {
        let mut evictions = Evictions::default();
        evictions.add(&meta("stays", 5));
        let rows = stored(&[("stays", 6, false, false)]);
        assert!(evictions.lost(&evictions.all(), &rows).is_empty(), "another finalizer held it, and it stayed");
        evictions.add(&meta("stays", 7));
        assert_eq!(evictions.lost(&evictions.all(), &rows).len(), 1);
        assert!(evictions.has_lost("stays"));
        assert!(
            evictions.lost(&evictions.all(), &stored(&[("stays", 7, true, false)])).is_empty(),
            "its backup is back"
        );
        assert!(!evictions.has_lost("stays"));
    }

    #[test]
    fn an_object_that_a_person_has_decided_for_is_forgotten() {
        let mut evictions = Evictions::default();
        evictions.add(&meta("a", 5));
        let rows = stored(&[("a", 3, false, false)]);
        assert_eq!(evictions.lost(&evictions.all(), &rows).len(), 1);
        evictions.forget("a");
        assert!(evictions.all().is_empty() && !evictions.has_lost("a"));
        evictions.add(&meta("a", 9));
        assert_eq!(evictions.all().len(), 1);
    }

    #[test]
    fn only_the_last_ones_are_remembered() {
        let mut evictions = Evictions::default();
        for number in 0..MOST + 2 {
            evictions.add(&meta(&number.to_string(), 1));
            evictions.add(&meta(&number.to_string(), 1));
        }
        assert_eq!(evictions.all().len(), MOST);
        assert!(evictions.of(&["1".into()]).is_empty() && evictions.of(&["2".into()]).len() == 1);
    }
}
