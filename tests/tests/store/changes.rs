//! The log of changes: each writer records what it has done, and readers number the entries in an order in which none is missed.

use crate::world::{MODEL_AND_PROJECT, On, Stores as _, World, change, kind, model, poisoned, row};
use anyhow::{Context as _, Result, ensure};
use futures::StreamExt as _;
use ingester_core::row::{Expected, Row, Standing};
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::query::Reads;
use ingester_store::changes::{Change, ChangeKind, Position};
use ingester_store::guard::{Eviction, Version};
use ingester_store::{ConnectOptions, Effect, PurgeResult, PurgeTerms, Retry, RowChange, Store};
use ingester_tests::{CutPoint, CuttingProxy, on_every_database, on_every_server, on_galera};
use serde_json::json;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

on_every_database! {
    each_writer_records_what_it_has_done
    what_changes_nothing_records_nothing
    an_object_that_is_refused_is_not_recorded
    single_writes_are_recorded_with_their_rows
    a_cancelled_write_is_recorded_if_it_is_stored
    two_who_number_at_once_give_each_entry_one_number
    readers_that_come_first_at_once_begin_a_log_with_one_reset
    a_fill_records_one_reset_until_the_log_is_read
    a_watch_that_begins_during_a_fill_ends_with_the_rows
    a_version_that_a_fill_may_have_stored_is_found_at_no_entry
    a_row_that_lives_again_says_so
    a_position_is_known_until_something_behind_it_is_purged
    a_version_is_found_at_its_lowest_entry
    the_last_entry_is_kept
    kinds_have_logs_of_their_own
    a_stream_of_changes_goes_on_until_something_is_missing
    a_log_that_is_switched_off_costs_nothing_and_begins_anew_with_a_reset
    a_follower_from_any_position_ends_with_the_state_of_the_rows
}

on_every_server! {
    an_entry_that_is_committed_late_gets_a_late_number
    a_follower_agrees_with_rows_whose_writers_ended_at_a_commit
}

on_galera! {
    each_writer_records_what_it_has_done
    two_who_number_at_once_give_each_entry_one_number
    a_follower_from_any_position_ends_with_the_state_of_the_rows
}

fn models() -> &'static Table {
    kind("Model").table()
}

/// Before every entry.
fn begin() -> Position {
    Position::of_version(1 << 62).unwrap()
}

/// All entries, numbered.
async fn all(store: &Store, table: &'static Table) -> Result<Vec<Change>> {
    let last = store.number_changes(table).await?;
    let changes = store.changes_after(table, begin(), 100_000).await?;
    ensure!(changes.last().map(|change| change.position) == Some(last), "{changes:?} end at {last:?}");
    ensure!(changes.is_sorted_by(|a, b| a.position < b.position), "{changes:?}");
    Ok(changes)
}

/// The new entries after a position, which moves there: `uid what version`, in the order of the log.
async fn news(store: &Store, table: &'static Table, after: &mut Position) -> Result<Vec<String>> {
    let last = store.number_changes(table).await?;
    let changes = store.changes_after(table, std::mem::replace(after, last), 100_000).await?;
    Ok(changes.iter().map(|change| format!("{} {} {}", change.uid, change.what.as_str(), change.res_version)).collect())
}

/// The same, by uid.
async fn sorted(store: &Store, table: &'static Table, after: &mut Position) -> Result<Vec<String>> {
    let mut news = news(store, table, after).await?;
    news.sort();
    Ok(news)
}

fn live(uid: &str, version: u64) -> RowChange {
    change(&model(uid, version))
}

fn leaving(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row { evict_time: Some(Micros(1_700_000_000_000_000)), ..row(&model(uid, version)) })
}

fn evicted(uid: &str, version: u64) -> RowChange {
    let RowChange::Row(row) = leaving(uid, version) else { unreachable!("a row") };
    RowChange::Row(Row { evict_confirmed: true, ..row })
}

/// Marks it as deleted, long ago.
fn gone(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row { delete_time: Some(Micros(1_700_000_000_000_000)), ..row(&model(uid, version)) })
}

fn tombstone(uid: &str, res_version: u64) -> RowChange {
    RowChange::Tombstone { uid: uid.into(), res_version, delete_time: Micros::now() }
}

/// A row that its writer expects to be absent.
fn new(uid: &str, version: u64) -> RowChange {
    let mut object = model("a", version);
    object["metadata"]["uid"] = json!(uid);
    RowChange::Row(Row { expected: Some(Expected::Absent), ..row(&object) })
}

/// A row that its writer expects to be stored in the previous version, with the same labels.
fn known(uid: &str, version: u64) -> RowChange {
    let mut object = model("a", 1);
    object["metadata"]["uid"] = json!(uid);
    object["metadata"]["resourceVersion"] = json!(version.to_string());
    let row = row(&object);
    let companions = row.companions_hash();
    RowChange::Row(Row { expected: Some(Expected::Stored { res_version: version - 1, companions }), ..row })
}

