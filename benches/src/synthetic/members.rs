//! One ingester compared with several that share the work: the first fill of the same objects, and the memory of each.

use super::SourceProcess;
use super::source::Parameters;
use crate::databases::DatabaseChoice;
use crate::live::{self, AS_INGESTER};
use crate::progress::{DEADLINE, WRITTEN, count, cpu, memory, value};
use crate::report::{Report, median};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use ingester_core::Kind;
use ingester_tests::{Ingester, SqlServer, delayed};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Args)]
pub(crate) struct Members {
    /// Which database; not SQLite.
    #[arg(long, value_enum, default_value = "mariadb")]
    database: DatabaseChoice,
    /// Objects in the source.
    #[arg(long, default_value_t = 100_000)]
    objects: u32,
    /// Bytes of JSON of an object, about; 4.9 KB by default.
    #[arg(long)]
    bytes: Option<usize>,
    /// How many members share the work. One without replicas is the baseline.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..))]
    members: u16,
    /// Shards of the kind; as many as members by default.
    #[arg(long)]
    shards: Option<u16>,
    /// By how many milliseconds every answer of the database is late.
    #[arg(long, default_value_t = 0)]
    delay: u64,
    /// Connections of each member to the database, at most.
    #[arg(long, default_value_t = 25)]
    connections: u16,
    /// The API server sends only the objects of a shard; without it, each unit reads all objects and drops those of others.
    #[arg(long)]
    server_shards: bool,
    /// Rounds, each with a database of its own for each candidate.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// InnoDB's buffer pool, or PostgreSQL's shared buffers, such as `2G`; the server's default without it.
    #[arg(long)]
    pool: Option<String>,
}

/// Who fills the database.
#[derive(Clone, Copy)]
struct Candidate {
    members: u16,
    shards: u16,
}

/// How a fill went.
#[derive(Default)]
struct Fill {
    took: Vec<Duration>,
    /// From the first rows on: without the starts of processes and the taking of units.
    filling: Vec<Duration>,
    /// The most memory of a member in MB, of the one that had most and of the one that had least.
    memory: Vec<[f64; 2]>,
    /// CPU time of all members, and of the source.
    cpu: Vec<[Duration; 2]>,
}

pub(crate) fn run(arguments: &Members) -> Result<()> {
    arguments.database.with_server(arguments.pool.as_deref(), async |server| {
        let kind = live::kind()?;
        let shards = arguments.shards.unwrap_or(arguments.members);
        let candidates = [
            Candidate { members: 1, shards: 1 },
            Candidate { members: 1, shards },
            Candidate { members: arguments.members, shards },
        ];
        let mut fills: [Fill; 3] = Default::default();
        for round in 0..arguments.rounds {
            for (place, (candidate, fill)) in candidates.iter().zip(&mut fills).enumerate() {
                one(server, arguments, &kind, *candidate, fill, &format!("members_{round}_{place}")).await?;
            }
        }
        println!(
            "{} objects of {:?} bytes, answers of the database {} ms late, {} connections each, {} rounds",
            arguments.objects, arguments.bytes, arguments.delay, arguments.connections, arguments.rounds
        );
        let mut report = Report::default();
        for (Candidate { members, shards }, fill) in candidates.iter().zip(&fills) {
            let name = format!("{members} with {shards} shards");
            report.beside(&format!("first fill, {name}"), "s", &fill.took, &fills[0].took);
            report.beside("  from its first rows on", "s", &fill.filling, &fills[0].filling);
            let seconds = median(&fill.took).as_secs_f64();
            report.alone("  rows", "/s", f64::from(arguments.objects) / seconds);
            let most = |place: usize| fill.memory.iter().map(|memory| memory[place]).fold(0.0, f64::max);
            report.alone("  memory of the largest member", "MB", most(0));
            report.alone("  memory of the smallest member", "MB", most(1));
            report.seconds("  CPU time of the members", &fill.cpu.iter().map(|cpu| cpu[0]).collect::<Vec<_>>());
            report.seconds("  CPU time of the source", &fill.cpu.iter().map(|cpu| cpu[1]).collect::<Vec<_>>());
        }
        report.print();
        Ok(())
    })
}

async fn one(
    server: &SqlServer,
    arguments: &Members,
    kind: &Kind,
    Candidate { members, shards }: Candidate,
    fill: &mut Fill,
    database: &str,
) -> Result<()> {
    let objects = arguments.objects as usize;
    let source = SourceProcess::start(
        kind,
        Parameters { objects, bytes: arguments.bytes, speed: None, shards: arguments.server_shards },
    )?;
    let folder = tempfile::tempdir().context("making a folder for the kubeconfig")?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, source.kubeconfig()).context("writing the kubeconfig")?;
    // By TCP, as from another machine.
    let url = server.create_database(database).await?;
    let near = server.port().context("a server with a port")?;
    let through = match arguments.delay {
        0 => near,
        delay => delayed(near, Duration::from_millis(delay)).await?,
    };
    let far = url.replace(&format!(":{near}/"), &format!(":{through}/"));
    ensure!(through == near || far != url, "the URL has no port");
    let mut config = live::configuration(&far, std::slice::from_ref(kind));
    if members > 1 || shards > 1 {
        let replicas = format!("replicas: {{enabled: true, namespace: default, shards: {shards}}}");
        config = config.replace("ingester: {", &format!("ingester: {{{replicas}, "));
    }
    config.push_str(&format!("mysql: {{maxOpenConns: {}}}\n", arguments.connections));

    let program = std::env::current_exe()?;
    // How long tables take to be made is not what is measured.
    let made = Command::new(&program)
        .args(["schema", "apply"])
        .envs([(AS_INGESTER, "1"), ("DATABASE_URL", &url)])
        .stdout(Stdio::null())
        .output()
        .context("making the tables")?;
    ensure!(made.status.success(), "making the tables: {}", String::from_utf8_lossy(&made.stderr));
    let start = Instant::now();
    let started: Vec<Ingester> = (0..members)
        .map(|_| Ingester::start(&program, &config, &kubeconfig, &[(AS_INGESTER, "1")]))
        .collect::<Result<_>>()?;
    let mut first = None;
    loop {
        // The number of written objects is cheap to ask for; the rows are counted only when all may be there.
        let mut written = 0;
        for member in &started {
            let ended = member.process().exit_status()?;
            ensure!(ended.is_none(), "a member has ended: {}", member.logs()?);
            written += value(member, WRITTEN).unwrap_or_default();
        }
        if written > 0 {
            first.get_or_insert_with(Instant::now);
        }
        if written >= objects && count(&url, kind, 0).await? == objects as u64 {
            break;
        }
        ensure!(start.elapsed() < DEADLINE, "{written} of {objects} rows were written");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    fill.took.push(start.elapsed());
    fill.filling.push(first.context("the first rows")?.elapsed());
    let mut of_members = Vec::new();
    let mut all = Duration::ZERO;
    for member in &started {
        of_members.push(memory(member.process())?[1]);
        all += cpu(member.process().id())?;
    }
    fill.memory.push([
        of_members.iter().copied().fold(0.0, f64::max),
        of_members.iter().copied().fold(f64::INFINITY, f64::min),
    ]);
    fill.cpu.push([all, cpu(Some(source.process.id()))?]);
    for member in &started {
        member.stop()?;
    }
    server.run(&[&format!("DROP DATABASE {database}")]).await
}
