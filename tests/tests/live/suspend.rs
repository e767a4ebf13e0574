//! Kinds that are suspended by a change of the configuration file, as a mounted ConfigMap does.

use anyhow::{Context as _, Result};
use crd_specs::KINDS;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

use crate::eventually::eventually;
use crate::objects::{OURS, Objects, has_finalizer, model, project};
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    a_suspended_kind_writes_nothing_and_catches_up_when_it_goes_on
    a_kind_that_is_suspended_at_the_start_waits_until_it_goes_on
}

const MODEL: &str = "kind=\"Model\"";

/// The log line once a kind is suspended.
const SUSPENDED: &str = "Kind is suspended";

/// Everything in the tables of models.
async fn read_rows(world: &World) -> Result<Vec<Vec<Option<String>>>> {
    let mut rows = Vec::new();
    for sql in [
        "SELECT uid, res_version, update_time, delete_time, evict_time, json FROM model ORDER BY uid",
        "SELECT obj_uid, `key`, value FROM model_labels ORDER BY obj_uid, `key`",
        "SELECT obj_uid, `key`, value FROM model_annotations ORDER BY obj_uid, `key`",
        "SELECT uid, res_version, reason FROM ingester_rejects WHERE kind = 'Model' ORDER BY uid",
    ] {
        rows.extend(world.database.sql(sql).await?);
    }
    Ok(rows)
}

/// Changes an object and creates others, all the time.
struct BackgroundChanges {
    end: Arc<AtomicBool>,
    created: Arc<AtomicU32>,
    task: JoinHandle<Result<()>>,
}

