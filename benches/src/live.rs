//! The mirror with a real API server: the first fill, a restart, memory, the time from an update to its row, and a burst of updates.
//!
//! The ingester is this same program in a separate process, so that its memory can be measured. In each round baseline and ingester
//! take turns; while a baseline is measured, no ingester runs.

mod burst;
mod updates;

use crate::bare::{self, ReadCost, ReadMethod};
use crate::by_hand::{ByHand, Order};
use crate::databases::DatabaseChoice;
use crate::etcd;
use crate::objects::{self, Dice};
use crate::progress::{DEADLINE, WRITTEN, count, cpu, prepared, settled, synced, until, writes};
use crate::reference::Engine;
use crate::report::{Report, median};
use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::value::Micros;
use ingester_tests::{ApiServer, Ingester, SqlServer};
use kube::Client;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The variable that makes a process the ingester.
pub(crate) const AS_INGESTER: &str = "INGESTER_BENCH_AS_INGESTER";

#[derive(Args)]
pub(crate) struct Live {
    /// Which database; not SQLite.
    #[arg(long, value_enum, default_value = "mariadb")]
    database: DatabaseChoice,
    /// Which API server: a modern one streams lists, the classic one is a kube-apiserver 1.20.
    #[arg(long, value_enum, default_value = "modern")]
    edition: Edition,
    /// Objects of each kind in the cluster. By default 20,000; 2,000 if there are several kinds; 300 large ones.
    #[arg(long)]
    objects: Option<usize>,
    /// Kinds, of which pipeline runs are the first. With several, only fills and restarts are measured.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=KINDS.len() as i64))]
    kinds: u16,
    /// Bytes of JSON of a pipeline run, about; 4.9 KB by default.
    #[arg(long, conflicts_with = "large")]
    bytes: Option<usize>,
    /// Objects of 0.9 MB. Only fills and restarts are measured.
    #[arg(long, conflicts_with = "kinds")]
    large: bool,
    /// How often fills, restarts, bursts and their baselines are measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Seconds of steady updates; none with 0.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Updates a second.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
    /// Updates in a burst, each of another object; none with 0.
    #[arg(long, default_value_t = 20_000)]
    burst: usize,
    /// Creates objects without the ingester's finalizer, and measures how long it takes until all have it.
    #[arg(long)]
    add_finalizers: bool,
    /// Switches the log of changes on.
    #[arg(long)]
    changes: bool,
    /// Reaches the database over TCP instead of its Unix socket.
    #[arg(long)]
    tcp: bool,
    /// Prints the ingester's log at the end.
    #[arg(long)]
    log: bool,
    /// Records with perf where the ingester spends its CPU time in the first fill of the first round, into this file. The round is
    /// slower then.
    #[arg(long)]
    flame: Option<PathBuf>,
    /// InnoDB's buffer pool, or PostgreSQL's shared buffers, such as `2G`; the server's default without it.
    #[arg(long)]
    pool: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Edition {
    Classic,
    Modern,
}

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";
/// JSON of a large object; etcd takes 1.5 MB with its managed fields.
const LARGE: usize = 900_000;

pub(crate) fn run(arguments: &Live) -> Result<()> {
    arguments.database.with_server(arguments.pool.as_deref(), async |server| match arguments.database {
        DatabaseChoice::Postgres => on::<sqlx::Postgres>(server, arguments).await,
        _ => on::<sqlx::MySql>(server, arguments).await,
    })
}

impl Live {
    fn objects(&self) -> usize {
        let default = match (self.large, self.kinds) {
            (true, _) => 300,
            (false, 1) => 20_000,
            _ => 2_000,
        };
        self.objects.unwrap_or(default)
    }

    fn bytes(&self) -> Option<usize> {
        if self.large { Some(LARGE) } else { self.bytes }
    }

    fn kinds(&self) -> Result<Vec<Kind>> {
        let first = kind()?;
        let others = KINDS.iter().copied().filter(|other| other.kind() != first.kind());
        Ok(std::iter::once(first).chain(others).take(self.kinds.into()).collect())
    }

    fn start(&self) -> Result<ApiServer> {
        match self.edition {
            Edition::Classic => ApiServer::start(),
            Edition::Modern => {
                // It has no priority and fairness, which would queue requests beyond these limits. Objects are where kube-apiserver
                // has them in etcd.
                let flags =
                    ["--max-requests-inflight=0", "--max-mutating-requests-inflight=0", "--etcd-prefix=/registry"];
                ApiServer::start_modern(&flags)?.context(
                    "the modern API server is not installed: install it with `bash tests/install.sh`, or measure with --edition classic",
                )
            }
        }
    }
}

/// One measurement: the servers and the arguments.
struct Bench<'a> {
    /// The kinds. The first is [`kind`].
    kinds: Vec<Kind>,
    arguments: &'a Live,
    /// Objects of each kind.
    objects: usize,
    server: &'a SqlServer,
    cluster: ApiServer,
    client: Client,
    /// Where the API server lists each kind.
    paths: Vec<String>,
    url: String,
}

