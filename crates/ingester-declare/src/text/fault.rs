//! Mistakes in a file, with their places.

use std::fmt;

/// A mistake at a place. Displays as `line 3: kinds[0].version: expected a text, found a list`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The line, from 1; `None` if it is not in a single line.
    pub line: Option<u64>,
    /// The path of the place: `kinds[0].columns[2].path`. Empty for the file as a whole.
    pub path: String,
    /// The mistake and its remedy.
    pub what: String,
}

/// The mistakes in a file, in the order in which they were found.
pub type Faults = Vec<Fault>;

impl Fault {
    /// A fault that is not in a single place.
    pub fn somewhere(what: impl Into<String>) -> Self {
        Fault { line: None, path: String::new(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}

/// A mistake in one of several files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mistake {
    /// The file's name.
    pub file: String,
    /// The mistake and its place in the file.
    pub fault: Fault,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { file, fault } = self;
        write!(f, "{file}{}{fault}", if fault.line.is_some() { " " } else { ": " })
    }
}
