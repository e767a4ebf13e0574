//! A single request to the API server, with a time limit, and the paths of requests.

use crate::cluster::said;
use http::{Method, Request, StatusCode};
use ingester_core::Kind;
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use std::time::Duration;

/// The time limit for one answer.
pub(super) const ANSWER: Duration = Duration::from_secs(15);

/// The status and the content of an answer, or the reason why it is missing.
pub(in crate::commands) type RequestResult = Result<(StatusCode, Value), String>;

/// Sends one request. Returns the answer's status and content. Content that is not JSON becomes null.
///
/// # Errors
/// The reason why there was no answer, without secrets.
pub(in crate::commands) async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> RequestResult {
    let text = body.map(Value::to_string).unwrap_or_default().into_bytes();
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.body(Body::from(text)).map_err(|error| error.to_string())?;
    let reason = |error: kube::Error| {
        let said = said(&error);
        said.strip_prefix("ServiceError: ").unwrap_or(&said).to_owned()
    };
    let answer = async {
        let response = client.send(request).await.map_err(reason)?;
        let status = response.status();
        let body = response.into_body().collect_bytes().await.map_err(reason)?;
        Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    };
    let silent = || Err(format!("no answer within {} s", ANSWER.as_secs()));
    tokio::time::timeout(ANSWER, answer).await.unwrap_or_else(|_| silent())
}

/// Returns the path of a kind's objects, in one namespace or in all.
pub(super) fn path(kind: &Kind, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
    format!("{}{namespace}/{}", root(kind.group(), kind.version()), kind.plural())
}

/// Returns the path of a version of a group.
pub(super) fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}
