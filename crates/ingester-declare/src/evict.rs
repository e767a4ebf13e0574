//! Rules by which objects leave etcd, as files of kinds and the configuration write them: one reader for both. Rules by which rows leave
//! SQL say the same and more; the configuration uses this reader for the common part.
//!
//! May use: ingester-core, ingester-sql, text.

use crate::text::{Content, Faults, Keys, TreeNode};
use ingester_core::duration::Bounds;
use ingester_core::kind::{AFTER, Kind};
use ingester_core::query::Filter;
use ingester_core::schema::{
    EvictionRule, Fault, Table, check_evict_by, check_evict_count, check_evict_fields, check_evict_namespace,
    check_evict_namespaces, check_evict_since,
};
use ingester_sql::query::{Query, QueryError, SelectorError, check_rule, parse_field_selector, parse_label_selector};
use std::time::Duration;

/// A text, and where it is written.
pub type LocatedText<'t> = (TreeNode<'t>, &'t str);

/// A rule as it is written. Anything outside of the grammar is a fault; [`RuleDeclaration::check`] checks that the rule fits a kind.
#[derive(Clone, Debug)]
pub struct RuleDeclaration<'t> {
    /// The whole rule.
    pub at: TreeNode<'t>,
    /// Its name in messages.
    pub name: &'t str,
    /// `when.fieldSelector`
    pub fields: Option<LocatedText<'t>>,
    /// `when.labelSelector`
    pub labels: Option<LocatedText<'t>>,
    /// How long ago the time of `since` must be, at least.
    pub after: Option<Duration>,
    /// The column, or the path, of that time.
    pub since: Option<LocatedText<'t>>,
    /// How many objects of each group stay, and what makes a group.
    pub keep_last: Option<(usize, Vec<LocatedText<'t>>)>,
    /// The namespaces; none for all.
    pub namespaces: Vec<LocatedText<'t>>,
    /// The labels of namespaces.
    pub namespace_selector: Option<LocatedText<'t>>,
    /// `enforce`, of a configuration.
    pub enforce: Option<TreeNode<'t>>,
}

/// The keys of a rule. `enforce` comes last, and only a configuration has it.
pub const KEYS: [&str; 8] =
    ["name", "when", "after", "since", "keepLast", "namespaces", "namespaceSelector", "enforce"];

impl<'t> RuleDeclaration<'t> {
    /// Reads a rule. With `switch`, it may say `enforce`. `None` after a fault.
    pub fn read(at: &TreeNode<'t>, switch: bool, faults: &mut Faults) -> Option<Self> {
        let before = faults.len();
        let mut keys = at.keys_of(&KEYS, faults)?;
        let rule = Self::take(at, &mut keys, AFTER, faults)?;
        if let (Some(at), false) = (&rule.enforce, switch) {
            faults.push(at.fault(
                "the configuration enforces a rule: write a rule of this name with `enforce: true` under `policies.evict`",
            ));
        }
        (faults.len() == before).then_some(rule)
    }

    /// Takes the keys of [`KEYS`] out of the keys of a rule, which may also have others; `bounds` limit `after`. `None` without a name.
    pub fn take(at: &TreeNode<'t>, keys: &mut Keys<'t>, bounds: Bounds, faults: &mut Faults) -> Option<Self> {
        let Some(name) = keys.take("name") else {
            faults.push(at.fault(Fault::EvictNameless.to_string()));
            return None;
        };
        let name = word(&name, faults).filter(|name| {
            let is_empty = name.is_empty();
            if is_empty {
                faults.push(at.fault(Fault::EvictNameless.to_string()));
            }
            !is_empty
        });
        let (fields, labels) = keys.take("when").map(|at| when(&at, faults)).unwrap_or_default();
        let after = keys.take("after").and_then(|at| {
            let text = word(&at, faults)?;
            let wrong = |error| at.expected(&format!("how long ago the time of `since` must be: {error}"));
            bounds.read(text).map_err(|error| faults.push(wrong(error))).ok()
        });
        let since = keys.take("since").and_then(|at| placed(at, faults));
        let keep_last = keys.take("keepLast").and_then(|at| keep_last(&at, faults));
        let namespaces = texts(keys.take("namespaces"), faults);
        for (at, name) in &namespaces {
            faults.extend(check_evict_namespace(name).map(|fault| at.fault(fault.to_string())));
        }
        let namespace_selector =
            keys.take("namespaceSelector").and_then(|at| selector(at, faults, parse_label_selector));
        Some(RuleDeclaration {
            at: at.clone(),
            name: name?,
            fields,
            labels,
            after,
            since,
            keep_last,
            namespaces,
            namespace_selector,
            enforce: keys.take("enforce"),
        })
    }

    /// Returns the conditions on columns and labels: the terms of both selectors. All must hold.
    pub fn filters(&self) -> Vec<Filter> {
        let text = |placed: &Option<LocatedText<'t>>| placed.as_ref().map_or("", |(_, text)| *text);
        filters(text(&self.fields), text(&self.labels)).unwrap_or_default()
    }

