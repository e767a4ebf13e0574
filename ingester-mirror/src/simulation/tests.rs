use super::members::{self, Tally};
use super::run::{Outcome, run};
use crate::mistakes::{self, Mistake};
use std::ops::Range;

/// The seeds that CI runs.
const SEEDS: Range<u64> = 0..2000;

/// Seeds in which mistakes are found that need many coincidences.
const RARE: [u64; 4] = [2197, 3221, 6530, 8777];

/// The same, of seeds that have all troubles.
const RARE_TODAY: [u64; 5] = [2057, 7846, 31893, 37493, 38441];

/// Seeds beyond those in which something was found once. They are good for as long as the models stay as they are.
#[rustfmt::skip]
const KEPT: [u64; 11] = [
    // The deletion of an object that is left out failed while an older event of it waited: it was never tried again.
    4045,
    // A write that was under way for a minute came after the resync that would have undone it.
    6518,
    // The deletion of an object, whose evicted row was of an earlier version, left no trace.
    49917,
    // A row that somebody revived was forgotten, because the cluster did not answer when its object was to be looked at.
    141598,
    // The cluster was restored to the moment before an object's deletion, which was not requested again.
    200627,
    // The database was away while the cluster was restored, and then ingesters wrote what they had received before over the last row of
    // an object: of one that was deleted, and of two that were evicted.
    295125, 468318, 834831,
    // An evicted row, which somebody had removed, came again with late events, and then a look at the object from before that.
    428905,
    // A row was marked as deleted at its version, late, when the object was to stay again: somebody had changed the row meanwhile, or
    // another ingester had written that version late, too.
    774123, 907058,
];

/// Whether a seed was kept for its history. It has the troubles of its time.
pub(super) fn is_kept(seed: u64) -> bool {
    KEPT.contains(&seed) || RARE.contains(&seed)
}

/// Threads that run seeds.
const THREADS: u64 = 2;

fn told(seed: u64, outcome: &Outcome) -> String {
    let violation = outcome.violation.as_deref().unwrap_or("nothing");
    let history = outcome.history.join("\n");
    format!(
        "{history}\nseed {seed}: {violation}\nto see it again: SIMULATION_SEED={seed} cargo test -p ingester-mirror simulation"
    )
}

/// What ingesters did in many seeds.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    requests: usize,
    tally: Tally,
}

impl Done {
    fn and(self, requests: usize, tally: Tally) -> Self {
        let Tally { rows, twice } = self.tally;
        Done {
            requests: self.requests + requests,
            tally: Tally { rows: rows + tally.rows, twice: twice + tally.twice },
        }
    }
}

/// Runs seeds until one fails. Returns that with its history, and what was done.
fn first_failure(seeds: Range<u64>, mistake: Option<Mistake>) -> (Option<(u64, String)>, Done) {
    let part = |thread: u64| {
        mistakes::make(mistake);
        let mut done = Done::default();
        for seed in seeds.clone().filter(|seed| seed % THREADS == thread) {
            let outcome = run(seed);
            done = done.and(outcome.requests, outcome.tally);
            if outcome.violation.is_some() {
                return (Some((seed, told(seed, &outcome))), done);
            }
        }
        (None, done)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        let results = threads.into_iter().map(|thread| thread.join().unwrap());
        results.fold((None, Done::default()), |(failure, done), (other, more)| {
            (failure.into_iter().chain(other).min(), done.and(more.requests, more.tally))
        })
    })
}

fn range(text: &str) -> Range<u64> {
    let (from, to) = text.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

/// The mistakes, each of which the mirror once made.
const MISTAKES: [Mistake; 31] = [
    Mistake::EvictedMarkedDeleted,
    Mistake::TombstoneUnchanged,
    Mistake::BelievedNotFound,
    Mistake::RoundEnds,
    Mistake::ForgottenWhileHeld,
    Mistake::HastyLook,
    Mistake::LeftOutWaits,
    Mistake::LeftOutStale,
    Mistake::LeftOutConfirmed,
    Mistake::DefinitionIgnored,
    Mistake::NoFuse,
    Mistake::AnyCluster,
    Mistake::StreamWithoutEnd,
    Mistake::DeletedInStream,
    Mistake::SeenBefore,
    Mistake::CutOffAgain,
    Mistake::LeaseNotAsked,
    Mistake::ClaimIgnored,
    Mistake::RowsNotCompared,
    Mistake::MissedWhileHeld,
    Mistake::CollectedDeleted,
    Mistake::SilentRefusal,
    Mistake::CachedLook,
    Mistake::NodesClock,
    Mistake::WrittenFirst,
    Mistake::DeletedComesBack,
    Mistake::DeletionBelieved,
    Mistake::GhostBelieved,
    Mistake::EvictionForgotten,
    Mistake::SilentGhost,
    Mistake::FuseOfUnit,
];

#[test]
#[allow(clippy::print_stdout, reason = "how often members do the same is for people to judge")]
fn nothing_is_lost_in_any_history() {
    let variable = |name: &str| std::env::var(name).ok();
    let named = |mistake: &Mistake| variable("SIMULATION_MISTAKE").is_some_and(|name| name == format!("{mistake:?}"));
    let mistake = MISTAKES.into_iter().find(named);
    if let Some(seed) = variable("SIMULATION_SEED") {
        let seed = seed.parse().unwrap();
        mistakes::make(mistake);
        panic!("{}", told(seed, &run(seed)));
    }
    let seeds = variable("SIMULATION_SEEDS").map_or(SEEDS, |seeds| range(&seeds));
    let kept = KEPT.into_iter().map(|seed| first_failure(seed..seed + 1, mistake).0);
    if let Some((_, history)) = kept.flatten().next() {
        panic!("{history}");
    }
    let (failure, Done { requests, tally }) = first_failure(seeds, mistake);
    if let Some((_, history)) = failure {
        panic!("{history}");
    }
    assert!(requests > 10_000, "only {requests} requests");
    // Leases make it rare that two write the same; the guard makes it safe.
    let share = tally.twice as f64 / tally.rows.max(1) as f64;
    println!("members sent {} rows, {:.1} % of them after another one had sent the same", tally.rows, 100.0 * share);
}

#[test]
fn a_share_of_the_seeds_has_members_and_none_that_was_kept() {
    let shares = SEEDS.filter(|seed| members::are_in(*seed)).count();
    assert!(shares > 200, "{shares}");
    assert!(!KEPT.into_iter().chain(RARE).any(members::are_in));
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 0..20 {
        assert_eq!(run(seed).history, run(seed).history);
    }
}

#[test]
fn every_mistake_that_is_made_again_is_found() {
    let rare = || RARE.into_iter().chain(RARE_TODAY);
    for seed in rare() {
        let (failure, _) = first_failure(seed..seed + 1, None);
        assert!(failure.is_none(), "seed {seed} fails without any mistake, so it finds none: {failure:?}");
    }
    for mistake in MISTAKES {
        let one = rare().map(|seed| seed..seed + 1);
        let found = one.chain([SEEDS]).any(|seeds| first_failure(seeds, Some(mistake)).0.is_some());
        assert!(found, "{mistake:?} is not found");
    }
}
