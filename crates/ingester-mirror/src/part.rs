//! A unit's own part of the cluster and of the database: the objects of one shard, and writes only while this process may write.
//!
//! May use: ingester-config, ingester-core, ingester-store, cluster, dependents, policies, replicas, rows.

use crate::cluster::{
    ApiError, Cluster, Deletion, ListEvent, ListPosition, ListStream, MetadataPage, Page, PartialObjectMeta,
    RemoteEvent, Watch,
};
use crate::dependents::Uids;
use crate::policies::{Candidate, PolicyError, WeighBounds, WeighedCandidates};
use crate::replicas::Assignment;
use crate::replicas::shard::Shard;
use crate::rows::{Names, Rows};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use ingester_config::EvictionRule;
use ingester_core::Kind;
use ingester_core::object::{Identity, Meta};
use ingester_core::value::Micros;
use ingester_store::fuse::{Fuse, Sweep};
use ingester_store::guard::Version;
use ingester_store::left_out::FilterVerdict;
use ingester_store::{
    EvictedRows, LiveRow, LostEviction, Premise, Reject, RejectedObject, Report, RowChange, StoreError, StoredRow,
};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::watch;

/// The cluster's objects in one shard.
pub(crate) struct PartOfCluster {
    pub(crate) whole: Arc<dyn Cluster>,
    pub(crate) shard: Shard,
    pub(crate) assignment: Assignment,
}

impl PartOfCluster {
    /// Returns true if an object is in the part. A text without a uid belongs to the part of the empty uid, so it is reported once.
    fn has(shard: Shard, text: &str) -> bool {
        shard.is_whole() || shard.has(Identity::probe(text).uid.as_deref().unwrap_or_default())
    }

    fn may_write(&self, doing: &str) -> Result<(), ApiError> {
        match self.assignment.is_valid() {
            true => Ok(()),
            false => Err(ApiError::without_lease(doing)),
        }
    }
}

impl Cluster for PartOfCluster {
    fn list<'a>(&'a self, limit: u32, next: Option<&'a str>) -> BoxFuture<'a, Result<Page, ApiError>> {
        async move {
            let mut page = self.whole.list(limit, next).await?;
            page.items.retain(|text| Self::has(self.shard, text));
            Ok(page)
        }
        .boxed()
    }

    fn list_metadata<'a>(&'a self, next: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>> {
        async move {
            let mut page = self.whole.list_metadata(next).await?;
            page.items.retain(|meta| self.shard.has(&meta.uid));
            Ok(page)
        }
        .boxed()
    }

    fn stream(&self) -> BoxFuture<'_, Result<Option<ListStream<Box<str>>>, ApiError>> {
        async {
            let stream = self.whole.stream().await?;
            let shard = self.shard;
            Ok(stream.map(|stream| of_part::<Box<str>>(stream, move |text| Self::has(shard, text))))
        }
        .boxed()
    }

    fn stream_metadata(&self) -> BoxFuture<'_, Result<Option<ListStream<PartialObjectMeta>>, ApiError>> {
        async {
            let stream = self.whole.stream_metadata().await?;
            let shard = self.shard;
            Ok(stream.map(|stream| of_part(stream, move |meta: &PartialObjectMeta| shard.has(&meta.uid))))
        }
        .boxed()
    }

    fn position(&self) -> BoxFuture<'_, Result<ListPosition, ApiError>> {
        self.whole.position()
    }

    fn watch(&self, version: u64) -> BoxFuture<'_, Result<Watch, ApiError>> {
        async move {
            let watch = self.whole.watch(version).await?;
            let shard = self.shard;
            let has = move |event: &Result<RemoteEvent, ApiError>| match event {
                Ok(RemoteEvent::Applied(text) | RemoteEvent::Deleted(text)) => Self::has(shard, text),
                Ok(RemoteEvent::Bookmark(_)) | Err(_) => true,
            };
            Ok(watch.filter(move |event| std::future::ready(has(event))).boxed())
        }
        .boxed()
    }

    fn look<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>> {
        // If an object of another part now has this name, then this part's object is gone.
        self.whole.look(namespace, name)
    }

    fn namespaces<'a>(&'a self, selector: &'a str) -> BoxFuture<'a, Result<Vec<Box<str>>, ApiError>> {
        self.whole.namespaces(selector)
    }

    /// Ask in all parts: an object of one part may own objects of another one.
    fn owners_among<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
        uids: &'a Uids,
    ) -> BoxFuture<'a, Result<Uids, ApiError>> {
        self.whole.owners_among(kind, namespace, uids)
    }

    fn patch<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<Box<str>, ApiError>> {
        async move {
            self.may_write("patching the finalizers of an object")?;
            self.whole.patch(namespace, name, patch).await
        }
        .boxed()
    }

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<Deletion, ApiError>> {
        async move {
            self.may_write("deleting an object")?;
            self.whole.delete(meta).await
        }
        .boxed()
    }
}

