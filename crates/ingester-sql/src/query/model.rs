//! A query, before the table is known.

use super::{AsOf, Filter, Order};

/// A query: which rows of a kind to return, and in which order.
///
/// [`Query::default`] asks for everything that exists: what is in the cluster, and what was evicted from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The namespaces; none for all.
    pub namespaces: Vec<String>,
    /// The names of objects; none for all.
    pub names: Vec<String>,
    /// The uids of objects; none for all.
    pub uids: Vec<String>,
    /// The states.
    pub states: States,
    /// The conditions. All of them must hold.
    pub filters: Vec<Filter>,
    /// The order. Rows that are equal in all of it are in the order of their uids. Without any: by namespace, then by name, as in
    /// Kubernetes.
    pub order: Vec<Order>,
    /// Fields without a column may be read from the stored JSON. No key serves them, so every row is read.
    pub scan: bool,
    /// The moment that is asked about, by the database's clock; `None` for now. Only some queries have one: see
    /// [`QueryError::OfMoment`](super::QueryError::OfMoment).
    pub at: Option<AsOf>,
}

/// The states of rows. An object is in exactly one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// In the cluster.
    pub live: bool,
    /// Moved from etcd to SQL.
    pub evicted: bool,
    /// Deleted.
    pub deleted: bool,
}

impl States {
    /// All three states.
    pub const ALL: States = States { live: true, evicted: true, deleted: true };

    /// No state.
    pub const NONE: States = States { live: false, evicted: false, deleted: false };

    /// Objects in the cluster.
    pub const LIVE: States = States { live: true, evicted: false, deleted: false };

    /// Objects that were moved from etcd to SQL.
    pub const EVICTED: States = States { live: false, evicted: true, deleted: false };

    /// Deleted objects.
    pub const DELETED: States = States { live: false, evicted: false, deleted: true };

    /// The states that are in either.
    pub fn or(self, other: States) -> States {
        States {
            live: self.live || other.live,
            evicted: self.evicted || other.evicted,
            deleted: self.deleted || other.deleted,
        }
    }

    /// The states that are in both.
    pub fn and(self, other: States) -> States {
        States {
            live: self.live && other.live,
            evicted: self.evicted && other.evicted,
            deleted: self.deleted && other.deleted,
        }
    }
}

impl Default for States {
    /// Objects that exist: live and evicted ones.
    fn default() -> Self {
        States { deleted: false, ..States::ALL }
    }
}
