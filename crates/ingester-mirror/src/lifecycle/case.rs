//! The inputs of a decision about one object.

use super::{LifecycleState, Rules};
use ingester_core::object::Meta;
use ingester_core::row::Version;
use std::time::Duration;

/// How an object reached this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// In a list: the object may be older than this process. `behind`: the list is older than the stored rows, as after a restore of etcd.
    List { behind: bool },
    /// In a watch: the object was created or changed while this process ran.
    Watch,
    /// In a watch: the object was deleted, and this is its last state.
    Deletion,
    /// The object returned by our finalizer patch, or the object before the patch if the API server did not answer. `again`: if the object
    /// stays and lacks our finalizer, add it later.
    Patch { again: bool },
    /// A GET returned it, after its row was read.
    Look {
        /// The stored row, if there was one.
        seen: Option<Version>,
        /// Write the row even if it already has the object's version.
        rewrite: bool,
    },
}

/// The state of an object's row, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowState {
    /// The row has the object's version.
    Stored(LifecycleState),
    /// The row has the object's version, and the object lost its last finalizer: its DELETED event brings nothing new.
    Released,
    /// The object could not be stored.
    Rejected,
    /// The kind's filter leaves the object out: it has no live row, on purpose.
    LeftOut,
    /// The object has left etcd, but its row does not say so yet.
    Left,
    /// The object has left etcd, and its row says so: its DELETED event brings nothing new.
    Confirmed,
    /// The object had left the cluster, is there again, and differs from its row. A person decides which of the two stays.
    Ghost,
}

impl RowState {
    /// Returns true if the object is being evicted: its row has an `evict_time`, and does not yet say that the object is gone.
    pub(crate) fn is_leaving(self) -> bool {
        matches!(self, RowState::Stored(LifecycleState::Evicted) | RowState::Left)
    }

    /// Returns true if the object is in the cluster, and no live row shows its owners.
    pub(crate) fn hides_owners(self) -> bool {
        matches!(self, RowState::Rejected | RowState::LeftOut | RowState::Ghost)
    }
}

/// The record that this process keeps of an object's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowMemory {
    pub(crate) version: u64,
    pub(crate) state: RowState,
}

/// The progress of an eviction that a rule chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The round has put the object into the queue, and no worker has taken it yet.
    Handed,
    /// A worker found that the object still has the chosen version. So its row may already record the eviction, and the deletion may have
    /// been sent.
    Begun,
    /// The API server has accepted the deletion.
    Requested,
}

/// An object that a rule chose to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChosenEviction {
    pub(crate) progress: Progress,
    /// The version that the rule judged, or the one that differs from it only in our finalizer.
    pub(crate) version: u64,
    /// The rules are the same as when they chose the object.
    pub(crate) in_force: bool,
    /// If a deletion was sent and not answered: how long the request may still take effect.
    pub(crate) in_doubt: Option<Duration>,
}

/// The result of reading an object's text with the kind's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A row, written by this definition of the kind.
    Row { ingest_version: u32 },
    /// The kind's filter leaves the object out. `storable`: a row without indexed columns can hold its text. `selected`: the selectors of
    /// the configuration match the object.
    LeftOut { storable: bool, selected: bool },
    /// The object cannot be decoded. `storable` as above.
    Undecodable { storable: bool },
}

impl Content {
    /// Returns the same content for an object whose text cannot be stored.
    pub(crate) fn unstorable(self) -> Self {
        match self {
            Content::Row { .. } => self,
            Content::LeftOut { selected, .. } => Content::LeftOut { storable: false, selected },
            Content::Undecodable { .. } => Content::Undecodable { storable: false },
        }
    }
}

/// The point at which the decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The object was just received, or looked up. The decision reads only the metadata, because most objects bring nothing new, and then
    /// their content need not be read.
    Received {
        /// Another state of the object waits in the queue.
        waiting: bool,
        /// Changes of this kind are gathered before they are written.
        settles: bool,
    },
    /// A worker has taken the object.
    Prepared {
        /// `None` in the worker's first call. If that returns [`NextStep::Read`](super::NextStep::Read), later calls have the content.
        content: Option<Content>,
    },
}

/// One object, its row, what this process remembers of it, and a rule's choice of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) meta: &'a Meta,
    pub(crate) rules: Rules,
    pub(crate) arrival: Arrival,
    pub(crate) step: Step,
    pub(crate) remembered: Option<RowMemory>,
    /// The stored row, if it was read before the object.
    pub(crate) stored: Option<Version>,
    pub(crate) chosen: Option<ChosenEviction>,
    /// The object is terminating, and waits for our finalizer to be removed.
    pub(crate) held: bool,
    /// The time since this process first saw that the object must be deleted; zero if it sees it now.
    pub(crate) leaving_for: Duration,
    /// The time since its deletionTimestamp, by this node's clock.
    pub(crate) terminating_for: Duration,
}

impl Case<'_> {
    /// Returns true if the cluster has deleted the object.
    pub(super) fn is_gone(&self) -> bool {
        self.arrival == Arrival::Deletion
    }

    /// Returns true if a GET returned the object after its row was read.
    pub(super) fn is_looked_up(&self) -> bool {
        matches!(self.arrival, Arrival::Look { .. })
    }

    /// Returns the remembered state of the row.
    pub(super) fn state(&self) -> Option<RowState> {
        self.remembered.map(|remembered| remembered.state)
    }
}
