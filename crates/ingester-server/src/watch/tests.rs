//! Watches over a database in memory.

mod histories;
mod joining;

use super::{Hub, Request, WatchLimits};
use crate::former::Reach;
use crate::metrics::Metrics;
use crate::places::RequestSlots;
use crate::read::{Cost, Log};
use crate::request::accept::Form;
use crate::request::parameters;
use crate::request::query::QueryString;
use crate::status::Status;
use axum::body::Body;
use crd_specs::KINDS;
use http::Response;
use http_body_util::BodyExt as _;
use ingester_core::Kind;
use ingester_core::kind::{IngestVersion, find};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Row, Standing};
use ingester_core::value::Micros;
use ingester_sql::query::Reads;
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{Effect, PurgeTerms, RowChange, Store, StoredRow};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The default limits, with a bookmark at almost every moment.
const LIMITS: WatchLimits = WatchLimits {
    watches: 500,
    bytes: 16 << 20,
    bookmarks: Duration::from_millis(20),
    rights: Duration::from_secs(30),
    time: Duration::from_secs(30 * 60),
    poll: Duration::from_millis(100),
    batch: 200,
};

/// The kind, in a program with a lock file.
fn models() -> &'static Kind {
    static MODELS: LazyLock<Kind> = LazyLock::new(|| {
        let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
        kind.versioned(IngestVersion { number: 1, of_unmarked: 0 })
    });
    &MODELS
}

/// A database with a server's watches.
struct World {
    store: Arc<Store>,
    hub: Hub,
    metrics: Metrics,
    /// The latest version, of an object that no test is about.
    last: AtomicU64,
}

/// The row of a model in `ml`.
fn row(uid: &str, version: u64, labels: &Json) -> Row {
    row_in("ml", uid, version, labels)
}

/// The name is the part of the uid before a dot: `a.2` has the name `a`.
fn row_in(namespace: &str, uid: &str, version: u64, labels: &Json) -> Row {
    let (name, _) = uid.split_once('.').unwrap_or((uid, ""));
    let object = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {
            "namespace": namespace, "name": name, "uid": uid, "labels": labels,
            "resourceVersion": version.to_string(), "creationTimestamp": "2026-01-02T03:04:05Z",
        },
        "spec": {"algorithm": "xgboost"},
    });
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    models().row(&object).unwrap().unwrap()
}

impl World {
    async fn new() -> Self {
        Self::with(LIMITS).await
    }

    async fn with(limits: WatchLimits) -> Self {
        let store = Arc::new(Store::in_memory(KINDS).await.unwrap());
        let metrics = Metrics::new().unwrap();
        let hub = Hub::new(Log::new(store.clone(), store.clone()), limits, metrics.clone());
        World { store, hub, metrics, last: AtomicU64::new(1_000_000) }
    }

    async fn write(&self, row: Row) {
        let report = self.store.write(models().table(), vec![RowChange::Row(row)]).await.unwrap();
        assert!(report.rejected.is_empty());
    }

    async fn live(&self, name: &str, version: u64, labels: Json) {
        self.write(row(name, version, &labels)).await;
    }

    async fn evicted(&self, name: &str, version: u64) {
        let evicted = Row { evict_time: Some(Micros(1)), evict_confirmed: true, ..row(name, version, &json!({})) };
        self.write(evicted).await;
    }

    /// Writes a row whose eviction is intended, but not confirmed.
    async fn evicting(&self, name: &str, version: u64) {
        self.write(Row { evict_time: Some(Micros(1)), ..row(name, version, &json!({})) }).await;
    }

    /// A user labels the object, if it is evicted and still exists.
    async fn changed_by_a_user(&self, name: &str, is_of_a: bool) {
        let labels = json!({"team": if is_of_a { "a" } else { "b" }});
        let edit = |stored: &StoredRow| Ok::<_, Infallible>(Some(row(name, stored.res_version + 1, &labels)));
        self.store.change_evicted(models(), name, Effect::Written, edit).await.unwrap();
    }

