//! The objects that this process evicted last, and those whose rows are recorded as lost. Their rows are the only copies, and a database
//! that fails over may lose them. So this process remembers which rows must exist.

use ingester_core::object::Meta;
use ingester_store::LostEviction;
use ingester_store::guard::{Eviction, Version};
use std::collections::{HashMap, HashSet, VecDeque};
use tokio::time::Instant;

/// The number of evictions that are remembered. Each takes its uid twice, its namespace and its name: about a megabyte in all.
const MOST: usize = if cfg!(test) { 4 } else { 4096 };

/// An object that left etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EvictedObject {
    pub(crate) uid: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    /// The version that was evicted.
    pub(crate) version: u64,
    /// When its deletion was requested; `None` if an earlier process, or another one, requested it.
    pub(crate) since: Option<Instant>,
}

impl EvictedObject {
    /// The record of the eviction if its row is lost.
    pub(crate) fn loss(&self) -> LostEviction {
        let EvictedObject { uid, namespace, name, version, .. } = self.clone();
        LostEviction { uid, namespace, name, res_version: version }
    }
}

/// The last evictions.
#[derive(Debug, Default)]
pub(crate) struct Evictions {
    objects: HashMap<Box<str>, EvictedObject>,
    /// Their uids, the oldest first.
    last: VecDeque<Box<str>>,
    /// The uids whose rows were reported as lost.
    lost: HashSet<Box<str>>,
    /// The uids that the database records as lost.
    recorded: HashSet<Box<str>>,
    /// The recorded uids whose rows are not lost any more.
    settled: Vec<Box<str>>,
}

/// The differences between the records of lost evictions and the known losses.
#[derive(Debug, Default)]
pub(crate) struct LossChanges {
    /// Losses to record.
    pub(crate) lost: Vec<EvictedObject>,
    /// The uids of records to delete.
    pub(crate) settled: Vec<Box<str>>,
}

impl Evictions {
    /// Adds an object that was deleted from etcd, so its row is the only copy.
    pub(crate) fn add(&mut self, meta: &Meta) {
        self.remember(EvictedObject {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
            since: Some(Instant::now()),
        });
    }

    /// Learns that the database records these evictions as lost, and no others.
    pub(crate) fn learn(&mut self, recorded: Vec<LostEviction>) {
        self.recorded = recorded.iter().map(|lost| lost.uid.clone()).collect();
        for LostEviction { uid, namespace, name, res_version } in recorded {
            if !self.objects.contains_key(&uid) {
                self.remember(EvictedObject { uid, namespace, name, version: res_version, since: None });
            }
        }
    }

    fn remember(&mut self, eviction: EvictedObject) {
        let uid = eviction.uid.clone();
        // If another finalizer holds the object, it may stay after all, and be evicted again.
        if self.objects.insert(uid.clone(), eviction).is_some() {
            return;
        }
        self.last.push_back(uid);
        // A record protects the earlier state of its row only while this process remembers it.
        let is_kept = |uid: &str| self.recorded.contains(uid);
        if self.last.len() > MOST.saturating_add(self.recorded.len())
            && let Some(oldest) =
                self.last.iter().position(|uid| !is_kept(uid)).and_then(|place| self.last.remove(place))
        {
            self.objects.remove(&oldest);
            self.lost.remove(&oldest);
        }
    }

    /// Forgets an object that is in the cluster with a live row, or whose row a rule may have purged.
    pub(crate) fn forget(&mut self, uid: &str) {
        if self.objects.remove(uid).is_some() {
            self.last.retain(|other| **other != *uid);
            self.lost.remove(uid);
            self.settle(uid);
        }
    }

    /// Notes that the record of an eviction must be deleted, if there is one.
    fn settle(&mut self, uid: &str) {
        self.settled.extend(self.recorded.take(uid));
    }

    /// Returns all evictions.
    pub(crate) fn all(&self) -> Vec<EvictedObject> {
        self.last.iter().filter_map(|uid| self.objects.get(uid)).cloned().collect()
    }

