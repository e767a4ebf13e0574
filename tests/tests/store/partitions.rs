//! Tables that are split by uid, as on a server with partitions or an engine that spreads rows over machines.

use crate::world::{On, Stores as _, World, change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_core::value::Micros;
use ingester_sql::ddl::Schema;
use ingester_store::migrate::drift;
use ingester_store::{EvictedRows, RowChange};
use ingester_tests::on_databases;

// SQLite has no partitions, and PostgreSQL cannot partition an existing table.
on_databases! { (a_partitioned_table_takes_the_same_rows) [mariadb MariaDb] [mysql MySql] }

async fn a_partitioned_table_takes_the_same_rows(world: World) -> Result<()> {
    let store = world.store_of(crd_specs::KINDS).await?;
    for (table, uid) in [("model", "uid"), ("model_labels", "obj_uid"), ("model_annotations", "obj_uid")] {
        world.sql(&format!("ALTER TABLE {table} PARTITION BY KEY ({uid}) PARTITIONS 7")).await?;
    }
    let found = drift(&Schema::from_registry(crd_specs::KINDS), &store.catalog().await?, store.dialect());
    assert!(found.is_empty(), "{found:#?}");

    let table = kind("Model").table();
    let uids: Vec<String> = (0..300).map(|number| format!("uid-{number:03}")).collect();
    let all = |version| uids.iter().map(|uid| change(&model(uid, version))).collect::<Vec<_>>();
    assert_eq!(store.write(table, all(2)).await?.written, 300);
    assert_eq!(store.write(table, all(3)).await?.written, 300);
    assert_eq!(store.write(table, all(2)).await?.written, 0, "what is older is refused");
    let gone = |uid: &str| RowChange::Tombstone { uid: uid.into(), res_version: 4, delete_time: Micros(1) };
    store.write(table, uids[..100].iter().map(|uid| gone(uid)).collect()).await?;

    let live = store.live(kind("Model"), None, EvictedRows::Included, "", 500).await?;
    let live: Vec<&str> = live.iter().map(|row| &*row.uid).collect();
    assert_eq!(live, uids[100..].iter().map(String::as_str).collect::<Vec<_>>(), "in the order of the uids");
    assert_eq!(world.count("model_labels WHERE value = '3' AND `key` = 'version'").await?, 300);

    // Every uid is in one partition, and its rows are found only in that one.
    let explain = if world.on == On::MariaDb { "EXPLAIN PARTITIONS" } else { "EXPLAIN FORMAT = TRADITIONAL" };
    let plan = world.sql(&format!("{explain} SELECT name FROM model WHERE uid = 'uid-007'")).await?;
    let read: Vec<&str> =
        plan.iter().flatten().flatten().map(String::as_str).filter(|cell| is_partitions(cell)).collect();
    ensure!(read.len() == 1 && !read[0].contains(','), "{plan:?}");

    let purged = store.purge(kind("Model"), Micros(2)).await?;
    ensure!(purged.rows > 0, "{purged:?}");
    let left = world.cell("SELECT COUNT(DISTINCT obj_uid) FROM model_labels").await?.context("a count")?;
    assert_eq!(left, (300 - purged.rows).to_string());
    Ok(())
}

/// `p0`, or `p0,p3`.
fn is_partitions(cell: &str) -> bool {
    cell.split(',').all(|name| name.strip_prefix('p').is_some_and(|number| number.parse::<u8>().is_ok()))
}
