//! Mirrors a Kubernetes cluster into SQL.

pub mod audit;
pub mod config;
pub mod events;
#[cfg(test)]
mod fixture;
pub mod health;
pub mod metrics;
pub mod sync;
