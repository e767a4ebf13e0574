//! `ingester run`: starts the mirror from a configuration, and stops it in order.

use super::policies::{ensure_namespaces, warn_of_rules};
use super::risks;
use super::start::{CLOSE, OpenFailure, PAUSES, ProgressReceiver, Tables, open, stop_on_signals};
use crate::arguments::Run;
use crate::ending::{Ending, Failure};
use crate::logging::Level;
use crate::parts::{Part, PartLifetime, without_error};
use crate::program::Program;
use crate::reach::Reach;
use crate::reload::Reload;
use crate::server::Server;
use anyhow::anyhow;
use backon::Retryable as _;
use futures::future::select_all;
use ingester_config::{Config, Environment, Gate, Ingester, Live, with_password};
use ingester_core::{Kind, KindNames};
use ingester_mirror::audit::audit_periodically;
use ingester_mirror::events::Publisher;
use ingester_mirror::health::Health;
use ingester_mirror::identity::{ClusterCheck, IdentityError};
use ingester_mirror::leading::LedKinds;
use ingester_mirror::metrics::Metrics;
use ingester_mirror::replicas::{Assignment, Group, KubeLeases, Membership, name_of_pod, random_name};
use ingester_mirror::retention::RetentionTask;
use ingester_mirror::suspend::{Permit, Suspension};
use ingester_mirror::sync::{self, Context};
use ingester_store::left_out::LeftOutCount;
use ingester_store::migrate::{Backfill, BackfillProgress, ReleasedSchema};
use ingester_store::{ErrorClass, Store, StoreError};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// The time limit for leaving the group: other members wait for a Lease that stays.
const LEAVE: Duration = Duration::from_secs(3);

/// The time limit for the Event about a database of another cluster.
const LAST_EVENT: Duration = Duration::from_secs(5);

pub(crate) async fn run(arguments: &Run, config: Config, program: Program, level: Level) -> Result<Ending, Failure> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let kinds: Vec<Kind> = program.kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    config.check_kinds(&kinds, arguments.config.as_deref()).map_err(|error| Failure::Usage(error.into()))?;
    let metrics = Metrics::new().map_err(|error| anyhow!("cannot set up the metrics: {error}"))?;
    let health = Health::new(sync::names(&kinds, &config).iter().map(String::as_str));
    let reach = Reach::default();
    let serving = match &config.server.address {
        Some(address) => {
            let server = Server::bind(address, "server.address").await.map_err(Failure::Usage)?;
            let serving = server.run(super::rendered(&metrics), health.clone(), reach.clone(), stop.clone());
            Some(Part::spawn("server of metrics and probes", PartLifetime::Stop, &health, &stop, serving))
        }
        None => None,
    };
    let (sender, live) = Live::new(config.clone());
    // Without a file nothing changes, and no log line says so.
    let mut unchanged = None;
    let reloading = match &arguments.config {
        None => {
            unchanged = Some(sender);
            None
        }
        Some(file) => {
            let reload = Reload {
                file: file.clone(),
                kinds: KindNames::of(program.kinds),
                taken_up: warn_of_rules,
                program_kinds: program.kinds,
                environment: Environment::of_process(),
                config: config.clone(),
                live: sender,
                level,
                metrics: metrics.clone(),
            };
            let reloading = without_error(reload.run(stop.clone()));
            Some(Part::spawn("watch of the configuration file", PartLifetime::Stop, &health, &stop, reloading))
        }
    };
    let ending = match config.gate().map_err(|error| Failure::Usage(error.into()))? {
        Gate::Disabled => idle("metadataStorage.enableMetadataStorage is false", &health, &stop).await,
        Gate::NoDatabase => idle("no database is named", &health, &stop).await,
        Gate::Open(address) => {
            let address = match &arguments.password_file {
                Some(file) => with_password(address, file).map_err(|error| Failure::Usage(error.into()))?,
                None => address,
            };
            tracing::info!(database = %address, "Metadata storage enabled");
            let released = super::built_in(program)?;
            let tables =
                Tables { address, kinds: kinds.clone(), program, released, migrate: config.ingester.create_tables };
            mirror(arguments, &live, tables, Reports { metrics, health, reach }, &stop).await
        }
    };
    stop.cancel();
    if let Some(reloading) = reloading {
        reloading.abort();
    }
    drop(unchanged);
    if let Some(serving) = serving {
        // The server ends by itself within a second. Its outcome does not change the result.
        serving.ended().await;
    }
    tracing::info!("Ingester stopped");
    ending
}

