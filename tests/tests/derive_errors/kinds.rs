//! Kinds with missing or duplicate attributes.

use ingester_core::{Indexed, Ingestable, Kind};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Ingestable, Deserialize)]
struct Nothing {} //~ ERROR what kind is this? Either derive kube's CustomResource with `#[kube(group, version, kind)]`, or say `#[ingest(group = "", version = "v1", kind = "Pod")]` for a kind that another project defines (missing: group, version, kind)

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1")]
struct Kindless {} //~ ERROR (missing: kind)

// Kubernetes' own kinds of the cluster need not say it.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Secret")] //~ ERROR are the objects of kind `Secret` in namespaces? Say `namespaced`, or `namespaced = false` where they are not
struct Secret {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Namespace")]
struct Namespace {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced, immutable)]
#[ingest(evictable = false)] //~ ERROR `immutable` and `evictable = false` exclude each other: every object of an immutable kind leaves etcd once SQL has it
struct Contradiction {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Safe", namespaced)]
#[ingest(prune = [".token"])] //~ ERROR pruned values are not stored, so no row may be the only copy of its object: say `evictable = false`, and leave out `immutable`
struct Safe {}

// A misspelled option is one error, not also a missing option.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", versoin = "v1", kind = "Pod")] //~ ERROR `#[ingest]` has no option `versoin`: did you mean `version`?
struct Misspelled {}

// kube reports what is missing in `#[kube]`.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)] //~ ERROR Missing field `group`
#[kube(version = "v1", kind = "Groupless")]
struct GrouplessSpec {
    #[index(type = "FLOAT")] //~ ERROR `FLOAT` is not a column type
    size: f64,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Twice", namespaced)]
#[ingest(group = "example.com")] //~ ERROR `group` is read from `#[kube(...)]`: `#[ingest(group)]` is for projections, which have no `#[kube]`
#[ingest(namespaced, plural = "twices")]
//~^ ERROR `namespaced` is read from `#[kube(...)]`
//~| ERROR `plural` is read from `#[kube(...)]`
struct TwiceSpec {}

// What a CRD asks is for kinds with one of their own.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Loose", namespaced)]
#[ingest(crd = "lax")] //~ ERROR `crd` is one of `relaxed` and `strict`
struct LooseSpec {}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Unsaid", namespaced)]
#[ingest(crd)] //~ ERROR `crd` needs a value: `crd = "..."`
struct UnsaidSpec {}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Undecided", namespaced)]
#[ingest(crd = "relaxed")]
#[ingest(crd = "strict")] //~ ERROR `crd` is given twice
struct UndecidedSpec {}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Unquoted", namespaced)]
#[ingest(crd = strict)] //~ ERROR `crd` takes a string: `crd = "..."`
struct UnquotedSpec {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced, crd = "strict")] //~ ERROR `crd` is for kinds of your own: the CRD of a projection belongs to another project
struct StrictPod {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node", crd = "relaxed")] //~ ERROR `crd` is for kinds of your own
struct RelaxedNode {}

#[derive(Indexed, Deserialize)]
#[ingest(crd = "strict")] //~ ERROR `crd` is for the table that Ingestable makes; Indexed makes none
struct StrictPart {}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Flat", no_spec)] //~ ERROR columns are read from `spec`, which a kind with `no_spec` has not: make a projection of it
struct FlatSpec {
    #[index]
    size: i32,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Unindexed", status = "PlainStatus")] //~ ERROR `PlainStatus` has no indexed fields
//~| NOTE this struct does not derive `Indexed`
//~| NOTE a status struct needs `#[derive(Indexed)]`, with or without `#[index]` on its fields
#[ingest(key(namespace, phase))] // Not reported: the status may have had `phase`.
struct UnindexedSpec {
    #[index]
    size: i32,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct PlainStatus {
    phase: String,
}

// The same trait twice for one type.
#[derive(CustomResource, Ingestable, Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)] //~ ERROR conflicting implementations of trait `Indexed` for type `BothSpec`
#[kube(group = "example.com", version = "v1", kind = "Both")]
struct BothSpec {}

// The spec in place of what kube makes of it.
const KINDS: &[Kind] = &[
    Kind::of::<Twice>(),
    Kind::of::<TwiceSpec>(), //~ ERROR `TwiceSpec` is not a kind
    //~^ NOTE this type does not derive `Ingestable`
    //~| NOTE of a custom resource, name the type that kube makes (`Model`), not its spec (`ModelSpec`)
];

fn main() {
    println!("{KINDS:?}");
}
