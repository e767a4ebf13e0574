//! Definitions of a kind: how they are counted, and what happens to rows that another one wrote.

use crate::kinds::{FIRST_KIND, apply, connect, first, job, releases, row, second, write};
use anyhow::{Context as _, Result, ensure};
use ingester_core::Kind;
use ingester_store::fuse::Fuse;
use ingester_store::guard::Eviction;
use ingester_store::left_out::LeftOutCount;
use ingester_store::migrate::{BackfillProgress, Folder, GenerateOptions};
use ingester_store::{ConnectOptions, EvictedRows, RowChange, Store};
use ingester_tests::databases::Database;
use ingester_tests::on_every_database;
use serde_json::json;
use tokio_util::sync::CancellationToken;

on_every_database! {
    rows_that_an_older_release_writes_after_the_backfill_are_filled_again
    a_changed_filter_marks_nothing_above_the_limit
    a_changed_filter_reaches_objects_that_have_not_changed
    large_values_are_filled_and_one_too_large_stops_nothing
    labels_are_filled_once_their_tables_are_made
    many_values_are_filled_once_their_table_or_their_function_is_new
}

fn shout(text: &str) -> String {
    text.to_uppercase()
}

/// Makes a text of the given number of bytes.
fn blown_up(size: &str) -> String {
    "x".repeat(size.parse().unwrap_or(0))
}

/// A kind that differs from others in one part of its definition.
macro_rules! variant {
    ($name:ident, [$($ingest:tt)*], [$($index:tt)*], $owner:ty) => {
        mod $name {
            use super::*;
            use ingester_core::Ingestable;
            use serde::Deserialize;

            #[derive(Ingestable, Deserialize)]
            #[ingest(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, $($ingest)*)]
            pub struct Job {
                #[index(column = "owner", key = false, $($index)*)]
                pub spec: Spec,
            }

            #[allow(dead_code, reason = "a column is made of one of them")]
            #[derive(Deserialize)]
            pub struct Spec {
                pub owner: $owner,
                pub priority: i64,
            }

            impl Job {
                #[allow(dead_code, reason = "only some have a filter")]
                fn is_even(&self) -> bool {
                    self.spec.priority % 2 == 0
                }

                #[allow(dead_code, reason = "only some have a filter")]
                fn is_odd(&self) -> bool {
                    self.spec.priority % 2 != 0
                }
            }

            pub(super) const KIND: Kind = Kind::of::<Job>();

            #[allow(dead_code, unused_imports, reason = "only some use them")]
            use {super::blown_up, super::shout};
        }
    };
}

variant!(plain, [], [path = "owner"], String);
variant!(key, [key(namespace, owner)], [path = "owner"], String);
variant!(revised, [], [path = "owner", revision = 2], String);
variant!(kind_revised, [revision = 2], [path = "owner"], String);
variant!(other_path, [], [path = "priority"], String);
variant!(shouted, [], [path = "owner", with = shout], String);
variant!(longer, [], [path = "owner", type = "VARCHAR(300)"], String);
variant!(alone, [companions = false], [path = "owner"], String);
variant!(even, [filter = Job::is_even], [path = "owner"], String);
variant!(odd, [filter = Job::is_odd], [path = "owner"], String);
variant!(large, [], [path = "owner", with = blown_up, type = "MEDIUMTEXT"], String);

/// The same kind with many values that a function computes from the owner.
macro_rules! of_many {
    ($name:ident, $function:ident) => {
        mod $name {
            use super::*;
            use ingester_core::Ingestable;
            use serde::Deserialize;

            #[derive(Ingestable, Deserialize)]
            #[ingest(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced)]
            pub struct Job {
                #[index(path = "owner", column = "owner", key = false)]
                #[index(path = "owner", column = "words", many, with = $function)]
                pub spec: Spec,
            }

            #[derive(Deserialize)]
            pub struct Spec {
                pub owner: String,
            }

            pub(super) const KIND: Kind = Kind::of::<Job>();
        }
    };
}

#[allow(clippy::ptr_arg, reason = "the function gets the field as it is")]
fn words(owner: &String) -> Vec<&str> {
    owner.split('-').collect()
}

