//! The condition that rules of evictions and rules of retention share: it selects objects, or rows.

use ingester_core::query::Filter;
use ingester_core::schema;
use ingester_declare::evict::{LocatedText, RuleDeclaration, filters};
use ingester_sql::query::SelectorError;
use std::time::Duration;

/// The time that `after` counts from, if a rule does not name another one.
const CREATED: &str = "create_time";

/// Selects the objects, or rows, of a rule. All parts of it must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condition {
    /// The terms of both selectors, which must hold for the columns and labels of an object.
    pub when: Vec<Filter>,
    /// The time that must have passed since `since`.
    pub after: Option<Duration>,
    /// The column, or the path, of the time that `after` counts from; `None` for the time of creation.
    pub since: Option<String>,
    /// The number of objects of each group that stay.
    pub keep_last: Option<KeepLast>,
    /// The namespaces; none for all.
    pub namespaces: Vec<String>,
    /// The labels of the namespaces, in the syntax of Kubernetes' selectors; `None` for all.
    pub namespace_selector: Option<String>,
    /// Where its rule is written.
    pub line: RuleLine,
}

/// The line of a rule in the configuration, for messages; `None` for a rule of a kind. A rule that moves to another line is the same rule, so
/// all lines are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleLine(pub Option<u64>);

impl PartialEq for RuleLine {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Keeps some of the objects that meet `when` in the rule's namespaces: the last ones by `create_time` and uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepLast {
    /// The number of objects of each group that stay.
    pub count: usize,
    /// The columns, or paths, whose values make a group; none for one group of all.
    pub by: Vec<String>,
}

impl Condition {
    /// Returns the column, or the path, of the time that `after` counts from.
    pub fn since(&self) -> &str {
        self.since.as_deref().unwrap_or(CREATED)
    }

    /// Returns true if `when`, `after` or `keep_last` says which objects the rule means. Namespaces alone do not count.
    pub fn is_bounded(&self) -> bool {
        !self.when.is_empty() || self.after.is_some() || self.keep_last.is_some()
    }

    /// Returns the condition of a rule from a struct or a file.
    pub(super) fn of_kind(rule: &schema::EvictionRule) -> Result<Self, SelectorError> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Ok(Condition {
            when: filters(rule.field_selector, rule.label_selector)?,
            after: rule.after,
            since: rule.since.map(str::to_owned),
            keep_last: rule.keep_last.map(|(count, by)| KeepLast { count, by: texts(by) }),
            namespaces: texts(rule.namespaces),
            namespace_selector: Some(rule.namespace_selector.to_owned()).filter(|text| !text.is_empty()),
            line: RuleLine::default(),
        })
    }

    /// Returns the condition of a rule from the configuration.
    pub(super) fn of_configuration(rule: &RuleDeclaration<'_>) -> Self {
        let texts = |texts: &[LocatedText<'_>]| texts.iter().map(|(_, text)| (*text).to_owned()).collect();
        let text = |placed: &Option<LocatedText<'_>>| placed.as_ref().map(|(_, text)| (*text).to_owned());
        Condition {
            when: rule.filters(),
            after: rule.after,
            since: text(&rule.since),
            keep_last: rule.keep_last.as_ref().map(|(count, by)| KeepLast { count: *count, by: texts(by) }),
            namespaces: texts(&rule.namespaces),
            namespace_selector: text(&rule.namespace_selector),
            line: RuleLine(Some(rule.at.tree.line)),
        }
    }
}
