//! Single histories that once went wrong: each runs one unit between a cluster and a database that behave as the scene says. (`simulation`
//! finds histories at random; these are known.)

mod dependents;
mod evictions;
mod histories;
mod left_out;
mod moved;
mod policies;
mod purged;
mod spooling;

use crate::budget::Budget;
use crate::clock::SystemClock;
use crate::cluster::{
    ApiError, Cluster, Deletion, ListPosition, ListStream, MetadataPage, Page, PartialObjectMeta, RemoteEvent, Watch,
};
use crate::dependents::{MirroredKinds, Uids};
use crate::events::Publisher;
use crate::fixture::MODEL;
use crate::follow::Follower;
use crate::health::Health;
use crate::metrics::Metrics;
use crate::policies::{Candidate, PolicyError, WeighBounds, WeighedCandidates};
use crate::replicas::shard::Shard;
use crate::rows::{Names, Rows};
use crate::unit::Unit;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use ingester_config::{Config, EvictionRule, Ingester, Live};
use ingester_core::Kind;
use ingester_core::kind::{Decode, Functions};
use ingester_core::object::{ManagedFields, Meta};
use ingester_core::row::Row;
use ingester_core::value::{Micros, Value};
use ingester_store::fuse::{Fuse, Sweep};
use ingester_store::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use ingester_store::left_out::{FilterVerdict, LeftOutCount, leaves_out};
use ingester_store::{
    EvictedRows, LiveRow, LostEviction, Premise, Reject, RejectedObject, Report, RowChange, StoreError, StoredRow,
};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Our finalizer.
const FINALIZER: &str = "michelangelo/Ingester";

/// The fate of a request.
#[derive(Clone, Copy)]
enum Trouble {
    None,
    /// It is never answered.
    Silence,
    Slow(Duration),
    Status(u16),
    /// A watch that ends at once.
    End,
}

struct SceneState {
    /// By name.
    objects: BTreeMap<String, Json>,
    version: u64,
    /// By uid.
    rows: BTreeMap<Box<str>, StoredRow>,
    calls: Vec<(Instant, String)>,
    trouble: fn(&str) -> Trouble,
    /// The number of evictions by rules that were begun.
    begun: u64,
    /// The records of lost evictions, by uid.
    lost: BTreeMap<Box<str>, LostEviction>,
    /// Each namespace with the selector that matches it.
    namespaces: BTreeMap<String, String>,
    /// The uids of the owners of objects of other kinds, by the name of the kind.
    others: BTreeMap<String, Vec<String>>,
    /// The uids of the changes that were written, in this order.
    written: Vec<Box<str>>,
    /// The memory of the database for tables, if it matters.
    pool: Option<u64>,
}

/// The mark of an object that the rules of scenes choose.
const DONE: &str = r#""phase":"done""#;

fn candidate(row: &StoredRow) -> Candidate {
    let name = row.uid.trim_start_matches("uid-");
    Candidate {
        uid: row.uid.clone(),
        namespace: "ml".into(),
        name: name.into(),
        version: row.res_version,
        created: None,
        since: None,
        definition: 1,
        takes_place: true,
        evidence: 0,
        group: Vec::new(),
    }
}

/// The kind with a filter that leaves out objects with this text in their spec.
const FILTERED: Kind = Kind::new(
    *MODEL.definition(),
    Functions {
        decode: Decode::Function(|object, _| object.parts().map(|(spec, _)| !spec.contains("left out"))),
        ..*MODEL.functions()
    },
)
.filtering();

/// The events of a watch: the version, the object's last state, and true if the object is gone.
#[derive(Default)]
struct Events {
    all: Mutex<Vec<(u64, bool, Json)>>,
    changed: Notify,
    /// All watches end.
    ended: Notify,
}

impl Events {
    fn all(&self) -> MutexGuard<'_, Vec<(u64, bool, Json)>> {
        self.all.lock()
    }
}

struct Scene {
    state: Mutex<SceneState>,
    events: Arc<Events>,
    metrics: Metrics,
    /// The number of times that the database has moved to another server.
    moves: watch::Sender<u64>,
    mirrored: Mutex<MirroredKinds>,
}

fn render_json(object: &Json) -> Box<str> {
    object.to_string().into()
}

