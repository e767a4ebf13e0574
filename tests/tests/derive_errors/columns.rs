//! Two columns with the same name, reported on the second one.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Reference {
    namespace: String,
    name: String,
    #[index(column = "Name")] //~ ERROR column `Name` is made by field `name` already
    title: String,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
#[index(path = "metadata.deletion_timestamp", column = "deletion")]
#[index(path = "metadata.creation_timestamp", column = "deletion")] //~ ERROR column `deletion` is made by `metadata.deletion_timestamp` already
#[index(path = "metadata.resource_version", column = "colour")] //~ ERROR column `colour` is made by a field already
#[index(path = "metadata.creation_timestamp", column = "message")] //~ ERROR column `message` is made by the status already
struct WidgetSpec {
    #[index]
    colour: String,
    #[index(column = "colour")] //~ ERROR column `colour` is made by field `colour` already: give one of them another name with `column`
    shade: String,
    // Databases compare column names without regard to case.
    #[index(column = "COLOUR")]
    //~^ ERROR column `COLOUR` is made by field `colour` already
    //~| ERROR column `COLOUR` is made by field `shade` already
    tint: String,
    #[index]
    owner: Pair,
    #[index]
    owner_name: String, //~ ERROR column `owner_name` is made by field `owner` already
    // The columns `maker` and `maker_name` differ, but their keys do not.
    #[index]
    maker: Pair,
    #[index(column = "maker")] //~ ERROR key `maker` is made by field `maker` already
    made_by: String,
    #[index]
    #[index]
    twice: bool, //~ ERROR column `twice` is made by field `twice` already
    #[index]
    phase: String, //~ ERROR column `phase` is made by the status already
    #[index(column = "ready")] //~ ERROR column `ready` is made by the status already
    is_ready: bool,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Pair {
    namespace: String,
    name: String,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct WidgetStatus {
    #[index]
    phase: String,
    #[index]
    ready: bool,
    #[index]
    message: String,
    #[index(column = "message")] //~ ERROR column `message` is made by field `message` already
    reason: String,
}

fn main() {}
