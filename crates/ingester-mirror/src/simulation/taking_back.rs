//! In some seeds, restores of single objects: a person records that a row is being restored, a request that may be slow creates the object, and
//! the mirror's transaction that stores the object marks the row. The person may be interrupted before each request, and continues later.

use super::api_server::ServerState;
use super::database::{KeptRow, read_text};
use super::kinds::Flavour;
use super::only_copy::{Content, content};
use super::world::{Sim, World};
use ingester_core::row::Origin;
use ingester_core::schema::base;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// The time for which a request to create an object may be on its way.
const UNDER_WAY: Duration = Duration::from_secs(90);

/// A restore that has begun.
#[derive(Clone, Debug)]
pub(super) struct OpenRestore {
    nonce: String,
    /// The content of the row when the restore began.
    read: Content,
    object: Value,
    /// The time when the last request to create the object was sent.
    sent: Option<Instant>,
}

impl OpenRestore {
    fn part(&self, path: &str) -> &str {
        self.object.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }
}

impl World {
    pub(super) fn is_restoring(&self, uid: &str) -> bool {
        self.database.restores.contains_key(uid)
    }

    /// Records that a row is being restored, as it is now.
    pub(super) fn begin_restore(&mut self, sim: &Sim, old: &KeptRow) {
        let uid = old.row.uid.clone();
        if self.is_restoring(&uid) {
            return;
        }
        self.note("user", &format!("begins to restore {}", old.told()));
        let nonce = format!("{uid}/{}", self.history.len());
        let object = serde_json::from_str(read_text(&old.row, base::JSON)).unwrap_or_default();
        let open = OpenRestore { nonce: nonce.clone(), read: content(&old.row), object, sent: None };
        self.database.restores.insert(uid.clone(), open);
        tokio::spawn(restore(sim.clone(), uid, nonce));
    }

    /// Marks the row from which a stored object was restored.
    pub(super) fn end_restore(&mut self, who: &str, origin: &Origin) {
        let is_open = |open: &&OpenRestore| open.nonce == *origin.nonce;
        let Some(open) = self.database.restores.get(&origin.from).filter(is_open).cloned() else { return };
        self.database.restores.remove(&origin.from);
        let kept = self.database.rows.get(&origin.from).filter(|_| self.copies.has(&origin.from)).cloned();
        let Some(kept) = kept.filter(|kept| kept.version().evicted() && !kept.version().deleted) else { return };
        if content(&kept.row) != open.read {
            self.violate(format!("what is written into a row while it is restored is not lost: {}", kept.told()));
        }
        self.note(who, &format!("marked, because its object is restored: {}", kept.told()));
        self.delete_row(&kept);
    }

    /// Returns a restore that has not ended although its object is stored.
    pub(super) fn unrestored(&self) -> Option<String> {
        let is_stored = |open: &OpenRestore| {
            let things = self.server.things.values();
            let mut its = things.filter(|thing| thing.origin.as_ref().is_some_and(|(_, nonce)| *nonce == open.nonce));
            its.any(|thing| self.database.rows.contains_key(thing.uid.as_str()))
        };
        let open = self.database.restores.iter().find(|(_, open)| is_stored(open));
        open.map(|(uid, _)| format!("a restore ends when its object is stored: {uid}"))
    }

    fn serves(&self) -> bool {
        self.server.state == ServerState::Up && self.server.served && !self.lost
    }

    /// Does the next step of a restore. Returns true if there is another one.
    fn step(&mut self, sim: &Sim, uid: &str, nonce: &str) -> bool {
        let Some(open) = self.database.restores.get(uid).filter(|open| open.nonce == nonce).cloned() else {
            return false;
        };
        if !self.serves() || (!self.calm && self.dice.u32(..4) == 0) {
            // Interrupted.
            return true;
        }
        let is_late = open.sent.is_none_or(|sent| sent.elapsed() > UNDER_WAY);
        match self.server.things.get(open.part("/metadata/name")) {
            Some(thing) if thing.origin.as_ref().is_some_and(|(_, its)| its == nonce) => {}
            Some(_) if is_late => {
                self.note("user", &format!("gives up to restore {uid}"));
                self.database.restores.remove(uid);
                return false;
            }
            Some(_) => {}
            None => {
                let most = if !self.calm && self.dice.u32(..3) == 0 { 60_000 } else { 300 };
                let delay = Duration::from_millis(self.dice.u64(1..most));
                if let Some(open) = self.database.restores.get_mut(uid) {
                    open.sent = Some(Instant::now());
                }
                tokio::spawn(create(sim.clone(), uid.to_owned(), open, delay));
            }
        }
        true
    }

    /// The API server creates the object, if its name is free.
    fn create_restored(&mut self, uid: &str, open: &OpenRestore) {
        let name = open.part("/metadata/name");
        if !self.serves() || self.server.things.contains_key(name) {
            return;
        }
        self.note("user", &format!("creates {name} again, from {uid}"));
        self.create(name, |thing| {
            thing.flavour = Flavour::Plain;
            thing.owner = open.part("/spec/owner").parse().unwrap_or_default();
            thing.label = open.part("/metadata/labels/label").parse().ok();
            thing.origin = Some((uid.to_owned(), open.nonce.clone()));
        });
    }
}

/// Restores a row, and continues after each interruption.
async fn restore(sim: Sim, uid: Box<str>, nonce: String) {
    loop {
        let pause = sim.world().dice.u64(20..8000);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        if !sim.world().step(&sim, &uid, &nonce) {
            return;
        }
    }
}

/// A request that creates an object takes effect after a while, whatever happens to its sender.
async fn create(sim: Sim, uid: String, open: OpenRestore, delay: Duration) {
    tokio::time::sleep(delay).await;
    sim.world().create_restored(&uid, &open);
}
