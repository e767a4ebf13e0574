//! The server's own resources: namespaces, reviews of the caller's own rights, queries and parameters, and the status of an object.

use super::{MODELS, answer, ask, service};
use crate::service::Service;
use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value as Json, json};

const NAMESPACES: &str = "/api/v1/namespaces";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// Returns the answer to this user.
async fn get(service: &Service, user: &str, path: &str, accept: &str) -> (u16, Json) {
    ask(service, "GET", path, &[("authorization", &format!("Bearer {user}")), ("accept", accept)]).await
}

async fn post(service: &Service, user: &str, path: &str, content: &str, body: impl Into<Body>) -> (u16, Json) {
    let request = Request::post(path).header("authorization", format!("Bearer {user}")).header("content-type", content);
    let response = answer(service, request.body(body.into()).unwrap()).await;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_caller_sees_the_namespaces_in_which_they_may_list_something() {
    let service = service().await;
    let names = async |user: &str, query: &str| {
        let (code, list) = get(&service, user, &format!("{NAMESPACES}{query}"), "").await;
        assert_eq!((code, &list["kind"], &list["apiVersion"]), (200, &json!("NamespaceList"), &json!("v1")), "{list}");
        let name = |item: &Json| item["metadata"]["name"].as_str().unwrap().to_owned();
        list["items"].as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names("ada", "").await, ["ml"], "there is another one, which is not hers");
    for user in ["eve", "bob"] {
        assert!(names(user, "").await.is_empty(), "{user}: the right to one name, or to create, is none to list");
    }
    assert_eq!(names("ada", "?fieldSelector=metadata.name%3Dml").await, ["ml"]);
    assert!(names("ada", "?fieldSelector=metadata.name%3Dlab").await.is_empty());
    let (code, status) = get(&service, "ada", &format!("{NAMESPACES}?labelSelector=a%3Db"), "").await;
    assert!(code == 400 && status["message"].as_str().unwrap().contains("metadata.name=NAME"), "{status}");
    assert_eq!(get(&service, "ada", &format!("{NAMESPACES}?watch=true"), "").await.0, 405);
}

#[tokio::test]
async fn a_namespace_of_others_looks_as_one_that_is_not_there() {
    let service = service().await;
    let (code, namespace) = get(&service, "ada", &format!("{NAMESPACES}/ml"), "").await;
    let expected = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}, "status": {"phase": "Active"},
    });
    assert_eq!((code, namespace), (200, expected));
    for (user, name) in [("ada", "lab"), ("ada", "none"), ("eve", "ml"), ("eve", "none")] {
        let (code, status) = get(&service, user, &format!("{NAMESPACES}/{name}"), "").await;
        let message =
            format!("namespaces \"{name}\" is forbidden: SQL has no object in this namespace that you may list");
        assert_eq!((code, &status["message"]), (403, &json!(message)), "{user}");
    }
}

