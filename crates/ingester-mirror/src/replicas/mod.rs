//! Lets many ingesters share the work, and decides which units this one may work on.
//!
//! May use: ingester-config, ingester-core, ingester-store, backoff, health, host, metrics.
//! Must not: know what a unit does.
//!
//! A unit is a kind, in one namespace if namespaces are configured, and one of its shards. Each member has its own Lease
//! (coordination.k8s.io), and renews it. Its annotations list the units that the member could serve, and the units that it claims.
//!
//! ```text
//! every retryPeriod, and when a claim of another one goes:
//!   renew the own Lease ──> list all Leases ──> living members ──> owner of each unit ──> stop, claim, start
//! ```
//!
//! # Guarantees
//! - A member begins a unit only after it has stored its own claim, then requested a list, and found no claim of a living member in it. If
//!   two members claim a unit, at least one sees the other. So two members work on one unit only if one of them is taken for dead but is
//!   not.
//! - A member that cannot renew within `renewDeadline` stops, and writes nothing: it checks its right before every write. Others wait for
//!   `leaseDuration`, which is longer. Both durations are measured by clocks that only go forward, each on its own node: the time of day
//!   there does not matter.
//! - A member that leaves releases its Lease as client-go does: the Lease has no holder, and claims nothing. The others remove it.
//! - A member that has waited for a Lease in vain releases it for the dead member, if it still has the version that expired. All others
//!   rely on that, so a member that has just started need not wait again. A dead member that wakes finds its Lease released, and starts
//!   over as a new member.
//! - Where all this fails (a node with a wrong clock rate, a write in progress, a Lease that somebody deletes), the guard of every row
//!   keeps the later state. Leases make that rare; the guard makes it safe.
//!
//! # Which member gets which unit
//! Every member computes the same assignment from the same Leases: a unit goes to the living member that ranks highest for it by a hash of
//! both (rendezvous hashing), skipping members that already have their share. So no member has more than an equal share, rounded up, and a
//! member that comes or goes moves few units.

mod assign;
mod assignment;
mod group;
mod leases;
mod member;
mod record;
mod run;
pub(crate) mod shard;
#[cfg(test)]
pub(crate) mod simulation;
mod units;

pub use assignment::{Assignment, AssignmentChanges, HeldUnit};
pub use group::Group;
#[cfg(test)]
pub(crate) use leases::Leases;
pub use leases::{KubeLeases, LeaseError};
pub use record::Record;
pub use record::TooManyUnits;
pub use run::{Membership, name_of_pod, random_name};
#[cfg(test)]
pub(crate) use simulation::{FreezeDeadline, freezable};