    /// Returns the objects, out of these, that this process evicted recently or whose rows are recorded as lost.
    pub(crate) fn find_evicted(&self, uids: &[Box<str>]) -> Vec<EvictedObject> {
        uids.iter().filter_map(|uid| self.objects.get(uid)).cloned().collect()
    }

    /// Returns true if the row had lost the eviction when [`Evictions::lost`] was last asked about it.
    pub(crate) fn has_lost(&self, uid: &str) -> bool {
        self.lost.contains(uid)
    }

    /// Returns true if the database records the eviction as lost.
    pub(crate) fn is_recorded(&self, uid: &str) -> bool {
        self.recorded.contains(uid)
    }

    /// Returns the objects of `asked` whose rows have lost the eviction since the last call. `stored` holds the versions that were read for
    /// them.
    pub(crate) fn lost(&mut self, asked: &[EvictedObject], stored: &HashMap<Box<str>, Version>) -> Vec<EvictedObject> {
        let mut lost = Vec::new();
        for eviction in asked {
            let uid = &eviction.uid;
            if !self.objects.contains_key(uid) {
                continue;
            }
            let is_known = self.lost.contains(uid) || self.recorded.contains(uid);
            if is_lost(eviction, stored.get(uid), is_known) {
                if self.lost.insert(uid.clone()) {
                    lost.push(eviction.clone());
                }
                continue;
            }
            self.lost.remove(uid);
            self.settle(uid);
            if eviction.since.is_none() {
                // Nobody knows when a rule may purge its row.
                self.forget(uid);
            }
        }
        lost
    }

    /// Takes the losses to record and the records to delete. The caller carries them out; from now on they count as done.
    pub(crate) fn take_changes(&mut self) -> LossChanges {
        let new: Vec<Box<str>> = self.lost.difference(&self.recorded).cloned().collect();
        let lost = new.iter().filter_map(|uid| self.objects.get(uid)).cloned().collect();
        self.recorded.extend(new);
        LossChanges { lost, settled: std::mem::take(&mut self.settled) }
    }
}

/// Returns true if the stored row is not the row that the eviction left. Users change and delete evicted rows, and an object that another
/// finalizer holds may stay: these rows have a later version. Once the loss `is_known`, an evicted row with an earlier version is the state
/// that a person has found in a backup.
fn is_lost(eviction: &EvictedObject, stored: Option<&Version>, is_known: bool) -> bool {
    let Some(stored) = stored else { return true };
    let is_found = is_known && matches!(stored.eviction, Eviction::Confirmed | Eviction::Unrecorded);
    match stored.res_version.cmp(&eviction.version) {
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Equal => !stored.evicted(),
        std::cmp::Ordering::Less => !is_found,
    }
}

#[cfg(test)]
mod tests {
    use super::{Evictions, LossChanges, MOST};
    use ingester_core::object::{ManagedFields, Meta, Object};
    use ingester_store::LostEviction;
    use ingester_store::guard::{Eviction, Version};
    use std::collections::HashMap;

