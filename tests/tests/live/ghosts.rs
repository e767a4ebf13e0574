//! Ghosts: evicted objects that a restored etcd brings back. The row of each is the only copy of changes after the backup.

use anyhow::{Context as _, Result, ensure};
use kube::ResourceExt as _;
use serde_json::{Value as Json, json};
use std::time::Duration;

use crate::eventually::{eventually, within};
use crate::objects::{model, version};
use crate::on_own_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_own_api_servers! { OwnServers::CLUSTER =>
    an_only_copy_survives_a_restore_and_a_person_resolves_the_ghosts
    an_only_copy_survives_a_restore_with_a_bumped_revision
}

/// More revisions than the cluster made after the snapshot.
const BUMP: u32 = 300;

/// Servers that were restarted are found again within this time.
const DEADLINE: Duration = Duration::from_secs(120);

const EVICTED: [&str; 4] = ["equal", "keep-row", "keep-object", "deleted"];

async fn an_only_copy_survives_a_restore_and_a_person_resolves_the_ghosts(world: &mut World) -> Result<()> {
    ghosts_are_reported_and_resolved(world, false).await
}

async fn an_only_copy_survives_a_restore_with_a_bumped_revision(world: &mut World) -> Result<()> {
    ghosts_are_reported_and_resolved(world, true).await
}

