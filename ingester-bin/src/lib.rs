//! The program `ingester` for any registry of kinds: command line, output, logging, and the server of metrics and probes.
//!
//! A program for your kinds needs their registry, and the migrations that `ingester schema generate` writes for them:
//!
//! ```no_run
//! use ingester_core::GeneratedSql;
//! use ingester_core::{Kind, generated_sql};
//!
//! /// The registry: one line per kind, `Kind::of::<Model>()`.
//! const KINDS: &[Kind] = &[];
//!
//! /// The migrations, from a folder relative to this crate's `Cargo.toml`. They become a part of the program.
//! const SQL: GeneratedSql = generated_sql!("../generated-sql");
//!
//! fn main() -> std::process::ExitCode {
//!     ingester::Program::new(KINDS).sql(SQL).main()
//! }
//! ```
//!
//! `.prefix("data.example.com")` gives the finalizer and the annotations a name of your own.
//!
//! The short form [`main`] is a program without migrations: its tables follow the structs as far as this only adds tables and columns.
//!
//! ```no_run
//! # use ingester_core::Kind;
//! # const KINDS: &[Kind] = &[];
//! fn main() -> std::process::ExitCode {
//!     ingester::main(KINDS)
//! }
//! ```
//!
//! # Features
//!
//! All but `otlp` are on by default. A program for your kinds needs few of them, and compiles in less time if it says
//! `default-features = false` and names those:
//! - `mysql`, `postgres`, `sqlite`: the drivers of databases. A URL of a database without its driver is refused.
//! - `michelangelo`: the binary `ingester` with the 13 kinds of `crd-specs`.
//! - `k8s-latest`: the newest version of Kubernetes that `k8s-openapi` knows. Your crate may name another one instead.
//! - `otlp`: spans are exported over OTLP.

mod arguments;
mod cluster;
mod commands;
mod database;
mod declared;
mod ending;
#[cfg(test)]
#[path = "../../ingester-core/src/fixture.rs"]
mod fixture;
mod logging;
mod output;
mod parts;
mod program;
mod progress;
mod reach;
mod reload;
mod saved;
mod server;
mod spans;

use anyhow::anyhow;
pub use program::Program;

use arguments::{Arguments, Command, Finalizers, Ghosts, GhostsCommand, PoliciesCommand, Proto, Schema};
use database::configuration;
use ending::{Ending, Failure};
use ingester_config::{Config, Environment, LogFormat};
use ingester_core::view::check_views;
use ingester_core::{Kind, check_registry};
use ingester_declare::evict::check_selectors;
use spans::Export;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// The stack of the thread that runs a command, in bytes: Linux' usual one.
const STACK: usize = 8 << 20;

/// The number of files that a runtime opens, together with a database. tokio panics if it cannot open its own.
const FILES: usize = 16;

/// SIGXFSZ, on every platform that tokio supports: a file grows beyond `ulimit -f`.
const FILE_TOO_LARGE: SignalKind = SignalKind::from_raw(25);

impl Program {
    /// Runs the command that the arguments of this process name; returns the exit code.
    pub fn main(self) -> ExitCode {
        // The main thread has the stack that `ulimit -s` leaves it, which may be too small for any command.
        match std::thread::Builder::new().name("main".to_owned()).stack_size(STACK).spawn(move || self.command()) {
            Ok(work) => work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => fail(&anyhow!("cannot start a thread: {error}"), 2),
        }
    }

    /// Runs the command, on a thread with room for it.
    fn command(self) -> ExitCode {
        let arguments = Arguments::of_process(self.version(declared::prefix_of_environment()));
        match declared::add(self, &arguments.kinds_files, arguments.command.config())
            .and_then(|program| run(arguments.command, program))
        {
            Ok(ending) => ExitCode::from(ending.code()),
            Err(Failure::Work(error)) => fail(&error, 1),
            Err(Failure::Usage(error)) => fail(&error, 2),
        }
    }
}

/// Runs an ingester for `kinds` without migrations. The short form of `Program::new(kinds).main()`.
pub fn main(kinds: &'static [Kind]) -> ExitCode {
    Program::new(kinds).main()
}

fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    output::note(&format!("error: {error}"));
    ExitCode::from(code)
}

/// Refuses kinds, views and descriptors that would make every command fail.
fn check(program: Program) -> Result<(), Failure> {
    let kinds = program.kinds;
    check_registry(kinds).map_err(|error| Failure::Usage(anyhow!("the kinds of this program: {error}")))?;
    // The parts of a struct's rules that constant evaluation does not check.
    if let Some(what) = kinds.iter().flat_map(check_selectors).next() {
        return Err(Failure::Usage(anyhow!("the kinds of this program: {what}")));
    }
    let views = [program.views, program.declared_views].concat();
    check_views(kinds, &views).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::Usage(anyhow!("the views of this program:\n  {}", errors.join("\n  ")))
    })?;
    // An error in the program's descriptors would fail every object.
    for protobuf in kinds.iter().filter_map(Kind::protobuf) {
        protobuf.get().map_err(|error| Failure::Usage(anyhow!(error)))?;
    }
    Ok(())
}

/// Returns the configuration of `ingester run`, which may contain only the address of a database.
fn configuration_of_run(arguments: &arguments::Run, kinds: &[Kind]) -> Result<Config, Failure> {
    let environment = Environment::of_process();
    match (&arguments.config, &arguments.database_url) {
        (Some(file), _) => configuration(&arguments::ConfigFile { config: file.clone() }, kinds),
        (None, Some(url)) => Config::of_database(url, &environment).map_err(|error| Failure::Usage(error.into())),
        (None, None) => Config::of_environment(&environment).map_err(|error| Failure::Usage(error.into())),
    }
}

fn run(command: Command, program: Program) -> Result<Ending, Failure> {
    let program = program.with_names();
    check(program)?;
    match command {
        Command::Run(arguments) => mirror(&arguments, program),
        Command::Serve(arguments) => serve(&arguments, program),
        Command::Import(arguments) => wait_for(commands::import::run(arguments, versioned(program)?)),
        Command::Get(arguments) => wait_for(commands::get::run(*arguments, versioned(program)?)),
        Command::Changes(arguments) => wait_for(commands::changes::run(*arguments, versioned(program)?.kinds)),
        Command::History(arguments) => wait_for(commands::history::run(arguments, versioned(program)?)),
        Command::Diff(arguments) => wait_for(commands::diff::run(arguments, versioned(program)?)),
        Command::Rejects(arguments) => wait_for(commands::rejects::run(arguments, quiet(program)?.kinds)),
        Command::Completions(arguments) => commands::completions::run(&arguments, quiet(program)?.kinds),
        Command::Queries(arguments) => commands::queries::run(&arguments, quiet(program)?.kinds),
        Command::Kubeconfig(arguments) => quiet(program).and_then(|_| commands::kubeconfig::run(&arguments)),
        Command::Ui(arguments) => quiet(program).and_then(|_| wait_for(commands::ui::run(&arguments))),
        Command::Audit(arguments) => audit(&arguments, versioned(program)?),
        Command::Doctor(arguments) => doctor(&arguments, versioned(program)?),
        Command::Validate(arguments) => validate(&arguments, versioned(program)?),
        Command::Ghosts(arguments) => ghosts(arguments, versioned(program)?),
        Command::Policies(arguments) => policies(&arguments, versioned(program)?.kinds),
        Command::Restore(arguments) => wait_for(commands::restore::run(arguments, versioned(program)?)),
        Command::Finalizers(Finalizers::Remove(arguments)) => remove_finalizers(&arguments, versioned(program)?),
        Command::Schema(command) => schema(command, quiet(program)?),
        Command::Backfill(arguments) => wait_for(commands::backfill::run(arguments, versioned(program)?)),
        Command::Proto(Proto::Decode(arguments)) => {
            wait_for(commands::proto::decode(arguments, versioned(program)?.kinds))
        }
        Command::Crds(arguments) => commands::crds::run(&arguments, quiet(program)?.kinds),
        Command::Kinds(arguments) => commands::kinds::run(&arguments, quiet(program)?.kinds),
        Command::Scaffold(arguments) => wait_for(commands::scaffold::run(arguments, quiet(program)?.kinds)),
        Command::Rbac(arguments) => commands::rbac::run(&arguments, quiet(program)?.kinds),
        Command::Manifests(arguments) => commands::manifests::run(&arguments, quiet(program)?),
        Command::Members(arguments) => wait_for(commands::members::run(arguments, quiet(program)?.kinds)),
    }
}

