//! A server over a database, its users and its API server.

use crate::log::{self, lines};
use crd_specs::KINDS;
use futures::future::BoxFuture;
use ingester_config::FormerObjects;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Micros;
use ingester_declare::saved::SavedQueries;
use ingester_server::caller::{Attributes, Caller};
use ingester_server::former::FormerAccess;
use ingester_server::identity::{Access, Identity, Rate, ReviewError, Reviewer};
use ingester_server::listen::{Limits, Listener};
use ingester_server::metrics::Metrics;
use ingester_server::places::RequestSlots;
use ingester_server::restore::rights::RestoreRights;
use ingester_server::service::{Service, Sources};
use ingester_server::volume::WriteVolumes;
use ingester_store::query::Limits as QueryLimits;
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::shared_mariadb;
use serde_json::json;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

/// A query that takes the database seconds.
pub(crate) const SLOW: &str = "/apis/michelangelo.api/v2/namespaces/ml/models?query=slow";

/// Lets one test run at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// An API server that knows each caller whose token has no `?`, and allows them everything. It never answers about other
/// tokens, nor about rights to an object called `slow`: it counts how often it was asked that.
struct Cluster(Arc<AtomicUsize>);

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
                self.0.fetch_add(1, Ordering::Relaxed);
                std::future::pending::<()>().await;
            }
            Ok(Access { allowed: true, reason: String::new() })
        })
    }
}

/// The place of the objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Database {
    /// In memory, with one connection for everything.
    Memory,
    /// In a file of SQLite, which `ingester serve` reads on separate connections.
    File,
    /// In MariaDB.
    MariaDb,
}

/// The settings of a server.
pub(crate) struct Setup {
    pub(crate) database: Database,
    /// The number of evicted models.
    pub(crate) objects: usize,
    /// The size of each in bytes.
    pub(crate) size: usize,
    /// How long the database may take for a statement.
    pub(crate) time: Duration,
    pub(crate) limits: Limits,
    pub(crate) places: usize,
    pub(crate) rate: Rate,
    pub(crate) cluster: Option<kube::Client>,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            database: Database::Memory,
            objects: 20,
            size: 10,
            time: QueryLimits::default().time,
            limits: Limits::default(),
            places: 200,
            rate: Rate { per_second: 0, burst: 1 },
            cluster: None,
        }
    }
}

/// The stores of a server, and the folder of their file.
struct Stores {
    reads: Arc<Store>,
    writes: Arc<Store>,
    folder: Option<TempDir>,
}

impl Stores {
    /// The stores of `ingester serve`.
    async fn create(database: Database, query_time: Duration) -> Self {
        let folder = matches!(database, Database::File).then(|| tempfile::tempdir().unwrap());
        let url = match (database, &folder) {
            (Database::MariaDb, _) => shared_mariadb().unwrap().create_database("hostile").await.unwrap(),
            (_, Some(folder)) => format!("sqlite://{}", folder.path().join("objects.db").display()),
            (_, None) => {
                let store = Arc::new(Store::in_memory(KINDS).await.unwrap());
                return Stores { reads: store.clone(), writes: store, folder };
            }
        };
        let address = url.parse().unwrap();
        let tables = Store::connect(&address, ConnectOptions::default()).await.unwrap();
        tables.create_missing(KINDS).await.unwrap();
        tables.close().await;
        let reads = ConnectOptions::default().connections(25).create(false).read_only(true).query_time(query_time);
        let writes = reads.connections(4).max_idle(1).read_only(false);
        let writes = Arc::new(Store::connect(&address, writes).await.unwrap());
        let reads = Arc::new(Store::connect(&address, reads).await.unwrap());
        Stores { reads, writes, folder }
    }
}

