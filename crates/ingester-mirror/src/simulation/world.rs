//! The world around the ingesters: one source of random numbers, one history, one time. Also the path of a request from an ingester to a
//! server.

use super::api_server::ApiServerModel;
use super::checks::Truth;
use super::database::Database;
use super::dependents::Parts;
use super::members::{KeptLeases, RowSenders};
use super::only_copy::OnlyCopies;
use super::pace::Pace;
use super::policies::{Snapshots, Switches};
use super::reports::Reports;
use super::retention::SnapshotResults;
use super::troubles::{ExtraTroubles, Troubles};
use crate::dependents::MirroredKinds;
use crate::health::Health;
use crate::replicas::{Assignment, FreezeDeadline};
use ingester_core::Kind;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The probability of each failure, in thousandths of requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weather {
    /// The API server, or the connection to it.
    pub(super) api_server: u32,
    pub(super) database: u32,
    /// An answer takes very long.
    pub(super) slow: u32,
    /// An admission webhook refuses a patch.
    pub(super) webhook: u32,
    /// A watch breaks, or goes silent.
    pub(super) watch: u32,
    /// The ingester is killed just before or after its request takes effect.
    pub(super) kill: u32,
}

impl Weather {
    /// Each seed has its own: most troubles alone or in pairs, sometimes all.
    pub(super) fn draw(rng: &mut fastrand::Rng) -> Self {
        let mut some = |rates: [u32; 4]| rates[rng.usize(..4)];
        Weather {
            api_server: some([0, 0, 20, 100]),
            database: some([0, 0, 30, 120]),
            slow: some([0, 0, 3, 20]),
            webhook: some([0, 0, 0, 100]),
            watch: some([0, 5, 20, 50]),
            kill: some([0, 0, 3, 10]),
        }
    }
}

impl Weather {
    /// Writes and patches succeed soon.
    fn without_resyncs(self) -> Self {
        // Many lists.
        Weather { database: 0, slow: 0, webhook: 0, watch: self.watch.max(50), ..self }
    }

    /// Ingesters hear of changes, and store them, within seconds.
    fn prompt(self) -> Self {
        Weather { database: 0, slow: 0, watch: 0, ..self }
    }
}

/// An ingester in the world.
#[derive(Default)]
pub(super) struct Ingester {
    /// Counts its starts.
    pub(super) life: u32,
    pub(super) abort: Option<AbortHandle>,
    /// The error of its clock, in microseconds.
    pub(super) clock: i64,
    /// It is the next release.
    pub(super) newer: bool,
    /// It started with a configuration that names another cluster, which has no objects.
    pub(super) elsewhere: bool,
    /// Its next life starts with such a configuration.
    pub(super) misled: bool,
    /// In this life it knows that the database belongs to its cluster.
    pub(super) identified: bool,
    /// The units that it may work on, if it shares the work.
    pub(super) assignment: Option<Assignment>,
    pub(super) health: Option<Health>,
    pub(super) frozen: FreezeDeadline,
    /// The time until which it does not reach the API server.
    pub(super) cut_off: Option<Instant>,
}

