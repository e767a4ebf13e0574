//! Watches of `ingester serve`: how late an event is behind the commit of its change, compared with the same watches of a real API server;
//! the CPU time and memory of the server; and its memory with many watches without changes.
//!
//! All watchers are in this process, with one connection each. An event's lag begins when the writer has its answer, so it can be below zero:
//! then it counts as nothing.

use crate::progress;
use crate::serve::{RunningProcess, start_with};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use crd_specs::KINDS;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::{ApiServer, Durability, Edition, MariaDb, install};
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::ops::Deref as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// How long all watches of a part may take to begin.
const OPENING: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Watch {
    /// Seconds for each candidate in each part.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Namespaces, with one object and one watch each.
    #[arg(long, default_value_t = 1000)]
    namespaces: usize,
    /// Changes a second, with a watch for each namespace.
    #[arg(long, default_value_t = 200)]
    rate: usize,
    /// Watches of all namespaces, at a tenth of the changes.
    #[arg(long, default_value_t = 100)]
    everything: usize,
    /// Watches of which nothing changes, for the figure of memory.
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
}

/// Where changes are made.
enum Writer {
    Sql(Box<Store>),
    Cluster(Client),
}

/// The time of the answer to each change, indexed by the change's number.
type AnswerTimes = Arc<Vec<OnceLock<Instant>>>;

pub(crate) fn run(arguments: &Watch) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let database = MariaDb::start_with(Durability::Durable, &[])?;
    runtime.block_on(on(database.deref(), arguments))
}

async fn on(server: &ingester_tests::SqlServer, arguments: &Watch) -> Result<()> {
    let url = crate::databases::url(server, "watch").await?;
    let real =
        ApiServer::start_edition(Edition::Modern)?.context("there is no modern API server (bash tests/install.sh)")?;
    let cluster = real.client().await?;
    let crds: Vec<_> = KINDS.iter().filter_map(ingester_core::Kind::crd).collect();
    install(&cluster, &crds).await?;
    let created = stream::iter(0..arguments.namespaces).map(|n| {
        let api = api(&cluster, Some(n));
        async move {
            let mut object: DynamicObject = serde_json::from_value(object(n, 0))?;
            // The server gives both.
            (object.metadata.uid, object.metadata.resource_version) = (None, None);
            api.create(&PostParams::default(), &object).await.map_err(anyhow::Error::from)
        }
    });
    created.buffer_unordered(16).try_for_each(|_| async { Ok(()) }).await?;
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    store.create_missing(KINDS).await?;
    store.switch_changes(true).await?;
    store.write(kind()?.table(), (0..arguments.namespaces).map(|n| row(n, 0)).collect::<Result<_>>()?).await?;
    let watches = 3 * (arguments.idle + arguments.namespaces);
    let (process, port) =
        start_with(&url, &format!("serve:\n  rate: 0\n  maxWatches: {watches}\n  maxConnections: {watches}\n")).await?;
    let ours = Client::try_from(kube::Config::new(format!("http://127.0.0.1:{port}").parse()?))?;
    let writers = [Writer::Sql(Box::new(store)), Writer::Cluster(cluster.clone())];
    let parts = [
        ("a watch for each namespace", false, arguments.namespaces, arguments.rate),
        ("watches of everything", true, arguments.everything, arguments.rate.div_ceil(10)),
    ];
    for (name, everything, watches, rate) in parts {
        for (candidate, (client, writer)) in
            ["ours", "API server"].into_iter().zip([&ours, &cluster].into_iter().zip(&writers))
        {
            let id = if candidate == "ours" { Some(process.id()) } else { real.process().id() };
            let before = progress::cpu(id)?;
            let [p50, p99, most] = lags(client, writer, everything, watches, rate, arguments).await?;
            let cpu = (progress::cpu(id)? - before).as_secs_f64() / arguments.seconds as f64;
            println!(
                "{watches} {name}, {rate} changes/s, {candidate:10}: lag p50 {p50:6.1} ms, p99 {p99:6.1} ms, at most {most:6.1} ms; {:3.0} % of a core, {} MB",
                100.0 * cpu,
                resident(id)?
            );
        }
    }
    idle(&process, port, arguments.idle).await
}

fn kind() -> Result<&'static ingester_core::Kind> {
    find(KINDS, "michelangelo.api/v2", "Model").context("a kind of the manifest")
}

/// The object of a namespace, after this change.
fn object(namespace: usize, change: usize) -> Value {
    json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {"namespace": format!("n{namespace}"), "name": "m", "uid": format!("uid-{namespace}"),
                     "resourceVersion": (change + 1).to_string(), "annotations": {"change": change.to_string(), "filler": "x".repeat(4000)}},
        "spec": {"algorithm": "xgboost", "owner": {"name": "ann"}},
    })
}

