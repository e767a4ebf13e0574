//! The mirror with a source that costs almost nothing: the first fill, and a burst of updates.
//!
//! A kube-apiserver spends more time on an object than everything after it. This source answers like one, for one kind,
//! from texts that were rendered beforehand; it does not compress. It is this same program in a process of its own, so
//! that its CPU time is not counted as the ingester's.

use crate::live::{self, AS_INGESTER, NAMESPACE, Report, WRITTEN, Which, bare_list, cpu, median, median_of};
use crate::objects::{Dice, updated};
use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use clap::Args;
use futures::{AsyncBufReadExt as _, Stream, stream};
use ingester_core::Kind;
use ingester_tests::{Ingester, SqlServer};
use kube::{Client, Config};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The variable that makes a process the source; its value is the number of objects.
pub(crate) const AS_SOURCE: &str = "INGESTER_BENCH_AS_SOURCE";

#[derive(Args)]
pub(crate) struct Synthetic {
    /// Which database.
    #[arg(long, value_enum, default_value = "mariadb")]
    database: Which,
    /// Objects in the source.
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// Updates in a burst, each of another object.
    #[arg(long, default_value_t = 20_000)]
    events: usize,
    /// Rounds, each with a database and an ingester of its own.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Prints the ingester's log after each round.
    #[arg(long)]
    log: bool,
    /// InnoDB's buffer pool, such as `2G`; the server's default without it.
    #[arg(long)]
    pool: Option<String>,
}

pub(crate) fn run(arguments: &Synthetic) -> Result<()> {
    ensure!(arguments.events <= arguments.objects, "a burst has one update of an object at most: fewer --events");
    live::with_database(arguments.database, arguments.pool.as_deref(), async |server| on(server, arguments).await)
}

/// The times of the rounds.
#[derive(Default)]
struct Times {
    inserts: Vec<Duration>,
    updates: Vec<Duration>,
    fills: Vec<Duration>,
    fill_cpu: [Vec<Duration>; 2],
    bursts: Vec<Duration>,
    burst_cpu: [Vec<Duration>; 2],
}

async fn on(server: &SqlServer, arguments: &Synthetic) -> Result<()> {
    let (kind, objects, events) = (live::kind()?, arguments.objects, arguments.events);
    let mut source = Running::start(&kind, objects)?;
    let folder = tempfile::tempdir().context("making a folder for the kubeconfig")?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, source.kubeconfig()).context("writing the kubeconfig")?;
    let list = median_of(3, async || bare_list(&source.client, &source.path, "identity").await).await?;
    let mut watches = Vec::new();
    for _ in 0..3 {
        watches.push(source.bare_watch(events).await?);
    }

    let (mut report, mut times) = (Report::default(), Times::default());
    for _ in 0..arguments.rounds {
        let [inserted, updated] = live::by_hand(server, &kind, objects, events).await?;
        times.inserts.push(inserted);
        times.updates.push(updated);
        let url = crate::store::url(server, "synthetic").await?;
        let (program, config) = (std::env::current_exe()?, live::configuration(&url, &kind));
        let source_before = cpu(Some(source.process.id()))?;
        let start = Instant::now();
        let ingester = Ingester::start(&program, &config, &kubeconfig, &[(AS_INGESTER, "1")])?;
        times.fills.push(live::until(&ingester, WRITTEN, objects).await?.duration_since(start));
        let before = [cpu(ingester.process().id())?, cpu(Some(source.process.id()))?];
        times.fill_cpu[0].push(before[0]);
        times.fill_cpu[1].push(before[1].saturating_sub(source_before));
        live::synced(&ingester).await?;
        report.memory(&ingester, "after the first fill")?;

        let version = source.version();
        let start = Instant::now();
        source.burst(events).await?;
        times.bursts.push(live::until(&ingester, WRITTEN, objects + events).await?.duration_since(start));
        let after = [cpu(ingester.process().id())?, cpu(Some(source.process.id()))?];
        for (times, (after, before)) in times.burst_cpu.iter_mut().zip(after.into_iter().zip(before)) {
            times.push(after.saturating_sub(before));
        }
        let newest = live::count(&url, &kind, version).await?;
        ensure!(newest == events as u64, "of {events} updates {newest} are in the rows");
        report.memory(&ingester, "after the burst")?;
        ingester.stop()?;
        if arguments.log {
            println!("{}", ingester.logs()?);
        }
    }

    let seconds = |times: &mut Vec<Duration>| median(times).as_secs_f64();
    let (insert, update) = (median(&mut times.inserts), median(&mut times.updates));
    let (fill, burst) = (median(&mut times.fills), median(&mut times.bursts));
    let per_second = |count: usize, time: Duration| count as f64 / time.as_secs_f64();
    report.alone("JSON of an object", "KB", list.1 as f64 / objects as f64 / 1000.0);
    report.alone("bare list", "s", list.0.as_secs_f64());
    report.alone("bare watch of the burst", "s", seconds(&mut watches));
    report.alone("rows by hand", "s", insert.as_secs_f64());
    report.beside("first fill (list, rows by hand)", "s", fill, list.0 + insert);
    report.alone("  rows", "/s", per_second(objects, fill));
    report.alone("  CPU time of the ingester", "s", seconds(&mut times.fill_cpu[0]));
    report.alone("  CPU time of the source", "s", seconds(&mut times.fill_cpu[1]));
    report.beside("burst of updates (rows by hand)", "s", burst, update);
    report.alone("  rows", "/s", per_second(events, burst));
    report.alone("  rows by hand", "/s", per_second(events, update));
    report.alone("  CPU time of the ingester", "s", seconds(&mut times.burst_cpu[0]));
    report.alone("  CPU time of the source", "s", seconds(&mut times.burst_cpu[1]));
    let pool = arguments.pool.as_deref().unwrap_or("default");
    println!(
        "{objects} objects, bursts of {events} updates, {:?} with pool {pool}, medians of {} rounds",
        arguments.database, arguments.rounds
    );
    report.print();
    Ok(())
}

