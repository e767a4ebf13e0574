//! Starts and supervises the live mirror: one unit for each kind, or for each of its namespaces and shards.
//!
//! May use: ingester-config, ingester-core, ingester-store, backoff, budget, clock, cluster, dependents, events, follow, health, metrics, part, replicas, rows, suspend, unit.
//! Must not: know SQL text, a particular kind, or command line arguments.
//!
//! ```text
//! follow: list, watch, resync ──> pipeline: queue ─> prepare ─> commit ─> acknowledge
//! ```

mod records;

use crate::backoff::{Backoff, RESTART, RESTART_LONGEST};
use crate::budget::Budget;
use crate::clock::DatabaseClock;
use crate::cluster::{ApiServer, DroppedFields, StreamedLists};
use crate::dependents::MirroredKinds;
use crate::events::Publisher;
use crate::follow::{Follower, panic_of};
use crate::health::{Health, KindState};
use crate::metrics::Metrics;
use crate::part::{PartOfCluster, PartOfRows};
use crate::replicas::{Assignment, HeldUnit};
use crate::rows::StoreRows;
use crate::suspend::Suspension;
use crate::unit::{Scope, Unit, scopes};
use ingester_config::{Config, Live};
use ingester_core::kind::Kind;
use ingester_core::{RegistryError, check_registry};
use ingester_store::Store;
use records::Recorder;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// The parts that every controller needs.
#[derive(Clone)]
pub struct Context {
    /// The API server.
    pub client: kube::Client,
    /// The database.
    pub store: Arc<Store>,
    /// The metrics of the process.
    pub metrics: Metrics,
    /// The state that the probes report.
    pub health: Health,
    /// Publishes Kubernetes Events.
    pub publisher: Publisher,
    /// The units that belong to this process.
    pub assignment: Assignment,
}

/// The memory for objects that were read and are not written yet, in bytes.
const MEMORY: usize = 32 << 20;

/// Mirrors `kinds` until `stop` is cancelled, then finishes the current batches.
///
/// Each kind has its own unit; with `ingester.namespaces`, each kind has one for each namespace. A unit that panics is started again after
/// a pause; the others are not affected. A unit whose kind is suspended is stopped, and started again when the kind is resumed.
///
/// # Errors
/// If two kinds cannot be mirrored together, for example because they share a table. No unit is started then.
pub async fn run(
    context: Context,
    kinds: &[Kind],
    live: &Live,
    suspension: &Suspension,
    stop: CancellationToken,
) -> Result<(), RegistryError> {
    check_registry(kinds)?;
    let mut controllers = JoinSet::new();
    let units = units(&context, kinds, live, &stop);
    let ended = stop.child_token();
    let recording = tokio::spawn(Recorder::new(&context, &units).run(ended.clone()));
    for unit in units {
        let span = unit.span();
        controllers.spawn(supervise(unit, context.assignment.clone(), suspension.clone()).instrument(span));
    }
    while let Some(ended) = controllers.join_next().await {
        if let Err(error) = ended {
            let reason = panic_of(error);
            context.health.dead("supervisor of a controller", &reason);
            tracing::error!(reason, "A supervisor panicked");
        }
    }
    ended.cancel();
    if let Err(error) = recording.await {
        tracing::debug!(%error, "The task that records what the units do has ended before");
    }
    Ok(())
}

/// Returns the names of the controllers, for [`Health::new`].
pub fn names(kinds: &[Kind], config: &Config) -> Vec<String> {
    scopes(kinds, config).iter().map(Scope::name).collect()
}

/// Returns the units of `kinds`.
pub(crate) fn units(context: &Context, kinds: &[Kind], live: &Live, exit: &CancellationToken) -> Vec<Unit> {
    let Context { client, store, metrics, health, publisher, assignment } = context;
    let budget = Budget::new(MEMORY);
    let streams = StreamedLists::default();
    let dropped = DroppedFields::default();
    let config = live.now();
    let mirrored: Arc<[Kind]> = kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let mirrored = MirroredKinds::new(mirrored);
    let scopes = scopes(kinds, &config).into_iter();
    scopes
        .map(|scope| (Arc::new(config.ingester.selection_of(scope.kind.name())), scope))
        .map(|(selection, Scope { kind, namespace, shard })| Unit {
            kind,
            selection: selection.clone(),
            mirrored: mirrored.clone(),
            cluster: Arc::new(PartOfCluster {
                whole: Arc::new({
                    let server = ApiServer::new(client.clone(), kind, namespace.clone(), shard, streams.clone());
                    let server = server.selecting(selection);
                    if needs_managed_fields(&kind, &config) { server } else { server.dropping(dropped.clone()) }
                }),
                shard,
                assignment: assignment.clone(),
            }),
            rows: Arc::new(PartOfRows {
                whole: Arc::new(StoreRows {
                    store: store.clone(),
                    kind,
                    namespace: namespace.clone(),
                    kinds: mirrored.kinds.clone(),
                }),
                shard,
                assignment: assignment.clone(),
            }),
            clock: Arc::new(DatabaseClock(store.clone())),
            memory: budget.quota(),
            namespace,
            shard,
            live: live.clone(),
            metrics: metrics.controller(kind.name()),
            health: health.clone(),
            publisher: publisher.clone(),
            stop: exit.child_token(),
            exit: exit.clone(),
        })
        .collect()
}

