//! Users who change objects, and the events of the servers.

use super::api_server::{ServerState, Streams};
use super::kinds::Flavour;
use super::things::{FINALIZER, FakeObject};
use super::troubles::Troubles;
use super::world::{Sim, World};
use std::time::Duration;
use tokio::time::Instant;

/// The names of objects: few, so that a name is often used again.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A finalizer of another program.
const OTHER: &str = "example.com/other";

/// The number of rows that a sweep may mark in any case, if the API server loses objects.
pub(super) const SWEEP_LIMIT: u64 = 1;

/// The objects that exist before the first ingester starts.
pub(super) fn begin(world: &mut World) {
    for name in NAMES {
        if world.rng.bool() {
            change(world, name);
        }
    }
    world.server.back_up();
}

/// Acts during the time of trouble.
pub(super) async fn act(sim: Sim, troubles: Troubles) {
    for _ in 0..troubles.actions {
        let pause = {
            let mut world = sim.world();
            // Mostly short, now and then long.
            let most = if world.rng.u32(..4) == 0 { 4 * troubles.pause } else { troubles.pause };
            world.up_to(most)
        };
        tokio::time::sleep(pause).await;
        let mut world = sim.world();
        if world.rng.u32(..100) < troubles.servers {
            befall(&sim, &mut world, troubles);
        } else if troubles.hands && world.rng.u32(..8) == 0 {
            world.change_by_hand();
        } else {
            let name = NAMES[world.rng.usize(..NAMES.len())];
            change(&mut world, name);
        }
        if world.rng.u32(..10) == 0 && !world.lost {
            world.server.back_up();
        }
        befall_more(&sim, &mut world);
        if troubles.clusters && !world.lost && world.rng.u32(..20) == 0 {
            let pause = world.up_to(60_000);
            tokio::spawn(lose(sim.clone(), pause));
        } else if troubles.clusters && world.database.cluster.is_some() && world.rng.u32(..20) == 0 {
            let ingesters = world.ingesters.len();
            let ingester = world.rng.usize(..ingesters);
            world.note("world", &format!("the configuration of i{ingester} names another cluster"));
            let life = world.ingesters[ingester].life;
            world.kill(ingester, life);
            world.ingesters[ingester].misled = true;
        }
    }
}

/// Loses all objects for a while.
async fn lose(sim: Sim, pause: Duration) {
    let lost = sim.world().lose();
    tokio::time::sleep(pause).await;
    sim.world().find(lost);
}

fn befall(sim: &Sim, world: &mut World, troubles: Troubles) {
    let ingester = world.rng.usize(..world.ingesters.len());
    match world.rng.u32(..8) {
        0 => {
            world.note("world", "all watches end");
            world.server.disconnect();
        }
        1 => {
            world.note("world", "old events are forgotten");
            world.server.compact();
        }
        2 | 3 => {
            let down = world.up_to(8000);
            let starting = world.up_to(8000);
            tokio::spawn(restart(sim.clone(), down, starting));
        }
        4 => {
            let pause = world.up_to(30_000);
            tokio::spawn(withdraw(sim.clone(), pause));
        }
        5 => {
            let down = world.up_to(60_000);
            world.note("world", &format!("the database is down for {down:?}"));
            world.database.down = Some(Instant::now() + down);
        }
        6 if troubles.restores => world.restore(),
        7 if troubles.clocks => {
            let hours = world.rng.i64(-30..30);
            let clock = if world.rng.bool() { hours * 3_600_000_000 } else { hours * 1_000_000 };
            world.note("world", &format!("the clock of i{ingester} is off by {} s", clock / 1_000_000));
            world.ingesters[ingester].clock = clock;
        }
        _ => {}
    }
}

