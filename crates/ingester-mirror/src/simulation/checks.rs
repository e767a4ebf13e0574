//! The invariants after every step, and at rest.

use super::api_server::ServerState;
use super::database::KeptRow;
use super::kinds::{Flavour, MODEL, NEWER};
use super::only_copy::content;
use super::things::FakeObject;
use super::users::SWEEP_LIMIT;
use super::world::World;
use ingester_core::object::{ManagedFields, Object};
use ingester_store::StoredRow;
use ingester_store::compare::differences;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// The time for which a write may be on its way. A write that was sent before a restore of the cluster is correct for the cluster of that
/// time.
const ON_ITS_WAY: Duration = Duration::from_secs(240);

/// The past states of one object, and when they were true.
#[derive(Default)]
struct Life {
    /// Its version, and true if its row must be live.
    now: Option<(u64, bool)>,
    /// The time when each earlier version ended.
    ended: HashMap<u64, Instant>,
    /// The versions in which its row must not be live.
    leaving: BTreeSet<u64>,
    /// The versions, out of these, in which the row must be marked as deleted, and the object not evicted.
    deleted: BTreeSet<u64>,
    /// The versions in which it must be evicted.
    evicting: BTreeSet<u64>,
    /// The versions in which its deletion was requested.
    requested: BTreeSet<u64>,
    /// The last moment at which its row must not be live.
    left: Option<Instant>,
    /// At some moment the object did not exist.
    gone: bool,
}

/// The past states of the objects, and when they were true.
#[derive(Default)]
pub(super) struct Truth {
    lives: BTreeMap<String, Life>,
    /// The uids that each name has had.
    names: HashMap<String, BTreeSet<String>>,
    restored: Option<Instant>,
    /// The versions of objects that were stored so that the objects may be released.
    may_go: HashSet<(String, u64)>,
}

impl Truth {
    fn change(&mut self, uid: &str, new: Option<(u64, bool)>) {
        let now = Instant::now();
        let life = self.lives.entry(uid.to_owned()).or_default();
        if let Some((version, _)) = life.now {
            life.ended.insert(version, now);
        }
        if life.now.is_none_or(|(_, stays)| !stays) {
            life.left = Some(now);
        }
        life.gone |= new.is_none();
        life.leaving.extend(new.filter(|(_, stays)| !stays).map(|(version, _)| version));
        life.now = new;
    }

    pub(super) fn present(&mut self, thing: &FakeObject) {
        self.change(&thing.uid, Some((thing.version, thing.stays())));
        if !thing.stays() && (thing.deletes() || !thing.evicts()) {
            self.lives.entry(thing.uid.clone()).or_default().deleted.insert(thing.version);
        }
        if thing.evicts() {
            self.lives.entry(thing.uid.clone()).or_default().evicting.insert(thing.version);
        }
        if thing.deletion.is_some() || thing.deletes() {
            self.lives.entry(thing.uid.clone()).or_default().requested.insert(thing.version);
        }
        self.names.entry(thing.name.clone()).or_default().insert(thing.uid.clone());
    }

    /// Returns the number of things with separate pauses that a question may be about: the objects that have had a name, and the tasks that
    /// read metadata: lists, resyncs, and the round that adds finalizers.
    pub(super) fn askers(&self, key: &str) -> u32 {
        if key.starts_with("list metadata") {
            return 3;
        }
        // A row's version is read by the worker that has its object, and by the comparison with the last evictions.
        if key == "stream metadata" || key == "version" || key.starts_with("versions ") {
            return 2;
        }
        let uids = key.strip_prefix("look ").and_then(|name| self.names.get(name));
        uids.map_or(1, |uids| u32::try_from(uids.len()).unwrap_or(u32::MAX))
    }

    pub(super) fn absent(&mut self, uid: &str) {
        self.change(uid, None);
    }

    pub(super) fn restored(&mut self) {
        self.restored = Some(Instant::now());
    }

