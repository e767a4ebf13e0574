//! Random histories: writes of a few objects, and clients that begin, resume and list again at any moment. Whenever the writes pause, each
//! client must have exactly the objects that are selected then.
//!
//! `WATCH_SEEDS=0..2000 cargo test -p ingester-server --lib histories` runs these seeds. A failing seed is named.

use super::*;
use std::cell::{Cell, RefCell};

/// Random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }

    async fn pause(&mut self, most: u64) {
        for _ in 0..self.below(most + 1) {
            tokio::task::yield_now().await;
        }
    }
}

/// The selectors of clients. There is one for each case of the server: by states alone, or with a question to the database; with and
/// without former objects; some of the objects hidden.
const SELECTORS: [&str; 12] = [
    HIDDEN,
    "",
    "labelSelector=team%3Da",
    "state=live",
    "state=deleted",
    "state=evicted",
    "state=all",
    "state=live&labelSelector=team%3Da",
    "state=deleted&labelSelector=team%3Da",
    "state=evicted&labelSelector=team%3Da",
    "fieldSelector=metadata.name%3Dm-1",
    "fieldSelector=metadata.name%3Dm-1&labelSelector=team%3Da",
];

/// Requested by a caller who may see only live objects.
const HIDDEN: &str = "state=live&labelSelector=team%3Db";

/// One history.
struct History {
    seed: u64,
    world: World,
    /// The pause of the writes that the clients must reach now.
    round: Cell<u64>,
    /// The pause that each client has reached; clients that have not begun wait for none.
    reached: RefCell<Vec<u64>>,
    /// The most turns that any wait takes.
    pause: u64,
}

/// The last pause.
const LAST: u64 = u64::MAX - 1;

impl History {
    /// Random writes. Versions only grow, and are not unique: a sweep uses one version for many objects.
    async fn write(&self, chance: &mut Chance) {
        let world = &self.world;
        let mut version = 10;
        let mut last = [0; 4];
        for round in 1..=3 {
            for _ in 0..chance.below(12) {
                version += chance.below(2);
                let k = usize::try_from(chance.below(4)).unwrap();
                let uid = |incarnation: u32| format!("m-{k}.{incarnation}");
                // Former objects are changed, too.
                let of = uid(if chance.below(6) == 0 { 0 } else { last[k] });
                let labels = json!({"team": chance.choose(&["a", "a", "b"])});
                let row = row(&of, version, &labels);
                match chance.below(24) {
                    // An import writes a row like this.
                    0 => world.write(Row { evict_time: Some(Micros(1)), evict_confirmed: true, ..row }).await,
                    1..=3 => world.write(Row { evict_time: Some(Micros(1)), ..row }).await,
                    4 => world.changed_by_a_user(&of, chance.below(2) == 0).await,
                    5 => drop(
                        world.store.delete_evicted(models(), &of, Effect::Written, |_| Ok::<_, Infallible>(())).await,
                    ),
                    6 | 7 => world.write(Row { delete_time: Some(Micros(1)), ..row }).await,
                    8 => world.swept(&of, version).await,
                    9 => world.purged(&of).await,
                    10 => drop(world.store.purge(models(), Micros(2)).await.unwrap()),
                    11 => {
                        if let Some(stored) = world.store.read_stored(models().table(), &[&of]).await.unwrap().pop() {
                            world.store.replace_evicted(models(), &row, stored.version()).await.unwrap();
                        }
                    }
                    12 | 13 => {
                        world.swept(&of, version).await;
                        last[k] += 1;
                        world.live(&uid(last[k]), version + 1, labels).await;
                    }
                    // Another reader may number entries before ours does.
                    14 => drop(world.hub.log().number(models().table()).await.unwrap()),
                    _ => world.write(row).await,
                }
                chance.pause(self.pause).await;
            }
            self.reach(if round == 3 { LAST } else { round }).await;
        }
    }

