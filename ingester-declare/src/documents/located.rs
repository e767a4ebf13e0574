//! One document whose values know the lines on which they stand, for files that people write and want to hear about.

use super::compose::compose_with_lines;
use super::{DocumentError, MAX_DOCUMENT};
use ingester_core::json::{self, Reader, TokenKind};

/// A value, and the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Located {
    /// From 1. A value that was merged (`<<`) has the line of its mapping.
    pub(crate) line: u64,
    pub(crate) tree: Tree,
}

/// A value as JSON has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Truth(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Located>),
    /// In the order of the file. Each value's line is that of its key.
    Map(Vec<(String, Located)>),
}

/// The tree of a text, which is one YAML document, or JSON.
///
/// # Errors
/// When it is no YAML, has a key twice in one mapping, or is more than one document.
pub(crate) fn located(text: &str) -> Result<Located, DocumentError> {
    if text.len() > MAX_DOCUMENT {
        return Err(DocumentError::TooLarge);
    }
    if let Some(line) = second_document(text) {
        let message = "a second document begins here; a file of kinds is one".to_owned();
        return Err(DocumentError::Syntax { line, column: 1, message });
    }
    let (json, lines) = compose_with_lines(text)?;
    if json.is_empty() {
        return Ok(Located { line: 1, tree: Tree::Null });
    }
    let mut builder = Builder { lines: &lines };
    // The composer writes JSON, so this is never seen.
    let wrong = |error: json::Error| DocumentError::Syntax { line: 1, column: 1, message: error.to_string() };
    let mut reader = Reader::new(&json);
    builder.value(&mut reader).map_err(wrong)
}

/// The line on which a second document begins.
fn second_document(text: &str) -> Option<u64> {
    let mut began = false;
    for (line, content) in (1..).zip(text.lines()) {
        let marker = content.trim_end() == "---" || content.starts_with("--- ");
        if marker && began {
            return Some(line);
        }
        let content = content.trim_start();
        began |= !marker && !content.is_empty() && !content.starts_with(['#', '%']);
    }
    None
}

struct Builder<'a> {
    lines: &'a [(usize, u64)],
}

impl Builder<'_> {
    fn line(&self, place: usize) -> u64 {
        let behind = self.lines.partition_point(|(start, _)| *start <= place);
        self.lines.get(behind.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }

    /// The composer has bounded the depth.
    fn value(&mut self, reader: &mut Reader<'_>) -> Result<Located, json::Error> {
        let line = self.line(reader.offset());
        let tree = match reader.peek()? {
            TokenKind::Null => {
                reader.null()?;
                Tree::Null
            }
            TokenKind::Bool => Tree::Truth(reader.bool()?),
            TokenKind::Number => Tree::Number(reader.number()?.to_owned()),
            TokenKind::String => Tree::Text(reader.string()?.into_owned()),
            TokenKind::Array => {
                let mut list = Vec::new();
                reader.begin_array()?;
                while reader.next_element()? {
                    list.push(self.value(reader)?);
                }
                Tree::List(list)
            }
            TokenKind::Object => {
                let mut map = Vec::new();
                reader.begin_object()?;
                while let Some(key) = reader.next_key()? {
                    // The last place noted before the value is its key's.
                    let line = self.line(reader.offset().saturating_sub(1));
                    let value = self.value(reader)?;
                    map.push((key.into_owned(), Located { line, ..value }));
                }
                Tree::Map(map)
            }
        };
        Ok(Located { line, tree })
    }
}

#[cfg(test)]
mod tests {
    use super::{Located, Tree, located};

    fn at<'t>(tree: &'t Located, path: &[&str]) -> &'t Located {
        path.iter().fold(tree, |tree, step| match &tree.tree {
            Tree::Map(map) => &map.iter().find(|(key, _)| key == step).unwrap().1,
            Tree::List(list) => &list[step.parse::<usize>().unwrap()],
            other => panic!("{step} in {other:?}"),
        })
    }

    #[test]
    fn every_value_knows_the_line_of_its_key_or_of_its_item() {
        let text = "# kinds\nkinds:\n- kind: A\n  columns:\n  - {column: a,\n     path: .a}\n  - column: >-\n      b\n    path: .b\n";
        let tree = located(text).unwrap();
        for (path, line) in [
            (&["kinds"][..], 2),
            (&["kinds", "0"], 3),
            (&["kinds", "0", "columns"], 4),
            (&["kinds", "0", "columns", "0", "column"], 5),
            (&["kinds", "0", "columns", "0", "path"], 6),
            (&["kinds", "0", "columns", "1"], 7),
            (&["kinds", "0", "columns", "1", "path"], 9),
        ] {
            assert_eq!(at(&tree, path).line, line, "{path:?}");
        }
    }

    #[test]
    fn what_is_merged_has_the_line_of_a_mapping_around_it() {
        let text = "a: &a\n  x: 1\nb:\n  <<: *a\n  z: 2\nc: 3\n";
        let tree = located(text).unwrap();
        assert_eq!(at(&tree, &["b", "x"]).tree, Tree::Number("1".into()));
        assert_eq!((at(&tree, &["b", "z"]).line, at(&tree, &["c"]).line), (5, 6));
    }

    #[test]
    fn a_second_document_and_a_key_that_comes_twice_are_named_with_their_lines() {
        assert_eq!(
            located("a: 1\n---\nb: 2\n").unwrap_err().to_string(),
            "line 2 column 1: a second document begins here; a file of kinds is one"
        );
        assert!(located("---\na: 1\n").is_ok());
        assert!(
            located("a: 1\na: 2\n").unwrap_err().to_string().starts_with("line 2 column 1: the key `a` appears twice")
        );
        assert_eq!(located("# nothing\n").unwrap().tree, Tree::Null);
    }
}
