//! `ingester completions`: scripts that complete commands, options and kinds.

use crate::arguments::{Arguments, Completions, Shell};
use crate::ending::{Ending, Failure};
use crate::output::print;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::{Generator, shells};
use ingester_core::Kind;
use ingester_declare::kept::kept;

/// The name of an argument that names kinds.
const KIND: &str = "KIND";

pub(crate) fn run(arguments: &Completions, kinds: &[Kind]) -> Result<Ending, Failure> {
    let name = |kind: &Kind| match kind.name() == kind.kind() {
        true => kind.plural().into_owned(),
        // Another kind has its name.
        false => kind.full_name(),
    };
    let names: Vec<&'static str> = kinds.iter().map(|kind| kept(name(kind))).collect();
    let mut command = with_kinds(Arguments::command(), &names);
    let mut script = match arguments.shell {
        Shell::Bash => script(shells::Bash, &mut command)?,
        Shell::Zsh => script(shells::Zsh, &mut command)?,
        Shell::Fish => script(shells::Fish, &mut command)?,
    };
    if arguments.shell == Shell::Fish {
        script.push_str(&kinds_for_fish(&command, &names));
    }
    print(&script)?;
    Ok(Ending::Done)
}

fn script(shell: impl Generator, command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_name().to_owned();
    let mut bytes = Vec::new();
    clap_complete::generate(shell, command, name, &mut bytes);
    Ok(String::from_utf8(bytes)?)
}

/// Returns true if a positional argument is a kind.
fn is_kind(argument: &Arg) -> bool {
    let named = argument.get_value_names().unwrap_or_default();
    argument.is_positional() && named.iter().any(|name| name == KIND)
}

/// The command, with these as the possible values of arguments that are kinds.
fn with_kinds(command: Command, names: &[&'static str]) -> Command {
    let command = command.mut_subcommands(|command| with_kinds(command, names));
    command.mut_args(|argument| match is_kind(&argument) {
        true => argument.value_parser(PossibleValuesParser::new(names.iter().copied())),
        false => argument,
    })
}

/// The lines of the kinds, which the generator omits for this shell.
fn kinds_for_fish(command: &Command, names: &[&'static str]) -> String {
    let mut lines = String::new();
    let mut add = |condition: String| {
        let of = command.get_name();
        let kinds = names.join(" ");
        lines
            .push_str(&format!("complete -c {of} -n \"__fish_{of}_using_subcommand {condition}\" -f -a \"{kinds}\"\n"));
    };
    for outer in command.get_subcommands() {
        if outer.get_positionals().any(is_kind) {
            add(outer.get_name().to_owned());
        }
        for inner in outer.get_subcommands().filter(|inner| inner.get_positionals().any(is_kind)) {
            add(format!("{}; and __fish_seen_subcommand_from {}", outer.get_name(), inner.get_name()));
        }
    }
    lines
}