async fn on<D: Engine>(server: &SqlServer, arguments: &Live) -> Result<()> {
    let kinds = arguments.kinds()?;
    let cluster = arguments.start()?;
    let client = cluster.client().await?;
    let crds: Vec<_> = kinds.iter().map(|kind| kind.crd().context("a CRD")).collect::<Result<_>>()?;
    ingester_tests::install(&client, &crds).await?;
    let path = |kind: &Kind| format!("/apis/{}/namespaces/{NAMESPACE}/{}", kind.api_version(), kind.plural());
    let paths = kinds.iter().map(path).collect();
    let url = if arguments.tcp {
        server.create_database("live").await?
    } else {
        crate::databases::url(server, "live").await?
    };
    let objects = arguments.objects();
    let bench = Bench { kinds, arguments, objects, server, cluster, client, paths, url };
    for (kind, path) in bench.kinds.iter().zip(&bench.paths) {
        bench.seed(kind, path).await?;
    }

    let mut report = Report::default();
    let mut by_hand = ByHand::<D>::prepare(server, &bench.kinds, objects, arguments.bytes())?;
    let ingester = bench.rounds(&mut by_hand, &mut report).await?;
    if arguments.kinds == 1 && !arguments.large {
        if arguments.seconds > 0 {
            bench.latencies::<D>(&ingester, &mut report).await?;
            report.memory(&ingester, "after the updates")?;
        }
        if arguments.burst > 0 {
            bench.bursts(&ingester, &by_hand, &mut report).await?;
        }
    }
    ingester.stop()?;
    if arguments.log {
        println!("{}", ingester.logs()?);
    }
    println!(
        "{objects} objects of each of {} kinds, {:?} API server, {:?} with pool {}, log of changes {}, medians of {} rounds",
        arguments.kinds,
        arguments.edition,
        arguments.database,
        arguments.pool.as_deref().unwrap_or("default"),
        if arguments.changes { "on" } else { "off" },
        arguments.rounds
    );
    report.print();
    Ok(())
}

/// The times of the rounds.
#[derive(Default)]
struct Rounds {
    reads: Vec<Duration>,
    by_hand: Vec<Duration>,
    /// The longer of the list and of rows by hand in the order of their uids.
    sorted: Vec<Duration>,
    /// The longer of the two.
    longer: Vec<Duration>,
    sums: Vec<Duration>,
    fills: Vec<Duration>,
    /// Until the ingester began to list.
    fills_prepared: Vec<Duration>,
    /// CPU time of the ingester, the database, the API server and etcd in the first fills.
    fill_cpu: [Vec<Duration>; 4],
    /// How long it takes to read everything that a restart has to read.
    known: Vec<Duration>,
    restarts: Vec<Duration>,
    restarts_prepared: Vec<Duration>,
    restart_cpu: Vec<Duration>,
    /// [`writes`] in the restarts.
    written: u64,
}

