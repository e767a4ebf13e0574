//! The data that the API server's model sends bit by bit: streamed lists and watches.

use super::api_server::{Event, is_of};
use super::world::Client;
use crate::cluster::{ListEvent, RemoteEvent};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// The time after which the server ends a watch.
const WATCH: Duration = Duration::from_secs(290);

/// The silence after which the client ends it.
const SILENCE: Duration = Duration::from_secs(330);

const BOOKMARK: Duration = Duration::from_secs(60);

/// The silence after which the client ends a streamed list.
const STREAM_SILENCE: Duration = Duration::from_secs(30);

/// The number of objects after which a stream is cut off if something between server and client cuts streams off.
pub(super) const CUT_OFF: usize = 2;

/// A streamed list that is being read.
pub(super) struct OpenStream {
    pub(super) key: &'static str,
    /// The objects still to be sent, from those that existed at the request: uid, name and text of each object.
    pub(super) objects: VecDeque<(String, String, Box<str>)>,
    /// Everything up to this version was sent, or is in `objects`.
    pub(super) version: u64,
    /// The version of the list, once it is known: changes until all objects are sent belong to a list that continues.
    pub(super) until: Option<u64>,
    pub(super) epoch: u32,
    /// The number of objects that are sent before it is cut off.
    pub(super) left: Option<usize>,
    /// The time when the connection is lost unnoticed.
    pub(super) dies: Option<Instant>,
    /// The longest time between two objects, in milliseconds: the server may have much to do.
    pub(super) pause: u64,
    pub(super) ended: bool,
}

impl OpenStream {
    /// The next item; `None` at the end, which may be too early. An error is a status code, and the end.
    pub(super) async fn next(&mut self, client: &Client) -> Option<Result<ListEvent<Box<str>>, u16>> {
        if self.ended {
            return None;
        }
        client.thawed().await;
        let (sent, delay) = self.step(client);
        tokio::time::sleep(delay).await;
        match &sent {
            Some(Ok((names, ListEvent::Object(_) | ListEvent::Deleted(_)))) => {
                names.iter().for_each(|name| client.learns(Some(name)));
            }
            Some(Ok((_, ListEvent::End(version)))) => {
                client.sim.world().note(&client.name(), &format!("{}: all, v{version}", self.key));
                client.learns(None);
                self.ended = true;
            }
            Some(Err(_)) | None => {
                client.sim.world().note(&client.name(), &format!("{}: breaks off", self.key));
                if !matches!(sent, Some(Err(410))) {
                    client.failed(self.key);
                }
                self.ended = true;
            }
        }
        sent.map(|sent| sent.map(|(_, listed)| listed))
    }

    /// Returns the next item, with uid and name of its object, and the time before it.
    fn step(&mut self, client: &Client) -> (Option<Result<StreamItem, u16>>, Duration) {
        let mut world = client.sim.world();
        let weather = world.weather;
        let delay = if world.chance(weather.slow) { world.up_to(20_000) } else { world.up_to(self.pause) };
        if self.dies.is_some_and(|dies| dies <= Instant::now()) {
            return (Some(Err(0)), STREAM_SILENCE);
        }
        let cut = self.left.as_mut().is_some_and(|left| {
            let cut = *left == 0;
            *left = left.saturating_sub(1);
            cut
        });
        if cut
            || client.is_cut_off(&world)
            || world.server_of(client.ingester).epoch != self.epoch
            || world.chance(weather.watch)
        {
            // Some connections are closed, some are cut.
            let end = [None, Some(0), Some(500)][world.rng.usize(..3)];
            return (end.map(Err), delay);
        }
        if let Some((uid, name, text)) = self.objects.pop_front() {
            return (Some(Ok((vec![uid, name], ListEvent::Object(text)))), delay);
        }
        let server = world.server_of(client.ingester);
        let until = *self.until.get_or_insert(server.version);
        if self.version < server.window && self.version < until {
            return (Some(Err(410)), delay);
        }
        let of_list = |event: &&Event| event.version > self.version && event.version <= until;
        let next = server.events.iter().filter(|event| is_of(client.namespace, event.namespace)).find(of_list).cloned();
        let Some(Event { version, uid, name, deleted, text, .. }) = next else {
            return (Some(Ok((Vec::new(), ListEvent::End(until)))), delay);
        };
        self.version = version;
        let listed = if deleted { ListEvent::Deleted(text) } else { ListEvent::Object(text) };
        (Some(Ok((vec![uid, name], listed))), delay)
    }
}