/// Returns true if the mirror reads `metadata.managedFields` of a kind: they are stored, or they name the managers of a version.
fn needs_managed_fields(kind: &Kind, config: &Config) -> bool {
    !config.ingester.prune_managed_fields || kind.history().is_some()
}

/// Mirrors a unit while it belongs to this process.
pub(crate) async fn supervise(unit: Unit, assignment: Assignment, suspension: Suspension) {
    let name = unit.name();
    let mut backoff = Backoff::new(RESTART);
    while !unit.exit.is_cancelled() {
        if !assignment.holds(&name) {
            unit.health.kind(&name, KindState::Elsewhere);
            unit.metrics.given_away();
        }
        let Some(mut held) = unit.exit.run_until_cancelled(assignment.hold(&name)).await else { return };
        unit.metrics.taken_over();
        while !unit.exit.is_cancelled() && assignment.holds(&name) {
            mirror(&unit, &name, &mut held, &suspension, &mut backoff).await;
        }
    }
}

/// Mirrors a unit while it is held and its kind is not suspended. After a panic it begins again: the memory may be wrong, but SQL is not.
async fn mirror(unit: &Unit, name: &str, held: &mut HeldUnit, suspension: &Suspension, backoff: &mut Backoff) {
    let kind = unit.kind.name();
    let suspended = suspension.is_suspended(kind);
    if suspended {
        unit.health.kind(name, KindState::Suspended);
    }
    let permit = tokio::select! {
        biased;
        () = unit.exit.cancelled() => return,
        () = held.revoked() => return,
        permit = suspension.permit(kind) => permit,
    };
    let Some(mut permit) = permit else {
        // A kind that cannot be suspended is not mirrored either.
        return unit.exit.cancelled().await;
    };
    if suspended || !unit.health.is_known(name) {
        // The rows are read before anything is listed, which may take a long time.
        unit.health.kind(name, KindState::Listing);
    }
    let begin = tokio::time::Instant::now();
    let stop = unit.exit.child_token();
    let mut following = std::pin::pin!(Follower::run(Unit { stop: stop.clone(), ..unit.clone() }));
    let ended = tokio::select! {
        biased;
        ended = &mut following => ended,
        () = permit.revoked() => {
            stop.cancel();
            following.await
        }
        () = held.revoked() => {
            stop.cancel();
            following.await
        }
    };
    unit.metrics.stopped();
    if suspension.is_suspended(kind) {
        unit.health.kind(name, KindState::Suspended);
    }
    drop(permit);
    let Err(reason) = ended else { return };
    unit.metrics.panicked();
    unit.health.kind(name, KindState::Failed(format!("panicked: {reason}")));
    tracing::error!(reason, "Controller panicked and is started again; please report it");
    if begin.elapsed() > RESTART_LONGEST {
        backoff.reset();
    }
    tokio::select! {
        biased;
        () = unit.exit.cancelled() => {}
        () = held.revoked() => {}
        () = tokio::time::sleep(backoff.pause()) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, names, run, supervise, units};
    use crate::events::Publisher;
    use crate::fixture::MODEL;
    use crate::health::Health;
    use crate::metrics::Metrics;
    use crate::replicas::Assignment;
    use crate::suspend::Suspension;
    use http::{Request, Response};
    use ingester_config::{Config, Live, SweepLimit};
    use ingester_core::kind::Definition;
    use ingester_core::object::ManagedFields;
    use ingester_core::{Kind, KindNames};
    use ingester_store::{RowChange, Store};
    use kube::Client;
    use kube::client::Body;
    use std::collections::BTreeSet;
    use std::convert::Infallible;
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn kinds_of_one_name_have_controllers_of_two_names() {
        let other = Kind::new(Definition { group: "apps", ..*MODEL.definition() }, *MODEL.functions());
        let kinds = KindNames::distinct(&[MODEL, other]).unwrap();
        let mut config = Config::default();
        assert_eq!(names(&kinds, &config), ["Model.michelangelo.api", "Model.apps"]);
        config.ingester.kinds = vec!["Model.apps".into()];
        config.ingester.namespaces = vec!["ml".into()];
        assert_eq!(names(&kinds, &config), ["Model.apps in ml"]);
        config.ingester.replicas.shards = 2;
        assert_eq!(names(&kinds, &config), ["Model.apps in ml"], "one process alone has no shards");
        config.ingester.replicas.enabled = true;
        assert_eq!(names(&kinds, &config), ["Model.apps in ml 1/2", "Model.apps in ml 2/2"]);
    }

    /// An API server without objects, whose watches send nothing.
    async fn answer(request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let query = request.uri().query().unwrap_or_default();
        let text = if query.contains("sendInitialEvents") {
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#
        } else if query.contains("watch=") {
            return std::future::pending().await;
        } else {
            r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#
        };
        Ok(Response::new(Body::from(text.as_bytes().to_vec())))
    }

    /// Does the same, and also answers requests for one object.
    async fn answer_empty(request: Request<Body>) -> Result<Response<Body>, Infallible> {
        if request.uri().path().ends_with("/models") {
            return answer(request).await;
        }
        let text =
            r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no"}"#;
        Ok(Response::builder().status(404).body(Body::from(text.as_bytes().to_vec())).unwrap())
    }

    const NAMESPACES: [&str; 4] = ["a", "b", "c", "d"];

    /// Returns the number of live rows.
    async fn live(store: &Store) -> u64 {
        store.live_by_namespace(&MODEL).await.unwrap().iter().map(|(_, rows)| rows).sum()
    }

    /// The context of a process that mirrors models into this store.
    fn context(store: &Arc<Store>, config: &Config, metrics: &Metrics) -> Context {
        Context {
            client: Client::new(tower::service_fn(answer_empty), "default"),
            store: store.clone(),
            metrics: metrics.clone(),
            health: Health::new(names(&[MODEL], config).iter().map(String::as_str)),
            publisher: Publisher::off(),
            assignment: Assignment::alone(),
        }
    }

    #[tokio::test]
    async fn kinds_with_one_table_are_not_mirrored() {
        let other = Kind::new(Definition { kind: "Other", ..*MODEL.definition() }, *MODEL.functions());
        let kinds = [MODEL, other];
        let config = Config::default();
        let metrics = Metrics::new().unwrap();
        let context = context(&Arc::new(Store::in_memory(&[MODEL]).await.unwrap()), &config, &metrics);
        let suspension = Suspension::new(&kinds, &config, &metrics);
        let ran = run(context, &kinds, &Live::fixed(config), &suspension, CancellationToken::new()).await;
        assert!(ran.unwrap_err().to_string().contains("have one table, `model`"));
    }

    /// An API server that does not serve the kind.
    async fn answer_not_found(_: Request<Body>) -> Result<Response<Body>, Infallible> {
        let text = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}"#;
        Ok(Response::builder().status(404).body(Body::from(text.as_bytes().to_vec())).unwrap())
    }

    #[tokio::test]
    async fn a_warning_of_a_unit_names_the_unit_at_level_warn() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::WARN)
            .with_ansi(false)
            .with_writer(Arc::new(log.reopen().unwrap()))
            .finish();
        let _logging = tracing::subscriber::set_default(subscriber);
        let mut config = Config::default();
        config.ingester.namespaces = vec!["ml".into()];
        (config.ingester.replicas.enabled, config.ingester.replicas.shards) = (true, 2);
        let metrics = Metrics::new().unwrap();
        let context = context(&Arc::new(Store::in_memory(&[MODEL]).await.unwrap()), &config, &metrics);
        let context = Context { client: Client::new(tower::service_fn(answer_not_found), "default"), ..context };
        let suspension = Suspension::new(&[MODEL], &config, &metrics);
        let live = Live::fixed(config);
        let exit = CancellationToken::new();
        let warned = async {
            let is_warning = |line: &&str| line.contains("This kind is not installed");
            loop {
                let log = std::fs::read_to_string(log.path()).unwrap();
                let lines: Vec<String> = log.lines().filter(is_warning).map(str::to_owned).collect();
                if lines.len() == 2 {
                    exit.cancel();
                    return lines;
                }
                tokio::task::yield_now().await;
            }
        };
        let both = async { tokio::join!(run(context, &[MODEL], &live, &suspension, exit.clone()), warned) };
        let (ran, lines) = tokio::time::timeout(std::time::Duration::from_secs(60), both).await.unwrap();
        ran.unwrap();
        for shard in ["1/2", "2/2"] {
            let unit =
                format!(" WARN unit{{kind=\"Model\" namespace=\"ml\" shard={shard}}}: ingester_mirror::follow: ");
            assert!(lines.iter().any(|line| line.contains(&unit)), "{lines:#?}");
        }
    }

    /// Runs a process until each of its namespaces was listed, and nothing waits. Returns the number of refused sweeps.
    async fn list_all(store: &Arc<Store>, config: &Config) -> f64 {
        let metrics = Metrics::new().unwrap();
        let context = context(store, config, &metrics);
        let exit = CancellationToken::new();
        let suspension = Suspension::new(&[MODEL], config, &metrics);
        let live = Live::fixed(config.clone());
        let end = exit.clone();
        let running = tokio::spawn(async move { run(context, &[MODEL], &live, &suspension, end).await });
        let value = |name: &str| {
            let text = metrics.render();
            let start = format!("{name}{{kind=\"Model\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&start)?.parse().ok()).unwrap_or(-1.0)
        };
        let listed = async {
            // Synced means that every namespace is listed, and all listed objects are in SQL.
            while value("ingester_synced") < 1.0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), listed).await.unwrap();
        let refused = value("ingester_sweeps_refused_total");
        exit.cancel();
        running.await.unwrap().unwrap();
        refused
    }

    /// A database with eight rows in each namespace.
    async fn create_store() -> Arc<Store> {
        let store = Arc::new(Store::in_memory(&[MODEL]).await.unwrap());
        let rows = NAMESPACES.iter().flat_map(|namespace| {
            (0..8).map(move |number| {
                let text = format!(
                    r#"{{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{{"namespace":"{namespace}","name":"m{number}","uid":"{namespace}-{number}","resourceVersion":"1"}}}}"#
                );
                let object = crate::unit::parse(&MODEL, text.into(), ManagedFields::Keep).unwrap();
                RowChange::Row(MODEL.row(&object).unwrap().unwrap())
            })
        });
        store.write(MODEL.table(), rows.collect()).await.unwrap();
        store
    }

    /// Rows that one namespace marked count for the next, even if the first wants to mark nothing more.
    #[tokio::test]
    async fn rows_that_were_marked_count_for_the_limit_of_the_kind() {
        let store = create_store().await;
        let mut config = Config::default();
        config.ingester.sweep_limit = SweepLimit::from_rows(10);
        for (namespace, refused, left) in [(0, 0.0, 24), (0, 0.0, 24), (1, 1.0, 24)] {
            config.ingester.namespaces = vec![NAMESPACES[namespace].to_owned()];
            assert_eq!((list_all(&store, &config).await, live(&store).await), (refused, left), "{namespace}");
        }
    }

    #[tokio::test]
    async fn an_empty_cluster_costs_a_kind_no_more_rows_than_its_limit_whatever_its_namespaces() {
        let store = create_store().await;
        let mut config = Config::default();
        config.ingester.namespaces = NAMESPACES.map(str::to_owned).to_vec();
        config.ingester.sweep_limit = SweepLimit::from_rows(10);
        // The first process, and one that is started after it.
        for process in 0..2 {
            let refused = list_all(&store, &config).await;
            assert!(refused >= 3.0, "{refused} of 4 lists were refused");
            assert!(live(&store).await >= 32 - 10, "{} rows are live, process {process}", live(&store).await);
        }
        // Each namespace alone may lose its rows, because the limit applies to all of them together.
        config.ingester.sweep_limit = SweepLimit::from_rows(32);
        assert_eq!((list_all(&store, &config).await, live(&store).await), (0.0, 0));
    }

    #[tokio::test]
    async fn a_kind_that_is_given_away_leaves_no_metrics_behind() {
        let metrics = Metrics::new().unwrap();
        let config = Config::default();
        let suspension = Suspension::new(&[MODEL], &config, &metrics);
        let assignment = Assignment::of_members();
        let context = Context {
            client: Client::new(tower::service_fn(answer), "default"),
            store: Arc::new(Store::in_memory(&[MODEL]).await.unwrap()),
            metrics: metrics.clone(),
            health: Health::new(["Model"]),
            publisher: Publisher::off(),
            assignment: assignment.clone(),
        };
        let exit = CancellationToken::new();
        let unit = units(&context, &[MODEL], &Live::fixed(config), &exit).remove(0);
        let supervising = tokio::spawn(supervise(unit, assignment.clone(), suspension));
        let until = async |holds: bool| {
            let both =
                ["installed", "synced"].map(|name| format!("ingester_{name}{{kind=\"Model\"}} {}\n", u8::from(holds)));
            while !both.iter().all(|line| metrics.render().contains(line)) {
                tokio::task::yield_now().await;
            }
        };
        for holds in [false, true, false, true] {
            assignment.allow(if holds { BTreeSet::from(["Model".to_owned()]) } else { BTreeSet::new() });
            tokio::time::timeout(std::time::Duration::from_secs(30), until(holds)).await.unwrap();
        }
        exit.cancel();
        supervising.await.unwrap();
    }
}
