//! The mirror with a real API server: the first fill, a restart, memory, and the time from an update to its row.
//!
//! The ingester is this same program in a process of its own, so that its memory can be measured.

use crate::etcd;
use crate::objects::{self, Dice, updated};
use crate::reference::{Handmade, Reference};
use crate::store::{Phase, Rows};
use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use crd_specs::KINDS;
use futures::{AsyncBufReadExt as _, StreamExt as _};
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_store::{ConnectOptions, Store};
use ingester_tests::{ApiServer, Durability, Ingester, MariaDb, MySql, SqlServer};
use kube::Client;
use serde_json::{Value, json};
use sqlx::{Connection as _, MySql as MySqlDatabase, MySqlConnection};
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The variable that makes a process the ingester.
pub(crate) const AS_INGESTER: &str = "INGESTER_BENCH_AS_INGESTER";

#[derive(Args)]
pub(crate) struct Live {
    /// Which database.
    #[arg(long, value_enum, default_value = "mariadb")]
    database: Which,
    /// Objects in the cluster.
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// How often fills, restarts and bare lists are measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Seconds of steady updates.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Updates a second.
    #[arg(long, default_value_t = 40)]
    rate: u64,
    /// Creates objects without the ingester's finalizer, and measures how long it takes until all have it.
    #[arg(long)]
    add_finalizers: bool,
    /// Reaches the database over TCP instead of its Unix socket.
    #[arg(long)]
    tcp: bool,
    /// Prints the ingester's log at the end.
    #[arg(long)]
    log: bool,
    /// InnoDB's buffer pool, such as `2G`; the server's default without it.
    #[arg(long)]
    pool: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    Mariadb,
    Mysql,
}

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";
/// The counter of committed rows.
pub(crate) const WRITTEN: &str = "ingester_rows_written_total";
/// How long anything may take. By default the ingester adds 50 finalizers a second.
const DEADLINE: Duration = Duration::from_secs(3600);

pub(crate) fn run(arguments: &Live) -> Result<()> {
    with_database(arguments.database, arguments.pool.as_deref(), async |server| on(server, arguments).await)
}

/// Starts a database with its own defaults, except for the buffer pool, and does `work` with it.
pub(crate) fn with_database(
    database: Which,
    pool: Option<&str>,
    work: impl AsyncFnOnce(&SqlServer) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let option = pool.map(|pool| format!("--innodb-buffer-pool-size={pool}"));
    let options: Vec<&str> = option.as_deref().into_iter().collect();
    match database {
        Which::Mariadb => {
            let server = MariaDb::start_with(Durability::Durable, &options)?;
            runtime.block_on(work(server.deref()))
        }
        Which::Mysql => {
            let server = MySql::start_with(Durability::Durable, &options)?;
            let server = server.context("there is no MySQL (bash tests/install.sh mysql)")?;
            runtime.block_on(work(server.deref()))
        }
    }
}

/// One measurement: the servers and the arguments.
struct Bench<'a> {
    kind: Kind,
    arguments: &'a Live,
    server: &'a SqlServer,
    cluster: ApiServer,
    client: Client,
    path: String,
    url: String,
}

async fn on(server: &SqlServer, arguments: &Live) -> Result<()> {
    let kind = kind()?;
    let cluster = ApiServer::start()?;
    let client = cluster.client().await?;
    ingester_tests::install(&client, &[kind.crd().context("a CRD")?]).await?;
    let path = format!("/apis/{}/namespaces/{NAMESPACE}/{}", kind.api_version(), kind.plural());
    let url =
        if arguments.tcp { server.create_database("live").await? } else { crate::store::url(server, "live").await? };
    let bench = Bench { kind, arguments, server, cluster, client, path, url };
    bench.seed().await?;

    let mut report = Report::default();
    let ingester = bench.fills(&mut report).await?;
    bench.restarts(&ingester, &mut report).await?;
    bench.latencies(&mut report).await?;
    report.memory(&ingester, "after the updates")?;
    ingester.stop()?;
    if arguments.log {
        println!("{}", ingester.logs()?);
    }
    let pool = arguments.pool.as_deref().unwrap_or("default");
    println!("{} objects, kube-apiserver, {:?} with pool {pool}", arguments.objects, arguments.database);
    report.print();
    Ok(())
}

