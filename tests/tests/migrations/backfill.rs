//! Backfilling columns that were added to tables with rows in them.

use crate::kinds::{FIRST_KIND, SECOND_KIND, apply, connect, job, releases, row, second, write};
use anyhow::{Context as _, Result, ensure};
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_store::migrate::{Backfill, BackfillProgress};
use ingester_store::{RowChange, Store};
use ingester_tests::databases::{Database, On};
use ingester_tests::on_every_database;
use serde_json::json;
use std::num::NonZeroU32;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

on_every_database! {
    live_deleted_and_evicted_rows_get_the_values_of_a_fresh_import
    rows_written_during_a_backfill_keep_their_newer_values
    an_interrupted_backfill_resumes_where_it_stopped
    an_object_that_cannot_be_decoded_does_not_stop_a_backfill
    a_backfill_keeps_to_its_rate
    a_column_is_backfilled_again_on_request
    a_text_with_nul_is_filled_once
}

/// Creates rows of the first release in tables of the second.
async fn upgraded(database: &Database, rows: usize) -> Result<Store> {
    let releases = releases()?;
    let store = connect(database).await?;
    apply(&releases.first, &store).await?;
    write(&store, &FIRST_KIND, (0..rows).map(|number| job(number, 1))).await?;
    apply(&releases.second, &store).await?;
    Ok(store)
}

async fn fill(store: &Store) -> Result<BackfillProgress> {
    let incomplete = store.incomplete_backfills(second::KINDS, None).await?;
    let [backfill] = &incomplete[..] else { anyhow::bail!("{incomplete:?}") };
    Ok(store.backfill(backfill, None, &CancellationToken::new(), |_| {}).await?)
}

/// Fails unless a row has the values of the object.
async fn is_as(store: &Store, object: &serde_json::Value) -> Result<()> {
    let fresh = row(&SECOND_KIND, object);
    let stored = store.read_stored(SECOND_KIND.table(), &[&fresh.uid]).await?;
    let stored = stored.first().context("a row")?;
    ensure!(stored.values[base::JSON + 1..] == fresh.values[base::JSON + 1..], "{stored:?}\n{fresh:?}");
    Ok(())
}

async fn live_deleted_and_evicted_rows_get_the_values_of_a_fresh_import(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    let mut rows: Vec<_> = (0..3).map(|number| row(&FIRST_KIND, &job(number, 1))).collect();
    rows[1].delete_time = Some(Micros(1_700_000_000_000_000));
    rows[2].evict_time = Some(Micros(1_700_000_000_000_000));
    store.write(FIRST_KIND.table(), rows.into_iter().map(RowChange::Row).collect()).await?;
    let before =
        database.sql("SELECT uid, res_version, update_time, delete_time, evict_time, json FROM job ORDER BY uid");
    let before = before.await?;
    apply(&releases.second, &store).await?;
    let state = "SELECT column_name, complete_time IS NOT NULL, migration, rows_filled
                 FROM ingester_backfills ORDER BY column_name";
    let cells = |complete: &str, filled: &str| {
        ["owner", "priority"]
            .map(|column| [column, complete, "2", filled].map(|cell| Some(cell.to_owned())).to_vec())
            .to_vec()
    };
    ensure!(database.sql(state).await? == cells("0", "0"), "readers can see that they are not complete");
    let filled = fill(&store).await?;
    ensure!(
        filled == BackfillProgress { read: 3, filled: 3, complete: true, ..BackfillProgress::default() },
        "{filled:?}"
    );
    ensure!(database.sql(state).await? == cells("1", "3"));
    for number in 0..3 {
        is_as(&store, &job(number, 1)).await?;
    }
    let after =
        database.sql("SELECT uid, res_version, update_time, delete_time, evict_time, json FROM job ORDER BY uid");
    ensure!(after.await? == before, "nothing else of the rows has changed");
    ensure!(store.incomplete_backfills(second::KINDS, None).await?.is_empty());
    Ok(())
}

async fn rows_written_during_a_backfill_keep_their_newer_values(database: Database) -> Result<()> {
    const ROWS: usize = 1200;
    let store = upgraded(&database, ROWS).await?;
    let writer = connect(&database).await?;
    let writing = tokio::spawn(async move {
        // Every row several times, in an order that differs from the backfill's.
        for version in 2..=5u64 {
            for chunk in 0..12 {
                let numbers = (0..ROWS).filter(|number| number * 7 % 12 == chunk);
                write(&writer, &SECOND_KIND, numbers.map(|number| job(number, version))).await?;
            }
        }
        anyhow::Ok(())
    });
    let mut rounds = 0;
    while !writing.is_finished() || rounds == 0 {
        let backfill = Backfill::for_columns(&SECOND_KIND, &[]).map_err(anyhow::Error::msg)?;
        let filled = store.backfill(&backfill, None, &CancellationToken::new(), |_| {}).await?;
        ensure!(filled.complete && filled.failed == 0 && filled.read == ROWS as u64, "{filled:?}");
        rounds += 1;
    }
    writing.await??;
    for number in (0..ROWS).step_by(17) {
        is_as(&store, &job(number, 5)).await?;
    }
    let stale = database.count("job WHERE owner NOT LIKE '%-5' OR owner IS NULL OR res_version <> 5").await?;
    ensure!(stale == 0, "{stale} rows have older values, after {rounds} rounds");
    Ok(())
}

