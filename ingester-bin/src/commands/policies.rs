//! `ingester policies`: what leaves etcd, and what leaves SQL, by the rules of the configuration, and why.

use super::chosen;
use crate::arguments::Policies;
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_mirror::config::{Config, EvictRule, RetentionRule};
use ingester_mirror::policies::{self, Candidate, Forecast, PolicyError};
use ingester_mirror::retention::{self, RetentionForecast, RowFate};
use ingester_store::Store;
use serde::Serialize;

/// A rule of the configuration.
#[derive(Clone, Copy)]
enum Rule<'c> {
    /// Of `policies.evict`.
    Evict(&'c EvictRule),
    /// Of `retention.rules`.
    Retention(&'c RetentionRule),
}

impl<'c> Rule<'c> {
    /// What it says as every rule does.
    fn common(self) -> &'c EvictRule {
        match self {
            Rule::Evict(rule) => rule,
            Rule::Retention(rule) => &rule.rule,
        }
    }

    /// The state of the rows that it is about.
    fn state(self) -> &'static str {
        match self {
            Rule::Evict(_) => "live",
            Rule::Retention(rule) => rule.state.as_str(),
        }
    }

    /// Whether it can be judged about this kind.
    fn check(self, kind: &Kind) -> Result<(), PolicyError> {
        match self {
            Rule::Evict(rule) => policies::check(kind, rule),
            Rule::Retention(rule) => retention::check(kind, rule),
        }
    }
}

/// What a rule would do.
enum Found {
    Evict(Forecast),
    Retention(RetentionForecast),
}

pub(crate) async fn run(arguments: &Policies, config: Config, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let mirrored: Vec<Kind> = kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let rules = rules(&chosen(kinds, &arguments.kinds)?, &config)?;
    if rules.is_empty() {
        note(
            "the configuration has no rules for these kinds: `policies.evict` and `retention.rules` are where they are written",
        );
        return Ok(Ending::Done);
    }
    let store = Database::of(&config, &arguments.config.config)?.open_existing().await?;
    let name = arguments.explain.as_deref();
    let mut all = Vec::new();
    for (kind, rule) in rules {
        let found = foresee(&store, &config, (&mirrored, &kind), rule, name).await;
        all.push((kind, rule, found.map_err(|error| failed(&kind, rule, error))?));
    }
    store.close().await;
    let output = arguments.output.output;
    match name {
        None => {
            let lines: Vec<Line<'_>> = all.iter().map(|(kind, rule, found)| Line::of(kind, *rule, found)).collect();
            show(output, &lines, || table(&lines))?;
        }
        Some(name) => {
            let lines: Vec<Explained<'_>> =
                all.iter().flat_map(|(kind, rule, found)| explained(kind, *rule, found, name)).collect();
            show(output, &lines, || explanations(&lines))?;
            if lines.is_empty() {
                note(&format!(
                    "no object named `{name}` is in the state of a rule and meets its `when` in its namespaces"
                ));
                return Ok(Ending::Problem);
            }
        }
    }
    Ok(Ending::Done)
}

/// What a rule would do now. `mirrored` are the kinds that are mirrored.
async fn foresee(
    store: &Store,
    config: &Config,
    (mirrored, kind): (&[Kind], &Kind),
    rule: Rule<'_>,
    name: Option<&str>,
) -> Result<Found, PolicyError> {
    Ok(match rule {
        Rule::Evict(rule) => Found::Evict(policies::forecast(store, mirrored, kind, rule).await?),
        Rule::Retention(rule) => {
            Found::Retention(retention::forecast(store, &config.retention, kind, rule, name).await?)
        }
    })
}

/// The rules of these kinds, all of which can be judged.
fn rules<'c>(kinds: &[Kind], config: &'c Config) -> Result<Vec<(Kind, Rule<'c>)>, Failure> {
    let mut rules = Vec::new();
    for kind in kinds {
        let evict = config.policies.evict.get(kind.name()).map(Vec::as_slice).unwrap_or_default();
        rules.extend(evict.iter().map(|rule| (*kind, Rule::Evict(rule))));
        let of_kind = |rule: &&RetentionRule| rule.kinds.iter().any(|name| name == kind.name());
        rules.extend(config.retention.rules.iter().filter(of_kind).map(|rule| (*kind, Rule::Retention(rule))));
    }
    for (kind, rule) in &rules {
        rule.check(kind).map_err(|error| Failure::Usage(wrong(kind, *rule, &error)))?;
    }
    Ok(rules)
}

