//! Programs that migrate one database through several nodes of a cluster, where a server's lock does not lock out the other nodes.

use crate::kinds::{SECOND, releases};
use anyhow::{Context as _, Result, ensure};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::{Galera, shared_galera, skipped_without_galera};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

fn on_shared<F: Future<Output = Result<()>>>(name: &str, test: impl FnOnce(&'static Galera) -> F) -> Result<()> {
    let Some(cluster) = shared_galera()? else {
        skipped_without_galera();
        return Ok(());
    };
    cluster.create_database(name)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(test(cluster))
}

async fn connect(cluster: &Galera, node: usize, name: &str) -> Result<Store> {
    Ok(Store::connect(&cluster.url(node, name).parse()?, ConnectOptions::default()).await?)
}

#[test]
fn programs_on_several_nodes_run_each_migration_once() -> Result<()> {
    let name = "galera_migrations";
    on_shared(name, async |cluster| {
        let releases = Arc::new(releases()?);
        let mut programs = JoinSet::new();
        for node in [0, 1, 2, 0, 1] {
            let releases = releases.clone();
            let store = connect(cluster, node, name).await?;
            programs.spawn(async move {
                let applied = releases.second.apply(&store, &mut |_| {}).await?;
                ensure!(applied.recorded.is_empty() && applied.drift.is_empty(), "{applied:?}");
                Ok(applied.run)
            });
        }
        let mut run: Vec<String> = programs.join_all().await.into_iter().collect::<Result<Vec<_>>>()?.concat();
        run.sort();
        ensure!(run == SECOND, "{run:?}");
        let holder = cluster.sql(2, name, "SELECT value FROM ingester_settings WHERE name = 'migrating'")?;
        ensure!(holder == [""], "nobody has the lock: {holder:?}");
        Ok(())
    })
}

#[test]
fn a_lock_whose_holder_was_killed_is_taken_over() -> Result<()> {
    let name = "galera_dead_holder";
    on_shared(name, async |cluster| {
        let releases = releases()?;
        let store = connect(cluster, 0, name).await?;
        store.create_own().await?;
        // As a killed program on another node leaves it.
        let holder = "0123456789abcdef 7 5b015589-8c22-11f1-95fb-ca3b4c2241bf process 1 on ingester-schema-x";
        let record =
            |holder: &str| format!("REPLACE INTO ingester_settings (name, value) VALUES ('migrating', '{holder}')");
        cluster.sql(1, name, &record(holder))?;
        let begin = Instant::now();
        let applied = releases.first.apply(&store, &mut |_| {}).await?;
        let waited = begin.elapsed();
        ensure!(applied.run == SECOND[..1] && applied.drift.is_empty(), "{applied:?}");
        ensure!(waited > Duration::from_secs(10) && waited < Duration::from_secs(60), "{waited:?}");

        // A killed program on the same node is known to be gone: its connection had the node's own lock.
        let node = cluster.sql(
            0,
            "",
            "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'wsrep_gcomm_uuid'",
        )?;
        cluster.sql(
            1,
            name,
            &record(&format!("0123456789abcdef 7 {} process 1 on x", node.first().context("a node")?)),
        )?;
        let begin = Instant::now();
        let applied = releases.second.apply(&store, &mut |_| {}).await?;
        ensure!(applied.run == SECOND[1..] && applied.drift.is_empty(), "{applied:?}");
        ensure!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        Ok(())
    })
}

/// A live holder: others wait for it, however long it takes, and it does not continue once another program has the lock.
#[test]
fn a_program_that_lost_its_lock_does_not_go_on() -> Result<()> {
    let name = "galera_lost_lock";
    on_shared(name, async |cluster| {
        let releases = releases()?;
        let store = connect(cluster, 0, name).await?;
        store.create_own().await?;
        let error = releases
            .second
            .apply(&store, &mut |progress| {
                if progress.place == 2 {
                    // As another node says it, between two migrations.
                    let taken = "UPDATE ingester_settings SET value = '00 1 b process 2 on y' WHERE name = 'migrating'";
                    cluster.sql(1, name, taken).unwrap();
                }
            })
            .await
            .err()
            .context("it went on")?
            .to_string();
        ensure!(error.contains("process 2 on y has taken this program for dead"), "{error}");
        let run = cluster.sql(2, name, "SELECT CAST(version AS CHAR) FROM _sqlx_migrations ORDER BY version")?;
        ensure!(run == ["1"], "{run:?}");
        Ok(())
    })
}