async fn an_interrupted_backfill_resumes_where_it_stopped(database: Database) -> Result<()> {
    let store = upgraded(&database, 700).await?;
    let backfill = store.incomplete_backfills(second::KINDS, None).await?.remove(0);
    let stop = CancellationToken::new();
    let first = store.backfill(&backfill, None, &stop, |_| stop.cancel()).await?;
    ensure!(!first.complete && (1..700).contains(&first.read), "{first:?}");
    // A store of another process.
    let store = connect(&database).await?;
    let second = fill(&store).await?;
    ensure!(second.complete && first.read + second.read == 700, "{first:?}, then {second:?}");
    ensure!(database.count("job WHERE owner IS NULL").await? == 0);
    let columns = store.column_backfills(second::KINDS).await?;
    ensure!(columns.iter().all(|column| column.complete && column.read == 700), "{columns:?}");
    Ok(())
}

async fn an_object_that_cannot_be_decoded_does_not_stop_a_backfill(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    let mut wrong = job(1, 1);
    wrong["spec"]["priority"] = json!("high");
    write(&store, &FIRST_KIND, [job(0, 1), wrong, job(2, 1)]).await?;
    apply(&releases.second, &store).await?;
    let filled = fill(&store).await?;
    ensure!(
        filled == BackfillProgress { read: 3, filled: 2, failed: 1, complete: true, ..BackfillProgress::default() },
        "{filled:?}"
    );
    ensure!(database.cell("SELECT uid FROM job WHERE owner IS NULL").await?.as_deref() == Some("uid-000001"));
    ensure!(store.column_backfills(second::KINDS).await?.iter().all(|column| column.failed == 1));
    Ok(())
}

async fn a_backfill_keeps_to_its_rate(database: Database) -> Result<()> {
    let store = upgraded(&database, 300).await?;
    let backfill = store.incomplete_backfills(second::KINDS, None).await?.remove(0);
    let begin = Instant::now();
    let filled = store.backfill(&backfill, NonZeroU32::new(300), &CancellationToken::new(), |_| {}).await?;
    // Only a lower bound: the machine may be slow.
    ensure!(filled.complete && begin.elapsed().as_secs_f64() >= 0.99, "{filled:?} in {:?}", begin.elapsed());
    Ok(())
}

async fn a_column_is_backfilled_again_on_request(database: Database) -> Result<()> {
    let store = upgraded(&database, 10).await?;
    fill(&store).await?;
    database.sql("UPDATE job SET owner = 'somebody', priority = 0 WHERE uid < 'uid-000005'").await?;
    let owner = Backfill::for_columns(&SECOND_KIND, &["owner".to_owned()]).map_err(anyhow::Error::msg)?;
    let filled = store.backfill(&owner, None, &CancellationToken::new(), |_| {}).await?;
    ensure!(
        filled == BackfillProgress { read: 10, filled: 5, complete: true, ..BackfillProgress::default() },
        "{filled:?}"
    );
    ensure!(database.count("job WHERE owner = 'somebody'").await? == 0);
    ensure!(
        database.count("job WHERE priority = 0 AND uid > 'uid-000000'").await? == 4,
        "only that column was asked for"
    );
    ensure!(
        Backfill::for_columns(&SECOND_KIND, &["json".to_owned()]).is_err(),
        "what every table has is no column to fill"
    );
    Ok(())
}

/// On PostgreSQL, whose text has no NUL, the column stays NULL, and is not written again each time.
async fn a_text_with_nul_is_filled_once(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    let mut with_nul = job(1, 1);
    with_nul["spec"]["owner"] = json!("a\0b");
    with_nul["metadata"]["annotations"] = json!({"note": "\0"});
    write(&store, &FIRST_KIND, [job(0, 1), with_nul]).await?;
    apply(&releases.second, &store).await?;
    // Its priority is filled in any case.
    ensure!(fill(&store).await?.filled == 2);
    let all = Backfill::for_columns(&SECOND_KIND, &[]).map_err(anyhow::Error::msg)?;
    let again = store.backfill(&all, None, &CancellationToken::new(), |_| {}).await?;
    ensure!(again == BackfillProgress { read: 2, complete: true, ..BackfillProgress::default() }, "{again:?}");
    let owner = database.sql("SELECT owner FROM job WHERE uid = 'uid-000001'").await?;
    let expected = (database.on != On::Postgres).then(|| "a\0b".to_owned());
    ensure!(owner == [[expected]], "{owner:?}");
    Ok(())
}