/// Takes part in the group of the members with this database.
async fn member(context: &Context, config: &Config, tables: &Tables) -> Result<Membership, Failure> {
    let Context { client, store, metrics, health, assignment, .. } = context;
    let replicas = config.ingester.replicas.clone();
    let name = store.claim_name(&random_name()).await?;
    let namespace = replicas.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
    let group = Group::of_database(namespace, &replicas.name, &name, &tables.address.database());
    let serves = sync::names(&tables.kinds, config).into_iter().collect();
    tracing::info!(
        namespace = group.namespace,
        group = group.name,
        "The work is shared with the other members of the group"
    );
    let leases = KubeLeases::new(client.clone(), group.clone());
    let member =
        Membership::new(leases, &group, name_of_pod(), serves, replicas, assignment.clone(), metrics.replicas());
    let member = member.map_err(|error| Failure::Usage(error.into()))?;
    Ok(member.reporting(health.clone()).writing(&tables.kinds))
}

/// Waits for the stop without work, alive and ready, without a database or a cluster.
async fn idle(reason: &str, health: &Health, stop: &CancellationToken) -> Result<Ending, Failure> {
    health.idle(reason);
    tracing::info!(reason, "Metadata storage not enabled, the ingester stays idle");
    stop.cancelled().await;
    Ok(Ending::Done)
}

/// The parts of the process that metrics and probes report.
struct Reports {
    metrics: Metrics,
    health: Health,
    reach: Reach,
}

/// Mirrors until the stop. All tasks that write are started once [`open`] has found the database to be this cluster's.
async fn mirror(
    arguments: &Run,
    live: &Live,
    mut tables: Tables,
    reports: Reports,
    stop: &CancellationToken,
) -> Result<Ending, Failure> {
    let Reports { metrics, health, reach } = reports;
    let config = live.now();
    if config.ingester.replicas.enabled {
        metrics.replicas().group_units(sync::names(&tables.kinds, &config).len());
    }
    let client = match stop.run_until_cancelled(arguments.cluster.client()).await {
        Some(client) => client?,
        None => return Ok(Ending::Done),
    };
    let (publisher, publishing) = Publisher::new(client.clone(), &metrics);
    let publishing = Part::spawn("publisher of Events", PartLifetime::Stop, &health, stop, without_error(publishing));
    let options = config.mysql.connect_options();
    let watched = ProgressReceiver { client: &client, health: &health };
    let opened = match stop.run_until_cancelled(open(&tables, options, Some(watched))).await {
        None => return Ok(Ending::Done),
        Some(Err(error)) => {
            stop.cancel();
            return Err(refused(error, publisher, publishing).await);
        }
        Some(Ok(opened)) => opened,
    };
    if let Some(checked) = stop.run_until_cancelled(ensure_namespaces(&client, &config, &tables.kinds)).await {
        checked?;
    }
    let store = Arc::new(opened.store);
    reach.connected(&store);
    if let Some(identity) = &opened.identity {
        super::warn_unchecked(identity);
        if *identity == ClusterCheck::Own {
            metrics.cluster_checked();
        }
    }
    tracing::info!(server = store.server(), "{} connection established", store.dialect().title());
    let environment = Environment::of_process();
    tokio::select! {
        () = stop.cancelled() => return Ok(Ending::Done),
        written = super::view_settings::write(&store, &config.ingester.view_settings, &environment, &tables.program) => written?,
    }
    tokio::select! {
        () = stop.cancelled() => return Ok(Ending::Done),
        switched = switch_changes(&store, config.changes.enabled) => switched?,
    }
    health.kinds_looked_up();
    metrics.database(&store);
    let assignment = if config.ingester.replicas.enabled { Assignment::of_members() } else { Assignment::alone() };
    let suspension = Suspension::new(&tables.kinds, &live.now(), &metrics);
    let context = Context { client, store, metrics, health, publisher, assignment };
    let left = CancellationToken::new();
    let taking_part = match config.ingester.replicas.enabled && !stop.is_cancelled() {
        true => {
            let member = member(&context, &config, &tables).await.inspect_err(|_| stop.cancel())?;
            let taking_part = without_error(member.run(left.clone()));
            Some(Part::spawn("membership", PartLifetime::Stop, &context.health, stop, taking_part))
        }
        false => None,
    };
    let beside = SideTasks::begin(&context, &mut tables, live, &suspension, stop);
    let store = context.store.clone();
    let mirrored = sync::run(context, &tables.kinds, live, &suspension, stop.clone()).await;
    // Every unit is stopped, so the other members need not wait.
    left.cancel();
    if let Some(taking_part) = taking_part {
        let _ = tokio::time::timeout(LEAVE, taking_part.ended()).await;
    }
    publishing.abort();
    beside.end().await;
    if let Ok(store) = Arc::try_unwrap(store) {
        // The end of the process closes connections that are still open then.
        let _ = tokio::time::timeout(CLOSE, store.close()).await;
    }
    mirrored.map_err(|error| Failure::Usage(error.into()))?;
    Ok(Ending::Done)
}

