//! The mirror while the primary of its database crashes, once or again and again: it comes back, its replica is promoted, or its group
//! elects a successor.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{Group, Primaries, skipped_without_mysql};
use std::time::Duration;

use crate::chaos::{OnlyCopies, nothing_hangs, random};
use crate::churn::{Churn, removed_objects_have_rows};
use crate::database::On;
use crate::eventually::eventually;
use crate::objects::{kinds, table};
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

on_servers! { OwnServers::NOTHING =>
    every_change_is_stored_after_a_replica_was_promoted
    [mariadb MARIADB] [mysql MYSQL] [postgres POSTGRES #[ignore = "in the set --all"]]
}

// The crashes of a server that comes back are in `chaos.rs`, too, among other events.
on_servers! { OwnServers::DATABASE =>
    twenty_crashes_of_the_database_lose_nothing
    [postgres POSTGRES #[ignore = "in the set --all"]]
    [by_hand_on_mariadb MARIADB #[ignore = "by hand: it takes minutes"]]
    [by_hand_on_mysql MYSQL #[ignore = "by hand: it takes minutes"]]
}

// A MariaDB or MySQL server that has crashed would need a copy of its successor's data.
on_servers! { OwnServers::NOTHING =>
    twenty_promotions_lose_nothing [by_hand_on_postgres POSTGRES #[ignore = "by hand: it takes minutes"]]
}

// Groups are MySQL's.
on_servers! { OwnServers::NOTHING =>
    a_crash_of_the_primary_of_a_group_loses_nothing [group MYSQL #[ignore = "in the set --all"]]
}

on_servers! { OwnServers::NOTHING =>
    twenty_crashes_of_primaries_of_a_group_lose_nothing [by_hand MYSQL #[ignore = "by hand: it takes a quarter of an hour"]]
}

/// Objects in the churn.
const OBJECTS: usize = 240;

/// Objects for each crash of several: the churn must last as long as the crashes.
const OBJECTS_A_CRASH: usize = 60;

/// How long the ingester may take to catch up.
const RECOVERY: Duration = Duration::from_secs(120);

async fn every_change_is_stored_after_a_replica_was_promoted(world: &mut World) -> Result<()> {
    let Some(pair) = world.database.on.replicated().await? else { return Ok(()) };
    let name = world.database.name.clone();
    pair.server(0).create_database(&name).await?;
    world.database = world.database.on(pair.server(0))?;
    let administrator = if world.database.on == On::Postgres { "postgres" } else { "root" };
    world.start_with(&at(world, pair.url(administrator, &name)?))?;
    let mut churn = Churn::new(&world.objects, OBJECTS);
    churn.allow(churn.steps / 2);
    churn.reached(churn.steps / 3).await?;
    // It crashes while rows are written. Its acknowledged commits are on its replica.
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

async fn twenty_crashes_of_the_database_lose_nothing(world: &mut World) -> Result<()> {
    world.start_with(&at(world, world.database.url.clone()))?;
    crashes(world, 20, async |world| {
        world.database.kill()?;
        world.database.restart()
    })
    .await
}

async fn twenty_promotions_lose_nothing(world: &mut World) -> Result<()> {
    let Some(pair) = world.database.on.replicated().await? else { return Ok(()) };
    let name = world.database.name.clone();
    pair.server(0).create_database(&name).await?;
    world.database = world.database.on(pair.server(0))?;
    world.start_with(&at(world, pair.url("postgres", &name)?))?;
    let mut primary = 0;
    crashes(world, 20, async |world| {
        pair.server(primary).kill()?;
        pair.promote(1 - primary).await?;
        pair.replace(primary).await?;
        primary = 1 - primary;
        world.database = world.database.on(pair.server(primary))?;
        Ok(())
    })
    .await
}

async fn a_crash_of_the_primary_of_a_group_loses_nothing(world: &mut World) -> Result<()> {
    let Some(group) = start_group(world).await? else { return Ok(()) };
    crashes(world, 1, async |world| crash_of_primary(world, &group).await.map(drop)).await?;
    members_agree(world, &group).await
}

async fn twenty_crashes_of_primaries_of_a_group_lose_nothing(world: &mut World) -> Result<()> {
    let Some(group) = start_group(world).await? else { return Ok(()) };
    crashes(world, 20, async |world| {
        let former = crash_of_primary(world, &group).await?;
        group.join(former).await
    })
    .await?;
    members_agree(world, &group).await
}

/// Starts a group with one primary, and the mirror to it. `None`, after it has said so, if MySQL is not installed.
async fn start_group(world: &mut World) -> Result<Option<Group>> {
    let Some(group) = Group::start(Primaries::One).await? else {
        skipped_without_mysql();
        return Ok(None);
    };
    let name = world.database.name.clone();
    group.member(0).create_database(&name).await?;
    // Every member has the row.
    group.answers(&name, "SELECT 1").await?;
    world.database = world.database.on(group.member(0))?;
    world.start_with(&at(world, group.urls(&[0, 1, 2], &name)?))?;
    Ok(Some(group))
}

/// Kills the primary, and waits for its successor. Returns the killed member.
async fn crash_of_primary(world: &mut World, group: &Group) -> Result<usize> {
    let former = group.primary().await?;
    group.member(former).kill()?;
    world.database = world.database.on(group.member(group.primary().await?))?;
    Ok(former)
}

/// All members that run have the same rows.
async fn members_agree(world: &World, group: &Group) -> Result<()> {
    for kind in kinds() {
        let sql = format!("SELECT uid, res_version, delete_time, evict_time, json FROM {} ORDER BY uid", table(kind));
        let rows = group.answers(&world.database.name, &sql).await?;
        ensure!(rows.len() > 1 && rows.iter().all(|of| *of == rows[0]), "the members have different rows of {kind}");
    }
    Ok(())
}

/// The settings of a mirror that writes to the database at this URL.
fn at(world: &World, url: String) -> Settings {
    Settings {
        deletion_delay: "200ms",
        ingester: vec!["finalizerRate: 1000"],
        database_url: Some(url),
        mysql: None,
        ..world.settings()
    }
}

/// Lets the database `crash` and come back this often, at random moments, while objects change. No acknowledged commit is lost, and at
/// the end the rows equal the cluster.
async fn crashes(world: &mut World, count: usize, mut crash: impl AsyncFnMut(&mut World) -> Result<()>) -> Result<()> {
    let objects = count.max(2) * OBJECTS_A_CRASH;
    let mut churn = Churn::new(&world.objects, objects);
    let slice = churn.steps / (count + 1);
    let mut only_copies = OnlyCopies::default();
    for number in 0..count {
        let moment = usize::try_from(random() % u64::try_from(slice)?)?;
        let so_far = || format!("the crash {number} after {moment} steps of {slice}");
        churn.allow(slice);
        churn.reached(number * slice + moment).await.with_context(so_far)?;
        only_copies.look(world).await.with_context(so_far)?;
        crash(world).await.with_context(so_far)?;
        only_copies.look(world).await.with_context(so_far)?;
    }
    churn.finish().await?;
    world.settled_within(RECOVERY).await?;
    only_copies.look(world).await?;
    let lost = world.metrics()?.sum("ingester_evictions_lost_total", &[]);
    let mut errors = world.log_lines(&["ERROR"])?;
    // A library's message about a connection that ended is not a report of the ingester.
    let is_ours = |line: &str| line.contains(" ERROR ingester") || line.contains("}: ingester");
    errors.retain(|line| is_ours(line) && !line.contains("Metadata storage failed, trying again"));
    ensure!(lost == 0.0 && errors.is_empty(), "the ingester reports {lost} lost evictions, and {errors:#?}");
    removed_objects_have_rows(&world.database, &world.objects.namespace, objects).await?;
    nothing_hangs(world).await?;
    world.audit_is_clean()
}
