//! Rules by which a kind's objects leave etcd, with the checks that structs and files share.
//!
//! The checks here need no values: a rule selects less than everything, and its fields are columns. The code that reads selectors for
//! queries checks that they are valid, and that their values fit the columns.

use super::fault::Fault;
use super::limits::MOST_KEPT;
use super::path::Path;
use super::table::Table;
use super::term::FieldTerm;
use super::text::same;
use super::types::SqlType;
use std::time::Duration;

/// A rule of a kind's owner: which of its live objects may leave etcd. An object must meet all of its conditions. No object leaves etcd
/// until a configuration enforces the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvictionRule {
    /// Its name in messages and in the configuration, unique among the kind's rules.
    pub name: &'static str,
    /// A field selector; empty for all objects.
    pub field_selector: &'static str,
    /// A label selector; empty for all objects.
    pub label_selector: &'static str,
    /// How long ago the time of `since` must be, at least.
    pub after: Option<Duration>,
    /// The column, or the path, of the time that `after` counts from; `None` for the time of creation.
    pub since: Option<&'static str>,
    /// How many objects of each group stay, and the columns, or paths, whose values make a group.
    pub keep_last: Option<(usize, &'static [&'static str])>,
    /// The namespaces; none for all.
    pub namespaces: &'static [&'static str],
    /// A label selector of namespaces; empty for all.
    pub namespace_selector: &'static str,
}

/// Checks the rule at a place as a whole.
pub const fn check_evict<'a>(rules: &'a [EvictionRule], place: usize) -> Option<Fault<'a>> {
    let rule = &rules[place];
    if rule.name.is_empty() {
        return Some(Fault::EvictNameless);
    }
    let mut r = 0;
    while r < place {
        if same(rules[r].name, rule.name) {
            return Some(Fault::EvictTwice(rule.name));
        }
        r += 1;
    }
    let selects = !rule.field_selector.is_empty() || !rule.label_selector.is_empty();
    if !selects && rule.after.is_none() && rule.keep_last.is_none() {
        return Some(Fault::EvictAll);
    }
    if rule.since.is_some() && rule.after.is_none() {
        return Some(Fault::EvictSinceAlone);
    }
    match rule.keep_last {
        Some((count, _)) => check_evict_count(count),
        None => None,
    }
}

/// Checks that a rule keeps a number of objects which can be counted.
pub const fn check_evict_count<'a>(count: usize) -> Option<Fault<'a>> {
    if count == 0 || count > MOST_KEPT { Some(Fault::EvictCount) } else { None }
}

/// Checks that the kind's objects can leave etcd by rules, as its options say.
pub const fn check_evictable<'a>(immutable: bool, evictable: Option<bool>) -> Option<Fault<'a>> {
    match (immutable, evictable) {
        (true, _) => Some(Fault::EvictImmutable),
        (false, Some(false)) => Some(Fault::EvictUnevictable),
        (false, _) => None,
    }
}

/// Checks that each field of a field selector is a column, or of many values.
pub const fn check_evict_fields<'a>(table: &Table, selector: &'a str) -> Option<Fault<'a>> {
    let mut from = 0;
    while from < selector.len() {
        let cut = FieldTerm::cut(selector, from);
        from = cut.end + 1;
        if cut.is_empty() {
            continue;
        }
        let term = selector.split_at(cut.end).0.split_at(cut.begin).1;
        if cut.operator.is_none() || cut.list_fault(selector).is_some() {
            return Some(Fault::EvictOperator(term));
        }
        let field = term.split_at(cut.field_end - cut.begin).0;
        if place(table, field).is_none() && !is_of_many(table, field) {
            return Some(Fault::EvictField(field));
        }
    }
    None
}

/// Checks that `since` is a column of a time.
pub const fn check_evict_since<'a>(table: &Table, since: &'a str) -> Option<Fault<'a>> {
    match place(table, since) {
        Some(at) if matches!(table.columns[at].ty, SqlType::DateTime) => None,
        Some(_) => Some(Fault::EvictNotATime(since)),
        None => Some(Fault::EvictField(since)),
    }
}

/// Checks that a field that makes groups is a column.
pub const fn check_evict_by<'a>(table: &Table, by: &'a str) -> Option<Fault<'a>> {
    if place(table, by).is_some() { None } else { Some(Fault::EvictField(by)) }
}

