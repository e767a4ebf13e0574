//! `ingester run`: from the configuration to the engine, and back in order.

use crate::arguments::Run;
use crate::server::Server;
use crate::{Ending, Failure};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::config::{Config, Gate};
use ingester_core::dialect::Dialect;
use ingester_core::events::{Options, Publisher};
use ingester_core::health::Health;
use ingester_core::metrics::Metrics;
use ingester_core::store::{Address, Class, ConnectOptions, Store, StoreError};
use ingester_core::sync::{self, Surroundings};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long closing the connections may take: a database that is down does not keep the process.
const CLOSE: Duration = Duration::from_secs(1);

/// The pause between attempts to reach a database, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

pub(crate) async fn run(arguments: &Run, config: Config, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let kinds: Vec<Kind> = kinds.iter().filter(|kind| config.ingester.has_kind(kind.kind())).copied().collect();
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
            mirror(arguments, &config, &address, &kinds, metrics, health, &stop).await
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

async fn mirror(
    arguments: &Run,
    config: &Config,
    address: &Address,
    kinds: &[Kind],
    metrics: Metrics,
    health: Health,
    stop: &CancellationToken,
) -> Result<Ending, Failure> {
    let client = arguments.cluster.client().await?;
    let options = config.mysql.connect_options();
    let store = tokio::select! {
        () = stop.cancelled() => return Ok(Ending::Done),
        store = open(address, options, config.ingester.create_tables, kinds) => Arc::new(store?),
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
    let surroundings = Surroundings { client, store: store.clone(), metrics, health, publisher };
    sync::run(surroundings, kinds, config, stop.clone()).await;
    publishing.abort();
    if let Ok(store) = Arc::try_unwrap(store) {
        // What is left open after that is closed by the end of the process.
        let _ = tokio::time::timeout(CLOSE, store.close()).await;
    }
    Ok(Ending::Done)
}

/// Connects, for as long as it takes; makes the tables that are missing, or waits until somebody else has.
async fn open(
    address: &Address,
    options: ConnectOptions,
    create_tables: bool,
    kinds: &[Kind],
) -> Result<Store, StoreError> {
    let (mut pause, longest) = PAUSES;
    loop {
        match prepared(address, options, create_tables, kinds).await {
            Ok((store, missing)) if missing.is_empty() => return Ok(store),
            Ok((_, missing)) => {
                let tables = missing.join(", ");
                tracing::warn!(tables, "Tables are missing: waiting for `ingester schema apply`");
            }
            Err(error) if error.class() != Class::Transient => return Err(error),
            Err(error) => tracing::warn!(%error, "Database not reached, trying again"),
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(longest);
    }
}

/// A store, and the tables that it lacks.
async fn prepared(
    address: &Address,
    options: ConnectOptions,
    create_tables: bool,
    kinds: &[Kind],
) -> Result<(Store, Vec<String>), StoreError> {
    let store = Store::connect(address, options).await?;
    if create_tables {
        let made = store.create_missing(kinds).await?;
        if !made.is_empty() {
            tracing::info!(tables = made.len(), "Tables made");
        }
        return Ok((store, Vec::new()));
    }
    let missing = store.missing(kinds).await?;
    if missing.is_empty() {
        store.look_for_rejects().await?;
    }
    Ok((store, missing))
}
