//! A model of the API server.

use super::checks;
use super::kinds::{Flavour, MODEL};
use super::members::Kept;
use super::world::{Client, Service, World};
use crate::cluster::{
    ApiError, Cluster, ListStream, Listed, MetadataPage, Page, PartialObjectMeta, RemoteEvent, Watch,
};
use crate::lifecycle::finalizer::FINALIZER;
use crate::lifecycle::{DELETING, IMMUTABLE};
use crate::mistakes::{self, Mistake};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use ingester_core::object::Meta;
use ingester_core::value::Micros;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The namespace of all objects.
pub(super) const NAMESPACE: &str = "ns";

/// Objects in a page: few, so that a list of few objects has several.
const PAGE: usize = 3;

/// How long a continue token is good.
const TOKEN: Duration = Duration::from_secs(300);

/// When the server ends a watch.
const WATCH: Duration = Duration::from_secs(290);

/// After how much silence the client ends it.
const SILENCE: Duration = Duration::from_secs(330);

const BOOKMARK: Duration = Duration::from_secs(60);

/// After how much silence the client ends a streamed list.
const STREAM_SILENCE: Duration = Duration::from_secs(30);

/// After how many objects a stream is cut off where something between server and client does that.
const CUT_OFF: usize = 2;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    pub(super) uid: String,
    pub(super) name: String,
    pub(super) version: u64,
    pub(super) flavour: Flavour,
    pub(super) owner: u32,
    pub(super) label: Option<u32>,
    pub(super) deleting: bool,
    pub(super) immutable: bool,
    pub(super) finalizers: Vec<String>,
    created: i64,
    pub(super) deletion: Option<i64>,
    /// An admission webhook fails whenever somebody patches it.
    pub(super) unpatchable: bool,
}

impl Thing {
    fn metadata(&self) -> Value {
        let seconds = |micros: i64| Micros(micros - micros.rem_euclid(1_000_000)).rfc3339();
        let mut annotations = serde_json::Map::new();
        for (is, key) in [(self.deleting, DELETING), (self.immutable, IMMUTABLE)] {
            if is {
                annotations.insert(key.into(), "true".into());
            }
        }
        let mut metadata = json!({
            "uid": self.uid,
            "namespace": NAMESPACE,
            "name": self.name,
            "resourceVersion": self.version.to_string(),
            "creationTimestamp": seconds(self.created),
        });
        if let Some(label) = self.label {
            metadata["labels"] = json!({ "label": label.to_string() });
        }
        if !annotations.is_empty() {
            metadata["annotations"] = annotations.into();
        }
        if !self.finalizers.is_empty() {
            metadata["finalizers"] = json!(self.finalizers);
        }
        if let Some(deletion) = self.deletion {
            metadata["deletionTimestamp"] = seconds(deletion).into();
        }
        metadata
    }

    pub(super) fn text(&self) -> Box<str> {
        let object = json!({
            "apiVersion": MODEL.api_version(),
            "kind": MODEL.kind(),
            "metadata": self.metadata(),
            "spec": { "owner": self.owner.to_string(), "flavour": self.flavour.text() },
        });
        object.to_string().into()
    }

    pub(super) fn is_ours(&self) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == FINALIZER)
    }

    /// Whether its row must be live as long as nothing changes.
    pub(super) fn stays(&self) -> bool {
        self.deletion.is_none() && !self.deleting && self.flavour != Flavour::LeftOut
    }

    /// Whether nothing is to be done about it but to write its row.
    pub(super) fn needs_nothing(&self) -> bool {
        self.stays() && !self.immutable && !self.unpatchable && self.flavour == Flavour::Plain
    }

    /// For the history.
    pub(super) fn told(&self) -> String {
        let mut text = format!("{} {} v{}", self.name, self.uid, self.version);
        for (is, word) in [
            (self.deletion.is_some(), "terminating"),
            (self.deleting, "deleting"),
            (self.immutable, "immutable"),
            (self.unpatchable, "unpatchable"),
            (self.flavour != Flavour::Plain, self.flavour.text()),
        ] {
            if is {
                text.push(' ');
                text.push_str(word);
            }
        }
        format!("{text} {:?}", self.finalizers)
    }
}

#[derive(Clone)]
struct Event {
    version: u64,
    uid: String,
    name: String,
    deleted: bool,
    text: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Up,
    /// Nobody answers.
    Down,
    /// It answers 404 for every custom resource, and is not ready.
    Starting,
}

