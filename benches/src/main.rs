//! Benchmarks, each compared with its baseline in the same run.
//!
//!     cargo run --release -p ingester-bench -- pure
//!     cargo run --release -p ingester-bench -- store
//!     cargo run --release -p ingester-bench -- query
//!     cargo run --release -p ingester-bench -- kubedl
//!     cargo run --release -p ingester-bench -- retention
//!     cargo run --release -p ingester-bench -- live
//!     cargo run --release -p ingester-bench -- serve
//!     cargo run --release -p ingester-bench -- synthetic
//!     cargo run --release -p ingester-bench -- members
//!     cargo run --release -p ingester-bench -- scale
//!     cargo run --release -p ingester-bench -- derive
//!
//! Machines are noisy. So the candidates take turns in rounds, and the output shows medians, and ratios to the baseline
//! of the same round.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what is measured is printed")]

mod bare;
mod by_hand;
mod databases;
mod derive;
mod etcd;
mod kubedl;
mod live;
mod objects;
mod progress;
mod pure;
mod query;
mod reference;
mod report;
mod retention;
mod rounds;
mod scale;
mod serve;
mod store;
mod synthetic;
mod watch;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "ingester-bench", about = "Measures the ingester, each figure beside its baseline in the same run")]
struct Arguments {
    #[command(subcommand)]
    what: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// The work on an object before the database, in MB of JSON a second, beside serde_json's `Value`.
    Pure(pure::Pure),
    /// Writes to databases, beside the reference system's statements and beside a loop without semantics.
    Store(store::Databases),
    /// Questions about many rows, beside the same SQL by hand.
    Query(query::Questions),
    /// The queries of KubeDL's console over a view of eight kinds, beside the same queries over one table.
    #[command(name = "kubedl")]
    KubeDl(kubedl::KubeDl),
    /// How long writers wait while rows of deleted objects are purged, beside the same writers without it.
    Retention(retention::Retention),
    /// The whole mirror with a real API server: first fill, restart, memory, latency of updates.
    Live(live::Live),
    /// The server under load, beside the same SQL by hand and a real API server; its memory with idle connections.
    Serve(serve::Serve),
    /// Watches of the server: how late events are, beside a real API server; its memory with idle watches.
    Watch(watch::Watch),
    /// The whole mirror with a source that costs almost nothing: first fill, a burst of updates, memory.
    Synthetic(synthetic::Synthetic),
    /// The first fill by several members beside one, with the source of `synthetic`; their memory.
    Members(synthetic::members::Members),
    /// What an installation of a given size needs and reaches, by a model with measured constants; measures nothing.
    Scale(scale::Scale),
    /// The cost of our derives for the compiler, in ms a kind, beside the other derives of a kind.
    Derive(derive::Derive),
    /// Runs the pure paths once, so that `tests/instructions.rs` can count their instructions.
    #[command(hide = true)]
    Count,
}

fn main() -> ExitCode {
    if std::env::var_os(live::AS_INGESTER).is_some() {
        return ingester::Program::new(crd_specs::KINDS).sql(crd_specs::SQL).main();
    }
    let done = match std::env::var(synthetic::AS_SOURCE) {
        Ok(parameters) => synthetic::serve(&parameters),
        Err(_) => measure(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> anyhow::Result<()> {
    match Arguments::parse().what {
        Benchmark::Pure(arguments) => pure::run(&arguments),
        Benchmark::Store(arguments) => store::run(&arguments),
        Benchmark::Query(arguments) => query::run(&arguments),
        Benchmark::KubeDl(arguments) => kubedl::run(&arguments),
        Benchmark::Retention(arguments) => retention::run(&arguments),
        Benchmark::Live(arguments) => live::run(&arguments),
        Benchmark::Serve(arguments) => serve::run(&arguments),
        Benchmark::Watch(arguments) => watch::run(&arguments),
        Benchmark::Synthetic(arguments) => synthetic::run(&arguments),
        Benchmark::Members(arguments) => synthetic::members::run(&arguments),
        Benchmark::Scale(arguments) => scale::run(&arguments),
        Benchmark::Derive(arguments) => derive::run(&arguments),
        Benchmark::Count => pure::count(),
    }
}