/// An item of a streamed list, with uid and name of its object.
type StreamItem = (Vec<String>, ListEvent<Box<str>>);

/// An open watch.
pub(super) struct OpenWatch {
    /// Everything up to this version was sent.
    pub(super) position: u64,
    pub(super) epoch: u32,
    pub(super) begin: Instant,
    /// The delay of the API server's cache that serves the watch.
    pub(super) lag: Duration,
    /// When the last bookmark was sent.
    pub(super) bookmark: Instant,
    /// The time when the connection is lost unnoticed.
    pub(super) dies: Option<Instant>,
    pub(super) ended: bool,
}

impl OpenWatch {
    /// The next event; `None` at the end. An error is a status code, and the end.
    pub(super) async fn next(&mut self, client: &Client) -> Option<Result<RemoteEvent, u16>> {
        loop {
            if self.ended {
                return None;
            }
            client.thawed().await;
            let changed = client.sim.world().server_of(client.ingester).changed.clone();
            let changed = changed.notified();
            if self.dies.is_some_and(|dies| dies <= Instant::now()) {
                tokio::time::sleep_until(self.begin + SILENCE).await;
                self.ended = true;
                return Some(Err(0));
            }
            match self.step(client) {
                Step::Send(event, delay) => {
                    tokio::time::sleep(delay).await;
                    if let Ok((event, names)) = event {
                        names.iter().for_each(|name| client.learns(Some(name)));
                        return Some(Ok(event));
                    }
                    self.ended = true;
                    return Some(Err(event.err()?));
                }
                Step::End => return None,
                Step::Wait(until) => {
                    let wake = (self.bookmark + BOOKMARK).min(self.begin + WATCH);
                    let wake = until.map_or(wake, |until| until.min(self.begin + WATCH));
                    let wake = self.dies.map_or(wake, |dies| dies.min(wake));
                    drop(tokio::time::timeout_at(wake, changed).await);
                }
            }
        }
    }

    fn step(&mut self, client: &Client) -> Step {
        let mut world = client.sim.world();
        let weather = world.weather;
        let now = Instant::now();
        let delay = if world.chance(weather.slow) { world.up_to(20_000) } else { world.up_to(20) };
        let server = world.server_of(client.ingester);
        if server.epoch != self.epoch || client.is_cut_off(&world) {
            // Some connections are closed, some are cut.
            return if world.rng.bool() { Step::End } else { Step::Send(Err(0), delay) };
        }
        if now >= self.begin + WATCH {
            return Step::End;
        }
        if self.position < server.window {
            return Step::Send(Err(410), delay);
        }
        let of_unit = |event: &&Event| event.version > self.position && is_of(client.namespace, event.namespace);
        let Some(event) = server.events.iter().find(of_unit).cloned() else {
            if now >= self.bookmark + BOOKMARK {
                self.bookmark = now;
                self.position = self.position.max(server.version);
                return Step::Send(Ok((RemoteEvent::Bookmark(self.position), Vec::new())), delay);
            }
            return Step::Wait(None);
        };
        if event.since + self.lag > now {
            return Step::Wait(Some(event.since + self.lag));
        }
        if world.chance(weather.watch) {
            return Step::Send(Err([0, 410, 500][world.rng.usize(..3)]), delay);
        }
        self.position = event.version;
        let sent = if event.deleted { RemoteEvent::Deleted(event.text) } else { RemoteEvent::Applied(event.text) };
        Step::Send(Ok((sent, vec![event.uid, event.name])), delay)
    }
}

enum Step {
    /// An event with uid and name of its object, or a status code.
    Send(Result<(RemoteEvent, Vec<String>), u16>, Duration),
    End,
    /// Until something changes, or until then.
    Wait(Option<Instant>),
}
