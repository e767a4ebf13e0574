//! A model of an installation: members, units and a database with measured service times, in virtual time.
//!
//! Changes come by chance, evenly over the units. A unit has workers. A worker takes all waiting changes, up to a batch, needs time on a
//! core of its member, then on a core of the database, and waits for the round trips of a transaction. The constants are checked against
//! `members`, which measures; docs/scaling.md has both.

use anyhow::{Result, ensure};
use clap::Args;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Args, Clone)]
pub(crate) struct Scale {
    /// Objects in the cluster.
    #[arg(long, default_value_t = 50_000_000)]
    objects: u64,
    /// Changes in a second.
    #[arg(long, default_value_t = 10_000.0)]
    changes: f64,
    /// Kilobytes of JSON of an object.
    #[arg(long, default_value_t = 4.9)]
    kilobytes: f64,
    /// Members.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    members: u32,
    /// Units: kinds times their shards.
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    units: u32,
    /// Shards of the kind that has most objects.
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    shards: u32,
    /// The API server sends each unit only its own shard.
    #[arg(long)]
    server_shards: bool,
    /// `concurrentReconciles`: workers of a unit.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    workers: u32,
    /// `maxOpenConns`: connections of a member.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Cores of each member.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    cores: u32,
    /// Cores of the database.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    database_cores: u32,
    /// Milliseconds of a round trip to the database.
    #[arg(long, default_value_t = 0.5)]
    round_trip: f64,
    /// The member's CPU time for an object, in microseconds.
    #[arg(long, default_value_t = OBJECT)]
    object_cpu: f64,
    /// The database's CPU time for a row, in microseconds.
    #[arg(long, default_value_t = ROW)]
    row_cpu: f64,
    /// The database's CPU time for a transaction, in microseconds.
    #[arg(long, default_value_t = TRANSACTION)]
    transaction_cpu: f64,
    /// Seconds of changes that are simulated.
    #[arg(long, default_value_t = 120.0)]
    seconds: f64,
    /// `replicas.leaseDuration`, in seconds: how long the units of a dead member wait for another.
    #[arg(long, default_value_t = 15.0)]
    lease: f64,
    /// The seed of what comes by chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

// Measured on one machine, on MariaDB with durable settings, for objects of 4.9 KB with four labels and four annotations each.
/// The member's CPU time for an object: `live`, first fill.
const OBJECT: f64 = 65.0;
/// The database's CPU time for a row and its companions: `live`, first fill.
const ROW: f64 = 280.0;
/// The cost of a transaction in addition to its rows: `store`, one object compared with many.
const TRANSACTION: f64 = 400.0;
/// The member's CPU time for an object of another one's shard, which it drops: `members`, a million in three shards compared with one.
const DROPPED: f64 = 7.0;
/// The time for an object of a restart with nothing changed: metadata and the rows' versions (`synthetic`, a million).
const RESTART: f64 = 9.1;
/// Round trips of a transaction of a batch: versions, rows, companions, commit.
const ROUND_TRIPS: f64 = 6.0;
/// The most objects of a transaction.
const BATCH: usize = 256;
/// A member's memory without objects, in MB: code, connections, what was read and is not written.
const MEMORY: f64 = 50.0;
/// The memory for an object that it remembers, in bytes.
const REMEMBERED: f64 = 45.0;
/// The size of a row on the database's disk in addition to its JSON and protobuf, with keys and companions, in kilobytes.
const ON_DISK: f64 = 2.0;
/// How long the list of a Lease's change may take, in seconds.
const RETRY: f64 = 2.0;

pub(crate) fn run(scale: &Scale) -> Result<()> {
    ensure!(scale.units >= scale.members, "{} members have nothing to do with {} units", scale.members, scale.units);
    ensure!(scale.changes > 0.0 && scale.seconds > 0.0, "there have to be changes and seconds");
    let Scale { objects, changes, members, units, .. } = *scale;
    let copies = if scale.server_shards { 1.0 } else { f64::from(scale.shards) };
    println!(
        "{objects} objects of {} KB, {changes} changes a second, {members} members, {units} units",
        scale.kilobytes
    );

    let fill = Installation::new(scale, Load::Backlog).run(None);
    let rate = fill.rows as f64 / fill.end;
    println!("first fill: {rate:.0} rows/s, {}", duration(objects as f64 / rate));
    let largest = objects as f64 / f64::from(units) * f64::from(units.div_ceil(members));
    println!("restart of all, nothing changed: {}", duration(largest * RESTART / 1e6 * (1.0 + (copies - 1.0) / 8.0)));

    let steady = Installation::new(scale, Load::Steady).run(None);
    println!(
        "steady: {} of {} changes were written in {} s; the database is busy {:.0} %, the members {:.0} %",
        steady.rows,
        steady.came,
        scale.seconds,
        100.0 * steady.database,
        100.0 * steady.members
    );
    println!("  from change to row: {}", steady.lags());
    if members > 1 {
        let death = Installation::new(scale, Load::Steady).run(Some(scale.seconds / 4.0));
        println!("  a member dies: {}", death.lags());
    }
    println!("  at most: {:.0} changes/s, for which the {} are the limit", fill_rate(scale), limit(scale));
    println!("API server sends: {:.1} MB/s of changes", changes * scale.kilobytes * copies / 1000.0);
    let held = objects as f64 / f64::from(units) * f64::from(units.div_ceil(members));
    println!("memory of a member: {:.0} MB", MEMORY + held * REMEMBERED / 1e6);
    let disk = objects as f64 * (scale.kilobytes * 1.6 + ON_DISK) / 1e6;
    println!("the database's disk: {disk:.0} GB");
    Ok(())
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// Rows that cores alone allow in a second: of the database, and of the members.
fn bounds(scale: &Scale) -> [f64; 2] {
    let row = scale.row_cpu + scale.transaction_cpu / BATCH as f64;
    let dropped = if scale.server_shards { 0.0 } else { (f64::from(scale.shards) - 1.0) * DROPPED };
    let cores = f64::from(scale.members * scale.cores);
    [f64::from(scale.database_cores) * 1e6 / row, cores * 1e6 / (scale.object_cpu + dropped)]
}

fn fill_rate(scale: &Scale) -> f64 {
    let [database, members] = bounds(scale);
    database.min(members)
}

fn limit(scale: &Scale) -> &'static str {
    let [database, members] = bounds(scale);
    if database < members { "database's cores" } else { "members' cores" }
}

/// The arrival of changes.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    /// Everything at once.
    Backlog,
    /// At random times, this many per second.
    Steady,
}

