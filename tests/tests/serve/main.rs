//! `ingester serve` beside real clients: kubectl, Python's client, kube; and beside a real API server.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

mod answers;
mod beside;
mod callers;
mod clients;
mod conformance;
mod console;
mod cuts;
mod kubectl;
mod page;
mod program;
mod questions;
mod server;
mod watch;
