//! Columns for people as kubectl prints them: three spaces between the columns, no lines. Rows come in portions, so the widths are
//! those of what was printed so far, and no column becomes narrower.
//!
//! May use: nothing.

/// The spaces between two columns.
const GAP: usize = 3;

/// The least width of a column.
const NARROWEST: usize = 3;

/// The columns of a table that is printed in portions.
#[derive(Debug, Default)]
pub struct Columns {
    widths: Vec<usize>,
}

impl Columns {
    /// The lines of these rows.
    pub fn lines(&mut self, rows: &[Vec<String>]) -> String {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
        for row in &rows {
            self.widths.resize(self.widths.len().max(row.len()), 0);
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut out = String::new();
        for row in &rows {
            for (i, (cell, width)) in row.iter().zip(&self.widths).enumerate() {
                // The last column needs no padding.
                let width = if i + 1 == row.len() { 0 } else { width.max(&NARROWEST) + GAP };
                out.push_str(&format!("{cell:<width$}"));
            }
            out.push('\n');
        }
        out
    }
}

/// A cell as kubectl shows it: only its first line, and nothing that a terminal would obey.
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
                character if character.is_control() => Some(' '),
                character => Some(character),
            };
            escape.unwrap_or_default().chars().chain(character)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Columns;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
    }

    #[test]
    fn later_portions_keep_the_widths_of_earlier_ones() {
        let mut columns = Columns::default();
        assert_eq!(
            columns.lines(&rows(&[&["NAME", "AGE"], &["a-long-name", "3d"]])),
            "NAME          AGE\na-long-name   3d\n"
        );
        assert_eq!(columns.lines(&rows(&[&["b", "3d"]])), "b             3d\n");
        assert_eq!(columns.lines(&rows(&[&["a-longer-name", "3d"]])), "a-longer-name   3d\n");
    }

    #[test]
    fn narrow_columns_are_as_wide_as_those_of_kubectl() {
        assert_eq!(
            Columns::default().lines(&rows(&[&["N", "NAME", "X"], &["a", "b", "c"]])),
            "N     NAME   X\na     b      c\n"
        );
    }

    #[test]
    fn a_cell_is_one_line_that_no_terminal_obeys() {
        let mut columns = Columns::default();
        let shown = columns.lines(&rows(&[&["two\nlines", "\u{1b}[31mred", "a\tb\u{7}"]]));
        assert_eq!(shown, "two...   ^[[31mred   a b \n");
    }
}