    /// Records that a row is stored that allows its object to be released.
    pub(super) fn record_stored(&mut self, uid: &str, version: u64) {
        self.may_go.insert((uid.to_owned(), version));
    }

    /// Returns true if this version was stored so that the object may be released. Since then an ingester may have overwritten it that has
    /// not found out yet that the cluster went back.
    fn was_stored(&self, uid: &str, version: u64) -> bool {
        let went_back = self.restored.is_some_and(|restored| restored.elapsed() < ON_ITS_WAY);
        went_back && self.may_go.contains(&(uid.to_owned(), version))
    }

    /// Returns the time since which something must have been true to allow the replacement of a row from `time`.
    fn relevant(&self, time: Instant) -> Instant {
        match self.restored {
            Some(restored) if restored.elapsed() < ON_ITS_WAY => {
                time.min(restored - ON_ITS_WAY.min(restored.elapsed()))
            }
            _ => time,
        }
    }

    /// Returns true if the object did not exist at some moment since it was created.
    pub(super) fn was_gone(&self, uid: &str) -> bool {
        self.lives.get(uid).is_none_or(|life| life.gone)
    }

    /// Returns true if the row of an object that is gone must not be live in the object's last state.
    fn was_leaving(&self, uid: &str) -> bool {
        self.last_state(uid).is_some_and(|(life, last)| life.leaving.contains(&last))
    }

    /// Returns true if an object that is gone had to be evicted in its last state. A fail-over may lose a row with that intention, and an
    /// ingester that has not noticed this yet still knows the row's content.
    fn was_evicting(&self, uid: &str) -> bool {
        self.last_state(uid).is_some_and(|(life, last)| life.evicting.contains(&last))
    }

    /// An object that is gone, with the version of its last state.
    fn last_state(&self, uid: &str) -> Option<(&Life, u64)> {
        let life = self.lives.get(uid).filter(|life| life.now.is_none())?;
        let (last, _) = life.ended.iter().max_by_key(|(version, ended)| (**ended, **version))?;
        Some((life, *last))
    }

    /// Returns true if the object's deletion was requested in this version.
    fn was_requested(&self, uid: &str, version: u64) -> bool {
        self.lives.get(uid).is_some_and(|life| life.requested.contains(&version))
    }

    /// Returns true if this was the object's state at some moment since `time`.
    fn was(&self, uid: &str, version: u64, time: Instant) -> bool {
        let Some(life) = self.lives.get(uid) else { return false };
        let time = self.relevant(time);
        life.now.is_some_and(|(now, _)| now == version) || life.ended.get(&version).is_some_and(|ended| *ended >= time)
    }

    /// Returns true if the object had to be deleted in this version, which came after the stored one. So it was not evicted in the stored
    /// version.
    fn outlived(&self, uid: &str, stored: u64, version: u64) -> bool {
        let Some(life) = self.lives.get(uid) else { return false };
        let ended = |version| life.ended.get(&version).filter(|_| life.now.is_none_or(|(now, _)| now != version));
        let follows = ended(stored).zip(ended(version)).is_some_and(|(stored, later)| stored < later);
        follows && version > stored && life.deleted.contains(&version)
    }

    /// Returns true if its row had to be not live at some moment since `time`, or in this version, which is not earlier than the stored
    /// one.
    fn left(&self, uid: &str, time: Instant, version: Option<u64>) -> bool {
        let Some(life) = self.lives.get(uid) else { return true };
        if version.is_some_and(|version| life.leaving.contains(&version)) {
            return true;
        }
        let time = self.relevant(time);
        life.now.is_none_or(|(_, stays)| !stays) || life.left.is_some_and(|left| left >= time)
    }
}

