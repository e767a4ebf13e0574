//! The time for which rows of deleted objects are kept, and the rules that purge rows.

use super::Retention;
use super::condition::Condition;
use super::policies::{EvictionRule, of_configuration, one};
use super::section::Section;
use super::values::{choice, duration, path, truth};
use ingester_core::Kind;
use ingester_core::kind::RETENTION;
use ingester_declare::evict::{KEYS, RuleDeclaration};
use ingester_declare::text::{Faults, TreeNode, without_password};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The time for which a row is kept after its object was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionTime {
    /// For this long; then the row is purged.
    For(Duration),
    /// For ever.
    Forever,
}

/// The state of the rows that a rule of `retention.rules` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetainedState {
    /// Their objects were deleted, and never evicted.
    Deleted,
    /// Their objects have left etcd by eviction, which is confirmed; they may have been deleted since.
    Evicted,
}

impl RetainedState {
    /// Both states.
    pub const ALL: [RetainedState; 2] = [RetainedState::Deleted, RetainedState::Evicted];

    /// Returns the state as the file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            RetainedState::Deleted => "deleted",
            RetainedState::Evicted => "evicted",
        }
    }

    /// Returns the column of the time that `after` counts from, if a rule does not name another one.
    pub fn since(self) -> &'static str {
        match self {
            RetainedState::Deleted => "delete_time",
            RetainedState::Evicted => "evict_time",
        }
    }
}

const STATES: &[(&str, RetainedState)] = &[("deleted", RetainedState::Deleted), ("evicted", RetainedState::Evicted)];

/// A rule of `retention.rules`. It selects rows of some kinds to purge.
#[derive(Clone, Debug, PartialEq)]
pub struct RetentionRule {
    /// The rule's name in messages and metrics, unique among all rules.
    pub name: String,
    /// The kinds.
    pub kinds: Vec<String>,
    /// The state of the rows.
    pub state: RetainedState,
    /// If true, the rule also applies to kinds of which every object is evicted because they are immutable by contract.
    pub immutable: bool,
    /// The folder into which rows are written before they are purged.
    pub export: Option<PathBuf>,
    /// Selects the rows that are purged. The state determines its default time.
    pub condition: Condition,
    /// If true, rows are purged. Otherwise the rule only reports the rows that would be.
    pub enforce: bool,
}

impl Retention {
    /// Returns the time for which the row of a deleted object of `kind` is kept; `None` if nothing sets it. The value for this kind in the
    /// configuration comes first, then the value of its struct, then the value for all kinds in the configuration.
    pub fn for_kind(&self, kind: &Kind) -> Option<RetentionTime> {
        let of_kind = || kind.retention().map(RetentionTime::For);
        self.deleted_map.get(kind.name()).copied().or_else(of_kind).or(self.deleted)
    }

    /// Returns the time after its end at which a former version of an object of `kind` is purged; `None` for never, and for a kind without
    /// a history. The configuration can only shorten the kind's own value.
    pub fn of_history(&self, kind: &Kind) -> Option<Duration> {
        let said = self.history_map.get(kind.name()).copied().flatten().or(self.history);
        let history = kind.history()?;
        history.keep.into_iter().chain(said).min()
    }

    /// Returns the rules about rows of a kind in a state.
    pub fn rules_of(&self, kind: &Kind, state: RetainedState) -> impl Iterator<Item = &RetentionRule> {
        let is_of =
            move |rule: &&RetentionRule| rule.state == state && rule.kinds.iter().any(|name| name == kind.name());
        self.rules.iter().filter(is_of)
    }

    /// Returns the shortest time after its eviction at which a rule may purge the row of an object of `kind`; `None` if no enforced rule
    /// purges such rows.
    pub fn purges_evicted_after(&self, kind: &Kind) -> Option<Duration> {
        let rules = self.rules_of(kind, RetainedState::Evicted).filter(|rule| rule.enforce);
        let after =
            |condition: &Condition| condition.after.filter(|_| condition.since() == RetainedState::Evicted.since());
        rules.map(|rule| after(&rule.condition).unwrap_or_default()).min()
    }
}

/// Reads the time for which rows are kept; zero means for ever.
pub(super) fn kept(text: &str) -> Result<RetentionTime, String> {
    duration(RETENTION.or_never())(text)
        .map(|age| if age.is_zero() { RetentionTime::Forever } else { RetentionTime::For(age) })
}