impl Bench<'_> {
    /// Writes the objects into the cluster, and waits until the API server has all of them.
    async fn seed(&self) -> Result<()> {
        let (objects, start) = (self.arguments.objects, Instant::now());
        let address = self.cluster.etcd_url();
        let revision = etcd::seed(&address, &self.kind, objects, !self.arguments.add_finalizers).await?;
        let written = start.elapsed();
        let request = http::Request::get(format!("{}?limit=1", self.path)).body(Vec::new())?;
        let list: Value =
            serde_json::from_str(&self.client.request_text(request).await.context("listing one object")?)?;
        let first = list["items"].as_array().map_or(0, Vec::len) as u64;
        let listed = first + list["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
        ensure!(listed == objects as u64, "of {objects} objects written into etcd the API server lists {listed}");
        // A list with a limit is read from etcd. The watch cache follows later: a request for an object not older than
        // the last write is answered once the cache has it, or refused after three seconds.
        let last = format!("{}/{}?resourceVersion={revision}", self.path, name(&self.kind, objects.saturating_sub(1)));
        loop {
            match self.client.request_text(http::Request::get(&last).body(Vec::new())?).await {
                Ok(_) => break,
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 504) && start.elapsed() < DEADLINE => {}
                Err(error) => return Err(error).context("waiting until the API server has the objects"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let (written, arrived) = (written.as_secs_f64(), start.elapsed().as_secs_f64());
        println!("{objects} objects in etcd after {written:.1} s, in the API server's memory after {arrived:.1} s");
        Ok(())
    }

    async fn bare_list(&self, encoding: &str) -> Result<(Duration, usize)> {
        bare_list(&self.client, &self.path, encoding).await
    }

    async fn by_hand(&self) -> Result<Duration> {
        let [inserted, _] = by_hand(self.server, &self.kind, self.arguments.objects, 0).await?;
        Ok(inserted)
    }

    /// Fills an empty database, several times.
    async fn fills(&self, report: &mut Report) -> Result<Ingester> {
        let (objects, rounds) = (self.arguments.objects, usize::from(self.arguments.rounds));
        let list = median_of(rounds, async || self.bare_list("gzip").await).await?;
        let plain = median_of(rounds, async || self.bare_list("identity").await).await?;
        let by_hand = self.by_hand().await?;
        report.alone("JSON of an object", "KB", list.1 as f64 / objects as f64 / 1000.0);
        report.alone("bare list, compressed", "s", list.0.as_secs_f64());
        report.alone("bare list, not compressed", "s", plain.0.as_secs_f64());
        report.alone("rows by hand", "s", by_hand.as_secs_f64());

        let (program, config) = (std::env::current_exe()?, configuration(&self.url, &self.kind));
        let mut start = Instant::now();
        let ingester = Ingester::start(&program, &config, &self.cluster.kubeconfig(), &[(AS_INGESTER, "1")])?;
        let mut fills = vec![until(&ingester, WRITTEN, objects).await?.duration_since(start)];
        let mut times = vec![cpu(ingester.process().id())?];
        let mut finalized = None;
        if self.arguments.add_finalizers {
            finalized = Some(until(&ingester, "ingester_finalizers_added_total", objects).await?.duration_since(start));
        }
        let mut baselines = vec![list.0 + by_hand];
        for _ in 1..rounds {
            ingester.stop()?;
            baselines.push(self.bare_list("gzip").await?.0 + self.by_hand().await?);
            self.server.create_database("live").await?;
            start = Instant::now();
            ingester.restart()?;
            fills.push(until(&ingester, WRITTEN, objects).await?.duration_since(start));
            times.push(cpu(ingester.process().id())?);
        }
        report.beside("first fill (list, rows by hand)", "s", median(&mut fills), median(&mut baselines));
        report.alone("  CPU time of the ingester", "s", median(&mut times).as_secs_f64());
        if let Some(finalized) = finalized {
            report.alone("  finalizers, from the start on", "s", finalized.as_secs_f64());
        }
        settled(&ingester).await?;
        report.memory(&ingester, "after the first fill")?;
        let stored = count(&self.url, &self.kind, 0).await?;
        ensure!(stored == objects as u64, "of {objects} objects {stored} are rows");
        Ok(ingester)
    }

    /// Starts it several times on a database that has all rows.
    async fn restarts(&self, ingester: &Ingester, report: &mut Report) -> Result<()> {
        let (mut restarts, mut lists) = (Vec::new(), Vec::new());
        let before = self.server.writing_statements().await?;
        for _ in 0..self.arguments.rounds {
            ingester.stop()?;
            lists.push(self.bare_list("gzip").await?.0);
            let start = Instant::now();
            ingester.restart()?;
            synced(ingester).await?;
            restarts.push(start.elapsed());
        }
        let after = self.server.writing_statements().await?;
        let written: u64 = after.iter().map(|(name, count)| count - before[name]).sum();
        report.beside("restart, nothing changed (list)", "s", median(&mut restarts), median(&mut lists));
        report.alone("  writing statements in these restarts", "", written as f64);
        report.memory(ingester, "after a restart")
    }

    /// The time from the API server's answer to the committed row.
    async fn latencies(&self, report: &mut Report) -> Result<()> {
        let (mut latencies, mut observed) = self.updates().await?;
        latencies.sort();
        let at = |percent: usize| latencies.get(latencies.len().saturating_sub(1) * percent / 100).copied();
        let mut reference = self.reference_commits().await?;
        let [p50, p90, p99] = [50, 90, 99].map(|percent| at(percent).unwrap_or_default());
        report.beside("an update to its row, p50 (reference)", "ms", p50, median(&mut reference));
        report.alone("  of which until a bare watch observes it", "ms", median(&mut observed).as_secs_f64() * 1e3);
        report.alone("  p90", "ms", p90.as_secs_f64() * 1e3);
        report.alone("  p99", "ms", p99.as_secs_f64() * 1e3);
        Ok(())
    }

    /// Updates objects one after the other, and polls the database until the row is there. Returns how long that took
    /// each time, and how long it took until a bare watch had observed the update.
    async fn updates(&self) -> Result<(Vec<Duration>, Vec<Duration>)> {
        let mut watch = self.bare_watch().await?;
        let mut connection = MySqlConnection::connect(&self.url).await?;
        let sql = format!("SELECT res_version FROM {} WHERE uid = ?", self.kind.table().name);
        let mut dice = Dice::new(13);
        let (mut latencies, mut observed) = (Vec::new(), Vec::new());
        let mut tick = tokio::time::interval(Duration::from_micros(1_000_000 / self.arguments.rate));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for number in 0..self.arguments.seconds * self.arguments.rate {
            tick.tick().await;
            let object = dice.below(self.arguments.objects as u64);
            let patch = json!({"status": {"errorMessage": format!("update {number}")}});
            let request = http::Request::patch(format!("{}/pipelinerun-{object:06}/status", self.path))
                .header("content-type", "application/merge-patch+json");
            let answer = self.client.request_text(request.body(patch.to_string().into_bytes())?).await?;
            let answered = Instant::now();
            let answer: Value = serde_json::from_str(&answer)?;
            let of = |field: &str| answer["metadata"][field].as_str().unwrap_or_default().to_owned();
            let (uid, version) = (of("uid"), of("resourceVersion").parse::<u64>()?);
            loop {
                let stored: u64 =
                    sqlx::query_scalar(sqlx::AssertSqlSafe(sql.as_str())).bind(&uid).fetch_one(&mut connection).await?;
                if stored >= version {
                    break;
                }
                ensure!(answered.elapsed() < DEADLINE, "the row of {uid} stays at {stored}");
                // Polling without a pause would take a core from the processes that write the row. The runtime's timers
                // are too coarse.
                std::thread::sleep(Duration::from_micros(100));
            }
            latencies.push(answered.elapsed());
            loop {
                let (event, at) = watch.recv().await.context("the bare watch has ended")?;
                if event == version {
                    // The event may arrive before the answer.
                    observed.push(at.saturating_duration_since(answered));
                    break;
                }
            }
        }
        Ok((latencies, observed))
    }

    /// Watches as the ingester does, but reads only the version of each event.
    async fn bare_watch(&self) -> Result<tokio::sync::mpsc::UnboundedReceiver<(u64, Instant)>> {
        let request = http::Request::get(format!("{}?limit=1", self.path)).body(Vec::new())?;
        let list: Value = serde_json::from_str(&self.client.request_text(request).await?)?;
        let from = list["metadata"]["resourceVersion"].as_str().context("a list's version")?;
        let request = http::Request::get(format!("{}?watch=1&resourceVersion={from}", self.path)).body(Vec::new())?;
        let mut lines = self.client.request_stream(request).await?.lines();
        let (observed, watch) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(line)) = lines.next().await {
                let at = Instant::now();
                let event: Value = serde_json::from_str(&line).unwrap_or_default();
                let version =
                    event["object"]["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
                if version.is_none_or(|version| observed.send((version, at)).is_err()) {
                    break;
                }
            }
        });
        Ok(watch)
    }

    /// How long the reference's statements take for one update of the same tables, with nothing else running and no
    /// watch before them.
    async fn reference_commits(&self) -> Result<Vec<Duration>> {
        let reference = Reference::<MySqlDatabase>::connect(&self.url, self.kind.table(), 1).await?;
        let (mut took, mut dice) = (Vec::new(), Dice::new(17));
        for number in 0..200 {
            let path =
                format!("{}/{}", self.path, name(&self.kind, dice.below(self.arguments.objects as u64) as usize));
            let text = self.client.request_text(http::Request::get(path).body(Vec::new())?).await?;
            let mut object: Value = serde_json::from_str(&text)?;
            object["status"]["errorMessage"] = json!(format!("update {number} of the reference"));
            let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
            let row = self.kind.row(&object)?.context("a kind without a predicate")?;
            let rows: [Rows; 1] = [Arc::new([Vec::new(), vec![row], Vec::new(), Vec::new()])];
            let start = Instant::now();
            reference.write(&rows, Phase::Update).await?;
            took.push(start.elapsed());
        }
        Ok(took)
    }
}

