//! One object of a batch.

use super::lifecycle::{State, Then};
use super::work::{Origin, Work};
use crate::events::Subject;
use ingester_core::object::Meta;
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::{Reject, RowChange};
use std::num::NonZeroU64;
use std::time::Duration;
use tokio::time::Instant;

/// A reference to one version of an object, for messages and requests.
#[derive(Clone, Debug)]
pub(super) struct ObjectRef {
    pub(super) uid: Box<str>,
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) version: u64,
}

/// One object of a batch.
pub(super) struct Job {
    pub(super) object: ObjectRef,
    /// The object's metadata, unless only its name is known.
    pub(super) meta: Option<Meta>,
    /// What to write; taken when the transaction begins.
    pub(super) change: Option<RowChange>,
    /// The hash of the labels and annotations of that row.
    pub(super) pairs: Option<NonZeroU64>,
    /// For an eviction: the row, to compare it with what is read back.
    pub(super) wanted: Option<Row>,
    /// The row's state after the commit; `None` if the object is forgotten then.
    pub(super) state: Option<State>,
    pub(super) then: Then,
    pub(super) again: Option<Duration>,
    pub(super) overrule: bool,
    pub(super) origin: Origin,
    pub(super) since: Instant,
    pub(super) attempt: u32,
    /// The kind's predicate leaves the object out.
    pub(super) left_out: bool,
    /// A list lacked the object, and so did a read of it.
    pub(super) swept: bool,
    /// Why the object is not stored.
    pub(super) reject: Option<Reject>,
}

impl Job {
    /// Whether the object left the cluster, or is left out: its row must not stay live.
    pub(super) fn gone(&self) -> bool {
        self.state.is_none()
    }

    pub(super) fn tombstone(&self) -> RowChange {
        let ObjectRef { uid, version, .. } = &self.object;
        RowChange::Tombstone { uid: uid.clone(), res_version: *version, delete_time: Micros::now() }
    }
}

impl ObjectRef {
    /// The work of reading the object again.
    pub(super) fn refresh(&self) -> Work {
        let ObjectRef { uid, namespace, name, version } = self.clone();
        Work::Refresh { uid, namespace, name, version, swept: false }
    }

    /// The subject of an Event.
    pub(super) fn subject<'a>(&'a self, api_version: &'a str, resource_version: &'a str) -> Subject<'a> {
        let ObjectRef { uid, namespace, name, .. } = self;
        Subject { api_version, namespace, name, uid, resource_version }
    }
}
