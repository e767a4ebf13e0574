//! Effects on a store that only a cluster of several nodes has. More tests of the store run on Galera, too, by `on_galera!`.

use crate::world::{MODEL_AND_PROJECT, change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_core::row::{Expected, Row};
use ingester_store::{ConnectOptions, ErrorClass, Retry, RowChange, Store};
use ingester_tests::{Galera, shared_galera, skipped_without_galera};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::JoinSet;

/// How many objects are written on all nodes at the same time.
const OBJECTS: usize = 1500;

fn on_shared<F: Future<Output = Result<()>>>(test: impl FnOnce(&'static Galera) -> F) -> Result<()> {
    let Some(cluster) = shared_galera()? else {
        skipped_without_galera();
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(test(cluster))
}

/// Retries that outlast any number of conflicts.
fn patient() -> ConnectOptions {
    ConnectOptions::default().connections(8).retry(Retry::SHORT.attempts(Some(100)))
}

/// Three writers that all consider each object new. Two of them are wrong, and their text may be aborted in the middle.
#[test]
fn objects_that_three_nodes_write_at_once_are_stored_as_a_whole() -> Result<()> {
    on_shared(async |cluster| {
        let name = "galera_torn";
        cluster.create_database(name)?;
        let mut stores = Vec::new();
        for node in 0..3 {
            stores.push(Arc::new(Store::connect(&cluster.url(node, name).parse()?, patient()).await?));
        }
        stores[0].create_missing(MODEL_AND_PROJECT).await?;
        let mut writers = JoinSet::new();
        for (version, store) in (1..).zip(&stores) {
            for worker in 0..4 {
                let store = store.clone();
                writers.spawn(async move {
                    for number in (worker..OBJECTS).step_by(4) {
                        let RowChange::Row(row) = change(&model(&format!("u{number:05}"), version)) else { continue };
                        let new = RowChange::Row(Row { expected: Some(Expected::Absent), ..row });
                        let report = store.write(kind("Model").table(), vec![new]).await?;
                        ensure!(report.rejected.is_empty(), "{report:?}");
                    }
                    Ok(())
                });
            }
        }
        while let Some(ended) = writers.join_next().await {
            ended??;
        }
        // The content of a node: the latest version of each object, with exactly its labels and annotations.
        let rows = cluster.sql(
            2,
            name,
            "SELECT CONCAT(o.uid, ' ', o.res_version, ' ',
               COALESCE((SELECT GROUP_CONCAT(l.`key`, '=', l.value ORDER BY l.`key`) FROM model_labels AS l WHERE l.obj_uid = o.uid), ''), ' ',
               COALESCE((SELECT GROUP_CONCAT(a.value) FROM model_annotations AS a WHERE a.obj_uid = o.uid), ''))
             FROM model AS o ORDER BY o.uid",
        )?;
        let wanted: Vec<String> =
            (0..OBJECTS).map(|n| format!("u{n:05} 3 only-3=yes,same=same,version=3 written at 3")).collect();
        let torn: Vec<&String> = rows.iter().filter(|row| !wanted.contains(row)).collect();
        ensure!(torn.is_empty() && rows.len() == OBJECTS, "{} rows, torn: {torn:?}", rows.len());
        for table in ["model_labels", "model_annotations"] {
            let orphans = format!("SELECT obj_uid FROM {table} WHERE obj_uid NOT IN (SELECT uid FROM model)");
            ensure!(cluster.sql(2, name, &orphans)?.is_empty(), "rows of {table} without an object");
        }
        Ok(())
    })
}

/// A reader on one node sees what was written on another one.
#[test]
fn a_read_sees_what_was_written_on_another_node() -> Result<()> {
    on_shared(async |cluster| {
        let name = "galera_reads";
        cluster.create_database(name)?;
        let writer = Store::connect(&cluster.url(0, name).parse()?, patient()).await?;
        let reader = Store::connect(&cluster.url(1, name).parse()?, patient()).await?;
        writer.create_missing(MODEL_AND_PROJECT).await?;
        let table = kind("Model").table();
        for version in 1..=300 {
            writer.write(table, vec![change(&model("a", version))]).await?;
            let read = reader.read_stored(table, &["a"]).await?;
            ensure!(read.first().context("its row")?.res_version == version, "{version} is not seen");
        }
        Ok(())
    })
}

/// Updates of the same rows on two nodes: one of the two fails at its commit. No connection keeps remains of a transaction.
#[test]
fn writers_on_two_nodes_end_with_the_latest_version_of_each_object() -> Result<()> {
    on_shared(async |cluster| {
        let name = "galera_conflicts";
        cluster.create_database(name)?;
        let mut stores = Vec::new();
        for node in 0..3 {
            stores.push(Arc::new(Store::connect(&cluster.url(node, name).parse()?, patient()).await?));
        }
        stores[0].create_missing(MODEL_AND_PROJECT).await?;
        let mut writers = JoinSet::new();
        for (place, store) in stores.iter().cloned().enumerate() {
            writers.spawn(async move {
                for round in 0..40_u64 {
                    let version = 3 * round + place as u64 + 1;
                    let batch = (0..8).map(|n| change(&model(&format!("u{n}"), version))).collect();
                    store.write(kind("Model").table(), batch).await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(ended) = writers.join_next().await {
            ended??;
        }
        let uids: Vec<String> = (0..8).map(|n| format!("u{n}")).collect();
        let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
        for store in &stores {
            let rows = store.read_stored(kind("Model").table(), &uids).await?;
            let versions: BTreeMap<_, _> = rows.iter().map(|row| (row.uid.clone(), row.res_version)).collect();
            ensure!(versions.len() == 8 && versions.values().all(|version| *version == 120), "{versions:?}");
        }
        let labels = cluster.sql(
            1,
            name,
            "SELECT CONCAT(`key`, '=', value) FROM model_labels GROUP BY `key`, value ORDER BY 1",
        )?;
        ensure!(labels == ["only-120=yes", "same=same", "version=120"], "{labels:?}");
        Ok(())
    })
}

/// Its own cluster, whose nodes end.
#[test]
fn a_list_of_nodes_is_followed_and_a_lost_quorum_waited_for() -> Result<()> {
    let Some(cluster) = Galera::start()? else {
        skipped_without_galera();
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let name = "nodes";
        cluster.create_database(name)?;
        let store = Store::connect(&cluster.urls(&[0, 1, 2], name).parse()?, patient()).await?;
        store.create_missing(MODEL_AND_PROJECT).await?;
        let table = kind("Model").table();
        let mut acknowledged = Vec::new();
        let mut write = async |count: usize| {
            for _ in 0..count {
                let uid = format!("u{:04}", acknowledged.len());
                store.write(table, vec![change(&model(&uid, 1))]).await?;
                acknowledged.push(uid);
            }
            anyhow::Ok(())
        };
        write(20).await?;
        cluster.kill(0)?;
        write(20).await?;
        cluster.join(&[0])?;
        cluster.stop(1)?;
        write(20).await?;
        // The last of three nodes, after both others crash: it accepts no writes, and reports that at once.
        cluster.kill(0)?;
        cluster.wait_for_lost_quorum(2)?;
        let quick = ConnectOptions::default().retry(Retry::SHORT.attempts(Some(2)));
        let error = Store::connect(&cluster.urls(&[0, 1, 2], name).parse()?, quick).await.err().context("no quorum")?;
        ensure!(error.class() == ErrorClass::Transient, "{error}");
        let text = error.to_string();
        ensure!(text.contains("none of the servers takes writes") && text.contains("lost the others"), "{text}");
        cluster.join(&[0, 1])?;
        write(20).await?;
        for node in 0..3 {
            let stored = cluster.sql(node, name, "SELECT uid FROM model ORDER BY uid")?;
            ensure!(stored == acknowledged, "node {node}: {stored:?}");
        }
        Ok(())
    })
}
