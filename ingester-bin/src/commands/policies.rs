//! `ingester policies`: lists the objects that leave etcd by the rules of kinds and of the configuration, and the rows that leave SQL by
//! the rules of the configuration, with the reasons.

use super::chosen;
use crate::arguments::{ConfigFile, Policies};
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use anyhow::anyhow;
use ingester_config::{Condition, Config, EvictionRule, RetentionRule, RuleLine};
use ingester_core::Kind;
use ingester_mirror::examine::namespaces;
use ingester_mirror::policies::{
    self, Candidate, Departure, DepartureCause, Forecast, ForecastScope, Hindrance, Origin, PolicyError, WrongRule,
    forecast, in_namespaces,
};
use ingester_mirror::retention::{self, RetentionForecast, RowFate};
use ingester_store::Store;
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;

/// A rule.
enum Rule<'c> {
    /// A rule of a kind, or of `policies.evict`.
    Eviction(EvictionRule, Origin),
    /// A rule of `retention.rules`.
    Retention(&'c RetentionRule),
}

impl Rule<'_> {
    fn name(&self) -> &str {
        match self {
            Rule::Eviction(rule, _) => &rule.name,
            Rule::Retention(rule) => &rule.name,
        }
    }

    fn condition(&self) -> &Condition {
        match self {
            Rule::Eviction(rule, _) => &rule.condition,
            Rule::Retention(rule) => &rule.condition,
        }
    }

    fn enforce(&self) -> bool {
        match self {
            Rule::Eviction(rule, _) => rule.enforce,
            Rule::Retention(rule) => rule.enforce,
        }
    }

    /// Returns the place where it is written.
    fn origin(&self) -> Origin {
        match self {
            Rule::Eviction(_, origin) => *origin,
            Rule::Retention(_) => Origin::Configuration,
        }
    }

    /// Returns the state of the rows that it covers.
    fn state(&self) -> &'static str {
        match self {
            Rule::Eviction(..) => "live",
            Rule::Retention(rule) => rule.state.as_str(),
        }
    }
}

/// The effect that a rule would have.
enum RuleForecast {
    Evict(Forecast),
    Retention(RetentionForecast),
}