/// Returns the uids of an object's owners.
fn owners_of(object: &Json) -> Vec<String> {
    let references = object["metadata"]["ownerReferences"].as_array();
    references.into_iter().flatten().filter_map(|owner| owner["uid"].as_str()).map(str::to_owned).collect()
}

impl Scene {
    fn new(trouble: fn(&str) -> Trouble) -> Arc<Self> {
        let state = SceneState {
            objects: BTreeMap::new(),
            version: 1,
            rows: BTreeMap::new(),
            calls: Vec::new(),
            trouble,
            begun: 0,
            lost: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            others: BTreeMap::new(),
            written: Vec::new(),
            pool: None,
        };
        let mirrored = MirroredKinds::new([MODEL].into());
        Arc::new(Scene {
            state: Mutex::new(state),
            events: Arc::default(),
            metrics: Metrics::new().unwrap(),
            moves: watch::Sender::default(),
            mirrored: Mutex::new(mirrored),
        })
    }

    fn state(&self) -> MutexGuard<'_, SceneState> {
        self.state.lock()
    }

    /// Creates or changes an object.
    fn put(&self, name: &str, change: impl FnOnce(&mut Json)) {
        let mut state = self.state();
        state.version += 1;
        let version = state.version;
        let mut object = state.objects.get(name).cloned().unwrap_or_else(|| {
            json!({
                "apiVersion": "michelangelo.api/v2", "kind": "Model",
                "metadata": { "namespace": "ml", "name": name, "uid": format!("uid-{name}"), "finalizers": [FINALIZER] },
                "spec": {},
            })
        });
        change(&mut object);
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        let gone = object["metadata"]["deletionTimestamp"].is_string()
            && object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
        if gone {
            state.objects.remove(name);
        } else {
            state.objects.insert(name.to_owned(), object.clone());
        }
        drop(state);
        self.events.all().push((version, gone, object));
        self.events.changed.notify_waiters();
    }

    fn end_watches(&self) {
        self.events.ended.notify_waiters();
    }

    /// Adds a row as an earlier process would have stored it.
    fn store_row(&self, name: &str, delete_time: Option<Micros>) {
        let mut state = self.state();
        let object = crate::unit::parse(&MODEL, render_json(&state.objects[name]), ManagedFields::Keep).unwrap();
        let row = MODEL.row(&object).unwrap().unwrap();
        state.rows.insert(row.uid.clone(), kept(Row { delete_time, ..row }));
    }

    fn row(&self, name: &str) -> Option<StoredRow> {
        self.state().rows.get(format!("uid-{name}").as_str()).cloned()
    }

    fn is_live(&self, name: &str) -> bool {
        self.row(name).is_some_and(|row| row.delete_time.is_none())
    }

    /// Returns the value of a series of the kind, which is written as `name` or `name reason`.
    fn metric(&self, series: &str) -> u32 {
        let (name, reason) = series.split_once(' ').unwrap_or((series, ""));
        let reason = if reason.is_empty() { String::new() } else { format!(",reason=\"{reason}\"") };
        let series = format!("{name}{{kind=\"Model\"{reason}}} ");
        let text = self.metrics.render();
        text.lines().find_map(|line| line.strip_prefix(&series)).unwrap().parse().unwrap()
    }

    fn calls(&self, what: &str) -> Vec<Instant> {
        self.state().calls.iter().filter(|(_, call)| call.starts_with(what)).map(|(at, _)| *at).collect()
    }

    /// Carries out a request, after the trouble that the scene plans for it.
    async fn request<T>(
        &self,
        call: String,
        work: impl FnOnce(&mut SceneState) -> Result<T, u16>,
    ) -> Result<T, ApiError> {
        let trouble = {
            let mut state = self.state();
            state.calls.push((Instant::now(), call.clone()));
            (state.trouble)(&call)
        };
        sleep(Duration::from_millis(1)).await;
        match trouble {
            Trouble::None | Trouble::End => {}
            Trouble::Silence => std::future::pending().await,
            Trouble::Slow(pause) => sleep(pause).await,
            Trouble::Status(code) => return Err(ApiError::status(call, code)),
        }
        work(&mut self.state()).map_err(|code| ApiError::status(call, code))
    }

    async fn query<T>(&self, call: &str, work: impl FnOnce(&mut SceneState) -> T) -> Result<T, StoreError> {
        let done = self.request(call.to_owned(), |state| Ok(work(state))).await;
        done.map_err(|_| StoreError::silent(call, Duration::ZERO))
    }

    /// Mirrors until the scene is over.
    fn play(self: &Arc<Self>, deletion_delay: Duration) -> CancellationToken {
        let stop = CancellationToken::new();
        self.play_until(deletion_delay, &stop, &stop);
        stop
    }

    /// Does the same, but compares only when something asks for it.
    fn play_without_resyncs(self: &Arc<Self>) -> CancellationToken {
        let stop = CancellationToken::new();
        let mut config = Config::default();
        config.ingester.resync_period = None;
        self.play_with(config, &stop, &stop);
        stop
    }

    /// Mirrors until the unit must stop, or the process must end.
    fn play_until(
        self: &Arc<Self>,
        deletion_delay: Duration,
        stop: &CancellationToken,
        exit: &CancellationToken,
    ) -> JoinHandle<Result<(), String>> {
        let mut config = Config::default();
        config.metadata_storage.deletion_delay = deletion_delay;
        self.play_with(config, stop, exit)
    }

    fn play_with(
        self: &Arc<Self>,
        config: Config,
        stop: &CancellationToken,
        exit: &CancellationToken,
    ) -> JoinHandle<Result<(), String>> {
        self.play_kind(MODEL, config, stop, exit)
    }

    fn play_kind(
        self: &Arc<Self>,
        kind: Kind,
        config: Config,
        stop: &CancellationToken,
        exit: &CancellationToken,
    ) -> JoinHandle<Result<(), String>> {
        tokio::spawn(Follower::run(self.unit(kind, config, stop, exit)))
    }

    fn unit(
        self: &Arc<Self>,
        kind: Kind,
        mut config: Config,
        stop: &CancellationToken,
        exit: &CancellationToken,
    ) -> Unit {
        config.ingester = Ingester {
            concurrent_reconciles: 1,
            requeue_period: Duration::from_secs(10),
            finalizer_rate: 1000,
            prune_managed_fields: false,
            ..config.ingester
        };
        Unit {
            kind,
            namespace: None,
            shard: Shard::WHOLE,
            selection: Arc::new(config.ingester.selection_of("Model")),
            mirrored: self.mirrored.lock().clone(),
            cluster: self.clone(),
            rows: self.clone(),
            clock: Arc::new(SystemClock),
            memory: Budget::new(1 << 20).quota(),
            live: Live::fixed(config),
            metrics: self.metrics.controller("Model"),
            health: Health::new([]),
            publisher: Publisher::off(),
            stop: stop.clone(),
            exit: exit.clone(),
        }
    }
}