/// Ends the publishing of Events after a database was not opened. If it is of another cluster, the last Event says so.
async fn refused(error: OpenFailure, publisher: Publisher, publishing: Part) -> Failure {
    if let OpenFailure::NotOurs(IdentityError::Other { found, .. }) = &error {
        publisher.other_cluster(found, &error.to_string());
    }
    // Once the publisher is dropped, its task ends when everything is sent.
    drop(publisher);
    let _ = tokio::time::timeout(LAST_EVENT, publishing.ended()).await;
    error.into()
}

/// Writes into the database if changes are logged, and retries while it cannot be reached.
async fn switch_changes(store: &Store, on: bool) -> Result<(), StoreError> {
    let attempts = (async || store.switch_changes(on).await).retry(PAUSES);
    attempts
        .when(|error| error.class() == ErrorClass::Transient)
        .notify(|error, _| tracing::warn!(%error, "Database not reached, trying again"))
        .await
}

/// The tasks that run concurrently with the units.
struct SideTasks {
    suspending: Part,
    backfilling: Part,
    counting: Part,
    risks: Part,
    purging: Part,
    auditing: Part,
}

impl SideTasks {
    fn begin(
        context: &Context,
        tables: &mut Tables,
        live: &Live,
        suspension: &Suspension,
        stop: &CancellationToken,
    ) -> Self {
        let Context { store, metrics, health, assignment, .. } = context;
        let kinds = &tables.kinds;
        let followed = suspension.clone();
        let changed = live.clone();
        let suspending = without_error(async move { followed.follow(&changed).await });
        let filling = BackfillTask {
            store: store.clone(),
            leading: LedKinds::new(kinds.clone(), live.clone(), assignment.clone()),
            released: tables.released.take(),
            live: live.clone(),
            suspension: suspension.clone(),
            metrics: metrics.clone(),
            health: health.clone(),
            stop: stop.clone(),
        };
        let counting = report_outside(store.clone(), tables.program.kinds, live.now().ingester.clone());
        let risks = risks::report(store.clone(), kinds.clone());
        let purging = RetentionTask {
            store: store.clone(),
            kinds: kinds.clone(),
            live: live.clone(),
            suspension: suspension.clone(),
            assignment: assignment.clone(),
            metrics: metrics.clone(),
        };
        let audited = context.clone();
        let kinds = kinds.clone();
        let changed = live.clone();
        let end = stop.clone();
        let auditing = async move { audit_periodically(&audited, &kinds, &changed, &end).await };
        SideTasks {
            suspending: Part::spawn("suspension of kinds", PartLifetime::Stop, health, stop, suspending),
            backfilling: Part::spawn("backfill", PartLifetime::Done, health, stop, without_error(filling.run())),
            counting: Part::spawn("count of rows", PartLifetime::Done, health, stop, without_error(counting)),
            risks: Part::spawn("warning of lost commits", PartLifetime::Stop, health, stop, without_error(risks)),
            purging: Part::spawn(
                "retention",
                PartLifetime::Stop,
                health,
                stop,
                without_error(purging.run(stop.clone())),
            ),
            auditing: Part::spawn("scheduled audit", PartLifetime::Stop, health, stop, without_error(auditing)),
        }
    }

