//! What is stored where an object has no value, of types that cannot tell; and units of what is not a quantity.

use ingester_core::wire::Time;
use ingester_core::{Indexed, Ingestable};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Widget", status = "WidgetStatus")]
#[ingest(absent = "null")] //~ ERROR `absent = "null"` cannot be kept for column `phase`: its type has a default, which looks like a value; make the field an `Option`, or say `absent = "empty"` for it (in the status)
#[serde(default)]
struct WidgetSpec {
    #[index]
    colour: String, //~ ERROR `absent = "null"` cannot be kept for column `colour`
    #[index(absent = "empty")]
    shade: String,
    #[index]
    maybe: Option<String>,
    #[index(absent = "type")]
    number: i32,
    #[index(path = "name", column = "owner")] //~ ERROR `absent = "null"` cannot be kept for column `owner`
    #[index(path = "nick", column = "nick")]
    owner: Option<Owner>,
    #[index(absent = "empty", keep)] //~ ERROR `keep` of column `kept` is for values that can be absent, and if `absent` is empty none is: set `absent` to null for it
    kept: Option<String>,
    #[index(absent = "nothing")] //~ ERROR `absent` is one of `null`, `empty` and `type`
    word: Option<String>,
    #[index(unit = "whole")]
    memory: Option<String>,
    #[index(unit = "nano")] //~ ERROR `unit` is one of `whole` and `milli`
    cpu: Option<String>,
    #[index(unit = "milli")] //~ ERROR `i64` is not a quantity
    count: Option<i64>,
    #[index(unit = "milli", with = length)] //~ ERROR `unit` says what a quantity becomes, and so does `with`: leave one of them out
    both: Option<String>,
    #[index(many, unit = "milli")] //~ ERROR `unit` is for a single quantity
    many: Vec<String>,
}

fn length(text: &Option<String>) -> Option<i64> {
    text.as_ref().map(|text| text.len() as i64)
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(default)]
struct Owner {
    name: String,
    nick: Option<String>,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(default)]
struct WidgetStatus {
    #[index]
    phase: String,
    #[index(absent = "null")]
    since: Option<Time>,
}

#[derive(Ingestable, Deserialize, Default)]
#[serde(default)]
#[ingest(group = "example.com", version = "v1", kind = "Volume", namespaced, absent = "empty")]
#[index(path = "metadata.generation", column = "generation", absent = "null")]
struct Volume {
    #[index(unit = "whole")]
    size: Quantity,
    #[index(column = "name_of_it", absent = "null")] //~ ERROR `absent = "null"` cannot be kept for column `name_of_it`
    label: String,
}

fn main() {}
