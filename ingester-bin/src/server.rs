//! The HTTP server for Prometheus and the kubelet: `/metrics`, `/healthz`, `/readyz`. No request changes anything.
//!
//! May use: ingester-mirror, reach.

use crate::reach::Reach;
use anyhow::anyhow;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing};
use ingester_mirror::health::{Check, Health};
use std::future::IntoFuture as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The time that open requests have once the server stops. A request that is still open then, for example because its end never came, is
/// dropped.
const GRACE: Duration = Duration::from_millis(500);

/// A server that listens but does not answer yet, so that an unavailable address is found before any work begins.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
}

/// Writes metrics in Prometheus' text format.
pub(crate) type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// The media type of the text that [`Render`] writes.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The sources of the answers.
#[derive(Clone)]
struct Sources {
    metrics: Render,
    health: Health,
    reach: Reach,
}

impl Server {
    /// Listens on `address`: `127.0.0.1:8080`, `[::1]:8080`, a host's name and a port, or, as in Go, `:8080` for all addresses of the
    /// machine.
    ///
    /// # Errors
    /// If the address is not valid or not available. `key` is its key in the configuration.
    pub(crate) async fn bind(address: &str, key: &str) -> anyhow::Result<Self> {
        let listener = match everywhere(address) {
            Some(addresses) => TcpListener::bind(&addresses[..]).await,
            None => TcpListener::bind(address).await,
        };
        let listener = listener.map_err(|error| {
            anyhow!(
                "cannot listen on `{address}` for metrics and probes: {error} (set `{key}` of the configuration \
                 to an address of this machine and a free port, as in 0.0.0.0:8080)"
            )
        })?;
        Ok(Server { listener })
    }

    /// The address, with the assigned port if port 0 was requested.
    ///
    /// # Errors
    /// If the operating system does not return it.
    #[cfg(test)]
    pub(crate) fn local_address(&self) -> anyhow::Result<SocketAddr> {
        self.listener
            .local_addr()
            .map_err(|error| anyhow!("cannot read the address on which the server listens: {error}"))
    }

    /// Answers until `stop` is cancelled, and ends within a second then.
    ///
    /// # Errors
    /// If the server ends by itself.
    pub(crate) async fn run(
        self,
        metrics: Render,
        health: Health,
        reach: Reach,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let router = Router::new()
            .route("/metrics", routing::get(metrics_page))
            .route("/healthz", routing::get(healthz))
            .route("/readyz", routing::get(readyz))
            .fallback(async || (StatusCode::NOT_FOUND, "there are /metrics, /healthz and /readyz\n"))
            .with_state(Sources { metrics, health, reach });
        let serving = axum::serve(self.listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
        let patience = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            ended = serving.into_future() => {
                ended.map_err(|error| anyhow!("the server of metrics and probes ended: {error}"))
            }
            () = patience => Ok(()),
        }
    }
}

