//! Paths that a kind does not store, and what is wrong with one. The same for a struct and a file.
//!
//! ```text
//! path = step+
//! step = .name | ["text"] | [*]
//! ```
//!
//! They are paths as files of kinds have them, those that name a place: `[*]` is every element of a list and every value of a map.
//! No step chooses one element of a list: an element that moves within the list would be stored again.

use super::Path;
use super::fault::Fault;
use super::table::Table;
use super::text::same;
use std::collections::HashMap;

/// One step from a value into a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PruneStep<'p> {
    /// The member of an object.
    Name(&'p str),
    /// Every element of a list, every value of a map.
    Each,
}

/// The first step of a path, and the path after it; `None` where no step begins.
const fn prune_step(path: &str) -> Option<(PruneStep<'_>, &str)> {
    let bytes = path.as_bytes();
    let mut end;
    match bytes {
        [b'.', ..] => {
            end = 1;
            while end < bytes.len() && is_name_byte(bytes[end]) {
                end += 1;
            }
            let (front, rest) = path.split_at(end);
            if end == 1 { None } else { Some((PruneStep::Name(front.split_at(1).1), rest)) }
        }
        [b'[', b'*', b']', ..] => Some((PruneStep::Each, path.split_at(3).1)),
        [b'[', b'"', ..] => {
            end = 2;
            while end < bytes.len() && bytes[end] != b'"' {
                // An escape: no name of Kubernetes needs one.
                if bytes[end] == b'\\' {
                    return None;
                }
                end += 1;
            }
            if end == 2 || end + 1 >= bytes.len() || bytes[end + 1] != b']' {
                return None;
            }
            let (front, rest) = path.split_at(end + 2);
            Some((PruneStep::Name(front.split_at(end).0.split_at(2).1), rest))
        }
        _ => None,
    }
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$')
}

/// Checks one of a kind's paths.
pub const fn check_prune<'a>(table: &Table, paths: &[&'a str], place: usize) -> Option<Fault<'a>> {
    let path = paths[place];
    if let Some(fault) = check_prune_path(path) {
        return Some(fault);
    }
    let mut p = 0;
    while p < paths.len() {
        // If two are the same, the later one is named.
        if p != place && begins_with(path, paths[p]) && (p < place || !same(path, paths[p])) {
            return Some(Fault::PruneWithin(path, paths[p]));
        }
        p += 1;
    }
    let mut c = 0;
    while c < table.columns.len() {
        let column = &table.columns[c];
        if let Some(its) = column.path
            && has_no_more(path, its)
        {
            return Some(Fault::PruneColumn { path, column: column.name });
        }
        c += 1;
    }
    let mut m = 0;
    while m < table.many.len() {
        let many = &table.many[m];
        if let Some(its) = many.path
            && has_no_more(path, its)
        {
            return Some(Fault::PruneColumn { path, column: many.name });
        }
        m += 1;
    }
    None
}

/// Checks that a text is a path, and does not lead to a value that the ingester needs.
pub const fn check_prune_path(path: &str) -> Option<Fault<'_>> {
    let mut rest = path;
    let mut steps = 0;
    let mut first = [PruneStep::Each; 3];
    while !rest.is_empty() {
        let Some((step, behind)) = prune_step(rest) else { return Some(Fault::PruneUnreadable(path)) };
        if steps < first.len() {
            first[steps] = step;
        }
        (rest, steps) = (behind, steps + 1);
    }
    let PruneStep::Name(member) = first[0] else { return Some(Fault::PruneUnreadable(path)) };
    if same(member, "apiVersion") || same(member, "kind") {
        return Some(Fault::PruneNeeded(path));
    }
    if same(member, "metadata") {
        return match (first[1], first[2], steps) {
            (PruneStep::Name(map), PruneStep::Name(_), 3) if same(map, "annotations") || same(map, "labels") => None,
            _ => Some(Fault::PruneNeeded(path)),
        };
    }
    None
}

/// True if a path is another one, or lies within it.
const fn begins_with(path: &str, other: &str) -> bool {
    let mut path = path;
    let mut other = other;
    loop {
        if other.is_empty() {
            return true;
        }
        let (Some((its, behind)), Some((step, rest))) = (prune_step(path), prune_step(other)) else { return false };
        match (its, step) {
            (PruneStep::Name(its), PruneStep::Name(name)) if same(its, name) => {}
            (_, PruneStep::Each) => {}
            _ => return false,
        }
        (path, other) = (behind, rest);
    }
}

