//! Outages of the database and of the API server while objects change.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::password::{PasswordFile, RotatedUser};
use kube::api::{WatchEvent, WatchParams};
use kube::core::Request;
use serde_json::json;
use std::time::Duration;

use crate::churn::{Churn, removed_objects_have_rows};
use crate::eventually::eventually;
use crate::objects::{Objects, model, version};
use crate::settings::Settings;
use crate::world::World;
use crate::{on_every_database, on_own_api_servers, on_servers};

on_servers! { OwnServers::DATABASE =>
    every_change_is_stored_after_the_database_was_stopped
    [mariadb MARIADB] [mysql MYSQL #[ignore = "before a release"]] [postgres POSTGRES]
}

on_every_database! { OwnServers::DATABASE =>
    an_ingester_that_starts_before_its_database_waits_for_it
}

// The store's own test has every server.
on_servers! { OwnServers::DATABASE =>
    every_change_is_stored_while_the_password_changes [mariadb MARIADB] [postgres POSTGRES]
}

on_own_api_servers! { OwnServers::CLUSTER =>
    every_change_is_stored_after_the_api_server_was_killed
    every_change_is_stored_after_the_watch_expired
}

/// Objects in a churn.
const OBJECTS: usize = 260;

/// How long the ingester may take to catch up once all servers are back. Its backoff grows while they are down.
const RECOVERY: Duration = Duration::from_secs(120);

/// Settings with a short deletion delay.
fn quick(world: &World) -> Settings {
    Settings { deletion_delay: "200ms", ..world.settings() }
}

async fn every_change_is_stored_after_the_database_was_stopped(world: &mut World) -> Result<()> {
    world.start_with(&quick(world))?;
    let mut churn = Churn::new(&world.objects, OBJECTS);
    churn.allow(churn.steps / 4);
    churn.reached(churn.steps / 4).await?;
    world.database.stop()?;
    churn.allow(churn.steps / 4);
    // Not to the last step: recreating an object waits for the ingester, which waits for the database.
    churn.reached(churn.steps * 3 / 8).await?;
    let errors = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &["class=\"transient\""]));
    eventually("the outage to be noticed", errors, |errors| *errors > 0.0).await?;
    assert_eq!(world.ingester().probe("/healthz")?, 200, "a database that is away is no reason to be killed");
    let ready = async || world.ingester().probe("/readyz");
    eventually("the ingester not to be ready", ready, |status| *status == 503).await?;
    world.database.restart()?;
    churn.finish().await?;
    world.settled_within(RECOVERY).await?;
    eventually("the ingester to be ready again", ready, |status| *status == 200).await?;
    world.audit_is_clean()
}

async fn every_change_is_stored_while_the_password_changes(world: &mut World) -> Result<()> {
    // The user may only use tables, which an administrator creates.
    world.start()?;
    world.stop()?;
    let user = RotatedUser::new(world.database.on, &world.database, &world.database.name);
    user.make().await?;
    user.is_asked().await?;
    let file = PasswordFile::new()?;
    let url = user.url()?;
    let path = file.path().display().to_string();
    let settings = Settings {
        database_url: Some(url),
        mysql: None,
        environment: vec![("DATABASE_PASSWORD_FILE", path)],
        ..quick(world)
    };
    world.start_with(&settings)?;
    let user = RotatedUser::new(world.database.on, &world.database, &world.database.name);
    let refused = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &["class=\"operator\""]));
    let mut churn = Churn::new(&world.objects, OBJECTS);
    let part = churn.steps / 4;
    churn.allow(part);
    churn.reached(part / 2).await?;
    // The file is new before the connections end: no write is refused.
    user.change("second").await?;
    file.replace("second")?;
    user.end_connections().await?;
    churn.allow(part);
    churn.reached(part * 3 / 2).await?;
    ensure!(refused().await? == 0.0, "the file is read again before a write fails");
    // The file is late, as a Secret's is.
    user.change("third").await?;
    user.refuses("second").await?;
    churn.allow(part);
    // A connection that the server accepted right before the change is ended, too.
    let refused = async || {
        user.end_connections().await?;
        refused().await
    };
    eventually("a write to be refused", refused, |refused| *refused > 0.0).await?;
    ensure!(world.ingester().probe("/healthz")? == 200, "a password that is refused is no reason to be killed");
    file.replace("third")?;
    churn.finish().await?;
    world.settled_within(RECOVERY).await?;
    removed_objects_have_rows(&world.database, &world.objects.namespace, OBJECTS).await?;
    world.audit_is_clean()
}