/// Whether the server has streamed lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
    Missing,
    There,
    /// Something cuts off whoever reads more than a few whole objects.
    CutOff,
}

/// A list whose further pages may be asked for.
struct Paged {
    version: u64,
    things: Vec<Thing>,
    since: Instant,
}

pub(super) struct ApiServer {
    cluster: String,
    pub(super) state: State,
    /// Whether this version of the kind is served.
    pub(super) served: bool,
    pub(super) streams: Streams,
    pub(super) version: u64,
    pub(super) things: BTreeMap<String, Thing>,
    events: VecDeque<Event>,
    /// The oldest version from which a watch can begin.
    window: u64,
    lists: Vec<Paged>,
    /// Watches of an earlier one end.
    pub(super) epoch: u32,
    backups: Vec<(u64, BTreeMap<String, Thing>)>,
    /// Each object has each version once. A restored cluster gives versions again, but the mirror could not know that one object
    /// has two states of one version.
    used: HashSet<(String, u64)>,
    uids: u32,
    changed: Arc<Notify>,
    /// No backup has them, and no restart loses them.
    pub(super) leases: Kept,
}

impl ApiServer {
    pub(super) fn new(cluster: &str, rng: &mut fastrand::Rng) -> Self {
        let version = rng.u64(5..50);
        ApiServer {
            cluster: cluster.to_owned(),
            state: State::Up,
            served: true,
            streams: [Streams::Missing, Streams::There, Streams::There, Streams::CutOff][rng.usize(..4)],
            version,
            things: BTreeMap::new(),
            events: VecDeque::new(),
            window: version,
            lists: Vec::new(),
            epoch: 0,
            backups: Vec::new(),
            used: HashSet::new(),
            uids: 0,
            changed: Arc::new(Notify::new()),
            leases: Kept::default(),
        }
    }

    /// Whether it answers nothing, not even about what it has itself.
    pub(super) fn is_down(&self) -> bool {
        self.state == State::Down
    }

    /// Ends all watches.
    pub(super) fn disconnect(&mut self) {
        self.epoch += 1;
        self.changed.notify_waiters();
    }

    /// Forgets old events.
    pub(super) fn compact(&mut self) {
        self.window = self.version;
        self.events.clear();
        self.lists.clear();
        self.changed.notify_waiters();
    }

    pub(super) fn back_up(&mut self) {
        self.backups.push((self.version, self.things.clone()));
    }

    /// What a request for objects answers if it cannot be served at all.
    fn answers(&self) -> Result<(), u16> {
        match self.state {
            State::Up if self.served => Ok(()),
            State::Up => Err(404),
            State::Down => Err(0),
            // The real one says 404, and then that it is not ready.
            State::Starting => Err(503),
        }
    }

    /// What a request that changes an object answers if it cannot be served: nobody asks whether the server is ready.
    fn changes(&self) -> Result<(), u16> {
        match self.state {
            State::Starting => Err(404),
            _ => self.answers(),
        }
    }
}

/// What happens to objects.
impl World {
    /// What identifies the cluster.
    pub(super) fn cluster(&self) -> Result<String, u16> {
        self.server.changes()?;
        Ok(self.server.cluster.clone())
    }

    fn next_version(&mut self, uid: &str) -> u64 {
        loop {
            // Other kinds change, too.
            self.server.version += self.rng.u64(1..=3);
            if self.server.used.insert((uid.to_owned(), self.server.version)) {
                return self.server.version;
            }
        }
    }

    pub(super) fn create(&mut self, name: &str, make: impl FnOnce(&mut Thing)) {
        self.server.uids += 1;
        let mut thing = Thing {
            uid: format!("00000000-0000-4000-8000-{:012}", self.server.uids),
            name: name.to_owned(),
            version: 0,
            flavour: Flavour::Plain,
            owner: 0,
            label: None,
            deleting: false,
            immutable: false,
            finalizers: Vec::new(),
            created: self.micros(),
            deletion: None,
            unpatchable: false,
        };
        make(&mut thing);
        self.put(thing);
    }

