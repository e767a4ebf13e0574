//! A program in its first minute: one kind, and no generated SQL yet. It compiles, so that it can write its first migration:
//! `cargo run --example first_use -- schema generate --out generated-sql`.

use ingester_core::{Ingestable, Kind};
use serde::Deserialize;
use std::process::ExitCode;

/// What matters of a node: nothing beyond what every kind has in columns.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node")]
struct Node {}

const KINDS: &[Kind] = &[Kind::of::<Node>()];

fn main() -> ExitCode {
    ingester::Program::new(KINDS).sql(ingester_core::generated_sql!("examples/generated-sql")).main()
}