async fn ghosts_are_reported_and_resolved(world: &mut World, bumped: bool) -> Result<()> {
    let settings = Settings { ingester: vec!["resyncPeriod: 2s"], deletion_delay: "200ms", ..world.settings() };
    world.start_with(&settings)?;
    for name in EVICTED {
        world.objects.create(model(name, "early")).await?;
    }
    world.settled().await?;
    world.stop()?;
    // Only this one is in the backup in the state in which it is evicted.
    world.objects.annotate("Model", "equal", "michelangelo/Immutable").await?;
    let snapshot = world.cluster.snapshot()?;
    world.restart()?;
    world.gone("Model", "equal").await?;
    for name in &EVICTED[1..] {
        world.objects.patch("Model", name, &json!({"spec": {"algorithm": "result"}})).await?;
        world.objects.annotate("Model", name, "michelangelo/Immutable").await?;
        world.gone("Model", name).await?;
    }
    let confirmed = async || world.database.count("model WHERE evict_confirmed").await;
    eventually("every eviction to be confirmed", confirmed, |count| *count == EVICTED.len() as u64).await?;
    let rows = only_copies(world).await?;
    let highest = rows.iter().filter_map(|row| row.version.parse::<u64>().ok()).max().context("a version")?;

    match bumped {
        true => world.cluster.restore_with_bumped_revision(&snapshot, BUMP)?,
        false => world.cluster.restore(&snapshot)?,
    }
    let reported = async || Ok(world.metrics()?.sum("ingester_ghosts", &["kind=\"Model\""]));
    within(DEADLINE, "three ghosts", reported, |count| *count == 3.0).await?;
    // What equals its row is evicted once more.
    within(DEADLINE, "the equal one to leave", async || world.objects.get("Model", "equal").await, Option::is_none)
        .await?;
    // A controller touches one of them: with a bumped revision, it is later than its row.
    let touched =
        world.objects.patch("Model", "keep-row", &json!({"metadata": {"labels": {"touched": "yes"}}})).await?;
    ensure!(version(&touched).parse::<u64>()? > highest || !bumped, "the bump was meant to be larger");
    // A user removes another one from the cluster. Our finalizer does not block that, because it was removed once.
    let named = world.objects.get("Model", "deleted").await?.context("it is back")?;
    world.objects.patch("Model", "deleted", &json!({"metadata": {"finalizers": null}})).await?;
    world.objects.delete("Model", "deleted").await?;
    world.gone("Model", "deleted").await?;
    within(DEADLINE, "two ghosts", reported, |count| *count == 2.0).await?;
    world.stop()?;
    world.restart()?;
    within(DEADLINE, "two ghosts after a restart", reported, |count| *count == 2.0).await?;
    assert_eq!(only_copies(world).await?, rows, "nothing that the cluster says changes an only copy");
    ensure!(!world.log_lines(&["ghost", &named.name_any()])?.is_empty(), "the log names the ghosts");

    // An operator looks at both sides.
    let listed = world.ingester().run(&["ghosts", "-o", "json"])?;
    ensure!(listed.code == Some(1), "{listed:?}");
    let listed: Json = serde_json::from_str(&listed.out)?;
    let listed = listed.as_array().context("a list")?;
    let mut names: Vec<_> = listed.iter().map(|ghost| ghost["name"].as_str().unwrap_or_default()).collect();
    names.sort_unstable();
    assert_eq!(names, ["keep-object", "keep-row"]);
    ensure!(listed.iter().all(|ghost| ghost["differences"].to_string().contains("result")), "{listed:?}");
    let audit = world.audit(&["-o", "json"])?;
    ensure!(audit.code == Some(1) && audit.out.matches("\"ghost\"").count() >= 2, "{audit:?}");

    // And then decides.
    let export = world.cluster.folder().join("ghosts.jsonl");
    let export = export.to_str().context("a path")?;
    let namespace = world.objects.namespace.clone();
    let resolve =
        |which: &[&str]| world.ingester().run(&[&["ghosts", "resolve"], which, &["--export", export]].concat());
    let missing = resolve(&["models", "no-such", "--keep", "row"])?;
    ensure!(missing.code == Some(1) && missing.err.contains("`ingester ghosts` lists them"), "{missing:?}");
    let kept = resolve(&["models", "keep-row", "-n", &namespace, "--keep", "row"])?;
    ensure!(kept.code == Some(0), "{kept:?}");
    world.gone("Model", "keep-row").await?;
    let replaced = resolve(&["--all", "--keep", "object"])?;
    ensure!(replaced.code == Some(0) && replaced.out.contains("keep-object"), "{replaced:?}");
    let exported = std::fs::read_to_string(export)?;
    let exported: Vec<Json> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let content = |object: &Json| (object["metadata"]["name"].clone(), object["spec"]["algorithm"].clone());
    assert_eq!(
        exported.iter().map(content).collect::<Vec<_>>(),
        [(json!("keep-row"), json!("early")), (json!("keep-object"), json!("result"))],
        "what went, in both directions"
    );
    let row = world.row_that("live again", "Model", "keep-object", |row| row.is_live());
    row.await?;
    assert_eq!(algorithm(world, "keep-object").await?.as_deref(), Some("early"));
    for name in ["equal", "keep-row", "deleted"] {
        let before = rows.iter().find(|row| row.name == name);
        assert_eq!(only_copies(world).await?.iter().find(|row| row.name == name), before, "{name}");
    }
    within(DEADLINE, "no ghosts", reported, |count| *count == 0.0).await?;
    let listed = world.ingester().run(&["ghosts"])?;
    ensure!(listed.code == Some(0), "{listed:?}");
    // The object is mirrored from then on.
    world.objects.patch("Model", "keep-object", &json!({"spec": {"algorithm": "later"}})).await?;
    let later = async || algorithm(world, "keep-object").await;
    eventually("its update", later, |seen| seen.as_deref() == Some("later")).await?;
    world.settled().await?;
    world.audit_is_clean()
}

/// The complete content of an only copy.
#[derive(Debug, PartialEq, Eq)]
struct OnlyCopy {
    name: String,
    version: String,
    json: String,
    evict_time: Option<String>,
    confirmed: Option<String>,
    delete_time: Option<String>,
}

async fn only_copies(world: &World) -> Result<Vec<OnlyCopy>> {
    let sql = "SELECT name, res_version, json, evict_time, evict_confirmed, delete_time FROM model WHERE evict_time IS NOT NULL ORDER BY name";
    let rows = world.database.sql(sql).await?;
    let rows = rows.into_iter().map(|cells| {
        let [name, version, json, evict_time, confirmed, delete_time] = <[Option<String>; 6]>::try_from(cells).ok()?;
        Some(OnlyCopy { name: name?, version: version?, json: json?, evict_time, confirmed, delete_time })
    });
    rows.collect::<Option<_>>().context("rows have values")
}

async fn algorithm(world: &World, name: &str) -> Result<Option<String>> {
    world.database.cell(&format!("SELECT algorithm FROM model WHERE name = '{name}'")).await
}
