//! The objects of one namespace, and an administrator's changes to them.

use anyhow::{Context as _, Result};
use kube::api::{Api, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use kube::{Client, ResourceExt as _};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

/// The ingester's finalizer.
pub(crate) const OURS: &str = "michelangelo/Ingester";
/// A finalizer of another controller.
pub(crate) const KEEP: &str = "example.com/keep";

/// Concurrent requests of [`Objects::create_all`].
const PARALLEL: usize = 32;

/// The names of all kinds, in the order of `KINDS`.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    crd_specs::KINDS.iter().map(|kind| kind.kind())
}

/// The main table of a kind.
pub(crate) fn table(kind: &str) -> String {
    kind.to_lowercase()
}

fn resource(kind: &str) -> ApiResource {
    let kind = crd_specs::KINDS.iter().find(|known| known.kind() == kind).unwrap();
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind()), &kind.plural())
}

/// The samples of `crd-specs`, one object of each kind.
pub(crate) fn samples() -> Result<Vec<Json>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples");
    let mut files: Vec<_> = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let read = |file| Ok(serde_saphyr::from_str(&std::fs::read_to_string(file)?)?);
    files.iter().map(read).collect()
}

/// A small object.
pub(crate) fn object(kind: &str, name: &str, spec: &Json) -> Json {
    json!({"apiVersion": "michelangelo.api/v2", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// A project, which has the column `tier`.
pub(crate) fn project(name: &str, tier: u32) -> Json {
    object("Project", name, &json!({"tier": tier}))
}

/// A model, which has the column `algorithm`.
pub(crate) fn model(name: &str, algorithm: &str) -> Json {
    object("Model", name, &json!({"algorithm": algorithm}))
}

/// The API of one namespace.
#[derive(Clone)]
pub(crate) struct Objects {
    pub(crate) client: Client,
    pub(crate) namespace: String,
}

impl Objects {
    pub(crate) fn api(&self, kind: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource(kind))
    }

    /// Creates the object in this namespace, whatever namespace it names.
    pub(crate) async fn create(&self, mut object: Json) -> Result<DynamicObject> {
        object["metadata"]["namespace"] = json!(self.namespace);
        let kind = object["kind"].as_str().context("an object has a kind")?.to_owned();
        let object: DynamicObject = serde_json::from_value(object)?;
        let created = self.api(&kind).create(&PostParams::default(), &object).await;
        created.with_context(|| format!("creating {kind} {}", object.name_any()))
    }

    /// Creates many objects, several at a time.
    pub(crate) async fn create_all(&self, objects: impl IntoIterator<Item = Json>) -> Result<()> {
        let mut creating = JoinSet::new();
        for object in objects {
            if creating.len() == PARALLEL {
                creating.join_next().await.context("one of them")???;
            }
            let objects = self.clone();
            creating.spawn(async move { objects.create(object).await.map(drop) });
        }
        while let Some(created) = creating.join_next().await {
            created??;
        }
        Ok(())
    }

    /// Applies a merge patch.
    pub(crate) async fn patch(&self, kind: &str, name: &str, patch: &Json) -> Result<DynamicObject> {
        let patched = self.api(kind).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.with_context(|| format!("patching {kind} {name}"))
    }

    /// Sets an annotation to `true`.
    pub(crate) async fn annotate(&self, kind: &str, name: &str, annotation: &str) -> Result<DynamicObject> {
        self.patch(kind, name, &json!({"metadata": {"annotations": {annotation: "true"}}})).await
    }

    /// Requests the deletion, like `kubectl delete --wait=false`.
    pub(crate) async fn delete(&self, kind: &str, name: &str) -> Result<()> {
        let deleted = self.api(kind).delete(name, &DeleteParams::default()).await;
        deleted.map(drop).with_context(|| format!("deleting {kind} {name}"))
    }

    /// Removes all finalizers and deletes it: it is gone at once, unless a finalizer is added in between.
    pub(crate) async fn delete_by_force(&self, kind: &str, name: &str) -> Result<()> {
        self.patch(kind, name, &json!({"metadata": {"finalizers": null}})).await?;
        self.delete(kind, name).await
    }

    pub(crate) async fn get(&self, kind: &str, name: &str) -> Result<Option<DynamicObject>> {
        self.api(kind).get_opt(name).await.with_context(|| format!("reading {kind} {name}"))
    }

    pub(crate) async fn list(&self, kind: &str) -> Result<Vec<DynamicObject>> {
        let objects = self.api(kind).list(&ListParams::default()).await;
        Ok(objects.with_context(|| format!("listing {kind}"))?.items)
    }
}

/// The object's resourceVersion.
pub(crate) fn version(object: &DynamicObject) -> String {
    object.resource_version().unwrap_or_default()
}

/// The object's uid.
pub(crate) fn uid(object: &DynamicObject) -> String {
    object.uid().unwrap_or_default()
}

/// Whether the object has this finalizer.
pub(crate) fn has_finalizer(object: &DynamicObject, finalizer: &str) -> bool {
    object.finalizers().iter().any(|one| one == finalizer)
}
