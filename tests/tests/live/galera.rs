//! The mirror on a Galera cluster whose nodes come and go.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::Galera;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::churn::Churn;
use crate::eventually::eventually;
use crate::objects::kinds;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

on_servers! { OwnServers::NOTHING =>
    every_change_is_stored_while_nodes_come_and_go [galera GALERA]
}

/// Objects in the churn.
const OBJECTS: usize = 240;

/// How long the ingester may take to catch up once all nodes are back.
const RECOVERY: Duration = Duration::from_secs(120);

async fn every_change_is_stored_while_nodes_come_and_go(world: &mut World) -> Result<()> {
    let name = world.database.name.clone();
    let galera =
        |world: &World| -> Result<String> { Ok(world.database.galera().context("a cluster")?.urls(&[0, 1, 2], &name)) };
    let url = galera(world)?;
    world.start_with(&Settings {
        deletion_delay: "200ms",
        database_url: Some(url),
        mysql: None,
        ..world.settings()
    })?;
    let cluster = world.database.galera().context("a cluster")?;
    let mut churn = Churn::new(&world.objects, OBJECTS);
    let part = churn.steps / 6;
    let mut at = 0;
    let mut go_on = async |churn: &mut Churn| {
        churn.allow(part);
        at += part;
        churn.reached(at).await
    };
    let written = || -> Result<f64> { Ok(world.metrics()?.sum("ingester_rows_written_total", &[])) };
    go_on(&mut churn).await?;

    // The node with the ingester's connections crashes. The others take over, and it comes back.
    cluster.kill(0)?;
    let before = written()?;
    go_on(&mut churn).await?;
    eventually("writes without the first node", async || written(), |now| *now > before).await?;
    cluster.join(&[0])?;

    // The next one freezes, and is expelled from the cluster.
    cluster.freeze(1);
    cluster.wait_for(&[0, 2], 2)?;
    let before = written()?;
    go_on(&mut churn).await?;
    eventually("writes without the second node", async || written(), |now| *now > before).await?;
    cluster.thaw(1);
    cluster.wait()?;

    // Two of three crash: the last one accepts no writes until another one is back.
    cluster.kill(0)?;
    cluster.kill(1)?;
    cluster.wait_for_lost_quorum(2)?;
    churn.allow(part);
    let errors = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &["class=\"transient\""]));
    eventually("the lost quorum to be noticed", errors, |errors| *errors > 0.0).await?;
    ensure!(world.ingester().probe("/healthz")? == 200, "a database that is away is no reason to be killed");
    cluster.join(&[0, 1])?;

    churn.finish().await?;
    world.settled_within(RECOVERY).await?;
    agree(world, cluster).await?;
    world.audit_is_clean()
}

/// The live objects of the cluster are the live rows of every node, with their versions and all their labels.
async fn agree(world: &World, galera: &Galera) -> Result<()> {
    for kind in kinds() {
        let mut wanted = BTreeMap::new();
        for object in world.objects.list(kind).await? {
            let labels = object.metadata.labels.unwrap_or_default();
            let mut labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            labels.sort();
            let uid = object.metadata.uid.context("a uid")?;
            let version = object.metadata.resource_version.context("a version")?;
            wanted.insert(uid, format!("{version} {}", labels.join(",")));
        }
        let table = crd_specs::KINDS.iter().find(|one| one.kind() == kind).context("a kind")?.table().name;
        let query = format!(
            "SET SESSION group_concat_max_len = 1000000;
             SELECT CONCAT(o.uid, ' ', o.res_version, ' ', COALESCE((SELECT GROUP_CONCAT(l.`key`, '=', l.value ORDER BY l.`key`, l.value SEPARATOR ',')
               FROM {table}_labels AS l WHERE l.obj_uid = o.uid), ''))
             FROM {table} AS o WHERE o.delete_time IS NULL AND o.evict_time IS NULL"
        );
        for node in 0..ingester_tests::galera::NODES {
            let rows = galera.sql(node, &world.database.name, &query)?;
            let stored: BTreeMap<String, String> = rows
                .iter()
                .filter_map(|row| row.split_once(' ').map(|(uid, rest)| (uid.to_owned(), rest.to_owned())))
                .collect();
            ensure!(stored == wanted, "{kind} on node {node}: stored {stored:?}, wanted {wanted:?}");
        }
    }
    Ok(())
}
