//! Sixty events at random over three members: one dies, stops or freezes, a server is killed, while objects of all kinds change.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::Ingester;
use k8s_openapi::jiff::Timestamp;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;
use tokio::time::sleep;

use crate::churn::Churn;
use crate::eventually::{DEADLINE, eventually};
use crate::objects::{kinds, table};
use crate::replicas::{held, shared};
use crate::settings::Settings;
use crate::world::{OwnServers, Servers, World, run};

/// By hand, for it takes half an hour: `cargo test --workspace --test live sixty_events -- --ignored --nocapture`. The usual tests of
/// replicas have one event of each kind.
#[test]
#[ignore = "by hand: it takes half an hour"]
fn sixty_events_are_not_noticed() -> Result<()> {
    run(module_path!(), Servers::MARIADB, OwnServers::BOTH, sixty_events)
}

const OBJECTS: usize = 4_000;

/// How long a frozen member is away: longer than its Lease is valid.
const FROZEN: Duration = Duration::from_secs(30);

/// How long the units of a member that died or froze may be without a holder: its Lease, a renewal of the others, their claim; and what
/// a busy machine takes.
const MOST: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Kill,
    Terminate,
    Freeze,
    ApiServer,
    Database,
}

const EVENTS: [(Event, usize); 5] =
    [(Event::Kill, 18), (Event::Terminate, 14), (Event::Freeze, 10), (Event::ApiServer, 9), (Event::Database, 9)];

/// The events come in a different order and at different moments in each run. A failure's message lists them.
fn random(below: usize) -> usize {
    (RandomState::new().hash_one(0) % below as u64) as usize
}

/// All events in random order.
fn shuffled() -> Vec<Event> {
    let mut events: Vec<Event> = EVENTS.into_iter().flat_map(|(event, count)| vec![event; count]).collect();
    for last in (1..events.len()).rev() {
        events.swap(last, random(last + 1));
    }
    events
}

async fn sixty_events(world: &mut World) -> Result<()> {
    let units = kinds().count();
    let settings = Settings {
        deletion_delay: "200ms",
        log_format: "json",
        ingester: vec!["finalizerRate: 1000", "replicas: {enabled: true, namespace: ingester}"],
        ..world.settings()
    };
    world.start_with(&settings)?;
    let others = [world.another(&settings)?, world.another(&settings)?];
    for other in &others {
        other.wait_ready(DEADLINE)?;
    }
    shared(world, 3, units).await?;
    count_writes(world).await?;

    let mut churn = Churn::new(&world.objects, OBJECTS);
    let events = shuffled();
    let slice = churn.steps / (events.len() + 1);
    // When members ended or froze, by their index.
    let mut ends: [Vec<(Timestamp, &str)>; 3] = Default::default();
    for (number, event) in events.iter().copied().enumerate() {
        let so_far = || format!("{event:?} after {:?}", &events[..number]);
        churn.allow(slice);
        churn.reached(number * slice + random(slice)).await.with_context(so_far)?;
        let victim = random(3);
        let member = [world.ingester(), &others[0], &others[1]][victim];
        match event {
            Event::Kill => {
                ends[victim].push((Timestamp::now(), "killed"));
                member.kill()?;
                // Now and then it is back before its Lease has expired.
                sleep(Duration::from_secs(random(30) as u64)).await;
                member.restart()?;
            }
            Event::Terminate => {
                ends[victim].push((Timestamp::now(), "stopped"));
                let stopped = member.stop()?;
                ensure!(stopped.status.success(), "{stopped:?}, {}", so_far());
                member.restart()?;
            }
            Event::Freeze => {
                ends[victim].push((Timestamp::now(), "frozen"));
                member.process().freeze();
                sleep(FROZEN).await;
                member.process().thaw();
            }
            Event::ApiServer => {
                world.cluster.kill()?;
                world.cluster.restart()?;
            }
            Event::Database => {
                world.database.kill()?;
                world.database.restart()?;
            }
        }
        // At rest every unit has one holder, which has begun. If two die at the same time, the second may be the heir of the first.
        shared(world, 3, units).await.with_context(so_far)?;
        let members = [world.ingester(), &others[0], &others[1]];
        let begun = async || members.iter().map(|member| held(member)).sum::<Result<f64>>();
        eventually("every unit to be begun", begun, |begun| *begun == units as f64).await.with_context(so_far)?;
    }
    churn.finish().await?;
    world.settled_within(Duration::from_secs(300)).await.with_context(|| format!("{events:?}"))?;
    world.audit_is_clean()?;

    let members = [world.ingester(), &others[0], &others[1]];
    let gaps = report(&holders(&members, &ends)?).with_context(|| logs(&members))?;
    let (all, twice) = writes(world).await?;
    eprintln!("rows written: {all}, of these as they were: {twice} ({:.3} %)", 100.0 * twice as f64 / all as f64);
    ensure!(all > 0 && twice * 1000 < all, "of {all} writes of rows {twice} changed nothing");
    for why in ["killed", "frozen"] {
        let longest = gaps.get(why).and_then(|gaps| gaps.last()).with_context(|| format!("nobody was {why}"))?;
        ensure!(
            *longest < MOST.as_secs_f64(),
            "a unit of who was {why} was without a holder for {longest} s; {}",
            logs(&members)
        );
    }
    Ok(())
}

