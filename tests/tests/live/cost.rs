//! How much is written, according to the database's own counters of statements.

use anyhow::Result;
use crd_specs::KINDS;
use ingester_tests::sql::Rows;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::eventually::{eventually, within};
use crate::objects::{OURS, has_finalizer, project, version};
use crate::on_mariadb_and_mysql;
use crate::world::World;

// By counters of the server, which PostgreSQL does not have.
on_mariadb_and_mysql! { OwnServers::DATABASE =>
    creating_an_object_and_adding_its_finalizer_costs_one_statement
    a_restart_over_unchanged_objects_writes_nothing
}

/// Objects in the test of a restart: far more than the statements that it allows.
const MANY: u32 = 500;

/// How many statements of each kind the database has had, and the records of units: each time one of these changes, that was a statement.
struct StatementCounts {
    statements: BTreeMap<String, u64>,
    records: Rows,
}

async fn counted(world: &World) -> Result<StatementCounts> {
    let read = async || world.database.sql("SELECT name, value FROM ingester_settings WHERE name LIKE 'unit/%'").await;
    let mut records = read().await?;
    loop {
        let statements = world.database.writing_statements().await?;
        let before = std::mem::replace(&mut records, read().await?);
        if before == records {
            return Ok(StatementCounts { statements, records });
        }
    }
}

/// The number of statements since `before`, by kind of statement, without those of records.
async fn sent_since(world: &World, before: &StatementCounts) -> Result<BTreeMap<String, u64>> {
    let StatementCounts { statements, records } = counted(world).await?;
    let changed = records.iter().filter(|record| !before.records.contains(record)).count() as u64;
    let sent = statements.into_iter().map(|(name, count)| {
        let of_records = if name == "Com_insert" { changed } else { 0 };
        ((count - before.statements[&name]).saturating_sub(of_records), name)
    });
    Ok(sent.filter(|(count, _)| *count > 0).map(|(count, name)| (name, count)).collect())
}

/// Creates a project and waits until it has the finalizer and its row has the resulting version.
async fn create(world: &World, name: &str) -> Result<()> {
    world.objects.create(project(name, 1)).await?;
    let look = async || Ok((world.objects.get("Project", name).await?, world.row("Project", name).await?));
    let done = eventually("the object to have the finalizer and a row", look, |seen| match seen {
        (Some(object), Some(row)) => has_finalizer(object, OURS) && row.version == version(object),
        _ => false,
    });
    done.await.map(drop)
}

async fn creating_an_object_and_adding_its_finalizer_costs_one_statement(world: &mut World) -> Result<()> {
    world.start()?;
    // The first ones include work that is done only once.
    create(world, "first").await?;
    create(world, "second").await?;
    let statements = counted(world).await?;
    let rows = world.metrics()?.sum("ingester_rows_written_total", &[]);

    create(world, "counted").await?;
    // The event of this object comes after the echo of the finalizer in the same watch.
    create(world, "fence").await?;
    let sent = sent_since(world, &statements).await?;
    assert_eq!(sent, BTreeMap::from([("Com_insert".to_owned(), 2)]), "for two objects");
    let rows = world.metrics()?.sum("ingester_rows_written_total", &[]) - rows;
    assert!((rows - 2.0).abs() < 0.5, "{rows} rows for two objects");

    // An update costs one statement.
    let statements = counted(world).await?;
    world.objects.patch("Project", "counted", &json!({"spec": {"tier": 2}})).await?;
    world.settled().await?;
    let sent: u64 = sent_since(world, &statements).await?.values().sum();
    assert_eq!(sent, 1, "for an update");
    Ok(())
}

async fn a_restart_over_unchanged_objects_writes_nothing(world: &mut World) -> Result<()> {
    // They have the finalizer already, because adding it would be a change.
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

    let statements = counted(world).await?;
    world.restart()?;
    // Ready means that the first list has been compared with the rows.
    let metrics = world.metrics()?;
    assert!(metrics.sum("ingester_lists_total", &["kind=\"Project\""]) > 0.5, "it has listed");
    let objects = metrics.sum("ingester_objects", &["kind=\"Project\""]);
    assert!((objects - f64::from(MANY)).abs() < 0.5, "it knows of {objects} objects");
    let depth = async || Ok(world.metrics()?.sum("workqueue_depth", &[]));
    eventually("the queues to be empty", depth, |depth| *depth < 0.5).await?;
    assert!(world.metrics()?.sum("ingester_rows_written_total", &[]) < 0.5, "no row is written");
    // Stopping completes the work in progress.
    world.stop()?;
    // Each unit records all its phases, whatever the number of objects: starting, listing, synced, and stopped, which is not counted.
    let sent: u64 = sent_since(world, &statements).await?.values().sum();
    assert!(sent <= 3 * u64::try_from(KINDS.len())?, "{sent} statements");
    Ok(())
}
