//! The history of a kind: whatever happens to objects, each moment can be read afterwards as it was.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::world::{On, Stores as _, World, wait_for_a_blocked_writer};
use anyhow::{Context as _, Result, ensure};
use futures::TryStreamExt as _;
use ingester_core::kind::IngestVersion;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row, Standing};
use ingester_core::schema::{Table, base};
use ingester_core::value::{Micros, Value};
use ingester_core::{Ingestable, Kind};
use ingester_sql::ddl::Schema;
use ingester_sql::query::{AsOf, Filter, Order, Query, QueryError, Reads, States, Test};
use ingester_store::changes::ChangeKind;
use ingester_store::guard::{Eviction, Version};
use ingester_store::migrate::drift;
use ingester_store::query::{FoundRow, Limits, ObjectVersion, RequestedParts, VersionOf};
use ingester_store::{ConnectOptions, Effect, PurgeTerms, Retry, RowChange, Store, StoredRow};
use ingester_tests::{on_databases, on_every_database, on_galera};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

on_every_database! {
    an_object_without_a_version_ends_one_only_if_it_changes
    each_writer_keeps_the_version_that_it_ends
    a_write_without_a_new_version_keeps_no_history
    a_single_write_keeps_the_version_that_it_ends
    every_moment_of_random_lives_is_read_as_it_was
    versions_of_racing_writers_have_no_gap_and_no_overlap
    a_version_begins_after_the_one_before_it_whatever_the_clock_says
    an_object_is_read_at_a_moment_in_its_own_type
    labels_of_former_versions_are_read_of_their_texts
    a_column_that_is_younger_than_a_version_is_read_of_its_text_by_a_scan
    former_versions_are_purged_by_age_and_by_number
    how_long_ago_a_moment_was_is_counted_by_the_databases_clock
    a_list_of_a_moment_has_the_order_of_the_database
    a_moment_is_counted_exactly_while_its_rows_are_overwritten
}

on_databases! { (the_text_of_a_former_version_is_compressed) [mariadb MariaDb] [mysql MySql] }
on_databases! { (a_version_that_changed_while_its_writer_waited_is_kept_as_it_is_then) [postgres Postgres] }

on_galera! {
    versions_of_racing_writers_have_no_gap_and_no_overlap
}

#[derive(Ingestable, Deserialize, Serialize, Clone, Debug)]
#[ingest(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced, history = "forever")]
#[ingest(key(namespace, phase))]
pub struct Run {
    #[index(path = "phase", column = "phase")]
    #[index(path = "count", column = "count", key = false)]
    pub status: Status,
}

#[derive(Deserialize, Serialize, Clone, Debug, Default)]
#[serde(default)]
pub struct Status {
    pub phase: Option<String>,
    pub count: Option<i64>,
}

/// In a program with a lock file.
pub(crate) const KIND: Kind = Kind::of::<Run>().versioned(IngestVersion { number: 1, of_unmarked: 0 });

/// A kind that keeps the last two former versions of an object.
mod few {
    use super::Status;
    use ingester_core::{Ingestable, Kind};
    use serde::Deserialize;

    #[derive(Ingestable, Deserialize)]
    #[ingest(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced)]
    #[ingest(history = "forever", versions = 2, key(namespace, phase))]
    pub struct Run {
        #[index(path = "phase", column = "phase")]
        #[index(path = "count", column = "count", key = false)]
        pub status: Status,
    }

    pub const KIND: Kind = Kind::of::<Run>();
}

/// A kind with a list whose values have a table.
mod listed {
    use ingester_core::{Ingestable, Kind};
    use serde::Deserialize;

    #[derive(Ingestable, Deserialize)]
    #[ingest(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced, history = "forever")]
    pub struct Run {
        #[index(many)]
        #[serde(default)]
        pub hosts: Vec<String>,
    }

    pub const KIND: Kind = Kind::of::<Run>();
}

/// A kind whose columns have values that databases compare each in its way.
mod odd {
    use ingester_core::{Ingestable, Kind};
    use serde::Deserialize;

    #[derive(Ingestable, Deserialize)]
    #[ingest(group = "example.com", version = "v1", kind = "Odd", plural = "odds", namespaced, history = "forever")]
    pub struct Odd {
        #[index(path = "text", column = "text")]
        #[index(path = "number", column = "number")]
        pub status: Status,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub struct Status {
        pub text: Option<String>,
        pub number: Option<f64>,
    }

    pub const KIND: Kind = Kind::of::<Odd>();
}

fn runs() -> &'static Table {
    KIND.table()
}

async fn store(world: &World) -> Result<Store> {
    let store = world.connect(ConnectOptions::default()).await?;
    store.create_missing(&[KIND]).await?;
    Ok(store)
}

fn object(uid: &str, version: u64) -> Json {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Run",
        "metadata": {
            "namespace": format!("ns-{}", uid.len() % 2),
            "name": format!("run-{}", uid.replace(|c: char| !c.is_ascii_alphanumeric(), "-")),
            "uid": uid,
            "resourceVersion": version.to_string(),
            "labels": { "same": "yes", "odd.example.com/is": (version % 2).to_string() },
        },
        "status": { "phase": format!("phase-{}", version % 3), "count": version },
    })
}

