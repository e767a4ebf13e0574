//! `ingester run`: from the configuration to the engine, and back in order.

use crate::arguments::Run;
use crate::ending::{Ending, Failure};
use crate::program::Program;
use crate::server::Server;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::dialect::Dialect;
use ingester_mirror::config::{Config, Gate};
use ingester_mirror::events::{Options, Publisher};
use ingester_mirror::health::Health;
use ingester_mirror::metrics::Metrics;
use ingester_mirror::sync::{self, Surroundings};
use ingester_store::migrate::{ApplyError, Filled, Progress, Released};
use ingester_store::{Address, Class, ConnectOptions, Store, StoreError};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long closing the connections may take: a database that is down does not keep the process.
const CLOSE: Duration = Duration::from_secs(1);

/// The pause between attempts to reach a database, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

pub(crate) async fn run(arguments: &Run, config: Config, program: Program) -> Result<Ending, Failure> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let kinds: Vec<Kind> = program.kinds.iter().filter(|kind| config.ingester.has_kind(kind.kind())).copied().collect();
    let metrics = Metrics::new().map_err(|error| anyhow!("cannot set up the metrics: {error}"))?;
    let health = Health::new(sync::names(&kinds, &config).iter().map(String::as_str));
    let serving = match &config.server.address {
        Some(address) => {
            let server = Server::bind(address).await.map_err(Failure::Usage)?;
            Some(tokio::spawn(server.run(metrics.clone(), health.clone(), stop.clone())))
        }
        None => None,
    };
    let ending = match config.gate().map_err(|error| Failure::Usage(error.into()))? {
        Gate::Disabled => idle("metadataStorage.enableMetadataStorage is false", &health, &stop).await,
        Gate::NoDatabase => idle("no database is named", &health, &stop).await,
        Gate::Open(address) => {
            tracing::info!(database = %address, "Metadata storage enabled");
            let released = super::built_in(program)?;
            let tables = Tables {
                address,
                kinds: kinds.clone(),
                all: program.kinds,
                released,
                migrate: config.ingester.create_tables,
            };
            mirror(arguments, &config, tables, metrics, health, &stop).await
        }
    };
    stop.cancel();
    if let Some(serving) = serving {
        // It ends by itself within a second; its end changes nothing about how the work ended.
        let _ = serving.await;
    }
    tracing::info!("Ingester stopped");
    ending
}

/// Ctrl-C and SIGTERM stop the work, a second one the process.
fn stop_on_signals(stop: CancellationToken) -> Result<(), Failure> {
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

/// Nothing to do: alive, ready, and touching nothing.
async fn idle(reason: &str, health: &Health, stop: &CancellationToken) -> Result<Ending, Failure> {
    health.idle(reason);
    tracing::info!(reason, "Metadata storage not enabled, the ingester stays idle");
    stop.cancelled().await;
    Ok(Ending::Done)
}

/// Which tables there are to be, and where.
struct Tables {
    address: Address,
    /// The kinds that are mirrored.
    kinds: Vec<Kind>,
    /// All kinds of the program.
    all: &'static [Kind],
    released: Option<Released>,
    /// Whether the ingester itself may change tables.
    migrate: bool,
}

async fn mirror(
    arguments: &Run,
    config: &Config,
    tables: Tables,
    metrics: Metrics,
    health: Health,
    stop: &CancellationToken,
) -> Result<Ending, Failure> {
    let client = arguments.cluster.client().await?;
    let options = config.mysql.connect_options();
    let store = tokio::select! {
        () = stop.cancelled() => return Ok(Ending::Done),
        store = open(&tables, options) => Arc::new(store?),
    };
    let database = match store.dialect() {
        Dialect::MySql => "MySQL",
        Dialect::Sqlite => "SQLite",
    };
    tracing::info!(server = store.server(), "{database} connection established");
    health.database_reached();
    health.kinds_looked_up();
    let (publisher, publishing) = Publisher::new(client.clone(), &metrics, Options::default());
    let publishing = tokio::spawn(publishing);
    let filling = tokio::spawn(fill(
        store.clone(),
        tables.kinds.clone(),
        tables.released,
        config.ingester.backfill_rate,
        metrics.clone(),
        stop.clone(),
    ));
    let surroundings = Surroundings { client, store: store.clone(), metrics, health, publisher };
    sync::run(surroundings, &tables.kinds, config, stop.clone()).await;
    publishing.abort();
    // It ends after the page in hand; where the database is away it is not waited for.
    let _ = tokio::time::timeout(CLOSE, filling).await;
    if let Ok(store) = Arc::try_unwrap(store) {
        // What is left open after that is closed by the end of the process.
        let _ = tokio::time::timeout(CLOSE, store.close()).await;
    }
    Ok(Ending::Done)
}

/// Connects, for as long as it takes; brings the tables up to date, or waits until somebody else has.
async fn open(tables: &Tables, options: ConnectOptions) -> Result<Store, Failure> {
    let (mut pause, longest) = PAUSES;
    loop {
        match prepared(tables, options).await {
            Ok((store, missing)) if missing.is_empty() => return Ok(store),
            Ok((_, missing)) => {
                let missing = missing.join(", ");
                tracing::warn!(missing, "Tables or columns are missing: waiting for `ingester schema apply`");
            }
            Err(Problem::Passing(error)) => tracing::warn!(%error, "Database not reached, trying again"),
            Err(Problem::Lasting(failure)) => return Err(failure),
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(longest);
    }
}

/// Why a database is not ready.
enum Problem {
    Passing(StoreError),
    Lasting(Failure),
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if error.class() == Class::Transient { Problem::Passing(error) } else { Problem::Lasting(error.into()) }
    }
}

impl From<ApplyError> for Problem {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Store(error) => error.into(),
            error => Problem::Lasting(Failure::Usage(error.into())),
        }
    }
}