fn loud_words(owner: &String) -> Vec<String> {
    words(owner).into_iter().map(str::to_uppercase).collect()
}

of_many!(worded, words);
of_many!(shouted_words, loud_words);

#[test]
fn whatever_may_change_a_value_is_another_definition() {
    let of = |kind: Kind| kind.fingerprint().unwrap();
    assert_eq!(of(plain::KIND), of(key::KIND), "a key changes no value");
    let all =
        [plain::KIND, alone::KIND, revised::KIND, kind_revised::KIND, other_path::KIND, shouted::KIND, longer::KIND];
    let others = [even::KIND, odd::KIND, worded::KIND, shouted_words::KIND];
    let all: Vec<_> = all.into_iter().chain(others).map(of).collect();
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "the {place}th");
    }
}

#[test]
fn the_lock_file_counts_the_definitions_of_a_kind() -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    let mut versions = Vec::new();
    // A definition that returns is a new one: rows of the one in between do not belong to it.
    for kind in [plain::KIND, key::KIND, revised::KIND, kind_revised::KIND, even::KIND, plain::KIND] {
        let outcome = folder.generate(&[kind], &GenerateOptions::default())?;
        let again = folder.generate(&[kind], &GenerateOptions::default())?;
        ensure!(again.changed.is_empty(), "{again:?}");
        let lock = folder.released()?;
        versions.push(lock.versioned(&[kind])?[0].ingest_version());
        ensure!(lock.versioned(&[shouted::KIND])?[0].ingest_version() == 0, "one that was not recorded is not known");
        ensure!(outcome.summary.contains("filled again") == (versions.len() > 2), "{outcome:?}");
    }
    ensure!(versions == [1, 1, 2, 3, 4, 5], "{versions:?}");
    ensure!(!folder.check(&[shouted::KIND])?.changed.is_empty(), "the lock file is behind");
    Ok(())
}

#[test]
fn rows_from_before_they_said_their_definition_are_of_the_first_one_if_nothing_else_changed() -> Result<()> {
    for (kinds, older) in [(first::KINDS, false), (second::KINDS, true)] {
        let root = tempfile::tempdir()?;
        let folder = Folder::new(root.path());
        folder.generate(first::KINDS, &GenerateOptions::default())?;
        // The lock file of a release that did not have the column.
        let path = root.path().join("schema.lock.json");
        let mut lock: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        lock.as_object_mut().context("an object")?.remove("definitions");
        let columns = lock["tables"][0]["columns"].as_array_mut().context("columns")?;
        columns.retain(|column| column["name"] != "ingest_version");
        std::fs::write(&path, lock.to_string())?;
        folder.generate(kinds, &GenerateOptions::default())?;
        let kind = folder.released()?.versioned(kinds)?[0];
        ensure!((kind.ingest_version(), kind.is_older(0)) == (1, older), "{kind:?}");
    }
    Ok(())
}

/// Runs the backfill of at most one kind; `None` if nothing is to be backfilled.
async fn fill(store: &Store, kind: Kind) -> Result<Option<BackfillProgress>> {
    let incomplete = store.incomplete_backfills(&[kind], None).await?;
    let Some(backfill) = incomplete.first() else { return Ok(None) };
    Ok(Some(store.backfill(backfill, None, &CancellationToken::new(), |_| {}).await?))
}

