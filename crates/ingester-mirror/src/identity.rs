//! Finds out which cluster a database belongs to. If two clusters shared one database, each ingester would mark the other's rows as
//! deleted.
//!
//! A cluster is identified by the uid of its namespace `kube-system`, which every cluster has and which cannot be deleted. The first
//! ingester records it in the database.
//!
//! It also records the prefix of the finalizer and annotations: a program with another prefix would not see the finalizer of its objects,
//! and nobody would remove it.
//!
//! May use: ingester-core, ingester-sql, ingester-store.

use http::{Request, StatusCode};
use ingester_core::marks::Marks;
use ingester_sql::dialect::Dialect;
use ingester_store::{Store, StoreError};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::client::Body;
use std::fmt;

/// The namespace whose uid is the cluster's.
pub(crate) const NAMESPACE: &str = "kube-system";

/// The result of checking the cluster of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterCheck {
    /// The database belongs to this cluster.
    Own,
    /// The cluster is unknown, for this reason: the API server does not tell its cluster's uid.
    Unchecked(String),
}

/// The use that a program makes of the names of finalizer and annotations.
#[derive(Clone, Copy, Debug)]
pub enum Names {
    /// It gives them to objects: it mirrors.
    Written(&'static Marks),
    /// It reads them.
    Read(&'static Marks),
    /// It has already checked another copy of the database.
    Checked,
}

/// The reason why an ingester must not use a database.
#[derive(Debug)]
pub enum IdentityError {
    /// It belongs to another cluster.
    Other {
        /// The uid of the cluster that it belongs to.
        recorded: String,
        /// The uid of this cluster.
        found: String,
    },
    /// Its objects have the finalizer and annotations of another prefix.
    OtherPrefix {
        /// The prefix that is recorded.
        recorded: String,
        /// The prefix of this program.
        prefix: &'static str,
    },
    /// The API server could not be asked.
    Api(kube::Error),
    /// The API server did not answer the question; this is its error.
    NoAnswer(String),
    /// The database did not answer.
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
            IdentityError::OtherPrefix { recorded, prefix } => write!(
                f,
                "the objects of this database have the finalizer and annotations of the prefix `{recorded}`, and this program has the prefix \
                 `{prefix}` (name the other one with `ingester.formerPrefixes: [{recorded}]` in the configuration, or with `formerPrefixes` in \
                 the file of kinds; or stop the mirror, and run `ingester finalizers remove --all-namespaces` with the prefix `{recorded}` first)"
            ),
            IdentityError::Api(error) => write!(f, "reading the uid of namespace {NAMESPACE}: {error}"),
            IdentityError::NoAnswer(answer) => write!(f, "reading the uid of namespace {NAMESPACE}: {answer}"),
            IdentityError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for IdentityError {}

/// The identity of a cluster, according to its API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterUid {
    /// Its uid.
    Known(String),
    /// The API server does not tell it to this user, for this reason.
    Unknown(String),
    /// The API server does not have it, for this reason: it has no namespaces, or this one was deleted.
    Absent(String),
}

/// Checks that a database belongs to this cluster and uses the names of this program. A database without a cluster belongs to this one from
/// now on.
///
/// # Errors
/// If it belongs to another cluster, its objects have other names, or API server or database do not answer.
pub async fn identify(client: &Client, store: &Store, names: Names) -> Result<ClusterCheck, IdentityError> {
    claim(cluster(client).await?, store, names).await
}

/// Checks the same as [`claim`] for a mirror, and records nothing: a database that belongs to no cluster, or whose objects have no names
/// yet, counts as this one's. The table of settings must exist.
///
/// # Errors
/// As [`claim`].
pub async fn examine(cluster: ClusterUid, store: &Store, marks: &Marks) -> Result<ClusterCheck, IdentityError> {
    let check = match cluster {
        ClusterUid::Known(found) => match store.cluster().await.map_err(IdentityError::Store)? {
            Some(recorded) => judge(recorded, found)?,
            None => ClusterCheck::Own,
        },
        ClusterUid::Unknown(reason) | ClusterUid::Absent(reason) => ClusterCheck::Unchecked(reason),
    };
    let recorded = store.recorded_prefix(Marks::MICHELANGELO.prefix()).await.map_err(IdentityError::Store)?;
    judge_prefix(recorded.as_deref(), marks)?;
    Ok(check)
}

/// Checks that a database belongs to this cluster, once the cluster has answered, as [`identify`] does.
///
/// # Errors
/// If it belongs to another cluster, its objects have other names, or it cannot be read or written.
pub async fn claim(cluster: ClusterUid, store: &Store, names: Names) -> Result<ClusterCheck, IdentityError> {
    if let ClusterUid::Known(found) = &cluster
        && let Some(recorded) = store.cluster().await.map_err(IdentityError::Store)?
    {
        judge(recorded, found.clone())?;
    }
    // The prefix comes first: a cluster that is recorded without a prefix has the names of the reference system.
    match names {
        Names::Written(marks) => claim_prefix(&cluster, store, marks, true).await?,
        Names::Read(marks) => claim_prefix(&cluster, store, marks, false).await?,
        Names::Checked => {}
    }
    match cluster {
        ClusterUid::Known(found) => judge(store.claim_for_cluster(&found).await.map_err(IdentityError::Store)?, found),
        ClusterUid::Unknown(reason) | ClusterUid::Absent(reason) => Ok(ClusterCheck::Unchecked(reason)),
    }
}

/// Checks that the database's objects have no other names. Records ours if they have no names yet, or if they have names with a former
/// prefix and this program writes its own.
async fn claim_prefix(cluster: &ClusterUid, store: &Store, marks: &Marks, writes: bool) -> Result<(), IdentityError> {
    let prefix = marks.prefix();
    let usual = Marks::MICHELANGELO.prefix();
    loop {
        let recorded = store.recorded_prefix(usual).await.map_err(IdentityError::Store)?;
        judge_prefix(recorded.as_deref(), marks)?;
        match recorded.as_deref() {
            Some(recorded) if recorded == prefix => return Ok(()),
            Some(recorded) if marks.former().contains(&recorded) && !writes => return Ok(()),
            None if prefix == usual && matches!(cluster, ClusterUid::Known(_)) => return Ok(()),
            Some(_) | None => {}
        }
        if store.record_prefix(recorded.as_deref(), prefix).await.map_err(IdentityError::Store)? {
            return Ok(());
        }
    }
}

/// Checks that the recorded prefix, if any, is the program's or one of its former ones.
fn judge_prefix(recorded: Option<&str>, marks: &Marks) -> Result<(), IdentityError> {
    let prefix = marks.prefix();
    match recorded {
        Some(recorded) if recorded != prefix && !recorded.is_empty() && !marks.former().contains(&recorded) => {
            Err(IdentityError::OtherPrefix { recorded: recorded.to_owned(), prefix })
        }
        _ => Ok(()),
    }
}

/// Removes the record of a program's finalizer, which was removed from all of the database's objects. Returns the recorded prefix if it is
/// another one.
///
/// # Errors
/// If the database cannot be read or written.
pub async fn release_prefix(store: &Store, marks: &Marks) -> Result<Option<String>, StoreError> {
    loop {
        let recorded = store.recorded_prefix(Marks::MICHELANGELO.prefix()).await?;
        let Some(prefix) = recorded.filter(|prefix| !prefix.is_empty()) else { return Ok(None) };
        if prefix != marks.prefix() && !marks.former().contains(&prefix.as_str()) {
            return Ok(Some(prefix));
        }
        if store.record_prefix(Some(&prefix), "").await? {
            return Ok(None);
        }
    }
}

/// Asks the API server which cluster it belongs to.
///
/// # Errors
/// If it does not answer, or answers with an error that may be transient.
pub async fn cluster(client: &Client) -> Result<ClusterUid, IdentityError> {
    // Not through kube's `Api`, which reads an error's code from its body: a server without this API sends another body.
    let request = Request::get(format!("/api/v1/namespaces/{NAMESPACE}")).body(Body::empty());
    let request = request.map_err(|error| IdentityError::NoAnswer(error.to_string()))?;
    let response = client.send(request).await.map_err(IdentityError::Api)?;
    let status = response.status();
    let answers = format!("asked for namespace {NAMESPACE}, the API server answers {status}");
    match status {
        StatusCode::FORBIDDEN => return Ok(ClusterUid::Unknown(answers)),
        StatusCode::NOT_FOUND => return Ok(ClusterUid::Absent(answers)),
        _ => {}
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
    let Some(found) = namespace.metadata.uid else {
        return Ok(ClusterUid::Absent(format!("namespace {NAMESPACE} has no uid")));
    };
    Ok(ClusterUid::Known(found))
}

/// Decides if a database that belongs to the cluster `recorded` may be used for the cluster `found`.
pub(crate) fn judge(recorded: String, found: String) -> Result<ClusterCheck, IdentityError> {
    if recorded == found { Ok(ClusterCheck::Own) } else { Err(IdentityError::Other { recorded, found }) }
}

#[cfg(test)]
mod tests {
    use super::{ClusterCheck, ClusterUid, IdentityError, Names, cluster as asked, examine, identify, release_prefix};
    use http::{Request, Response};
    use ingester_core::marks::Marks;
    use ingester_store::{ConnectOptions, Store};
    use kube::Client;
    use kube::client::Body;
    use serde_json::{Value, json};
    use std::convert::Infallible;
    use std::sync::LazyLock;

    const USUAL: Names = Names::Written(&Marks::MICHELANGELO);
    static OWN: LazyLock<Marks> = LazyLock::new(|| Marks::new("data.example.com", &[]).unwrap());
    static MOVED: LazyLock<Marks> = LazyLock::new(|| Marks::new("data.example.com", &["michelangelo"]).unwrap());

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
            assert_eq!(identify(&cluster("one"), &store, USUAL).await.unwrap(), ClusterCheck::Own);
        }
        let error = identify(&cluster("other"), &store, USUAL).await.unwrap_err();
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
                let identity = identify(&client, &store, USUAL).await.unwrap();
                assert!(
                    matches!(&identity, ClusterCheck::Unchecked(why) if why.contains(&code.to_string())),
                    "{identity:?}"
                );
            }
        }
        // A right helps only where there is something to read.
        assert!(matches!(asked(&refusing(403)).await.unwrap(), ClusterUid::Unknown(_)));
        assert!(matches!(asked(&refusing(404)).await.unwrap(), ClusterUid::Absent(_)));
        // An error may pass, and says nothing about the cluster.
        for code in [401, 429, 500, 503] {
            assert!(
                matches!(identify(&refusing(code), &store, USUAL).await, Err(IdentityError::NoAnswer(_))),
                "{code}"
            );
        }
        assert_eq!(
            identify(&cluster("one"), &store, USUAL).await.unwrap(),
            ClusterCheck::Own,
            "nothing was recorded before"
        );
    }
    /// Returns the recorded prefix after this program has started.
    async fn started(store: &Store, cluster: &Client, names: Names) -> Result<String, String> {
        identify(cluster, store, names).await.map_err(|error| error.to_string())?;
        Ok(store.recorded_prefix("usual").await.unwrap().unwrap_or_default())
    }

    #[tokio::test]
    async fn another_prefix_is_refused_with_both_and_the_remedies() {
        for names in [Names::Written(&OWN), Names::Read(&OWN)] {
            // From this release or an earlier one, which records nothing else.
            let store = store().await;
            assert_eq!(started(&store, &cluster("one"), USUAL).await.unwrap(), "usual");
            let error = started(&store, &cluster("one"), names).await.unwrap_err();
            for part in ["`michelangelo`", "`data.example.com`", "formerPrefixes: [michelangelo]", "finalizers remove"]
            {
                assert!(error.contains(part), "{error}");
            }
            assert_eq!(release_prefix(&store, &OWN).await.unwrap().as_deref(), Some("michelangelo"));
            assert_eq!(release_prefix(&store, &Marks::MICHELANGELO).await.unwrap(), None);
            assert_eq!(started(&store, &cluster("one"), names).await.unwrap(), "data.example.com");
            let error = started(&store, &cluster("one"), USUAL).await.unwrap_err();
            assert!(error.contains("formerPrefixes: [data.example.com]"), "{error}");
        }
    }

    #[tokio::test]
    async fn examining_records_nothing_and_finds_what_a_start_would() {
        let store = store().await;
        for client in [cluster("one"), refusing(403)] {
            examine(asked(&client).await.unwrap(), &store, &OWN).await.unwrap();
            assert_eq!(store.cluster().await.unwrap(), None);
            assert_eq!(store.recorded_prefix("usual").await.unwrap(), None);
        }
        started(&store, &cluster("one"), USUAL).await.unwrap();
        let examined = async |client: &Client, marks: &Marks| {
            examine(asked(client).await.unwrap(), &store, marks).await.map_err(|error| error.to_string())
        };
        assert_eq!(examined(&cluster("one"), &Marks::MICHELANGELO).await.unwrap(), ClusterCheck::Own);
        assert_eq!(examined(&cluster("one"), &MOVED).await.unwrap(), ClusterCheck::Own);
        let unchecked = examined(&refusing(403), &Marks::MICHELANGELO).await.unwrap();
        assert!(matches!(unchecked, ClusterCheck::Unchecked(_)), "{unchecked:?}");
        assert!(examined(&cluster("other"), &MOVED).await.unwrap_err().contains("another cluster"));
        assert!(examined(&refusing(404), &OWN).await.unwrap_err().contains("`michelangelo`"));
    }

    #[tokio::test]
    async fn a_prefix_is_recorded_before_the_cluster_by_either_process() {
        for names in [Names::Written(&OWN), Names::Read(&OWN)] {
            for client in [cluster("one"), refusing(404)] {
                let store = store().await;
                assert_eq!(started(&store, &client, names).await.unwrap(), "data.example.com");
                assert!(started(&store, &client, USUAL).await.is_err());
            }
        }
        // With an unknown cluster, the prefix is still recorded.
        let store = store().await;
        assert_eq!(started(&store, &refusing(403), USUAL).await.unwrap(), "michelangelo");
        assert!(started(&store, &refusing(403), Names::Read(&OWN)).await.is_err());
        assert!(identify(&refusing(403), &store, Names::Checked).await.is_ok());
    }

    #[tokio::test]
    async fn a_former_prefix_gives_way_to_the_mirror_and_is_read_by_the_others() {
        let store = store().await;
        started(&store, &cluster("one"), USUAL).await.unwrap();
        assert_eq!(started(&store, &cluster("one"), Names::Read(&MOVED)).await.unwrap(), "usual");
        assert_eq!(started(&store, &cluster("one"), Names::Written(&MOVED)).await.unwrap(), "data.example.com");
        // The former program would not see the new finalizer.
        assert!(started(&store, &cluster("one"), USUAL).await.is_err());
        assert_eq!(release_prefix(&store, &MOVED).await.unwrap(), None);
        assert_eq!(started(&store, &cluster("one"), USUAL).await.unwrap(), "michelangelo");
    }

    #[tokio::test]
    async fn nothing_is_recorded_in_the_database_of_another_cluster() {
        let store = store().await;
        started(&store, &cluster("one"), USUAL).await.unwrap();
        let error = started(&store, &cluster("other"), Names::Written(&MOVED)).await.unwrap_err();
        assert!(error.contains("another cluster"), "{error}");
        assert_eq!(store.recorded_prefix("usual").await.unwrap().as_deref(), Some("usual"));
    }
}
