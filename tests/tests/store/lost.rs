//! Evictions whose rows a database has lost are recorded, until they are not lost any more.

use crate::world::{Stores as _, World, kind};
use anyhow::Result;
use ingester_store::LostEviction;
use ingester_tests::on_every_database;

on_every_database! {
    lost_evictions_are_recorded_once_and_forgotten
}

fn lost(uid: &str, namespace: &str, res_version: u64) -> LostEviction {
    LostEviction { uid: uid.into(), namespace: namespace.into(), name: format!("name-{uid}").into(), res_version }
}

async fn lost_evictions_are_recorded_once_and_forgotten(world: World) -> Result<()> {
    let store = world.store().await?;
    let models = kind("Model");
    let projects = kind("Project");
    assert!(store.lost_evictions(models, None).await?.is_empty());
    let many: Vec<LostEviction> = (0..250).map(|number| lost(&format!("u{number:03}"), "many", 1)).collect();
    store.record_lost_evictions(models, &many).await?;
    store.record_lost_evictions(models, &[lost("a", "ml", 7)]).await?;
    let time = world.cell("SELECT lost_time FROM ingester_lost_evictions WHERE uid = 'a'").await?;
    let largest = world.on.largest_version();
    store.record_lost_evictions(models, &[lost("a", "ml", largest)]).await?;
    store.record_lost_evictions(projects, &[lost("a", "ml", 9)]).await?;
    assert_eq!(store.lost_evictions(models, None).await?.len(), 251);
    assert_eq!(store.lost_evictions(models, Some("ml")).await?, [lost("a", "ml", largest)]);
    let first = "SELECT lost_time FROM ingester_lost_evictions WHERE uid = 'a' AND table_name = 'model'";
    assert_eq!(world.cell(first).await?, time, "when it was found first");
    let uids: Vec<&str> = many.iter().map(|lost| &*lost.uid).chain(["a"]).collect();
    store.forget_lost_evictions(models, &uids).await?;
    assert!(store.lost_evictions(models, None).await?.is_empty());
    assert_eq!(store.lost_evictions(projects, None).await?, [lost("a", "ml", 9)], "of another kind");
    world.sql("DROP TABLE ingester_lost_evictions").await?;
    assert!(store.lost_evictions(models, None).await?.is_empty(), "a database of an earlier release has none");
    Ok(())
}
