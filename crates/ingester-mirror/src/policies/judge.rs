//! Judges a snapshot of rows by a rule. Pure.

use futures::future::BoxFuture;
use ingester_config::Condition;
use ingester_core::value::{Micros, Value};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A live object in the namespaces of a rule whose row meets the rule's `when`.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its uid.
    pub uid: Box<str>,
    /// Its namespace; empty if it has none.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The version that is judged.
    pub version: u64,
    /// When it was created; an object without that counts as the oldest.
    pub created: Option<Micros>,
    /// The time that `after` counts from.
    pub since: Option<Micros>,
    /// The definition of the kind that wrote its row.
    pub definition: u32,
    /// True if it takes one of the places of `keepLast`. A row that is already deleted or marked takes none.
    pub takes_place: bool,
    /// A hash of the parts that rules read, once its text has proved them; 0 before.
    pub evidence: u64,
    /// The values that make its group.
    pub group: Vec<Value>,
}

/// Why a rule keeps a candidate in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StayReason {
    /// It is among the last ones of its group.
    AmongLast(usize),
    /// The time that `after` counts from is NULL.
    NoTime,
    /// `after` has not passed before this time.
    Until(Micros),
}

impl fmt::Display for StayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StayReason::AmongLast(count) => {
                write!(f, "it is among the last {count} of its group, which `keepLast` keeps")
            }
            StayReason::NoTime => write!(f, "the time that `after` counts from has no value"),
            StayReason::Until(time) => write!(f, "`after` has not passed before {}", time.rfc3339()),
        }
    }
}

/// The result of judging a snapshot by a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The objects that the rule lets go, the oldest first.
    pub leaving: Vec<Candidate>,
    /// The objects that the rule keeps.
    pub staying: Vec<(Candidate, StayReason)>,
}

/// The order of objects: by the time of their creation, then by uid.
pub(crate) fn age(candidate: &Candidate) -> (Option<Micros>, &str) {
    (candidate.created, &candidate.uid)
}

/// Judges a snapshot at a time of the database's clock. The snapshot must hold all candidates of the rule.
pub fn judge(condition: &Condition, mut snapshot: Vec<Candidate>, now: Micros) -> Judgement {
    // The newest first: `keepLast` keeps the newest objects of a group.
    snapshot.sort_by(|one, other| age(other).cmp(&age(one)));
    let (mut judgement, mut groups) = (Judgement::default(), HashMap::<String, usize>::new());
    for candidate in snapshot {
        let stays = match &condition.keep_last {
            Some(keep) => {
                let later = groups.entry(group(&candidate)).or_default();
                let is_among_last = *later < keep.count;
                *later += usize::from(candidate.takes_place);
                is_among_last.then_some(StayReason::AmongLast(keep.count))
            }
            None => None,
        };
        match stays.or_else(|| not_yet(condition, &candidate, now)) {
            Some(stays) => judgement.staying.push((candidate, stays)),
            None => judgement.leaving.push(candidate),
        }
    }
    judgement.leaving.reverse();
    judgement.staying.reverse();
    judgement
}

/// Judges a snapshot. Only candidates whose columns are proved take places among the last ones. `unproved` gets uids and returns the ones
/// whose rows' texts do not prove the parts that rules read. It is called only for candidates whose places make others leave.
///
/// # Errors
/// The errors of `unproved`.
pub(crate) async fn judge_proved<'a, E>(
    condition: &Condition,
    mut snapshot: Vec<Candidate>,
    now: Micros,
    unproved: impl Fn(Vec<Box<str>>) -> BoxFuture<'a, Result<HashSet<Box<str>>, E>>,
) -> Result<Judgement, E> {
    let mut asked: HashSet<Box<str>> = HashSet::new();
    loop {
        let judgement = judge(condition, snapshot.clone(), now);
        let keepers: Vec<Box<str>> = judgement.keepers().filter(|uid| !asked.contains(*uid)).map(Box::from).collect();
        if keepers.is_empty() {
            return Ok(judgement);
        }
        let unproved = unproved(keepers.clone()).await?;
        if unproved.is_empty() {
            return Ok(judgement);
        }
        asked.extend(keepers);
        snapshot.iter_mut().filter(|one| unproved.contains(&one.uid)).for_each(|one| one.takes_place = false);
    }
}

impl Judgement {
    /// The uids of the candidates that take places in a group while others leave it.
    fn keepers(&self) -> impl Iterator<Item = &str> {
        let groups: HashSet<String> = self.leaving.iter().map(group).collect();
        let is_keeper =
            |(one, why): &&(Candidate, StayReason)| one.takes_place && matches!(why, StayReason::AmongLast(_));
        let keepers = self.staying.iter().filter(is_keeper);
        keepers.filter(move |(one, _)| groups.contains(&group(one))).map(|(one, _)| &*one.uid)
    }
}

