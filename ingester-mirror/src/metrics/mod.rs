//! What the ingester counts, for Prometheus. Names, labels and buckets of work queues and reconciliations are those of
//! client-go and controller-runtime, so that dashboards and alerts for other controllers work here as well; the rest begins
//! with `ingester_`. `docs/metrics.md` lists them all.
//!
//! May use: ingester-core, ingester-store.
//!
//! Nothing here is global: each [`Metrics`] has a registry of its own, and nothing here does I/O.

mod controller;
mod families;
#[cfg(test)]
mod tests;

pub use controller::{ControllerMetrics, Outcome, Restart, Skip, Work};

use families::Families;
use ingester_store::Class;
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
    events: Events,
    controllers: Mutex<BTreeMap<Box<str>, ControllerMetrics>>,
}

/// The counters of Kubernetes Events.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    pub(crate) published: IntCounter,
    pub(crate) failed: IntCounter,
    pub(crate) dropped: IntCounter,
}

impl Metrics {
    /// The media type of [`Metrics::render`], for the `Content-Type` header.
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// A registry with all metrics. The series of a kind are there from the first call of [`Metrics::controller`] on.
    ///
    /// # Errors
    /// When two metrics have one name: a defect, not a condition that may come and go.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let families = Families::new(&registry)?;
        families.build_info.of([env!("CARGO_PKG_VERSION")]).set(1);
        let events = Events {
            published: families.events.of(["published"]),
            failed: families.events.of(["failed"]),
            dropped: families.events.of(["dropped"]),
        };
        Ok(Metrics(Arc::new(Inner { registry, families, events, controllers: Mutex::default() })))
    }

    /// The metrics of a kind's controller: the same ones each time. All its series are there from then on, at 0. Looks
    /// the kind up under a lock: get it once and keep it.
    pub fn controller(&self, kind: &str) -> ControllerMetrics {
        let mut controllers = self.0.controllers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = controllers.get(kind) {
            return known.clone();
        }
        let controller = ControllerMetrics::new(kind, &self.0.families);
        controllers.insert(kind.into(), controller.clone());
        controller
    }

    /// All metrics in Prometheus' text format, sorted by name.
    pub fn render(&self) -> String {
        let controllers: Vec<_> =
            self.0.controllers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        controllers.iter().for_each(ControllerMetrics::look_at_workers);
        let mut text = String::new();
        for family in self.0.registry.gather() {
            // One family at a time: should one be refused, the others are shown all the same.
            if let Err(error) = TextEncoder::new().encode_utf8(std::slice::from_ref(&family), &mut text) {
                tracing::debug!(metric = family.name(), %error, "a metric cannot be shown");
            }
        }
        text
    }

    pub(crate) fn events(&self) -> Events {
        self.0.events.clone()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// The label of a class of database errors.
fn class_label(class: Class) -> &'static str {
    match class {
        Class::Transient => "transient",
        Class::Object => "object",
        Class::Operator => "operator",
        Class::Unknown => "unknown",
    }
}
