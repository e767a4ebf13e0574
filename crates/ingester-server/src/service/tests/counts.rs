//! The numbers of objects and the rejects: callers see them according to their rights to the kinds.

use super::{ask, service, service_of};
use crate::service::Service;
use crd_specs::KINDS;
use ingester_config::FormerObjects;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::{Reject, RowChange, Store};
use serde_json::{Value as Json, json};

const OWN: &str = "/apis/mirror.michelangelo.api/v1";
const MODELS: &str = "counts/models.michelangelo.api";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

async fn get(service: &Service, user: &str, path: &str) -> (u16, Json) {
    ask(service, "GET", &format!("{OWN}/{path}"), &[("authorization", &format!("Bearer {user}"))]).await
}

/// A service with the six live models, one evicted and one deleted model, and rejects in two namespaces.
async fn filled(former: FormerObjects) -> Service {
    let store = Store::in_memory(KINDS).await.unwrap();
    let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
    let row = |name: &str| {
        let object = json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": {
                "namespace": "ml", "name": name, "uid": name, "resourceVersion": "3", "creationTimestamp": "2026-03-01T00:00:00Z",
            },
        });
        kind.row(&Object::parse(object.to_string(), ManagedFields::Prune).unwrap()).unwrap().unwrap()
    };
    let day = |day: i64| Some(Micros((1_772_323_200 + (day - 1) * 86_400) * 1_000_000));
    let evicted = Row { evict_time: day(3), evict_confirmed: true, ..row("evicted") };
    let deleted = Row { delete_time: day(4), ..row("deleted") };
    store.write(kind.table(), vec![RowChange::Row(evicted), RowChange::Row(deleted)]).await.unwrap();
    let reject = |uid: &str, (group_ver, kind): (&str, &str), namespace: &str| Reject {
        uid: uid.into(),
        group_ver: group_ver.into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: format!("of-{uid}"),
        res_version: "7".into(),
        reason: format!("{uid}: too long"),
    };
    let model = ("michelangelo.api/v1", "Model");
    let rejects = [
        reject("r1", model, "ml"),
        reject("r2", model, "lab"),
        reject("r3", model, ""),
        reject("r4", ("other.api/v2", "Model"), "ml"),
        reject("r5", ("michelangelo.api/v2", "Pipeline"), "ml"),
    ];
    store.record_rejects(&rejects).await.unwrap();
    service_of(store, former, false).await
}

fn names(list: &Json) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_kind_is_counted_for_those_who_may_list_all_of_it() {
    let service = filled(FormerObjects::Granted).await;
    let (code, list) = get(&service, "zoe", "counts").await;
    assert_eq!((code, &list["kind"], names(&list)), (200, &json!("CountList"), vec!["models.michelangelo.api"]));
    let (code, count) = get(&service, "zoe", MODELS).await;
    assert_eq!((code, &list["items"][0]), (200, &count));
    let spec = json!({"group": "michelangelo.api", "version": "v2", "kind": "Model", "resource": "models"});
    assert_eq!((&count["kind"], &count["spec"]), (&json!("Count"), &spec));
    let status = &count["status"];
    let numbers = ["live", "evicted", "deleted", "rejects"].map(|name| status[name].as_u64());
    assert_eq!(numbers, [Some(6), Some(1), Some(1), Some(3)], "a reject of another group does not count: {count}");
    assert!(status["lastChange"].as_str().unwrap().starts_with("20"), "{count}");
    // The right to one namespace is not enough, and one kind that is refused hides no other.
    for user in ["ada", "eve", "bob"] {
        assert_eq!(names(&get(&service, user, "counts").await.1), [""; 0], "{user}");
        let (code, status) = get(&service, user, MODELS).await;
        assert!(code == 403 && status["message"].as_str().unwrap().contains("in all namespaces"), "{status}");
    }
    assert_eq!(get(&service, "zoe", "counts/pipelines.michelangelo.api").await.0, 403);
    assert_eq!(get(&service, "zoe", "counts/none.michelangelo.api").await.0, 404);
    let selected =
        async |name: &str| get(&service, "zoe", &format!("counts?fieldSelector=metadata.name%3D{name}")).await.1;
    assert_eq!(names(&selected("models.michelangelo.api").await).len(), 1);
    assert_eq!(names(&selected("pipelines.michelangelo.api").await).len(), 0);
    let of_zoe = [("authorization", "Bearer zoe"), ("accept", TABLE)];
    let (_, table) = ask(&service, "GET", &format!("{OWN}/counts"), &of_zoe).await;
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..5], ["models.michelangelo.api", "6", "1", "1", "3"].map(|text| json!(text)), "{table}");
    assert_eq!(ask(&service, "POST", &format!("{OWN}/counts"), &of_zoe[..1]).await.0, 405);
}

