//! A model of the API server: its objects and their changes.

use super::checks;
use super::kinds::Flavour;
use super::members::KeptLeases;
use super::reports::Verb;
use super::restores::ReusedVersions;
use super::things::{FINALIZER, FakeObject, patched};
use super::world::World;
use crate::cluster::Deletion;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The namespace of all objects, and the second one of some seeds.
pub(super) const NAMESPACES: [&str; 2] = ["ns", "other"];

/// The objects with these names are in the second namespace.
const OF_SECOND: [&str; 2] = ["d", "e"];

/// Objects in a page: few, so that a list of few objects has several.
pub(super) const PAGE: usize = 3;

/// The time for which a continue token is valid.
const TOKEN: Duration = Duration::from_secs(300);

/// A change of an object.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) version: u64,
    pub(super) uid: String,
    pub(super) name: String,
    pub(super) namespace: &'static str,
    pub(super) deleted: bool,
    pub(super) text: Box<str>,
    pub(super) since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerState {
    Up,
    Down,
    /// It answers 404 for every custom resource, and is not ready.
    Starting,
}

/// The server's support for streamed lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
    Missing,
    There,
    /// Something cuts off a reader after a few whole objects.
    CutOff,
}

/// A list whose further pages may be requested.
struct OpenList {
    version: u64,
    namespace: Option<&'static str>,
    things: Vec<FakeObject>,
    since: Instant,
}

pub(super) struct ApiServerModel {
    cluster: String,
    pub(super) state: ServerState,
    /// This version of the kind is served.
    pub(super) served: bool,
    pub(super) streams: Streams,
    pub(super) version: u64,
    pub(super) things: BTreeMap<String, FakeObject>,
    pub(super) events: VecDeque<Event>,
    /// The oldest version from which a watch can begin.
    pub(super) window: u64,
    lists: Vec<OpenList>,
    /// Watches of an earlier epoch end.
    pub(super) epoch: u32,
    pub(super) backups: Vec<(u64, BTreeMap<String, FakeObject>)>,
    /// Each object has a version only once, unless a restored cluster gives it `again`.
    used: HashSet<(String, u64)>,
    uids: u32,
    pub(super) changed: Arc<Notify>,
    /// The time until which it refuses every deletion by an ingester.
    pub(super) undeletable: Option<Instant>,
    pub(super) again: ReusedVersions,
    /// No backup has them, and no restart loses them.
    pub(super) leases: KeptLeases,
}

impl ApiServerModel {
    pub(super) fn new(cluster: &str, rng: &mut fastrand::Rng) -> Self {
        let version = rng.u64(5..50);
        ApiServerModel {
            cluster: cluster.to_owned(),
            state: ServerState::Up,
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
            undeletable: None,
            again: ReusedVersions::default(),
            leases: KeptLeases::default(),
        }
    }

    /// Returns true if it answers nothing, not even about its own resources.
    pub(super) fn is_down(&self) -> bool {
        self.state == ServerState::Down
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

    /// Returns the error of a request for objects if it cannot be served at all.
    pub(super) fn answers(&self) -> Result<(), u16> {
        match self.state {
            ServerState::Up if self.served => Ok(()),
            ServerState::Up => Err(404),
            ServerState::Down => Err(0),
            // The real server answers 404, and then that it is not ready.
            ServerState::Starting => Err(503),
        }
    }

    /// Returns the error of a request that changes an object if it cannot be served. The readiness of the server does not matter.
    pub(super) fn changes(&self) -> Result<(), u16> {
        match self.state {
            ServerState::Starting => Err(404),
            _ => self.answers(),
        }
    }
}

/// Returns true if a namespace belongs to a unit, which covers one namespace or all.
pub(super) fn is_of(unit: Option<&str>, namespace: &str) -> bool {
    unit.is_none_or(|unit| unit == namespace)
}

/// Changes of objects.
impl World {
    /// Returns the object with this name, as a look finds it.
    pub(super) fn found(&self, name: &str) -> Option<&FakeObject> {
        self.server.things.get(name)
    }

    /// Returns the identity of the cluster.
    pub(super) fn cluster(&self) -> Result<String, u16> {
        self.server.changes()?;
        Ok(self.server.cluster.clone())
    }

    fn next_version(&mut self, uid: &str) -> u64 {
        loop {
            // Other kinds change, too.
            self.server.version += self.rng.u64(1..=3);
            let version = self.server.version;
            if self.server.used.insert((uid.to_owned(), version)) || self.server.again.gives(uid, version) {
                return version;
            }
        }
    }

    pub(super) fn create(&mut self, name: &str, make: impl FnOnce(&mut FakeObject)) {
        self.server.uids += 1;
        let second = self.more.namespaces && OF_SECOND.contains(&name);
        let mut thing = FakeObject {
            uid: format!("00000000-0000-4000-8000-{:012}", self.server.uids),
            name: name.to_owned(),
            version: 0,
            flavour: Flavour::Plain,
            owner: 0,
            label: None,
            deleting: false,
            immutable: false,
            evictable: !self.more.unevictable,
            finalizers: Vec::new(),
            created: self.micros(),
            deletion: None,
            unpatchable: None,
            undeletable: None,
            namespace: NAMESPACES[usize::from(second)],
            owned_by: None,
            lingers: false,
            origin: None,
            changed: None,
        };
        make(&mut thing);
        self.put(thing);
    }

