//! `ingester scaffold`: a first file of kinds for CRDs, or a struct for one; a struct for a kind of a file.

use super::chosen;
use super::doctor::ask;
use crate::arguments::Scaffold;
use crate::ending::{Ending, Failure};
use crate::output::print;
use anyhow::anyhow;
use http::{Method, StatusCode};
use ingester_core::Kind;
use ingester_declare::declare::{self, BuiltInType};
use ingester_store::files;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

pub(crate) async fn run(arguments: Scaffold, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    if let Some(kind) = &arguments.kind {
        let kind = chosen(kinds, std::slice::from_ref(kind))?[0];
        let text = declare::scaffold_rust_of(&kind).map_err(|error| Failure::Usage(anyhow!("{error}")))?;
        print(&text)?;
        return Ok(Ending::Done);
    }
    let crds = match &arguments.from_cluster {
        Some(name) => vec![from_cluster(&arguments, name).await?],
        None => from_files(&arguments.files)?,
    };
    let text = match (&crds[..], arguments.rust) {
        (crds, false) => declare::scaffold(crds),
        ([crd], true) => declare::scaffold_rust(crd),
        (crds, true) => {
            let names: Vec<&str> = crds.iter().map(|crd| crd.spec.names.kind.as_str()).collect();
            Err(format!(
                "--rust writes the module of one kind, and there are {}: name a file with one CRD",
                names.join(", ")
            ))
        }
    };
    print(&text.map_err(|error| Failure::Usage(anyhow!("{error}")))?)?;
    Ok(Ending::Done)
}

/// The CRDs of all files, in their order.
fn from_files(files: &[PathBuf]) -> Result<Vec<CustomResourceDefinition>, Failure> {
    let mut all: Vec<CustomResourceDefinition> = Vec::new();
    for file in files {
        let shown = file.display();
        let bytes = read(file).map_err(|error| Failure::Usage(anyhow!("{shown} cannot be read: {error}")))?;
        for crd in declare::crds(&bytes).map_err(|error| Failure::Usage(anyhow!("{shown}: {error}")))? {
            let is_same = |other: &CustomResourceDefinition| {
                (&other.spec.group, &other.spec.names.kind) == (&crd.spec.group, &crd.spec.names.kind)
            };
            if all.iter().any(is_same) {
                let kind = &crd.spec.names.kind;
                let group = &crd.spec.group;
                return Err(Failure::Usage(anyhow!("{shown}: the CRD of {kind} in {group} appears twice")));
            }
            all.push(crd);
        }
    }
    Ok(all)
}

async fn from_cluster(arguments: &Scaffold, name: &str) -> Result<CustomResourceDefinition, Failure> {
    let client = arguments.cluster.client().await?;
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let crd =
        crds.get_opt(name).await.map_err(|error| Failure::Usage(anyhow!("the CRD {name} cannot be read: {error}")))?;
    if let Some(crd) = crd {
        return Ok(crd);
    }
    let found = built_in(&client, name)
        .await
        .map_err(|error| Failure::Usage(anyhow!("the type {name} cannot be read: {error}")))?;
    let (found, document) = found.ok_or_else(|| {
        let hint =
            if name.contains('.') { "" } else { ": write it with its group, as in certificates.cert-manager.io" };
        let what = "has neither a CRD nor a built-in type";
        Failure::Usage(anyhow!("the cluster {what} `{name}`{hint}; `kubectl api-resources` prints all"))
    })?;
    declare::crd_of_built_in(&found, &document).map_err(|error| Failure::Usage(anyhow!("{error}")))
}

/// Finds a built-in type by its plural and group, such as `deployments.apps` or `pods`, in the group's preferred version. Returns it with
/// the OpenAPI document that describes it; `None` if the API server does not serve it.
async fn built_in(client: &Client, name: &str) -> Result<Option<(BuiltInType, Json)>, String> {
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let (path, version) = match group {
        "" => ("api/v1".to_owned(), "v1".to_owned()),
        group => {
            let Some(of_group) = get(client, &format!("/apis/{group}")).await? else { return Ok(None) };
            let version = of_group["preferredVersion"]["version"].as_str().unwrap_or_default().to_owned();
            (format!("apis/{group}/{version}"), version)
        }
    };
    let Some(served) = get(client, &format!("/{path}")).await? else { return Ok(None) };
    let mut resources = served["resources"].as_array().into_iter().flatten();
    let Some(resource) = resources.find(|resource| resource["name"] == plural) else { return Ok(None) };
    let short_names = resource["shortNames"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let found = BuiltInType {
        group: group.to_owned(),
        version,
        kind: resource["kind"].as_str().unwrap_or_default().to_owned(),
        plural: plural.to_owned(),
        short_names: short_names.map(str::to_owned).collect(),
        namespaced: resource["namespaced"] == true,
    };
    let document = match get(client, &format!("/openapi/v3/{path}")).await? {
        Some(document) => Some(document),
        // Kubernetes before 1.23.
        None => get(client, "/openapi/v2").await?,
    };
    Ok(document.map(|document| (found, document)))
}

/// The JSON at a path of the API server; `None` if there is nothing.
async fn get(client: &Client, path: &str) -> Result<Option<Json>, String> {
    match ask(client, Method::GET, path, None).await? {
        (StatusCode::OK, json) => Ok(Some(json)),
        (StatusCode::NOT_FOUND, _) => Ok(None),
        (status, _) => Err(format!("the API server answers {path} with {status}")),
    }
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    files::read(if file == Path::new("-") { Path::new("/dev/stdin") } else { file })
}
