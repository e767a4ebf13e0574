//! The time from the API server's answer to the committed row, one object at a time.

use super::{Bench, name};
use crate::bare;
use crate::by_hand::row;
use crate::objects::Dice;
use crate::progress::{self, DEADLINE};
use crate::reference::{Engine, Handmade, Reference};
use crate::report::{Report, median};
use crate::store::{Operation, Rows};
use anyhow::{Context as _, Result, ensure};
use futures::{AsyncBufReadExt as _, StreamExt as _};
use ingester_core::Kind;
use ingester_core::row::Row;
use ingester_tests::Ingester;
use serde_json::{Value, json};
use sqlx::Connection as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The measured times, one for each tick.
#[derive(Default)]
struct Times {
    /// From the API server's answer to the row.
    rows: Vec<Duration>,
    /// From the API server's answer until a bare watch observed the update.
    observed: Vec<Duration>,
    /// One guarded update by hand, until its answer.
    bare: Vec<Duration>,
    /// Another one, until its row is seen in the same way as the ingester's rows.
    seen: Vec<Duration>,
}

impl Bench<'_> {
    /// Updates objects one after the other at a steady rate, by the API server and by hand in turns.
    pub(super) async fn latencies<D: Engine>(&self, ingester: &Ingester, report: &mut Report) -> Result<()> {
        let inside = ["ingester_sync_lag_seconds", "ingester_batch_duration_seconds"];
        let before = inside.map(|histogram| progress::total(ingester, histogram));
        let times = self.updates::<D>().await?;
        let after = inside.map(|histogram| progress::total(ingester, histogram));
        let mut rows = times.rows.clone();
        rows.sort();
        let at = |percent: usize| rows.get(rows.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default();
        let p50 = [at(50)];
        let reference = self.reference_commits::<D>().await?;
        report.beside("an update to its row, p50 (bare guarded UPDATE)", "ms", &p50, &[median(&times.bare)]);
        report.beside("  beside such an UPDATE and seeing its row", "ms", &p50, &[median(&times.seen)]);
        report.beside("  beside the reference's statements", "ms", &p50, &[median(&reference)]);
        report.alone("  of which until a bare watch observes it", "ms", median(&times.observed).as_secs_f64() * 1e3);
        for ((what, before), after) in ["its event to its commit", "its write"].into_iter().zip(before).zip(after) {
            let ([before, earlier], [after, later]) = (before?, after?);
            let mean = (after - before) / (later - earlier).max(1.0);
            report.alone(&format!("  of which {what}, as the ingester measures it, mean"), "ms", mean * 1e3);
        }
        report.alone("  p90", "ms", at(90).as_secs_f64() * 1e3);
        report.alone("  p99", "ms", at(99).as_secs_f64() * 1e3);
        Ok(())
    }

    async fn updates<D: Engine>(&self) -> Result<Times> {
        let (kind, path) = self.first()?;
        let mut watch = self.bare_watch().await?;
        let mut connection = D::Connection::connect(&self.url).await?;
        let by_hand = Arc::new(Handmade::<D>::connect(&self.url, kind.table(), 1).await?);
        let mut dice = Dice::new(13);
        let mut times = Times::default();
        let mut tick = tokio::time::interval(Duration::from_micros(1_000_000 / self.arguments.rate));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for number in 0..self.arguments.seconds * self.arguments.rate {
            tick.tick().await;
            let object = name(kind, dice.below(self.objects as u64) as usize);
            let patch = json!({"status": {"errorMessage": format!("update {number}")}});
            let request = http::Request::patch(format!("{path}/{object}/status"))
                .header("content-type", "application/merge-patch+json");
            let answer = self.client.request_text(request.body(patch.to_string().into_bytes())?).await?;
            let answered = Instant::now();
            let answer: Value = serde_json::from_str(&answer)?;
            let of = |field: &str| answer["metadata"][field].as_str().unwrap_or_default().to_owned();
            let uid = of("uid");
            let version = of("resourceVersion").parse::<u64>()?;
            let right = |stored: &str| stored.parse::<u64>().is_ok_and(|stored| stored >= version);
            seen::<D>(&mut connection, kind, "res_version", &uid, right).await?;
            times.rows.push(answered.elapsed());
            loop {
                let (event, at) = watch.recv().await.context("the bare watch has ended")?;
                if event == version {
                    // The event may arrive before the answer.
                    times.observed.push(at.saturating_duration_since(answered));
                    break;
                }
            }

            // Its version stays, so that the ingester's next update of it finds what it expects.
            let row = self.changed_row(&mut dice, number).await?;
            let start = Instant::now();
            by_hand.update_one(&row, row.res_version + 1).await?;
            times.bare.push(start.elapsed());

            let row = self.changed_row(&mut dice, number).await?;
            let uid = row.uid.clone();
            let before = read_stored::<D>(&mut connection, kind, "update_time", &uid).await?;
            let start = Instant::now();
            let by_hand = by_hand.clone();
            let version = row.res_version + 1;
            // On a separate thread: polling blocks this one.
            let done = tokio::spawn(async move { by_hand.update_one(&row, version).await });
            seen::<D>(&mut connection, kind, "update_time", &uid, |stored| stored != before).await?;
            times.seen.push(start.elapsed());
            done.await??;
        }
        Ok(times)
    }

    fn first(&self) -> Result<(&Kind, &str)> {
        Ok((self.kinds.first().context("a kind")?, self.paths.first().context("a kind")?))
    }

    /// The row of an object, as it would be after an update.
    async fn changed_row(&self, dice: &mut Dice, number: u64) -> Result<Row> {
        let (kind, path) = self.first()?;
        let path = format!("{path}/{}", name(kind, dice.below(self.objects as u64) as usize));
        let text = self.client.request_text(http::Request::get(path).body(Vec::new())?).await?;
        let mut object: Value = serde_json::from_str(&text)?;
        object["status"]["errorMessage"] = json!(format!("update {number} by hand"));
        row(kind, &object)
    }

    /// Watches as the ingester does, but reads only the version of each event.
    async fn bare_watch(&self) -> Result<tokio::sync::mpsc::UnboundedReceiver<(u64, Instant)>> {
        let (_, path) = self.first()?;
        let from = bare::version(&self.client, path).await?;
        let request = http::Request::get(format!("{path}?watch=1&resourceVersion={from}")).body(Vec::new())?;
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
    async fn reference_commits<D: Engine>(&self) -> Result<Vec<Duration>> {
        let (kind, _) = self.first()?;
        let reference = Reference::<D>::connect(&self.url, kind.table(), 1).await?;
        let mut took = Vec::new();
        let mut dice = Dice::new(17);
        for number in 0..200 {
            let row = self.changed_row(&mut dice, number).await?;
            let rows: [Rows; 1] = [Arc::new([Vec::new(), vec![row], Vec::new(), Vec::new()])];
            let start = Instant::now();
            reference.write(&rows, Operation::Update).await?;
            took.push(start.elapsed());
        }
        Ok(took)
    }
}

/// Polls the database until a column of a row has the right value.
async fn seen<D: Engine>(
    connection: &mut D::Connection,
    kind: &Kind,
    column: &'static str,
    uid: &str,
    right: impl Fn(&str) -> bool,
) -> Result<()> {
    let start = Instant::now();
    loop {
        let value = read_stored::<D>(connection, kind, column, uid).await?;
        if right(&value) {
            return Ok(());
        }
        ensure!(start.elapsed() < DEADLINE, "{column} of the row of {uid} stays {value}");
        // Polling without a pause would take a core from the processes that write the row. The runtime's timers are too coarse.
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// A column of a row, as text.
async fn read_stored<D: Engine>(
    connection: &mut D::Connection,
    kind: &Kind,
    column: &'static str,
    uid: &str,
) -> Result<String> {
    let sql = format!("SELECT CAST({column} AS CHAR) FROM {} WHERE uid = ?", kind.table().name);
    Ok(D::fetch_text(connection, D::spelled(&sql), uid).await?)
}