/// The process of the source, and the number of updates that it was asked for.
struct Running {
    process: Child,
    client: Client,
    url: String,
    path: String,
    objects: usize,
    sent: usize,
}

impl Running {
    fn start(kind: &Kind, objects: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(AS_SOURCE, objects.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("starting the source")?;
        let mut port = String::new();
        BufReader::new(process.stdout.take().context("the source's output")?).read_line(&mut port)?;
        ensure!(!port.is_empty(), "the source ended before it listened");
        let url = format!("http://{}:{}", Ipv4Addr::LOCALHOST, port.trim());
        let client = Client::try_from(Config::new(url.parse().context("the source's address")?))?;
        let path = format!("/apis/{}/namespaces/{NAMESPACE}/{}", kind.api_version(), kind.plural());
        Ok(Running { process, client, url, path, objects, sent: 0 })
    }

    fn kubeconfig(&self) -> String {
        // JSON is YAML.
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "source", "cluster": {"server": self.url}}],
            "users": [{"name": "source", "user": {}}],
            "contexts": [{"name": "source", "context": {"cluster": "source", "user": "source"}}],
            "current-context": "source",
        });
        kubeconfig.to_string()
    }

    /// Its current version.
    fn version(&self) -> u64 {
        (self.objects + self.sent) as u64
    }

    /// Makes it send updates of the next objects in turn.
    async fn burst(&mut self, events: usize) -> Result<()> {
        let request = http::Request::post(format!("/burst?events={events}")).body(Vec::new())?;
        self.client.request_text(request).await.context("asking the source for updates")?;
        self.sent += events;
        Ok(())
    }

    /// How long it takes to read a burst and only find its line ends.
    async fn bare_watch(&mut self, events: usize) -> Result<Duration> {
        let path = format!("{}?watch=true&timeoutSeconds=600&resourceVersion={}", self.path, self.version());
        let request = http::Request::get(path).header("accept-encoding", "identity").body(Vec::new())?;
        let mut watch = pin!(self.client.request_stream(request).await.context("watching the source")?);
        let start = Instant::now();
        self.burst(events).await?;
        let mut lines = 0;
        while lines < events {
            let read = watch.fill_buf().await.context("watching the source")?;
            ensure!(!read.is_empty(), "the watch ended after {lines} of {events} updates");
            lines += read.iter().filter(|byte| **byte == b'\n').count();
            let length = read.len();
            watch.consume_unpin(length);
        }
        Ok(start.elapsed())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It also ends when its input does.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An object's text before and after its resourceVersion.
type Rendered = [Box<str>; 2];

/// Some objects, and the number of updates so far. Updates go through the objects in turn, again and again. Every
/// answer follows from these two.
struct Source {
    kind: Kind,
    /// Two states of each object, which alternate.
    objects: Vec<[Rendered; 2]>,
    sent: watch::Sender<usize>,
}

/// Serves as the source until the parent process is gone.
pub(crate) fn serve(objects: &str) -> Result<()> {
    // The kernel closes the other end of the input however the parent ends.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    let source = Source::new(live::kind()?, objects.parse().context("the number of objects")?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening")?;
        println!("{}", listener.local_addr()?.port());
        // Like the API server: the end of an answer does not wait for the acknowledgement of earlier packets.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, Router::new().fallback(answer).with_state(Arc::new(source))).await?;
        Ok(())
    })
}

async fn answer(
    State(source): State<Arc<Source>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    source.answer(&method, &uri, &headers, body).unwrap_or_else(|| {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
            "message": "the source has no such thing", "code": 404});
        text(StatusCode::NOT_FOUND, status.to_string())
    })
}

fn text(status: StatusCode, text: impl Into<Body>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

fn parameter<'u>(uri: &'u Uri, name: &str) -> Option<&'u str> {
    let mut pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| value)
}

fn rendered(mut object: Value) -> Result<Rendered> {
    const VERSION: &str = "(its version)";
    object["metadata"]["resourceVersion"] = json!(VERSION);
    let text = object.to_string();
    let (before, behind) = text.split_once(VERSION).context("an object's resourceVersion")?;
    Ok([before.into(), behind.into()])
}

