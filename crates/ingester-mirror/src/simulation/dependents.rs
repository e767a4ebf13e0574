//! Dependents, in some seeds: objects have owners, many of them have no rows, and there is a second kind that is suspended. A rule must not
//! take an owner out of etcd while the cluster has an object that it owns, because that object would be deleted as garbage.

use super::database::read_text;
use super::kinds::{Flavour, MODEL};
use super::policies::is_live;
use super::rows::owners_of;
use super::things::FakeObject;
use super::world::{Client, World};
use crate::dependents::Uids;
use crate::policies::{Candidate, Dependents, Hindrance, WeighedCandidates};
use ingester_core::Kind;
use ingester_core::kind::Definition;
use ingester_core::schema::base;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The time for which an object must have been unchanged before an ingester certainly knows it: it has heard of it and has stored it, or
/// remembers it.
const KNOWN: Duration = Duration::from_secs(12);

/// The same after an outage of the database.
const AFTER_OUTAGE: Duration = Duration::from_secs(30);

/// The second mirrored kind. It is suspended: no ingester lists or watches it.
pub(super) const PART: Kind = Kind::new(Definition { kind: "Part", ..*MODEL.definition() }, *MODEL.functions());

/// Returns true if a seed has dependents.
pub(super) fn are_in(seed: u64) -> bool {
    matches!(seed % 64, 6 | 22)
}

/// An object of the suspended kind.
struct Part {
    owner: String,
    namespace: &'static str,
    since: Instant,
}

/// The objects of the suspended kind, and the ingesters that have asked for them.
#[derive(Default)]
pub(super) struct Parts {
    parts: BTreeMap<u32, Part>,
    created: u32,
    /// When the API server listed them last, by ingester and unit, until a rule's objects are weighed.
    listed: BTreeMap<(usize, String), Instant>,
}

impl World {
    /// A user creates an object of the suspended kind, with an owner.
    pub(super) fn create_part(&mut self) {
        if self.server.things.is_empty() {
            return;
        }
        let choice = self.dice.usize(..self.server.things.len());
        let Some(thing) = self.server.things.values().nth(choice) else { return };
        let part = Part { owner: thing.uid.clone(), namespace: thing.namespace, since: Instant::now() };
        self.parts.created += 1;
        let number = self.parts.created;
        let told = format!("creates part {number}, owned by {}", part.owner);
        self.parts.parts.insert(number, part);
        self.note("user", &told);
    }

    /// Draws the flavour of an object with an owner.
    pub(super) fn flavour_of_dependent(&mut self) -> Flavour {
        [Flavour::Plain, Flavour::LeftOut, Flavour::Undecodable, Flavour::Refused][self.dice.usize(..4)]
    }

    /// Collects the objects of the suspended kind whose owners are gone.
    pub(super) fn collect_parts(&mut self) {
        let World { parts, server, .. } = self;
        let is_there = |uid: &str| server.things.values().any(|thing| thing.uid == uid);
        let gone: Vec<u32> =
            parts.parts.iter().filter(|(_, part)| !is_there(&part.owner)).map(|(number, _)| *number).collect();
        for number in gone {
            self.parts.parts.remove(&number);
            self.note("gc", &format!("deletes part {number}"));
        }
    }

    /// The owners, out of these, of the objects of a kind in a namespace, as the API server lists them.
    pub(super) fn list_owners(
        &mut self,
        kind: &'static str,
        namespace: Option<&str>,
        uids: &Uids,
        (ingester, unit): (usize, String),
    ) -> Uids {
        let is_in = |of: &str| namespace.is_none_or(|namespace| namespace == of);
        let owners: Vec<&String> = if kind == PART.kind() {
            self.parts.listed.insert((ingester, unit), Instant::now());
            let parts = self.parts.parts.values().filter(|part| is_in(part.namespace));
            parts.map(|part| &part.owner).collect()
        } else {
            let things = self.server.things.values().filter(|thing| is_in(thing.namespace));
            things.filter_map(|thing| thing.owned_by.as_ref()).collect()
        };
        owners.into_iter().map(|owner| Box::<str>::from(owner.as_str())).filter(|owner| uids.contains(owner)).collect()
    }

