//! The mirror with a source that costs almost nothing: the first fill, a burst of updates, a restart.
//!
//! A kube-apiserver spends more time on an object than everything after it. The source is this same program in a separate process,
//! so that its CPU time is not counted as the ingester's.

mod leases;
pub(crate) mod members;
mod source;

pub(crate) use source::serve;

use crate::bare::{self, ReadCost, ReadMethod, Watch};
use crate::by_hand::{ByHand, Order};
use crate::databases::DatabaseChoice;
use crate::live::{self, AS_INGESTER, NAMESPACE};
use crate::progress::{WRITTEN, count, cpu, prepared, settled, synced, until, writes};
use crate::reference::Engine;
use crate::report::{Report, median};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_tests::{Ingester, SqlServer};
use kube::{Client, Config};
use serde_json::json;
use source::Parameters;
use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that makes a process the source; its value are the source's parameters.
pub(crate) const AS_SOURCE: &str = "INGESTER_BENCH_AS_SOURCE";

#[derive(Args)]
pub(crate) struct Synthetic {
    /// Which database; not SQLite.
    #[arg(long, value_enum, default_value = "mariadb")]
    database: DatabaseChoice,
    /// Objects in the source. With several numbers, such as `100000,1000000`, each is measured, and the memory of an object between
    /// the first and the last one.
    #[arg(long, default_value = "20000", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    objects: Vec<u32>,
    /// Bytes of JSON of an object, about; 4.9 KB by default.
    #[arg(long)]
    bytes: Option<usize>,
    /// Megabytes that the source sends in a second for each request, at most.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    speed: Option<u64>,
    /// Updates in a burst, each of another object.
    #[arg(long, default_value_t = 20_000)]
    events: usize,
    /// Rows by hand, at most; the time of more of them is calculated.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    by_hand: u32,
    /// Leaves the rows by hand out.
    #[arg(long)]
    without_by_hand: bool,
    /// Rounds, each with a database and an ingester of its own.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Prints the ingester's log after each round.
    #[arg(long)]
    log: bool,
    /// InnoDB's buffer pool, or PostgreSQL's shared buffers, such as `2G`; the server's default without it.
    #[arg(long)]
    pool: Option<String>,
}

pub(crate) fn run(arguments: &Synthetic) -> Result<()> {
    arguments.database.with_server(arguments.pool.as_deref(), async |server| {
        let mut measured = Vec::new();
        for objects in &arguments.objects {
            let objects = *objects as usize;
            let memory = match arguments.database {
                DatabaseChoice::Postgres => with_objects::<sqlx::Postgres>(server, arguments, objects).await?,
                _ => with_objects::<sqlx::MySql>(server, arguments, objects).await?,
            };
            measured.push((objects, memory));
        }
        if let [(few, before), .., (many, after)] = &measured[..] {
            for (place, when) in ["after the first fill", "after a restart"].into_iter().enumerate() {
                let bytes = (after[place] - before[place]) * f64::from(1 << 20) / (*many as f64 - *few as f64);
                println!("memory of an object between {few} and {many}, {when}: {bytes:.0} bytes");
            }
        }
        Ok(())
    })
}

/// The times of the rounds.
#[derive(Default)]
struct Times {
    streams: Vec<Duration>,
    metadata: Vec<Duration>,
    watches: Vec<Duration>,
    inserts: Vec<Duration>,
    updates: Vec<Duration>,
    fills: Vec<Duration>,
    /// Until the ingester began to list.
    prepared: Vec<Duration>,
    fill_cpu: [Vec<Duration>; 2],
    bursts: Vec<Duration>,
    burst_cpu: [Vec<Duration>; 2],
    restarts: Vec<Duration>,
    /// [`writes`] in the restarts.
    written: u64,
    /// Memory in MB after the first fill, and after a restart.
    resident: [Vec<f64>; 2],
}

