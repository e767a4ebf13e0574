//! Adds our finalizer, and remembers where that fails: the API server refuses the patch, or something else removes the finalizer again.
//! Both are reported, and the object is left without it.

use super::acknowledge::REFUSALS;
use super::{ObjectRef, Pipeline};
use crate::cluster::{ApiError, ApiErrorKind};
use crate::lifecycle::finalizer;
use crate::metrics::GiveUpReason;
use ingester_core::object::{Meta, Object};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// A finalizer that is gone again within this time after it was added was removed on purpose.
const SOON: Duration = Duration::from_secs(60);

/// The pause before a refused addition is tried once more.
const PAUSE: Duration = Duration::from_millis(100);

/// The number of times that it is added again after such a removal.
const REMOVALS: u32 = 3;

/// How many additions are remembered before useless ones are dropped.
const FEW: usize = 1024;

/// The results of adding our finalizer, by uid.
#[derive(Default)]
pub(crate) struct Additions {
    objects: HashMap<Box<str>, Addition>,
    /// How many may be remembered before useless ones are dropped.
    room: usize,
}

struct Addition {
    /// When it was last added, and to which version of the object.
    at: Instant,
    version: u64,
    /// How often it was added, each time soon after the time before.
    times: u32,
    /// The version that it is being added to.
    adding: Option<u64>,
    /// The version that was refused last, and how often.
    refused: Option<(u64, u32)>,
    /// It was removed again too often.
    left: bool,
}

/// The decision about adding our finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    Add,
    /// Do not add it: the object is left without it, and this was reported.
    Leave,
    /// Do not add it, and report that: it was removed soon after each addition.
    GiveUp,
}

impl Additions {
    /// Decides about an object that lacks our finalizer at this version.
    pub(crate) fn advice(&mut self, uid: &str, version: u64) -> Advice {
        let Some(addition) = self.objects.get_mut(uid) else { return Advice::Add };
        if addition.is_left(version) {
            return Advice::Leave;
        }
        addition.left = addition.times >= REMOVALS && addition.is_removed(version);
        if addition.left { Advice::GiveUp } else { Advice::Add }
    }

    /// Returns true if the object is left without our finalizer at this version.
    pub(crate) fn leaves(&self, uid: &str, version: u64) -> bool {
        self.objects.get(uid).is_some_and(|addition| addition.is_left(version))
    }

    /// Records that it is about to be added to this version; `None` means that the attempt has ended.
    fn adding(&mut self, uid: &str, version: Option<u64>) {
        self.entry(uid).adding = version;
    }

    /// Returns true if our finalizer is being added to this version of an object, or was just added: the object has another version, or
    /// soon will.
    pub(crate) fn outdates(&self, uid: &str, version: u64) -> bool {
        self.objects.get(uid).is_some_and(|addition| {
            addition.adding == Some(version) || addition.version == version && addition.at.elapsed() < SOON
        })
    }

    /// Records that it was added to this version.
    fn added(&mut self, uid: &str, version: u64) {
        let addition = self.entry(uid);
        addition.times = if addition.is_removed(version) { addition.times + 1 } else { 1 };
        (addition.at, addition.version, addition.refused) = (Instant::now(), version, None);
    }

    /// Records that it was refused at this version, and that nothing else changed the object in the meantime. Returns the number of
    /// refusals so far.
    fn refused(&mut self, uid: &str, version: u64) -> u32 {
        let addition = self.entry(uid);
        let times = addition.refused.filter(|(of, _)| *of == version).map_or(1, |(_, times)| times + 1);
        addition.refused = Some((version, times));
        times
    }

    /// The object is gone.
    pub(crate) fn forget(&mut self, uid: &str) {
        if !self.objects.is_empty() {
            self.objects.remove(uid);
        }
    }

    /// Forgets the objects that are gone.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.objects.retain(|uid, _| is_there(uid));
    }

    fn entry(&mut self, uid: &str) -> &mut Addition {
        if self.objects.len() >= self.room.max(FEW) {
            self.objects
                .retain(|_, addition| addition.left || addition.refused.is_some() || addition.at.elapsed() < SOON);
            self.room = 2 * self.objects.len();
        }
        let new = || Addition { at: Instant::now(), version: 0, times: 0, adding: None, refused: None, left: false };
        self.objects.entry(uid.into()).or_insert_with(new)
    }
}

impl Addition {
    /// Returns true if the object lacks it at this version because it was removed soon after it was added. An object whose version is not
    /// later than the version of the addition comes from a backup.
    fn is_removed(&self, version: u64) -> bool {
        version > self.version && self.at.elapsed() < SOON
    }

    /// Returns true if the object is left without it at this version.
    fn is_left(&self, version: u64) -> bool {
        self.left || self.refused.is_some_and(|(of, times)| of == version && times >= REFUSALS)
    }
}

