//! Serves objects from SQL as a Kubernetes API server does, for kubectl, client-go and kube-rs as they are.
//!
//! Nothing is served that the caller may not read in the cluster: `identity` authenticates callers and asks the API server what they may do.

pub mod access;
pub mod answer;
pub mod body;
pub mod caller;
pub mod console;
mod counts;
mod discovery;
#[cfg(test)]
mod fixture;
pub mod former;
pub mod identity;
pub mod listen;
pub mod metrics;
mod namespaces;
pub mod places;
pub mod read;
mod rejects;
pub mod request;
pub mod restore;
mod self_review;
pub mod service;
pub mod status;
mod units;
pub mod volume;
pub mod watch;
pub mod write;
