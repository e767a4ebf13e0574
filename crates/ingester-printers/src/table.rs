//! Tables for people, as kubectl prints them: upper-case headers, three spaces between the columns, no lines.
//!
//! May use: obeyed, tree.

use crate::Tree;
use crate::obeyed::is_obeyed;

/// The spaces between two columns.
const GAP: usize = 3;

/// The least width of a column.
const NARROWEST: usize = 3;

/// A column, as in a `TableColumnDefinition` of `meta.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedColumn {
    /// Its header, in upper case.
    pub name: String,
    /// Only wide tables have this column: its `priority` is above 0.
    pub wide: bool,
    /// The column's `format` is `name`: if a table has several kinds, each cell begins with its kind.
    pub is_name: bool,
}

/// A row: its cells, and the parts of the object's metadata that kubectl uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'r> {
    /// A cell for each column.
    pub cells: Vec<Tree>,
    /// The object's namespace.
    pub namespace: &'r str,
    /// The object's labels.
    pub labels: Vec<(&'r str, &'r str)>,
}

/// The options from kubectl's flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Without `--no-headers`.
    pub headers: bool,
    /// `-o wide`
    pub wide: bool,
    /// Namespaces are the first column: `--all-namespaces`.
    pub namespaces: bool,
    /// The prefix of each name, by [`prefix`](crate::name::prefix): `--show-kind`.
    pub kind: Option<String>,
    /// A column for each of these labels: `--label-columns`.
    pub label_columns: Vec<String>,
    /// All labels are the last column: `--show-labels`.
    pub show_labels: bool,
}

/// Prints a table in portions.
#[derive(Debug)]
pub struct TablePrinter {
    columns: Vec<PrintedColumn>,
    options: Options,
    begun: bool,
    lines: TabWriter,
}

impl TablePrinter {
    /// A table with these columns.
    pub fn new(columns: Vec<PrintedColumn>, options: Options) -> Self {
        TablePrinter { columns, options, begun: false, lines: TabWriter::default() }
    }

    /// The lines of these rows, with the headers above the first one; nothing for no rows.
    pub fn render_rows<'r>(&mut self, rows: impl IntoIterator<Item = Row<'r>>) -> String {
        let mut lines: Vec<Vec<String>> = rows.into_iter().map(|row| self.line(row)).collect();
        if !lines.is_empty() && !std::mem::replace(&mut self.begun, true) && self.options.headers {
            lines.insert(0, self.headers());
        }
        self.lines.lines(&lines)
    }

    fn is_shown(&self, column: &PrintedColumn) -> bool {
        self.options.wide || !column.wide
    }

    fn headers(&self) -> Vec<String> {
        let Options { namespaces, label_columns, show_labels, .. } = &self.options;
        let mut headers = Vec::from_iter(namespaces.then_some("NAMESPACE".to_owned()));
        let shown = self.columns.iter().filter(|column| self.is_shown(column));
        headers.extend(shown.map(|column| column.name.to_uppercase()));
        headers.extend(label_columns.iter().map(|key| key.rsplit('/').next().unwrap_or(key).to_uppercase()));
        headers.extend(show_labels.then_some("LABELS".to_owned()));
        headers
    }

    fn line(&self, row: Row<'_>) -> Vec<String> {
        let Options { namespaces, kind, label_columns, show_labels, .. } = &self.options;
        let mut line = Vec::from_iter(namespaces.then(|| row.namespace.to_owned()));
        for (column, cell) in self.columns.iter().zip(row.cells) {
            let text = match cell {
                Tree::Null => String::new(),
                Tree::Text(text) => text,
                cell => cell.sprint(),
            };
            match kind {
                _ if !self.is_shown(column) => {}
                Some(kind) if column.is_name => line.push(format!("{kind}/{text}")),
                _ => line.push(text),
            }
        }
        let value = |key: &String| row.labels.iter().find(|(other, _)| other == key).map_or("", |(_, value)| value);
        line.extend(label_columns.iter().map(|key| value(key).to_owned()));
        if *show_labels {
            line.push(if row.labels.is_empty() { "<none>".to_owned() } else { labels(&row.labels) });
        }
        line
    }
}