    /// After the stop is requested, waits for the tasks that end by themselves, and ends the rest.
    async fn end(self) {
        self.auditing.ended().await;
        // It ends after the current batch.
        let _ = tokio::time::timeout(CLOSE, self.purging.ended()).await;
        self.counting.abort();
        self.risks.abort();
        self.suspending.abort();
        // It ends after the current page. If the database is down, do not wait for it.
        let _ = tokio::time::timeout(CLOSE, self.backfilling.ended()).await;
    }
}

/// Reports the kinds with live rows that this configuration does not follow, as after `namespaces` or `kinds` were narrowed: their
/// objects may have our finalizer, which then stays.
async fn report_outside(store: Arc<Store>, kinds: &'static [Kind], ingester: Ingester) {
    for kind in kinds.iter().filter(|kind| !follows_all(kind, &ingester)) {
        let name = kind.name();
        let counted = match store.live_by_namespace(kind).await {
            Ok(counted) => counted,
            // A kind that was never mirrored here may have no table.
            Err(error) => {
                tracing::debug!(kind = name, %error, "Cannot count the rows outside of the configuration");
                continue;
            }
        };
        if let Some(UnfollowedRows { rows, namespaces }) = outside(kind, &ingester, counted) {
            tracing::warn!(
                kind = name,
                rows,
                namespaces,
                "Live rows are outside of `ingester.kinds` and `ingester.namespaces`: their objects are not followed, and cannot be deleted if they have our finalizer. To remove it, run `ingester finalizers remove --all-namespaces --config FILE {name}`"
            );
        }
    }
}

/// Live rows that the configuration does not follow.
#[derive(Debug, PartialEq, Eq)]
struct UnfollowedRows {
    rows: u64,
    /// The first of their namespaces, for people.
    namespaces: String,
}

/// Returns true if the configuration follows every object of a kind.
fn follows_all(kind: &Kind, ingester: &Ingester) -> bool {
    ingester.has_kind(kind.name()) && (ingester.namespaces.is_empty() || !kind.namespaced())
}

/// The live rows of a kind that the configuration leaves out, from counts by namespace.
fn outside(kind: &Kind, ingester: &Ingester, counted: Vec<(String, u64)>) -> Option<UnfollowedRows> {
    /// The number of namespaces that are listed.
    const NAMED: usize = 5;
    let followed = |namespace: &String| {
        follows_all(kind, ingester) || ingester.has_kind(kind.name()) && ingester.namespaces.contains(namespace)
    };
    let left: Vec<(String, u64)> = counted.into_iter().filter(|(namespace, _)| !followed(namespace)).collect();
    let mut named: Vec<&str> = left.iter().map(|(namespace, _)| namespace.as_str()).take(NAMED).collect();
    if left.len() > NAMED {
        named.push("...");
    }
    let rows = left.iter().map(|(_, rows)| rows).sum();
    (rows > 0).then(|| UnfollowedRows { rows, namespaces: named.join(", ") })
}

/// The pauses after a backfill before the next look for rows of older definitions: during a rolling update, an older release may have
/// written some. The first pause is short, because that release has probably ended by then.
const AGAIN: [Duration; 2] = [Duration::from_secs(300), Duration::from_secs(3600)];

/// The longest pause while rows wait that a changed filter leaves out: in the meantime a person may have confirmed that they are meant.
const WAITING: Duration = Duration::from_secs(600);

/// The time that a page has once the backfill must stop, before it is given up: if the database hangs, it must not keep the permit.
const PAGE: Duration = Duration::from_secs(60);

/// Backfills columns that migrations added and rows of older definitions, one table after the other, while the mirror runs.
struct BackfillTask {
    store: Arc<Store>,
    leading: LedKinds,
    released: Option<ReleasedSchema>,
    live: Live,
    suspension: Suspension,
    metrics: Metrics,
    health: Health,
    stop: CancellationToken,
}