/// The kind of all objects.
pub(crate) fn kind() -> Result<Kind> {
    find(KINDS, "michelangelo.api/v2", "PipelineRun").copied().context("no PipelineRun among the kinds")
}

fn name(kind: &Kind, place: usize) -> String {
    format!("{}-{place:06}", kind.kind().to_lowercase())
}

/// The object of this number. One at a time: a hundred thousand parsed objects take gigabytes.
pub(crate) fn object(dice: &mut Dice, kind: &Kind, place: usize) -> Result<Value> {
    let mut object = objects::values(dice, kind.kind(), 1).pop().context("no object")?;
    object["metadata"]["name"] = json!(name(kind, place));
    object["metadata"]["namespace"] = json!(NAMESPACE);
    object["metadata"]["generation"] = json!(1);
    Ok(object)
}

pub(crate) fn configuration(url: &str, kind: &Kind) -> String {
    format!(
        "metadataStorage: {{enableMetadataStorage: true, databaseURL: '{url}'}}\ningester: {{kinds: [{}]}}\n",
        kind.kind()
    )
}

/// Reads all objects page by page, and parses only the token of the next page. Returns the time and the bytes.
pub(crate) async fn bare_list(client: &Client, path: &str, encoding: &str) -> Result<(Duration, usize)> {
    let start = Instant::now();
    let (mut bytes, mut next) = (0, String::new());
    loop {
        let request =
            http::Request::get(format!("{path}?limit=500&continue={next}")).header("accept-encoding", encoding);
        let text = client.request_text(request.body(Vec::new())?).await.context("listing objects")?;
        bytes += text.len();
        // In the list's own metadata; no object has such a member.
        next = match text.rsplit_once("\"continue\":\"") {
            Some((_, rest)) if !rest.starts_with('"') => rest.split('"').next().unwrap_or_default().to_owned(),
            _ => return Ok((start.elapsed(), bytes)),
        };
    }
}

