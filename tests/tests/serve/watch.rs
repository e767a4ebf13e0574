//! Clients that watch: kubectl, Python's client, kube with both ways to list.

use crate::kubectl::Kubectl;
use crate::program::metric;
use crate::server::{Fate, Server, free_port, model};
use anyhow::{Context as _, Result, ensure};
use crd_specs::KINDS;
use crd_specs::model::Model;
use futures::StreamExt as _;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Micros;
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::databases::Database;
use ingester_tests::on_every_database;
use kube::ResourceExt as _;
use kube::api::Api;
use kube::runtime::utils::Backoff;
use kube::runtime::{self, WatchStreamExt as _, watcher};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

on_every_database! {
    kubectl_prints_changes_as_they_happen
    kubectl_waits_until_an_object_is_deleted
    pythons_client_goes_on_over_a_restart
    kube_follows_with_both_ways_to_list
    watchers_end_with_the_rows_whose_writers_were_killed
}

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server over a database, into which the test writes as the mirror does.
pub(crate) struct World {
    store: Store,
    pub(crate) server: Server,
    probes: u16,
}

fn kind() -> Result<&'static Kind> {
    find(KINDS, "michelangelo.api/v2", "Model").context("a kind")
}

impl World {
    pub(crate) async fn start(database: &Database) -> Result<Self> {
        let store = Store::connect(&database.url.parse()?, ConnectOptions::default()).await?;
        store.create_missing(KINDS).await?;
        let folder = tempfile::tempdir()?;
        let probes = free_port()?;
        let config = json!({
            "metadataStorage": {"enableMetadataStorage": true, "databaseURL": database.url},
            "serve": {"probes": format!("127.0.0.1:{probes}")},
        });
        std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?;
        Ok(World { store, server: Server::start_in(folder)?, probes })
    }

    pub(crate) async fn write(&self, name: &str, version: u64, labels: &Json, fate: Fate) -> Result<()> {
        let mut object = model("ml", name, version, labels);
        object["metadata"]["uid"] = name.into();
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        let mut row = kind()?.row(&object)?.context("a row")?;
        match fate {
            Fate::Live => {}
            Fate::Evicted => (row.evict_time, row.evict_confirmed) = (Some(Micros::now()), true),
            Fate::Deleted => row.delete_time = Some(Micros::now()),
        }
        let report = self.store.write(kind()?.table(), vec![RowChange::Row(row)]).await?;
        ensure!(report.rejected.is_empty(), "{:?}", report.rejected);
        Ok(())
    }

