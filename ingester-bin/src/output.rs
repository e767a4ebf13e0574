//! Writes data to standard output and everything else to standard error.
//!
//! May use: arguments, ingester-core, ingester-declare, ingester-printers.

use crate::arguments::Format;
use anyhow::anyhow;
use ingester_core::place::is_obeyed;
use ingester_printers::table::TabWriter;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// Writes data to standard output. It is not an error if the reader closed the pipe (`| head`).
///
/// # Errors
/// If it cannot be written for another reason.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_on(text).map(|_| ())
}

/// Does the same. Returns true if the reader is still there.
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

/// Returns a number and what it counts: one, or several.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {several}"),
    }
}

/// Writes a line to standard error. A terminal does not obey names and values of objects in it.
pub(crate) fn note(line: &str) {
    // If even this fails, there is no way left to report it.
    let _ = writeln!(io::stderr().lock(), "{}", visible(line));
}

/// Returns a text whose control characters are readable, except ends of lines and tabs.
fn visible(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| is_obeyed(c) && !matches!(c, '\n' | '\t');
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            // The same as in tables.
            '\u{1b}' => shown.push_str("^["),
            c if obeyed(c) => shown.extend(c.escape_debug()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns true if text on this stream may have colours: it is a terminal, and `NO_COLOR` in the environment does not forbid them.
pub(crate) fn has_colours(stream: &impl IsTerminal) -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && stream.is_terminal()
}

/// Returns a text in one line of at most this many characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).take(most).collect();
    if text.chars().count() > most {
        line.push('…');
    }
    line
}

/// A table for people, with headers in upper case.
pub(crate) struct Table {
    /// The headers and the rows.
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<'a>(headers: impl IntoIterator<Item = &'a str>) -> Self {
        Table { lines: vec![headers.into_iter().map(str::to_uppercase).collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.lines.push(cells.into_iter().collect());
    }

    /// Removes the columns from `first` on that are empty or NULL in all rows.
    pub(crate) fn without_empty_columns(mut self, first: usize) -> Self {
        let says = |i: usize| self.lines[1..].iter().any(|row| !["", NULL].contains(&row[i].as_str()));
        let keep: Vec<bool> = (0..self.lines[0].len()).map(|i| i < first || says(i)).collect();
        for line in &mut self.lines {
            let mut keep = keep.iter();
            line.retain(|_| keep.next() == Some(&true));
        }
        self
    }
}

/// The text for NULL, as in MySQL's client.
pub(crate) const NULL: &str = "NULL";

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let aligned = TabWriter::default().lines(&self.lines);
        aligned.lines().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}

/// Prints `data` as JSON or YAML, or as the table for people.
pub(crate) fn show(format: Format, data: &impl Serialize, table: impl FnOnce() -> String) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => table(),
        Format::Json => json(data)?,
        Format::Yaml => match ingester_declare::yaml::to_string(data)? {
            // JSON is YAML, too.
            text if text.contains(|c| is_obeyed(c) && c != '\n') => json(data)?,
            text => text,
        },
    };
    print(&text)
}

/// Returns JSON for people and programs: characters that a terminal obeys are escaped. They only occur in its texts.
fn json(data: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(data)? + "\n";
    let obeyed = |c: char| is_obeyed(c) && c != '\n';
    if !text.contains(obeyed) {
        return Ok(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match obeyed(c) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => escaped.push(c),
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::{counted, json, one_line, visible};

    #[test]
    fn one_thing_is_counted_in_the_singular() {
        let said = [0, 1, 2].map(|number| counted(number, "value is", "values are"));
        assert_eq!(said, ["0 values are", "1 value is", "2 values are"]);
    }

    #[test]
    fn data_is_the_same_with_its_control_characters_escaped() {
        let data = ["a\u{202e}b\u{1b}[31m\u{9b}\n", "é"];
        let text = json(&data).unwrap();
        assert_eq!(text, "[\n  \"a\\u202eb\\u001b[31m\\u009b\\n\",\n  \"é\"\n]\n");
        assert_eq!(serde_json::from_str::<[String; 2]>(&text).unwrap(), data);
        assert_eq!(one_line("a\u{202e}b", 9), "a b");
    }

    #[test]
    fn a_message_is_text_that_no_terminal_obeys() {
        assert_eq!(visible("a \u{1b}[31mred\u{7}\r\u{9b}\n\tb"), "a ^[[31mred\\u{7}\\r\\u{9b}\n\tb");
        assert_eq!(visible("a\u{202e}b\u{2066}"), "a\\u{202e}b\\u{2066}");
        assert!(matches!(visible("línea\n"), std::borrow::Cow::Borrowed("línea\n")));
    }
}