    async fn deleted(&self, name: &str, version: u64) {
        self.write(Row { delete_time: Some(Micros(1)), ..row(name, version, &json!({})) }).await;
    }

    async fn swept(&self, name: &str, version: u64) {
        let gone = RowChange::Tombstone { uid: name.into(), res_version: version, delete_time: Micros(1) };
        self.store.write(models().table(), vec![gone]).await.unwrap();
    }

    /// A rule purges its row, whatever its state is.
    async fn purged(&self, name: &str) {
        let stored = self.store.read_stored(models().table(), &[name]).await.unwrap();
        let stand = |row: &StoredRow| Standing {
            version: row.version(),
            delete_time: row.delete_time,
            evict_time: row.evict_time,
        };
        let judged: Vec<(&str, Standing)> = stored.iter().map(|row| (&*row.uid, stand(row))).collect();
        let premise = self.store.premise(models(), Reads::default()).await.unwrap();
        let terms = PurgeTerms { premise: &premise, marked: None };
        self.store.purge_judged(models(), &judged, terms).await.unwrap();
    }

    async fn watch(&self, query: &str) -> Events {
        self.try_watch(query, |_| {}).await.unwrap_or_else(|status| panic!("{query}: {status}"))
    }

    /// A watch that has reached live changes.
    async fn live_watch(&self, query: &str) -> Events {
        self.live_watch_by(query, &|_| {}).await
    }

    async fn live_watch_by(&self, query: &str, change: &dyn Fn(&mut Request)) -> Events {
        let mut events = self.try_watch(&format!("{query}&allowWatchBookmarks=true"), change).await.unwrap();
        let first = events.next().await.expect("a bookmark");
        assert_eq!(first.0, "BOOKMARK", "{}", first.said());
        events
    }

    /// Returns a version above all others.
    fn version(&self) -> u64 {
        self.last.fetch_add(10, Ordering::Relaxed)
    }

    async fn try_watch(&self, query: &str, change: impl FnOnce(&mut Request)) -> Result<Events, Status> {
        let parameters = parameters::parse(&QueryString::parse(&format!("watch=true&{query}")), "Model")?;
        let standing: super::WatchRightCheck = Box::new(|| Box::pin(async { Ok(()) }));
        let mut request = Request {
            kind: *models(),
            user: "ada".into(),
            parameters,
            reach: Reach::All,
            form: Form::Objects,
            cost: Cost::Keyed,
            limits: Limits::default(),
            place: RequestSlots::new(2).take("ada")?,
            standing,
        };
        change(&mut request);
        request.reach.narrow(&mut request.parameters.query);
        Ok(Events { response: self.hub.watch(request).await?, rest: String::new() })
    }

    /// Returns the present version of a list.
    async fn list(&self) -> u64 {
        self.hub.log().head(models().table()).await.unwrap().version()
    }

    /// Returns the objects that are selected now, with their versions.
    async fn select_rows(&self, query: &str) -> BTreeMap<String, u64> {
        let query = parameters::parse(&QueryString::parse(query), "Model").unwrap().query;
        let asked = self.store.ask_about(models(), &query, Limits::default()).unwrap();
        let wanted = RequestedParts { places: vec![ingester_core::schema::base::RES_VERSION], labels: false };
        let page = asked.page(&wanted, 1000, None).await.unwrap();
        page.rows.iter().map(|row| (row.uid().to_owned(), super::version(row))).collect()
    }
}

/// The events of a watch.
struct Events {
    response: Response<Body>,
    rest: String,
}

/// An event: its type, and the object.
#[derive(Debug)]
struct Event(String, Json);

impl Event {
    fn name(&self) -> &str {
        self.1["metadata"]["name"].as_str().unwrap_or_default()
    }

    fn uid(&self) -> &str {
        self.1["metadata"]["uid"].as_str().unwrap_or_default()
    }

