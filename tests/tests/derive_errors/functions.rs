//! Functions with a wrong signature.

use ingester_core::{ColumnValue, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget")]
#[ingest(filter = of_number)]
//~^ ERROR mismatched types
//~| NOTE expected fn pointer `for<'a> fn(&'a WidgetSpec) -> bool`
#[index(path = "metadata.labels", column = "label_count", with = of_text)] //~ ERROR mismatched types
struct WidgetSpec {
    #[index(with = of_number)] //~ ERROR mismatched types
    text: String,
    #[index(with = of_text, path = "0x")] //~ ERROR `0x` is not a path
    number: i64,
    #[index(with = of_text)] //~ ERROR mismatched types
    maybe: Option<String>,
    #[index(path = "size", with = of_text)] //~ ERROR mismatched types
    part: Option<Part>,
    #[index(with = missing)] //~ ERROR cannot find value `missing` in this scope
    a: String,
    #[index(with = split)] //~ ERROR `Vec<&str>` cannot be stored in a column
    b: String,
    #[index(with = two)] //~ ERROR mismatched types
    //~| NOTE incorrect number of function parameters
    c: String,
    #[index(with = by_value)] //~ ERROR mismatched types
    //~| NOTE expected fn pointer `fn(&_) -> _`
    d: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced, filter = counts)] //~ ERROR mismatched types
//~| NOTE expected fn pointer `for<'a> fn(&'a Pod) -> bool`
struct Pod {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node", filter = absent)] //~ ERROR cannot find value `absent` in this scope
struct Node {}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Part {
    size: i64,
}

fn of_number(number: &i64) -> i64 {
    *number
}

fn of_text(text: &str) -> &str {
    text
}

fn split(text: &String) -> Vec<&str> {
    text.split(',').collect()
}

fn two(a: &String, _: &String) -> String {
    a.clone()
}

fn by_value(text: String) -> String {
    text
}

fn counts(_: &Pod) -> usize {
    1
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Whole", namespaced)]
#[index(column = "size", with = size)]
#[index(with = size)] //~ ERROR `#[index]` on the struct needs a name: `column = "..."`
#[index(column = "absent", with = absent)] //~ ERROR cannot find value `absent` in this scope
#[index(column = "other", with = of_another)] //~ ERROR mismatched types
#[index(column = "parts", with = parts)] //~ ERROR `Vec<i64>` cannot be stored in a column
#[index(column = "size", with = size)] //~ ERROR column `size` is made by `with = size` already
struct Whole {}

fn size(_: &Whole) -> i64 {
    1
}

fn of_another(_: &Part) -> i64 {
    1
}

fn parts(_: &Whole) -> Vec<i64> {
    Vec::new()
}

#[derive(ColumnValue, Deserialize)]
#[index(column = "both", with = both)] //~ ERROR `#[index]` on the struct is for Ingestable; ColumnValue takes it on fields only
struct Pair {
    a: String,
}

fn main() {}
