//! All commands share one grammar; help and pages show only commands that parse.

use super::Arguments;
use clap::error::ErrorKind::{
    DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand, InvalidValue, MissingRequiredArgument,
    MissingSubcommand, ValueValidation,
};
use clap::{Command, CommandFactory as _, Parser as _};
use ingester_tests::book::{blocks, commands as commands_of, pages};

/// Returns every command with its path, the outermost first.
fn commands() -> Vec<(String, Command)> {
    fn below(path: &str, command: &Command, all: &mut Vec<(String, Command)>) {
        all.push((path.to_owned(), command.clone()));
        for inner in command.get_subcommands() {
            below(&format!("{path} {}", inner.get_name()), inner, all);
        }
    }
    let mut all = Vec::new();
    let mut root = Arguments::command();
    root.build();
    below("ingester", &root, &mut all);
    all.retain(|(path, _)| !path.split(' ').any(|name| name == "help"));
    all
}

/// Returns the lines of a command's help that are examples.
fn examples(command: &Command) -> Vec<String> {
    let help = command.clone().render_long_help().to_string();
    let mut lines = help.lines().skip_while(|line| !line.starts_with("Example"));
    lines.next();
    let examples = lines.take_while(|line| line.starts_with("  "));
    // A line may continue in the next one.
    examples
        .map(str::trim_start)
        .collect::<Vec<_>>()
        .join("\n")
        .replace("\\\n", "")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Returns the commands of this program in a shell's text, including the commands of `cargo run --`. The first word of each is kept.
fn ours(text: &str) -> Vec<Vec<String>> {
    let ours = |words: Vec<String>| match &words[..] {
        [program, ..] if program == "ingester" => Some(words),
        [cargo, run, dashes, rest @ ..] if (&**cargo, &**run, &**dashes) == ("cargo", "run", "--") => {
            Some([&[String::from("ingester")][..], rest].concat())
        }
        _ => None,
    };
    commands_of(text).into_iter().filter_map(ours).collect()
}

#[test]
fn every_command_has_examples_that_are_well_formed() {
    let mut tried = 0;
    for (path, command) in commands() {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "the help of `{path}` has no example");
        for example in examples {
            // After three blanks, or in the next line if this one is long, the example has its purpose.
            for words in ours(example.split("   ").next().unwrap_or_default()) {
                tried += 1;
                if let Err(error) = Arguments::try_parse_from(&words) {
                    panic!("`{path}`: {example}: {error}");
                }
            }
        }
    }
    assert!(tried > 60, "{tried} examples");
}

#[test]
fn every_command_on_the_pages_is_one_of_this_program() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (page, text) in pages().unwrap() {
        for block in blocks(&text).unwrap().iter().filter(|block| block.language == "sh") {
            for words in ours(&block.text) {
                tried += 1;
                if let Err(error) = Arguments::try_parse_from(&words) {
                    wrong.push(format!("{page} line {}: {}\n{error}", block.line, words.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 90, "{tried} commands");
}

/// A command in a sentence may lack required arguments. One with alternatives, or with optional parts, is a description.
#[test]
fn every_command_in_a_sentence_is_one_of_this_program() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (page, text) in pages().unwrap() {
        let spans = text.split('`').skip(1).step_by(2).filter(|span| span.starts_with("ingester "));
        for span in spans.filter(|span| !span.contains(['[', '|', '\n']) && !span.contains("...")) {
            for words in ours(span) {
                tried += 1;
                // `COMMAND`, `KIND` and `TIME` are placeholders.
                let stands = |word: &String| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
                let Err(error) = Arguments::try_parse_from(&words) else { continue };
                let is_right = match error.kind() {
                    MissingRequiredArgument
                    | MissingSubcommand
                    | DisplayHelpOnMissingArgumentOrSubcommand
                    | DisplayHelp => true,
                    ValueValidation | InvalidValue => {
                        words.iter().any(stands) || words.last().is_some_and(|last| last.starts_with("--"))
                    }
                    InvalidSubcommand => stands(&words[1]),
                    _ => false,
                };
                if !is_right {
                    wrong.push(format!("{page}: `{span}`: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 100, "{tried} commands");
}

#[test]
fn help_says_more_than_the_list_of_commands() {
    let all = commands();
    for (path, part) in [
        ("ingester import", "Exits with 1 if any object was rejected"),
        ("ingester get", "Exits with 1 if a NAME is not found"),
        ("ingester audit", "Exits with 1 if anything differs"),
        ("ingester restore", "PREFIX/RestoredFrom and PREFIX/RestoreNonce, where PREFIX is michelangelo"),
        ("ingester schema apply", "the next run continues an interrupted one"),
        ("ingester schema info", "the database has run another text under its number"),
        ("ingester rejects", "the table `ingester_rejects`"),
        ("ingester changes", "The change `reset` is about no object"),
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

/// Returns the properties of an option, apart from its help.
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
        // All these ways of naming a database exist, or only the configuration names it.
        assert_eq!(has("database-url"), has("password-file"), "{path}");
        assert!(!has("database-url") || has("config"), "{path}");
        assert_eq!(has("kubeconfig"), has("context") && !path.ends_with("kubeconfig"), "{path}");
    }
}
