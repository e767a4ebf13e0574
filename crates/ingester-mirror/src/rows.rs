//! The mirror's interface to the database: the rows of one kind, in all namespaces or in one.
//!
//! May use: ingester-config, ingester-core, ingester-store, policies.
//!
//! [`Rows`] is the interface that the mirror needs. [`StoreRows`] implements it over a [`Store`].

use crate::policies::{
    Candidate, PolicyError, WeighBounds, WeighedCandidates, candidates, pending, premise, unproved, weigh,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::EvictionRule;
use ingester_core::kind::Kind;
use ingester_core::value::Micros;
use ingester_store::fuse::{Fuse, Sweep};
use ingester_store::guard::Version;
use ingester_store::left_out::FilterVerdict;
use ingester_store::{
    EvictedRows, LiveRow, LostEviction, Premise, Reject, RejectedObject, Report, RowChange, Store, StoreError,
    StoredRow,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::watch;

/// Uid, namespace and name of a row.
pub(crate) type Names = (Box<str>, Box<str>, Box<str>);

/// The rows of one kind, in all namespaces or in one.
///
/// After an error, nothing was done, or the outcome is unknown, because the answer to a commit can be lost. So every write can be repeated.
pub(crate) trait Rows: Send + Sync {
    /// As [`Store::write_latest`].
    fn write<'a>(&'a self, changes: &'a [RowChange]) -> BoxFuture<'a, Result<Report, StoreError>>;

    /// As [`Store::versions`].
    fn versions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<HashMap<Box<str>, Version>, StoreError>>;

    /// As [`Store::read_stored`].
    fn read_stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>>;

    /// As [`Store::live`].
    fn live<'a>(
        &'a self,
        evicted: EvictedRows,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>>;

    /// As [`Store::names`].
    fn names<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Names>, StoreError>>;

    /// As [`Store::record_rejects`].
    fn record_rejects<'a>(&'a self, rejects: &'a [Reject]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::rejects`].
    fn rejects(&self) -> BoxFuture<'_, Result<Vec<RejectedObject>, StoreError>>;

    /// As [`Store::forget_rejects`].
    fn forget_rejects<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::ask_to_sweep`].
    fn ask_to_sweep<'a>(&'a self, unit: &'a str, gone: u64, fuse: &'a Fuse)
    -> BoxFuture<'a, Result<Sweep, StoreError>>;

    /// As [`Store::count_swept`].
    fn count_swept<'a>(&'a self, unit: &'a str, rows: u64) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::judge_left_out`]. It may read all live rows of the kind.
    fn judge_left_out<'a>(&'a self, fuse: Option<&'a Fuse>) -> BoxFuture<'a, Result<FilterVerdict, StoreError>>;

    /// As [`candidates`].
    fn candidates<'a>(&'a self, rule: &'a EvictionRule) -> BoxFuture<'a, Result<Vec<Candidate>, PolicyError>>;

    /// As [`premise`].
    fn premise<'a>(&'a self, rules: &'a [EvictionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>>;

    /// As [`pending`].
    fn pending<'a>(&'a self, rule: &'a EvictionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>>;

    /// As [`unproved`].
    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>>;

    /// As [`weigh`].
    fn weigh<'a>(
        &'a self,
        leaving: &'a [Candidate],
        bounds: WeighBounds<'a>,
    ) -> BoxFuture<'a, Result<WeighedCandidates, PolicyError>>;

    /// As [`Store::evicted_lately`].
    fn evicted_lately<'a>(&'a self, unit: &'a str) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// As [`Store::count_evicted`].
    fn count_evicted<'a>(&'a self, unit: &'a str, objects: u64) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::uncount_evicted`].
    fn uncount_evicted<'a>(
        &'a self,
        unit: &'a str,
        objects: u64,
        counted: Micros,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::lost_evictions`].
    fn lost_evictions(&self) -> BoxFuture<'_, Result<Vec<LostEviction>, StoreError>>;

    /// As [`Store::record_lost_evictions`].
    fn record_lost_evictions<'a>(&'a self, lost: &'a [LostEviction]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::forget_lost_evictions`].
    fn forget_lost_evictions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// As [`Store::moves`].
    fn moves(&self) -> watch::Receiver<u64>;

    /// As [`Store::clustered_pool`].
    fn clustered_pool(&self) -> Option<u64>;
}