async fn rows_that_an_older_release_writes_after_the_backfill_are_filled_again(database: Database) -> Result<()> {
    let releases = releases()?;
    let old = releases.first.versioned(first::KINDS)?[0];
    let new = releases.second.versioned(second::KINDS)?[0];
    ensure!((old.ingest_version(), new.ingest_version()) == (1, 2));
    let store = connect(&database).await?;
    let older = connect(&database).await?;
    apply(&releases.first, &store).await?;
    write(&store, &old, (0..4).map(|number| job(number, 10))).await?;
    apply(&releases.second, &store).await?;
    ensure!(fill(&store, new).await?.is_some_and(|filled| filled.complete && filled.filled == 4));
    ensure!(database.count("job WHERE ingest_version = 2 AND owner LIKE 'owner-_-10'").await? == 4);
    ensure!(fill(&store, new).await?.is_none(), "nothing is left to do");

    // The old release still runs. It writes later versions, without the new columns' values.
    write(&older, &old, (0..2).map(|number| job(number, 11))).await?;
    ensure!(database.count("job WHERE ingest_version = 1 AND owner LIKE 'owner-_-10'").await? == 2, "they are stale");
    // For one of them the new release sees the same version.
    write(&store, &new, [job(0, 11)]).await?;
    let report = older.write(old.table(), vec![RowChange::Row(row(&old, &job(0, 11)))]).await?;
    ensure!(report.unchanged == 1, "never the other way round: {report:?}");
    // The other one is found by its definition.
    let live = store.live(&new, None, EvictedRows::Included, "", 10).await?;
    ensure!(live.iter().filter(|row| new.is_older(row.ingest_version)).count() == 1, "{live:?}");
    ensure!(fill(&store, new).await?.is_some_and(|filled| filled.complete && (filled.read, filled.filled) == (1, 1)));
    ensure!(database.count("job WHERE ingest_version = 2 AND owner LIKE 'owner-_-11'").await? == 2);
    ensure!(fill(&older, old).await?.is_none(), "for the old release there is nothing older");
    Ok(())
}

async fn a_changed_filter_reaches_objects_that_have_not_changed(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(&[plain::KIND], &GenerateOptions::default())?;
    let all = folder.released()?.versioned(&[plain::KIND])?[0];
    // Rows are marked by the database's clock, which also judges their age.
    let store = Store::connect(&database.behind().await?.parse()?, ConnectOptions::default()).await?;
    apply(&folder.released()?, &store).await?;
    write(&store, &all, (0..6).map(|number| job(number, 1))).await?;
    let mut evicted = row(&all, &job(7, 1));
    evicted.evict_time = Some(ingester_core::value::Micros::now());
    store.write(all.table(), vec![RowChange::Row(evicted)]).await?;

    folder.generate(&[even::KIND], &GenerateOptions::default())?;
    let even = folder.released()?.versioned(&[even::KIND])?[0];
    let filled = fill(&store, even).await?.context("rows of an older definition")?;
    let wanted = BackfillProgress { read: 7, filled: 3, marked: 3, complete: true, ..BackfillProgress::default() };
    ensure!(filled == wanted, "{filled:?}");
    let marked = store
        .read_stored(even.table(), &["uid-000001"])
        .await?
        .pop()
        .and_then(|row| row.delete_time)
        .context("a mark")?;
    ensure!((marked.0 - store.now().0).abs() < 3600 * 1_000_000, "{marked:?} by a clock of {:?}", store.now());
    let live = store.live(&even, None, EvictedRows::Included, "", 10).await?;
    let live: Vec<&str> = live.iter().filter(|row| row.eviction == Eviction::None).map(|row| &*row.uid).collect();
    ensure!(live == ["uid-000000", "uid-000002", "uid-000004"], "{live:?}");
    let kept = "job WHERE uid = 'uid-000007' AND delete_time IS NULL AND evict_time IS NOT NULL";
    ensure!(database.count(kept).await? == 1, "the only copy of an object stays");
    ensure!(fill(&store, even).await?.is_none());
    Ok(())
}

async fn a_changed_filter_marks_nothing_above_the_limit(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(&[plain::KIND], &GenerateOptions::default())?;
    let all = folder.released()?.versioned(&[plain::KIND])?[0];
    let store = connect(&database).await?;
    apply(&folder.released()?, &store).await?;
    write(&store, &all, (0..20).map(|number| job(number, 1))).await?;
    let mut evicted = row(&all, &job(21, 1));
    evicted.evict_time = Some(ingester_core::value::Micros::now());
    store.write(all.table(), vec![RowChange::Row(evicted)]).await?;

    folder.generate(&[even::KIND], &GenerateOptions::default())?;
    let even = folder.released()?.versioned(&[even::KIND])?[0];
    let found = LeftOutCount { rows: 10, live: 20 };
    ensure!(store.count_left_out(&even).await? == found, "the only copy of an object does not count");
    for (limit, marked, waits) in [(9, 0, Some(found)), (9, 0, Some(found)), (10, 10, None)] {
        let incomplete = store.incomplete_backfills(&[even], None).await?;
        let fuse = Fuse { limit, namespaces: Vec::new() };
        let backfill = incomplete.first().context("rows of an older definition")?.clone().limited(Some(fuse));
        let filled = store.backfill(&backfill, None, &CancellationToken::new(), |_| {}).await?;
        ensure!((filled.marked, filled.waits, filled.complete) == (marked, waits, true), "{limit}: {filled:?}");
        ensure!(database.count("job WHERE delete_time IS NULL").await? == 21 - marked, "{limit}");
    }
    ensure!(store.count_left_out(&even).await? == LeftOutCount { rows: 0, live: 10 });
    ensure!(fill(&store, even).await?.is_none(), "nothing is left to do");
    Ok(())
}

