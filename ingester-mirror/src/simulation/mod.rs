//! A simulation of everything around ingesters: an API server, a database, users, outages, clocks, and kills. The ingesters are the
//! real ones.
//!
//! May use: ingester-core, ingester-store, budget, clock, cluster, config, events, follow, health, identity, lifecycle, metrics, mistakes, part, replicas, rows, suspend, sync, unit.
//!
//! Everything that happens comes from one seed, in one thread, in virtual time. So a seed that fails can be run again:
//!
//! - `cargo test -p ingester-mirror simulation` runs the seeds that CI runs;
//! - `SIMULATION_SEEDS=1000..50000` in front of it runs these instead;
//! - `SIMULATION_SEED=7` prints the history of one, `SIMULATION_MISTAKE=HastyLook` with one of [the mistakes](crate::mistakes).
//!
//! | file | what it has |
//! |---|---|
//! | `world` | chance, time, history; how a request gets to a server |
//! | `api_server`, `database` | models of the two servers |
//! | `kinds` | the kind that is mirrored |
//! | `users` | who changes objects, and what befalls the servers |
//! | `members` | a share of the seeds: ingesters that share the work by Leases, with freezes and cuts |
//! | `checks` | what must hold after every step, and at rest |
//! | `run` | one run: trouble, then rest |

mod api_server;
mod checks;
mod database;
mod kinds;
mod members;
mod run;
mod tests;
mod users;
mod world;
