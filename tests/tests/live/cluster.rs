//! The API server of one test, with the CRDs and the rights of the ingester.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{
    ApiServer, Edition, apiserver::SERVICE_ACCOUNT, install, shared_apiserver, shared_modern_apiserver,
};
use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DynamicObject, GroupVersionKind, PostParams};
use kube::core::ApiResource;
use kube::{Client, ResourceExt as _};
use serde_json::{Value as Json, json};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

use crate::eventually::eventually;

/// The manifests that install the ingester.
const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy");

/// The manifests that matter to the API server alone: kind, plural, version, and whether it is namespaced. Each refers
/// only to earlier ones.
const RIGHTS: [(&str, &str, &str, bool); 6] = [
    ("Namespace", "namespaces", "v1", false),
    ("ServiceAccount", "serviceaccounts", "v1", true),
    ("ClusterRole", "clusterroles", "rbac.authorization.k8s.io/v1", false),
    ("ClusterRoleBinding", "clusterrolebindings", "rbac.authorization.k8s.io/v1", false),
    ("Role", "roles", "rbac.authorization.k8s.io/v1", true),
    ("RoleBinding", "rolebindings", "rbac.authorization.k8s.io/v1", true),
];

/// The API server that all tests share, or the test's own one, which it may kill and restore.
pub(crate) enum Cluster {
    Shared(&'static ApiServer),
    Own(Box<ApiServer>),
}

impl Deref for Cluster {
    type Target = ApiServer;

    fn deref(&self) -> &ApiServer {
        match self {
            Cluster::Shared(server) => server,
            Cluster::Own(server) => server,
        }
    }
}

impl Cluster {
    /// The API server of this edition that all tests share, or the test's own one. `None` if it is not installed.
    pub(crate) async fn new(edition: Edition, own: bool) -> Result<Option<Self>> {
        if own {
            let Some(server) = ApiServer::start_edition(edition)? else { return Ok(None) };
            furnish(&server).await?;
            return Ok(Some(Cluster::Own(Box::new(server))));
        }
        static FURNISHED: [OnceCell<()>; 2] = [const { OnceCell::const_new() }; 2];
        let [classic, modern] = &FURNISHED;
        let (server, furnished) = match edition {
            Edition::Classic => (shared_apiserver()?, classic),
            Edition::Modern => match shared_modern_apiserver()? {
                Some(server) => (server, modern),
                None => return Ok(None),
            },
        };
        furnished.get_or_try_init(|| furnish(server)).await?;
        Ok(Some(Cluster::Shared(server)))
    }

    /// Creates a namespace. The modern edition has no namespaces, and accepts objects in any.
    pub(crate) async fn create_namespace(&self, client: &Client, name: &str) -> Result<()> {
        if self.edition() == Edition::Modern {
            return Ok(());
        }
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": name}}))?;
        let created = Api::all(client.clone()).create(&PostParams::default(), &namespace).await;
        created.map(drop).context("creating a namespace")
    }
}

/// Installs the CRDs of all kinds and the rights of [`SERVICE_ACCOUNT`], which the modern edition does not ask for.
async fn furnish(server: &ApiServer) -> Result<()> {
    let client = server.client().await?;
    let crds: Vec<_> = crd_specs::KINDS.iter().filter_map(|kind| kind.crd()).collect();
    ensure!(crds.len() == crd_specs::KINDS.len(), "a kind has no CRD");
    install(&client, &crds).await?;
    match server.edition() {
        Edition::Classic => grant(&client).await,
        Edition::Modern => Ok(()),
    }
}

/// Gives [`SERVICE_ACCOUNT`] the rights of `deploy/`.
async fn grant(client: &Client) -> Result<()> {
    let manifests = manifests()?;
    if manifests.is_empty() {
        // No manifests. Let the other tests run with all rights; the test of the rights reports what is missing.
        create(client, &all_rights()).await?;
    }
    for (kind, ..) in RIGHTS {
        for manifest in manifests.iter().filter(|manifest| manifest["kind"] == kind) {
            create(client, manifest).await?;
        }
    }
    authorizer_knows(client, "michelangelo.api", "models").await
}

/// The documents of `deploy/` itself that give the service account its rights; none without such a folder. The folders inside
/// it are for other accounts.
pub(crate) fn manifests() -> Result<Vec<Json>> {
    if !Path::new(DEPLOY).is_dir() {
        return Ok(Vec::new());
    }
    let paths = std::fs::read_dir(DEPLOY)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let mut files: Vec<PathBuf> =
        paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    files.sort();
    let mut manifests = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let documents: Vec<Json> =
            serde_saphyr::from_multiple(&text).with_context(|| format!("reading {}", file.display()))?;
        manifests
            .extend(documents.into_iter().filter(|document| RIGHTS.iter().any(|(kind, ..)| document["kind"] == *kind)));
    }
    Ok(manifests)
}

fn all_rights() -> Json {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "ingester"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SERVICE_ACCOUNT}],
    })
}

/// Creates one of [`RIGHTS`], unless it exists.
pub(crate) async fn create(client: &Client, manifest: &Json) -> Result<()> {
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    let kind = text("/kind");
    let (_, plural, api_version, namespaced) = RIGHTS.iter().find(|right| right.0 == kind).context("one of RIGHTS")?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural);
    let api: Api<DynamicObject> = if *namespaced {
        Api::namespaced_with(client.clone(), text("/metadata/namespace"), &resource)
    } else {
        Api::all_with(client.clone(), &resource)
    };
    let object: DynamicObject = serde_json::from_value(manifest.clone())?;
    let what = format!("creating the {kind} {} ", object.name_any());
    match api.create(&PostParams::default(), &object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(error)) if error.code == 409 => Ok(()),
        Err(error) => Err(error).context(what),
    }
}

/// Waits until the API server's authorizer has observed the binding. Asks on behalf of the account, so that the request
/// is not in the audit log of what the account does.
pub(crate) async fn authorizer_knows(client: &Client, group: &str, resource: &str) -> Result<()> {
    let review: SubjectAccessReview = serde_json::from_value(json!({
        "metadata": {},
        "spec": {
            "user": SERVICE_ACCOUNT,
            "groups": ["system:serviceaccounts", "system:serviceaccounts:ingester", "system:authenticated"],
            "resourceAttributes": {"group": group, "resource": resource, "verb": "list", "namespace": "default"},
        },
    }))?;
    let api: Api<SubjectAccessReview> = Api::all(client.clone());
    let look = async || {
        let answer = api.create(&PostParams::default(), &review).await?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    };
    let what = format!("the service account to be allowed to list {resource}");
    eventually(&what, look, |allowed| *allowed).await?;
    Ok(())
}
