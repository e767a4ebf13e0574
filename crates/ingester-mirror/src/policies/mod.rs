//! Decides which objects leave etcd by a rule of their kind's owner, or of the configuration (`policies.evict`). A rule only decides: the
//! eviction itself works as for an object with the annotation, see `pipeline`.
//!
//! May use: ingester-config, ingester-core, ingester-sql, ingester-store, cluster, dependents, lifecycle.
//!
//! | file | what it does |
//! |---|---|
//! | `rules.rs` | the rules of a kind, and what the configuration changes of them; pure |
//! | `judge.rs` | judges a snapshot of rows by a rule; pure |
//! | `ask.rs` | the query of a rule, and its snapshot of rows |
//! | `hindrance.rs` | the reasons that keep an object in the cluster whatever a rule says |
//! | `mandate.rs` | the rules under which a round hands objects on; pure |
//! | `dependents.rs` | dependents that no live row shows, which the API server lists |
//! | `forecast.rs` | the effect that a rule would have, for people |
//! | `departures.rs` | when and by what evicted objects left etcd, for people |
//!
//! # Guarantees
//! - A rule is judged on one snapshot, which is the result of one statement: at least the last objects of each group of that snapshot stay.
//! - A rule judges one version of an object. The object is deleted in that version, or in a version that differs from it only in our
//!   finalizer. An object that has changed since is judged again.
//! - An object stays while an owner of it is mirrored and live, and while it has another finalizer.
//! - An object stays while the cluster has an object of a mirrored kind that it owns, stored or not, and while this is not known.
//!   known.

mod ask;
mod departures;
mod dependents;
mod forecast;
mod hindrance;
mod judge;
mod mandate;
mod rules;
#[cfg(test)]
mod tests;

pub use ask::{PolicyError, check, doubt};
pub use departures::{Departure, DepartureCause, Departures, departures};
pub use forecast::{Forecast, ForecastScope, forecast};
pub use hindrance::Hindrance;
pub use judge::{Candidate, Judgement, StayReason, judge};
pub use rules::{Origin, WrongRule, in_namespaces, rules};

pub(crate) use ask::{MOST, add_reads, candidates, pending, places, premise, unproved};
pub(crate) use dependents::{Dependents, KindPart, can_depend, list_dependents, namespaces};
pub(crate) use hindrance::{WeighBounds, WeighedCandidates, held, restored, weigh};
pub(crate) use judge::{age, judge_proved, not_yet};
pub(crate) use mandate::Mandate;
