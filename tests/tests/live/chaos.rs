//! Kills the ingester again and again, also during restores of etcd.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::Ingester;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use crate::churn::{Churn, release_again};
use crate::eventually::{DEADLINE, eventually, within};
use crate::mirror::differences;
use crate::objects::{kinds, table};
use crate::settings::Settings;
use crate::world::{OwnServers, Servers, World, run};
use crate::{on_both_api_servers, on_own_api_servers, on_servers};

on_both_api_servers! { OwnServers::NOTHING =>
    kills_lose_nothing_and_leave_nothing_behind
}

/// Two ingesters on one database, of which sometimes one and sometimes the other is killed. By hand, for it takes ten minutes:
/// `cargo test --workspace --test live a_hundred_kills -- --ignored`.
#[test]
#[ignore = "by hand: it takes ten minutes"]
fn a_hundred_kills_of_two_ingesters_lose_nothing() -> Result<()> {
    run(module_path!(), Servers::MODERN, OwnServers::NOTHING, async |world| {
        let settings = Settings { deletion_delay: "200ms", ingester: vec!["finalizerRate: 1000"], ..world.settings() };
        world.start_with(&settings)?;
        let other = world.another(&settings)?;
        let mut churn = Churn::new(&world.objects, 8_000);
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

/// As many for each kill as in the test of a hundred.
const OBJECTS: usize = 640;
const KILLS: usize = 8;

/// The kills come at different moments in each run. A failure's message lists them.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

async fn kills_lose_nothing_and_leave_nothing_behind(world: &mut World) -> Result<()> {
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

on_own_api_servers! { OwnServers::CLUSTER => only_copies_survive_kills_and_restores }

async fn only_copies_survive_kills_and_restores(world: &mut World) -> Result<()> {
    kill_beside_restores(world, 1, 8).await
}

// By hand: `cargo test --workspace --test live sixty_kills -- --ignored`.
on_servers! { OwnServers::CLUSTER =>
    sixty_kills_of_one_ingester_beside_restores
    [on_modern MODERN #[ignore = "by hand: it takes ten minutes"]]
    [on_postgres POSTGRES #[ignore = "by hand: it takes ten minutes"]]
}

on_servers! { OwnServers::CLUSTER =>
    sixty_kills_of_two_ingesters_beside_restores
    [on_modern MODERN #[ignore = "by hand: it takes ten minutes"]]
    [on_postgres POSTGRES #[ignore = "by hand: it takes ten minutes"]]
}

async fn sixty_kills_of_one_ingester_beside_restores(world: &mut World) -> Result<()> {
    kill_beside_restores(world, 1, 60).await
}

async fn sixty_kills_of_two_ingesters_beside_restores(world: &mut World) -> Result<()> {
    kill_beside_restores(world, 2, 60).await
}

/// Objects for each kill: the churn must last as long as the kills.
const OBJECTS_A_KILL: usize = 90;

/// After this many kills, etcd is restored from the backup of as many kills ago, half of the times with a bumped revision.
const KILLS_A_RESTORE: usize = 4;

/// More revisions than happen between a backup and the restore.
const BUMP: u32 = 1_000;

/// Kills one of this many ingesters again and again, while objects are evicted, held by other finalizers, and purged, and etcd is
/// restored. An only copy never changes; and when a person has decided for the rows, the cluster and the rows agree.
async fn kill_beside_restores(world: &mut World, ingesters: usize, kills: usize) -> Result<()> {
    let settings = Settings {
        deletion_delay: "200ms",
        ingester: vec!["finalizerRate: 1000", "resyncPeriod: 2s", "sweepLimit: 0"],
        retention: "{deleted: 1s}",
        ..world.settings()
    };
    world.start_with(&settings)?;
    let others: Vec<Ingester> = (1..ingesters).map(|_| world.another(&settings)).collect::<Result<_>>()?;
    let mut churn = Churn::new(&world.objects, kills * OBJECTS_A_KILL);
    let slice = churn.steps / (kills + 1);
    let mut only_copies = OnlyCopies::default();
    let mut snapshot = world.cluster.snapshot()?;
    for kill in 0..kills {
        churn.allow(slice);
        churn.reached(kill * slice + usize::try_from(random() % u64::try_from(slice)?)?).await?;
        let which = usize::try_from(random() % u64::try_from(ingesters)?)?;
        let ingester = others.get(which).unwrap_or_else(|| world.ingester());
        ingester.kill()?;
        only_copies.look(world).await?;
        if kill % KILLS_A_RESTORE == KILLS_A_RESTORE - 1 {
            match random().is_multiple_of(2) {
                true => world.cluster.restore_with_bumped_revision(&snapshot, BUMP)?,
                false => world.cluster.restore(&snapshot)?,
            }
            snapshot = world.cluster.snapshot()?;
        }
        ingester.restart()?;
    }
    churn.finish().await?;
    release_again(&world.objects).await?;
    // Every remaining ghost is reported. The operator keeps the rows.
    let look = async || {
        let ran = world.ingester().run(&["ghosts", "resolve", "--all", "--keep", "row"])?;
        let found = differences(&world.objects, &world.database, None).await?;
        Ok((ran.err, found))
    };
    within(Duration::from_secs(300), "the rows to be what the cluster has", look, |(_, found)| found.is_empty())
        .await?;
    only_copies.look(world).await?;
    ensure!(only_copies.0.len() > kills, "there were only {} only copies", only_copies.0.len());
    eprintln!("{} only copies survived {kills} kills", only_copies.0.len());
    nothing_hangs(world).await?;
    world.audit_is_clean()
}

/// The rows whose eviction was confirmed, in their first observed state, by kind and uid.
#[derive(Debug, Default)]
pub(crate) struct OnlyCopies(BTreeMap<(&'static str, String), Vec<Option<String>>>);

impl OnlyCopies {
    /// Compares them with the present rows, and remembers new ones.
    pub(crate) async fn look(&mut self, world: &World) -> Result<()> {
        for kind in kinds() {
            let sql = format!(
                "SELECT uid, evict_confirmed, name, res_version, evict_time, delete_time, json FROM `{}` WHERE evict_confirmed",
                table(kind)
            );
            let mut missing: Vec<&String> = self.0.keys().filter(|(of, _)| *of == kind).map(|(_, uid)| uid).collect();
            let mut changed = Vec::new();
            let rows = world.database.sql(&sql).await?;
            for row in &rows {
                let uid = row.first().cloned().flatten().context("a uid")?;
                missing.retain(|known| **known != uid);
                if let Some(before) = self.0.get(&(kind, uid)).filter(|before| *before != row) {
                    changed.push(format!("{before:?} is {row:?}"));
                }
            }
            ensure!(
                missing.is_empty() && changed.is_empty(),
                "{kind}: only copies are gone: {missing:?}, or changed: {changed:#?}"
            );
            for row in rows {
                let uid = row.first().cloned().flatten().context("a uid")?;
                self.0.entry((kind, uid)).or_insert(row);
            }
        }
        Ok(())
    }
}

/// No object waits for an ingester, and some were evicted.
pub(crate) async fn nothing_hangs(world: &World) -> Result<()> {
    for kind in kinds() {
        let objects = world.objects.list(kind).await?;
        let stuck = objects.iter().filter(|object| object.metadata.deletion_timestamp.is_some()).count();
        ensure!(stuck == 0, "{stuck} of {kind} are stuck terminating");
    }
    // Their kinds are random.
    let mut evicted = 0;
    for kind in kinds() {
        let rows = format!("{} WHERE evict_time IS NOT NULL AND delete_time IS NULL", table(kind));
        evicted += world.database.count(&rows).await?;
    }
    ensure!(evicted > 0, "nothing was evicted");
    Ok(())
}
