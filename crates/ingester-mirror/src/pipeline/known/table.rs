//! The memory of each object, by uid, in few bytes: a cluster may have millions.
//!
//! A uid takes 16 bytes. An object then takes 32 bytes in a vector that grows by an eighth, and up to 12 bytes for its slot in the hash
//! table, which holds one byte and the index in the vector. Uids in another form are kept as they are.

use super::super::packed::{pack, unpack};
use super::{KnownObject, RowState};
use crate::lifecycle::LifecycleState;
use hashbrown::HashTable;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU64;
use uuid::Uuid;

/// The minimum room that is added to the vector.
const LEAST: usize = 16;

/// The objects by uid.
#[derive(Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    /// The index of each entry, by the hash of its uid.
    places: HashTable<u32>,
    /// Clients may choose uids, so the hash has a random key.
    keys: RandomState,
    /// The objects whose uids are not UUIDs in canonical text.
    others: HashMap<Box<str>, KnownObject>,
}

impl Table {
    pub(super) fn get(&self, uid: &str) -> Option<KnownObject> {
        match pack(uid) {
            Some(uid) => self.place(&uid).and_then(|place| self.entries.get(place)).map(Entry::object),
            None => self.others.get(uid).copied(),
        }
    }

    /// Remembers an object. Returns the previous entry.
    pub(super) fn set(&mut self, uid: &str, object: KnownObject) -> Option<KnownObject> {
        let Some(packed) = pack(uid) else {
            return match self.others.get_mut(uid) {
                Some(old) => Some(std::mem::replace(old, object)),
                None => self.others.insert(uid.into(), object),
            };
        };
        let entry = Entry::new(packed, object);
        if let Some(place) = self.place(&packed) {
            return Some(std::mem::replace(&mut self.entries[place], entry).object());
        }
        self.make_room();
        let Table { entries, places, keys, .. } = self;
        // 4 billion entries would take 128 GiB.
        places.insert_unique(keys.hash_one(packed), entries.len() as u32, |place| hash(keys, entries, *place));
        entries.push(entry);
        None
    }

    /// Forgets an object. Returns its entry.
    pub(super) fn remove(&mut self, uid: &str) -> Option<KnownObject> {
        let Some(packed) = pack(uid) else { return self.others.remove(uid) };
        let Table { entries, places, keys, .. } = self;
        let found = places.find_entry(keys.hash_one(packed), |place| entries[*place as usize].uid == packed).ok()?;
        let (place, _) = found.remove();
        let last = entries.len() as u32 - 1;
        // The last entry moves to the slot that is now free.
        if place != last
            && let Some(moved) = places.find_mut(hash(keys, entries, last), |place| *place == last)
        {
            *moved = place;
        }
        Some(entries.swap_remove(place as usize).object())
    }

    /// Forgets the objects that `stays` rejects.
    pub(super) fn retain(&mut self, stays: impl Fn(&KnownObject) -> bool) {
        self.others.retain(|_, object| stays(object));
        let before = self.entries.len();
        self.entries.retain(|entry| stays(&entry.object()));
        if self.entries.len() < before {
            self.find_places();
        }
    }

    /// Records that the list in progress contains this object.
    pub(super) fn mark_seen(&mut self, uid: &str) {
        match pack(uid) {
            Some(uid) => {
                if let Some(place) = self.place(&uid) {
                    self.entries[place].rest |= SEEN;
                }
            }
            None => {
                if let Some(object) = self.others.get_mut(uid) {
                    object.seen = true;
                }
            }
        }
    }

    /// Begins a list that contains no objects yet.
    pub(super) fn forget_seen(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.rest &= !SEEN);
        self.others.values_mut().for_each(|object| object.seen = false);
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = KnownObject> {
        self.entries.iter().map(Entry::object).chain(self.others.values().copied())
    }

    /// Returns the uids of the selected objects, in any order.
    pub(super) fn uids(&self, wanted: impl Fn(&KnownObject) -> bool) -> Vec<Box<str>> {
        let entries = self.entries.iter().filter(|entry| wanted(&entry.object())).map(|entry| unpack(&entry.uid));
        let others = self.others.iter().filter(|(_, object)| wanted(object)).map(|(uid, _)| uid.clone());
        entries.chain(others).collect()
    }

