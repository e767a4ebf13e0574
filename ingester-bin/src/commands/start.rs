//! The start of `run` and `serve`: they stop on signals, and wait for the database.

use crate::cluster::lasts;
use crate::ending::Failure;
use crate::program::Program;
use anyhow::anyhow;
use backon::{ExponentialBuilder, Retryable as _};
use ingester_core::Kind;
use ingester_mirror::health::Health;
use ingester_mirror::identity::{self, ClusterCheck, IdentityError, Names, identify};
use ingester_store::migrate::{ApplyError, DeclaredError, Progress, ReleasedSchema};
use ingester_store::query::AskError;
use ingester_store::{Address, ConnectOptions, ErrorClass, Store, StoreError, waiting_for};
use std::fmt;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The time limit for closing the connections: if a database is down, it must not keep the process from ending.
pub(super) const CLOSE: Duration = Duration::from_secs(1);

/// The pauses between attempts to reach a database that is not ready, without end.
pub(super) const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(500))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times();

/// The first Ctrl-C or SIGTERM stops the work, the second one ends the process.
pub(super) fn stop_on_signals(stop: CancellationToken) -> Result<(), Failure> {
    let listen = |kind| signal(kind).map_err(|error| anyhow!("cannot listen for signals: {error}"));
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    tokio::spawn(async move {
        for signals in 1.. {
            let name = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            if signals > 1 {
                tracing::warn!(signal = name, "Stopping at once");
                std::process::exit(1);
            }
            tracing::info!(signal = name, "Stopping");
            stop.cancel();
        }
    });
    Ok(())
}

/// The required tables, and their database.
pub(super) struct Tables {
    pub(super) address: Address,
    /// The required kinds.
    pub(super) kinds: Vec<Kind>,
    /// The program, with all its kinds.
    pub(super) program: Program,
    pub(super) released: Option<ReleasedSchema>,
    /// This process migrates the tables.
    pub(super) migrate: bool,
}

/// A database that is ready.
pub(super) struct OpenDatabase {
    pub(super) store: Store,
    /// The result of checking its cluster; `None` if no cluster had to be asked.
    pub(super) identity: Option<ClusterCheck>,
}

/// The reason why no database is ready.
pub(super) enum OpenFailure {
    /// It belongs to another cluster, or to a program with another prefix: it was not changed.
    NotOurs(IdentityError),
    /// Another reason.
    Failed(Failure),
}

impl fmt::Display for OpenFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenFailure::NotOurs(error) => error.fmt(f),
            OpenFailure::Failed(Failure::Usage(error) | Failure::Work(error)) => error.fmt(f),
        }
    }
}

impl From<OpenFailure> for Failure {
    fn from(error: OpenFailure) -> Self {
        match error {
            OpenFailure::NotOurs(error) => failure(error),
            OpenFailure::Failed(failure) => failure,
        }
    }
}

/// The receiver of the progress.
pub(super) struct ProgressReceiver<'w> {
    /// The cluster to which the database must belong.
    pub(super) client: &'w kube::Client,
    pub(super) health: &'w Health,
}

/// Connects, retrying as long as necessary. Then, in this order: checks that the database belongs to the cluster, if one must be asked;
/// migrates the tables, or waits until another program has. So the database of another cluster is never written.
pub(super) async fn open(
    tables: &Tables,
    options: ConnectOptions,
    cluster: Option<ProgressReceiver<'_>>,
) -> Result<OpenDatabase, OpenFailure> {
    let attempts = (async || prepare(tables, options, cluster.as_ref()).await).retry(PAUSES);
    let passes =
        |error: &ReadinessFailure| !matches!(error, ReadinessFailure::Failed(_) | ReadinessFailure::NotOurs(_));
    let attempts = attempts.when(passes).notify(|error, _| match error {
        ReadinessFailure::Unreachable(error) => tracing::warn!(%error, "Database not reached, trying again"),
        ReadinessFailure::Incomplete(missing) => {
            tracing::warn!(missing, "Tables or columns are missing: waiting for `ingester schema apply`");
        }
        ReadinessFailure::Unidentified(error) => tracing::warn!(%error, "{UNIDENTIFIED}"),
        ReadinessFailure::Failed(_) | ReadinessFailure::NotOurs(_) => {}
    });
    attempts.await.map_err(|error| match error {
        ReadinessFailure::Failed(failure) => OpenFailure::Failed(failure),
        ReadinessFailure::NotOurs(error) => OpenFailure::NotOurs(error),
        // These are retried without end.
        ReadinessFailure::Unreachable(error) => OpenFailure::Failed(error.into()),
        ReadinessFailure::Unidentified(error) => OpenFailure::Failed(failure(error)),
        ReadinessFailure::Incomplete(missing) => {
            OpenFailure::Failed(Failure::Work(anyhow!("the database lacks {missing}")))
        }
    })
}