/// Brings the events of a seed with further troubles.
fn befall_more(sim: &Sim, world: &mut World) {
    let more = world.more;
    if (more.bumps || more.reuse || more.ghosts) && world.dice.u32(..12) == 0 {
        world.restore();
    }
    if more.people && world.dice.u32(..4) == 0 {
        world.person(sim);
    }
    if more.dependents && world.dice.u32(..3) == 0 {
        world.create_part();
    }
    if more.fills && world.dice.u32(..8) == 0 {
        let pause = world.dice.u64(1..60_000);
        world.note("world", &format!("the disk of the database is full for {pause} ms"));
        world.database.full = Some(Instant::now() + Duration::from_millis(pause));
    }
    if more.refusals && world.dice.u32(..12) == 0 {
        let pause = world.dice.u64(1..60_000);
        world.note("world", &format!("the API server refuses every deletion for {pause} ms"));
        world.server.undeletable = Some(Instant::now() + Duration::from_millis(pause));
    }
    if more.failovers && world.dice.u32(..15) == 0 {
        let lost = world.dice.u64(1..5000);
        let down = world.dice.u64(1..5000);
        tokio::spawn(fail_over(sim.clone(), Duration::from_millis(lost), Duration::from_millis(down)));
    }
}

/// Another database takes over, which lacks the commits of a while from now on.
async fn fail_over(sim: Sim, lost: Duration, down: Duration) {
    let replica = sim.world().database.replica();
    tokio::time::sleep(lost).await;
    let mut world = sim.world();
    if world.calm {
        return;
    }
    world.note("world", &format!("another database takes over, without the commits of {lost:?}"));
    world.fail_over(replica);
    world.database.down = Some(Instant::now() + down);
}

impl World {
    /// The names of the objects without their owners.
    pub(super) fn garbage(&self) -> Vec<String> {
        let things = &self.server.things;
        let there = |uid: &String| things.values().any(|thing| thing.uid == *uid);
        let garbage =
            |thing: &&FakeObject| thing.deletion.is_none() && thing.owned_by.as_ref().is_some_and(|uid| !there(uid));
        things.values().filter(garbage).map(|thing| thing.name.clone()).collect()
    }
}

/// Collects garbage in a loop: objects without their owners.
pub(super) async fn collect(sim: Sim) {
    loop {
        let pause = sim.world().dice.u64(500..5000);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let mut world = sim.world();
        if world.server.state != ServerState::Up || !world.server.served || world.lost {
            continue;
        }
        world.collect_parts();
        for name in world.garbage() {
            world.note("gc", &format!("deletes {name}"));
            world.delete(&name);
        }
    }
}

/// Ends objects that linger after they were deleted, in a loop.
pub(super) async fn end_lingering(sim: Sim) {
    loop {
        let pause = sim.world().dice.u64(500..10_000);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let mut world = sim.world();
        let lingering = |thing: &&FakeObject| thing.lingers && thing.deletion.is_some();
        let lingering: Vec<FakeObject> = world.server.things.values().filter(lingering).cloned().collect();
        for thing in lingering {
            if world.dice.bool() && world.server.state == ServerState::Up && world.server.served && !world.lost {
                world.put(FakeObject { lingers: false, ..thing });
            }
        }
    }
}

async fn restart(sim: Sim, down: Duration, starting: Duration) {
    for (state, pause) in
        [(ServerState::Down, down), (ServerState::Starting, starting), (ServerState::Up, Duration::ZERO)]
    {
        {
            let mut world = sim.world();
            world.note("world", &format!("the API server is {state:?}"));
            world.server.state = state;
            if state == ServerState::Starting && world.rng.u32(..4) == 0 {
                let streams = if world.server.streams == Streams::Missing { Streams::There } else { Streams::Missing };
                world.note("world", &format!("the API server is of another release: streamed lists {streams:?}"));
                world.server.streams = streams;
            }
            world.server.disconnect();
        }
        tokio::time::sleep(pause).await;
    }
}