/// Checks an ingester's write of a row.
pub(super) fn before_row(world: &mut World, old: Option<&KeptRow>, new: &StoredRow) {
    let Some(old) = old else { return };
    let stored = old.version();
    let uid = &*new.uid;
    let deleted = new.delete_time.is_some();
    let evicted = new.evict_time.is_some();
    let was = world.truth.was(uid, new.res_version, old.since);
    let newer = new.res_version > stored.res_version;
    let not_earlier = Some(new.res_version).filter(|version| *version >= stored.res_version);
    // A late write of the last state as evicted does not revive the row: it turns a tombstone, which could be purged, into a row that is
    // kept.
    let saved = evicted && new.res_version == stored.res_version;
    // A restored etcd gives a version a second time, to another state.
    let again_used = world.more.reuse && new.res_version == stored.res_version && content(new) != content(&old.row);
    let follows = was && (new.res_version != stored.res_version || again_used);
    // An object that a rule had chosen is live again until it is judged again.
    let reconsidered = world.is_reconsidered(old, new);
    let told = format!("{}, is written over as v{} deleted {deleted} evicted {evicted}", old.told(), new.res_version);
    // A row that was removed by hand comes back with late events, and then with an object that was looked up before the removal.
    let again = world.database.by_hand.contains(uid);
    if !stored.deleted && !stored.evicted() && deleted {
        before_mark(world, uid);
        before_filter_marks(world, old, new.res_version);
    }
    let outlived = again && world.truth.outlived(uid, stored.res_version, new.res_version);
    if deleted && world.is_evicted_by_rule(uid) {
        world.violate(format!("what a rule evicts is not marked as deleted: {told}"));
    } else if stored.evicted() && deleted && !was && !outlived {
        world.violate(format!("an evicted row is never marked as deleted: {told}"));
    } else if stored.evicted() && !evicted && !newer && !reconsidered && !follows {
        world.violate(format!("an evicted row keeps evict_time: {told}"));
    } else if stored.deleted && !deleted && !newer && !was && !saved {
        world.violate(format!("a tombstone is never revived by an older version: {told}"));
    } else if !stored.deleted && deleted && !world.truth.left(uid, old.since, not_earlier) {
        world.violate(format!("no row of an object that stays is marked as deleted: {told}"));
    }
}

/// Checks an ingester's sweep of these rows.
pub(super) fn before_sweep(world: &mut World, uids: &[String]) {
    // Evicted objects, and objects that had to be deleted, are meant to be gone. A database that took over may lack the rows of others,
    // which are not marked.
    let live = |uid: &&String| {
        let version = world.database.rows.get(uid.as_str()).map(KeptRow::version);
        let meant_to_go = world.truth.was_leaving(uid) || world.truth.was_evicting(uid);
        version.is_some_and(|version| !version.deleted && !version.evicted()) && !meant_to_go
    };
    let live: Vec<String> = uids.iter().filter(live).cloned().collect();
    if !world.lost {
        return;
    }
    if live.len() as u64 > SWEEP_LIMIT {
        world.violate(format!("no sweep marks more rows than the limit: {}", live.len()));
    }
    // A rejected object is looked at for that reason, too.
    let rejected = |uid: &str| world.database.rejects.contains_key(uid);
    let asked: Vec<String> = live.into_iter().filter(|uid| !rejected(uid)).collect();
    for uid in asked {
        world.swept.entry(uid).or_default();
    }
}

/// A row that was live is marked as deleted. It counts for the limit of its kind if a sweep has asked about it. The row of an object
/// that was to be deleted is marked for that reason.
fn before_mark(world: &mut World, uid: &str) {
    if world.truth.was_leaving(uid) {
        return;
    }
    let Some(marked) = world.swept.get_mut(uid) else { return };
    *marked = true;
    let all = world.swept.values().filter(|marked| **marked).count();
    if world.lost && world.more.namespaces && all as u64 > SWEEP_LIMIT {
        world.violate(format!("the units of a kind have one limit for sweeps: {all} rows"));
    }
}