    /// Stores a new state of an object. One that is terminating and has no finalizers is gone. Returns its text.
    pub(super) fn put(&mut self, mut thing: Thing) -> Box<str> {
        thing.version = self.next_version(&thing.uid);
        let gone = thing.deletion.is_some() && thing.finalizers.is_empty();
        let text = thing.text();
        let (uid, name) = (thing.uid.clone(), thing.name.clone());
        let event = Event { version: thing.version, uid, name, deleted: gone, text: text.clone() };
        self.server.events.push_back(event);
        self.note("etcd", &format!("{}{}", if gone { "gone: " } else { "" }, thing.told()));
        if gone {
            self.server.things.remove(&thing.name);
            self.truth.absent(&thing.uid);
        } else {
            self.truth.present(&thing);
            self.server.things.insert(thing.name.clone(), thing);
        }
        self.server.changed.notify_waiters();
        text
    }

    /// Deletes an object; with finalizers it is terminating first.
    pub(super) fn delete(&mut self, name: &str) {
        let Some(mut thing) = self.server.things.get(name).cloned() else { return };
        if thing.deletion.is_none() {
            thing.deletion = Some(self.micros());
            self.put(thing);
        }
    }

    /// Brings the cluster back to the state of a backup. Versions are given again from there on.
    pub(super) fn restore(&mut self) {
        if self.server.backups.is_empty() || self.lost {
            return;
        }
        let choice = self.rng.usize(..self.server.backups.len());
        let (version, things) = self.server.backups[choice].clone();
        self.server.backups.truncate(choice + 1);
        self.note("etcd", &format!("restored from v{} to v{version}", self.server.version));
        for thing in self.server.things.values() {
            self.truth.absent(&thing.uid);
        }
        for thing in things.values() {
            self.truth.present(thing);
        }
        self.truth.restored();
        (self.server.version, self.server.things) = (version, things);
        self.server.compact();
        self.server.disconnect();
    }

    /// All objects are lost, until they are [found](World::find) again.
    pub(super) fn lose(&mut self) -> (u64, BTreeMap<String, Thing>) {
        let things = std::mem::take(&mut self.server.things);
        self.note("etcd", &format!("all {} objects are lost", things.len()));
        for thing in things.values() {
            self.truth.absent(&thing.uid);
        }
        self.lost = true;
        let version = std::mem::replace(&mut self.server.version, 1);
        self.server.compact();
        self.server.disconnect();
        (version, things)
    }

    /// The objects are there again, as they were.
    pub(super) fn find(&mut self, (version, things): (u64, BTreeMap<String, Thing>)) {
        self.note("etcd", &format!("all {} objects are there again", things.len()));
        for thing in things.values() {
            self.truth.present(thing);
        }
        self.truth.restored();
        self.lost = false;
        (self.server.version, self.server.things) = (version, things);
        self.server.compact();
        self.server.disconnect();
    }

    fn page<T>(
        &mut self,
        limit: usize,
        next: Option<&str>,
        item: impl Fn(&Thing) -> T,
    ) -> Result<(u64, Option<String>, Vec<T>), u16> {
        self.server.answers()?;
        self.server.lists.retain(|list| list.since.elapsed() < TOKEN);
        let (version, start) = match next {
            None => {
                let things = self.server.things.values().cloned().collect();
                let version = self.server.version;
                self.server.lists.push(Paged { version, things, since: Instant::now() });
                (version, 0)
            }
            Some(token) => {
                let (version, start) = token.split_once('@').ok_or(400_u16)?;
                (version.parse().map_err(|_| 400_u16)?, start.parse().map_err(|_| 400_u16)?)
            }
        };
        let list = self.server.lists.iter().rev().find(|list| list.version == version).ok_or(410_u16)?;
        let end = (start + limit.min(PAGE)).min(list.things.len());
        let items = list.things[start.min(end)..end].iter().map(item).collect();
        let next = (end < list.things.len()).then(|| format!("{version}@{end}"));
        Ok((version, next, items))
    }

    /// Applies a JSON patch of an ingester.
    fn patch(&mut self, who: &str, name: &str, patch: &Value) -> Result<Box<str>, u16> {
        self.server.changes()?;
        let thing = self.server.things.get(name).cloned().ok_or(404_u16)?;
        let weather = self.weather;
        if thing.unpatchable || self.chance(weather.webhook) {
            let code = if thing.unpatchable { 500 } else { [409, 422, 500, 503][self.rng.usize(..4)] };
            self.note(who, &format!("patch {name}: a webhook says {code}"));
            return Err(code);
        }
        let Some(finalizers) = patched(&thing.metadata(), patch) else {
            self.note(who, &format!("patch {name}: refused, as it is v{} by now", thing.version));
            return Err(422);
        };
        if thing.deletion.is_some() && finalizers.iter().any(|finalizer| !thing.finalizers.contains(finalizer)) {
            return Err(422);
        }
        if finalizers == thing.finalizers {
            return Ok(thing.text());
        }
        let released = thing.is_ours() && !finalizers.iter().any(|finalizer| finalizer == FINALIZER);
        self.note(who, &format!("patch {name} v{}", thing.version));
        if released {
            checks::before_release(self, &thing);
        }
        Ok(self.put(Thing { finalizers, ..thing }))
    }

