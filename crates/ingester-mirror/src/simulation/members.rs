//! Ingesters that share the work: the real members and supervisors, with Leases that the API server's model keeps. They are killed, frozen
//! and cut off from the API server like everything else here, and they write rows as the mirror does. A frozen ingester sends and hears
//! nothing; requests that it had decided on are sent when it wakes.

use super::kinds::MODEL;
use super::policies;
use super::world::{Client, Fate, Service, Sim, World};
use crate::follow::panic_of;
use crate::health::Health;
use crate::metrics::Metrics;
use crate::part::{PartOfCluster, PartOfRows};
use crate::replicas::{Assignment, FreezeDeadline, LeaseError, Leases, Membership, Record, freezable};
use crate::suspend::Suspension;
use crate::sync::supervise;
use crate::unit::{Scope, Unit, scopes};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::{Config, Replicas};
use ingester_store::RowChange;
use k8s_openapi::jiff::Timestamp;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One in this many seeds has members.
const SEEDS: u64 = 7;

/// The longest duration of a freeze or a cut, in milliseconds: some are shorter and some longer than a Lease lasts.
const TROUBLE: u64 = 40_000;

/// How long the program waits for its member to leave.
const LEAVE: Duration = Duration::from_secs(3);

/// Returns true if the ingesters of a seed share the work.
pub(super) fn are_in(seed: u64) -> bool {
    seed % SEEDS == 3
}

thread_local! {
    /// The names of members come from the seed, too: they decide which member gets which unit.
    static NAMES: Cell<u64> = const { Cell::new(0) };
}

fn name() -> String {
    let number = NAMES.get();
    NAMES.set(number + 1);
    // The order of the names must differ from the order of the starts.
    format!("{:08x}", (number.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995) & 0xffff_ffff)
}

/// A time of day that is five seconds fast or slow.
fn time_of_day() -> Timestamp {
    let off = i64::try_from(NAMES.get() * 7919 % 10_001).unwrap_or_default() - 5000;
    Timestamp::from_millisecond(off).unwrap_or_default()
}

/// The Leases of an API server.
#[derive(Default)]
pub(super) struct KeptLeases {
    leases: BTreeMap<String, Record>,
    versions: u64,
    changed: Arc<Notify>,
}

impl KeptLeases {
    fn store(&mut self, record: Record) -> Record {
        self.versions += 1;
        let stored = Record { uid: record.name.clone(), version: self.versions.to_string(), ..record };
        self.leases.insert(stored.name.clone(), stored.clone());
        self.changed.notify_waiters();
        stored
    }

    /// Checks that it has this version of a Lease.
    fn check(&self, record: &Record) -> Result<(), LeaseError> {
        match self.leases.get(&record.name) {
            None => Err(LeaseError::Gone),
            Some(stored) if stored.version != record.version => Err(LeaseError::Conflict),
            Some(_) => Ok(()),
        }
    }
}

/// The rows that were sent to the database.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) rows: usize,
    /// The number of these that another ingester had sent before.
    pub(super) twice: usize,
}

/// The ingester that sent each state of a row.
#[derive(Default)]
pub(super) struct RowSenders {
    pub(super) tally: Tally,
    by: HashMap<SentState, usize>,
}

/// The state of a row: its object and version, the definition that wrote it, and whether it is deleted or evicted.
type SentState = (Box<str>, u64, u32, bool, bool);

impl World {
    /// Checks that no other member may write for a unit when this one is about to.
    pub(super) fn works(&mut self, member: usize, unit: &str) {
        let others = self.ingesters.iter().enumerate().filter(|(other, ingester)| {
            let holds = |assignment: &Assignment| assignment.is_valid() && assignment.running().contains(unit);
            *other != member && !ingester.elsewhere && ingester.assignment.as_ref().is_some_and(holds)
        });
        let others: Vec<String> = others.map(|(other, _)| format!("i{other}")).collect();
        if !others.is_empty() && !self.ingesters[member].elsewhere {
            self.violate(format!("a unit has one holder at most: i{member} and {} have {unit}", others.join(", ")));
        }
    }

