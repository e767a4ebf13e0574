//! Objects that change all the time, and a kind that settles.

use anyhow::Result;
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::eventually::within;
use crate::objects::model;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// Gathering depends neither on the API server nor on the database.
on_servers! { OwnServers::CLUSTER => objects_that_change_each_second_are_written_once_in_a_while [modern MODERN] }

/// `INGESTER_TEST_SETTLING=1000` is the number of objects, which change for a minute then.
const OBJECTS: &str = "INGESTER_TEST_SETTLING";

/// How often each object changes, once a second.
const CHANGES: u32 = 12;

async fn objects_that_change_each_second_are_written_once_in_a_while(world: &mut World) -> Result<()> {
    let asked: Option<u32> = std::env::var(OBJECTS).ok().map(|text| text.parse()).transpose()?;
    let (count, changes, settle) = match asked {
        Some(count) => (count, 5 * CHANGES, "settleMap: {Model: 30s}"),
        None => (20, CHANGES, "settleMap: {Model: 6s}"),
    };
    let settle = vec![settle, "finalizer: never"];
    world.start_with(&Settings { ingester: settle, ..world.settings() })?;
    world.objects.create_all((0..count).map(|number| model(&format!("busy-{number}"), "0"))).await?;
    world.settled().await?;
    let before = world.metrics()?.sum("ingester_rows_written_total", &["kind=\"Model\""]);
    let mut busy = JoinSet::new();
    for number in 0..count {
        let objects = world.objects.clone();
        busy.spawn(async move {
            let begin = Instant::now();
            for change in 1..=changes {
                let algorithm = json!({"spec": {"algorithm": change.to_string()}});
                objects.patch("Model", &format!("busy-{number}"), &algorithm).await?;
                tokio::time::sleep_until(begin + Duration::from_secs(u64::from(change))).await;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = busy.join_next().await {
        ended??;
    }
    // Gathered changes do not count as differences.
    world.audit_is_clean()?;
    let last = format!("model WHERE delete_time IS NULL AND algorithm = '{changes}'");
    let stored = async || world.database.count(&last).await;
    within(Duration::from_secs(60), "the last states", stored, |rows| *rows >= u64::from(count)).await?;
    let metrics = world.metrics()?;
    let written = metrics.sum("ingester_rows_written_total", &["kind=\"Model\""]) - before;
    let saved = metrics.sum("ingester_rows_skipped_total", &["kind=\"Model\"", "reason=\"settling\""]);
    let changes = f64::from(count * changes);
    eprintln!("{changes} changes, {written} writes, {saved} gathered");
    // The first change of each object and two or three windows, and one more for a slow machine.
    // A change whose object already waits joins it, and is not counted.
    assert!(written <= f64::from(count * 5) && saved > 0.0, "{changes} changes, {written} writes, {saved} gathered");
    world.settled().await
}
