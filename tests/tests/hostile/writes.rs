//! Writes that outlive their requests.

use crate::log::{LogLine, lines, render_line};
use crate::world::{Database, MODELS, Setup, World, models, request, until};
use futures::StreamExt as _;
use ingester_server::listen::Limits;
use ingester_store::{Effect, Store};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;

/// While it exists, the only connection for writes is in use.
struct Occupied(Arc<Semaphore>);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

async fn occupy(store: &Arc<Store>) -> Occupied {
    let held = Arc::new(Semaphore::new(0));
    let go = Arc::new(Semaphore::new(0));
    let store = store.clone();
    let holds = held.clone();
    let goes = go.clone();
    tokio::spawn(async move {
        let wait = |_: &ingester_store::StoredRow| {
            holds.add_permits(1);
            let wait = || tokio::runtime::Handle::current().block_on(async { drop(goes.acquire().await) });
            tokio::task::block_in_place(wait);
            Err::<Option<ingester_core::row::Row>, ()>(())
        };
        store.change_evicted(models(), "u0", Effect::Tried, wait).await.unwrap();
    });
    held.acquire().await.unwrap().forget();
    Occupied(go)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_goes_on_to_its_end_without_its_client() {
    let world = World::new(Limits { request: Duration::from_millis(500), ..Limits::default() }, 200, 1500).await;
    let fields = ["verb", "name", "uid", "count", "dryRun", "code", "outcome"];
    // Its time is over before the database is free.
    let occupied = occupy(&world.store).await;
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 504);
    assert!(lines("eve").is_empty(), "it is not known yet what becomes of it");
    drop(occupied);
    until("it has its line", async || lines("eve").len() == 1).await;
    assert_eq!(render_line(&lines("eve")[0], &fields), "delete m1 u1 - - 504 200");
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 404, "it is deleted");

    // Its client has gone before that.
    let occupied = occupy(&world.store).await;
    let asked = world.count("ingester_serve_reviews_total{");
    let stream = world.send("ann", "DELETE", MODELS, "").await;
    until("it is let in", async || world.count("ingester_serve_reviews_total{") >= asked + 2.0).await;
    drop(stream);
    until("nothing is answered any more", async || world.count("ingester_serve_requests_in_flight ") == 0.0).await;
    assert!(lines("ann").is_empty());
    drop(occupied);
    until("it has its line", async || lines("ann").len() == 1).await;
    assert_eq!(render_line(&lines("ann")[0], &fields), "deletecollection - - 1499 - 499 200");
    assert_eq!(world.ask("ann", "GET", &format!("{MODELS}/m1498"), "").await, 404, "all of it is deleted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_that_is_given_up_at_the_end_says_so() {
    let world = World::new(Limits { request: Duration::from_millis(100), ..Limits::default() }, 200, 2).await;
    let occupied = occupy(&world.store).await;
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 504);
    world.stop.cancel();
    world.service.finish(Duration::from_millis(100)).await;
    assert_eq!(render_line(&lines("eve")[0], &["verb", "name", "code", "outcome"]), "delete m1 504 unfinished");
    drop(occupied);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_that_was_given_up_keeps_its_place_to_its_end() {
    let limits = Limits { request: Duration::from_millis(500), ..Limits::default() };
    let world = World::with_setup(Setup { database: Database::File, limits, places: 2, ..Setup::default() }).await;
    let get = format!("{MODELS}/m0");
    let occupied = occupy(&world.store).await;
    assert_eq!(world.ask("eve", "DELETE", &format!("{MODELS}/m1"), "").await, 504);
    assert_eq!(world.ask("eve", "GET", &get, "").await, 429, "it works on");
    assert_eq!(world.ask("ada", "GET", &get, "").await, 200);
    drop(occupied);
    until("it has its line", async || lines("eve").iter().any(|line| line["code"] == "504")).await;
    until("its place is free", async || world.ask("eve", "GET", &get, "").await == 200).await;
    assert_eq!(world.ask("eve", "GET", &format!("{MODELS}/m1"), "").await, 404, "it is deleted");
}

/// A request of this number, whose connection closes at a random moment: within the request, before its answer, or after.
async fn closes_at_random(world: &World, number: usize) {
    let dice = |of: &str| {
        let mut hasher = DefaultHasher::new();
        (number, of).hash(&mut hasher);
        hasher.finish()
    };
    let path = format!("{MODELS}/m{number}");
    let request = match number % 2 {
        0 => request("eve", "PATCH", &path, r#"{"metadata":{"labels":{"a":"b"}}}"#),
        _ => request("eve", "DELETE", &path, ""),
    };
    let length = request.len();
    let sent = if dice("is cut").is_multiple_of(4) { dice("length") as usize % length } else { length };
    let mut stream = world.connect().await;
    stream.write_all(&request.as_bytes()[..sent]).await.unwrap();
    // One of three stays for its answer. Of the others, as many go within microseconds as within milliseconds.
    let moment = match (dice("stays") % 3, sent == length) {
        (0, true) => Duration::from_secs(60),
        _ => Duration::from_micros((dice("moment") % 50_000) >> (dice("scale") % 10)),
    };
    let _ = tokio::time::timeout(moment, stream.read_to_end(&mut Vec::new())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_write_has_its_line_whenever_its_connection_closes() {
    const WRITES: usize = 300;
    let world = World::with_setup(Setup { objects: WRITES, ..Setup::default() }).await;
    let requests = futures::stream::iter(0..WRITES).map(|number| closes_at_random(&world, number));
    requests.buffer_unordered(50).collect::<Vec<()>>().await;
    until("all connections are closed", async || world.count("ingester_serve_connections ") == 0.0).await;
    let reached = || f64::from(u32::try_from(world.reached()).unwrap());
    until("each request has ended", async || world.count("ingester_serve_requests_total{") == reached()).await;
    world.service.finish(Duration::from_secs(10)).await;
    // A client may have left before its token was looked at. Those have a few lines a second, without a user.
    let unknown = world.reached() - lines("eve").len();
    let written = lines("").len();
    assert!(
        written == unknown || (written >= 10 && written < unknown),
        "{unknown} left unknown, {written} have a line"
    );
    let lines = lines("eve");
    let has = |code: &str| lines.iter().filter(|line| line["code"] == code).count();
    assert!(lines.len() < WRITES && has("499") > 10 && has("200") > 10, "{} {}", has("499"), has("200"));

    let ended = |line: &&LogLine| line["code"] == "200" || line.get("outcome").is_some_and(|outcome| outcome == "200");
    let succeeded: BTreeSet<String> = lines.iter().filter(ended).map(|line| line["uid"].clone()).collect();
    let uids: Vec<String> = (0..WRITES).map(|number| format!("u{number}")).collect();
    let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
    let stored = world.store.read_stored(models().table(), &uids).await.unwrap();
    assert_eq!(stored.len(), WRITES);
    let changed = stored.iter().filter(|row| row.res_version != 7 || row.delete_time.is_some());
    assert_eq!(changed.map(|row| row.uid.to_string()).collect::<BTreeSet<_>>(), succeeded);
    assert!(lines.iter().any(|line| line["code"] == "499" && line.contains_key("outcome")), "one without its client");
}
