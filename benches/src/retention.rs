//! How long writers wait while rows of objects that were deleted long ago are purged, compared with the same writers without a purge.
//!
//! Two writers, as a kind has them: one writes single objects, as they change, the other one batches. They write to rows that lie between
//! the purged ones.

use crate::databases::{self, DatabaseChoice};
use crate::objects::{self, Dice, updated};
use anyhow::{Context as _, Result};
use clap::Args;
use crd_specs::KINDS;
use ingester_config::{Config, Live, RetentionTime};
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_mirror::metrics::Metrics;
use ingester_mirror::suspend::Suspension;
use ingester_store::{ConnectOptions, RowChange, Store};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub(crate) struct Retention {
    /// Which databases; all by default.
    #[arg(long, value_enum)]
    database: Vec<DatabaseChoice>,
    /// Rows of deleted objects.
    #[arg(long, default_value_t = 200_000)]
    tombstones: usize,
    /// Rows that are written to.
    #[arg(long, default_value_t = 2000)]
    live: usize,
    /// Seconds without purging, before and after.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

/// Objects in a batch of the second writer.
const BATCH: usize = 64;

/// For how long rows are kept.
const AGE: Duration = Duration::from_secs(90 * 24 * 3600);

pub(crate) fn run(arguments: &Retention) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    databases::on_each(&arguments.database, Some("2G"), ["retention"], &runtime, |which, [url]| {
        runtime.block_on(on(which.title(), &url, arguments))
    })
}

async fn on(name: &str, url: &str, arguments: &Retention) -> Result<()> {
    let kind = *find(KINDS, "michelangelo.api/v2", "PipelineRun").context("a kind of the manifest")?;
    let store = Arc::new(Store::connect(&url.parse()?, ConnectOptions::default()).await?);
    store.create_missing(KINDS).await?;
    let mut dice = Dice::new(7);
    let live = fill(&store, &kind, &mut dice, arguments).await?;
    println!("\n{name}: {} rows of deleted objects, {} live ones", arguments.tombstones, arguments.live);
    let (single, batches) = live.split_at(live.len() / 2);
    let mut single = single.to_vec();
    let mut batches = batches.to_vec();
    let alone = Duration::from_secs(arguments.seconds);
    for phase in ["before", "while purging", "after"] {
        let metrics = Metrics::new()?;
        let stop = CancellationToken::new();
        let begin = Instant::now();
        let purging = phase == "while purging";
        let done = async {
            if purging {
                // It waits for its next round once everything is purged.
                let retention =
                    ingester_config::Retention { deleted: Some(RetentionTime::For(AGE)), ..Default::default() };
                let config = Config { retention, ..Config::default() };
                let suspension = Suspension::new(&[kind], &config, &metrics);
                let store = store.clone();
                let kinds = vec![kind];
                let purging = ingester_mirror::retention::RetentionTask {
                    store,
                    kinds,
                    live: Live::fixed(config),
                    suspension,
                    assignment: ingester_mirror::replicas::Assignment::alone(),
                    metrics: metrics.clone(),
                };
                let run = purging.run(stop.clone());
                tokio::pin!(run);
                while purged(&metrics) < arguments.tombstones {
                    tokio::select! {
                        () = &mut run => break,
                        () = tokio::time::sleep(Duration::from_millis(50)) => {}
                    }
                }
            } else {
                tokio::time::sleep(alone).await;
            }
            stop.cancel();
        };
        let mut dices = [Dice::new(8), Dice::new(9)];
        let [first, second] = &mut dices;
        let ((), ones, many) = tokio::join!(
            done,
            write(&store, &kind, &mut single, 1, first, &stop),
            write(&store, &kind, &mut batches, BATCH, second, &stop),
        );
        let seconds = begin.elapsed().as_secs_f64();
        println!("  {phase:<14} single objects: {}", render_times(ones?, seconds));
        println!("  {:<14} batches of {BATCH}:  {}", "", render_times(many?, seconds));
        if purging {
            let rows = purged(&metrics);
            println!("  {rows} rows purged in {seconds:.1} s: {:.0} a second", rows as f64 / seconds);
        }
    }
    Ok(())
}

/// How many rows were purged, as the metric says.
fn purged(metrics: &Metrics) -> usize {
    let text = metrics.render();
    let line = text.lines().find_map(|line| line.strip_prefix("ingester_purged_rows_total{kind=\"PipelineRun\"} "));
    line.and_then(|rows| rows.parse().ok()).unwrap_or(0)
}

/// How long writes took.
fn render_times(mut took: Vec<Duration>, seconds: f64) -> String {
    took.sort();
    let ms = |assignment: f64| {
        let place = (took.len() as f64 * assignment) as usize;
        took.get(place.min(took.len().saturating_sub(1))).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
    };
    let rate = took.len() as f64 / seconds;
    format!("{rate:6.0} a second, p50 {:6.2} ms, p99 {:7.2} ms, at most {:7.2} ms", ms(0.5), ms(0.99), ms(1.0))
}

/// Writes later versions of these objects until it is stopped, the next one when the last one is stored.
async fn write(
    store: &Store,
    kind: &Kind,
    objects: &mut [Value],
    at_once: usize,
    dice: &mut Dice,
    stop: &CancellationToken,
) -> Result<Vec<Duration>> {
    let mut took = Vec::new();
    for place in (0..objects.len() / at_once).cycle() {
        if stop.is_cancelled() {
            break;
        }
        let mut changes = Vec::new();
        for object in &mut objects[place * at_once..(place + 1) * at_once] {
            *object = updated(dice, object);
            changes.push(RowChange::Row(row(kind, object)?));
        }
        let begin = Instant::now();
        let report = store.write(kind.table(), changes).await?;
        took.push(begin.elapsed());
        anyhow::ensure!(report.rejected.is_empty() && report.postponed.is_empty(), "{report:?}");
    }
    Ok(took)
}

fn row(kind: &Kind, object: &Value) -> Result<Row> {
    let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
    kind.row(&object)?.context("a kind without a predicate")
}

/// Writes rows of deleted objects, and of live ones between them, which it returns.
async fn fill(store: &Store, kind: &Kind, dice: &mut Dice, arguments: &Retention) -> Result<Vec<Value>> {
    let long_ago = Micros::ago(2 * AGE);
    // The same few objects again and again, each time with new uids.
    let samples = objects::values(dice, kind.kind(), 64);
    let total = arguments.tombstones + arguments.live;
    let every = total / arguments.live.max(1);
    let mut live = Vec::new();
    let mut changes = Vec::new();
    for number in 0..total {
        let mut object = samples[number % samples.len()].clone();
        object["metadata"]["uid"] = json!(format!("{number:08}-0000-4000-8000-000000000000"));
        object["metadata"]["name"] = json!(format!("run-{number}"));
        let mut row = row(kind, &object)?;
        if number % every == 0 && live.len() < arguments.live {
            live.push(object);
        } else {
            // Users do not delete in the order of uids.
            row.delete_time = Some(Micros(long_ago.0 + dice.below(1 << 40) as i64));
        }
        changes.push(RowChange::Row(row));
        if changes.len() == 512 || number + 1 == total {
            store.write(kind.table(), std::mem::take(&mut changes)).await?;
        }
    }
    Ok(live)
}
