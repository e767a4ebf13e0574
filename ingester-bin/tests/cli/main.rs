//! The program from outside: arguments in, rows, output and exit code out. On SQLite; other databases are tested with the
//! store, and the engine's parts in their own crates.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod database;
mod full_disk;
mod import;
mod logging;
mod program;
mod proto;
mod rejects;
mod schema;
