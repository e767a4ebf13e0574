//! Members that share the work.

use super::family::{Counters, Gauges, metrics};
use super::gauge;
use std::fmt;
use std::sync::Arc;

metrics! {
    /// The series of a member.
    ReplicaSeries of ReplicaFamilies:
    units: Gauges by Process, "ingester_replica_units", "Units that this member holds; 0 without ingester.replicas";
    members: Gauges by Process, "ingester_replica_members",
        "Members that are alive and share the work, as this one sees it";
    group_units: Gauges by Process, "ingester_replica_group_units",
        "Units of all members, as this one sees it: the sum of their ingester_replica_units, except during a hand-over; 0 without ingester.replicas";
    handovers: Counters ["direction" in ["taken", "given"]] by Process, "ingester_replica_handovers_total",
        "Units that this member has taken over or given away";
    renewals: Counters ["result" in ["success", "failed"]] by Process, "ingester_lease_renewals_total",
        "Attempts to renew this member's Lease";
    leases_lost: Counters by Process, "ingester_leases_lost_total",
        "Times that this member did not renew its Lease within renewDeadline and stopped its units";
}

/// The metrics of a member that shares the work.
#[derive(Clone)]
pub struct ReplicaMetrics(pub(super) Arc<ReplicaSeries>);

impl ReplicaMetrics {
    pub(crate) fn units(&self, held: usize) {
        self.0.units.set(gauge(held));
    }

    pub(crate) fn members(&self, living: usize) {
        self.0.members.set(gauge(living));
    }

    /// Sets the number of units to share. A process that shares the work reports this before it is a member: otherwise nothing would show
    /// that there is no member.
    pub fn group_units(&self, units: usize) {
        self.0.group_units.set(gauge(units));
    }

    pub(crate) fn taken(&self) {
        self.0.handovers[0].inc();
    }

    pub(crate) fn given(&self) {
        self.0.handovers[1].inc();
    }

    pub(crate) fn renewal(&self, done: bool) {
        self.0.renewals[usize::from(!done)].inc();
    }

    pub(crate) fn lease_lost(&self) {
        self.0.leases_lost.inc();
    }
}

impl fmt::Debug for ReplicaMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplicaMetrics")
    }
}
