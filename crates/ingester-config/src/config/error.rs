//! All mistakes of a configuration, in the order of their lines.

use super::tree::{self, Tree};
use ingester_declare::text::{Fault, Faults};
use std::fmt;

/// A configuration that cannot be used, with all its mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, if the configuration is from one.
    file: Option<String>,
    problems: Faults,
}

impl ConfigError {
    /// Sorts `problems` by line; problems without a line come last.
    pub(super) fn new(mut problems: Faults) -> Self {
        problems.sort_by_key(|problem| problem.line.unwrap_or(u64::MAX));
        ConfigError { file: None, problems }
    }

    pub(super) fn from_message(message: impl Into<String>) -> Self {
        ConfigError::new(vec![Fault::somewhere(message)])
    }

    pub(super) fn in_file(mut self, file: String) -> Self {
        self.file = Some(file);
        self
    }

    /// Adds lines to the mistakes that have none, such as contradictions: of the first key that the message names and the text has;
    /// else of `other`.
    pub(super) fn placed(mut self, text: &str, other: Option<&str>) -> Self {
        let Ok(root) = tree::read(text) else { return self };
        for problem in self.problems.iter_mut().filter(|problem| problem.line.is_none()) {
            // Between backticks.
            let named = problem.what.split('`').skip(1).step_by(2);
            problem.line = named.chain(other).find_map(|key| line_of(&root, key));
        }
        self
    }

    /// Returns all mistakes, in the order of the lines.
    #[cfg(test)]
    pub(super) fn problems(&self) -> &[Fault] {
        &self.problems
    }
}

/// The line of the value at a path such as `mysql.tls.mode`.
fn line_of(root: &Tree, path: &str) -> Option<u64> {
    let (section, keys) = path.split_once('.')?;
    keys.split('.').try_fold(root.get(section)?, |tree, key| tree.get(key)).map(|tree| tree.line)
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "the configuration {file}: ")?;
        }
        match self.problems.as_slice() {
            [problem] => problem.fmt(f),
            problems => {
                write!(f, "{} mistakes", problems.len())?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigError {}
