//! Several ingesters share the work by Leases: one dies, one is frozen, one stops, and the mirror is unaffected.

use crate::churn::Churn;
use crate::eventually::{DEADLINE, within};
use crate::objects::kinds;
use crate::settings::Settings;
use crate::world::World;
use anyhow::{Context as _, Result, ensure};
use ingester_tests::Ingester;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

crate::on_every_database! { crate::world::OwnServers::NOTHING =>
    members_take_over_what_others_leave_behind
    a_kind_in_shards_has_every_row
}

/// Shorter than the default, so that waits for dead members are short.
const REPLICAS: &str =
    "replicas: {enabled: true, namespace: ingester, leaseDuration: 5s, renewDeadline: 4s, retryPeriod: 500ms}";

const SHARDS: &str = "replicas: {enabled: true, namespace: ingester, leaseDuration: 5s, renewDeadline: 4s, retryPeriod: 500ms, shardsMap: {Project: 3}}";

/// The units of this world that each member claims, by its host.
fn members(world: &World) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let ran = world.ingester().run(&["members", "-o", "json"])?;
    ensure!(ran.code == Some(0), "{ran:?}");
    let members: Vec<Json> = serde_json::from_str(&ran.out)?;
    let own = format!(" in {}", world.objects.namespace);
    let mut found = BTreeMap::new();
    for member in members {
        let units: BTreeSet<String> =
            member["units"].as_array().unwrap().iter().map(|unit| unit.as_str().unwrap().to_owned()).collect();
        // Other tests have groups in the same namespace.
        if units.iter().any(|unit| unit.contains(&own)) {
            found.insert(member["holder"].as_str().unwrap().to_owned(), units);
        }
    }
    Ok(found)
}

/// Waits until this many members hold all units, each unit once, in equal shares. Returns how long that took.
pub(crate) async fn shared(world: &World, count: usize, units: usize) -> Result<Duration> {
    let begin = Instant::now();
    let what = format!("{count} members to share {units} units");
    let is_shared = |members: &BTreeMap<String, BTreeSet<String>>| {
        let all: Vec<&String> = members.values().flatten().collect();
        let distinct: BTreeSet<&&String> = all.iter().collect();
        members.len() == count
            && all.len() == units
            && distinct.len() == units
            && members.values().all(|its| its.len() <= units.div_ceil(count))
    };
    within(DEADLINE, &what, async || members(world), is_shared).await?;
    Ok(begin.elapsed())
}

pub(crate) fn held(ingester: &Ingester) -> Result<f64> {
    let metrics = crate::metrics::Metrics::parse(&ingester.metrics()?)?;
    Ok(metrics.sum("ingester_replica_units", &[]))
}

/// The lines of a member's log about units and Leases.
fn said(ingester: &Ingester) -> String {
    let logs = ingester.logs().unwrap_or_default();
    let about = |line: &&str| {
        ["ingester_mirror::replicas", "panick", "Stopp", " WARN ", " ERROR "].iter().any(|part| line.contains(part))
    };
    logs.lines().filter(about).collect::<Vec<_>>().join("\n")
}

async fn members_take_over_what_others_leave_behind(world: &mut World) -> Result<()> {
    let units = kinds().count();
    let settings =
        Settings { deletion_delay: "200ms", ingester: vec!["finalizerRate: 1000", REPLICAS], ..world.settings() };
    world.start_with(&settings)?;
    let killed = world.another(&settings)?;
    let frozen = world.another(&settings)?;
    // One without units would be ready, too.
    killed.wait_ready(DEADLINE)?;
    frozen.wait_ready(DEADLINE)?;
    shared(world, 3, units).await?;
    let mut churn = Churn::new(&world.objects, 600);
    let third = churn.steps / 3;

    churn.allow(third);
    churn.reached(third / 2).await?;
    killed.kill()?;
    let took = shared(world, 2, units)
        .await
        .with_context(|| format!("{}\n-- frozen:\n{}", said(world.ingester()), said(&frozen)))?;
    ensure!(took < Duration::from_secs(20), "nobody took the units over for {took:?}");

    churn.allow(third);
    frozen.process().freeze();
    shared(world, 1, units).await?;
    frozen.process().thaw();
    // It has lost its Lease, and takes part as a new member.
    let took = shared(world, 2, units)
        .await
        .with_context(|| format!("{}\n-- frozen:\n{}", said(world.ingester()), said(&frozen)))?;
    ensure!(took < Duration::from_secs(20), "who woke up took part after {took:?}");
    ensure!(
        frozen.logs()?.contains("could not be renewed in time")
            || frozen.logs()?.contains("was deleted: it starts again"),
        "it noticed"
    );

    killed.restart()?;
    shared(world, 3, units).await?;
    churn.allow(churn.steps);
    let part = held(&frozen)?;
    ensure!((1.0..=5.0).contains(&part), "{part} units");
    let stopped = frozen.stop()?;
    ensure!(stopped.status.success(), "{stopped:?}");
    let took = shared(world, 2, units).await?;
    ensure!(took < Duration::from_secs(4), "who leaves is not waited for: {took:?}");

    churn.finish().await?;
    world.settled_within(Duration::from_secs(120)).await?;
    world.audit_is_clean()
}

async fn a_kind_in_shards_has_every_row(world: &mut World) -> Result<()> {
    let units = kinds().count() + 2;
    let settings = Settings { deletion_delay: "200ms", ingester: vec!["resyncPeriod: 2s", SHARDS], ..world.settings() };
    for number in 0..40 {
        world.objects.create(crate::objects::project(&format!("before-{number}"), 1)).await?;
    }
    world.start_with(&settings)?;
    let other = world.another(&settings)?;
    other.wait_ready(DEADLINE)?;
    shared(world, 2, units).await?;
    for number in 0..40 {
        world.objects.create(crate::objects::project(&format!("after-{number}"), 2)).await?;
        world.objects.delete("Project", &format!("before-{number}")).await?;
    }
    world.settled().await?;
    // An object that is deleted without a watch is found by the holder of its shard, and other members do not take it for gone.
    other.kill()?;
    world.ingester().kill()?;
    for number in 0..10 {
        world.objects.delete_by_force("Project", &format!("after-{number}")).await?;
    }
    other.restart()?;
    world.restart()?;
    world.settled().await?;
    let live = world.database.count("project WHERE delete_time IS NULL").await?;
    ensure!(live == 30, "{live} live rows");
    world.audit_is_clean()
}