/// A row that was live is marked as deleted. If another filter has written it, and its object is still there, such rows must have been counted.
fn before_filter_marks(world: &mut World, old: &KeptRow, version: u64) {
    let stays = |thing: &FakeObject| thing.deletion.is_none() && !thing.deletes() && thing.flavour == Flavour::LeftOut;
    let is_there = world.server.things.values().any(|thing| *thing.uid == *old.row.uid && stays(thing));
    let of_other_filter = old.row.json().contains(Flavour::LeftOut.as_str());
    // A user may have asked for its deletion, and changed that while the row was written.
    let withdrawn = world.truth.was_requested(&old.row.uid, version);
    if world.more.filters && is_there && of_other_filter && !withdrawn && !world.filter_marks {
        world.violate(format!("a changed filter marks no row before it may: {}", old.told()));
    }
}

/// Checks the removal of our finalizer by an ingester.
pub(super) fn before_release(world: &mut World, thing: &FakeObject) {
    let leaves = thing.deletion.is_some() || thing.deletes() || thing.evicts() || thing.flavour == Flavour::LeftOut;
    if !leaves && !world.may_leave_by_rule(thing) {
        world.violate(format!("no object that stays loses our finalizer: {}", thing.told()));
    }
    sql_before_kubernetes(world, thing);
}

/// Checks the deletion of an object by an ingester.
pub(super) fn before_deletion(world: &mut World, thing: &FakeObject) {
    if !thing.deletes() && !thing.evicts() && !world.may_leave_by_rule(thing) {
        world.violate(format!("the deletion of {} was not asked for", thing.told()));
    }
    world.deleted_by_rule(thing);
    sql_before_kubernetes(world, thing);
}

fn sql_before_kubernetes(world: &mut World, thing: &FakeObject) {
    let uid = thing.uid.as_str();
    if world.database.by_hand.contains(uid) {
        return;
    }
    let (stored, told) = match world.database.rows.get(uid) {
        Some(kept) => (Some(kept.version()), kept.told()),
        None => (None, "no row".to_owned()),
    };
    let good = stored.map_or(thing.flavour == Flavour::LeftOut, |stored| {
        if thing.flavour == Flavour::LeftOut {
            // In any version: its row is from before it was left out.
            stored.evicted() || stored.deleted
        } else if thing.evicts() && !thing.deletes() {
            stored.evicted() && (stored.res_version >= thing.version || world.says_the_same(thing))
        } else {
            stored.evicted() || stored.deleted && stored.res_version >= thing.version
        }
    });
    if !good && !world.truth.was_stored(uid, thing.version) {
        world.violate(format!("SQL comes before Kubernetes: {} is let go with {told}", thing.told()));
    }
}

/// Returns the violation once there was time for everything; `None` if all is well.
pub(super) fn at_rest(world: &World) -> Option<String> {
    if world.server.state != ServerState::Up {
        return Some("the API server is not up".into());
    }
    if world.database.refusal_of_changes().is_some() {
        return Some("the database takes no changes".into());
    }
    if !world.garbage().is_empty() {
        return Some("there is garbage".into());
    }
    for thing in world.server.things.values() {
        if let Some(wrong) = object_at_rest(world, thing) {
            return Some(format!("{wrong}: {}", thing.told()));
        }
    }
    if let Some(wrong) = world.undone().or_else(|| world.unpurged()).or_else(|| world.unrestored()) {
        return Some(wrong);
    }
    if let Some(wrong) = world.members_at_rest().or_else(|| world.lost_copy()).or_else(|| world.unreported()) {
        return Some(wrong);
    }
    let orphan = world.database.rows.values().find(|kept| {
        let version = kept.version();
        // A row that has lost its eviction stays as it is.
        let lost = world.database.lost_evictions.contains(&kept.row.uid);
        !lost
            && !version.deleted
            && !version.evicted()
            && !world.server.things.values().any(|thing| *thing.uid == *kept.row.uid)
    });
    if let Some(wrong) = world.unconfirmed() {
        return Some(wrong);
    }
    orphan.map(|kept| format!("no row is live without an object unless it is evicted: {}", kept.told()))
}

