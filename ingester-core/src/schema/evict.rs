//! Rules by which a kind's objects leave etcd, with the checks that structs and files share.
//!
//! The checks here need no values: a rule selects less than everything, and its fields are columns. The code that reads selectors for
//! queries checks that they are valid, and that their values fit the columns.

use super::fault::Fault;
use super::limits::MOST_KEPT;
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
        if table.place(field).is_none() && table.many(field).is_none() {
            return Some(no_column(table, field));
        }
    }
    None
}

/// The fault of a field without a column. A column may have something that is made of it.
const fn no_column<'a>(table: &Table, field: &'a str) -> Fault<'a> {
    match table.made_of(field) {
        Some(column) => Fault::EvictMade { field, column: *column },
        None => Fault::EvictField(field),
    }
}

/// Checks that `since` is a column of a time.
pub const fn check_evict_since<'a>(table: &Table, since: &'a str) -> Option<Fault<'a>> {
    match table.place(since) {
        Some(at) if matches!(table.columns[at].ty, SqlType::DateTime) => None,
        Some(_) => Some(Fault::EvictNotATime(since)),
        None => Some(no_column(table, since)),
    }
}

/// Checks that a field that makes groups is a column.
pub const fn check_evict_by<'a>(table: &Table, by: &'a str) -> Option<Fault<'a>> {
    if table.place(by).is_some() { None } else { Some(no_column(table, by)) }
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

#[cfg(test)]
mod tests {
    use super::{check_evict_by, check_evict_fields, check_evict_since};
    use crate::fixture::MODEL;

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
