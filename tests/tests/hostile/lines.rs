//! The log line of each request.

use crate::log::{lines, render_line};
use crate::world::{MODELS, Setup, World, until};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use ingester_server::identity::Rate;
use ingester_server::listen::Limits;
use serde_json::{Value as Json, json};
use std::time::Duration;

const FIELDS: [&str; 10] =
    ["verb", "group", "resource", "subresource", "namespace", "name", "uid", "count", "dryRun", "code"];

#[tokio::test(flavor = "multi_thread")]
async fn every_request_has_its_line() {
    let world = World::new(Limits::default(), 200, 8).await;
    let m = |name: &str| format!("{MODELS}/{name}");
    let label = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let requests = [
        ("GET", m("m0"), "", "get michelangelo.api models - ml m0 - - - 200"),
        ("GET", MODELS.into(), "", "list michelangelo.api models - ml - - - - 200"),
        (
            "GET",
            format!("{MODELS}?fieldSelector=metadata.name%3Dm1"),
            "",
            "list michelangelo.api models - ml m1 - - - 200",
        ),
        ("GET", m("none"), "", "get michelangelo.api models - ml none - - - 404"),
        ("GET", format!("{MODELS}?limit=x"), "", "list michelangelo.api models - ml - - - - 400"),
        ("PATCH", m("m1"), label, "patch michelangelo.api models - ml m1 u1 - - 200"),
        ("PATCH", m("m2") + "?dryRun=All", label, "patch michelangelo.api models - ml m2 u2 - true 200"),
        ("PATCH", m("m2"), r#"{"spec":{"algorithm":"x"}}"#, "patch michelangelo.api models - ml m2 u2 - - 422"),
        ("DELETE", m("m3"), r#"{"dryRun":["All"]}"#, "delete michelangelo.api models - ml m3 u3 - true 200"),
        (
            "DELETE",
            m("m3"),
            r#"{"preconditions":{"resourceVersion":"1"}}"#,
            "delete michelangelo.api models - ml m3 u3 - - 409",
        ),
        ("DELETE", m("m3"), "", "delete michelangelo.api models - ml m3 u3 - - 200"),
        ("POST", m("m4") + "/restore", "", "create michelangelo.api models restore ml m4 - - - 503"),
        ("DELETE", format!("{MODELS}?dryRun=All"), "", "deletecollection michelangelo.api models - ml - - 7 true 200"),
        ("DELETE", MODELS.into(), "", "deletecollection michelangelo.api models - ml - - 7 - 200"),
        ("GET", "/apis/none/v1/cats".into(), "", "- - - - - - - - - 404"),
        ("POST", "/apis".into(), "", "- - - - - - - - - 405"),
    ];
    for (method, path, body, expected) in &requests {
        let before = lines("ada").len();
        let code = world.ask("ada", method, path, body).await;
        assert!(expected.ends_with(&code.to_string()), "{method} {path}: {code}");
        until(path, async || lines("ada").len() > before).await;
        assert_eq!(render_line(&lines("ada")[before], &FIELDS), *expected, "{method} {path}");
    }
    assert_eq!(lines("ada").len(), requests.len());
    // No client can make a line long.
    assert_eq!(world.ask("ada", "GET", &m(&"n".repeat(5000)), "").await, 404);
    assert_eq!(world.ask("", "GET", &m(&"n".repeat(5000)), "").await, 401);
    until("both have a line", async || lines("ada").len() + lines("").len() == requests.len() + 2).await;
    let long = [lines("ada").pop().unwrap(), lines("").pop().unwrap()]
        .map(|line| line.values().map(String::len).sum::<usize>());
    assert!(long.iter().all(|length| *length < 700), "{long:?}");
    // Health requests do not matter, and discovery only when it is refused.
    for (user, path) in [("", "/healthz"), ("", "/readyz"), ("", "/version"), ("ada", "/apis"), ("ada", "/openapi/v2")]
    {
        assert_eq!(world.ask(user, "GET", path, "").await, 200, "{path}");
    }
    let answered = requests.len() + 7;
    until("all are counted", async || world.count("ingester_serve_requests_total{") == answered as f64).await;
    assert_eq!(lines("ada").len() + lines("").len(), requests.len() + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_or_takes_too_long_has_its_line() {
    let rate = Rate { per_second: 1, burst: 2 };
    let limits = Limits { request: Duration::from_millis(100), ..Limits::default() };
    let world = World::with_setup(Setup { rate, limits, ..Setup::default() }).await;
    let get = format!("{MODELS}/m0");
    assert_eq!(world.ask("ada", "GET", &format!("{MODELS}/slow"), "").await, 504);
    assert_eq!(world.ask("ada", "GET", &get, "").await, 200);
    until("this user sends too many requests", async || world.ask("ada", "PATCH", &get, "{}").await == 429).await;
    until("each has its line", async || lines("ada").len() == world.reached()).await;
    let line = |code: &str| render_line(lines("ada").iter().find(|line| line["code"] == code).unwrap(), &FIELDS);
    assert_eq!(line("504"), "get michelangelo.api models - ml slow - - - 504");
    assert_eq!(line("429"), "patch michelangelo.api models - ml m0 - - - 429");
}

/// A cluster without objects. Each new object gets the uid of an existing row, as if the mirror had stored it at once. The
/// status of `m3` cannot be written.
fn cluster() -> kube::Client {
    let service = tower::service_fn(|request: Request<kube::client::Body>| async move {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let mut object: Json = serde_json::from_slice(&body).unwrap_or_default();
        let failure = |code: u16, reason: &str| {
            (code, json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": "no"}))
        };
        let (code, answer) = match parts.method.as_str() {
            "POST" => {
                object["metadata"]["uid"] = json!("u1");
                object.as_object_mut().unwrap().remove("status");
                (201, object)
            }
            "PATCH" if parts.uri.path().contains("/m3/") => failure(500, "InternalError"),
            "PATCH" => {
                object["metadata"] = json!({"name": "m0", "namespace": "ml", "uid": "u1"});
                (object["apiVersion"], object["kind"]) = (json!("michelangelo.api/v2"), json!("Model"));
                (200, object)
            }
            _ => failure(404, "NotFound"),
        };
        let body = kube::client::Body::from(answer.to_string().into_bytes());
        Ok::<_, std::convert::Infallible>(Response::builder().status(code).body(body).unwrap())
    });
    kube::Client::new(service, "default")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_line_of_a_restore_names_its_row_whatever_becomes_of_it() {
    let world = World::with_setup(Setup { cluster: Some(cluster()), ..Setup::default() }).await;
    for (path, expected) in [
        ("m0/restore", "m0 u0 - - 200"),
        ("m2/restore?dryRun=All", "m2 u2 - true 200"),
        ("m3/restore", "m3 u3 - - 500"),
        ("m3/restore?dryRun=All", "m3 u3 - true 200"),
        ("none/restore", "none - - - 404"),
    ] {
        let before = lines("ada").len();
        world.ask("ada", "POST", &format!("{MODELS}/{path}"), "").await;
        until(path, async || lines("ada").len() > before).await;
        let expected = format!("create michelangelo.api models restore ml {expected}");
        assert_eq!(render_line(&lines("ada")[before], &FIELDS), expected, "{path}");
    }
}
