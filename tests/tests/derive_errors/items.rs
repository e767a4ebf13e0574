//! Items that the derives do not support. Using the result below is not a further error.

use ingester_core::{ColumnValue, Indexed, Ingestable, Kind};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(ColumnValue, Deserialize)]
enum Mode {
    Off,
    On(i32), //~ ERROR variant `On` carries data: a column holds the name of a unit variant; use `with = function` on the field instead
    Blinking { hertz: i32 }, //~ ERROR variant `Blinking` carries data
}

#[derive(ColumnValue, Deserialize)]
enum Never {} //~ ERROR an enum without variants has no value to store

#[derive(ColumnValue, Deserialize)]
struct Empty {} //~ ERROR a composite without fields has no value to store

#[derive(ColumnValue, Deserialize)]
struct Pair(String, String); //~ ERROR ColumnValue needs named fields: write `struct Pair { ... }`

#[derive(ColumnValue, Deserialize)]
struct Unit; //~ ERROR ColumnValue needs named fields: write `struct Unit { ... }`

#[derive(ColumnValue, Deserialize)]
struct Generic<T> { //~ ERROR ColumnValue does not take generics: a column needs one concrete type
    value: T,
}

#[derive(ColumnValue, Deserialize)]
enum Borrowed<'a> { //~ ERROR ColumnValue does not take generics
    #[serde(skip)]
    A(&'a str),
    B,
}

#[derive(ColumnValue, Clone, Copy)]
union Overlay { //~ ERROR ColumnValue is for structs with named fields and enums without data
    a: i32,
    b: u32,
}

#[derive(Indexed, Deserialize)]
enum Either { //~ ERROR Indexed is for structs with named fields; for the values of a column derive ColumnValue
    A,
    B,
}

#[derive(Indexed, Deserialize)]
struct Wrapper<T>(T); //~ ERROR Indexed needs named fields: write `struct Wrapper { ... }`
//~^ ERROR Indexed does not take generics: a table needs one concrete type

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced)]
enum Pod { //~ ERROR Ingestable is for structs with named fields; for the values of a column derive ColumnValue
    Running,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node")]
struct Node(String); //~ ERROR Ingestable needs named fields: write `struct Node { ... }`

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Event", namespaced)]
struct Event<'a> { //~ ERROR Ingestable does not take generics: a table needs one concrete type
    #[index]
    reason: &'a str,
}

#[derive(Ingestable, Clone, Copy)]
#[ingest(group = "", version = "v1", kind = "Endpoints", namespaced)]
union Endpoints { //~ ERROR Ingestable is for structs with named fields; for the values of a column derive ColumnValue
    a: i32,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", status = "Either2")]
enum WidgetSpec { //~ ERROR Ingestable is for structs with named fields; for the values of a column derive ColumnValue
    A(String),
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
enum Either2 { //~ ERROR Indexed is for structs with named fields
    A,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Gadget", namespaced)]
struct Gadget {
    #[index]
    mode: Mode,
    #[index]
    never: Option<Never>,
    #[index]
    empty: Empty,
    #[index]
    pair: Pair,
    #[index]
    unit: Unit,
    #[index]
    generic: Generic<i32>,
    #[index]
    either: Either,
    #[index]
    wrapper: Wrapper<i32>,
}

const KINDS: &[Kind] = &[Kind::of::<Gadget>(), Kind::of::<Pod>(), Kind::of::<Node>(), Kind::of::<Widget>()];

fn main() {
    println!("{KINDS:?}");
}
