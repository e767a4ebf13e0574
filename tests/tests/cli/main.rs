//! The program from outside: arguments in; rows, output and exit code out. On SQLite. The store's tests cover the other
//! databases, and each crate tests its own parts.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod book;
mod changes;
mod database;
mod declared;
mod dist;
mod doctor;
mod examples;
mod files;
mod full_disk;
mod get;
mod habits;
mod history;
mod import;
mod kubeconfig;
mod limits;
mod logging;
mod manifests;
mod mistakes;
mod moving;
mod namesakes;
mod policies;
mod program;
mod proto;
mod queries;
mod rejects;
mod schema;
mod startup;
