//! A rolling update: members of the next release, with another definition of a kind, join those of the previous one and take over their units.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use serde_json::Value as Json;
use std::process::Command;

use crate::cluster::{authorizer_knows, create};
use crate::eventually::{DEADLINE, eventually};
use crate::kubedl::{binding, with};
use crate::on_every_database;
use crate::replicas::shared;
use crate::settings::Settings;
use crate::world::World;

on_every_database! { OwnServers::NOTHING =>
    members_of_the_next_release_take_over_and_fill_its_columns
}

const REPLICAS: &str = "replicas: {enabled: true, namespace: ingester, leaseDuration: 5s, renewDeadline: 4s, retryPeriod: 500ms, shards: 2}";

const BEFORE: &str = "
kinds:
- group: ''
  version: v1
  kind: ConfigMap
  namespaced: true
  columns:
  - {column: tier, path: .data.tier, type: VARCHAR(32)}
";

/// Another path, and one more column.
const AFTER: &str = "
kinds:
- group: ''
  version: v1
  kind: ConfigMap
  namespaced: true
  columns:
  - {column: tier, path: .data.level, type: VARCHAR(32)}
  - {column: owner, path: .data.owner, type: VARCHAR(32)}
";

/// The objects of the test, and the files of kinds of both releases.
struct Update {
    objects: Api<ConfigMap>,
    before: Settings,
    after: Settings,
    made: usize,
    _folder: tempfile::TempDir,
}

impl Update {
    async fn prepare(world: &World) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let client = &world.objects.client;
        let with_kinds = |name: &str, kinds: &str| -> Result<Settings> {
            let file = folder.path().join(name);
            std::fs::write(&file, kinds)?;
            let kinds_file: &str = format!("kindsFile: {}", file.display()).leak();
            let settings = Settings { ingester: vec!["kinds: [ConfigMap]", REPLICAS], ..world.settings() };
            Ok(with(&settings, kinds_file))
        };
        let before = with_kinds("before.yaml", BEFORE)?;
        let after = with_kinds("after.yaml", AFTER)?;
        let role = Command::new(env!("CARGO_BIN_EXE_ingester"))
            .args(["rbac", "--name", "ingester-rolling", "--kinds"])
            .arg(folder.path().join("after.yaml"))
            .output()?;
        ensure!(role.status.success(), "{role:?}");
        create(client, &serde_saphyr::from_slice::<Json>(&role.stdout)?).await?;
        create(client, &binding("ingester-rolling")).await?;
        authorizer_knows(client, "", "configmaps").await?;
        let objects = Api::namespaced(client.clone(), &world.objects.namespace);
        Ok(Update { objects, before, after, made: 0, _folder: folder })
    }

    /// Creates some more objects.
    async fn make(&mut self, count: usize) -> Result<()> {
        for number in self.made..self.made + count {
            let data =
                [("tier", format!("tier-{number}")), ("level", format!("level-{number}")), ("owner", "me".into())];
            let object = ConfigMap {
                metadata: ObjectMeta { name: Some(format!("map-{number}")), ..ObjectMeta::default() },
                data: Some(data.map(|(key, value)| (key.to_owned(), value)).into()),
                ..ConfigMap::default()
            };
            self.objects.create(&PostParams::default(), &object).await?;
        }
        self.made += count;
        Ok(())
    }

    /// Waits until all of them have rows.
    async fn await_stored(&self, world: &World) -> Result<()> {
        let rows = async || world.database.count("configmap WHERE name LIKE 'map-%'").await;
        eventually("a row for each object", rows, |rows| *rows == self.made as u64).await.map(drop)
    }
}

async fn members_of_the_next_release_take_over_and_fill_its_columns(world: &mut World) -> Result<()> {
    let mut update = Update::prepare(world).await?;
    update.make(20).await?;
    world.start_with(&update.before)?;
    let second = world.another(&update.before)?;
    shared(world, 2, 2).await?;
    update.await_stored(world).await?;
    let before = world.database.count("configmap WHERE ingest_version = 1 AND tier LIKE 'tier-%'").await?;
    ensure!(before == 20, "{before} rows of the first release");

    // The first pod of the next release: there are two units for three members, and members of both releases write.
    let third = world.another(&update.after)?;
    third.wait_ready(DEADLINE)?;
    update.make(10).await?;
    update.await_stored(world).await?;

    ensure!(second.stop()?.status.success());
    update.make(10).await?;
    update.await_stored(world).await?;
    let fourth = world.another(&update.after)?;
    fourth.wait_ready(DEADLINE)?;
    world.stop()?;
    update.make(10).await?;
    update.await_stored(world).await?;

    // Regardless of its writer and its time, each row is as the next release writes it.
    let old = async || {
        let wrong = "ingest_version <> 2 OR tier NOT LIKE 'level-%' OR owner IS NULL";
        world.database.count(&format!("configmap WHERE name LIKE 'map-%' AND ({wrong})")).await
    };
    eventually("every row to be of the next release", old, |old| *old == 0).await?;
    let all = world.database.count("configmap WHERE name LIKE 'map-%'").await?;
    ensure!(all == 50, "{all} rows");
    Ok(())
}
