//! Runs members of a group in virtual time, with all their troubles: kills, freezes, slow and lost answers, an API server that one of them
//! cannot reach, Leases that somebody deletes. The code of the members is the real one.
//!
//! `MEMBERS_SEEDS=0..5000 cargo test -p ingester-mirror members_agree` runs these seeds.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use super::assignment::Assignment;
use super::leases::{LeaseError, Leases};
use super::record::Record;
use super::run::Membership;
use crate::health::Health;
use crate::metrics::Metrics;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::Replicas;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// The time after the last trouble by which everything must be in order.
const REST: Duration = Duration::from_secs(60);

#[derive(Clone)]
struct World(Arc<Inner>);

struct Inner {
    state: Mutex<GroupState>,
    changed: Notify,
}

struct GroupState {
    rng: fastrand::Rng,
    leases: BTreeMap<String, Record>,
    versions: u64,
    members: Vec<Process>,
    history: Vec<String>,
    begin: Instant,
    violation: Option<String>,
    calm: bool,
    /// The time since when no process has worked on a unit.
    idle: BTreeMap<String, Instant>,
    /// The durations for which units were without a process.
    gaps: Vec<Duration>,
}

/// A process.
struct Process {
    assignment: Assignment,
    lives: bool,
    frozen: FreezeDeadline,
    /// The time until which its requests fail.
    cut_off: Instant,
    /// The time until which it may not know that its Lease was deleted. Other members cannot know that it still works.
    robbed: Instant,
    tasks: Vec<AbortHandle>,
    stop: CancellationToken,
}

impl World {
    fn new(seed: u64) -> Self {
        let state = GroupState {
            rng: fastrand::Rng::with_seed(seed),
            leases: BTreeMap::new(),
            versions: 0,
            members: Vec::new(),
            history: Vec::new(),
            begin: Instant::now(),
            violation: None,
            calm: false,
            idle: BTreeMap::new(),
            gaps: Vec::new(),
        };
        World(Arc::new(Inner { state: Mutex::new(state), changed: Notify::new() }))
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, GroupState> {
        self.0.state.lock()
    }

    /// Records that a process begins to work on a unit, or continues.
    fn works(&self, member: usize, unit: &str) {
        let mut state = self.state();
        let others: Vec<usize> = (0..state.members.len())
            .filter(|other| *other != member && state.members[*other].lives)
            .filter(|other| [member, *other].iter().all(|number| state.members[*number].robbed <= Instant::now()))
            .filter(|other| {
                let assignment = &state.members[*other].assignment;
                assignment.is_valid() && assignment.running().contains(unit)
            })
            .collect();
        if !others.is_empty() && state.violation.is_none() {
            let at = state.begin.elapsed().as_secs_f64();
            let left = |member: usize| state.members[member].assignment.valid_for();
            let left: Vec<Duration> = others.iter().map(|other| left(*other)).chain([left(member)]).collect();
            state.violation = Some(format!(
                "at {at:.3} m{member} and {others:?} work on {unit}, valid for {left:?}: {:#?}",
                state.leases
            ));
        }
        if let Some(since) = state.idle.remove(unit) {
            state.gaps.push(since.elapsed());
        }
    }

    fn note(&self, text: String) {
        let mut state = self.state();
        let line = format!("{:9.3} {text}", state.begin.elapsed().as_secs_f64());
        state.history.push(line);
    }
}

/// The connection of one member to the API server.
struct MemberConnection {
    world: World,
    member: usize,
}

impl MemberConnection {
    /// Does something at the server. It continues if the requesting member is frozen or dead.
    fn ask<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&mut GroupState) -> Result<T, LeaseError> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, LeaseError>> {
        let world = self.world.clone();
        let (there, back, cut_off, reaches) = {
            let mut state = world.state();
            let cut_off = state.members[self.member].cut_off > Instant::now();
            let slow = if !state.calm && state.rng.u32(..40) == 0 { 4000 } else { 60 };
            let mut pause = || Duration::from_millis(state.rng.u64(1..=slow));
            (pause(), pause(), cut_off, state.rng.bool())
        };
        async move {
            let done = tokio::spawn(async move {
                sleep(there).await;
                if cut_off && !reaches {
                    return Err(LeaseError::Failed("no route".into()));
                }
                let done = work(&mut world.state());
                world.0.changed.notify_waiters();
                sleep(back).await;
                // The request was carried out, but its answer is lost.
                if cut_off { Err(LeaseError::Failed("the answer was lost".into())) } else { done }
            });
            done.await.unwrap()
        }
        .boxed()
    }
}