/// The key of a candidate's group.
fn group(candidate: &Candidate) -> String {
    format!("{:?}", candidate.group)
}

/// Returns the reason why `after` keeps a candidate.
pub(crate) fn not_yet(condition: &Condition, candidate: &Candidate, now: Micros) -> Option<StayReason> {
    let after = i64::try_from(condition.after?.as_micros()).unwrap_or(i64::MAX);
    let Some(since) = candidate.since else { return Some(StayReason::NoTime) };
    let due = Micros(since.0.saturating_add(after));
    (due > now).then_some(StayReason::Until(due))
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Judgement, StayReason, judge, judge_proved};
    use futures::FutureExt as _;
    use ingester_config::{Condition, KeepLast};
    use ingester_core::value::{Micros, Value};
    use std::time::Duration;

    fn condition(after: Option<u64>, last: Option<usize>) -> Condition {
        Condition {
            after: after.map(Duration::from_secs),
            keep_last: last.map(|count| KeepLast { count, by: vec!["owner".into()] }),
            ..Condition::default()
        }
    }

    /// A candidate that was created at this second.
    fn candidate(uid: &str, second: i64, owner: &str) -> Candidate {
        let time = Some(Micros(second * 1_000_000));
        Candidate {
            uid: uid.into(),
            namespace: "ml".into(),
            name: uid.into(),
            version: 1,
            created: time,
            since: time,
            definition: 1,
            takes_place: true,
            evidence: 0,
            group: vec![Value::text(owner)],
        }
    }

    fn leaving(judgement: &Judgement) -> Vec<&str> {
        judgement.leaving.iter().map(|candidate| &*candidate.uid).collect()
    }

    const NOW: Micros = Micros(100_000_000);

    #[test]
    fn of_each_group_the_last_ones_stay_and_the_oldest_leave_first() {
        let snapshot =
            [("b", 2, "x"), ("a", 2, "x"), ("c", 9, "x"), ("d", 1, "x"), ("e", 1, "y"), ("f", 1, "y"), ("g", 1, "z")];
        let snapshot: Vec<_> = snapshot.iter().map(|(uid, second, owner)| candidate(uid, *second, owner)).collect();
        let judged = judge(&condition(None, Some(2)), snapshot.clone(), NOW);
        // Of two objects with the same creation time, the one with the greater uid counts as later.
        assert_eq!(leaving(&judged), ["d", "a"]);
        assert!(judged.staying.iter().all(|(_, stays)| *stays == StayReason::AmongLast(2)));
        assert_eq!(judged.staying.len() + judged.leaving.len(), snapshot.len());
    }

    #[test]
    fn an_object_leaves_once_its_time_has_passed_and_never_without_a_time() {
        let mut timeless = candidate("n", 1, "x");
        timeless.since = None;
        let snapshot = vec![candidate("a", 40, "x"), candidate("b", 41, "x"), timeless];
        let judged = judge(&condition(Some(60), None), snapshot, NOW);
        assert_eq!(leaving(&judged), ["a"]);
        let why: Vec<StayReason> = judged.staying.iter().map(|(_, stays)| *stays).collect();
        assert_eq!(why, [StayReason::NoTime, StayReason::Until(Micros(101_000_000))]);
    }

    #[test]
    fn the_last_ones_count_whatever_their_time() {
        // `b` is too young to leave, and is still the last one.
        let snapshot = vec![candidate("a", 1, "x"), candidate("b", 99, "x")];
        assert_eq!(leaving(&judge(&condition(Some(60), Some(1)), snapshot, NOW)), ["a"]);
    }

    #[test]
    fn an_object_without_a_time_of_creation_is_the_oldest() {
        let mut first = candidate("z", 5, "x");
        first.created = None;
        assert_eq!(leaving(&judge(&condition(None, Some(1)), vec![candidate("a", 1, "x"), first], NOW)), ["z"]);
    }

    #[tokio::test]
    async fn a_candidate_that_is_not_proved_takes_no_place_among_the_last() {
        let condition = condition(None, Some(1));
        let snapshot =
            vec![candidate("a", 1, "x"), candidate("b", 2, "x"), candidate("c", 3, "x"), candidate("d", 1, "alone")];
        let judged = judge_proved(&condition, snapshot, NOW, |uids| {
            // The candidate of another group keeps no place in this one.
            assert!(uids.iter().all(|uid| **uid != *"d"));
            async { Ok::<_, ()>(uids.into_iter().filter(|uid| **uid == *"c").collect()) }.boxed()
        });
        assert_eq!(leaving(&judged.await.unwrap()), ["a"]);
    }
}
