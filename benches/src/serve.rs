//! `ingester serve` under load: requests a second and the 99th percentile of their times, compared with the same SQL by hand and with a
//! real API server, in one run. Also the memory with many idle connections.
//!
//! The server is this same program in a separate process.

use crate::live::AS_INGESTER;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use crd_specs::KINDS;
use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Request;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Value;
use ingester_sql::query::{Filter, Query, Test};
use ingester_store::query::{Limits, PreparedQuery, RequestedParts};
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
    /// Bytes of an object.
    #[arg(long, default_value_t = 4000)]
    object_bytes: usize,
    /// Give the database statistics of so many objects, and none of those after them, as after a first fill.
    #[arg(long, value_name = "OBJECTS")]
    statistics_of: Option<usize>,
    /// Requests at a time.
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// Seconds for each candidate, in each of three rounds.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Idle connections for the figure of memory.
    #[arg(long, default_value_t = 950)]
    idle: usize,
    /// InnoDB's buffer pool.
    #[arg(long, default_value = "1G")]
    pool: String,
}

/// Ends with the value.
pub(crate) struct RunningProcess(Child, #[allow(dead_code, reason = "removed at the end")] tempfile::TempDir);

impl RunningProcess {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn run(arguments: &Serve) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let pool = format!("--innodb-buffer-pool-size={}", arguments.pool);
    let database = MariaDb::start_with(Durability::Durable, &[pool.as_str()])?;
    runtime.block_on(on(database.deref(), arguments))
}

/// A question: what is asked, and the best SQL by hand for it: its keys are forced, and only the rows of the answer are read whole.
struct Question {
    name: &'static str,
    path: &'static str,
    sql: &'static str,
    /// Read all pages, one after the other. By hand, `?` stands for the name that the last page ended with.
    paged: bool,
    /// The same for the store, without HTTP: the namespace, a label, and the limit.
    namespace: Option<&'static str>,
    label: Option<(&'static str, &'static str)>,
    limit: usize,
}

const QUESTIONS: [Question; 6] = [
    Question {
        name: "get",
        path: "/apis/michelangelo.api/v2/namespaces/ml/models/m-000042",
        sql: "SELECT json FROM model FORCE INDEX (namespace_name) WHERE namespace = 'ml' AND name = 'm-000042' AND delete_time IS NULL
              ORDER BY create_time DESC LIMIT 1",
        paged: false,
        namespace: Some("ml"),
        label: None,
        limit: 1,
    },
    Question {
        name: "50 by label of 1/50",
        path: "/apis/michelangelo.api/v2/namespaces/ml/models?labelSelector=team%3Dteam-7&limit=50",
        sql: "SELECT m.json, p.name FROM (SELECT m.uid, m.name FROM model_labels l FORCE INDEX (key_value) STRAIGHT_JOIN model m
              ON m.uid = l.obj_uid WHERE l.`key` = 'team' AND l.`value` = 'team-7' AND m.namespace = 'ml' AND m.delete_time IS NULL
              ORDER BY m.name, m.uid LIMIT 51) p STRAIGHT_JOIN model m ON m.uid = p.uid ORDER BY p.name",
        paged: false,
        namespace: Some("ml"),
        label: Some(("team", "team-7")),
        limit: 50,
    },
    Question {
        name: "50 by label of 1/3",
        path: "/apis/michelangelo.api/v2/namespaces/ml/models?labelSelector=tier%3Dtier-1&limit=50",
        sql: "SELECT json, name FROM model FORCE INDEX (namespace_name) WHERE namespace = 'ml' AND delete_time IS NULL AND EXISTS
              (SELECT 1 FROM model_labels l FORCE INDEX (PRIMARY) WHERE l.obj_uid = uid AND l.`key` = 'tier' AND l.`value` = 'tier-1')
              ORDER BY namespace, name, uid LIMIT 51",
        paged: false,
        namespace: Some("ml"),
        label: Some(("tier", "tier-1")),
        limit: 50,
    },
    Question {
        name: "all by label of 1/50",
        path: "/apis/michelangelo.api/v2/models?labelSelector=team%3Dteam-7",
        sql: "SELECT m.json, p.name FROM (SELECT m.uid, m.namespace, m.name FROM model_labels l FORCE INDEX (key_value) STRAIGHT_JOIN model m
              ON m.uid = l.obj_uid WHERE l.`key` = 'team' AND l.`value` = 'team-7' AND m.delete_time IS NULL
              ORDER BY m.namespace, m.name, m.uid) p STRAIGHT_JOIN model m ON m.uid = p.uid ORDER BY p.namespace, p.name",
        paged: false,
        namespace: None,
        label: Some(("team", "team-7")),
        limit: 100_000,
    },
    Question {
        name: "first 500",
        path: "/apis/michelangelo.api/v2/namespaces/ml/models?limit=500",
        sql: "SELECT json, name FROM model FORCE INDEX (namespace_name) WHERE namespace = 'ml' AND delete_time IS NULL
              ORDER BY namespace, name, uid LIMIT 501",
        paged: false,
        namespace: Some("ml"),
        label: None,
        limit: 500,
    },
    Question {
        name: "all, pages of 500",
        path: "/apis/michelangelo.api/v2/namespaces/ml/models?limit=500",
        sql: "SELECT json, name FROM model FORCE INDEX (namespace_name) WHERE namespace = 'ml' AND name > ? AND delete_time IS NULL
              ORDER BY namespace, name, uid LIMIT 500",
        paged: true,
        namespace: Some("ml"),
        label: None,
        limit: 500,
    },
];

