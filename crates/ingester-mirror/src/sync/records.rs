//! Writes the states of this process's units and the effects of their rules into the database. The records are for people, and independent
//! of the work: nothing waits for them, and a record that cannot be written is left out.

use super::Context;
use crate::health::{Health, KindState};
use crate::metrics::ControllerMetrics;
use crate::replicas::{Assignment, name_of_pod};
use crate::unit::Unit;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::units::{PERIOD, RuleRecord, UnitPhase, UnitRecord};
use ingester_store::{Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// The interval between looks at the units. Only changes are written.
const LOOK: Duration = Duration::from_secs(1);

/// The time limit for writing one record.
const SILENCE: Duration = Duration::from_secs(5);

/// The time that a stopping process has to record that.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The interval between removals of old records, of any process.
const FORGET: Duration = Duration::from_secs(3600);

/// Writes the records of a process.
pub(super) struct Recorder {
    store: Arc<Store>,
    health: Health,
    assignment: Assignment,
    member: String,
    units: Vec<RecordedUnit>,
    /// The time when old records were last removed.
    forgot: Option<Instant>,
}

/// A unit, and its record in the database.
struct RecordedUnit {
    kind: Kind,
    name: String,
    namespace: String,
    shard: String,
    metrics: ControllerMetrics,
    last: Option<(Instant, UnitRecord)>,
    rules: BTreeMap<String, RuleRecord>,
}

impl Recorder {
    /// For these units.
    pub(super) fn new(context: &Context, units: &[Unit]) -> Self {
        let recorded = |unit: &Unit| RecordedUnit {
            kind: unit.kind,
            name: unit.name(),
            namespace: unit.namespace.as_deref().unwrap_or_default().to_owned(),
            shard: if unit.shard.is_whole() { String::new() } else { unit.shard.to_string() },
            metrics: unit.metrics.clone(),
            last: None,
            rules: BTreeMap::new(),
        };
        Recorder {
            store: context.store.clone(),
            health: context.health.clone(),
            assignment: context.assignment.clone(),
            member: name_of_pod(),
            units: units.iter().map(recorded).collect(),
            forgot: None,
        }
    }

    /// Writes until `stop` is cancelled, and then records that the units have stopped.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        loop {
            let pause = match stop.run_until_cancelled(self.look()).await {
                None => break,
                Some(Ok(())) => LOOK,
                Some(Err(error)) => {
                    tracing::debug!(%error, "Cannot write the states of the units into the database");
                    PERIOD
                }
            };
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                break;
            }
        }
        if let Ok(Err(error)) = timeout(LAST_WORDS, self.stopped()).await {
            tracing::debug!(%error, "Cannot write into the database that the units have stopped");
        }
    }

    /// Writes what has changed.
    async fn look(&mut self) -> Result<(), StoreError> {
        if self.forgot.is_none_or(|forgot| forgot.elapsed() >= FORGET) {
            in_time(self.store.forget_old_records()).await?;
            self.forgot = Some(Instant::now());
        }
        for unit in &mut self.units {
            if self.assignment.holds(&unit.name) {
                unit.write(&self.store, &self.health, &self.member).await?;
            } else {
                // The member that has the unit writes its record.
                (unit.last, unit.rules) = (None, BTreeMap::new());
            }
        }
        Ok(())
    }

    async fn stopped(&self) -> Result<(), StoreError> {
        for unit in &self.units {
            if let Some((_, last)) = &unit.last {
                self.store.record_stopped(&unit.kind, &unit.name, last).await?;
            }
        }
        Ok(())
    }
}

impl RecordedUnit {
    async fn write(&mut self, store: &Store, health: &Health, member: &str) -> Result<(), StoreError> {
        let Some(phase) = health.state_of(&self.name).and_then(|state| phase(&state)) else { return Ok(()) };
        let is_new = |(written, last): &(Instant, UnitRecord)| last.phase == phase && written.elapsed() < PERIOD;
        if !self.last.as_ref().is_some_and(is_new) {
            let record = self.record(phase, store.now(), member);
            in_time(store.record_unit(&self.kind, &self.name, &record)).await?;
            self.last = Some((Instant::now(), record));
        }
        let rules = self.metrics.rules();
        for rule in &rules {
            if self.rules.get(&rule.rule).is_none_or(|last| is_news(last, rule)) {
                in_time(store.record_rule(&self.kind, &self.name, rule)).await?;
                self.rules.insert(rule.rule.clone(), rule.clone());
            }
        }
        while let Some(gone) = self.rules.keys().find(|name| rules.iter().all(|rule| rule.rule != **name)).cloned() {
            in_time(store.forget_rule(&self.kind, &self.name, &gone)).await?;
            self.rules.remove(&gone);
        }
        Ok(())
    }

