//! One grammar for all commands, and help that is true.

use super::Arguments;
use clap::{Command, CommandFactory as _, Parser as _};

/// Every command with its path, the outermost first.
fn commands() -> Vec<(String, Command)> {
    fn below(path: &str, command: &Command, all: &mut Vec<(String, Command)>) {
        all.push((path.to_owned(), command.clone()));
        for inner in command.get_subcommands() {
            below(&format!("{path} {}", inner.get_name()), inner, all);
        }
    }
    let (mut all, mut root) = (Vec::new(), Arguments::command());
    root.build();
    below("ingester", &root, &mut all);
    all.retain(|(path, _)| !path.split(' ').any(|name| name == "help"));
    all
}

/// The lines of a command's help that are examples.
fn examples(command: &Command) -> Vec<String> {
    let help = command.clone().render_long_help().to_string();
    let mut lines = help.lines().skip_while(|line| !line.starts_with("Example"));
    lines.next();
    let examples = lines.take_while(|line| line.starts_with("  "));
    // A line may go on in the next one.
    examples
        .map(str::trim_start)
        .collect::<Vec<_>>()
        .join("\n")
        .replace("\\\n", "")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The words of an example as a shell has them: what is piped into it, and what its output goes to, is no part of them.
fn words(example: &str) -> Option<Vec<String>> {
    let (_, rest) = example.split_once("ingester ")?;
    // Three blanks, and what it is for.
    let command = rest.split("   ").next()?.split(['|', '>']).next()?;
    let mut words = vec![String::from("ingester")];
    let mut quoted = false;
    let mut word = String::new();
    for c in command.trim_end().chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Some(words)
}

#[test]
fn every_command_has_examples_that_are_well_formed() {
    let mut tried = 0;
    for (path, command) in commands() {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "the help of `{path}` has no example");
        for example in examples {
            // The explanation of a line stands in the next one if the line is long.
            let Some(words) = words(&example) else { continue };
            tried += 1;
            if let Err(error) = Arguments::try_parse_from(&words) {
                panic!("`{path}`: {example}: {error}");
            }
        }
    }
    assert!(tried > 60, "{tried} examples");
}

#[test]
fn help_says_more_than_the_list_of_commands() {
    let all = commands();
    for (path, part) in [
        ("ingester import", "Exits with 1 if any object was rejected"),
        ("ingester get", "Exits with 1 if a NAME is not found"),
        ("ingester audit", "Exits with 1 if anything differs"),
        ("ingester restore", "PREFIX/RestoredFrom, where PREFIX is michelangelo"),
        ("ingester schema apply", "the next run continues an interrupted one"),
        ("ingester schema info", "the database has run another text under its number"),
        ("ingester rejects", "the table `ingester_rejects`"),
    ] {
        let (_, command) = all.iter().find(|(other, _)| other == path).unwrap();
        let help = command.clone().render_long_help().to_string();
        let words: Vec<&str> = help.split_whitespace().collect();
        assert!(words.join(" ").contains(part), "{path}: {help}");
    }
    let root = all[0].1.clone().render_long_help().to_string();
    for (path, command) in &all[1..] {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && !about.contains('\n'), "{path}: {about}");
        if path.split(' ').count() == 2 {
            assert!(root.contains(&about), "{path}: {about}");
        }
    }
}

/// What an option is, apart from its help.
fn shape(argument: &clap::Arg) -> (Option<char>, bool) {
    (argument.get_short(), argument.get_action().takes_values())
}

#[test]
fn an_option_is_called_the_same_and_takes_the_same_everywhere() {
    let shared = [
        ("database-url", (None, true)),
        ("password-file", (None, true)),
        ("config", (None, true)),
        ("kubeconfig", (None, true)),
        ("context", (None, true)),
        ("namespace", (Some('n'), true)),
        ("all-namespaces", (Some('A'), false)),
        ("output", (Some('o'), true)),
        ("dry-run", (None, false)),
        ("uid", (None, true)),
    ];
    for (path, command) in commands() {
        for argument in command.get_arguments() {
            let long = argument.get_long().unwrap_or_default();
            if let Some((_, expected)) = shared.iter().find(|(name, _)| *name == long) {
                assert_eq!(shape(argument), *expected, "--{long} of `{path}`");
            }
            for (name, (short, _)) in shared {
                let takes_its_letter = short.is_some() && argument.get_short() == short;
                assert!(!takes_its_letter || long == name, "-{short:?} of `{path}` is --{long}");
            }
        }
        let has = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
        // A database is named in each of these ways, or by the configuration alone.
        assert_eq!(has("database-url"), has("password-file"), "{path}");
        assert!(!has("database-url") || has("config"), "{path}");
        assert_eq!(has("kubeconfig"), has("context") && !path.ends_with("kubeconfig"), "{path}");
    }
}