/// How many changes of a backlog are simulated.
const BACKLOG: u64 = 400_000;

/// Cores that take what comes, one after the other: when each is free again.
struct Cores {
    free: BinaryHeap<Reverse<Time>>,
    busy: f64,
}

impl Cores {
    fn new(count: u32) -> Self {
        Cores { free: (0..count).map(|_| Reverse(Time(0.0))).collect(), busy: 0.0 }
    }

    /// When work that comes now is done.
    fn done(&mut self, now: f64, work: f64) -> f64 {
        let free = self.free.pop().map_or(now, |Reverse(Time(free))| free);
        let done = free.max(now) + work;
        self.free.push(Reverse(Time(done)));
        self.busy += work;
        done
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Batch {
    unit: usize,
    member: usize,
    /// When each of its changes came.
    changes: Vec<f64>,
}

enum Event {
    Change,
    /// A member has made rows of a batch.
    Prepared(Batch),
    Written(Batch),
    Dies(usize),
    /// Others take over what it had.
    TakenOver(Vec<usize>),
    /// The new holder of a unit has listed.
    Listed(usize),
}

struct UnitState {
    member: Option<usize>,
    listing: bool,
    waiting: VecDeque<f64>,
    busy: u32,
}

/// One run.
struct Installation<'s> {
    scale: &'s Scale,
    load: Load,
    now: f64,
    events: BinaryHeap<Reverse<(Time, u64)>>,
    scheduled: std::collections::HashMap<u64, Event>,
    number: u64,
    units: Vec<UnitState>,
    /// Cores and used connections of each member; `None` if it is dead.
    members: Vec<Option<(Cores, u32)>>,
    database: Cores,
    dice: u64,
    outcome: Outcome,
}

#[derive(Default)]
struct Outcome {
    came: u64,
    rows: u64,
    end: f64,
    lags: Vec<f64>,
    /// The busy part of the cores.
    database: f64,
    members: f64,
}

impl Outcome {
    fn lags(&self) -> String {
        let mut lags = self.lags.clone();
        lags.sort_by(f64::total_cmp);
        let at = |part: f64| lags.get(((lags.len() as f64 * part) as usize).min(lags.len().saturating_sub(1)));
        let text = |part: f64| at(part).map_or_else(|| "none".to_owned(), |lag| format!("{:.1} ms", lag * 1000.0));
        format!("p50 {}, p99 {}, max {}", text(0.5), text(0.99), text(1.0))
    }
}

impl<'s> Installation<'s> {
    fn new(scale: &'s Scale, load: Load) -> Self {
        let members = scale.members as usize;
        let unit = |unit: u32| UnitState {
            member: Some(unit as usize % members),
            listing: false,
            waiting: VecDeque::new(),
            busy: 0,
        };
        Installation {
            scale,
            load,
            now: 0.0,
            events: BinaryHeap::new(),
            scheduled: Default::default(),
            number: 0,
            units: (0..scale.units).map(unit).collect(),
            members: (0..members).map(|_| Some((Cores::new(scale.cores), 0))).collect(),
            database: Cores::new(scale.database_cores),
            dice: scale.seed,
            outcome: Outcome::default(),
        }
    }