/// True if a column's path leads to nothing once the value at `prune` is cut out.
const fn has_no_more(prune: &str, column: Path) -> bool {
    let mut prune = prune;
    let mut column = column;
    while let Some((step, rest)) = prune_step(prune) {
        match (step, column.split()) {
            (PruneStep::Name(wanted), Some((name, _))) if !same(wanted, name) => return false,
            (_, Some((_, behind))) => column = behind,
            // The list itself, with every element cut out of it.
            (PruneStep::Each, None) => {}
            (PruneStep::Name(_), None) => return false,
        }
        prune = rest;
    }
    true
}

/// The paths that a kind does not store, joined into one tree: one pass over the steps to a value finds all paths that lead there,
/// however many paths there are.
#[derive(Debug, Default)]
pub struct PruneTree<'p> {
    names: HashMap<&'p str, PruneTree<'p>>,
    each: Option<Box<PruneTree<'p>>>,
    /// The places of the paths that end here, in the list that the tree was made of.
    ends: Vec<usize>,
}

impl<'p> PruneTree<'p> {
    /// The tree of these paths, without those that cannot be read.
    pub fn of(paths: &[&'p str]) -> Self {
        let mut tree = PruneTree::default();
        let readable = |path: &&str| !matches!(check_prune_path(path), Some(Fault::PruneUnreadable(_)));
        for (place, path) in paths.iter().enumerate().filter(|(_, path)| readable(path)) {
            let mut here = &mut tree;
            for step in steps(path) {
                here = match step {
                    PruneStep::Name(name) => here.names.entry(name).or_default(),
                    PruneStep::Each => here.each.get_or_insert_default(),
                };
            }
            here.ends.push(place);
        }
        tree
    }

    /// Returns true if a path ends here.
    pub(crate) fn is_end(&self) -> bool {
        !self.ends.is_empty()
    }

    /// The trees of the paths that go on with the member of this name, or without a name with an element of a list.
    pub(crate) fn behind(&self, name: Option<&str>) -> impl Iterator<Item = &PruneTree<'p>> {
        name.and_then(|name| self.names.get(name)).into_iter().chain(self.each.as_deref())
    }

    /// The place of the first path that makes the one at a place superfluous: that one lies within it, or repeats it.
    ///
    /// The tree was made of these paths.
    pub fn within(&self, paths: &[&str], place: usize) -> Option<usize> {
        let path = paths.get(place)?;
        let way = steps(path).map(|step| match step {
            PruneStep::Name(name) => Some(name),
            PruneStep::Each => None,
        });
        // If two are the same, the later one is named.
        let counts = |other: &usize| *other < place || (*other > place && paths[*other] != *path);
        self.ends_on(way).into_iter().filter(counts).min()
    }

    /// The places of the paths without whose values a column or condition has nothing to read. The steps of its path: a name, or one or
    /// all elements.
    pub fn pruning<'s>(&self, way: impl IntoIterator<Item = Option<&'s str>>) -> Vec<usize> {
        // At the end of the way is a list or map, of which every element may be cut out.
        self.ends_on(way.into_iter().chain(std::iter::repeat(None)))
    }

    /// The paths that end on a way.
    fn ends_on<'s>(&self, way: impl IntoIterator<Item = Option<&'s str>>) -> Vec<usize> {
        let mut here = vec![self];
        let mut ends = Vec::new();
        for step in way {
            here = here.into_iter().flat_map(|tree| tree.behind(step)).collect();
            ends.extend(here.iter().flat_map(|tree| &tree.ends));
            if here.is_empty() {
                break;
            }
        }
        ends
    }
}

/// The steps of a path, up to the first text that is none.
fn steps(path: &str) -> impl Iterator<Item = PruneStep<'_>> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let (step, behind) = prune_step(rest)?;
        rest = behind;
        Some(step)
    })
}

#[cfg(test)]
mod tests {
    use super::{PruneStep, PruneTree, begins_with, check_prune_path, has_no_more, prune_step};
    use crate::schema::Path;