    fn meta(uid: &str, version: u64) -> Meta {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"A","metadata":{{"namespace":"ml","name":"n-{uid}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
        );
        Object::parse(text, ManagedFields::Keep).unwrap().meta().clone()
    }

    fn stored_versions(rows: &[(&str, u64, bool, bool)]) -> HashMap<Box<str>, Version> {
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
        let rows = stored_versions(&[("whole", 5, true, false), ("live", 4, false, false), ("changed", 6, true, true)]);
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
        let rows = stored_versions(&[("stays", 6, false, false)]);
        assert!(evictions.lost(&evictions.all(), &rows).is_empty(), "another finalizer held it, and it stayed");
        evictions.add(&meta("stays", 7));
        assert_eq!(evictions.lost(&evictions.all(), &rows).len(), 1);
        assert!(evictions.has_lost("stays"));
        assert!(
            evictions.lost(&evictions.all(), &stored_versions(&[("stays", 7, true, false)])).is_empty(),
            "its backup is back"
        );
        assert!(!evictions.has_lost("stays"));
    }

    #[test]
    fn an_object_that_a_person_has_decided_for_is_forgotten() {
        let mut evictions = Evictions::default();
        evictions.add(&meta("a", 5));
        let rows = stored_versions(&[("a", 3, false, false)]);
        assert_eq!(evictions.lost(&evictions.all(), &rows).len(), 1);
        assert_eq!(evictions.take_changes().lost.len(), 1);
        evictions.forget("a");
        assert!(evictions.all().is_empty() && !evictions.has_lost("a"));
        assert_eq!(*evictions.take_changes().settled, ["a".into()]);
        evictions.add(&meta("a", 9));
        assert_eq!(evictions.all().len(), 1);
    }

    fn recorded(uid: &str, res_version: u64) -> LostEviction {
        LostEviction { uid: uid.into(), namespace: "ml".into(), name: format!("n-{uid}").into(), res_version }
    }

    #[test]
    fn a_loss_is_recorded_once_and_the_record_is_deleted_when_the_row_is_back() {
        let mut evictions = Evictions::default();
        evictions.add(&meta("a", 5));
        evictions.lost(&evictions.all(), &stored_versions(&[("a", 3, false, false)]));
        let LossChanges { lost, settled } = evictions.take_changes();
        assert_eq!((lost[0].loss(), lost.len(), settled.len()), (recorded("a", 5), 1, 0));
        assert!(evictions.take_changes().lost.is_empty(), "once");
        evictions.lost(&evictions.all(), &stored_versions(&[("a", 5, true, false)]));
        let LossChanges { lost, settled } = evictions.take_changes();
        assert!(lost.is_empty() && *settled == ["a".into()], "{settled:?}");
        assert_eq!(evictions.all().len(), 1, "it may be lost again");
    }

    #[test]
    fn a_recorded_loss_is_told_again_and_protects_what_is_left_of_the_row() {
        let mut evictions = Evictions::default();
        evictions.learn(vec![recorded("a", 5), recorded("b", 5)]);
        let rows = stored_versions(&[("a", 3, false, false)]);
        assert_eq!(evictions.lost(&evictions.all(), &rows).len(), 2);
        assert!(evictions.has_lost("a") && evictions.take_changes().lost.is_empty(), "it is recorded");
        for number in 0..2 * MOST {
            evictions.add(&meta(&number.to_string(), 1));
        }
        assert!(
            evictions.has_lost("a") && evictions.find_evicted(&["a".into()]).len() == 1,
            "later evictions do not displace it"
        );
        // The best state that a backup has is an earlier one.
        evictions.lost(&evictions.find_evicted(&["a".into(), "b".into()]), &stored_versions(&[("a", 4, true, false)]));
        assert_eq!(*evictions.take_changes().settled, ["a".into()]);
        assert!(!evictions.has_lost("a") && evictions.has_lost("b"));
    }

    #[test]
    fn an_intended_eviction_of_an_earlier_version_is_no_copy_that_a_person_has_found() {
        let mut evictions = Evictions::default();
        evictions.learn(vec![recorded("a", 5)]);
        let mut rows = stored_versions(&[("a", 4, true, false)]);
        rows.values_mut().for_each(|version| version.eviction = Eviction::Intended);
        assert_eq!(evictions.lost(&evictions.all(), &rows).len(), 1);
    }

    #[test]
    fn only_the_last_ones_are_remembered() {
        let mut evictions = Evictions::default();
        for number in 0..MOST + 2 {
            evictions.add(&meta(&number.to_string(), 1));
            evictions.add(&meta(&number.to_string(), 1));
        }
        assert_eq!(evictions.all().len(), MOST);
        assert!(evictions.find_evicted(&["1".into()]).is_empty() && evictions.find_evicted(&["2".into()]).len() == 1);
    }
}