impl Source {
    fn new(kind: Kind, objects: usize) -> Result<Self> {
        let mut dice = Dice::new(3);
        let mut states = Vec::with_capacity(objects);
        for place in 0..objects {
            let object = live::object(&mut dice, &kind, place)?;
            states.push([rendered(object.clone())?, rendered(updated(&mut dice, &object))?]);
        }
        Ok(Source { kind, objects: states, sent: watch::Sender::new(0) })
    }

    fn answer(self: Arc<Self>, method: &Method, uri: &Uri, headers: &HeaderMap, body: Bytes) -> Option<Response> {
        let path: Vec<&str> = uri.path().trim_start_matches('/').split('/').collect();
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let metadata = accept.contains("as=PartialObjectMetadata");
        let plural = self.kind.plural();
        let sent = *self.sent.borrow();
        let response = match (method.as_str(), &*path) {
            ("GET", ["readyz"]) => "ok".into_response(),
            ("POST", ["burst"]) => {
                let events: usize = parameter(uri, "events")?.parse().ok()?;
                self.sent.send_modify(|sent| *sent += events);
                StatusCode::OK.into_response()
            }
            ("POST", ["apis", "events.k8s.io", .., "events"]) => text(StatusCode::CREATED, body),
            ("GET", ["apis", .., last]) if *last == plural && parameter(uri, "watch").is_some() => {
                let version: usize = parameter(uri, "resourceVersion")?.parse().ok()?;
                let seconds = parameter(uri, "timeoutSeconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(300);
                let after = version.saturating_sub(self.objects.len());
                text(StatusCode::OK, Body::from_stream(self.watch(after, Duration::from_secs(seconds))))
            }
            ("GET", ["apis", .., last]) if *last == plural => text(StatusCode::OK, self.list(uri, sent, metadata)?),
            // Every object has the finalizer, so there is nothing to patch.
            ("GET" | "PATCH", ["apis", .., last, name]) if *last == plural => {
                let place = name.rsplit('-').next()?.parse().ok()?;
                text(StatusCode::OK, self.item(place, sent, metadata)?)
            }
            _ => return None,
        };
        Some(response)
    }

    /// An object after this many updates of it. The first versions are the objects' numbers; each update adds one.
    fn object(&self, place: usize, updates: usize) -> Option<String> {
        let [before, behind] = &self.objects.get(place)?[updates % 2];
        Some(format!("{before}{}{behind}", place + 1 + updates * self.objects.len()))
    }

    /// An object, or its metadata alone, after this many updates in total.
    fn item(&self, place: usize, sent: usize, metadata: bool) -> Option<String> {
        let objects = self.objects.len();
        let object = self.object(place, (sent + objects).checked_sub(1 + place)? / objects)?;
        if !metadata {
            return Some(object);
        }
        let members: BTreeMap<&str, &RawValue> = serde_json::from_str(&object).ok()?;
        let metadata = members.get("metadata")?;
        Some(format!(r#"{{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{metadata}}}"#))
    }

    /// One page. Its continue token has the version of the first page, and the start of the next one.
    fn list(&self, uri: &Uri, sent: usize, metadata: bool) -> Option<String> {
        let (sent, begin) = match parameter(uri, "continue") {
            Some(token) => {
                let (sent, begin) = token.split_once('-')?;
                (sent.parse().ok()?, begin.parse().ok()?)
            }
            None => (sent, 0),
        };
        let objects = self.objects.len();
        let limit = parameter(uri, "limit").and_then(|limit| limit.parse().ok()).unwrap_or(objects);
        let end = objects.min(begin + limit);
        let (api_version, kind) = match metadata {
            true => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadata"),
            false => (self.kind.api_version(), self.kind.kind()),
        };
        let mut page = format!(r#"{{"apiVersion":"{api_version}","items":["#);
        for place in begin..end {
            if place > begin {
                page.push(',');
            }
            page.push_str(&self.item(place, sent, metadata)?);
        }
        let mut about = json!({"resourceVersion": (objects + sent).to_string()});
        if end < objects {
            about["continue"] = json!(format!("{sent}-{end}"));
            about["remainingItemCount"] = json!(objects - end);
        }
        page.push_str(&format!(r#"],"kind":"{kind}List","metadata":{about}}}"#));
        Some(page)
    }

    /// The updates after the first `after`, as soon as they exist.
    fn watch(
        self: Arc<Self>,
        after: usize,
        lasting: Duration,
    ) -> impl Stream<Item = Result<String, Infallible>> + use<> {
        let end = tokio::time::Instant::now() + lasting;
        let sent = self.sent.subscribe();
        stream::unfold((self, after, sent), move |(source, next, mut sent)| async move {
            let there = tokio::time::timeout_at(end, sent.wait_for(|sent| *sent > next)).await;
            let there = there.is_ok_and(|there| there.is_ok());
            let objects = source.objects.len();
            let object = source.object(next % objects, next / objects + 1).filter(|_| there)?;
            let event = format!("{{\"type\":\"MODIFIED\",\"object\":{object}}}\n");
            Some((Ok(event), (source, next + 1, sent)))
        })
    }
}
