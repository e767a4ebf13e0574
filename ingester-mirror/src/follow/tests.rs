//! Single histories, each of which once went wrong: one unit between a cluster and a database that do what the scene says.
//! (`simulation` finds histories by chance; these are known.)

use crate::budget::Budget;
use crate::clock::SystemClock;
use crate::cluster::{
    ApiError, Cluster, Deletion, ListStream, MetadataPage, Page, PartialObjectMeta, RemoteEvent, Watch,
};
use crate::config::{Config, Ingester, Live};
use crate::events::Publisher;
use crate::fixture::MODEL;
use crate::follow::Follower;
use crate::health::Health;
use crate::lifecycle::finalizer::FINALIZER;
use crate::metrics::Metrics;
use crate::replicas::shard::Shard;
use crate::rows::{Names, Rows};
use crate::unit::Unit;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use ingester_core::object::{ManagedFields, Meta};
use ingester_core::row::Row;
use ingester_core::value::{Micros, Value};
use ingester_store::fuse::{Fuse, Sweep};
use ingester_store::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use ingester_store::{Evicted, LiveRow, Reject, Rejected, Report, RowChange, StoreError, StoredRow};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// What happens to a request.
#[derive(Clone, Copy)]
enum Trouble {
    None,
    /// There is no answer, ever.
    Silence,
    Slow(Duration),
    Status(u16),
    /// A watch that ends at once.
    End,
}

struct State {
    /// By name.
    objects: BTreeMap<String, Json>,
    version: u64,
    /// By uid.
    rows: BTreeMap<Box<str>, StoredRow>,
    calls: Vec<(Instant, String)>,
    trouble: fn(&str) -> Trouble,
}

/// What a watch sends: the version, whether the object is gone, and its last state.
#[derive(Default)]
struct Events {
    all: Mutex<Vec<(u64, bool, Json)>>,
    changed: Notify,
}

impl Events {
    fn all(&self) -> MutexGuard<'_, Vec<(u64, bool, Json)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Scene {
    state: Mutex<State>,
    events: Arc<Events>,
    metrics: Metrics,
    /// How often the database has moved to another server.
    moves: watch::Sender<u64>,
}

fn text(object: &Json) -> Box<str> {
    object.to_string().into()
}