fn row(namespace: usize, change: usize) -> Result<RowChange> {
    let object = Object::parse(object(namespace, change).to_string(), ManagedFields::Prune)?;
    Ok(RowChange::Row(kind()?.row(&object)?.context("a row")?))
}

fn api(client: &Client, namespace: Option<usize>) -> Api<DynamicObject> {
    let resource =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("michelangelo.api", "v2", "Model"), "models");
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), &format!("n{namespace}"), &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

impl Writer {
    async fn change(&self, namespace: usize, change: usize) -> Result<()> {
        match self {
            Writer::Sql(store) => {
                let report = store.write(kind()?.table(), vec![row(namespace, change)?]).await?;
                ensure!(report.written == 1, "{report:?}");
            }
            Writer::Cluster(client) => {
                let patch = json!({"metadata": {"annotations": {"change": change.to_string()}}});
                api(client, Some(namespace)).patch("m", &PatchParams::default(), &Patch::Merge(patch)).await?;
            }
        }
        Ok(())
    }
}

/// How late events are, in milliseconds: the median, the 99th percentile, and the latest.
async fn lags(
    client: &Client,
    writer: &Writer,
    everything: bool,
    watches: usize,
    rate: usize,
    arguments: &Watch,
) -> Result<[f64; 3]> {
    // Numbers go on over all parts, because versions only rise.
    static CHANGES: AtomicUsize = AtomicUsize::new(1);
    let first = CHANGES.load(Ordering::SeqCst);
    let changes = rate * arguments.seconds as usize;
    CHANGES.fetch_add(changes, Ordering::SeqCst);
    let answered: AnswerTimes = Arc::new((0..changes).map(|_| OnceLock::new()).collect());
    let received = Arc::new(Mutex::new(Vec::new()));
    let open = Arc::new(Semaphore::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for watch in 0..watches {
        let api = api(client, (!everything).then_some(watch));
        let open = open.clone();
        let version = api.list(&Default::default()).await?.metadata.resource_version.context("a version")?;
        let received = received.clone();
        tasks.spawn(async move {
            let mut events = api.watch(&WatchParams::default().timeout(290), &version).await?.boxed();
            open.add_permits(1);
            while let Some(event) = events.try_next().await? {
                let WatchEvent::Modified(object) = event else { continue };
                let number = object.metadata.annotations.and_then(|all| all.get("change")?.parse::<usize>().ok());
                if let Some(place) = number.and_then(|number| number.checked_sub(first)) {
                    received.lock().push((place, Instant::now()));
                }
            }
            anyhow::Ok(())
        });
    }
    let all = u32::try_from(watches)?;
    tokio::time::timeout(OPENING, open.acquire_many(all)).await.context("watches that do not begin")??.forget();
    let begin = Instant::now();
    let written = stream::iter(0..changes).map(|place| {
        let answered = answered.clone();
        async move {
            tokio::time::sleep_until((begin + Duration::from_secs_f64(place as f64 / rate as f64)).into()).await;
            writer.change(place % arguments.namespaces, first + place).await?;
            let _ = answered[place].set(Instant::now());
            anyhow::Ok(())
        }
    });
    written.buffer_unordered(16).try_collect::<()>().await?;
    let expected = changes * if everything { watches } else { 1 };
    let end = Instant::now() + Duration::from_secs(30);
    let count = || received.lock().len();
    while count() < expected && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tasks.abort_all();
    let received = received.lock();
    ensure!(received.len() == expected, "{} events of {expected}", received.len());
    let lag = |(place, at): &(usize, Instant)| {
        let answered = answered[*place].get().copied().unwrap_or(*at);
        at.saturating_duration_since(answered).as_secs_f64() * 1e3
    };
    let mut lags: Vec<f64> = received.iter().map(lag).collect();
    lags.sort_by(f64::total_cmp);
    Ok([lags[lags.len() / 2], lags[lags.len() * 99 / 100], lags[lags.len() - 1]])
}

/// The resident memory of a process, in MB.
fn resident(id: Option<u32>) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", id.context("a process does not run")?))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? >> 10)
}

/// Returns the server's memory before and with watches without changes.
async fn idle(process: &RunningProcess, port: u16, watches: usize) -> Result<()> {
    let before = resident(Some(process.id()))?;
    let mut open = Vec::with_capacity(watches);
    while open.len() < watches {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let path = format!("/apis/michelangelo.api/v2/namespaces/idle-{}/models?watch=true", open.len());
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await?;
        let mut answer = [0; 2048];
        let read = stream.read(&mut answer).await?;
        if answer[..read].starts_with(b"HTTP/1.1 429") {
            // So many have begun at a time that the server asks for patience.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        }
        ensure!(answer[..read].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..read]));
        open.push(stream);
    }
    let with = resident(Some(process.id()))?;
    println!(
        "{watches} idle watches: {before} MB before, {with} MB with them ({:.1} kB each)",
        (with - before) as f64 * 1024.0 / watches as f64
    );
    Ok(())
}