/// Measures a source with this many objects. Returns the memory in MB after the first fill and after a restart.
async fn with_objects<D: Engine>(server: &SqlServer, arguments: &Synthetic, objects: usize) -> Result<[f64; 2]> {
    let kind = live::kind()?;
    let events = arguments.events.min(objects);
    let speed = arguments.speed.map(|megabytes| megabytes * 1_000_000);
    let mut source = SourceProcess::start(&kind, Parameters { objects, bytes: arguments.bytes, speed, shards: false })?;
    let folder = tempfile::tempdir().context("making a folder for the kubeconfig")?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, source.kubeconfig()).context("writing the kubeconfig")?;
    let part = objects.min(arguments.by_hand as usize);
    let mut by_hand = match arguments.without_by_hand {
        true => None,
        false => Some(ByHand::<D>::prepare(server, &[kind], part, arguments.bytes)?),
    };

    let mut report = Report::default();
    let mut times = Times::default();
    let mut bytes = 0;
    for round in 0..usize::from(arguments.rounds) {
        let stream = source.read(ReadMethod::Stream).await?;
        bytes = stream.bytes;
        times.streams.push(stream.took);
        times.watches.push(source.bare_watch(events).await?);
        if let Some(by_hand) = &mut by_hand {
            times.inserts.push(by_hand.insert(Order::Listed).await?.mul_f64(objects as f64 / part as f64));
            if events > 0 {
                let updates = events.min(part);
                let took = by_hand.update(updates, round).await?;
                times.updates.push(took.mul_f64(events as f64 / updates as f64));
            }
        }
        one_round(server, arguments, &kind, &mut source, &kubeconfig, &mut times, &mut report).await?;
    }
    let pool = arguments.pool.as_deref().unwrap_or("default");
    println!(
        "{objects} objects, bursts of {events} updates, {:?} with pool {pool}, medians of {} rounds",
        arguments.database, arguments.rounds
    );
    report.alone("JSON of an object", "KB", bytes as f64 / objects as f64 / 1000.0);
    times.print(&mut report, [objects, events, part]);
    report.print();
    Ok(times.resident.map(|mut resident| {
        resident.sort_by(f64::total_cmp);
        resident[resident.len() / 2]
    }))
}

/// One ingester: the first fill, a burst, a restart.
async fn one_round(
    server: &SqlServer,
    arguments: &Synthetic,
    kind: &Kind,
    source: &mut SourceProcess,
    kubeconfig: &Path,
    times: &mut Times,
    report: &mut Report,
) -> Result<()> {
    let objects = source.objects;
    let events = arguments.events.min(objects);
    let url = crate::databases::url(server, "synthetic").await?;
    let program = std::env::current_exe()?;
    let config = live::configuration(&url, std::slice::from_ref(kind));
    let source_before = cpu(Some(source.process.id()))?;
    let start = Instant::now();
    let time = Micros::now();
    let ingester = Ingester::start(&program, &config, kubeconfig, &[(AS_INGESTER, "1")])?;
    times.fills.push(until(&ingester, WRITTEN, objects).await?.duration_since(start));
    let before = [cpu(ingester.process().id())?, cpu(Some(source.process.id()))?];
    times.prepared.push(prepared(&ingester, time)?);
    times.fill_cpu[0].push(before[0]);
    times.fill_cpu[1].push(before[1].saturating_sub(source_before));
    synced(&ingester, 1).await?;
    times.resident[0].push(report.memory(&ingester, "after the first fill")?);

    if events > 0 {
        let version = source.version();
        let start = Instant::now();
        source.burst(events).await?;
        times.bursts.push(until(&ingester, WRITTEN, objects + events).await?.duration_since(start));
        let after = [cpu(ingester.process().id())?, cpu(Some(source.process.id()))?];
        for (times, (after, before)) in times.burst_cpu.iter_mut().zip(after.into_iter().zip(before)) {
            times.push(after.saturating_sub(before));
        }
        let newest = count(&url, kind, version).await?;
        ensure!(newest == events as u64, "of {events} updates {newest} are in the rows");
        report.memory(&ingester, "after the burst")?;
    }

    settled(&ingester).await?;
    ingester.stop()?;
    times.metadata.push(source.read(ReadMethod::Metadata).await?.took);
    let before = writes(server).await?;
    let start = Instant::now();
    ingester.restart()?;
    times.restarts.push(synced(&ingester, 1).await?.duration_since(start));
    times.written += writes(server).await? - before;
    times.resident[1].push(report.memory(&ingester, "after a restart")?);
    ingester.stop()?;
    if arguments.log {
        println!("{}", ingester.logs()?);
    }
    Ok(())
}

