//! How long the rows of deleted objects are kept, and the rules that purge rows.

use super::Retention;
use super::condition::Condition;
use super::policies::{EvictionRule, of_configuration, one};
use super::section::{Section, shown};
use super::values::{choice, duration, path, truth};
use ingester_core::Kind;
use ingester_core::kind::RETENTION;
use ingester_declare::evict::{KEYS, WrittenRule};
use ingester_declare::text::{Faults, Located};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// For how long a row is kept once its object is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// For so long; then it is purged.
    For(Duration),
    /// For ever.
    Forever,
}

/// The state of the rows that a rule of `retention.rules` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retained {
    /// Their objects were deleted, and never evicted.
    Deleted,
    /// Their objects have left etcd by eviction, which is confirmed; they may have been deleted since.
    Evicted,
}

impl Retained {
    /// Both of them.
    pub const ALL: [Retained; 2] = [Retained::Deleted, Retained::Evicted];

    /// As the file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Retained::Deleted => "deleted",
            Retained::Evicted => "evicted",
        }
    }

    /// The column of the time that `after` counts from, if a rule does not name another one.
    pub fn since(self) -> &'static str {
        match self {
            Retained::Deleted => "delete_time",
            Retained::Evicted => "evict_time",
        }
    }
}

const STATES: &[(&str, Retained)] = &[("deleted", Retained::Deleted), ("evicted", Retained::Evicted)];

/// A rule of `retention.rules`: which rows of some kinds are purged.
#[derive(Clone, Debug, PartialEq)]
pub struct RetentionRule {
    /// What messages and metrics call it; no two rules have one name.
    pub name: String,
    /// The kinds.
    pub kinds: Vec<String>,
    /// The state of the rows.
    pub state: Retained,
    /// Whether it is also about kinds whose every object is evicted, because they are immutable by contract.
    pub immutable: bool,
    /// The folder into which rows are written before they are purged.
    pub export: Option<PathBuf>,
    /// Which rows are purged. Its time is by default that of the state.
    pub condition: Condition,
    /// Whether rows are purged. If not, the rule only says which would be.
    pub enforce: bool,
}

impl Retention {
    /// For how long the row of an object of `kind` is kept once that is deleted; `None` if that is not said. What is said here of this
    /// kind comes first, then what its struct says, then what is said here of all kinds.
    pub fn of(&self, kind: &Kind) -> Option<Kept> {
        let of_kind = || kind.retention().map(Kept::For);
        self.deleted_map.get(kind.name()).copied().or_else(of_kind).or(self.deleted)
    }

    /// How long after its end a former version of an object of `kind` is purged; `None` for never, and for a kind without a history. What is said
    /// here shortens what the kind says.
    pub fn of_history(&self, kind: &Kind) -> Option<Duration> {
        let said = self.history_map.get(kind.name()).copied().flatten().or(self.history);
        let history = kind.history()?;
        history.keep.into_iter().chain(said).min()
    }

    /// The rules about rows of a kind in a state.
    pub fn rules_of(&self, kind: &Kind, state: Retained) -> impl Iterator<Item = &RetentionRule> {
        let is_of =
            move |rule: &&RetentionRule| rule.state == state && rule.kinds.iter().any(|name| name == kind.name());
        self.rules.iter().filter(is_of)
    }

    /// How long after its eviction the row of an object of `kind` may be purged by a rule at the earliest; `None` if no rule that is
    /// enforced purges such rows.
    pub fn purges_evicted_after(&self, kind: &Kind) -> Option<Duration> {
        let rules = self.rules_of(kind, Retained::Evicted).filter(|rule| rule.enforce);
        let after = |condition: &Condition| condition.after.filter(|_| condition.since() == Retained::Evicted.since());
        rules.map(|rule| after(&rule.condition).unwrap_or_default()).min()
    }
}

/// How long rows are kept; zero means for ever.
pub(super) fn kept(text: &str) -> Result<Kept, String> {
    duration(RETENTION.or_never())(text).map(|age| if age.is_zero() { Kept::Forever } else { Kept::For(age) })
}

impl Section<'_> {
    /// Reads a list of rules by which rows are purged, of kinds that `kind` checks.
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

/// The rules of `retention.rules`. `kind` finds a kind by its name.
fn retention_rules(
    at: &Located<'_>,
    faults: &mut Faults,
    kind: impl Fn(&str) -> Result<String, String>,
) -> Vec<RetentionRule> {
    let (mut rules, mut names) = (Vec::new(), BTreeSet::new());
    for at in at.elements(faults) {
        let Some(rule) = rule(&at, faults, &kind) else { continue };
        if !names.insert(rule.name.clone()) {
            faults.push(at.fault(format!("another rule is named `{}`: give this one another name", rule.name)));
        }
        rules.push(rule);
    }
    rules
}

/// The keys that a rule has besides those of a rule of evictions.
const OWN: [&str; 4] = ["kinds", "state", "immutable", "export"];

fn rule(
    at: &Located<'_>,
    faults: &mut Faults,
    kind: &impl Fn(&str) -> Result<String, String>,
) -> Option<RetentionRule> {
    let before = faults.len();
    let mut keys = at.keys_of(&[KEYS.as_slice(), &OWN].concat(), faults)?;
    let [kinds, state, immutable, export] = OWN.map(|key| keys.take(key));
    let written = WrittenRule::take(at, &mut keys, RETENTION, faults);
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
    if state == Some(Retained::Deleted) {
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

/// The kinds of a rule, each once.
fn names(at: &Located<'_>, faults: &mut Faults, kind: &impl Fn(&str) -> Result<String, String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if at.items().is_some_and(|items| items.is_empty()) {
        faults.push(at.fault("`kinds` is empty: name the kinds whose rows are purged"));
    }
    for at in at.elements(faults) {
        let Some(name) = one(Some(at.clone()), faults, kind) else { continue };
        if names.contains(&name) {
            faults.push(at.fault(format!("`{}` is in this list already; remove one of them", shown(&name))));
        } else {
            names.push(name);
        }
    }
    names
}

fn folder(at: &Located<'_>, faults: &mut Faults) -> Option<PathBuf> {
    let [folder] = at.fields(["path"], faults)?;
    let missing = "the folder into which rows are written before they are purged";
    let (at, _) = at.required("path", folder, missing, faults)?;
    one(Some(at), faults, path).flatten()
}