pub(crate) struct World {
    address: SocketAddr,
    /// Reads.
    pub(crate) reads: Arc<Store>,
    /// Writes.
    pub(crate) store: Arc<Store>,
    pub(crate) service: Service,
    metrics: Metrics,
    pub(crate) stop: CancellationToken,
    /// Requests that were handed over to the service.
    reached: Arc<AtomicUsize>,
    /// Requests for an object called `slow` that hold a place.
    holding: Arc<AtomicUsize>,
    _folder: Option<TempDir>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) fn models() -> &'static Kind {
    find(KINDS, "michelangelo.api/v2", "Model").unwrap()
}

/// An evicted model of this many bytes.
fn model(number: usize, size: usize) -> RowChange {
    let object = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {"namespace": "ml", "name": format!("m{number}"), "uid": format!("u{number}"), "resourceVersion": "7"},
        "spec": {"algorithm": "xgboost", "unknown": "x".repeat(size)},
        "status": {"state": "MODEL_STATE_READY"},
    });
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    let mut row = models().row(&object).unwrap().unwrap();
    (row.evict_time, row.evict_confirmed) = (Some(Micros(1)), true);
    RowChange::Row(row)
}

/// A saved query for models whose text matches nothing: the database needs many steps for each to find that out.
fn slow() -> (String, String) {
    let unlike = json!({"field": "spec.unknown", "like": format!("%{}y%", "x".repeat(30))});
    let query = json!({"name": "slow", "kind": "Model", "scan": true, "filter": {"any": vec![unlike; 60]}});
    ("slow".to_owned(), query.to_string())
}

impl World {
    /// A server with this many evicted models.
    pub(crate) async fn new(limits: Limits, places: usize, objects: usize) -> Self {
        World::with_setup(Setup { limits, places, objects, ..Setup::default() }).await
    }

    pub(crate) async fn with_setup(setup: Setup) -> Self {
        let turn = TURN.lock().await;
        // The next test begins when all tasks of this one are gone, even if it fails: their lines would be taken for its own.
        tokio::spawn(async move {
            let _turn = turn;
            std::future::pending::<()>().await;
        });
        log::forget();
        let Stores { reads, writes: store, folder } = Stores::create(setup.database, setup.time).await;
        let rows = (0..setup.objects).map(|number| model(number, setup.size)).collect();
        store.write(models().table(), rows).await.unwrap();
        let metrics = Metrics::new().unwrap();
        let stop = CancellationToken::new();
        let newest = "name: newest\nkind: Model\norderBy: -create_time\nlimit: 1";
        let saved = [("newest".to_owned(), newest.to_owned()), slow()];
        let holding = Arc::new(AtomicUsize::new(0));
        let service = Service::new(Sources {
            kinds: KINDS,
            reads: reads.clone(),
            writes: Some(store.clone()),
            cluster: setup.cluster,
            restores: RestoreRights::Server,
            identity: Identity::new(Cluster(holding.clone()), Vec::new(), setup.rate, metrics.clone()),
            former: FormerAccess::new(FormerObjects::Granted, None),
            saved: SavedQueries::parse(saved, KINDS).unwrap(),
            limits: QueryLimits::default().with_time(setup.time),
            places: RequestSlots::new(setup.places),
            volumes: WriteVolumes::new(0),
            watches: None,
            watchable: false,
        });
        let listener = Listener::on_loopback(0).await.unwrap();
        let address = listener.address().unwrap();
        let answering = service.clone();
        let reached = Arc::new(AtomicUsize::new(0));
        let counted = reached.clone();
        let handler = move |request, peer, log| {
            counted.fetch_add(1, Ordering::Relaxed);
            answering.clone().answer(request, peer, log)
        };
        tokio::spawn(listener.serve(setup.limits, metrics.clone(), handler, stop.clone()));
        World { address, reads, store, service, metrics, stop, reached, holding, _folder: folder }
    }

    /// How many requests have reached the service.
    pub(crate) fn reached(&self) -> usize {
        self.reached.load(Ordering::Relaxed)
    }

