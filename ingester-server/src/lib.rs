//! Serves objects out of SQL as a Kubernetes API server does, for kubectl, client-go and kube-rs as they are.
//!
//! Nothing is served that the caller may not read in the cluster: `identity` says who calls and asks the API server what they may.

pub mod caller;
mod marks;
pub mod status;
pub mod write;
