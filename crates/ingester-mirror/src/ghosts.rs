//! Ghosts: objects that were evicted from etcd and are in the cluster again, as after a restore of etcd from a backup. The mirror leaves
//! both the object and its row alone, unless they are equal; here a person sees both sides and decides which of them stays.
//!
//! May use: ingester-config, ingester-core, ingester-store, audit, cluster, lifecycle, replicas, sync, unit.

use crate::audit::AuditError;
use crate::cluster::{ApiError, ApiErrorKind, Deletion};
use crate::lifecycle::{finalizer, is_ghost};
use crate::sync::{Context, units};
use crate::unit::Unit;
use ingester_config::{Config, Live};
use ingester_core::kind::Kind;
use ingester_core::object::Object;
use ingester_store::compare::{Difference, content_differences};
use ingester_store::{Store, StoredRow};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// The side that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurvivingSide {
    /// The row: the object is deleted from the cluster once more.
    Row,
    /// The object: its state replaces the row, and it is mirrored from then on.
    Object,
}

/// Both sides of a ghost, for people.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ghost {
    /// The kind.
    pub kind: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.uid`
    pub uid: String,
    /// The row's resourceVersion.
    pub row_version: u64,
    /// The object's resourceVersion.
    pub object_version: u64,
    /// The evicted object was deleted in SQL.
    pub row_deleted: bool,
    /// The differences between the two. Without any difference, the mirror evicts the object again by itself.
    pub differences: Vec<Difference>,
}

/// A ghost, with the data for resolving it.
pub struct ResolvableGhost {
    /// Both sides.
    pub ghost: Ghost,
    unit: Unit,
    store: Arc<Store>,
    object: Object,
    row: StoredRow,
}

/// The reason why a ghost was not resolved.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The API server or the database failed.
    #[error(transparent)]
    Failed(#[from] AuditError),
    /// The object or the row has changed meanwhile.
    #[error("the object or its row has changed meanwhile: run `ingester ghosts` again")]
    Changed,
    /// The object cannot replace the row.
    #[error("the object cannot be stored: {0}; keep the row, or correct the object")]
    Unfit(String),
}

impl ResolvableGhost {
    /// Returns the content that is lost if this side stays, as JSON.
    pub fn goes(&self, keep: SurvivingSide) -> &str {
        match keep {
            SurvivingSide::Row => self.object.text(),
            SurvivingSide::Object => self.row.json(),
        }
    }

    /// Carries out the decision. It changes only the object or the row in the version that was shown.
    ///
    /// # Errors
    /// If the object or the row has changed in the meantime, the API server or the database fails, or the object cannot be stored.
    pub async fn resolve(&self, keep: SurvivingSide) -> Result<(), ResolveError> {
        let resolving = async {
            match keep {
                SurvivingSide::Row => self.delete_object().await,
                SurvivingSide::Object => self.replace_row().await,
            }
        };
        resolving.instrument(self.unit.span()).await
    }

    async fn delete_object(&self) -> Result<(), ResolveError> {
        let changed = |error: ApiError| match error.kind() {
            ApiErrorKind::Conflict => ResolveError::Changed,
            _ => ResolveError::Failed(error.into()),
        };
        let cluster = &self.unit.cluster;
        let meta = self.object.meta();
        let mut without = None;
        if let Some(patch) = finalizer::removal(meta, self.unit.kind.marks()) {
            let text = cluster.patch(&meta.namespace, &meta.name, &patch).await.map_err(changed)?;
            without = self.unit.parse(text).ok();
        }
        let meta = without.as_ref().map_or(meta, Object::meta);
        match cluster.delete(meta).await {
            Ok(Deletion::Gone | Deletion::Terminating) => Ok(()),
            // A terminating object disappears with its last finalizer.
            Err(error) if error.kind() == ApiErrorKind::NotFound => Ok(()),
            Err(error) => Err(changed(error)),
        }
    }

    async fn replace_row(&self) -> Result<(), ResolveError> {
        let row = match self.unit.row(&self.object) {
            Ok(Some(row)) => row,
            Ok(None) => return Err(ResolveError::Unfit("the kind's filter leaves it out".to_owned())),
            Err(reason) => return Err(ResolveError::Unfit(reason)),
        };
        let replaced = self.store.replace_evicted(&self.unit.kind, &row, self.row.version()).await;
        match replaced.map_err(AuditError::from)? {
            true => Ok(()),
            false => Err(ResolveError::Changed),
        }
    }
}

/// Looks for ghosts, a page of objects at a time: after a restore of etcd there may be many.
pub struct Search {
    store: Arc<Store>,
    units: VecDeque<Unit>,
    next: Option<String>,
    seen: HashSet<Box<str>>,
}

impl Search {
    /// Looks among all objects of these kinds, in the configured namespaces.
    pub fn new(context: &Context, kinds: &[Kind], config: &Config) -> Self {
        let mut whole = config.clone();
        whole.ingester.replicas.enabled = false;
        let units = units(context, kinds, &Live::fixed(whole), &CancellationToken::new());
        Search { store: context.store.clone(), units: units.into(), next: None, seen: HashSet::new() }
    }

    /// Returns the ghosts of the next page of objects, perhaps none; `None` after the last page.
    ///
    /// # Errors
    /// If the API server or the database cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<ResolvableGhost>>, AuditError> {
        let Some(unit) = self.units.front().cloned() else { return Ok(None) };
        let page = match unit.cluster.list_metadata(self.next.as_deref()).await {
            Ok(page) => page,
            // The kind is not installed.
            Err(error) if error.kind() == ApiErrorKind::NotFound => {
                self.units.pop_front();
                self.next = None;
                return Ok(Some(Vec::new()));
            }
            // The list took longer than the API server keeps its version: start over.
            Err(error) if error.kind() == ApiErrorKind::Expired && self.next.is_some() => {
                self.next = None;
                return Ok(Some(Vec::new()));
            }
            Err(error) => return Err(error.into()),
        };
        self.next = page.next;
        if self.next.is_none() {
            self.units.pop_front();
        }
        let uids: Vec<&str> = page.items.iter().map(|partial| &*partial.uid).collect();
        let versions = unit.rows.versions(&uids).await?;
        let evicted = page.items.iter().filter(|partial| versions.get(&partial.uid).is_some_and(|row| row.evicted()));
        let mut found = Vec::new();
        for partial in evicted.filter(|partial| !self.seen.contains(&partial.uid)) {
            found.extend(self.look(&unit, &partial.uid, &partial.namespace, &partial.name).await?);
        }
        self.seen.extend(found.iter().map(|found: &ResolvableGhost| found.row.uid.clone()));
        Ok(Some(found))
    }

    /// Reads both sides, the row first: so the cluster's answer, which comes later, is about this row.
    async fn look(
        &self,
        unit: &Unit,
        uid: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<ResolvableGhost>, AuditError> {
        let mut rows: HashMap<Box<str>, StoredRow> =
            unit.rows.read_stored(&[uid]).await?.into_iter().map(|row| (row.uid.clone(), row)).collect();
        let Some(row) = rows.remove(uid) else { return Ok(None) };
        let Some(text) = unit.cluster.look(namespace, name).await? else { return Ok(None) };
        let Ok(object) = unit.parse(text) else { return Ok(None) };
        let meta = object.meta();
        if *meta.uid != *uid || !is_ghost(row.version(), meta, unit.rules()) {
            return Ok(None);
        }
        let ghost = Ghost {
            kind: unit.kind.name().to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            row_version: row.res_version,
            object_version: meta.resource_version,
            row_deleted: row.delete_time.is_some(),
            differences: content_differences(object.text(), &row),
        };
        Ok(Some(ResolvableGhost { ghost, unit: unit.clone(), store: self.store.clone(), object, row }))
    }
}
