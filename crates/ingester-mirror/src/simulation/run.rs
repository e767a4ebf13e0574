//! One run: ingesters that are started, killed and started again, a time of trouble, and then rest.

use super::api_server::NAMESPACES;
use super::checks;
use super::database::{CALM_FILTER_LIMIT, FILTER_LIMIT};
use super::dependents::PART;
use super::kinds::{MODEL, NARROWER, NEWER, WIDER, evictable};
use super::members::{self, Tally};
use super::policies;
use super::retention;
use super::seeds::is_kept;
use super::things::FakeObject;
use super::troubles::{ExtraTroubles, Troubles};
use super::users::{self, SWEEP_LIMIT};
use super::world::{Client, LONG, Sim};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::dependents::MirroredKinds;
use crate::events::Publisher;
use crate::follow::{Follower, panic_of};
use crate::health::Health;
use crate::metrics::{ControllerMetrics, Metrics};
use crate::replicas::shard::Shard;
use crate::unit::Unit;
use ingester_config::{Config, Finalizer, Ingester, Spool, SweepLimit};
use ingester_core::value::Micros;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The time after the trouble by which everything must be in order.
const REST: Duration = Duration::from_secs(900);

/// The time for which it must stay so.
const STAYS: Duration = Duration::from_secs(70);

/// The number of requests that an ingester may make within [`STAYS`] for each namespace when nothing happens, and the additional number for
/// each object.
const REQUESTS: (usize, usize) = (40, 40);

/// The additional number for an object that may not be deleted or whose finalizers may not be changed, because that is tried repeatedly.
const REFUSED: usize = 20;

/// The number of rounds of rules that are judged within [`STAYS`].
const ROUNDS: usize = 10;

/// The number of requests in a round of rules about rows, or about objects with dependents: the time, the premise, marks before and after,
/// a snapshot with its proof, pages with the results of other rules for them, and the pending rows of each of two rules.
const JUDGED: usize = 13;

/// The number of requests in a round of the rule about objects: the premise, a snapshot, the pending rows, a proof of the objects that
/// stay, the recent evictions, and a proof of the objects that leave.
const CHOSEN: usize = 6;

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    /// The violation.
    pub(crate) violation: Option<String>,
    pub(crate) history: Vec<String>,
    pub(super) requests: usize,
    /// The rows that members sent to the database.
    pub(super) tally: Tally,
    /// The number of rows that rules met while they could not judge them.
    pub(super) pending: usize,
}

thread_local! {
    static METRICS: ControllerMetrics = match Metrics::new() {
        Ok(metrics) => metrics.controller(MODEL.kind()),
        Err(error) => panic!("{error}"),
    };
}

/// Runs one seed. The same seed gives the same history.
pub(crate) fn run(seed: u64) -> RunOutcome {
    // The pauses of `backon` are random, too.
    fastrand::seed(seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => panic!("{error}"),
    };
    runtime.block_on(async {
        let mut rng = fastrand::Rng::with_seed(!seed);
        let more = if is_kept(seed) { ExtraTroubles::default() } else { ExtraTroubles::from_seed(seed) };
        let ingesters = rng.usize(1..=3);
        let troubles = Troubles::from_seed(seed, &mut rng, more);
        let shards = members::are_in(seed).then(|| 1 + (seed / 7 % 2) as u32);
        let ingesters = if shards.is_some() { ingesters.max(2) } else { ingesters };
        // Two concurrent ingesters would disagree about the filter.
        let ingesters = if more.filters { 1 } else { ingesters };
        let sim = Sim::new(seed, ingesters, troubles);
        {
            let mut world = sim.world();
            let weather = world.weather;
            world.note("world", &format!("seed {seed}: {ingesters} ingesters, {weather:?}, {troubles:?}"));
            users::begin(&mut world);
            world.shards = shards;
        }
        let setup = Setup {
            deletion_delay: Duration::from_secs([0, 2, 10][rng.usize(..3)]),
            kills: [None, Some(60_000), Some(15_000)][rng.usize(..3)].or(more.filters.then_some(60_000)),
            // Rules meet rows of another release.
            releases: rng.bool() || more.rules || more.policies,
            clusters: troubles.clusters,
            more,
            resyncs: !troubles.unaided,
            settle: Duration::from_secs(if seed / 3 % 5 == 4 && !is_kept(seed) { 5 } else { 0 }),
            shards,
            spool_limit: if seed.is_multiple_of(2) { 600 } else { 1 << 20 },
        };
        if shards.is_some() {
            members::begin(seed);
            tokio::spawn(members::befall(sim.clone(), seed));
            tokio::spawn(members::watch_panics(sim.clone()));
        }
        if more.owners {
            tokio::spawn(users::collect(sim.clone()));
        }
        if more.lingers {
            tokio::spawn(users::end_lingering(sim.clone()));
        }
        if more.switches {
            tokio::spawn(policies::switch(sim.clone(), seed));
        }
        if more.forbidden || more.ghosts {
            sim.world().reports.metrics = Metrics::new().ok();
        }
        for ingester in 0..ingesters {
            tokio::spawn(ingest(sim.clone(), ingester, setup));
        }
        tokio::select! {
            biased;
            () = sim.violated.notified() => {}
            () = all(&sim, troubles) => {}
        }
        let mut world = sim.world();
        RunOutcome {
            violation: world.violation.take(),
            history: std::mem::take(&mut world.history),
            requests: world.requests,
            tally: world.sent.tally,
            pending: world.judged.pending.len(),
        }
    })
}