async fn each_writer_records_what_it_has_done(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    let mut at = store.number_changes(table).await?;
    let [first] = &store.changes_after(table, begin(), 9).await?[..] else { anyhow::bail!("one entry") };
    assert_eq!((first.what, first.position), (ChangeKind::Reset, at), "what was before is in no log");

    store.write(table, vec![live("a", 1), live("b", 1), leaving("c", 1), evicted("d", 1), gone("e", 1)]).await?;
    let is = ["a inserted 1", "b inserted 1", "c evicting 1", "d evicted 1", "e deleted 1"];
    assert_eq!(sorted(&store, table, &mut at).await?, is);

    store.write(table, vec![live("a", 2), leaving("b", 2), tombstone("c", 5)]).await?;
    assert_eq!(sorted(&store, table, &mut at).await?, ["a updated 2", "b evicting 2", "c evicted 1"]);

    store.write(table, vec![tombstone("a", 7), evicted("b", 2), live("e", 3)]).await?;
    assert_eq!(sorted(&store, table, &mut at).await?, ["a deleted 7", "b evicted 2", "e revived 3"]);

    // The cluster went back.
    let seen = Version {
        res_version: 3,
        ingest_version: row(&model("e", 3)).ingest_version,
        deleted: false,
        eviction: Eviction::None,
    };
    store.write(table, vec![RowChange::Replacement { row: row(&model("e", 2)), seen }]).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["e updated 2"]);
    // A row that was changed by hand is written again.
    let seen = Version { res_version: 2, ..seen };
    store.write(table, vec![RowChange::Replacement { row: row(&model("e", 2)), seen }]).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["e updated 2"]);

    let edit = |_: &_| Ok::<_, Infallible>(Some(row(&model("d", 2))));
    store.change_evicted(kind("Model"), "d", Effect::Written, edit).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["d updated 2"]);

    store.delete_evicted(kind("Model"), "d", Effect::Written, |_| Ok::<_, Infallible>(())).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["d deleted 2"]);

    store.write(table, vec![evicted("f", 4), evicted("g", 4), evicted("h", 4)]).await?;
    assert_eq!(sorted(&store, table, &mut at).await?.len(), 3);
    store.delete_evicted_of(table, &[("f", 4), ("g", 3)], Effect::Written).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["f deleted 4"]);

    let seen = Version { res_version: 4, eviction: Eviction::Confirmed, ..seen };
    assert!(store.replace_evicted(kind("Model"), &row(&model("h", 3)), seen).await?);
    assert_eq!(news(&store, table, &mut at).await?, ["h revived 3"]);

    store.write(table, vec![gone("i", 6), gone("j", 6)]).await?;
    assert_eq!(news(&store, table, &mut at).await?.len(), 2);
    assert_eq!(store.purge_rows(kind("Model"), &["i"], Micros::now()).await?, 1);
    assert_eq!(news(&store, table, &mut at).await?, ["i purged 6"]);
    assert_eq!(store.purge(kind("Model"), Micros(1_750_000_000_000_000)).await?.rows, 1);
    assert_eq!(news(&store, table, &mut at).await?, ["j purged 6"]);

    // An evicted object exists until it is purged.
    let evicted = Row { evict_time: Some(Micros(1)), evict_confirmed: true, ..row(&model("k", 7)) };
    store.write(table, vec![RowChange::Row(evicted)]).await?;
    let stored = store.read_stored(table, &["k"]).await?.pop().context("a row")?;
    let judged = Standing { version: stored.version(), delete_time: None, evict_time: stored.evict_time };
    let premise = store.premise(kind("Model"), Reads::default()).await?;
    let terms = PurgeTerms { premise: &premise, marked: None };
    assert_eq!(store.purge_judged(kind("Model"), &[("k", judged)], terms).await?, 1);
    let told = news(&store, table, &mut at).await?;
    assert_eq!(told[told.len() - 2..], ["k deleted 7", "k purged 7"], "{told:?}");

    // Names go with the entry, because the row may be gone when it is read.
    let all = all(&store, table).await?;
    for entry in all.iter().filter(|entry| entry.what != ChangeKind::Reset) {
        assert_eq!((&*entry.namespace, &*entry.name), ("ml", &*format!("model-{}", entry.uid)), "{entry:?}");
        let age = Micros::now().0 - entry.at.0;
        assert!(age.abs() < 600_000_000, "{entry:?}");
    }
    agrees(&world, &all, "model").await
}

/// The last entry of each uid says what its row is now.
async fn agrees(world: &World, changes: &[Change], table: &str) -> Result<()> {
    let mut state = BTreeMap::new();
    for change in changes {
        apply(&mut state, change);
    }
    assert_eq!(state, read_rows(world, table).await?);
    Ok(())
}

/// The rows of the main table: version, and state.
async fn read_rows(world: &World, table: &str) -> Result<BTreeMap<String, (u64, State)>> {
    let columns =
        "uid, res_version, CASE WHEN delete_time IS NOT NULL THEN 2 WHEN evict_time IS NOT NULL THEN 1 ELSE 0 END";
    let rows = world.sql(&format!("SELECT {columns} FROM {table}")).await?;
    let mut state = BTreeMap::new();
    for row in rows {
        let [Some(uid), Some(version), Some(is)] = &row[..] else { anyhow::bail!("{row:?}") };
        let is = match is.as_str() {
            "2" => State::Deleted,
            _ => State::Live,
        };
        state.insert(uid.clone(), (version.parse()?, is));
    }
    Ok(state)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the cluster, or evicted.
    Live,
    Deleted,
}

/// What a follower knows after an entry.
fn apply(state: &mut BTreeMap<String, (u64, State)>, change: &Change) {
    let is = match change.what {
        ChangeKind::Inserted
        | ChangeKind::Updated
        | ChangeKind::Revived
        | ChangeKind::Evicting
        | ChangeKind::Evicted => State::Live,
        ChangeKind::Deleted => State::Deleted,
        ChangeKind::Purged => {
            state.remove(&*change.uid);
            return;
        }
        ChangeKind::Reset => return,
    };
    state.insert(change.uid.to_string(), (change.res_version, is));
}