    fn record(&self, phase: UnitPhase, now: Micros, member: &str) -> UnitRecord {
        let heartbeat = now.0.div_euclid(1_000_000);
        let numbers = self.metrics.numbers();
        let audit = self.metrics.last_audit().map(|(ago, differences)| {
            (heartbeat.saturating_sub(i64::try_from(ago.as_secs()).unwrap_or(i64::MAX)), differences)
        });
        UnitRecord {
            heartbeat,
            phase,
            lag: numbers.oldest.as_secs(),
            waiting: numbers.waiting as u64,
            live: numbers.objects as u64,
            held: numbers.held as u64,
            rejected: numbers.rejected as u64,
            audit,
            namespace: self.namespace.clone(),
            shard: self.shard.clone(),
            member: member.to_owned(),
        }
    }
}

/// Returns true if a round differs from the last one, or the last one was long ago: a rule may be judged every second.
fn is_news(last: &RuleRecord, now: &RuleRecord) -> bool {
    let is_old = now.time - last.time >= i64::try_from(PERIOD.as_secs()).unwrap_or(i64::MAX);
    is_old || RuleRecord { time: now.time, ..last.clone() } != *now
}

/// Returns the phase of a unit that this process has.
fn phase(state: &KindState) -> Option<UnitPhase> {
    Some(match state {
        KindState::Unknown => UnitPhase::Starting,
        KindState::Waiting => UnitPhase::Waiting,
        KindState::Listing => UnitPhase::Listing,
        KindState::Synced => UnitPhase::Synced,
        KindState::Suspended => UnitPhase::Suspended,
        KindState::Failed(_) => UnitPhase::Failed,
        KindState::Elsewhere => return None,
    })
}

async fn in_time(work: impl Future<Output = Result<(), StoreError>>) -> Result<(), StoreError> {
    let done = timeout(SILENCE, work).await;
    done.unwrap_or_else(|_| Err(StoreError::silent("writing the states of the units", SILENCE)))
}

#[cfg(test)]
mod tests {
    use super::super::{Context, names, units};
    use super::{Recorder, is_news};
    use crate::events::Publisher;
    use crate::fixture::MODEL;
    use crate::health::{Health, KindState};
    use crate::metrics::Metrics;
    use crate::replicas::Assignment;
    use crate::unit::Unit;
    use ingester_config::{Config, Live};
    use ingester_store::units::{RuleRecord, UnitPhase, UnitRecord};
    use ingester_store::{ConnectOptions, Store};
    use kube::Client;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio_util::sync::CancellationToken;

    const SECOND: Duration = Duration::from_secs(1);

    /// A process with one unit of models, which belongs to this process while that is allowed.
    struct World {
        context: Context,
        units: Vec<Unit>,
    }

    impl World {
        async fn new() -> Self {
            let config = Config::default();
            let metrics = Metrics::new().unwrap();
            let refused = |_: http::Request<kube::client::Body>| async {
                Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
            };
            let context = Context {
                client: Client::new(tower::service_fn(refused), "default"),
                store: Arc::new(Store::in_memory(&[MODEL]).await.unwrap()),
                metrics,
                health: Health::new(names(&[MODEL], &config).iter().map(String::as_str)),
                publisher: Publisher::off(),
                assignment: Assignment::of_members(),
            };
            context.assignment.allow(BTreeSet::from(["Model".to_owned()]));
            let units = units(&context, &[MODEL], &Live::fixed(config), &CancellationToken::new());
            World { context, units }
        }

        fn recorder(&self) -> Recorder {
            Recorder::new(&self.context, &self.units)
        }

        async fn read(&self) -> Vec<UnitRecord> {
            let units = self.context.store.units(&[MODEL], SECOND).await.unwrap();
            units.into_iter().map(|(_, record)| record).collect()
        }