fn row(uid: &str, version: u64) -> Row {
    let object = Object::parse(object(uid, version).to_string(), ManagedFields::Prune).unwrap();
    KIND.row(&object).unwrap().unwrap()
}

pub(crate) fn live(uid: &str, version: u64) -> RowChange {
    RowChange::Row(row(uid, version))
}

fn leaving(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row { evict_time: Some(Micros(1_700_000_000_000_000)), ..row(uid, version) })
}

fn evicted(uid: &str, version: u64) -> RowChange {
    let evict_time = Some(Micros(1_700_000_000_000_000));
    RowChange::Row(Row { evict_time, evict_confirmed: true, ..row(uid, version) })
}

fn gone(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row { delete_time: Some(Micros(1_700_000_000_000_000)), ..row(uid, version) })
}

fn tombstone(uid: &str, res_version: u64) -> RowChange {
    RowChange::Tombstone { uid: uid.into(), res_version, delete_time: Micros(1_700_000_000_000_000) }
}

/// A row that its writer expects to be absent.
fn new(uid: &str, version: u64) -> RowChange {
    RowChange::Row(Row { expected: Some(Expected::Absent), ..row(uid, version) })
}

/// A row that its writer expects to be stored in a different version, with the same labels.
fn known(uid: &str, stored: u64, version: u64) -> RowChange {
    let row = row(uid, version);
    let expected = Expected::Stored { res_version: stored, companions: row.companions_hash() };
    RowChange::Row(Row { expected: Some(expected), ..row })
}

fn of_definition(uid: &str, version: u64, ingest_version: u32) -> RowChange {
    RowChange::Row(Row { ingest_version, ..row(uid, version) })
}

fn versions() -> RequestedParts {
    let places = vec![base::RES_VERSION, base::DELETE_TIME, base::EVICT_TIME, base::UPDATE_TIME, base::JSON, 13, 14];
    RequestedParts { places, labels: false }
}