impl Leases for MemberConnection {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>> {
        self.ask(|state| Ok(state.leases.values().cloned().collect()))
    }

    fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        let record = record.clone();
        self.ask(move |state| {
            if state.leases.contains_key(&record.name) {
                return Err(LeaseError::Conflict);
            }
            state.versions += 1;
            let stored = Record { uid: record.name.clone(), version: state.versions.to_string(), ..record };
            state.leases.insert(stored.name.clone(), stored.clone());
            Ok(stored)
        })
    }

    fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        let record = record.clone();
        self.ask(move |state| {
            state.versions += 1;
            let version = state.versions.to_string();
            match state.leases.get_mut(&record.name) {
                None => Err(LeaseError::Gone),
                Some(stored) if stored.version != record.version => Err(LeaseError::Conflict),
                Some(stored) => {
                    *stored = Record { version, uid: stored.uid.clone(), ..record };
                    Ok(stored.clone())
                }
            }
        })
    }

    fn delete<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), LeaseError>> {
        let record = record.clone();
        self.ask(move |state| match state.leases.get(&record.name) {
            None => Err(LeaseError::Gone),
            Some(stored) if stored.version != record.version => Err(LeaseError::Conflict),
            Some(_) => {
                state.leases.remove(&record.name);
                Ok(())
            }
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        // Unlike the real server, renewals wake every member, too. Some changes are missed.
        async {
            self.world.0.changed.notified().await;
            sleep(Duration::from_millis(500)).await;
        }
        .boxed()
    }
}

/// The time until which a process is frozen. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreezeDeadline(Arc<Mutex<Option<Instant>>>);

impl FreezeDeadline {
    pub(crate) fn until(&self, until: Instant) {
        *self.0.lock() = Some(until);
    }

    /// Returns the end of the freeze, if it is frozen.
    fn thaws(&self) -> Option<Instant> {
        self.0.lock().filter(|until| *until > Instant::now())
    }

    /// Waits while it is frozen.
    pub(crate) async fn thawed(&self) {
        while let Some(until) = self.thaws() {
            sleep_until(until).await;
        }
    }
}

/// Runs work that pauses while the process is frozen.
pub(crate) async fn freezable<T>(frozen: FreezeDeadline, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut thaw = Box::pin(sleep_until(Instant::now()));
    poll_fn(|context| {
        if let Some(until) = frozen.thaws() {
            thaw.as_mut().reset(until);
            if thaw.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        work.as_mut().poll(context)
    })
    .await
}

fn units() -> BTreeSet<String> {
    (0..7).map(|number| format!("Kind{number}")).collect()
}

thread_local! {
    /// The next name, unique to each test: names decide which member gets which unit.
    static NAMES: Cell<u64> = const { Cell::new(0) };
}

/// Starts a process.
fn start(world: &World) {
    let assignment = Assignment::of_members();
    let stop = CancellationToken::new();
    let frozen = FreezeDeadline::default();
    let number = {
        let mut state = world.state();
        let now = Instant::now();
        state.members.push(Process {
            assignment: assignment.clone(),
            lives: true,
            frozen: frozen.clone(),
            cut_off: now,
            robbed: now,
            tasks: Vec::new(),
            stop: stop.clone(),
        });
        state.members.len() - 1
    };
    let member = Membership {
        leases: Arc::new(MemberConnection { world: world.clone(), member: number }),
        group: "g".into(),
        holder: format!("m{number}"),
        serves: units(),
        definitions: String::new(),
        config: Replicas { enabled: true, ..Replicas::default() },
        assignment: assignment.clone(),
        metrics: Metrics::new().unwrap().replicas(),
        health: Health::new([]),
        // Five seconds fast or slow: nothing may depend on the time of day.
        time_of_day: || {
            let off = SignedDuration::from_millis((NAMES.get() % 10_001) as i64 - 5000);
            Timestamp::UNIX_EPOCH + off
        },
        names: || format!("{:06}", NAMES.replace(NAMES.get() + 7919) % 1_000_003),
    };
    let mut tasks = Vec::new();
    // In the same order as the program: the units end first, then the member leaves.
    let left = CancellationToken::new();
    let ended = Arc::new(Notify::new());
    let membership = member.run(left.clone());
    tasks.push(tokio::spawn(freezable(frozen.clone(), membership)).abort_handle());
    for unit in units() {
        let world = world.clone();
        let assignment = assignment.clone();
        let stop = stop.clone();
        let worker = async move {
            loop {
                let Some(mut held) = stop.run_until_cancelled(assignment.hold(&unit)).await else { return };
                let rest = Duration::from_millis(world.state().rng.u64(1..1500));
                loop {
                    if assignment.is_valid() {
                        world.works(number, &unit);
                    }
                    let revoked = tokio::time::timeout(Duration::from_millis(200), held.revoked()).await.is_ok();
                    if revoked || stop.is_cancelled() {
                        break;
                    }
                }
                // Finish work that has begun, if that is allowed.
                sleep(rest).await;
                if assignment.is_valid() {
                    world.works(number, &unit);
                }
                drop(held);
                world.state().idle.insert(unit.clone(), Instant::now());
                if stop.is_cancelled() {
                    return;
                }
            }
        };
        tasks.push(tokio::spawn(freezable(frozen.clone(), worker)).abort_handle());
    }
    let world_of = world.clone();
    let stopped = stop;
    tokio::spawn(async move {
        stopped.cancelled().await;
        sleep(Duration::from_millis(1600)).await;
        left.cancel();
        sleep(Duration::from_secs(35)).await;
        world_of.state().members[number].lives = false;
        ended.notify_one();
    });
    world.state().members[number].tasks = tasks;
}

fn kill(world: &World, number: usize) {
    let mut state = world.state();
    let now = Instant::now();
    let running = state.members[number].assignment.running();
    let node = &mut state.members[number];
    node.lives = false;
    node.tasks.iter().for_each(AbortHandle::abort);
    for unit in running {
        state.idle.insert(unit, now);
    }
}

/// One random trouble.
async fn trouble(world: &World) {
    let (what, member, millis, living) = {
        let mut state = world.state();
        let living: Vec<usize> = (0..state.members.len())
            .filter(|number| state.members[*number].lives && !state.members[*number].stop.is_cancelled())
            .collect();
        let member = if living.is_empty() { 0 } else { living[state.rng.usize(..living.len())] };
        (state.rng.u32(..8), member, state.rng.u64(1..40_000), living.len())
    };
    let until = Instant::now() + Duration::from_millis(millis);
    match what {
        0 | 1 if living < 5 => {
            world.note("a process starts".into());
            start(world);
        }
        2 if living > 1 => {
            world.note(format!("m{member} is killed"));
            kill(world, member);
        }
        3 if living > 1 => {
            world.note(format!("m{member} is stopped"));
            world.state().members[member].stop.cancel();
        }
        4 if living > 0 => {
            world.note(format!("m{member} is frozen for {millis} ms"));
            world.state().members[member].frozen.until(until);
        }
        5 | 6 if living > 0 => {
            world.note(format!("m{member} is cut off for {millis} ms"));
            world.state().members[member].cut_off = until;
        }
        7 => {
            let mut state = world.state();
            let names: Vec<String> = state.leases.keys().cloned().collect();
            if !names.is_empty() && state.rng.u32(..4) == 0 {
                let name = names[state.rng.usize(..names.len())].clone();
                let holder = state.leases.remove(&name).map(|lease| lease.holder).unwrap_or_default();
                let until = Instant::now() + Replicas::default().renew_deadline;
                if let Some(node) = holder.strip_prefix('m').and_then(|number| number.parse::<usize>().ok()) {
                    state.members[node].robbed = until;
                }
                drop(state);
                world.note(format!("the Lease {name} is deleted by hand"));
            }
        }
        _ => {}
    }
}

/// Returns the violation at rest, if any.
fn wrong(world: &World) -> Option<String> {
    let state = world.state();
    let living: Vec<&Process> = state.members.iter().filter(|node| node.lives && !node.stop.is_cancelled()).collect();
    for unit in units() {
        let holders = living
            .iter()
            .filter(|node| node.assignment.is_valid() && node.assignment.running().contains(&unit))
            .count();
        if holders != 1 {
            return Some(format!("{unit} has {holders} holders"));
        }
    }
    let loads = living.iter().map(|node| node.assignment.running().len());
    let least = loads.clone().min()?;
    let most = loads.max()?;
    if most > units().len().div_ceil(living.len()) {
        return Some(format!("the parts are of {least} to {most} units"));
    }
    (state.leases.len() != living.len()).then(|| format!("{} Leases of {} members", state.leases.len(), living.len()))
}

/// Runs one seed. Returns the durations for which units were without a process.
async fn run(seed: u64) -> Result<Vec<Duration>, (String, Vec<String>)> {
    let world = World::new(seed);
    for _ in 0..=seed % 4 {
        start(&world);
    }
    let failed = |what: String| (what, world.state().history.clone());
    for _ in 0..30 {
        trouble(&world).await;
        let pause = Duration::from_millis(world.state().rng.u64(1..15_000));
        sleep(pause).await;
        let violation = world.state().violation.clone();
        if let Some(violation) = violation {
            return Err(failed(violation));
        }
    }
    // Freezes and cuts end; stopped processes are gone.
    sleep(Duration::from_secs(45)).await;
    world.state().calm = true;
    if !world.state().members.iter().any(|node| node.lives && !node.stop.is_cancelled()) {
        start(&world);
    }
    let calm = Instant::now();
    while let Some(wrong) = wrong(&world) {
        if calm.elapsed() > REST {
            return Err(failed(format!("at rest: {wrong}")));
        }
        sleep(Duration::from_millis(500)).await;
    }
    sleep(REST).await;
    let violation = world.state().violation.clone();
    let broken = violation.or_else(|| wrong(&world).map(|wrong| format!("later: {wrong}")));
    match broken {
        Some(what) => Err(failed(what)),
        None => Ok(std::mem::take(&mut world.state().gaps)),
    }
}

/// Runs three members at rest, kills one of them, and starts another this many milliseconds later. Returns the time from the kill until
/// every unit had exactly one holder again.
async fn killed(seed: u64, later: u64) -> Duration {
    let world = World::new(seed);
    world.state().calm = true;
    for _ in 0..3 {
        start(&world);
    }
    sleep(REST).await;
    assert_eq!(wrong(&world), None);
    // Some time after a renewal.
    sleep(Duration::from_millis(seed * 37 % 2000)).await;
    let begin = Instant::now();
    kill(&world, seed as usize % 3);
    sleep(Duration::from_millis(later)).await;
    start(&world);
    let held = |unit: &String| {
        let holds =
            |node: &Process| node.lives && node.assignment.is_valid() && node.assignment.running().contains(unit);
        world.state().members.iter().any(holds)
    };
    // Members that have not seen the new member yet may take units and give them away at once: such units count as held.
    while !units().iter().all(held) {
        assert!(begin.elapsed() < REST, "seed {seed}: not all units are held");
        sleep(Duration::from_millis(50)).await;
    }
    begin.elapsed()
}

/// Returns the longest wait for the units of a killed member in a hundred seeds: the duration, the seed, and the number of milliseconds
/// from the kill to the start of another member.
pub(crate) fn longest_wait() -> (Duration, u64, u64) {
    let times = (0..100).map(|seed| {
        NAMES.set(seed * 104_729);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let later = seed * 173 % 17_000;
        (runtime.block_on(killed(seed, later)), seed, later)
    });
    times.max().unwrap()
}

#[cfg(test)]
mod tests {
    use super::{Duration, NAMES, Replicas, longest_wait, run};

    #[test]
    fn units_of_the_dead_wait_no_longer_for_one_that_has_just_started() {
        let Replicas { lease_duration, retry_period, .. } = Replicas::default();
        // A renewal may be on its way when the member dies, the others see the death with their next list, and three requests follow. A
        // member that starts at that time causes one more hand-over, for which a worker here takes up to 1.5 s.
        let most = lease_duration + retry_period + Duration::from_secs(2);
        let (took, seed, later) = longest_wait();
        assert!(took < most, "seed {seed}: {took:?} with one that starts {later} ms after the kill");
    }

    #[test]
    fn members_agree_through_freezes_cuts_and_kills() {
        let seeds = std::env::var("MEMBERS_SEEDS").ok().and_then(|seeds| {
            let (from, to) = seeds.split_once("..")?;
            Some(from.parse().ok()?..to.parse().ok()?)
        });
        let mut gaps = Vec::new();
        for seed in seeds.unwrap_or(0..60) {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            // The names decide which member gets which unit.
            NAMES.set(seed * 104_729);
            match runtime.block_on(run(seed)) {
                Ok(more) => gaps.extend(more),
                Err((what, history)) => panic!("seed {seed}: {what}\n{}", history.join("\n")),
            }
        }
        gaps.sort();
        let at = |part: usize| gaps[(gaps.len() - 1) * part / 100];
        assert!(gaps.len() > 100, "units changed hands {} times", gaps.len());
        assert!(at(50) < Duration::from_secs(10), "half of the hand-overs took longer than {:?}", at(50));
    }
}