async fn an_ingester_that_starts_before_its_database_waits_for_it(world: &mut World) -> Result<()> {
    world.objects.create(model("a", "x")).await?;
    world.database.stop()?;
    world.launch(&world.settings())?;
    let alive = async || world.ingester().probe("/healthz");
    eventually("the ingester to be alive", alive, |status| *status == 200).await?;
    assert_eq!(world.ingester().probe("/readyz")?, 503);
    world.database.restart()?;
    world.ingester().wait_ready(RECOVERY)?;
    world.settled().await?;
    world.row("Model", "a").await?.context("its row").map(drop)
}

async fn every_change_is_stored_after_the_api_server_was_killed(world: &mut World) -> Result<()> {
    world.start_with(&quick(world))?;
    let mut churn = Churn::new(&world.objects, OBJECTS);
    churn.allow(churn.steps);
    for quarter in 1..=2 {
        churn.reached(churn.steps * quarter / 4).await?;
        world.cluster.kill()?;
        world.cluster.restart()?;
    }
    churn.finish().await?;
    world.settled_within(RECOVERY).await?;
    world.audit_is_clean()
}

/// The code of the error that a watch from this version begins with, if any. Without an error the watch ends after a
/// second.
async fn refusal(objects: &Objects, version: &str) -> Result<Option<u16>> {
    let url = objects.api("Model").resource_url().to_owned();
    let watch = Request::new(url).watch(&WatchParams::default().timeout(1), version)?;
    let answer = match objects.client.request_text(watch).await {
        Ok(answer) => answer,
        Err(kube::Error::Api(error)) => return Ok(Some(error.code)),
        Err(error) => return Err(error.into()),
    };
    let Some(first) = answer.lines().next() else { return Ok(None) };
    match serde_json::from_str(first)? {
        WatchEvent::<kube::api::DynamicObject>::Error(error) => Ok(Some(error.code)),
        _ => Ok(None),
    }
}

async fn every_change_is_stored_after_the_watch_expired(world: &mut World) -> Result<()> {
    world.start_with(&quick(world))?;
    let models = |prefix: &str, count: usize| -> Vec<_> {
        (0..count).map(|number| model(&format!("{prefix}-{number}"), "first")).collect()
    };
    world.objects.create_all(models("old", 50)).await?;
    world.settled().await?;
    let observed = world.objects.get("Model", "old-0").await?.context("it is there")?;
    assert_eq!(refusal(&world.objects, &version(&observed)).await?, None);

    // A frozen ingester does not observe what follows.
    world.ingester().process().freeze();
    for number in 0..20 {
        let name = format!("old-{number}");
        world.objects.patch("Model", &name, &json!({"spec": {"algorithm": "second"}})).await?;
    }
    for number in 20..30 {
        world.objects.delete("Model", &format!("old-{number}")).await?;
    }
    for number in 30..40 {
        world.objects.delete_by_force("Model", &format!("old-{number}")).await?;
    }
    world.objects.create_all(models("new", 10)).await?;
    world.cluster.compact()?;
    world.cluster.kill()?;
    world.cluster.restart()?;
    assert_eq!(refusal(&world.objects, &version(&observed)).await?, Some(410), "what it has observed last is too old");
    world.ingester().process().thaw();

    world.settled_within(RECOVERY).await?;
    assert_eq!(world.database.count("model WHERE algorithm = 'second' AND delete_time IS NULL").await?, 20);
    assert_eq!(world.database.count("model WHERE delete_time IS NOT NULL").await?, 20);
    assert_eq!(world.database.count("model WHERE delete_time IS NULL").await?, 40);
    world.audit_is_clean()
}
