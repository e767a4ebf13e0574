//! Single histories, each of which once went wrong: one unit between a cluster and a database that do what the scene says.
//! (`simulation` finds histories by chance; these are known.)

use crate::budget::Budget;
use crate::clock::SystemClock;
use crate::cluster::{ApiError, Cluster, ListStream, MetadataPage, Page, PartialObjectMeta, RemoteEvent, Watch};
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
use ingester_store::guard::{Verdict, Version, verdict, verdict_of_tombstone, verdict_over};
use ingester_store::{Evicted, LiveRow, Reject, Rejected, Report, RowChange, StoreError, StoredRow};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
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
}

fn text(object: &Json) -> Box<str> {
    object.to_string().into()
}

impl Scene {
    fn new(trouble: fn(&str) -> Trouble) -> Arc<Self> {
        let state = State { objects: BTreeMap::new(), version: 1, rows: BTreeMap::new(), calls: Vec::new(), trouble };
        Arc::new(Scene { state: Mutex::new(state), events: Arc::default() })
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
            metrics: Metrics::new().unwrap().controller("Model"),
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
    } = row;
    let time = |time: Option<Micros>| time.map_or(Value::Null, Value::Time);
    values[ingester_core::schema::base::DELETE_TIME] = time(delete_time);
    values[ingester_core::schema::base::EVICT_TIME] = time(evict_time);
    StoredRow { uid, res_version, ingest_version, delete_time, evict_time, values, labels, annotations, many }
}

fn version_of(row: &StoredRow) -> Version {
    let StoredRow { res_version, ingest_version, .. } = *row;
    Version { res_version, ingest_version, deleted: row.delete_time.is_some(), evicted: row.evict_time.is_some() }
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

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<(), ApiError>> {
        async move {
            self.request(format!("delete {}", meta.name), |_| Ok(())).await?;
            self.put(&meta.name, |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
            Ok(())
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

    fn live<'a>(&'a self, _: Evicted, after: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<LiveRow>, StoreError>> {
        let live = move |state: &mut State| {
            let rows = state.rows.values().filter(|row| row.delete_time.is_none() && &*row.uid > after).take(limit);
            rows.map(|row| LiveRow {
                uid: row.uid.clone(),
                res_version: row.res_version,
                ingest_version: row.ingest_version,
                evicted: row.evict_time.is_some(),
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
