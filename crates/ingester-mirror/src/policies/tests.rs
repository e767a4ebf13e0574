//! Tests rules on stored rows: which rows are candidates, and what hinders their objects.

use super::{Forecast, ForecastScope, Hindrance, PolicyError, StayReason, check, doubt, forecast};
use crate::fixture;
use http::{Request, Response};
use ingester_config::{Condition, EvictionRule, KeepLast};
use ingester_core::Kind;
use ingester_core::kind::{Definition, IngestVersion};
use ingester_core::object::ManagedFields;
use ingester_core::value::Micros;
use ingester_sql::query::{parse_field_selector, parse_label_selector};
use ingester_store::units::{UnitPhase, UnitRecord};
use ingester_store::{RowChange, Store};
use kube::Client;
use kube::client::Body;
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use std::time::Duration;

/// The row of an object that is done.
fn row(name: &str, change: impl FnOnce(&mut Json)) -> RowChange {
    let mut object = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {
            "namespace": "ml", "name": name, "uid": name, "resourceVersion": "7", "labels": {"phase": "done"},
            "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["michelangelo/Ingester"],
        },
    });
    change(&mut object["metadata"]);
    let object = crate::unit::parse(&MODEL, object.to_string().into(), ManagedFields::Keep).unwrap();
    RowChange::Row(MODEL.row(&object).unwrap().unwrap())
}

fn evicted(name: &str) -> RowChange {
    match row(name, |_| {}) {
        RowChange::Row(mut row) => {
            (row.evict_time, row.evict_confirmed) = (Some(Micros(1)), true);
            RowChange::Row(row)
        }
        other => other,
    }
}

/// The kind, in a program with a lock file.
const MODEL: Kind = fixture::MODEL.versioned(IngestVersion { number: 2, of_unmarked: 0 });

fn condition() -> Condition {
    Condition {
        when: parse_label_selector("phase=done").unwrap(),
        after: Some(Duration::from_secs(3600)),
        ..Condition::default()
    }
}

fn rule_of(condition: Condition) -> EvictionRule {
    EvictionRule { name: "done".into(), condition, enforce: false }
}

fn rule() -> EvictionRule {
    rule_of(condition())
}

async fn foresee(rows: Vec<RowChange>, rule: &EvictionRule) -> Forecast {
    let store = Store::in_memory(&[MODEL]).await.unwrap();
    store.write(MODEL.table(), rows).await.unwrap();
    let rules = std::slice::from_ref(rule);
    let scope = ForecastScope { kinds: &[MODEL], rules, restore_grace: Duration::from_secs(3600) };
    forecast(&store, &MODEL, rule, scope, None).await.unwrap()
}

fn leaving(forecast: &Forecast) -> Vec<&str> {
    forecast.leaving.iter().map(|candidate| &*candidate.name).collect()
}