/// The statements that write main rows, each with the files that run it, which record that. A new one belongs here once it is recorded.
const WRITERS: [(&str, &[&str]); 12] = [
    ("Insert {", &["batch.rs", "single.rs"]),
    ("Overwrite {", &["locked.rs"]),
    ("OverwriteExpected {", &["judged.rs"]),
    ("Update {", &["single.rs"]),
    ("Tombstone {", &["history.rs"]),
    ("TombstoneOlder {", &["judged.rs"]),
    ("ConfirmEvictions {", &["locked.rs"]),
    ("Purge {", &["purge.rs"]),
    ("Undelete {", &["marks.rs"]),
    // For rows that the same transaction has inserted.
    ("BeginAfterFormer {", &["history.rs"]),
    // The same versions, which begin with the commit.
    ("BeginLater {", &["history.rs"]),
    // The same version of the object, in other columns.
    ("WriteBackfilled {", &["backfill.rs"]),
];

#[test]
fn nothing_else_writes_main_rows() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the repository")?;
    let statements = root.join("crates/ingester-sql/src/dialect/statements");
    // The statements that write a kind's main table: only that has its name in a template.
    let mut writing = Vec::new();
    for file in std::fs::read_dir(statements)? {
        let text = std::fs::read_to_string(file?.path())?;
        let writes =
            ["INSERT INTO {{ table.name|", "UPDATE {{ table.name|", "UPDATE {{ table|by_uid", "|deleted_by_uid }}"];
        if writes.iter().any(|write| text.contains(write)) {
            let name = text.split("pub struct ").nth(1).and_then(|rest| rest.split(['<', ' ', ';']).next());
            writing.push(format!("{} {{", name.context("a statement")?));
        }
    }
    let mut known: Vec<&str> = WRITERS.iter().map(|(statement, _)| *statement).chain(["MarkRows {"]).collect();
    known.sort_unstable();
    writing.sort_unstable();
    assert_eq!(writing, known, "a statement writes main rows: say above which file runs it, and record what it does");
    let rows = root.join("crates/ingester-store/src");
    for (statement, files) in WRITERS {
        let mut found = Vec::new();
        walk(&rows, &mut |path, text| {
            if text.contains(&format!("&{statement}")) || text.contains(&format!("= {statement}")) {
                found.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
        })?;
        found.sort();
        assert_eq!(found, files, "{statement}");
    }
    Ok(())
}

fn walk(folder: &Path, each: &mut impl FnMut(&Path, &str)) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => walk(&path, each)?,
            false => each(&path, &std::fs::read_to_string(&path)?),
        }
    }
    Ok(())
}

async fn what_changes_nothing_records_nothing(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    store.write(table, vec![live("a", 5), gone("b", 5), evicted("c", 5)]).await?;
    let mut at = store.number_changes(table).await?;
    // Stale, the same, the same by another definition, and changes from which the guard protects an evicted row.
    let of_definition = |uid: &str, ingest_version| RowChange::Row(Row { ingest_version, ..row(&model(uid, 5)) });
    let later = row(&model("a", 5)).ingest_version + 1;
    for change in [
        live("a", 4),
        live("a", 5),
        known("a", 5),
        tombstone("a", 4),
        of_definition("a", later),
        live("b", 5),
        live("c", 9),
        tombstone("d", 9),
    ] {
        let written = store.write(table, vec![change.clone()]).await?.written;
        assert_eq!(written > 0, change == of_definition("a", later), "{change:?}");
        assert_eq!(news(&store, table, &mut at).await?, [""; 0], "{change:?}");
    }
    // The expectation is right, and only the definition differs.
    let RowChange::Row(again) = of_definition("a", later + 1) else { unreachable!("a row") };
    let expected = Some(Expected::Stored { res_version: 5, companions: again.companions_hash() });
    assert_eq!(store.write(table, vec![RowChange::Row(Row { expected, ..again })]).await?.written, 1);
    let edit = |_: &_| Ok::<_, Infallible>(Some(row(&model("c", 6))));
    store.change_evicted(kind("Model"), "c", Effect::Tried, edit).await?;
    store.delete_evicted(kind("Model"), "c", Effect::Tried, |_| Ok::<_, Infallible>(())).await?;
    store.delete_evicted_of(table, &[("c", 5)], Effect::Tried).await?;
    assert_eq!(store.purge_rows(kind("Model"), &["a", "c"], Micros::now()).await?, 0);
    assert_eq!(news(&store, table, &mut at).await?, [""; 0]);
    // Objects of files without versions replace each other if they differ.
    store.write(table, vec![live("f", 0)]).await?;
    store.write(table, vec![live("f", 0)]).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["f inserted 0"]);
    let mut other = model("f", 0);
    other["spec"]["algorithm"] = "another".into();
    store.write(table, vec![change(&other)]).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["f updated 0"]);
    Ok(())
}

async fn an_object_that_is_refused_is_not_recorded(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    let mut at = store.number_changes(table).await?;
    let changes = vec![live("a", 1), live("b", 1), poisoned(world.on, "c"), live("d", 1), live("e", 1)];
    let report = store.write(table, changes).await?;
    assert_eq!((report.written, report.rejected.len()), (4, 1));
    // The whole batch was rolled back, and halves of it.
    let is = ["a inserted 1", "b inserted 1", "d inserted 1", "e inserted 1"];
    assert_eq!(sorted(&store, table, &mut at).await?, is);
    Ok(())
}

