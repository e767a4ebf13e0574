//! Evicted rows whose objects are gone: each is the only copy. Their invariants, and the changes that people make.

use super::api_server::ServerState;
use super::database::{KeptRow, read_text};
use super::kinds::{Flavour, NEWER};
use super::things::{FINALIZER, FakeObject};
use super::world::{Sim, World};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::base;
use ingester_core::value::Value as Column;
use ingester_store::StoredRow;
use ingester_store::guard::Eviction;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The time that a user who restores an object waits for its row.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two looks at it.
const PAUSE: Duration = Duration::from_millis(100);

/// State that only the database has.
#[derive(Default)]
pub(super) struct OnlyCopies {
    /// The content of each row, by uid.
    rows: BTreeMap<Box<str>, Content>,
    /// The time when a person decided about a ghost's object, by uid.
    decided: BTreeMap<Box<str>, Instant>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content {
    object: Value,
    deleted: bool,
}

/// The content of an object, without the parts that change on its way out of the cluster.
fn said(text: &str) -> Value {
    let mut object: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for part in ["resourceVersion", "managedFields", "finalizers", "deletionTimestamp"] {
            metadata.remove(part);
        }
    }
    object
}

pub(super) fn content(row: &StoredRow) -> Content {
    Content { object: said(read_text(row, base::JSON)), deleted: row.delete_time.is_some() }
}

impl OnlyCopies {
    pub(super) fn has(&self, uid: &str) -> bool {
        self.rows.contains_key(uid)
    }

    /// Returns the objects that a person decided about so recently that an ingester may not have seen it.
    pub(super) fn just_decided(&self) -> impl Iterator<Item = &Box<str>> {
        self.decided.iter().filter(|(_, decided)| decided.elapsed() < PATIENCE).map(|(uid, _)| uid)
    }

    /// Records that a rule, or the end of its mark, has changed the content of a row.
    pub(super) fn changed(&mut self, uid: &str, content: Content) {
        if let Some(copy) = self.rows.get_mut(uid) {
            *copy = content;
        }
    }

    /// Forgets the content of a row.
    pub(super) fn forget(&mut self, uid: &str) {
        self.rows.remove(uid);
    }
}

impl World {
    /// Records whether a row says that its object has left the cluster.
    pub(super) fn confirmed(&mut self, uid: &str) {
        let confirmed = self.database.rows.get(uid).filter(|kept| kept.row.eviction == Eviction::Confirmed);
        let Some(kept) = confirmed.filter(|_| !self.copies.has(uid)) else { return };
        let content = content(&kept.row);
        let told = kept.told();
        self.copies.rows.insert(uid.into(), content);
        if !self.truth.was_gone(uid) {
            self.violate(format!("an eviction is confirmed when the object is gone: {told}"));
        }
    }

    /// Returns true if an object exists although its row is the only copy of it.
    pub(super) fn is_ghost(&self, thing: &FakeObject) -> bool {
        self.database.rows.get(thing.uid.as_str()).is_some_and(|kept| match kept.row.eviction {
            Eviction::None => false,
            Eviction::Intended => thing.version < kept.row.res_version,
            Eviction::Confirmed | Eviction::Unrecorded => true,
        })
    }

    /// Returns true if an object and its evicted row have the same content.
    pub(super) fn says_the_same(&self, thing: &FakeObject) -> bool {
        let kept = self.database.rows.get(thing.uid.as_str());
        let copy = kept.map(|kept| content(&kept.row)).filter(|copy| !copy.deleted);
        copy.is_some_and(|copy| copy.object == said(&thing.render_json()))
    }

