//! Where a column's value is in the JSON of its object.

use std::borrow::Cow;

/// The names of fields that lead to a value, from the object inwards: `spec.owner.name`.
///
/// The derives join such paths in constant evaluation: the path of the field that holds a struct comes before the path of the struct's
/// field.
#[derive(Clone, Copy)]
pub struct Path {
    /// Names with dots between them; `["a.b"]` is a name that has a dot. Each text may be empty.
    names: [&'static str; 2],
    /// The rest of the path.
    rest: Option<&'static Path>,
}

impl Path {
    /// The value itself.
    pub const HERE: Path = Path::new("");

    /// A path of names with dots between them. A name that has a dot is in brackets and quotes: `status["a.json"]`.
    pub const fn new(names: &'static str) -> Self {
        Path { names: [names, ""], rest: None }
    }

    /// `rest`, inside what is at `names` in `root`.
    pub(super) const fn joined(root: &'static str, names: &'static str, rest: Option<&'static Path>) -> Self {
        Path { names: [root, names], rest }
    }

    /// The text of a path of these names, for [`Path::new`]; `None` if it cannot be written.
    pub fn text_of<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<String> {
        let mut text = String::new();
        for name in names {
            // The text has no escapes.
            if name.is_empty() || name.contains("[\"") || (name.contains('.') && name.contains('"')) {
                return None;
            }
            push_name(&mut text, name);
        }
        Some(text)
    }

    /// The first name, and the path from there on; `None` for [`Path::HERE`]. As [`Path::steps`], in constant evaluation.
    pub(super) const fn split(mut self) -> Option<(&'static str, Path)> {
        loop {
            let [front, behind] = self.names;
            if front.is_empty() {
                match (behind.is_empty(), self.rest) {
                    (false, _) => self.names = [behind, ""],
                    (true, Some(rest)) => self = *rest,
                    (true, None) => return None,
                }
                continue;
            }
            let (name, rest) = split_text(front);
            self.names[0] = rest;
            if !name.is_empty() {
                return Some((name, self));
            }
        }
    }

    /// The names, from the object inwards.
    pub fn steps(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::successors(self.split(), |(_, rest)| rest.split()).map(|(name, _)| name)
    }

    /// Returns true if `field` is this path, as people write it.
    pub const fn is(self, field: &str) -> bool {
        matches!(self.behind(field), Some(rest) if rest.is_empty())
    }

    /// Returns the rest of a field that begins with this path; `None` for other fields. A dot before the first name is left out or not.
    pub(super) const fn behind(self, field: &str) -> Option<&str> {
        let mut path = self;
        let mut rest = field;
        let mut is_first = true;
        while let Some((name, inner)) = path.split() {
            let Some((written, tail)) = WrittenName::cut(rest) else { return None };
            if !written.is(name) {
                return None;
            }
            (path, rest, is_first) = (inner, tail, false);
        }
        if is_first { None } else { Some(rest) }
    }
}

/// The first name of a path's text, and the text behind it. The name is empty at a dot.
const fn split_text(text: &'static str) -> (&'static str, &'static str) {
    let bytes = text.as_bytes();
    let mut end = 0;
    if let [b'[', b'"', ..] = bytes {
        end = 2;
        while end + 1 < bytes.len() {
            if bytes[end] == b'"' && bytes[end + 1] == b']' {
                let (name, rest) = text.split_at(end);
                return (name.split_at(2).1, rest.split_at(2).1);
            }
            end += 1;
        }
        return (text, "");
    }
    while end < bytes.len() && bytes[end] != b'.' {
        if end + 1 < bytes.len() && bytes[end] == b'[' && bytes[end + 1] == b'"' {
            return text.split_at(end);
        }
        end += 1;
    }
    let (name, rest) = text.split_at(end);
    (name, if rest.is_empty() { rest } else { rest.split_at(1).1 })
}

fn push_name(text: &mut String, name: &str) {
    if name.contains('.') {
        text.extend(["[\"", name, "\"]"]);
        return;
    }
    if !text.is_empty() {
        text.push('.');
    }
    text.push_str(name);
}

/// A name in a field's path, as people write it in selectors, orders and files: `.name` ends at a dot or a bracket, and `a\.json`,
/// `["a.json"]` and `['a.json']` are names that have a dot. A character after a `\` belongs to the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenName<'t>(&'t str);

impl<'t> WrittenName<'t> {
    /// Returns the first name of a path and the text behind it; `None` if no name is there. A dot may stand before the name.
    pub const fn cut(path: &'t str) -> Option<(Self, &'t str)> {
        let path = match path.as_bytes() {
            [b'.', ..] => path.split_at(1).1,
            _ => path,
        };
        let bytes = path.as_bytes();
        if let [b'[', ..] = bytes {
            let Some(end) = quoted_name(bytes, 0) else { return None };
            let (front, rest) = path.split_at(end);
            let name = front.split_at(end - 2).0.split_at(2).1;
            return match rest.as_bytes() {
                [] | [b'.' | b'[', ..] if !name.is_empty() => Some((WrittenName(name), rest)),
                _ => None,
            };
        }
        let mut end = 0;
        while end < bytes.len() && !matches!(bytes[end], b'.' | b'[') {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end == 0 || end > bytes.len() {
            return None;
        }
        // After a `\`, the place may be inside of a character; the dot and the bracket never are.
        let (name, rest) = path.split_at(end);
        Some((WrittenName(name), rest))
    }

    /// Returns all names of a path; `None` if it is not one.
    pub fn all(path: &'t str) -> Option<Vec<Self>> {
        let (first, mut rest) = Self::cut(path)?;
        let mut names = vec![first];
        while !rest.is_empty() {
            let (name, behind) = Self::cut(rest)?;
            names.push(name);
            rest = behind;
        }
        Some(names)
    }

    pub(super) const fn as_written(self) -> &'t str {
        self.0
    }

