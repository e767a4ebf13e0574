//! Mistakes of every sort in one file, all reported at once: those that the derives see, those that need names and
//! types, and those that need constants.

use ingester_core::{ColumnValue, Indexed, Ingestable, Kind};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
#[ingest(tabel = "widgets", key(namespace, age), filter = is_big)]
//~^ ERROR `#[ingest]` has no option `tabel`: did you mean `table`?
//~| ERROR `age` is not a column of this table
//~| ERROR mismatched types
struct WidgetSpec {
    #[index]
    name: String, //~ ERROR column `name` is one of the columns that every table has
    #[index(type = "TEXT")] //~ ERROR column `description` cannot have a key
    description: String,
    #[index(type = "VARCHAR(800)")] //~ ERROR the key on `summary` takes 3200 bytes
    summary: String,
    #[index(type = "NUMBER")] //~ ERROR `NUMBER` is not a column type
    size: i64,
    #[index(column = "size")] //~ ERROR column `size` is made by field `size` already
    width: i64,
    #[index(column = "first-name")] //~ ERROR `first-name` cannot be the name of a column
    first: String,
    #[index]
    phase: String, //~ ERROR column `phase` is made by the status already
    #[index]
    mode: Mode,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct WidgetStatus {
    #[index]
    phase: String,
    #[index(was = "phase", was = "state")] //~ ERROR `was` is given twice
    //~| ERROR `phase` is the name of another column now
    reason: String,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
enum Mode {
    Fast,
    Custom(String), //~ ERROR variant `Custom` carries data
}

// These hide columns of their own kind, so checks that need all columns (`key(...)` above) do not run here.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced, table = "pods and their containers")] //~ ERROR `pods and their containers` cannot be the name of a table
struct Pod {
    #[index]
    containers: Vec<String>, //~ ERROR `Vec<String>` cannot be stored in a column
    #[index(path = "nodeName", column = "node")] //~ ERROR no field `nodeName` on type `&PodSpec`
    spec: PodSpec,
    #[index(with = missing)] //~ ERROR cannot find value `missing` in this scope
    restarts: i32,
    #[index(wth = missing)] //~ ERROR `#[index]` has no option `wth`: did you mean `with`?
    images: Vec<String>,
    #[index(column = "uid")] // Not reported: without its type nothing is known about the column.
    id: Unknown, //~ ERROR cannot find type `Unknown` in this scope
    #[index]
    json: String, //~ ERROR column `json` is one of the columns that every table has
}

#[derive(Deserialize)]
struct PodSpec {
    node_name: String,
}

fn is_big(_: &Pod) -> bool {
    true
}

const KINDS: &[Kind] = &[Kind::of::<Widget>(), Kind::of::<Pod>()];

fn main() {
    println!("{KINDS:?}");
}
