//! A member at work: it renews its Lease, reads the Leases of the others, and publishes which units may be worked on.

use super::assignment::Assignment;
use super::leases::{LeaseError, Leases};
use super::member::{Member, MemberPlan};
use super::record::{Record, TooManyUnits};
use super::shard::fnv1a;
use crate::health::Health;
use crate::host::host_name;
use crate::metrics::ReplicaMetrics;
use futures::future::join_all;
use ingester_config::Replicas;
use ingester_core::Kind;
use k8s_openapi::jiff::Timestamp;
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// The time to wait for stopping units before the Lease is released anyway. It is longer than the time that a process has to end.
const LAST: Duration = Duration::from_secs(30);

/// The time limit for deleting the own Lease at the end.
const FAREWELL: Duration = Duration::from_secs(2);

/// The number of Leases of others that are changed concurrently.
const OTHERS: usize = 16;

/// The number of renewals for which the Lease of a dead member stays, so that every member sees that it claims nothing. A member that
/// misses this waits as for a Lease that somebody deleted.
const NOTICE: u32 = 3;

/// A member of a group.
pub struct Membership {
    pub(crate) leases: Arc<dyn Leases>,
    /// The prefix of its Lease's name.
    pub(crate) group: String,
    /// Where it runs, for people.
    pub(crate) holder: String,
    pub(crate) serves: BTreeSet<String>,
    /// A value that differs between members that write rows by different definitions.
    pub(crate) definitions: String,
    pub(crate) config: Replicas,
    pub(crate) assignment: Assignment,
    pub(crate) metrics: ReplicaMetrics,
    pub(crate) health: Health,
    /// The time of day, which Leases show to people.
    pub(crate) time_of_day: fn() -> Timestamp,
    /// Names that no other process will ever have.
    pub(crate) names: fn() -> String,
}

/// The own Lease.
struct OwnLease {
    member: Member,
    record: Record,
    /// The start of the last request that stored it.
    renewed: Option<Instant>,
    /// It was deleted.
    gone: bool,
}

impl Membership {
    /// Creates a member that could serve these units, and reports through `assignment` which of them it may work on.
    ///
    /// # Errors
    /// If a Lease has no room for them.
    pub fn new(
        leases: super::KubeLeases,
        group: &super::Group,
        holder: String,
        serves: BTreeSet<String>,
        config: Replicas,
        assignment: Assignment,
        metrics: ReplicaMetrics,
    ) -> Result<Self, TooManyUnits> {
        Record::member(&group.name, &holder, serves.clone(), serves.clone()).check_size()?;
        let leases = Arc::new(leases);
        Ok(Membership {
            leases,
            group: group.name.clone(),
            holder,
            serves,
            definitions: String::new(),
            config,
            assignment,
            metrics,
            health: Health::new([]),
            time_of_day: Timestamp::now,
            names: random_name,
        })
    }

    /// Reports its membership to this health: a process that relies on members without being one is not ready.
    #[must_use]
    pub fn reporting(self, health: Health) -> Self {
        health.member(Some("it has no Lease yet"));
        Membership { health, ..self }
    }

    /// Tells the other members by which definitions of these kinds it writes rows.
    #[must_use]
    pub fn writing(self, kinds: &[Kind]) -> Self {
        let mut kinds: Vec<String> =
            kinds.iter().map(|kind| format!("{}={}", kind.name(), kind.ingest_version())).collect();
        kinds.sort_unstable();
        Membership { definitions: format!("{:016x}", fnv1a(&kinds.join(","))), ..self }
    }

    /// Takes part until `stop` is cancelled; then waits until every unit is stopped, and releases its Lease, so that no member waits for
    /// it. If its Lease disappears in the meantime, it starts over as a new member.
    pub async fn run(self, stop: CancellationToken) {
        let mut own = self.begin();
        let mut changed = self.leases.changed();
        let mut again = false;
        while !stop.is_cancelled() {
            let round = Instant::now();
            let claims_wait = self.round(&mut own).await;
            if own.gone {
                tracing::warn!(
                    lease = own.record.name,
                    "The Lease of this member was deleted: it starts again as a new member"
                );
                self.stop_all(&mut own);
                while !self.assignment.running().is_empty() {
                    self.assignment.stopped().await;
                }
                own = self.begin();
                again = false;
                // If Leases are deleted repeatedly, this must not loop without a pause.
                let _ = stop.run_until_cancelled(tokio::time::sleep(self.config.retry_period)).await;
                continue;
            }
            // Write claims at once; if that fails, with the next renewal.
            again = claims_wait && !again;
            if again {
                continue;
            }
            let next = round + self.config.retry_period;
            let next = own.member.next_end().map_or(next, |end| next.min(end));
            // Nothing slow may delay stopping the units.
            let until = own.renewed.map(|renewed| renewed + self.config.renew_deadline);
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = self.assignment.stopped() => {}
                () = sleep_until(next) => {}
                () = &mut changed => {
                    changed = self.leases.changed();
                    // Handle several simultaneous changes together.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                () = expired(until) => {}
            }
        }
        self.end(own).await;
    }

