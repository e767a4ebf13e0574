//! The rule by which objects leave etcd in some seeds: the objects that it covers, and the invariants of its evictions.

use super::database::{KeptRow, read_text};
use super::kinds::{MODEL, NEWER};
use super::things::{DELETING, FakeObject, IMMUTABLE, is_done};
use super::world::{Sim, World};
use crate::policies::{Candidate, age};
use ingester_config::{Condition, Config, EvictionRule, KeepLast, Live};
use ingester_core::Kind;
use ingester_core::object::Meta;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_sql::query::Reads;
use ingester_store::guard::Eviction;
use ingester_store::{Premise, StoredRow};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The number of covered objects that stay.
const LAST: usize = 1;

/// The results of snapshots.
#[derive(Default)]
pub(super) struct Snapshots {
    /// The objects that were not among the last ones of some snapshot.
    beyond: BTreeSet<Box<str>>,
    /// The objects that an ingester has deleted only because of the rule, and that have not changed since.
    deleted: BTreeSet<Box<str>>,
}

impl Snapshots {
    /// Records another change of an object.
    pub(super) fn forget(&mut self, uid: &str) {
        self.deleted.remove(uid);
    }

    /// Records that the cluster is a different one now.
    pub(super) fn forget_all(&mut self) {
        self.deleted.clear();
    }
}

/// The longest time, in milliseconds, for which the rule is on or off where it is switched.
const SWITCHED: u64 = 20_000;

/// The switch of the rule, and the units that follow it.
#[derive(Default)]
pub(super) struct Switches {
    is_off: bool,
    units: Vec<watch::Sender<Arc<Config>>>,
}

/// The configuration of a new unit, which follows the switch of the rule.
pub(super) fn live(world: &mut World, config: Config) -> Live {
    let (sender, live) = Live::new(enforcing(&config, !world.switches.is_off));
    world.switches.units.push(sender);
    live
}

fn enforcing(config: &Config, enforce: bool) -> Config {
    let mut config = config.clone();
    config.policies.evict.values_mut().flatten().for_each(|rule| rule.enforce = enforce);
    config
}

/// Switches the rule off and on again, until the time of trouble is over. Then it is on.
pub(super) async fn switch(sim: Sim, seed: u64) {
    // Separate random numbers keep the rest of the run the same.
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x7377_6974);
    while !sim.world().calm {
        tokio::time::sleep(Duration::from_millis(rng.u64(1..SWITCHED))).await;
        let mut world = sim.world();
        let is_off = !world.switches.is_off && !world.calm;
        world.switch_off(is_off);
    }
    sim.world().switch_off(false);
}

/// The configuration of a seed with the rule.
pub(super) fn config(mut config: Config) -> Config {
    let keep_last = Some(KeepLast { count: LAST, by: Vec::new() });
    let condition = Condition { keep_last, ..Condition::default() };
    let rule = EvictionRule { name: "done".into(), condition, enforce: true };
    config.policies.evict = [("Model".to_owned(), vec![rule])].into();
    config.policies.period = Duration::from_secs(7);
    config
}

/// Returns the column that shows a release which objects are done: the next release uses its new column, which former rows lack.
pub(super) fn place_of_done(kind: &Kind) -> usize {
    kind.table().columns.len() - 1
}

/// Returns the premise of the rules of a release, for live rows and for the rows of evicted objects.
pub(super) fn premise(kind: &Kind, latest: u32) -> Premise {
    let mut reads = Reads::default();
    reads.add_place(place_of_done(kind));
    reads.add_place(base::CREATE_TIME);
    let own = kind.ingest_version();
    Premise { since: kind.unchanged_since(reads.columns(kind.table())), reads, own, latest, has_nul: true }
}

/// Returns true for the row of a live object.
pub(super) fn is_live(kept: &KeptRow) -> bool {
    let version = kept.version();
    !version.deleted && version.eviction == Eviction::None
}

/// A row, as rules judge it.
pub(super) fn candidate(kept: &KeptRow) -> Candidate {
    Candidate {
        uid: kept.row.uid.clone(),
        namespace: read_text(&kept.row, base::NAMESPACE).into(),
        name: kept.name().into(),
        version: kept.row.res_version,
        created: match kept.row.values[base::CREATE_TIME] {
            Value::Time(time) => Some(time),
            _ => None,
        },
        since: None,
        definition: kept.row.ingest_version,
        takes_place: true,
        evidence: 0,
        group: Vec::new(),
    }
}

impl World {
    /// Switches the rule off or on, for all ingesters at once.
    fn switch_off(&mut self, is_off: bool) {
        self.note("world", if is_off { "the rule is switched off" } else { "the rule is switched on" });
        self.switches.is_off = is_off;
        for unit in &self.switches.units {
            unit.send_modify(|config| *config = Arc::new(enforcing(config, !is_off)));
        }
    }

    /// An ingester is about to send the deletion of an object. The object of a ghost does not leave by the rule.
    pub(super) fn before_sending_deletion(&mut self, ingester: usize, meta: &Meta) {
        let is_asked = meta.annotations.iter().any(|(key, _)| [DELETING, IMMUTABLE].contains(&&**key));
        let thing = self.server.things.get(&*meta.name).filter(|thing| *thing.uid == *meta.uid);
        let is_ghost = thing.is_some_and(|thing| self.is_ghost(thing));
        if self.switches.is_off && !is_asked && !is_ghost && !self.ingesters[ingester].elsewhere {
            self.violate(format!(
                "once a rule is switched off, nothing is deleted for it: {} v{}",
                meta.name, meta.resource_version
            ));
        }
    }