    /// Deletes for an ingester.
    fn delete_version(&mut self, who: &str, name: &str, uid: &str, version: u64) -> Result<(), u16> {
        self.server.changes()?;
        let thing = self.server.things.get(name).cloned().ok_or(404_u16)?;
        if thing.uid != uid || thing.version != version {
            self.note(who, &format!("delete {name}: refused, as it is {} v{} by now", thing.uid, thing.version));
            return Err(409);
        }
        self.note(who, &format!("delete {name} v{version}"));
        checks::before_deletion(self, &thing);
        self.delete(name);
        Ok(())
    }
}

/// The finalizers after a patch; `None` if a test of it fails.
fn patched(metadata: &Value, patch: &Value) -> Option<Vec<String>> {
    let mut object = json!({ "metadata": metadata });
    for operation in patch.as_array()? {
        let path = operation["path"].as_str()?;
        let (parent, last) = path.rsplit_once('/')?;
        match operation["op"].as_str()? {
            "test" => {
                if object.pointer(path)? != &operation["value"] {
                    return None;
                }
            }
            "add" => match object.pointer_mut(parent)? {
                Value::Array(values) if last == "-" => values.push(operation["value"].clone()),
                Value::Object(values) => drop(values.insert(last.to_owned(), operation["value"].clone())),
                _ => return None,
            },
            "remove" => {
                let values = object.pointer_mut(parent)?.as_array_mut()?;
                let index: usize = last.parse().ok().filter(|index| *index < values.len())?;
                values.remove(index);
            }
            _ => return None,
        }
    }
    let Value::Array(finalizers) = object.pointer("/metadata/finalizers").cloned().unwrap_or(json!([])) else {
        return None;
    };
    finalizers.into_iter().map(|finalizer| finalizer.as_str().map(str::to_owned)).collect()
}

fn error(doing: &str) -> impl Fn(u16) -> ApiError {
    move |code| ApiError::status(doing, code)
}

impl Cluster for Client {
    fn list<'a>(&'a self, limit: u32, next: Option<&'a str>) -> BoxFuture<'a, Result<Page, ApiError>> {
        async move {
            let (token, who) = (next.map(str::to_owned), self.name());
            let key = format!("list {limit} {}", next.unwrap_or_default());
            let page = self.request(Service::ApiServer, key, move |world| {
                let (version, next, items) = world.page(limit as usize, token.as_deref(), Thing::text)?;
                world.note(&who, &format!("list v{version}: {} objects, next {next:?}", items.len()));
                Ok(Page { version, next, items })
            });
            let page = page.await.map_err(error("list"))?;
            self.learns(None);
            Ok(page)
        }
        .boxed()
    }

    fn list_metadata<'a>(&'a self, next: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>> {
        async move {
            let (token, who) = (next.map(str::to_owned), self.name());
            let key = format!("list metadata {}", next.unwrap_or_default());
            let page = self.request(Service::ApiServer, key, move |world| {
                let item = |thing: &Thing| serde_json::from_value::<PartialObjectMeta>(thing.metadata());
                let (version, next, items) = world.page(PAGE, token.as_deref(), item)?;
                world.note(&who, &format!("list metadata v{version}: {} objects", items.len()));
                let items = items.into_iter().collect::<Result<_, _>>().map_err(|_| 500_u16)?;
                Ok(MetadataPage { version, next, items })
            });
            let page = page.await.map_err(error("list metadata"))?;
            self.learns(None);
            Ok(page)
        }
        .boxed()
    }

