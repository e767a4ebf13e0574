//! Concurrent writers on the same rows.

use crate::world::{MODEL_AND_PROJECT, Stores as _, World, change, kind, model, row, wait_for_a_blocked_writer};
use anyhow::{Result, ensure};
use ingester_core::row::{Expected, Row};
use ingester_core::value::Micros;
use ingester_store::{ConnectOptions, Retry, RowChange, Store};
use ingester_tests::{on_databases, on_every_database};
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::collections::BTreeMap;
use std::sync::Arc;

on_every_database! {
    racing_writers_leave_the_highest_version_of_every_object
    many_workers_inserting_the_same_objects_lose_nothing
}

// Only there can one statement write the row and its labels.
on_databases! { (two_writers_leave_no_stale_label_where_one_statement_would) [postgres Postgres] }

const OBJECTS: u64 = 1000;

/// A random number generator with a fixed seed: only the machine should vary the order of a race, not the test.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

async fn patient(world: &World) -> Result<Store> {
    let options = ConnectOptions::default().retry(Retry::SHORT.attempts(None));
    let store = world.connect(options).await?;
    store.create_missing(MODEL_AND_PROJECT).await?;
    Ok(store)
}

async fn racing_writers_leave_the_highest_version_of_every_object(world: World) -> Result<()> {
    let table = kind("Model").table();
    // Versions 1 to 8 of each object. Every fourth object is deleted at one of these versions.
    let deleted_at = |i: u64| i.is_multiple_of(4).then_some(1 + i % 8);
    let mut plans: Vec<Vec<RowChange>> = vec![Vec::new(), Vec::new()];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for version in 1..=8 {
        for i in 0..OBJECTS {
            let uid = format!("u{i:04}");
            let change = match deleted_at(i) {
                Some(at) if version > at => continue,
                Some(at) if version == at => {
                    let mut last = row(&model(&uid, version));
                    last.delete_time = Some(Micros(1_700_000_000_000_000));
                    RowChange::Row(last)
                }
                _ => change(&model(&uid, version)),
            };
            // Some changes go to both writers, others to one, so each has stale and fresh ones.
            match random.below(3) {
                0 => plans[0].push(change),
                1 => plans[1].push(change),
                _ => {
                    plans[0].push(change.clone());
                    plans[1].push(change);
                }
            }
        }
    }
    let mut writers = Vec::new();
    for (seed, mut plan) in plans.into_iter().enumerate() {
        let mut random = Random(seed as u64 + 77);
        for i in (1..plan.len()).rev() {
            plan.swap(i, random.below(i as u64 + 1) as usize);
        }
        let store = patient(&world).await?;
        writers.push(tokio::spawn(async move {
            while !plan.is_empty() {
                let rest = plan.split_off(plan.len().saturating_sub(1 + random.below(150) as usize));
                let report = store.write(table, rest).await?;
                anyhow::ensure!(report.rejected.is_empty(), "{report:?}");
            }
            Ok(())
        }));
    }
    for writer in writers {
        writer.await??;
    }

    let highest = |i: u64| deleted_at(i).unwrap_or(8);
    let rows = world.sql("SELECT uid, res_version, algorithm, delete_time IS NOT NULL FROM model ORDER BY uid").await?;
    assert_eq!(rows.len() as u64, OBJECTS);
    for (i, row) in (0..OBJECTS).zip(&rows) {
        let row: Vec<&str> = row.iter().flatten().map(String::as_str).collect();
        let version = highest(i).to_string();
        let deleted = u8::from(deleted_at(i).is_some()).to_string();
        assert_eq!(row, [&format!("u{i:04}"), &version, &format!("algorithm-{version}"), &deleted]);
    }
    let mut labels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in world.sql("SELECT obj_uid, `key`, value FROM model_labels ORDER BY obj_uid, `key`").await? {
        let row: Vec<String> = row.into_iter().flatten().collect();
        labels.entry(row[0].clone()).or_default().push(format!("{}={}", row[1], row[2]));
    }
    let annotations = world.sql("SELECT obj_uid, value FROM model_annotations ORDER BY obj_uid").await?;
    assert_eq!((labels.len() as u64, annotations.len() as u64), (OBJECTS, OBJECTS));
    for (i, annotation) in (0..OBJECTS).zip(annotations) {
        let uid = format!("u{i:04}");
        let version = highest(i);
        assert_eq!(labels[&uid], [format!("only-{version}=yes"), "same=same".into(), format!("version={version}")]);
        assert_eq!(annotation, [Some(uid), Some(format!("written at {version}"))]);
    }
    Ok(())
}

