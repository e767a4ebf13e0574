//! All mistakes of a configuration, in the order of their lines.

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

    pub(super) fn of(message: impl Into<String>) -> Self {
        ConfigError::new(vec![Fault::somewhere(message)])
    }

    pub(super) fn in_file(mut self, file: String) -> Self {
        self.file = Some(file);
        self
    }

    /// Returns all mistakes, in the order of the lines.
    #[cfg(test)]
    pub(super) fn problems(&self) -> &[Fault] {
        &self.problems
    }
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