/// The cluster has not told its identity.
const UNIDENTIFIED: &str = "The cluster is not identified yet, trying again";

/// The reason why a database is not ready.
enum ReadinessFailure {
    /// It cannot be reached now.
    Unreachable(StoreError),
    /// The cluster has not answered.
    Unidentified(IdentityError),
    /// It belongs to another cluster, or to a program with another prefix.
    NotOurs(IdentityError),
    /// It lacks these tables and columns.
    Incomplete(String),
    /// It will not become ready by itself.
    Failed(Failure),
}

impl From<IdentityError> for ReadinessFailure {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Store(error) => error.into(),
            IdentityError::Other { .. } | IdentityError::OtherPrefix { .. } => ReadinessFailure::NotOurs(error),
            IdentityError::Api(ref of) if lasts(of) => ReadinessFailure::Failed(Failure::Usage(error.into())),
            IdentityError::Api(_) | IdentityError::NoAnswer(_) => ReadinessFailure::Unidentified(error),
        }
    }
}

impl From<StoreError> for ReadinessFailure {
    fn from(error: StoreError) -> Self {
        if error.class() == ErrorClass::Transient {
            ReadinessFailure::Unreachable(error)
        } else {
            ReadinessFailure::Failed(error.into())
        }
    }
}

impl From<AskError> for ReadinessFailure {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Store(error) => error.into(),
            AskError::TooSlow(time, asked) => ReadinessFailure::Unreachable(StoreError::silent(&asked, time)),
            error => ReadinessFailure::Failed(super::failed(error)),
        }
    }
}

impl From<ApplyError> for ReadinessFailure {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Store(error) => error.into(),
            error => ReadinessFailure::Failed(Failure::Usage(error.into())),
        }
    }
}

impl ReadinessFailure {
    /// The failure when the tables of declared kinds cannot be changed to fit.
    fn declared(error: DeclaredError, program: Program) -> Self {
        match error {
            DeclaredError::Store(error) => error.into(),
            error => ReadinessFailure::Failed(super::declared_failure(error, program)),
        }
    }
}