fn kept(row: Row) -> StoredRow {
    let Row {
        uid, res_version, ingest_version, delete_time, evict_time, mut values, labels, annotations, many, ..
    } = row.clone();
    let time = |time: Option<Micros>| time.map_or(Value::Null, Value::Time);
    values[ingester_core::schema::base::DELETE_TIME] = time(delete_time);
    values[ingester_core::schema::base::EVICT_TIME] = time(evict_time);
    let eviction = row.eviction();
    StoredRow { uid, res_version, ingest_version, delete_time, evict_time, eviction, values, labels, annotations, many }
}

fn version_of(row: &StoredRow) -> Version {
    let StoredRow { res_version, ingest_version, .. } = *row;
    Version { res_version, ingest_version, deleted: row.delete_time.is_some(), eviction: row.eviction }
}

impl Cluster for Scene {
    fn list<'a>(&'a self, _: u32, _: Option<&'a str>) -> BoxFuture<'a, Result<Page, ApiError>> {
        let list = |state: &mut SceneState| {
            let items = state.objects.values().map(render_json).collect();
            Ok(Page { version: state.version, items, ..Page::default() })
        };
        self.request("list".into(), list).boxed()
    }

    fn list_metadata<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>> {
        let list = |state: &mut SceneState| {
            let items =
                state.objects.values().map(|object| serde_json::from_value(object["metadata"].clone()).unwrap());
            Ok(MetadataPage { version: state.version, next: None, items: items.collect() })
        };
        self.request("metadata".into(), list).boxed()
    }