impl Section<'_> {
    /// Reads a list of rules that purge rows. `kind` checks their kinds.
    pub(super) fn retention_rules(
        &mut self,
        key: &'static str,
        into: &mut Vec<RetentionRule>,
        kind: impl Fn(&str) -> Result<String, String>,
    ) {
        let Some(at) = self.take(key) else { return };
        *into = retention_rules(&at, &mut self.findings.problems, kind);
    }
}

/// Reads the rules of `retention.rules`. `kind` finds a kind by name.
fn retention_rules(
    at: &TreeNode<'_>,
    faults: &mut Faults,
    kind: impl Fn(&str) -> Result<String, String>,
) -> Vec<RetentionRule> {
    let mut rules = Vec::new();
    let mut names = BTreeSet::new();
    for at in at.elements(faults) {
        let Some(rule) = rule(&at, faults, &kind) else { continue };
        if !names.insert(rule.name.clone()) {
            faults.push(at.fault(format!("another rule is named `{}`: give this one another name", rule.name)));
        }
        rules.push(rule);
    }
    rules
}

/// The keys of such a rule in addition to the keys of a rule of evictions.
const OWN: [&str; 4] = ["kinds", "state", "immutable", "export"];

fn rule(
    at: &TreeNode<'_>,
    faults: &mut Faults,
    kind: &impl Fn(&str) -> Result<String, String>,
) -> Option<RetentionRule> {
    let before = faults.len();
    let mut keys = at.keys_of(&[KEYS.as_slice(), &OWN].concat(), faults)?;
    let [kinds, state, immutable, export] = OWN.map(|key| keys.take(key));
    let written = RuleDeclaration::take(at, &mut keys, RETENTION, faults);
    if kinds.is_none() {
        faults.push(at.fault("`kinds` is missing: the kinds whose rows are purged, such as `[PipelineRun]`"));
    }
    if state.is_none() {
        faults.push(at.fault("`state` is missing: `deleted` or `evicted`, the state of the rows that are purged"));
    }
    if let Some((at, _)) = written.as_ref().and_then(|rule| rule.namespace_selector.as_ref()) {
        faults.push(at.fault(
            "a rule about rows cannot select namespaces by their labels, because a row may outlive its namespace: name them with `namespaces`",
        ));
    }
    let state = one(state, faults, choice(STATES));
    if state == Some(RetainedState::Deleted) {
        let of_evicted = "is for rows of evicted objects: leave it out, or write `state: evicted`";
        faults.extend(immutable.iter().map(|at| at.fault(format!("`immutable` {of_evicted}"))));
        faults.extend(export.iter().map(|at| at.fault(format!("`export` {of_evicted}"))));
    }
    let kinds = kinds.map(|at| names(&at, faults, kind)).unwrap_or_default();
    let immutable = one(immutable, faults, truth).unwrap_or_default();
    let export = export.and_then(|at| folder(&at, faults));
    let EvictionRule { name, mut condition, enforce } = of_configuration(&written?, faults)?;
    let state = state?;
    if faults.len() == before && !condition.is_bounded() {
        faults.push(at.fault("every row of this state would be purged: say which with `when`, `after` or `keepLast`"));
    }
    condition.since.get_or_insert_with(|| state.since().to_owned());
    let rule = RetentionRule { name, kinds, state, immutable, export, condition, enforce };
    (faults.len() == before).then_some(rule)
}

/// Reads the kinds of a rule, each once.
fn names(at: &TreeNode<'_>, faults: &mut Faults, kind: &impl Fn(&str) -> Result<String, String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if at.items().is_some_and(|items| items.is_empty()) {
        faults.push(at.fault("`kinds` is empty: name the kinds whose rows are purged"));
    }
    for at in at.elements(faults) {
        let Some(name) = one(Some(at.clone()), faults, kind) else { continue };
        if names.contains(&name) {
            faults.push(at.fault(format!("`{}` is in this list already; remove one of them", without_password(&name))));
        } else {
            names.push(name);
        }
    }
    names
}

fn folder(at: &TreeNode<'_>, faults: &mut Faults) -> Option<PathBuf> {
    let [folder] = at.fields(["path"], faults)?;
    let missing = "the folder into which rows are written before they are purged";
    let (at, _) = at.required("path", folder, missing, faults)?;
    one(Some(at), faults, path).flatten()
}