/// A store, and the tables and columns that it lacks.
async fn prepared(tables: &Tables, options: ConnectOptions) -> Result<(Store, Vec<String>), Problem> {
    let store = Store::connect(&tables.address, options).await?;
    if tables.migrate {
        match &tables.released {
            Some(released) => {
                let mut tell = |progress: Progress| {
                    tracing::info!(
                        migration = progress.migration,
                        "Running migration {} of {}",
                        progress.place,
                        progress.of
                    );
                };
                match released.apply(&store, &mut tell).await {
                    Ok(applied) => applied.drift.iter().for_each(|drift| {
                        tracing::warn!(%drift, "The database differs from the released schema");
                    }),
                    // An earlier program, started again beside an upgrade or after one that was taken back: what it needs may
                    // well be there, which is looked at next.
                    Err(error @ ApplyError::Later(_)) => tracing::warn!(%error, "The database is of a later release"),
                    Err(error) => return Err(error.into()),
                }
            }
            None => {
                let made = store.create_missing(tables.all).await?;
                if !made.is_empty() {
                    tracing::info!(tables = made.len(), "Tables made");
                }
            }
        }
    }
    let mut missing = store.missing(&tables.kinds).await?;
    missing.extend(store.missing_own().await?);
    if missing.is_empty() {
        store.look_for_rejects().await?;
    }
    Ok((store, missing))
}

/// Fills the columns that migrations have added, one table after the other, beside the mirror.
async fn fill(
    store: Arc<Store>,
    kinds: Vec<Kind>,
    released: Option<Released>,
    rate: u32,
    metrics: Metrics,
    stop: CancellationToken,
) {
    let (mut pause, longest) = PAUSES;
    let rate = NonZeroU32::new(rate);
    while !stop.is_cancelled() {
        let Err(error) = filled(&store, &kinds, released.as_ref(), rate, &metrics, &stop).await else { return };
        tracing::warn!(%error, "Filling new columns failed, trying again");
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
        pause = (2 * pause).min(longest);
    }
}

async fn filled(
    store: &Store,
    kinds: &[Kind],
    released: Option<&Released>,
    rate: Option<NonZeroU32>,
    metrics: &Metrics,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    let backfills = store.incomplete(kinds, released).await?;
    for backfill in &backfills {
        metrics.controller(backfill.kind.kind()).incomplete_columns(backfill.columns().count());
    }
    for backfill in &backfills {
        let kind = backfill.kind.kind();
        let columns: Vec<String> = backfill.columns().map(|column| column.name.to_string()).collect();
        let columns = columns.join(", ");
        tracing::info!(kind, columns, "Filling new columns from the stored objects");
        let counts = metrics.controller(kind);
        let mut before = Filled::default();
        let filled = store.backfill(backfill, rate, stop, |now| {
            let (filled, failed) = (now.filled - before.filled, now.failed - before.failed);
            counts.backfilled(filled, now.read - before.read - filled - failed, failed);
            before = *now;
        });
        let filled = filled.await?;
        if !filled.complete {
            tracing::info!(
                kind,
                columns,
                rows = filled.read,
                "Filling new columns interrupted, the next start goes on"
            );
            return Ok(());
        }
        counts.incomplete_columns(0);
        let Filled { read, filled, failed, .. } = filled;
        tracing::info!(kind, columns, rows = read, filled, failed, "New columns are complete");
    }
    Ok(())
}