    /// Returns the violation of a ghost.
    pub(super) fn ghost_at_rest(&self, thing: &FakeObject) -> Option<&'static str> {
        if thing.flavour == Flavour::LeftOut {
            // Its row is not compared with it before it must be released: the audit reports it.
            return None;
        }
        let refused = thing.unpatchable.is_some() || thing.undeletable.is_some();
        if self.says_the_same(thing) {
            let left = thing.deletion.is_some() && !thing.is_ours();
            return (!left && !refused).then_some("what came back as it was is evicted again");
        }
        let told = self.reports.metrics.is_none() || self.reports.events.contains(&thing.uid);
        (!told).then_some("a ghost is reported")
    }

    /// Returns an eviction that is neither confirmed nor recorded as lost, although its object is gone.
    pub(super) fn unconfirmed(&self) -> Option<String> {
        let there = |uid: &str| self.server.things.values().any(|thing| thing.uid == uid);
        let unconfirmed = self.database.rows.values().find(|kept| {
            let leaving = kept.row.eviction == Eviction::Intended && kept.row.delete_time.is_none();
            // A database that took over may have an earlier state of the row, which says that the object leaves. This state is not the last
            // one.
            let lost = self.database.recorded_as_lost.contains_key(&kept.row.uid);
            leaving && !lost && !there(&kept.row.uid)
        });
        unconfirmed.map(|kept| format!("an eviction is confirmed once the object is gone: {}", kept.told()))
    }

    /// Checks an ingester's write over a row.
    pub(super) fn before_overwrite(&mut self, old: &KeptRow, new: &StoredRow) {
        let Some(copy) = self.copies.rows.get(&new.uid) else { return };
        if content(new) != *copy || new.eviction != Eviction::Confirmed {
            let what = "the only copy of an object changes by nothing that the cluster says";
            let deleted = new.delete_time.is_some();
            let evicted = new.evict_time.is_some();
            let new = format!("v{} deleted {deleted} evicted {evicted}", new.res_version);
            self.violate(format!("{what}: {}, is written over as {new}", old.told()));
        }
    }

    /// Returns an object that had its only copy in a row that has changed without permission.
    pub(super) fn lost_copy(&self) -> Option<String> {
        let kept = |uid: &str, copy: &Content| {
            let row = self.database.rows.get(uid);
            row.is_some_and(|kept| kept.row.eviction == Eviction::Confirmed && content(&kept.row) == *copy)
        };
        let lost = self.copies.rows.iter().find(|(uid, copy)| !kept(uid, copy));
        lost.map(|(uid, _)| format!("the only copy of an object survives: {uid}"))
    }

    /// Lets a person change an evicted row, in a way that the server allows.
    pub(super) fn person(&mut self, sim: &Sim) {
        if self.database.refusal_of_changes().is_some() {
            return;
        }
        let evicted = self.database.rows.values().filter(|kept| self.copies.has(&kept.row.uid));
        let evicted: Vec<KeptRow> = evicted.filter(|kept| !kept.version().deleted).cloned().collect();
        if evicted.is_empty() {
            return;
        }
        if self.more.restoring && self.dice.u32(..3) == 0 {
            let old = evicted[self.dice.usize(..evicted.len())].clone();
            return self.begin_restore(sim, &old);
        }
        let old = evicted[self.dice.usize(..evicted.len())].clone();
        let ghost = self.server.things.values().find(|thing| *thing.uid == *old.row.uid).cloned();
        match self.dice.u32(..8) {
            0..=2 if ghost.is_some() && !self.is_restoring(&old.row.uid) => self.decide(&old, ghost),
            _ if self.is_restoring(&old.row.uid) => {
                self.note("user", &format!("may not change the row, which is being restored: {}", old.told()));
            }
            0..=4 => self.label(&old),
            5 => {
                self.note("user", &format!("deletes the row {}", old.told()));
                self.delete_row(&old);
            }
            _ if self.more.restoring => self.begin_restore(sim, &old),
            _ => self.take_back(sim, &old),
        }
    }

    /// Gives an evicted row another label, in the next version.
    fn label(&mut self, old: &KeptRow) {
        let mut row = old.row.clone();
        let label = self.dice.u32(..9).to_string();
        let mut object: Value = serde_json::from_str(read_text(&row, base::JSON)).unwrap_or_default();
        row.res_version += 1;
        object["metadata"]["labels"] = serde_json::json!({ "label": label });
        object["metadata"]["resourceVersion"] = row.res_version.to_string().into();
        row.values[base::JSON] = Column::text(object.to_string());
        row.values[base::RES_VERSION] = Column::UInt(row.res_version);
        row.labels = [("label".into(), label.into())].into();
        self.note("user", &format!("labels the row {}", old.told()));
        self.copies.rows.insert(row.uid.clone(), content(&row));
        self.store(row, Some(old.clone()));
    }

    /// Decides if a ghost or its row stays.
    fn decide(&mut self, old: &KeptRow, ghost: Option<FakeObject>) {
        // A ghost that equals its row is evicted again automatically.
        let decides = |world: &World, ghost: &FakeObject| {
            world.server.state == ServerState::Up && ghost.flavour == Flavour::Plain && !world.says_the_same(ghost)
        };
        let Some(mut ghost) = ghost.filter(|ghost| decides(self, ghost)) else { return };
        if self.dice.bool() {
            self.note("user", &format!("keeps the row {}", old.told()));
            ghost.finalizers.retain(|finalizer| finalizer != FINALIZER);
            ghost.deletion.get_or_insert(self.micros());
            self.put(ghost);
            return;
        }
        let object = Object::parse(ghost.render_json(), ManagedFields::Keep).ok();
        let Some(row) = object.and_then(|object| NEWER.row(&object).ok().flatten()) else { return };
        self.note("user", &format!("keeps the object: {}", ghost.told()));
        self.copies.forget(&old.row.uid);
        self.copies.decided.insert(old.row.uid.clone(), Instant::now());
        let row = StoredRow {
            uid: row.uid,
            res_version: row.res_version,
            ingest_version: row.ingest_version,
            delete_time: None,
            evict_time: None,
            eviction: Eviction::None,
            values: row.values,
            labels: row.labels,
            annotations: row.annotations,
            many: row.many,
        };
        self.store(row, Some(old.clone()));
    }

    pub(super) fn delete_row(&mut self, old: &KeptRow) {
        let row = StoredRow { delete_time: Some(self.database_time()), ..old.row.clone() };
        self.copies.rows.insert(row.uid.clone(), content(&row));
        self.store(row, Some(old.clone()));
    }

    /// Creates an object again from its row, and deletes the row once the new object has one.
    fn take_back(&mut self, sim: &Sim, old: &KeptRow) {
        let object: Value = serde_json::from_str(read_text(&old.row, base::JSON)).unwrap_or_default();
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let serves = self.server.state == ServerState::Up && self.server.served && !self.lost;
        if !serves || self.server.things.contains_key(&name) {
            return;
        }
        self.note("user", &format!("restores {}", old.told()));
        let part = |text: &Value| text.as_str().unwrap_or_default().to_owned();
        let owner = part(&object["spec"]["owner"]);
        let label = part(&object["metadata"]["labels"]["label"]);
        self.create(&name, |thing| {
            (thing.flavour, thing.owner, thing.label) =
                (Flavour::Plain, owner.parse().unwrap_or_default(), label.parse().ok());
        });
        let Some(uid) = self.server.things.get(&name).map(|thing| thing.uid.clone()) else { return };
        tokio::spawn(finish(sim.clone(), uid, old.row.uid.clone()));
    }
}

/// Deletes the row from which an object was restored, once the new object has one.
async fn finish(sim: Sim, new: String, old: Box<str>) {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        {
            let mut world = sim.world();
            let stored = world.database.rows.contains_key(new.as_str());
            if stored && world.database.refusal_of_changes().is_none() {
                let kept = world.database.rows.get(&old).cloned().filter(|_| world.copies.has(&old));
                if let Some(kept) = kept.filter(|kept| kept.version().evicted() && !kept.version().deleted) {
                    world.note("user", &format!("has restored, and deletes the row {}", kept.told()));
                    world.delete_row(&kept);
                }
                return;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
