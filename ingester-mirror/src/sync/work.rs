//! One piece of work: an object as it was received, or one to read again.

use ingester_core::object::{Identity, Object, name_based_uid};
use std::mem::size_of;
use tokio::time::Instant;

/// Where a piece of work comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A list: the object may be older than this process.
    List,
    /// A watch: the object was created, changed or deleted while this process ran.
    Watch,
}

/// What to work on.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// An object as it was received.
    Object {
        object: Box<Object>,
        /// The object was deleted from the cluster; this is its last state.
        gone: bool,
    },
    /// An object to read from the API server first.
    Refresh {
        uid: Box<str>,
        namespace: Box<str>,
        name: Box<str>,
        /// If the object does not exist, it was deleted at this version at the latest.
        version: u64,
        /// A list lacked the object although its row is live.
        swept: bool,
    },
    /// A text that is not a valid object, with as much of its identity as can be read.
    Broken { identity: Box<Identity>, reason: String },
}

/// A piece of work, with what the queue needs to know about it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) uid: Box<str>,
    pub(crate) work: Work,
    pub(crate) origin: Origin,
    /// When it arrived or became due.
    pub(crate) since: Instant,
    /// How many attempts have failed.
    pub(crate) attempt: u32,
    /// The cluster was restored to an earlier state: it wins over what is stored.
    pub(crate) overrule: bool,
    /// This version is older than the stored one. If a new read returns no later version, the cluster was restored to an
    /// earlier state.
    pub(crate) behind: Option<u64>,
}

impl Item {
    pub(crate) fn new(work: Work, origin: Origin) -> Self {
        let uid = match &work {
            Work::Object { object, .. } => object.meta().uid.clone(),
            Work::Refresh { uid, .. } => uid.clone(),
            Work::Broken { identity, .. } => uid_of(identity),
        };
        Item { uid, work, origin, since: Instant::now(), attempt: 0, overrule: false, behind: None }
    }

    /// The object's resourceVersion; 0 if the object is yet to be read.
    pub(crate) fn version(&self) -> u64 {
        match &self.work {
            Work::Object { object, .. } => object.meta().resource_version,
            _ => 0,
        }
    }

    /// The object's namespace and name, empty if unknown.
    pub(crate) fn names(&self) -> (&str, &str) {
        match &self.work {
            Work::Object { object, .. } => (&object.meta().namespace, &object.meta().name),
            Work::Refresh { namespace, name, .. } => (namespace, name),
            Work::Broken { identity, .. } => {
                (identity.namespace.as_deref().unwrap_or_default(), identity.name.as_deref().unwrap_or_default())
            }
        }
    }

    /// Roughly how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let more = match &self.work {
            // The metadata is held separately, so labels and annotations count about twice.
            Work::Object { object, .. } => object.text().len() + object.text().len() / 4 + size_of::<Object>(),
            Work::Refresh { namespace, name, .. } => namespace.len() + name.len(),
            Work::Broken { reason, .. } => reason.len() + size_of::<Identity>(),
        };
        size_of::<Item>() + 2 * self.uid.len() + more
    }
}

/// The uid under which an unreadable object is recorded: its own, or one derived from its names.
pub(crate) fn uid_of(identity: &Identity) -> Box<str> {
    match &identity.uid {
        Some(uid) if !uid.is_empty() => uid.clone(),
        _ => {
            let text = |part: &Option<Box<str>>| part.as_deref().unwrap_or_default().to_owned();
            let (api_version, kind) = (text(&identity.api_version), text(&identity.kind));
            name_based_uid(&api_version, &kind, &text(&identity.namespace), &text(&identity.name))
        }
    }
}
