//! A member's knowledge of the others, and its plan. Pure: the time is passed in.

use super::assign::assign;
use super::record::Record;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

/// Another member, as far as it is known.
#[derive(Debug)]
struct Peer {
    record: Record,
    /// The time when its present Lease was first seen here. The member's own clock does not count.
    seen: Instant,
    /// Its Lease was in the last list. If somebody deleted the Lease, the member may not know that yet.
    there: bool,
}

/// A member's view of its group.
#[derive(Debug)]
pub(super) struct Member {
    /// The name of its Lease.
    name: String,
    serves: BTreeSet<String>,
    definitions: String,
    peers: BTreeMap<String, Peer>,
    /// The time when the last list was requested.
    listed: Option<Instant>,
    /// The claims in the stored Lease, each with the time when it was known to be stored.
    stored: BTreeMap<String, Instant>,
    /// The units that were begun, and that no other member can have taken since then.
    begun: BTreeSet<String>,
}

/// Returns true if a member may still work: its Lease has changed here within its duration.
fn lives(peer: &Peer, now: Instant) -> bool {
    now.saturating_duration_since(peer.seen) < peer.record.duration
}

/// The next steps of a member.
#[derive(Debug, Default, PartialEq)]
pub(super) struct MemberPlan {
    /// The claims to write into the own Lease.
    pub(super) claims: BTreeSet<String>,
    /// The units that may be worked on. All others must be stopped.
    pub(super) may_run: BTreeSet<String>,
    /// Leases of members that are gone.
    pub(super) stale: Vec<Record>,
    /// The number of living members, including this one.
    pub(super) living: usize,
    /// The number of units that they share.
    pub(super) units: usize,
    /// One of them writes rows by other definitions.
    pub(super) mixed: bool,
}

impl Member {
    /// Creates the member with this Lease.
    pub(super) fn new(own: &Record) -> Self {
        Member {
            name: own.name.clone(),
            serves: own.serves.clone(),
            definitions: own.definitions.clone(),
            peers: BTreeMap::new(),
            listed: None,
            stored: BTreeMap::new(),
            begun: BTreeSet::new(),
        }
    }

    /// Returns true if it has not seen any list.
    pub(super) fn is_new(&self) -> bool {
        self.listed.is_none()
    }

    /// Takes all Leases of the group, from a list that was requested at `asked`. Returns the own Lease, if it is in the list.
    pub(super) fn listed(&mut self, leases: Vec<Record>, asked: Instant, now: Instant) -> Option<Record> {
        let (own, others): (Vec<Record>, Vec<Record>) = leases.into_iter().partition(|lease| lease.name == self.name);
        for (name, peer) in &mut self.peers {
            peer.there = others.iter().any(|other| other.name == *name);
        }
        self.peers.retain(|_, peer| peer.there || lives(peer, asked) && !peer.record.claims.is_empty());
        for record in others {
            match self.peers.get_mut(&record.name) {
                Some(peer) if peer.record.version == record.version && peer.record.uid == record.uid => {}
                _ => drop(self.peers.insert(record.name.clone(), Peer { record, seen: now, there: true })),
            }
        }
        self.listed = Some(asked);
        let own = own.into_iter().next();
        if let Some(own) = &own {
            self.stored.retain(|claim, _| own.claims.contains(claim));
        }
        own
    }

    /// Records that at `now` the own Lease is known to be stored with these claims.
    pub(super) fn record_stored(&mut self, claims: &BTreeSet<String>, now: Instant) {
        self.stored.retain(|claim, _| claims.contains(claim));
        for claim in claims {
            self.stored.entry(claim.clone()).or_insert(now);
        }
    }

    /// Records that the Lease was not renewed in time: others may take over every unit. All earlier knowledge is void.
    pub(super) fn expired(&mut self) {
        self.stored.clear();
        self.begun.clear();
    }

    /// Returns the time when the next Lease of another member expires, if it is not renewed.
    pub(super) fn next_end(&self) -> Option<Instant> {
        let now = Instant::now();
        self.peers.values().map(|peer| peer.seen + peer.record.duration).filter(|end| *end > now).min()
    }