    fn stream(&self) -> BoxFuture<'_, Result<Option<ListStream<Box<str>>>, ApiError>> {
        async { Ok(None) }.boxed()
    }

    fn stream_metadata(&self) -> BoxFuture<'_, Result<Option<ListStream<PartialObjectMeta>>, ApiError>> {
        async { Ok(None) }.boxed()
    }

    fn position(&self) -> BoxFuture<'_, Result<ListPosition, ApiError>> {
        let read = |state: &mut SceneState| {
            Ok(ListPosition { version: state.version, objects: Some(state.objects.len() as u64) })
        };
        self.request("version".into(), read).boxed()
    }

    fn watch(&self, version: u64) -> BoxFuture<'_, Result<Watch, ApiError>> {
        async move {
            self.request("watch".into(), |_| Ok(())).await?;
            if matches!((self.state().trouble)("watch"), Trouble::End) {
                return Ok(futures::stream::empty().boxed());
            }
            let events = self.events.clone();
            let stream = futures::stream::unfold((events, version), |(events, sent)| async move {
                let (version, gone, object) = loop {
                    let changed = events.changed.notified();
                    let ended = events.ended.notified();
                    let next = events.all().iter().find(|(version, ..)| *version > sent).cloned();
                    if let Some(next) = next {
                        break next;
                    }
                    tokio::select! {
                        biased;
                        () = ended => return None,
                        () = changed => {}
                    }
                };
                let object = render_json(&object);
                let event = if gone { RemoteEvent::Deleted(object) } else { RemoteEvent::Applied(object) };
                Some((Ok(event), (events, version)))
            });
            Ok(stream.boxed())
        }
        .boxed()
    }

    fn look<'a>(&'a self, _: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>> {
        self.request(format!("look {name}"), move |state| Ok(state.objects.get(name).map(render_json))).boxed()
    }

    fn namespaces<'a>(&'a self, selector: &'a str) -> BoxFuture<'a, Result<Vec<Box<str>>, ApiError>> {
        let label = move |state: &mut SceneState| {
            let found = state.namespaces.iter().filter(|(_, label)| *label == selector);
            Ok(found.map(|(name, _)| name.as_str().into()).collect())
        };
        self.request("namespaces".into(), label).boxed()
    }

    fn owners_among<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
        uids: &'a Uids,
    ) -> BoxFuture<'a, Result<Uids, ApiError>> {
        let owners = move |state: &mut SceneState| {
            let own = state.objects.values().flat_map(owners_of).filter(|_| kind.name() == "Model");
            let others = state.others.get(kind.name()).into_iter().flatten().cloned();
            Ok(own.chain(others).map(Box::<str>::from).filter(|uid| uids.contains(uid)).collect())
        };
        self.request(format!("owners {} {}", kind.name(), namespace.unwrap_or("everywhere")), owners).boxed()
    }

    fn patch<'a>(&'a self, _: &'a str, name: &'a str, patch: &'a Json) -> BoxFuture<'a, Result<Box<str>, ApiError>> {
        async move {
            let removes = patch.as_array().is_some_and(|steps| steps.iter().any(|step| step["op"] == "remove"));
            self.request(
                format!("patch {name}"),
                |state| if state.objects.contains_key(name) { Ok(()) } else { Err(404) },
            )
            .await?;
            self.put(name, |object| {
                object["metadata"]["finalizers"] = if removes { json!([]) } else { json!([FINALIZER]) };
            });
            let events = self.events.all();
            let last = events.iter().rev().find(|(_, _, object)| object["metadata"]["name"] == name);
            Ok(last.map(|(_, _, object)| render_json(object)).unwrap_or_default())
        }
        .boxed()
    }

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<Deletion, ApiError>> {
        async move {
            let is_current = |state: &mut SceneState| match state.objects.get(&*meta.name) {
                Some(object) if object["metadata"]["resourceVersion"] == json!(meta.resource_version.to_string()) => {
                    Ok(())
                }
                Some(_) => Err(409),
                None => Err(404),
            };
            self.request(format!("delete {}", meta.name), is_current).await?;
            self.put(&meta.name, |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
            let there = self.state().objects.contains_key(&*meta.name);
            Ok(if there { Deletion::Terminating } else { Deletion::Gone })
        }
        .boxed()
    }
}