/// Keeps the members' logs, and prints where.
fn logs(members: &[&Ingester; 3]) -> String {
    let folder = std::env::temp_dir().join(format!("events-{}", std::process::id()));
    let keep = || -> Result<()> {
        std::fs::create_dir_all(&folder)?;
        for (number, member) in members.iter().enumerate() {
            std::fs::write(folder.join(format!("{number}.log")), member.logs()?)?;
        }
        Ok(())
    };
    format!("the logs are in {}: {:?}", folder.display(), keep())
}

/// From now on the database itself counts the writes, and those that change only `update_time`.
async fn count_writes(world: &World) -> Result<()> {
    world
        .database
        .sql("CREATE TABLE test_writes (id BIGINT AUTO_INCREMENT PRIMARY KEY, same BOOLEAN NOT NULL)")
        .await?;
    for kind in kinds() {
        let table = table(kind);
        let columns = world
            .database
            .sql(&format!(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{table}' AND column_name <> 'update_time'"
            ))
            .await?;
        let same: Vec<String> =
            columns.iter().flatten().flatten().map(|column| format!("OLD.`{column}` <=> NEW.`{column}`")).collect();
        ensure!(same.len() > 5, "{table} has columns");
        let (after, values) =
            (format!("ON `{table}` FOR EACH ROW INSERT INTO test_writes (same) VALUES"), same.join(" AND "));
        world.database.sql(&format!("CREATE TRIGGER `{table}_inserted` AFTER INSERT {after} (FALSE)")).await?;
        world.database.sql(&format!("CREATE TRIGGER `{table}_updated` AFTER UPDATE {after} ({values})")).await?;
    }
    Ok(())
}

async fn writes(world: &World) -> Result<(u64, u64)> {
    Ok((world.database.count("test_writes").await?, world.database.count("test_writes WHERE same").await?))
}

/// When a member worked on a unit: from, to, and the reason for the end.
type Spans = Vec<(Timestamp, Timestamp, &'static str)>;

/// Which member worked on each unit when, by the members' logs. A member that ended or froze logs nothing more.
fn holders(members: &[&Ingester; 3], ends: &[Vec<(Timestamp, &'static str)>; 3]) -> Result<BTreeMap<String, Spans>> {
    let now = Timestamp::now();
    let mut all: BTreeMap<String, Spans> = BTreeMap::new();
    for (member, ends) in members.iter().zip(ends) {
        let mut holds: BTreeMap<String, Timestamp> = BTreeMap::new();
        let mut ends = ends.iter().copied().peekable();
        let mut last = (Timestamp::UNIX_EPOCH, "");
        let mut end_all = |holds: &mut BTreeMap<String, Timestamp>, end: Timestamp, why: &'static str| {
            for (unit, begin) in std::mem::take(holds) {
                all.entry(unit).or_default().push((begin, end, why));
            }
        };
        for line in member.logs()?.lines() {
            // The last line before a kill may be cut off.
            let Ok(line) = serde_json::from_str::<Json>(line) else { continue };
            let (Some(time), Some(message)) = (line["timestamp"].as_str(), line["message"].as_str()) else { continue };
            let time: Timestamp = time.parse().context("the time of a line of the log")?;
            while let Some((end, why)) = ends.next_if(|(end, _)| *end <= time) {
                end_all(&mut holds, end, why);
                last.1 = why;
            }
            if message == "Metadata storage enabled" {
                // The units that the previous process took between the noted moment and its end.
                end_all(&mut holds, last.0, last.1);
            }
            last.0 = time;
            let unit = || line["unit"].as_str().map(str::to_owned).context("a unit");
            if message.contains("takes a unit over") {
                holds.insert(unit()?, time);
            } else if message.contains("gives a unit away") {
                let unit = unit()?;
                if let Some(begin) = holds.remove(&unit) {
                    end_all(&mut BTreeMap::from([(unit, begin)]), time, "given away");
                }
            } else if message.contains("could not be renewed in time")
                || message.contains("was deleted: it starts again")
            {
                end_all(&mut holds, time, "its Lease lost");
            }
        }
        end_all(&mut holds, now, "the end");
    }
    for spans in all.values_mut() {
        spans.sort();
    }
    Ok(all)
}

/// Prints how long units were without a holder, by what had happened to the last holder, and returns the times in seconds, sorted. Fails if a unit
/// had two holders.
fn report(holders: &BTreeMap<String, Spans>) -> Result<BTreeMap<&'static str, Vec<f64>>> {
    ensure!(holders.len() == kinds().count(), "{:?}", holders.keys());
    let (mut gaps, mut overlaps) = (BTreeMap::<_, Vec<f64>>::new(), Vec::new());
    for (unit, spans) in holders {
        let (_, mut until, mut why) = *spans.first().context("a span")?;
        for (begin, end, end_why) in &spans[1..] {
            let seconds = begin.duration_since(until).as_secs_f64();
            for what in [why, "whatever it was"] {
                if seconds >= 0.0 {
                    gaps.entry(what).or_default().push(seconds);
                }
            }
            if seconds < 0.0 {
                overlaps.push((-seconds, unit, why));
            }
            if *end > until {
                (until, why) = (*end, *end_why);
            }
        }
    }
    for (why, gaps) in &mut gaps {
        gaps.sort_by(f64::total_cmp);
        let at = |part: f64| gaps[((gaps.len() as f64 * part) as usize).min(gaps.len() - 1)];
        let [half, most, all] = [0.5, 0.99, 1.0].map(at);
        let count = gaps.len();
        eprintln!("{why}: {count} units without a holder, p50 {half:.2} s, p99 {most:.2} s, max {all:.2} s");
    }
    ensure!(overlaps.is_empty(), "units with two holders: {overlaps:?}");
    Ok(gaps)
}
