//! The same clients watch a real API server, and `ingester serve` over the mirror of its objects: they receive the same events. Where they do
//! not, docs/serving.md says so.

use crate::server::{Server, free_port};
use crate::watch::{RunningClient, ShortPause, python, until};
use anyhow::{Context as _, Result};
use crd_specs::model::Model;
use futures::StreamExt as _;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_store::{ConnectOptions, Store};
use ingester_tests::{ApiServer, Edition, Ingester, informer, install, kubectl};
use ingester_tests::{skipped_without_kubectl, skipped_without_modern_apiserver};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::AbortHandle;

/// A real API server, its mirror, and a server of that.
struct World {
    real: ApiServer,
    models: Api<Model>,
    mirror: Ingester,
    store: Store,
    ours: Server,
    /// The address of its metrics.
    probes: String,
}

/// One of the two servers.
struct Side {
    kubeconfig: PathBuf,
    models: Api<Model>,
    folder: PathBuf,
}

fn kind() -> Result<&'static Kind> {
    find(crd_specs::KINDS, "michelangelo.api/v2", "Model").context("a kind")
}

impl World {
    /// `None` without a modern API server.
    async fn start() -> Result<Option<Self>> {
        let (Some(real), Some(_)) = (ApiServer::start_edition(Edition::Modern)?, informer()) else {
            skipped_without_modern_apiserver();
            return Ok(None);
        };
        let client = real.client().await?;
        install(&client, &[kind()?.crd().context("a CRD")?]).await?;
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite://{}", folder.path().join("objects.db").display());
        // Without our finalizer the API server's objects change only as the test decides.
        let config = json!({
            "metadataStorage": {"enableMetadataStorage": true, "databaseURL": url, "deletionDelay": "0s"},
            "ingester": {"finalizer": "never", "kinds": ["Model"]},
            "changes": {"enabled": true},
        });
        let mirror = Ingester::start(
            Path::new(env!("CARGO_BIN_EXE_ingester")),
            &serde_saphyr::to_string(&config)?,
            &real.kubeconfig(),
            &[],
        )?;
        mirror.wait_ready(Duration::from_secs(60))?;
        let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
        let probes = format!("127.0.0.1:{}", free_port()?);
        let config = json!({
            "metadataStorage": {"enableMetadataStorage": true, "databaseURL": url},
            "serve": {"probes": probes},
        });
        std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?;
        let ours = Server::start_in(folder)?;
        let models = Api::namespaced(client, "ml");
        let probes = format!("http://{probes}");
        Ok(Some(World { models, real, mirror, store, ours, probes }))
    }

    fn sides(&self) -> Result<[Side; 2]> {
        let folder = |name: &str| {
            let folder = self.ours.folder().join(name);
            std::fs::create_dir(&folder).map(|()| folder)
        };
        Ok([
            Side { kubeconfig: self.real.kubeconfig(), models: self.models.clone(), folder: folder("real")? },
            Side {
                kubeconfig: self.ours.kubeconfig()?,
                models: Api::namespaced(self.ours.client()?, "ml"),
                folder: folder("ours")?,
            },
        ])
    }

    /// Waits until this many clients watch each server.
    async fn watched(&self, clients: usize) -> Result<()> {
        let sum = |text: &str, metric: &str| -> usize {
            let of_models = text.lines().filter(|line| {
                line.starts_with(metric) && line.contains("resource=\"models\"") && !line.contains("verb=\"LIST\"")
            });
            of_models.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum()
        };
        let real = self.real.client().await?;
        let ours = kube::Client::try_from(kube::Config::new(self.probes.parse()?))?;
        let ask = async |client: &kube::Client| {
            client.request_text(http::Request::get("/metrics").body(Vec::new())?).await.map_err(anyhow::Error::from)
        };
        until("all to watch", async || {
            // The mirror does, too.
            Ok(sum(&ask(&real).await?, "apiserver_longrunning_requests") > clients
                && sum(&ask(&ours).await?, "ingester_serve_watches{") >= clients)
        })
        .await
    }

    /// Changes an object, and waits until it is mirrored.
    async fn apply(&self, (change, name): (Change, &str)) -> Result<()> {
        let of = |patch: Json| Patch::Merge(patch);
        let parameters = PatchParams::default();
        let is = match change {
            Change::Created(team) => {
                let model: Model = serde_json::from_value(json!({
                    "apiVersion": "michelangelo.api/v2", "kind": "Model", "spec": {"algorithm": "xgboost"},
                    "metadata": {"name": name, "namespace": "ml", "labels": {"team": team}},
                }))?;
                self.models.create(&PostParams::default(), &model).await?
            }
            Change::Labelled(team) => {
                let labels = json!({"metadata": {"labels": {"team": team}}});
                self.models.patch(name, &parameters, &of(labels)).await?
            }
            Change::Respecified => {
                self.models.patch(name, &parameters, &of(json!({"spec": {"algorithm": "lightgbm"}}))).await?
            }
            Change::Evicted => {
                let immutable = json!({"metadata": {"annotations": {"michelangelo/Immutable": "true"}}});
                self.models.patch(name, &parameters, &of(immutable)).await?
            }
            Change::Deleted => {
                let is = self.models.get(name).await?;
                self.models.delete(name, &DeleteParams::default()).await?;
                is
            }
        };
        let uid = is.uid().context("a uid")?;
        let version: u64 = is.resource_version().context("a version")?.parse()?;
        let mirrored = async || {
            let rows = self.store.read_stored(kind()?.table(), &[&uid]).await?;
            Ok(rows.first().is_some_and(|row| match change {
                Change::Deleted => row.delete_time.is_some(),
                Change::Evicted => row.evict_time.is_some(),
                _ => row.res_version == version,
            }))
        };
        until("it is mirrored", mirrored).await.with_context(|| format!("{name} {change:?}: {:?}", self.mirror.logs()))
    }
}

