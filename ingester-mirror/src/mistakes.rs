//! Mistakes that the mirror once made. The simulation makes each of them again, to show that it finds it.
//!
//! May use: nothing.
//!
//! Outside the crate's own tests none is ever made, and the compiler drops the questions.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A row that was read back with a difference, and whose object is gone by then, is marked as deleted even if it is evicted.
    EvictedMarkedDeleted,
    /// A live object of the version of a tombstone counts as stored.
    TombstoneUnchanged,
    /// "Not found" from a server that is starting means that the object is gone.
    #[cfg(test)]
    BelievedNotFound,
    /// A patch that the API server cannot apply ends the round that adds finalizers.
    RoundEnds,
    /// A terminating, immutable object that cannot be decoded is rejected and forgotten.
    ForgottenWhileHeld,
    /// What is stale is looked at again without a pause.
    HastyLook,
    /// An object that is left out and to be deleted waits for the end of its row's delay, and is forgotten meanwhile.
    LeftOutWaits,
    /// A sweep marks as many rows as there are.
    NoFuse,
    /// A database is used for any cluster.
    AnyCluster,
    /// The row of an object that is left out is only marked if it is not of a later version.
    LeftOutStale,
    /// An object that is left out before its eviction is finished counts as gone.
    LeftOutConfirmed,
    /// A streamed list that is broken off counts as a list.
    StreamWithoutEnd,
    /// What is deleted while a list is streamed is none of its business.
    DeletedInStream,
    /// What a list saw before it was broken off counts as seen by the next.
    SeenBefore,
    /// All objects are read as a stream, however often that was cut off.
    CutOffAgain,
    /// Who was frozen writes on, whatever became of its Lease.
    LeaseNotAsked,
    /// A unit is begun although another member still claims it.
    ClaimIgnored,
    /// Whether the rows are those that are remembered is not asked.
    RowsNotCompared,
    /// An immutable object that is terminating is being deleted.
    CollectedDeleted,
    /// What a list lacks is written later all the same, and stays.
    MissedWhileHeld,
    /// What is refused for good is nothing to speak of.
    SilentRefusal,
    /// A look may be answered by an API server that is behind.
    #[cfg(test)]
    CachedLook,
    /// Rows are marked and purged by the clock of a node.
    #[cfg(test)]
    NodesClock,
    /// The fuse of sweeps counts what one unit lacks.
    #[cfg(test)]
    FuseOfUnit,
    /// Tables are made before the database is known to be the right one.
    #[cfg(test)]
    WrittenFirst,
    /// Whatever a deletion is answered with, the object is gone.
    #[cfg(test)]
    DeletionBelieved,
    /// The only copy of an object gives way to what the cluster says.
    #[cfg(test)]
    GhostBelieved,
    /// A row on its way out of the cluster is remembered by the process that wrote it, and by no other.
    EvictionForgotten,
    /// A ghost is nothing to speak of.
    SilentGhost,
    /// An evicted row that somebody deleted comes back with what is still heard of its object.
    #[cfg(test)]
    DeletedComesBack,
    /// The Lease of a member that is gone is removed as it is: one that has just started waits as if it might come back.
    RemovedUnreleased,
    /// Which definition of its kind wrote a row does not count, and a backfill that is complete is never repeated.
    #[cfg(test)]
    DefinitionIgnored,
}

/// Whether the mistake is made, in this thread.
#[cfg(not(test))]
pub(crate) const fn made(_: Mistake) -> bool {
    false
}

#[cfg(test)]
pub(crate) use test::{made, make};

#[cfg(test)]
mod test {
    use super::Mistake;
    use std::cell::Cell;

    thread_local! {
        static MADE: Cell<Option<Mistake>> = const { Cell::new(None) };
    }

    pub(crate) fn made(mistake: Mistake) -> bool {
        MADE.get() == Some(mistake)
    }

    /// Makes this mistake, and no other, in this thread from now on.
    pub(crate) fn make(mistake: Option<Mistake>) {
        MADE.set(mistake);
    }
}
