//! Registers the metrics of kinds, and makes and adds up the controllers of each.

use super::cluster::{ApiErrors, ClusterFamilies};
use super::gauges::{GaugeFamilies, OwnGauges};
use super::rows::RowFamilies;
use super::rules::RuleSeries;
use super::upkeep::UpkeepFamilies;
use super::work::{BusyTimes, WorkFamilies};
use super::{ControllerMetrics, KindMetrics};
use parking_lot::Mutex;
use prometheus::{Registry, Result};
use std::sync::{Arc, Weak};

/// The metrics of all kinds, by subject.
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

    pub(super) fn for_kind(&self, kind: &str) -> KindMetrics {
        KindMetrics {
            kind: kind.into(),
            gauges: self.gauges.for_kind(kind),
            work: self.work.for_kind(kind),
            rows: self.rows.for_kind(kind),
            cluster: self.cluster.for_kind(kind),
            api_errors: self.api_errors.for_kind(kind),
            upkeep: self.upkeep.for_kind(kind),
            rules: self.rules.clone(),
            busy: BusyTimes::default(),
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