    fn begin(&self) -> OwnLease {
        let name = format!("{}-{}", self.group, (self.names)());
        let record = Record {
            acquired: Some((self.time_of_day)()),
            duration: self.config.lease_duration,
            definitions: self.definitions.clone(),
            ..Record::member(&name, &self.holder, self.serves.clone(), BTreeSet::new())
        };
        OwnLease { member: Member::new(&record), record, renewed: None, gone: false }
    }

    /// Renews, lists, decides. Returns true if the Lease still lacks claims.
    async fn round(&self, own: &mut OwnLease) -> bool {
        self.check_time(own);
        if own.renewed.is_none() && !self.assignment.running().is_empty() {
            // With a new Lease, units that are still ending could write again.
            return false;
        }
        if own.member.is_new() {
            // A member that knows no other would claim everything, and all others would wait for it.
            self.look(own).await;
            if own.member.is_new() {
                return false;
            }
        }
        let plan = own.member.plan(&self.assignment.running(), Instant::now());
        self.follow(own, &plan);
        let claims_change = plan.claims != own.record.claims;
        let is_due = own.renewed.is_none_or(|renewed| renewed.elapsed() >= self.config.retry_period / 2);
        if claims_change || is_due {
            own.record.claims.clone_from(&plan.claims);
            self.renew(own).await;
        }
        self.check_time(own);
        if own.gone {
            return false;
        }
        self.look(own).await;
        self.check_time(own);
        if own.gone {
            return false;
        }
        let plan = own.member.plan(&self.assignment.running(), Instant::now());
        self.follow(own, &plan);
        self.clear(&plan.stale).await;
        plan.claims != own.record.claims
    }

    /// Releases the Leases of dead members, and removes Leases that claim nothing, some at once. Others wait for the next round, because
    /// the own Lease must not wait.
    ///
    /// A Lease is released before it is removed, because this may be the only member that has watched it for long enough. A member that has
    /// just started cannot know why a Lease disappears, and would wait for its units.
    async fn clear(&self, stale: &[Record]) {
        let changes = stale.iter().take(OTHERS).map(|record| async move {
            let lease = &record.name;
            let holder = &record.holder;
            let done = match record.claims.is_empty() {
                true => self.leases.delete(record).await,
                false => self.leases.replace(&record.left(self.notice())).await.map(drop),
            };
            match done {
                Ok(()) if record.has_left() => {}
                Ok(()) => tracing::info!(lease, holder, "Released the Lease of a dead member"),
                // Another member was faster, or the member is alive after all.
                Err(LeaseError::Gone | LeaseError::Conflict) => {}
                Err(error) => {
                    tracing::warn!(lease, holder, %error, "Cannot release the Lease of a dead member, trying again");
                }
            }
        });
        if timeout(self.config.retry_period, join_all(changes)).await.is_err() {
            tracing::warn!(leases = stale.len(), "Leases of dead members are not released yet, trying again");
        }
    }

    /// Returns how long the Lease of a member that has left stays. A Lease counts in whole seconds.
    fn notice(&self) -> Duration {
        Duration::from_secs((self.config.retry_period * NOTICE).as_millis().div_ceil(1000) as u64)
    }

    /// Stops everything if the Lease was not renewed in time.
    fn check_time(&self, own: &mut OwnLease) {
        let is_late = own.renewed.is_some_and(|renewed| renewed.elapsed() >= self.config.renew_deadline);
        if is_late {
            tracing::error!(
                lease = own.record.name,
                deadline = ?self.config.renew_deadline,
                "The Lease of this member could not be renewed in time: every unit is stopped, others may take them over"
            );
            self.metrics.lease_lost();
            self.stop_all(own);
            own.renewed = None;
        }
    }