async fn large_values_are_filled_and_one_too_large_stops_nothing(database: Database) -> Result<()> {
    const ROWS: usize = 40;
    const MIB: usize = 1 << 20;
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(first::KINDS, &GenerateOptions::default())?;
    let store = connect(&database).await?;
    apply(&folder.released()?, &store).await?;
    // MEDIUMTEXT holds one byte less than MariaDB's default packet, which also has to hold the statement.
    let sized = |number: usize| if number == 3 { 16 * MIB - 1 } else { MIB };
    let jobs = (0..ROWS).map(|number| {
        let mut job = job(number, 1);
        job["spec"]["owner"] = json!(sized(number).to_string());
        job
    });
    write(&store, &FIRST_KIND, jobs).await?;
    folder.generate(&[large::KIND], &GenerateOptions { allow_destructive: true, ..GenerateOptions::default() })?;
    apply(&folder.released()?, &store).await?;
    let kind = folder.released()?.versioned(&[large::KIND])?[0];
    let packet = database.cell("SELECT @@max_allowed_packet").await.ok().flatten();
    let failed = usize::from(packet.and_then(|bytes| bytes.parse().ok()).is_some_and(|bytes: usize| bytes <= 16 * MIB));
    let filled = fill(&store, kind).await?.context("a new column")?;
    let read = ROWS as u64;
    let failed = failed as u64;
    let wanted =
        BackfillProgress { read, filled: read - failed, failed, complete: true, ..BackfillProgress::default() };
    ensure!(filled == wanted, "{filled:?}");
    ensure!(database.count("job WHERE LENGTH(owner) = 1048576").await? == read - 1);
    ensure!(database.count("ingester_rejects WHERE uid = 'uid-000003'").await? == failed);
    let rejects = store.rejects("example.com/v1", "Job", None).await?;
    ensure!(rejects.iter().all(|reject| reject.reason.contains("raise max_allowed_packet")), "{rejects:?}");
    ensure!(fill(&store, kind).await?.is_some() == (failed == 1), "the row is tried again at the next start");
    Ok(())
}

async fn labels_are_filled_once_their_tables_are_made(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(&[alone::KIND], &GenerateOptions::default())?;
    let store = connect(&database).await?;
    let released = folder.released()?;
    apply(&released, &store).await?;
    ensure!(database.sql("SELECT * FROM job_labels").await.is_err(), "there is no such table");
    let objects: Vec<_> = (0..20)
        .map(|number| {
            let mut object = job(number, 1);
            object["metadata"]["labels"] = json!({ "number": number.to_string() });
            object["metadata"]["annotations"] = json!({ "a": "b" });
            object
        })
        .collect();
    write(&store, &released.versioned(&[alone::KIND])?[0], objects.iter().cloned()).await?;

    let outcome = folder.generate(&[plain::KIND], &GenerateOptions::default())?;
    ensure!(outcome.migrations.len() == 1 && outcome.summary.contains("filled again"), "{outcome:?}");
    let released = folder.released()?;
    apply(&released, &store).await?;
    let kind = released.versioned(&[plain::KIND])?[0];
    let incomplete = store.incomplete_backfills(&[kind], Some(&released)).await?;
    let [backfill] = &incomplete[..] else { anyhow::bail!("{incomplete:?}") };
    let done = store.backfill(backfill, None, &CancellationToken::new(), |_| {}).await?;
    ensure!((done.read, done.filled, done.failed) == (20, 20, 0), "{done:?}");
    for object in &objects {
        let row = row(&kind, object);
        let stored = store.read_stored(kind.table(), &[&row.uid]).await?;
        let stored = stored.first().context("a row")?;
        ensure!(stored.labels == row.labels && stored.annotations == row.annotations, "{stored:?}");
        ensure!(!row.labels.is_empty() && stored.ingest_version == 2, "{stored:?}");
    }
    ensure!(store.incomplete_backfills(&[kind], Some(&released)).await?.is_empty());
    // A revert: the tables would be dropped.
    let error = folder.generate(&[alone::KIND], &GenerateOptions::default()).unwrap_err().to_string();
    ensure!(error.contains("all rows of `job_labels`"), "{error}");
    Ok(())
}