    /// A number from 0 to before 1 (SplitMix64).
    fn random(&mut self) -> f64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.dice;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn at(&mut self, time: f64, event: Event) {
        self.number += 1;
        self.scheduled.insert(self.number, event);
        self.events.push(Reverse((Time(time), self.number)));
    }

    fn run(mut self, death: Option<f64>) -> Outcome {
        match self.load {
            Load::Backlog => {
                for place in 0..BACKLOG {
                    let unit = (place % u64::from(self.scale.units)) as usize;
                    self.units[unit].waiting.push_back(0.0);
                }
                self.outcome.came = BACKLOG;
                for unit in 0..self.units.len() {
                    self.work(unit);
                }
            }
            Load::Steady => self.at(0.0, Event::Change),
        }
        if let Some(time) = death {
            self.at(time, Event::Dies(0));
        }
        while let Some(Reverse((Time(time), number))) = self.events.pop() {
            self.now = time;
            if let Some(event) = self.scheduled.remove(&number) {
                self.handle(event);
            }
        }
        // The time over which the cores' load counts: while changes came, or until everything was written.
        let lasted = if self.load == Load::Steady { self.scale.seconds.max(self.now) } else { self.now };
        let members: f64 = self.members.iter().flatten().map(|(cores, _)| cores.busy).sum();
        let cores = f64::from(self.scale.cores) * self.members.iter().flatten().count() as f64;
        self.outcome.members = members / cores / lasted;
        self.outcome.database = self.database.busy / f64::from(self.scale.database_cores) / lasted;
        self.outcome.end = self.now;
        self.outcome
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Change => {
                let unit = (self.random() * self.units.len() as f64) as usize;
                self.units[unit].waiting.push_back(self.now);
                self.outcome.came += 1;
                let next = self.now - (1.0 - self.random()).ln() / self.scale.changes;
                if next < self.scale.seconds {
                    self.at(next, Event::Change);
                }
                self.work(unit);
            }
            Event::Prepared(batch) => {
                let work = self.scale.transaction_cpu + self.scale.row_cpu * batch.changes.len() as f64;
                let trips = ROUND_TRIPS * self.scale.round_trip / 1000.0;
                let done = self.database.done(self.now + trips / 2.0, work / 1e6) + trips / 2.0;
                self.at(done, Event::Written(batch));
            }
            Event::Written(batch) => {
                let Batch { unit, member, changes } = batch;
                if let Some((_, connections)) = &mut self.members[member] {
                    *connections -= 1;
                }
                // Changes that a dead member had sent are still committed; if not, the next one writes them.
                self.outcome.rows += changes.len() as u64;
                self.outcome.lags.extend(changes.iter().map(|came| self.now - came));
                if self.units[unit].member == Some(member) {
                    self.units[unit].busy -= 1;
                }
                // A connection may be what others have waited for.
                for unit in 0..self.units.len() {
                    if self.units[unit].member == Some(member) {
                        self.work(unit);
                    }
                }
            }
            Event::Dies(member) => {
                self.members[member] = None;
                let orphans: Vec<usize> =
                    (0..self.units.len()).filter(|unit| self.units[*unit].member == Some(member)).collect();
                for unit in &orphans {
                    let state = &mut self.units[*unit];
                    (state.member, state.busy) = (None, 0);
                }
                let found = self.now + self.scale.lease + self.random() * RETRY;
                self.at(found, Event::TakenOver(orphans));
            }
            Event::TakenOver(orphans) => {
                let living: Vec<usize> =
                    (0..self.members.len()).filter(|member| self.members[*member].is_some()).collect();
                let of_unit = self.scale.objects as f64 / self.units.len() as f64;
                let mut ready = vec![self.now; self.members.len()];
                for (place, unit) in orphans.into_iter().enumerate() {
                    let member = living[place % living.len()];
                    (self.units[unit].member, self.units[unit].listing) = (Some(member), true);
                    // Lists share the member's cores.
                    ready[member] += of_unit * RESTART / 1e6 / f64::from(self.scale.cores);
                    self.at(ready[member], Event::Listed(unit));
                }
            }
            Event::Listed(unit) => {
                self.units[unit].listing = false;
                self.work(unit);
            }
        }
    }

