//! Metrics for Prometheus. Those of queues and reconciliations have the names, labels and buckets of client-go and
//! controller-runtime, so dashboards and alerts for other controllers work unchanged. All others begin with `ingester_`.
//! `docs/metrics.md` lists them all.
//!
//! May use: ingester-core, ingester-store.
//!
//! Nothing here is global: each [`Metrics`] has its own registry. Nothing here does I/O.

mod controller;
mod families;
#[cfg(test)]
mod tests;

pub use controller::ControllerMetrics;
pub(crate) use controller::{Outcome, Restart, Skip};

use families::Families;
use ingester_store::ErrorClass;
use prometheus::{IntCounter, Registry, TextEncoder};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// All metrics of one ingester. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    families: Families,
    events: EventCounters,
    controllers: Mutex<BTreeMap<Box<str>, ControllerMetrics>>,
}

/// The counters of Kubernetes Events.
#[derive(Clone, Debug)]
pub(crate) struct EventCounters {
    pub(crate) published: IntCounter,
    pub(crate) failed: IntCounter,
    pub(crate) dropped: IntCounter,
}

impl Metrics {
    /// The media type of [`Metrics::render`], for the `Content-Type` header.
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// A registry with all metrics. The series of a kind exist from the first call of [`Metrics::controller`] on.
    ///
    /// # Errors
    /// If two metrics have the same name, which would be a defect of this crate.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let families = Families::new(&registry)?;
        families.cluster_checked.of([]).set(0);
        families.build_info.of([env!("CARGO_PKG_VERSION")]).set(1);
        let events = EventCounters {
            published: families.events.of(["published"]),
            failed: families.events.of(["failed"]),
            dropped: families.events.of(["dropped"]),
        };
        Ok(Metrics(Arc::new(Inner { registry, families, events, controllers: Mutex::default() })))
    }

    /// The metrics of a kind's controller, the same ones each time. All its series exist from then on, at 0. This takes a
    /// lock, so get them once and keep them.
    pub fn controller(&self, kind: &str) -> ControllerMetrics {
        let mut controllers = self.0.controllers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = controllers.get(kind) {
            return known.clone();
        }
        let controller = ControllerMetrics::new(kind, &self.0.families);
        controllers.insert(kind.into(), controller.clone());
        controller
    }

    /// The database is known to belong to this cluster.
    pub fn cluster_checked(&self) {
        self.0.families.cluster_checked.of([]).set(1);
    }

    /// All metrics in Prometheus' text format, sorted by name.
    pub fn render(&self) -> String {
        let controllers: Vec<_> =
            self.0.controllers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        controllers.iter().for_each(ControllerMetrics::update_busy_workers);
        let mut text = String::new();
        for family in self.0.registry.gather() {
            // One family at a time, so that an error in one does not hide the others.
            if let Err(error) = TextEncoder::new().encode_utf8(std::slice::from_ref(&family), &mut text) {
                tracing::debug!(metric = family.name(), %error, "a metric cannot be shown");
            }
        }
        text
    }

    pub(crate) fn events(&self) -> EventCounters {
        self.0.events.clone()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// The label of a class of database errors.
fn class_label(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Transient => "transient",
        ErrorClass::Object => "object",
        ErrorClass::Operator => "operator",
        ErrorClass::Unknown => "unknown",
    }
}