impl Rows for Scene {
    fn write<'a>(&'a self, changes: &'a [RowChange]) -> BoxFuture<'a, Result<Report, StoreError>> {
        let write = move |state: &mut SceneState| {
            let mut report = Report::default();
            for change in changes {
                state.written.push(change.uid().into());
                let stored = state.rows.get(change.uid()).map(version_of);
                let decided = match (change, stored) {
                    (RowChange::Tombstone { .. }, None) => Verdict::Unchanged,
                    (_, None) => Verdict::Write,
                    (RowChange::Row(row), Some(stored)) => verdict(stored, row.version()),
                    (RowChange::Replacement { row, seen }, Some(stored)) => verdict_over(stored, *seen, row.version()),
                    (RowChange::Tombstone { res_version, .. }, Some(stored)) => {
                        verdict_of_tombstone(stored, *res_version)
                    }
                };
                match (decided, change) {
                    (Verdict::Unchanged, _) => report.unchanged += 1,
                    (Verdict::Stale, _) => report.stale.push(change.uid().into()),
                    (Verdict::Confirm, _) => {
                        report.written += 1;
                        if let Some(row) = state.rows.get_mut(change.uid()) {
                            row.eviction = Eviction::Confirmed;
                        }
                    }
                    (_, RowChange::Row(row) | RowChange::Replacement { row, .. }) => {
                        report.written += 1;
                        state.rows.insert(row.uid.clone(), kept(row.clone()));
                    }
                    (_, RowChange::Tombstone { uid, res_version, delete_time }) => {
                        report.written += 1;
                        if let Some(row) = state.rows.get_mut(uid) {
                            row.delete_time = Some(*delete_time);
                            row.res_version = *res_version;
                        }
                    }
                }
            }
            report
        };
        self.query("write", write).boxed()
    }

    fn versions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<HashMap<Box<str>, Version>, StoreError>> {
        let versions = move |state: &mut SceneState| {
            let found = uids.iter().filter_map(|uid| state.rows.get(*uid));
            found.map(|row| (row.uid.clone(), version_of(row))).collect()
        };
        self.query("versions", versions).boxed()
    }

    fn read_stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>> {
        self.query("stored", move |state| uids.iter().filter_map(|uid| state.rows.get(*uid).cloned()).collect()).boxed()
    }