/// The objects of a part.
fn of_part<T: Send + 'static>(
    stream: ListStream<T>,
    has: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> ListStream<T> {
    let has = move |listed: &Result<ListEvent<T>, ApiError>| match listed {
        Ok(ListEvent::Object(object) | ListEvent::Deleted(object)) => has(object),
        Ok(ListEvent::End(_)) | Err(_) => true,
    };
    stream.filter(move |listed| std::future::ready(has(listed))).boxed()
}

/// The rows of one part.
pub(crate) struct PartOfRows {
    pub(crate) whole: Arc<dyn Rows>,
    pub(crate) shard: Shard,
    pub(crate) assignment: Assignment,
}

impl PartOfRows {
    fn may_write(&self, doing: &str) -> Result<(), StoreError> {
        match self.assignment.is_valid() {
            true => Ok(()),
            false => Err(StoreError::without_lease(doing)),
        }
    }
}

impl Rows for PartOfRows {
    fn write<'a>(&'a self, changes: &'a [RowChange]) -> BoxFuture<'a, Result<Report, StoreError>> {
        async move {
            self.may_write("writing rows")?;
            self.whole.write(changes).await
        }
        .boxed()
    }

    fn versions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<HashMap<Box<str>, Version>, StoreError>> {
        self.whole.versions(uids)
    }

    fn read_stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>> {
        self.whole.read_stored(uids)
    }

    /// Returns as many rows of the part as requested, or fewer if no more exist.
    fn live<'a>(
        &'a self,
        evicted: EvictedRows,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        if self.shard.is_whole() {
            return self.whole.live(evicted, after, limit);
        }
        async move {
            let (mut found, mut after): (Vec<LiveRow>, Box<str>) = (Vec::new(), after.into());
            loop {
                let page = self.whole.live(evicted, &after, limit).await?;
                let is_last = page.len() < limit;
                if let Some(last) = page.last() {
                    after.clone_from(&last.uid);
                }
                found.extend(page.into_iter().filter(|row| self.shard.has(&row.uid)));
                if is_last {
                    return Ok(found);
                }
                if found.len() >= limit {
                    // The next page reads the surplus again.
                    found.truncate(limit);
                    return Ok(found);
                }
            }
        }
        .boxed()
    }

    fn names<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Names>, StoreError>> {
        self.whole.names(uids)
    }

    fn record_rejects<'a>(&'a self, rejects: &'a [Reject]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("recording rejects")?;
            self.whole.record_rejects(rejects).await
        }
        .boxed()
    }

    fn rejects(&self) -> BoxFuture<'_, Result<Vec<RejectedObject>, StoreError>> {
        async {
            let mut rejects = self.whole.rejects().await?;
            rejects.retain(|reject| self.shard.has(&reject.uid));
            Ok(rejects)
        }
        .boxed()
    }

    fn forget_rejects<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("forgetting rejects")?;
            self.whole.forget_rejects(uids).await
        }
        .boxed()
    }

    fn ask_to_sweep<'a>(
        &'a self,
        unit: &'a str,
        gone: u64,
        fuse: &'a Fuse,
    ) -> BoxFuture<'a, Result<Sweep, StoreError>> {
        async move {
            self.may_write("asking whether rows may be marked as deleted")?;
            self.whole.ask_to_sweep(unit, gone, fuse).await
        }
        .boxed()
    }

    fn count_swept<'a>(&'a self, unit: &'a str, rows: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("counting rows that are marked as deleted")?;
            self.whole.count_swept(unit, rows).await
        }
        .boxed()
    }

    /// For all parts: the whole kind judges a filter.
    fn judge_left_out<'a>(&'a self, fuse: Option<&'a Fuse>) -> BoxFuture<'a, Result<FilterVerdict, StoreError>> {
        self.whole.judge_left_out(fuse)
    }

    /// From all parts: the objects of a group that a rule keeps depend on the whole kind.
    fn candidates<'a>(&'a self, rule: &'a EvictionRule) -> BoxFuture<'a, Result<Vec<Candidate>, PolicyError>> {
        self.whole.candidates(rule)
    }

    fn premise<'a>(&'a self, rules: &'a [EvictionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        self.whole.premise(rules)
    }

    fn pending<'a>(&'a self, rule: &'a EvictionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        self.whole.pending(rule, premise)
    }

    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>> {
        self.whole.unproved(uids, premise)
    }

    fn weigh<'a>(
        &'a self,
        leaving: &'a [Candidate],
        bounds: WeighBounds<'a>,
    ) -> BoxFuture<'a, Result<WeighedCandidates, PolicyError>> {
        self.whole.weigh(leaving, bounds)
    }

    fn evicted_lately<'a>(&'a self, unit: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.whole.evicted_lately(unit)
    }

    fn count_evicted<'a>(&'a self, unit: &'a str, objects: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("counting objects that are evicted by rules")?;
            self.whole.count_evicted(unit, objects).await
        }
        .boxed()
    }

    fn uncount_evicted<'a>(
        &'a self,
        unit: &'a str,
        objects: u64,
        counted: Micros,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("counting objects that are evicted by rules")?;
            self.whole.uncount_evicted(unit, objects, counted).await
        }
        .boxed()
    }

    fn lost_evictions(&self) -> BoxFuture<'_, Result<Vec<LostEviction>, StoreError>> {
        async {
            let mut lost = self.whole.lost_evictions().await?;
            lost.retain(|eviction| self.shard.has(&eviction.uid));
            Ok(lost)
        }
        .boxed()
    }

    fn record_lost_evictions<'a>(&'a self, lost: &'a [LostEviction]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("recording evictions that are lost")?;
            self.whole.record_lost_evictions(lost).await
        }
        .boxed()
    }

    fn forget_lost_evictions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            self.may_write("deleting the records of evictions that are not lost any more")?;
            self.whole.forget_lost_evictions(uids).await
        }
        .boxed()
    }

    fn moves(&self) -> watch::Receiver<u64> {
        self.whole.moves()
    }

    fn clustered_pool(&self) -> Option<u64> {
        self.whole.clustered_pool()
    }
}