async fn single_writes_are_recorded_with_their_rows(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    let mut at = store.number_changes(table).await?;
    for (change, recorded) in [
        (new("a", 1), "a inserted 1"),
        (known("a", 2), "a updated 2"),
        // The expectation is wrong: the row is written in a batch of one.
        (known("a", 4), "a updated 4"),
        (new("a", 5), "a updated 5"),
        (new("it's \\ ?", 1), "it's \\ ? inserted 1"),
        (known("it's \\ ?", 2), "it's \\ ? updated 2"),
    ] {
        assert_eq!(store.write(table, vec![change.clone()]).await?.written, 1, "{change:?}");
        assert_eq!(news(&store, table, &mut at).await?, [recorded], "{change:?}");
    }
    // It is too large for a single text.
    let mut large = model("large", 1);
    large["spec"]["unknown"] = json!("x".repeat(100_000));
    for version in [1, 2] {
        large["metadata"]["resourceVersion"] = json!(version.to_string());
        let row = row(&large);
        let companions = row.companions_hash();
        let stored = Expected::Stored { res_version: version - 1, companions };
        let expected = Some(if version == 1 { Expected::Absent } else { stored });
        assert_eq!(store.write(table, vec![RowChange::Row(Row { expected, ..row })]).await?.written, 1);
    }
    assert_eq!(news(&store, table, &mut at).await?, ["large inserted 1", "large updated 2"]);
    // No row matches, so nothing is recorded.
    let report = store.write(table, vec![known("a", 3)]).await?;
    assert_eq!((report.written, report.stale.len()), (0, 1));
    assert_eq!(news(&store, table, &mut at).await?, [""; 0]);
    agrees(&world, &all(&store, table).await?, "model").await
}

async fn a_cancelled_write_is_recorded_if_it_is_stored(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    store.write(table, (0..30).map(|n| live(&format!("u{n:02}"), 1)).collect()).await?;
    let mut given_up = 0;
    for n in 0..90_u64 {
        let uid = format!("u{:02}", n % 45);
        let changes = match n % 3 {
            0 => vec![if n % 45 < 30 { known(&uid, 2) } else { new(&uid, 2) }],
            _ => vec![live(&uid, 2 + n), live(&format!("v{n:02}"), 1)],
        };
        let patience = Duration::from_micros(30 * n);
        let begin = std::time::Instant::now();
        let writing = store.write(table, changes);
        tokio::pin!(writing);
        let done = std::future::poll_fn(|context| match writing.as_mut().poll(context) {
            std::task::Poll::Ready(report) => std::task::Poll::Ready(Some(report)),
            // The runtime's timers are too coarse for this.
            std::task::Poll::Pending if begin.elapsed() >= patience => std::task::Poll::Ready(None),
            std::task::Poll::Pending => {
                context.waker().wake_by_ref();
                std::task::Poll::Pending
            }
        });
        given_up += u32::from(done.await.transpose()?.is_none());
    }
    ensure!(given_up > 0, "every one of them was faster");
    // Any unfinished work is over once another writer has written the same rows.
    let last = (0..45).map(|n| live(&format!("u{n:02}"), 1000)).chain((0..90).map(|n| live(&format!("v{n:02}"), 1000)));
    store.write(table, last.collect()).await?;
    let all = all(&store, table).await?;
    agrees(&world, &all, "model").await?;
    // No version is recorded twice, and none that another writer used for another row.
    let mut entries: Vec<_> = all.iter().map(|change| (&change.uid, change.res_version)).collect();
    entries.sort();
    assert!(entries.is_sorted_by(|a, b| a < b), "{entries:?}");
    Ok(())
}

async fn two_who_number_at_once_give_each_entry_one_number(world: World) -> Result<()> {
    let options = || ConnectOptions::default().retry(Retry::SHORT.attempts(None));
    let stores = [Arc::new(world.connect(options()).await?), Arc::new(world.connect(options()).await?)];
    stores[0].create_missing(MODEL_AND_PROJECT).await?;
    let table = models();
    // Now it is read: each object has an entry.
    stores[0].number_changes(table).await?;
    stores[1].number_changes(table).await?;
    let mut tasks = tokio::task::JoinSet::new();
    for (writer, of_writer) in stores.iter().enumerate() {
        let store = of_writer.clone();
        tasks.spawn(async move {
            for batch in 0..30 {
                let uid = |n: u32| format!("w{writer}-{batch:02}-{n:02}");
                store.write(table, (0..1 + batch % 40).map(|n| live(&uid(n), 1)).collect()).await?;
            }
            Ok::<_, anyhow::Error>(Vec::new())
        });
        let store = of_writer.clone();
        tasks.spawn(async move {
            let mut seen = Vec::new();
            let mut at = begin();
            for _ in 0..60 {
                let last = store.number_changes(table).await?;
                seen.extend(store.changes_after(table, at, 100_000).await?);
                at = seen.last().map_or(at, |change: &Change| change.position);
                ensure!(at >= last, "{at:?} is before {last:?}");
            }
            Ok(seen)
        });
    }
    let seen: Vec<Vec<Change>> = tasks.join_all().await.into_iter().collect::<Result<_>>()?;
    let all = all(&stores[0], table).await?;
    for seen in seen.iter().filter(|seen| !seen.is_empty()) {
        assert_eq!(seen[..], all[..seen.len()], "readers see the same log");
    }
    let objects: u32 = 2 * (0..30).map(|batch| 1 + batch % 40).sum::<u32>();
    assert_eq!(all.iter().filter(|change| change.what == ChangeKind::Inserted).count(), objects as usize);
    assert_eq!(world.count("ingester_changes WHERE seq IS NULL").await?, 0);
    Ok(())
}

