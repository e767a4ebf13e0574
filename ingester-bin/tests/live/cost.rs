//! How much is written: the database counts the statements that it is sent.

use anyhow::Result;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::eventually::{eventually, within};
use crate::objects::{OURS, has_finalizer, project, version};
use crate::on_both_databases;
use crate::world::World;

on_both_databases! { Own::DATABASE =>
    creating_an_object_costs_one_statement_and_the_echo_of_its_finalizer_none
    a_restart_over_many_unchanged_objects_sends_no_writing_statement
}

/// The objects of the test of a restart.
const MANY: u32 = 10_000;

/// The statements that were sent since `before`, by their counters.
async fn sent_since(world: &World, before: &BTreeMap<String, u64>) -> Result<BTreeMap<String, u64>> {
    let now = world.database.writing_statements().await?;
    let sent = now.into_iter().map(|(name, count)| (count - before[&name], name));
    Ok(sent.filter(|(count, _)| *count > 0).map(|(count, name)| (name, count)).collect())
}

/// Creates a project and waits until it has its finalizer and its row is at the version that came of that.
async fn create(world: &World, name: &str) -> Result<()> {
    world.objects.create(project(name, 1)).await?;
    let look = async || Ok((world.objects.get("Project", name).await?, world.row("Project", name).await?));
    let done = eventually("the object to be adopted and stored", look, |seen| match seen {
        (Some(object), Some(row)) => has_finalizer(object, OURS) && row.version == version(object),
        _ => false,
    });
    done.await.map(drop)
}

async fn creating_an_object_costs_one_statement_and_the_echo_of_its_finalizer_none(world: &mut World) -> Result<()> {
    world.start()?;
    // Whatever is done once has been done then.
    create(world, "first").await?;
    create(world, "second").await?;
    let statements = world.database.writing_statements().await?;
    let rows = world.metrics()?.sum("ingester_rows_written_total", &[]);

    create(world, "counted").await?;
    // A later event of the same watch: the echo of the finalizer has come before it.
    create(world, "fence").await?;
    let sent = sent_since(world, &statements).await?;
    assert_eq!(sent, BTreeMap::from([("Com_insert".to_owned(), 2)]), "for two objects");
    let rows = world.metrics()?.sum("ingester_rows_written_total", &[]) - rows;
    assert!((rows - 2.0).abs() < 0.5, "{rows} rows for two objects");

    // And an update costs one.
    let statements = world.database.writing_statements().await?;
    world.objects.patch("Project", "counted", &json!({"spec": {"tier": 2}})).await?;
    world.settled().await?;
    let sent: u64 = sent_since(world, &statements).await?.values().sum();
    assert_eq!(sent, 1, "for an update");
    Ok(())
}

async fn a_restart_over_many_unchanged_objects_sends_no_writing_statement(world: &mut World) -> Result<()> {
    // With the finalizer on them: putting it on would be a change.
    let objects = (0..MANY).map(|number| {
        let mut object = project(&format!("project-{number:05}"), number % 5);
        object["metadata"]["finalizers"] = json!([OURS]);
        object["metadata"]["labels"] = json!({"number": number.to_string()});
        object["metadata"]["annotations"] = json!({"example.com/number": number.to_string()});
        object
    });
    world.objects.create_all(objects).await?;
    world.start()?;
    let count = async || world.database.count("project").await;
    within(Duration::from_secs(120), "all rows", count, |count| *count == u64::from(MANY)).await?;
    world.settled_within(Duration::from_secs(120)).await?;
    world.stop()?;

    let statements = world.database.writing_statements().await?;
    world.restart()?;
    // Ready: the first list has been compared with what is stored.
    let metrics = world.metrics()?;
    assert!(metrics.sum("ingester_lists_total", &["kind=\"Project\""]) > 0.5, "it has listed");
    let objects = metrics.sum("ingester_objects", &["kind=\"Project\""]);
    assert!((objects - f64::from(MANY)).abs() < 0.5, "it knows of {objects} objects");
    let depth = async || Ok(world.metrics()?.sum("workqueue_depth", &[]));
    eventually("the queues to be empty", depth, |depth| *depth < 0.5).await?;
    // What was under way is finished at the end.
    world.stop()?;
    assert_eq!(sent_since(world, &statements).await?, BTreeMap::new());
    Ok(())
}