fn wrong(kind: &Kind, rule: Rule<'_>, error: &PolicyError) -> anyhow::Error {
    let key = match rule {
        Rule::Evict(_) => "policies.evict",
        Rule::Retention(_) => "retention.rules",
    };
    anyhow!("`{key}`: the rule `{}` of {}: {error}", rule.common().name, kind.name())
}

fn failed(kind: &Kind, rule: Rule<'_>, error: PolicyError) -> Failure {
    match error {
        PolicyError::Store(error) => error.into(),
        PolicyError::Ask(error) => super::failed(error),
        error => Failure::Work(wrong(kind, rule, &error)),
    }
}

/// Refuses a configuration with rules that cannot be judged.
pub(crate) fn ensure_rules(config: &Config, kinds: &[Kind]) -> Result<(), Failure> {
    rules(kinds, config).map(drop)
}

/// What a rule would do.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    kind: &'a str,
    rule: &'a str,
    state: &'static str,
    enforce: bool,
    leaves: u64,
    bytes: u64,
    stays: u64,
    hindered: u64,
}

impl<'a> Line<'a> {
    fn of(kind: &Kind, rule: Rule<'a>, found: &Found) -> Self {
        let (leaves, bytes, stays, hindered) = match found {
            Found::Evict(found) => {
                let [leaves, stays, hindered] =
                    [found.leaving.len(), found.staying.len(), found.hindered.len()].map(|objects| objects as u64);
                (leaves, found.bytes, stays, hindered)
            }
            Found::Retention(found) => (found.going, found.bytes, found.staying, found.held),
        };
        let EvictRule { name, enforce, .. } = rule.common();
        let (kind, state, enforce) = (kind.name(), rule.state(), *enforce);
        Line { kind, rule: name, state, enforce, leaves, bytes, stays, hindered }
    }
}

fn table(lines: &[Line<'_>]) -> String {
    let mut table = Table::new(["kind", "rule", "state", "enforced", "leaves", "bytes", "stays", "hindered"]);
    for Line { kind, rule, state, enforce, leaves, bytes, stays, hindered } in lines {
        let names = [(*kind).to_owned(), (*rule).to_owned(), (*state).to_owned(), enforce.to_string()];
        let numbers = [leaves, bytes, stays, hindered].map(u64::to_string);
        table.row(names.into_iter().chain(numbers));
    }
    table.to_string()
}

/// What a rule says of one object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Explained<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    rule: &'a str,
    leaves: bool,
    why: String,
}

/// What a rule says of the objects of this name: whether each leaves, and why.
fn explained<'a>(kind: &Kind, rule: Rule<'a>, found: &'a Found, name: &str) -> Vec<Explained<'a>> {
    let enforced = rule.common().enforce;
    let leaves = |at: &str| match enforced {
        true => format!("the rule says so: it leaves {at}"),
        false => "the rule says so, and is not enforced: it stays until the rule has `enforce: true`".to_owned(),
    };
    let said: Vec<(&Candidate, bool, String)> = match found {
        Found::Evict(found) => {
            let leaving = found.leaving.iter().map(|one| (one, true, leaves("within the limit of an hour")));
            let hindered = found.hindered.iter().map(|(one, why)| (one, false, why.to_string()));
            let staying = found.staying.iter().map(|(one, why)| (one, false, why.to_string()));
            leaving.chain(hindered).chain(staying).collect()
        }
        Found::Retention(found) => {
            let said = found.explained.iter().map(|(row, fate)| match fate {
                RowFate::Goes => (row, true, leaves("SQL with the next round")),
                fate => (row, false, fate.to_string()),
            });
            said.collect()
        }
    };
    let line = |(candidate, leaves, why): (&'a Candidate, bool, String)| Explained {
        kind: kind.name(),
        namespace: &candidate.namespace,
        name: &candidate.name,
        rule: &rule.common().name,
        leaves: leaves && enforced,
        why,
    };
    said.into_iter().filter(|(candidate, ..)| *candidate.name == *name).map(line).collect()
}

fn explanations(lines: &[Explained<'_>]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["kind", "namespace", "name", "rule", "leaves", "why"]);
    for Explained { kind, namespace, name, rule, leaves, why } in lines {
        let names = [kind, namespace, name, rule].map(|text| (*text).to_owned());
        table.row(names.into_iter().chain([leaves.to_string(), why.clone()]));
    }
    table.to_string()
}
