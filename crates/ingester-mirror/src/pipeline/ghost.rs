//! Objects that are in the cluster although they had left it: etcd was restored from a backup. Their rows hold the evicted state, often a
//! later one than the state that came back, and the versions do not show which of the two is right.
//!
//! If the row is the only copy, its object is left alone: the row does not change, the object gets no finalizer and is not deleted, and
//! when it disappears its row is not marked. If the object equals the row, it is evicted again. Otherwise a person decides (`ingester
//! ghosts`).

use super::Pipeline;
use super::known::RowState;
use super::work::{Item, LookReason, ObjectRef};
use crate::backoff::delay;
use crate::cluster::ApiError;
use crate::unit::in_time;
use ingester_core::object::{Meta, Object};
use ingester_core::row::Version;
use ingester_store::compare::content_differences;

impl Pipeline {
    /// Evicts an object again if its row holds exactly the same state, otherwise reports it. Returns its uid.
    pub(super) async fn meet_ghost(&self, object: ObjectRef, found: &Object, seen: Version, attempt: u32) -> Box<str> {
        let uid = object.uid.clone();
        let uids = [&*uid];
        let stored = match in_time("reading an evicted row", self.unit.rows.read_stored(&uids)).await {
            Ok(stored) => stored,
            Err(error) => {
                self.unit.metrics.database_error(error.class());
                self.look_again(object, attempt);
                return uid;
            }
        };
        // A person may have decided in the meantime: then the object is not a ghost any more.
        let Some(row) = stored.first().filter(|row| row.version() == seen) else {
            self.look_again(object, attempt);
            return uid;
        };
        let same = row.delete_time.is_none() && content_differences(found.text(), row).is_empty();
        if !same {
            self.report_ghost(found, seen);
        } else if !self.unit.may_begin() {
            self.look_again(object, attempt);
        } else if let Err(error) = self.evict_again(found.meta()).await {
            self.try_again(object, LookReason::Due, attempt, &error);
        }
        uid
    }

    fn look_again(&self, object: ObjectRef, attempt: u32) {
        let pause = delay(attempt, self.unit.requeue_period());
        self.queue.push_later(Item::look(object, LookReason::Due, attempt.saturating_add(1)), pause);
    }

    async fn evict_again(&self, meta: &Meta) -> Result<(), ApiError> {
        if self.remove_finalizer(meta).await?.is_some() {
            self.queue.push(Item::look(ObjectRef::from_meta(meta), LookReason::Due, 0));
            return Ok(());
        }
        // Finalizers of others hold it. It is gone once these are removed.
        if meta.deletion_timestamp.is_some() {
            return Ok(());
        }
        self.delete_evicted(meta).await
    }

    fn report_ghost(&self, found: &Object, seen: Version) {
        let meta = found.meta();
        self.remember_owners(&meta.uid, found.text());
        let is_new = {
            let mut known = self.known();
            let before = known.get(&meta.uid);
            known.set(&meta.uid, meta.resource_version, RowState::Ghost, None);
            self.unit.metrics.ghosts(known.ghosts());
            before.is_none_or(|before| before.state != RowState::Ghost)
        };
        if !is_new {
            return;
        }
        let kind = &self.unit.kind;
        tracing::error!(namespace = %meta.namespace, name = %meta.name, uid = %meta.uid,
            row = seen.res_version, object = meta.resource_version,
            "Ghost: this object was evicted from etcd and is there again, in another state than its row holds; \
             both are left alone: decide with `ingester ghosts`");
        let api_version = kind.api_version();
        let version = meta.resource_version.to_string();
        let reference = ObjectRef::from_meta(meta);
        self.unit.publisher.ghost(kind, reference.subject(&api_version, &version));
    }
}
