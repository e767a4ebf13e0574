//! Writes data to standard output and everything else to standard error.
//!
//! May use: arguments, ingester-core, ingester-declare.

use crate::arguments::Format;
use anyhow::anyhow;
use serde::Serialize;
use std::io::{self, Write};

/// Writes data to standard output. It is not an error if the reader closed the pipe (`| head`).
///
/// # Errors
/// If it cannot be written for another reason.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_on(text).map(|_| ())
}

/// The same; returns whether somebody still reads.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_on(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(anyhow!("cannot write to standard output: {error}")),
    }
}

/// Writes a line to standard error.
pub(crate) fn note(line: &str) {
    // If even this fails, there is no way left to report it.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A text in one line of at most so many characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().count() > most {
        line.push('…');
    }
    line
}

/// A table for people.
pub(crate) struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<'a>(headers: impl IntoIterator<Item = &'a str>) -> Self {
        Table { headers: headers.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Removes the columns from `first` on that are empty or NULL in all rows.
    pub(crate) fn without_empty_columns(mut self, first: usize) -> Self {
        let keep: Vec<bool> = (0..self.headers.len())
            .map(|i| i < first || self.rows.iter().any(|row| !["", NULL].contains(&row[i].as_str())))
            .collect();
        let mut kept = |cells: &mut Vec<String>| {
            let mut i = 0;
            cells.retain(|_| {
                i += 1;
                keep[i - 1]
            });
        };
        kept(&mut self.headers);
        self.rows.iter_mut().for_each(&mut kept);
        self
    }
}

/// How NULL is printed, as in MySQL's client.
pub(crate) const NULL: &str = "NULL";

/// Columns as kubectl prints them: upper-case headers, three spaces between the columns, no lines.
impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<String> = self.headers.iter().map(|header| header.to_uppercase()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&headers).chain(&self.rows).collect();
        let widths: Vec<usize> =
            (0..headers.len()).map(|i| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0)).collect();
        for line in lines {
            let mut text = String::new();
            for (cell, width) in line.iter().zip(&widths) {
                text.push_str(&format!("{cell:<width$}   "));
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// Prints `data` as JSON or YAML, or as the table for people.
pub(crate) fn show(format: Format, data: &impl Serialize, table: impl FnOnce() -> String) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => table(),
        Format::Json => serde_json::to_string_pretty(data)? + "\n",
        Format::Yaml => ingester_declare::yaml::to_string(data)?,
    };
    print(&text)
}
