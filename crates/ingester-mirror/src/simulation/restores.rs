//! Events of the whole cluster: it is restored from a backup, or loses all of its objects for a while.

use super::things::FakeObject;
use super::world::World;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tokio::time::Instant;

/// The versions that a restored cluster gives again to other states of the same objects.
///
/// A version that occurs twice looks the same, so only an ingester that knows that the cluster went back can find it. If an ingester's
/// first list comes after the cluster has reached the newest stored version, it cannot know this, so the simulation does not require it.
#[derive(Default)]
pub(super) struct ReusedVersions {
    /// Below this version, until all ingesters have listed.
    below: Option<u64>,
    listed: BTreeSet<usize>,
    given: HashSet<(String, u64)>,
    /// When all ingesters had last listed. Requests from before that belong to a lost past.
    known: Option<Instant>,
    /// Facts that no ingester can know.
    pub(super) unknowable: HashSet<(String, u64)>,
}

impl ReusedVersions {
    /// Records that the cluster is restored to a version while this is the newest version of a live row.
    fn begin(&mut self, newest: u64, version: u64) {
        self.give_up();
        self.below = Some(newest).filter(|newest| *newest > version);
    }

    /// Returns true if a version may be given once more to an object.
    pub(super) fn gives(&mut self, uid: &str, version: u64) -> bool {
        if self.below.is_some_and(|below| version >= below) {
            self.give_up();
        }
        self.below.is_some() && self.given.insert((uid.to_owned(), version))
    }

    fn give_up(&mut self) {
        if self.below.take().is_some() {
            self.unknowable.extend(self.given.iter().cloned());
        }
        self.listed.clear();
    }

    /// Records that an ingester has listed, and watches from there on.
    pub(super) fn listed(&mut self, ingester: usize, ingesters: usize) {
        self.listed.insert(ingester);
        if self.below.is_some() && self.listed.len() == ingesters {
            (self.below, self.known) = (None, Some(Instant::now()));
            self.listed.clear();
        }
    }

    /// Records that a request which an ingester sent at this time is written. If the ingester has not listed since the restore, it may
    /// write objects that it received before, and by its next list the cluster's version may have passed the version that it observed.
    pub(super) fn written<'u>(
        &mut self,
        ingester: usize,
        sent: Instant,
        written: impl Iterator<Item = (&'u str, u64)>,
    ) {
        let is_late = self.below.is_some() && !self.listed.contains(&ingester);
        if is_late || self.known.is_some_and(|known| sent < known) {
            let late = written.map(|(uid, version)| (uid.to_owned(), version));
            self.unknowable.extend(late.filter(|version| self.given.contains(version)));
        }
    }
}

/// Events of the whole cluster.
impl World {
    /// Brings the cluster back to the state of a backup. Versions are given again from there on.
    pub(super) fn restore(&mut self) {
        if self.server.backups.is_empty() || self.lost {
            return;
        }
        let choice = self.rng.usize(..self.server.backups.len());
        let (mut version, things) = self.server.backups[choice].clone();
        self.server.backups.truncate(choice + 1);
        if self.more.bumps && self.dice.bool() {
            version = self.server.version + self.dice.u64(100..1000);
        } else if self.more.reuse && self.dice.bool() {
            self.server.again.begin(self.database.newest(), version);
        }
        self.note("etcd", &format!("restored from v{} to v{version}", self.server.version));
        // If an ingester finds an object gone and has not seen a person's decision about it, it takes the row for one that has lost its
        // eviction.
        self.database.lost_evictions.extend(self.copies.just_decided().cloned());
        for thing in self.server.things.values() {
            self.truth.absent(&thing.uid);
        }
        for thing in things.values() {
            self.truth.present(thing);
        }
        self.truth.restored();
        self.snapshots.forget_all();
        (self.server.version, self.server.things) = (version, things);
        self.server.compact();
        self.server.disconnect();
    }

    /// All objects are lost, until they are [found](World::find) again.
    pub(super) fn lose(&mut self) -> (u64, BTreeMap<String, FakeObject>) {
        let things = std::mem::take(&mut self.server.things);
        self.note("etcd", &format!("all {} objects are lost", things.len()));
        for thing in things.values() {
            self.truth.absent(&thing.uid);
        }
        self.lost = true;
        self.swept.clear();
        self.snapshots.forget_all();
        let version = std::mem::replace(&mut self.server.version, 1);
        self.server.compact();
        self.server.disconnect();
        (version, things)
    }

    /// Brings the objects back as they were.
    pub(super) fn find(&mut self, (version, things): (u64, BTreeMap<String, FakeObject>)) {
        self.note("etcd", &format!("all {} objects are there again", things.len()));
        for thing in things.values() {
            self.truth.present(thing);
        }
        self.truth.restored();
        self.lost = false;
        (self.server.version, self.server.things) = (version, things);
        self.server.compact();
        self.server.disconnect();
    }
}