/// How long hand-written statements without semantics take on two connections, for the rows of this many objects, and
/// then for updates of some of them.
pub(crate) async fn by_hand(server: &SqlServer, kind: &Kind, objects: usize, updates: usize) -> Result<[Duration; 2]> {
    const BATCH: usize = 200;
    let url = crate::store::url(server, "by_hand").await?;
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    store.create_missing(std::slice::from_ref(kind)).await?;
    let handmade = Handmade::<MySqlDatabase>::connect(&url, kind.table(), 2).await?;
    let rows = rows(kind, objects, updates)?;
    let start = Instant::now();
    handmade.write(&rows, Phase::Insert, BATCH).await?;
    let inserted = start.elapsed();
    handmade.write(&rows, Phase::Update, BATCH).await?;
    Ok([inserted, start.elapsed() - inserted])
}

/// Rows of new objects and of updates of the first ones, in uid order, for two connections.
fn rows(kind: &Kind, objects: usize, updates: usize) -> Result<Vec<Rows>> {
    let row = |object: &Value| -> Result<Row> {
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        kind.row(&object)?.context("a kind without a predicate")
    };
    let mut dice = Dice::new(5);
    let mut rows = Vec::new();
    for place in 0..objects {
        let object = object(&mut dice, kind, place)?;
        let update = (place < updates).then(|| row(&updated(&mut dice, &object))).transpose()?;
        rows.push((row(&object)?, update));
    }
    rows.sort_by(|(a, _), (b, _)| a.uid.cmp(&b.uid));
    let second = rows.split_off(rows.len() / 2);
    let halves = [rows, second].map(|half| {
        let (new, updates): (Vec<Row>, Vec<Option<Row>>) = half.into_iter().unzip();
        Arc::new([new, updates.into_iter().flatten().collect(), Vec::new(), Vec::new()])
    });
    Ok(halves.into())
}

