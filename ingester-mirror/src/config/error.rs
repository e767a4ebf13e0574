//! The mistakes of a configuration: all at once, by line.

use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line of the file, from 1; `None` if the mistake is in the environment or in no single line.
    line: Option<usize>,
    /// What is wrong and what to write instead, with the full path of the key. It never contains a password.
    message: String,
}

impl Problem {
    pub(super) fn at(line: usize, message: impl Into<String>) -> Self {
        Problem { line: Some(line), message: message.into() }
    }

    pub(super) fn somewhere(message: impl Into<String>) -> Self {
        Problem { line: None, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A configuration that cannot be used, with all its mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, if the configuration is from one.
    file: Option<String>,
    problems: Vec<Problem>,
}

impl ConfigError {
    /// Sorts `problems` by line; those without a line come last.
    pub(super) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        ConfigError { file: None, problems }
    }

    pub(super) fn of(message: impl Into<String>) -> Self {
        ConfigError::new(vec![Problem::somewhere(message)])
    }

    pub(super) fn in_file(mut self, file: String) -> Self {
        self.file = Some(file);
        self
    }

    /// All mistakes, in the order of the lines.
    #[cfg(test)]
    pub(super) fn problems(&self) -> &[Problem] {
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
