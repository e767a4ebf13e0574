//! Runs real ingesters against models of everything around them: an API server, a database, users, outages, clocks and kills.
//!
//! May use: ingester-config, ingester-core, ingester-sql, ingester-store, budget, clock, cluster, dependents, events, follow, health, identity, lifecycle, metrics, part, policies, replicas, retention, rows, suspend, sync, unit.
//!
//! A run is single-threaded, in virtual time, and determined by its seed, so a failing seed can be run again:
//!
//! - `cargo test -p ingester-mistakes simulation` runs the seeds that CI runs;
//! - `SIMULATION_SEEDS=1000..50000` before it runs these seeds instead;
//! - `SIMULATION_SEED=7` prints the history of one seed.
//!
//! `tests/mistakes/` repeats past mistakes; the simulation must find them.
//!
//! | file | what it has |
//! |---|---|
//! | `world` | random numbers, virtual time, the history; the path of a request to a server |
//! | `things` | an object of the API server's model |
//! | `api_server`, `cluster`, `streams` | a model of the API server; its requests; its streams: watches and streamed lists |
//! | `database`, `rows` | a model of the database; its requests |
//! | `restores` | restores of the whole cluster |
//! | `only_copy` | evicted rows: their invariants, and what users do with them |
//! | `taking_back` | in some seeds: restores of single objects, concurrent with writes to their rows |
//! | `policies` | in some seeds: a rule by which objects leave etcd, and the invariants of its evictions |
//! | `dependents` | in some seeds: dependents without rows, and a suspended kind; no rule moves their owners |
//! | `retention` | in some seeds: rules by which evicted rows are purged, and their invariants |
//! | `kinds` | the mirrored kind |
//! | `troubles` | the faults of a seed |
//! | `users` | users that change objects; outages of the servers |
//! | `members` | in some seeds: ingesters that share the work by Leases, with freezes and cuts |
//! | `checks`, `pace`, `reports` | invariants after every step and at rest; limits on the rate of requests; required reports |
//! | `run` | one run: faults first, then rest |
//! | `seeds` | the seeds that tests run, and the report of a run |

mod api_server;
mod checks;
mod cluster;
mod database;
mod dependents;
mod kinds;
mod members;
mod only_copy;
mod pace;
mod policies;
mod reports;
mod restores;
mod retention;
mod rows;
pub(crate) mod run;
pub(crate) mod seeds;
mod streams;
mod taking_back;
#[cfg(test)]
mod tests;
mod things;
mod troubles;
mod users;
mod world;
