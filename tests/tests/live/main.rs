//! The live mirror end to end: the program with a real API server and a real database, as the service account of
//! `deploy/`. Most functions run on one pair of servers in the default set of `tests/run.sh`, some on another one in the set `--all`, and all on each
//! pair before a release: `cargo test --workspace --test live -- --include-ignored`. What differs between releases of the API server (lists, watches, finalizers,
//! restores) is tested on the classic one and on a modern one.
//!
//! | file | what it tests |
//! |---|---|
//! | `report` | the samples and their updates, as one checks an installation |
//! | `lifecycle` | the life of one object: finalizer, deletion, annotations |
//! | `back`, `past` | objects that come back into the cluster from their rows, and as they were at a moment |
//! | `written` | writes to objects while they are evicted |
//! | `sweep` | changes made while the ingester was down |
//! | `cost`, `memory` | how much is written, and how much memory it takes |
//! | `outages`, `restore`, `chaos` | outages of the servers, a cluster restored from a backup, a killed ingester |
//! | `chaos_rules` | a killed ingester whose rules and definitions change |
//! | `failover`, `galera` | a primary that crashes, and comes back or has a successor; a cluster of databases whose nodes come and go |
//! | `pooler` | PgBouncer between the ingester and PostgreSQL |
//! | `policies` | objects that leave etcd by rules |
//! | `pruned` | fields that are stored nowhere |
//! | `ghosts` | evicted objects that a restored etcd brings back |
//! | `rejects` | objects that cannot be stored |
//! | `selectors` | label and field selectors, compared with the API server's answers |
//! | `endpoints`, `secrets`, `program` | metrics and probes, passwords, gates and signals |
//! | `replicas`, `events`, `rolling` | several ingesters that share the work; sixty events at random among them; a rolling update |
//! | `reload`, `suspend` | a configuration file that changes, and kinds that are suspended |
//! | `declared`, `kubedl`, `kubedl_pods` | kinds of a file: one of a CRD in the cluster; KubeDL's jobs, pods and events, and the views over them |
//! | `backup` | a database that was restored from a backup |
//! | `identity`, `moving` | the database of another cluster; moving in from the reference system |
//! | `doctor` | what `ingester doctor` says of set-ups that are broken in one place |
//! | `validate` | test objects of `ingester validate` |
//! | `uninstall`, `rbac` | uninstalling, and the rights that the ingester uses |
//!
//! The other files support them: [`world::World`] is a namespace, a database and an ingester for one test.

#![allow(clippy::too_many_lines, reason = "a test tells one story from its beginning to its end")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]
#![allow(clippy::print_stderr, reason = "a test that fails shows the log of the ingester, one that is skipped says so")]

mod back;
mod backup;
mod chaos;
mod chaos_rules;
mod churn;
mod cluster;
mod cost;
mod database;
mod declared;
mod doctor;
mod endpoints;
mod events;
mod eventually;
mod evolution;
mod failover;
mod galera;
mod ghosts;
mod identity;
mod kubedl;
mod kubedl_pods;
mod life;
mod lifecycle;
mod lists;
mod memory;
mod metrics;
mod mirror;
mod moving;
mod objects;
mod outages;
mod past;
mod policies;
mod pooler;
mod program;
mod pruned;
mod rbac;
mod rejects;
mod reload;
mod replicas;
mod report;
mod restore;
mod rolling;
mod secrets;
mod select;
mod selectors;
mod settings;
mod settle;
mod suspend;
mod sweep;
mod tutorial;
mod uninstall;
mod validate;
mod world;
mod written;