    /// Stores a new state of an object. An object that is terminating, has no finalizers and does not linger is gone. Returns its text.
    pub(super) fn put(&mut self, mut thing: FakeObject) -> Box<str> {
        thing.version = self.next_version(&thing.uid);
        thing.changed = Some(Instant::now());
        let gone = thing.deletion.is_some() && thing.finalizers.is_empty() && !thing.lingers;
        let text = thing.render_json();
        let event = Event {
            version: thing.version,
            uid: thing.uid.clone(),
            name: thing.name.clone(),
            namespace: thing.namespace,
            deleted: gone,
            text: text.clone(),
            since: Instant::now(),
        };
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

    /// Deletes an object; if it has finalizers, it is only terminating at first.
    pub(super) fn delete(&mut self, name: &str) {
        let Some(mut thing) = self.server.things.get(name).cloned() else { return };
        if thing.deletion.is_none() {
            thing.deletion = Some(self.micros());
            self.put(thing);
        }
    }

    pub(super) fn page<T>(
        &mut self,
        namespace: Option<&'static str>,
        limit: usize,
        next: Option<&str>,
        item: impl Fn(&FakeObject) -> T,
    ) -> Result<(u64, Option<String>, Vec<T>), u16> {
        self.server.answers()?;
        self.server.lists.retain(|list| list.since.elapsed() < TOKEN);
        let (version, start) = match next {
            None => {
                let things = self.server.things.values().filter(|thing| is_of(namespace, thing.namespace));
                let things = things.cloned().collect();
                let version = self.server.version;
                self.server.lists.push(OpenList { version, namespace, things, since: Instant::now() });
                (version, 0)
            }
            Some(token) => {
                let (version, start) = token.split_once('@').ok_or(400_u16)?;
                (version.parse().map_err(|_| 400_u16)?, start.parse().map_err(|_| 400_u16)?)
            }
        };
        let of = |list: &&OpenList| (list.version, list.namespace) == (version, namespace);
        let list = self.server.lists.iter().rev().find(of).ok_or(410_u16)?;
        let end = (start + limit.min(PAGE)).min(list.things.len());
        let items = list.things[start.min(end)..end].iter().map(item).collect();
        let next = (end < list.things.len()).then(|| format!("{version}@{end}"));
        Ok((version, next, items))
    }

    /// Applies a JSON patch of an ingester.
    pub(super) fn patch(&mut self, who: &str, name: &str, patch: &Value) -> Result<Box<str>, u16> {
        self.server.changes()?;
        let thing = self.server.things.get(name).cloned().ok_or(404_u16)?;
        let weather = self.weather;
        let finalizers = patched(&thing.metadata(), patch);
        // The refusal of a patch for an earlier version says nothing about this one.
        let is_current = finalizers.is_some();
        if thing.unpatchable.is_some() || self.chance(weather.webhook) {
            let code = thing.unpatchable.unwrap_or_else(|| [409, 422, 500, 503][self.rng.usize(..4)]);
            if let Some(code) = thing.unpatchable.filter(|_| is_current) {
                let removes = thing.is_ours();
                self.refused(&thing, if removes { Verb::Remove } else { Verb::Add }, code);
            }
            if matches!(code, 409 | 422) && is_current {
                self.in_conflict(&thing);
            }
            self.note(who, &format!("patch {name}: a webhook says {code}"));
            return Err(code);
        }
        let Some(finalizers) = finalizers else {
            self.note(who, &format!("patch {name}: refused, as it is v{} by now", thing.version));
            return Err(422);
        };
        if thing.deletion.is_some() && finalizers.iter().any(|finalizer| !thing.finalizers.contains(finalizer)) {
            return Err(422);
        }
        if finalizers == thing.finalizers {
            return Ok(thing.render_json());
        }
        let released = thing.is_ours() && !finalizers.iter().any(|finalizer| finalizer == FINALIZER);
        self.note(who, &format!("patch {name} v{}", thing.version));
        if released {
            checks::before_release(self, &thing);
        }
        Ok(self.put(FakeObject { finalizers, ..thing }))
    }

    /// Deletes an object for an ingester.
    pub(super) fn delete_version(&mut self, who: &str, name: &str, uid: &str, version: u64) -> Result<Deletion, u16> {
        self.server.changes()?;
        let thing = self.server.things.get(name).cloned().ok_or(404_u16)?;
        if thing.uid != uid || thing.version != version {
            self.note(who, &format!("delete {name}: refused, as it is {} v{} by now", thing.uid, thing.version));
            return Err(409);
        }
        if let Some(code) = thing.undeletable {
            self.note(who, &format!("delete {name}: refused for good, {code}"));
            self.refused(&thing, Verb::Delete, code);
            return Err(code);
        }
        if self.server.undeletable.is_some_and(|until| until > Instant::now()) {
            self.note(who, &format!("delete {name}: refused for now"));
            return Err(500);
        }
        self.note(who, &format!("delete {name} v{version}"));
        checks::before_deletion(self, &thing);
        self.delete(name);
        let there = self.server.things.get(name).is_some_and(|thing| thing.uid == uid);
        Ok(if there { Deletion::Terminating } else { Deletion::Gone })
    }
}