async fn all(sim: &Sim, troubles: Troubles) {
    users::act(sim.clone(), troubles).await;
    // Let the requests that have begun end.
    tokio::time::sleep(Duration::from_secs(20)).await;
    while sim.world().lost {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let slow = {
        let mut world = sim.world();
        world.calm = true;
        world.note("world", "calm");
        for ingester in 0..world.ingesters.len() {
            if troubles.clusters || troubles.more.filters {
                let life = world.ingesters[ingester].life;
                world.ingesters[ingester].misled = false;
                world.kill(ingester, life);
            }
        }
        world.weather.slow > 0
    };
    if slow {
        tokio::time::sleep(LONG).await;
    }
    let (requests, before) = loop {
        if let Err(wrong) = rests(sim).await {
            return sim.world().violate(format!("at rest, {wrong}"));
        }
        let (requests, before, purged) = {
            let mut world = sim.world();
            world.asked.clear();
            (world.requests, world.server.things.len(), world.ghosts_purged)
        };
        tokio::time::sleep(STAYS).await;
        // Once a rule has purged the row of a ghost, the next list brings the object into SQL.
        if sim.world().ghosts_purged == purged {
            break (requests, before);
        }
    };
    let mut world = sim.world();
    if let Some(wrong) = checks::at_rest(&world) {
        world.violate(format!("at rest, no more: {wrong}"));
    }
    // Objects that leave in the meantime cause work, too.
    let requests = world.requests - requests;
    let objects = world.server.things.len().max(before);
    let namespaces = if world.more.namespaces { NAMESPACES.len() } else { 1 };
    let is_refused = |thing: &&FakeObject| thing.undeletable.is_some() || thing.unpatchable.is_some();
    let refused = world.server.things.values().filter(is_refused).count();
    let ExtraTroubles { rules, dependents, policies, .. } = world.more;
    let of_a_round =
        usize::from(rules) * JUDGED + usize::from(dependents) * namespaces * JUDGED + usize::from(policies) * CHOSEN;
    let rounds = ROUNDS * of_a_round;
    if requests > world.ingesters.len() * (namespaces * REQUESTS.0 + objects * REQUESTS.1 + refused * REFUSED + rounds)
    {
        let asked = std::mem::take(&mut world.asked);
        world.violate(format!("at rest, {requests} requests in {STAYS:?} for {objects} objects: {asked:?}"));
    }
}

/// Waits until everything is in order. Returns the first violation that is left after [`REST`].
async fn rests(sim: &Sim) -> Result<(), String> {
    let begin = Instant::now();
    loop {
        let Some(wrong) = checks::at_rest(&sim.world()) else { return Ok(()) };
        if begin.elapsed() > REST {
            return Err(wrong);
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// How the ingesters of a run are set up.
#[derive(Clone, Copy)]
struct Setup {
    deletion_delay: Duration,
    /// The longest life of an ingester, in milliseconds.
    kills: Option<u64>,
    /// There are two releases: each start uses one of them.
    releases: bool,
    /// There is trouble with clusters: each start asks which cluster it is, and the limit for sweeps is low.
    clusters: bool,
    more: ExtraTroubles,
    /// Rows are compared from time to time.
    resyncs: bool,
    /// The time for which changes are gathered.
    settle: Duration,
    /// The number of shards of the kind, if the ingesters share the work.
    shards: Option<u32>,
    /// The size of the temporary file: some have room for few objects.
    spool_limit: u64,
}

/// Begins a life of an ingester, of a release that the seed chooses.
fn begin_life(sim: &Sim, ingester: usize, setup: Setup) -> Client {
    let mut world = sim.world();
    world.ingesters[ingester].life += 1;
    let misled = std::mem::take(&mut world.ingesters[ingester].misled);
    world.ingesters[ingester].elsewhere = misled;
    let newer = match setup.more.filters {
        true => world.ingesters[ingester].life > 1,
        false => !setup.releases || world.rng.bool(),
    };
    world.ingesters[ingester].newer = newer;
    world.note(&format!("i{ingester}"), if newer { "starts" } else { "starts, of the former release" });
    let [former, next] = if setup.more.filters { [WIDER, NARROWER] } else { [MODEL, NEWER] };
    let kind = evictable(if newer { next } else { former }, !setup.more.unevictable);
    world.ingesters[ingester].identified = !setup.clusters;
    let life = world.ingesters[ingester].life;
    let kinds = if setup.more.dependents { vec![kind, PART] } else { vec![kind] };
    let mirrored = MirroredKinds::new(kinds.into());
    Client { sim: sim.clone(), ingester, life, kind, unit: "".into(), namespace: None, mirrored }
}

/// Starts an ingester in a loop.
async fn ingest(sim: Sim, ingester: usize, setup: Setup) {
    let late = sim.world().up_to(3000);
    tokio::time::sleep(late).await;
    loop {
        let stop = CancellationToken::new();
        let client = begin_life(&sim, ingester, setup);
        if setup.clusters && !is_right_cluster(&client).await {
            continue;
        }
        if setup.more.tables {
            client.make_tables().await;
        }
        client.record_definition().await;
        if setup.more.filters && sim.world().calm && !sim.world().ingesters[ingester].newer {
            // There was no time for a first life.
            continue;
        }
        let backfilling = tokio::spawn(client.clone().backfill());
        let retaining = setup.more.retention.then(|| tokio::spawn(client.clone().retain()));
        let purging = setup.more.rules.then(|| tokio::spawn(client.clone().apply_rules()));
        let mut running = match setup.shards {
            None => tokio::spawn(follow(client.clone(), setup, stop.clone())),
            Some(_) => {
                let unit = unit(&client, setup, stop.clone());
                tokio::spawn(members::live(client.clone(), unit, stop.clone()))
            }
        };
        sim.world().ingesters[ingester].abort = Some(running.abort_handle());
        let end = match setup.kills {
            Some(longest) => sim.world().up_to(longest),
            None => Duration::MAX,
        };
        let ended = tokio::select! {
            biased;
            ended = &mut running => Some(ended),
            () = tokio::time::sleep(end) => None,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                let (calm, gently) = {
                    let mut world = sim.world();
                    (world.calm, world.rng.u32(..3) == 0)
                };
                if gently && !calm {
                    let mut world = sim.world();
                    world.note(&format!("i{ingester}"), "is stopped");
                    // It does not wait any more before it tries again.
                    world.pace.learns(ingester, None, Instant::now());
                    drop(world);
                    stop.cancel();
                } else if !calm {
                    sim.world().kill(ingester, client.life);
                }
                running.await
            }
        };
        backfilling.abort();
        for beside in retaining.into_iter().chain(purging) {
            beside.abort();
        }
        if let Ok(Err(reason)) = ended {
            sim.world().violate(format!("i{ingester} panicked: {reason}"));
            sim.report();
        }
        let pause = {
            let mut world = sim.world();
            let most = if world.calm { 10 } else { 5000 };
            world.up_to(most)
        };
        tokio::time::sleep(pause).await;
    }
}

/// Follows each unit, until they must stop. An error is the message of a panic.
async fn follow(client: Client, setup: Setup, stop: CancellationToken) -> Result<(), String> {
    let namespaces = if setup.more.namespaces { NAMESPACES.map(Some).to_vec() } else { vec![None] };
    let mut units = JoinSet::new();
    for namespace in namespaces {
        let client = Client { namespace, ..client.clone() };
        units.spawn(Follower::run(unit(&client, setup, stop.clone())));
    }
    while let Some(ended) = units.join_next().await {
        ended.map_err(panic_of)??;
    }
    Ok(())
}

/// Asks until both servers answer. A configuration that names another cluster is corrected.
async fn is_right_cluster(client: &Client) -> bool {
    loop {
        match client.is_own_database().await {
            Ok(true) => return true,
            Ok(false) => {
                let mut world = client.sim.world();
                world.note(&client.name(), "refuses to mirror another cluster");
                return false;
            }
            Err(()) => tokio::time::sleep(Duration::from_secs(5)).await,
        }
    }
}

fn unit(client: &Client, setup: Setup, stop: CancellationToken) -> Unit {
    // In the end, a person sees that the objects are really gone, and raises the limit.
    let low = setup.clusters && !client.sim.world().calm;
    let (metrics, publisher) = {
        let world = client.sim.world();
        match &world.reports.metrics {
            Some(metrics) => (metrics.controller(MODEL.kind()), publisher(&client.sim, metrics)),
            None => (METRICS.with(Clone::clone), Publisher::off()),
        }
    };
    let sim = client.sim.clone();
    let limit = match (setup.more.filters, client.sim.world().calm) {
        (true, false) => FILTER_LIMIT,
        (true, true) => CALM_FILTER_LIMIT,
        _ if low => SWEEP_LIMIT,
        _ => 1000,
    };
    let client = Arc::new(client.clone());
    let mut config = Config::default();
    config.metadata_storage.deletion_delay = setup.deletion_delay;
    config.ingester = Ingester {
        concurrent_reconciles: 2,
        requeue_period: Duration::from_secs(10),
        finalizer: Some(Finalizer::Ensure),
        resync_period: setup.resyncs.then_some(Duration::from_secs(40)),
        sweep_limit: SweepLimit::from_rows(limit),
        prune_managed_fields: false,
        settle: setup.settle,
        spool: Spool { limit: setup.spool_limit, ..config.ingester.spool },
        ..config.ingester
    };
    if setup.more.policies {
        config = policies::config(config);
    }
    if setup.more.dependents && setup.more.namespaces {
        config.ingester.namespaces = NAMESPACES.map(str::to_owned).to_vec();
    }
    if setup.more.rules {
        config.retention.rules = retention::rules(!setup.more.dry);
    }
    if let Some(shards) = setup.shards {
        config = members::config(config, shards);
    }
    Unit {
        kind: client.kind,
        namespace: client.namespace.map(Into::into),
        shard: Shard::WHOLE,
        selection: Arc::default(),
        mirrored: client.mirrored.clone(),
        cluster: client.clone(),
        rows: client.clone(),
        clock: client,
        memory: Budget::new(1 << 20).quota(),
        live: policies::live(&mut sim.world(), config),
        metrics,
        health: Health::new([]),
        publisher,
        stop: stop.clone(),
        exit: stop,
    }
}

/// A publisher whose Events the world receives.
fn publisher(sim: &Sim, metrics: &Metrics) -> Publisher {
    let sim = sim.clone();
    Publisher::telling(metrics, move |uid| {
        let mut world = sim.world();
        world.note("event", uid);
        world.reports.events.insert(uid.to_owned());
    })
}

impl Clock for Client {
    fn now(&self) -> Micros {
        let world = self.sim.world();
        if world.more.retention || world.more.rules {
            return world.database_time();
        }
        Micros(world.micros() + world.ingesters[self.ingester].clock)
    }
}