    /// Waits until this many watches of models are open.
    async fn watched(&self, count: f64) -> Result<()> {
        let name = "ingester_serve_watches{resource=\"models\"}";
        until("a watch", async || Ok(metric(self.probes, name).await? == Some(count))).await
    }
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !condition().await? {
        ensure!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// A program that keeps running, and its output.
pub(crate) struct RunningClient {
    pub(crate) process: Child,
    out: PathBuf,
}

impl Drop for RunningClient {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl RunningClient {
    pub(crate) fn start(command: &mut Command, out: PathBuf) -> Result<Self> {
        let process = command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(Stdio::inherit()).spawn()?;
        Ok(RunningClient { process, out })
    }

    /// The lines, each with single blanks.
    pub(crate) fn lines(&self) -> Result<Vec<String>> {
        let text = std::fs::read_to_string(&self.out)?;
        Ok(text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
    }

    /// Waits until there is a line that begins with this.
    async fn prints(&self, begin: &str) -> Result<()> {
        let told = until(begin, async || Ok(self.lines()?.iter().any(|line| line.starts_with(begin)))).await;
        told.with_context(|| format!("{:#?}", self.lines().unwrap_or_default()))
    }
}

/// kubectl with these arguments; `None` if it is not installed.
fn kubectl(world: &World, arguments: &[&str], out: &str) -> Result<Option<RunningClient>> {
    let Some(mut command) = Kubectl::command(&world.server) else { return Ok(None) };
    RunningClient::start(command.args(arguments), world.server.folder().join(out)).map(Some)
}

async fn kubectl_prints_changes_as_they_happen(database: Database) -> Result<()> {
    let world = World::start(&database).await?;
    world.write("a", 1, &json!({"team": "a"}), Fate::Live).await?;
    let of = |more: &[&'static str], out| kubectl(&world, &[&["get", "models", "-n", "ml", "-w"], more].concat(), out);
    let Some(all) = of(&["--output-watch-events", "--no-headers"], "all")? else { return Ok(()) };
    let selected = of(&["-l", "team=a", "--output-watch-events", "--no-headers"], "selected")?.context("kubectl")?;
    let one = kubectl(&world, &["get", "model", "a", "-n", "ml", "-w", "--no-headers"], "one")?.context("kubectl")?;
    for going in [&all, &selected, &one] {
        going.prints(if going.out.ends_with("one") { "a " } else { "ADDED" }).await?;
    }
    world.watched(3.0).await?;
    world.write("b", 2, &json!({"team": "b"}), Fate::Live).await?;
    all.prints("ADDED b ").await?;
    world.write("b", 3, &json!({"team": "a"}), Fate::Live).await?;
    selected.prints("ADDED b ").await?;
    world.write("a", 4, &json!({"team": "b"}), Fate::Evicted).await?;
    all.prints("MODIFIED a ").await?;
    selected.prints("DELETED a ").await?;
    world.write("b", 5, &json!({}), Fate::Deleted).await?;
    all.prints("DELETED b ").await?;
    selected.prints("DELETED b ").await?;
    world.write("c", 6, &json!({}), Fate::Live).await?;
    all.prints("ADDED c ").await?;
    ensure!(one.lines()?.iter().all(|line| line.starts_with("a ")), "{:?}", one.lines());
    let begins = |line: &String| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let said: Vec<String> = all.lines()?.iter().map(begins).collect();
    let expected = ["ADDED a", "ADDED b", "MODIFIED b", "MODIFIED a", "DELETED b", "ADDED c"];
    assert_eq!(said, expected, "in the order in which it happened");
    Ok(())
}

async fn kubectl_waits_until_an_object_is_deleted(database: Database) -> Result<()> {
    let world = World::start(&database).await?;
    world.write("a", 1, &json!({}), Fate::Live).await?;
    world.write("b", 2, &json!({}), Fate::Live).await?;
    let arguments = ["wait", "--for=delete", "model/a", "-n", "ml", "--timeout=60s"];
    let Some(mut waiting) = kubectl(&world, &arguments, "wait")? else { return Ok(()) };
    world.watched(1.0).await?;
    world.write("b", 3, &json!({}), Fate::Deleted).await?;
    world.write("a", 4, &json!({"x": "y"}), Fate::Live).await?;
    ensure!(waiting.process.try_wait()?.is_none(), "it waits for another");
    world.write("a", 5, &json!({}), Fate::Deleted).await?;
    until("it ends", async || Ok(waiting.process.try_wait()?.is_some())).await?;
    ensure!(waiting.process.wait()?.success() && waiting.lines()?.concat().contains("condition met"));
    Ok(())
}

/// Python's client, which follows the models of `ml` in the cluster of this kubeconfig.
pub(crate) fn python(kubeconfig: &Path) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", include_str!("watch.py")]).arg(kubeconfig).arg("ml").env("NO_PROXY", "127.0.0.1");
    command
}

async fn pythons_client_goes_on_over_a_restart(database: Database) -> Result<()> {
    let mut world = World::start(&database).await?;
    world.write("a", 1, &json!({}), Fate::Live).await?;
    world.write("b", 2, &json!({}), Fate::Live).await?;
    let python = RunningClient::start(&mut python(&world.server.kubeconfig()?), world.server.folder().join("python"))?;
    python.prints("SYNCED").await?;
    world.write("c", 3, &json!({}), Fate::Live).await?;
    python.prints("ADDED c").await?;
    world.server.stop()?;
    world.write("d", 4, &json!({}), Fate::Live).await?;
    world.write("a", 5, &json!({}), Fate::Deleted).await?;
    world.server.restart()?;
    for event in ["ADDED d", "DELETED a"] {
        python.prints(event).await?;
    }
    world.write("b", 6, &json!({"x": "y"}), Fate::Live).await?;
    python.prints("MODIFIED b").await?;
    assert_eq!(python.lines()?.iter().filter(|line| *line == "SYNCED").count(), 1, "it did not list again");
    Ok(())
}

/// kube's reflectors: with both ways to list, and of a selection.
struct Reflectors([runtime::reflector::Store<Model>; 3]);

impl Reflectors {
    fn start(world: &World) -> Result<Self> {
        let models: Api<Model> = Api::namespaced(world.server.client()?, "ml");
        let configs = [
            watcher::Config::default(),
            watcher::Config::default().streaming_lists(),
            watcher::Config::default().streaming_lists().labels(SELECTED),
        ];
        Ok(Reflectors(configs.map(|config| {
            let (reader, writer) = runtime::reflector::store();
            let events = runtime::reflector(writer, watcher(models.clone(), config)).backoff(ShortPause);
            tokio::spawn(events.for_each(async |_| {}));
            reader
        })))
    }

    /// Waits until each agrees with SQL.
    async fn agree(&self, world: &World, when: &str) -> Result<()> {
        let versions = |models: &mut dyn Iterator<Item = &Model>| -> BTreeMap<String, String> {
            models.map(|model| (model.name_any(), model.resource_version().unwrap_or_default())).collect()
        };
        for (place, store) in self.0.iter().enumerate() {
            let parameters = kube::api::ListParams::default();
            let parameters = if place == 2 { parameters.labels(SELECTED) } else { parameters };
            let listed = Api::<Model>::namespaced(world.server.client()?, "ml").list(&parameters).await?;
            let expected = versions(&mut listed.items.iter());
            let known = || versions(&mut store.state().iter().map(|model| &**model));
            until("its store is as SQL", async || Ok(known() == expected))
                .await
                .with_context(|| format!("{when}, {place}: {:?} instead of {expected:?}", known()))?;
        }
        Ok(())
    }
}

const SELECTED: &str = "n=3";

async fn kube_follows_with_both_ways_to_list(database: Database) -> Result<()> {
    let mut world = World::start(&database).await?;
    for n in 0..5 {
        world.write(&format!("m-{n}"), n + 1, &json!({"n": n.to_string()}), Fate::Live).await?;
    }
    let reflectors = Reflectors::start(&world)?;
    for round in 0..3_u64 {
        let version = 100 * (round + 1);
        world.write("m-0", version, &json!({"n": "3"}), Fate::Live).await?;
        world.write("m-1", version + 1, &json!({}), if round == 1 { Fate::Deleted } else { Fate::Live }).await?;
        world.write(&format!("new-{round}"), version + 2, &json!({"n": "3"}), Fate::Evicted).await?;
        world.write("m-0", version + 3, &json!({"n": round.to_string()}), Fate::Live).await?;
        world.write("m-3", version + 4, &json!({"n": "4"}), Fate::Deleted).await?;
        reflectors.agree(&world, &format!("round {round}")).await?;
        world.server.stop()?;
        world.write("m-4", version + 5, &json!({"n": "9"}), Fate::Deleted).await?;
        world.server.restart()?;
    }
    Ok(())
}

async fn watchers_end_with_the_rows_whose_writers_were_killed(database: Database) -> Result<()> {
    // Some batches of an import.
    const OBJECTS: u64 = 600;
    let world = World::start(&database).await?;
    world.write("m-1", 1, &json!({"n": "3"}), Fate::Live).await?;
    let reflectors = Reflectors::start(&world)?;
    world.watched(3.0).await?;
    let file = world.server.folder().join("objects.ndjson");
    for round in 1..=8_u64 {
        let version = round * 10_000;
        let object = |n: u64| {
            let mut object = model("ml", &format!("m-{n}"), version + n, &json!({"n": ((n + round) % 5).to_string()}));
            object["metadata"]["uid"] = format!("m-{n}").into();
            format!("{object}\n")
        };
        std::fs::write(&file, (0..OBJECTS).map(object).collect::<String>())?;
        let mut writer = Command::new(env!("CARGO_BIN_EXE_ingester"))
            .args(["import", "--database-url", &database.url])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // Before its first commit, after the first, after a later one, and at any moment before its end.
        let wanted = [1, OBJECTS / 2, OBJECTS, 0][usize::try_from(round % 4)?];
        let stored = async || Ok(database.count(&format!("model WHERE res_version >= {version}")).await? >= wanted);
        let told = until("the import to write", stored).await;
        writer.kill()?;
        writer.wait()?;
        told?;
        world.write("m-1", version + OBJECTS, &json!({"n": "3"}), Fate::Deleted).await?;
        world.write("m-2", version + OBJECTS, &json!({"n": "3"}), Fate::Live).await?;
    }
    reflectors.agree(&world, "at the end").await?;
    let relisted = metric(world.probes, "ingester_serve_watches_ended_total{reason=\"expired\"}").await?;
    ensure!(relisted.unwrap_or(0.0) == 0.0, "they listed again");
    Ok(())
}

/// A short pause after an error.
pub(crate) struct ShortPause;

impl Iterator for ShortPause {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }
}

impl Backoff for ShortPause {
    fn reset(&mut self) {}
}
