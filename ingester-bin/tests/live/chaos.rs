//! Kills the ingester again and again.

use anyhow::{Context as _, Result, ensure};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use crate::churn::Churn;
use crate::eventually::{DEADLINE, eventually};
use crate::objects::kinds;
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::{Own, Servers, World, run};

on_both_api_servers! { Own::NOTHING =>
    twenty_kills_lose_nothing_and_leave_nothing_behind
}

/// Two ingesters on one database, of which now one and now the other is killed. By hand, for it takes ten minutes:
/// `cargo test --workspace --test live a_hundred_kills -- --ignored`.
#[test]
#[ignore = "by hand: it takes ten minutes"]
fn a_hundred_kills_of_two_ingesters_lose_nothing() -> Result<()> {
    run(module_path!(), Servers::MODERN, Own::NOTHING, async |world| {
        let settings = Settings { deletion_delay: "200ms", ingester: vec!["finalizerRate: 1000"], ..world.settings() };
        world.start_with(&settings)?;
        let other = world.another(&settings)?;
        let mut churn = Churn::new(&world.objects, 4 * OBJECTS);
        let slice = churn.steps / 101;
        for kill in 0..100 {
            let steps = usize::try_from(random() % u64::try_from(slice)?)?;
            churn.allow(slice);
            churn.reached(kill * slice + steps).await?;
            let ingester = if random().is_multiple_of(2) { world.ingester() } else { &other };
            ingester.kill()?;
            ingester.restart()?;
        }
        churn.finish().await?;
        world.settled_within(Duration::from_secs(300)).await?;
        nothing_hangs(world).await?;
        world.audit_is_clean()
    })
}

const OBJECTS: usize = 2_000;
const KILLS: usize = 20;

/// The kills come at different moments in each run. A failure's message lists them.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

async fn twenty_kills_lose_nothing_and_leave_nothing_behind(world: &mut World) -> Result<()> {
    world.start_with(&Settings {
        deletion_delay: "200ms",
        ingester: vec!["finalizerRate: 1000"],
        ..world.settings()
    })?;
    let mut churn = Churn::new(&world.objects, OBJECTS);
    let slice = churn.steps / (KILLS + 1);
    let mut moments = Vec::new();
    for kill in 0..KILLS {
        // Every second run finishes its first list before it is killed. The others may not.
        if kill % 2 == 0 {
            world.ingester().wait_ready(DEADLINE)?;
        }
        let steps = usize::try_from(random() % u64::try_from(slice)?)?;
        churn.allow(slice);
        churn.reached(kill * slice + steps).await.with_context(|| format!("kills at {moments:?}"))?;
        if kill % 4 == 0 {
            let metrics = async || Ok(world.metrics()?.sum("ingester_rows_written_total", &[]));
            let wanted = f64::from(u8::try_from(random() % 10)?);
            eventually("it to write some rows", metrics, |rows| *rows >= wanted).await?;
        }
        moments.push(kill * slice + steps);
        world.ingester().kill()?;
        world.ingester().restart()?;
    }
    churn.finish().await.with_context(|| format!("kills at {moments:?}"))?;
    world.settled_within(Duration::from_secs(180)).await.with_context(|| format!("kills at {moments:?}"))?;
    nothing_hangs(world).await?;
    world.audit_is_clean()
}

/// No object waits for an ingester, and some were evicted.
async fn nothing_hangs(world: &World) -> Result<()> {
    for kind in kinds() {
        let objects = world.objects.list(kind).await?;
        let stuck = objects.iter().filter(|object| object.metadata.deletion_timestamp.is_some()).count();
        ensure!(stuck == 0, "{stuck} of {kind} are stuck terminating");
    }
    let evicted = world.database.count("project WHERE evict_time IS NOT NULL AND delete_time IS NULL").await?;
    ensure!(evicted > 0, "no project was evicted");
    Ok(())
}