    fn steps(path: &str) -> Vec<PruneStep<'_>> {
        let mut rest = path;
        let mut all = Vec::new();
        while let Some((step, behind)) = prune_step(rest) {
            all.push(step);
            rest = behind;
        }
        assert_eq!(rest, "", "{path}");
        all
    }

    #[test]
    fn a_path_is_read_step_by_step() {
        use PruneStep::{Each, Name};
        assert_eq!(steps(".spec.users[*].pass-word"), [Name("spec"), Name("users"), Each, Name("pass-word")]);
        assert_eq!(steps(r#".data["a.b/c"][*]"#), [Name("data"), Name("a.b/c"), Each]);
    }

    #[test]
    fn malformed_and_needed_paths_are_reported() {
        for (path, says) in [
            ("", "a path of names"),
            ("spec", "a path of names"),
            (".spec.", "a path of names"),
            (".spec[0]", "a path of names"),
            (".spec[name=a]", "a path of names"),
            (r#".spec["a"#, "a path of names"),
            (r#".spec["a\n"]"#, "a path of names"),
            ("[*]", "a path of names"),
            (".kind", "the ingester needs"),
            (".apiVersion", "the ingester needs"),
            (".metadata", "the ingester needs"),
            (".metadata.name", "the ingester needs"),
            (".metadata.finalizers[*]", "the ingester needs"),
            (".metadata.annotations", "the ingester needs"),
            (".metadata.annotations[*]", "the ingester needs"),
        ] {
            let fault = check_prune_path(path).unwrap_or_else(|| panic!("{path} is taken"));
            assert!(fault.to_string().contains(says), "{path}: {fault}");
        }
        for path in [".spec", ".status.log", r#".metadata.annotations["a/b"]"#, ".metadata.labels.a", ".data[*]"] {
            assert!(check_prune_path(path).is_none(), "{path}");
        }
    }

    #[test]
    fn a_column_is_empty_whose_value_is_within_what_is_cut_out() {
        for (prune, column, is_empty) in [
            (".spec.secret", "spec.secret", true),
            (".spec.secret", "spec.secret.token", true),
            (".spec", "spec.owner", true),
            (".spec.secret", "spec", false),
            (".spec.secret", "spec.secrets", false),
            (".spec.tags[*]", "spec.tags", true),
            (".spec.users[*].token", "spec.users", false),
            (".data[*]", "data.key", true),
        ] {
            assert_eq!(has_no_more(prune, Path::new(column.to_owned().leak())), is_empty, "{prune} {column}");
            let pruning = PruneTree::of(&[prune]).pruning(column.split('.').map(Some));
            assert_eq!(pruning, if is_empty { vec![0] } else { vec![] }, "{prune} {column}");
        }
        // A file's columns have steps to elements, too.
        let tree = PruneTree::of(&[".spec.env[*].value", ".spec.env[*].name", ".spec.env", ".status[*][*]"]);
        assert_eq!(tree.pruning([Some("spec"), Some("env"), None, Some("value")]), [2, 0]);
        assert_eq!(tree.pruning([Some("spec"), Some("env"), None, Some("x")]), [2]);
        assert_eq!(tree.pruning([Some("status")]), [3]);
        assert!(tree.pruning([Some("spec")]).is_empty());
    }

    #[test]
    fn a_tree_of_paths_finds_the_same_superfluous_ones_as_their_comparison() {
        let paths = [
            ".a", ".a.b", ".b", ".b", ".c[*]", ".c.d", ".c.d.e", ".c", ".d[*].e", ".d.x.e", ".d[*][*]", ".e[*]",
            ".e[*]", ".f.g",
        ];
        let tree = PruneTree::of(&paths);
        for (place, path) in paths.iter().enumerate() {
            let is_within = |other: &usize| {
                *other != place && begins_with(path, paths[*other]) && (*other < place || paths[*other] != *path)
            };
            assert_eq!(tree.within(&paths, place), (0..paths.len()).find(is_within), "{path}");
        }
    }

    #[test]
    fn thousands_of_paths_are_no_more_work_for_a_value_than_one() {
        let paths: Vec<String> = (0..5000).map(|number| format!(".spec.m{number}.x")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let tree = PruneTree::of(&paths);
        let [spec] = tree.behind(Some("spec")).collect::<Vec<_>>()[..] else { panic!("{tree:?}") };
        let [member] = spec.behind(Some("m7")).collect::<Vec<_>>()[..] else { panic!("{spec:?}") };
        assert_eq!(member.behind(Some("x")).map(|end| end.ends.clone()).collect::<Vec<_>>(), [[7]]);
        assert_eq!(spec.behind(Some("n")).count() + spec.behind(None).count(), 0);
    }
}