/// Checks that a text can be the name of a namespace: an RFC 1123 label, as Kubernetes requires ("Object Names and IDs").
pub const fn check_evict_namespace(name: &str) -> Option<Fault<'_>> {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() && (bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit() || bytes[at] == b'-') {
        at += 1;
    }
    match bytes {
        [] | [b'-', ..] | [.., b'-'] => Some(Fault::EvictNamespace(name)),
        _ if at < bytes.len() || bytes.len() > 63 => Some(Fault::EvictNamespace(name)),
        _ => None,
    }
}

/// Checks that the kind's objects are in the namespaces that a rule names.
pub const fn check_evict_namespaces<'a>(namespaced: bool) -> Option<Fault<'a>> {
    if namespaced { None } else { Some(Fault::EvictNoNamespaces) }
}

/// The place of the column of this name or path, as [`Table::by_name`] and [`Table::by_path`].
const fn place(table: &Table, field: &str) -> Option<usize> {
    let mut c = 0;
    while c < table.columns.len() {
        if table.columns[c].name.same_as(field) {
            return Some(c);
        }
        c += 1;
    }
    c = 0;
    while c < table.columns.len() {
        let column = &table.columns[c];
        if let Some(path) = column.path
            && !column.computed
            && column.stays.is_none()
            && let Some(rest) = behind(path, field)
            && rest.is_empty()
        {
            return Some(c);
        }
        c += 1;
    }
    None
}

/// Returns true if a field is a column of many values, or the value that a map has for a key.
const fn is_of_many(table: &Table, field: &str) -> bool {
    let mut m = 0;
    while m < table.many.len() {
        let many = &table.many[m];
        let name = many.name.as_str();
        if field.len() >= name.len() && field.is_char_boundary(name.len()) {
            let (head, rest) = field.split_at(name.len());
            if head.eq_ignore_ascii_case(name) && is_end_or_key(rest) {
                return true;
            }
        }
        if let Some(path) = many.path
            && let Some(rest) = behind(path, field)
            && is_end_or_key(rest)
        {
            return true;
        }
        m += 1;
    }
    false
}

const fn is_end_or_key(rest: &str) -> bool {
    matches!(rest.as_bytes(), [] | [b'.' | b'[', ..])
}

/// Returns the rest of a field after a path; `None` if the field does not begin with the path.
const fn behind(path: Path, field: &str) -> Option<&str> {
    let (mut path, mut rest, mut first) = (path, field, true);
    while let Some((name, more)) = path.split() {
        if !first {
            if !matches!(rest.as_bytes(), [b'.', ..]) {
                return None;
            }
            rest = rest.split_at(1).1;
        }
        if rest.len() < name.len() || !rest.is_char_boundary(name.len()) {
            return None;
        }
        let (head, tail) = rest.split_at(name.len());
        if !same(head, name) || !is_end_or_key(tail) {
            return None;
        }
        (path, rest, first) = (more, tail, false);
    }
    if first { None } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use super::{behind, check_evict_by, check_evict_fields, check_evict_since};
    use crate::fixture::MODEL;
    use crate::schema::Path;

    #[test]
    fn a_field_is_behind_a_path_only_at_its_steps() {
        let path = Path::new("spec.owner");
        for (field, rest) in [
            ("spec.owner", Some("")),
            ("spec.owner.name", Some(".name")),
            (r#"spec.owner["a"]"#, Some(r#"["a"]"#)),
            ("spec.owners", None),
            ("spec", None),
            ("specowner", None),
            ("spec.öwner", None),
        ] {
            assert_eq!(behind(path, field), rest, "{field}");
        }
        assert_eq!(behind(Path::HERE, ""), None);
    }

    #[test]
    fn an_unknown_column_is_named() {
        let table = MODEL.table();
        let said = |fault: Option<super::Fault<'_>>| fault.map(|fault| fault.to_string()).unwrap_or_default();
        assert_eq!(said(check_evict_fields(table, "name=a,metadata.namespace!=b,,CREATE_TIME<5,uid in (a, b)")), "");
        assert!(said(check_evict_fields(table, "name=a,spec.nothing=b")).contains("`spec.nothing`"));
        assert!(said(check_evict_fields(table, "name")).contains("behind `name`"));
        assert!(said(check_evict_fields(table, "name in (a")).contains("behind `name in (a`"));
        assert!(said(check_evict_fields(table, "name=a,nam notin (a)")).contains("`nam`"));
        assert_eq!(said(check_evict_since(table, "create_time")), "");
        assert!(said(check_evict_since(table, "name")).contains("`name` is not a time"));
        assert_eq!(said(check_evict_by(table, "metadata.name")), "");
        assert!(said(check_evict_by(table, "phase.x")).contains("`phase.x`"));
    }
}
