//! The metrics of a kind and of its controllers. Their label values are bound, so counting takes one or a few atomic operations.

use super::cluster::{ApiErrors, ClusterFamilies, ClusterSeries};
use super::gauges::{GaugeFamilies, GaugeSeries, OwnGauges};
use super::rows::{RowFamilies, RowSeries};
use super::rules::RuleSeries;
use super::upkeep::{UpkeepFamilies, UpkeepSeries};
use super::work::{Busy, WorkFamilies, WorkSeries};
use parking_lot::Mutex;
use prometheus::{Registry, Result};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// The metrics of one controller. Clones share them. They count objects unless a method says otherwise.
///
/// A kind has one controller, or one for each configured namespace; all of them have the kind's series. Counters and histograms count
/// together. Gauges are added up when they are read, so each controller keeps its own numbers.
#[derive(Clone)]
pub struct ControllerMetrics {
    pub(super) kind: Arc<KindMetrics>,
    pub(super) own: Arc<OwnGauges>,
}

impl fmt::Debug for ControllerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ControllerMetrics({})", self.kind.kind)
    }
}

/// The series of one kind, by subject.
pub(super) struct KindMetrics {
    pub(super) kind: Box<str>,
    pub(super) gauges: GaugeSeries,
    pub(super) work: WorkSeries,
    pub(super) rows: RowSeries,
    pub(super) cluster: ClusterSeries,
    pub(super) api_errors: ApiErrors,
    pub(super) upkeep: UpkeepSeries,
    /// Of all kinds.
    pub(super) rules: Arc<RuleSeries>,
    /// The busy workers.
    pub(super) busy: Busy,
    /// When the last scheduled audit ended, and how much it found; `None` if there was none, or its findings are out of date.
    pub(super) audited: Mutex<Option<(Instant, u64)>>,
    /// The kind's controllers. Those that are dropped count no longer.
    controllers: Mutex<Vec<Weak<OwnGauges>>>,
}

/// The same, for all kinds.
pub(super) struct KindFamilies {
    gauges: GaugeFamilies,
    work: WorkFamilies,
    rows: RowFamilies,
    cluster: ClusterFamilies,
    api_errors: ApiErrors,
    upkeep: UpkeepFamilies,
    rules: Arc<RuleSeries>,
}

impl KindFamilies {
    pub(super) fn register(on: &Registry) -> Result<Self> {
        Ok(KindFamilies {
            gauges: GaugeFamilies::register(on)?,
            work: WorkFamilies::register(on)?,
            rows: RowFamilies::register(on)?,
            cluster: ClusterFamilies::register(on)?,
            api_errors: ApiErrors::register(on)?,
            upkeep: UpkeepFamilies::register(on)?,
            rules: Arc::new(RuleSeries::register(on)?),
        })
    }

    pub(super) fn of(&self, kind: &str) -> KindMetrics {
        KindMetrics {
            kind: kind.into(),
            gauges: self.gauges.of(kind),
            work: self.work.of(kind),
            rows: self.rows.of(kind),
            cluster: self.cluster.of(kind),
            api_errors: self.api_errors.of(kind),
            upkeep: self.upkeep.of(kind),
            rules: self.rules.clone(),
            busy: Busy::default(),
            audited: Mutex::default(),
            controllers: Mutex::default(),
        }
    }
}

impl KindMetrics {
    /// A further controller of the kind.
    pub(super) fn controller(self: &Arc<Self>) -> ControllerMetrics {
        let own = Arc::<OwnGauges>::default();
        let mut controllers = self.controllers.lock();
        controllers.retain(|own| own.strong_count() > 0);
        controllers.push(Arc::downgrade(&own));
        ControllerMetrics { kind: self.clone(), own }
    }

    /// Updates the gauges from what the controllers and their workers do now.
    pub(super) fn update(&self) {
        let controllers: Vec<Arc<OwnGauges>> = {
            let controllers = self.controllers.lock();
            controllers.iter().filter_map(Weak::upgrade).collect()
        };
        self.gauges.update(&controllers);
        self.work.update(&self.busy);
    }
}
