//! Handles the objects that a list lacks, because they are gone. Each is looked up before its row is marked as deleted.

use super::Follower;
use crate::pipeline::{Item, LookReason, ObjectRef, UnlistedObjects, forgotten};
use crate::unit::in_time;
use ingester_store::RowChange;
use ingester_store::fuse::Sweep;
use std::sync::atomic::Ordering;

/// The number of uids in one statement.
const PORTION: usize = 500;

impl Follower {
    /// Looks at every object that is stored and that the list, which has just ended, lacks. Returns how many.
    pub(super) async fn sweep(&self, version: u64) -> usize {
        let unit = self.unit();
        let UnlistedObjects { missed, evicted, waiting } = self.pipeline.known().unseen();
        unit.metrics.ghosts(self.pipeline.known().ghosts());
        let is_held = |uid: &str| self.pipeline.queue.holds(uid);
        let mut unseen: Vec<Box<str>> = missed.into_iter().filter(|uid| !is_held(uid)).collect();
        self.compare_after(waiting);
        // A row that has lost its eviction stays as it is.
        let evictions = self.pipeline.evictions().find_evicted(&unseen);
        if self.look_for_evictions(&evictions).await.is_err() {
            return 0;
        }
        unseen.retain(|uid| !self.pipeline.evictions().has_lost(uid));
        if self.is_too_many(unseen.len()).await {
            unseen.clear();
        }
        let missed = unseen.len();
        // Evicted objects are meant to be gone, however many they are.
        unseen.extend(evicted.into_iter().filter(|uid| !is_held(uid)));
        for uids in unseen.chunks(PORTION) {
            let references: Vec<&str> = uids.iter().map(AsRef::as_ref).collect();
            // Ask the database until it answers: the next list may be far away, and until then the objects would stay unknown.
            let ask = || unit.rows.names(&references);
            let Ok(names) = unit.until_done("reading the names of objects that are gone", ask).await else { break };
            let mut nameless: Vec<&Box<str>> = uids.iter().collect();
            for (uid, namespace, name) in names {
                nameless.retain(|other| **other != uid);
                self.pipeline.queue.push(Item::look(ObjectRef { uid, namespace, name, version }, LookReason::Swept, 0));
            }
            // Rejected objects that are gone and never had a row: their rejects are out of date.
            let now = unit.clock.now();
            let forget: Vec<RowChange> = nameless.into_iter().map(|uid| forgotten(uid, version, now)).collect();
            for change in &forget {
                self.pipeline.known().remove(change.uid());
            }
            let _writing = self.pipeline.writing.read().await;
            if !forget.is_empty()
                && let Err(error) = in_time("clearing rejects", unit.rows.write(&forget)).await
            {
                tracing::warn!(%error, "Cannot remove the rejects of deleted objects");
            }
        }
        missed
    }

    /// Returns the uids of the objects that are recorded as rejected; none if the records cannot be read.
    pub(super) async fn rejected(&self) -> Vec<Box<str>> {
        match in_time("reading rejects", self.unit().rows.rejects()).await {
            Ok(rejects) => rejects.into_iter().map(|reject| reject.uid).collect(),
            Err(error) => {
                tracing::warn!(%error, "Cannot look for rejects of deleted objects");
                Vec::new()
            }
        }
    }

    /// Deletes the given rejects if the list, which has just ended, lacks their objects: these were deleted while no ingester ran. The
    /// rejects were read before the list, because another ingester may have recorded rejects of newer objects since then.
    pub(super) async fn forget_rejects(&self, recorded: &[Box<str>]) {
        let gone: Vec<&str> = {
            let known = self.pipeline.known();
            let is_gone = |uid: &&str| known.get(uid).is_none() && !self.pipeline.queue.holds(uid);
            recorded.iter().map(AsRef::as_ref).filter(is_gone).collect()
        };
        let _writing = self.pipeline.writing.read().await;
        if !gone.is_empty()
            && let Err(error) = in_time("forgetting rejects", self.unit().rows.forget_rejects(&gone)).await
        {
            tracing::warn!(%error, "Cannot remove the rejects of deleted objects");
        }
    }

    /// The fuse of the kind. Returns true if so many objects are gone that something else must be wrong, such as an empty etcd behind the
    /// API server. The units of the kind, here and in other processes, count together.
    async fn is_too_many(&self, gone: usize) -> bool {
        let unit = self.unit();
        let Some(fuse) = unit.config().ingester.fuse(&unit.kind) else { return false };
        let fuse = &fuse;
        let name = &unit.name();
        let ask = || unit.rows.ask_to_sweep(name, gone as u64, fuse);
        let answer = if gone > 0 {
            // Ask the database until it answers: the next list may be far away.
            let Ok(answer) = unit.until_done("asking whether so many rows may be marked as deleted", ask).await else {
                return true;
            };
            self.may_want.store(true, Ordering::Relaxed);
            answer
        } else if !self.may_want.load(Ordering::Relaxed) {
            Sweep::Allowed
        } else {
            match in_time("recording that no object is missing", ask()).await {
                Ok(answer) => {
                    self.may_want.store(false, Ordering::Relaxed);
                    answer
                }
                Err(error) => {
                    tracing::debug!(%error, "Cannot record that no object is missing: earlier ones still count towards ingester.sweepLimit");
                    Sweep::Allowed
                }
            }
        };
        let refused = match answer {
            Sweep::Refused { gone, live } => Some((gone, live)),
            Sweep::Allowed => None,
        };
        self.refused.store(refused.is_some(), Ordering::Relaxed);
        let Some((all, live)) = refused else { return false };
        tracing::error!(
            gone,
            all,
            live,
            "So many objects of this kind are missing from the cluster that none is marked as deleted: check the cluster; if they are \
             really gone, run `ingester audit --repair`, or raise ingester.sweepLimit"
        );
        unit.metrics.sweep_refused();
        unit.publisher.sweep_refused(&unit.kind, all, live);
        self.sweep_was_refused.notify_one();
        true
    }
}