    fn stop_all(&self, own: &mut OwnLease) {
        own.member.expired();
        self.assignment.allow(BTreeSet::new());
        self.metrics.units(0);
    }

    /// Publishes which units may be worked on.
    fn follow(&self, own: &OwnLease, plan: &MemberPlan) {
        let may_run = if own.renewed.is_some() { plan.may_run.clone() } else { BTreeSet::new() };
        let before: BTreeSet<String> = self.serves.iter().filter(|unit| self.assignment.holds(unit)).cloned().collect();
        for unit in may_run.difference(&before) {
            tracing::info!(unit, members = plan.living, "This member takes a unit over");
            self.metrics.taken();
        }
        for unit in before.difference(&may_run) {
            tracing::info!(unit, members = plan.living, "This member gives a unit away");
            self.metrics.given();
        }
        self.metrics.units(may_run.len());
        self.metrics.members(plan.living);
        self.metrics.group_units(plan.units);
        self.assignment.mix(plan.mixed);
        self.assignment.allow(may_run);
    }

    async fn renew(&self, own: &mut OwnLease) {
        let begun = Instant::now();
        own.record.renewed = Some((self.time_of_day)());
        let is_new = own.record.version.is_empty();
        let stored = match is_new {
            true => self.in_time(own, self.leases.create(&own.record)).await,
            false => self.in_time(own, self.leases.replace(&own.record)).await,
        };
        self.metrics.renewal(stored.is_ok());
        match stored {
            Ok(stored) => {
                (own.record.uid, own.record.version) = (stored.uid, stored.version);
                own.member.record_stored(&own.record.claims, Instant::now());
                own.renewed = Some(begun);
                self.health.member(None);
                self.assignment.valid_until(begun + self.config.renew_deadline);
            }
            Err(LeaseError::Gone) => own.gone = true,
            // The answer to an earlier attempt was lost: the next list has the version.
            Err(LeaseError::Conflict) => {}
            Err(error) => {
                if own.renewed.is_none() {
                    self.health.member(Some(&error.to_string()));
                }
                tracing::warn!(lease = own.record.name, %error, "Cannot renew the Lease of this member, trying again");
            }
        }
    }

    async fn look(&self, own: &mut OwnLease) {
        let asked = Instant::now();
        match self.in_time(own, self.leases.list()).await {
            Ok(leases) => match own.member.listed(leases, asked, Instant::now()) {
                // Another member has waited for it in vain.
                Some(stored) if stored.has_left() => own.gone = true,
                // The answer to a renewal may have been lost, so the stored state counts.
                Some(Record { uid, version, claims, .. }) => {
                    (own.record.uid, own.record.version, own.record.claims) = (uid, version, claims);
                }
                None if !own.record.version.is_empty() => own.gone = true,
                None => {}
            },
            Err(error) => {
                if own.renewed.is_none() {
                    self.health.member(Some(&error.to_string()));
                }
                tracing::warn!(lease = own.record.name, %error, "Cannot list the Leases of the group, trying again");
            }
        }
    }

    /// Sends a request to the API server within a renewal's time, and before all units must be stopped.
    async fn in_time<T>(
        &self,
        own: &OwnLease,
        work: impl Future<Output = Result<T, LeaseError>>,
    ) -> Result<T, LeaseError> {
        let mut most = self.config.renew_deadline / 2;
        if let Some(renewed) = own.renewed {
            most = most.min((renewed + self.config.renew_deadline).saturating_duration_since(Instant::now()));
        }
        let late = |_| Err(LeaseError::Failed(format!("the API server did not answer within {most:?}")));
        timeout(most, work).await.unwrap_or_else(late)
    }

    async fn end(&self, mut own: OwnLease) {
        self.assignment.allow(BTreeSet::new());
        let all_stopped = async {
            while !self.assignment.running().is_empty() {
                self.assignment.stopped().await;
            }
        };
        let _ = timeout(LAST, all_stopped).await;
        self.metrics.units(0);
        if own.record.version.is_empty() {
            return;
        }
        let farewell = async {
            let is_last = own.member.plan(&BTreeSet::new(), Instant::now()).living == 1;
            for _ in 0..2 {
                // Other members, if any, must see that it claims nothing, and then remove the Lease.
                let done = match is_last {
                    true => self.leases.delete(&own.record).await,
                    false => self.leases.replace(&own.record.left(self.notice())).await.map(drop),
                };
                if done.is_ok() {
                    break;
                }
                // Its version may differ from the known one.
                self.look(&mut own).await;
            }
        };
        let _ = timeout(FAREWELL, farewell).await;
        tracing::info!("This member has left its group");
    }
}