/// The way in which a backfill of one table ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BackfillEnd {
    /// `waits`: all rows are filled, except rows that a changed filter leaves out.
    Completely { waits: bool },
    /// The program stops.
    Stopped,
    /// The kind was suspended, or the rate changed: its place is stored.
    Interrupted,
    /// Another member continues it.
    Elsewhere,
}

impl BackfillTask {
    /// Backfills in rounds, until the program stops.
    async fn run(self) {
        let pauses = || AGAIN.into_iter().chain(std::iter::repeat(AGAIN[1]));
        let mut next = pauses();
        while self.stop.run_until_cancelled(self.listed()).await.is_some() {
            let kinds = self.leading.look();
            let limit = self.live.now().ingester.sweep_limit;
            let attempts = async || match self.stop.is_cancelled() {
                true => Ok(false),
                false => self.all(&kinds).await,
            };
            let token = self.stop.clone();
            let attempts = attempts
                .retry(PAUSES)
                .sleep(move |pause| token.clone().run_until_cancelled_owned(tokio::time::sleep(pause)))
                .notify(|error: &StoreError, _| tracing::warn!(%error, "Backfill failed, trying again"));
            // The attempts end only with a success.
            let waits = attempts.await.unwrap_or_default();
            let pause = next.next().unwrap_or(AGAIN[1]);
            let pause = if waits { pause.min(WAITING) } else { pause };
            let again = async {
                tokio::select! {
                    // A kind that was taken over may have been left half done, and members of an older release wrote rows until they left.
                    () = self.leading.gains() => {}
                    () = self.live.changed(&limit, |config| config.ingester.sweep_limit), if waits => {}
                }
            };
            if let Some(Ok(())) = self.stop.run_until_cancelled(tokio::time::timeout(pause, again)).await {
                next = pauses();
            }
        }
    }

    /// Waits until the first lists are in SQL: they read and write the same rows, and the state of the cluster comes first.
    async fn listed(&self) {
        while self.leading.is_first_listed(&self.health) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Backfills all new columns of these kinds. Tables of suspended kinds come last, and wait until the kind is resumed. Returns true if
    /// rows wait that a changed filter leaves out.
    async fn all(&self, kinds: &[Kind]) -> Result<bool, StoreError> {
        let mut waits = false;
        let mut waiting = self.store.incomplete_backfills(kinds, self.released.as_ref()).await?;
        for backfill in &waiting {
            self.metrics.backfill(backfill.kind.name()).incomplete_columns(backfill.columns().len());
        }
        while !waiting.is_empty() {
            // Take the first table whose kind is not suspended.
            let permits = waiting.iter().map(|backfill| Box::pin(self.suspension.permit(backfill.kind.name())));
            let permit = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Ok(waits),
                // New kinds are handled together with the waiting ones.
                () = self.leading.gains() => return Ok(waits),
                permit = select_all(permits) => permit,
            };
            let (Some(permit), place, _) = permit else { return Ok(waits) };
            let span = tracing::error_span!("backfill", kind = waiting[place].kind.name());
            match self.one(&waiting[place], permit).instrument(span).await? {
                BackfillEnd::Completely { waits: one } => {
                    waits |= one;
                    drop(waiting.remove(place));
                }
                BackfillEnd::Elsewhere => {
                    let left = waiting.remove(place);
                    self.leading.given_away(&left.kind);
                    self.metrics.backfill(left.kind.name()).incomplete_columns(0);
                }
                BackfillEnd::Stopped => return Ok(waits),
                BackfillEnd::Interrupted => {}
            }
        }
        Ok(waits)
    }