async fn withdraw(sim: Sim, pause: Duration) {
    for (served, pause) in [(false, pause), (true, Duration::ZERO)] {
        {
            let mut world = sim.world();
            world.note("world", if served { "the kind is served" } else { "the kind is not served" });
            world.server.served = served;
            world.server.disconnect();
        }
        tokio::time::sleep(pause).await;
    }
}

/// A user changes the object with this name.
fn change(world: &mut World, name: &str) {
    if world.server.state != ServerState::Up || !world.server.served || world.lost {
        return;
    }
    let Some(mut thing) = world.server.things.get(name).cloned() else { return create(world, name) };
    world.snapshots.forget(&thing.uid);
    let terminating = thing.deletion.is_some();
    match world.rng.u32(..14) {
        0..=2 => thing.owner += 1,
        3 => thing.label = Some(world.rng.u32(..9)),
        4 => thing.flavour = flavour(world),
        5 | 6 => thing.deleting = !thing.deleting,
        7 | 8 => thing.immutable = !thing.immutable,
        9 | 10 => {
            world.note("user", &format!("deletes {name}"));
            return world.delete(name);
        }
        11 => {
            world.note("user", &format!("forces {name} out"));
            thing.finalizers.clear();
            thing.deletion.get_or_insert(world.micros());
        }
        12 => match thing.finalizers.iter().position(|finalizer| finalizer == OTHER) {
            Some(index) => drop(thing.finalizers.remove(index)),
            None if !terminating => thing.finalizers.push(OTHER.to_owned()),
            None => return,
        },
        // A user who does not want to wait for us.
        _ if terminating => thing.finalizers.retain(|finalizer| finalizer != FINALIZER),
        _ => thing.label = None,
    }
    world.put(thing);
}

fn flavour(world: &mut World) -> Flavour {
    match world.rng.u32(..10) {
        0 => Flavour::Undecodable,
        1 => Flavour::LeftOut,
        2 => Flavour::Refused,
        // Often more than a changed filter may mark.
        3..=6 if world.more.filters => Flavour::LeftOut,
        _ => Flavour::Plain,
    }
}

fn create(world: &mut World, name: &str) {
    let flavour = flavour(world);
    let unpatchable = (world.rng.u32(..12) == 0).then_some(500);
    let immutable = world.rng.u32(..8) == 0;
    let other = world.rng.u32(..8) == 0;
    let forbidden = forbidden(world);
    let owner = owner(world);
    let flavour = if world.more.dependents && owner.is_some() { world.flavour_of_dependent() } else { flavour };
    let lingers = world.more.lingers && world.dice.u32(..2) == 0;
    // The number decides if an object is done. Without it, rules take only few.
    let number = if world.more.switches || world.more.dependents { world.dice.u32(..4) } else { 0 };
    world.create(name, |thing: &mut FakeObject| {
        (thing.flavour, thing.immutable, thing.owned_by, thing.lingers) = (flavour, immutable, owner, lingers);
        thing.owner = number;
        (thing.unpatchable, thing.undeletable) = (unpatchable.or(forbidden.0), forbidden.1);
        if other {
            thing.finalizers.push(OTHER.to_owned());
        }
    });
}

/// The status with which every patch and every deletion of an object by an ingester is refused for good, if it is.
fn forbidden(world: &mut World) -> (Option<u16>, Option<u16>) {
    if !world.more.forbidden {
        return (None, None);
    }
    match world.dice.u32(..10) {
        0 => (Some(403), None),
        1 => (Some(422), None),
        2 | 3 => (None, Some(403)),
        _ => (None, None),
    }
}

/// The uid of an object that owns a new one.
fn owner(world: &mut World) -> Option<String> {
    if !world.more.owners || world.dice.u32(..2) == 0 || world.server.things.is_empty() {
        return None;
    }
    let choice = world.dice.usize(..world.server.things.len());
    world.server.things.values().nth(choice).map(|thing| thing.uid.clone())
}