pub(super) struct World {
    pub(super) rng: fastrand::Rng,
    pub(super) more: ExtraTroubles,
    /// The random numbers of the further troubles.
    pub(super) dice: fastrand::Rng,
    pub(super) copies: OnlyCopies,
    pub(super) reports: Reports,
    begin: Instant,
    pub(super) history: Vec<String>,
    /// The time of trouble is over.
    pub(super) calm: bool,
    pub(super) weather: Weather,
    pub(super) server: ApiServerModel,
    /// The API server of another cluster.
    pub(super) other: ApiServerModel,
    /// The API server has lost all objects.
    pub(super) lost: bool,
    /// The rows that sweeps asked about since then, and true if they were marked as deleted.
    pub(super) swept: BTreeMap<String, bool>,
    pub(super) database: Database,
    /// Rows that a changed filter leaves out may be marked as deleted: they were counted, and are few enough.
    pub(super) filter_marks: bool,
    pub(super) truth: Truth,
    pub(super) pace: Pace,
    pub(super) snapshots: Snapshots,
    pub(super) switches: Switches,
    pub(super) judged: SnapshotResults,
    pub(super) ingesters: Vec<Ingester>,
    pub(super) violation: Option<String>,
    /// Requests so far, without those about Leases.
    pub(super) requests: usize,
    /// The number of times that each of them was sent since this map was last emptied, by key.
    pub(super) asked: BTreeMap<String, usize>,
    /// Rows that a rule has purged while their objects were there.
    pub(super) ghosts_purged: usize,
    /// The number of shards of the kind, if the ingesters share the work.
    pub(super) shards: Option<u32>,
    /// The rows that they then sent to the database.
    pub(super) sent: RowSenders,
    /// The objects of the suspended kind, in seeds with dependents.
    pub(super) parts: Parts,
}

/// The world, shared by everything in it.
#[derive(Clone)]
pub(super) struct Sim {
    world: Arc<Mutex<World>>,
    /// Signals a violation.
    pub(super) violated: Arc<Notify>,
}

impl Sim {
    pub(super) fn new(seed: u64, ingesters: usize, troubles: Troubles) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let weather = Weather::draw(&mut rng);
        let weather = if troubles.unaided { weather.without_resyncs() } else { weather };
        let weather = if troubles.more.dependents { weather.prompt() } else { weather };
        let prompt = weather.slow == 0 && weather.database == 0 && troubles.servers == 0 && !troubles.more.fills;
        let waits = match (prompt, troubles.more.failovers) {
            (false, _) => 120,
            // A worker waits for the database that takes over, and an arrival waits for the worker.
            (true, true) => 6,
            (true, false) => 1,
        };
        let mut dice = fastrand::Rng::with_seed(seed ^ 0x6469_6365);
        let world = World {
            more: troubles.more,
            copies: OnlyCopies::default(),
            reports: Reports::default(),
            begin: Instant::now(),
            history: Vec::new(),
            calm: false,
            weather,
            server: ApiServerModel::new("this", &mut rng),
            other: ApiServerModel::new("other", &mut fastrand::Rng::with_seed(seed)),
            lost: false,
            swept: BTreeMap::new(),
            database: Database::new(troubles.more, &mut dice),
            filter_marks: false,
            truth: Truth::default(),
            pace: Pace::new(Duration::from_secs(waits)),
            snapshots: Snapshots::default(),
            switches: Switches::default(),
            judged: SnapshotResults::default(),
            ingesters: std::iter::repeat_with(Ingester::default).take(ingesters).collect(),
            violation: None,
            requests: 0,
            asked: BTreeMap::new(),
            ghosts_purged: 0,
            shards: None,
            sent: RowSenders::default(),
            parts: Parts::default(),
            rng,
            dice,
        };
        Sim { world: Arc::new(Mutex::new(world)), violated: Arc::new(Notify::new()) }
    }

    /// The world, which must not be held across an `await`.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock()
    }

    /// Checks if an invariant was violated, and reports it.
    pub(super) fn report(&self) {
        if self.world().violation.is_some() {
            self.violated.notify_one();
        }
    }
}

/// The true time when a simulation begins: 2026-01-01.
const EPOCH: i64 = 1_767_225_600_000_000;

impl World {
    pub(super) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// The true time, in microseconds.
    pub(super) fn micros(&self) -> i64 {
        EPOCH + i64::try_from(self.elapsed().as_micros()).unwrap_or_default()
    }

    /// Adds a line to the history.
    pub(super) fn note(&mut self, who: &str, what: &str) {
        let seconds = self.elapsed().as_secs_f64();
        self.history.push(format!("{seconds:9.3} {who:5} {what}"));
    }

    /// Records a violation. The first record counts.
    pub(super) fn violate(&mut self, what: String) {
        self.note("CHECK", &what);
        self.violation.get_or_insert(what);
    }

