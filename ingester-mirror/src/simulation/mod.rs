//! A simulation of everything around ingesters: an API server, a database, users, outages, clocks, and kills. The ingesters are the
//! real ones.
//!
//! May use: ingester-core, ingester-store, budget, clock, cluster, config, events, follow, health, identity, lifecycle, metrics, part, policies, replicas, retention, rows, suspend, sync, unit.
//!
//! Everything that happens comes from one seed, in one thread, in virtual time. So a seed that fails can be run again:
//!
//! - `cargo test -p ingester-mirror simulation` runs the seeds that CI runs;
//! - `SIMULATION_SEEDS=1000..50000` in front of it runs these instead;
//! - `SIMULATION_SEED=7` prints the history of one.
//!
//! `tests/mistakes/` makes mistakes again, which must be found.
//!
//! | file | what it has |
//! |---|---|
//! | `world` | chance, time, history; how a request gets to a server |
//! | `things` | an object of the API server's model |
//! | `api_server`, `cluster`, `streams` | a model of the API server; the requests to it; what it sends bit by bit |
//! | `database`, `rows` | a model of the database; the requests to it |
//! | `restores` | what befalls the whole cluster |
//! | `only_copy` | evicted rows: what must hold of them, and what people do with them |
//! | `policies` | the rule by which objects leave etcd in some seeds, and what must hold of what it evicts |
//! | `retention` | the rules by which evicted rows are purged in some seeds, and what must hold of that |
//! | `kinds` | the kind that is mirrored |
//! | `troubles` | which troubles a seed has |
//! | `users` | who changes objects, and what befalls the servers |
//! | `members` | a share of the seeds: ingesters that share the work by Leases, with freezes and cuts |
//! | `checks`, `pace`, `reports` | what must hold after every step and at rest; how often an ingester may ask; what it must report |
//! | `run` | one run: trouble, then rest |
//! | `seeds` | which seeds are run, and what is said of a run |

mod api_server;
mod checks;
mod cluster;
mod database;
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
#[cfg(test)]
mod tests;
mod things;
mod troubles;
mod users;
mod world;
