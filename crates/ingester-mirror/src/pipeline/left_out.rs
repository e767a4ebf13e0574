//! Objects whose rows are live although the filter leaves them out. If the stored text passes the filter, the object itself has changed,
//! and its row is marked as deleted. If not, the filter has changed since the row was written: then the row stays live until
//! [`judge_left_out`](ingester_store::Store::judge_left_out) allows such rows to be marked.

use super::prepare::{PreparedBatch, Write};
use super::work::{Item, LookReason, ObjectRef};
use super::{Pipeline, UnitStopError};
use ingester_store::StoredRow;
use ingester_store::left_out::{FRESH, FilterVerdict, leaves_out};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// The time for which a verdict is valid.
pub(crate) const HOLDS: Duration = Duration::from_secs(FRESH);

/// The most objects that are looked at again once their rows may be marked. The next resync, or the backfill, finds the others.
const MOST: usize = 10_000;

/// The objects whose rows wait, and the last verdict about such rows.
#[derive(Default)]
pub(crate) struct WithheldRows {
    verdict: Option<(FilterVerdict, Instant)>,
    objects: HashMap<Box<str>, ObjectRef>,
}

impl WithheldRows {
    /// Returns true if rows may be marked now.
    fn marks(&self) -> bool {
        self.verdict.is_some_and(|(verdict, since)| verdict.marks() && since.elapsed() < HOLDS)
    }

    fn add(&mut self, object: &ObjectRef) {
        if self.objects.len() < MOST {
            self.objects.insert(object.uid.clone(), object.clone());
        }
    }
}

impl Pipeline {
    /// Marks the rows of objects that the filter leaves out, except those that wait because the filter has changed.
    pub(super) async fn mark_left_out(
        &self,
        writes: Vec<Write>,
        batch: &mut PreparedBatch,
    ) -> Result<(), UnitStopError> {
        let unit = &self.unit;
        if writes.is_empty() || !unit.kind.filtered() || unit.config().ingester.fuse(&unit.kind).is_none() {
            batch.writes.extend(writes);
            return Ok(());
        }
        let uids: &Vec<&str> = &writes.iter().map(|write| write.change.uid()).collect();
        let read = || unit.rows.read_stored(uids);
        let stored = unit.until_done("reading rows that the filter leaves out", read).await?;
        let is_of_other_filter = |row: &&StoredRow| {
            let is_live = row.delete_time.is_none() && row.evict_time.is_none();
            // A text that cannot be judged does not prove that the object has changed.
            is_live && leaves_out(&unit.kind, row.json()).unwrap_or(true)
        };
        let others: HashSet<Box<str>> = stored.iter().filter(is_of_other_filter).map(|row| row.uid.clone()).collect();
        let mut withheld = self.withheld();
        let marks = withheld.marks();
        for write in writes {
            let object = &write.consequences.object;
            if marks || !others.contains(&object.uid) {
                withheld.objects.remove(&object.uid);
                batch.writes.push(write);
                continue;
            }
            tracing::debug!(namespace = %object.namespace, name = %object.name,
                "The filter leaves out this object, whose row another filter has written: the row stays for now");
            withheld.add(object);
            batch.done.push(object.uid.clone());
            self.filter_asked.notify_one();
        }
        Ok(())
    }

    /// Records a verdict about the waiting rows. If they may be marked, their objects are looked at again.
    pub(crate) fn filter_judged(&self, verdict: FilterVerdict) {
        self.unit.metrics.left_out_waiting(verdict.waiting());
        let objects = {
            let mut withheld = self.withheld();
            withheld.verdict = Some((verdict, Instant::now()));
            if verdict.marks() { std::mem::take(&mut withheld.objects) } else { HashMap::new() }
        };
        match verdict {
            FilterVerdict::Marks(found) => {
                if found.rows > 0 {
                    tracing::warn!(
                        rows = found.rows,
                        live = found.live,
                        "The filter of this kind leaves out live rows that another filter has written: they are marked as deleted"
                    );
                }
                for object in objects.into_values() {
                    self.queue.push(Item::look(object, LookReason::Due, 0));
                }
            }
            FilterVerdict::Waits(found) => tracing::error!(
                rows = found.rows,
                live = found.live,
                "The filter of this kind leaves out so many live rows that none is marked as deleted: correct the filter; if it is meant, run \
                 `ingester audit --repair`, or raise ingester.sweepLimit"
            ),
        }
    }
}