    fn version(&self) -> u64 {
        self.1["metadata"]["resourceVersion"].as_str().unwrap_or_default().parse().unwrap_or(0)
    }

    fn said(&self) -> String {
        format!("{} {} {}", self.0, self.name(), self.version())
    }
}

impl Events {
    /// Returns the next event; `None` at the end.
    async fn next(&mut self) -> Option<Event> {
        let line = async {
            loop {
                if let Some((line, rest)) = self.rest.split_once('\n') {
                    let mut event: Json = serde_json::from_str(line).unwrap();
                    let event = Event(event["type"].as_str().unwrap().to_owned(), event["object"].take());
                    self.rest = rest.to_owned();
                    return Some(event);
                }
                let frame = self.response.body_mut().frame().await?.unwrap().into_data().unwrap();
                self.rest.push_str(std::str::from_utf8(&frame).unwrap());
            }
        };
        tokio::time::timeout(PATIENCE, line).await.expect("no event in time")
    }

    /// Returns the text of the next event that is not a bookmark.
    async fn said(&mut self) -> String {
        loop {
            match self.next().await {
                None => return "the end".into(),
                Some(event) if event.0 == "BOOKMARK" => {}
                Some(event) => return event.said(),
            }
        }
    }

    /// Returns the next events about these objects.
    async fn all<const N: usize>(&mut self) -> [String; N] {
        let mut all = Vec::new();
        while all.len() < N {
            all.push(self.said().await);
        }
        all.try_into().unwrap()
    }

    /// Returns the pending events, and nothing else: an object that is written last marks the end.
    async fn until(&mut self, world: &World, name: &str) -> Vec<String> {
        world.live(name, world.version(), json!({"last": "yes", "team": "a"})).await;
        let mut all = Vec::new();
        loop {
            let event = self.next().await.expect("it goes on");
            match event.0.as_str() {
                "BOOKMARK" => {}
                _ if event.name() == name => return all,
                _ => all.push(event.said()),
            }
        }
    }
}