/// The whole history of an object, the latest version first. Each begins where the previous one ends, unless that was purged.
async fn history(store: &Store, uid: &str) -> Result<Vec<ObjectVersion>> {
    let mut all = Vec::new();
    let mut token = None;
    loop {
        let page = store.history(&KIND, uid, &versions(), (2, token.as_deref()), Limits::default()).await?;
        all.extend(page.versions);
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    for (later, earlier) in all.iter().zip(all.iter().skip(1)) {
        let end = earlier.to.context("a former version ends")?;
        ensure!(earlier.from < end, "{earlier:?}");
        ensure!(end <= later.from, "they overlap: {earlier:?} {later:?}");
        ensure!(later.change.is_some() == (end == later.from), "{earlier:?} {later:?}");
    }
    Ok(all)
}

/// The versions of an object, the latest first: `version change`, and `now` or `former`.
async fn told(store: &Store, uid: &str) -> Result<Vec<String>> {
    let told = |version: &ObjectVersion| {
        let Some(Value::UInt(number)) = version.row.get(base::RES_VERSION) else { unreachable!("a version") };
        let change = version.change.map_or("?", ChangeKind::as_str);
        format!("{number} {change}{}", if version.to.is_none() { " now" } else { "" })
    };
    Ok(history(store, uid).await?.iter().map(told).collect())
}

async fn an_object_without_a_version_ends_one_only_if_it_changes(world: World) -> Result<()> {
    let store = store(&world).await?;
    let without_version = |count: u64| {
        let mut object = object("a", 0);
        object["status"]["count"] = json!(count);
        let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
        vec![RowChange::Row(KIND.row(&object).unwrap().unwrap())]
    };
    for (count, written, former) in [(1, 1, 0), (1, 0, 0), (1, 0, 0), (2, 1, 1), (2, 0, 1), (1, 1, 2)] {
        assert_eq!(store.write(runs(), without_version(count)).await?.written, written);
        assert_eq!(told(&store, "a").await?.len(), 1 + former);
        assert_eq!(world.count("ingester_changes").await?, 1 + former as u64);
    }
    Ok(())
}

async fn each_writer_keeps_the_version_that_it_ends(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    store.write(table, vec![live("a", 1), live("b", 1), leaving("c", 1), evicted("d", 1), gone("e", 1)]).await?;
    ensure!(world.count("run_history").await? == 0, "the present versions are the rows");
    store.write(table, vec![live("a", 2), leaving("b", 2), tombstone("c", 5)]).await?;
    assert_eq!(told(&store, "a").await?, ["2 updated now", "1 ?"]);
    assert_eq!(told(&store, "b").await?, ["2 evicting now", "1 ?"]);
    assert_eq!(told(&store, "c").await?, ["1 ? now"], "the object is as it was; that it left etcd is confirmed");

    store.write(table, vec![tombstone("a", 7), evicted("b", 2), live("e", 3)]).await?;
    assert_eq!(told(&store, "a").await?, ["7 deleted now", "2 updated", "1 ?"]);
    assert_eq!(told(&store, "b").await?, ["2 evicting now", "1 ?"]);
    assert_eq!(told(&store, "e").await?, ["3 revived now", "1 ?"]);

    // The cluster went back.
    let seen = |res_version, eviction| {
        let ingest_version = row("e", 3).ingest_version;
        Version { res_version, ingest_version, deleted: false, eviction }
    };
    let replacement = |seen| RowChange::Replacement { row: row("e", 2), seen };
    store.write(table, vec![replacement(seen(3, Eviction::None))]).await?;
    // A row that was changed by hand is repaired.
    store.write(table, vec![replacement(seen(2, Eviction::None))]).await?;
    assert_eq!(told(&store, "e").await?, ["2 updated now", "2 updated", "3 revived", "1 ?"]);

    // Users change, and delete, evicted objects.
    let edit = |_: &_| Ok::<_, Infallible>(Some(row("d", 2)));
    store.change_evicted(&KIND, "d", Effect::Written, edit).await?;
    store.delete_evicted(&KIND, "d", Effect::Written, |_| Ok::<_, Infallible>(())).await?;
    assert_eq!(told(&store, "d").await?, ["2 deleted now", "2 updated", "1 ?"]);
    store.write(table, vec![evicted("f", 4), evicted("g", 4), evicted("h", 4)]).await?;
    store.delete_evicted_of(table, &[("f", 4), ("g", 3)], Effect::Written).await?;
    assert_eq!((told(&store, "f").await?.len(), told(&store, "g").await?.len()), (2, 1));
    ensure!(store.replace_evicted(&KIND, &row("h", 3), seen(4, Eviction::Confirmed)).await?);
    assert_eq!(told(&store, "h").await?, ["3 revived now", "4 ?"]);

    // A purged row leaves its last version, and an object that comes back continues after a gap.
    ensure!(store.purge_rows(&KIND, &["a"], Micros::now()).await? == 1);
    assert_eq!(told(&store, "a").await?, ["7 deleted", "2 updated", "1 ?"]);
    store.write(table, vec![new("a", 9)]).await?;
    assert_eq!(told(&store, "a").await?, ["9 ? now", "7 deleted", "2 updated", "1 ?"]);
    // The same for a row of an evicted object that a rule purges.
    let [judged] = &store.read_stored(table, &["g"]).await?[..] else { anyhow::bail!("g") };
    let standing =
        Standing { version: judged.version(), delete_time: judged.delete_time, evict_time: judged.evict_time };
    let premise = store.premise(&KIND, Reads::default()).await?;
    let terms = PurgeTerms { premise: &premise, marked: None };
    ensure!(store.purge_judged(&KIND, &[("g", standing)], terms).await? == 1);
    assert_eq!(told(&store, "g").await?, ["4 ?"]);
    Ok(())
}

async fn a_write_without_a_new_version_keeps_no_history(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    store.write(table, vec![live("a", 5), gone("b", 5), evicted("c", 5)]).await?;
    let before = world.sql("SELECT uid, update_time FROM run ORDER BY uid").await?;
    let later = row("a", 5).ingest_version + 1;
    for change in [
        live("a", 4),
        live("a", 5),
        known("a", 5, 5),
        tombstone("a", 4),
        of_definition("a", 5, later),
        of_definition("b", 5, later),
        live("b", 5),
        live("c", 9),
        tombstone("d", 9),
    ] {
        store.write(table, vec![change]).await?;
    }
    // In a batch with an object that has another version.
    store.write(table, vec![of_definition("a", 5, later + 1), live("e", 1)]).await?;
    store.write(table, vec![of_definition("a", 5, later + 2), live("e", 2)]).await?;
    ensure!(world.count("run_history").await? == 1, "that of e");
    world.sql("DELETE FROM run WHERE uid = 'e'").await?;
    let edit = |_: &_| Ok::<_, Infallible>(Some(row("c", 6)));
    store.change_evicted(&KIND, "c", Effect::Tried, edit).await?;
    store.delete_evicted(&KIND, "c", Effect::Tried, |_| Ok::<_, Infallible>(())).await?;
    ensure!(store.purge_rows(&KIND, &["a", "c"], Micros::now()).await? == 0);
    ensure!(world.count("run_history").await? == 1);
    assert_eq!(world.sql("SELECT uid, update_time FROM run ORDER BY uid").await?, before, "when the versions began");
    // A kind without a history has no past to query.
    let kind = crate::world::kind("Model");
    let error = store.ask_at(kind, &Query::default(), Micros::now(), Limits::default()).err();
    assert_eq!(error, Some(QueryError::NoHistory { kind: "Model" }));
    Ok(())
}

async fn a_single_write_keeps_the_version_that_it_ends(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    // Single writes are recorded in the log with their rows, too.
    for is_logged in [false, true] {
        let uid = |uid: &str| format!("{uid}-{is_logged}");
        if is_logged {
            store.number_changes(table).await?;
        }
        for change in [
            new(&uid("a"), 2),
            known(&uid("a"), 2, 4),
            known(&uid("a"), 4, 6),
            // The expectation is wrong: nothing is kept twice.
            known(&uid("a"), 4, 8),
            new(&uid("a"), 10),
            new(&uid("it's \\ ?"), 1),
            known(&uid("it's \\ ?"), 1, 3),
        ] {
            ensure!(store.write(table, vec![change.clone()]).await?.written == 1, "{change:?}");
        }
        let is = ["10 updated now", "8 updated", "6 updated", "4 updated", "2 ?"];
        assert_eq!(told(&store, &uid("a")).await?, is);
        assert_eq!(told(&store, &uid("it's \\ ?")).await?, ["3 updated now", "1 ?"]);
        // No row matches, so nothing is kept.
        let report = store.write(table, vec![known(&uid("a"), 2, 3)]).await?;
        assert_eq!((report.written, report.stale.len()), (0, 1));
        let kept = format!("run_history WHERE uid = '{}'", uid("a"));
        assert_eq!(world.count(&kept).await?, 4);
    }
    Ok(())
}

/// The questions at each moment: everything, and by columns.
fn questions() -> Vec<Query> {
    let of = |filters: Vec<Filter>, order: &'static str| Query {
        states: States::ALL,
        filters,
        order: if order.is_empty() { Vec::new() } else { vec![Order { field: order.into(), descending: true }] },
        ..Query::default()
    };
    let phase = || Filter::field("phase", Test::Equal(Value::text("phase-1")));
    vec![
        of(vec![], ""),
        of(vec![phase()], ""),
        of(vec![phase().negated()], "count"),
        Query { namespaces: vec!["ns-1".into()], states: States::default(), ..of(vec![], "phase") },
        Query { uids: vec!["u3".into()], ..of(vec![], "") },
        of(vec![Filter::field("update_time", Test::Exists)], "update_time"),
    ]
}

