//! `ingester policies`: what leaves etcd by the rules of the configuration, and why.

use super::chosen;
use crate::arguments::Policies;
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_mirror::config::{Config, EvictRule};
use ingester_mirror::policies::{Candidate, Forecast, PolicyError, check, forecast};
use serde::Serialize;

pub(crate) async fn run(arguments: &Policies, config: Config, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let mirrored: Vec<Kind> = kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let rules = rules(&chosen(kinds, &arguments.kinds)?, &config)?;
    if rules.is_empty() {
        note("the configuration has no rules for these kinds: `policies.evict` is where they are written");
        return Ok(Ending::Done);
    }
    let store = Database::of(&config, &arguments.config.config)?.open_existing().await?;
    let mut all = Vec::new();
    for (kind, rule) in rules {
        let found = forecast(&store, &mirrored, &kind, rule).await;
        all.push((kind, rule, found.map_err(|error| failed(&kind, rule, error))?));
    }
    store.close().await;
    let output = arguments.output.output;
    match &arguments.explain {
        None => {
            let lines: Vec<Line<'_>> = all.iter().map(|(kind, rule, found)| Line::of(kind, rule, found)).collect();
            show(output, &lines, || table(&lines))?;
        }
        Some(name) => {
            let lines: Vec<Explained<'_>> =
                all.iter().flat_map(|(kind, rule, found)| explained(kind, rule, found, name)).collect();
            show(output, &lines, || explanations(&lines))?;
            if lines.is_empty() {
                note(&format!("no live object is named `{name}` and meets `when` in the namespaces of a rule"));
                return Ok(Ending::Problem);
            }
        }
    }
    Ok(Ending::Done)
}

/// The rules of these kinds, all of which can be judged.
fn rules<'c>(kinds: &[Kind], config: &'c Config) -> Result<Vec<(Kind, &'c EvictRule)>, Failure> {
    let of = |kind: &Kind| {
        let rules = config.policies.evict.get(kind.name()).map(Vec::as_slice).unwrap_or_default();
        let kind = *kind;
        rules.iter().map(move |rule| (kind, rule))
    };
    let rules: Vec<(Kind, &EvictRule)> = kinds.iter().flat_map(of).collect();
    for (kind, rule) in &rules {
        check(kind, rule).map_err(|error| Failure::Usage(wrong(kind, rule, &error)))?;
    }
    Ok(rules)
}

fn wrong(kind: &Kind, rule: &EvictRule, error: &PolicyError) -> anyhow::Error {
    anyhow!("`policies.evict`: the rule `{}` of {}: {error}", rule.name, kind.name())
}

fn failed(kind: &Kind, rule: &EvictRule, error: PolicyError) -> Failure {
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
    enforce: bool,
    leaves: usize,
    bytes: u64,
    stays: usize,
    hindered: usize,
}

impl<'a> Line<'a> {
    fn of(kind: &Kind, rule: &'a EvictRule, found: &Forecast) -> Self {
        Line {
            kind: kind.name(),
            rule: &rule.name,
            enforce: rule.enforce,
            leaves: found.leaving.len(),
            bytes: found.bytes,
            stays: found.staying.len(),
            hindered: found.hindered.len(),
        }
    }
}

fn table(lines: &[Line<'_>]) -> String {
    let mut table = Table::new(["kind", "rule", "enforced", "leaves", "bytes", "stays", "hindered"]);
    for Line { kind, rule, enforce, leaves, bytes, stays, hindered } in lines {
        let numbers = [leaves.to_string(), bytes.to_string(), stays.to_string(), hindered.to_string()];
        table.row([(*kind).to_owned(), (*rule).to_owned(), enforce.to_string()].into_iter().chain(numbers));
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

fn explained<'a>(kind: &Kind, rule: &'a EvictRule, found: &'a Forecast, name: &str) -> Vec<Explained<'a>> {
    let leaves = || {
        let dry = "the rule says so, and is not enforced: it stays until the rule has `enforce: true`";
        let why = if rule.enforce { "the rule says so: it leaves within the limit of an hour" } else { dry };
        why.to_owned()
    };
    let leaving = found.leaving.iter().map(|candidate| (candidate, true, leaves()));
    let hindered = found.hindered.iter().map(|(candidate, why)| (candidate, false, why.to_string()));
    let staying = found.staying.iter().map(|(candidate, why)| (candidate, false, why.to_string()));
    let line = |(candidate, leaves, why): (&'a Candidate, bool, String)| Explained {
        kind: kind.name(),
        namespace: &candidate.namespace,
        name: &candidate.name,
        rule: &rule.name,
        leaves: leaves && rule.enforce,
        why,
    };
    leaving.chain(hindered).chain(staying).filter(|(candidate, ..)| *candidate.name == *name).map(line).collect()
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