#[tokio::test]
async fn a_watch_begins_with_what_there_is_and_goes_on_with_what_becomes_of_it() {
    let world = World::new().await;
    world.live("a", 1, json!({})).await;
    world.evicted("b", 2).await;
    world.deleted("c", 3).await;
    let mut events = world.watch("").await;
    assert_eq!(events.all().await, ["ADDED a 1", "ADDED b 2"]);
    world.live("d", 4, json!({})).await;
    assert_eq!(events.said().await, "ADDED d 4");
    world.live("a", 5, json!({"team": "a"})).await;
    assert_eq!(events.said().await, "MODIFIED a 5");
    world.evicted("a", 6).await;
    assert_eq!(events.said().await, "MODIFIED a 6");
    world.swept("d", 9).await;
    // The row's text has the previous version.
    assert_eq!(events.said().await, "DELETED d 9");
    world.deleted("e", 10).await;
    assert_eq!(world.store.purge(models(), Micros(2)).await.unwrap().rows, 3);
    let told = events.until(&world, "last").await;
    assert!(told.iter().all(|event| event == "DELETED e 10"), "purged rows are no news: {told:?}");
    // An evicted object exists as long as its row exists.
    world.purged("b").await;
    assert_eq!(events.said().await, "DELETED b 2");
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark_that_says_so() {
    let world = World::new().await;
    world.live("a", 1, json!({})).await;
    let mut events =
        world.watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true").await;
    assert_eq!(events.said().await, "ADDED a 1");
    let bookmark = events.next().await.unwrap();
    assert_eq!((&*bookmark.0, &bookmark.1["kind"]), ("BOOKMARK", &json!("Model")));
    assert_eq!(bookmark.1["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    // Another watch resumes from there.
    let mut later = world.watch(&format!("resourceVersion={}", bookmark.version())).await;
    world.live("b", 2, json!({})).await;
    assert_eq!([events.said().await, later.said().await], ["ADDED b 2", "ADDED b 2"]);
    // Without initial events.
    let mut new = world.watch("sendInitialEvents=false&resourceVersionMatch=NotOlderThan").await;
    world.live("c", 3, json!({})).await;
    assert_eq!(new.said().await, "ADDED c 3");
}

#[tokio::test]
async fn an_object_exists_before_its_eviction_is_confirmed_and_afterwards() {
    let world = World::new().await;
    world.live("a", 1, json!({})).await;
    let list = world.list().await;
    let mut events = world.live_watch(&format!("resourceVersion={list}")).await;
    let mut evicted = world.live_watch(&format!("state=evicted&resourceVersion={list}")).await;
    world.evicting("a", 2).await;
    assert_eq!([events.said().await, evicted.said().await], ["MODIFIED a 2", "ADDED a 2"]);
    world.evicted("a", 2).await;
    assert_eq!([events.said().await, evicted.said().await], ["MODIFIED a 2", "MODIFIED a 2"]);
    let told = events.until(&world, "last").await;
    assert!(told.is_empty(), "{told:?}");
}

/// Clients do not expect a deletion before that bookmark: kube's watcher ignores it.
#[tokio::test]
async fn a_deletion_comes_behind_the_bookmark_that_ends_initial_events() {
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    for selector in ["", "&labelSelector=team%3Da"] {
        let world = World::new().await;
        for (name, version) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)] {
            world.live(name, version, json!({"team": "a"})).await;
        }
        // This watch makes the reader read the log.
        let mut other = world.live_watch(&format!("resourceVersion={}", world.list().await)).await;
        let mut events = world.watch(&format!("{initial}{selector}")).await;
        // All of them are read by now, and the last ones wait to be sent.
        assert_eq!(events.said().await, "ADDED a 1");
        if selector.is_empty() {
            world.deleted("a", 6).await;
        } else {
            world.live("a", 6, json!({"team": "b"})).await;
        }
        world.live("b", 7, json!({"team": "a", "more": "x"})).await;
        while other.said().await != "MODIFIED b 7" {}
        let mut said = Vec::new();
        let mut bookmark = None;
        while bookmark.is_none() || said.len() < 6 {
            let event = events.next().await.unwrap();
            if event.0 != "BOOKMARK" {
                said.push(event.said());
            } else if event.1["metadata"]["annotations"].is_object() {
                assert!(said.iter().all(|said| !said.starts_with("DELETED")), "{said:?}");
                bookmark = Some(event.version());
            }
        }
        assert_eq!(said, ["ADDED b 2", "ADDED c 3", "ADDED d 4", "ADDED e 5", "MODIFIED b 7", "DELETED a 6"]);
        // A client that stops at the bookmark gets the deletion afterwards.
        let mut later = world.watch(&format!("resourceVersion={}{selector}", bookmark.unwrap())).await;
        assert_eq!(later.all().await, ["DELETED a 6", "MODIFIED b 7"]);
    }
}

#[tokio::test]
async fn a_deletion_has_the_object_if_there_is_its_row() {
    let world = World::new().await;
    world.live("a", 1, json!({"team": "a"})).await;
    let list = world.list().await;
    world.live("a", 2, json!({"team": "b"})).await;
    world.live("a", 3, json!({"team": "c"})).await;
    let query = format!("labelSelector=team%3Da&resourceVersion={list}");
    let mut events = world.watch(&query).await;
    let event = events.next().await.unwrap();
    assert_eq!((&*event.said(), &event.1["spec"]["algorithm"]), ("DELETED a 2", &json!("xgboost")));
    // It does not if the row is purged.
    world.deleted("a", 4).await;
    world.store.purge(models(), Micros(2)).await.unwrap();
    let event = world.watch(&query).await.next().await.unwrap();
    assert_eq!((&*event.said(), &event.1["spec"]), ("DELETED a 2", &json!({})));
}

#[tokio::test]
async fn what_is_sent_live_of_a_deletion_is_what_is_sent_afterwards() {
    let world = World::new().await;
    let labels = json!({"team": "a"});
    for (name, version) in [("leaves", 1), ("deleted", 2), ("evicted", 3)] {
        world.live(name, version, labels.clone()).await;
    }
    for query in ["labelSelector=team%3Da", "labelSelector=team%3Da&state=live"] {
        let from = world.hub.log().number(models().table()).await.unwrap();
        let query = format!("{query}&resourceVersion={}", from.version());
        let begin = world.version();
        let mut live = world.live_watch(&query).await;
        world.live("leaves", begin, json!({"team": "b"})).await;
        world.write(Row { delete_time: Some(Micros(1)), ..row("deleted", begin + 1, &labels) }).await;
        world.write(Row { evict_time: Some(Micros(1)), ..row("evicted", begin + 2, &json!({})) }).await;
        let mut afterwards = world.watch(&query).await;
        for name in ["leaves", "deleted", "evicted"] {
            let was_told = loop {
                let event = live.next().await.unwrap();
                if event.0 != "BOOKMARK" {
                    break event;
                }
            };
            let is_told = afterwards.next().await.unwrap();
            assert_eq!((&*was_told.0, was_told.name()), ("DELETED", name), "{query}");
            assert_eq!((&was_told.0, &was_told.1), (&is_told.0, &is_told.1), "{query}");
            assert_eq!(was_told.1["spec"]["algorithm"], "xgboost", "the last state");
        }
        for name in ["leaves", "deleted", "evicted"] {
            world.live(name, begin + 5, labels.clone()).await;
        }
    }
}

#[tokio::test]
async fn an_evicted_object_that_a_user_changes_is_changed_for_those_who_select_it() {
    let world = World::new().await;
    world.evicted("a", 2).await;
    world.changed_by_a_user("a", true).await;
    let query = format!("state=evicted&labelSelector=team%3Da&resourceVersion={}", world.list().await);
    let mut events = world.live_watch(&query).await;
    world.changed_by_a_user("a", true).await;
    assert_eq!(events.said().await, "MODIFIED a 4");
    world.changed_by_a_user("a", false).await;
    assert_eq!(events.said().await, "DELETED a 5");
    // A later client also learns that the object has left.
    assert_eq!(world.watch(&query).await.said().await, "DELETED a 4");
}

#[tokio::test]
async fn an_object_that_leaves_a_selection_is_deleted_and_one_that_comes_is_added() {
    let world = World::new().await;
    world.live("a", 1, json!({"team": "a"})).await;
    world.live("b", 2, json!({"team": "b"})).await;
    let list = world.list().await;
    let query = format!("labelSelector=team%3Da&resourceVersion={list}");
    let mut events = world.live_watch(&query).await;
    let mut other = world.live_watch(&query).await;
    world.live("b", 3, json!({"team": "b", "more": "x"})).await;
    world.live("b", 4, json!({"team": "a"})).await;
    world.live("a", 5, json!({"team": "b"})).await;
    for events in [&mut events, &mut other] {
        assert_eq!(events.all().await, ["ADDED b 4", "DELETED a 5"]);
    }
    world.deleted("b", 6).await;
    world.live("a", 7, json!({"team": "c"})).await;
    world.live("c", 8, json!({"team": "a"})).await;
    assert_eq!(events.all().await, ["DELETED b 6", "ADDED c 8"]);
}

#[tokio::test]
async fn a_watch_of_a_namespace_or_a_name_hears_of_no_other() {
    let world = World::new().await;
    let list = world.list().await;
    let mut named = world.watch(&format!("fieldSelector=metadata.name%3Da&resourceVersion={list}")).await;
    let change = |request: &mut Request| request.parameters.query.namespaces = vec!["lab".into()];
    let mut of_lab = world.try_watch(&format!("resourceVersion={list}"), change).await.unwrap();
    world.live("b", 1, json!({})).await;
    world.write(row_in("lab", "c", 2, &json!({}))).await;
    world.live("a", 3, json!({})).await;
    assert_eq!(named.said().await, "ADDED a 3");
    assert_eq!(of_lab.said().await, "ADDED c 2");
    world.swept("c", 4).await;
    world.swept("a", 5).await;
    assert_eq!([named.said().await, of_lab.said().await], ["DELETED a 5", "DELETED c 4"]);
}

#[tokio::test]
async fn a_version_that_the_log_does_not_have_is_expired_at_once() {
    let world = World::new().await;
    world.live("a", 7, json!({})).await;
    let list = world.list().await;
    for version in [8, list + 1, list - 1, 1 << 62] {
        let mut events = world.watch(&format!("resourceVersion={version}")).await;
        let Event(ty, status) = events.next().await.unwrap();
        assert_eq!((&*ty, &status["code"], &status["reason"]), ("ERROR", &json!(410), &json!("Expired")), "{version}");
        assert!(events.next().await.is_none());
    }
    assert!(world.metrics.render().contains("ingester_serve_watches_ended_total{reason=\"expired\"} 4"));
    // A list that must not be older than a version which does not exist yet.
    let wanted = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=";
    let status = world.try_watch(&format!("{wanted}{}", list + 1), |_| {}).await.err().unwrap();
    assert_eq!(status.message, format!("Timeout: Too large resource version: {}, current: {list}", list + 1));
    assert_eq!(status.details.unwrap().causes[0].reason, "ResourceVersionTooLarge");
    assert_eq!(world.watch(&format!("{wanted}{list}")).await.said().await, "ADDED a 7");
    // A version of an object was served.
    assert_eq!(world.watch(&format!("{wanted}99")).await.said().await, "ADDED a 7");
}

#[tokio::test]
async fn a_watch_ends_in_time_with_a_bookmark() {
    let world = World::with(WatchLimits { bookmarks: Duration::from_millis(300), ..LIMITS }).await;
    world.live("a", 1, json!({})).await;
    let list = world.list().await;
    let begin = std::time::Instant::now();
    let mut events = world.watch(&format!("resourceVersion={list}&timeoutSeconds=1&allowWatchBookmarks=true")).await;
    let mut bookmarks = Vec::new();
    while let Some(event) = events.next().await {
        bookmarks.push(event.said());
    }
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert!(
        bookmarks.len() >= 2 && bookmarks.iter().all(|bookmark| *bookmark == format!("BOOKMARK  {list}")),
        "{bookmarks:?}"
    );
    let mut without = world.watch(&format!("resourceVersion={list}&timeoutSeconds=1")).await;
    assert!(without.next().await.is_none());
}

#[tokio::test]
async fn a_watcher_that_does_not_read_is_ended_and_goes_on_where_it_was() {
    let world = World::with(WatchLimits { bytes: 20_000, ..LIMITS }).await;
    let list = world.list().await;
    let mut slow = world.watch(&format!("resourceVersion={list}")).await;
    let mut other = world.watch(&format!("resourceVersion={list}")).await;
    world.live("m-000", 1, json!({})).await;
    assert_eq!([slow.said().await, other.said().await], ["ADDED m-000 1", "ADDED m-000 1"]);
    for version in 2..100 {
        world.live(&format!("m-{version:03}"), version, json!({})).await;
        other.next().await.unwrap();
    }
    let mut last = 1;
    while let Some(event) = slow.next().await {
        assert_eq!(event.version(), last + 1, "nothing is left out");
        last = event.version();
    }
    assert!(last < 99, "it was ended");
    assert!(world.metrics.render().contains("ingester_serve_watches_ended_total{reason=\"slow\"} 1"));
    let mut again = world.watch(&format!("resourceVersion={last}")).await;
    assert_eq!(again.next().await.unwrap().version(), last + 1);
}

#[tokio::test]
async fn a_watcher_that_lost_its_right_is_told_so() {
    let world = World::with(WatchLimits { rights: Duration::from_millis(20), ..LIMITS }).await;
    let list = world.list().await;
    let stands = Arc::new(AtomicBool::new(true));
    let asked = stands.clone();
    let mut events = world
        .try_watch(&format!("resourceVersion={list}"), |request| {
            request.standing = Box::new(move || {
                let stands = asked.load(Ordering::Relaxed);
                Box::pin(async move { if stands { Ok(()) } else { Err(Status::unauthorized()) } })
            });
        })
        .await
        .unwrap();
    world.live("a", 1, json!({})).await;
    assert_eq!(events.said().await, "ADDED a 1");
    stands.store(false, Ordering::Relaxed);
    let Event(ty, status) = events.next().await.unwrap();
    assert_eq!((&*ty, &status["code"]), ("ERROR", &json!(401)));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn one_user_leaves_half_of_the_watches_to_others() {
    let world = World::with(WatchLimits { watches: 2, ..LIMITS }).await;
    let first = world.watch("").await;
    let status = world.try_watch("", |_| {}).await.err().unwrap();
    assert_eq!(
        status.message,
        "1 watches of this user are being answered, and no more at a time: please try again later"
    );
    assert!(world.try_watch("", |request| request.user = "eve".into()).await.is_ok());
    drop(first);
    let again = async {
        while world.try_watch("", |_| {}).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("its place is free again");
}

#[tokio::test]
async fn a_reader_ends_with_its_last_watcher() {
    let world = World::new().await;
    let events = world.watch("").await;
    let readers = || world.hub.0.readers.lock().len();
    let until = async |count: usize| {
        let waiting = async {
            while readers() != count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("readers");
    };
    until(1).await;
    drop(events);
    until(0).await;
    assert!(world.metrics.render().contains("ingester_serve_watches{resource=\"models\"} 0"));
}

#[tokio::test]
async fn former_objects_that_the_caller_may_not_see_are_not_sent() {
    let world = World::new().await;
    world.live("a", 1, json!({})).await;
    world.evicted("old", 2).await;
    let hidden = |request: &mut Request| request.reach = Reach::Live;
    // This time is later than all creation times.
    let young = |request: &mut Request| request.reach = Reach::Since(Micros::now());
    for change in [&hidden as &dyn Fn(&mut Request), &young] {
        let query = format!("resourceVersion={}", world.list().await);
        // Before and after it has reached live changes.
        let mut early = world.try_watch(&query, change).await.unwrap();
        let mut events = world.live_watch_by(&query, change).await;
        let version = world.version();
        world.evicted("old", version).await;
        world.live("a", version + 1, json!({"team": "a"})).await;
        let seen = format!("MODIFIED a {}", version + 1);
        assert_eq!([early.said().await, events.said().await], [seen.clone(), seen]);
        let deleted = Row {
            delete_time: Some(Micros(1)),
            evict_time: Some(Micros(1)),
            evict_confirmed: true,
            ..row("old", version + 2, &json!({}))
        };
        world.write(deleted).await;
        let told = events.until(&world, &format!("last-{version}")).await;
        assert!(told.is_empty(), "{told:?}");
    }
    // A live object is reported as deleted, without its content.
    let list = world.list().await;
    let mut events = world.live_watch_by(&format!("resourceVersion={list}"), &hidden).await;
    world.evicted("a", world.version()).await;
    let Event(ty, object) = loop {
        let event = events.next().await.unwrap();
        if event.0 != "BOOKMARK" {
            break event;
        }
    };
    assert_eq!((&*ty, &object["metadata"]["name"], &object["spec"]), ("DELETED", &json!("a"), &json!({})));
}

#[tokio::test]
async fn a_watch_with_a_limit_is_refused() {
    let world = World::new().await;
    let status = world.try_watch("", |request| request.parameters.most = Some(5)).await.err().unwrap();
    assert_eq!(status.code, 400);
    assert!(status.message.contains("with a limit"), "{}", status.message);
}