    /// The name itself.
    pub fn name(self) -> Cow<'t, str> {
        if !self.0.contains('\\') {
            return Cow::Borrowed(self.0);
        }
        let mut characters = self.0.chars();
        let mut name = String::new();
        while let Some(character) = characters.next() {
            name.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
        }
        Cow::Owned(name)
    }

    /// The key of a map that is written behind the map's own path: `.key`, which may have dots, `["key"]` or `[key]`.
    pub(super) const fn key(behind: &'t str) -> Option<Self> {
        match behind.as_bytes() {
            [b'.', ..] => Some(WrittenName(behind.split_at(1).1)),
            [b'[', .., b']'] => match quoted_name(behind.as_bytes(), 0) {
                Some(end) if end == behind.len() => Some(WrittenName(behind.split_at(end - 2).0.split_at(2).1)),
                Some(_) => None,
                None => Some(WrittenName(behind.split_at(behind.len() - 1).0.split_at(1).1)),
            },
            _ => None,
        }
    }

    const fn is(self, name: &str) -> bool {
        let written = self.0.as_bytes();
        let name = name.as_bytes();
        let mut at = 0;
        let mut n = 0;
        while at < written.len() {
            if written[at] == b'\\' && at + 1 < written.len() {
                at += 1;
            }
            if n == name.len() || written[at] != name[n] {
                return false;
            }
            (at, n) = (at + 1, n + 1);
        }
        n == name.len()
    }
}

/// Returns where a name in brackets and quotes ends that begins here, behind its bracket; `None` if none begins here.
pub(super) const fn quoted_name(bytes: &[u8], begin: usize) -> Option<usize> {
    let quote = match bytes.split_at(begin).1 {
        [b'[', quote @ (b'"' | b'\''), ..] => *quote,
        _ => return None,
    };
    let mut at = begin + 2;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    if at + 1 < bytes.len() && bytes[at + 1] == b']' { Some(at + 2) } else { None }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.steps().eq(other.steps())
    }
}

impl Eq for Path {}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.steps().for_each(|name| push_name(&mut text, name));
        f.write_str(&text)
    }
}

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{self}`")
    }
}

impl serde::Serialize for Path {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, WrittenName};

    static NAME: Path = Path::new("name");
    static OWNER: Path = Path::joined("", "owner", Some(&NAME));

    #[test]
    fn joined_paths_read_from_the_object_inwards() {
        let path = Path::joined("spec", "", Some(&OWNER));
        assert_eq!(path.to_string(), "spec.owner.name");
        assert_eq!(path, Path::new("spec.owner.name"));
        assert_eq!(path.steps().collect::<Vec<_>>(), ["spec", "owner", "name"]);
        let split: Vec<_> =
            std::iter::successors(path.split(), |(_, rest)| rest.split()).map(|(name, _)| name).collect();
        assert_eq!(split, ["spec", "owner", "name"]);
        assert_eq!(Path::HERE.to_string(), "");
    }

    #[test]
    fn a_path_is_its_text_and_no_other() {
        let path = Path::joined("spec", "owner", Some(&NAME));
        for text in ["spec.owner.name", ".spec.owner.name", "spec['owner'].name", r#"spec["owner"]["name"]"#] {
            assert!(path.is(text), "{text}");
        }
        for other in [
            "",
            "spec",
            "spec.owner",
            "spec.owner.name.",
            "..spec.owner.name",
            "spec..owner.name",
            "spec.Owner.name",
            r"spec.owner\.name",
            "spec[owner].name",
            "spec[\"owner].name",
            "spec[\"owner\"]name",
        ] {
            assert!(!path.is(other), "{other}");
        }
        assert!(!Path::HERE.is(""));
    }

    #[test]
    fn a_name_may_have_dots_in_each_spelling_of_a_file() {
        static INNER: Path = Path::new(r#"["b.c"].d"#);
        for path in [
            Path::new(r#"status["a.json"]["b.c"].d"#),
            // As the derives join names.
            Path::joined("status", r#"["a.json"].["b.c"].d"#, None),
            Path::joined("status", r#"["a.json"]"#, Some(&INNER)),
        ] {
            assert_eq!(path.steps().collect::<Vec<_>>(), ["status", "a.json", "b.c", "d"]);
            assert_eq!(path.to_string(), r#"status["a.json"]["b.c"].d"#);
            for text in [
                r#"status["a.json"]["b.c"].d"#,
                "status['a.json']['b.c']['d']",
                r"status.a\.json.b\.c.d",
                r#".status.a\.json["b\.c"].d"#,
            ] {
                assert!(path.is(text), "{text}");
            }
            assert!(!path.is("status.a.json.b.c.d"));
        }
        assert_eq!(Path::text_of(["status", "a.json", "b"]).as_deref(), Some(r#"status["a.json"].b"#));
        assert_eq!(Path::text_of(["a.json"]).as_deref(), Some(r#"["a.json"]"#));
        assert_eq!(Path::text_of(["status", "a\".json"]), None);
        let names = WrittenName::all(r#"a.b\.c["d'\"e"]['f"']"#).unwrap();
        assert_eq!(names.into_iter().map(WrittenName::name).collect::<Vec<_>>(), ["a", "b.c", "d'\"e", "f\""]);
        for text in ["", ".", "a.", "a..b", "a[0]", "a[b]", r"a.b\", "a[\"\"]", "a[\"b\"]c", "a[\"b"] {
            assert_eq!(WrittenName::all(text), None, "{text}");
        }
    }
}