/// `stage=dev,team=pricing`: labels in one cell, in the order of these texts.
pub fn labels(labels: &[(&str, &str)]) -> String {
    let mut labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    labels.sort_unstable();
    labels.join(",")
}

/// Aligns the cells of lines that come in portions. A column is as wide as its widest cell printed so far, so no column becomes narrower.
#[derive(Debug, Default)]
pub struct TabWriter {
    widths: Vec<usize>,
}

impl TabWriter {
    /// These lines.
    pub fn lines(&mut self, lines: &[Vec<String>]) -> String {
        let lines: Vec<Vec<String>> =
            lines.iter().map(|line| line.iter().map(|cell| one_line(cell)).collect()).collect();
        for line in &lines {
            self.widths.resize(self.widths.len().max(line.len()), 0);
            // The last cell of a line widens no column.
            let (_, padded) = line.split_last().unzip();
            for (width, cell) in self.widths.iter_mut().zip(padded.unwrap_or_default()) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut out = String::new();
        for line in &lines {
            for (i, (cell, width)) in line.iter().zip(&self.widths).enumerate() {
                out.push_str(cell);
                // The last column needs no padding. A format's width cannot be above 65,535.
                if i + 1 < line.len() {
                    let spaces = width.max(&NARROWEST) + GAP - cell.chars().count();
                    out.extend(std::iter::repeat_n(' ', spaces));
                }
            }
            out.push('\n');
        }
        out
    }
}

/// A cell as kubectl shows it: only its first line, without control characters for a terminal.
fn one_line(cell: &str) -> String {
    let line = match cell.find(['\n', '\r', '\u{c}']) {
        Some(end) => format!("{}...", &cell[..end]),
        None => cell.to_owned(),
    };
    line.chars()
        .flat_map(|character| {
            let escape = (character == '\u{1b}').then_some("^[");
            let character = match character {
                '\u{1b}' => None,
                character if is_obeyed(character) => Some(' '),
                character => Some(character),
            };
            escape.unwrap_or_default().chars().chain(character)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::TabWriter;

    fn lines(lines: &[&[&str]]) -> Vec<Vec<String>> {
        lines.iter().map(|line| line.iter().map(|&cell| cell.to_owned()).collect()).collect()
    }

    #[test]
    fn later_portions_keep_the_widths_of_earlier_ones() {
        let mut writer = TabWriter::default();
        assert_eq!(
            writer.lines(&lines(&[&["NAME", "AGE"], &["a-long-name", "3d"]])),
            "NAME          AGE\na-long-name   3d\n"
        );
        assert_eq!(writer.lines(&lines(&[&["b", "3d"]])), "b             3d\n");
        assert_eq!(writer.lines(&lines(&[&["a-longer-name", "3d"]])), "a-longer-name   3d\n");
    }

    #[test]
    fn narrow_columns_are_as_wide_as_those_of_kubectl() {
        assert_eq!(
            TabWriter::default().lines(&lines(&[&["N", "NAME", "X"], &["a", "b", "c"]])),
            "N     NAME   X\na     b      c\n"
        );
    }

    #[test]
    fn a_cell_may_be_of_any_width() {
        for width in [65_532, 65_533, 65_534, 65_535, 65_536, 1 << 20] {
            let wide = "é".repeat(width);
            let shown = TabWriter::default().lines(&lines(&[&["A", "B"], &[&wide, "b"]]));
            let mut expected = format!("A{}B\n", " ".repeat(width + 2));
            expected.push_str(&format!("{wide}   b\n"));
            assert!(shown == expected, "{width}");
        }
    }

    #[test]
    fn a_cell_is_one_line_that_no_terminal_obeys() {
        let shown = TabWriter::default().lines(&lines(&[&["two\nlines", "\u{1b}[31mred", "a\tb\u{7}"]]));
        assert_eq!(shown, "two...   ^[[31mred   a b \n");
    }
}