/// Prepares a program for a command that people run, which logs only errors and warnings. `RUST_LOG` shows more.
fn quiet(program: Program) -> Result<Program, Failure> {
    logging::start(logging::Format::Text, "warn", None).map_err(Failure::Usage)?;
    Ok(program)
}

/// Does the same for a command that works on rows.
fn versioned(program: Program) -> Result<Program, Failure> {
    commands::versioned(quiet(program)?)
}

/// Mirrors a cluster until it is stopped.
fn mirror(arguments: &arguments::Run, program: Program) -> Result<Ending, Failure> {
    let kinds = program.kinds;
    let config = configuration_of_run(arguments, kinds)?;
    commands::policies::ensure_rules(&config, kinds, arguments.config.as_deref())?;
    let (level, export) = start_logging(&config)?;
    commands::policies::warn_of_rules(&config, kinds);
    let ending = wait_for(commands::run::run(arguments, config, commands::versioned(program)?, level));
    Export::end(export);
    ending
}

/// Serves rows until it is stopped.
fn serve(arguments: &arguments::Serve, program: Program) -> Result<Ending, Failure> {
    let config = match &arguments.target.config {
        Some(file) => configuration(&arguments::ConfigFile { config: file.clone() }, program.kinds)?,
        None => Config::default(),
    };
    let (_, export) = start_logging(&config)?;
    let ending = wait_for(commands::serve::run(arguments, config, commands::versioned(program)?));
    Export::end(export);
    ending
}

/// Compares, creates and changes tables. Some commands work on the lock file itself, the others on a database.
fn schema(command: Schema, program: Program) -> Result<Ending, Failure> {
    match command {
        Schema::Print(arguments) => commands::schema::print(&arguments, program),
        Schema::Generate(arguments) => commands::schema::generate(&arguments, program),
        Schema::Adopt(arguments) => wait_for(commands::schema::adopt(arguments, program)),
        Schema::Diff(arguments) => wait_for(commands::schema::diff(arguments, program.following())),
        Schema::Apply(arguments) => wait_for(commands::schema::apply(arguments, program.following())),
        Schema::Info(arguments) => wait_for(commands::schema::info(arguments, program.following())),
        Schema::Revert(arguments) => wait_for(commands::schema::revert(arguments, program.following())),
        Schema::Verify(arguments) => wait_for(commands::schema::verify(arguments, program.following())),
    }
}

/// Shows the objects and rows that leave etcd and SQL by rules, or takes back a rule's marks.
fn policies(arguments: &arguments::Policies, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    if let Some(PoliciesCommand::Revert(revert)) = &arguments.command {
        let config = configuration(&revert.config, kinds)?;
        return wait_for(commands::revert::run(revert, &config, kinds));
    }
    let file = arguments::ConfigFile { config: arguments.config.clone().unwrap_or_default() };
    let config = configuration(&file, kinds)?;
    wait_for(commands::policies::run(arguments, &file, config, kinds))
}

/// Removes the ingester's finalizer from objects.
fn remove_finalizers(arguments: &arguments::FinalizersRemove, program: Program) -> Result<Ending, Failure> {
    let config = configuration(&arguments.config, program.kinds)?;
    wait_for(commands::finalizers::remove(arguments, config, program))
}

/// Compares a cluster with its database.
fn audit(arguments: &arguments::Audit, program: Program) -> Result<Ending, Failure> {
    let config = configuration(&arguments.config, program.kinds)?;
    wait_for(commands::audit::run(arguments, config, program))
}

/// Checks everything that a mirror needs.
fn doctor(arguments: &arguments::Doctor, program: Program) -> Result<Ending, Failure> {
    let config = configuration(&arguments.config, program.kinds)?;
    wait_for(commands::doctor::run(arguments, config, program))
}

/// Runs the life of test objects.
fn validate(arguments: &arguments::Validate, program: Program) -> Result<Ending, Failure> {
    let config = configuration(&arguments.config, program.kinds)?;
    wait_for(commands::validate::run(arguments, config, program))
}