    fn stream(&self) -> BoxFuture<'_, Result<Option<ListStream<Box<str>>>, ApiError>> {
        self.open_list("stream", Streams::CutOff, Ok).boxed()
    }

    fn stream_metadata(&self) -> BoxFuture<'_, Result<Option<ListStream<PartialObjectMeta>>, ApiError>> {
        let metadata = |text: Box<str>| {
            let mut object: Value = serde_json::from_str(&text).map_err(|_| 500_u16)?;
            serde_json::from_value(object["metadata"].take()).map_err(|_| 500_u16)
        };
        self.open_list("stream metadata", Streams::Missing, metadata).boxed()
    }

    fn version(&self) -> BoxFuture<'_, Result<u64, ApiError>> {
        async move {
            let version = self.request(Service::ApiServer, "version".into(), |world| {
                world.server.answers()?;
                Ok(world.server.version)
            });
            version.await.map_err(error("version"))
        }
        .boxed()
    }

    fn watch(&self, version: u64) -> BoxFuture<'_, Result<Watch, ApiError>> {
        async move {
            let who = self.name();
            let open = self.request(Service::ApiServer, "watch".into(), move |world| {
                // A server that is starting does not know the kind.
                world.server.changes()?;
                world.note(&who, &format!("watch from v{version}"));
                if version < world.server.window {
                    return Err(410);
                }
                let weather = world.weather;
                let now = Instant::now();
                let dies = world.chance(weather.watch).then(|| now + world.up_to(60_000));
                Ok(Watching {
                    position: version,
                    epoch: world.server.epoch,
                    begin: now,
                    bookmark: now,
                    dies,
                    ended: false,
                })
            });
            let watching = open.await.map_err(error("watch"))?;
            let events = futures::stream::unfold((self.clone(), watching), |(client, mut watching)| async {
                let event = watching.next(&client).await?;
                Some((event.map_err(error("watch")), (client, watching)))
            });
            Ok(events.boxed())
        }
        .boxed()
    }

    fn look<'a>(&'a self, _namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>> {
        async move {
            let (name, who) = (name.to_owned(), self.name());
            let key = format!("look {name}");
            let look = self.request(Service::ApiServer, key, move |world| {
                if mistakes::made(Mistake::BelievedNotFound) && world.server.state == State::Starting {
                    return Ok(None);
                }
                world.server.answers()?;
                let found = world.server.things.get(&name);
                let told = found.map_or_else(|| format!("no {name}"), Thing::told);
                let text = found.map(Thing::text);
                world.note(&who, &format!("look: {told}"));
                Ok(text)
            });
            look.await.map_err(error("look"))
        }
        .boxed()
    }

    fn patch<'a>(
        &'a self,
        _namespace: &'a str,
        name: &'a str,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<Box<str>, ApiError>> {
        async move {
            let (name, patch, who) = (name.to_owned(), patch.clone(), self.name());
            let key = format!("patch {name} v{}", patch[1]["value"].as_str().unwrap_or_default());
            let patched = self.request(Service::ApiServer, key, move |world| world.patch(&who, &name, &patch));
            patched.await.map_err(error("patch"))
        }
        .boxed()
    }

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<(), ApiError>> {
        async move {
            let (name, uid, version) = (meta.name.to_string(), meta.uid.to_string(), meta.resource_version);
            let who = self.name();
            let key = format!("delete {name} v{version}");
            let deleted =
                self.request(Service::ApiServer, key, move |world| world.delete_version(&who, &name, &uid, version));
            deleted.await.map_err(error("delete"))
        }
        .boxed()
    }
}

impl Client {
    /// Opens a streamed list, of what `read` makes of an object's text. It is `cut` off if the server is such a one.
    async fn open_list<T: 'static>(
        &self,
        key: &'static str,
        cut: Streams,
        read: fn(Box<str>) -> Result<T, u16>,
    ) -> Result<Option<ListStream<T>>, ApiError> {
        let who = self.name();
        let open = self.request(Service::ApiServer, key.into(), move |world| {
            world.server.answers()?;
            if world.server.streams == Streams::Missing {
                return Ok(None);
            }
            let weather = world.weather;
            let dies = world.chance(weather.watch).then(|| Instant::now() + world.up_to(100));
            let goes_on = world.rng.bool();
            let pause = if world.calm { 20 } else { [20, 20, 2000][world.rng.usize(..3)] };
            let server = &world.server;
            let sent = |thing: &Thing| (thing.uid.clone(), thing.name.clone(), thing.text());
            let objects: VecDeque<_> = server.things.values().map(sent).collect();
            let streaming = Streaming {
                key,
                version: server.version,
                until: (!goes_on).then_some(server.version),
                epoch: server.epoch,
                left: (server.streams == cut).then_some(CUT_OFF),
                dies,
                pause,
                ended: false,
                objects,
            };
            let told = if goes_on { ", and what happens meanwhile" } else { "" };
            let told = format!("{key} v{}: {} objects{told}", streaming.version, streaming.objects.len());
            world.note(&who, &told);
            Ok(Some(streaming))
        });
        let Some(streaming) = open.await.map_err(error(key))? else { return Ok(None) };
        let listed = futures::stream::unfold((self.clone(), streaming), move |(client, mut streaming)| async move {
            let listed = streaming.next(&client).await?;
            let listed = listed.and_then(|listed| match listed {
                Listed::Object(text) => read(text).map(Listed::Object),
                Listed::Deleted(text) => read(text).map(Listed::Deleted),
                Listed::End(version) => Ok(Listed::End(version)),
            });
            Some((listed.map_err(error(key)), (client, streaming)))
        });
        Ok(Some(listed.boxed()))
    }
}