impl Scene {
    fn new(trouble: fn(&str) -> Trouble) -> Arc<Self> {
        let state = State { objects: BTreeMap::new(), version: 1, rows: BTreeMap::new(), calls: Vec::new(), trouble };
        Arc::new(Scene {
            state: Mutex::new(state),
            events: Arc::default(),
            metrics: Metrics::new().unwrap(),
            moves: watch::Sender::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// A row as an earlier process stored it.
    fn stored(&self, name: &str, delete_time: Option<Micros>) {
        let mut state = self.state();
        let object = crate::unit::parse(&MODEL, text(&state.objects[name]), ManagedFields::Keep).unwrap();
        let row = MODEL.row(&object).unwrap().unwrap();
        state.rows.insert(row.uid.clone(), kept(Row { delete_time, ..row }));
    }

    fn row(&self, name: &str) -> Option<StoredRow> {
        self.state().rows.get(format!("uid-{name}").as_str()).cloned()
    }

    fn is_live(&self, name: &str) -> bool {
        self.row(name).is_some_and(|row| row.delete_time.is_none())
    }

    /// The value of a series of the kind, which is written as `name` or `name reason`.
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

    /// Does a request, after what befalls it.
    async fn request<T>(&self, call: String, work: impl FnOnce(&mut State) -> Result<T, u16>) -> Result<T, ApiError> {
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

    async fn query<T>(&self, call: &str, work: impl FnOnce(&mut State) -> T) -> Result<T, StoreError> {
        let done = self.request(call.to_owned(), |state| Ok(work(state))).await;
        done.map_err(|_| StoreError::silent(call, Duration::ZERO))
    }

    /// Mirrors until the scene is over.
    fn play(self: &Arc<Self>, deletion_delay: Duration) -> CancellationToken {
        let stop = CancellationToken::new();
        self.play_until(deletion_delay, &stop, &stop);
        stop
    }

    /// Mirrors until the unit is to stop, or the process is to end.
    fn play_until(
        self: &Arc<Self>,
        deletion_delay: Duration,
        stop: &CancellationToken,
        exit: &CancellationToken,
    ) -> JoinHandle<Result<(), String>> {
        let mut config = Config::default();
        config.metadata_storage.deletion_delay = deletion_delay;
        config.ingester = Ingester {
            concurrent_reconciles: 1,
            requeue_period: Duration::from_secs(10),
            finalizer_rate: 1000,
            prune_managed_fields: false,
            ..config.ingester
        };
        let unit = Unit {
            kind: MODEL,
            namespace: None,
            shard: Shard::WHOLE,
            cluster: self.clone(),
            rows: self.clone(),
            clock: Arc::new(SystemClock),
            memory: Budget::new(1 << 20).part(),
            live: Live::fixed(config),
            metrics: self.metrics.controller("Model"),
            health: Health::new([]),
            publisher: Publisher::off(),
            stop: stop.clone(),
            exit: exit.clone(),
        };
        tokio::spawn(Follower::run(unit))
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
        let list = |state: &mut State| {
            Ok(Page { version: state.version, next: None, items: state.objects.values().map(text).collect() })
        };
        self.request("list".into(), list).boxed()
    }

    fn list_metadata<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>> {
        let list = |state: &mut State| {
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

    fn version(&self) -> BoxFuture<'_, Result<u64, ApiError>> {
        self.request("version".into(), |state| Ok(state.version)).boxed()
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
                    let next = events.all().iter().find(|(version, ..)| *version > sent).cloned();
                    match next {
                        Some(next) => break next,
                        None => changed.await,
                    }
                };
                let object = text(&object);
                let event = if gone { RemoteEvent::Deleted(object) } else { RemoteEvent::Applied(object) };
                Some((Ok(event), (events, version)))
            });
            Ok(stream.boxed())
        }
        .boxed()
    }

    fn look<'a>(&'a self, _: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>> {
        self.request(format!("look {name}"), move |state| Ok(state.objects.get(name).map(text))).boxed()
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
            Ok(last.map(|(_, _, object)| text(object)).unwrap_or_default())
        }
        .boxed()
    }

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<Deletion, ApiError>> {
        async move {
            self.request(format!("delete {}", meta.name), |_| Ok(())).await?;
            self.put(&meta.name, |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
            let there = self.state().objects.contains_key(&*meta.name);
            Ok(if there { Deletion::Terminating } else { Deletion::Gone })
        }
        .boxed()
    }
}

impl Rows for Scene {
    fn write<'a>(&'a self, changes: &'a [RowChange]) -> BoxFuture<'a, Result<Report, StoreError>> {
        let write = move |state: &mut State| {
            let mut report = Report::default();
            for change in changes {
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
        let versions = move |state: &mut State| {
            let found = uids.iter().filter_map(|uid| state.rows.get(*uid));
            found.map(|row| (row.uid.clone(), version_of(row))).collect()
        };
        self.query("versions", versions).boxed()
    }

    fn stored<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<StoredRow>, StoreError>> {
        self.query("stored", move |state| uids.iter().filter_map(|uid| state.rows.get(*uid).cloned()).collect()).boxed()
    }

    fn live<'a>(
        &'a self,
        evicted: Evicted,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        let live = move |state: &mut State| {
            let wanted = |row: &&StoredRow| evicted == Evicted::Included || row.eviction != Eviction::Confirmed;
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
        let names = move |state: &mut State| {
            let found = uids.iter().filter(|uid| state.rows.contains_key(**uid));
            found.map(|uid| ((*uid).into(), "ml".into(), uid.trim_start_matches("uid-").into())).collect()
        };
        self.query("names", names).boxed()
    }

    fn record_rejects<'a>(&'a self, _: &'a [Reject]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("record", |_| ()).boxed()
    }

    fn rejects(&self) -> BoxFuture<'_, Result<Vec<Rejected>, StoreError>> {
        self.query("rejects", |_| Vec::new()).boxed()
    }

