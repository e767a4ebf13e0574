//! A struct under `Ingestable`: which kind it is, its table and its columns.

use super::columns::{is_of_whole, of_metadata, record};
use crate::ast::{Derive, Field, Item};
use crate::attr::{Attributes, CrdOption, FinalizerOption, Ingest, Kube};
use crate::case::plural;
use crate::context::Context;
use crate::model::{ColumnDeclaration, Form, KindDeclaration, Message, Model, TableName};
use crate::span::used;
use syn::{Ident, LitStr};

pub(super) fn ingestable(context: &Context, item: &Item<'_>, fields: &[Field<'_>], attributes: Attributes) -> Model {
    let record = record(context, Derive::Ingestable, item, fields, &attributes);
    let Attributes { index, ingest, kube, .. } = attributes;
    let metadata: Vec<ColumnDeclaration> =
        index.iter().filter(|index| !is_of_whole(index)).filter_map(|index| of_metadata(context, index)).collect();
    if let (None, Some(descriptors)) = (&ingest.protobuf, &ingest.descriptors) {
        context
            .error(descriptors, "`descriptors` says where a message is described: name it with `protobuf = \"...\"`");
    }
    if let (Some(true), Some(false), Some(option)) =
        (ingest.immutable, ingest.evictable, ingest.given.iter().find(|option| *option == "evictable"))
    {
        context.error(
            option,
            "`immutable` and `evictable = false` exclude each other: every object of an immutable kind leaves etcd once SQL has it",
        );
    }
    if let (Some(_), Some(option)) = (&ingest.prune, ingest.given.iter().find(|option| *option == "prune"))
        && (ingest.evictable != Some(false) || ingest.immutable == Some(true))
    {
        context.error(
            option,
            "pruned values are not stored, so no row may be the only copy of its object: say `evictable = false`, and leave out `immutable`",
        );
    }
    if let (None, Some(option)) = (&ingest.history, ingest.given.iter().find(|option| *option == "versions")) {
        context.error(
            option,
            "`versions` is how many former versions of an object are kept: say how long with `history = \"90d\"` or `history = \"forever\"`",
        );
    }
    let identity = match kube {
        Some(kube) => resource(context, kube, &ingest),
        None => projection(context, item.ident, &ingest),
    };
    let kind = identity.map(|Identity { root, group, version, kind, namespaced, form }| {
        let table = match &ingest.table {
            Some(table) => TableName { text: table.value(), span: table.span() },
            None => TableName { text: kind.value().to_lowercase(), span: kind.span() },
        };
        // The objects of a projection belong to another project, whose users may not want to wait for us when they delete one.
        let unless_given = match form {
            Form::Resource { .. } => FinalizerOption::Ensure,
            Form::Projection { .. } => FinalizerOption::Never,
        };
        Box::new(KindDeclaration {
            root,
            group,
            version,
            kind,
            namespaced,
            form,
            table,
            table_was: ingest.was,
            immutable: ingest.immutable.unwrap_or(false),
            evictable: ingest.evictable,
            finalizer: ingest.finalizer.unwrap_or(unless_given),
            companions: ingest.companions.unwrap_or(true),
            retention: ingest.retention,
            history: ingest.history.map(|keep| (keep, ingest.versions)),
            prune: ingest.prune.unwrap_or_default(),
            evict: ingest.evict,
            absent: ingest.absent,
            protobuf: ingest.protobuf.map(|name| Message { name, descriptors: ingest.descriptors }),
            keys: ingest.keys,
            columns: ingest.columns.unwrap_or_default(),
            filter: ingest.filter,
            revision: ingest.revision.unwrap_or(1),
            metadata,
        })
    });
    Model::Kind(record, kind)
}

/// The names of a kind, and the type of its objects.
struct Identity {
    root: Ident,
    group: LitStr,
    version: LitStr,
    kind: LitStr,
    namespaced: bool,
    form: Form,
}

/// A custom resource: the struct is its spec, the trait is for the root that kube derives. `None` if kube derives none
/// and reports why.
fn resource(context: &Context, kube: Kube, ingest: &Ingest) -> Option<Identity> {
    const OF_PROJECTIONS: [&str; 5] = ["group", "version", "kind", "plural", "namespaced"];
    for option in ingest.given.iter().filter(|option| OF_PROJECTIONS.iter().any(|name| option == name)) {
        context.error(
            option,
            format!("`{option}` is read from `#[kube(...)]`: `#[ingest({option})]` is for projections, which have no `#[kube]`"),
        );
    }
    if let Some(no_spec) = &kube.no_spec {
        context.error(
            no_spec,
            "columns are read from `spec`, which a kind with `no_spec` has not: make a projection of it, a struct with \
             `#[ingest(group, version, kind)]` instead of `#[kube]`",
        );
    }
    Some(Identity {
        root: kube.root()?,
        group: kube.group?,
        version: kube.version?,
        kind: kube.kind?,
        namespaced: kube.namespaced,
        form: Form::Resource { status: kube.status, strict: ingest.crd == Some(CrdOption::Strict) },
    })
}

/// A kind that another project defines: the struct is read from the whole object. `None`, with an error, if the
/// attributes do not name the kind.
fn projection(context: &Context, ident: &Ident, ingest: &Ingest) -> Option<Identity> {
    let names = [("group", &ingest.group), ("version", &ingest.version), ("kind", &ingest.kind)];
    let missing: Vec<&str> = names.into_iter().filter_map(|(name, value)| value.is_none().then_some(name)).collect();
    // An option that seems to be missing may only be misspelled, which has been reported.
    if !missing.is_empty() && !ingest.broken {
        context.error(
            ident,
            format!(
                "what kind is this? Either derive kube's CustomResource with `#[kube(group, version, kind)]`, or say \
                 `#[ingest(group = \"\", version = \"v1\", kind = \"Pod\")]` for a kind that another project defines (missing: {})",
                missing.join(", ")
            ),
        );
    }
    if let Some(option) = ingest.given.iter().find(|option| *option == "crd") {
        context.error(option, "`crd` is for kinds of your own: the CRD of a projection belongs to another project");
    }
    let kind = ingest.kind.clone()?;
    let group = ingest.group.as_ref().map(LitStr::value).unwrap_or_default();
    if ingest.namespaced.is_none() && !ingest.broken && !is_of_the_cluster(&group, &kind.value()) {
        context.error(
            &kind,
            format!(
                "are the objects of kind `{}` in namespaces? Say `namespaced`, or `namespaced = false` where they are not",
                kind.value()
            ),
        );
    }
    Some(Identity {
        root: used(ident),
        group: ingest.group.clone()?,
        version: ingest.version.clone()?,
        namespaced: ingest.namespaced.unwrap_or(false),
        form: Form::Projection { plural: ingest.plural.as_ref().map_or_else(|| plural(&kind.value()), LitStr::value) },
        kind,
    })
}

/// True for one of Kubernetes' own cluster-scoped kinds, for which `namespaced` may be left out.
fn is_of_the_cluster(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "Node" | "Namespace" | "PersistentVolume")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("rbac.authorization.k8s.io", "ClusterRole" | "ClusterRoleBinding")
            | ("storage.k8s.io", "StorageClass" | "VolumeAttachment" | "CSIDriver" | "CSINode")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("networking.k8s.io", "IngressClass")
            | ("node.k8s.io", "RuntimeClass")
    )
}