#[tokio::test]
async fn objects_are_counted_over_time() {
    let service = filled(FormerObjects::Granted).await;
    let (code, count) = get(&service, "zoe", &format!("{MODELS}?from=2026-02-27&to=2026-03-05&steps=7")).await;
    let steps: Vec<String> = (count["status"]["steps"].as_array().unwrap().iter())
        .map(|step| {
            format!(
                "{} {}/{}/{}",
                &step["time"].as_str().unwrap()[5..10],
                step["live"],
                step["evicted"],
                step["deleted"]
            )
        })
        .collect();
    // The other six have no creation time.
    let expected =
        ["02-27 6/0/0", "02-28 6/0/0", "03-01 8/0/0", "03-02 8/0/0", "03-03 7/1/0", "03-04 6/1/1", "03-05 6/1/1"];
    assert_eq!((code, steps), (200, expected.map(str::to_owned).to_vec()));
    let (_, count) = get(&service, "zoe", &format!("{MODELS}?from=7d")).await;
    assert_eq!(count["status"]["steps"].as_array().unwrap().len(), 60);
    for (path, part) in [
        ("counts?from=7d".to_owned(), "counts/PLURAL.GROUP?from=7d"),
        (format!("{MODELS}?from=tuesday"), "from: "),
        (format!("{MODELS}?from=1d&to=2d"), "before"),
    ] {
        let (code, status) = get(&service, "zoe", &path).await;
        assert!(code == 400 && status["message"].as_str().unwrap().contains(part), "{path}: {status}");
    }
    assert_eq!(get(&service, "ada", &format!("{MODELS}?from=7d")).await.0, 403);
}

#[tokio::test]
async fn where_former_objects_are_hidden_their_number_is_too() {
    let service = filled(FormerObjects::None).await;
    let (_, list) = get(&service, "zoe", "counts").await;
    assert_eq!(list["items"][0]["status"], json!({"live": 6, "rejects": 3}));
    let (code, status) = get(&service, "zoe", &format!("{MODELS}?from=7d")).await;
    assert!(code == 403 && status["message"].as_str().unwrap().contains("serve.formerObjects"), "{status}");
    // A caller with the right to one namespace may be its later tenant.
    assert_eq!(names(&get(&service, "ada", "rejects").await.1), [""; 0]);
    assert_eq!(names(&get(&service, "zoe", "rejects").await.1).len(), 3);
}

#[tokio::test]
async fn rejects_are_shown_in_the_kinds_and_namespaces_that_the_caller_may_list() {
    let service = filled(FormerObjects::Granted).await;
    for (user, expected) in [("zoe", &["r3", "r2", "r1"][..]), ("ada", &["r1"]), ("eve", &[]), ("bob", &[])] {
        let (code, list) = get(&service, user, "rejects").await;
        assert_eq!((code, names(&list)), (200, expected.to_vec()), "{user}");
    }
    let (code, reject) = get(&service, "ada", "rejects/r1").await;
    let spec = &reject["spec"];
    assert_eq!((code, &reject["kind"], &spec["reason"]), (200, &json!("Reject"), &json!("r1: too long")));
    let texts =
        ["apiVersion", "kind", "namespace", "name", "uid", "resourceVersion"].map(|name| spec[name].as_str().unwrap());
    assert_eq!(texts, ["michelangelo.api/v1", "Model", "ml", "of-r1", "r1", "7"]);
    assert!(spec["time"].as_str().unwrap().starts_with("20"), "{reject}");
    for (user, name) in [("ada", "r2"), ("zoe", "r4"), ("zoe", "r5"), ("zoe", "none"), ("eve", "r1")] {
        assert_eq!(get(&service, user, &format!("rejects/{name}")).await.0, 404, "{user} {name}");
    }
    let headers = [("authorization", "Bearer ada"), ("accept", TABLE)];
    let (_, table) = ask(&service, "GET", &format!("{OWN}/rejects"), &headers).await;
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..4], ["r1", "Model", "ml", "of-r1"].map(|text| json!(text)), "{table}");
}

#[tokio::test]
async fn without_objects_and_rejects_there_are_zeros() {
    let service = service().await;
    let (_, count) = get(&service, "zoe", MODELS).await;
    let numbers = ["live", "evicted", "deleted", "rejects"].map(|name| count["status"][name].as_u64());
    assert_eq!(numbers, [Some(6), Some(0), Some(0), Some(0)], "{count}");
    assert_eq!(names(&get(&service, "zoe", "rejects").await.1), [""; 0]);
}
