//! The mirror while the primary of two databases crashes and its replica is promoted.

use anyhow::{Result, ensure};
use std::time::Duration;

use crate::churn::Churn;
use crate::database::On;
use crate::eventually::eventually;
use crate::on_every_database;
use crate::settings::Settings;
use crate::world::World;

on_every_database! { Own::NOTHING =>
    every_change_is_stored_after_a_replica_was_promoted
}

/// Objects in the churn.
const OBJECTS: usize = 240;

/// How long the ingester may take to catch up.
const RECOVERY: Duration = Duration::from_secs(120);

async fn every_change_is_stored_after_a_replica_was_promoted(world: &mut World) -> Result<()> {
    let Some(pair) = world.database.on.replicated().await? else { return Ok(()) };
    let name = world.database.name.clone();
    pair.server(0).create_database(&name).await?;
    world.database = world.database.on(pair.server(0))?;
    let administrator = if world.database.on == On::Postgres { "postgres" } else { "root" };
    world.start_with(&Settings {
        deletion_delay: "200ms",
        database_url: Some(pair.url(administrator, &name)?),
        mysql: None,
        ..world.settings()
    })?;
    let mut churn = Churn::new(&world.objects, OBJECTS);
    churn.allow(churn.steps / 2);
    churn.reached(churn.steps / 3).await?;
    // It crashes while rows are written. What it acknowledged is on its replica.
    pair.server(0).kill()?;
    churn.allow(churn.steps / 2);
    let errors = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &["class=\"transient\""]));
    eventually("the crash to be noticed", errors, |errors| *errors > 0.0).await?;
    ensure!(world.ingester().probe("/healthz")? == 200, "a database that is away is no reason to be killed");
    pair.promote(1).await?;
    world.database = world.database.on(pair.server(1))?;
    churn.finish().await?;
    world.settled_within(RECOVERY).await?;
    world.audit_is_clean()
}