    pub(super) fn chance(&mut self, thousandths: u32) -> bool {
        !self.calm && self.rng.u32(..1000) < thousandths
    }

    /// Returns a random time from 1 to this many milliseconds.
    pub(super) fn up_to(&mut self, milliseconds: u64) -> Duration {
        Duration::from_millis(self.rng.u64(1..=milliseconds))
    }

    /// The API server that an ingester uses.
    pub(super) fn server_of(&self, ingester: usize) -> &ApiServerModel {
        if self.ingesters[ingester].elsewhere { &self.other } else { &self.server }
    }

    /// The Leases of the API server that an ingester uses.
    pub(super) fn leases_of(&mut self, ingester: usize) -> &mut KeptLeases {
        if self.ingesters[ingester].elsewhere { &mut self.other.leases } else { &mut self.server.leases }
    }

    /// Ends an ingester as the kernel does: only the requests that it has already sent continue.
    pub(super) fn kill(&mut self, ingester: usize, life: u32) {
        let state = &self.ingesters[ingester];
        if state.life == life
            && let Some(abort) = &state.abort
        {
            abort.abort();
            self.ingesters[ingester].assignment = None;
            self.note(&format!("i{ingester}"), "killed");
        }
    }
}

/// The server that a request is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    ApiServer,
    Database,
}

/// The time that an ingester waits for an answer of the API server.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time for which a request may be on its way: longer than any sender waits for its answer.
pub(super) const LONG: Duration = Duration::from_secs(70);

/// The outcome of a request.
pub(super) struct Fate {
    pub(super) before: Duration,
    pub(super) after: Duration,
    /// It fails without effect.
    pub(super) fails: bool,
    /// It takes effect, but its answer is lost.
    pub(super) is_lost: bool,
    /// The ingester is killed before, or after, the effect.
    pub(super) kills: Option<bool>,
}

/// The connections of one ingester in one of its lives.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) sim: Sim,
    pub(super) ingester: usize,
    pub(super) life: u32,
    pub(super) kind: Kind,
    /// The unit, if the ingesters share the work.
    pub(super) unit: Arc<str>,
    /// The namespace of the unit, if each has its own.
    pub(super) namespace: Option<&'static str>,
    /// The units of the process.
    pub(super) mirrored: MirroredKinds,
}

impl Client {
    pub(super) fn name(&self) -> String {
        format!("i{}", self.ingester)
    }

    pub(super) fn is_cut_off(&self, world: &World) -> bool {
        world.ingesters[self.ingester].cut_off.is_some_and(|until| until > Instant::now())
    }

    /// Waits while the process is frozen.
    pub(super) async fn thawed(&self) {
        let frozen = self.sim.world().ingesters[self.ingester].frozen.clone();
        frozen.thawed().await;
    }

    pub(super) fn fate(&self, service: Service) -> Fate {
        let mut world = self.sim.world();
        let weather = world.weather;
        let trouble = match service {
            Service::ApiServer => weather.api_server,
            Service::Database => weather.database,
        };
        let mut before = world.up_to(10);
        let mut after = world.up_to(10);
        if world.chance(weather.slow) {
            // Longer than any sender waits, or a little less.
            let long = world.up_to(LONG.as_secs() * 1000);
            if world.rng.bool() { before = long } else { after = long }
        }
        let mut fails = world.chance(trouble);
        let mut is_lost = world.chance(trouble / 2);
        if self.is_cut_off(&world) && service == Service::ApiServer {
            // Requests that were on their way at the cut may have arrived.
            fails |= world.rng.u32(..4) > 0;
            is_lost = true;
        }
        let kills = world.chance(weather.kill).then(|| world.rng.bool());
        Fate { before, after, fails, is_lost, kills }
    }

