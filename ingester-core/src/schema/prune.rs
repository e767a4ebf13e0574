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

/// One step from a value into a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PruneStep<'p> {
    /// The member of an object.
    Name(&'p str),
    /// Every element of a list, every value of a map.
    Each,
}

/// The first step of a path, and the path after it; `None` where no step begins.
pub(crate) const fn prune_step(path: &str) -> Option<(PruneStep<'_>, &str)> {
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
pub(crate) const fn check_prune_path(path: &str) -> Option<Fault<'_>> {
    let (mut rest, mut steps) = (path, 0);
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
    let (mut path, mut other) = (path, other);
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
    let (mut prune, mut column) = (prune, column);
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

/// As [`check_prune`] of a column whose path has more than names. Its steps: a name, or one or all elements.
pub fn prunes<'s>(prune: &str, column: impl IntoIterator<Item = Option<&'s str>>) -> bool {
    let (mut rest, mut column) = (prune, column.into_iter());
    while let Some((step, behind)) = prune_step(rest) {
        match (step, column.next()) {
            (PruneStep::Each, _) => {}
            (PruneStep::Name(wanted), Some(Some(name))) if wanted == name => {}
            (PruneStep::Name(_), _) => return false,
        }
        rest = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{PruneStep, check_prune_path, has_no_more, prune_step, prunes};
    use crate::schema::Path;

    fn steps(path: &str) -> Vec<PruneStep<'_>> {
        let (mut rest, mut all) = (path, Vec::new());
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
            assert_eq!(prunes(prune, column.split('.').map(Some)), is_empty, "{prune} {column}");
        }
        // A file's columns have steps to elements, too.
        assert!(prunes(".spec.env[*].value", [Some("spec"), Some("env"), None, Some("value")]));
        assert!(!prunes(".spec.env[*].value", [Some("spec"), Some("env"), None, Some("name")]));
    }
}
