//! `ingester serve`: serves the objects of the database as an API server does.

use super::start::{CLOSE, PAUSES, Tables, failure, identified, open, stop_on_signals};
use crate::arguments::Serve;
use crate::ending::{Ending, Failure};
use crate::output::note;
use crate::parts::{Part, PartLifetime, without_error};
use crate::program::Program;
use crate::reach::Reach;
use crate::saved;
use crate::server::Server;
use anyhow::anyhow;
use backon::Retryable as _;
use ingester_config::{Config, FormerObjects, RestoreAs};
use ingester_core::Kind;
use ingester_declare::kept::kept;
use ingester_mirror::health::Health;
use ingester_mirror::identity::Names;
use ingester_server::former::FormerAccess;
use ingester_server::identity::{self, ApiServer, FollowError, Identity, Rate};
use ingester_server::listen::{Handler, Limits, Listener, Tls};
use ingester_server::metrics::Metrics;
use ingester_server::places::RequestSlots;
use ingester_server::read::Log;
use ingester_server::restore::rights::RestoreRights;
use ingester_server::service::{Service, Sources};
use ingester_server::volume::WriteVolumes;
use ingester_server::watch::{Hub, WatchLimits};
use ingester_store::{Address, ConnectOptions, Store};
use kube::Client;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The most connections that write: evicted objects are changed seldom.
const WRITERS: u32 = 4;

/// The time that writes which have outlived their requests have once the server stops. Together with the time for requests, it is within
/// the 30 seconds that Kubernetes gives a pod.
const WRITES: Duration = Duration::from_secs(10);

/// The interval between checks of the certificate's files.
const CERTIFICATE: Duration = Duration::from_secs(10);

/// The interval between readings of the trusted authorities.
const TRUST: Duration = Duration::from_secs(60);

pub(crate) async fn run(arguments: &Serve, config: Config, program: Program) -> Result<Ending, Failure> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let health = Health::new([]);
    let reach = Reach::default();
    let metrics = Metrics::new().map_err(|error| anyhow!("cannot set up the metrics: {error}"))?;
    let kinds: Vec<Kind> = program.kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let named = arguments.target.database(program.kinds)?;
    if let Some(why) = named.why() {
        tracing::info!(database = %named, why, "Database chosen");
    }
    let saved = saved::read_if_any(&arguments.queries, arguments.target.config.as_deref(), program.kinds)?;
    let replica = config.reading().map_err(|error| Failure::Usage(error.into()))?;
    // Report addresses and files that cannot be used before any wait.
    let door = Door::open(arguments, &config.serve).await?;
    let client = match arguments.insecure_loopback {
        Some(_) if !arguments.cluster.is_named() => None,
        _ => match stop.run_until_cancelled(arguments.cluster.client()).await {
            Some(client) => Some(client?),
            None => return Ok(Ending::Done),
        },
    };
    let former = former(&config.serve, client.as_ref())?;
    let restores = restore_rights(arguments, &config.serve, client.is_some()).await?;
    let mut parts = Vec::new();
    // An `ingester run` on the same machine, with the same file, would use `server.address`.
    let probes = config.serve.probes.as_ref().or(config.server.address.as_ref());
    if let (Some(address), Some(_)) = (probes, &arguments.target.config) {
        let server = Server::bind(address, "serve.probes").await.map_err(Failure::Usage)?;
        let rendered = metrics.clone();
        let serving = server.run(Arc::new(move || rendered.render()), health.clone(), reach.clone(), stop.clone());
        parts.push(Part::spawn("server of metrics and probes", PartLifetime::Stop, &health, &stop, serving));
    }
    let prepared = async {
        let identity = match (arguments.insecure_loopback, &client) {
            (None, Some(client)) => known(client.clone(), &config.serve, metrics.clone(), &health, &stop).await?,
            _ => (Identity::unchecked(), None),
        };
        let (reads, writes) =
            stores(&config, &kinds, program, (named.address(), replica.as_ref()), client.as_ref()).await?;
        Ok::<_, Failure>((identity, Arc::new(reads), Arc::new(writes)))
    };
    let ending = match stop.run_until_cancelled(prepared).await {
        None => Ok(Ending::Done),
        Some(Err(failure)) => Err(failure),
        Some(Ok(((identity, trust), reads, writes))) => {
            parts.extend(trust);
            health.database_reached();
            reach.connected(&reads);
            health.kinds_looked_up();
            let log = Log::new(reads.clone(), writes.clone());
            let limits = WatchLimits { watches: config.serve.max_watches, ..WatchLimits::default() };
            let service = Service::new(Sources {
                kinds: kept(kinds),
                reads: reads.clone(),
                writes: Some(writes.clone()),
                cluster: client,
                restores,
                identity,
                former,
                saved,
                limits: ingester_store::query::Limits::default().with_time(config.query.timeout),
                places: RequestSlots::new(config.serve.max_in_flight),
                volumes: WriteVolumes::new(u64::from(config.serve.write_mib) << 20),
                watchable: log.is_there().await.unwrap_or(false),
                watches: Some(Hub::new(log, limits, metrics.clone())),
            });
            let answering = service.clone();
            let handler = move |request, peer, log| answering.clone().answer(request, peer, log);
            door.serve(&config.serve, metrics, handler, &health, &stop).await;
            service.finish(WRITES).await;
            drop(service);
            close([reads, writes]).await;
            Ok(Ending::Done)
        }
    };
    stop.cancel();
    end(parts).await;
    tracing::info!("Server stopped");
    ending
}