async fn readers_that_come_first_at_once_begin_a_log_with_one_reset(world: World) -> Result<()> {
    let first = world.store().await?;
    let stores = futures::future::try_join_all((0..4).map(|_| world.connect(ConnectOptions::default()))).await?;
    let resets = async || -> Result<usize> {
        let all = all(&first, models()).await?;
        Ok(all.iter().filter(|change| change.what == ChangeKind::Reset).count())
    };
    first.write(models(), vec![live("a", 1)]).await?;
    futures::future::try_join_all(stores.iter().map(|store| store.number_changes(models()))).await?;
    assert_eq!(resets().await?, 1);
    // A reader was killed after it had begun, and its reset is lost.
    world.sql("DELETE FROM ingester_changes").await?;
    world.sql("UPDATE ingester_positions SET seq = 0").await?;
    futures::future::try_join_all(stores.iter().map(|store| store.number_changes(models()))).await?;
    assert_eq!(resets().await?, 1);
    Ok(())
}

async fn a_fill_records_one_reset_until_the_log_is_read(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    // They will remember for a while that the log was never read.
    let others = [world.connect(ConnectOptions::default()).await?, world.connect(ConnectOptions::default()).await?];
    store.write(table, vec![live("a", 5), new("b", 9), gone("c", 7)]).await?;
    assert_eq!(world.count("ingester_changes").await?, 1);
    assert_eq!(others[0].write(table, vec![live("d", 1), live("e", 1)]).await?.written, 2);
    assert_eq!(world.count("ingester_changes").await?, 2);
    // A single row, and one that is not new, have entries.
    store.write(table, vec![live("f", 1)]).await?;
    store.write(table, vec![live("g", 1), live("a", 6)]).await?;
    assert_eq!(world.count("ingester_changes").await?, 5);
    let entries = all(&store, table).await?;
    let said = |entry: &Change| format!("{} {} {}", entry.uid, entry.what.as_str(), entry.res_version);
    let mut said: Vec<String> = entries.iter().map(said).collect();
    assert_eq!(said[..3], [" reset 9", " reset 1", "f inserted 1"]);
    said[3..5].sort();
    assert_eq!(said[3..], ["a updated 6", "g inserted 1", " reset 0"]);

    // Now it is read.
    let mut at = entries.last().context("the last entry")?.position;
    for store in [&store, &others[1]] {
        store.write(table, vec![live("h", 1), live("i", 1)]).await?;
        assert_eq!(sorted(store, table, &mut at).await?, ["h inserted 1", "i inserted 1"]);
        for uid in ["h", "i"] {
            store.write(table, vec![gone(uid, 2)]).await?;
        }
        store.purge_rows(kind("Model"), &["h", "i"], Micros::now()).await?;
        at = store.number_changes(table).await?;
    }
    // A writer that does not know it yet records something equivalent.
    others[0].write(table, vec![live("k", 3), live("l", 2)]).await?;
    assert_eq!(news(&store, table, &mut at).await?, [" reset 3"]);
    Ok(())
}

async fn a_watch_that_begins_during_a_fill_ends_with_the_rows(world: World) -> Result<()> {
    let reader = world.store().await?;
    let table = models();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..2 {
        let store = world.connect(ConnectOptions::default().retry(Retry::SHORT)).await?;
        writers.spawn(async move {
            for batch in 0..30_u64 {
                let uid = |n| format!("u{writer}-{batch:02}-{n}");
                store.write(table, (0..4).map(|n| live(&uid(n), batch + 1)).collect()).await?;
                store.write(table, vec![live(&uid(0), 100), tombstone(&uid(1), 100)]).await?;
            }
            Ok::<_, anyhow::Error>(())
        });
    }
    while world.count("model").await? < 20 {
        tokio::task::yield_now().await;
    }
    // The position is read before the rows, as for any list.
    let mut at = reader.number_changes(table).await?;
    let mut state = read_rows(&world, "model").await?;
    let mut left = true;
    while left {
        left = !writers.is_empty();
        while let Some(writer) = writers.try_join_next() {
            writer??;
        }
        reader.number_changes(table).await?;
        for change in reader.changes_after(table, at, 50).await? {
            (at, left) = (change.position, true);
            if change.what == ChangeKind::Reset {
                at = reader.number_changes(table).await?;
                state = read_rows(&world, "model").await?;
                break;
            }
            apply(&mut state, &change);
        }
    }
    assert_eq!(state.len(), 240);
    assert_eq!(state, read_rows(&world, "model").await?);
    Ok(())
}

async fn a_version_that_a_fill_may_have_stored_is_found_at_no_entry(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    store.write(table, vec![leaving("a", 7), live("b", 9)]).await?;
    store.number_changes(table).await?;
    // A client may have been sent this version of `a`, and nothing since: this is not the object's first change.
    store.write(table, vec![evicted("a", 7)]).await?;
    store.write(table, vec![live("b", 10)]).await?;
    let entries = all(&store, table).await?;
    assert!(entries.iter().any(|entry| entry.res_version == 7 && entry.what == ChangeKind::Evicted), "{entries:?}");
    assert_eq!(store.position_of(table, 7).await?, None);
    let position = store.position_of(table, 10).await?.context("a position")?;
    assert_eq!(&*store.changes_after(table, position, 1).await?[0].uid, "b");
    Ok(())
}