    /// Frees memory beyond twice the need.
    pub(super) fn shrink(&mut self) {
        let Table { entries, places, keys, .. } = self;
        if entries.len() < entries.capacity() / 2 {
            entries.shrink_to(entries.len() + entries.len() / 8);
            places.shrink_to(entries.len(), |place| hash(keys, entries, *place));
        }
    }

    fn place(&self, uid: &Uuid) -> Option<usize> {
        let found = self.places.find(self.keys.hash_one(uid), |place| self.entries[*place as usize].uid == *uid);
        found.map(|place| *place as usize)
    }

    /// Makes room for one more entry.
    fn make_room(&mut self) {
        let len = self.entries.len();
        if len == self.entries.capacity() {
            // Doubling would leave half of it unused.
            self.entries.reserve_exact((len / 8).max(LEAST));
        }
        // Entries that were removed from a nearly full table keep their slots until the table is rebuilt. A rebuilt table need not be twice
        // as large, unless it would soon have to be rebuilt again.
        let most = self.places.num_buckets() / 8 * 7;
        if len == self.places.capacity() && len < most - most / 32 {
            self.find_places();
        }
    }

    /// Rebuilds the hash table of all entries.
    fn find_places(&mut self) {
        let Table { entries, places, keys, .. } = self;
        places.clear();
        for place in 0..entries.len() as u32 {
            places.insert_unique(hash(keys, entries, place), place, |place| hash(keys, entries, *place));
        }
    }

    /// Returns the memory in bytes, without the uids in another form.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.places.allocation_size()
    }
}

fn hash(keys: &RandomState, entries: &[Entry], place: u32) -> u64 {
    keys.hash_one(entries[place as usize].uid)
}

/// An object whose uid is packed.
struct Entry {
    uid: Uuid,
    version: u64,
    /// From the lowest bits up: the state, whether it was [`SEEN`], and from [`PAIRS`] on the hash of labels and annotations, or 0.
    rest: u64,
}

const STATE: u64 = 15;
const SEEN: u64 = 16;
const PAIRS: u32 = 8;

impl Entry {
    fn new(uid: Uuid, object: KnownObject) -> Self {
        let KnownObject { version, state, seen, pairs } = object;
        let state = match state {
            RowState::Stored(LifecycleState::Live) => 0,
            RowState::Stored(LifecycleState::Deleted) => 1,
            RowState::Stored(LifecycleState::Evicted) => 2,
            RowState::Released => 3,
            RowState::Rejected => 4,
            RowState::LeftOut => 5,
            RowState::Left => 6,
            RowState::Confirmed => 7,
            RowState::Ghost => 8,
        };
        let pairs = pairs.map_or(0, |pairs| pairs.get() << PAIRS);
        Entry { uid, version, rest: pairs | if seen { SEEN } else { 0 } | state }
    }

    fn object(&self) -> KnownObject {
        let state = match self.rest & STATE {
            0 => RowState::Stored(LifecycleState::Live),
            1 => RowState::Stored(LifecycleState::Deleted),
            2 => RowState::Stored(LifecycleState::Evicted),
            3 => RowState::Released,
            4 => RowState::Rejected,
            5 => RowState::LeftOut,
            6 => RowState::Left,
            7 => RowState::Confirmed,
            _ => RowState::Ghost,
        };
        let pairs = NonZeroU64::new(self.rest >> PAIRS);
        KnownObject { version: self.version, state, seen: self.rest & SEEN != 0, pairs }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, KnownObject, LifecycleState, RowState, Table};
    use std::collections::BTreeMap;
    use std::num::NonZeroU64;
    use uuid::Uuid;

    const STATES: [RowState; 6] = [
        RowState::Stored(LifecycleState::Live),
        RowState::Stored(LifecycleState::Deleted),
        RowState::Stored(LifecycleState::Evicted),
        RowState::Released,
        RowState::Rejected,
        RowState::LeftOut,
    ];