    /// How many requests for an object called `slow` have taken a place.
    pub(crate) fn holding(&self) -> usize {
        self.holding.load(Ordering::Relaxed)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request, on its own connection.
    pub(crate) async fn send(&self, user: &str, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(request(user, method, path, body).as_bytes()).await.unwrap();
        stream
    }

    /// Sends a request and returns the answer's code.
    pub(crate) async fn ask(&self, user: &str, method: &str, path: &str, body: &str) -> u16 {
        answered(&mut self.send(user, method, path, body).await).await
    }

    /// How long the work of a harmless user takes.
    async fn work(&self, user: &str) -> Duration {
        let begin = Instant::now();
        for number in 0..10 {
            let each = Instant::now();
            let object = format!("{MODELS}/m{number}");
            let note = format!(r#"{{"metadata":{{"annotations":{{"note":"{:?}"}}}}}}"#, begin.elapsed());
            assert_eq!(self.ask(user, "GET", &object, "").await, 200);
            assert_eq!(self.ask(user, "GET", &format!("{MODELS}?limit=5"), "").await, 200);
            assert_eq!(self.ask(user, "PATCH", &object, &note).await, 200);
            assert!(each.elapsed() < PROMPT, "{:?}", each.elapsed());
        }
        begin.elapsed()
    }

    /// The median of five runs.
    pub(crate) async fn median(&self, user: &str) -> Duration {
        let mut runs = Vec::new();
        for _ in 0..5 {
            runs.push(self.work(user).await);
        }
        runs.sort_unstable();
        runs[2]
    }

    pub(crate) fn count(&self, series: &str) -> f64 {
        let text = self.metrics.render();
        let value = |line: &str| line.strip_prefix(series)?.rsplit(' ').next()?.parse::<f64>().ok();
        text.lines().filter_map(value).sum()
    }
}

/// A request after which the connection closes.
pub(crate) fn request(user: &str, method: &str, path: &str, body: &str) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    if !user.is_empty() {
        write!(request, "authorization: Bearer {user}\r\n").unwrap();
    }
    let patch = if method == "PATCH" { "content-type: application/merge-patch+json\r\n" } else { "" };
    write!(request, "{patch}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    request
}

/// The code of the answer, once all of it is there; 0 without one.
pub(crate) async fn answered(stream: &mut TcpStream) -> u16 {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(PATIENCE, read).await.expect("the server closes");
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1).map_or(0, |code| code.parse().unwrap())
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !condition().await {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for a condition, at most a second.
pub(crate) async fn within_a_second(what: &str, condition: impl AsyncFn() -> bool) {
    tokio::time::timeout(Duration::from_secs(1), until(what, condition)).await.expect(what);
}

/// The longest that a request takes that waits for no attacker. Attackers hold what they have for 20 seconds and more; a busy machine delays
/// a request by less.
pub(crate) const PROMPT: Duration = Duration::from_secs(5);

/// How often the work is measured during an attack. Other programs on the machine slow down one measurement; an attack that works slows down all.
const MEASUREMENTS: usize = 5;

/// Requests of a measurement: five runs of ten times three.
const REQUESTS: usize = 150;

/// One user's work during another user's attack takes at most three times as long as before, and each request has its line.
pub(crate) async fn served_in_spite_of(world: &World, alone: Duration) {
    let mut attacked = Vec::new();
    while attacked.iter().all(|time| *time > alone * 3) {
        assert!(attacked.len() < MEASUREMENTS, "{attacked:?} under attack, {alone:?} alone");
        attacked.push(world.median("ada").await);
    }
    assert_eq!(world.ask("", "GET", "/readyz", "").await, 200);
    assert_eq!(world.ask("", "GET", "/version", "").await, 200);
    assert_eq!(world.ask("ada", "GET", "/apis", "").await, 200);
    // She was measured once alone.
    let requests = REQUESTS * (1 + attacked.len());
    until("every request of hers has its line", async || lines("ada").len() == requests).await;
    assert!(lines("ada").iter().all(|line| line["code"] == "200"));
}
