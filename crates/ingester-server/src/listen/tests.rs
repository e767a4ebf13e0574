//! Tests clients and the limits on their costs.

use super::{Limits, Listener, Tls};
use crate::access::AccessLog;
use crate::body;
use crate::caller::{Attributes, Verb};
use crate::fixture::{Authority, Certificate};
use crate::identity::Peer;
use crate::metrics::Metrics;
use crate::places::RequestSlots;
use axum::body::Body;
use http::{Request, Response};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// More than the operating system buffers of an answer.
const LARGE: usize = 24 << 20;

/// Short enough for a test.
fn short() -> Limits {
    let time = Duration::from_millis(300);
    Limits {
        handshake: time,
        head: time,
        idle: time,
        body: time,
        request: 2 * time,
        stalled: time,
        grace: time,
        answer: PATIENCE,
        ..Limits::default()
    }
}

/// A server that answers by path.
struct World {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    metrics: Metrics,
    /// The number of requests whose handler has begun, and of those whose handler still exists.
    begun: Arc<AtomicUsize>,
    held: Arc<AtomicUsize>,
    /// Ends the requests to `/wait`.
    go: Arc<Notify>,
    authority: Authority,
    folder: TempDir,
}

/// Counts a handler while it exists.
struct HandlerCount(Arc<AtomicUsize>);

impl Drop for HandlerCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl World {
    async fn loopback(limits: Limits) -> Self {
        Self::with_places(limits, 1000).await
    }

    async fn with_places(limits: Limits, places: usize) -> Self {
        let listener = Listener::on_loopback(0).await.unwrap();
        Self::start(limits, places, listener, Authority::new("servers"), tempfile::tempdir().unwrap())
    }

    async fn tls(limits: Limits) -> Self {
        let authority = Authority::new("servers");
        let folder = tempfile::tempdir().unwrap();
        write(&folder, &authority.server("localhost"));
        let [certificate, key] = files(&folder);
        let tls = Tls::read(&certificate, &key).unwrap();
        let listener = Listener::with_tls("127.0.0.1:0", &tls).await.unwrap();
        let world = Self::start(limits, 1000, listener, authority, folder);
        tokio::spawn(tls.follow(Duration::from_millis(20), world.metrics.clone(), world.stop.clone()));
        world
    }