fn object_at_rest(world: &World, thing: &FakeObject) -> Option<&'static str> {
    if world.is_ghost(thing) {
        return world.ghost_at_rest(thing);
    }
    let kept = world.database.rows.get(thing.uid.as_str());
    let stored = kept.map(KeptRow::version);
    let rejected = matches!(thing.flavour, Flavour::Undecodable | Flavour::Refused);
    let reject = world.database.rejects.get(thing.uid.as_str());
    if thing.flavour == Flavour::Refused {
        return reject.is_none().then_some("an object that is not stored is recorded");
    }
    let undeletable = thing.undeletable.is_some();
    if world.may_leave_by_rule(thing) && (undeletable || thing.unpatchable.is_some()) {
        // It has been leaving since the rule chose it.
        return None;
    }
    if thing.unpatchable.is_some() && (thing.is_ours() || thing.stays()) {
        // Its finalizers cannot be changed.
    } else if thing.deletion.is_some() && thing.is_ours() {
        return Some("no finalizer of ours stays on what may go");
    } else if thing.stays() && !thing.evicts() && !rejected && !thing.is_ours() && !world.is_left(thing) {
        return Some("every live object has our finalizer");
    } else if thing.flavour == Flavour::LeftOut && thing.deletes() && thing.deletion.is_none() && !undeletable {
        return Some("an object that is left out is deleted if that is asked for");
    }
    if thing.flavour == Flavour::LeftOut {
        // The mirror only finds out that an object is left out when the object changes, so a row that was revived by hand stays: the audit
        // finds it.
        let revived = world.database.by_hand.contains(thing.uid.as_str());
        let live = stored.is_some_and(|stored| !stored.deleted && !stored.evicted()) && !revived;
        return live.then_some("an object that is left out has no live row");
    }
    if !thing.stays() {
        // A tombstone that was removed by hand is written again when the object is gone.
        let uid = thing.uid.as_str();
        let removed = world.database.by_hand.contains(uid) || world.database.purged.contains(uid);
        let gone = stored.map_or(removed, |stored| stored.deleted || stored.evicted());
        if thing.deletion.is_none() && !undeletable {
            return Some("an object whose deletion is asked for is deleted");
        }
        return (!gone && !rejected).then_some("the row of an object that leaves is marked");
    }
    if thing.flavour == Flavour::Undecodable {
        return reject.is_none().then_some("an object that is not stored is recorded");
    }
    if thing.evicts() && thing.unpatchable.is_none() && !undeletable {
        return Some("an immutable object leaves etcd");
    }
    let Some(kept) = kept else { return Some("every object has its row") };
    if kept.version().deleted {
        return Some("every live object has a live row");
    }
    if kept.row.res_version != thing.version {
        return Some("the row is of the object's version");
    }
    let kind = if world.ingesters.iter().any(|ingester| ingester.newer) { NEWER } else { MODEL };
    let object = Object::parse(thing.render_json(), ManagedFields::Keep).ok();
    let row = object.and_then(|object| kind.row(&object).ok().flatten());
    let Some(mut row) = row else { return Some("the object has a row") };
    row.evict_time = kept.row.evict_time;
    if kept.version().evicted() != thing.evicts() {
        return Some("a row is evicted if its object is immutable");
    }
    if world.server.again.unknowable.contains(&(thing.uid.clone(), thing.version)) {
        return None;
    }
    (!differences(kind.table(), &row, &kept.row).is_empty()).then_some("the row has the object's columns")
}

#[cfg(test)]
mod tests {
    use super::super::kinds::MODEL;
    use super::super::things::FakeObject;
    use super::super::troubles::{ExtraTroubles, Troubles};
    use super::super::world::{Sim, World};
    use ingester_core::object::{ManagedFields, Object};
    use ingester_core::row::Row;
    use ingester_core::value::Micros;
    use ingester_store::RowChange;
    use std::time::Duration;