    /// Sends a request: after a while it has its `effect`, and after another the answer arrives. An error is a status code, 0 for no
    /// answer. A request takes effect even if its sender is killed in the meantime.
    ///
    /// `key` identifies the request, which must not be repeated at once if it fails.
    pub(super) async fn request<T: Send + 'static>(
        &self,
        service: Service,
        key: String,
        effect: impl FnOnce(&mut World) -> Result<T, u16> + Send + 'static,
    ) -> Result<T, u16> {
        {
            let mut world = self.sim.world();
            world.requests += 1;
            *world.asked.entry(key.clone()).or_default() += 1;
        }
        self.thawed().await;
        let Fate { before, after, fails, is_lost, kills } = self.fate(service);
        let doing = key.clone();
        self.begin(&doing);
        let client = self.clone();
        let request = tokio::spawn(async move {
            tokio::time::sleep(before).await;
            let (answer, refusal) = {
                let mut world = client.sim.world();
                if kills == Some(true) {
                    world.kill(client.ingester, client.life);
                }
                let answer = if fails {
                    world.note(&client.name(), &format!("{key}: fails"));
                    Err(0)
                } else {
                    let elsewhere = service == Service::ApiServer && world.ingesters[client.ingester].elsewhere;
                    let World { server, other, .. } = &mut *world;
                    if elsewhere {
                        std::mem::swap(server, other);
                    }
                    let answer = effect(&mut world);
                    let World { server, other, .. } = &mut *world;
                    if elsewhere {
                        std::mem::swap(server, other);
                    }
                    if let Err(code) = &answer {
                        world.note(&client.name(), &format!("{key}: status {code}"));
                    }
                    answer
                };
                if kills == Some(false) {
                    world.kill(client.ingester, client.life);
                }
                (answer, world.reports.take_answered())
            };
            client.sim.report();
            tokio::time::sleep(after).await;
            if is_lost {
                client.sim.world().note(&client.name(), &format!("{key}: the answer is lost"));
                return (Err(0), None);
            }
            (answer, refusal)
        });
        let answer = match service {
            Service::ApiServer => tokio::time::timeout(PATIENCE, request).await.unwrap_or(Ok((Err(504), None))),
            Service::Database => request.await,
        };
        self.thawed().await;
        let (answer, refusal) = answer.unwrap_or((Err(0), None));
        if let Some(refusal) = refusal {
            self.sim.world().reports.hear(self.ingester, self.life, refusal);
        }
        if answer.as_ref().is_err_and(|code| *code != 410) {
            self.failed(&doing);
        }
        answer
    }

    /// Units do not know each other's requests.
    fn of_unit(&self, key: &str) -> String {
        let unit = self.namespace.unwrap_or(&self.unit);
        if unit.is_empty() { key.to_owned() } else { format!("{key} ({unit})") }
    }

    fn begin(&self, key: &str) {
        let mut world = self.sim.world();
        let now = Instant::now();
        let objects = world.truth.askers(key);
        if let Some(hasty) = world.pace.begin(self.ingester, self.life, &self.of_unit(key), objects, now) {
            let name = self.name();
            world.violate(format!("nothing is retried without a pause: {name} {hasty}"));
        }
        drop(world);
        self.sim.report();
    }

    /// A request that must not be retried at once.
    pub(super) fn failed(&self, key: &str) {
        self.sim.world().pace.failed(self.ingester, self.life, &self.of_unit(key), Instant::now());
    }

    /// A row was stale; its object is looked at next, after a pause.
    pub(super) fn stale(&self, key: &str) {
        self.sim.world().pace.stale(self.ingester, self.life, &self.of_unit(key), Instant::now());
    }

    /// A refused request about an object is followed by a look at it, whatever row was stale.
    pub(super) fn refused(&self, name: &str) {
        self.sim.world().pace.wanted(self.ingester, self.life, &self.of_unit(&format!("look {name}")));
    }

    /// The ingester learns something new about an object, or about all.
    pub(super) fn learns(&self, name: Option<&str>) {
        self.sim.world().pace.learns(self.ingester, name, Instant::now());
    }
}
