//! Floods of requests and of connections.

use crate::log::{lines, render_line};
use crate::world::{MODELS, PROMPT, Setup, World, served_in_spite_of, until};
use ingester_server::listen::Limits;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_of_one_user_keep_no_other_out() {
    let world = World::new(Limits { body: Duration::from_secs(5), ..Limits::default() }, 200, 20).await;
    let alone = world.median("ada").await;
    let mut slow = JoinSet::new();
    for _ in 0..210 {
        let mut stream = world.connect().await;
        let head = format!(
            "PATCH {MODELS}/m0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer eve\r\ncontent-type: application/merge-patch+json\r\ncontent-length: 100000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.spawn(async move {
            let (mut read, mut write) = stream.split();
            let trickle = async {
                loop {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    if write.write_all(b"x").await.is_err() {
                        std::future::pending::<()>().await;
                    }
                }
            };
            let mut answer = Vec::new();
            tokio::select! {
                _ = read.read_to_end(&mut answer) => {}
                () = trickle => {}
            }
            String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or("0").to_owned()
        });
    }
    // Excess requests are refused at once.
    until("110 are refused", async || lines("eve").iter().filter(|line| line["code"] == "429").count() == 110).await;
    served_in_spite_of(&world, alone).await;
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(code) = slow.join_next().await {
        *codes.entry(code.unwrap()).or_default() += 1;
    }
    assert_eq!(codes, [("408".to_owned(), 100), ("429".to_owned(), 110)].into());
    until("each has its line", async || lines("eve").len() == 210).await;
    let line = lines("eve").into_iter().find(|line| line["code"] == "408").unwrap();
    assert_eq!(render_line(&line, &["verb", "resource", "namespace", "name"]), "patch models ml m0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_one_user_keeps_no_other_out() {
    let world = World::new(Limits::default(), 200, 20).await;
    let alone = world.median("ada").await;
    // They hold their places until the API server says whether they may.
    let mut held = Vec::new();
    for _ in 0..300 {
        held.push(world.send("eve", "GET", &format!("{MODELS}/slow"), "").await);
    }
    until("200 are refused", async || lines("eve").len() == 200).await;
    assert!(lines("eve").iter().all(|line| line["code"] == "429"));
    // More of them all the time.
    let go_on = CancellationToken::new();
    let flood = async {
        let mut sent = 0;
        while !go_on.is_cancelled() {
            assert_eq!(world.ask("eve", "GET", &format!("{MODELS}/slow"), "").await, 429);
            sent += 1;
        }
        sent
    };
    let served = async {
        served_in_spite_of(&world, alone).await;
        go_on.cancel();
    };
    let (sent, ()) = tokio::join!(flood, served);
    assert!(sent > 0);
    drop(held);
    until("each has its line", async || lines("eve").len() == 300 + sent).await;
    assert_eq!(lines("eve").iter().filter(|line| line["code"] == "499").count(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tokens_keep_no_one_out_who_is_known() {
    let world =
        World::new(Limits { connections: 300, request: Duration::from_secs(20), ..Limits::default() }, 200, 20).await;
    let alone = world.median("ada").await;
    let begin = Instant::now();
    // All connections are taken by silent clients, and by tokens about which the API server does not answer.
    let mut held = Vec::new();
    for number in 0..600 {
        match number % 3 {
            0 => held.push(world.send(&format!("?{number}"), "GET", MODELS, "").await),
            _ => held.push(world.connect().await),
        }
    }
    served_in_spite_of(&world, alone).await;
    assert!(world.count("ingester_serve_connections_refused_total{reason=\"idle\"}") >= 100.0);
    // After seconds the owner of her token is checked again, while all questions but one are about the tokens of others.
    let asked = world.count("ingester_serve_reviews_total{result=\"yes\",review=\"token\"}");
    let more = Cell::new(0);
    until("it is asked again whose her token is", async || {
        let each = Instant::now();
        assert_eq!(world.ask("ada", "GET", &format!("{MODELS}/m0"), "").await, 200);
        assert!(each.elapsed() < PROMPT, "{:?}", each.elapsed());
        assert_eq!(world.ask("?more", "GET", MODELS, "").await, 429);
        more.set(more.get() + 1);
        world.count("ingester_serve_reviews_total{result=\"yes\",review=\"token\"}") > asked
    })
    .await;
    drop(held);
    until("each is counted", async || world.count("ingester_serve_requests_in_flight ") == 0.0).await;
    let unknown = lines("");
    let seconds = begin.elapsed().as_secs() as usize + 2;
    assert!(!unknown.is_empty() && unknown.len() <= 10 * seconds, "{} lines in {seconds} seconds", unknown.len());
    assert!(unknown.iter().all(|line| line["path"] == MODELS));
    let refused = world.count("ingester_serve_requests_total{code=\"429\"")
        + world.count("ingester_serve_requests_total{code=\"499\"");
    assert_eq!(refused, f64::from(200 + more.get()), "all of them are counted");
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_discovery_need_no_place() {
    // They hold their places until the end, however long it takes.
    let limits = Limits { request: Duration::from_secs(3600), ..Limits::default() };
    let world = World::with_setup(Setup { places: 4, limits, ..Setup::default() }).await;
    let mut held = Vec::new();
    for user in ["eve", "bob", "kim", "joe"] {
        held.push(world.send(user, "GET", &format!("{MODELS}/slow"), "").await);
        // One after the other: of several tokens that are unknown, only some may be asked about at a time. She asks only when all have theirs: a
        // request that takes the place of one of them would not be retried.
        until("a place is taken", async || world.holding() == held.len()).await;
    }
    assert_eq!(world.ask("ada", "GET", MODELS, "").await, 429);
    for path in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(world.ask("", "GET", path, "").await, 200, "{path}");
    }
    let queries = "/apis/mirror.michelangelo.api/v1/queries";
    for path in ["/apis", "/openapi/v2", "/openapi/v3", queries, &format!("{queries}/newest")] {
        assert_eq!(world.ask("ada", "GET", path, "").await, 200, "{path}");
    }
    assert_eq!(world.ask("ada", "GET", MODELS, "").await, 429, "they are taken still");
    drop(held);
    until("a place is free", async || world.ask("ada", "GET", MODELS, "").await == 200).await;
}

/// Few connections.
const FEW: usize = 12;

/// A request of hers with an answer, on a connection that stays open and takes little at a time.
async fn known_connection(world: &World) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(world.address()).await.unwrap();
    let request = format!("GET {MODELS}/m0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer eve\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"}}") {
        assert!(stream.read_buf(&mut answer).await.unwrap() > 0);
    }
    stream
}

