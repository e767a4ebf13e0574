//! The states of the units of `ingester run` and the effects of its rules: `units` and `policies` of `mirror.michelangelo.api`, as the
//! processes last wrote them into the database. They are for operators: a caller who may `list` one of these resources sees all of it.
//!
//! May use: ingester-core, ingester-store, answer, caller, counts, namespaces, read, request, status.

use crate::answer::OwnObjects;
use crate::caller::{Attributes, Verb};
use crate::counts::name;
use crate::namespaces::Asker;
use crate::read::{self, refused};
use crate::request::path::{OUTER_GROUP, OUTER_VERSION};
use crate::status::{Reason, Resource, Status};
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::query::AskError;
use ingester_store::units::{RuleRecord, UnitRecord};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const API_VERSION: &str = "mirror.michelangelo.api/v1";

/// One of the two resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitResource {
    /// The states of units.
    Units,
    /// The effects of rules.
    Policies,
}

impl UnitResource {
    /// Returns its plural.
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            UnitResource::Units => "units",
            UnitResource::Policies => "policies",
        }
    }

    /// Returns its kind.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            UnitResource::Units => "Unit",
            UnitResource::Policies => "Policy",
        }
    }

    /// The resource, as statuses name it.
    pub(crate) const fn resource(self) -> Resource<'static> {
        Resource { group: OUTER_GROUP, plural: self.plural() }
    }
}

/// Returns all objects.
///
/// # Errors
/// 403 without the right to list them; 504 if the database takes too long; 500 or 503 if it fails, or the API server cannot be asked.
pub(crate) async fn list(asker: Asker<'_>, which: UnitResource) -> Result<OwnObjects, Status> {
    // Require `list` even for one of them: every caller may have the right to `get`, so that their other requests are passed on.
    let right = Attributes::of_all(Verb::List, OUTER_GROUP, OUTER_VERSION, which.plural());
    asker.identity.authorize(asker.caller, &right).await?;
    let _turn = read::turn(&asker.caller.user, read::Cost::Keyed).await;
    let failed = |error: AskError| refused(error, which.resource());
    let time = asker.limits.time;
    let mut objects: Vec<(Json, Vec<Json>)> = match which {
        UnitResource::Units => {
            let units = asker.store.units(asker.kinds, time).await.map_err(failed)?;
            let now = asker.store.now();
            units.iter().map(|(kind, record)| unit(kind, record, now)).collect()
        }
        UnitResource::Policies => {
            together(asker.store.rules(asker.kinds, time).await.map_err(failed)?).map(policy).collect()
        }
    };
    objects.sort_by_key(|(_, cells)| cells[0].to_string());
    let api_version = API_VERSION;
    let kind = which.kind();
    Ok(OwnObjects { api_version, kind, columns: columns(which), objects })
}

/// Returns the object with this name.
///
/// # Errors
/// As [`list`], and 404.
pub(crate) async fn get(asker: Asker<'_>, which: UnitResource, name: &str) -> Result<OwnObjects, Status> {
    let mut all = list(asker, which).await.map_err(|mut status| {
        if status.reason == Reason::Forbidden {
            status.message.push_str(&format!("; one of the {} needs the right to list all of them", which.plural()));
        }
        status
    })?;
    all.objects.retain(|(object, _)| object["metadata"]["name"] == name);
    if all.objects.is_empty() { Err(Status::not_found(which.resource(), name)) } else { Ok(all) }
}

fn columns(which: UnitResource) -> &'static [(&'static str, &'static str)] {
    match which {
        UnitResource::Units => &[
            ("Name", "The kind, with the unit's namespace and shard."),
            ("Namespace", "The namespace that the unit is about; empty for all of them."),
            ("Shard", "The unit's part of the objects; empty for all of them."),
            ("Member", "The pod and process that has the unit."),
            ("Phase", "What it is doing; `stale` if it has not reported for 90 seconds."),
            ("Lag", "For how many seconds the oldest change has waited."),
            ("Waiting", "Objects that wait to be written."),
            ("Live", "Objects that are mirrored and live."),
            ("Held", "Terminating objects that cannot leave yet because of our finalizer."),
            ("Rejects", "Objects that could not be stored."),
            ("Differences", "What the last scheduled audit found."),
            ("Last Audit", "When it ended."),
            ("Heartbeat", "When the unit reported this."),
        ],
        UnitResource::Policies => &[
            ("Name", "The kind and the rule."),
            ("Rule", "The rule's name."),
            ("Mode", "`enforced`, or `dry`: it moves nothing."),
            ("Matches", "Objects that are to leave etcd by it."),
            (
                "Waiting",
                "Those of them that are still there although the rule is enforced: over the limit of the hour, or hindered.",
            ),
            ("Moved", "Those that the last round has begun to move."),
            ("Round", "When the last round ended."),
        ],
    }
}

