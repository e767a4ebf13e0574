//! Where a column's value is in the JSON of its object.

/// The names of fields that lead to a value, from the object inwards: `spec.owner.name`.
///
/// The derives join such paths in constant evaluation: the path of the field that holds a struct comes before the path of the struct's
/// field.
#[derive(Clone, Copy)]
pub struct Path {
    /// Names with dots between them. Each text may be empty.
    names: [&'static str; 2],
    /// The rest of the path.
    rest: Option<&'static Path>,
}

impl Path {
    /// The value itself.
    pub const HERE: Path = Path::new("");

    /// A path of names with dots between them.
    pub const fn new(names: &'static str) -> Self {
        Path { names: [names, ""], rest: None }
    }

    /// `rest`, inside what is at `names` in `root`.
    pub(super) const fn joined(root: &'static str, names: &'static str, rest: Option<&'static Path>) -> Self {
        Path { names: [root, names], rest }
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
            let mut end = 0;
            while end < front.len() && front.as_bytes()[end] != b'.' {
                end += 1;
            }
            let (name, rest) = front.split_at(end);
            self.names[0] = if rest.is_empty() { rest } else { rest.split_at(1).1 };
            if !name.is_empty() {
                return Some((name, self));
            }
        }
    }

    /// The names, from the object inwards.
    pub fn steps(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::successors(Some(*self), |path| path.rest.copied())
            .flat_map(|path| path.names)
            .flat_map(|names| names.split('.'))
            .filter(|name| !name.is_empty())
    }

    /// Returns true if `text` writes this path, with dots.
    pub fn is(&self, text: &str) -> bool {
        self.steps().eq(text.split('.'))
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.steps().eq(other.steps())
    }
}

impl Eq for Path {}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, step) in self.steps().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            f.write_str(step)?;
        }
        Ok(())
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
    use super::Path;

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
        assert!(path.is("spec.owner.name"));
        for other in
            ["", "spec", "spec.owner", "spec.owner.name.", ".spec.owner.name", "spec..owner.name", "spec.Owner.name"]
        {
            assert!(!path.is(other), "{other}");
        }
    }
}
