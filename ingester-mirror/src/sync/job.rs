//! One object on its way through a batch.

use super::lifecycle::{State, Then};
use super::work::{Origin, Work};
use crate::events::Subject;
use ingester_core::object::Meta;
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::{Change, Reject};
use std::num::NonZeroU64;
use std::time::Duration;
use tokio::time::Instant;

/// Where an object is, for messages and requests.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) uid: Box<str>,
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) version: u64,
}

/// One object on its way through a batch.
pub(super) struct Job {
    pub(super) place: Place,
    /// With the object's metadata, unless only its name is known.
    pub(super) meta: Option<Meta>,
    /// What is written; taken when the transaction begins.
    pub(super) change: Option<Change>,
    /// Of the labels and annotations of the row that is written.
    pub(super) pairs: Option<NonZeroU64>,
    /// The row of an object that is to be evicted, to be compared with what is read back.
    pub(super) wanted: Option<Row>,
    /// How it stands once that is committed; `None` for what is forgotten then.
    pub(super) state: Option<State>,
    pub(super) then: Then,
    pub(super) again: Option<Duration>,
    pub(super) overrule: bool,
    pub(super) origin: Origin,
    pub(super) since: Instant,
    pub(super) attempt: u32,
    /// The kind's predicate leaves it out.
    pub(super) left_out: bool,
    /// A list did not have it, and neither had the API server when asked.
    pub(super) swept: bool,
    /// Why it is not stored.
    pub(super) reject: Option<Reject>,
}

impl Job {
    /// The object has left the cluster, so that its row is to say so, whatever else.
    pub(super) fn gone(&self) -> bool {
        self.state.is_none()
    }

    pub(super) fn tombstone(&self) -> Change {
        let Place { uid, version, .. } = &self.place;
        Change::Tombstone { uid: uid.clone(), res_version: *version, delete_time: Micros::now() }
    }
}

impl Place {
    /// The wish to look at it again.
    pub(super) fn look(&self) -> Work {
        let Place { uid, namespace, name, version } = self.clone();
        Work::Look { uid, namespace, name, version, swept: false }
    }

    /// What an Event is about.
    pub(super) fn subject<'a>(&'a self, api_version: &'a str, resource_version: &'a str) -> Subject<'a> {
        let Place { uid, namespace, name, .. } = self;
        Subject { api_version, namespace, name, uid, resource_version }
    }
}
