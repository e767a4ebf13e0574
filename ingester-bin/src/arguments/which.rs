//! Selects objects and their order: one option for each key of a question, generated from the table of keys.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use ingester_sql::query::{Ask, AskKey, KeyError, Meaning, Spelling, StateName};

/// The values of these options.
#[derive(Debug, Default)]
pub(crate) struct SelectionOptions(Vec<(&'static AskKey, Vec<String>)>);

impl SelectionOptions {
    /// Returns the question.
    ///
    /// # Errors
    /// If a value does not fit its key.
    pub(crate) fn ask(&self) -> Result<Ask, KeyError> {
        let mut ask = Ask::new(Spelling::Command);
        for (key, values) in &self.0 {
            ask.set(key, &values.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Ok(ask)
    }

    /// Returns true if an option with this meaning was given.
    pub(crate) fn says(&self, meaning: Meaning) -> bool {
        self.0.iter().any(|(key, _)| key.meaning() == meaning)
    }
}

/// Returns the option of a key; `None` if it has none.
fn option(key: &'static AskKey) -> Option<Arg> {
    let name = key.name(Spelling::Command)?;
    let option = Arg::new(name).long(name).help(key.about(Spelling::Command)).help_heading("Which");
    let option = match key.meaning() {
        Meaning::Scan => return Some(option.action(ArgAction::SetTrue)),
        Meaning::Namespaces => option.short('n').value_name("NAMESPACE"),
        Meaning::Uids => option.value_name("UID"),
        Meaning::States => {
            let states = StateName::ALL.map(|state| PossibleValue::new(state.name).help(state.about));
            option.value_name("STATE").value_parser(PossibleValuesParser::new(states))
        }
        Meaning::Labels => option.short('l').value_name("SELECTOR"),
        Meaning::Fields => option.value_name("SELECTOR"),
        Meaning::Time { .. } | Meaning::At => option.value_name("TIME"),
        Meaning::Order => option.value_name("FIELD,...").allow_hyphen_values(true).help_heading("How many"),
    };
    let option = option.action(ArgAction::Append);
    Some(if key.is_list() { option.value_delimiter(',') } else { option })
}

impl Args for SelectionOptions {
    fn augment_args(command: Command) -> Command {
        command.args(AskKey::all().iter().filter_map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SelectionOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let said = |key: &'static AskKey| {
            let name = key.name(Spelling::Command)?;
            let values = match key.meaning() {
                Meaning::Scan => matches.get_flag(name).then(|| vec!["true".to_owned()]),
                _ => matches.get_many::<String>(name).map(|values| values.cloned().collect()),
            };
            values.map(|values| (key, values))
        };
        Ok(SelectionOptions(AskKey::all().iter().filter_map(said).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
