//! The seeds to run, and the report of a run.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use super::run::RunOutcome;
use std::ops::Range;

/// The seeds that CI runs.
pub(crate) const SEEDS: Range<u64> = 0..2000;

/// Seeds with histories that need many coincidences.
pub(crate) const RARE: [u64; 4] = [2197, 3221, 6530, 8777];

/// Seeds outside of that range in which a mistake was found once. They are useful while the models stay unchanged.
#[rustfmt::skip]
pub(super) const KEPT: [u64; 11] = [
    // The deletion of an object that is left out failed while an older event of it waited, and was never retried.
    4045,
    // A write that was on its way for a minute came after the resync that would have undone it.
    6518,
    // The deletion of an object whose evicted row had an earlier version left no trace.
    49917,
    // A row that was revived by hand was forgotten, because the cluster did not answer when its object had to be looked at.
    141598,
    // The cluster was restored to the moment before an object's deletion, which was not requested again.
    200627,
    // The database was away while the cluster was restored, and then ingesters wrote what they had received before over the last row of
    // an object: of one that was deleted, and of two that were evicted.
    295125, 468318, 834831,
    // An evicted row, which had been removed by hand, came again with late events, and then a look at the object from before that.
    428905,
    // A row was marked as deleted at its version, late, when the object was to stay again: the row had been changed by hand meanwhile, or
    // another ingester had written that version late, too.
    774123, 907058,
];

/// The same, for seeds that have all troubles.
pub(super) const KEPT_TODAY: [u64; 9] = [
    // A fail-over lost the intended eviction of an object that had been deleted. A sweep that came before the ingester noticed that did not
    // count its row.
    47144,
    // A change arrived while a look at its object waited for the database that took over. The look failed, and the change led to the next at once.
    45899,
    // A user asked for the deletion of an object that a changed filter leaves out, and changed that while its row was marked for it.
    21907,
    // A database took over that had an earlier state of an evicted row, which says that the object leaves. It is recorded as lost.
    9359,
    // An ingester took an object that another one evicted by a rule for a deleted one. It was terminating, and the eviction was confirmed.
    10606,
    // All seemed to be at rest while the deletion of an undecodable object was still refused, and the watch was silent when it was accepted.
    12130,
    // Patches of earlier versions, which a webhook refused, were taken for refusals of the present one, which nothing reports.
    71085,
    // A database took over that lacked the eviction of a ghost's row: the object was still left alone, and had no row in the end.
    83034,
    // The version of a row was read again soon after a failure by another task: a worker, and the comparison of evictions.
    80822,
];

/// Returns true if a seed was kept for its history. It has the troubles of its time.
pub(super) fn is_kept(seed: u64) -> bool {
    KEPT.contains(&seed) || RARE.contains(&seed)
}

/// Returns the history of a run, and its outcome.
pub(crate) fn told(seed: u64, outcome: &RunOutcome) -> String {
    let violation = outcome.violation.as_deref().unwrap_or("nothing");
    format!("{}\nseed {seed}: {violation}", outcome.history.join("\n"))
}

/// The seeds `FROM..TO` that a variable of the environment names.
pub(crate) fn named() -> Option<Range<u64>> {
    let text = std::env::var("SIMULATION_SEEDS").ok()?;
    let (from, to) = text.split_once("..").unwrap();
    Some(from.parse().unwrap()..to.parse().unwrap())
}

/// The one seed that a variable of the environment names: its history is printed.
pub(crate) fn read_seed() -> Option<u64> {
    Some(std::env::var("SIMULATION_SEED").ok()?.parse().unwrap())
}
