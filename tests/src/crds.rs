//! Installing CustomResourceDefinitions.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Client, ResourceExt as _,
    api::{Api, DynamicObject, GroupVersionKind, ListParams, PostParams},
    core::ApiResource,
};
use tokio::time::{Instant, sleep};

/// The time that the API server has to serve all of them.
const DEADLINE: Duration = Duration::from_secs(60);

/// Creates the missing CRDs and waits until each is established and its objects can be listed.
///
/// # Errors
/// When the API server refuses one, or does not serve all of them within a minute. Also when it finds a schema not
/// structural: it would serve such a kind, but prune nothing.
pub async fn install(client: &Client, crds: &[CustomResourceDefinition]) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        match api.create(&PostParams::default(), crd).await {
            Ok(_) => {}
            Err(kube::Error::Api(error)) if error.code == 409 => {}
            Err(error) => return Err(error).with_context(|| format!("creating {}", crd.name_any())),
        }
    }
    let deadline = Instant::now() + DEADLINE;
    for crd in crds {
        let name = crd.name_any();
        loop {
            let conditions = api.get(&name).await?.status.and_then(|status| status.conditions).unwrap_or_default();
            let is = |what: &str, value: &str| conditions.iter().any(|c| c.type_ == what && c.status == value);
            ensure!(!is("NonStructuralSchema", "True"), "{name}: {conditions:?}");
            // The condition Established is true a moment before every handler has the schema.
            if is("Established", "True") && is("NamesAccepted", "True") && is_served(client, crd).await? {
                break;
            }
            ensure!(Instant::now() < deadline, "{name} is not served: {conditions:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

/// Returns true if objects of every served version can be listed.
async fn is_served(client: &Client, crd: &CustomResourceDefinition) -> Result<bool> {
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        let kind = GroupVersionKind::gvk(&crd.spec.group, &version.name, &crd.spec.names.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &crd.spec.names.plural);
        let objects: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        match objects.list_metadata(&ListParams::default().limit(1)).await {
            Ok(_) => {}
            Err(kube::Error::Api(error)) if error.code == 404 || error.code == 503 => return Ok(false),
            Err(error) => return Err(error).with_context(|| format!("listing {}", crd.name_any())),
        }
    }
    Ok(true)
}