async fn many_values_are_filled_once_their_table_or_their_function_is_new(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(&[plain::KIND], &GenerateOptions::default())?;
    let store = connect(&database).await?;
    let first = folder.released()?;
    apply(&first, &store).await?;
    let old = first.versioned(&[plain::KIND])?[0];
    write(&store, &old, (0..4).map(|number| job(number, 10))).await?;

    let outcome = folder.generate(&[worded::KIND], &GenerateOptions::default())?;
    ensure!(outcome.summary.contains("create table `job_words`"), "{outcome:?}");
    ensure!(outcome.summary.contains("filled from the stored objects afterwards"), "{outcome:?}");
    let released = folder.released()?;
    apply(&released, &store).await?;
    let kind = released.versioned(&[worded::KIND])?[0];
    ensure!(fill(&store, kind).await?.is_some_and(|filled| filled.complete && (filled.read, filled.filled) == (4, 4)));
    ensure!(database.count("job_words WHERE value = 'owner'").await? == 4);
    ensure!(database.count("job_words").await? == 4 * 3 && fill(&store, kind).await?.is_none());

    // The old release still runs, and does not know the table.
    write(&store, &old, [job(0, 11)]).await?;
    ensure!(database.count("job_words WHERE value = '11'").await? == 0, "the values are stale");
    ensure!(fill(&store, kind).await?.is_some_and(|filled| (filled.read, filled.filled) == (1, 1)));
    ensure!(database.count("job_words WHERE value = '11'").await? == 1);

    // Back and forward again: the rows have the definition, and the table is empty.
    released.revert(&store, 1, &mut |_| {}).await?;
    ensure!(database.sql("SELECT * FROM job_words").await.is_err(), "there is no such table");
    apply(&released, &store).await?;
    let incomplete = store.incomplete_backfills(&[kind], Some(&released)).await?;
    let [backfill] = &incomplete[..] else { anyhow::bail!("{incomplete:?}") };
    ensure!(backfill.columns().iter().map(|column| column.as_str()).eq(["words"]), "{backfill:?}");
    let progress = store.column_backfills(&[kind]).await?;
    ensure!(progress.iter().any(|column| column.column == "words" && !column.complete), "{progress:?}");
    let filled = store.backfill(backfill, None, &CancellationToken::new(), |_| {}).await?;
    ensure!(filled.complete && filled.filled == 4 && database.count("job_words").await? == 12, "{filled:?}");
    ensure!(store.incomplete_backfills(&[kind], Some(&released)).await?.is_empty());

    // Another function: no table changes.
    let outcome = folder.generate(&[shouted_words::KIND], &GenerateOptions::default())?;
    ensure!(outcome.migrations.is_empty() && outcome.summary.contains("filled again"), "{outcome:?}");
    let loud = folder.released()?.versioned(&[shouted_words::KIND])?[0];
    ensure!(fill(&store, loud).await?.is_some_and(|filled| (filled.read, filled.filled) == (4, 4)));
    ensure!(database.count("job_words WHERE value = 'OWNER'").await? == 4 && database.count("job_words").await? == 12);
    // Dropping it loses the values, so it must be explicit.
    let error = folder.generate(&[plain::KIND], &GenerateOptions::default()).unwrap_err().to_string();
    ensure!(error.contains("all rows of `job_words`; the objects keep theirs in `json`"), "{error}");
    Ok(())
}
