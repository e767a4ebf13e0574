//! Which cluster a database belongs to. Of two clusters in one database, each ingester would mark the other's rows as deleted.
//!
//! A cluster is known by the uid of its namespace `kube-system`, which every cluster has and which cannot be deleted. The first ingester
//! records it in the database.
//!
//! May use: ingester-core, ingester-sql, ingester-store.

use http::{Request, StatusCode};
use ingester_sql::dialect::Dialect;
use ingester_store::{Store, StoreError};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::client::Body;
use std::fmt;

/// The namespace whose uid is the cluster's.
pub(crate) const NAMESPACE: &str = "kube-system";

/// What is known about the cluster of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterCheck {
    /// The database belongs to this cluster.
    Own,
    /// It is not known, for this reason: the API server does not tell its cluster's uid.
    Unchecked(String),
}

/// Why an ingester must not use a database.
#[derive(Debug)]
pub enum IdentityError {
    /// It belongs to another cluster.
    Other {
        /// The uid of the cluster that it belongs to.
        recorded: String,
        /// The uid of this cluster.
        found: String,
    },
    /// The API server could not be asked.
    Api(kube::Error),
    /// The API server did not answer the question; this is how it put it.
    NoAnswer(String),
    /// The database did not.
    Store(StoreError),
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityError::Other { recorded, found } => write!(
                f,
                "the database belongs to another cluster: the uid of namespace {NAMESPACE} is {recorded} there and {found} \
                 here (name another database; or, if this cluster has taken the place of that one, run on the database: {})",
                Dialect::FORGET_CLUSTER
            ),
            IdentityError::Api(error) => write!(f, "reading the uid of namespace {NAMESPACE}: {error}"),
            IdentityError::NoAnswer(answer) => write!(f, "reading the uid of namespace {NAMESPACE}: {answer}"),
            IdentityError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for IdentityError {}

/// What an API server says about its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterUid {
    /// Its uid.
    Known(String),
    /// Nothing, for this reason.
    Unknown(String),
}

/// Checks that a database belongs to this cluster. One that belongs to none belongs to it from now on.
///
/// # Errors
/// If it belongs to another cluster, or API server or database do not answer.
pub async fn identify(client: &Client, store: &Store) -> Result<ClusterCheck, IdentityError> {
    claim(cluster(client).await?, store).await
}

/// Checks that a database belongs to this cluster, once the cluster has answered, as [`identify`] does.
///
/// # Errors
/// If it belongs to another cluster, or cannot be read or written.
pub async fn claim(cluster: ClusterUid, store: &Store) -> Result<ClusterCheck, IdentityError> {
    match cluster {
        ClusterUid::Known(found) => judge(store.claim_for_cluster(&found).await.map_err(IdentityError::Store)?, found),
        ClusterUid::Unknown(reason) => Ok(ClusterCheck::Unchecked(reason)),
    }
}

/// Asks the API server which cluster its is.
///
/// # Errors
/// If it does not answer, or with an error that may pass.
pub async fn cluster(client: &Client) -> Result<ClusterUid, IdentityError> {
    let unchecked = |reason: String| Ok(ClusterUid::Unknown(reason));
    // Not by kube's `Api`, which reads the code of an error from its body: a server without this API sends another body.
    let request = Request::get(format!("/api/v1/namespaces/{NAMESPACE}")).body(Body::empty());
    let request = request.map_err(|error| IdentityError::NoAnswer(error.to_string()))?;
    let response = client.send(request).await.map_err(IdentityError::Api)?;
    let status = response.status();
    if matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND) {
        return unchecked(format!("asked for namespace {NAMESPACE}, the API server answers {status}"));
    }
    if status == StatusCode::UNAUTHORIZED {
        let remedy = "the API server does not accept this token or certificate: it may have expired, renew that of the kubeconfig";
        return Err(IdentityError::NoAnswer(format!("{status} ({remedy})")));
    }
    if !status.is_success() {
        return Err(IdentityError::NoAnswer(status.to_string()));
    }
    let body = response.into_body().collect_bytes().await.map_err(IdentityError::Api)?;
    let namespace: Namespace =
        serde_json::from_slice(&body).map_err(|error| IdentityError::NoAnswer(error.to_string()))?;
    let Some(found) = namespace.metadata.uid else { return unchecked(format!("namespace {NAMESPACE} has no uid")) };
    Ok(ClusterUid::Known(found))
}

/// Whether a database that belongs to the cluster `recorded` may be used for the cluster `found`.
pub(crate) fn judge(recorded: String, found: String) -> Result<ClusterCheck, IdentityError> {
    if recorded == found { Ok(ClusterCheck::Own) } else { Err(IdentityError::Other { recorded, found }) }
}

#[cfg(test)]
mod tests {
    use super::{ClusterCheck, IdentityError, identify};
    use http::{Request, Response};
    use ingester_store::{ConnectOptions, Store};
    use kube::Client;
    use kube::client::Body;
    use serde_json::{Value, json};
    use std::convert::Infallible;

    /// A client whose server gives this answer about the namespace.
    fn server(code: u16, answer: Value) -> Client {
        let service = tower::service_fn(move |request: Request<Body>| {
            assert_eq!((request.method().as_str(), request.uri().path()), ("GET", "/api/v1/namespaces/kube-system"));
            let body = Body::from(answer.to_string().into_bytes());
            std::future::ready(Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()))
        });
        Client::new(service, "default")
    }

    fn cluster(uid: &str) -> Client {
        let metadata = json!({ "name": "kube-system", "uid": uid });
        server(200, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata }))
    }

    fn refusing(code: u16) -> Client {
        let status =
            json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": code });
        server(code, status)
    }

    async fn store() -> Store {
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        store.create_own().await.unwrap();
        store
    }

    #[tokio::test]
    async fn another_cluster_is_refused_with_both_uids_and_the_remedy() {
        let store = store().await;
        for _ in 0..2 {
            assert_eq!(identify(&cluster("one"), &store).await.unwrap(), ClusterCheck::Own);
        }
        let error = identify(&cluster("other"), &store).await.unwrap_err();
        assert!(matches!(&error, IdentityError::Other { recorded, found } if recorded == "one" && found == "other"));
        let text = error.to_string();
        for part in ["is one there and other here", "DELETE FROM ingester_settings WHERE name = 'cluster'"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[tokio::test]
    async fn an_api_server_that_does_not_tell_leaves_it_unchecked() {
        let store = store().await;
        for code in [403, 404] {
            // A server without this API answers with the list of its paths.
            for client in [refusing(code), server(code, json!({ "paths": ["/apis"] }))] {
                let identity = identify(&client, &store).await.unwrap();
                assert!(
                    matches!(&identity, ClusterCheck::Unchecked(why) if why.contains(&code.to_string())),
                    "{identity:?}"
                );
            }
        }
        // An error may pass, and says nothing about the cluster.
        for code in [401, 429, 500, 503] {
            assert!(matches!(identify(&refusing(code), &store).await, Err(IdentityError::NoAnswer(_))), "{code}");
        }
        assert_eq!(identify(&cluster("one"), &store).await.unwrap(), ClusterCheck::Own, "nothing was recorded before");
    }
}
