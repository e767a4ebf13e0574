//! Options that do not exist, are given twice, or have a value of the wrong kind.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget")]
#[ingest(tabel = "widget")] //~ ERROR `#[ingest]` has no option `tabel`: did you mean `table`?
#[ingest(prefix = "a_")] //~ ERROR `#[ingest]` has no option `prefix`: there are table, was, immutable, evictable, finalizer, companions, crd, absent, retention, history, versions, prune, evict, protobuf, descriptors, key, columns, filter, revision, group, version, kind, plural, namespaced, handles, crate
#[ingest(version = "v2")] //~ ERROR `version` is given twice
#[ingest(immutable, immutable)] //~ ERROR `immutable` is given twice
#[ingest(finalizer = "always")] //~ ERROR `finalizer` is one of `ensure`, `existing` and `never`
#[ingest(companions)] //~ ERROR `companions` takes true or false: `companions = false` makes no tables of labels and annotations
#[ingest(evictable)] //~ ERROR `evictable` takes true or false: `evictable = false` ignores annotations that would delete an object from the cluster
#[ingest(versions = 5)] //~ ERROR `versions` is how many former versions of an object are kept: say how long with `history = "90d"` or `history = "forever"`
#[ingest(retention = 90)] //~ ERROR `retention` takes a string: `retention = "..."`
#[ingest(prune = ".spec.token")] //~ ERROR `prune` takes a list of strings: `prune = ["..."]`
#[ingest(namespaced = "yes")] //~ ERROR `namespaced` is a switch: write it alone
#[ingest(protobuf)] //~ ERROR `protobuf` needs a value: `protobuf = "..."`
#[ingest(filter = |_| true)] //~ ERROR `filter` takes the name of a function: `filter = function`
#[ingest(table "widget")] //~ ERROR expected `,`
struct Widget {
    #[index(colum = "x")] //~ ERROR `#[index]` has no option `colum`: did you mean `column`?
    name: String, // Not reported as a base column, because the intended name is unknown.
    #[index(unique)] //~ ERROR `#[index]` has no option `unique`: there are column, type, path, with, was, key
    number: i64,
    #[index(column = "a", column = "b")] //~ ERROR `column` is given twice
    a: String,
    #[index(key = false, key = true)] //~ ERROR `key` is given twice
    b: String,
    #[index(column = 5)] //~ ERROR `column` takes a string: `column = "..."`
    c: String,
    #[index(column = name)] //~ ERROR `column` takes a string: `column = "..."`
    d: String,
    #[index(type)] //~ ERROR `type` needs a value: `type = "..."`
    e: String,
    #[index(key)] //~ ERROR `key` takes true or false: `key = false` makes a column without a key
    f: String,
    #[index = "g"] //~ ERROR write `#[index]` or `#[index(option = value, ...)]`
    g: String,
    #[index(with = |text| text)] //~ ERROR `with` takes the name of a function: `with = function`
    h: String,
    #[index(with = "not a path")] //~ ERROR `with` takes the name of a function: `with = function`
    i: String,
    #[index("j")] //~ ERROR expected
    j: String,
    #[index(colum = "x", kye = false, was = "k", was = "l")]
    //~^ ERROR `#[index]` has no option `colum`: did you mean `column`?
    //~| ERROR `#[index]` has no option `kye`: did you mean `key`?
    //~| ERROR `was` is given twice
    k: Vec<String>, // Not reported for its type, which one of the options may have changed.
    #[index(keep = "yes")] //~ ERROR `keep` is a switch: write it alone
    m: Option<String>,
    #[index(first, keep)] //~ ERROR `keep` and `first` exclude each other
    n: Option<String>,
    #[ingest(key = false)] //~ ERROR `#[ingest]` belongs on the struct; the attribute of a field is `#[index]`
    l: String,
}

#[derive(Indexed, Deserialize)]
#[ingest(table = "part")] //~ ERROR `table` is for the table that Ingestable makes; Indexed makes none
#[index(path = "metadata.name", column = "name")] //~ ERROR `#[index]` on the struct takes a function of it, `#[index(column = "...", with = function)]`; columns from the metadata are for Ingestable
struct Part {
    #[index]
    a: String,
}

#[derive(ColumnValue, Deserialize)]
#[ingest(immutable)] //~ ERROR `immutable` is for the table that Ingestable makes; ColumnValue makes none
#[index] //~ ERROR `#[index]` on the struct is for Ingestable; ColumnValue takes it on fields only
struct Pair {
    a: String,
}

#[derive(ColumnValue, Deserialize)]
#[index] //~ ERROR `#[index]` belongs on the field that holds this value
#[ingest(table = "mode")] //~ ERROR `table` is for the table that Ingestable makes; ColumnValue makes none
enum Mode {
    #[index(column = "on")] //~ ERROR `#[index]` belongs on the field that holds this value
    On,
    #[ingest(key = false)] //~ ERROR `#[ingest]` belongs on the struct
    Off,
}

// One error, not one for each use of the library.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Gadget", namespaced, crate = "nowhere::to_be_found")] //~ ERROR cannot find module or crate `nowhere` in this scope
struct Gadget {
    #[index]
    a: String,
    #[index(path = "b", column = "c")]
    part: Part,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node", descriptors = crate::MESSAGES)] //~ ERROR `descriptors` says where a message is described: name it with `protobuf = "..."`
struct Node {}

fn main() {}