    /// Returns the next steps at `now`, while these units are worked on.
    pub(super) fn plan(&mut self, running: &BTreeSet<String>, now: Instant) -> MemberPlan {
        // A member whose last list is old does not know which others are alive.
        let now = self.listed.unwrap_or(now);
        let lives = |peer: &&Peer| lives(peer, now);
        let members = self.peers.values().filter(lives).filter(|peer| peer.there && !peer.record.has_left());
        let mixed = members.clone().any(|peer| peer.record.definitions != self.definitions);
        let mut living: BTreeMap<&str, &BTreeSet<String>> =
            members.map(|peer| (peer.record.name.as_str(), &peer.record.serves)).collect();
        living.insert(&self.name, &self.serves);
        let owners = assign(&living);
        let own: BTreeSet<&String> =
            self.serves.iter().filter(|unit| owners.get(unit.as_str()) == Some(&self.name.as_str())).collect();
        let claimed_elsewhere = |unit: &String| {
            let claims = |peer: &Peer| peer.record.claims.contains(unit);
            self.peers.values().filter(lives).any(claims)
        };
        let may_run: BTreeSet<String> = own
            .iter()
            .filter(|unit| {
                // A unit that was begun continues: a member that wants it waits.
                self.begun.contains(**unit) || (self.is_confirmed(unit) && !claimed_elsewhere(unit))
            })
            .map(|unit| (*unit).clone())
            .collect();
        let stale = self.peers.values().filter(|peer| !lives(peer)).map(|peer| peer.record.clone()).collect();
        let claims = own.into_iter().chain(running.iter()).cloned().collect();
        let living = living.len();
        let units = owners.len();
        self.begun.clone_from(&may_run);
        MemberPlan { claims, may_run, stale, living, units, mixed }
    }

    /// Returns true if the last list was requested after the claim was stored.
    fn is_confirmed(&self, unit: &str) -> bool {
        self.stored.get(unit).zip(self.listed).is_some_and(|(stored, listed)| listed >= *stored)
    }
}

#[cfg(test)]
mod tests {
    use super::{Member, MemberPlan};
    use crate::replicas::record::Record;
    use std::collections::BTreeSet;
    use std::time::Duration;
    use tokio::time::Instant;

    fn units(units: &[&str]) -> BTreeSet<String> {
        units.iter().map(|unit| (*unit).to_owned()).collect()
    }

    fn lease(name: &str, version: u32, claims: &[&str]) -> Record {
        Record {
            name: name.into(),
            holder: name.into(),
            acquired: None,
            renewed: None,
            duration: Duration::from_secs(15),
            serves: units(&["A", "B"]),
            claims: units(claims),
            definitions: "1".into(),
            uid: name.into(),
            version: version.to_string(),
        }
    }

    /// A member called `m` of two units, with its claims on both stored at `now`.
    fn member(now: Instant) -> Member {
        let mut member = Member::new(&lease("m", 0, &[]));
        member.record_stored(&units(&["A", "B"]), now);
        member
    }