/// A streamed list that is being read.
struct Streaming {
    key: &'static str,
    /// What is still to be sent of what was there when it was asked for: uid, name and text of each object.
    objects: VecDeque<(String, String, Box<str>)>,
    /// Everything up to this version was sent, or is in `objects`.
    version: u64,
    /// The version of the list, once that is known: of one that goes on, what happens until all objects are sent belongs to it.
    until: Option<u64>,
    epoch: u32,
    /// How many objects are sent before it is cut off.
    left: Option<usize>,
    /// When the connection is lost without anybody noticing.
    dies: Option<Instant>,
    /// The longest time between two objects, in milliseconds: the server may have much to do.
    pause: u64,
    ended: bool,
}

impl Streaming {
    /// What comes next; `None` at the end, which may be too early. An error is a status code, and the end.
    async fn next(&mut self, client: &Client) -> Option<Result<Listed<Box<str>>, u16>> {
        if self.ended {
            return None;
        }
        client.thawed().await;
        let (sent, delay) = self.step(client);
        tokio::time::sleep(delay).await;
        match &sent {
            Some(Ok((names, Listed::Object(_) | Listed::Deleted(_)))) => {
                names.iter().for_each(|name| client.learns(Some(name)));
            }
            Some(Ok((_, Listed::End(version)))) => {
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

    /// What comes next, with uid and name of its object, and after which time.
    fn step(&mut self, client: &Client) -> (Option<Result<Sent, u16>>, Duration) {
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
            return (Some(Ok((vec![uid, name], Listed::Object(text)))), delay);
        }
        let server = world.server_of(client.ingester);
        let until = *self.until.get_or_insert(server.version);
        if self.version < server.window && self.version < until {
            return (Some(Err(410)), delay);
        }
        let next = server.events.iter().find(|event| event.version > self.version && event.version <= until).cloned();
        let Some(Event { version, uid, name, deleted, text }) = next else {
            return (Some(Ok((Vec::new(), Listed::End(until)))), delay);
        };
        self.version = version;
        let listed = if deleted { Listed::Deleted(text) } else { Listed::Object(text) };
        (Some(Ok((vec![uid, name], listed))), delay)
    }
}

/// What a streamed list sends, with uid and name of its object.
type Sent = (Vec<String>, Listed<Box<str>>);

/// An open watch.
struct Watching {
    /// Everything up to this version was sent.
    position: u64,
    epoch: u32,
    begin: Instant,
    /// When the last bookmark was sent.
    bookmark: Instant,
    /// When the connection is lost without anybody noticing.
    dies: Option<Instant>,
    ended: bool,
}

impl Watching {
    /// The next event; `None` at the end. An error is a status code, and the end.
    async fn next(&mut self, client: &Client) -> Option<Result<RemoteEvent, u16>> {
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
                Step::Wait => {
                    let wake = (self.bookmark + BOOKMARK).min(self.begin + WATCH);
                    let wake = self.dies.map_or(wake, |dies| dies.min(wake));
                    drop(tokio::time::timeout_at(wake, changed).await);
                }
            }
        }
    }

    fn step(&mut self, client: &Client) -> Step {
        let mut world = client.sim.world();
        let (weather, now) = (world.weather, Instant::now());
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
        let Some(event) = server.events.iter().find(|event| event.version > self.position).cloned() else {
            if now >= self.bookmark + BOOKMARK {
                self.bookmark = now;
                self.position = self.position.max(server.version);
                return Step::Send(Ok((RemoteEvent::Bookmark(self.position), Vec::new())), delay);
            }
            return Step::Wait;
        };
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
    Wait,
}
