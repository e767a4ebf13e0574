//! What ingesters report: Events, metrics and rejects. What is refused for good must be among it.

use super::things::Thing;
use super::world::World;
use crate::metrics::Metrics;
use std::collections::{BTreeMap, BTreeSet};

/// After how many refusals of one version to one process they must be reported. Each time the process asks whether the object has changed
/// meanwhile, which tells it nothing if that fails, or if it has changed by then.
const REFUSALS: u32 = 5;

/// After how many an object is left without our finalizer.
const ADDITIONS: u32 = 3;

/// What is asked of the API server about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    /// That our finalizer is added.
    Add,
    /// That it is removed.
    Remove,
    Delete,
}

/// What the API server refused: the verb, the object's uid and version, and the status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Refusal {
    verb: Verb,
    uid: String,
    version: u64,
    code: u16,
}

/// What was refused, and what was reported.
#[derive(Default)]
pub(super) struct Reports {
    /// The refusal whose answer is about to be sent.
    answered: Option<Refusal>,
    /// How often each process of an ingester has heard a refusal: the ingester's number, which of its lives, and the refusal.
    heard: BTreeMap<(usize, u32, Refusal), u32>,
    /// How often a webhook refused to change an object, by uid and version.
    conflicts: BTreeMap<(String, u64), u32>,
    /// The uids of the objects that Events were about.
    pub(super) events: BTreeSet<String>,
    /// Where the ingesters count.
    pub(super) metrics: Option<Metrics>,
}

impl World {
    /// A request is refused for good.
    pub(super) fn refused(&mut self, thing: &Thing, verb: Verb, code: u16) {
        self.reports.answered = Some(Refusal { verb, uid: thing.uid.clone(), version: thing.version, code });
    }

    /// A webhook says that an object cannot be changed so.
    pub(super) fn in_conflict(&mut self, thing: &Thing) {
        *self.reports.conflicts.entry((thing.uid.clone(), thing.version)).or_default() += 1;
    }

    /// Whether an object may be left without our finalizer, because adding it to this version was refused so often.
    pub(super) fn is_left(&self, thing: &Thing) -> bool {
        let conflicts = self.reports.conflicts.get(&(thing.uid.clone(), thing.version));
        // Restores of etcd may take it away again, which is reported by an Event.
        conflicts.is_some_and(|conflicts| *conflicts >= ADDITIONS) || self.reports.events.contains(&thing.uid)
    }

    /// What was refused again and again, and is reported nowhere.
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
    /// Takes the refusal that a request has just caused.
    pub(super) fn take_answered(&mut self) -> Option<Refusal> {
        self.answered.take()
    }

    /// The answer has arrived. One that is lost tells an ingester nothing, and a new process starts to count anew.
    pub(super) fn hear(&mut self, ingester: usize, life: u32, refusal: Refusal) {
        *self.heard.entry((ingester, life, refusal)).or_default() += 1;
    }
}
