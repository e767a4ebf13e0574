//! The events for a watcher that joins while the reader is at a certain position: these tests decide when the reader reads.

use super::*;
use crate::watch::RunningReader;
use crate::watch::reader::{Reader, Step};
use ingester_store::changes::Position;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// A world whose reader reads only on request.
struct PausedWorld {
    world: World,
    reader: Reader,
    at: Position,
}

impl PausedWorld {
    async fn new() -> Self {
        Self::with(LIMITS).await
    }

    async fn with(limits: WatchLimits) -> Self {
        let world = World::with(limits).await;
        let (joins, joining) = mpsc::unbounded_channel();
        let reader = Reader::new(&world.hub.0, *models(), Limits::default(), joining);
        let running = RunningReader { joins, _task: AbortOnDropHandle::new(tokio::spawn(async {})) };
        world.hub.0.readers.lock().insert(models().table().name.as_str(), running);
        let at = world.hub.log().number(models().table()).await.unwrap();
        PausedWorld { world, reader, at }
    }

    /// Reads everything without admitting watchers.
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

    /// Admits watchers that join.
    async fn admits(&mut self) {
        loop {
            self.reader.admit(self.at);
            tokio::task::yield_now().await;
        }
    }

    /// A watch that begins at this version, and has read everything before live events.
    async fn watch(&mut self, selector: &str, version: u64) -> Events {
        let mut events = self.begin(selector, version).await;
        let event = self.next(&mut events).await;
        assert_eq!(event.0, "BOOKMARK", "{}", event.said());
        events
    }

    /// A watch that begins at this version, and is not admitted yet.
    async fn begin(&self, selector: &str, version: u64) -> Events {
        self.world.watch(&format!("{selector}&resourceVersion={version}&allowWatchBookmarks=true")).await
    }

    /// Returns the next event of a watch, which may have to be admitted first.
    async fn next(&mut self, events: &mut Events) -> Event {
        tokio::select! {
            event = events.next() => event.expect("it goes on"),
            () = self.admits() => unreachable!(),
        }
    }

    /// Returns the events that a watch gets for the changes up to now.
    async fn told(&mut self, events: &mut Events) -> Vec<String> {
        self.read().await;
        let mut told = Vec::new();
        loop {
            let event = self.next(events).await;
            match event.0.as_str() {
                "BOOKMARK" if event.version() >= self.at.version() => return told,
                "BOOKMARK" => {}
                _ => told.push(event.said()),
            }
        }
    }
}

/// How an object leaves the selection.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    /// It has another label.
    Relabelled,
    /// It is evicted at its present version.
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

/// The client has the object from its list. When the watch has finished its own reading, the reader has not looked at the object's first
/// entry, and finds the row in the state after the second entry.
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
        // The list's position is before the first entry, or after it.
        for is_numbered in [false, true] {
            let mut held = PausedWorld::new().await;
            let begin = held.at.version();
            // Because of this watch, the selection is already known.
            let _first = held.watch(selector, begin).await;
            held.world.live("a", 1, json!({"team": "a"})).await;
            if is_numbered {
                held.world.hub.log().number(models().table()).await.unwrap();
            }
            let list = held.world.list().await;
            assert_eq!((list > begin, held.world.select_rows(selector).await.contains_key("a")), (is_numbered, true));
            let mut events = held.watch(selector, list).await;
            leaves.leave(&held.world, "a").await;
            let told = held.told(&mut events).await;
            assert!(told.iter().any(|said| said.starts_with("DELETED a")), "{selector} {leaves:?}: {told:?}");
        }
    }
}

/// Between the position up to which the watch has caught up and the position at which the reader admits it.
#[tokio::test]
async fn a_watch_ends_whose_entries_are_purged_before_it_has_read_them() {
    let mut held = PausedWorld::new().await;
    held.world.live("a", 1, json!({})).await;
    held.read().await;
    let mut events = held.begin("", held.at.version()).await;
    held.world.swept("a", 2).await;
    held.read().await;
    // The last entry is never purged.
    held.world.live("b", 3, json!({})).await;
    held.world.store.purge_changes(models().table(), Duration::ZERO).await.unwrap();
    let event = loop {
        let event = held.next(&mut events).await;
        if event.0 != "BOOKMARK" {
            break event;
        }
        held.read().await;
    };
    assert_eq!((&*event.0, &event.1["reason"]), ("ERROR", &json!("Expired")));
}