pub(crate) async fn run(
    arguments: &Policies,
    file: &ConfigFile,
    config: Config,
    kinds: &'static [Kind],
) -> Result<Ending, Failure> {
    let mirrored: Vec<Kind> = kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let rules = all_rules(&chosen(kinds, &arguments.kinds)?, &config, Some(&file.config))?;
    if rules.is_empty() {
        note(
            "there are no rules for these kinds: they are written under `policies.evict` and `retention.rules` of the configuration, or `evict` of a \
             kind",
        );
        return Ok(Ending::Done);
    }
    let doubts = rules.iter().filter_map(|(kind, rule)| policies::doubt(kind, rule.name(), rule.condition()));
    doubts.for_each(|doubt| note(&doubt));
    let selects = rules.iter().any(|(_, rule)| rule.condition().namespace_selector.is_some());
    let evicts = rules.iter().any(|(_, rule)| matches!(rule, Rule::Eviction(..)));
    let client = match selects || (evicts && arguments.cluster.is_named()) {
        true => Some(arguments.cluster.client().await?),
        // The rows alone show which objects own others, except for objects without rows.
        false if evicts => arguments.cluster.client().await.ok(),
        false => None,
    };
    let mut unasked: Option<Box<str>> = None;
    let store = Database::from_config(&config, &file.config)?.open_existing().await?;
    let recorded: Vec<Kind> = kinds.iter().filter(|kind| kind.record().is_some()).copied().collect();
    store.learn_declared(&recorded).await.map_err(|error| Failure::Work(error.into()))?;
    let name = arguments.explain.as_deref();
    let departed = match name {
        Some(name) => departed(&store, &rules, &config, client.as_ref(), name).await?,
        None => Vec::new(),
    };
    let mut all = Vec::new();
    for (kind, rule) in &rules {
        let found = match rule {
            Rule::Eviction(rule, _) => {
                let together = evict_rules(kind, &config, None)?;
                let restore_grace = config.policies.restore_grace;
                let scope = ForecastScope { kinds: &mirrored, rules: &together, restore_grace };
                // A cluster that did not answer is not asked once more for each rule.
                let dependents = client.as_ref().filter(|_| unasked.is_none());
                let clients = Clients { namespaces: client.as_ref(), dependents };
                let found = leaving(&store, scope, kind, rule, clients).await;
                if let Ok(found) = &found {
                    unasked = unasked.or_else(|| found.unasked.clone());
                }
                found.map(RuleForecast::Evict)
            }
            Rule::Retention(rule) => {
                let found = retention::forecast(&store, &config.retention, kind, rule, name).await;
                found.map(RuleForecast::Retention)
            }
        };
        all.push((kind, rule, found.map_err(|error| failed(kind, rule.name(), error))?));
    }
    store.close().await;
    if let Some(why) = unasked {
        note(&format!("the cluster was not asked for objects without rows that these objects own: {why}"));
    }
    let output = arguments.output.output;
    match name {
        None => {
            let lines: Vec<ForecastLine<'_>> =
                all.iter().map(|(kind, rule, found)| ForecastLine::new(kind, rule, found)).collect();
            show(output, &lines, || table(&lines))?;
        }
        Some(name) => {
            let left = departed.iter().map(|(kind, departure)| ExplanationLine::of_departure(kind, departure));
            let judged = all.iter().flat_map(|(kind, rule, found)| explained(kind, rule, found, name));
            let lines: Vec<ExplanationLine<'_>> = left.chain(judged).collect();
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

/// The clients of the cluster, by the questions that they are used for.
struct Clients<'c> {
    namespaces: Option<&'c kube::Client>,
    dependents: Option<&'c kube::Client>,
}

/// Forecasts the present effect of an eviction rule.
async fn leaving(
    store: &Store,
    scope: ForecastScope<'_>,
    kind: &Kind,
    rule: &EvictionRule,
    clients: Clients<'_>,
) -> Result<Forecast, PolicyError> {
    match in_selected(kind, rule, clients.namespaces).await? {
        Some(narrowed) => forecast(store, kind, &narrowed, scope, clients.dependents).await,
        None => Ok(Forecast::default()),
    }
}

/// Returns the rule limited to the namespaces that its selector finds now; `None` if it finds none.
async fn in_selected<'r>(
    kind: &Kind,
    rule: &'r EvictionRule,
    client: Option<&kube::Client>,
) -> Result<Option<Cow<'r, EvictionRule>>, PolicyError> {
    match (&rule.condition.namespace_selector, client) {
        (Some(selector), Some(client)) => {
            Ok(in_namespaces(rule, namespaces(client, kind, selector).await?).map(Cow::Owned))
        }
        _ => Ok(Some(Cow::Borrowed(rule))),
    }
}

