//! The program around [`ingester_core`]: arguments, wiring and output. A manifest of kinds is all that it needs:
//!
//! ```no_run
//! use ingester_core::Kind;
//!
//! const KINDS: &[Kind] = &[];
//!
//! fn main() -> std::process::ExitCode {
//!     ingester::main(KINDS)
//! }
//! ```

mod arguments;
mod commands;
mod database;
mod output;

use anyhow::anyhow;
use arguments::{Arguments, Command, Schema};
use clap::Parser;
use ingester_core::Kind;
use ingester_core::store::StoreError;
use std::process::ExitCode;

/// How a command ended; the numbers are the exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Done.
    Done,
    /// The work found a problem: rejected objects, differences.
    Problem,
}

/// Why a command did not end. Wrong use and configuration exit with 2, work that failed with 1.
enum Failure {
    /// Wrong use or configuration: the arguments, a path that is not there, a database that takes no rows from this user.
    Usage(anyhow::Error),
    /// The work failed.
    Work(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Work(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.is_configuration() { Failure::Usage(error.into()) } else { Failure::Work(error.into()) }
    }
}

/// Runs the ingester for `kinds` with the arguments of this process.
pub fn main(kinds: &'static [Kind]) -> ExitCode {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")),
        )
        .init();
    match run(arguments, kinds) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Problem) => ExitCode::from(1),
        Err(Failure::Work(error)) => fail(&error, 1),
        Err(Failure::Usage(error)) => fail(&error, 2),
    }
}

fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    output::note(&format!("error: {error}"));
    ExitCode::from(code)
}

fn run(arguments: Arguments, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    match arguments.command {
        Command::Import(arguments) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let runtime = runtime.map_err(|error| anyhow!("cannot start the threads that the work needs: {error}"))?;
            runtime.block_on(commands::import::run(arguments, kinds))
        }
        Command::Schema(Schema::Print(arguments)) => commands::schema::print(&arguments, kinds),
        Command::Schema(Schema::Generate(arguments)) => commands::schema::generate(&arguments, kinds),
        Command::Crds(arguments) => commands::crds::run(&arguments, kinds),
        Command::Kinds(arguments) => commands::kinds::run(&arguments, kinds),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
