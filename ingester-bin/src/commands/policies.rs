//! `ingester policies`: what leaves etcd by the rules of kinds and of the configuration, and why.

use super::chosen;
use crate::arguments::Policies;
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_mirror::config::{Config, EvictRule};
use ingester_mirror::examine::namespaces;
use ingester_mirror::policies::{
    Candidate, Forecast, Origin, PolicyError, Rule, WrongRule, forecast, in_namespaces, rules,
};
use serde::Serialize;
use std::borrow::Cow;

pub(crate) async fn run(arguments: &Policies, config: Config, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let mirrored: Vec<Kind> = kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let rules = all_rules(&chosen(kinds, &arguments.kinds)?, &config)?;
    if rules.is_empty() {
        note(
            "there are no rules for these kinds: they are written under `policies.evict` of the configuration, or `evict` of a kind",
        );
        return Ok(Ending::Done);
    }
    let selects = rules.iter().any(|(_, rule)| rule.rule.namespace_selector.is_some());
    let client = if selects { Some(arguments.cluster.client().await?) } else { None };
    let store = Database::of(&config, &arguments.config.config)?.open_existing().await?;
    let mut all = Vec::new();
    for (kind, rule) in &rules {
        let narrowed = match (&rule.rule.namespace_selector, &client) {
            (Some(selector), Some(client)) => {
                let found = namespaces(client, kind, selector).await;
                let found = found.map_err(|error| failed(kind, &rule.rule, error.into()))?;
                in_namespaces(&rule.rule, found).map(Cow::Owned)
            }
            _ => Some(Cow::Borrowed(&rule.rule)),
        };
        let found = match narrowed {
            Some(narrowed) => forecast(&store, &mirrored, kind, &narrowed).await,
            None => Ok(Forecast::default()),
        };
        all.push((kind, rule, found.map_err(|error| failed(kind, &rule.rule, error))?));
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
fn all_rules(kinds: &[Kind], config: &Config) -> Result<Vec<(Kind, Rule)>, Failure> {
    let of = |kind: Kind| rules(&kind, &config.policies).into_iter().map(move |rule| rule.map(|rule| (kind, rule)));
    kinds
        .iter()
        .copied()
        .flat_map(of)
        .collect::<Result<_, _>>()
        .map_err(|error: WrongRule| Failure::Usage(wrong(&error)))
}

fn wrong(error: &WrongRule) -> anyhow::Error {
    anyhow!("{error}")
}

fn failed(kind: &Kind, rule: &EvictRule, error: PolicyError) -> Failure {
    match error {
        PolicyError::Store(error) => error.into(),
        PolicyError::Ask(error) => super::failed(error),
        error => {
            Failure::Work(wrong(&WrongRule { rule: rule.name.clone(), kind: kind.name(), error: Box::new(error) }))
        }
    }
}

/// Refuses a configuration with rules that cannot be judged.
pub(crate) fn ensure_rules(config: &Config, kinds: &[Kind]) -> Result<(), Failure> {
    all_rules(kinds, config).map(drop)
}

/// Refuses rules with a selector of namespaces where the API server has no namespaces, or does not let us list them. One that does not
/// answer now is asked by each round.
pub(super) async fn ensure_namespaces(client: &kube::Client, config: &Config, kinds: &[Kind]) -> Result<(), Failure> {
    for (kind, Rule { rule, .. }) in all_rules(kinds, config)? {
        let Some(selector) = &rule.namespace_selector else { continue };
        match namespaces(client, &kind, selector).await {
            Err(error) if !error.may_pass() => {
                let error = wrong(&WrongRule { rule: rule.name, kind: kind.name(), error: Box::new(error.into()) });
                return Err(Failure::Usage(anyhow!(
                    "{error}; grant `list` on namespaces, which `ingester rbac` prints, or name them with `namespaces`, which an API server \
                     without namespaces needs"
                )));
            }
            Err(error) => tracing::warn!(kind = kind.name(), rule = rule.name, %error, "Namespaces not listed now"),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// What a rule would do.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    kind: &'a str,
    rule: &'a str,
    /// Where it is written.
    from: String,
    enforce: bool,
    leaves: usize,
    bytes: u64,
    stays: usize,
    hindered: usize,
}

impl<'a> Line<'a> {
    fn of(kind: &Kind, Rule { rule, origin }: &'a Rule, found: &Forecast) -> Self {
        Line {
            kind: kind.name(),
            rule: &rule.name,
            from: origin.to_string(),
            enforce: rule.enforce,
            leaves: found.leaving.len(),
            bytes: found.bytes,
            stays: found.staying.len(),
            hindered: found.hindered.len(),
        }
    }
}

fn table(lines: &[Line<'_>]) -> String {
    let mut table = Table::new(["kind", "rule", "from", "enforced", "leaves", "bytes", "stays", "hindered"]);
    for Line { kind, rule, from, enforce, leaves, bytes, stays, hindered } in lines {
        let numbers = [leaves.to_string(), bytes.to_string(), stays.to_string(), hindered.to_string()];
        let names = [(*kind).to_owned(), (*rule).to_owned(), from.clone(), enforce.to_string()];
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

fn explained<'a>(kind: &Kind, rule: &'a Rule, found: &'a Forecast, name: &str) -> Vec<Explained<'a>> {
    let Rule { rule, origin } = rule;
    let leaves = || {
        let dry = match origin {
            Origin::Kind => {
                "the rule says so, and is not enforced: it stays until `policies.evict` has a rule of this name with `enforce: true`"
            }
            _ => "the rule says so, and is not enforced: it stays until the rule has `enforce: true`",
        };
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