fn owned_by(uid: &'static str) -> impl FnOnce(&mut Json) {
    move |metadata| {
        metadata["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "X", "name": "x", "uid": uid, "controller": true}]);
    }
}

#[tokio::test]
async fn only_live_objects_that_the_selectors_and_namespaces_mean_are_candidates() {
    let rows = vec![
        row("done", |_| {}),
        row("running", |metadata| metadata["labels"]["phase"] = json!("running")),
        row("elsewhere", |metadata| metadata["namespace"] = json!("other")),
        row("young", |metadata| metadata["creationTimestamp"] = json!("2999-01-01T00:00:00Z")),
        evicted("evicted"),
    ];
    let found = foresee(rows, &rule_of(Condition { namespaces: vec!["ml".into()], ..condition() })).await;
    assert_eq!(leaving(&found), ["done"]);
    assert!(found.bytes > 200, "{} bytes", found.bytes);
    let staying: Vec<_> = found.staying.iter().map(|(candidate, why)| (&*candidate.name, *why)).collect();
    assert!(matches!(staying[..], [("young", StayReason::Until(_))]), "{staying:?}");
}

#[tokio::test]
async fn owners_dependents_and_finalizers_of_others_keep_an_object() {
    let rows = vec![
        row("a", |_| {}),
        row("held", |metadata| metadata["finalizers"] = json!(["michelangelo/Ingester", "example.com/other"])),
        row("terminating", |metadata| metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
        // Each of the two keeps the other.
        row("owner", |_| {}),
        row("owned", owned_by("owner")),
        // Their owners are gone from the cluster, or not mirrored.
        row("orphan", owned_by("evicted")),
        row("foreign", owned_by("unknown")),
        evicted("evicted"),
    ];
    let found = foresee(rows, &rule()).await;
    assert_eq!(leaving(&found), ["a", "foreign", "orphan"]);
    let hindered: Vec<_> = found.hindered.iter().map(|(candidate, why)| (&*candidate.name, why.clone())).collect();
    let expected = [
        ("held", Hindrance::Finalizer("example.com/other".into())),
        ("owned", Hindrance::Owned),
        ("owner", Hindrance::Owns),
        ("terminating", Hindrance::Terminating),
    ];
    assert_eq!(hindered, expected);
}

#[tokio::test]
async fn a_restored_object_is_exempt_for_a_while_whatever_columns_say() {
    let at = |time: String| {
        move |metadata: &mut Json| {
            metadata["creationTimestamp"] = json!(time);
            metadata["annotations"] = json!({"michelangelo/RestoredFrom": "old"});
        }
    };
    let now = Micros::now();
    let rows = vec![
        row("fresh", at(now.rfc3339())),
        row("settled", at(Micros(now.0 - 3_700_000_000).rfc3339())),
        row("other", |metadata| metadata["annotations"] = json!({"example.com/RestoredFrom": "old"})),
    ];
    let found = foresee(rows, &rule_of(Condition { after: None, ..condition() })).await;
    assert_eq!(leaving(&found), ["other", "settled"]);
    let [(fresh, Hindrance::Restored(until))] = &found.hindered[..] else { panic!("{:?}", found.hindered) };
    assert_eq!(&*fresh.name, "fresh");
    assert!(*until > now && until.0 <= now.0 + 3_600_000_000, "{until:?}");
    let said = found.hindered[0].1.to_string();
    assert!(said.contains("`policies.restoreGrace`") && said.contains(&until.rfc3339()), "{said}");
}

#[tokio::test]
async fn every_owner_reference_counts_not_only_the_controller() {
    let owners = |metadata: &mut Json| {
        let owner = |uid: &str, controller: bool| json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": uid, "controller": controller});
        metadata["ownerReferences"] = json!([owner("unknown", true), owner("first", false), owner("second", false)]);
    };
    let running = |metadata: &mut Json| metadata["labels"]["phase"] = json!("running");
    let rows = vec![row("first", |_| {}), row("second", running), row("dependent", owners), row("elsewhere", |_| {})];
    let found = foresee(rows, &rule()).await;
    assert_eq!(leaving(&found), ["elsewhere"]);
    let hindered: Vec<_> = found.hindered.iter().map(|(candidate, why)| (&*candidate.name, why.clone())).collect();
    assert_eq!(hindered, [("dependent", Hindrance::Owned), ("first", Hindrance::Owns)]);
}

/// The record of a unit of models that does this.
fn unit(store: &Store, phase: UnitPhase) -> UnitRecord {
    UnitRecord {
        heartbeat: store.now().0 / 1_000_000,
        phase,
        lag: 0,
        waiting: 0,
        live: 1,
        held: 0,
        rejected: 0,
        audit: None,
        namespace: String::new(),
        shard: String::new(),
        member: "a".into(),
    }
}

/// An API server that answers each list of metadata so.
fn api_server(code: u16, items: &'static str) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        assert_eq!(request.uri().path(), "/apis/michelangelo.api/v2/namespaces/ml/models");
        let text = match code {
            200 => format!(r#"{{"metadata":{{"resourceVersion":"1"}},"items":[{items}]}}"#),
            _ => format!(r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":{code}}}"#),
        };
        let answer = Response::builder().status(code).body(Body::from(text.into_bytes())).unwrap();
        async move { Ok::<_, Infallible>(answer) }
    });
    Client::new(service, "default")
}

#[tokio::test]
async fn dependents_without_rows_are_asked_for_and_a_kind_that_is_behind_keeps_owners_without_an_answer() {
    const OWNED: &str = r#"{"metadata":{"name":"d","uid":"d","ownerReferences":[{"uid":"other"},{"uid":"done"}]}}"#;
    let store = Store::in_memory(&[MODEL]).await.unwrap();
    store.write(MODEL.table(), vec![row("done", |_| {})]).await.unwrap();
    let foresee = async |client: Option<Client>| {
        let rule = rule();
        let rules = std::slice::from_ref(&rule);
        let scope = ForecastScope { kinds: &[MODEL], rules, restore_grace: Duration::ZERO };
        forecast(&store, &MODEL, &rule, scope, client.as_ref()).await.unwrap()
    };
    let why = |found: &Forecast| found.hindered.iter().map(|(_, why)| why.clone()).next();
    // Where no unit says that it is behind, the rows count without an answer.
    let found = foresee(None).await;
    assert_eq!((leaving(&found), found.unasked.is_some()), (vec!["done"], true));
    assert_eq!(why(&foresee(Some(api_server(200, OWNED))).await), Some(Hindrance::OwnsUnstored));
    for phase in [UnitPhase::Suspended, UnitPhase::Failed, UnitPhase::Listing] {
        store.record_unit(&MODEL, "Model", &unit(&store, phase)).await.unwrap();
        assert_eq!(leaving(&foresee(Some(api_server(200, ""))).await), ["done"]);
        let found = foresee(Some(api_server(429, ""))).await;
        let Some(Hindrance::Unlisted { kind: "Model", why }) = why(&found) else { panic!("{found:?}") };
        assert!(why.contains("listing the metadata of models: no"), "{why}");
        assert!(foresee(None).await.leaving.is_empty());
    }
    store.record_unit(&MODEL, "Model", &unit(&store, UnitPhase::Synced)).await.unwrap();
    assert_eq!(leaving(&foresee(Some(api_server(429, ""))).await), ["done"]);
}

#[tokio::test]
async fn groups_are_the_values_of_columns() {
    let place = |name: &'static str, namespace: &'static str| {
        row(name, move |metadata| metadata["namespace"] = json!(namespace))
    };
    let rows = vec![place("a", "x"), place("b", "x"), place("c", "x"), place("d", "y")];
    let keep = KeepLast { count: 2, by: vec!["metadata.namespace".into()] };
    let found = foresee(rows, &rule_of(Condition { keep_last: Some(keep), after: None, ..condition() })).await;
    assert_eq!(leaving(&found), ["a"]);
}

#[test]
fn a_rule_whose_negation_also_holds_without_a_value_is_doubtful() {
    let doubt_of = |selector: &str| {
        let condition = Condition { when: parse_field_selector(selector).unwrap(), ..condition() };
        doubt(&MODEL, "done", &condition)
    };
    let said = doubt_of("evict_time!=2026-01-01T00:00:00Z").unwrap();
    assert!(said.starts_with("the rule `done` of Model: ") && said.ends_with("add `evict_time!=`"), "{said}");
    assert_eq!(doubt_of("evict_time!=2026-01-01T00:00:00Z,evict_time!="), None);
    assert_eq!(doubt_of("name!=a"), None);
}

#[test]
fn a_rule_that_cannot_be_judged_names_what_is_wrong() {
    let wrong = |condition: Condition| check(&MODEL, &rule_of(condition)).unwrap_err().to_string();
    let unknown = Condition { when: parse_field_selector("spec.phase=done").unwrap(), ..condition() };
    assert!(wrong(unknown).contains("spec.phase"));
    assert!(wrong(Condition { since: Some("name".into()), ..condition() }).contains("`name` is not a time"));
    let by = KeepLast { count: 1, by: vec!["spec.owner".into()] };
    assert!(wrong(Condition { keep_last: Some(by), ..condition() }).contains("spec.owner"));
    for definition in [
        Definition { immutable: true, ..*MODEL.definition() },
        Definition { evictable: Some(false), ..*MODEL.definition() },
    ] {
        let kind = Kind::new(definition, *MODEL.functions());
        assert!(matches!(check(&kind, &rule()), Err(PolicyError::Rule(_))));
    }
    assert!(check(&MODEL, &rule()).is_ok());
}
