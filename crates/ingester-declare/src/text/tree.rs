//! One document whose values know the lines on which they stand.

use super::{Fault, Syntax};
use crate::documents::{DocumentError, MAX_DOCUMENT, compose_with_lines, split};
use ingester_core::json::{self, Reader, TokenKind};

/// A value, and the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// From 1. A value that was merged (`<<`) has the line of its mapping.
    pub line: u64,
    /// The value's type and content.
    pub content: Content,
}

/// The content of a value, as JSON has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// As JSON writes it.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// In the order of the file; a key that comes twice is there twice. Each value has the line of its key.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// The first value of a key, if it is a map that has the key.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        let Content::Map(map) = &self.content else { return None };
        map.iter().find(|(there, _)| there == key).map(|(_, tree)| tree)
    }
}

/// As it was read, without lines.
impl serde::Serialize for Tree {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            Content::Null => to.serialize_unit(),
            Content::Truth(truth) => to.serialize_bool(*truth),
            Content::Number(number) => match (number.parse::<i64>(), number.parse::<u64>(), number.parse::<f64>()) {
                (Ok(number), ..) => to.serialize_i64(number),
                (_, Ok(number), _) => to.serialize_u64(number),
                (.., Ok(number)) => to.serialize_f64(number),
                _ => to.serialize_str(number),
            },
            Content::Text(text) => to.serialize_str(text),
            Content::List(list) => to.collect_seq(list),
            Content::Map(map) => to.collect_map(map.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// The tree of a text, which is one YAML document, or JSON. An empty one is [`Content::Null`].
///
/// # Errors
/// When it is not YAML, or more than one document.
pub fn read(text: &str, syntax: &Syntax) -> Result<Tree, Fault> {
    read_document(text, 1, syntax)
}

/// The trees of the documents of a text, which `---` divides; for each that is not YAML, the reason. Documents without content are passed
/// over, unless there is no other.
pub fn read_documents(text: &str, syntax: &Syntax) -> Vec<Result<Tree, Fault>> {
    split(text).into_iter().map(|(first_line, text)| read_document(text, first_line, syntax)).collect()
}

fn read_document(text: &str, first_line: u64, syntax: &Syntax) -> Result<Tree, Fault> {
    if text.len() > MAX_DOCUMENT {
        return Err(fault(&DocumentError::TooLarge));
    }
    let (json, lines) = compose_with_lines(text, first_line, syntax.passwords).map_err(|error| fault(&error))?;
    if json.is_empty() {
        return Ok(Tree { line: first_line, content: Content::Null });
    }
    // The composer writes JSON, so the error is never seen.
    Builder { lines: &lines }.value(&mut Reader::new(&json)).map_err(|error| Fault::somewhere(error.to_string()))
}

/// An error of the document, with its line in a separate field.
fn fault(error: &DocumentError) -> Fault {
    let said = error.to_string();
    let placed = said.strip_prefix("line ").and_then(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        Some((rest[..digits].parse().ok()?, rest[digits..].trim_start_matches([':', ' '])))
    });
    let (line, what) = placed.unwrap_or((1, &said));
    Fault { line: Some(line), path: String::new(), what: what.to_owned() }
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
    fn value(&mut self, reader: &mut Reader<'_>) -> Result<Tree, json::Error> {
        let line = self.line(reader.offset());
        let content = match reader.peek()? {
            TokenKind::Null => {
                reader.null()?;
                Content::Null
            }
            TokenKind::Bool => Content::Truth(reader.bool()?),
            TokenKind::Number => Content::Number(reader.number()?.to_owned()),
            TokenKind::String => Content::Text(reader.string()?.into_owned()),
            TokenKind::Array => {
                let mut list = Vec::new();
                reader.begin_array()?;
                while reader.next_element()? {
                    list.push(self.value(reader)?);
                }
                Content::List(list)
            }
            TokenKind::Object => {
                let mut map = Vec::new();
                reader.begin_object()?;
                while let Some(key) = reader.next_key()? {
                    // The last place noted before the value is its key's.
                    let line = self.line(reader.offset().saturating_sub(1));
                    let value = self.value(reader)?;
                    map.push((key.into_owned(), Tree { line, ..value }));
                }
                Content::Map(map)
            }
        };
        Ok(Tree { line, content })
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Tree, read, read_documents};
    use crate::text::Syntax;

    const PLAIN: Syntax = Syntax { passwords: false, hint: |_| None };
    const PASSWORDS: Syntax = Syntax { passwords: true, ..PLAIN };

    fn at<'t>(tree: &'t Tree, path: &[&str]) -> &'t Tree {
        path.iter().fold(tree, |tree, step| match &tree.content {
            Content::List(list) => &list[step.parse::<usize>().unwrap()],
            _ => tree.get(step).unwrap_or_else(|| panic!("{step} in {tree:?}")),
        })
    }

    #[test]
    fn every_value_knows_the_line_of_its_key_or_of_its_item() {
        let yaml = "# kinds\nkinds:\n- kind: A\n  columns:\n  - {column: a,\n     path: .a}\n  - column: >-\n      b\n    path: .b\n";
        let json = "\n{\"kinds\": [\n{\"kind\": \"A\",\n\t\"columns\": [\n{\"column\": \"a\",\n\"path\": \".a\"},\n{\"column\": \"\\ud83d\\ude00\",\n\n\"path\": \".b\"}]}]}";
        for text in [yaml, json] {
            let tree = read(text, &PLAIN).unwrap();
            for (path, line) in [
                (&["kinds"][..], 2),
                (&["kinds", "0"], 3),
                (&["kinds", "0", "columns"], 4),
                (&["kinds", "0", "columns", "0", "column"], 5),
                (&["kinds", "0", "columns", "0", "path"], 6),
                (&["kinds", "0", "columns", "1"], 7),
                (&["kinds", "0", "columns", "1", "path"], 9),
            ] {
                assert_eq!(at(&tree, path).line, line, "{path:?} of {text}");
            }
        }
    }

    #[test]
    fn documents_know_their_lines_in_the_file() {
        let text = "# kinds\n---\na: 1\n--- # second\n# nothing\n---\n\nb:\n  c: 2\n...\n%YAML 1.2\n---\nd: 3\n--- {e: 4}\n---\nf: [\n";
        let lines = read_documents(text, &PLAIN).into_iter().map(|tree| match tree {
            Ok(Tree { content: Content::Map(map), .. }) => {
                map.iter().map(|(key, tree)| format!("{key} {}", tree.line)).collect()
            }
            other => other.unwrap_err().to_string(),
        });
        let expected = ["a 3", "b 8", "d 13", "e 14", "line 16: column 4: unclosed bracket '['"];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        for empty in ["", "# nothing\n", "---\n---\n", "...\n"] {
            let trees = read_documents(empty, &PLAIN);
            assert!(matches!(&trees[..], [Ok(Tree { content: Content::Null, .. })]), "{empty:?} {trees:?}");
        }
        let json = "{\"a\":\n1}";
        assert_eq!(read_documents(json, &PLAIN), [read(json, &PLAIN)]);
    }

    #[test]
    fn what_is_merged_has_the_line_of_a_mapping_around_it() {
        let text = "a: &a\n  x: 1\nb:\n  <<: *a\n  z: 2\nc: 3\n";
        let tree = read(text, &PLAIN).unwrap();
        assert_eq!(at(&tree, &["b", "x"]).content, Content::Number("1".into()));
        assert_eq!((at(&tree, &["b", "z"]).line, at(&tree, &["c"]).line), (5, 6));
    }

    #[test]
    fn a_scalar_of_a_file_with_passwords_is_the_text_that_is_written() {
        for (written, plain, with_passwords) in [
            ("007", Content::Number("7".into()), Content::Text("007".into())),
            ("yes", Content::Truth(true), Content::Text("yes".into())),
            ("'007'", Content::Text("007".into()), Content::Text("007".into())),
            ("!!str 007", Content::Text("007".into()), Content::Text("007".into())),
            (".inf", Content::Null, Content::Text(".inf".into())),
            ("~", Content::Null, Content::Null),
            ("'~'", Content::Text("~".into()), Content::Text("~".into())),
        ] {
            let of = |syntax| read(&format!("a: {written}"), syntax).map(|tree| at(&tree, &["a"]).content.clone());
            assert_eq!(of(&PLAIN).unwrap_or(Content::Null), plain, "{written}");
            assert_eq!(of(&PASSWORDS), Ok(with_passwords), "{written}");
        }
    }

    #[test]
    fn a_malformed_document_is_a_fault_with_its_line() {
        for (text, said) in [
            ("a: 1\n---\nb: 2\n", "line 2: column 1: a second document begins here; a file has one"),
            ("a: [", "line 1: column 4: unclosed bracket '['"),
            ("a:\n  b: *c\n", "line 2: column 6: `*c` refers to an anchor that is not defined before it"),
        ] {
            assert_eq!(read(text, &PLAIN).unwrap_err().to_string(), said);
        }
        assert!(read(&"[".repeat(10_000), &PLAIN).unwrap_err().to_string().starts_with("line 1: nested deeper than"));
        assert!(read("\u{feff}---\na: 1\n", &PLAIN).is_ok());
        assert_eq!(read("# nothing\n", &PLAIN).unwrap().content, Content::Null);
    }
}
