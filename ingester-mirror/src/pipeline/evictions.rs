//! The objects that this process has evicted last. Their rows are the only copies, and a database that fails over may lose them: so it is
//! remembered which rows there have to be.

use ingester_core::object::Meta;
use ingester_store::guard::Version;
use std::collections::{HashMap, HashSet, VecDeque};

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
}

/// The last evictions, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Evictions {
    last: VecDeque<EvictedObject>,
    uids: HashSet<Box<str>>,
    /// Those whose rows were reported as lost.
    lost: HashSet<Box<str>>,
}

impl Evictions {
    /// An object was deleted from etcd, and its row is the only copy.
    pub(crate) fn add(&mut self, meta: &Meta) {
        if !self.uids.insert(meta.uid.clone()) {
            return;
        }
        self.last.push_back(EvictedObject {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
        });
        if self.last.len() > MOST
            && let Some(oldest) = self.last.pop_front()
        {
            self.uids.remove(&oldest.uid);
            self.lost.remove(&oldest.uid);
        }
    }

    /// Whether this process has evicted it not long ago: a row of it that is live again is one that lost the eviction.
    pub(crate) fn has(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<EvictedObject> {
        self.last.iter().cloned().collect()
    }

    /// Those of `asked` whose rows lost the eviction, and were not reported before. `stored` is what was read of them.
    pub(crate) fn lost(&mut self, asked: &[EvictedObject], stored: &HashMap<Box<str>, Version>) -> Vec<EvictedObject> {
        let is_lost = |eviction: &&EvictedObject| match stored.get(&eviction.uid) {
            None => true,
            // Users change and delete evicted rows: these have a later version, and stay evicted.
            Some(stored) => !stored.evicted() || stored.res_version < eviction.version,
        };
        asked
            .iter()
            .filter(|eviction| self.uids.contains(&eviction.uid))
            .filter(is_lost)
            .filter(|eviction| !self.lost.contains(&eviction.uid))
            .cloned()
            .collect::<Vec<_>>()
            .into_iter()
            .inspect(|eviction| {
                self.lost.insert(eviction.uid.clone());
            })
            .collect()
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
        assert!(evictions.has("live"), "its row is not swept");
    }

    #[test]
    fn only_the_last_ones_are_remembered() {
        let mut evictions = Evictions::default();
        for number in 0..MOST + 2 {
            evictions.add(&meta(&number.to_string(), 1));
            evictions.add(&meta(&number.to_string(), 1));
        }
        assert_eq!(evictions.all().len(), MOST);
        assert!(!evictions.has("1") && evictions.has("2"));
    }
}