    fn uuid(number: u128) -> String {
        // Spread over all bytes, as real ones are.
        Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).to_string()
    }

    fn any(rng: &mut fastrand::Rng) -> KnownObject {
        let pairs = NonZeroU64::new(rng.u64(..) >> 8).filter(|_| rng.bool());
        KnownObject { version: rng.u64(..), state: STATES[rng.usize(..6)], seen: rng.bool(), pairs }
    }

    #[test]
    fn the_table_remembers_what_a_plain_map_does() {
        let mut rng = fastrand::Rng::with_seed(17);
        let (mut table, mut model) = (Table::default(), BTreeMap::<String, KnownObject>::new());
        for step in 0..10_000_u32 {
            // Grows first, then changes, and is nearly empty in the end.
            let number = rng.u32(..600);
            let removes = [1, 4, 7][step as usize / 3334];
            let uid = if number.is_multiple_of(5) { format!("u{number}") } else { uuid(number.into()) };
            match rng.u32(..100) {
                0 => {
                    table.forget_seen();
                    model.values_mut().for_each(|object| object.seen = false);
                }
                1 => {
                    let lost = STATES[rng.usize(..6)];
                    let stays = |object: &KnownObject| object.seen || object.state != lost;
                    table.retain(stays);
                    model.retain(|_, object| stays(object));
                }
                2 => table.shrink(),
                3..20 => {
                    table.mark_seen(&uid);
                    if let Some(object) = model.get_mut(&uid) {
                        object.seen = true;
                    }
                }
                choice if choice % 10 < removes => assert_eq!(table.remove(&uid), model.remove(&uid)),
                _ => {
                    let object = any(&mut rng);
                    assert_eq!(table.set(&uid, object), model.insert(uid.clone(), object));
                }
            }
            assert_eq!(table.get(&uid), model.get(&uid).copied());
            if step % 100 == 0 {
                for number in 0..600 {
                    for uid in [format!("u{number}"), uuid(number)] {
                        assert_eq!(table.get(&uid), model.get(&uid).copied(), "{uid} after step {step}");
                    }
                }
            }
        }
        let mut uids = table.uids(|object| object.seen);
        uids.sort_unstable();
        let expected = model.iter().filter(|(_, object)| object.seen);
        assert_eq!(uids, expected.map(|(uid, _)| uid.as_str().into()).collect::<Vec<Box<str>>>());
        let sum = |versions: &mut dyn Iterator<Item = KnownObject>| {
            versions.fold(0_u64, |sum, object| sum.wrapping_add(object.version))
        };
        assert_eq!(sum(&mut table.objects()), sum(&mut model.values().copied()));
    }

    #[test]
    fn an_object_takes_48_bytes_at_most_with_its_share_of_the_table() {
        assert_eq!(size_of::<Entry>(), 32);
        let mut rng = fastrand::Rng::with_seed(17);
        let mut table = Table::default();
        let check = |table: &Table, when: &str| {
            let len = table.entries.len();
            assert!(table.bytes() <= 48 * len, "{} bytes for {len} objects {when}", table.bytes());
        };
        for number in 0..200_000 {
            table.set(&uuid(number), any(&mut rng));
            if number >= 1000 {
                check(&table, "that came");
            }
            // As many objects come as go, until a table that is never rebuilt would have doubled.
            if number == 40_000 {
                for new in 1_000_000..1_150_000 {
                    let gone = if new < 1_040_000 { new - 1_000_000 } else { new - 40_000 };
                    table.remove(&uuid(gone));
                    table.set(&uuid(new), any(&mut rng));
                    check(&table, "that come and go");
                }
            }
        }
        table.retain(|object| object.state == RowState::LeftOut && object.seen);
        table.shrink();
        check(&table, "that are left");
    }

    #[test]
    fn a_uid_of_another_form_is_another_object() {
        let canonical = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let others = [
            "0F8FAD5B-D9CB-469F-A165-70867728950E",
            "0f8fad5bd9cb469fa16570867728950e",
            "{0f8fad5b-d9cb-469f-a165-70867728950e}",
            "urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e",
            "0f8fad5b-d9cb-469f-a165-70867728950",
            "",
        ];
        let mut table = Table::default();
        let object =
            |version| KnownObject { version, state: RowState::Stored(LifecycleState::Live), seen: true, pairs: None };
        for (version, uid) in (1..).zip(others.into_iter().chain([canonical])) {
            assert_eq!(table.set(uid, object(version)), None, "{uid}");
        }
        for (version, uid) in (1..).zip(others.into_iter().chain([canonical])) {
            assert_eq!(table.remove(uid), Some(object(version)), "{uid}");
        }
        assert_eq!((table.entries.len(), table.others.len()), (0, 0));
    }
}