async fn a_row_that_lives_again_says_so(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    let mut at = store.number_changes(table).await?;
    store.write(table, vec![gone("a", 1), leaving("b", 1), live("c", 1), evicted("d", 1)]).await?;
    let is = ["a deleted 1", "b evicting 1", "c inserted 1", "d evicted 1"];
    assert_eq!(sorted(&store, table, &mut at).await?, is);
    store.write(table, ["a", "b", "c", "d"].map(|uid| live(uid, 2)).into()).await?;
    assert_eq!(sorted(&store, table, &mut at).await?, ["a revived 2", "b revived 2", "c updated 2"]);
    // A user changes an evicted one.
    let edit = |_: &_| Ok::<_, Infallible>(Some(row(&model("d", 3))));
    store.change_evicted(kind("Model"), "d", Effect::Written, edit).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["d updated 3"]);
    // What is evicted at once has left the live ones, and the deleted ones.
    store.write(table, vec![tombstone("a", 5), live("f", 1)]).await?;
    assert_eq!(sorted(&store, table, &mut at).await?, ["a deleted 5", "f inserted 1"]);
    store.write(table, vec![evicted("a", 6)]).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["a revived 6", "a evicted 6"]);
    store.write(table, vec![evicted("c", 3), leaving("f", 2)]).await?;
    assert_eq!(sorted(&store, table, &mut at).await?, ["c evicted 3", "c evicting 3", "f evicting 2"]);
    Ok(())
}

async fn an_entry_that_is_committed_late_gets_a_late_number(world: World) -> Result<()> {
    use sqlx::{Connection as _, Executor as _};
    use tokio::sync::oneshot::{Receiver, Sender, channel};
    /// A writer that records a change, and commits on request.
    async fn hold<D: sqlx::Database>(url: &str, quoted: char, held: Sender<()>, told: Receiver<()>) -> sqlx::Result<()>
    where
        for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
    {
        let mut connection = D::Connection::connect(url).await?;
        connection.execute("BEGIN").await?;
        let insert = "INSERT INTO ingester_changes (table_name, uid, namespace, name, res_version, `change`, at) \
                      VALUES ('model', 'late', 'ml', 'late', 1, 'inserted', '2026-01-01 00:00:00')";
        let insert = insert.replace('`', &quoted.to_string());
        connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(insert))).await?;
        let _ = held.send(());
        let _ = told.await;
        connection.execute("COMMIT").await.map(drop)
    }
    let store = world.store().await?;
    let table = models();
    let mut at = store.number_changes(table).await?;
    let (held, is_held) = channel();
    let (tell, told) = channel();
    let url = world.url.clone();
    let on = world.on;
    let holder = tokio::spawn(async move {
        match on {
            On::Postgres => hold::<sqlx::Postgres>(&url, '"', held, told).await,
            _ => hold::<sqlx::MySql>(&url, '`', held, told).await,
        }
    });
    is_held.await?;
    store.write(table, vec![live("a", 1), live("b", 1)]).await?;
    // Neither the writers nor the numbering readers wait for it.
    let within = Duration::from_secs(20);
    let seen = tokio::time::timeout(within, sorted(&store, table, &mut at)).await??;
    assert_eq!(seen, ["a inserted 1", "b inserted 1"]);
    assert!(store.is_known(table, at).await?);
    let _ = tell.send(());
    holder.await??;
    assert_eq!(news(&store, table, &mut at).await?, ["late inserted 1"]);
    let all = all(&store, table).await?;
    let ids = world.sql("SELECT uid FROM ingester_changes WHERE uid <> '' ORDER BY id").await?;
    assert_eq!(ids[0][0].as_deref(), Some("late"), "its id is the lowest");
    assert_eq!(all.last().map(|change| &*change.uid), Some("late"));
    Ok(())
}

async fn a_position_is_known_until_something_behind_it_is_purged(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    assert_eq!(store.last_position(table).await?, None);
    assert!(!store.is_known(table, begin()).await?, "nothing was ever numbered");
    for version in 1..=9 {
        store.write(table, vec![live("a", version)]).await?;
    }
    let all = all(&store, table).await?;
    assert_eq!(store.last_position(table).await?, all.last().map(|change| change.position));
    for entry in &all {
        assert!(store.is_known(table, entry.position).await?);
        let before = entry.position.version() - 1;
        let behind = entry.position.version() + 1;
        for other in [before, behind].map(|version| Position::of_version(version).unwrap()) {
            let is_entry = all.iter().any(|entry| entry.position == other);
            assert_eq!(store.is_known(table, other).await?, is_entry, "{other:?}");
        }
    }
    // Some are old.
    let old: Vec<String> = all[..4].iter().map(|entry| (entry.position.version() - (1 << 62)).to_string()).collect();
    let old = old.join(", ");
    world.sql(&format!("UPDATE ingester_changes SET at = '2026-01-01 00:00:00.000000' WHERE seq IN ({old})")).await?;
    let day = Duration::from_secs(24 * 3600);
    assert_eq!(store.purge_changes(table, day).await?, PurgeResult { rows: 4, more: false });
    assert_eq!(store.purge_changes(table, day).await?, PurgeResult { rows: 0, more: false });
    for (place, entry) in all.iter().enumerate() {
        // After the last purged one, nothing is missing.
        assert_eq!(store.is_known(table, entry.position).await?, place >= 3, "{place}");
    }
    assert_eq!(store.changes_after(table, all[3].position, 100).await?, all[4..]);
    Ok(())
}