impl Bench<'_> {
    fn modern(&self) -> bool {
        self.arguments.edition == Edition::Modern
    }

    /// Writes objects of a kind into the cluster, and waits until the API server has all of them.
    async fn seed(&self, kind: &Kind, path: &str) -> Result<()> {
        let objects = self.objects;
        let start = Instant::now();
        let address = self.cluster.etcd_url();
        let finalized = !self.arguments.add_finalizers;
        let seeds = seeds(kind, objects, self.arguments.bytes());
        let revision = etcd::write(&address, etcd::transactions(kind, finalized, seeds)).await?;
        let written = start.elapsed();
        // The watch cache follows etcd: a request for an object not older than the last write is answered once the cache has it, or
        // refused after three seconds.
        let last = format!("{path}/{}?resourceVersion={revision}", name(kind, objects.saturating_sub(1)));
        loop {
            match self.client.request_text(http::Request::get(&last).body(Vec::new())?).await {
                Ok(_) => break,
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 504) && start.elapsed() < DEADLINE => {}
                Err(error) => return Err(error).context("waiting until the API server has the objects"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // Later transactions may have been answered earlier, so some objects may still be on their way.
        let listed = loop {
            let request = http::Request::get(format!("{path}?limit=1")).body(Vec::new())?;
            let list: Value =
                serde_json::from_str(&self.client.request_text(request).await.context("listing one object")?)?;
            let first = list["items"].as_array().map_or(0, Vec::len) as u64;
            let listed = first + list["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
            if listed >= objects as u64 || start.elapsed() > DEADLINE {
                break listed;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        ensure!(listed == objects as u64, "of {objects} objects written into etcd the API server lists {listed}");
        let written = written.as_secs_f64();
        let arrived = start.elapsed().as_secs_f64();
        let kind = kind.kind();
        println!("{objects} {kind} in etcd after {written:.1} s, in the API server's memory after {arrived:.1} s");
        Ok(())
    }

    async fn read(&self, how: ReadMethod) -> Result<ReadCost> {
        let read = bare::read(&self.client, &self.paths, how).await?;
        println!("  {how:?}: {:.2} s, {:.1} MB", read.took.as_secs_f64(), read.bytes as f64 / 1e6);
        Ok(read)
    }

    /// CPU times of everything but the ingester.
    fn servers(&self) -> Result<[Duration; 3]> {
        let database = self.server.process().context("the database is not ours")?;
        Ok([cpu(database.id())?, cpu(self.cluster.process().id())?, cpu(self.cluster.etcd().id())?])
    }

    /// Fills an empty database and restarts on the full one, several times. Returns the ingester after the last restart.
    async fn rounds<D: Engine>(&self, by_hand: &mut ByHand<'_, D>, report: &mut Report) -> Result<Ingester> {
        let total = self.objects * self.kinds.len();
        let (whole, known) = match self.arguments.edition {
            Edition::Classic => (ReadMethod::Paged("gzip"), ReadMethod::Paged("gzip")),
            Edition::Modern => (ReadMethod::Stream, ReadMethod::Metadata),
        };
        let plain = self.read(ReadMethod::Paged("identity")).await?;
        let paged = if self.modern() { Some(self.read(ReadMethod::Paged("gzip")).await?) } else { None };

        let mut times = Rounds::default();
        let mut running: Option<Ingester> = None;
        for round in 0..self.arguments.rounds {
            if let Some(ingester) = &running {
                ingester.stop()?;
            }
            let read = self.read(whole).await?.took;
            let [sorted, inserted] = match round % 2 {
                0 => [by_hand.insert(Order::Uid).await?, by_hand.insert(Order::Listed).await?],
                _ => {
                    let inserted = by_hand.insert(Order::Listed).await?;
                    [by_hand.insert(Order::Uid).await?, inserted]
                }
            };
            times.sorted.push(read.max(sorted));
            times.reads.push(read);
            times.by_hand.push(inserted);
            times.longer.push(read.max(inserted));
            times.sums.push(read + inserted);

            self.server.create_database("live").await?;
            let before = self.servers()?;
            let start = Instant::now();
            let time = Micros::now();
            let ingester = match running.take() {
                Some(ingester) => {
                    ingester.restart()?;
                    ingester
                }
                None => self.start()?,
            };
            let perf =
                self.arguments.flame.as_deref().filter(|_| round == 0).map(|file| perf(&ingester, file)).transpose()?;
            times.fills.push(until(&ingester, WRITTEN, total).await?.duration_since(start));
            let [database, apiserver, etcd] = self.servers()?;
            let spent = [cpu(ingester.process().id())?, database - before[0], apiserver - before[1], etcd - before[2]];
            times.fills_prepared.push(prepared(&ingester, time)?);
            times.fill_cpu.iter_mut().zip(spent).for_each(|(times, time)| times.push(time));
            if round == 0 && self.arguments.add_finalizers {
                let finalized = until(&ingester, "ingester_finalizers_added_total", total).await?;
                report.alone("finalizers, from the start on", "s", finalized.duration_since(start).as_secs_f64());
            }
            synced(&ingester, self.kinds.len()).await?;
            settled(&ingester).await?;
            report.memory(&ingester, "after the first fill")?;
            for kind in &self.kinds {
                let stored = count(&self.url, kind, 0).await?;
                ensure!(stored == self.objects as u64, "of {} {} {stored} are rows", self.objects, kind.kind());
            }

            ingester.stop()?;
            if let Some(mut perf) = perf {
                let status = perf.wait().context("waiting for perf")?;
                ensure!(status.success(), "perf failed: {status}");
            }
            times.known.push(self.read(known).await?.took);
            let before = writes(self.server).await?;
            let start = Instant::now();
            let time = Micros::now();
            ingester.restart()?;
            times.restarts.push(synced(&ingester, self.kinds.len()).await?.duration_since(start));
            times.restarts_prepared.push(prepared(&ingester, time)?);
            times.restart_cpu.push(cpu(ingester.process().id())?);
            times.written += writes(self.server).await? - before;
            report.memory(&ingester, "after a restart")?;
            running = Some(ingester);
        }
        report.alone("JSON of an object", "KB", plain.bytes as f64 / total as f64 / 1000.0);
        report.alone("bare paged list, not compressed", "s", plain.took.as_secs_f64());
        if let Some(paged) = paged {
            report.alone("bare paged list, compressed", "s", paged.took.as_secs_f64());
        }
        times.print(report, total, self.modern());
        running.context("no round")
    }

    fn start(&self) -> Result<Ingester> {
        let program = std::env::current_exe()?;
        let mut config = configuration(&self.url, &self.kinds);
        if self.arguments.changes {
            config.push_str("changes: {enabled: true}\n");
        }
        Ingester::start(&program, &config, &self.cluster.kubeconfig(), &[(AS_INGESTER, "1")])
    }
}

/// Records the stacks of a process until it ends.
fn perf(ingester: &Ingester, file: &Path) -> Result<Child> {
    let id = ingester.process().id().context("the ingester does not run")?.to_string();
    // By the unwind tables, which every build has: frame pointers would take a build of everything.
    let mut perf = Command::new("perf");
    perf.args([
        "record",
        "--quiet",
        "--freq",
        "499",
        "--call-graph",
        "dwarf,32768",
        "--mmap-pages",
        "16M",
        "--pid",
        &id,
        "--output",
    ])
    .arg(file);
    perf.spawn().context("starting perf (on Debian: apt-get install linux-perf)")
}

impl Rounds {
    fn print(&self, report: &mut Report, objects: usize, modern: bool) {
        let [whole, known] = if modern {
            ["bare streamed list", "bare metadata stream"]
        } else {
            ["bare paged list, compressed", "bare paged list"]
        };
        report.seconds(whole, &self.reads);
        report.seconds("rows by hand, as they are listed", &self.by_hand);
        report.seconds("rows by hand, by uid", &self.sorted);
        report.beside("first fill (the longer of list and rows by hand)", "s", &self.fills, &self.longer);
        report.beside("  beside rows by hand, by uid", "s", &self.fills, &self.sorted);
        report.beside("  beside the sum of both", "s", &self.fills, &self.sums);
        let listing: Vec<Duration> =
            self.fills.iter().zip(&self.fills_prepared).map(|(fill, before)| fill.saturating_sub(*before)).collect();
        report.seconds("  until it lists: start, making tables", &self.fills_prepared);
        report.beside("  from then on, beside the longer", "s", &listing, &self.longer);
        let an_object = median(&self.fill_cpu[0]).as_secs_f64() * 1e6 / objects as f64;
        report.alone("  CPU time of the ingester, an object", "µs", an_object);
        for (who, times) in ["the ingester", "the database", "the API server", "etcd"].iter().zip(&self.fill_cpu) {
            report.seconds(&format!("  CPU time of {who}"), times);
        }
        report.beside(&format!("restart, nothing changed ({known})"), "s", &self.restarts, &self.known);
        report.seconds("  until it lists", &self.restarts_prepared);
        report.seconds("  CPU time of the ingester", &self.restart_cpu);
        report.alone("  writes in these restarts", "", self.written as f64);
    }
}

/// The kind of all objects, unless there are several.
pub(crate) fn kind() -> Result<Kind> {
    find(KINDS, "michelangelo.api/v2", "PipelineRun").copied().context("no PipelineRun among the kinds")
}

pub(crate) fn name(kind: &Kind, place: usize) -> String {
    format!("{}-{place:06}", kind.kind().to_lowercase())
}

/// The object of this number. One at a time: a hundred thousand parsed objects take gigabytes.
pub(crate) fn object(dice: &mut Dice, kind: &Kind, place: usize, bytes: Option<usize>) -> Result<Value> {
    let mut object = match kind.kind() {
        name @ ("PipelineRun" | "Model") => objects::values(dice, name, 1).pop().context("no object")?,
        name => objects::like_sample(dice, name, place)?,
    };
    object["metadata"]["name"] = json!(name(kind, place));
    object["metadata"]["namespace"] = json!(NAMESPACE);
    object["metadata"]["generation"] = json!(1);
    if let Some(bytes) = bytes.filter(|_| kind.kind() == "PipelineRun") {
        objects::resize(dice, &mut object, bytes);
    }
    Ok(object)
}

/// The objects that are written into the cluster.
fn seeds(kind: &Kind, objects: usize, bytes: Option<usize>) -> impl Iterator<Item = Result<Value>> {
    let kind = *kind;
    let mut dice = Dice::new(3);
    (0..objects).map(move |place| object(&mut dice, &kind, place, bytes))
}

pub(crate) fn configuration(url: &str, kinds: &[Kind]) -> String {
    let kinds: Vec<&str> = kinds.iter().map(Kind::kind).collect();
    format!(
        "metadataStorage: {{enableMetadataStorage: true, databaseURL: '{url}'}}\ningester: {{kinds: [{}]}}\n",
        kinds.join(", ")
    )
}
