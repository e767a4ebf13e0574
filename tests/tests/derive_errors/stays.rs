//! Values that would stay where the object has none, of fields that every object has.

use ingester_core::wire::Time;
use ingester_core::{ColumnValue, Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", status = "WidgetStatus")]
//~^ ERROR `keep` is for values that can be absent, and `phase` always has one
#[index(path = "metadata.uid", column = "first_uid", first)]
#[index(path = "metadata.deletion_timestamp", column = "deletion", keep)]
#[index(column = "size", with = size, keep)] //~ ERROR `keep` is for values that can be absent, and `size` always has one
#[index(column = "some_size", with = some_size, keep)]
#[serde(default)]
struct WidgetSpec { //~ ERROR `keep` is for values that can be absent, and `sooner_seen` always has one
    #[index(keep)] //~ ERROR `keep` is for values that can be absent, and `colour` always has one: leave `keep` out, or let the value be absent (in Rust as an `Option`, in a file without `default`, `count` or `exists`)
    colour: String,
    // The first value of one that every object has is that at its creation.
    #[index(column = "count", first)]
    number: i32,
    #[index(key = false, keep)] //~ ERROR `keep` is for values that can be absent, and `on` always has one
    on: Box<bool>,
    #[index(keep)]
    maybe: Option<String>,
    #[index(path = "name", column = "owner", keep)] //~ ERROR `keep` is for values that can be absent, and `owner` always has one
    #[index(path = "nick", column = "nick", keep)]
    owner: Owner,
    #[index(path = "name", column = "maker", keep)]
    maker: Option<Owner>,
    #[index(keep)]
    either: Both,
    #[index(keep)] //~ ERROR `keep` is for values that can be absent, and `all_a` always has one
    all: All,
    #[index(keep)]
    no_all: Option<All>,
    // The option is in the nested struct, and here it is known that it can never be absent.
    #[index]
    sooner: Seen,
    #[index]
    later: Option<Seen>,
}

impl Default for WidgetSpec {
    fn default() -> Self {
        panic!()
    }
}

fn size(_: &WidgetSpec) -> i64 {
    1
}

fn some_size(_: &WidgetSpec) -> Option<i64> {
    None
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Owner {
    name: String,
    nick: Option<String>,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Both {
    a: String,
    b: Option<String>,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct All {
    a: String,
    b: String,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Seen {
    #[index(keep)]
    seen: Time,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(default)]
struct WidgetStatus {
    #[index(keep)]
    phase: String,
    #[index(keep)]
    since: Option<Time>,
}

// Absent as a whole until it is first written.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Gadget", status = "GadgetStatus")]
struct GadgetSpec {}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct GadgetStatus {
    #[index(first)]
    phase: String,
}

fn main() {}