async fn a_version_is_found_at_its_lowest_entry(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    for (uid, version) in [("a", 3), ("b", 5), ("c", 4), ("d", 5), ("e", 6), ("f", 0)] {
        store.write(table, vec![live(uid, version)]).await?;
    }
    assert_eq!(store.position_of(table, 5).await?, None, "nothing is numbered");
    let entries = all(&store, table).await?;
    let place = |uid: &str| entries.iter().position(|entry| &*entry.uid == uid).unwrap();
    for (version, uid) in [(3, "a"), (5, "b"), (4, "c"), (6, "e")] {
        let position = store.position_of(table, version).await?.context("a position")?;
        assert_eq!(store.changes_after(table, position, 1).await?[..], entries[place(uid)..=place(uid)]);
        assert!(store.is_known(table, position).await?, "{version}");
    }
    for version in [0, 1, 7, 1 << 62, u64::MAX >> 1] {
        assert_eq!(store.position_of(table, version).await?, None, "{version}");
    }
    // Once the first entry of version 5 is purged, the entry of another object with this version is not a place to begin.
    let seq = entries[place("b")].position.version() - (1 << 62);
    world.sql(&format!("UPDATE ingester_changes SET at = '2026-01-01 00:00:00.000000' WHERE seq <= {seq}")).await?;
    store.purge_changes(table, Duration::from_secs(3600)).await?;
    for version in [3, 4, 5] {
        assert_eq!(store.position_of(table, version).await?, None, "{version}");
    }
    let position = store.position_of(table, 6).await?.context("a position")?;
    assert_eq!(&*store.changes_after(table, position, 1).await?[0].uid, "e");
    Ok(())
}

async fn the_last_entry_is_kept(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    let count = 1100;
    store.number_changes(table).await?;
    for batch in 0..11 {
        store.write(table, (0..100).map(|n| live(&format!("u{batch:02}-{n:02}"), 1)).collect()).await?;
    }
    let last = store.number_changes(table).await?;
    let mut purged = Vec::new();
    loop {
        let batch = store.purge_changes(table, Duration::ZERO).await?;
        purged.push(batch.rows);
        if !batch.more {
            break;
        }
    }
    // Including the reset.
    assert_eq!(purged.iter().sum::<u64>(), count, "{purged:?}");
    assert!(purged.len() > 1, "{purged:?}");
    assert_eq!(world.count("ingester_changes").await?, 1);
    assert_eq!(store.last_position(table).await?, Some(last));
    assert!(store.is_known(table, last).await?);
    let mut at = last;
    store.write(table, vec![live("later", 1)]).await?;
    assert_eq!(news(&store, table, &mut at).await?, ["later inserted 1"]);
    assert!(at > last);
    Ok(())
}

async fn kinds_have_logs_of_their_own(world: World) -> Result<()> {
    let store = world.store().await?;
    let projects = kind("Project").table();
    let project = row(&json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Project",
        "metadata": { "name": "p", "uid": "p", "resourceVersion": "7" }, "spec": { "tier": 1 },
    }));
    let (mut models_at, mut projects_at) =
        (store.number_changes(models()).await?, store.number_changes(projects).await?);
    store.write(models(), vec![live("a", 1)]).await?;
    store.write(projects, vec![RowChange::Row(project)]).await?;
    assert_eq!(news(&store, models(), &mut models_at).await?, ["a inserted 1"]);
    assert_eq!(store.last_position(projects).await?, Some(projects_at), "another kind's numbers are its own");
    assert_eq!(news(&store, projects, &mut projects_at).await?, ["p inserted 7"]);
    let [entry] = &store.changes_after(projects, begin(), 9).await?[1..] else { anyhow::bail!("one entry") };
    assert_eq!((&*entry.namespace, &*entry.name), ("", "p"));
    assert_eq!(store.position_of(projects, 1).await?, None);
    Ok(())
}

async fn a_stream_of_changes_goes_on_until_something_is_missing(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    let from = store.number_changes(table).await?;
    let mut changes = Box::pin(store.follow_changes(table, from));
    let within = Duration::from_secs(20);
    for version in 1..=3 {
        store.write(table, vec![live("a", version)]).await?;
        let change = tokio::time::timeout(within, changes.next()).await?.context("a change")??;
        assert_eq!((&*change.uid, change.res_version), ("a", version));
    }
    while store.purge_changes(table, Duration::ZERO).await?.rows > 0 {}
    let mut changes = Box::pin(store.follow_changes(table, from));
    let ended = tokio::time::timeout(within, changes.next()).await?.context("an error")?;
    let error = ended.expect_err("entries are missing").to_string();
    assert!(error.contains("`model`") && error.contains(&from.version().to_string()), "{error}");
    assert!(changes.next().await.is_none());
    Ok(())
}

async fn a_log_that_is_switched_off_costs_nothing_and_begins_anew_with_a_reset(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = models();
    assert!(store.has_changes().await?);
    store.switch_changes(true).await?;
    store.write(table, vec![live("a", 1)]).await?;
    let mut at = store.number_changes(table).await?;
    store.switch_changes(false).await?;
    assert!(!store.has_changes().await?);
    let entries = world.count("ingester_changes").await?;
    for change in [known("a", 2), new("b", 1), live("c", 1), tombstone("c", 2)] {
        assert_eq!(store.write(table, vec![change]).await?.written, 1);
    }
    store.purge_rows(kind("Model"), &["c"], Micros::now()).await?;
    assert_eq!(world.count("ingester_changes").await?, entries);
    // A program that connects later uses it, and so does one that was already connected.
    assert!(!world.connect(ConnectOptions::default()).await?.has_changes().await?);
    store.switch_changes(true).await?;
    assert!(store.has_changes().await?);
    store.write(table, vec![live("a", 3)]).await?;
    assert_eq!(news(&store, table, &mut at).await?, [" reset 0", "a updated 3"]);
    Ok(())
}