async fn on(server: &ingester_tests::SqlServer, arguments: &Serve) -> Result<()> {
    let url = crate::databases::url(server, "serve").await?;
    let real =
        ApiServer::start_edition(Edition::Modern)?.context("there is no modern API server (bash tests/install.sh)")?;
    let cluster = real.client().await?;
    let crds: Vec<_> = KINDS.iter().filter_map(ingester_core::Kind::crd).collect();
    install(&cluster, &crds).await?;
    fill(&cluster, &url, arguments).await?;
    let (process, port) = start(&url).await?;
    let ours = Client::try_from(kube::Config::new(format!("http://127.0.0.1:{port}").parse()?))?;
    let pool =
        sqlx::mysql::MySqlPoolOptions::new().max_connections(25).test_before_acquire(false).connect(&url).await?;
    println!(
        "{} objects of {} bytes, {} requests at a time: requests a second, and the 99th percentile",
        arguments.objects, arguments.object_bytes, arguments.clients
    );
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    for question in QUESTIONS {
        let Question { name, path, sql, paged, .. } = question;
        let asked = store.ask_about(model()?, &question.query(), Limits::default())?;
        let mut all: [Vec<(f64, f64)>; 4] = Default::default();
        for round in 0..4 {
            let time = Duration::from_secs(arguments.seconds);
            let by_hand = load(arguments.clients, time, || by_hand(&pool, sql, paged)).await?;
            let stored = load(arguments.clients, time, || page(&asked, question.limit, paged)).await?;
            let served = load(arguments.clients, time, || request(&ours, path, paged)).await?;
            let by_cluster = load(arguments.clients, time, || request(&cluster, path, paged)).await?;
            // The first round does not count.
            if round > 0 {
                for (all, figures) in all.iter_mut().zip([by_hand, stored, served, by_cluster]) {
                    all.push(figures);
                }
            }
        }
        let median = |figures: &mut Vec<(f64, f64)>| {
            figures.sort_by(|a, b| a.0.total_cmp(&b.0));
            figures[figures.len() / 2]
        };
        let [hand, stored, ours, cluster] = all.each_mut().map(median);
        println!(
            "{name:22} by hand {:8.1}/s {:6.1} ms   the store {:8.1}/s {:6.1} ms ({:.2}x of by hand)   ours {:8.1}/s {:6.1} ms ({:.2}x of by hand, {:.2}x of the API server)   API server {:8.1}/s {:6.1} ms",
            hand.0,
            hand.1,
            stored.0,
            stored.1,
            stored.0 / hand.0,
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

async fn by_hand(pool: &MySqlPool, sql: &'static str, paged: bool) -> Result<()> {
    let mut connection = pool.acquire().await?;
    let mut text = String::new();
    let mut last = String::new();
    let mut pages = 0;
    loop {
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = if paged { query.bind(last.clone()) } else { query };
        let rows = query.fetch_all(&mut *connection).await?;
        text.clear();
        for row in &rows {
            text.push_str(&row.try_get_unchecked::<String, _>(0)?);
        }
        let Some(row) = rows.last().filter(|_| paged) else { break };
        last = row.try_get_unchecked(1)?;
        pages += 1;
    }
    ensure!(!text.is_empty() || pages > 0, "nothing was found");
    Ok(())
}

impl Question {
    fn query(&self) -> Query {
        let label = |(key, value): (&str, &str)| Filter::label(key, Test::Equal(Value::text(value)));
        let names = if self.limit == 1 { vec!["m-000042".into()] } else { Vec::new() };
        let namespaces = self.namespace.map(Into::into).into_iter().collect();
        Query { names, namespaces, filters: self.label.map(label).into_iter().collect(), ..Query::default() }
    }
}

/// Reads a page of the store, or all pages.
async fn page(asked: &PreparedQuery<'_>, limit: usize, paged: bool) -> Result<()> {
    let mut next = None;
    loop {
        let page = asked.page(&RequestedParts::object(), limit, next.as_deref()).await?;
        ensure!(!page.rows.is_empty(), "nothing was found");
        next = page.next;
        if !paged || next.is_none() {
            return Ok(());
        }
    }
}

/// The kind of all objects.
fn model() -> Result<&'static Kind> {
    find(KINDS, "michelangelo.api/v2", "Model").context("a kind of the manifest")
}

async fn request(client: &Client, path: &str, paged: bool) -> Result<()> {
    let mut next = String::new();
    loop {
        let page = if next.is_empty() { path.to_owned() } else { format!("{path}&continue={next}") };
        let text = client.request_text(Request::get(page).body(Vec::new())?).await?;
        ensure!(text.contains("\"spec\""), "{}", text.get(..1000).unwrap_or(&text));
        // A client that only wants the token need not parse the objects, and neither side is charged for it.
        let token =
            text.split_once("\"continue\":\"").and_then(|(_, rest)| rest.split_once('"')).map(|(token, _)| token);
        match token.filter(|token| paged && !token.is_empty()) {
            Some(token) => next = token.replace('=', "%3D").replace('+', "%2B"),
            None => return Ok(()),
        }
    }
}

/// Creates the objects in the cluster, nine of ten in one namespace, and stores them as the API server has them.
async fn fill(client: &Client, url: &str, arguments: &Serve) -> Result<()> {
    let resource =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("michelangelo.api", "v2", "Model"), "models");
    let api = |namespace: &str| Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
    let apis = [api("ml"), api("other")];
    let filler = "x".repeat(arguments.object_bytes);
    let created = stream::iter(0..arguments.objects).map(|n| {
        let spec = json!({"spec": {"algorithm": "xgboost", "owner": {"name": "ann"}}});
        let mut object = DynamicObject::new(&format!("m-{n:06}"), &resource).data(spec);
        let labels = [("team".to_owned(), format!("team-{}", n % 50)), ("tier".to_owned(), format!("tier-{}", n % 3))];
        object.metadata.labels = Some(labels.into());
        object.metadata.annotations = Some([("filler".to_owned(), filler.clone())].into());
        let api = &apis[usize::from(n % 10 == 9)];
        async move { api.create(&PostParams::default(), &object).await.map(drop) }
    });
    created.buffer_unordered(16).try_collect::<()>().await?;
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    store.create_missing(KINDS).await?;
    let statements = sqlx::MySqlPool::connect(url).await?;
    for table in ["model", "model_labels"].iter().filter(|_| arguments.statistics_of.is_some()) {
        let sql = format!("ALTER TABLE {table} STATS_AUTO_RECALC = 0");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&statements).await?;
    }
    let kind = model()?;
    let mut stored = 0;
    let mut next = None;
    loop {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let page = api.list(&ListParams { limit: Some(500), continue_token: next, ..ListParams::default() }).await?;
        let changes = page.items.iter().map(|object| {
            let object = Object::parse(serde_json::to_string(object)?, ManagedFields::Prune)?;
            Ok(RowChange::Row(kind.row(&object)?.context("a row")?))
        });
        let mut changes = changes.collect::<Result<Vec<_>>>()?;
        if let Some(of) = arguments.statistics_of.filter(|of| (stored..stored + changes.len()).contains(of)) {
            let rest = changes.split_off(of - stored);
            store.write(kind.table(), changes).await?;
            sqlx::raw_sql("ANALYZE TABLE model, model_labels").fetch_all(&statements).await?;
            changes = rest;
        }
        stored += page.items.len();
        store.write(kind.table(), changes).await?;
        next = page.metadata.continue_.filter(|token| !token.is_empty());
        if next.is_none() {
            break;
        }
    }
    statements.close().await;
    store.close().await;
    Ok(())
}

/// Starts the server on a free port.
async fn start(url: &str) -> Result<(RunningProcess, u16)> {
    start_with(url, "").await
}

/// Starts the server on a free port, with this configuration.
pub(crate) async fn start_with(url: &str, configuration: &str) -> Result<(RunningProcess, u16)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config.yaml");
    std::fs::write(&file, format!("metadataStorage:\n  enableMetadataStorage: true\n{configuration}"))?;
    let mut process = Command::new(std::env::current_exe()?);
    process.args(["serve", "--insecure-loopback", &port.to_string(), "--config"]).arg(file);
    // The configuration is not the place of a URL here: the environment stands above it.
    let process =
        process.env(AS_INGESTER, "1").env("DATABASE_URL", url).env("RUST_LOG", "warn").stdin(Stdio::null()).spawn()?;
    let mut process = RunningProcess(process, folder);
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        ensure!(process.0.try_wait()?.is_none(), "the server ended");
        ensure!(begin.elapsed() < Duration::from_secs(60), "the server does not answer");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok((process, port))
}

/// Returns the server's memory before and with idle connections, each of which has had one answer.
async fn idle(process: &RunningProcess, port: u16, connections: usize) -> Result<()> {
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