/// A change of an object.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// With this team.
    Created(&'static str),
    Labelled(&'static str),
    Respecified,
    Deleted,
    /// It leaves the cluster, and stays in SQL.
    Evicted,
}

/// The output of a client so far.
pub(crate) enum Client {
    Program(RunningClient),
    Task { lines: Arc<Mutex<Vec<String>>>, task: AbortHandle },
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Client::Task { task, .. } = self {
            task.abort();
        }
    }
}

impl Client {
    pub(crate) fn lines(&self) -> Result<Vec<String>> {
        match self {
            Client::Program(going) => going.lines(),
            Client::Task { lines, .. } => Ok(lines.lock().unwrap().clone()),
        }
    }
}

/// The clients. How many lines each prints for the first changes, and how many more for the later ones, if it runs that long.
const CLIENTS: &[(&str, usize, usize, ClientAction)] = &[
    ("kubectl get -w", 10, 0, ClientAction::Kubectl(&["get", "models", "-w", "-o", OBJECTS])),
    (
        "kubectl get -w with events",
        10,
        0,
        ClientAction::Kubectl(&["get", "models", "-w", "--output-watch-events", "-o", EVENTS]),
    ),
    ("kubectl get -w with tables", 10, 0, ClientAction::Kubectl(&["get", "models", "-w", "--output-watch-events"])),
    (
        "kubectl get -w -l",
        7,
        0,
        ClientAction::Kubectl(&["get", "models", "-w", "--output-watch-events", "-o", EVENTS, "-l", BLUE]),
    ),
    (
        "kubectl get -w NAME",
        3,
        0,
        ClientAction::Kubectl(&["get", "model", "a", "-w", "--output-watch-events", "-o", EVENTS]),
    ),
    ("kubectl wait", 1, 0, ClientAction::Kubectl(&["wait", "--for=delete", "model/b", "--timeout=60s"])),
    ("client-go that lists", 11, ALL, ClientAction::Informer("false")),
    ("client-go that streams lists", 11, ALL, ClientAction::Informer("true")),
    ("kube that lists", 11, ALL, ClientAction::Kube(watcher::Config::default)),
    ("kube that streams lists", 11, ALL, ClientAction::Kube(|| watcher::Config::default().streaming_lists())),
    ("kube that selects", 8, 3, ClientAction::Kube(|| watcher::Config::default().streaming_lists().labels(BLUE))),
    ("Python", 11, ALL, ClientAction::Python),
];

/// The lines of a client that receives everything to the end.
const ALL: usize = 7;

const BLUE: &str = "team=blue";

const OBJECTS: &str = "custom-columns=:.metadata.name,:.metadata.resourceVersion";

/// The columns of an event, not of an object.
const EVENTS: &str = "custom-columns=:.type,:.object.metadata.name,:.object.metadata.resourceVersion";

#[derive(Clone, Copy)]
enum ClientAction {
    Kubectl(&'static [&'static str]),
    /// Whether it streams lists.
    Informer(&'static str),
    Kube(fn() -> watcher::Config),
    Python,
}

impl ClientAction {
    fn start(self, name: &str, side: &Side) -> Result<Client> {
        let mut command = match self {
            ClientAction::Kube(config) => return Ok(follow(side.models.clone(), config())),
            ClientAction::Kubectl(arguments) => {
                let mut command = Command::new(kubectl().context("kubectl")?);
                command.args(arguments).args(["-n", "ml"]).env("HOME", &side.folder);
                if arguments[0] == "get" {
                    command.arg("--no-headers");
                }
                command
            }
            ClientAction::Informer(streams) => {
                let mut command = Command::new(informer().context("the informer")?);
                command.arg(&side.kubeconfig).args(["michelangelo.api/v2/models", "ml"]);
                command.env("KUBE_FEATURE_WatchListClient", streams);
                command
            }
            ClientAction::Python => python(&side.kubeconfig),
        };
        command.env("KUBECONFIG", &side.kubeconfig).env("NO_PROXY", "127.0.0.1");
        RunningClient::start(&mut command, side.folder.join(name)).map(Client::Program)
    }
}