/// Clients know objects by their names: a new object must not disappear with the deleted one of the same name.
#[tokio::test]
async fn what_is_created_anew_while_initial_events_are_sent_outlives_the_deletion_of_its_namesake() {
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    for selector in ["", "&labelSelector=team%3Da", "&state=live"] {
        let mut held = PausedWorld::new().await;
        for (name, version) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            held.world.live(name, version, json!({"team": "a"})).await;
        }
        held.read().await;
        // All of them are read by then, and the last ones wait to be sent.
        let mut events = held.world.watch(&format!("{initial}{selector}")).await;
        let mut has = BTreeMap::new();
        let first = events.next().await.unwrap();
        assert_eq!(first.said(), "ADDED a 1");
        has.insert("a".to_owned(), first.uid().to_owned());
        held.world.swept("a", 5).await;
        held.world.live("a.2", 6, json!({"team": "a"})).await;
        held.read().await;
        let mut ends = false;
        loop {
            let event = held.next(&mut events).await;
            match event.0.as_str() {
                "BOOKMARK" if event.1["metadata"]["annotations"].is_object() => ends = true,
                "BOOKMARK" => break,
                "DELETED" => {
                    assert!(ends, "{}", event.said());
                    has.remove(event.name());
                }
                _ => drop(has.insert(event.name().to_owned(), event.uid().to_owned())),
            }
        }
        assert_eq!(has.get("a").map(String::as_str), Some("a.2"), "{selector}");
    }
}

/// The watch has caught up beyond the reader's position: nobody else sends the entries in between.
#[tokio::test]
async fn a_deletion_that_was_withheld_is_sent_wherever_the_reader_is() {
    let mut held = PausedWorld::with(WatchLimits { batch: 1, ..LIMITS }).await;
    for (name, version) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        held.world.live(name, version, json!({})).await;
    }
    held.read().await;
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut events = held.world.watch(initial).await;
    assert_eq!(events.said().await, "ADDED a 1");
    held.world.swept("a", 5).await;
    held.world.hub.log().number(models().table()).await.unwrap();
    while held.next(&mut events).await.0 != "BOOKMARK" {}
    assert_eq!(held.told(&mut events).await, ["DELETED a 5"]);
}

/// A row that no longer belongs to the cluster is seldom written again, but then a selected object leaves.
#[tokio::test]
async fn a_former_object_that_is_written_again_leaves_the_selection_also_for_who_resumes() {
    let of = |label: &str| json!({"team": label});
    let deleted = |version, label: &str| Row { delete_time: Some(Micros(1)), ..row("a", version, &of(label)) };
    let evicting = |version, label: &str| Row { evict_time: Some(Micros(1)), ..row("a", version, &of(label)) };
    for (selector, before, after) in [
        ("state=deleted&labelSelector=team%3Da", deleted(1, "a"), deleted(2, "b")),
        ("state=deleted&labelSelector=team%3Da", deleted(1, "a"), evicting(2, "a")),
        ("state=deleted&labelSelector=team%3Da", deleted(1, "a"), Row { evict_confirmed: true, ..evicting(2, "a") }),
        ("state=evicted&labelSelector=team%3Da", evicting(1, "a"), evicting(2, "b")),
        ("state=live", row("a", 1, &of("a")), Row { evict_confirmed: true, ..evicting(2, "a") }),
    ] {
        let mut held = PausedWorld::new().await;
        held.world.write(before.clone()).await;
        held.read().await;
        let list = held.at.version();
        let mut live = held.watch(selector, list).await;
        held.world.write(after.clone()).await;
        let mut afterwards = held.begin(selector, list).await;
        for (events, when) in [(&mut live, "live"), (&mut afterwards, "afterwards")] {
            assert_eq!(held.told(events).await, ["DELETED a 2"], "{when}, {selector}: {before:?}, {after:?}");
        }
    }
}