impl BackgroundChanges {
    fn start(objects: &Objects) -> Self {
        let end = Arc::<AtomicBool>::default();
        let created = Arc::<AtomicU32>::default();
        let objects = objects.clone();
        let ended = end.clone();
        let count = created.clone();
        let task = tokio::spawn(async move {
            for number in 0.. {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                // Just fast enough that some write is always under way.
                tokio::time::sleep(Duration::from_millis(20)).await;
                objects.patch("Model", "busy", &json!({"spec": {"algorithm": format!("a{number}")}})).await?;
                if number % 4 == 0 {
                    objects.create(model(&format!("new-{number}"), "x")).await?;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        });
        BackgroundChanges { end, created, task }
    }

    fn created(&self) -> u32 {
        self.created.load(Ordering::Relaxed)
    }

    async fn finish(self) -> Result<()> {
        self.end.store(true, Ordering::Relaxed);
        self.task.await?
    }
}

/// The kind of work that shows that the mirror is up and continues with other kinds: a project comes and gets its row.
async fn another_kind_is_mirrored(world: &World, name: &str) -> Result<()> {
    world.objects.create(project(name, 1)).await?;
    world.row_that("live", "Project", name, |row| row.is_live()).await.map(drop)
}

async fn a_suspended_kind_writes_nothing_and_catches_up_when_it_goes_on(world: &mut World) -> Result<()> {
    let settings = Settings { ingester: vec!["resyncPeriod: 1s"], ..world.settings() };
    let suspended = Settings { ingester: vec!["resyncPeriod: 1s", "suspend: [Model]"], ..world.settings() };
    world.start_with(&settings)?;
    for name in ["busy", "changed", "deleted", "annotated", "evicted", "quiet"] {
        world.objects.create(model(name, "x")).await?;
    }
    world.settled().await?;
    let get =
        async |name: &str| -> Result<DynamicObject> { world.objects.get("Model", name).await?.context("it is there") };
    for name in ["deleted", "annotated", "evicted"] {
        let finalized = async || Ok(has_finalizer(&get(name).await?, OURS));
        eventually("our finalizer", finalized, |finalized| *finalized).await?;
    }

    // While objects come and change.
    let busy = BackgroundChanges::start(&world.objects);
    world.reconfigure(&suspended)?;
    let said = async || world.log_lines(&[SUSPENDED, MODEL]);
    eventually("the kind to be suspended", said, |lines| lines.len() == 1).await?;
    let before = read_rows(world).await?;
    let quiet = get("quiet").await?;
    let created = busy.created();
    let waiting: Vec<String> = lacking(world).await?;

    world.objects.patch("Model", "changed", &json!({"spec": {"algorithm": "y"}})).await?;
    world.objects.delete("Model", "deleted").await?;
    world.objects.annotate("Model", "annotated", "michelangelo/Deleting").await?;
    let immutable = world.objects.annotate("Model", "evicted", "michelangelo/Immutable").await?;
    // More than the delay of deletions, and several resyncs of another kind.
    for name in ["one", "two", "three"] {
        another_kind_is_mirrored(world, name).await?;
    }
    let lists =
        |metrics: crate::metrics::Metrics| metrics.sum("ingester_last_list_timestamp_seconds", &["kind=\"Project\""]);
    let now = lists(world.metrics()?);
    let passed = async || Ok(lists(world.metrics()?) - now);
    eventually("two more resyncs", passed, |seconds| *seconds > 2.0).await?;
    eventually("more objects", async || Ok(busy.created()), |count| *count > created + 3).await?;

    assert_eq!(read_rows(world).await?, before);
    assert_eq!(get("quiet").await?, quiet);
    assert_eq!(get("evicted").await?, immutable);
    assert_eq!(get("annotated").await?.metadata.deletion_timestamp, None);
    let deleted = get("deleted").await?;
    assert!(deleted.metadata.deletion_timestamp.is_some() && has_finalizer(&deleted, OURS), "{deleted:?}");
    for name in &waiting {
        assert!(!has_finalizer(&get(name).await?, OURS), "{name}");
    }
    // All outputs report it.
    assert_eq!(world.ingester().probe("/readyz")?, 200);
    let page = world.ingester().page("/readyz?verbose")?;
    assert!(page.contains("[+]Model in ") && page.contains(" suspended: nothing is written for it"), "{page}");
    assert!((world.metrics()?.sum("ingester_suspended", &[MODEL]) - 1.0).abs() < 0.1);
    assert!(world.metrics()?.sum("ingester_suspended", &["kind=\"Project\""]) < 0.1);
    // Not even on demand.
    let audit = world.audit(&["--repair", "Model"])?;
    assert_eq!(audit.code, Some(1), "{audit:?}");
    assert!(audit.err.contains("Kind is suspended: what differs is not repaired"), "{audit:?}");
    assert_eq!(read_rows(world).await?, before);

    world.reconfigure(&settings)?;
    for name in ["deleted", "annotated", "evicted"] {
        world.gone("Model", name).await?;
    }
    busy.finish().await?;
    world.settled().await?;
    for (name, evicted) in [("deleted", false), ("annotated", false), ("evicted", true)] {
        let row = world.row("Model", name).await?.context("it has a row")?;
        assert_eq!((row.deleted, row.evicted), (!evicted, evicted), "{name}");
    }
    let goes_on = async || Ok(world.metrics()?.sum("ingester_suspended", &[MODEL]));
    eventually("it to go on", goes_on, |suspended| *suspended < 0.1).await?;
    assert_eq!(world.log_lines(&["Kind is resumed", MODEL])?.len(), 1);
    world.audit_is_clean()
}

/// The names of the models without our finalizer.
async fn lacking(world: &World) -> Result<Vec<String>> {
    let objects = world.objects.list("Model").await?;
    Ok(objects.iter().filter(|object| !has_finalizer(object, OURS)).map(|object| object.name_any()).collect())
}

/// How many units record that they are suspended, and how many that they are synced.
async fn phases(world: &World) -> Result<[usize; 2]> {
    let records = world.database.sql("SELECT value FROM ingester_settings WHERE name LIKE 'unit/%'").await?;
    let records: Vec<&str> = records.iter().flatten().flatten().map(String::as_str).collect();
    Ok([" suspended ", " synced "].map(|phase| records.iter().filter(|record| record.contains(phase)).count()))
}

async fn a_kind_that_is_suspended_at_the_start_waits_until_it_goes_on(world: &mut World) -> Result<()> {
    world.objects.create(model("a", "x")).await?;
    world.start_with(&Settings { ingester: vec!["suspend: [Model]"], ..world.settings() })?;
    another_kind_is_mirrored(world, "a").await?;
    assert_eq!(world.log_lines(&[SUSPENDED, MODEL])?.len(), 1);
    assert_eq!(world.row("Model", "a").await?, None);
    assert_eq!(lacking(world).await?, ["a"]);
    let others = KINDS.len() - 1;
    eventually("the records of units", async || phases(world).await, |found| *found == [1, others]).await?;
    world.reconfigure(&world.settings())?;
    world.settled().await?;
    assert!(world.row("Model", "a").await?.is_some_and(|row| row.is_live()));
    eventually("the records of units", async || phases(world).await, |found| *found == [0, others + 1]).await?;
    Ok(())
}
