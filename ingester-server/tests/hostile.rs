//! Two users, one of them hostile: the other is served. And what is written about each of their requests.
//!
//! One test after the other, because some measure times, and all read one log.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use crd_specs::KINDS;
use futures::future::BoxFuture;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::query::saved::SavedQueries;
use ingester_core::value::Micros;
use ingester_server::caller::{Attributes, Caller};
use ingester_server::former::FormerObjects;
use ingester_server::identity::{Access, Identity, Rate, ReviewError, Reviewer};
use ingester_server::listen::{Limits, Listener};
use ingester_server::metrics::Metrics;
use ingester_server::places::Places;
use ingester_server::service::{Service, Sources};
use ingester_store::query::Limits as QueryLimits;
use ingester_store::{Effect, RowChange, Store};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

/// The lines of the access log, by field.
static LINES: LazyLock<Arc<Mutex<Vec<Line>>>> = LazyLock::new(|| {
    let lines = Arc::<Mutex<Vec<Line>>>::default();
    tracing::subscriber::set_global_default(Lines(lines.clone())).unwrap();
    lines
});

/// One test at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

type Line = BTreeMap<&'static str, String>;

/// Keeps the lines of the access log.
struct Lines(Arc<Mutex<Vec<Line>>>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "audit"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(Line);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
            }
        }
        let mut fields = Fields(Line::new());
        event.record(&mut fields);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// The lines of this user.
fn lines(user: &str) -> Vec<Line> {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.iter().filter(|line| line.get("user").map_or("", String::as_str) == user).cloned().collect()
}

/// What a line has in these fields; `-` for nothing.
fn shown(line: &Line, fields: &[&str]) -> String {
    let values: Vec<&str> = fields
        .iter()
        .map(|field| line.get(*field).map_or("-", String::as_str))
        .map(|value| if value.is_empty() { "-" } else { value })
        .collect();
    values.join(" ")
}

/// An API server that knows everybody whose token has no `?` in it, and lets them do everything. It never says whose the other tokens
/// are, and never what somebody may do with an object called `slow`.
struct Cluster;

impl Reviewer for Cluster {
    fn token<'a>(&'a self, token: &'a str, _: &'a [String]) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>> {
        Box::pin(async move {
            if token.starts_with('?') {
                std::future::pending::<()>().await;
            }
            Ok(Some(Caller { user: token.to_owned(), ..Caller::default() }))
        })
    }

    fn access<'a>(&'a self, _: &'a Caller, what: &'a Attributes) -> BoxFuture<'a, Result<Access, ReviewError>> {
        Box::pin(async move {
            if what.name == "slow" {
                std::future::pending::<()>().await;
            }
            Ok(Access { allowed: true, reason: String::new() })
        })
    }
}

struct World {
    address: SocketAddr,
    store: Arc<Store>,
    service: Service,
    metrics: Metrics,
    stop: CancellationToken,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn models() -> &'static Kind {
    find(KINDS, "michelangelo.api/v2", "Model").unwrap()
}

