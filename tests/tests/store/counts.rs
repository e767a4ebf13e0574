//! Objects are counted by their states, now and at moments of the past, and rejects by their kinds.

use crate::world::{On, Stores as _, World, kind, model, row};
use anyhow::Result;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::RejectCount;
use ingester_store::query::StateCounts;
use ingester_store::{Reject, RowChange, Store};
use ingester_tests::on_every_database;
use serde_json::json;
use std::time::Duration;

on_every_database! {
    objects_are_counted_by_their_states_now_and_at_moments
    rows_of_another_group_do_not_count
    without_the_keys_the_counts_are_the_same
    rejects_are_counted_by_kind_and_namespace
}

const TIME: Duration = Duration::from_secs(30);

/// This day of March 2026.
fn day(day: i64) -> Micros {
    Micros((1_772_323_200 + (day - 1) * 86_400) * 1_000_000)
}

/// A model with its days of creation, eviction and deletion.
fn lived(uid: &str, created: Option<u32>, evicted: Option<i64>, deleted: Option<i64>) -> Row {
    let mut object = model(uid, 1);
    object["metadata"]["creationTimestamp"] =
        created.map_or(json!(null), |day| json!(format!("2026-03-{day:02}T00:00:00Z")));
    Row { evict_time: evicted.map(day), delete_time: deleted.map(day), ..row(&object) }
}

/// Stores models that were created, evicted and deleted on different days.
async fn fill(store: &Store) -> Result<()> {
    let rows = [
        lived("old", None, None, None),
        lived("a", Some(2), None, None),
        lived("b", Some(2), Some(4), None),
        lived("c", Some(3), None, Some(5)),
        lived("d", Some(3), Some(4), Some(6)),
        lived("late", Some(20), None, None),
    ];
    store.write(kind("Model").table(), rows.map(RowChange::Row).into()).await?;
    Ok(())
}

const NOW: StateCounts = StateCounts { live: 3, evicted: 1, deleted: 2 };

/// `live/evicted/deleted` at the end of these days.
async fn at(store: &Store, days: &[i64]) -> Result<String> {
    let moments: Vec<Micros> = days.iter().map(|number| day(*number)).collect();
    let counts = store.count_states_at(kind("Model"), &moments, TIME).await?;
    let told = |StateCounts { live, evicted, deleted }: &StateCounts| format!("{live}/{evicted}/{deleted}");
    Ok(counts.iter().map(told).collect::<Vec<_>>().join(" "))
}

async fn objects_are_counted_by_their_states_now_and_at_moments(world: World) -> Result<()> {
    let store = world.store().await?;
    assert_eq!(store.count_states(kind("Model"), TIME).await?, StateCounts::default());
    assert_eq!(at(&store, &[1, 2]).await?, "0/0/0 0/0/0");
    fill(&store).await?;
    assert_eq!(store.count_states(kind("Model"), TIME).await?, NOW);
    // The one without a creation time was always there; what happens at a moment has happened.
    assert_eq!(at(&store, &[1, 2, 3, 4, 5, 6, 25]).await?, "1/0/0 3/0/0 5/0/0 3/2/0 2/2/1 2/1/2 3/1/2");
    assert_eq!(at(&store, &[1, 6]).await?, "1/0/0 2/1/2", "steps may be of any length");
    let moments: Vec<Micros> = (0..200).map(|step| Micros(day(1).0 + step * 7_200_000_000)).collect();
    let many = store.count_states_at(kind("Model"), &moments, TIME).await?;
    assert_eq!((many.len(), many[199].evicted), (200, 1));
    Ok(())
}

async fn rows_of_another_group_do_not_count(world: World) -> Result<()> {
    let store = world.store().await?;
    fill(&store).await?;
    let mut other = model("other", 1);
    other["apiVersion"] = json!("apps/v1");
    other["metadata"]["creationTimestamp"] = json!("2026-03-02T00:00:00Z");
    let object = Object::parse(other.to_string(), ManagedFields::Keep)?;
    let other = kind("Model").row(&object)?.unwrap();
    store.write(kind("Model").table(), vec![RowChange::Row(other)]).await?;
    assert_eq!(store.count_states(kind("Model"), TIME).await?, NOW);
    assert_eq!(at(&store, &[1, 2, 25]).await?, "1/0/0 3/0/0 3/1/2");
    Ok(())
}

async fn without_the_keys_the_counts_are_the_same(world: World) -> Result<()> {
    let store = world.store().await?;
    fill(&store).await?;
    for key in ["uid_version", "create_time"] {
        let key = world.on.key("model", key);
        let of_table = if matches!(world.on, On::MariaDb | On::MySql) { " ON model" } else { "" };
        world.sql(&format!("DROP INDEX {key}{of_table}")).await?;
    }
    assert_eq!(store.count_states(kind("Model"), TIME).await?, NOW);
    assert_eq!(at(&store, &[1, 2, 25]).await?, "1/0/0 3/0/0 3/1/2");
    Ok(())
}

async fn rejects_are_counted_by_kind_and_namespace(world: World) -> Result<()> {
    let store = world.store().await?;
    let reject = |uid: &str, kind: &str, namespace: &str| Reject {
        uid: uid.into(),
        group_ver: "michelangelo.api/v2".into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: format!("n-{uid}"),
        res_version: "7".into(),
        reason: String::new(),
    };
    assert_eq!(store.count_rejects(10, TIME).await?, []);
    let all = [
        reject("a", "Pipeline", "ml"),
        reject("b", "Model", "ml"),
        reject("c", "Model", "dev"),
        reject("d", "Model", "ml"),
    ];
    store.record_rejects(&all).await?;
    let count = |kind: &str, namespace: &str, count| RejectCount {
        kind: kind.into(),
        group_ver: "michelangelo.api/v2".into(),
        namespace: namespace.into(),
        count,
    };
    let expected = [count("Model", "dev", 1), count("Model", "ml", 2), count("Pipeline", "ml", 1)];
    assert_eq!(store.count_rejects(10, TIME).await?, expected);
    assert_eq!(store.count_rejects(2, TIME).await?, expected[..2]);
    Ok(())
}
