//! Tests which identity restores use in the cluster (`serve.restore`), with a cluster that records who sends requests.

use super::{MODELS, ask};
use crate::caller::{Attributes, Caller};
use crate::former::FormerAccess;
use crate::identity::{Access, Identity, Rate, ReviewError, Reviewer};
use crate::metrics::Metrics;
use crate::places::RequestSlots;
use crate::restore::rights::RestoreRights;
use crate::service::{Service, Sources};
use crate::volume::WriteVolumes;
use crd_specs::KINDS;
use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt as _;
use ingester_config::FormerObjects;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_declare::saved::SavedQueries;
use ingester_store::query::Limits;
use ingester_store::{RowChange, Store};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use std::sync::Arc;

const ADA: [(&str, &str); 1] = [("authorization", "Bearer ada")];

/// Knows every token for the audience `ingester`, and `ada` also for the API server. Everybody may do everything.
struct Audiences;

impl Reviewer for Audiences {
    fn token<'a>(
        &'a self,
        token: &'a str,
        audiences: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>> {
        let (user, groups) = token.split_once('/').unwrap_or((token, ""));
        let is_accepted = !audiences.is_empty() || token == "ada";
        let groups = groups.split(',').filter(|group| !group.is_empty()).map(str::to_owned).collect();
        let caller = Caller { user: user.to_owned(), uid: "7".into(), groups, ..Caller::default() };
        Box::pin(async move { Ok(is_accepted.then_some(caller)) })
    }

    fn access<'a>(&'a self, _: &'a Caller, _: &'a Attributes) -> BoxFuture<'a, Result<Access, ReviewError>> {
        Box::pin(async { Ok(Access { allowed: true, reason: String::new() }) })
    }
}

/// An API server that records who sent requests, and refuses some of them.
#[derive(Clone, Default)]
struct Cluster {
    asked: Arc<Mutex<Vec<String>>>,
    /// The message of its 403 to requests that create something.
    refuses: Option<&'static str>,
}

impl Cluster {
    /// A client whose requests come from this account.
    fn client(&self, account: &'static str) -> kube::Client {
        let cluster = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let cluster = cluster.clone();
            async move {
                let (parts, body) = request.into_parts();
                cluster.asked.lock().push(asker(account, &parts.headers));
                let body = body.collect().await.unwrap().to_bytes();
                let failure = |code: u16, reason: &str, message: &str| {
                    (
                        code,
                        json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}),
                    )
                };
                let (code, answer) = match (parts.method, cluster.refuses) {
                    (Method::POST, Some(why)) => failure(403, "Forbidden", why),
                    (Method::POST, None) => (201, serde_json::from_slice::<Json>(&body).unwrap()),
                    _ => failure(404, "NotFound", "none"),
                };
                let body = kube::client::Body::from(answer.to_string().into_bytes());
                Ok::<_, std::convert::Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        });
        kube::Client::new(service, "default")
    }

    fn askers(&self) -> Vec<String> {
        let mut askers = std::mem::take(&mut *self.asked.lock());
        askers.dedup();
        askers
    }
}

fn asker(account: &str, headers: &HeaderMap) -> String {
    let all = |name: &str| {
        let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned());
        values.collect::<Vec<_>>().join(",")
    };
    let token = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap()).unwrap_or_default();
    match headers.contains_key("impersonate-user") {
        true => format!(
            "{account}{token} as {} {} {}",
            all("impersonate-user"),
            all("impersonate-uid"),
            all("impersonate-group")
        ),
        false => format!("{account}{token}"),
    }
}