/// Returns the meaning of `:8080`: the first available one of these. Not every machine has IPv6.
fn everywhere(address: &str) -> Option<[SocketAddr; 2]> {
    let port: u16 = address.strip_prefix(':')?.parse().ok()?;
    Some([(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()])
}

async fn metrics_page(State(sources): State<Sources>) -> Response {
    ([(header::CONTENT_TYPE, METRICS)], (sources.metrics)()).into_response()
}

async fn healthz(State(sources): State<Sources>, uri: Uri) -> Response {
    probe("healthz", &uri, sources.health.liveness(), StatusCode::INTERNAL_SERVER_ERROR)
}

async fn readyz(State(sources): State<Sources>, uri: Uri) -> Response {
    sources.reach.report(&sources.health).await;
    probe("readyz", &uri, sources.health.readiness(), StatusCode::SERVICE_UNAVAILABLE)
}

/// Returns `ok`, or the failed checks, one line each. With `?verbose`, returns all checks, as the API server's probes print them.
fn probe(name: &str, uri: &Uri, checks: Vec<Check>, failure: StatusCode) -> Response {
    let verbose =
        uri.query().is_some_and(|query| query.split('&').any(|part| part.split('=').next() == Some("verbose")));
    let failed = checks.iter().any(|check| !check.ok);
    if !failed && !verbose {
        return "ok".into_response();
    }
    let mut text: String =
        checks.iter().filter(|check| verbose || !check.ok).map(|check| format!("{check}\n")).collect();
    text.push_str(&format!("{name} check {}\n", if failed { "failed" } else { "passed" }));
    (if failed { failure } else { StatusCode::OK }, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::{Server, everywhere};
    use crate::reach::Reach;
    use ingester_mirror::health::{Health, KindState};
    use ingester_mirror::metrics::Metrics;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio::task::JoinHandle;
    use tokio_util::sync::CancellationToken;

    struct RunningServer {
        address: SocketAddr,
        metrics: Metrics,
        health: Health,
        stop: CancellationToken,
        task: JoinHandle<anyhow::Result<()>>,
    }

    async fn start() -> RunningServer {
        let metrics = Metrics::new().unwrap();
        let health = Health::new(["Model"]);
        let stop = CancellationToken::new();
        let server = Server::bind("127.0.0.1:0", "server.address").await.unwrap();
        let address = server.local_address().unwrap();
        let task = tokio::spawn(server.run(
            Arc::new({
                let metrics = metrics.clone();
                move || metrics.render()
            }),
            health.clone(),
            Reach::default(),
            stop.clone(),
        ));
        RunningServer { address, metrics, health, stop, task }
    }

    impl RunningServer {
        /// Sends a request and reads the answer to its end: status, headers in lower case, body.
        async fn ask(&self, method: &str, path: &str) -> (u16, String, String) {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            let request = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            let read = stream.read_to_string(&mut answer);
            tokio::time::timeout(Duration::from_secs(10), read).await.expect("an answer in time").unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            (status, head.to_lowercase(), body.to_owned())
        }

        async fn get(&self, path: &str) -> (u16, String) {
            let (status, _, body) = self.ask("GET", path).await;
            (status, body)
        }

        /// Stops the server, which must not take longer than a second.
        async fn stopped(self) {
            self.stop.cancel();
            let ended = tokio::time::timeout(Duration::from_secs(1), self.task).await;
            ended.expect("within a second").unwrap().unwrap();
        }
    }

    fn body(status: u16, text: &str) -> (u16, String) {
        (status, text.to_owned())
    }

    #[tokio::test]
    async fn metrics_are_served_in_prometheus_text_format() {
        let running = start().await;
        running.metrics.controller("Model").written(3);
        let (status, head, body) = running.ask("GET", "/metrics").await;
        assert_eq!(status, 200);
        assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
        assert!(body.contains("\ningester_rows_written_total{kind=\"Model\"} 3\n"), "{body}");
        running.stopped().await;
    }

    #[tokio::test]
    async fn readiness_follows_the_kinds() {
        let running = start().await;
        running.health.database_reached();
        running.health.kinds_looked_up();
        running.health.kind("Model", KindState::Listing);
        let first = "[-]Model first list not finished\n";
        assert_eq!(running.get("/readyz").await, body(503, &format!("{first}readyz check failed\n")));
        assert_eq!(
            running.get("/readyz?verbose").await,
            body(503, &format!("[+]database reached\n[+]kinds looked up\n{first}readyz check failed\n"))
        );
        running.health.kind("Model", KindState::Synced);
        assert_eq!(running.get("/readyz").await, body(200, "ok"));
        assert_eq!(
            running.get("/readyz?timeout=1s&verbose=1").await,
            body(200, "[+]database reached\n[+]kinds looked up\n[+]Model synced\nreadyz check passed\n")
        );
        running.stopped().await;
    }

    #[tokio::test]
    async fn a_dead_task_fails_the_liveness_probe() {
        let running = start().await;
        assert_eq!(running.get("/healthz").await, body(200, "ok"), "what is not ready is alive");
        running.health.dead("supervisor", "panicked at x");
        let text = "[-]supervisor ended: panicked at x\nhealthz check failed\n";
        assert_eq!(running.get("/healthz").await, body(500, text));
        running.stopped().await;
    }

    #[tokio::test]
    async fn other_paths_are_not_found_and_other_methods_not_allowed() {
        let running = start().await;
        for (method, path, status) in [
            ("GET", "/", 404),
            ("GET", "/metrics/", 404),
            ("POST", "/nothing", 404),
            ("POST", "/metrics", 405),
            ("DELETE", "/healthz", 405),
            ("PUT", "/readyz", 405),
            ("HEAD", "/healthz", 200),
        ] {
            assert_eq!(running.ask(method, path).await.0, status, "{method} {path}");
        }
        running.stopped().await;
    }

    #[tokio::test]
    async fn the_server_stops_within_a_second_despite_open_connections() {
        let running = start().await;
        // A connection that was answered and stays open, one without a request, one with half a request.
        let mut idle = TcpStream::connect(running.address).await.unwrap();
        idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
        let mut start = [0; 12];
        idle.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
        let _silent = TcpStream::connect(running.address).await.unwrap();
        let mut half = TcpStream::connect(running.address).await.unwrap();
        half.write_all(b"GET /metr").await.unwrap();
        // The kernel hands connections out in order. This one was answered, so the server has the others, too.
        assert_eq!(running.get("/healthz").await.0, 200);
        let address = running.address;
        running.stopped().await;
        assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
    }

    #[tokio::test]
    async fn an_unusable_address_is_reported_with_its_key() {
        let running = start().await;
        for address in [running.address.to_string(), "nonsense".into(), "127.0.0.1".into(), ":99999".into()] {
            let error = Server::bind(&address, "server.address").await.unwrap_err().to_string();
            assert!(error.contains(&format!("`{address}`")) && error.contains("`server.address`"), "{error}");
        }
        running.stopped().await;
    }

    #[test]
    fn a_port_alone_means_every_address_of_the_machine() {
        let addresses = everywhere(":8080").map(|addresses| addresses.map(|address| address.to_string()));
        assert_eq!(addresses, Some(["[::]:8080".to_owned(), "0.0.0.0:8080".to_owned()]));
        for address in ["127.0.0.1:8080", ":http", "::1", ""] {
            assert_eq!(everywhere(address), None, "{address}");
        }
    }
}