    fn live<'a>(
        &'a self,
        evicted: EvictedRows,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        let live = move |state: &mut SceneState| {
            let wanted = |row: &&StoredRow| evicted == EvictedRows::Included || row.eviction != Eviction::Confirmed;
            let rows = state.rows.values().filter(|row| row.delete_time.is_none() && &*row.uid > after);
            rows.filter(wanted)
                .take(limit)
                .map(|row| LiveRow {
                    uid: row.uid.clone(),
                    res_version: row.res_version,
                    ingest_version: row.ingest_version,
                    eviction: row.eviction,
                })
                .collect()
        };
        self.query("live", live).boxed()
    }

    fn names<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Names>, StoreError>> {
        let names = move |state: &mut SceneState| {
            let found = uids.iter().filter(|uid| state.rows.contains_key(**uid));
            found.map(|uid| ((*uid).into(), "ml".into(), uid.trim_start_matches("uid-").into())).collect()
        };
        self.query("names", names).boxed()
    }

    fn record_rejects<'a>(&'a self, _: &'a [Reject]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("record", |_| ()).boxed()
    }

    fn rejects(&self) -> BoxFuture<'_, Result<Vec<RejectedObject>, StoreError>> {
        self.query("rejects", |_| Vec::new()).boxed()
    }

    fn forget_rejects<'a>(&'a self, _: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("forget", |_| ()).boxed()
    }

    fn ask_to_sweep<'a>(&'a self, _: &'a str, gone: u64, fuse: &'a Fuse) -> BoxFuture<'a, Result<Sweep, StoreError>> {
        let ask = move |state: &mut SceneState| {
            let live = state.rows.values().filter(|row| row.delete_time.is_none()).count() as u64;
            if fuse.refuses(gone, live) { Sweep::Refused { gone, live } } else { Sweep::Allowed }
        };
        self.query("ask", ask).boxed()
    }

    fn count_swept<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("count", |_| ()).boxed()
    }

    fn judge_left_out<'a>(&'a self, fuse: Option<&'a Fuse>) -> BoxFuture<'a, Result<FilterVerdict, StoreError>> {
        let judge = move |state: &mut SceneState| {
            let rows = state.rows.values().filter(|row| row.delete_time.is_none() && row.evict_time.is_none());
            let is_out = |row: &&StoredRow| leaves_out(&FILTERED, row.json()) == Ok(true);
            let found = LeftOutCount { rows: rows.clone().filter(is_out).count() as u64, live: rows.count() as u64 };
            FilterVerdict::new(found, fuse)
        };
        self.query("judge", judge).boxed()
    }

    /// The live rows of objects that are done.
    fn candidates<'a>(&'a self, rule: &'a EvictionRule) -> BoxFuture<'a, Result<Vec<Candidate>, PolicyError>> {
        async move {
            let is_in = |candidate: &Candidate| {
                let namespaces = &rule.condition.namespaces;
                namespaces.is_empty() || namespaces.iter().any(|name| **name == *candidate.namespace)
            };
            let candidates = self.query("candidates", |state| {
                let live = state.rows.values().filter(|row| row.delete_time.is_none() && row.evict_time.is_none());
                live.filter(|row| row.json().contains(DONE)).map(candidate).filter(is_in).collect()
            });
            Ok(candidates.await?)
        }
        .boxed()
    }

    fn premise<'a>(&'a self, _: &'a [EvictionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        async { Ok(Premise { since: 1, own: 1, latest: 1, ..Premise::default() }) }.boxed()
    }

    fn pending<'a>(&'a self, _: &'a EvictionRule, _: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        async { Ok(0) }.boxed()
    }

    fn unproved<'a>(
        &'a self,
        _: &'a [Box<str>],
        _: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>> {
        async { Ok(HashSet::new()) }.boxed()
    }

    fn weigh<'a>(
        &'a self,
        leaving: &'a [Candidate],
        bounds: WeighBounds<'a>,
    ) -> BoxFuture<'a, Result<WeighedCandidates, PolicyError>> {
        async move {
            self.query("weigh", |_| ()).await?;
            // The rules read nothing of a row.
            let evidence = DefaultHasher::new().finish();
            let free = leaving.iter().map(|one| Candidate { evidence, ..one.clone() }).collect();
            let mut weighed = WeighedCandidates { free, ..WeighedCandidates::default() };
            // Rows have no owners here.
            weighed.take_back(bounds.dependents);
            weighed.free.truncate(bounds.most);
            Ok(weighed)
        }
        .boxed()
    }

    fn evicted_lately<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.query("lately", |state| state.begun).boxed()
    }

    fn count_evicted<'a>(&'a self, _: &'a str, objects: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("begin", move |state| state.begun += objects).boxed()
    }

    fn uncount_evicted<'a>(&'a self, _: &'a str, objects: u64, _: Micros) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("uncount", move |state| state.begun -= objects).boxed()
    }

    fn lost_evictions(&self) -> BoxFuture<'_, Result<Vec<LostEviction>, StoreError>> {
        // No test depends on how often this is read.
        async { Ok(self.state().lost.values().cloned().collect()) }.boxed()
    }

    fn record_lost_evictions<'a>(&'a self, lost: &'a [LostEviction]) -> BoxFuture<'a, Result<(), StoreError>> {
        let entries = move || lost.iter().map(|lost| (lost.uid.clone(), lost.clone()));
        self.query("record lost", move |state| state.lost.extend(entries())).boxed()
    }

    fn forget_lost_evictions<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("forget lost", move |state| uids.iter().for_each(|uid| drop(state.lost.remove(*uid)))).boxed()
    }

    fn moves(&self) -> watch::Receiver<u64> {
        self.moves.subscribe()
    }

    fn clustered_pool(&self) -> Option<u64> {
        self.state().pool
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn quiet(_: &str) -> Trouble {
    Trouble::None
}
