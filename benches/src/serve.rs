//! `ingester serve` under load: requests a second and the 99th percentile of their times, beside the same SQL by hand and beside a real API
//! server, in one run. And the memory with many idle connections.
//!
//! The server is this same program in a process of its own.

use crate::live::AS_INGESTER;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use crd_specs::KINDS;
use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Request;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::{ApiServer, Durability, Edition, MariaDb, install};
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;
use sqlx::{AssertSqlSafe, MySqlPool, Row as _};
use std::net::TcpListener;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[derive(Args)]
pub(crate) struct Serve {
    /// Objects.
    #[arg(long, default_value_t = 5000)]
    objects: usize,
    /// Requests at a time.
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// Seconds for each candidate, in each of three rounds.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Idle connections for the figure of memory.
    #[arg(long, default_value_t = 950)]
    idle: usize,
}

/// Ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn run(arguments: &Serve) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let database = MariaDb::start_with(Durability::Durable, &["--innodb-buffer-pool-size=1G"])?;
    runtime.block_on(on(database.deref(), arguments))
}

/// A question: the path, and the SQL that somebody would write by hand.
const QUESTIONS: [(&str, &str, &str); 3] = [
    (
        "get",
        "/apis/michelangelo.api/v2/namespaces/ml/models/m-00042",
        "SELECT json FROM model WHERE namespace = 'ml' AND name = 'm-00042' AND delete_time IS NULL ORDER BY create_time DESC LIMIT 1",
    ),
    (
        "list of 50 by label",
        "/apis/michelangelo.api/v2/namespaces/ml/models?labelSelector=team%3Dteam-7&limit=50",
        "SELECT json, namespace, name, uid FROM model WHERE namespace = 'ml' AND delete_time IS NULL AND uid IN
         (SELECT obj_uid FROM model_labels WHERE `key` = 'team' AND `value` = 'team-7') ORDER BY namespace, name, uid LIMIT 51",
    ),
    (
        "list of 500",
        "/apis/michelangelo.api/v2/namespaces/ml/models?limit=500",
        "SELECT json, namespace, name, uid FROM model WHERE namespace = 'ml' AND delete_time IS NULL ORDER BY namespace, name, uid LIMIT 501",
    ),
];

async fn on(server: &ingester_tests::SqlServer, arguments: &Serve) -> Result<()> {
    let url = crate::store::url(server, "serve").await?;
    let real =
        ApiServer::start_edition(Edition::Modern)?.context("there is no modern API server (bash tests/install.sh)")?;
    let cluster = real.client().await?;
    let crds: Vec<_> = KINDS.iter().filter_map(ingester_core::Kind::crd).collect();
    install(&cluster, &crds).await?;
    fill(&cluster, &url, arguments.objects).await?;
    let (process, port) = start(&url).await?;
    let ours = Client::try_from(kube::Config::new(format!("http://127.0.0.1:{port}").parse()?))?;
    let pool =
        sqlx::mysql::MySqlPoolOptions::new().max_connections(25).test_before_acquire(false).connect(&url).await?;
    println!(
        "{} objects, {} requests at a time: requests a second, and the 99th percentile",
        arguments.objects, arguments.clients
    );
    for (name, path, sql) in QUESTIONS {
        let mut all: [Vec<(f64, f64)>; 3] = Default::default();
        for round in 0..4 {
            let time = Duration::from_secs(arguments.seconds);
            let by_hand = load(arguments.clients, time, || by_hand(&pool, sql)).await?;
            let served = load(arguments.clients, time, || request(&ours, path)).await?;
            let by_cluster = load(arguments.clients, time, || request(&cluster, path)).await?;
            // The first round does not count.
            if round > 0 {
                for (all, figures) in all.iter_mut().zip([by_hand, served, by_cluster]) {
                    all.push(figures);
                }
            }
        }
        let median = |figures: &mut Vec<(f64, f64)>| {
            figures.sort_by(|a, b| a.0.total_cmp(&b.0));
            figures[figures.len() / 2]
        };
        let [hand, ours, cluster] = all.each_mut().map(median);
        println!(
            "{name:22} by hand {:8.0}/s {:6.1} ms   ours {:8.0}/s {:6.1} ms ({:.2}x of by hand, {:.2}x of the API server)   API server {:8.0}/s {:6.1} ms",
            hand.0,
            hand.1,
            ours.0,
            ours.1,
            ours.0 / hand.0,
            ours.0 / cluster.0,
            cluster.0,
            cluster.1
        );
    }
    idle(&process, port, arguments.idle).await
}

