//! The reports of ingesters: Events, metrics and rejects. They must contain every permanent refusal.

use super::things::FakeObject;
use super::world::World;
use crate::metrics::Metrics;
use std::collections::{BTreeMap, BTreeSet};

/// After this many refusals of one version to one process, a report is required. Each time, the process checks if the object has changed in
/// the meantime. It learns nothing if that check fails, or if the object has changed by then.
const REFUSALS: u32 = 5;

/// After this many refusals, an object is left without our finalizer.
const ADDITIONS: u32 = 3;

/// A request to the API server about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    /// To add our finalizer.
    Add,
    /// To remove it.
    Remove,
    Delete,
}

/// A refusal by the API server: the verb, the object's uid and version, and the status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Refusal {
    verb: Verb,
    uid: String,
    version: u64,
    code: u16,
}

/// The refusals and the reports.
#[derive(Default)]
pub(super) struct Reports {
    /// The refusal that is about to be answered.
    answered: Option<Refusal>,
    /// How often each process of an ingester has heard a refusal: the ingester's number, the number of its life, and the refusal.
    heard: BTreeMap<(usize, u32, Refusal), u32>,
    /// How often a webhook refused to change an object, by uid and version.
    conflicts: BTreeMap<(String, u64), u32>,
    /// The uids of the objects that Events were about.
    pub(super) events: BTreeSet<String>,
    /// The metrics of the ingesters.
    pub(super) metrics: Option<Metrics>,
}

impl World {
    /// Records a permanent refusal of a request.
    pub(super) fn refused(&mut self, thing: &FakeObject, verb: Verb, code: u16) {
        self.reports.answered = Some(Refusal { verb, uid: thing.uid.clone(), version: thing.version, code });
    }

    /// Records that a webhook refuses this change of an object.
    pub(super) fn in_conflict(&mut self, thing: &FakeObject) {
        *self.reports.conflicts.entry((thing.uid.clone(), thing.version)).or_default() += 1;
    }

    /// Returns true if an object may be left without our finalizer, because adding it to this version was refused often enough.
    pub(super) fn is_left(&self, thing: &FakeObject) -> bool {
        let conflicts = self.reports.conflicts.get(&(thing.uid.clone(), thing.version));
        // Restores of etcd may remove it again, which an Event reports.
        conflicts.is_some_and(|conflicts| *conflicts >= ADDITIONS) || self.reports.events.contains(&thing.uid)
    }

    /// Returns repeated refusals that were not reported anywhere.
    pub(super) fn unreported(&self) -> Option<String> {
        let metrics = self.reports.metrics.as_ref()?;
        let mut rendered = None;
        for ((ingester, life, refusal), times) in &self.reports.heard {
            let Refusal { verb, uid, version, code } = refusal;
            // A process that ended may have been about to report it.
            if *times < REFUSALS || self.ingesters[*ingester].life != *life {
                continue;
            }
            let rendered = rendered.get_or_insert_with(|| metrics.render());
            let series = format!("ingester_api_errors_total{{code=\"{code}\",kind=\"Model\"}} ");
            let counted = rendered.lines().filter_map(|line| line.strip_prefix(&series)).any(|value| value != "0");
            if !counted && !self.reports.events.contains(uid) {
                return Some(format!(
                    "what is refused for good is reported: {verb:?} {uid} v{version}, asked by i{ingester}"
                ));
            }
        }
        None
    }
}

impl Reports {
    /// Takes out the refusal that a request has just caused.
    pub(super) fn take_answered(&mut self) -> Option<Refusal> {
        self.answered.take()
    }

    /// Records that the answer has arrived. A lost one tells an ingester nothing, and a new process starts counting from 0.
    pub(super) fn hear(&mut self, ingester: usize, life: u32, refusal: Refusal) {
        *self.heard.entry((ingester, life, refusal)).or_default() += 1;
    }
}
