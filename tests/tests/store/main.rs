//! The store on every database: the same tests on SQLite, MariaDB and MySQL.

#![allow(clippy::too_many_lines, reason = "a test tells one story from its beginning to its end")]
#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]

mod adopted;
mod alone;
mod changes;
mod clock;
mod columns;
mod cost;
mod counts;
mod doubts;
mod everywhere;
mod evicted;
mod failover;
mod far;
mod fuse;
mod galera;
mod guard;
mod history;
mod lists;
mod lost;
mod many;
mod moving;
mod pages;
mod partitions;
mod password;
mod plan_summary;
mod plans;
mod purge;
mod query;
mod race;
mod read;
mod read_only;
mod refusals;
mod restores;
mod retention;
mod rows;
mod schema;
mod settings;
mod settled;
mod single;
mod spelled;
mod spooled;
mod stays;
mod tls;
mod typed;
mod world;
