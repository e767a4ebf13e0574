//! Mirrors a Kubernetes cluster into SQL, and keeps the two equal.
//!
//! `ingester-core` defines kinds and turns objects into rows, `ingester-store` writes rows. This crate follows the API server, decides what
//! to do with each object, and manages its finalizer. The program `ingester` adds a command line.
//!
//! - [`sync::run`] mirrors kinds until it is stopped.
//! - [`audit::audit`] compares cluster and SQL, object by object, and repairs what differs.
//! - [`ghosts`] finds objects that had left etcd and are there again, and resolves them as a person decides.
//! - [`remove_finalizers`] removes our finalizer from all objects of a kind, for uninstalling.
//!
//! ```no_run
//! use ingester_config::{Config, Live};
//! use ingester_core::Kind;
//! use ingester_mirror::events::Publisher;
//! use ingester_mirror::health::Health;
//! use ingester_mirror::metrics::Metrics;
//! use ingester_mirror::replicas::Assignment;
//! use ingester_mirror::suspend::Suspension;
//! use ingester_mirror::sync::{self, Context};
//! use ingester_store::{ConnectOptions, Store};
//! use std::sync::Arc;
//! use tokio_util::sync::CancellationToken;
//!
//! async fn mirror(kinds: &[Kind], stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
//!     let config = Config::default();
//!     let client = kube::Client::try_default().await?;
//!     let store = Store::connect(&"sqlite://ingester.db".parse()?, ConnectOptions::default()).await?;
//!     store.create_missing(kinds).await?;
//!     let metrics = Metrics::new()?;
//!     let health = Health::new(sync::names(kinds, &config).iter().map(String::as_str));
//!     let suspension = Suspension::new(kinds, &config, &metrics);
//!     let (publisher, publishing) = Publisher::new(client.clone(), &metrics);
//!     tokio::spawn(publishing);
//!     let assignment = Assignment::alone();
//!     let context = Context { client, store: Arc::new(store), metrics, health, publisher, assignment };
//!     sync::run(context, kinds, &Live::fixed(config), &suspension, stop).await?;
//!     Ok(())
//! }
//! ```
//!
//! [`examine`] asks an API server how it would answer a mirror. [`replicas`] shares the work with other processes. [`retention`] purges
//! rows of objects that were deleted long ago, and rows that rules name. [`policies`] decides which objects leave etcd by rules.
//! [`suspend`] keeps kinds from being written. [`identity`] keeps the rows of two clusters apart. [`metrics`] and [`health`] have the
//! content for a server of metrics and probes, [`audit`] the report of an audit.

pub mod audit;
mod backoff;
mod budget;
mod clock;
mod cluster;
mod dependents;
pub mod events;
pub mod examine;
#[cfg(test)]
mod fixture;
mod follow;
pub mod ghosts;
pub mod health;
mod host;
pub mod identity;
pub mod leading;
mod lifecycle;
pub mod metrics;
mod part;
mod pipeline;
pub mod policies;
pub mod replicas;
pub mod retention;
mod rows;
#[cfg(test)]
mod simulation;
pub mod suspend;
pub mod sync;
mod uninstall;
mod unit;

pub use cluster::ApiError;
/// The configuration, under its former path, for programs that still use that.
#[doc(hidden)]
pub use ingester_config as config;
pub use uninstall::{Removal, remove_finalizers};