/// Lists ghosts, or decides about one.
fn ghosts(arguments: Ghosts, program: Program) -> Result<Ending, Failure> {
    let list = match arguments.command {
        Some(GhostsCommand::Resolve(arguments)) => {
            let config = configuration(&arguments.config, program.kinds)?;
            return wait_for(commands::ghosts::resolve(&arguments, config, program));
        }
        Some(GhostsCommand::List(list)) => list,
        None => arguments.list,
    };
    let file = arguments::ConfigFile { config: list.config.clone().unwrap_or_default() };
    let config = configuration(&file, program.kinds)?;
    wait_for(commands::ghosts::list(&list, config, program))
}

/// Logs as configured, and exports spans as the environment says. A mistake in that does not keep the program from its work.
fn start_logging(config: &Config) -> Result<(logging::Level, Option<Export>), Failure> {
    let format = match config.log.format {
        LogFormat::Text => logging::Format::Text,
        LogFormat::Json => logging::Format::Json,
    };
    let (export, mistake) = match Export::of_environment() {
        Ok(export) => (export, None),
        Err(error) => (None, Some(error)),
    };
    let level = logging::start(format, config.log.level.as_str(), export.as_ref()).map_err(Failure::Usage)?;
    if let Some(error) = mistake {
        tracing::warn!(error = format!("{error:#}"), "Spans are not exported");
    }
    Ok((level, export))
}

/// Runs asynchronous work to its end.
fn wait_for(work: impl Future<Output = Result<Ending, Failure>>) -> Result<Ending, Failure> {
    let files: Result<Vec<_>, _> = (0..FILES / 2).map(|_| UnixStream::pair()).collect();
    files.map_err(|error| {
        Failure::Usage(anyhow!("this process may not open the {FILES} files that it needs: {error}: raise `ulimit -n`"))
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| anyhow!("cannot start the threads that the work needs: {error}"))?;
    let ending = runtime.block_on(async {
        // With a handler, the signal no longer ends the process: the write fails, and its error names the file.
        let _handler = signal(FILE_TOO_LARGE).map_err(|error| anyhow!("cannot listen for signals: {error}"))?;
        work.await
    });
    // Do not wait for work that still runs then, such as a DNS lookup.
    runtime.shutdown_background();
    ending
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Failure, Kind, Program, run};
    use clap::{CommandFactory, Parser};
    use ingester_core::kind::Definition;
    use ingester_core::view::View;

    const fn kind(kind: &'static str) -> Kind {
        let refused = Kind::refused();
        Kind::new(Definition { version: "v1", kind, ..*refused.definition() }, *refused.functions())
    }

    #[test]
    fn no_command_runs_for_two_kinds_with_one_table() {
        const KINDS: &[Kind] = &[kind("ConfigMap"), kind("Secret")];
        for arguments in ["kinds", "crds", "schema print", "schema generate", "import .", "run --config none.yaml"] {
            let arguments = Arguments::parse_from(["ingester"].into_iter().chain(arguments.split(' ')));
            let Err(Failure::Usage(error)) = run(arguments.command, Program::new(KINDS)) else { panic!("it ran") };
            let error = error.to_string();
            assert!(error.contains("kinds `v1 ConfigMap` and `v1 Secret` have one table"), "{error}");
        }
    }

    #[test]
    fn no_command_runs_with_a_mistaken_view_and_all_mistakes_are_told() {
        const VIEWS: &[View] = &[View { name: "a b", columns: &[], sources: &[] }];
        for arguments in ["kinds", "schema print", "run --config none.yaml"] {
            let arguments = Arguments::parse_from(["ingester"].into_iter().chain(arguments.split(' ')));
            let program = Program::new(&[]).views(VIEWS);
            let Err(Failure::Usage(error)) = run(arguments.command, program) else { panic!("it ran") };
            let error = error.to_string();
            for says in ["the views of this program:", "its name may only have", "it has no columns", "it has no kinds"]
            {
                assert!(error.contains(says), "{error}");
            }
        }
    }

    #[test]
    fn the_arguments_are_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