/// A server with the evicted models `a` and `b`.
async fn server(cluster: &Cluster, restores: RestoreRights, audiences: &[&str]) -> (Service, Arc<Store>) {
    let store = Arc::new(Store::in_memory(KINDS).await.unwrap());
    let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
    for name in ["a", "b"] {
        let object = json!({
            "apiVersion": "michelangelo.api/v2", "kind": "Model",
            "metadata": {"namespace": "ml", "name": name, "uid": name, "resourceVersion": "7"}, "spec": {},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
        let row = kind.row(&object).unwrap().unwrap();
        let row = Row { evict_time: Some(Micros(0)), evict_confirmed: true, ..row };
        store.write(kind.table(), vec![RowChange::Row(row)]).await.unwrap();
    }
    let metrics = Metrics::new().unwrap();
    let service = Service::new(Sources {
        kinds: KINDS,
        reads: store.clone(),
        writes: Some(store.clone()),
        cluster: Some(cluster.client("server")),
        restores,
        identity: Identity::new(
            Audiences,
            audiences.iter().map(|audience| (*audience).to_owned()).collect(),
            Rate::default(),
            metrics,
        ),
        former: FormerAccess::new(FormerObjects::Granted, None),
        saved: SavedQueries::parse(Vec::<(String, String)>::new(), KINDS).unwrap(),
        limits: Limits::default(),
        places: RequestSlots::new(200),
        volumes: WriteVolumes::new(0),
        watches: None,
        watchable: false,
    });
    (service, store)
}

async fn restore(service: &Service, token: &str) -> (u16, String) {
    let token = format!("Bearer {token}");
    let path = format!("{MODELS}/a/restore?dryRun=All");
    let (code, body) = ask(service, "POST", &path, &[("authorization", &token)]).await;
    (code, body["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_caller_restores_with_the_own_token_where_the_api_server_accepts_it() {
    let cluster = Cluster::default();
    for (audiences, token, asker) in [
        (&[][..], "ada", "Bearer ada"),
        (&["ingester"][..], "ada", "Bearer ada"),
        // This server accepts the token, and the API server does not.
        (&["ingester"][..], "eve/ml,pricing", "server as eve 7 ml,pricing"),
    ] {
        let (service, _) = server(&cluster, RestoreRights::User(cluster.client("")), audiences).await;
        assert_eq!(restore(&service, token).await.0, 200, "{token}");
        assert_eq!(cluster.askers(), [asker], "{audiences:?}");
    }
    let (service, _) = server(&cluster, RestoreRights::Server, &[]).await;
    assert_eq!(restore(&service, "ada").await.0, 200);
    assert_eq!(cluster.askers(), ["server"]);
}

#[tokio::test]
async fn nobody_becomes_a_master_and_a_server_without_the_role_names_the_command() {
    let denied = "users \"eve\" is forbidden: User \"server\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope";
    let cluster = Cluster { refuses: Some(denied), ..Cluster::default() };
    let (service, _) = server(&cluster, RestoreRights::User(cluster.client("")), &["ingester"]).await;
    let (code, message) = restore(&service, "eve/system:masters").await;
    assert!(code == 403 && message.contains("`ingester restore`"), "{message}");
    assert!(cluster.askers().is_empty(), "the cluster is not asked");
    let (code, message) = restore(&service, "eve/ml").await;
    assert!(code == 403 && message.contains("`ingester restore`"), "{message}");
    assert!(message.contains("`ingester rbac --restore`"), "{message}");
}

#[tokio::test]
async fn what_admission_forbids_the_caller_is_not_restored() {
    let denied = "models.michelangelo.api \"a\" is forbidden: ValidatingAdmissionPolicy 'restricted' denied request";
    let cluster = Cluster { refuses: Some(denied), ..Cluster::default() };
    let (service, store) = server(&cluster, RestoreRights::User(cluster.client("")), &[]).await;
    let (code, body) = ask(&service, "POST", &format!("{MODELS}/a/restore"), &ADA).await;
    assert!(code == 403 && body["message"] == denied, "{body}");
    assert_eq!(cluster.askers(), ["Bearer ada"]);
    let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
    assert_eq!(store.open_restore(kind, "a").await.unwrap(), None);
    assert!(!store.versions(kind.table(), &["a"]).await.unwrap()["a"].deleted);
}

#[tokio::test]
async fn a_server_that_restores_nothing_says_so() {
    let cluster = Cluster::default();
    let (service, _) = server(&cluster, RestoreRights::Off, &[]).await;
    let (code, message) = restore(&service, "ada").await;
    assert!(
        code == 405 && message.contains("serve.restore: off") && message.contains("`ingester restore`"),
        "{message}"
    );
    let (_, resources) = ask(&service, "GET", "/apis/michelangelo.api/v2", &ADA).await;
    let names = resources["resources"].as_array().unwrap().iter().filter_map(|resource| resource["name"].as_str());
    assert!(!names.clone().any(|name| name.ends_with("/restore")) && names.clone().any(|name| name == "models"));
    assert!(cluster.askers().is_empty());
}