/// Waits until a counter has reached a value.
pub(crate) async fn until(ingester: &Ingester, metric: &str, goal: usize) -> Result<Instant> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let value = ingester.metrics().map(|text| sum(&text, metric)).unwrap_or_default();
        if value >= goal as f64 {
            return Ok(Instant::now());
        }
        ensure!(Instant::now() < deadline, "{metric} stays at {value}: {}", ingester.logs()?);
        // Scraping costs the measured process time, too.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the first list is in SQL.
pub(crate) async fn synced(ingester: &Ingester) -> Result<()> {
    let deadline = Instant::now() + DEADLINE;
    while ingester.metrics().map_or(0.0, |text| sum(&text, "ingester_synced")) < 1.0 {
        ensure!(Instant::now() < deadline, "it does not become synced: {}", ingester.logs()?);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Waits until nothing has been written for two seconds.
pub(crate) async fn settled(ingester: &Ingester) -> Result<()> {
    let mut last = -1.0;
    loop {
        let text = ingester.metrics()?;
        let now = sum(&text, "ingester_objects_mirrored_total") + sum(&text, "workqueue_depth");
        if (now - last).abs() < 0.5 {
            return Ok(());
        }
        last = now;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

/// The number of live rows with a later version.
pub(crate) async fn count(url: &str, kind: &Kind, version: u64) -> Result<u64> {
    let mut connection = MySqlConnection::connect(url).await?;
    let table = &kind.table().name;
    let sql = format!("SELECT COUNT(*) FROM {table} WHERE delete_time IS NULL AND res_version > ?");
    let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(version).fetch_one(&mut connection).await?;
    Ok(count.unsigned_abs())
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The run whose time is the median.
pub(crate) async fn median_of<T: Copy>(
    times: usize,
    mut run: impl AsyncFnMut() -> Result<(Duration, T)>,
) -> Result<(Duration, T)> {
    let mut took = Vec::new();
    for _ in 0..times {
        took.push(run().await?);
    }
    took.sort_by_key(|took| took.0);
    Ok(took[times / 2])
}

/// The sum of a metric's series.
fn sum(text: &str, metric: &str) -> f64 {
    let series = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(metric)?;
        if !rest.starts_with([' ', '{']) {
            return None;
        }
        rest.rsplit(' ').next()?.parse::<f64>().ok()
    });
    series.sum()
}

/// The CPU time of a process.
pub(crate) fn cpu(process: Option<u32>) -> Result<Duration> {
    let id = process.context("a process does not run")?;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).context("reading a process's times")?;
    // The 12th and 13th field after the program's name: hundredths of a second in user and kernel mode.
    let (_, fields) = stat.rsplit_once(") ").context("a process's times")?;
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// The results, for one table at the end.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<[String; 4]>,
    /// Memory in MB, and when it was measured.
    resident: Vec<(String, f64)>,
    most: f64,
}

impl Report {
    pub(crate) fn alone(&mut self, what: &str, unit: &str, figure: f64) {
        self.rows.push([what.to_owned(), number(figure, unit), String::new(), String::new()]);
    }

    /// A time beside the baseline's, in seconds or milliseconds.
    pub(crate) fn beside(&mut self, what: &str, unit: &str, figure: Duration, baseline: Duration) {
        let [figure, baseline] =
            [figure, baseline].map(|time| time.as_secs_f64() * if unit == "ms" { 1e3 } else { 1.0 });
        let ratio = format!("{:.2}x", figure / baseline);
        self.rows.push([what.to_owned(), number(figure, unit), number(baseline, unit), ratio]);
    }

    /// Records the memory of the process, and its peak.
    pub(crate) fn memory(&mut self, ingester: &Ingester, when: &str) -> Result<()> {
        let id = ingester.process().id().context("the ingester does not run")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).context("reading a process's memory")?;
        let megabytes = |field: &str| -> Result<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(field));
            let kilobytes: f64 = line.context("a process's memory")?.trim().trim_end_matches("kB").trim().parse()?;
            Ok(kilobytes / 1024.0)
        };
        let (resident, most) = (megabytes("VmRSS:")?, megabytes("VmHWM:")?);
        println!("  memory {when}: {resident:.0} MB resident, {most:.0} MB at most");
        self.resident.retain(|(before, _)| before != when);
        self.resident.push((when.to_owned(), resident));
        self.most = self.most.max(most);
        Ok(())
    }

    pub(crate) fn print(&self) {
        println!("{:<40} {:>11} {:>11} {:>7}", "what", "figure", "baseline", "ratio");
        for [what, figure, baseline, ratio] in &self.rows {
            println!("{}", format!("{what:<40} {figure:>11} {baseline:>11} {ratio:>7}").trim_end());
        }
        let resident: Vec<String> =
            self.resident.iter().map(|(when, resident)| format!("{resident:.0} MB {when}")).collect();
        println!("memory of the ingester: {}; at most {:.0} MB", resident.join(", "), self.most);
    }
}

fn number(value: f64, unit: &str) -> String {
    let digits = if value >= 100.0 || value.fract() == 0.0 { 0 } else { 2 };
    format!("{value:.digits$} {unit}").trim_end().to_owned()
}
