//! Tests which callers may watch, and at which version a watch begins after a list.

use super::{MODELS, answer, ask, service, service_with};
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value as Json, json};

const ADA: [(&str, &str); 1] = [("authorization", "Bearer ada")];

#[tokio::test]
async fn without_a_log_initial_events_are_refused_with_what_switches_it_on() {
    let service = service().await;
    let initial = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let (code, status) = ask(&service, "GET", &format!("{MODELS}?{initial}"), &ADA).await;
    let message = status["message"].as_str().unwrap();
    assert!(code == 422 && message.contains("sendInitialEvents is forbidden for watch"), "{message}");
    assert!(message.contains("`changes.enabled` of `ingester run` switches it on"), "{message}");
    let (_, list) = ask(&service, "GET", &format!("{MODELS}?limit=1"), &ADA).await;
    assert_eq!(list["metadata"]["resourceVersion"], "7", "the highest of its objects");
}

#[tokio::test]
async fn a_watch_needs_its_right_and_is_not_compressed() {
    let service = service_with(true).await;
    // Eve may get and list it.
    let name = format!("{MODELS}?watch=true&fieldSelector=metadata.name%3Da&timeoutSeconds=1");
    assert_eq!(ask(&service, "GET", &name, &[("authorization", "Bearer eve")]).await.0, 403);
    let request = Request::builder().uri(&name).header("authorization", "Bearer ada").header("accept-encoding", "gzip");
    let response = answer(&service, request.body(Body::empty()).unwrap()).await;
    assert_eq!((response.status(), response.headers().get("content-encoding")), (StatusCode::OK, None));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let event: Json = serde_json::from_slice(&body).unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["uid"]), (&json!("ADDED"), &json!("ml-a")));
}

#[tokio::test]
async fn all_pages_of_a_list_have_the_version_of_the_first() {
    let service = service_with(true).await;
    let page = async |more: &str| {
        let (code, list) = ask(&service, "GET", &format!("{MODELS}?limit=1{more}"), &ADA).await;
        assert_eq!(code, 200, "{list}");
        let text = |key: &str| list["metadata"][key].as_str().unwrap_or_default().to_owned();
        (text("resourceVersion"), text("continue"))
    };
    let (version, mut token) = page("").await;
    let number: u64 = version.parse().unwrap();
    assert!(number >= 1 << 62, "{version}");
    let mut pages = 1;
    while !token.is_empty() {
        let (other, next) = page(&format!("&continue={token}")).await;
        assert_eq!(other, version);
        (token, pages) = (next, pages + 1);
    }
    assert_eq!(pages, 3);
    assert_eq!(page(&format!("&resourceVersion={version}")).await.0, version);
    for later in
        [format!("{MODELS}/a?resourceVersion={}", number + 1), format!("{MODELS}?resourceVersion={}", number + 1)]
    {
        let (code, status) = ask(&service, "GET", &later, &ADA).await;
        assert!(code == 504 && status["message"].as_str().unwrap().contains("Too large resource version"), "{status}");
    }
    for broken in ["x.y", "4000000000000000.", "1.2"] {
        let (code, _) = ask(&service, "GET", &format!("{MODELS}?limit=1&continue={broken}"), &ADA).await;
        assert_eq!(code, 400, "{broken}");
    }
}