/// Connects, checks the cluster, and migrates the tables, once.
async fn prepare(
    tables: &Tables,
    options: ConnectOptions,
    cluster: Option<&ProgressReceiver<'_>>,
) -> Result<OpenDatabase, ReadinessFailure> {
    let store = Store::connect(&tables.address, options).await?;
    let identity = match cluster {
        Some(cluster) => Some(belonging(tables, &store, cluster).await?),
        None => None,
    };
    if tables.migrate {
        // Check before the first statement of any kind. With a cluster, `belonging` has already done so.
        if cluster.is_none() {
            super::refuse_foreign(&store, tables.released.as_ref(), tables.program).await?;
        }
        match &tables.released {
            Some(released) => {
                let mut log = |progress: Progress| {
                    tracing::info!(
                        migration = progress.migration,
                        "Running migration {} of {}",
                        progress.place,
                        progress.of
                    );
                };
                match released.apply(&store, &mut log).await {
                    Ok(applied) => applied.drift.iter().for_each(|drift| {
                        tracing::warn!(%drift, "The database differs from the released schema");
                    }),
                    // An older program runs during an upgrade, or after an upgrade was reverted. The database may still have everything
                    // that the program needs; the next step checks this.
                    Err(error @ ApplyError::Later(_)) => tracing::warn!(%error, "The database is of a later release"),
                    Err(error) => return Err(error.into()),
                }
                if let Some(remedy) = super::to_adopt(&store, tables.program).await? {
                    tracing::warn!("{remedy}");
                }
            }
            None => store.create_own().await?,
        }
    }
    let program = tables.program;
    let declared = tables.program.declared;
    let not_followed = |error| ReadinessFailure::declared(error, program);
    if tables.migrate {
        super::make_declared(&store, program.of_declared()).await.map_err(not_followed)?;
    }
    let lacking = store.lacking(&tables.kinds).await?;
    if !tables.migrate && lacking.own.is_empty() {
        store.check_declared(declared).await.map_err(not_followed)?;
    }
    let missing = lacking.all();
    if !missing.is_empty() {
        return Err(ReadinessFailure::Incomplete(missing.join(", ")));
    }
    store.look_for_rejects().await?;
    store.learn_declared(declared).await.map_err(not_followed)?;
    if cluster.is_some() {
        store.record_latest(&tables.kinds).await?;
    }
    if cluster.is_some()
        && let Some(refused) = super::risks::refused_pruning(&store, &tables.kinds).await?
    {
        return Err(ReadinessFailure::Failed(refused));
    }
    for kind in declared.iter().filter(|kind| kind.ingest_version() == 0) {
        tracing::warn!(
            kind = kind.name(),
            "Rows do not record their definition and are not filled again, because the database does not know this definition; \
             run `ingester schema apply{}`",
            program.with_file()
        );
    }
    Ok(OpenDatabase { store, identity })
}

/// Checks that the database belongs to the cluster, and that it has no tables of another program. A database without a cluster is recorded
/// as this one's before any other change to it: only the table for that is created, if it is missing.
async fn belonging(
    tables: &Tables,
    store: &Store,
    cluster: &ProgressReceiver<'_>,
) -> Result<ClusterCheck, ReadinessFailure> {
    cluster.health.database_reached();
    cluster.health.cluster_pending();
    let found = waiting_for(|| "the API server, to identify its cluster".into(), identity::cluster(cluster.client));
    let found = found.await?;
    if tables.migrate {
        super::refuse_foreign(store, tables.released.as_ref(), tables.program).await?;
    }
    if !store.has_settings().await? {
        if !tables.migrate {
            return Err(ReadinessFailure::Incomplete(store.lacking(&[]).await?.own.join(", ")));
        }
        store.create_settings().await?;
    } else if !tables.migrate {
        store.check_own().await?;
    }
    let identity = identity::claim(found, store, Names::Written(tables.program.marks)).await?;
    match &identity {
        ClusterCheck::Unchecked(reason) => cluster.health.cluster_checked(Some(reason)),
        ClusterCheck::Own => cluster.health.cluster_checked(None),
    }
    Ok(identity)
}

/// Checks that the database belongs to the cluster and has these names; repeats its questions until both answer.
pub(super) async fn identified(
    client: &kube::Client,
    store: &Store,
    names: Names,
) -> Result<ClusterCheck, IdentityError> {
    let attempts = (async || identify(client, store, names).await).retry(PAUSES);
    let attempts = attempts
        .when(|error| match error {
            IdentityError::Api(error) => !lasts(error),
            IdentityError::NoAnswer(_) => true,
            IdentityError::Store(error) => error.class() == ErrorClass::Transient,
            IdentityError::Other { .. } | IdentityError::OtherPrefix { .. } => false,
        })
        .notify(|error, _| tracing::warn!(%error, "{UNIDENTIFIED}"));
    let identity = attempts.await?;
    super::warn_unchecked(&identity);
    Ok(identity)
}

/// Returns the failure of a command that needs to know the cluster.
pub(super) fn failure(error: IdentityError) -> Failure {
    match error {
        IdentityError::Store(error) => error.into(),
        error => Failure::Usage(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::ReadinessFailure;
    use ingester_store::query::AskError;
    use std::time::Duration;

    #[test]
    fn a_question_that_took_too_long_is_asked_again() {
        let error = AskError::TooSlow(Duration::from_secs(30), "SELECT".to_owned());
        assert!(matches!(ReadinessFailure::from(error), ReadinessFailure::Unreachable(_)));
    }
}