/// Returns the evicted objects with this name, of the kinds that have rules.
async fn departed(
    store: &Store,
    rules: &[(Kind, Rule<'_>)],
    config: &Config,
    client: Option<&kube::Client>,
    name: &str,
) -> Result<Vec<(&'static str, Departure)>, Failure> {
    let mut all = Vec::new();
    let mut last = None;
    for (kind, rule) in rules {
        // The rules of a kind follow one another.
        if last.replace(kind.name()) == Some(kind.name()) {
            continue;
        }
        let mut present = Vec::new();
        for its in evict_rules(kind, config, None)? {
            let narrowed = in_selected(kind, &its, client).await.map_err(|error| failed(kind, &its.name, error))?;
            present.extend(narrowed.map(Cow::into_owned));
        }
        let found = policies::departures(store, kind, &present, name).await;
        let found = found.map_err(|error| failed(kind, rule.name(), error))?;
        if found.has_more {
            let shown = found.newest.len();
            let kind = kind.name();
            note(&format!(
                "more than {shown} evicted objects of {kind} are named `{name}`: only the newest {shown} are explained"
            ));
        }
        all.extend(found.newest.into_iter().map(|departure| (kind.name(), departure)));
    }
    Ok(all)
}

/// Returns the rules of these kinds, after a check that all can be judged.
fn all_rules<'c>(kinds: &[Kind], config: &'c Config, file: Option<&Path>) -> Result<Vec<(Kind, Rule<'c>)>, Failure> {
    let mut all = Vec::new();
    for kind in kinds {
        let evict = evict_rules(kind, config, file)?.into_iter().map(|rule| {
            let origin = Origin::find(kind, &config.policies, &rule.name);
            (*kind, Rule::Eviction(rule, origin))
        });
        all.extend(evict);
        for rule in config.retention.rules.iter().filter(|rule| rule.kinds.iter().any(|name| name == kind.name())) {
            retention::check(kind, rule)
                .map_err(|error| refused(file, rule.condition.line, &wrong_rule(kind, &rule.name, error)))?;
            all.push((*kind, Rule::Retention(rule)));
        }
    }
    Ok(all)
}

/// Returns the eviction rules of a kind, after a check that all can be judged.
fn evict_rules(kind: &Kind, config: &Config, file: Option<&Path>) -> Result<Vec<EvictionRule>, Failure> {
    let rules = policies::rules(kind, &config.policies).into_iter();
    rules.collect::<Result<_, _>>().map_err(|error: WrongRule| {
        let configured = config.policies.evict.get(kind.name()).into_iter().flatten();
        let line = configured.filter(|rule| rule.name == error.rule).map(|rule| rule.condition.line).next();
        refused(file, line.unwrap_or_default(), &error)
    })
}

/// The failure of a rule that cannot be judged, with its place if the configuration has it.
fn refused(file: Option<&Path>, RuleLine(line): RuleLine, wrong: &WrongRule) -> Failure {
    Failure::Usage(match (file, line) {
        (Some(file), Some(line)) => anyhow!("the configuration {}: line {line}: {wrong}", file.display()),
        _ => anyhow!("{wrong}"),
    })
}

fn wrong_rule(kind: &Kind, rule: &str, error: PolicyError) -> WrongRule {
    WrongRule { rule: rule.to_owned(), kind: kind.name(), error: Box::new(error) }
}

fn failed(kind: &Kind, rule: &str, error: PolicyError) -> Failure {
    match error {
        PolicyError::Store(error) => error.into(),
        PolicyError::Ask(error) => super::failed(error),
        error => Failure::Work(anyhow!("{}", wrong_rule(kind, rule, error))),
    }
}

/// Refuses a configuration with rules that cannot be judged.
pub(crate) fn ensure_rules(config: &Config, kinds: &[Kind], file: Option<&Path>) -> Result<(), Failure> {
    all_rules(kinds, config, file).map(drop)
}

/// Warns of the doubtful rules of a configuration, once for each. Rules that cannot be judged are reported elsewhere.
pub(crate) fn warn_of_rules(config: &Config, kinds: &[Kind]) {
    for kind in kinds {
        let evict = policies::rules(kind, &config.policies);
        let evict = evict.iter().flatten().map(|rule| (&rule.name, &rule.condition));
        let retain = config.retention.rules.iter().filter(|rule| rule.kinds.iter().any(|name| name == kind.name()));
        for (rule, condition) in evict.chain(retain.map(|rule| (&rule.name, &rule.condition))) {
            if let Some(doubt) = policies::doubt(kind, rule, condition) {
                tracing::warn!("{doubt}");
            }
        }
    }
}

/// Refuses rules with a namespace selector if the API server has no namespaces, or does not let us list them. An API server that does not
/// answer now is asked again in each round.
pub(super) async fn ensure_namespaces(client: &kube::Client, config: &Config, kinds: &[Kind]) -> Result<(), Failure> {
    for (kind, rule) in all_rules(kinds, config, None)? {
        let Some(selector) = &rule.condition().namespace_selector else { continue };
        match namespaces(client, &kind, selector).await {
            Err(error) if !error.may_pass() => {
                let error = wrong_rule(&kind, rule.name(), error.into());
                return Err(Failure::Usage(anyhow!(
                    "{error}; grant `list` on namespaces, which `ingester rbac` prints, or name them with `namespaces`, which an API server \
                     without namespaces needs"
                )));
            }
            Err(error) => tracing::warn!(kind = kind.name(), rule = rule.name(), %error, "Namespaces not listed now"),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// The effect that a rule would have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ForecastLine<'a> {
    kind: &'a str,
    rule: &'a str,
    /// The place where it is written.
    from: String,
    /// The state of the rows that it covers.
    state: &'static str,
    enforce: bool,
    leaves: u64,
    bytes: u64,
    stays: u64,
    hindered: u64,
    pending: u64,
}

impl<'a> ForecastLine<'a> {
    fn new(kind: &Kind, rule: &'a Rule<'_>, found: &RuleForecast) -> Self {
        let (leaves, bytes, stays, hindered) = match found {
            RuleForecast::Evict(found) => {
                let is_hindered = |(_, hindrance): &&(_, Hindrance)| !matches!(hindrance, Hindrance::Pending(_));
                let hindered = found.hindered.iter().filter(is_hindered).count();
                let [leaves, stays, hindered] =
                    [found.leaving.len(), found.staying.len(), hindered].map(|objects| objects as u64);
                (leaves, found.bytes, stays, hindered)
            }
            RuleForecast::Retention(found) => (found.going, found.bytes, found.staying, found.held),
        };
        let pending = match found {
            RuleForecast::Evict(found) => found.pending,
            RuleForecast::Retention(found) => found.pending,
        };
        let from = rule.origin().to_string();
        let state = rule.state();
        let enforce = rule.enforce();
        let kind = kind.name();
        let rule = rule.name();
        ForecastLine { kind, rule, from, state, enforce, leaves, bytes, stays, hindered, pending }
    }
}

fn table(lines: &[ForecastLine<'_>]) -> String {
    let mut table =
        Table::new(["kind", "rule", "from", "state", "enforced", "leaves", "bytes", "stays", "hindered", "pending"]);
    for ForecastLine { kind, rule, from, state, enforce, leaves, bytes, stays, hindered, pending } in lines {
        let names = [(*kind).to_owned(), (*rule).to_owned(), from.clone(), (*state).to_owned(), enforce.to_string()];
        let numbers = [leaves, bytes, stays, hindered, pending].map(u64::to_string);
        table.row(names.into_iter().chain(numbers));
    }
    table.to_string()
}

/// The result of a rule for one object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationLine<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    rule: &'a str,
    leaves: bool,
    why: String,
}

impl<'a> ExplanationLine<'a> {
    /// An object that has left etcd.
    fn of_departure(kind: &'a str, departure: &'a Departure) -> Self {
        let rule = match &departure.cause {
            DepartureCause::Rules(rules) => rules.first().map_or("-", String::as_str),
            DepartureCause::Kind | DepartureCause::Annotation(_) => "-",
        };
        let Departure { namespace, name, .. } = departure;
        ExplanationLine { kind, namespace, name, rule, leaves: false, why: departure.to_string() }
    }
}

/// Returns the results of a rule for the objects with this name: for each, if it leaves, and the reason.
fn explained<'a>(kind: &Kind, rule: &'a Rule<'_>, found: &'a RuleForecast, name: &str) -> Vec<ExplanationLine<'a>> {
    let enforced = rule.enforce();
    let leaves = |at: &str| {
        match (enforced, rule.origin()) {
        (true, _) => format!("the rule says so: it leaves {at}"),
        (false, Origin::Kind) => {
            "the rule says so, and is not enforced: it stays until `policies.evict` has a rule of this name with `enforce: true`".to_owned()
        }
        (false, _) => "the rule says so, and is not enforced: it stays until the rule has `enforce: true`".to_owned(),
    }
    };
    let said: Vec<(&Candidate, bool, String)> = match found {
        RuleForecast::Evict(found) => {
            let leaving = found.leaving.iter().map(|one| (one, true, leaves("within the limit of an hour")));
            let hindered = found.hindered.iter().map(|(one, why)| (one, false, why.to_string()));
            let staying = found.staying.iter().map(|(one, why)| (one, false, why.to_string()));
            leaving.chain(hindered).chain(staying).collect()
        }
        RuleForecast::Retention(found) => {
            let said = found.explained.iter().map(|(row, fate)| match fate {
                RowFate::Goes => (row, true, leaves("SQL with the next round, an only copy after its mark and grace")),
                RowFate::Marked(..) => (row, true, fate.to_string()),
                fate => (row, false, fate.to_string()),
            });
            said.collect()
        }
    };
    let line = |(candidate, leaves, why): (&'a Candidate, bool, String)| ExplanationLine {
        kind: kind.name(),
        namespace: &candidate.namespace,
        name: &candidate.name,
        rule: rule.name(),
        leaves: leaves && enforced,
        why,
    };
    said.into_iter().filter(|(candidate, ..)| *candidate.name == *name).map(line).collect()
}

fn explanations(lines: &[ExplanationLine<'_>]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["kind", "namespace", "name", "rule", "leaves", "why"]);
    for ExplanationLine { kind, namespace, name, rule, leaves, why } in lines {
        let names = [kind, namespace, name, rule].map(|text| (*text).to_owned());
        table.row(names.into_iter().chain([leaves.to_string(), why.clone()]));
    }
    table.to_string()
}