fn time(seconds: i64) -> String {
    Micros(seconds.saturating_mul(1_000_000)).rfc3339()
}

fn spec(kind: &Kind) -> Json {
    json!({"group": kind.group(), "version": kind.version(), "kind": kind.kind(), "resource": kind.plural()})
}

/// Returns the object of a unit, with its cells.
fn unit(kind: &Kind, record: &UnitRecord, now: Micros) -> (Json, Vec<Json>) {
    let UnitRecord { heartbeat, phase, lag, waiting, live, held, rejected, audit, namespace, shard, member } = record;
    let parts = [namespace.clone(), shard.replace('/', "-")];
    let name = parts.iter().filter(|part| !part.is_empty()).fold(name(kind), |name, part| format!("{name}.{part}"));
    let stale = record.is_stale(now);
    let mut spec = spec(kind);
    (spec["namespace"], spec["shard"]) = (json!(namespace), json!(shard));
    let mut status = json!({
        "member": member, "phase": phase.name(), "stale": stale, "lagSeconds": lag, "waiting": waiting, "live": live, "held": held,
        "rejects": rejected, "heartbeat": time(*heartbeat),
    });
    if let Some((ended, differences)) = audit {
        status["audit"] = json!({"time": time(*ended), "differences": differences});
    }
    let shown = if stale { format!("{}, stale", phase.name()) } else { phase.name().to_owned() };
    let mut cells = vec![json!(name), json!(namespace), json!(shard), json!(member), json!(shown)];
    cells.extend([lag, waiting, live, held, rejected].map(|number| json!(number.to_string())));
    cells.push(audit.map_or(Json::Null, |(_, differences)| json!(differences.to_string())));
    cells.push(audit.map_or(Json::Null, |(ended, _)| json!(time(ended))));
    cells.push(json!(time(*heartbeat)));
    let object = json!({
        "apiVersion": API_VERSION, "kind": "Unit", "metadata": {"name": name}, "spec": spec, "status": status,
    });
    (object, cells)
}

/// Combines the results of all units of a kind for each rule.
fn together(rules: Vec<(Kind, RuleRecord)>) -> impl Iterator<Item = (Kind, RuleRecord)> {
    let mut all: BTreeMap<(String, String), (Kind, RuleRecord)> = BTreeMap::new();
    for (kind, record) in rules {
        let place = (name(&kind), record.rule.clone());
        let sum = match all.remove(&place) {
            Some((_, other)) => other.and(&record),
            None => record,
        };
        all.insert(place, (kind, sum));
    }
    all.into_values()
}

/// Returns the object of a rule, with its cells.
fn policy((kind, record): (Kind, RuleRecord)) -> (Json, Vec<Json>) {
    let RuleRecord { time: ended, enforced, judged, matches, waiting, moved, rule } = record;
    let name = format!("{}.{rule}", name(&kind));
    let mode = if enforced { "enforced" } else { "dry" };
    let mut spec = spec(&kind);
    (spec["rule"], spec["mode"]) = (json!(rule), json!(mode));
    let status = json!({
        "judged": judged, "matches": matches, "waiting": waiting, "moved": moved, "round": time(ended),
    });
    let number = |number: u64| if judged { json!(number.to_string()) } else { json!("?") };
    let cells = vec![
        json!(name),
        json!(rule),
        json!(mode),
        number(matches),
        number(waiting),
        number(moved),
        json!(time(ended)),
    ];
    let object = json!({
        "apiVersion": API_VERSION, "kind": "Policy", "metadata": {"name": name}, "spec": spec, "status": status,
    });
    (object, cells)
}
