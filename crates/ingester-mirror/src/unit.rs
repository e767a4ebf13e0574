//! A unit of work: one kind, in all namespaces or in one. Holds the state that all tasks of the unit share.
//!
//! May use: ingester-config, ingester-core, ingester-store, backoff, budget, clock, cluster, dependents, events, health, lifecycle, metrics, replicas, rows.

use crate::backoff::DATABASE;
use crate::budget::Quota;
use crate::clock::Clock;
use crate::cluster::{Cluster, with_type};
use crate::dependents::MirroredKinds;
use crate::events::Publisher;
use crate::health::Health;
use crate::lifecycle::Rules;
use crate::metrics::ControllerMetrics;
use crate::replicas::Assignment;
use crate::replicas::shard::Shard;
use crate::rows::Rows;
use backon::Retryable as _;
use futures::FutureExt as _;
use ingester_config::Selection;
use ingester_config::{Config, Live};
use ingester_core::kind::Kind;
use ingester_core::object::{Identity, ManagedFields, Object, ObjectError};
use ingester_core::row::Row;
use ingester_core::value::Unfit;
use ingester_store::{ErrorClass, StoreError};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::Span;
use tracing::field::display;

/// The time that the database has to answer before the work is given up.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);

/// The time that a stopping process waits for work that the database does not complete.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// The shortest requeue period: below it, an object that keeps failing would be retried without a pause.
const SHORTEST_REQUEUE: Duration = Duration::from_millis(100);

/// One kind, in all namespaces or in one, and the means to mirror it.
#[derive(Clone)]
pub(crate) struct Unit {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<Box<str>>,
    pub(crate) shard: Shard,
    /// The objects that are read.
    pub(crate) selection: Arc<Selection>,
    /// All mirrored kinds, and the units of this process.
    pub(crate) mirrored: MirroredKinds,
    pub(crate) cluster: Arc<dyn Cluster>,
    pub(crate) rows: Arc<dyn Rows>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) memory: Arc<Quota>,
    /// The configuration, which may change in the meantime.
    pub(crate) live: Live,
    pub(crate) metrics: ControllerMetrics,
    pub(crate) health: Health,
    pub(crate) publisher: Publisher,
    /// Cancelled when the unit must stop: work that has begun may be finished.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the process must end: work that takes too long is given up. `stop` is then cancelled, too.
    pub(crate) exit: CancellationToken,
}

/// The unit is stopping, and the work could not be done.
pub(crate) struct UnitStopError;

impl Unit {
    /// Returns its name in [`Health`].
    pub(crate) fn name(&self) -> String {
        name(&self.kind, self.namespace.as_deref(), self.shard)
    }

    /// Returns the span around all of its work. Events inside do not repeat its fields. It has the highest level, so that warnings have its
    /// fields whatever is logged.
    pub(crate) fn span(&self) -> Span {
        let shard = (!self.shard.is_whole()).then(|| display(self.shard));
        tracing::error_span!("unit", kind = self.kind.name(), namespace = self.namespace.as_deref(), shard)
    }