/// kube's watcher.
pub(crate) fn follow(models: Api<Model>, config: watcher::Config) -> Client {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let said = lines.clone();
    let events = watcher(models, config).backoff(ShortPause).for_each(move |event| {
        let line = |what: &str, model: &Model| {
            format!("{what} {} {}", model.name_any(), model.resource_version().unwrap_or_default())
        };
        let line = match &event {
            Ok(watcher::Event::InitApply(model)) => Some(line("LISTED", model)),
            Ok(watcher::Event::InitDone) => Some("SYNCED".to_owned()),
            Ok(watcher::Event::Apply(model)) => Some(line("APPLIED", model)),
            Ok(watcher::Event::Delete(model)) => Some(line("DELETED", model)),
            // An error is not an event: it resumes.
            Ok(watcher::Event::Init) | Err(_) => None,
        };
        said.lock().unwrap().extend(line);
        async {}
    });
    Client::Task { lines, task: tokio::spawn(events).abort_handle() }
}

/// A client of both servers.
struct Pair {
    name: &'static str,
    count: usize,
    more: usize,
    /// The API server's, and ours.
    clients: [Client; 2],
}

impl Pair {
    /// The output of both. Initial objects have no order, and only the first columns of tables are equal.
    fn lines(&self) -> Result<[Vec<String>; 2]> {
        let [real, ours] = &self.clients;
        let lines = |client: &Client| -> Result<Vec<String>> {
            let mut lines = client.lines()?;
            if self.name.ends_with("tables") {
                lines.iter_mut().for_each(|line| *line = line.split(' ').take(2).collect::<Vec<_>>().join(" "));
            }
            let initial = lines.iter().position(|line| line == "SYNCED").unwrap_or(0);
            lines[..initial].sort();
            Ok(lines)
        };
        Ok([lines(real)?, lines(ours)?])
    }

    /// Waits until both have printed this.
    async fn agree(&self, is: impl Fn(&[String], &[String]) -> bool) -> Result<()> {
        let agreed = until(self.name, async || self.lines().map(|[real, ours]| is(&real, &ours))).await;
        agreed.with_context(|| format!("{}: {:#?}", self.name, self.lines()))
    }
}

/// The objects that a client knows in the end, with their versions, except the evicted one.
fn known(lines: &[String]) -> BTreeMap<&str, &str> {
    let mut known = BTreeMap::new();
    for line in lines {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["DELETED" | "MISSED", name, _] => drop(known.remove(name)),
            [_, name, version] if name != "b" => drop(known.insert(name, version)),
            _ => {}
        }
    }
    known
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_told_what_an_api_server_tells_them() -> Result<()> {
    if kubectl().is_none() {
        skipped_without_kubectl();
        return Ok(());
    }
    let Some(mut world) = World::start().await? else { return Ok(()) };
    world.apply((Change::Created("blue"), "a")).await?;
    world.apply((Change::Created("red"), "b")).await?;
    let [real, ours] = world.sides()?;
    let start = |&(name, count, more, does): &(&'static str, usize, usize, ClientAction)| {
        Ok(Pair { name, count, more, clients: [does.start(name, &real)?, does.start(name, &ours)?] })
    };
    let pairs: Vec<Pair> = CLIENTS.iter().map(start).collect::<Result<_>>()?;
    world.watched(CLIENTS.len()).await?;

    let python = pairs.last().context("a client")?;
    for (place, change) in [
        (Change::Created("blue"), "c"),
        (Change::Labelled("blue"), "b"),
        (Change::Labelled("red"), "a"),
        (Change::Respecified, "c"),
        (Change::Respecified, "a"),
        (Change::Deleted, "b"),
        (Change::Created("red"), "b"),
        (Change::Deleted, "c"),
    ]
    .into_iter()
    .enumerate()
    {
        world.apply(change).await?;
        // If two changes of an object are read together, the mirror and the server report the last one.
        python.agree(|real, ours| real.len() == place + 4 && real == ours).await?;
    }
    for pair in &pairs {
        pair.agree(|real, ours| real.len() == pair.count && real == ours).await?;
    }

    // An object that is evicted from the cluster still exists here.
    world.apply((Change::Evicted, "b")).await?;
    for pair in pairs.iter().filter(|pair| pair.more == ALL) {
        pair.agree(|real, ours| {
            let [.., changed, deleted] = real else { return false };
            let news = ours.get(pair.count..).unwrap_or_default();
            deleted.starts_with("DELETED b ") && !news.is_empty() && news.iter().all(|line| line == changed)
        })
        .await?;
    }

    world.ours.stop()?;
    for change in [(Change::Created("blue"), "d"), (Change::Labelled("blue"), "a"), (Change::Created("red"), "e")] {
        world.apply(change).await?;
    }
    world.apply((Change::Deleted, "a")).await?;
    world.ours.restart()?;
    world.apply((Change::Respecified, "e")).await?;
    // The order depends on whether a client lists again, and an object that has changed twice meanwhile is reported once.
    for pair in pairs.iter().filter(|pair| pair.more > 0) {
        pair.agree(|real, ours| real.len() == pair.count + pair.more && known(real) == known(ours)).await?;
    }
    let [_, ours] = python.lines()?;
    assert_eq!(ours.iter().filter(|line| *line == "SYNCED").count(), 1, "it has listed again: {ours:#?}");
    Ok(())
}