    /// Counts what a member has sent to the database.
    pub(super) fn sent(&mut self, member: usize, changes: &[RowChange]) {
        for change in changes {
            if let RowChange::Row(row) | RowChange::Replacement { row, .. } = change {
                let version = row.version();
                let state = (row.uid.clone(), row.res_version, row.ingest_version, version.deleted, version.evicted());
                self.sent.tally.rows += 1;
                let before = self.sent.by.insert(state, member);
                self.sent.tally.twice += usize::from(before.is_some_and(|before| before != member));
            }
        }
    }

    /// Returns the violation at rest.
    pub(super) fn members_at_rest(&self) -> Option<String> {
        let shards = self.shards?;
        let names = scopes(&[MODEL], &config(Config::default(), shards)).into_iter().map(|scope| scope.name());
        let holders = |unit: &str| {
            let holds = |assignment: &&Assignment| assignment.is_valid() && assignment.running().contains(unit);
            self.ingesters.iter().filter_map(|ingester| ingester.assignment.as_ref()).filter(holds).count()
        };
        names
            .map(|unit| (holders(&unit), unit))
            .find(|(holders, _)| *holders != 1)
            .map(|(holders, unit)| format!("each unit has one holder: {unit} has {holders}"))
    }
}

/// The configuration of a member that shares the work.
pub(super) fn config(mut config: Config, shards: u32) -> Config {
    config.ingester.replicas = Replicas { enabled: true, shards, ..Replicas::default() };
    config
}

/// Begins a simulation with members.
pub(super) fn begin(seed: u64) {
    NAMES.set(seed.wrapping_mul(104_729) & 0xffff_ffff);
}