/// Connections whose next request comes slowly.
async fn slow_head(world: &World) -> TcpStream {
    let mut stream = known_connection(world).await;
    stream.write_all(b"GET /apis HTTP/1.1\r\nhost:").await.unwrap();
    stream
}

/// Connections that request documents again and again, without taking any.
async fn slow_reader(world: &World) -> TcpStream {
    let mut stream = known_connection(world).await;
    let one = "GET /openapi/v2 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer eve\r\n\r\n";
    stream.write_all(one.repeat(100).as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_of_a_known_user_keep_no_other_out() {
    let limits = Limits { connections: FEW, head: Duration::from_secs(60), ..Limits::default() };
    let world = World::with_setup(Setup { limits, ..Setup::default() }).await;
    let mut held = Vec::new();
    for round in 0..20 {
        // All of them, and more: each takes the place of an earlier one.
        for _ in 0..FEW {
            held.push(if round % 2 == 0 { slow_head(&world).await } else { slow_reader(&world).await });
        }
        let begin = Instant::now();
        assert_eq!(world.ask("ada", "GET", &format!("{MODELS}/m0"), "").await, 200);
        assert_eq!(world.ask("ada", "GET", &format!("{MODELS}?limit=5"), "").await, 200);
        assert!(begin.elapsed() < PROMPT, "{:?}", begin.elapsed());
    }
    assert!(world.count("ingester_serve_connections_refused_total{reason=\"idle\"}") >= 200.0);
    assert_eq!(world.count("ingester_serve_connections_refused_total{reason=\"full\"}"), 0.0);
}