/// Waits for the tasks of the process.
async fn end(parts: Vec<Part>) {
    for part in parts {
        part.ended().await;
    }
}

/// Closes the stores. The end of the process closes connections that are still open then.
async fn close(stores: [Arc<Store>; 2]) {
    for store in stores.into_iter().filter_map(Arc::into_inner) {
        let _ = tokio::time::timeout(CLOSE, store.close()).await;
    }
}

/// Returns the identity with which objects are restored.
async fn restore_rights(
    arguments: &Serve,
    serve: &ingester_config::Serve,
    has_cluster: bool,
) -> Result<RestoreRights, Failure> {
    Ok(match serve.restore {
        RestoreAs::User if has_cluster => RestoreRights::User(arguments.cluster.anonymous_client().await?),
        RestoreAs::User | RestoreAs::Server => RestoreRights::Server,
        RestoreAs::Off => RestoreRights::Off,
    })
}

/// Returns the rule that decides which former objects callers may see.
fn former(serve: &ingester_config::Serve, client: Option<&Client>) -> Result<FormerAccess, Failure> {
    if serve.former_objects == FormerObjects::OlderHidden && client.is_none() {
        return Err(Failure::Usage(anyhow!(
            "`serve.formerObjects: olderHidden` needs a cluster, which says when a namespace was created, and none is named: name one with \
             --kubeconfig FILE or --context NAME"
        )));
    }
    Ok(FormerAccess::new(serve.former_objects, client.cloned()))
}

/// Returns the stores from which the server reads and to which it writes, once their databases are known to belong to this cluster.
async fn stores(
    config: &Config,
    kinds: &[Kind],
    program: Program,
    (database, replica): (&Address, Option<&Address>),
    client: Option<&Client>,
) -> Result<(Store, Store), Failure> {
    let reads = config.mysql.connect_options().create(false).read_only(true).query_time(config.query.timeout);
    let writes = reads.connections(WRITERS).max_idle(1).read_only(false);
    let writes = connected(database, kinds, program, writes).await?;
    let reads = connected(replica.unwrap_or(database), kinds, program, reads).await?;
    if let Some(client) = client {
        // The rights of one cluster must not open the rows of another.
        identified(client, &writes, Names::Read(program.marks)).await.map_err(failure)?;
        if replica.is_some() {
            identified(client, &reads, Names::Checked).await.map_err(failure)?;
        }
    }
    Ok((reads, writes))
}

/// Returns a store of these kinds, once the database has their tables.
async fn connected(
    address: &Address,
    kinds: &[Kind],
    program: Program,
    options: ConnectOptions,
) -> Result<Store, Failure> {
    let tables = Tables { address: address.clone(), kinds: kinds.to_vec(), program, released: None, migrate: false };
    let store = open(&tables, options, None).await?.store;
    let what = if options.read_only { "reading" } else { "writing" };
    tracing::info!(database = %address, server = store.server(), "Connected for {what}");
    Ok(store)
}