    /// Returns the present configuration.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.live.now()
    }

    /// Returns true if a request may begin that changes the cluster: the unit is not stopping, and its kind is not being suspended.
    pub(crate) fn may_begin(&self) -> bool {
        !self.stop.is_cancelled() && !self.config().ingester.is_suspended(self.kind.name())
    }

    /// Returns the settings of the kind that decide about its objects.
    pub(crate) fn rules(&self) -> Rules {
        let config = self.config();
        Rules {
            finalizer: config.ingester.finalizer_of(&self.kind),
            deletion_delay: config.metadata_storage.deletion_delay,
            immutable: self.kind.immutable(),
            evictable: self.kind.evictable(),
            evictions: config.ingester.evictions,
            marks: self.kind.marks(),
        }
    }

    /// Returns the longest pause before an object whose work failed is tried again.
    pub(crate) fn requeue_period(&self) -> Duration {
        self.config().ingester.requeue_period_of(self.kind.name()).max(SHORTEST_REQUEUE)
    }

    /// Repeats `work` until the database has done it. A stopping unit finishes an attempt and begins no new one; a process that ends waits
    /// for [`LAST_CHANCE`].
    pub(crate) async fn until_done<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        doing: &str,
        work: impl Fn() -> F,
    ) -> Result<T, UnitStopError> {
        let mut attempt = 0;
        let has_failed = AtomicBool::new(false);
        let attempts = async || {
            let done = in_time(doing, work()).await;
            if done.is_ok() && has_failed.swap(false, Ordering::Relaxed) {
                self.health.stuck(&self.name(), None);
            }
            done
        };
        let attempts = attempts.retry(DATABASE).when(|_| !self.stop.is_cancelled());
        let token = self.stop.clone();
        let attempts =
            attempts.sleep(move |pause| token.clone().run_until_cancelled_owned(tokio::time::sleep(pause)).map(drop));
        let attempts = attempts.notify(|error: &StoreError, _| {
            self.metrics.database_error(error.class());
            // Every tenth error is logged: an outage of an hour would fill ten thousand lines.
            if attempt % 10 == 0 && error.class() == ErrorClass::Lease {
                tracing::warn!(%error, attempt, "Not written while the Lease of this member is not renewed");
            } else if attempt % 10 == 0 {
                tracing::error!(%error, attempt, doing, "Metadata storage failed, trying again");
            }
            if error.class() != ErrorClass::Lease {
                has_failed.store(true, Ordering::Relaxed);
                self.health.stuck(&self.name(), Some(&error.to_string()));
            }
            attempt += 1;
        });
        let deadline = async {
            self.exit.cancelled().await;
            tokio::time::sleep(LAST_CHANCE).await;
        };
        tokio::select! {
            biased;
            // They fail only once the unit stops.
            done = attempts => done.map_err(|_| UnitStopError),
            () = deadline => Err(UnitStopError),
        }
    }

    /// Parses an object. An error has the readable part of its identity, and the reason.
    pub(crate) fn parse(&self, text: Box<str>) -> Result<Object, (Box<Identity>, String)> {
        let prune = self.config().ingester.prune_managed_fields;
        let managed_fields = if prune { ManagedFields::Prune } else { ManagedFields::Keep };
        parse(&self.kind, text, managed_fields).map_err(|(text, reason)| (Box::new(Identity::probe(&text)), reason))
    }

    /// Returns the object's row; `None` if the kind's filter or the selection leaves the object out. A panic of the decoder is an error of
    /// this object, like any other.
    pub(crate) fn row(&self, object: &Object) -> Result<Option<Row>, String> {
        if !self.selection.has(object) {
            return Ok(None);
        }
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.kind.row(object))) {
            Ok(row) => {
                if let Ok(Some(row)) = &row {
                    self.report_parts_left_out(object, row);
                }
                row.map_err(|error| error.to_string())
            }
            Err(_) => Err("the decoder of this kind panicked; please report it with the object".into()),
        }
    }

    /// Logs the parts of an object that are only in `json`.
    fn report_parts_left_out(&self, object: &Object, row: &Row) {
        let meta = object.meta();
        let lost = row.lost;
        if !lost.is_nothing() {
            self.metrics.lost(lost);
            tracing::debug!(namespace = %meta.namespace, name = %meta.name,
                fields = lost.fields, enums = lost.enums, values = lost.values,
                "The message of this kind has no place for a part of the object: it is in `json` only");
        }
        for Unfit { column, why } in &row.unfit {
            tracing::warn!(namespace = %meta.namespace, name = %meta.name, %column, why,
                "A value does not fit its column, which is NULL");
        }
    }
}

/// The part of the cluster that a unit covers.
pub(crate) struct Scope {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<Box<str>>,
    pub(crate) shard: Shard,
}

impl Scope {
    /// Returns its unit's name in [`Health`], and in Leases.
    pub(crate) fn name(&self) -> String {
        name(&self.kind, self.namespace.as_deref(), self.shard)
    }
}

/// Returns the scopes of the mirrored ones of these kinds: each kind for all namespaces or for each configured one, and for each of its
/// shards.
pub(crate) fn scopes(kinds: &[Kind], config: &Config) -> Vec<Scope> {
    let ingester = &config.ingester;
    let mut scopes = Vec::new();
    for kind in kinds.iter().filter(|kind| ingester.has_kind(kind.name())) {
        let namespaces: Vec<Option<Box<str>>> = if ingester.namespaces.is_empty() || !kind.namespaced() {
            vec![None]
        } else {
            ingester.namespaces.iter().map(|namespace| Some(namespace.as_str().into())).collect()
        };
        for namespace in namespaces {
            let shards = Shard::all(ingester.replicas.shards_of(kind.name()));
            scopes.extend(shards.map(|shard| Scope { kind: *kind, namespace: namespace.clone(), shard }));
        }
    }
    scopes
}

/// Returns true if this process does the work for a kind that is done once for all of its units: it holds the kind's first unit.
pub(crate) fn leads(kind: &Kind, config: &Config, assignment: &Assignment) -> bool {
    scopes(std::slice::from_ref(kind), config).first().is_none_or(|first| assignment.holds(&first.name()))
}

fn name(kind: &Kind, namespace: Option<&str>, shard: Shard) -> String {
    let mut name = kind.name().to_owned();
    if let Some(namespace) = namespace {
        name.push_str(" in ");
        name.push_str(namespace);
    }
    if !shard.is_whole() {
        name.push_str(&format!(" {shard}"));
    }
    name
}

/// Returns the result of the database within [`SILENCE`]: a frozen server, or a network that drops packets, gives no error at all.
pub(crate) async fn in_time<T>(
    doing: &str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    tokio::time::timeout(SILENCE, work).await.unwrap_or_else(|_| Err(StoreError::silent(doing, SILENCE)))
}

/// Parses an object without the parts that its kind does not store, with the `apiVersion` and `kind` that an item of a list may lack. An
/// error has the text and the reason.
pub(crate) fn parse(kind: &Kind, text: Box<str>, managed_fields: ManagedFields) -> Result<Object, (Box<str>, String)> {
    let parsed = kind.stored_text(&text).and_then(|stored| match Object::parse(&*stored, managed_fields) {
        Err(ObjectError::Missing("apiVersion" | "kind")) => Object::parse(with_type(&stored, kind), managed_fields),
        parsed => parsed,
    });
    parsed.map_err(|error| (text, error.to_string()))
}