    #[test]
    fn a_unit_is_begun_after_a_list_that_knows_the_own_claim() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut alone = Member::new(&lease("m", 0, &[]));
        let plan = |member: &mut Member, now| member.plan(&BTreeSet::new(), now);
        alone.listed(vec![lease("m", 1, &[])], at(0), at(1));
        let expected = MemberPlan { claims: units(&["A", "B"]), living: 1, units: 2, ..MemberPlan::default() };
        assert_eq!(plan(&mut alone, at(1)), expected, "nothing is claimed yet");
        alone.record_stored(&units(&["A", "B"]), at(3));
        // It was requested before the claims were stored.
        alone.listed(vec![lease("m", 2, &["A", "B"])], at(2), at(4));
        assert!(plan(&mut alone, at(4)).may_run.is_empty());
        alone.listed(vec![lease("m", 2, &["A", "B"])], at(3), at(5));
        assert_eq!(plan(&mut alone, at(5)).may_run, units(&["A", "B"]));
    }

    #[test]
    fn a_unit_that_a_living_member_claims_is_waited_for() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut member = member(at(0));
        // The other member has every unit, and half of them are ours now.
        member.listed(vec![lease("other", 1, &["A", "B"])], at(1), at(1));
        let plan = member.plan(&BTreeSet::new(), at(1));
        assert_eq!((plan.claims.len(), plan.may_run.len(), plan.living), (1, 0, 2));
        let own: Vec<&str> = plan.claims.iter().map(String::as_str).collect();
        let left = if own == ["A"] { "B" } else { "A" };
        member.listed(vec![lease("other", 2, &[left])], at(2), at(2));
        assert_eq!(member.plan(&BTreeSet::new(), at(2)).may_run, plan.claims);
    }

    #[test]
    fn a_deleted_lease_frees_its_units_as_late_as_one_that_is_not_renewed() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut member = member(at(0));
        member.listed(vec![lease("other", 1, &["A"])], at(1), at(1));
        for (second, free) in [(2, false), (15, false), (16, true)] {
            member.listed(vec![], at(second), at(second));
            let plan = member.plan(&BTreeSet::new(), at(second));
            assert_eq!(
                (plan.may_run.contains("A"), plan.may_run.contains("B"), plan.living),
                (free, true, 1),
                "{second}"
            );
        }
        // A member that has left claims nothing, so no member waits.
        let mut member = self::member(at(0));
        member.listed(vec![lease("other", 1, &["A"])], at(1), at(1));
        member.listed(vec![lease("other", 2, &["A"]).left(Duration::from_secs(6))], at(2), at(2));
        assert_eq!(member.plan(&BTreeSet::new(), at(2)).may_run, units(&["A", "B"]));
        // Its Lease is not needed once all members have had time to see that.
        for (second, stale) in [(7, 0), (8, 1)] {
            member.listed(vec![lease("other", 2, &["A"]).left(Duration::from_secs(6))], at(second), at(second));
            assert_eq!(member.plan(&BTreeSet::new(), at(second)).stale.len(), stale, "{second}");
        }
    }

    #[test]
    fn members_of_another_release_are_known_by_their_definitions() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut member = member(at(0));
        let of = |definitions: &str| Record { definitions: definitions.into(), ..lease("other", 1, &["A"]) };
        for (lease, mixed) in
            [(of("1"), false), (of(""), true), (of("2"), true), (of("2").left(Duration::from_secs(6)), false)]
        {
            let lease = Record { uid: lease.definitions.clone(), ..lease };
            member.listed(vec![lease.clone()], at(1), at(1));
            assert_eq!(member.plan(&BTreeSet::new(), at(1)).mixed, mixed, "{lease:?}");
        }
        member.listed(vec![], at(2), at(2));
        assert!(!member.plan(&BTreeSet::new(), at(2)).mixed);
    }

    #[test]
    fn running_units_are_confirmed_again_after_the_lease_ran_out() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut member = member(at(0));
        member.listed(vec![], at(1), at(1));
        let both = units(&["A", "B"]);
        assert_eq!(member.plan(&BTreeSet::new(), at(1)).may_run, both);
        assert_eq!(member.plan(&both, at(2)).may_run, both);
        member.expired();
        assert!(member.plan(&both, at(12)).may_run.is_empty(), "it is unknown whose they are");
        member.record_stored(&both, at(13));
        assert!(member.plan(&both, at(13)).may_run.is_empty(), "others were not looked for yet");
        member.listed(vec![lease("other", 1, &["A", "B"])], at(14), at(14));
        assert!(member.plan(&both, at(14)).may_run.is_empty());
    }

    #[test]
    fn a_member_is_dead_when_its_lease_did_not_change_here_for_its_duration() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut member = member(at(0));
        for (second, version) in [(0, 1), (10, 2), (20, 2), (24, 2)] {
            member.listed(vec![lease("other", version, &["A", "B"])], at(second), at(second));
            let plan = member.plan(&BTreeSet::new(), at(second));
            assert!(plan.may_run.is_empty() && plan.stale.is_empty(), "at {second}");
        }
        member.listed(vec![lease("other", 2, &["A", "B"])], at(25), at(25));
        let plan = member.plan(&BTreeSet::new(), at(25));
        assert_eq!((plan.may_run, plan.stale.len(), plan.living), (units(&["A", "B"]), 1, 1));
        // The other member was slow, not dead: it gets its units back, and they are stopped here.
        member.listed(vec![lease("other", 3, &["A", "B"])], at(26), at(26));
        let plan = member.plan(&units(&["A", "B"]), at(26));
        assert_eq!(
            (plan.may_run.len(), plan.claims.len(), plan.living),
            (1, 2, 2),
            "what is being stopped is still claimed"
        );
    }
}