    /// Weighs the objects that a rule chooses, as the database shows them.
    pub(super) fn weigh(
        &mut self,
        leaving: &[Candidate],
        most: usize,
        dependents: &Dependents,
        (ingester, unit): (usize, String),
        sent: Instant,
    ) -> WeighedCandidates {
        let live: BTreeMap<&str, Vec<Box<str>>> = {
            let rows = self.database.rows.values().filter(|kept| is_live(kept));
            rows.map(|kept| (&*kept.row.uid, owners_of(read_text(&kept.row, base::JSON)))).collect()
        };
        let mut weighed = WeighedCandidates::default();
        for candidate in leaving {
            let Some(owners) = live.get(&*candidate.uid) else { continue };
            let hindrance = if owners.iter().any(|owner| live.contains_key(&**owner)) {
                Some(Hindrance::Owned)
            } else if live.values().flatten().any(|owner| *owner == candidate.uid) {
                Some(Hindrance::Owns)
            } else {
                dependents.hindrance(candidate)
            };
            match hindrance {
                Some(hindrance) => weighed.hindered.push((candidate.clone(), hindrance)),
                None if weighed.free.len() < most => weighed.free.push(candidate.clone()),
                None => {}
            }
        }
        let listed = self.parts.listed.remove(&(ingester, unit)).unwrap_or(sent);
        for candidate in &weighed.free {
            if let Some(dependent) = self.dependent_of(&candidate.uid, listed) {
                self.violate(format!(
                    "a rule moves no object that owns another one: {} owns {dependent}",
                    candidate.uid
                ));
            }
        }
        weighed
    }

    /// Returns an object that this one owns, and that an ingester knows or was told of. The API server listed the suspended kind at that
    /// time.
    fn dependent_of(&self, uid: &str, listed: Instant) -> Option<String> {
        let is_part = |(_, part): &(&u32, &Part)| part.owner == uid && part.since < listed;
        if let Some((number, _)) = self.parts.parts.iter().find(is_part) {
            return Some(format!("part {number}"));
        }
        let now = Instant::now();
        let outages = [self.database.down, self.database.full];
        if outages.into_iter().flatten().any(|end| end + AFTER_OUTAGE > now) {
            return None;
        }
        let leaves = |thing: &FakeObject| thing.deletion.is_some() || thing.deletes() || thing.evicts();
        let is_evicted = |thing: &FakeObject| {
            let kept = self.database.rows.get(thing.uid.as_str());
            kept.is_some_and(|kept| kept.version().evicted())
        };
        let is_known = |thing: &&FakeObject| {
            let is_old = thing.changed.is_some_and(|changed| changed + KNOWN <= now);
            let is_owned = thing.owned_by.as_deref() == Some(uid);
            is_owned && is_old && !leaves(thing) && !is_evicted(thing)
        };
        self.server.things.values().find(is_known).map(FakeObject::told)
    }

    /// Returns true if an object owns another one, or has an owner. Then no rule takes it out of etcd.
    pub(super) fn is_related(&self, thing: &FakeObject) -> bool {
        let things = &self.server.things;
        let owner_is_there =
            || thing.owned_by.as_ref().is_some_and(|owner| things.values().any(|other| other.uid == *owner));
        let owns = || things.values().any(|other| other.owned_by.as_ref() == Some(&thing.uid));
        let owns_part = || self.parts.parts.values().any(|part| part.owner == thing.uid);
        self.more.dependents && (owner_is_there() || owns() || owns_part())
    }
}

impl Client {
    /// Returns the ingester and the unit that ask.
    pub(super) fn asker(&self) -> (usize, String) {
        (self.ingester, self.namespace.unwrap_or(&self.unit).to_owned())
    }
}