/// The rows of a kind in a store.
pub(crate) struct StoreRows {
    pub(crate) store: Arc<Store>,
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<Box<str>>,
    /// All kinds that are mirrored.
    pub(crate) kinds: Arc<[Kind]>,
}

impl Rows for StoreRows {
    fn write<'a>(&'a self, changes: &'a [RowChange]) -> BoxFuture<'a, Result<Report, StoreError>> {
        self.store.write_latest(self.kind.table(), changes).boxed()
    }

    fn versions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<HashMap<Box<str>, Version>, StoreError>> {
        self.store.versions(self.kind.table(), uids).boxed()
    }

    fn read_stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>> {
        self.store.read_stored(self.kind.table(), uids).boxed()
    }

    fn live<'a>(
        &'a self,
        evicted: EvictedRows,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        self.store.live(&self.kind, self.namespace.as_deref(), evicted, after, limit).boxed()
    }

    fn names<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Names>, StoreError>> {
        self.store.names(self.kind.table(), uids).boxed()
    }

    fn record_rejects<'a>(&'a self, rejects: &'a [Reject]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.record_rejects(rejects).boxed()
    }

    fn rejects(&self) -> BoxFuture<'_, Result<Vec<RejectedObject>, StoreError>> {
        async move {
            let api_version = self.kind.api_version();
            self.store.rejects(&api_version, self.kind.kind(), self.namespace.as_deref()).await
        }
        .boxed()
    }

    fn forget_rejects<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.forget_rejects(self.kind.kind(), uids).boxed()
    }

    fn ask_to_sweep<'a>(
        &'a self,
        unit: &'a str,
        gone: u64,
        fuse: &'a Fuse,
    ) -> BoxFuture<'a, Result<Sweep, StoreError>> {
        self.store.ask_to_sweep(&self.kind, unit, gone, fuse).boxed()
    }

    fn count_swept<'a>(&'a self, unit: &'a str, rows: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.count_swept(&self.kind, unit, rows).boxed()
    }

    fn judge_left_out<'a>(&'a self, fuse: Option<&'a Fuse>) -> BoxFuture<'a, Result<FilterVerdict, StoreError>> {
        self.store.judge_left_out(&self.kind, fuse).boxed()
    }

    fn candidates<'a>(&'a self, rule: &'a EvictionRule) -> BoxFuture<'a, Result<Vec<Candidate>, PolicyError>> {
        candidates(&self.store, &self.kind, &rule.condition).boxed()
    }

    fn premise<'a>(&'a self, rules: &'a [EvictionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        premise(&self.store, &self.kind, rules).boxed()
    }

    fn pending<'a>(&'a self, rule: &'a EvictionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        pending(&self.store, &self.kind, &rule.condition, premise).boxed()
    }

    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>> {
        unproved(&self.store, &self.kind, uids, premise).boxed()
    }

    fn weigh<'a>(
        &'a self,
        leaving: &'a [Candidate],
        bounds: WeighBounds<'a>,
    ) -> BoxFuture<'a, Result<WeighedCandidates, PolicyError>> {
        weigh(&self.store, &self.kinds, &self.kind, leaving, bounds).boxed()
    }

    fn evicted_lately<'a>(&'a self, unit: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.store.evicted_lately(&self.kind, unit).boxed()
    }

    fn count_evicted<'a>(&'a self, unit: &'a str, objects: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.count_evicted(&self.kind, unit, objects).boxed()
    }

    fn uncount_evicted<'a>(
        &'a self,
        unit: &'a str,
        objects: u64,
        counted: Micros,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.uncount_evicted(&self.kind, unit, objects, counted).boxed()
    }

    fn lost_evictions(&self) -> BoxFuture<'_, Result<Vec<LostEviction>, StoreError>> {
        self.store.lost_evictions(&self.kind, self.namespace.as_deref()).boxed()
    }

    fn record_lost_evictions<'a>(&'a self, lost: &'a [LostEviction]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.record_lost_evictions(&self.kind, lost).boxed()
    }

    fn forget_lost_evictions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.forget_lost_evictions(&self.kind, uids).boxed()
    }

    fn moves(&self) -> watch::Receiver<u64> {
        self.store.moves()
    }

    fn clustered_pool(&self) -> Option<u64> {
        self.store.clustered_pool()
    }
}