/// Requests a second, and the 99th percentile in milliseconds.
async fn load<F: Future<Output = Result<()>>>(
    clients: usize,
    time: Duration,
    ask: impl Fn() -> F,
) -> Result<(f64, f64)> {
    let begin = Instant::now();
    let client = async || {
        let mut times = Vec::new();
        while begin.elapsed() < time {
            let start = Instant::now();
            ask().await?;
            times.push(start.elapsed());
        }
        Ok::<_, anyhow::Error>(times)
    };
    let mut times: Vec<Duration> = try_join_all((0..clients).map(|_| client())).await?.concat();
    let seconds = begin.elapsed().as_secs_f64();
    times.sort_unstable();
    let slow = times.get(times.len() * 99 / 100).copied().unwrap_or_default();
    Ok((times.len() as f64 / seconds, slow.as_secs_f64() * 1000.0))
}

async fn by_hand(pool: &MySqlPool, sql: &'static str) -> Result<()> {
    let mut connection = pool.acquire().await?;
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await?;
    let mut text = String::new();
    for row in &rows {
        text.push_str(&row.try_get_unchecked::<String, _>(0)?);
    }
    ensure!(!text.is_empty(), "nothing was found");
    Ok(())
}

async fn request(client: &Client, path: &str) -> Result<()> {
    let text = client.request_text(Request::get(path).body(Vec::new())?).await?;
    ensure!(text.contains("\"spec\""), "{text}");
    Ok(())
}

/// Creates the objects in the cluster, and stores them as the API server has them.
async fn fill(client: &Client, url: &str, objects: usize) -> Result<()> {
    let resource =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("michelangelo.api", "v2", "Model"), "models");
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), "ml", &resource);
    let created = stream::iter(0..objects).map(|n| {
        let spec = json!({"spec": {"algorithm": "xgboost", "owner": {"name": "ann"}}});
        let mut object = DynamicObject::new(&format!("m-{n:05}"), &resource).data(spec);
        object.metadata.labels = Some([("team".to_owned(), format!("team-{}", n % 50))].into());
        // Objects of 4 KB.
        object.metadata.annotations = Some([("filler".to_owned(), "x".repeat(4000))].into());
        let api = &api;
        async move { api.create(&PostParams::default(), &object).await }
    });
    created.buffer_unordered(16).try_collect::<Vec<_>>().await?;
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    store.create_missing(KINDS).await?;
    let kind = find(KINDS, "michelangelo.api/v2", "Model").context("a kind of the manifest")?;
    for object in api.list(&ListParams::default()).await?.items {
        let object = Object::parse(serde_json::to_string(&object)?, ManagedFields::Prune)?;
        let row = kind.row(&object)?.context("a row")?;
        store.write(kind.table(), vec![RowChange::Row(row)]).await?;
    }
    store.close().await;
    Ok(())
}

/// Starts the server on a free port.
async fn start(url: &str) -> Result<(Running, u16)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut process = Running(
        Command::new(std::env::current_exe()?)
            .args(["serve", "--insecure-loopback", &port.to_string(), "--database-url", url])
            .env(AS_INGESTER, "1")
            .stdin(Stdio::null())
            .spawn()?,
    );
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        ensure!(process.0.try_wait()?.is_none(), "the server ended");
        ensure!(begin.elapsed() < Duration::from_secs(60), "the server does not answer");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok((process, port))
}

/// The server's memory before and with idle connections, each of which has had one answer.
async fn idle(process: &Running, port: u16, connections: usize) -> Result<()> {
    let resident = || -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? >> 10)
    };
    let before = resident()?;
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
        let mut answer = [0; 1024];
        ensure!(stream.read(&mut answer).await? > 0, "no answer");
        open.push(stream);
    }
    println!("{connections} idle connections: {before} MB before, {} MB with them", resident()?);
    Ok(())
}
