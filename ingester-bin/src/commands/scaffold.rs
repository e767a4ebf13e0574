//! `ingester scaffold`: a first file of kinds, or a struct, for a CRD; a struct for a kind of a file.

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
use std::path::Path;

pub(crate) async fn run(arguments: Scaffold, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    if let Some(kind) = &arguments.kind {
        let kind = chosen(kinds, std::slice::from_ref(kind))?[0];
        let text = declare::scaffold_rust_of(&kind).map_err(|error| Failure::Usage(anyhow!("{error}")))?;
        print(&text)?;
        return Ok(Ending::Done);
    }
    let text = match (&arguments.from_cluster, &arguments.file) {
        (Some(name), _) => from_cluster(&arguments, name).await?,
        (None, Some(file)) => {
            let shown = file.display();
            let bytes = read(file).map_err(|error| Failure::Usage(anyhow!("{shown} cannot be read: {error}")))?;
            let crd = declare::crd(&bytes).map_err(|error| Failure::Usage(anyhow!("{shown}: {error}")))?;
            written(&crd, arguments.rust).map_err(|error| Failure::Usage(anyhow!("{shown}: {error}")))?
        }
        (None, None) => return Err(Failure::Usage(anyhow!("name a file with a CRD, or --from-cluster NAME"))),
    };
    print(&text)?;
    Ok(Ending::Done)
}

async fn from_cluster(arguments: &Scaffold, name: &str) -> Result<String, Failure> {
    let crds: Api<CustomResourceDefinition> = Api::all(arguments.cluster.client().await?);
    let crd =
        crds.get_opt(name).await.map_err(|error| Failure::Usage(anyhow!("the CRD {name} cannot be read: {error}")))?;
    let Some(crd) = crd else {
        let hint =
            if name.contains('.') { "" } else { ": write it with its group, as in certificates.cert-manager.io" };
        return Err(Failure::Usage(anyhow!("the cluster has no CRD `{name}`{hint}; `kubectl get crds` prints all")));
    };
    written(&crd, arguments.rust).map_err(|error| Failure::Usage(anyhow!("{name}: {error}")))
}

/// As a file of kinds, or as a struct.
fn written(crd: &CustomResourceDefinition, rust: bool) -> Result<String, String> {
    if rust { declare::scaffold_rust(crd) } else { declare::scaffold(crd) }
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    files::read(if file == Path::new("-") { Path::new("/dev/stdin") } else { file })
}
