//! `ingester schema` and `ingester backfill` from the command line, and `schema apply` killed at any moment; commands on a group of MySQL servers.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]
#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

mod commands;
mod group;
mod habits;
mod killed;
#[path = "../cli/program.rs"]
#[allow(dead_code, reason = "shared with the tests of the other commands")]
mod program;
mod together;

/// Structs before and after many changes at once.
#[path = "../evolution/cases/everything_at_once/after.rs"]
mod after;
#[path = "../evolution/cases/everything_at_once/before.rs"]
mod before;
