//! The live mirror from end to end: the program against a real API server and a real database, as the service account that
//! `deploy/` describes. Every test runs on MariaDB and on MySQL.
//!
//! | file | what it is about |
//! |---|---|
//! | `report` | the samples and their updates, as people check an installation |
//! | `lifecycle` | what becomes of one object: finalizer, deletion, annotations |
//! | `sweep` | what happened while the ingester was down |
//! | `cost` | how much is written |
//! | `outages`, `restore`, `chaos` | servers that go away, a cluster that goes back in time, an ingester that is killed |
//! | `rejects` | objects that cannot be stored |
//! | `endpoints`, `secrets`, `program` | metrics and probes, passwords, gates and signals |
//! | `uninstall`, `rbac` | leaving again, and the rights that all of it takes |
//!
//! The rest is what they stand on: [`world::World`] is a namespace, a database and an ingester for one test.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]
#![allow(clippy::print_stderr, reason = "a test that fails shows the log of the ingester, one that is skipped says so")]

mod chaos;
mod churn;
mod cluster;
mod cost;
mod database;
mod endpoints;
mod eventually;
mod evolution;
mod lifecycle;
mod metrics;
mod mirror;
mod objects;
mod outages;
mod program;
mod rbac;
mod rejects;
mod report;
mod restore;
mod secrets;
mod settings;
mod sweep;
mod uninstall;
mod world;