#[cfg(test)]
mod tests {
    use super::{PartOfCluster, PartOfRows};
    use crate::cluster::{ApiServer, Cluster as _, StreamedLists};
    use crate::fixture::MODEL;
    use crate::replicas::Assignment;
    use crate::replicas::shard::Shard;
    use crate::rows::{Rows as _, StoreRows};
    use http::{Request, Response};
    use ingester_store::{ErrorClass, Store};
    use kube::Client;
    use kube::client::Body;
    use serde_json::json;
    use std::convert::Infallible;
    use std::sync::Arc;

    #[test]
    fn an_object_without_a_uid_belongs_to_one_shard() {
        for of in [1, 2, 3, 1024] {
            for text in ["{}", "no JSON", r#"{"metadata":{"uid":""}}"#] {
                let has = Shard::all(of).filter(|shard| PartOfCluster::has(*shard, text)).count();
                assert_eq!(has, 1, "{text} in {of} parts");
            }
        }
    }

    #[tokio::test]
    async fn a_member_without_a_lease_writes_nothing_and_says_why() {
        let service = tower::service_fn(|request: Request<Body>| {
            assert_eq!(request.method(), "never", "no server is asked");
            std::future::ready(Ok::<_, Infallible>(Response::new(Body::empty())))
        });
        let shard = Shard::WHOLE;
        let assignment = Assignment::of_members();
        let client = Client::new(service, "default");
        let whole = Arc::new(ApiServer::new(client, MODEL, None, shard, StreamedLists::default()));
        let cluster = PartOfCluster { whole, shard, assignment: assignment.clone() };
        let error = cluster.patch("ns", "a", &json!([])).await.unwrap_err();
        assert_eq!(error.to_string(), "patching the finalizers of an object: the Lease of this member has run out");
        assert_eq!(error.code(), "lease");
        let store = Arc::new(Store::in_memory(&[MODEL]).await.unwrap());
        let rows = PartOfRows {
            whole: Arc::new(StoreRows { store, kind: MODEL, namespace: None, kinds: [MODEL].into() }),
            shard,
            assignment,
        };
        for error in [
            rows.write(&[]).await.unwrap_err(),
            rows.record_rejects(&[]).await.unwrap_err(),
            rows.forget_rejects(&[]).await.unwrap_err(),
        ] {
            assert_eq!(error.class(), ErrorClass::Lease);
            assert!(error.to_string().contains("the Lease of this member has run out"), "{error}");
        }
    }
}
