//! `ingester scaffold`: a first file of kinds for CRDs, or a struct for one; a struct for a kind of a file.

use super::chosen;
use crate::arguments::Scaffold;
use crate::ending::{Ending, Failure};
use crate::output::print;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_declare::declare;
use ingester_store::files;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
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
    let crds: Api<CustomResourceDefinition> = Api::all(arguments.cluster.client().await?);
    let crd =
        crds.get_opt(name).await.map_err(|error| Failure::Usage(anyhow!("the CRD {name} cannot be read: {error}")))?;
    crd.ok_or_else(|| {
        let hint =
            if name.contains('.') { "" } else { ": write it with its group, as in certificates.cert-manager.io" };
        Failure::Usage(anyhow!("the cluster has no CRD `{name}`{hint}; `kubectl get crds` prints all"))
    })
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    files::read(if file == Path::new("-") { Path::new("/dev/stdin") } else { file })
}