impl World {
    /// A server of so many evicted models.
    async fn new(limits: Limits, places: usize, objects: usize) -> Self {
        let turn = TURN.lock().await;
        LINES.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let store = Arc::new(Store::in_memory(KINDS).await.unwrap());
        let rows = (0..objects).map(|number| {
            let object = json!({
                "apiVersion": "michelangelo.api/v2", "kind": "Model",
                "metadata": {"namespace": "ml", "name": format!("m{number}"), "uid": format!("u{number}"), "resourceVersion": "7"},
                "spec": {"algorithm": "xgboost"},
            });
            let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
            let mut row = models().row(&object).unwrap().unwrap();
            (row.evict_time, row.evict_confirmed) = (Some(Micros(1)), true);
            RowChange::Row(row)
        });
        store.write(models().table(), rows.collect()).await.unwrap();
        let (metrics, stop) = (Metrics::new().unwrap(), CancellationToken::new());
        let rate = Rate { per_second: 0, burst: 1 };
        let service = Service::new(Sources {
            kinds: KINDS,
            reads: store.clone(),
            writes: Some(store.clone()),
            cluster: None,
            identity: Identity::new(Cluster, Vec::new(), rate, metrics.clone()),
            former: FormerObjects::Granted,
            saved: SavedQueries::default(),
            limits: QueryLimits::default(),
            places: Places::new(places),
        });
        let listener = Listener::on_loopback(0).await.unwrap();
        let address = listener.address().unwrap();
        let answering = service.clone();
        let handler = move |request, peer, log| answering.clone().answer(request, peer, log);
        tokio::spawn(listener.serve(limits, metrics.clone(), handler, stop.clone()));
        World { address, store, service, metrics, stop, _turn: turn }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request, on a connection of its own.
    async fn send(&self, user: &str, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        if !user.is_empty() {
            write!(request, "authorization: Bearer {user}\r\n").unwrap();
        }
        let patch = if method == "PATCH" { "content-type: application/merge-patch+json\r\n" } else { "" };
        write!(request, "{patch}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// A request to its answer: the code.
    async fn ask(&self, user: &str, method: &str, path: &str, body: &str) -> u16 {
        answered(&mut self.send(user, method, path, body).await).await
    }

    /// What a user does who means no harm: the time that it takes.
    async fn work(&self, user: &str) -> Duration {
        let begin = Instant::now();
        for number in 0..10 {
            let each = Instant::now();
            let object = format!("{MODELS}/m{number}");
            let note = format!(r#"{{"metadata":{{"annotations":{{"note":"{:?}"}}}}}}"#, begin.elapsed());
            assert_eq!(self.ask(user, "GET", &object, "").await, 200);
            assert_eq!(self.ask(user, "GET", &format!("{MODELS}?limit=5"), "").await, 200);
            assert_eq!(self.ask(user, "PATCH", &object, &note).await, 200);
            assert!(each.elapsed() < Duration::from_secs(1), "{:?}", each.elapsed());
        }
        begin.elapsed()
    }

    /// The median of five runs.
    async fn median(&self, user: &str) -> Duration {
        let mut runs = Vec::new();
        for _ in 0..5 {
            runs.push(self.work(user).await);
        }
        runs.sort_unstable();
        runs[2]
    }

    fn count(&self, series: &str) -> f64 {
        let text = self.metrics.render();
        let value = |line: &str| line.strip_prefix(series)?.rsplit(' ').next()?.parse::<f64>().ok();
        text.lines().filter_map(value).sum()
    }
}

/// The code of the answer, once all of it is there; 0 without one.
async fn answered(stream: &mut TcpStream) -> u16 {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(PATIENCE, read).await.expect("the server closes");
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1).map_or(0, |code| code.parse().unwrap())
}

/// Waits for a condition.
async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !condition().await {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What one user does while another does harm: as fast as before, up to three times the time, and each request has its line.
async fn served_in_spite_of(world: &World, alone: Duration) {
    let attacked = world.median("ada").await;
    assert!(attacked <= alone * 3, "{attacked:?} under attack, {alone:?} alone");
    assert_eq!(world.ask("", "GET", "/readyz", "").await, 200);
    assert_eq!(world.ask("", "GET", "/version", "").await, 200);
    assert_eq!(world.ask("ada", "GET", "/apis", "").await, 200);
    // Twice five runs of ten times three.
    until("every request of hers has its line", async || lines("ada").len() == 300).await;
    assert!(lines("ada").iter().all(|line| line["code"] == "200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_of_one_user_keep_no_other_out() {
    let world = World::new(Limits { body: Duration::from_secs(5), ..Limits::default() }, 200, 20).await;
    let alone = world.median("ada").await;
    let mut slow = JoinSet::new();
    for _ in 0..210 {
        let mut stream = world.connect().await;
        let head = format!(
            "PATCH {MODELS}/m0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer eve\r\ncontent-type: application/merge-patch+json\r\ncontent-length: 100000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.spawn(async move {
            let (mut read, mut write) = stream.split();
            let trickle = async {
                loop {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    if write.write_all(b"x").await.is_err() {
                        std::future::pending::<()>().await;
                    }
                }
            };
            let mut answer = Vec::new();
            tokio::select! {
                _ = read.read_to_end(&mut answer) => {}
                () = trickle => {}
            }
            String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or("0").to_owned()
        });
    }
    // What is too much is refused at once.
    until("110 are refused", async || lines("eve").iter().filter(|line| line["code"] == "429").count() == 110).await;
    served_in_spite_of(&world, alone).await;
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(code) = slow.join_next().await {
        *codes.entry(code.unwrap()).or_default() += 1;
    }
    assert_eq!(codes, [("408".to_owned(), 100), ("429".to_owned(), 110)].into());
    until("each has its line", async || lines("eve").len() == 210).await;
    let line = lines("eve").into_iter().find(|line| line["code"] == "408").unwrap();
    assert_eq!(shown(&line, &["verb", "resource", "namespace", "name"]), "patch models ml m0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_one_user_keeps_no_other_out() {
    let world = World::new(Limits::default(), 200, 20).await;
    let alone = world.median("ada").await;
    // They hold their places for as long as the API server does not say whether they may.
    let mut held = Vec::new();
    for _ in 0..300 {
        held.push(world.send("eve", "GET", &format!("{MODELS}/slow"), "").await);
    }
    until("200 are refused", async || lines("eve").len() == 200).await;
    assert!(lines("eve").iter().all(|line| line["code"] == "429"));
    // More of them all the time.
    let go_on = CancellationToken::new();
    let flood = async {
        let mut sent = 0;
        while !go_on.is_cancelled() {
            assert_eq!(world.ask("eve", "GET", &format!("{MODELS}/slow"), "").await, 429);
            sent += 1;
        }
        sent
    };
    let served = async {
        served_in_spite_of(&world, alone).await;
        go_on.cancel();
    };
    let (sent, ()) = tokio::join!(flood, served);
    assert!(sent > 0);
    drop(held);
    until("each has its line", async || lines("eve").len() == 300 + sent).await;
    assert_eq!(lines("eve").iter().filter(|line| line["code"] == "499").count(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tokens_keep_no_one_out_who_is_known() {
    let world = World::new(Limits { connections: 300, ..Limits::default() }, 200, 20).await;
    let alone = world.median("ada").await;
    // All connections are taken by those who say nothing, and by tokens about which the API server says nothing.
    let mut held = Vec::new();
    for number in 0..600 {
        match number % 3 {
            0 => held.push(world.send(&format!("?{number}"), "GET", MODELS, "").await),
            _ => held.push(world.connect().await),
        }
    }
    served_in_spite_of(&world, alone).await;
    assert!(world.count("ingester_serve_connections_refused_total{reason=\"idle\"}") >= 100.0);
    drop(held);
    until("each is counted", async || world.count("ingester_serve_requests_in_flight ") == 0.0).await;
    let unknown = lines("");
    assert!(!unknown.is_empty() && unknown.len() < 100, "{} lines", unknown.len());
    assert!(unknown.iter().all(|line| line["path"] == MODELS));
    let refused = world.count("ingester_serve_requests_total{code=\"429\"")
        + world.count("ingester_serve_requests_total{code=\"499\"");
    assert_eq!(refused, 200.0, "all of them are counted");
}

/// Holds the store's only connection until it is told to go on.
async fn occupied(store: &Arc<Store>) -> Arc<Semaphore> {
    let (held, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (store, holds, goes) = (store.clone(), held.clone(), go.clone());
    tokio::spawn(async move {
        let wait = |_: &ingester_store::StoredRow| {
            holds.add_permits(1);
            let wait = || tokio::runtime::Handle::current().block_on(async { drop(goes.acquire().await) });
            tokio::task::block_in_place(wait);
            Err::<Option<ingester_core::row::Row>, ()>(())
        };
        store.change_evicted(models(), "u0", Effect::Tried, wait).await.unwrap();
    });
    held.acquire().await.unwrap().forget();
    go
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_goes_on_to_its_end_without_its_client() {
    let world = World::new(Limits { request: Duration::from_millis(500), ..Limits::default() }, 200, 1500).await;
    let fields = ["verb", "name", "uid", "count", "dryRun", "code", "outcome"];
    // Its time is over before the database is free.
    let go = occupied(&world.store).await;
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 504);
    assert!(lines("eve").is_empty(), "it is not known yet what becomes of it");
    go.add_permits(1);
    until("it has its line", async || lines("eve").len() == 1).await;
    assert_eq!(shown(&lines("eve")[0], &fields), "delete m1 u1 - - 504 200");
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 404, "it is deleted");

    // Its client has gone before that.
    let go = occupied(&world.store).await;
    let asked = world.count("ingester_serve_reviews_total{");
    let stream = world.send("ann", "DELETE", MODELS, "").await;
    until("it is let in", async || world.count("ingester_serve_reviews_total{") >= asked + 2.0).await;
    drop(stream);
    until("nothing is answered any more", async || world.count("ingester_serve_requests_in_flight ") == 0.0).await;
    assert!(lines("ann").is_empty());
    go.add_permits(1);
    until("it has its line", async || lines("ann").len() == 1).await;
    assert_eq!(shown(&lines("ann")[0], &fields), "deletecollection - - 1499 - 499 200");
    assert_eq!(world.ask("ann", "GET", &format!("{MODELS}/m1498"), "").await, 404, "all of it is deleted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_that_is_given_up_at_the_end_says_so() {
    let world = World::new(Limits { request: Duration::from_millis(100), ..Limits::default() }, 200, 2).await;
    let go = occupied(&world.store).await;
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 504);
    world.stop.cancel();
    world.service.finish(Duration::from_millis(100)).await;
    assert_eq!(shown(&lines("eve")[0], &["verb", "name", "code", "outcome"]), "delete m1 504 unfinished");
    go.add_permits(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_has_its_line() {
    let world = World::new(Limits::default(), 200, 8).await;
    let m = |name: &str| format!("{MODELS}/{name}");
    let label = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let requests = [
        ("GET", m("m0"), "", "get michelangelo.api models - ml m0 - - - 200"),
        ("GET", MODELS.into(), "", "list michelangelo.api models - ml - - - - 200"),
        (
            "GET",
            format!("{MODELS}?fieldSelector=metadata.name%3Dm1"),
            "",
            "list michelangelo.api models - ml m1 - - - 200",
        ),
        ("GET", m("none"), "", "get michelangelo.api models - ml none - - - 404"),
        ("GET", format!("{MODELS}?limit=x"), "", "list michelangelo.api models - ml - - - - 400"),
        ("PATCH", m("m1"), label, "patch michelangelo.api models - ml m1 u1 - - 200"),
        ("PATCH", m("m2") + "?dryRun=All", label, "patch michelangelo.api models - ml m2 u2 - true 200"),
        ("PATCH", m("m2"), r#"{"spec":{"algorithm":"x"}}"#, "patch michelangelo.api models - ml m2 u2 - - 422"),
        ("DELETE", m("m3"), r#"{"dryRun":["All"]}"#, "delete michelangelo.api models - ml m3 u3 - true 200"),
        (
            "DELETE",
            m("m3"),
            r#"{"preconditions":{"resourceVersion":"1"}}"#,
            "delete michelangelo.api models - ml m3 u3 - - 409",
        ),
        ("DELETE", m("m3"), "", "delete michelangelo.api models - ml m3 u3 - - 200"),
        ("POST", m("m4") + "/restore", "", "create michelangelo.api models restore ml m4 - - - 503"),
        ("DELETE", format!("{MODELS}?dryRun=All"), "", "deletecollection michelangelo.api models - ml - - 7 true 200"),
        ("DELETE", MODELS.into(), "", "deletecollection michelangelo.api models - ml - - 7 - 200"),
        ("GET", "/apis/none/v1/cats".into(), "", "- - - - - - - - - 404"),
        ("POST", "/apis".into(), "", "- - - - - - - - - 405"),
    ];
    for (method, path, body, expected) in &requests {
        let before = lines("ada").len();
        let code = world.ask("ada", method, path, body).await;
        assert!(expected.ends_with(&code.to_string()), "{method} {path}: {code}");
        until(path, async || lines("ada").len() > before).await;
        let fields =
            ["verb", "group", "resource", "subresource", "namespace", "name", "uid", "count", "dryRun", "code"];
        assert_eq!(shown(&lines("ada")[before], &fields), *expected, "{method} {path}");
    }
    assert_eq!(lines("ada").len(), requests.len());
    // Nothing that a client has chosen makes a line long.
    assert_eq!(world.ask("ada", "GET", &m(&"n".repeat(5000)), "").await, 404);
    assert_eq!(world.ask("", "GET", &m(&"n".repeat(5000)), "").await, 401);
    until("both have a line", async || lines("ada").len() + lines("").len() == requests.len() + 2).await;
    let long = [lines("ada").pop().unwrap(), lines("").pop().unwrap()]
        .map(|line| line.values().map(String::len).sum::<usize>());
    assert!(long.iter().all(|length| *length < 700), "{long:?}");
    // Health is of no interest, and discovery only where it is refused.
    for (user, path) in [("", "/healthz"), ("", "/readyz"), ("", "/version"), ("ada", "/apis"), ("ada", "/openapi/v2")]
    {
        assert_eq!(world.ask(user, "GET", path, "").await, 200, "{path}");
    }
    let answered = requests.len() + 7;
    until("all are counted", async || world.count("ingester_serve_requests_total{") == answered as f64).await;
    assert_eq!(lines("ada").len() + lines("").len(), requests.len() + 2);
}
