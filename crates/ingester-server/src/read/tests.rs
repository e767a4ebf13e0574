//! Tests the memory and the cost of lists, and that they end with their clients.

use super::budget::{Budget, PAGE, READING};
use super::{Cost, ListTime, cost, limits_of, list_within};
use crate::request::accept::Form;
use crate::request::parameters::{self, Parameters};
use crate::request::query::QueryString;
use crate::status::Status;
use axum::body::Body;
use crd_specs::KINDS;
use http::Response;
use http_body_util::BodyExt as _;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Value;
use ingester_sql::query::{Filter, Query, Test};
use ingester_store::query::Limits;
use ingester_store::{RowChange, Store};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The size of each object in bytes.
const SIZE: usize = 100_000;

async fn store(objects: usize) -> Arc<Store> {
    store_of(objects, SIZE).await
}

async fn store_of(objects: usize, size: usize) -> Arc<Store> {
    let store = Store::in_memory(KINDS).await.unwrap();
    let kind = models();
    for n in 0..objects {
        let name = format!("m{n:03}");
        let object = json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model",
            "metadata": {"namespace": "ml", "name": name, "uid": name, "resourceVersion": "7"},
            "spec": {"unknown": "x".repeat(size)},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
        let row = kind.row(&object).unwrap().unwrap();
        store.write(kind.table(), vec![RowChange::Row(row)]).await.unwrap();
    }
    Arc::new(store)
}

fn budget(bytes: usize) -> &'static Budget {
    Box::leak(Box::new(Budget::new(bytes)))
}

fn models() -> &'static Kind {
    find(KINDS, "michelangelo.api/v2", "Model").unwrap()
}

async fn list(budget: &'static Budget, store: &Arc<Store>, query: &str) -> Response<Body> {
    let parameters = parameters::parse(&QueryString::parse(query), "Model").unwrap();
    asked(budget, store, parameters, Limits::default()).await.unwrap()
}

async fn asked(
    budget: &'static Budget,
    store: &Arc<Store>,
    parameters: Parameters,
    limits: Limits,
) -> Result<Response<Body>, Status> {
    let cost = cost(store, models(), &parameters)?;
    list_within((budget, "ann", cost), (store, ListTime::Now(None)), models(), parameters, Form::Objects, limits).await
}

/// A list of only the objects before this name, for which the database needs many steps per object.
fn slow(before: &str) -> Parameters {
    let pattern = format!("%{}y%", "x".repeat(30));
    let unlike = || Filter::field("spec.unknown", Test::Like(pattern.clone()));
    let name = Filter::field("metadata.name", Test::Less(Value::text(before)));
    let any = Filter::Or(std::iter::once(name).chain((0..300).map(|_| unlike())).collect());
    Parameters { query: Query { filters: vec![any], scan: true, ..Query::default() }, ..Parameters::default() }
}

/// Waits for a condition.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect(what);
}

#[tokio::test]
async fn a_page_holds_its_text_until_it_is_gone() {
    let store = store(60).await;
    let budget = budget(READING + PAGE);
    let page = list(budget, &store, "limit=500").await;
    let held = READING + PAGE - budget.left();
    let text = page.into_body().frame().await.unwrap().unwrap().into_data().unwrap();
    assert!((text.len()..text.len() + 1024).contains(&held), "{held} for {}", text.len());
    assert!((PAGE - 2 * SIZE..PAGE + SIZE).contains(&text.len()), "{}", text.len());
    let part = text.slice(..10);
    let page: Json = serde_json::from_slice(&text).unwrap();
    let token = page["metadata"]["continue"].as_str().unwrap().to_owned();
    drop(text);
    assert_eq!(READING + PAGE - budget.left(), held, "a part is all of it");
    drop(part);
    assert_eq!(budget.left(), READING + PAGE);
    // The others are on the next page.
    let rest = list(budget, &store, &format!("limit=500&continue={token}")).await;
    let rest: Json = serde_json::from_slice(&rest.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let items = |page: &Json| page["items"].as_array().unwrap().len();
    assert_eq!(items(&page) + items(&rest), 60);
    assert_eq!(budget.left(), READING + PAGE);
}

#[tokio::test]
async fn a_list_waits_while_others_hold_the_memory() {
    let store = store(60).await;
    let budget = budget(READING);
    for first in ["limit=500", ""] {
        let first = list(budget, &store, first).await;
        for second in ["limit=1", "", "limit=1&listOptionsExt=%7B%22pagination%22:%7B%22offset%22:1%7D%7D"] {
            let waiting = tokio::time::timeout(Duration::from_millis(50), list(budget, &store, second)).await;
            assert!(waiting.is_err(), "{second}");
        }
        let (_, second) = tokio::join!(async { drop(first) }, list(budget, &store, "limit=1"));
        drop(second);
        until("all is given back", || budget.left() == READING).await;
    }
}

#[tokio::test]
async fn a_whole_list_holds_memory_while_it_is_read_and_sent() {
    let large = store(160).await;
    let small = store(1).await;
    let budget = budget(READING);
    let mut body = list(budget, &large, "").await.into_body();
    let mut text = Vec::new();
    assert_eq!(budget.left(), 0, "there is more to read");
    let mut lengths = Vec::new();
    while let Some(frame) = body.frame().await {
        let part = frame.unwrap().into_data().unwrap();
        lengths.push(part.len());
        text.extend_from_slice(&part);
    }
    assert!(lengths.len() > 4 && lengths.iter().all(|length| *length <= 8 << 20), "{lengths:?}");
    let all: Json = serde_json::from_slice(&text).unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), 160);
    drop(body);
    assert_eq!(budget.left(), READING);

    // A client that leaves midway leaves nothing behind.
    drop(list(budget, &large, "").await);
    until("all is given back", || budget.left() == READING).await;

    // An answer that is read as a whole holds only its text.
    let body = list(budget, &small, "").await.into_body();
    until("it is read", || budget.left() > 0).await;
    let held = READING - budget.left();
    assert!((SIZE..SIZE + 4096).contains(&held), "{held}");
    drop(body);
    until("all is given back", || budget.left() == READING).await;
}