        async fn rules(&self) -> Vec<RuleRecord> {
            let rules = self.context.store.rules(&[MODEL], SECOND).await.unwrap();
            rules.into_iter().map(|(_, record)| record).collect()
        }
    }

    fn rule(time: i64, matches: u64) -> RuleRecord {
        let rule = "finished".to_owned();
        RuleRecord { time, enforced: false, judged: true, matches, waiting: 0, moved: 0, rule }
    }

    #[tokio::test]
    async fn a_unit_is_recorded_when_its_phase_changes_and_when_its_process_stops() {
        let world = World::new().await;
        let mut recorder = world.recorder();
        recorder.look().await.unwrap();
        assert_eq!(world.read().await[0].phase, UnitPhase::Starting);
        let metrics = &world.units[0].metrics;
        metrics.waiting(3, 0, 100);
        metrics.oldest(|| Some(Duration::from_secs(7)));
        metrics.objects(20);
        metrics.rejected_objects(2);
        metrics.held(1);
        recorder.look().await.unwrap();
        assert_eq!(world.read().await[0].waiting, 0, "its phase is the same, and that was just written");
        world.context.metrics.audit("Model").succeeded([1, 0, 0, 2, 0, 0, 0, 0]);
        world.context.health.kind("Model", KindState::Synced);
        recorder.look().await.unwrap();
        let [read] = &world.read().await[..] else { panic!("one unit") };
        assert_eq!((read.phase, read.waiting, read.lag, read.live), (UnitPhase::Synced, 3, 7, 20));
        assert_eq!((read.rejected, read.held, read.audit.map(|(_, differences)| differences)), (2, 1, Some(3)));
        assert!(!read.member.is_empty() && !read.is_stale(world.context.store.now()));
        recorder.stopped().await.unwrap();
        let [read] = &world.read().await[..] else { panic!("one unit") };
        assert_eq!((read.phase, read.waiting, read.live), (UnitPhase::Stopped, 0, 20));
    }

    #[tokio::test]
    async fn a_unit_that_another_member_took_over_is_left_to_its_records() {
        let world = World::new().await;
        let mut before = world.recorder();
        let mut after = world.recorder();
        before.look().await.unwrap();
        after.member = "other".to_owned();
        after.look().await.unwrap();
        before.stopped().await.unwrap();
        let [read] = &world.read().await[..] else { panic!("one unit") };
        assert_eq!((read.phase, read.member.as_str()), (UnitPhase::Starting, "other"));
        world.context.assignment.allow(BTreeSet::new());
        world.context.health.kind("Model", KindState::Synced);
        before.look().await.unwrap();
        assert_eq!(world.read().await[0].phase, UnitPhase::Starting, "it is not held any more");
    }

    #[tokio::test]
    async fn a_rule_is_recorded_after_its_rounds_until_it_is_removed() {
        let world = World::new().await;
        let mut recorder = world.recorder();
        let metrics = &world.units[0].metrics;
        let now = world.context.store.now().0 / 1_000_000;
        metrics.record_rules(vec![rule(now, 4)]);
        recorder.look().await.unwrap();
        assert_eq!(world.rules().await, [rule(now, 4)]);
        metrics.record_rules(Vec::new());
        recorder.look().await.unwrap();
        assert_eq!(world.rules().await, []);
        assert!(!is_news(&rule(now, 4), &rule(now + 29, 4)), "it is judged every second");
        assert!(is_news(&rule(now, 4), &rule(now + 30, 4)) && is_news(&rule(now, 4), &rule(now + 1, 5)));
    }

    #[tokio::test]
    async fn a_database_that_takes_no_record_stops_nothing() {
        let mut world = World::new().await;
        // This database has no tables.
        let address = "sqlite::memory:".parse().unwrap();
        world.context.store = Arc::new(Store::connect(&address, ConnectOptions::default()).await.unwrap());
        assert!(world.recorder().look().await.is_err());
        let stop = CancellationToken::new();
        let recording = tokio::spawn(world.recorder().run(stop.clone()));
        tokio::task::yield_now().await;
        assert!(!recording.is_finished());
        stop.cancel();
        recording.await.unwrap();
    }
}
