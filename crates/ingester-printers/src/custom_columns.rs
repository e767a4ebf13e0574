//! `custom-columns=NAME:.metadata.name,...`, as kubectl reads and prints them.
//!
//! May use: jsonpath, tree.

use crate::Tree;
use crate::jsonpath::{Template, TemplateError};

/// The requested columns.
#[derive(Debug)]
pub struct CustomColumns {
    columns: Vec<(String, Template)>,
}

impl CustomColumns {
    /// Reads `HEADER:PATH,...`.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.is_empty() {
            return Err(TemplateError("custom-columns format specified but no custom columns given".to_owned()));
        }
        let column = |part: &str| {
            let Some((header, path)) = part.split_once(':') else {
                return Err(TemplateError(format!(
                    "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
                )));
            };
            Ok((header.to_owned(), Template::parse(&relaxed(path)?)?))
        };
        Ok(CustomColumns { columns: text.split(',').map(column).collect::<Result<_, _>>()? })
    }

    /// The headers.
    pub fn headers(&self) -> Vec<String> {
        self.columns.iter().map(|(header, _)| header.clone()).collect()
    }

    /// The cells of an object's lines; `<none>` for a missing value. There is one line, unless a value has several: as in kubectl, a value's
    /// end of a line ends the whole line, and its tab ends the cell.
    ///
    /// # Errors
    /// When a path does not fit the object's values.
    pub fn lines(&self, tree: &Tree) -> Result<Vec<Vec<String>>, TemplateError> {
        let mut lines = vec![Vec::new()];
        for (_, path) in &self.columns {
            let values = path.values(tree)?;
            let text = if values.is_empty() { "<none>".to_owned() } else { values.join(",") };
            for (nth, part) in text.replace('\r', "\\r").split(['\n', '\u{c}']).enumerate() {
                let cells = part.split(['\t', '\u{b}']).map(str::to_owned);
                match lines.last_mut() {
                    Some(line) if nth == 0 => line.extend(cells),
                    _ => lines.push(cells.collect()),
                }
            }
        }
        Ok(lines)
    }
}

/// The template of a path that may lack its braces and its first dot.
///
/// # Errors
/// When it has other braces.
fn relaxed(path: &str) -> Result<String, TemplateError> {
    let inner = path.strip_prefix('{').and_then(|path| path.strip_suffix('}')).unwrap_or(path);
    let inner = inner.strip_prefix('.').unwrap_or(inner);
    if path.is_empty() {
        return Ok(String::new());
    }
    if inner.is_empty() || inner.contains(['{', '}']) {
        return Err(TemplateError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
                .to_owned(),
        ));
    }
    Ok(format!("{{.{inner}}}"))
}

#[cfg(test)]
mod tests {
    use super::relaxed;

    #[test]
    fn a_path_may_lack_braces_and_its_first_dot() {
        for path in ["foo.bar", "{foo.bar}", ".foo.bar", "{.foo.bar}"] {
            assert_eq!(relaxed(path).as_deref(), Ok("{.foo.bar}"));
        }
    }
}