    fn sim() -> Sim {
        Sim::new(0, 1, Troubles::from_seed(0, &mut fastrand::Rng::with_seed(0), ExtraTroubles::default()))
    }

    fn thing(world: &World) -> FakeObject {
        world.server.things["a"].clone()
    }

    fn row(thing: &FakeObject, delete_time: Option<Micros>, evict_time: Option<Micros>) -> Row {
        let object = Object::parse(thing.render_json(), ManagedFields::Keep).unwrap();
        Row { delete_time, evict_time, ..MODEL.row(&object).unwrap().unwrap() }
    }

    /// Returns the violation when a row that comes back as evicted, of an object that is gone, is marked as deleted. `outlived`: the object
    /// had to be deleted after it had to be evicted; otherwise it is only known to be gone. `removed`: the row had been removed by hand.
    async fn mark(outlived: bool, removed: bool) -> Option<String> {
        let sim = sim();
        sim.world().create("a", |thing| {
            thing.finalizers.push("example.com/other".to_owned());
            (thing.deletion, thing.immutable) = (Some(0), true);
        });
        let evicted = thing(&sim.world());
        let mut state = evicted.clone();
        let mut states = Vec::new();
        state.immutable = !outlived;
        for finalizers in [evicted.finalizers.clone(), Vec::new()] {
            tokio::time::advance(Duration::from_secs(1)).await;
            let mut world = sim.world();
            state.finalizers = finalizers;
            world.put(state.clone());
            state.version = world.server.version;
            states.push(state.clone());
        }
        let evicted = row(&evicted, None, Some(Micros(1)));
        let row = row(&states[usize::from(!outlived)], Some(Micros(2)), None);
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut world = sim.world();
        let seen = evicted.version();
        if removed {
            world.database.by_hand.insert(evicted.uid.clone());
        }
        world.write("i0", vec![RowChange::Row(evicted)]);
        world.write("i1", vec![RowChange::Replacement { row, seen }]);
        world.violation.take()
    }

    #[tokio::test(start_paused = true)]
    async fn an_evicted_row_is_marked_as_deleted_only_for_a_later_state_in_which_the_object_was_to_be_deleted() {
        assert_eq!(mark(true, true).await, None);
        for (outlived, removed) in [(true, false), (false, true)] {
            let violation = mark(outlived, removed).await;
            let told = "an evicted row is never marked as deleted";
            assert!(violation.is_some_and(|what| what.starts_with(told)), "{outlived} {removed}");
        }
    }

    /// Returns the violation when the row of an object that no longer has to be deleted is marked as deleted. The row has the object's
    /// state with the one index, the mark the state with the other; in one state the object must be deleted, in the other it must stay.
    fn mark_late(stored: usize, marked: usize) -> Option<String> {
        let sim = sim();
        let mut world = sim.world();
        world.create("a", |thing| thing.deleting = true);
        let leaving = thing(&world);
        let mut stays = leaving.clone();
        stays.deleting = false;
        world.put(stays);
        let states = [leaving, thing(&world)];
        let live = row(&states[stored], None, None);
        let row = row(&states[marked], Some(Micros(1)), None);
        let seen = live.version();
        world.write("i0", vec![RowChange::Row(live)]);
        let Some(kept) = world.database.rows.get_mut(&row.uid) else { return Some("no row".into()) };
        kept.since += Duration::from_secs(1);
        world.write("i1", vec![RowChange::Replacement { row, seen }]);
        world.violation.take()
    }

    #[test]
    fn a_late_mark_is_right_about_its_version_if_no_later_one_is_stored() {
        assert_eq!(mark_late(0, 0), None);
        for (stored, marked) in [(1, 0), (0, 1), (1, 1)] {
            let violation = mark_late(stored, marked);
            let told = "no row of an object that stays is marked as deleted";
            assert!(violation.is_some_and(|what| what.starts_with(told)), "{stored} {marked}");
        }
    }
}
