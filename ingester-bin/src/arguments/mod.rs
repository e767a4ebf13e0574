//! The grammar of the command line. Each command resolves its arguments (its database, its kinds, contradictions) before it starts work,
//! see `commands`.
//!
//! May use: ingester-core, ingester-sql, ingester-store.
//!
//! | file | content |
//! |---|---|
//! | `shared.rs` | arguments that several commands share: database, configuration, cluster, output |
//! | `import.rs`, `get.rs`, `rejects.rs` | objects from files into SQL, objects from SQL, objects that could not be stored |
//! | `changes.rs`, `history.rs` | the log of changes; the versions of an object |
//! | `which.rs` | the selection of `get`, generated from the table of keys |
//! | `policies.rs` | objects and rows that leave etcd and SQL by rules |
//! | `mirror.rs`, `kubeconfig.rs`, `ui.rs` | commands that work with a cluster |
//! | `doctor.rs`, `validate.rs` | checks of an installation; test objects in a cluster |
//! | `schema.rs`, `declare.rs` | tables, columns, kinds |
//!
//! Every command has an example in its help, and the tests parse the examples.

mod changes;
mod declare;
mod doctor;
mod get;
mod ghosts;
mod history;
mod import;
mod kubeconfig;
mod mirror;
mod policies;
mod rejects;
mod schema;
mod shared;
#[cfg(test)]
mod tests;
mod ui;
mod validate;
mod which;

pub(crate) use changes::{Changes, ChangesFormat};
pub(crate) use declare::{AdmissionVersion, Impersonation, ManifestDatabase, Manifests, Rbac, Scaffold, is_word};
pub(crate) use doctor::Doctor;
pub(crate) use get::{Get, GetFormat, Queries, QueriesFolder, QueriesFormat};
pub(crate) use ghosts::{Ghosts, GhostsCommand, GhostsList, GhostsResolve, Side};
pub(crate) use history::{Diff, DiffFormat, History, HistoryFormat, Named};
pub(crate) use import::{AssumedState, Import};
pub(crate) use kubeconfig::Kubeconfig;
pub(crate) use mirror::{Audit, Finalizers, FinalizersRemove, Members, Restore, RestoreFormat, Run, Serve};
pub(crate) use policies::{Policies, PoliciesCommand, RevertPolicies};
pub(crate) use rejects::{Rejects, RejectsClear, RejectsCommand, RejectsList};
pub(crate) use schema::{
    Backfill, Crds, Kinds, KindsFormat, Proto, ProtoDecode, Schema, SchemaAdopt, SchemaApply, SchemaDiff,
    SchemaGenerate, SchemaInfo, SchemaPrint, SchemaRevert, SchemaVerify,
};
pub(crate) use shared::{Cluster, ConfigFile, DatabaseArguments, Format, Migrations, Output};
pub(crate) use ui::Ui;
pub(crate) use validate::Validate;
pub(crate) use which::SelectionOptions;

use clap::builder::Resettable;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

/// The variable of the environment that names the files of kinds.
pub(crate) const KINDS: &str = "INGESTER_KINDS";

/// Mirrors Kubernetes objects into SQL.
#[derive(Debug, Parser)]
#[command(name = "ingester", version, about, max_term_width = 110, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// A file that declares kinds in YAML, in addition to the built-in ones, or a folder with such files; see docs/kinds.md. Several are
    /// separated by commas, or the option is repeated. Overrides `ingester.kindsFile` of a configuration.
    #[arg(
        long = "kinds",
        id = "kinds-file",
        global = true,
        value_name = "FILE",
        env = KINDS,
        hide_env_values = true,
        help_heading = "Kinds"
    )]
    // Not split by clap: the name of a file may have a comma.
    pub(crate) kinds_files: Vec<PathBuf>,
}

impl Arguments {
    /// Parses the arguments of this process. Its program may add to its version.
    pub(crate) fn of_process(version: Option<&'static str>) -> Self {
        let mut command = Arguments::command();
        // A variable of the environment may exist and be empty.
        if std::env::var_os(KINDS).is_some_and(|file| file.is_empty()) {
            command = command.mut_arg("kinds-file", |kinds| kinds.env(Resettable::Reset));
        }
        if let Some(version) = version {
            command = command.long_version(version);
        }
        Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }
}