/// The listener for requests.
struct Door {
    listener: Listener,
    tls: Option<Tls>,
    /// There is a cluster to restore objects into.
    restores: bool,
}

impl Door {
    async fn open(arguments: &Serve, serve: &ingester_config::Serve) -> Result<Self, Failure> {
        let unavailable = |address: &str, key: &str, error: std::io::Error| {
            Failure::Usage(anyhow!(
                "cannot listen on `{address}`: {error} (set {key} to an address of this machine and a free port)"
            ))
        };
        if let Some(port) = arguments.insecure_loopback {
            let listener = Listener::on_loopback(port).await;
            let listener =
                listener.map_err(|error| unavailable(&format!("127.0.0.1:{port}"), "--insecure-loopback", error))?;
            return Ok(Door { listener, tls: None, restores: arguments.cluster.is_named() });
        }
        let (Some(certificate), Some(key)) = (&serve.certificate, &serve.key) else {
            return Err(Failure::Usage(anyhow!(
                "there is no certificate: set `serve.certificate` and `serve.key` of the configuration, or try it out with \
                 --insecure-loopback PORT"
            )));
        };
        let tls = Tls::read(certificate, key).map_err(|error| Failure::Usage(error.into()))?;
        let listener = Listener::with_tls(&serve.address, &tls).await;
        let listener = listener.map_err(|error| unavailable(&serve.address, "`serve.address`", error))?;
        Ok(Door { listener, tls: Some(tls), restores: true })
    }

    /// Answers until `stop` is cancelled.
    async fn serve(
        self,
        serve: &ingester_config::Serve,
        metrics: Metrics,
        handler: impl Handler,
        health: &Health,
        stop: &CancellationToken,
    ) {
        let address = self.listener.address().map(|address| address.to_string()).unwrap_or_default();
        let restores = self.restores;
        match self.tls {
            Some(tls) => {
                tracing::info!(address, "Serving");
                let following = without_error(tls.follow(CERTIFICATE, metrics.clone(), stop.clone()));
                // This part ends with the stop, and nobody waits for it.
                let _following = Part::spawn("reader of the certificate", PartLifetime::Stop, health, stop, following);
                self.listener.serve(limits(serve), metrics, handler, stop.clone()).await;
            }
            None => {
                note(&format!(
                    "Serving on http://{address} WITHOUT AUTHENTICATION: every program of this machine can read and change everything."
                ));
                if !restores {
                    note("Objects cannot be brought back into a cluster: none is named (--kubeconfig or --context).");
                }
                self.listener.serve(limits(serve), metrics, handler, stop.clone()).await;
            }
        }
    }
}

fn limits(serve: &ingester_config::Serve) -> Limits {
    Limits { connections: serve.max_connections, request: serve.timeout, ..Limits::default() }
}

/// Returns the authentication by this cluster, and the part that rereads the trusted authorities.
async fn known(
    client: Client,
    serve: &ingester_config::Serve,
    metrics: Metrics,
    health: &Health,
    stop: &CancellationToken,
) -> Result<(Identity, Option<Part>), Failure> {
    let rate = Rate { per_second: serve.rate, burst: serve.burst };
    let identity = Identity::new(ApiServer::new(client.clone()), serve.audiences.clone(), rate, metrics);
    let sources = identity::Sources {
        cluster: client,
        front_proxy: serve.front_proxy,
        users: serve.client_ca.clone(),
        every: TRUST,
    };
    let reading = (async || sources.read(&identity).await)
        .retry(PAUSES)
        .when(|error| matches!(error, FollowError::Api(_)))
        .notify(|error, _| tracing::warn!(%error, "The front proxy is not known yet, trying again"));
    let read = reading.await.map_err(|error| Failure::Usage(error.into()))?;
    let following = without_error(sources.follow(identity.clone(), read, stop.clone()));
    let part = Part::spawn("reader of authorities", PartLifetime::Done, health, stop, following);
    Ok((identity, Some(part)))
}