/// Checks that within a second the list has no running statement any more, and holds neither a connection nor memory.
async fn all_is_given_back(store: &Store, budget: &Budget) {
    let given_back = async {
        while store.connections().used > 0 || budget.left() < READING {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(1), given_back).await;
    assert!(in_time.is_ok(), "{:?}, {} left", store.connections(), budget.left());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_a_limit_ends_with_its_client() {
    let store = store_of(1500, 100).await;
    let budget = budget(READING);
    let works = || store.connections().used == 1 && budget.left() == 0;
    // Busy cores must not end the list before its client does.
    let patient = Limits::default().with_time(Duration::from_secs(600));
    // End it before anything is found.
    let begun = tokio::spawn({
        let store = store.clone();
        async move { asked(budget, &store, slow(""), patient).await.map(drop) }
    });
    until("it is read", works).await;
    begun.abort();
    all_is_given_back(&store, budget).await;

    // End it while the second portion is read, after the first was sent.
    let mut body = asked(budget, &store, slow("m064"), patient).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    until("more is read", works).await;
    drop(body);
    all_is_given_back(&store, budget).await;
}

#[tokio::test]
async fn a_list_that_may_read_a_whole_table_costs_more() {
    let store = store(0).await;
    for (query, expected) in [
        ("", Cost::Keyed),
        ("limit=5", Cost::Keyed),
        ("labelSelector=a%3Db", Cost::Keyed),
        ("fieldSelector=metadata.name%3Da", Cost::Keyed),
        ("order-by=-create_time", Cost::Keyed),
        ("created-after=7d", Cost::Keyed),
        ("state=deleted", Cost::Keyed),
        ("uid=u&order-by=group_ver", Cost::Keyed),
        ("limit=5&count=true", Cost::Whole),
        ("listOptionsExt=%7B%22pagination%22:%7B%22offset%22:1%7D%7D", Cost::Whole),
        ("labelSelector=a!%3Db", Cost::Whole),
        ("labelSelector=!a", Cost::Whole),
        ("order-by=group_ver", Cost::Whole),
        ("labelSelector=a%3Db&order-by=group_ver", Cost::Whole),
        ("fieldSelector=metadata.resourceVersion%3D7", Cost::Whole),
        ("fieldSelector=spec.unknown%3Dx&scan=true", Cost::Whole),
    ] {
        let parameters = parameters::parse(&QueryString::parse(query), "Model").unwrap();
        assert_eq!(cost(&store, models(), &parameters).unwrap(), expected, "{query}");
    }
    let limits = Limits::default().with_time(Duration::from_secs(3));
    assert_eq!(limits_of(Cost::Keyed, limits), limits);
    assert_eq!(limits_of(Cost::Whole, limits), limits.with_time(Duration::from_secs(1)));
}

#[tokio::test]
async fn a_list_that_reads_a_whole_table_has_a_third_of_the_time() {
    let store = store_of(1500, 100).await;
    let budget = budget(READING);
    for limit in [None, Some(5)] {
        let limits = Limits::default().with_time(Duration::from_millis(300));
        let status = asked(budget, &store, Parameters { limit, ..slow("") }, limits).await.unwrap_err();
        assert_eq!(status.code, 504);
        assert!(status.message.contains("the database took longer than 100ms"), "{}", status.message);
    }
}
