//! Measurements, each beside its baseline in the same run.
//!
//!     cargo run --release -p ingester-bench -- pure
//!
//! Machines are noisy: rounds of all candidates take turns, and what is printed are medians and, of each round, the ratio to the
//! baseline's time in that very round.

#![allow(clippy::print_stdout, reason = "what is measured is printed")]

mod objects;
mod pure;
mod rounds;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "ingester-bench", about = "Measures the ingester, each figure beside its baseline in the same run")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// What is done to an object before it goes to the database, in MB of JSON a second, beside serde_json's `Value`.
    Pure(pure::Pure),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().what {
        What::Pure(arguments) => pure::run(&arguments),
    }
}
