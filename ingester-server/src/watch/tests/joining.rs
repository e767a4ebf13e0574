//! What a watcher is sent that joins while the reader is at a certain place: here the test says when the reader reads.

use super::*;
use crate::watch::Running;
use crate::watch::reader::{Reader, Step};
use ingester_store::changes::Position;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// A world whose reader reads when it is told to.
struct Held {
    world: World,
    reader: Reader,
    at: Position,
}

impl Held {
    async fn new() -> Self {
        let world = World::new().await;
        let (joins, joining) = mpsc::unbounded_channel();
        let reader = Reader::new(&world.hub.0, *models(), Limits::default(), joining);
        let running = Running { joins, _task: AbortOnDropHandle::new(tokio::spawn(async {})) };
        world.hub.0.readers.lock().unwrap().insert(models().table().name.as_str(), running);
        let at = world.hub.log().number(models().table()).await.unwrap();
        Held { world, reader, at }
    }

    /// Reads everything, and takes in nobody.
    async fn read(&mut self) {
        loop {
            let mut position = Some(self.at);
            let step = self.reader.step(&self.world.hub.0, &mut position, self.at).await.unwrap();
            self.at = position.unwrap();
            match step {
                Step::More => {}
                Step::Done => return,
                Step::Lost(why) => panic!("{why}"),
            }
        }
    }

    /// Takes in who joins.
    async fn admits(&mut self) {
        loop {
            self.reader.admit(self.at);
            tokio::task::yield_now().await;
        }
    }

    /// A watch from this version on, which has read all that it reads before events are live.
    async fn watch(&mut self, selector: &str, version: u64) -> Events {
        let mut events = self.begin(selector, version).await;
        let event = tokio::select! {
            event = events.next() => event.unwrap(),
            () = self.admits() => unreachable!(),
        };
        assert_eq!(event.0, "BOOKMARK", "{}", event.said());
        events
    }

    /// A watch from this version on, which is not taken in yet.
    async fn begin(&self, selector: &str, version: u64) -> Events {
        self.world.watch(&format!("{selector}&resourceVersion={version}&allowWatchBookmarks=true")).await
    }

    /// What a watch is sent of what was done up to now.
    async fn told(&mut self, events: &mut Events) -> Vec<String> {
        let name = format!("last-{}", self.at.version());
        self.world.live(&name, self.world.version(), json!({"team": "a"})).await;
        self.read().await;
        let mut told = Vec::new();
        loop {
            match events.next().await.expect("it goes on") {
                event if event.name() == name => return told,
                event if event.0 == "BOOKMARK" => {}
                event => told.push(event.said()),
            }
        }
    }
}

/// How an object leaves the selection.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    /// It has another label.
    Relabelled,
    /// It is evicted in the version that it has.
    Evicted,
    Deleted,
}

impl Leaves {
    async fn leave(self, world: &World, name: &str) {
        match self {
            Leaves::Relabelled => world.live(name, 2, json!({"team": "b"})).await,
            Leaves::Evicted => world.evicting(name, 1).await,
            Leaves::Deleted => world.swept(name, 2).await,
        }
    }
}

/// The client has the object from its list. The reader has not looked at its first entry when the watch has read all that it reads, and
/// finds the row as it is after the second one.
#[tokio::test]
async fn an_object_that_was_listed_before_the_reader_came_to_it_is_deleted_when_it_leaves() {
    for (selector, leaves) in [
        ("", Leaves::Deleted),
        ("state=live", Leaves::Evicted),
        ("state=live", Leaves::Deleted),
        ("labelSelector=team%3Da", Leaves::Relabelled),
        ("labelSelector=team%3Da&state=live", Leaves::Evicted),
        ("labelSelector=team%3Da", Leaves::Deleted),
    ] {
        // The position of the list lies before the first entry, or behind it.
        for is_numbered in [false, true] {
            let mut held = Held::new().await;
            let begin = held.at.version();
            // With it, what is selected is known already.
            let _first = held.watch(selector, begin).await;
            held.world.live("a", 1, json!({"team": "a"})).await;
            if is_numbered {
                held.world.hub.log().number(models().table()).await.unwrap();
            }
            let list = held.world.list().await;
            assert_eq!((list > begin, held.world.rows(selector).await.contains_key("a")), (is_numbered, true));
            let mut events = held.watch(selector, list).await;
            leaves.leave(&held.world, "a").await;
            let told = held.told(&mut events).await;
            assert!(told.iter().any(|said| said.starts_with("DELETED a")), "{selector} {leaves:?}: {told:?}");
        }
    }
}

/// Between the place up to which the watch has caught up, and the place at which the reader takes it in.
#[tokio::test]
async fn a_watch_ends_whose_entries_are_purged_before_it_has_read_them() {
    let mut held = Held::new().await;
    held.world.live("a", 1, json!({})).await;
    held.read().await;
    let mut events = held.begin("", held.at.version()).await;
    held.world.swept("a", 2).await;
    held.read().await;
    // The last entry is never purged.
    held.world.live("b", 3, json!({})).await;
    held.world.store.purge_changes(models().table(), Duration::ZERO).await.unwrap();
    let event = loop {
        let event = tokio::select! {
            event = events.next() => event.unwrap(),
            () = held.admits() => unreachable!(),
        };
        if event.0 != "BOOKMARK" {
            break event;
        }
        held.read().await;
    };
    assert_eq!((&*event.0, &event.1["reason"]), ("ERROR", &json!("Expired")));
}