#[tokio::test]
async fn what_is_the_servers_own_has_every_form() {
    let service = service().await;
    let (_, table) = get(&service, "ada", NAMESPACES, TABLE).await;
    assert_eq!((&table["kind"], &table["rows"][0]["cells"]), (&json!("Table"), &json!(["ml", "Active"])));
    assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "ml");
    let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let (_, list) = get(&service, "ada", NAMESPACES, partial).await;
    assert_eq!((&list["kind"], list["items"][0].get("status")), (&json!("PartialObjectMetadataList"), None));
    let own = "/apis/mirror.michelangelo.api/v1";
    let (_, table) = get(&service, "eve", &format!("{own}/queries"), TABLE).await;
    let columns: Vec<&Json> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Kind", "Description"]);
    let rows = table["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["cells"] == json!(["named", "Model", "Models of some names."])), "{table}");
    let (code, query) = get(&service, "eve", &format!("{own}/queries/named"), "").await;
    assert_eq!((code, &query["kind"], &query["spec"]["kind"]), (200, &json!("Query"), &json!("Model")));
    for path in ["queries/none", "parameters/none"] {
        assert_eq!(get(&service, "eve", &format!("{own}/{path}"), "").await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn parameters_are_those_of_label_selectors_and_of_saved_queries() {
    let service = service().await;
    let own = "/apis/mirror.michelangelo.api/v1/parameters";
    let (_, table) = get(&service, "eve", own, TABLE).await;
    let cells: Vec<&Json> = table["rows"].as_array().unwrap().iter().map(|row| &row["cells"]).collect();
    for expected in [
        json!(["named.names", "Model", "list", null, "Their names."]),
        json!(["named.after", "Model", "time", "7d", ""]),
    ] {
        assert!(cells.contains(&&expected), "{expected}: {table}");
    }
    for (name, ty) in [("state", "list"), ("created-after", "time"), ("limit", "integer"), ("query", "string")] {
        let (code, parameter) = get(&service, "eve", &format!("{own}/{name}"), "").await;
        let label = format!("mirror.michelangelo.api/{name}");
        assert_eq!((code, &parameter["spec"]["type"], &parameter["spec"]["label"]), (200, &json!(ty), &json!(label)));
        assert!(!parameter["spec"]["description"].as_str().unwrap().is_empty(), "{name}");
        // Every listed parameter can be used in a request.
        let known = crate::request::parameters::is_parameter(name);
        assert!(known, "{name}");
    }
    // A client that only has a label selector can set the values, too.
    let names = async |selector: &str| {
        let path = format!("{MODELS}?labelSelector=mirror.michelangelo.api/query%3Dnamed,{selector}");
        let (code, list) = get(&service, "ada", &path, "").await;
        let name = |item: &Json| item["metadata"]["name"].as_str().unwrap().to_owned();
        (code, list["items"].as_array().into_iter().flatten().map(name).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(names("mirror.michelangelo.api/param.names%3Db").await, (200, "b".into()));
    assert_eq!(names("mirror.michelangelo.api/param.names+in+(a,c)").await, (200, "a c".into()));
    assert_eq!(names("mirror.michelangelo.api/param.name%3Db").await.0, 400);
    assert_eq!(names("").await.0, 400, "it needs names");
}

#[tokio::test]
async fn a_caller_is_told_their_own_rights_and_no_others() {
    let service = service().await;
    let review = |namespace: &str| {
        json!({
            "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
            "spec": {
                "user": "ada", "groups": ["system:masters"],
                "resourceAttributes": {"verb": "*", "resource": "models", "namespace": namespace},
            },
        })
    };
    for (user, namespace, allowed) in [("ada", "ml", true), ("ada", "lab", false), ("eve", "ml", false)] {
        let (code, answer) = post(&service, user, REVIEWS, "application/json", review(namespace).to_string()).await;
        let status = json!({"allowed": allowed, "reason": "RBAC"});
        assert_eq!((code, &answer["kind"], &answer["status"]), (201, &json!("SelfSubjectAccessReview"), &status));
    }
    let (code, status) = post(&service, "ada", REVIEWS, "application/json", vec![b' '; 100 << 10]).await;
    assert_eq!(code, 413, "{status}");
    for (content, body, code) in [("application/json", r#"{"spec":{}}"#, 400), ("application/yaml", "", 415)] {
        assert_eq!(post(&service, "ada", REVIEWS, content, body).await.0, code, "{body}");
    }
}

#[tokio::test]
async fn a_caller_is_told_who_they_are() {
    let service = service().await;
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (code, answer) = post(&service, "eve", path, "application/json", "{}").await;
    let user = json!({"username": "eve", "groups": ["system:authenticated"]});
    assert_eq!((code, &answer["status"]["userInfo"]), (201, &user));
    let rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let body = r#"{"spec":{"namespace":"ml"}}"#;
    let (code, answer) = post(&service, "eve", rules, "application/json", body).await;
    assert_eq!(
        (code, &answer["status"]["incomplete"], &answer["spec"]["namespace"]),
        (201, &json!(true), &json!("ml"))
    );
}

#[tokio::test]
async fn a_status_is_read_with_its_object() {
    let service = service().await;
    let object = get(&service, "ada", &format!("{MODELS}/a"), "").await;
    assert_eq!(get(&service, "ada", &format!("{MODELS}/a/status"), "").await, object);
    assert_eq!(get(&service, "ada", &format!("{MODELS}/none/status"), "").await.0, 404);
    let (code, status) = get(&service, "eve", &format!("{MODELS}/b/status"), "").await;
    assert!(code == 403 && status["message"].as_str().unwrap().contains("\"models/status\""), "{status}");
}