impl Times {
    fn print(&self, report: &mut Report, [objects, events, part]: [usize; 3]) {
        let per_second = |count: usize, times: &[Duration]| count as f64 / median(times).as_secs_f64();
        let longer = |a: &[Duration], b: &[Duration]| -> Vec<Duration> {
            (0..a.len().max(b.len()))
                .filter_map(|round| a.get(round).into_iter().chain(b.get(round)).max().copied())
                .collect()
        };
        report.seconds("bare streamed list", &self.streams);
        report.seconds("bare metadata stream", &self.metadata);
        report.seconds("bare watch of the burst", &self.watches);
        if !self.inserts.is_empty() {
            let which = if part < objects { format!("rows by hand (from {part})") } else { "rows by hand".to_owned() };
            report.seconds(&which, &self.inserts);
        }
        let baseline = longer(&self.streams, &self.inserts);
        report.beside("first fill (the longer of stream and rows by hand)", "s", &self.fills, &baseline);
        let listing: Vec<Duration> =
            self.fills.iter().zip(&self.prepared).map(|(fill, before)| fill.saturating_sub(*before)).collect();
        report.seconds("  until it lists: start, making tables", &self.prepared);
        report.beside("  from then on, beside the longer", "s", &listing, &baseline);
        report.alone("  rows", "/s", per_second(objects, &listing));
        let an_object = median(&self.fill_cpu[0]).as_secs_f64() * 1e6 / objects as f64;
        report.alone("  CPU time of the ingester, an object", "µs", an_object);
        report.seconds("  CPU time of the source", &self.fill_cpu[1]);
        if events > 0 {
            let baseline = longer(&self.watches, &self.updates);
            report.beside("burst of updates (the longer of watch and by hand)", "s", &self.bursts, &baseline);
            report.alone("  rows", "/s", per_second(events, &self.bursts));
            if !self.updates.is_empty() {
                report.alone("  rows by hand", "/s", per_second(events, &self.updates));
            }
            let an_update = median(&self.burst_cpu[0]).as_secs_f64() * 1e6 / events as f64;
            report.alone("  CPU time of the ingester, an update", "µs", an_update);
            report.seconds("  CPU time of the source", &self.burst_cpu[1]);
        }
        report.beside("restart, nothing changed (bare metadata stream)", "s", &self.restarts, &self.metadata);
        report.alone("  writes in these restarts", "", self.written as f64);
    }
}

/// The process of the source, and the number of updates that it was asked for.
pub(crate) struct SourceProcess {
    process: Child,
    client: Client,
    url: String,
    path: String,
    objects: usize,
    sent: usize,
}

impl SourceProcess {
    fn start(kind: &Kind, parameters: Parameters) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(AS_SOURCE, parameters.to_text()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("starting the source")?;
        let mut port = String::new();
        BufReader::new(process.stdout.take().context("the source's output")?).read_line(&mut port)?;
        ensure!(!port.is_empty(), "the source ended before it listened");
        let url = format!("http://{}:{}", Ipv4Addr::LOCALHOST, port.trim());
        let client = Client::try_from(Config::new(url.parse().context("the source's address")?))?;
        let path = format!("/apis/{}/namespaces/{NAMESPACE}/{}", kind.api_version(), kind.plural());
        Ok(SourceProcess { process, client, url, path, objects: parameters.objects, sent: 0 })
    }

    fn kubeconfig(&self) -> String {
        // JSON is YAML.
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "source", "cluster": {"server": self.url}}],
            "users": [{"name": "source", "user": {}}],
            "contexts": [{"name": "source", "context": {"cluster": "source", "user": "source"}}],
            "current-context": "source",
        });
        kubeconfig.to_string()
    }

    async fn read(&self, how: ReadMethod) -> Result<ReadCost> {
        bare::read(&self.client, std::slice::from_ref(&self.path), how).await
    }

    /// Its current version.
    fn version(&self) -> u64 {
        (self.objects + self.sent) as u64
    }

    /// Makes it send updates of the next objects in turn.
    async fn burst(&mut self, events: usize) -> Result<()> {
        let request = http::Request::post(format!("/burst?events={events}")).body(Vec::new())?;
        self.client.request_text(request).await.context("asking the source for updates")?;
        self.sent += events;
        Ok(())
    }

    /// How long it takes to read a burst and only find its line ends.
    async fn bare_watch(&mut self, events: usize) -> Result<Duration> {
        let mut watch = Watch::open(&self.client, &self.path, self.version()).await?;
        let start = Instant::now();
        self.burst(events).await?;
        watch.read(events).await?;
        Ok(start.elapsed())
    }
}

impl Drop for SourceProcess {
    fn drop(&mut self) {
        // It also ends when its input does.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