/// All present objects.
async fn now(store: &Store, query: &Query) -> Result<Vec<FoundRow>> {
    let page = store.ask_about(&KIND, query, Limits::default())?.page(&versions(), 1000, None).await?;
    ensure!(page.next.is_none());
    Ok(page.rows)
}

/// All objects that existed at a moment, in pages of this size.
async fn at(store: &Store, query: &Query, moment: Micros, limit: usize) -> Result<Vec<FoundRow>> {
    let asked = store.ask_at(&KIND, query, moment, Limits::default())?;
    let mut all = Vec::new();
    let mut token = None;
    loop {
        let page = asked.page(&versions(), limit, token.as_deref()).await?;
        ensure!(page.rows.len() <= limit && (page.next.is_none() || !page.rows.is_empty()), "{page:?}");
        all.extend(page.rows);
        token = page.next;
        if token.is_none() {
            return Ok(all);
        }
    }
}

/// A random change of objects.
async fn happens(store: &Store, dice: &mut fastrand::Rng, stored: &HashMap<String, u64>, clock: u64) -> Result<()> {
    let table = runs();
    let uid = format!("u{}", "x".repeat(dice.usize(..2)) + &dice.u64(..6).to_string());
    let version = clock + dice.u64(..6);
    let before = stored.get(&uid).copied().unwrap_or(0);
    let edit = |stored: &StoredRow| Ok::<_, Infallible>(Some(row(&uid, version.max(stored.res_version + 1))));
    let one = match dice.u64(..16) {
        0 => tombstone(&uid, version),
        1 => gone(&uid, version),
        2 => leaving(&uid, version),
        3 => evicted(&uid, version),
        4 | 5 => known(&uid, before, version),
        6 => new(&uid, version),
        7 => of_definition(&uid, before, u32::try_from(clock)?),
        8 => {
            store.purge_rows(&KIND, &[&uid, "u1"], Micros::now()).await?;
            return Ok(());
        }
        9 => {
            store.change_evicted(&KIND, &uid, Effect::Written, edit).await?;
            return Ok(());
        }
        10 => {
            store.delete_evicted(&KIND, &uid, Effect::Written, |_| Ok::<_, Infallible>(())).await?;
            return Ok(());
        }
        11 => {
            let seen = Version { res_version: before, ingest_version: 0, deleted: false, eviction: Eviction::None };
            RowChange::Replacement { row: row(&uid, version), seen }
        }
        _ => {
            let many = (0..dice.u64(1..6)).map(|n| live(&format!("u{n}"), version)).collect();
            store.write(table, many).await?;
            return Ok(());
        }
    };
    store.write(table, vec![one]).await?;
    Ok(())
}

async fn every_moment_of_random_lives_is_read_as_it_was(world: World) -> Result<()> {
    const STEPS: u64 = 150;
    let store = store(&world).await?;
    let mut dice = fastrand::Rng::with_seed(7);
    // The naive replay: the objects after each step, and a moment between it and the next one.
    let mut moments: Vec<(Micros, Vec<Vec<FoundRow>>)> = Vec::new();
    for clock in 1..=STEPS {
        let mut stored = HashMap::new();
        for row in now(&store, &questions()[0]).await? {
            if let Some(Value::UInt(version)) = row.get(base::RES_VERSION) {
                stored.insert(row.uid().to_owned(), *version);
            }
        }
        happens(&store, &mut dice, &stored, clock * 2).await?;
        let moment = store.now();
        while store.now() <= moment {
            tokio::task::yield_now().await;
        }
        let mut there = Vec::new();
        for query in questions() {
            there.push(now(&store, &query).await?);
        }
        moments.push((moment, there));
    }
    ensure!(at(&store, &questions()[0], Micros(moments[0].0.0 - 60_000_000), 9).await?.is_empty());
    for (step, (moment, there)) in moments.iter().enumerate() {
        for (query, there) in questions().iter().zip(there) {
            let limit = [1, 3, 100][step % 3];
            assert_eq!(at(&store, query, *moment, limit).await?, *there, "after step {step}: {query:?}");
        }
        let counted = store.ask_at(&KIND, &questions()[1], *moment, Limits::default())?.count().await?;
        assert_eq!(counted, there[1].len() as u64);
    }
    let mut former = 0;
    for uid in (0..6).flat_map(|n| [format!("u{n}"), format!("ux{n}")]) {
        former += history(&store, &uid).await?.iter().filter(|version| version.to.is_some()).count();
    }
    assert_eq!(former as u64, world.count("run_history").await?);
    ensure!(former > 100, "{former} versions");
    Ok(())
}