async fn a_follower_from_any_position_ends_with_the_state_of_the_rows(world: World) -> Result<()> {
    const UIDS: u64 = 7;
    let options = || ConnectOptions::default().retry(Retry::SHORT.attempts(None));
    let reader = world.connect(options()).await?;
    reader.create_missing(MODEL_AND_PROJECT).await?;
    let table = models();
    reader.number_changes(table).await?;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..3_u64 {
        let store = world.connect(options()).await?;
        writers.spawn(async move {
            let mut dice = fastrand::Rng::with_seed(writer + 1);
            for round in 1..=40_u64 {
                let mut changes = Vec::new();
                for _ in 0..dice.u64(1..4) {
                    let uid = format!("u{}", dice.u64(..UIDS));
                    let version = round * 3 + dice.u64(..9);
                    changes.push(match dice.u64(..10) {
                        0 => tombstone(&uid, version),
                        1 => gone(&uid, version),
                        2 if round > 30 => evicted(&uid, version),
                        3 => known(&uid, version),
                        4 => new(&uid, version),
                        _ => live(&uid, version),
                    });
                }
                store.write(table, changes).await?;
                if dice.u64(..20) == 0 {
                    store.purge_rows(kind("Model"), &[&format!("u{}", dice.u64(..UIDS))], Micros::now()).await?;
                }
            }
            Ok::<_, anyhow::Error>(())
        });
    }
    // It keeps reading while they write, and stores what it knew at each position.
    let mut at = begin();
    let mut state = BTreeMap::new();
    let mut known = vec![(at, state.clone())];
    let mut left = true;
    while left {
        left = !writers.is_empty();
        while let Some(writer) = writers.try_join_next() {
            writer??;
        }
        reader.number_changes(table).await?;
        for change in reader.changes_after(table, at, 7).await? {
            apply(&mut state, &change);
            at = change.position;
            known.push((at, state.clone()));
            left = true;
        }
        tokio::task::yield_now().await;
    }
    let rows = read_rows(&world, "model").await?;
    assert_eq!(state, rows);
    assert!(known.len() > 60, "{} entries", known.len());
    let mut dice = fastrand::Rng::with_seed(7);
    for _ in 0..20 {
        let (from, mut state) = known[dice.usize(..known.len())].clone();
        for change in reader.changes_after(table, from, 100_000).await? {
            apply(&mut state, &change);
        }
        assert_eq!(state, rows, "from {from:?}");
    }
    Ok(())
}

async fn a_follower_agrees_with_rows_whose_writers_ended_at_a_commit(world: World) -> Result<()> {
    let reader = world.store().await?;
    let table = models();
    reader.write(table, (0..6).map(|n| live(&format!("u{n}"), 1)).collect()).await?;
    let address = address(&world.url)?;
    let mut at = begin();
    let mut state = BTreeMap::new();
    let severed = [CutPoint::Before, CutPoint::During, CutPoint::After].into_iter().cycle();
    for (round, severed) in (0..36_u64).zip(severed) {
        // With the entries of the log their transaction is committed.
        let way = CuttingProxy::to(address, severed, "ingester_changes").await?;
        let options = ConnectOptions::default().retry(Retry::SHORT.attempts(Some(1)));
        let url = world.url.replace(address, &format!("127.0.0.1:{}", way.port()));
        let url = if world.on == On::Postgres {
            url
        } else {
            format!("{url}{}ssl-mode=disabled", if url.contains('?') { '&' } else { '?' })
        };
        let writer = Store::connect(&url.parse()?, options).await?;
        way.arm();
        let version = 10 + round;
        let one = format!("u{}", round % 6);
        let other = format!("u{}", (round + 1) % 6);
        let changes = match round / 3 % 4 {
            0 => vec![new(&format!("v{round}"), version)],
            1 => vec![live(&one, version)],
            2 => vec![live(&one, version), live(&other, version), live(&format!("w{round}"), version)],
            _ => vec![tombstone(&one, version), gone(&other, version)],
        };
        let uids: Vec<String> = changes.iter().map(|change| change.uid().to_owned()).collect();
        let told = writer.write(table, changes).await;
        ensure!(told.is_err(), "{round}, {severed:?}: {told:?}");
        drop(writer);
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        let seen = loop {
            reader.number_changes(table).await?;
            let seen = reader.changes_after(table, at, 100_000).await?;
            let is_of = |entry: &Change| uids.iter().any(|uid| **uid == *entry.uid) && entry.res_version == version;
            match severed {
                CutPoint::Before => assert!(!seen.iter().any(is_of), "{round}: {seen:?}"),
                CutPoint::After if !seen.iter().any(is_of) => {
                    ensure!(std::time::Instant::now() < deadline, "{round}: {seen:?}");
                    continue;
                }
                CutPoint::During | CutPoint::After => {}
            }
            break seen;
        };
        for change in seen {
            apply(&mut state, &change);
            at = change.position;
        }
    }
    // Any remaining work of a server for a dead writer is over once another writer has written the same rows.
    reader.write(table, (0..6).map(|n| live(&format!("u{n}"), 100)).collect()).await?;
    let all = all(&reader, table).await?;
    for change in all.iter().filter(|change| change.position > at) {
        apply(&mut state, change);
    }
    assert_eq!(state, read_rows(&world, "model").await?);
    agrees(&world, &all, "model").await
}

/// Host and port of a URL.
fn address(url: &str) -> Result<&str> {
    let (_, rest) = url.split_once('@').context("a user")?;
    rest.split_once('/').map(|(address, _)| address).context("a database")
}
