//! How far an ingester is, and what it costs: its metrics, its rows, and what the kernel counts for a process.

use anyhow::{Context as _, Result, ensure};
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_tests::process::Process;
use ingester_tests::sql::{self, Rows};
use ingester_tests::{Ingester, SqlServer};
use std::time::{Duration, Instant};

/// The counter of committed rows.
pub(crate) const WRITTEN: &str = "ingester_rows_written_total";
/// How long anything may take. By default the ingester adds 50 finalizers a second.
pub(crate) const DEADLINE: Duration = Duration::from_secs(3600);

/// A counter's value now.
pub(crate) fn value(ingester: &Ingester, metric: &str) -> Result<usize> {
    Ok(sum(&ingester.metrics()?, metric) as usize)
}

/// A histogram's sum and count now, in seconds.
pub(crate) fn total(ingester: &Ingester, histogram: &str) -> Result<[f64; 2]> {
    let text = ingester.metrics()?;
    Ok(["sum", "count"].map(|of| sum(&text, &format!("{histogram}_{of}"))))
}

/// Waits until a counter has reached a value.
pub(crate) async fn until(ingester: &Ingester, metric: &str, goal: usize) -> Result<Instant> {
    // Scraping costs the measured process time, too.
    reached(ingester, metric, goal, Duration::from_millis(20)).await
}

/// Waits until the first list of this many kinds is in SQL.
pub(crate) async fn synced(ingester: &Ingester, kinds: usize) -> Result<Instant> {
    reached(ingester, "ingester_synced", kinds, Duration::from_millis(5)).await
}

async fn reached(ingester: &Ingester, metric: &str, goal: usize, pause: Duration) -> Result<Instant> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let value = ingester.metrics().map(|text| sum(&text, metric)).unwrap_or_default();
        if value >= goal as f64 {
            return Ok(Instant::now());
        }
        let ended = ingester.process().exit_status()?;
        ensure!(ended.is_none(), "the ingester has ended: {}", ingester.logs()?);
        ensure!(Instant::now() < deadline, "{metric} stays at {value}: {}", ingester.logs()?);
        tokio::time::sleep(pause).await;
    }
}

/// Reads from the ingester's log how long after this time it began to list. Before that, it has started and migrated the database.
pub(crate) fn prepared(ingester: &Ingester, start: Micros) -> Result<Duration> {
    let log = ingester.logs()?;
    let line = log.lines().rev().find(|line| line.contains("Ingester controller registered"));
    let time = line.and_then(|line| line.split('Z').next()).map(|time| time.replace('T', " "));
    let time = time.and_then(|time| Micros::from_sql(&time)).context("the log does not say when it began to list")?;
    Ok(Duration::from_micros(time.0.saturating_sub(start.0).unsigned_abs()))
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

/// The number of live rows with a later version.
pub(crate) async fn count(url: &str, kind: &Kind, version: u64) -> Result<u64> {
    let table = &kind.table().name;
    let sql = format!("SELECT COUNT(*) FROM {table} WHERE delete_time IS NULL AND res_version > {version}");
    number(sql::on(url, &[], &sql).await?)
}

/// How many statements have written data or tables since the server started. For PostgreSQL, which does not count statements, how
/// many transactions: those that write have numbers.
pub(crate) async fn writes(server: &SqlServer) -> Result<u64> {
    if server.url("").starts_with("postgres") {
        return number(server.sql("", "SELECT pg_snapshot_xmax(pg_current_snapshot())::text").await?);
    }
    Ok(server.writing_statements().await?.values().sum())
}

/// The one number of an answer.
fn number(rows: Rows) -> Result<u64> {
    rows.into_iter().flatten().flatten().next().context("an answer")?.parse().context("a number")
}

/// The CPU time of a process and its children: PostgreSQL has one for each connection.
pub(crate) fn cpu(process: Option<u32>) -> Result<Duration> {
    let id = process.context("a process does not run")?;
    let ticks = |id: &str, fields: usize| -> Result<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).context("reading a process's times")?;
        // From the 12th field after the program's name on: hundredths of a second in user and kernel mode, for the process and for its
        // children that have ended.
        let (_, rest) = stat.rsplit_once(") ").context("a process's times")?;
        Ok(rest.split(' ').skip(11).take(fields).map(str::parse::<u64>).sum::<Result<u64, _>>()?)
    };
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    // If a child ends meanwhile, its parent counts it the next time.
    let running: u64 = children.split_whitespace().filter_map(|child| ticks(child, 2).ok()).sum();
    Ok(Duration::from_millis((ticks(&id.to_string(), 4)? + running) * 10))
}

/// The memory of a process, in MB: resident now, and at most since it was started.
pub(crate) fn memory(process: &Process) -> Result<[f64; 2]> {
    let id = process.id().context("the process does not run")?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).context("reading a process's memory")?;
    let megabytes = |field: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kilobytes: f64 = line.context("a process's memory")?.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1024.0)
    };
    Ok([megabytes("VmRSS:")?, megabytes("VmHWM:")?])
}