impl Command {
    /// Returns the named configuration, if any.
    pub(crate) fn config(&self) -> Option<&Path> {
        let target = match self {
            Command::Run(its) => return its.config.as_deref(),
            Command::Audit(its) => return Some(&its.config.config),
            Command::Policies(its) => match &its.command {
                Some(PoliciesCommand::Revert(its)) => return Some(&its.config.config),
                None => return its.config.as_deref(),
            },
            Command::Doctor(its) => return Some(&its.config.config),
            Command::Validate(its) => return Some(&its.config.config),
            Command::Finalizers(Finalizers::Remove(its)) => return Some(&its.config.config),
            Command::Ghosts(its) => match &its.command {
                Some(GhostsCommand::Resolve(its)) => return Some(&its.config.config),
                Some(GhostsCommand::List(its)) => return its.config.as_deref(),
                None => return its.list.config.as_deref(),
            },
            Command::Serve(its) => &its.target,
            Command::Import(its) => &its.target,
            Command::Get(its) => &its.target,
            Command::Changes(its) => &its.target,
            Command::History(its) => &its.target,
            Command::Diff(its) => &its.target,
            Command::Rejects(its) => match &its.command {
                Some(RejectsCommand::Clear(its)) => &its.target,
                Some(RejectsCommand::List(its)) => &its.target,
                None => &its.list.target,
            },
            Command::Restore(its) => &its.target,
            Command::Backfill(its) => &its.target,
            Command::Proto(Proto::Decode(its)) => &its.target,
            Command::Schema(Schema::Diff(its)) => &its.target,
            Command::Schema(Schema::Apply(its)) => &its.target,
            Command::Schema(Schema::Adopt(its)) => &its.target,
            Command::Schema(Schema::Info(its)) => &its.target,
            Command::Schema(Schema::Revert(its)) => &its.target,
            Command::Schema(Schema::Verify(its)) => &its.target,
            Command::Schema(Schema::Print(_) | Schema::Generate(_))
            | Command::Queries(_)
            | Command::Kubeconfig(_)
            | Command::Ui(_)
            | Command::Crds(_)
            | Command::Kinds(_)
            | Command::Scaffold(_)
            | Command::Completions(_) => return None,
            Command::Rbac(its) => return its.config.as_deref(),
            Command::Manifests(its) => return its.config.as_deref(),
            Command::Members(its) => return its.config.as_deref(),
        };
        target.config.as_deref()
    }
}

/// The commands. What they are for stands at their arguments: here it would take the place of all that is said there.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Import(Import),
    Get(Box<Get>),
    Changes(Box<Changes>),
    History(History),
    Diff(Diff),
    Rejects(Rejects),
    Queries(Queries),
    Kubeconfig(Kubeconfig),
    Run(Run),
    Serve(Serve),
    Ui(Ui),
    Audit(Audit),
    Doctor(Doctor),
    Validate(Validate),
    Restore(Restore),
    Ghosts(Ghosts),
    Policies(Policies),
    /// The finalizer that the ingester adds to objects.
    #[command(subcommand, after_help = mirror::FINALIZERS)]
    Finalizers(Finalizers),
    /// The SQL schema: print it, migrate it, keep the generated files current.
    #[command(subcommand, after_help = schema::EXAMPLES)]
    Schema(Schema),
    Backfill(Backfill),
    /// The protobuf messages in the column `proto`.
    #[command(subcommand, after_help = schema::PROTO)]
    Proto(Proto),
    Crds(Crds),
    Kinds(Kinds),
    Scaffold(Scaffold),
    Rbac(Rbac),
    Manifests(Manifests),
    Members(Members),
    Completions(Completions),
}

const EXAMPLES: &str = "\
Examples:
  ingester import objects/                        files into SQL
  ingester get models -n ml                       objects from SQL
  ingester run --config ingester.yaml             a cluster into SQL, until it is stopped
  ingester schema info --config ingester.yaml     which migrations a database has run

`ingester COMMAND --help` says more. Pages such as docs/kinds.md are in the archive of a release, and in the repository. Exits with 0 if done, 1 if the work found a problem, 2 if nothing could be tried.";

/// Print a script that completes commands, options and kinds in a shell.
///
/// The script contains the kinds of this program: generate it again after an update.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

const COMPLETIONS: &str = "\
Examples:
  ingester completions bash > /etc/bash_completion.d/ingester
  ingester completions zsh > ~/.zfunc/_ingester           in a folder of $fpath
  ingester completions fish > ~/.config/fish/completions/ingester.fish

For the running bash alone: source <(ingester completions bash)";

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Also read by `source`.
    Bash,
    /// A file named _ingester in a folder of $fpath.
    Zsh,
    /// A file in ~/.config/fish/completions.
    Fish,
}