    /// Backfills one table. Stops after the current page if the program stops, the kind is being suspended or goes to another member, or
    /// the rate changes.
    async fn one(&self, backfill: &Backfill, mut permit: Permit) -> Result<BackfillEnd, StoreError> {
        if !self.leading.leads(&backfill.kind) {
            return Ok(BackfillEnd::Elsewhere);
        }
        let columns: Vec<String> = backfill.columns().iter().map(ToString::to_string).collect();
        let columns = columns.join(", ");
        tracing::info!(columns, "Backfilling columns from the stored objects");
        let counts = self.metrics.backfill(backfill.kind.name());
        let mut before = BackfillProgress::default();
        let rate = self.live.now().ingester.backfill_rate;
        let stop = self.stop.child_token();
        let backfill = &backfill.clone().limited(self.live.now().ingester.fuse(&backfill.kind));
        let filled = self.store.backfill(backfill, NonZeroU32::new(rate), &stop, |now| {
            let filled = now.filled - before.filled;
            let failed = now.failed - before.failed;
            counts.count_rows(filled, now.read - before.read - filled - failed, failed);
            before = *now;
        });
        let mut filled = std::pin::pin!(filled);
        let ended = tokio::select! {
            biased;
            filled = &mut filled => Some(filled?),
            () = permit.revoked() => None,
            () = self.leading.loses(&backfill.kind) => None,
            () = self.live.changed(&rate, |config| config.ingester.backfill_rate) => None,
        };
        let filled = match ended {
            Some(filled) => filled,
            None => {
                stop.cancel();
                let page = tokio::time::timeout(PAGE, filled).await;
                page.unwrap_or_else(|_| Err(StoreError::silent("filling columns", PAGE)))?
            }
        };
        let BackfillProgress { read, filled, failed, marked, waits, complete, .. } = filled;
        if marked > 0 {
            tracing::warn!(
                rows = marked,
                "The filter of this kind leaves out live rows that another filter has written: they were marked as deleted"
            );
        }
        if let Some(LeftOutCount { rows, live }) = waits {
            tracing::error!(
                rows,
                live,
                "The filter of this kind leaves out so many live rows that none is marked as deleted: correct the filter; if it is meant, \
                 run `ingester audit --repair`, or raise ingester.sweepLimit"
            );
        }
        if complete {
            counts.incomplete_columns(0);
            counts.left_out_waiting(waits.map_or(0, |waits| waits.rows));
            tracing::info!(columns, rows = read, filled, failed, "Backfill finished");
            return Ok(BackfillEnd::Completely { waits: waits.is_some() });
        }
        if self.stop.is_cancelled() {
            tracing::info!(columns, rows = read, "Backfill interrupted, the next start continues it");
            return Ok(BackfillEnd::Stopped);
        }
        match self.leading.leads(&backfill.kind) {
            true => Ok(BackfillEnd::Interrupted),
            false => {
                tracing::info!(columns, rows = read, "Another member continues the backfill");
                Ok(BackfillEnd::Elsewhere)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ingester, Kind, UnfollowedRows, outside};
    use ingester_core::kind::Definition;

    fn kind(namespaced: bool) -> Kind {
        let refused = Kind::refused();
        Kind::new(Definition { kind: "Model", namespaced, ..*refused.definition() }, *refused.functions())
    }

    fn counted(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
        counts.iter().map(|(namespace, rows)| ((*namespace).to_owned(), *rows)).collect()
    }

    fn left(rows: u64, namespaces: &str) -> Option<UnfollowedRows> {
        Some(UnfollowedRows { rows, namespaces: namespaces.into() })
    }

    #[test]
    fn rows_of_other_namespaces_are_outside() {
        let ingester = Ingester { namespaces: vec!["a".into(), "c".into()], ..Ingester::default() };
        assert_eq!(
            outside(&kind(true), &ingester, counted(&[("a", 3), ("b", 4), ("c", 1), ("d", 2)])),
            left(6, "b, d")
        );
        assert_eq!(outside(&kind(true), &ingester, counted(&[("a", 3)])), None);
        assert_eq!(
            outside(&kind(false), &ingester, counted(&[("", 3)])),
            None,
            "cluster-scoped objects have no namespace"
        );
    }

    #[test]
    fn rows_of_a_kind_that_is_not_mirrored_are_outside() {
        let ingester = Ingester { kinds: vec!["Project".into()], ..Ingester::default() };
        let many: Vec<(String, u64)> = (0..9).map(|i| (format!("n{i}"), 1)).collect();
        assert_eq!(outside(&kind(true), &ingester, many), left(9, "n0, n1, n2, n3, n4, ..."));
        assert_eq!(outside(&kind(false), &ingester, counted(&[("", 3)])), left(3, ""));
        assert_eq!(outside(&kind(true), &Ingester::default(), counted(&[("a", 3)])), None);
    }
}
