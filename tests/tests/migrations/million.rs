//! Measures migration and backfill of a large table with concurrent writers. Run by hand, one at a time, on an idle
//! machine:
//!
//! ```sh
//! cargo test --release -p ingester-tests --test migrations million::mariadb -- --ignored --nocapture
//! ```
//!
//! The environment variable `ROWS` makes the table smaller. It prints the longest time that writers waited: before,
//! while the column and its key are added, and during the backfill. It fails if a value differs from that of a fresh
//! import.

#![allow(clippy::print_stdout, reason = "the figures are its output")]

use crate::kinds::{FIRST_KIND, SECOND_KIND, connect, job, releases, row, second, write};
use anyhow::{Context as _, Result, ensure};
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_store::Store;
use ingester_store::migrate::Progress;
use ingester_tests::databases::{Database, On, run};
use ingester_tests::of_databases;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

macro_rules! measured {
    (() $([$test:ident $on:ident])*) => { $(
        #[test]
        #[ignore = "takes many minutes; the module says how to run it"]
        fn $test() -> Result<()> {
            run(concat!("migrations::million_", stringify!($test)), On::$on, million)
        }
    )* };
}

of_databases! { every server: measured, () }

const WRITERS: usize = 2;

/// Writers that update one row after the other until they are stopped.
struct Writers {
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<Result<Vec<Duration>>>>,
}

impl Writers {
    async fn start(database: &Database, kind: Kind, rows: usize, versions: u64) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let store = connect(database).await?;
            let stop = stop.clone();
            tasks.push(tokio::spawn(async move {
                let mut took = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let step = took.len();
                    // Spread over the table: each writer has its own rows, each update a newer version.
                    let number = (step * 7919) % (rows / WRITERS) * WRITERS + writer;
                    let begin = Instant::now();
                    write(&store, &kind, [job(number, versions + step as u64)]).await?;
                    took.push(begin.elapsed());
                }
                store.close().await;
                Ok(took)
            }));
        }
        Ok(Writers { stop, tasks })
    }

    async fn end(self, during: &str) -> Result<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        let mut took = Vec::new();
        for task in self.tasks {
            took.extend(task.await??);
        }
        took.sort_unstable();
        let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
        let longest = *took.last().context("no write at all")?;
        println!("{during}: {} writes, p50 {:?}, p99 {:?}, longest {longest:?}", took.len(), at(0.5), at(0.99));
        Ok(longest)
    }
}

async fn filled_in(store: &Store) -> Result<()> {
    let backfill = store.incomplete_backfills(second::KINDS, None).await?.remove(0);
    let begin = Instant::now();
    let filled = store.backfill(&backfill, None, &CancellationToken::new(), |_| {}).await?;
    let seconds = begin.elapsed().as_secs_f64();
    println!("filling: {filled:?} in {seconds:.1} s, {:.0} rows/s", filled.read as f64 / seconds);
    ensure!(filled.complete && filled.failed == 0, "{filled:?}");
    Ok(())
}

async fn million(database: Database) -> Result<()> {
    let rows: usize = std::env::var("ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let releases = releases()?;
    let store = connect(&database).await?;
    println!("{}", store.server());
    releases.first.apply(&store, &mut |_| {}).await?;
    let begin = Instant::now();
    for first in (0..rows).step_by(10_000) {
        write(&store, &FIRST_KIND, (first..rows.min(first + 10_000)).map(|number| job(number, 1))).await?;
    }
    println!("{rows} rows written in {:?}", begin.elapsed());

    let writers = Writers::start(&database, FIRST_KIND, rows, 2).await?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    writers.end("nothing else").await?;

    let writers = Writers::start(&database, FIRST_KIND, rows, 1_000_000).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut since = Instant::now();
    let mut running = String::new();
    let mut tell = |progress: Progress| {
        if !running.is_empty() {
            println!("{running}: {:?}", since.elapsed());
        }
        running = progress.migration;
        since = Instant::now();
    };
    let applied = releases.second.apply(&store, &mut tell).await?;
    println!("{running}: {:?}", since.elapsed());
    ensure!(applied.drift.is_empty(), "{applied:?}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let blocked = writers.end("while the columns and their keys were added").await?;

    let writers = Writers::start(&database, SECOND_KIND, rows, 2_000_000).await?;
    filled_in(&store).await?;
    writers.end("while they were filled").await?;

    // Check all rows by SQL, and some by the decoder.
    let wrong = "job WHERE owner IS NULL OR priority IS NULL OR priority <> CAST(SUBSTR(uid, 5) AS UNSIGNED)
                 OR owner <> CONCAT('owner-', CAST(SUBSTR(uid, 5) AS UNSIGNED), '-', res_version)";
    ensure!(database.count("job").await? == rows as u64);
    let wrong = database.count(wrong).await?;
    ensure!(wrong == 0, "{wrong} rows have other values than a fresh import would give them");
    for number in (0..rows).step_by(rows / 100) {
        let stored = store.read_stored(SECOND_KIND.table(), &[&format!("uid-{number:06}")]).await?.remove(0);
        let fresh = row(&SECOND_KIND, &job(number, stored.res_version));
        ensure!(stored.values[base::JSON + 1..] == fresh.values[base::JSON + 1..], "{stored:?}");
    }
    println!("every value is that of a fresh import");
    ensure!(blocked < Duration::from_secs(1), "a writer waited for {blocked:?}");
    Ok(())
}