    /// Lets idle workers of a unit take what waits.
    fn work(&mut self, unit: usize) {
        loop {
            let state = &mut self.units[unit];
            let Some(member) = state.member.filter(|_| !state.listing) else { return };
            let Some((cores, connections)) = &mut self.members[member] else { return };
            if state.waiting.is_empty() || state.busy == self.scale.workers || *connections == self.scale.connections {
                return;
            }
            let count = state.waiting.len().min(BATCH);
            let changes: Vec<f64> = state.waiting.drain(..count).collect();
            state.busy += 1;
            *connections += 1;
            // For each change of its own, a member drops the changes of the other shards.
            let dropped = if self.scale.server_shards { 0.0 } else { f64::from(self.scale.shards) - 1.0 };
            let cpu = (self.scale.object_cpu + dropped * DROPPED) * changes.len() as f64 / 1e6;
            let done = cores.done(self.now, cpu);
            self.at(done, Event::Prepared(Batch { unit, member, changes }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Installation, Load, Outcome, Scale};
    use clap::Parser;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        scale: Scale,
    }

    fn scale(arguments: &[&str]) -> Scale {
        CommandLine::parse_from([&["scale"], arguments].concat()).scale
    }

    fn run(scale: &Scale, load: Load, death: Option<f64>) -> Outcome {
        Installation::new(scale, load).run(death)
    }

    fn most(outcome: &Outcome) -> f64 {
        outcome.lags.iter().copied().fold(0.0, f64::max)
    }

    #[test]
    fn a_database_of_one_core_is_the_limit_of_a_fill() {
        let scale = scale(&["--database-cores=1", "--row-cpu=500", "--transaction-cpu=0", "--server-shards"]);
        let fill = run(&scale, Load::Backlog, None);
        let rate = fill.rows as f64 / fill.end;
        assert!((1990.0..=2000.0).contains(&rate), "{rate} rows a second");
        assert!(fill.database > 0.99, "{} busy", fill.database);
    }

    #[test]
    fn where_answers_are_late_three_members_are_three_times_as_fast() {
        // One connection of each is the limit.
        let rate = |members: &str| {
            let late = ["--round-trip=100", "--connections=1", "--server-shards", "--units=12", members];
            let fill = run(&scale(&late), Load::Backlog, None);
            fill.rows as f64 / fill.end
        };
        let speedup = rate("--members=3") / rate("--members=1");
        assert!((2.9..=3.1).contains(&speedup), "{speedup}");
    }

    #[test]
    fn every_change_is_written_though_a_member_dies() {
        let scale = scale(&["--changes=500", "--seconds=60", "--objects=100000", "--server-shards"]);
        let quiet = run(&scale, Load::Steady, None);
        let death = run(&scale, Load::Steady, Some(20.0));
        for outcome in [&quiet, &death] {
            assert_eq!(outcome.rows, outcome.came);
            assert!((28_000..32_000).contains(&outcome.came), "{}", outcome.came);
        }
        assert!(most(&quiet) < 0.1, "{}", most(&quiet));
        assert!((15.0..20.0).contains(&most(&death)), "{}", most(&death));
    }
}
