//! One piece of work: a received object, or one to look at.

pub(crate) use crate::lifecycle::Arrival;

use crate::budget::MemoryReservation;
use ingester_core::object::{Identity, Meta, Object, name_based_uid};
use std::mem::size_of;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// A reference to one version of an object, for messages and requests.
#[derive(Clone, Debug)]
pub(crate) struct ObjectRef {
    pub(crate) uid: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) version: u64,
}

impl ObjectRef {
    pub(crate) fn from_meta(meta: &Meta) -> Self {
        ObjectRef {
            uid: meta.uid.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            version: meta.resource_version,
        }
    }
}

/// The reason to look at an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookReason {
    /// Work is due, or must be retried.
    Due,
    /// A list lacked the object although its row is live.
    Swept,
    /// Its row does not hold the right values for its version, so it must be written again.
    Rewrite,
    /// A rule chose this version to leave etcd.
    Judged,
}

/// The kind of work.
#[derive(Debug)]
pub(crate) enum Work {
    /// A received object.
    Object { object: Box<Object>, arrival: Arrival },
    /// An object to look at: first its row, then the object. `version` is its last known version.
    Look { object: ObjectRef, why: LookReason },
    /// No object has this uid any more; it was looked up at this version or later.
    Gone { object: ObjectRef, swept: bool },
    /// A text that is not a valid object, with as much of its identity as can be read.
    Broken { identity: Box<Identity>, reason: String },
}

/// The resource that an item holds until it is written: memory, or a permit to look.
#[derive(Debug, Default)]
pub(crate) enum HeldResource {
    #[default]
    Nothing,
    Memory {
        _hold: MemoryReservation,
    },
    Look {
        _permit: OwnedSemaphorePermit,
    },
}

/// Data that accompany an object from its arrival to its last request.
#[derive(Debug)]
pub(crate) struct Trail {
    /// The time when it arrived or became due.
    pub(crate) since: Instant,
    /// The number of failed attempts.
    pub(crate) attempt: u32,
    pub(crate) held: HeldResource,
}

/// A piece of work, with the data that the queue needs.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) uid: Box<str>,
    pub(crate) work: Work,
    pub(crate) trail: Trail,
}

impl Item {
    pub(crate) fn new(work: Work) -> Self {
        let uid = match &work {
            Work::Object { object, .. } => object.meta().uid.clone(),
            Work::Look { object, .. } | Work::Gone { object, .. } => object.uid.clone(),
            Work::Broken { identity, .. } => uid_of(identity),
        };
        Item { uid, work, trail: Trail { since: Instant::now(), attempt: 0, held: HeldResource::Nothing } }
    }

    /// Returns the work of looking at an object after `attempt` failures.
    pub(crate) fn look(object: ObjectRef, why: LookReason, attempt: u32) -> Self {
        let mut item = Item::new(Work::Look { object, why });
        item.trail.attempt = attempt;
        item
    }

    pub(crate) fn holding(mut self, hold: MemoryReservation) -> Self {
        self.trail.held = HeldResource::Memory { _hold: hold };
        self
    }

    /// Returns the object's namespace and name, empty if unknown.
    pub(crate) fn names(&self) -> (&str, &str) {
        match &self.work {
            Work::Object { object, .. } => (&object.meta().namespace, &object.meta().name),
            Work::Look { object, .. } | Work::Gone { object, .. } => (&object.namespace, &object.name),
            Work::Broken { identity, .. } => {
                (identity.namespace.as_deref().unwrap_or_default(), identity.name.as_deref().unwrap_or_default())
            }
        }
    }

    /// Returns roughly how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let more = match &self.work {
            Work::Object { object, .. } => bytes_of(object.text().len()),
            Work::Look { object, .. } | Work::Gone { object, .. } => object.namespace.len() + object.name.len(),
            Work::Broken { reason, .. } => reason.len() + size_of::<Identity>(),
        };
        size_of::<Item>() + 2 * self.uid.len() + more
    }

    /// Returns true if it holds the permit of a request until it is written.
    pub(crate) fn holds_a_permit(&self) -> bool {
        matches!(self.trail.held, HeldResource::Look { .. })
    }

    /// Returns the one of two pieces of work for the same object that remains: `self` waits, `new` arrives.
    ///
    /// A received object replaces an older one. If the two contradict each other, the object is looked at, which is always right.
    pub(crate) fn merge(self, new: Item) -> Item {
        let since = self.trail.since.min(new.trail.since);
        let mut item = match (&self.work, &new.work) {
            (Work::Object { object: old, .. }, Work::Object { object, arrival }) => {
                let before = old.meta().resource_version;
                let after = object.meta().resource_version;
                match arrival {
                    _ if after >= before => new,
                    // A list is later than an object that was received before it, and yet this one has an older version.
                    Arrival::List { .. } | Arrival::Look { .. } => {
                        let mut reference = ObjectRef::from_meta(object.meta());
                        reference.version = before;
                        Item::look(reference, LookReason::Due, 0)
                    }
                    // The answer to our own patch came first.
                    _ => self,
                }
            }
            // Keep the last state of an object that is gone, and a state that is about to be written.
            (Work::Object { object: old, arrival }, Work::Look { object, why }) => {
                let rewrite = *why == LookReason::Rewrite && *arrival != Arrival::Deletion;
                if rewrite && object.version >= old.meta().resource_version { new } else { self }
            }
            (Work::Object { .. } | Work::Broken { .. }, Work::Gone { .. }) => self,
            (Work::Look { object: old, why }, Work::Object { object, arrival }) => {
                let newer = object.meta().resource_version > old.version || *arrival == Arrival::Deletion;
                if newer || *why == LookReason::Swept { new } else { self }
            }
            (Work::Look { why: LookReason::Rewrite, .. }, Work::Look { .. }) => self,
            // The next round judges an object again that is looked at anyway.
            (_, Work::Look { why: LookReason::Judged, .. }) => self,
            _ => new,
        };
        item.trail.since = since;
        item
    }
}

/// Returns roughly how many bytes an object with a text of this length takes. The metadata is held separately, so labels and annotations
/// count about twice.
pub(crate) fn bytes_of(text: usize) -> usize {
    text + text / 4 + size_of::<Object>()
}

/// Returns the uid under which an unreadable object is recorded: its own, or one derived from its names.
pub(crate) fn uid_of(identity: &Identity) -> Box<str> {
    match &identity.uid {
        Some(uid) if !uid.is_empty() => uid.clone(),
        _ => {
            let text = |part: &Option<Box<str>>| part.as_deref().unwrap_or_default().to_owned();
            let api_version = text(&identity.api_version);
            let kind = text(&identity.kind);
            name_based_uid(&api_version, &kind, &text(&identity.namespace), &text(&identity.name))
        }
    }
}
