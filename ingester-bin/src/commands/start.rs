//! What `run` and `serve` do when they start: they stop on signals, and wait for the database.

use crate::ending::Failure;
use crate::program::Program;
use anyhow::anyhow;
use backon::{ExponentialBuilder, Retryable as _};
use ingester_core::Kind;
use ingester_mirror::identity::{Identity, IdentityError, identify};
use ingester_store::migrate::{ApplyError, DeclaredError, Progress, Released};
use ingester_store::{Address, ConnectOptions, ErrorClass, Store, StoreError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long closing the connections may take: a database that is down must not keep the process from ending.
pub(super) const CLOSE: Duration = Duration::from_secs(1);

/// The pauses between attempts at a database that is not ready. They do not end.
pub(super) const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(500))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times();

/// The first Ctrl-C or SIGTERM stops the work, the second one ends the process.
pub(super) fn stop_on_signals(stop: CancellationToken) -> Result<(), Failure> {
    let listen = |kind| signal(kind).map_err(|error| anyhow!("cannot listen for signals: {error}"));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
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

/// Which tables are needed, and in which database.
pub(super) struct Tables {
    pub(super) address: Address,
    /// The kinds that are needed.
    pub(super) kinds: Vec<Kind>,
    /// The program, with all its kinds.
    pub(super) program: Program,
    pub(super) released: Option<Released>,
    /// Whether this process migrates the tables.
    pub(super) migrate: bool,
}

/// Connects, retrying as long as it takes, and migrates the tables or waits until somebody else does.
pub(super) async fn open(tables: &Tables, options: ConnectOptions) -> Result<Store, Failure> {
    let attempts = (async || prepare(tables, options).await).retry(PAUSES);
    let attempts = attempts.when(|error| !matches!(error, NotReady::Failed(_))).notify(|error, _| match error {
        NotReady::Unreachable(error) => tracing::warn!(%error, "Database not reached, trying again"),
        NotReady::Incomplete(missing) => {
            tracing::warn!(missing, "Tables or columns are missing: waiting for `ingester schema apply`");
        }
        NotReady::Failed(_) => {}
    });
    attempts.await.map_err(|error| match error {
        NotReady::Failed(failure) => failure,
        // These are retried without an end.
        NotReady::Unreachable(error) => error.into(),
        NotReady::Incomplete(missing) => Failure::Work(anyhow!("the database lacks {missing}")),
    })
}

/// Why a database is not ready.
enum NotReady {
    /// It cannot be reached now.
    Unreachable(StoreError),
    /// It lacks these tables and columns.
    Incomplete(String),
    /// It will not become ready by itself.
    Failed(Failure),
}

impl From<StoreError> for NotReady {
    fn from(error: StoreError) -> Self {
        if error.class() == ErrorClass::Transient {
            NotReady::Unreachable(error)
        } else {
            NotReady::Failed(error.into())
        }
    }
}

impl From<ApplyError> for NotReady {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Store(error) => error.into(),
            error => NotReady::Failed(Failure::Usage(error.into())),
        }
    }
}

impl From<DeclaredError> for NotReady {
    fn from(error: DeclaredError) -> Self {
        match error {
            DeclaredError::Store(error) => error.into(),
            error => NotReady::Failed(super::declared_failure(error)),
        }
    }
}

/// Connects and migrates the tables, once.
async fn prepare(tables: &Tables, options: ConnectOptions) -> Result<Store, NotReady> {
    let store = Store::connect(&tables.address, options).await?;
    if tables.migrate {
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
                    // An older program that runs during an upgrade, or after an upgrade was reverted. The database may still
                    // have everything that it needs; this is checked next.
                    Err(error @ ApplyError::Later(_)) => tracing::warn!(%error, "The database is of a later release"),
                    Err(error) => return Err(error.into()),
                }
            }
            None => {
                let made = store.create_missing(tables.program.registry()).await?;
                if !made.is_empty() {
                    tracing::info!(tables = made.len(), "Tables and views made");
                }
            }
        }
    }
    let declared = tables.program.declared;
    if tables.migrate {
        super::make_declared(&store, tables.program.of_file()).await?;
    }
    if !tables.migrate && store.missing_own().await?.is_empty() {
        store.check_declared(declared).await?;
    }
    let mut missing = store.missing(&tables.kinds).await?;
    missing.extend(store.missing_own().await?);
    if !missing.is_empty() {
        return Err(NotReady::Incomplete(missing.join(", ")));
    }
    store.look_for_rejects().await?;
    store.learn_declared(declared).await?;
    for kind in declared.iter().filter(|kind| kind.ingest_version() == 0) {
        tracing::warn!(
            kind = kind.name(),
            "Rows do not say which definition of their kind wrote them, and are not filled again: nobody has recorded this one; \
             run `ingester schema apply --kinds FILE`"
        );
    }
    Ok(store)
}

/// Checks that the database belongs to the cluster, and asks until both answer.
pub(super) async fn identified(client: &kube::Client, store: &Store) -> Result<Identity, IdentityError> {
    let attempts = (async || identify(client, store).await).retry(PAUSES);
    let attempts = attempts
        .when(|error| match error {
            IdentityError::Api(_) | IdentityError::NoAnswer(_) => true,
            IdentityError::Store(error) => error.class() == ErrorClass::Transient,
            IdentityError::Other { .. } => false,
        })
        .notify(|error, _| tracing::warn!(%error, "The cluster is not identified yet, trying again"));
    let identity = attempts.await?;
    super::warn_unchecked(&identity);
    Ok(identity)
}

/// The failure of a command that needs to know the cluster.
pub(super) fn failure(error: IdentityError) -> Failure {
    match error {
        IdentityError::Store(error) => error.into(),
        error => Failure::Usage(error.into()),
    }
}