/// Runs one life of a member, until it must stop. An error is the message of a panic.
pub(super) async fn live(client: Client, unit: Unit, stop: CancellationToken) -> Result<(), String> {
    let config = unit.config();
    let assignment = Assignment::of_members();
    let heard = client.sim.world().reports.metrics.clone();
    let metrics = match heard.map_or_else(Metrics::new, Ok) {
        Ok(metrics) => metrics,
        Err(error) => return Err(error.to_string()),
    };
    let parts = scopes(&[client.kind], &config);
    let health = Health::new(parts.iter().map(Scope::name).collect::<Vec<_>>().iter().map(String::as_str));
    let frozen = {
        let mut world = client.sim.world();
        let state = &mut world.ingesters[client.ingester];
        (state.assignment, state.health) = (Some(assignment.clone()), Some(health.clone()));
        state.frozen = FreezeDeadline::default();
        state.frozen.clone()
    };
    let member = Membership {
        leases: Arc::new(client.clone()),
        group: "g".into(),
        holder: client.name(),
        serves: parts.iter().map(Scope::name).collect(),
        definitions: String::new(),
        config: config.ingester.replicas.clone(),
        assignment: assignment.clone(),
        metrics: metrics.replicas(),
        health: health.clone(),
        time_of_day,
        names: name,
    };
    let suspension = Suspension::new(&[client.kind], &config, &metrics);
    let left = CancellationToken::new();
    let mut members = JoinSet::new();
    let mut units = JoinSet::new();
    members.spawn(freezable(frozen.clone(), member.run(left.clone())));
    for part in &parts {
        let shard = part.shard;
        let assignment = assignment.clone();
        let whole = Arc::new(Client { unit: part.name().into(), ..client.clone() });
        let unit = Unit {
            shard,
            cluster: Arc::new(PartOfCluster { whole: whole.clone(), shard, assignment: assignment.clone() }),
            rows: Arc::new(PartOfRows { whole, shard, assignment: assignment.clone() }),
            live: policies::live(&mut client.sim.world(), (*config).clone()),
            metrics: metrics.controller(client.kind.name()),
            health: health.clone(),
            stop: stop.child_token(),
            exit: stop.clone(),
            ..unit.clone()
        };
        units.spawn(freezable(frozen.clone(), supervise(unit, assignment, suspension.clone())));
    }
    while let Some(ended) = units.join_next().await {
        ended.map_err(panic_of)?;
    }
    // In the same order as the program: the units end first, then the member leaves.
    left.cancel();
    match tokio::time::timeout(LEAVE, members.join_next()).await {
        Ok(Some(Err(error))) => Err(panic_of(error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Brings troubles to the members, until the time of trouble is over.
pub(super) async fn befall(sim: Sim, seed: u64) {
    // Separate random numbers, so that this changes nothing else.
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x6d65_6d62);
    while !sim.world().calm {
        tokio::time::sleep(Duration::from_millis(rng.u64(1..20_000))).await;
        let mut world = sim.world();
        let member = rng.usize(..world.ingesters.len());
        let millis = rng.u64(1..TROUBLE);
        let until = Instant::now() + Duration::from_millis(millis);
        match rng.u32(..3) {
            _ if world.calm => {}
            0 => {
                world.note("world", &format!("i{member} is frozen for {millis} ms"));
                world.ingesters[member].frozen.until(until);
                // Its pauses end meanwhile.
                world.pace.learns(member, None, until);
            }
            1 => {
                world.note("world", &format!("i{member} is cut off from the API server for {millis} ms"));
                world.ingesters[member].cut_off = Some(until);
            }
            _ => {}
        }
    }
}

/// Watches for panics of controllers. Their supervisors would start them again.
pub(super) async fn watch_panics(sim: Sim) {
    loop {
        tokio::time::sleep(Duration::from_millis(400)).await;
        let mut world = sim.world();
        let checks = world.ingesters.iter().filter_map(|ingester| ingester.health.as_ref()).flat_map(Health::readiness);
        let panicked: Option<String> = checks.map(|check| check.to_string()).find(|check| check.contains("panicked"));
        if let Some(panicked) = panicked {
            world.violate(panicked);
            drop(world);
            return sim.report();
        }
    }
}

impl Client {
    /// Sends a request about Leases to the API server. It takes effect even if the sender is killed meanwhile.
    fn ask<T: Send + 'static>(
        &self,
        effect: impl FnOnce(&mut KeptLeases) -> Result<T, LeaseError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, LeaseError>> {
        async move {
            self.thawed().await;
            let Fate { before, after, fails, is_lost, kills } = self.fate(Service::ApiServer);
            let client = self.clone();
            let done = tokio::spawn(async move {
                tokio::time::sleep(before).await;
                let done = {
                    let mut world = client.sim.world();
                    if kills == Some(true) {
                        world.kill(client.ingester, client.life);
                    }
                    let done = if fails {
                        Err(LeaseError::Failed("no route".into()))
                    } else if world.server_of(client.ingester).is_down() {
                        Err(LeaseError::Failed("the API server is down".into()))
                    } else {
                        effect(world.leases_of(client.ingester))
                    };
                    if kills == Some(false) {
                        world.kill(client.ingester, client.life);
                    }
                    done
                };
                tokio::time::sleep(after).await;
                if is_lost { Err(LeaseError::Failed("the answer is lost".into())) } else { done }
            });
            let done = done.await.unwrap_or_else(|error| Err(LeaseError::Failed(error.to_string())));
            self.thawed().await;
            done
        }
        .boxed()
    }
}

impl Leases for Client {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>> {
        self.ask(|kept| Ok(kept.leases.values().cloned().collect()))
    }

    fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        let record = record.clone();
        self.ask(move |kept| match kept.leases.contains_key(&record.name) {
            true => Err(LeaseError::Conflict),
            false => Ok(kept.store(record)),
        })
    }

    fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
        let record = record.clone();
        self.ask(move |kept| kept.check(&record).map(|()| kept.store(record)))
    }

    fn delete<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), LeaseError>> {
        let record = record.clone();
        self.ask(move |kept| {
            kept.check(&record)?;
            kept.leases.remove(&record.name);
            kept.changed.notify_waiters();
            Ok(())
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        async {
            let changed = self.sim.world().leases_of(self.ingester).changed.clone();
            changed.notified().await;
            // Unlike the real server, renewals wake every member, too. Some changes are missed.
            tokio::time::sleep(Duration::from_millis(900)).await;
        }
        .boxed()
    }
}
