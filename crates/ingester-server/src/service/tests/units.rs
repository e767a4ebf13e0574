//! The states of units and the effects of rules are shown only to callers who may list them.

use super::{ask, service_of};
use crate::service::Service;
use crd_specs::KINDS;
use ingester_config::FormerObjects;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_store::Store;
use ingester_store::units::{RuleRecord, UnitPhase, UnitRecord};
use serde_json::{Value as Json, json};

const OWN: &str = "/apis/mirror.michelangelo.api/v1";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

async fn get(service: &Service, user: &str, path: &str) -> (u16, Json) {
    ask(service, "GET", &format!("{OWN}/{path}"), &[("authorization", &format!("Bearer {user}"))]).await
}

fn model() -> &'static Kind {
    find(KINDS, "michelangelo.api/v2", "Model").unwrap()
}

/// A record that a unit wrote this many seconds ago.
fn unit(now: i64, ago: i64, namespace: &str, shard: &str, phase: UnitPhase) -> UnitRecord {
    UnitRecord {
        heartbeat: now - ago,
        phase,
        lag: 2,
        waiting: 5,
        live: 100,
        held: 1,
        rejected: 3,
        audit: (namespace == "ml").then_some((now - 1000, 4)),
        namespace: namespace.to_owned(),
        shard: shard.to_owned(),
        member: "ingester-0/7".to_owned(),
    }
}

fn rule(now: i64, rule: &str, matches: u64) -> RuleRecord {
    let enforced = rule == "finished";
    let judged = rule != "broken";
    RuleRecord { time: now, enforced, judged, matches, waiting: 1, moved: 2, rule: rule.to_owned() }
}

async fn filled() -> Service {
    let store = Store::in_memory(KINDS).await.unwrap();
    let now = store.now().0 / 1_000_000;
    let record = async |name: &str, record: UnitRecord| store.record_unit(model(), name, &record).await.unwrap();
    record("Model in ml", unit(now, 1, "ml", "", UnitPhase::Synced)).await;
    record("Model in lab 2/4", unit(now, 100, "lab", "2/4", UnitPhase::Listing)).await;
    record("Model in old", unit(now, 86_402, "old", "", UnitPhase::Synced)).await;
    for (name, found) in
        [("one", rule(now, "finished", 7)), ("two", rule(now, "finished", 5)), ("one", rule(now, "broken", 0))]
    {
        store.record_rule(model(), name, &found).await.unwrap();
    }
    service_of(store, FormerObjects::Granted, false).await
}

fn names(list: &Json) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn units_say_what_they_do_and_whether_that_is_stale() {
    let service = filled().await;
    let (code, list) = get(&service, "zoe", "units").await;
    assert_eq!((code, &list["kind"]), (200, &json!("UnitList")));
    assert_eq!(names(&list), ["models.michelangelo.api.lab.2-4", "models.michelangelo.api.ml"], "one is a day old");
    let (code, unit) = get(&service, "zoe", "units/models.michelangelo.api.ml").await;
    assert_eq!((code, &unit), (200, &list["items"][1]));
    let spec = json!({
        "group": "michelangelo.api", "version": "v2", "kind": "Model", "resource": "models", "namespace": "ml", "shard": "",
    });
    assert_eq!(unit["spec"], spec);
    let status = &unit["status"];
    let numbers = ["lagSeconds", "waiting", "live", "held", "rejects"].map(|name| status[name].as_u64());
    assert_eq!(numbers, [2, 5, 100, 1, 3].map(Some), "{unit}");
    assert_eq!((&status["phase"], &status["stale"]), (&json!("synced"), &json!(false)));
    assert_eq!((&status["member"], &status["audit"]["differences"]), (&json!("ingester-0/7"), &json!(4)));
    assert_eq!(list["items"][0]["status"]["stale"], true);
    let headers = [("authorization", "Bearer zoe"), ("accept", TABLE)];
    let (_, table) = ask(&service, "GET", &format!("{OWN}/units"), &headers).await;
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    let expected = ["models.michelangelo.api.lab.2-4", "lab", "2/4", "ingester-0/7", "listing, stale", "2", "5", "100"];
    assert_eq!(cells[..8], expected.map(|text| json!(text)), "{table}");
    assert_eq!(cells.len(), table["columnDefinitions"].as_array().unwrap().len());
    assert_eq!(get(&service, "zoe", "units/none").await.0, 404);
    let (_, selected) = get(&service, "zoe", "units?fieldSelector=metadata.name%3Dmodels.michelangelo.api.ml").await;
    assert_eq!(names(&selected).len(), 1);
    assert_eq!(ask(&service, "POST", &format!("{OWN}/units"), &headers[..1]).await.0, 405);
}

#[tokio::test]
async fn rules_say_what_they_move_summed_over_the_units_of_a_kind() {
    let service = filled().await;
    let (code, list) = get(&service, "zoe", "policies").await;
    assert_eq!((code, &list["kind"]), (200, &json!("PolicyList")));
    assert_eq!(names(&list), ["models.michelangelo.api.broken", "models.michelangelo.api.finished"]);
    let found = &list["items"][1];
    assert_eq!((&found["spec"]["rule"], &found["spec"]["mode"]), (&json!("finished"), &json!("enforced")));
    let numbers = ["matches", "waiting", "moved"].map(|name| found["status"][name].as_u64());
    assert_eq!(numbers, [12, 2, 4].map(Some), "{found}");
    assert_eq!(list["items"][0]["status"]["judged"], false);
    let headers = [("authorization", "Bearer zoe"), ("accept", TABLE)];
    let (_, table) = ask(&service, "GET", &format!("{OWN}/policies"), &headers).await;
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[1..6], ["broken", "dry", "?", "?", "?"].map(|text| json!(text)), "{table}");
    assert_eq!(cells.len(), table["columnDefinitions"].as_array().unwrap().len());
}

#[tokio::test]
async fn units_and_policies_need_the_right_to_list_them() {
    let service = filled().await;
    for user in ["ada", "eve", "bob"] {
        for path in [
            "units",
            "policies",
            "units/models.michelangelo.api.ml",
            "policies/models.michelangelo.api.finished",
            "units/none",
        ] {
            let (code, status) = get(&service, user, path).await;
            let plural = path.split('/').next().unwrap();
            let message = status["message"].as_str().unwrap();
            assert_eq!(code, 403, "{user} {path}: {status}");
            assert!(
                message
                    .contains(&format!("cannot list resource \"{plural}\" in API group \"mirror.michelangelo.api\"")),
                "{status}"
            );
        }
    }
}