    /// Checks the rule about objects of this table.
    pub fn check(&self, table: &'static Table, namespaced: bool, faults: &mut Faults) {
        let before = faults.len();
        if let Some((at, text)) = &self.fields {
            faults.extend(check_evict_fields(table, text).map(|fault| at.fault(fault.to_string())));
        }
        if let Some((at, text)) = &self.since {
            faults.extend(check_evict_since(table, text).map(|fault| at.fault(fault.to_string())));
        }
        for (at, text) in self.keep_last.iter().flat_map(|(_, by)| by) {
            faults.extend(check_evict_by(table, text).map(|fault| at.fault(fault.to_string())));
        }
        if let Some((at, _)) = self.namespaces.first().or(self.namespace_selector.as_ref()) {
            faults.extend(check_evict_namespaces(namespaced).map(|fault| at.fault(fault.to_string())));
        }
        // A field that is not a column is reported only once.
        let filters = self.filters();
        if let (true, Err(error)) = (faults.len() == before, check(table, &filters)) {
            faults.push(self.at.fault(error.to_string()));
        }
    }
}

/// The terms of both selectors of a rule.
///
/// # Errors
/// If one is not a selector.
pub fn filters(fields: &str, labels: &str) -> Result<Vec<Filter>, SelectorError> {
    let fields = parse_field_selector(fields)?;
    let labels = parse_label_selector(labels)?;
    Ok(fields.into_iter().chain(labels).collect())
}

fn check(table: &'static Table, filters: &[Filter]) -> Result<(), QueryError> {
    Query { filters: filters.to_vec(), ..Query::default() }.check(table)?;
    check_rule(table, filters)
}

/// The mistakes in the selectors of a kind's rules, which constant evaluation does not read; each names its rule.
pub fn check_selectors(kind: &Kind) -> impl Iterator<Item = String> {
    let kind = *kind;
    let wrong = move |rule: &EvictionRule| {
        let what = match filters(rule.field_selector, rule.label_selector) {
            Ok(filters) => check(kind.table(), &filters).err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        let what = what.or_else(|| parse_label_selector(rule.namespace_selector).err().map(|error| error.to_string()));
        what.map(|what| format!("the rule `{}` of {}: {what}", rule.name, kind.name()))
    };
    kind.evict().iter().filter_map(wrong)
}

fn when<'t>(at: &TreeNode<'t>, faults: &mut Faults) -> (Option<LocatedText<'t>>, Option<LocatedText<'t>>) {
    if let Content::Text(_) = at.content() {
        faults.push(at.expected("a map with `fieldSelector`, `labelSelector` or both"));
        return (None, None);
    }
    let Some([fields, labels]) = at.fields(["fieldSelector", "labelSelector"], faults) else { return (None, None) };
    if fields.is_none() && labels.is_none() {
        faults.push(at.fault("nothing is selected: add `fieldSelector` or `labelSelector`"));
    }
    let fields = fields.and_then(|at| selector(at, faults, parse_field_selector));
    let labels = labels.and_then(|at| selector(at, faults, parse_label_selector));
    (fields, labels)
}

fn selector<'t>(
    at: TreeNode<'t>,
    faults: &mut Faults,
    parse: impl Fn(&str) -> Result<Vec<Filter>, SelectorError>,
) -> Option<LocatedText<'t>> {
    let (at, text) = placed(at, faults)?;
    match parse(text) {
        Ok(terms) if terms.is_empty() => {
            faults.push(at.fault("nothing is selected: write a selector, or leave the key out"))
        }
        Ok(_) => return Some((at, text)),
        Err(error) => faults.push(at.fault(error.to_string())),
    }
    None
}

fn keep_last<'t>(at: &TreeNode<'t>, faults: &mut Faults) -> Option<(usize, Vec<LocatedText<'t>>)> {
    let [count, by] = at.fields(["count", "by"], faults)?;
    let Some(count) = count else {
        faults.push(at.fault("`count` is missing: how many objects of each group stay"));
        return None;
    };
    let number = match count.content() {
        Content::Text(text) | Content::Number(text) => text.parse().ok(),
        _ => None,
    };
    let number = number.filter(|number| check_evict_count(*number).is_none());
    if number.is_none() {
        faults.push(count.fault(format!("found {}: {}", count.found(), Fault::EvictCount)));
    }
    let by = texts(by, faults);
    Some((number?, by))
}

/// A list of texts, each once.
fn texts<'t>(at: Option<TreeNode<'t>>, faults: &mut Faults) -> Vec<LocatedText<'t>> {
    let mut texts: Vec<LocatedText<'t>> = Vec::new();
    for at in at.map(|at| at.elements(faults)).unwrap_or_default() {
        let Some((at, text)) = placed(at, faults) else { continue };
        if texts.iter().any(|(_, there)| *there == text) {
            faults.push(at.fault(format!("`{text}` is in this list already; remove one of them")));
        } else {
            texts.push((at, text));
        }
    }
    texts
}

fn placed<'t>(at: TreeNode<'t>, faults: &mut Faults) -> Option<LocatedText<'t>> {
    let text = word(&at, faults)?;
    Some((at, text))
}

/// A text; in a file whose values have types, a number counts, too.
fn word<'t>(at: &TreeNode<'t>, faults: &mut Faults) -> Option<&'t str> {
    match at.content() {
        Content::Number(text) => Some(text),
        _ => at.read_text(faults),
    }
}
