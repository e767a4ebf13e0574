//! Moving in from the reference system while both systems run: it evicts, and the cluster shows what has left it.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::databases::{Database, On};
use kube::ResourceExt as _;

use crate::eventually::eventually;
use crate::objects::{model, version};
use crate::on_every_database;
use crate::settings::Settings;
use crate::world::World;

on_every_database! { OwnServers::NOTHING =>
    the_reference_system_evicts_and_the_cluster_says_what_has_left_it
}

/// Tables with the columns of the reference system's, for one kind.
const REFERENCE: &str =
    "CREATE TABLE model (uid VARCHAR(255) PRIMARY KEY, group_ver TEXT, namespace TEXT, name TEXT, res_version BIGINT, \
     create_time TEXT, update_time TEXT, delete_time TEXT, proto BLOB, json TEXT);
     CREATE TABLE model_labels (id INTEGER PRIMARY KEY, obj_uid TEXT, \"key\" TEXT, value TEXT);";

async fn the_reference_system_evicts_and_the_cluster_says_what_has_left_it(world: &mut World) -> Result<()> {
    let ingester = vec!["finalizer: existing", "evictions: off"];
    world.start_with(&Settings { ingester, deletion_delay: "200ms", ..world.settings() })?;
    for name in ["stays", "marked", "evicted", "deleted"] {
        world.objects.create(model(name, "x")).await?;
    }
    for name in ["marked", "evicted"] {
        world.objects.annotate("Model", name, "michelangelo/Immutable").await?;
    }
    // They are not ours to evict: their rows have the mark, and stay live.
    for name in ["stays", "marked", "evicted", "deleted"] {
        let object = world.objects.get("Model", name).await?.context("an object of the cluster")?;
        let row = async || world.row("Model", name).await;
        eventually("its row", row, |row| row.as_ref().is_some_and(|row| row.version == version(&object))).await?;
    }
    let marked = world.objects.get("Model", "marked").await?.context("it is not ours to evict")?;
    let is_live = |name: &str| format!("model WHERE name = '{name}' AND delete_time IS NULL AND evict_time IS NULL");
    assert_eq!(world.database.count(&is_live("marked")).await?, 1);
    // The reference system evicts one, and a user deletes another.
    world.objects.delete("Model", "evicted").await?;
    world.objects.delete("Model", "deleted").await?;
    let only_copies = async || world.database.count("model WHERE name = 'evicted' AND evict_confirmed").await;
    eventually("the only copy", only_copies, |count| *count == 1).await?;
    world.row_that("deleted", "Model", "deleted", |row| row.deleted).await?;

    // Its content: an object of the cluster, and two that had left it before we came. Users have raised the version of one.
    let reference = Database::new("live::moving::reference", On::Sqlite).await?.context("SQLite")?;
    reference.sql(REFERENCE).await?;
    let uid = marked.uid().context("a uid")?;
    for (uid, name, version) in
        [(&*uid, "marked", "7"), ("gone", "gone", "1"), ("later", "later", "4611686018427387904")]
    {
        let namespace = &world.objects.namespace;
        let json = format!(
            r#"{{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}"}},"spec":{{"algorithm":"old"}}}}"#
        );
        reference
            .sql(&format!(
                "INSERT INTO model VALUES ('{uid}', 'michelangelo.api/v2', '{namespace}', '{name}', {version}, '2026-01-01 00:00:00', \
                 '2026-01-02 00:00:00', NULL, NULL, '{json}')"
            ))
            .await?;
    }
    let before = world.row("Model", "marked").await?.context("a row")?.version;
    // The ingester's own user may not get objects, only list them.
    let kubeconfig = world.cluster.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path")?;
    let url = format!("sqlite://{}", reference.url.trim_start_matches("sqlite://").trim_end_matches("?mode=rwc"));
    let arguments = ["import", "--from", &url, "--kubeconfig", kubeconfig, "--verify"];
    for _ in 0..2 {
        let ran = world.ingester().run(&arguments)?;
        ensure!(ran.code == Some(0), "{ran:?}");
    }
    let copied =
        "model WHERE name IN ('gone', 'later') AND evict_confirmed AND delete_time IS NULL AND algorithm = 'old'";
    assert_eq!(world.database.count(copied).await?, 2);
    assert_eq!(world.row("Model", "marked").await?.context("a row")?.version, before, "the mirror's, from the cluster");

    // After the switch, our system evicts.
    world.stop()?;
    world.start()?;
    world.gone("Model", "marked").await?;
    assert_eq!(world.database.count(&is_live("stays")).await?, 1);
    Ok(())
}