impl Pipeline {
    /// Adds our finalizer. Returns `None` if the object changed in the meantime or is gone, so that an event follows, or if it is left
    /// without the finalizer.
    pub(crate) async fn add_finalizer(&self, meta: &Meta) -> Result<Option<Object>, ApiError> {
        let Some(patch) = finalizer::addition(meta, self.unit.kind.marks()) else { return Ok(None) };
        if self.is_being_deleted_by_rule(&meta.uid) {
            return Ok(None);
        }
        let advice = self.known().additions.advice(&meta.uid, meta.resource_version);
        match advice {
            Advice::Add => {}
            Advice::Leave => return Ok(None),
            Advice::GiveUp => {
                let reason = format!("it was removed {REMOVALS} times, each time soon after it had been added");
                self.give_up(meta, GiveUpReason::Removed, &reason);
                return Ok(None);
            }
        }
        loop {
            self.known().additions.adding(&meta.uid, Some(meta.resource_version));
            let patched = self.unit.cluster.patch(&meta.namespace, &meta.name, &patch).await;
            self.known().additions.adding(&meta.uid, None);
            match patched {
                Ok(text) => {
                    self.unit.metrics.finalizers_added(1);
                    self.known().additions.added(&meta.uid, meta.resource_version);
                    return Ok(self.unit.parse(text).ok());
                }
                Err(error) if error.kind() == ApiErrorKind::Conflict => {
                    if !self.is_unchanged(meta).await? {
                        return Ok(None);
                    }
                    // Counted across attempts: other failures between two refusals do not reset the count.
                    let refusals = self.known().additions.refused(&meta.uid, meta.resource_version);
                    if refusals >= REFUSALS {
                        self.unit.metrics.api_error(&error.code());
                        self.give_up(meta, GiveUpReason::Refused, &error.to_string());
                        return Ok(None);
                    }
                    tokio::time::sleep(PAUSE).await;
                }
                // The object is gone, or the kind is not served now: the caller decides what follows.
                Err(error) if error.kind() == ApiErrorKind::NotFound => return Err(error),
                Err(error) => {
                    self.unit.metrics.api_error(&error.code());
                    return Err(error);
                }
            }
        }
    }

    /// Returns true if the object still has the version of `meta`: then the API server refused the change itself.
    async fn is_unchanged(&self, meta: &Meta) -> Result<bool, ApiError> {
        let found = self.unit.cluster.look(&meta.namespace, &meta.name).await?;
        let found = found.and_then(|text| self.unit.parse(text).ok());
        Ok(found.is_some_and(|found| {
            (&found.meta().uid, found.meta().resource_version) == (&meta.uid, meta.resource_version)
        }))
    }

    /// Reports that the object is left without our finalizer.
    fn give_up(&self, meta: &Meta, why: GiveUpReason, reason: &str) {
        let kind = &self.unit.kind;
        self.unit.metrics.finalizer_given_up(why);
        tracing::warn!(namespace = %meta.namespace, name = %meta.name, resource_version = meta.resource_version,
            reason, "Finalizer given up: the object is mirrored without it, and its last state may be missed when it is deleted");
        let api_version = kind.api_version();
        let version = meta.resource_version.to_string();
        let object = ObjectRef::from_meta(meta);
        self.unit.publisher.finalizer_given_up(kind, object.subject(&api_version, &version), reason);
    }
}

#[cfg(test)]
mod tests {
    use super::{Additions, Advice, FEW, REFUSALS, SOON};
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_finalizer_that_vanishes_three_times_at_once_is_given_up() {
        let mut additions = Additions::default();
        for version in 1..=3 {
            assert_eq!(additions.advice("a", version), Advice::Add);
            additions.added("a", version);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert!(!additions.leaves("a", 4));
        assert_eq!(additions.advice("a", 4), Advice::GiveUp);
        tokio::time::advance(10 * SOON).await;
        assert!(additions.leaves("a", 5));
        assert_eq!(additions.advice("a", 5), Advice::Leave, "reported once");
        additions.forget("a");
        assert_eq!(additions.advice("a", 6), Advice::Add);
    }

    #[tokio::test(start_paused = true)]
    async fn a_finalizer_that_vanishes_now_and_then_is_added_again() {
        let mut additions = Additions::default();
        for version in 1..=10 {
            assert_eq!(additions.advice("a", version), Advice::Add);
            additions.added("a", version);
            tokio::time::advance(SOON).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_finalizer_that_a_backup_lacks_is_added_again() {
        let mut additions = Additions::default();
        for _ in 1..=10 {
            assert_eq!(additions.advice("a", 7), Advice::Add);
            additions.added("a", 7);
        }
        additions.added("a", 9);
        additions.added("a", 11);
        assert_eq!(additions.advice("a", 11), Advice::Add, "from a backup");
        assert_eq!(additions.advice("a", 13), Advice::GiveUp);
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_that_was_refused_is_left_until_the_object_changes() {
        let mut additions = Additions::default();
        for times in 1..=REFUSALS {
            assert_eq!(additions.advice("a", 7), Advice::Add, "refused less than {times} times");
            assert_eq!(additions.refused("a", 7), times);
        }
        assert_eq!((additions.advice("a", 7), additions.advice("a", 8)), (Advice::Leave, Advice::Add));
        assert_eq!(additions.refused("a", 8), 1, "another version");
        assert_eq!(additions.advice("a", 8), Advice::Add);
    }

    #[tokio::test(start_paused = true)]
    async fn expired_additions_are_forgotten() {
        let mut additions = Additions::default();
        for _ in 0..REFUSALS {
            additions.refused("kept", 1);
        }
        for number in 0..5 * FEW {
            additions.added(&number.to_string(), 1);
            tokio::time::advance(SOON / 512).await;
        }
        assert!(additions.objects.len() <= 2 * FEW, "{}", additions.objects.len());
        assert!(additions.leaves("kept", 1));
    }
}