    fn forget_rejects<'a>(&'a self, _: &'a [&'a str]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("forget", |_| ()).boxed()
    }

    fn ask_to_sweep<'a>(&'a self, _: &'a str, gone: u64, fuse: &'a Fuse) -> BoxFuture<'a, Result<Sweep, StoreError>> {
        let ask = move |state: &mut State| {
            let live = state.rows.values().filter(|row| row.delete_time.is_none()).count() as u64;
            if fuse.refuses(gone, live) { Sweep::Refused { gone, live } } else { Sweep::Allowed }
        };
        self.query("ask", ask).boxed()
    }

    fn count_swept<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        self.query("count", |_| ()).boxed()
    }

    fn moves(&self) -> watch::Receiver<u64> {
        self.moves.subscribe()
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn quiet(_: &str) -> Trouble {
    Trouble::None
}

#[tokio::test(start_paused = true)]
async fn a_slow_request_holds_up_no_other_object() {
    let slow = |call: &str| if call == "patch slow" { Trouble::Silence } else { Trouble::None };
    let scene = Scene::new(slow);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    // Before the commit: the finalizer of a new object. All come in one batch.
    for name in ["slow", "a", "b"] {
        scene.put(name, |object| object["metadata"]["finalizers"] = json!([]));
    }
    sleep(SECOND).await;
    assert!(scene.is_live("a") && scene.is_live("b") && scene.row("slow").is_none());
    // After the commit: the finalizer of a deleted one.
    for name in ["slow", "a"] {
        scene.put(name, |object| {
            object["metadata"]["finalizers"] = json!([FINALIZER]);
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
    }
    sleep(SECOND).await;
    assert!(!scene.is_live("a") && !scene.state().objects.contains_key("a"), "it is gone");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_is_opened_again_after_a_pause() {
    let scene = Scene::new(|call| if call == "watch" { Trouble::End } else { Trouble::None });
    let _playing = scene.play(Duration::ZERO);
    sleep(300 * SECOND).await;
    let watches = scene.calls("watch").len();
    assert!((10..100).contains(&watches), "{watches} in five minutes");
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_is_always_refused_is_tried_again_at_growing_pauses() {
    let scene = Scene::new(|call| if call == "patch a" { Trouble::Status(422) } else { Trouble::None });
    scene.put("a", |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    let _playing = scene.play(Duration::ZERO);
    sleep(600 * SECOND).await;
    let patches = scene.calls("patch a");
    assert!((30..90).contains(&patches.len()), "{} in ten minutes", patches.len());
    let last = &patches[patches.len() - 2..];
    assert!(last[1] - last[0] >= 10 * SECOND, "the requeue period");
    assert!(!scene.is_live("a"), "SQL has it meanwhile");
}

#[tokio::test(start_paused = true)]
async fn an_evicted_row_gives_way_to_a_deletion_that_was_asked_for() {
    let scene = Scene::new(quiet);
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" }));
    scene.stored("a", None);
    // Another ingester has written it, and was killed before it took our finalizer away.
    if let Some(row) = scene.state().rows.get_mut("uid-a") {
        row.evict_time = Some(Micros(1));
        row.eviction = Eviction::Intended;
    }
    scene.put("a", |object| {
        object["metadata"]["annotations"]["michelangelo/Deleting"] = json!("true");
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    let last = scene.state().version;
    let _playing = scene.play(Duration::ZERO);
    sleep(60 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a"), "nothing holds it any more");
    let row = scene.row("a").unwrap();
    assert_eq!((row.evict_time, row.delete_time.is_some(), row.res_version), (None, true, last));
}

#[tokio::test(start_paused = true)]
async fn rows_are_read_page_by_page_each_in_its_own_time() {
    let scene = Scene::new(|call| if call == "live" { Trouble::Slow(40 * SECOND) } else { Trouble::None });
    scene.put("a", |_| {});
    scene.stored("a", None);
    let row = scene.row("a").unwrap();
    for number in 0..7 {
        let uid: Box<str> = format!("uid-{number:05}").into();
        scene.state().rows.insert(uid.clone(), StoredRow { uid, ..row.clone() });
    }
    let _playing = scene.play(Duration::ZERO);
    sleep(150 * SECOND).await;
    assert_eq!(scene.calls("live").len(), 3, "two minutes in all, and none is read twice");
    assert_eq!(scene.calls("metadata").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_of_too_many_rows_marks_none_until_a_list_is_within_the_limit() {
    let scene = Scene::new(quiet);
    for number in 0..1100 {
        let name = format!("m{number:04}");
        scene.put(&name, |_| {});
        scene.stored(&name, None);
    }
    let objects = std::mem::take(&mut scene.state().objects);
    let _playing = scene.play(Duration::ZERO);
    sleep(60 * SECOND).await;
    assert!(
        scene.calls("metadata").len() == 1 && scene.calls("look").is_empty(),
        "etcd is empty, and nobody believes it"
    );
    assert!(objects.keys().all(|name| scene.is_live(name)));
    // All but ten are there again when the next resync asks.
    scene.state().objects = objects.into_iter().skip(10).collect();
    sleep(700 * SECOND).await;
    assert_eq!(scene.state().rows.values().filter(|row| row.delete_time.is_some()).count(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_resync_that_takes_longer_than_its_period_leaves_a_pause() {
    let scene = Scene::new(|call| if call == "metadata" { Trouble::Slow(700 * SECOND) } else { Trouble::None });
    scene.put("a", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(2000 * SECOND).await;
    let resyncs = scene.calls("metadata");
    assert_eq!(resyncs.len(), 2);
    assert!(resyncs[1] - resyncs[0] >= 1300 * SECOND, "{:?}", resyncs[1] - resyncs[0]);
}

#[tokio::test(start_paused = true)]
async fn a_restart_between_marked_and_gone_leaves_the_tombstone() {
    let scene = Scene::new(|call| if call == "delete a" { Trouble::Status(500) } else { Trouble::None });
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Deleting": "true" }));
    scene.stored("a", Some(Micros(1_000_000)));
    let _playing = scene.play(3600 * SECOND);
    for _ in 0..100 {
        sleep(SECOND).await;
        assert_eq!(scene.row("a").unwrap().delete_time, Some(Micros(1_000_000)), "it flaps");
    }
    assert!(!scene.calls("delete a").is_empty(), "the delay has passed before");
}

#[tokio::test(start_paused = true)]
async fn a_live_object_wins_over_a_tombstone_of_its_version() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.stored("a", Some(Micros(1_000_000)));
    let _playing = scene.play(Duration::ZERO);
    sleep(30 * SECOND).await;
    assert!(scene.is_live("a"));
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_silent_when_a_row_is_read_back_is_asked_again() {
    let scene = Scene::new(|call| if call == "stored" { Trouble::Silence } else { Trouble::None });
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" }));
    let _playing = scene.play(Duration::ZERO);
    sleep(200 * SECOND).await;
    assert!(scene.calls("stored").len() >= 3, "each after a minute");
    assert!(scene.state().objects.contains_key("a") && scene.row("a").unwrap().evict_time.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_row_that_somebody_removed_is_written_again_by_the_resync() {
    let scene = Scene::new(quiet);
    for name in ["a", "b", "c"] {
        scene.put(name, |_| {});
    }
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.state().rows.remove("uid-a");
    scene.state().rows.get_mut("uid-b").unwrap().delete_time = Some(Micros(1));
    sleep(590 * SECOND).await;
    assert!(!scene.is_live("a") && !scene.is_live("b"));
    sleep(30 * SECOND).await;
    assert!(["a", "b", "c"].iter().all(|name| scene.is_live(name)));
}

#[tokio::test(start_paused = true)]
async fn what_was_received_before_the_cluster_was_restored_is_not_written_after_that() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    let backup = scene.state().objects.clone();
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.state().trouble = |call| if call == "write" { Trouble::Status(500) } else { Trouble::None };
    // One state is being written, and the next ones wait.
    for name in ["a", "a", "b"] {
        scene.put(name, |object| object["spec"] = json!({ "lost": true }));
        sleep(SECOND).await;
    }
    assert!(!scene.calls("write").is_empty());
    scene.events.all().clear();
    {
        let mut state = scene.state();
        (state.objects, state.version) = (backup, 2);
    }
    // The next resync sees it.
    sleep(650 * SECOND).await;
    scene.state().trouble = quiet;
    for _ in 0..1000 {
        sleep(Duration::from_millis(10)).await;
        assert_eq!(scene.row("a").map(|row| row.res_version), Some(2), "a lost state is stored");
    }
    assert!(scene.row("b").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_patch_fails_does_not_keep_the_finalizer_from_others() {
    let scene = Scene::new(|call| if call == "patch b" { Trouble::Status(500) } else { Trouble::None });
    for name in ["a", "b", "c"] {
        scene.put(name, |object| object["metadata"]["finalizers"] = json!([]));
    }
    let _playing = scene.play(Duration::ZERO);
    sleep(10 * SECOND).await;
    let has = |name: &str| scene.state().objects[name]["metadata"]["finalizers"] == json!([FINALIZER]);
    assert!(has("a") && has("c") && !has("b"));
}

/// A unit that stops, as when its kind is suspended, while a request takes its time.
#[tokio::test(start_paused = true)]
async fn a_stopping_unit_finishes_what_has_begun_and_begins_nothing() {
    const WITHOUT: fn(&mut Json) = |object| object["metadata"]["finalizers"] = json!([]);
    const LEAVING: fn(&mut Json) = |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let slow_patch = |call: &str| if call == "patch a" { Trouble::Slow(20 * SECOND) } else { Trouble::None };
    let slow_write = |call: &str| if call == "write" { Trouble::Slow(20 * SECOND) } else { Trouble::None };
    type Check = fn(&Scene) -> bool;
    /// What takes its time, whether the object was there before, what is done to it, and whether that has been finished.
    type Case = (&'static str, fn(&str) -> Trouble, bool, fn(&mut Json), Check);
    let finalized: Check = |scene| scene.state().objects["a"]["metadata"]["finalizers"] == json!([FINALIZER]);
    let cases: [Case; 4] = [
        ("the finalizer of an older object", slow_patch, true, WITHOUT, finalized),
        ("the finalizer of a new object", slow_patch, false, WITHOUT, finalized),
        ("a row", slow_write, false, |_| {}, |scene| scene.is_live("a")),
        ("the end of an object", slow_patch, false, LEAVING, |scene| !scene.state().objects.contains_key("a")),
    ];
    for (what, trouble, older, change, finished) in cases {
        let scene = Scene::new(trouble);
        if older {
            scene.put("a", change);
            scene.stored("a", None);
        }
        let (stop, exit) = (CancellationToken::new(), CancellationToken::new());
        let running = scene.play_until(Duration::ZERO, &stop, &exit);
        sleep(SECOND).await;
        if !older {
            scene.put("a", change);
        }
        sleep(SECOND).await;
        assert!(!finished(&scene), "{what} is under way");
        stop.cancel();
        // It would be the next piece of work.
        scene.put("b", |_| {});
        running.await.unwrap().unwrap();
        assert!(finished(&scene), "{what}");
        let calls = scene.state().calls.len();
        assert!(scene.row("b").is_none(), "{what}");
        sleep(60 * SECOND).await;
        assert_eq!(scene.state().calls.len(), calls, "{what}: nothing comes after the end");
        assert!(!exit.is_cancelled());
    }
}

/// A database that fails when a unit stops is not asked again.
#[tokio::test(start_paused = true)]
async fn a_stopping_unit_does_not_wait_for_a_database_that_is_away() {
    let scene = Scene::new(|call| if call == "write" { Trouble::Status(500) } else { Trouble::None });
    let (stop, exit) = (CancellationToken::new(), CancellationToken::new());
    let running = scene.play_until(Duration::ZERO, &stop, &exit);
    scene.put("a", |_| {});
    sleep(10 * SECOND).await;
    let (begin, writes) = (Instant::now(), scene.calls("write").len());
    assert!(writes > 2, "it is tried again and again");
    stop.cancel();
    running.await.unwrap().unwrap();
    assert!(begin.elapsed() < SECOND);
    assert!(scene.calls("write").len() <= writes + 1);
}

const IMMUTABLE: fn(&mut Json) =
    |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" });

/// An object of which an earlier process has an evicted row, in a state that came after what the cluster has now.
fn evicted_at_a_later_version(scene: &Scene, eviction: Eviction) -> StoredRow {
    scene.put("a", |_| {});
    let backup = scene.state().objects.clone();
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["status"] = json!({ "result": 42 });
    });
    scene.stored("a", None);
    let mut state = scene.state();
    let row = state.rows.get_mut("uid-a").unwrap();
    (row.evict_time, row.eviction) = (Some(Micros(1)), eviction);
    let row = row.clone();
    state.objects = backup;
    row
}

#[tokio::test(start_paused = true)]
async fn an_evicted_object_that_is_there_again_changes_nothing_until_a_person_decides() {
    for eviction in [Eviction::Confirmed, Eviction::Intended, Eviction::Unrecorded] {
        let scene = Scene::new(quiet);
        let row = evicted_at_a_later_version(&scene, eviction);
        let _playing = scene.play(Duration::ZERO);
        sleep(60 * SECOND).await;
        assert_eq!(scene.row("a").as_ref(), Some(&row), "{eviction:?}");
        assert!(scene.calls("patch").is_empty() && scene.calls("delete").is_empty(), "{eviction:?}");
        // Somebody touches it, and deletes it.
        if eviction != Eviction::Intended {
            scene.put("a", |object| object["metadata"]["labels"] = json!({ "touched": "yes" }));
            sleep(60 * SECOND).await;
        }
        scene.put("a", |object| {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!([]);
        });
        sleep(700 * SECOND).await;
        let after = scene.row("a").unwrap();
        let same = (after.res_version, after.delete_time, after.json()) == (row.res_version, None, row.json());
        assert!(same && after.evict_time.is_some(), "{eviction:?}: {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_evicted_object_that_is_there_again_as_it_was_is_evicted_again() {
    let scene = Scene::new(quiet);
    scene.put("a", IMMUTABLE);
    scene.stored("a", None);
    let before = {
        let mut state = scene.state();
        let row = state.rows.get_mut("uid-a").unwrap();
        (row.evict_time, row.eviction) = (Some(Micros(1)), Eviction::Confirmed);
        row.clone()
    };
    // A restore with a bumped revision, and a touch: it looks later than the row.
    scene.put("a", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(60 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a"));
    assert_eq!(scene.row("a"), Some(before));
}

#[tokio::test(start_paused = true)]
async fn an_eviction_is_confirmed_once_the_object_is_gone() {
    let scene = Scene::new(quiet);
    scene.put("a", IMMUTABLE);
    let _playing = scene.play(Duration::ZERO);
    sleep(10 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a"));
    let row = scene.row("a").unwrap();
    assert_eq!((row.eviction, row.delete_time), (Eviction::Confirmed, None));
    let writes = scene.calls("write").len();
    sleep(700 * SECOND).await;
    assert_eq!(scene.calls("write").len(), writes, "the resync has nothing to add");
}

#[tokio::test(start_paused = true)]
async fn an_eviction_whose_deletion_is_refused_stays_intended_and_is_finished() {
    let scene = Scene::new(|call| if call == "delete a" { Trouble::Status(500) } else { Trouble::None });
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["metadata"]["finalizers"] = json!([]);
    });
    let _playing = scene.play(Duration::ZERO);
    sleep(100 * SECOND).await;
    assert!(scene.calls("delete a").len() > 1);
    let row = scene.row("a").unwrap();
    assert_eq!(row.eviction, Eviction::Intended, "users cannot write to it");
    scene.state().trouble = quiet;
    sleep(100 * SECOND).await;
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Confirmed);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_left_before_its_row_said_so_is_confirmed_at_the_next_start() {
    for eviction in [Eviction::Intended, Eviction::Unrecorded] {
        let scene = Scene::new(quiet);
        scene.put("a", IMMUTABLE);
        scene.stored("a", None);
        if let Some(row) = scene.state().rows.get_mut("uid-a") {
            (row.evict_time, row.eviction) = (Some(Micros(1)), eviction);
        }
        // The process was killed between its DELETE and the row.
        scene.state().objects.clear();
        let _playing = scene.play(Duration::ZERO);
        sleep(10 * SECOND).await;
        let row = scene.row("a").unwrap();
        assert_eq!((row.eviction, row.delete_time), (Eviction::Confirmed, None), "{eviction:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_state_of_an_evicted_object_that_others_held_is_kept() {
    let scene = Scene::new(quiet);
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["metadata"]["finalizers"] = json!(["example.com/other"]);
    });
    let _playing = scene.play(Duration::ZERO);
    sleep(10 * SECOND).await;
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Intended, "it is terminating");
    // The last change comes with the end of the object.
    scene.put("a", |object| {
        object["status"] = json!({ "result": 42 });
        object["metadata"]["finalizers"] = json!([]);
    });
    sleep(10 * SECOND).await;
    let row = scene.row("a").unwrap();
    assert_eq!((row.eviction, row.delete_time), (Eviction::Confirmed, None));
    assert!(row.json().contains(r#""result":42"#), "{}", row.json());
}

#[tokio::test(start_paused = true)]
async fn after_a_restore_the_same_version_with_other_content_is_written_again() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.put("b", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    let version = scene.state().version;
    scene.put("a", |object| object["spec"]["description"] = json!("lost"));
    scene.put("c", |_| {});
    sleep(SECOND).await;
    // The cluster goes back, and gives the version to another state of the object.
    {
        let mut state = scene.state();
        state.objects.remove("c");
        state.version = version + 1;
        let object = state.objects.get_mut("a").unwrap();
        object["spec"]["description"] = json!("restored");
    }
    // The next resync finds that the cluster went back.
    sleep(700 * SECOND).await;
    assert!(scene.row("a").unwrap().json().contains("restored"), "{}", scene.row("a").unwrap().json());
}

/// More levels than are read.
fn nested() -> Json {
    (0..150).fold(json!(1), |inner, _| json!({ "a": inner }))
}

/// Everything of it is kept here, also managed fields that are too deep, which makes the whole object unreadable.
const UNREADABLE: fn(&mut Json) = |object| object["metadata"]["managedFields"] = json!([{ "fieldsV1": nested() }]);

#[tokio::test(start_paused = true)]
async fn an_unreadable_object_that_is_deleted_is_held_until_it_is_given_up() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.put("bad", UNREADABLE);
    scene.put("c", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    assert!(scene.is_live("a") && scene.is_live("c") && scene.row("bad").is_none());
    assert_eq!((scene.metric("ingester_held_objects"), scene.metric("ingester_rejected_objects")), (0, 1));
    scene.put("bad", |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    sleep(SECOND).await;
    assert_eq!(scene.metric("ingester_held_objects"), 1);
    let (looks, rejects) = (scene.calls("look bad").len(), scene.metric("ingester_rejects_total"));
    sleep(60 * SECOND).await;
    assert!(scene.calls("look bad").len() > looks + 2, "it may be readable by now");
    assert!(scene.metric("ingester_rejects_total") > rejects + 2, "it is reported again and again");
    scene.put("bad", |object| object["metadata"]["finalizers"] = json!([]));
    sleep(60 * SECOND).await;
    assert_eq!((scene.metric("ingester_held_objects"), scene.metric("ingester_rejected_objects")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_row_of_an_object_that_became_unreadable_is_marked_when_that_is_gone() {
    // The object as a whole cannot be read, or its metadata can.
    let deep_spec: fn(&mut Json) = |object| object["spec"] = nested();
    for became in [UNREADABLE, deep_spec] {
        let scene = Scene::new(quiet);
        scene.put("a", |object| object["metadata"]["finalizers"] = json!(["other"]));
        let _playing = scene.play(Duration::ZERO);
        sleep(SECOND).await;
        scene.put("a", became);
        sleep(SECOND).await;
        assert!(scene.is_live("a"), "its last good state");
        scene.put("a", |object| {
            object["metadata"]["finalizers"] = json!([]);
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
        sleep(5 * SECOND).await;
        assert!(scene.row("a").is_some_and(|row| row.delete_time.is_some()));
        assert_eq!(scene.metric("ingester_rejected_objects"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_is_refused_three_times_is_reported_and_tried_again_with_the_next_version() {
    let scene = Scene::new(|call| if call == "patch a" { Trouble::Status(422) } else { Trouble::None });
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.put("a", |object| object["metadata"]["finalizers"] = json!([]));
    sleep(2000 * SECOND).await;
    assert!(scene.is_live("a"));
    assert_eq!(scene.calls("patch a").len(), 3, "resyncs do not begin it again");
    assert_eq!(scene.metric("ingester_finalizers_given_up_total refused"), 1);
    scene.put("a", |object| object["spec"] = json!({ "changed": true }));
    sleep(SECOND).await;
    assert_eq!(scene.calls("patch a").len(), 6);
    assert_eq!(scene.metric("ingester_finalizers_given_up_total refused"), 2);
    scene.state().trouble = quiet;
    scene.put("a", |object| object["spec"] = json!({ "changed": false }));
    sleep(SECOND).await;
    assert_eq!(scene.state().objects["a"]["metadata"]["finalizers"], json!([FINALIZER]));
    assert_eq!(scene.metric("ingester_finalizers_given_up_total refused"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_something_else_removes_again_is_given_up() {
    let scene = Scene::new(quiet);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.put("a", |_| {});
    scene.put("b", |object| object["metadata"]["finalizers"] = json!([]));
    // As an ingester of an older release does that mirrors the kind with `never`.
    for _ in 0..1000 {
        sleep(Duration::from_millis(500)).await;
        let has = scene.state().objects["a"]["metadata"]["finalizers"] != json!([]);
        if has {
            scene.put("a", |object| object["metadata"]["finalizers"] = json!([]));
        }
    }
    sleep(1000 * SECOND).await;
    assert_eq!(scene.calls("patch a").len(), 3);
    assert_eq!(scene.metric("ingester_finalizers_given_up_total removed"), 1);
    assert!(scene.is_live("a") && scene.calls("patch b").len() == 1);
}

#[tokio::test(start_paused = true)]
async fn a_database_that_moved_is_compared_at_once_and_lost_evictions_are_told() {
    let scene = Scene::new(quiet);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    for name in ["lost", "back", "whole"] {
        scene.put(name, |object| {
            object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" });
        });
    }
    scene.put("live", |_| ());
    sleep(20 * SECOND).await;
    assert!(scene.state().objects.keys().eq(["live"]), "the others are evicted");
    assert!(scene.row("lost").is_some_and(|row| row.evict_time.is_some()));
    // A fail-over loses the last commits: a row that was new, a change of one, and an eviction.
    {
        let mut state = scene.state();
        state.rows.remove("uid-lost");
        state.rows.remove("uid-live");
        let back = state.rows.get_mut("uid-back").unwrap();
        (back.evict_time, back.eviction) = (None, Eviction::None);
        back.res_version -= 1;
    }
    let count = || scene.metric("ingester_evictions_lost_total");
    sleep(60 * SECOND).await;
    assert_eq!(count(), 0, "nobody looks before the next resync");
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(30 * SECOND).await;
    assert_eq!(count(), 2);
    assert!(scene.is_live("live"), "what is in the cluster is written again");
    assert!(scene.is_live("back"), "it is no object that was deleted");
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(30 * SECOND).await;
    assert_eq!(count(), 2, "each is told once");
}