async fn many_workers_inserting_the_same_objects_lose_nothing(world: World) -> Result<()> {
    // As many as the reference system has for its 13 kinds.
    const WORKERS: u64 = 26;
    let table = kind("Model").table();
    // Two programs. They may retry transient errors such as a deadlock, but not for ever. On busy cores, 26 transactions about the same
    // rows deadlock more often in a row than one command repeats; the mirror repeats for ever.
    let connections = 13;
    let options = || ConnectOptions::default().connections(connections).retry(Retry::SHORT.attempts(Some(30)));
    let programs = [Arc::new(world.connect(options()).await?), Arc::new(world.connect(options()).await?)];
    programs[0].create_missing(MODEL_AND_PROJECT).await?;
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        let store = programs[worker as usize % 2].clone();
        workers.spawn(async move {
            // All insert the same objects at the same time, each in its own version. Some expect that no row exists.
            let expected = (worker % 3 == 0).then_some(Expected::Absent);
            for batch in 0..10 {
                let one = |i| RowChange::Row(Row { expected, ..row(&model(&format!("u{batch}-{i:02}"), worker + 1)) });
                let report = store.write(table, (0..50).map(one).collect()).await?;
                anyhow::ensure!(report.rejected.is_empty(), "{report:?}");
            }
            Ok::<_, anyhow::Error>(())
        });
    }
    for worker in workers.join_all().await {
        worker?;
    }
    let newest = |what: &str| format!("{what}-{WORKERS}'");
    assert_eq!(world.count(&format!("model WHERE algorithm = '{}", newest("algorithm"))).await?, 500);
    assert_eq!(world.count(&format!("model_labels WHERE `key` = '{}", newest("only"))).await?, 500);
    assert_eq!(world.count("model_labels").await?, 1500);
    Ok(())
}

/// A statement with CTEs has one snapshot: that of its beginning. If it waits for a row that another writer has locked, it continues with that
/// writer's row, and does not see the labels that were committed with it.
async fn two_writers_leave_no_stale_label_where_one_statement_would(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let mut labels = Vec::new();
    for in_one_statement in [true, false] {
        let uid = if in_one_statement { "one" } else { "ours" };
        store.write(table, vec![change(&model(uid, 1))]).await?;
        let mut other = PgConnection::connect(&world.url).await?;
        other.execute("BEGIN").await?;
        let writes = format!(
            "UPDATE model SET res_version = 2 WHERE uid = '{uid}'; DELETE FROM model_labels WHERE obj_uid = '{uid}';
             INSERT INTO model_labels VALUES ('{uid}', 'only-2', 'yes')"
        );
        other.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(writes))).await?;
        let late = async {
            if !in_one_statement {
                let report = store.write(table, vec![change(&model(uid, 3))]).await?;
                ensure!(report.written == 1, "{report:?}");
                return Ok(());
            }
            let sql = format!(
                "WITH written AS (UPDATE model SET res_version = 3 WHERE uid = '{uid}' AND res_version < 3 RETURNING uid),
                 gone AS (DELETE FROM model_labels USING written WHERE obj_uid = written.uid AND key <> 'only-3')
                 INSERT INTO model_labels SELECT uid, 'only-3', 'yes' FROM written"
            );
            PgConnection::connect(&world.url).await?.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql))).await?;
            Ok(())
        };
        let commit = async {
            wait_for_a_blocked_writer(&world).await?;
            other.execute("COMMIT").await?;
            anyhow::Ok(())
        };
        tokio::try_join!(late, commit)?;
        let version = world.cell(&format!("SELECT res_version FROM model WHERE uid = '{uid}'")).await?;
        ensure!(version.as_deref() == Some("3"), "{version:?}");
        let keys = format!("SELECT STRING_AGG(key, ' ' ORDER BY key) FROM model_labels WHERE obj_uid = '{uid}'");
        labels.push(world.cell(&keys).await?.unwrap_or_default());
    }
    assert_eq!(labels, ["only-2 only-3", "only-3 same version"], "the first is stale");
    Ok(())
}