async fn expired(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Returns ten random letters and digits.
pub fn random_name() -> String {
    // The hasher of the standard library is seeded by the operating system.
    let mut number = RandomState::new().hash_one(std::process::id());
    let mut name = String::new();
    for _ in 0..10 {
        name.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
    }
    name
}

/// Returns where this process runs, for people: the name of the pod, which is its host's name.
pub fn name_of_pod() -> String {
    format!("{}/{}", host_name().unwrap_or_else(|| "unknown".to_owned()), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::super::leases::{LeaseError, Leases};
    use super::{Membership, Record};
    use crate::health::Health;
    use crate::metrics::Metrics;
    use crate::replicas::Assignment;
    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use ingester_config::Replicas;
    use k8s_openapi::jiff::Timestamp;
    use parking_lot::Mutex;
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::sleep;
    use tokio_util::sync::CancellationToken;

    /// An API server that takes this long for a deletion.
    struct LeaseServer {
        leases: Mutex<BTreeMap<String, Record>>,
        deletion: Duration,
    }

    impl LeaseServer {
        fn store(&self, record: &Record) -> Record {
            let mut leases = self.leases.lock();
            let version = leases.get(&record.name).map_or(0, |stored| stored.version.parse::<u32>().unwrap()) + 1;
            let stored = Record { uid: record.name.clone(), version: version.to_string(), ..record.clone() };
            leases.insert(record.name.clone(), stored.clone());
            stored
        }
    }

    impl Leases for LeaseServer {
        fn list(&self) -> BoxFuture<'_, Result<Vec<Record>, LeaseError>> {
            async { Ok(self.leases.lock().values().cloned().collect()) }.boxed()
        }

        fn create<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
            async { Ok(self.store(record)) }.boxed()
        }

        fn replace<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Record, LeaseError>> {
            async { Ok(self.store(record)) }.boxed()
        }

        fn delete<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), LeaseError>> {
            async {
                sleep(self.deletion).await;
                self.leases.lock().remove(&record.name).map(drop).ok_or(LeaseError::Gone)
            }
            .boxed()
        }

        fn changed(&self) -> BoxFuture<'_, ()> {
            std::future::pending().boxed()
        }
    }

    /// Returns how many Leases exist after a minute in which a member finds this many Leases of dead members, and true if it lost its own.
    async fn removed(dead: u32, deletion: Duration) -> (usize, bool) {
        let server = Arc::new(LeaseServer { leases: Mutex::default(), deletion });
        let units = BTreeSet::from(["Model".to_owned()]);
        let metrics = Metrics::new().unwrap();
        for number in 0..dead {
            let dead = Record::member(&format!("dead-{number}"), "pod", units.clone(), units.clone());
            server.store(&Record { duration: Duration::from_secs(5), ..dead });
        }
        let assignment = Assignment::of_members();
        let stop = CancellationToken::new();
        let member = Membership {
            leases: server.clone(),
            group: "g".into(),
            holder: "m".into(),
            serves: units,
            definitions: String::new(),
            config: Replicas { enabled: true, ..Replicas::default() },
            assignment: assignment.clone(),
            metrics: metrics.replicas(),
            health: Health::new([]),
            time_of_day: || Timestamp::UNIX_EPOCH,
            names: || "own".into(),
        };
        let running = tokio::spawn(member.run(stop.clone()));
        sleep(Duration::from_secs(60)).await;
        assert!(assignment.holds("Model"));
        let left = server.leases.lock().len();
        stop.cancel();
        running.await.unwrap();
        (left, !metrics.render().contains("ingester_leases_lost_total 0\n"))
    }

    #[tokio::test(start_paused = true)]
    async fn removing_the_leases_of_the_dead_does_not_cost_the_own_one() {
        assert_eq!(removed(1, Duration::ZERO).await, (1, false));
        assert_eq!(removed(100, Duration::from_secs(1)).await, (1, false));
        // They are not removed; nothing else happens.
        assert_eq!(removed(20, Duration::from_secs(30)).await, (21, false));
    }
}
