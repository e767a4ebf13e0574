use super::members::{self, Tally};
use super::run::{RunOutcome, run};
use super::seeds::{KEPT, KEPT_TODAY, RARE, SEEDS, named, read_seed, told};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

/// Threads that run seeds.
const THREADS: u64 = 2;

/// The actions of ingesters in many seeds.
#[derive(Clone, Copy, Debug, Default)]
struct ActionTotals {
    requests: usize,
    tally: Tally,
    /// Seeds in which rules met rows that they could not judge.
    pending: usize,
}

impl ActionTotals {
    fn and(self, other: Self) -> Self {
        let Tally { rows, twice } = self.tally;
        ActionTotals {
            requests: self.requests + other.requests,
            tally: Tally { rows: rows + other.tally.rows, twice: twice + other.tally.twice },
            pending: self.pending + other.pending,
        }
    }
}

/// Prints a hash of a history, if the environment asks for it. After a change that keeps behaviour, all hashes are the same.
#[allow(clippy::print_stdout, reason = "a later run is compared with it")]
fn print_hash(seed: u64, outcome: &RunOutcome) {
    if std::env::var_os("SIMULATION_HASHES").is_some() {
        let mut hasher = DefaultHasher::new();
        outcome.history.hash(&mut hasher);
        println!("history {seed} {:016x}", hasher.finish());
    }
}

/// Runs seeds until one fails. Returns the failed one with its history, and the actions.
fn first_failure(seeds: Range<u64>) -> (Option<(u64, String)>, ActionTotals) {
    let part = |thread: u64| {
        let mut done = ActionTotals::default();
        for seed in seeds.clone().filter(|seed| seed % THREADS == thread) {
            let outcome = run(seed);
            print_hash(seed, &outcome);
            let RunOutcome { requests, tally, pending, .. } = outcome;
            done = done.and(ActionTotals { requests, tally, pending: usize::from(pending > 0) });
            if outcome.violation.is_some() {
                return (Some((seed, told(seed, &outcome))), done);
            }
        }
        (None, done)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        let results = threads.into_iter().map(|thread| thread.join().unwrap());
        results.fold((None, ActionTotals::default()), |(failure, done), (other, more)| {
            (failure.into_iter().chain(other).min(), done.and(more))
        })
    })
}

#[test]
#[ignore = "ingester-mistakes runs it, optimized"]
#[allow(clippy::print_stdout, reason = "how often members do the same is for people to judge")]
fn nothing_is_lost_in_any_history() {
    if let Some(seed) = read_seed() {
        panic!("{}", told(seed, &run(seed)));
    }
    let again = |(seed, history): (u64, String)| -> ! {
        panic!("{history}\nto see it again: SIMULATION_SEED={seed} cargo test -p ingester-mistakes simulation")
    };
    if let Some(failure) = KEPT.into_iter().chain(KEPT_TODAY).find_map(|seed| first_failure(seed..seed + 1).0) {
        again(failure);
    }
    let (failure, ActionTotals { requests, tally, pending }) = first_failure(named().unwrap_or(SEEDS));
    if let Some(failure) = failure {
        again(failure);
    }
    assert!(requests > 10_000, "only {requests} requests");
    // Leases make it rare that two members write the same row; the guard makes it safe.
    let share = tally.twice as f64 / tally.rows.max(1) as f64;
    println!("rules met rows that they could not judge in {pending} seeds");
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
