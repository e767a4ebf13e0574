//! An exporter of spans over OTLP: protobuf in HTTP/1.1, which every collector takes.
//!
//! Spans wait in a queue of limited length for the exporter's own thread, and those that find it full are dropped. The thread sends them in a
//! runtime of its own, so a receiver that is slow or silent takes nothing from the work of the program.
//!
//! The variables are OpenTelemetry's: its crates read most of them, and this file the rest.
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>

use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, Value};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

/// The variables that name a receiver, for all signals and for spans alone.
const ENDPOINTS: [&str; 2] =
    [opentelemetry_otlp::OTEL_EXPORTER_OTLP_ENDPOINT, opentelemetry_otlp::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT];

/// The variables with the time limit of a request in milliseconds. The first one counts.
const TIMEOUTS: [&str; 2] =
    [opentelemetry_otlp::OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, opentelemetry_otlp::OTEL_EXPORTER_OTLP_TIMEOUT];

/// The time limit of a request that the specification gives if no variable does.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time that the last spans have when the program ends.
const FLUSH: Duration = Duration::from_secs(3);

/// The longest answer that is read. A receiver answers a few bytes.
const ANSWER: usize = 1 << 20;

/// The name of the service if the environment has none.
const SERVICE: &str = "ingester";

/// The export of this process.
pub(crate) struct Export(SdkTracerProvider);

impl Export {
    /// Begins to export if the environment names a receiver.
    ///
    /// # Errors
    /// If a variable has a value that cannot be used.
    pub(crate) fn of_environment() -> anyhow::Result<Option<Self>> {
        let disabled = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if disabled || ENDPOINTS.into_iter().find_map(variable).is_none() {
            return Ok(None);
        }
        let sender = Sender::new(request_timeout()?)?;
        let exporter = SpanExporter::builder().with_http().with_http_client(sender).build()?;
        let provider = SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build();
        Ok(Some(Export(provider)))
    }

    /// Returns the layer that hands our spans to the exporter: those of units, requests and tasks, which have the highest level, whatever is
    /// logged. Events are not exported: they are the log.
    pub(crate) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let ours = filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("ingester"))
            .with_max_level_hint(LevelFilter::ERROR);
        // Without fields of the library: a span has those of its log lines.
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVICE))
            .with_context_activation(false)
            .with_level(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(ours)
            .boxed()
    }

    /// Sends the last spans, and waits for it up to [`FLUSH`].
    pub(crate) fn end(export: Option<Self>) {
        if let Some(Err(error)) = export.map(|export| export.0.shutdown_with_timeout(FLUSH)) {
            tracing::warn!(%error, "The last spans were not exported");
        }
    }
}

/// Returns a variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the time limit of a request. The exporter leaves it to its client.
fn request_timeout() -> anyhow::Result<Duration> {
    let Some((name, text)) = TIMEOUTS.into_iter().find_map(|name| Some((name, variable(name)?))) else {
        return Ok(TIMEOUT);
    };
    let milliseconds = text.parse().with_context(|| format!("{name} is `{text}`, not a number of milliseconds"))?;
    Ok(Duration::from_millis(milliseconds))
}

/// Returns the attributes of this process: those of the environment, and a name of the service.
fn resource() -> Resource {
    let found = Resource::builder().build();
    let is_named = |name: Value| !name.as_str().starts_with("unknown_service");
    match found.get(&Key::from_static_str("service.name")).is_some_and(is_named) {
        true => found,
        false => Resource::builder().with_service_name(SERVICE).build(),
    }
}

/// A runtime that ends without waiting for its blocking tasks. The program waits for the exporter's thread when it ends, and looking up the
/// name of a receiver can block for much longer than [`FLUSH`].
#[derive(Debug)]
struct RequestRuntime(Option<Runtime>);

impl RequestRuntime {
    fn new() -> std::io::Result<Self> {
        Ok(RequestRuntime(Some(tokio::runtime::Builder::new_current_thread().enable_all().build()?)))
    }
}

impl Deref for RequestRuntime {
    type Target = Runtime;

    #[allow(clippy::expect_used, reason = "only `drop` takes the runtime")]
    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("the runtime is there until it is dropped")
    }
}

impl Drop for RequestRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Sends requests from the exporter's thread, in a runtime that only this thread drives.
#[derive(Debug)]
struct Sender {
    runtime: RequestRuntime,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
    /// The last request failed, and a log line has said so.
    failing: AtomicBool,
}

impl Sender {
    fn new(timeout: Duration) -> anyhow::Result<Self> {
        let runtime = RequestRuntime::new()?;
        let connector = HttpsConnectorBuilder::new()
            .with_native_roots()
            .context("reading the certificates of this system")?
            .https_or_http()
            .enable_http1()
            .build();
        // The runtime stands still between requests, so an idle connection would not notice that the receiver closes it.
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Ok(Sender { runtime, client, timeout, failing: AtomicBool::new(false) })
    }

    async fn send(&self, request: Request<Bytes>) -> anyhow::Result<Response<Bytes>> {
        let exchange = async {
            let response = self.client.request(request.map(Full::new)).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER).collect().await.map_err(|error| anyhow!(error))?;
            anyhow::Ok(Response::from_parts(head, body.to_bytes()))
        };
        tokio::time::timeout(self.timeout, exchange)
            .await
            .unwrap_or_else(|_| Err(anyhow!("the receiver has not answered within {:?}", self.timeout)))
    }

    /// Logs the first failure of several, and the first success after them.
    fn report(&self, failure: Option<String>) {
        match (failure, self.failing.load(Ordering::Relaxed)) {
            (Some(error), false) => tracing::warn!(error, "Spans cannot be exported"),
            (None, true) => tracing::info!("Spans are exported again"),
            _ => return,
        }
        self.failing.fetch_not(Ordering::Relaxed);
    }
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The exporter waits for this on its own thread, which has no runtime.
        let sent = self.runtime.block_on(self.send(request));
        self.report(match &sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the receiver has answered {}", response.status())),
            Err(error) => Some(format!("{error:#}")),
        });
        Ok(sent?)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestRuntime;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn a_runtime_ends_while_a_name_is_looked_up() {
        let runtime = RequestRuntime::new().unwrap();
        let (answer, lookup) = channel::<()>();
        let (begin, began) = channel();
        let (end, ended) = channel();
        runtime.spawn_blocking(move || {
            begin.send(()).unwrap();
            lookup.recv()
        });
        began.recv().unwrap();
        std::thread::spawn(move || {
            drop(runtime);
            end.send(())
        });
        ended.recv_timeout(Duration::from_secs(30)).unwrap();
        drop(answer);
    }
}
