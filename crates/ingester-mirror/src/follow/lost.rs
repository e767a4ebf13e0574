//! Finds evictions whose rows the database has lost. Each row was the only copy of its object; a live row with the same uid is an earlier
//! state. The mirror reports each loss and records it in `ingester_lost_evictions`: a process that starts later reports it again, and does
//! not mark the earlier state as deleted. The mirror deletes the record once the row shows an evicted object again, or a later version.

use super::Follower;
use crate::pipeline::{EvictedObject, LossChanges, ObjectRef};
use crate::unit::UnitStopError;
use ingester_store::LostEviction;
use std::collections::HashMap;
use std::time::Duration;

/// A rule may have purged a row this much earlier than this process computes.
const PURGING: Duration = Duration::from_secs(300);

/// The number of uids in one statement.
const PORTION: usize = 500;

impl Follower {
    /// Reads which evictions are recorded as lost, and looks for the rows of all known evictions.
    pub(super) async fn learn_lost(&self) -> Result<(), UnitStopError> {
        let unit = self.unit();
        let read = || unit.rows.lost_evictions();
        let recorded = unit.until_done("reading which evictions are lost", read).await?;
        self.pipeline.evictions().learn(recorded);
        let all = self.pipeline.evictions().all();
        self.look_for_evictions(&all).await
    }

    /// Reports which of these rows of evicted objects the database has lost, and records them.
    pub(super) async fn look_for_evictions(&self, evicted: &[EvictedObject]) -> Result<(), UnitStopError> {
        if evicted.is_empty() {
            return Ok(());
        }
        let unit = self.unit();
        let mut stored = HashMap::new();
        for portion in evicted.chunks(PORTION) {
            let uids: &Vec<&str> = &portion.iter().map(|eviction| &*eviction.uid).collect();
            // Retry: a database that has just moved may need time, and the next comparison may be far away, or never come.
            let read = move || unit.rows.versions(uids);
            stored.extend(unit.until_done("reading the rows of evicted objects", read).await?);
        }
        if let Some(after) = unit.config().retention.purges_evicted_after(&unit.kind) {
            // The row was written shortly before the deletion was requested.
            let may_be_purged = |eviction: &&EvictedObject| {
                eviction.since.is_some_and(|since| since.elapsed() + PURGING >= after)
                    && !self.pipeline.evictions().is_recorded(&eviction.uid)
            };
            let missing = evicted.iter().filter(|eviction| !stored.contains_key(&eviction.uid));
            let purged: Vec<&EvictedObject> = missing.filter(may_be_purged).collect();
            purged.iter().for_each(|eviction| self.pipeline.evictions().forget(&eviction.uid));
        }
        let lost = self.pipeline.evictions().lost(evicted, &stored);
        self.report_lost(lost);
        self.record_lost().await
    }

    fn report_lost(&self, lost: Vec<EvictedObject>) {
        let unit = self.unit();
        let api_version = unit.kind.api_version();
        for EvictedObject { uid, namespace, name, version, .. } in lost {
            unit.metrics.eviction_lost();
            tracing::error!(
                %namespace,
                %name,
                %uid,
                resource_version = version,
                "The database has lost the row of an evicted object, which was its only copy: look for it on the server that the \
                 database was on before, in its binary log, and in backups, and store it with `ingester import --assume evicted`"
            );
            let reference = ObjectRef { uid, namespace, name, version };
            unit.publisher.eviction_lost(&unit.kind, reference.subject(&api_version, &version.to_string()));
        }
    }

    /// Brings the records of lost evictions up to date.
    async fn record_lost(&self) -> Result<(), UnitStopError> {
        let unit = self.unit();
        let LossChanges { lost, settled } = self.pipeline.evictions().take_changes();
        if !lost.is_empty() {
            let lost: &Vec<LostEviction> = &lost.iter().map(EvictedObject::loss).collect();
            let record = || unit.rows.record_lost_evictions(lost);
            unit.until_done("recording evictions that are lost", record).await?;
        }
        if !settled.is_empty() {
            let uids: &Vec<&str> = &settled.iter().map(AsRef::as_ref).collect();
            let forget = || unit.rows.forget_lost_evictions(uids);
            unit.until_done("deleting the records of evictions that are not lost any more", forget).await?;
        }
        Ok(())
    }
}