async fn versions_of_racing_writers_have_no_gap_and_no_overlap(world: World) -> Result<()> {
    let options = || ConnectOptions::default().retry(Retry::SHORT.attempts(None));
    let reader = world.connect(options()).await?;
    reader.create_missing(&[KIND]).await?;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..3_u64 {
        let store = world.connect(options()).await?;
        writers.spawn(async move {
            let mut dice = fastrand::Rng::with_seed(writer + 1);
            let mut stored = HashMap::new();
            for clock in 1..=60_u64 {
                // The expectation of each writer is often wrong.
                stored.insert(format!("u{}", clock % 6), clock * 2 - dice.u64(..3));
                happens(&store, &mut dice, &stored, clock * 2).await?;
            }
            Ok::<_, anyhow::Error>(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    let mut former = 0;
    for uid in (0..6).flat_map(|n| [format!("u{n}"), format!("ux{n}")]) {
        let versions = history(&reader, &uid).await?;
        let gaps = versions.iter().rev().skip(1).filter(|version| version.change.is_none()).count();
        former += versions.iter().filter(|version| version.to.is_some()).count();
        // Only a row that was purged and came back leaves a gap.
        let purged = world.count(&format!("run_history WHERE uid = '{uid}' AND `change` = 'purged'")).await?;
        ensure!(gaps as u64 <= purged, "{gaps} gaps, {purged} purged: {versions:?}");
    }
    assert_eq!(former as u64, world.count("run_history").await?);
    ensure!(former > 50, "{former} versions");
    Ok(())
}

async fn a_version_begins_after_the_one_before_it_whatever_the_clock_says(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    store.write(table, ["a", "b", "c", "d"].iter().map(|uid| live(uid, 1)).collect()).await?;
    // Another clock was ahead by far.
    world.sql("UPDATE run SET update_time = '2099-01-01 00:00:00.000000' WHERE uid <> 'd'").await?;
    store.write(table, vec![live("a", 2), live("d", 2)]).await?;
    store.write(table, vec![known("b", 1, 3)]).await?;
    store.write(table, vec![tombstone("c", 2)]).await?;
    let ahead = Micros::from_sql("2099-01-01 00:00:00.000000").context("a time")?;
    for uid in ["a", "b", "c"] {
        let versions = history(&store, uid).await?;
        let begins: Vec<i64> = versions.iter().map(|version| version.from.0 - ahead.0).collect();
        assert_eq!(begins, [1, 0], "{uid}");
    }
    ensure!(history(&store, "d").await?[0].from < ahead, "others have the time that it is");
    // The row is purged, and the object comes back.
    ensure!(store.purge_rows(&KIND, &["c"], Micros::now()).await? == 1);
    store.write(table, vec![new("c", 4)]).await?;
    let versions = history(&store, "c").await?;
    assert_eq!(versions[0].from.0 - ahead.0, 2);
    assert_eq!(told(&store, "c").await?.len(), 3);
    Ok(())
}

async fn how_long_ago_a_moment_was_is_counted_by_the_databases_clock(world: World) -> Result<()> {
    store(&world).await?;
    // A hundred days behind this node's clock, except on SQLite, which has no clock of its own.
    let store = Store::connect(&world.behind().await?.parse()?, ConnectOptions::default()).await?;
    store.write(runs(), vec![live("a", 1)]).await?;
    let found = async |at: AsOf| {
        let query = Query { at: Some(at), ..Query::default() };
        let rows = store.ask_when(&KIND, &query, Limits::default())?.page(&versions(), 9, None).await?.rows;
        Ok::<_, anyhow::Error>(rows.len())
    };
    assert_eq!(found(AsOf::parse("now")?).await?, 1);
    assert_eq!(found(AsOf::parse("50d")?).await?, 0, "by this node's clock, that is in 50 days");
    // Clocks differ by some seconds.
    assert_eq!(found(AsOf::parse("in 2s")?).await?, 1);
    for at in [AsOf::parse("in 30s")?, AsOf::At(Micros(store.now().0 + 120_000_000))] {
        let error = found(at).await.unwrap_err().to_string();
        ensure!(error.contains("is in the future: the clock of the database says "), "{error}");
    }
    let lives = store.lives(&KIND, &Query::default(), Limits::default()).await?;
    for (at, is_there) in [("now", true), ("50d", false), ("in 1h", false)] {
        let of = VersionOf::parse(at).map_err(anyhow::Error::msg)?;
        let version = store.version(&KIND, &lives, of, &versions(), Limits::default()).await;
        assert_eq!(version.is_ok(), is_there, "{at}: {version:?}");
    }
    Ok(())
}

async fn a_list_of_a_moment_has_the_order_of_the_database(world: World) -> Result<()> {
    let store = world.connect(ConnectOptions::default()).await?;
    store.create_missing(&[odd::KIND]).await?;
    let object = |place: usize, version: u64, status: Json| {
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Odd", "status": status,
            "metadata": {"namespace": "ns", "name": format!("odd-{place}"), "uid": format!("u{:02}", place * 37 % 100), "resourceVersion": version.to_string()},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        Ok::<_, anyhow::Error>(RowChange::Row(odd::KIND.row(&object)?.context("a row")?))
    };
    let texts = [
        "a", "a ", "a  ", "a\t", "a\u{1f}", "a!", "a b", "a  b", "", " ", "\t", "A", "b", "ä", "ä ", "\u{ffff}", "😀",
        "😀 ",
    ];
    let numbers = [0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 1e300, -1e300];
    let values = texts.iter().flat_map(|text| [json!({"text": text}), json!({"text": text, "number": text.len()})]);
    let values: Vec<Json> =
        values.chain(numbers.iter().map(|number| json!({"number": number}))).chain([json!({})]).collect();
    let rows = values.iter().enumerate().map(|(place, value)| object(place, 1, value.clone()));
    store.write(odd::KIND.table(), rows.collect::<Result<_>>()?).await?;
    let uids = |rows: Vec<FoundRow>| rows.iter().map(|row| row.uid().to_owned()).collect::<Vec<_>>();
    let order = |field: &'static str, descending| Order { field: field.into(), descending };
    let orders = [false, true].into_iter().flat_map(|down| {
        [vec![order("text", down)], vec![order("number", down)], vec![order("number", down), order("text", !down)]]
    });
    let queries: Vec<Query> = orders.map(|order| Query { order, ..Query::default() }).collect();
    let mut sorted = Vec::new();
    for query in &queries {
        let page =
            store.ask_about(&odd::KIND, query, Limits::default())?.page(&RequestedParts::default(), 100, None).await?;
        sorted.push(uids(page.rows));
    }
    let moment = store.now();
    while store.now() <= moment {
        tokio::task::yield_now().await;
    }
    // Every other object changes, and so moves to the other table; the last ones take the first ones' values.
    let changed = (0..values.len()).step_by(2).map(|place| object(place, 2, values[values.len() - 1 - place].clone()));
    store.write(odd::KIND.table(), changed.collect::<Result<_>>()?).await?;
    for (query, sorted) in queries.iter().zip(sorted) {
        for limit in [1, 2, 7, 100] {
            let asked = store.ask_at(&odd::KIND, query, moment, Limits::default())?;
            let mut all = Vec::new();
            let mut token = None;
            loop {
                let page = asked.page(&RequestedParts::default(), limit, token.as_deref()).await?;
                all.extend(uids(page.rows));
                token = page.next;
                if token.is_none() {
                    break;
                }
            }
            assert_eq!(all, sorted, "{limit}: {query:?}");
        }
    }
    Ok(())
}

async fn a_moment_is_counted_exactly_while_its_rows_are_overwritten(world: World) -> Result<()> {
    const OBJECTS: u64 = 200;
    let store = store(&world).await?;
    let all = (0..OBJECTS).map(|n| live(&format!("u{n}"), 1)).collect();
    store.write(runs(), all).await?;
    let moment = store.now();
    while store.now() <= moment {
        tokio::task::yield_now().await;
    }
    let writer = world.connect(ConnectOptions::default()).await?;
    let writing = tokio::spawn(async move {
        for n in 0..OBJECTS {
            writer.write(runs(), vec![live(&format!("u{n}"), 2)]).await?;
        }
        Ok::<_, anyhow::Error>(())
    });
    let query = Query::default();
    let mut counted = 0;
    while !writing.is_finished() || counted == 0 {
        let there = store.ask_at(&KIND, &query, moment, Limits::default())?.count().await?;
        assert_eq!(there, OBJECTS, "after {counted} counts");
        counted += 1;
    }
    writing.await??;
    assert_eq!(store.ask_at(&KIND, &query, moment, Limits::default())?.count().await?, OBJECTS);
    assert_eq!(world.count("run_history").await?, OBJECTS);
    Ok(())
}

async fn an_object_is_read_at_a_moment_in_its_own_type(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    let mut moments = Vec::new();
    for version in 1..=3 {
        store.write(table, vec![live("a", version), live("bb", version)]).await?;
        moments.push(store.now());
        while store.now() <= moments[moments.len() - 1] {
            tokio::task::yield_now().await;
        }
    }
    for (moment, version) in moments.into_iter().zip(1_u64..) {
        let one =
            store.query::<Run>().namespace("ns-1").name("run-a").at(moment).first().await?.context("an object")?;
        assert_eq!((one.res_version, one.object.status.count), (version, Some(i64::try_from(version)?)));
        let all: Vec<_> = store.query::<Run>().at(moment).stream().try_collect().await?;
        assert_eq!(all.iter().map(|one| one.res_version).collect::<Vec<_>>(), [version; 2]);
        assert_eq!(store.query::<Run>().filter(Run::count().eq(i64::try_from(version)?)).at(moment).count().await?, 2);
    }
    Ok(())
}

async fn labels_of_former_versions_are_read_of_their_texts(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    store.write(table, vec![live("a", 1), live("b", 2)]).await?;
    let moment = store.now();
    while store.now() <= moment {
        tokio::task::yield_now().await;
    }
    store.write(table, vec![live("a", 4)]).await?;
    let odd = |is: &str| Filter::label("odd.example.com/is", Test::Equal(Value::text(is)));
    let query = |filter, scan| Query { filters: vec![filter], scan, ..Query::default() };
    let uids = |rows: Vec<FoundRow>| rows.iter().map(|row| row.uid().to_owned()).collect::<Vec<_>>();
    assert_eq!(uids(at(&store, &query(odd("1"), true), moment, 9).await?), ["a"]);
    assert_eq!(uids(at(&store, &query(odd("0"), true), moment, 9).await?), ["b"]);
    assert_eq!(uids(at(&store, &query(odd("1").negated(), true), moment, 9).await?), ["b"]);
    let error = store.ask_at(&KIND, &query(odd("1"), false), moment, Limits::default()).err().context("no key")?;
    ensure!(error.to_string().contains("if the query scans"), "{error}");
    Ok(())
}

async fn a_column_that_is_younger_than_a_version_is_read_of_its_text_by_a_scan(world: World) -> Result<()> {
    let store = store(&world).await?;
    store.write(runs(), vec![live("a", 1), live("b", 2), live("c", 4)]).await?;
    let moment = store.now();
    while store.now() <= moment {
        tokio::task::yield_now().await;
    }
    store.write(runs(), vec![live("a", 5), live("b", 6)]).await?;
    // The versions of a and b had ended before a migration added the column; c is still as it was, and was filled.
    world.sql("UPDATE run_history SET phase = NULL, `count` = NULL").await?;
    let found = async |field: &'static str, test: Test, holds: bool, scan: bool| {
        let filter = Filter::field(field, test);
        let filters = vec![if holds { filter } else { filter.negated() }];
        let rows = at(&store, &Query { filters, scan, ..Query::default() }, moment, 9).await?;
        Ok::<_, anyhow::Error>(rows.iter().map(FoundRow::uid).collect::<String>())
    };
    let phase = |version: u64| Value::text(format!("phase-{version}"));
    for field in ["phase", "status.phase"] {
        for (test, of_columns, of_texts) in [
            (Test::Equal(phase(1)), ["c", "ab"], ["ac", "b"]),
            (Test::In(vec![phase(0), phase(2)]), ["", "abc"], ["b", "ac"]),
            (Test::Like("phase-2%".into()), ["", "abc"], ["b", "ac"]),
            (Test::Exists, ["c", "ab"], ["abc", ""]),
            (Test::Empty, ["ab", "c"], ["", "abc"]),
            (Test::Greater(phase(1)), ["", "abc"], ["b", "ac"]),
        ] {
            for (holds, place) in [(true, 0), (false, 1)] {
                let told =
                    [found(field, test.clone(), holds, false).await?, found(field, test.clone(), holds, true).await?];
                assert_eq!(told, [of_columns[place], of_texts[place]], "{field} {test:?} {holds}");
            }
        }
    }
    // A field without a column was always read of the texts; a number is not.
    assert_eq!(found("metadata.name", Test::Equal(Value::text("run-a")), true, true).await?, "a");
    assert_eq!(found("metadata.labels.same", Test::Equal(Value::text("yes")), true, true).await?, "abc");
    assert_eq!(found("count", Test::Equal(Value::Int(1)), true, true).await?, "");
    Ok(())
}

#[tokio::test]
async fn each_version_has_its_change_also_where_bytes_end_a_page() -> Result<()> {
    let store = Store::in_memory(&[KIND]).await?;
    for version in 1..=4 {
        store.write(runs(), vec![live("a", version)]).await?;
    }
    // No page has more than one former version, and no statement more than one text.
    let tiny = Limits::default().bytes(1);
    let mut changes = Vec::new();
    let mut token = None;
    let mut pages = 0;
    loop {
        let page = store.history(&KIND, "a", &versions(), (10, token.as_deref()), tiny).await?;
        for version in page.versions {
            let (dated, before) = store.dated(&KIND, version.row.clone(), tiny).await?;
            assert_eq!((&dated, before.is_some()), (&version, version.change.is_some()));
            changes.push(version.change);
        }
        (token, pages) = (page.next, pages + 1);
        if token.is_none() {
            break;
        }
    }
    assert_eq!(
        (pages, changes),
        (3, vec![Some(ChangeKind::Updated), Some(ChangeKind::Updated), Some(ChangeKind::Updated), None])
    );
    Ok(())
}

#[tokio::test]
async fn values_of_lists_are_not_asked_about_a_moment() -> Result<()> {
    let store = Store::in_memory(&[listed::KIND]).await?;
    for scan in [false, true] {
        let filters = vec![Filter::field("hosts", Test::Equal(Value::text("a")))];
        let query = Query { filters, scan, ..Query::default() };
        store.ask_about(&listed::KIND, &query, Limits::default())?;
        let error = store.ask_at(&listed::KIND, &query, Micros::now(), Limits::default()).err().context("no table")?;
        ensure!(error.to_string().starts_with("`hosts` cannot be asked about a moment"), "{error}");
    }
    Ok(())
}

async fn former_versions_are_purged_by_age_and_by_number(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    for version in 1..=5 {
        store.write(table, vec![live("a", version), live("b", version.min(2))]).await?;
    }
    assert_eq!((told(&store, "a").await?.len(), told(&store, "b").await?.len()), (5, 2));
    let hour = Some(Duration::from_secs(3600));
    assert_eq!(store.purge_history(&KIND, hour).await?.rows, 0);
    assert_eq!(store.purge_history(&KIND, None).await?.rows, 0);
    world.sql("UPDATE run_history SET valid_to = '2020-01-01 00:00:00' WHERE uid = 'a' AND res_version = 1").await?;
    assert_eq!(store.purge_history(&KIND, hour).await?.rows, 1);
    assert_eq!(told(&store, "a").await?, ["5 updated now", "4 updated", "3 updated", "2 ?"]);
    // By number: the first ones go, in batches.
    let purged = store.purge_history(&few::KIND, hour).await?;
    assert_eq!((purged.rows, purged.more), (1, false));
    assert_eq!(told(&store, "a").await?, ["5 updated now", "4 updated", "3 ?"]);
    for version in 6..=300 {
        store.write(table, vec![live("a", version)]).await?;
    }
    let mut batches = 0;
    while store.purge_history(&few::KIND, None).await?.more {
        batches += 1;
    }
    assert_eq!((batches, world.count("run_history").await?), (2, 3));
    assert_eq!(told(&store, "a").await?, ["300 updated now", "299 updated", "298 ?"]);
    // A kind without a history has nothing to purge, and no table.
    assert_eq!(store.purge_history(crate::world::kind("Model"), hour).await?.rows, 0);
    // All of it.
    assert_eq!(store.purge_history(&KIND, Some(Duration::ZERO)).await?.rows, 3);
    ensure!(world.count("run_history").await? == 0 && told(&store, "a").await? == ["300 ? now"]);
    Ok(())
}

/// By MariaDB. MySQL has its own form of JSON. Tables of earlier releases, whose texts MariaDB checks and does not compress, are no difference.
async fn the_text_of_a_former_version_is_compressed(world: World) -> Result<()> {
    let store = store(&world).await?;
    let ty = "SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'run_history' AND column_name = 'json'";
    let compressed = if world.on == On::MariaDb { "longtext /*M!100301 COMPRESSED*/" } else { "json" };
    assert_eq!(world.cell(ty).await?.as_deref(), Some(compressed));
    let schema = Schema::from_registry(&[KIND]);
    for change in [None, Some("ALTER TABLE run_history MODIFY json JSON NOT NULL")] {
        if let Some(change) = change {
            world.sql(change).await?;
        }
        let found = drift(&schema, &store.catalog().await?, store.dialect());
        assert!(found.is_empty(), "{found:?}");
        let uncompressed = store.uncompressed_histories(&[KIND]).await?;
        assert_eq!(uncompressed.len(), usize::from(change.is_some() && world.on == On::MariaDb));
        for (table, statement) in uncompressed {
            assert_eq!(table.as_str(), "run_history");
            store.compress_history(statement).await?;
        }
        assert_eq!(world.cell(ty).await?.as_deref(), Some(compressed));
    }
    Ok(())
}

/// PostgreSQL's statement has read the row before it waits for it.
async fn a_version_that_changed_while_its_writer_waited_is_kept_as_it_is_then(world: World) -> Result<()> {
    let store = store(&world).await?;
    let table = runs();
    store.write(table, vec![new("a", 2), new("b", 2)]).await?;
    let mut other = PgConnection::connect(&world.url).await?;
    // As if a writer had let its version begin later, which changes nothing else.
    let moved = "CAST(update_time + INTERVAL '0.001' SECOND AS TEXT)";
    let moved = world.cell(&format!("SELECT {moved} FROM run WHERE uid = 'a'")).await?;
    other.execute("BEGIN").await?;
    other.execute("UPDATE run SET update_time = update_time + INTERVAL '0.001' SECOND WHERE uid = 'a'").await?;
    let late = async {
        let report = store.write(table, vec![known("a", 2, 4), known("b", 2, 4)]).await?;
        ensure!(report.written == 2, "{report:?}");
        Ok(())
    };
    let commit = async {
        wait_for_a_blocked_writer(&world).await?;
        other.execute("COMMIT").await?;
        anyhow::Ok(())
    };
    tokio::try_join!(late, commit)?;
    let began = world.cell("SELECT CAST(valid_from AS TEXT) FROM run_history WHERE uid = 'a'").await?;
    assert_eq!(began, moved);
    let without_a_gap = "run JOIN run_history USING (uid) WHERE valid_to = update_time AND run.res_version = 4";
    assert_eq!(world.count(without_a_gap).await?, 2);
    for uid in ["a", "b"] {
        assert_eq!(told(&store, uid).await?, ["4 updated now", "2 ?"]);
    }
    Ok(())
}