    /// The rule's snapshot: the live rows that it covers.
    pub(super) fn candidates(&mut self, kind: &Kind, last: usize) -> Vec<Candidate> {
        let place = place_of_done(kind);
        // The same as `done!=false`: it also matches without a value.
        let is_meant = |kept: &&KeptRow| {
            let said = read_text(&kept.row, place);
            said.is_empty() || is_done(said)
        };
        let snapshot: Vec<Candidate> =
            self.database.rows.values().filter(|kept| is_live(kept)).filter(is_meant).map(candidate).collect();
        let own = Premise { latest: kind.ingest_version(), ..self.premise_of_live(kind) };
        let counts = |one: &&Candidate| own.refuses(one.definition).is_none();
        for one in &snapshot {
            let later = snapshot.iter().filter(counts).filter(|other| age(other) > age(one)).count();
            if later >= last {
                self.snapshots.beyond.insert(one.uid.clone());
            }
        }
        snapshot
    }

    /// Returns the premise of live rows.
    pub(super) fn premise_of_live(&self, kind: &Kind) -> Premise {
        premise(kind, self.database.latest)
    }

    /// Returns how many of these rows the premise excludes because of the definition that wrote them.
    pub(super) fn count_pending(&mut self, is_covered: fn(&KeptRow) -> bool, premise: &Premise) -> u64 {
        let covered = self.database.rows.values().filter(|kept| is_covered(kept));
        let refused = covered.filter(|kept| premise.refuses(kept.row.ingest_version).is_some());
        let refused: Vec<Box<str>> = refused.map(|kept| kept.row.uid.clone()).collect();
        let count = refused.len() as u64;
        self.judged.pending.extend(refused);
        count
    }

    /// Returns the uids whose rows do not prove the values that rules read from them.
    pub(super) fn unproved(&mut self, kind: &Kind, premise: &Premise, uids: &[String]) -> HashSet<Box<str>> {
        let row = |uid: &String| self.database.rows.get(uid.as_str()).map(|kept| &kept.row);
        let rows = uids.iter().filter_map(row);
        let unproved: HashSet<Box<str>> =
            rows.filter(|row| premise.prove(kind, row).is_err()).map(|row| row.uid.clone()).collect();
        self.judged.pending.extend(unproved.iter().cloned());
        unproved
    }

    /// Returns the candidates whose rows are unchanged and proved.
    pub(super) fn proved(&mut self, kind: &Kind, premise: &Premise, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let mut proved = Vec::new();
        for candidate in candidates {
            let kept = self.database.rows.get(&candidate.uid);
            let Some(kept) = kept.filter(|kept| kept.row.res_version == candidate.version) else { continue };
            match premise.prove(kind, &kept.row) {
                Ok(row) => {
                    let evidence = premise.reads.evidence(kind.table(), &row);
                    proved.push(Candidate { evidence, ..candidate });
                }
                Err(_) => {
                    self.judged.pending.insert(candidate.uid);
                }
            }
        }
        proved
    }

    /// Returns true if the rule may take an object in its present state out of the cluster.
    pub(super) fn may_leave_by_rule(&self, thing: &FakeObject) -> bool {
        self.more.policies && thing.is_done() && self.snapshots.beyond.contains(thing.uid.as_str())
    }

    /// An ingester deletes an object.
    pub(super) fn deleted_by_rule(&mut self, thing: &FakeObject) {
        if !thing.deletes() && !thing.evicts() && self.may_leave_by_rule(thing) {
            self.snapshots.deleted.insert(thing.uid.as_str().into());
        }
    }

    /// Returns true if a row may not be marked as deleted, because the rule has evicted its object. If several ingesters follow the cluster
    /// at the same time, the ones that have not evicted it may mark it.
    pub(super) fn is_evicted_by_rule(&self, uid: &str) -> bool {
        let one = self.ingesters.len() == 1 || self.shards.is_some();
        one && self.snapshots.deleted.contains(uid) && !self.database.by_hand.contains(uid)
    }

    /// Returns true if an intended eviction is taken back in a version in which only the rule can have requested it.
    pub(super) fn is_reconsidered(&self, old: &KeptRow, new: &StoredRow) -> bool {
        let asked = read_text(&old.row, base::JSON).contains(IMMUTABLE);
        let lives = new.delete_time.is_none() && new.res_version == old.row.res_version;
        self.more.policies && !asked && lives && old.row.eviction == Eviction::Intended
    }

    /// Returns the work that the rule has left undone although there was time for everything.
    pub(super) fn undone(&self) -> Option<String> {
        // Only ingesters of the latest definition judge. With members, each judges only its own objects.
        let is_newer = self.database.latest == NEWER.ingest_version();
        let kind = if is_newer { NEWER } else { MODEL };
        let judges = self.ingesters.iter().filter(|ingester| ingester.newer == is_newer).count();
        let is_judged = if self.shards.is_some() { judges == self.ingesters.len() } else { judges > 0 };
        if !self.more.policies || self.more.unevictable || !is_judged {
            return None;
        }
        let premise = self.premise_of_live(&kind);
        let is_provable = |thing: &FakeObject| {
            let kept = self.database.rows.get(thing.uid.as_str());
            kept.is_some_and(|kept| premise.prove(&kind, &kept.row).is_ok())
        };
        let is_free = |thing: &&FakeObject| {
            let ours = thing.finalizers.iter().all(|name| name == super::things::FINALIZER);
            let refused = thing.unpatchable.is_some() || thing.undeletable.is_some();
            thing.needs_nothing()
                && thing.is_done()
                && ours
                && !refused
                && is_provable(thing)
                && !self.is_ghost(thing)
                && !self.is_related(thing)
        };
        let free: Vec<&FakeObject> = self.server.things.values().filter(is_free).collect();
        (free.len() > LAST).then(|| format!("what a rule means leaves etcd: {}", free[0].told()))
    }
}