    fn start(limits: Limits, places: usize, listener: Listener, authority: Authority, folder: TempDir) -> Self {
        let address = listener.address().unwrap();
        let stop = CancellationToken::new();
        let metrics = Metrics::new().unwrap();
        let go = Arc::new(Notify::new());
        let begun = Arc::new(AtomicUsize::new(0));
        let held = Arc::new(AtomicUsize::new(0));
        let handler = {
            let begun = begun.clone();
            let held = held.clone();
            let go = go.clone();
            let places = RequestSlots::new(places);
            move |request: Request<Body>, peer, log: AccessLog| {
                begun.fetch_add(1, Ordering::SeqCst);
                held.fetch_add(1, Ordering::SeqCst);
                let held = HandlerCount(held.clone());
                let go = go.clone();
                let places = places.clone();
                async move {
                    // Take the place for the user in the header, like the service does.
                    let Some(user) = request.headers().get("user").cloned() else {
                        return answer(request, peer, go, held).await;
                    };
                    log.user(user.to_str().unwrap());
                    let place = match places.take(user.to_str().unwrap()) {
                        Ok(place) => place,
                        Err(status) => return status.response(),
                    };
                    let mut response = answer(request, peer, go, held).await;
                    if response.extensions().get::<body::WaitMark>().is_none() {
                        response.extensions_mut().insert(place);
                    }
                    response
                }
            }
        };
        let serving = tokio::spawn(listener.serve(limits, metrics.clone(), handler, stop.clone()));
        World { address, stop, serving, metrics, begun, held, go, authority, folder }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Returns all data that the server sends until it closes.
    async fn ask(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        all(&mut stream).await
    }

    fn client(&self, certificate: Option<&Certificate>) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        use rustls::pki_types::{CertificateDer, pem::PemObject as _};
        roots.add(CertificateDer::from_pem_slice(self.authority.pem().as_bytes()).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let config = match certificate {
            Some(own) => config.with_client_auth_cert(vec![own.der.clone()], own.key()).unwrap(),
            None => config.with_no_client_auth(),
        };
        TlsConnector::from(Arc::new(config))
    }

    async fn securely(&self, connector: &TlsConnector) -> tokio_rustls::client::TlsStream<TcpStream> {
        let name = ServerName::try_from("localhost").unwrap();
        connector.connect(name, self.connect().await).await.unwrap()
    }

    fn count(&self, series: &str) -> f64 {
        let text = self.metrics.render();
        let line = text.lines().find(|line| line.starts_with(series)).unwrap_or_else(|| panic!("{series} in {text}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

/// The behaviour of the test server's paths.
async fn answer(request: Request<Body>, peer: Peer, go: Arc<Notify>, _held: HandlerCount) -> Response<Body> {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/wait" => go.notified().await,
        "/never" => std::future::pending().await,
        "/panic" => panic!("as the test wants"),
        "/body" => {
            return match body::read(request.into_body()).await {
                Ok(body) => Response::new(Body::from(body.len().to_string())),
                Err(status) => status.response(),
            };
        }
        "/endless" => {
            let chunk = Ok::<_, std::io::Error>(bytes::Bytes::from(vec![b'x'; 1 << 20]));
            let chunks = futures::stream::repeat_with(move || Ok::<_, std::io::Error>(chunk.as_ref().unwrap().clone()));
            return Response::new(Body::from_stream(CountedStream(chunks, _held)));
        }
        "/unknown" => return crate::status::Status::unauthorized().response(),
        "/large" => return Response::new(Body::from(vec![b'x'; LARGE])),
        "/follow" => {
            let nothing = futures::stream::pending::<std::io::Result<bytes::Bytes>>();
            let mut response = Response::new(Body::from_stream(CountedStream(nothing, _held)));
            response.extensions_mut().insert(body::WaitMark);
            return response;
        }
        "/peer" => return Response::new(Body::from(format!("{} certificates", peer.certificates.len()))),
        _ => {}
    }
    Response::new(Body::from(format!("{} {path}", request.method())))
}

/// A stream that counts while it exists.
struct CountedStream<S>(S, #[allow(dead_code, reason = "it counts")] HandlerCount);

impl<S: futures::Stream + Unpin> futures::Stream for CountedStream<S> {
    type Item = S::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<S::Item>> {
        std::pin::Pin::new(&mut self.0).poll_next(cx)
    }
}

fn files(folder: &TempDir) -> [PathBuf; 2] {
    ["tls.crt", "tls.key"].map(|name| folder.path().join(name))
}

fn write(folder: &TempDir, certificate: &Certificate) {
    let [path, key] = files(folder);
    std::fs::write(path, &certificate.pem).unwrap();
    std::fs::write(key, &certificate.key_pem).unwrap();
}

/// Returns the text up to the end. A connection that was reset has ended, too.
async fn all(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the server closes");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns one answer on a connection that stays open.
async fn one(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), path: &str) -> String {
    asked(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"), stream).await
}

/// Does the same for a known user.
async fn one_of(user: &str, stream: &mut (impl AsyncRead + AsyncWrite + Unpin), path: &str) -> String {
    asked(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nuser: {user}\r\n\r\n"), stream).await
}

async fn asked(request: &str, stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut chunk = [0; 1024];
    loop {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut chunk)).await.unwrap().unwrap();
        assert!(read > 0, "closed after {answer:?}");
        answer.push_str(&String::from_utf8_lossy(&chunk[..read]));
        if let Some((head, body)) = answer.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() == length.parse::<usize>().unwrap() {
                return answer;
            }
        }
    }
}

/// Waits for a condition.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

const CLOSE: &str = "host: localhost\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn a_request_over_tls_names_one_host() {
    let world = World::tls(Limits::default()).await;
    let connector = world.client(None);
    for (head, status) in [
        ("host: localhost\r\n", 200),
        ("host: localhost:8443\r\n", 200),
        ("", 400),
        ("host: localhost\r\nhost: localhost\r\n", 400),
        ("host: a b\r\n", 400),
    ] {
        let mut stream = world.securely(&connector).await;
        let answer = asked(&format!("GET /a HTTP/1.1\r\n{head}\r\n"), &mut stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
    }
}

#[tokio::test]
async fn requests_of_one_connection_are_answered_one_after_the_other() {
    let world = World::loopback(Limits::default()).await;
    let mut stream = world.connect().await;
    for path in ["/a", "/b?c=d"] {
        let answer = one(&mut stream, path).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    assert!(world.ask(&format!("GET /a HTTP/1.1\r\n{CLOSE}")).await.ends_with("GET /a"));
    assert_eq!(world.begun.load(Ordering::SeqCst), 3);
    until("the first is left", || world.count("ingester_serve_connections ") == 1.0).await;
    drop(stream);
    until("its connection is gone", || world.count("ingester_serve_connections ") == 0.0).await;
}

#[tokio::test]
async fn headers_that_are_too_large_are_refused() {
    let world = World::loopback(Limits::default()).await;
    let many: String = (0..600).map(|n| format!("x-{n}: y\r\n")).collect();
    let large = format!("x: {}\r\n", "y".repeat(70 << 10));
    for headers in [many, large] {
        let answer = world.ask(&format!("GET / HTTP/1.1\r\n{headers}{CLOSE}")).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        assert!(answer.contains(r#""kind":"Status""#) && answer.contains("the headers are too large"), "{answer}");
    }
    // Beyond twice that, the server does not read them to their end.
    let lines: String = (0..10_000).map(|n| format!("x-header-of-this-number-{n}: and its value\r\n")).collect();
    let long = "y".repeat(10 << 20);
    for headers in [lines, format!("x: {long}\r\n")] {
        let mut stream = world.connect().await;
        let request = format!("GET / HTTP/1.1\r\n{headers}{CLOSE}");
        // The connection may be closed before everything is sent.
        let _ = stream.write_all(request.as_bytes()).await;
        let answer = all(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
    let answer = world.ask(&format!("GET /{} HTTP/1.1\r\n{CLOSE}", "a".repeat(66_000))).await;
    assert!(answer.starts_with("HTTP/1.1 414 ") || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(world.begun.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn ten_thousand_header_lines_get_an_answer() {
    let world = World::loopback(Limits::default()).await;
    let lines: String = (0..10_000).map(|n| format!("x{n}: y\r\n")).collect();
    let answer = world.ask(&format!("GET / HTTP/1.1\r\n{lines}{CLOSE}")).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let world = World::loopback(Limits::default()).await;
    let most = body::MOST;
    let answer = world.ask(&format!("POST /body HTTP/1.1\r\ncontent-length: {}\r\n{CLOSE}", most + 1)).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("limit is 3145728"), "{answer}");
    assert_eq!(world.begun.load(Ordering::SeqCst), 0, "its length says so");
    let body = "x".repeat(most);
    let answer = world.ask(&format!("POST /body HTTP/1.1\r\ncontent-length: {most}\r\n{CLOSE}{body}")).await;
    assert!(answer.ends_with("\r\n\r\n3145728"), "{answer}");
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(0x10_0000));
    let request =
        format!("POST /body HTTP/1.1\r\ntransfer-encoding: chunked\r\n{CLOSE}{chunk}{chunk}{chunk}1\r\nx\r\n0\r\n\r\n");
    let answer = world.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn slow_clients_are_let_go() {
    let world = World::loopback(short()).await;
    let begin = Instant::now();
    assert_eq!(all(&mut world.connect().await).await, "", "it says nothing");
    // The client keeps sending a little, which does not help.
    let mut stream = world.connect().await;
    let closed = async {
        for byte in b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ".iter().chain(std::iter::repeat(&b'y')) {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if stream.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, closed).await.expect("it is closed");
    // The client has an answer and sends nothing more; or it begins a request and does not end it.
    for begun in ["", "GET /again HTTP/1.1\r\n"] {
        let mut stream = world.connect().await;
        one(&mut stream, "/").await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        assert_eq!(all(&mut stream).await, "");
    }
    // The body never arrives, though the client wants to keep the connection.
    let answer = world.ask("POST /body HTTP/1.1\r\ncontent-length: 10\r\nhost: localhost\r\n\r\n12345").await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("the body did not come within 0.3"), "{answer}");
    assert!(begin.elapsed() < PATIENCE);
    until("nothing is held", || world.held.load(Ordering::SeqCst) == 0).await;
    until("no connection is held", || world.count("ingester_serve_connections ") == 0.0).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    for secure in [false, true] {
        let world = if secure { World::tls(short()).await } else { World::loopback(short()).await };
        let request = format!("GET /endless HTTP/1.1\r\n{CLOSE}");
        let (mut plain, mut tls);
        let stream: &mut (dyn AsyncWrite + Unpin + Send) = if secure {
            tls = world.securely(&world.client(None)).await;
            &mut tls
        } else {
            plain = world.connect().await;
            &mut plain
        };
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        until("it is answered", || world.begun.load(Ordering::SeqCst) == 1).await;
        until("nothing is held", || world.held.load(Ordering::SeqCst) == 0).await;
        until("no connection is held", || world.count("ingester_serve_connections ") == 0.0).await;
        assert_eq!(world.count("ingester_serve_requests_in_flight "), 0.0);
    }
}

/// Returns how much of the large answer a slow reader gets who reads for some seconds without long pauses.
async fn read_slowly(stream: &mut TcpStream) -> usize {
    stream.write_all(b"GET /large HTTP/1.1\r\nhost: localhost\r\nuser: ada\r\n\r\n").await.unwrap();
    let mut chunk = vec![0; 256 << 10];
    let mut all = 0;
    while all < LARGE {
        match tokio::time::timeout(PATIENCE, stream.read(&mut chunk)).await.unwrap() {
            Ok(0) | Err(_) => break,
            Ok(read) => all += read,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    all
}

#[tokio::test]
async fn an_answer_counts_until_it_is_sent() {
    let time = Duration::from_secs(1);
    let limits = Limits { idle: time, ..Limits::default() };
    let world = World::with_places(limits, 1).await;
    let mut slow = world.connect().await;
    let mut other = world.connect().await;
    let all = async {
        let all = read_slowly(&mut slow).await;
        (all, Instant::now())
    };
    let refused = async {
        until("it is asked", || world.begun.load(Ordering::SeqCst) == 1).await;
        tokio::time::sleep(time / 4).await;
        assert!(one_of("eve", &mut other, "/").await.starts_with("HTTP/1.1 429 "), "the large answer is not sent yet");
    };
    let begin = Instant::now();
    let ((all, end), ()) = tokio::join!(all, refused);
    assert!(all >= LARGE, "it is cut off after {all}");
    assert!(end - begin > time, "nothing would have cut it off");

    // The time ends although the answer comes in one part.
    let world = World::with_places(Limits { answer: time / 4, ..limits }, 1).await;
    let all = read_slowly(&mut world.connect().await).await;
    assert!(all < LARGE, "{all}");
    until("nothing is held", || world.count("ingester_serve_requests_in_flight ") == 0.0).await;
}

#[tokio::test]
async fn the_work_for_a_client_that_has_gone_ends() {
    let world = World::loopback(Limits::default()).await;
    for half in [true, false] {
        let mut stream = world.connect().await;
        stream.write_all(b"GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        until("it is asked", || world.held.load(Ordering::SeqCst) == 1).await;
        if half {
            stream.shutdown().await.unwrap();
            assert_eq!(all(&mut stream).await, "");
        }
        drop(stream);
        until("nothing is held", || world.held.load(Ordering::SeqCst) == 0).await;
    }
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_told_so() {
    let world = World::loopback(short()).await;
    let answer = world.ask(&format!("GET /never HTTP/1.1\r\n{CLOSE}")).await;
    assert!(answer.starts_with("HTTP/1.1 504 ") && answer.contains("the request took too long"), "{answer}");
    assert_eq!(world.held.load(Ordering::SeqCst), 0);
    // An answer without an end breaks off, so that clients do not take it for complete.
    let world = World::loopback(Limits { answer: Duration::from_millis(300), ..Limits::default() }).await;
    let answer = world.ask(&format!("GET /endless HTTP/1.1\r\n{CLOSE}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && !answer.ends_with("\r\n0\r\n\r\n"));
    until("nothing is held", || world.held.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn a_panic_is_the_error_of_its_request() {
    let world = World::loopback(Limits::default()).await;
    let mut stream = world.connect().await;
    assert!(one(&mut stream, "/panic").await.starts_with("HTTP/1.1 500 "));
    assert!(one(&mut stream, "/a").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn more_requests_than_allowed_are_refused() {
    let world = World::with_places(Limits::default(), 1).await;
    let mut waiting = world.connect().await;
    waiting.write_all(b"GET /wait HTTP/1.1\r\nhost: localhost\r\nuser: ada\r\n\r\n").await.unwrap();
    until("it is asked", || world.held.load(Ordering::SeqCst) == 1).await;
    let mut other = world.connect().await;
    let answer = one_of("eve", &mut other, "/").await;
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after: 1"), "{answer}");
    world.go.notify_one();
    until("it is answered", || world.held.load(Ordering::SeqCst) == 0).await;
    assert!(one_of("eve", &mut other, "/").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn idle_connections_give_way_to_new_ones() {
    let world = World::loopback(Limits { connections: 3, ..Limits::default() }).await;
    let refused =
        |reason: &str| world.count(&format!("ingester_serve_connections_refused_total{{reason=\"{reason}\"}}"));
    let mut waiting = world.connect().await;
    waiting.write_all(b"GET /wait HTTP/1.1\r\nhost: localhost\r\nuser: ada\r\n\r\n").await.unwrap();
    until("it is asked", || world.held.load(Ordering::SeqCst) == 1).await;
    let mut known = world.connect().await;
    assert!(one_of("ada", &mut known, "/").await.starts_with("HTTP/1.1 200 "));
    let mut silent = world.connect().await;
    until("three are there", || world.count("ingester_serve_connections ") == 3.0).await;
    // A connection without a request goes first, however long the other has been idle.
    let mut new = world.connect().await;
    assert_eq!(all(&mut silent).await, "");
    assert!(one_of("ada", &mut known, "/").await.starts_with("HTTP/1.1 200 "));
    assert!(one_of("eve", &mut new, "/").await.starts_with("HTTP/1.1 200 "));
    // Then the one that has been idle longest.
    let mut newer = world.connect().await;
    assert_eq!(all(&mut known).await, "");
    assert!(one_of("bob", &mut newer, "/").await.starts_with("HTTP/1.1 200 "));
    assert_eq!((refused("idle"), refused("full")), (2.0, 0.0));
    // Connections with an answer in progress stay.
    let mut busy = Vec::new();
    for stream in [&mut new, &mut newer] {
        stream.write_all(b"GET /never HTTP/1.1\r\nhost: localhost\r\nuser: eve\r\n\r\n").await.unwrap();
        busy.push(stream);
    }
    until("they are asked", || world.held.load(Ordering::SeqCst) == 3).await;
    assert_eq!(all(&mut world.connect().await).await, "");
    assert_eq!((refused("idle"), refused("full")), (2.0, 1.0));
    world.go.notify_one();
    assert!(asked("", &mut waiting).await.ends_with("GET /wait"));
}

#[tokio::test]
async fn idle_connections_do_not_block_answers() {
    let world = World::with_places(Limits::default(), 1).await;
    let mut following = Vec::new();
    for _ in 0..3 {
        let mut stream = world.connect().await;
        stream.write_all(b"GET /follow HTTP/1.1\r\nhost: localhost\r\nuser: eve\r\n\r\n").await.unwrap();
        let mut head = [0; 15];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        following.push(stream);
    }
    assert!(world.ask(&format!("GET /a HTTP/1.1\r\nuser: ada\r\n{CLOSE}")).await.ends_with("GET /a"));
    assert_eq!(world.count("ingester_serve_requests_in_flight "), 3.0);
    drop(following.pop());
    until("nothing is held for who has gone", || world.held.load(Ordering::SeqCst) == 2).await;
    // The shutdown does not wait for them, and they are closed properly.
    world.stop.cancel();
    tokio::time::timeout(Limits::default().grace / 2, world.serving).await.unwrap().unwrap();
    for mut stream in following {
        assert!(all(&mut stream).await.ends_with("\r\n\r\n0\r\n\r\n"));
    }
}

#[tokio::test]
async fn the_end_waits_for_answers_but_not_for_ever() {
    let world = World::loopback(Limits::default()).await;
    let mut idle = world.connect().await;
    one(&mut idle, "/").await;
    let mut waiting = world.connect().await;
    waiting.write_all(b"GET /wait HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    until("it is asked", || world.held.load(Ordering::SeqCst) == 1).await;
    world.stop.cancel();
    assert_eq!(all(&mut idle).await, "", "whoever asks nothing is let go");
    until("nobody listens", || std::net::TcpStream::connect(world.address).is_err()).await;
    world.go.notify_one();
    assert!(all(&mut waiting).await.ends_with("GET /wait"));
    tokio::time::timeout(PATIENCE, world.serving).await.unwrap().unwrap();

    let world = World::loopback(short()).await;
    let mut never = world.connect().await;
    never.write_all(b"GET /wait HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    until("it is asked", || world.held.load(Ordering::SeqCst) == 1).await;
    world.stop.cancel();
    tokio::time::timeout(PATIENCE, world.serving).await.unwrap().unwrap();
    assert_eq!(world.held.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_port_without_authentication_is_for_this_machine_alone() {
    let world = World::loopback(Limits::default()).await;
    assert!(world.address.ip().is_loopback());
    let ask = async |headers: &str| world.ask(&format!("GET / HTTP/1.1\r\n{headers}connection: close\r\n\r\n")).await;
    assert!(ask("host: localhost:1\r\n").await.starts_with("HTTP/1.1 200 "));
    for headers in [
        "host: evil.example\r\n",
        "",
        "host: localhost\r\norigin: https://evil.example\r\n",
        "host: localhost\r\norigin: http://localhost:3000\r\n",
        "host: localhost\r\nsec-fetch-site: cross-site\r\n",
    ] {
        let answer = ask(headers).await;
        assert!(
            answer.starts_with("HTTP/1.1 403 ") && answer.contains(r#""reason":"Forbidden""#),
            "{headers} {answer}"
        );
    }
    assert_eq!(world.begun.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_client_shows_a_certificate_if_it_has_one() {
    let world = World::tls(Limits::default()).await;
    let stranger = Authority::new("strangers").client("ada", &[]);
    for (certificate, count) in [(None, 0), (Some(&stranger), 1)] {
        let mut stream = world.securely(&world.client(certificate)).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), None);
        let answer = one(&mut stream, "/peer").await;
        assert!(answer.ends_with(&format!("{count} certificates")), "{answer}");
    }
    // Clients without TLS are refused.
    let mut plain = world.connect().await;
    plain.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let answer = all(&mut plain).await;
    assert!(!answer.contains("HTTP"), "{answer}");
    until("it is counted", || world.count("ingester_serve_connections_refused_total{reason=\"handshake\"}") == 1.0)
        .await;
}

#[tokio::test]
async fn unauthenticated_callers_keep_no_connection() {
    let world = World::tls(Limits::default()).await;
    let local = World::loopback(Limits::default()).await;
    let prefixed = format!("{}/readyz", crate::request::path::OUTER_PREFIX);
    let paths = ["/unknown", "/healthz", "/livez?verbose", "/readyz/", "/%76ersion", &prefixed];
    for path in paths {
        let mut stream = world.securely(&world.client(None)).await;
        // Other requests are answered before.
        assert!(!one(&mut stream, "/version/other").await.contains("connection: close"));
        let answer = one(&mut stream, path).await;
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert_eq!(all(&mut stream).await, "", "{path}");
        // A caller who may do everything counts as authenticated.
        let mut stream = local.connect().await;
        for _ in 0..2 {
            assert!(!one(&mut stream, path).await.contains("connection: close"), "{path}");
        }
    }
    // A browser asks for all files of the console.
    let mut stream = world.securely(&world.client(None)).await;
    for file in ["/ui/", "/ui/app.mjs", "/ui/app.mjs"] {
        assert!(!one(&mut stream, file).await.contains("connection: close"), "{file}");
    }
}

#[tokio::test]
async fn a_handshake_has_its_time() {
    let world = World::tls(short()).await;
    let mut silent = world.connect().await;
    assert_eq!(all(&mut silent).await, "");
    until("no connection is held", || world.count("ingester_serve_connections ") == 0.0).await;
}

#[tokio::test]
async fn a_certificate_is_replaced_while_the_server_works() {
    let world = World::tls(Limits::default()).await;
    let presented = async || {
        // A new client each time: a returning one is not shown the certificate again.
        let stream = world.securely(&world.client(None)).await;
        stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    };
    let first = presented().await;
    let mut open = world.securely(&world.client(None)).await;
    one(&mut open, "/").await;

    // Half of a change, nonsense, no file: the last usable certificate is kept.
    let second = world.authority.server("localhost");
    let [certificate, key] = files(&world.folder);
    let reloads =
        |result: &str| world.count(&format!("ingester_serve_certificate_reloads_total{{result=\"{result}\"}}"));
    std::fs::write(&certificate, &second.pem).unwrap();
    until("half of it is read", || reloads("failed") == 1.0).await;
    std::fs::write(&certificate, "nonsense").unwrap();
    until("nonsense is read", || reloads("failed") == 2.0).await;
    std::fs::remove_file(&certificate).unwrap();
    until("nothing is read", || reloads("failed") == 3.0).await;
    assert_eq!(presented().await, first);

    std::fs::write(&key, &second.key_pem).unwrap();
    std::fs::write(&certificate, &second.pem).unwrap();
    until("it is read", || reloads("success") == 1.0).await;
    assert_eq!(presented().await, second.der);
    assert!(one(&mut open, "/").await.starts_with("HTTP/1.1 200 "), "who was connected stays so");
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("servers");
    let [certificate, key] = files(&folder);
    let error = || Tls::read(&certificate, &key).unwrap_err().to_string();
    let shown = certificate.display().to_string();
    assert_eq!(error(), format!("{shown} cannot be read: No such file or directory (os error 2)"));
    write(&folder, &authority.server("localhost"));
    Tls::read(&certificate, &key).unwrap();
    std::fs::write(&certificate, "nonsense").unwrap();
    assert_eq!(error(), format!("{shown} has no certificate in PEM"));
    std::fs::write(&certificate, &authority.server("localhost").pem).unwrap();
    let error = error();
    assert!(error.starts_with(&format!("the certificate in {shown} cannot be used with the key in ")), "{error}");
}

#[tokio::test]
async fn what_is_logged_about_a_request_names_it_until_its_body_ends() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .with_writer(Arc::new(log.reopen().unwrap()))
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let handler = |_: Request<Body>, _: Peer, log: AccessLog| async move {
        log.user("ada");
        let [group, version, resource] = ["michelangelo.api", "v2", "models"].map(str::to_owned);
        let [subresource, namespace, name] = [const { String::new() }; 3];
        let attributes = Attributes { verb: Verb::List, group, version, resource, subresource, namespace, name };
        log.about(&attributes, "", "");
        tracing::warn!("said by the handler");
        let body = futures::stream::once(async {
            tracing::warn!("said by the body");
            Ok::<_, std::io::Error>("x")
        });
        Response::new(Body::from_stream(body))
    };
    let listener = Listener::on_loopback(0).await.unwrap();
    let address = listener.address().unwrap();
    let stop = CancellationToken::new();
    let serving = listener.serve(Limits::default(), Metrics::new().unwrap(), handler, stop.clone());
    let asking = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
        let answer = all(&mut stream).await;
        stop.cancel();
        answer
    };
    let (_, answer) = tokio::time::timeout(PATIENCE, async { tokio::join!(serving, asking) }).await.unwrap();
    assert!(answer.contains("200 OK"), "{answer}");
    let log = std::fs::read_to_string(log.path()).unwrap();
    let said: Vec<&str> = log.lines().filter_map(|line| line.split_once(" WARN ")).map(|(_, said)| said).collect();
    let request = r#"request{user="ada" verb="list" resource="models"}: ingester_server::listen::tests: "#;
    assert_eq!(said, [format!("{request}said by the handler"), format!("{request}said by the body")]);
}
