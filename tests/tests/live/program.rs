//! The program as a process: gates, signals, configuration mistakes.

use anyhow::{Context as _, Result, ensure};
use std::time::Duration;

use crate::eventually::eventually;
use crate::objects::{OURS, has_finalizer, model};
use crate::on_every_database;
use crate::settings::{Mysql, Settings};
use crate::world::World;

on_every_database! { OwnServers::NOTHING =>
    with_a_gate_closed_the_ingester_says_so_and_touches_nothing
    sigterm_ends_the_ingester_within_seconds
    a_configuration_mistake_exits_with_2_and_suggests_the_right_word
    only_the_configured_kinds_are_mirrored
}

on_every_database! { OwnServers::DATABASE =>
    sigterm_works_within_seconds_while_the_database_is_down
}

/// "Within seconds", on a busy machine.
const SECONDS: Duration = Duration::from_secs(15);

async fn with_a_gate_closed_the_ingester_says_so_and_touches_nothing(world: &mut World) -> Result<()> {
    world.objects.create(model("a", "x")).await?;
    let disabled = Settings { enabled: false, ..world.settings() };
    let nameless = Settings { mysql: None, database_url: None, ..world.settings() };
    let empty =
        Mysql { host: String::new(), port: 3306, user: "me".into(), password: String::new(), database: String::new() };
    let unnamed = Settings { mysql: Some(empty), database_url: None, ..world.settings() };
    for (name, settings) in [("disabled", disabled), ("no database", nameless), ("an empty section", unnamed)] {
        world.launch(&settings)?;
        let ready = async || world.ingester().probe("/readyz");
        eventually("it to be ready", ready, |status| *status == 200).await.context(name)?;
        assert_eq!(world.ingester().probe("/healthz")?, 200, "{name}");
        assert!(!world.ingester().metrics()?.is_empty());
        world.stop()?;
        let logs = world.ingester().logs()?;
        let idle: Vec<&str> = logs.lines().filter(|line| line.to_lowercase().contains("idle")).collect();
        assert_eq!(idle.len(), 1, "{name}: {logs}");
        ensure!(!logs.contains("Ingester controller registered"), "{name}: {logs}");
    }
    assert!(world.database.tables().await?.is_empty());

    // Check that an open gate does all of it.
    world.start()?;
    world.settled().await?;
    let finalized = async || {
        let object = world.objects.get("Model", "a").await?.context("it is there")?;
        Ok(has_finalizer(&object, OURS))
    };
    eventually("its finalizer", finalized, |finalized| *finalized).await?;
    world.stop()?;

    // A gate that is closed later changes nothing.
    world.objects.create(model("b", "x")).await?;
    world.objects.patch("Model", "a", &serde_json::json!({"spec": {"algorithm": "y"}})).await?;
    let before = [world.objects.get("Model", "a").await?, world.objects.get("Model", "b").await?];
    world.launch(&Settings { enabled: false, ..world.settings() })?;
    world.ingester().wait_ready(crate::eventually::DEADLINE)?;
    world.stop()?;
    assert_eq!(before, [world.objects.get("Model", "a").await?, world.objects.get("Model", "b").await?]);
    assert_eq!(world.database.cell("SELECT algorithm FROM model").await?.as_deref(), Some("x"));
    Ok(())
}

async fn sigterm_ends_the_ingester_within_seconds(world: &mut World) -> Result<()> {
    for level in ["info", "trace"] {
        world.start_with(&Settings { log_level: level, deletion_delay: "1h", ..world.settings() })?;
        world.objects.create(model(level, "x")).await?;
        world.row_that("live", "Model", level, |row| row.is_live()).await?;
        // This deletion is delayed by an hour. Stopping must not wait for it.
        world.objects.delete("Model", level).await?;
        let stopped = world.ingester().stop()?;
        assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
        assert!(stopped.took < SECONDS, "{stopped:?}");
    }
    Ok(())
}

async fn sigterm_works_within_seconds_while_the_database_is_down(world: &mut World) -> Result<()> {
    world.start()?;
    world.objects.create(model("before", "x")).await?;
    world.settled().await?;
    world.database.stop()?;
    world.objects.create_all((0..20).map(|number| model(&format!("during-{number}"), "x"))).await?;
    let noticed = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &["class=\"transient\""]));
    eventually("the outage to be noticed", noticed, |errors| *errors > 0.5).await?;
    let stopped = world.ingester().stop()?;
    assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
    assert!(stopped.took < SECONDS, "{stopped:?}");

    // An ingester that has never reached the database.
    world.ingester().restart()?;
    let alive = async || world.ingester().probe("/healthz");
    eventually("it to be alive", alive, |status| *status == 200).await?;
    let stopped = world.ingester().stop()?;
    assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
    assert!(stopped.took < SECONDS, "{stopped:?}");

    // Changes that could not be written are not lost.
    world.database.restart()?;
    world.restart()?;
    world.settled().await?;
    assert_eq!(world.database.count("model WHERE delete_time IS NULL").await?, 21);
    Ok(())
}

async fn a_configuration_mistake_exits_with_2_and_suggests_the_right_word(world: &mut World) -> Result<()> {
    for (mistake, meant) in [
        ("resyncPeriode: 2s", "resyncPeriod"),
        ("finalizer: sometimes", "existing"),
        ("kinds: [Modell]", "Model"),
        ("concurrentReconciles: many", "concurrentReconciles"),
    ] {
        world.launch(&Settings { ingester: vec![mistake], ..world.settings() })?;
        let status = world.ingester().wait_end(SECONDS)?;
        let logs = world.ingester().logs()?;
        assert_eq!(status.code(), Some(2), "{mistake}: {logs}");
        ensure!(logs.contains(meant), "{mistake}: {logs}");
        let audit = world.audit(&[])?;
        assert_eq!(audit.code, Some(2), "{mistake}: {audit:?}");
    }
    assert!(world.database.tables().await?.is_empty());
    Ok(())
}

async fn only_the_configured_kinds_are_mirrored(world: &mut World) -> Result<()> {
    for kind in ["Model", "Project", "Pipeline"] {
        world.objects.create(crate::objects::object(kind, "a", &serde_json::json!({}))).await?;
    }
    world.start_with(&Settings { ingester: vec!["kinds: [Model, Project]"], ..world.settings() })?;
    for kind in ["Model", "Project"] {
        world.row_that("live", kind, "a", |row| row.is_live()).await?;
        let finalized = async || Ok(world.objects.get(kind, "a").await?.context("it is there")?);
        eventually("its finalizer", finalized, |object| has_finalizer(object, OURS)).await?;
    }
    assert_eq!(world.log_lines(&["Ingester controller registered"])?.len(), 2);
    world.stop()?;
    let pipeline = world.objects.get("Pipeline", "a").await?.context("it is there")?;
    assert!(!has_finalizer(&pipeline, OURS));
    if world.database.tables().await?.contains(&"pipeline".to_owned()) {
        assert_eq!(world.database.count("pipeline").await?, 0);
    }
    Ok(())
}