    /// Waits until all clients are up to date.
    async fn reach(&self, round: u64) {
        self.round.set(round);
        while self.reached.borrow().iter().any(|reached| *reached < round) {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the log entries.
    async fn log(&self) -> Vec<String> {
        let store = &self.world.store;
        let begin = store.first_position(models().table()).await.unwrap().unwrap();
        let changes = store.changes_after(models().table(), begin, 1000).await.unwrap();
        changes.iter().map(|change| format!("{} {} {}", change.what.as_str(), change.uid, change.res_version)).collect()
    }

    /// A client that begins, and breaks off its watch, at random times.
    async fn client(&self, n: usize, selector: &str, mut chance: Chance) {
        // One in this many events with news is the last one of its watch.
        let breaks = chance.choose(&[1, 8, u64::MAX]);
        let streams = chance.below(3) == 0;
        // Initial events have the version of the object's text. A deletion that was only observed has another version in its row.
        let streams = streams && !selector.contains("deleted") && !selector.contains("all");
        chance.pause(10 * self.pause).await;
        self.reached.borrow_mut()[n] = 0;
        let mut client = Client::default();
        let mut behind = std::time::Instant::now();
        while self.reached.borrow()[n] < LAST {
            if client.at.is_none() {
                client = Client::default();
                if !streams {
                    client.at = Some(self.world.list().await);
                    client.has = self.world.select_rows(selector).await;
                }
            }
            // Its objects may be old when the watch begins.
            chance.pause(5 * self.pause).await;
            let mut events = self.begin(selector, client.at).await;
            while self.reached.borrow()[n] < LAST {
                let event = events.next().await.expect("it goes on");
                let was = (client.at, client.has.clone());
                if !client.takes(&event) {
                    break;
                }
                let round = self.round.get();
                if client.at.is_some() && self.reached.borrow()[n] < round {
                    let rows = self.world.select_rows(selector).await;
                    if client.has == rows {
                        self.reached.borrow_mut()[n] = round;
                    }
                    if behind.elapsed() > BEHIND {
                        let has = client.has;
                        let told = client.told;
                        let log = self.log().await;
                        panic!(
                            "seed {}, {selector}: {has:?} instead of {rows:?}, behind {told:?}, of {log:?}",
                            self.seed
                        );
                    }
                } else {
                    behind = std::time::Instant::now();
                }
                // After a version that it already knew, it would be sent the same event again and again.
                let is_new = if event.0 == "BOOKMARK" { client.at != was.0 } else { client.has != was.1 };
                if client.at.is_some() && is_new && chance.below(breaks) == 0 {
                    break;
                }
            }
        }
        self.reached.borrow_mut()[n] = u64::MAX;
    }

    async fn begin(&self, selector: &str, at: Option<u64>) -> Events {
        let begin = match at {
            Some(at) => format!("resourceVersion={at}"),
            None => "sendInitialEvents=true&resourceVersionMatch=NotOlderThan".to_owned(),
        };
        let reach = if selector == HIDDEN { Reach::Live } else { Reach::All };
        let change = |request: &mut Request| request.reach = reach;
        self.world.try_watch(&format!("{selector}&{begin}&allowWatchBookmarks=true"), change).await.unwrap()
    }
}

/// The time for which a client may be out of date while nothing is written.
const BEHIND: Duration = Duration::from_secs(10);

/// The state of a client.
#[derive(Default)]
struct Client {
    /// The version where it resumes; `None` during initial events.
    at: Option<u64>,
    /// The versions of its objects, by their uids.
    has: BTreeMap<String, u64>,
    /// The events that it received.
    told: Vec<String>,
}

impl Client {
    /// Takes an event. Returns true if the watch goes on.
    fn takes(&mut self, event: &Event) -> bool {
        if event.0 != "BOOKMARK" {
            self.told.push(format!("{} {} {}", event.0, event.uid(), event.version()));
        }
        match event.0.as_str() {
            "ADDED" | "MODIFIED" => drop(self.has.insert(event.uid().to_owned(), event.version())),
            "DELETED" => {
                assert!(self.at.is_some(), "not among initial events: {:?}", self.told);
                self.has.remove(event.uid());
            }
            "BOOKMARK" => {
                if event.1["metadata"]["annotations"].is_object() {
                    self.at = Some(event.version());
                }
            }
            // The client starts over.
            _ => {
                *self = Client::default();
                return false;
            }
        }
        self.at = self.at.map(|_| event.version());
        true
    }
}

/// The requested seeds.
fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("WATCH_SEEDS") else { return 0..40 };
    let (from, to) = text.split_once("..").expect("WATCH_SEEDS is like 0..2000");
    from.parse().unwrap()..to.parse().unwrap()
}

#[tokio::test]
async fn each_client_ends_with_what_there_is() {
    for seed in seeds() {
        let mut chance = Chance(seed);
        let limits = WatchLimits {
            poll: Duration::from_millis(chance.choose(&[1, 20, 100])),
            batch: chance.choose(&[1, 3, 200]),
            bookmarks: Duration::from_millis(10),
            ..LIMITS
        };
        let clients = 10;
        let history = History {
            seed,
            world: World::with(limits).await,
            round: Cell::new(0),
            reached: RefCell::new(vec![u64::MAX; clients]),
            pause: chance.choose(&[0, 3, 20, 100]),
        };
        // Use few selectors, so that the reader often already knows which objects a client selects.
        let selectors = [(); 2].map(|()| chance.choose(&SELECTORS));
        let each = (0..clients).map(|n| history.client(n, selectors[n % 2], Chance(seed << 8 | n as u64)));
        tokio::join!(history.write(&mut chance), futures::future::join_all(each));
    }
}
