//! `was`, a column's former name, and serde's rename rules.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::{Deserialize, Serialize};

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
struct Widget {
    #[index(column = "colour", was = "colour")] //~ ERROR `colour` is the column's name now: `was` is for a former one, leave it out
    shade: String,
    #[index(was = "Tint")] //~ ERROR `Tint` is the column's name now: `was` is for a former one, leave it out
    tint: String,
    #[index(was = "")] //~ ERROR the name of the column is empty: give one with `was`
    a: String,
    #[index(was = "former")]
    b: String,
    #[index(was = "former")] //~ ERROR `former` is the former name of another column already: leave one of them out
    c: String,
    #[index(was = "a_name_that_would_do_for_one_column_but_not_for_a_composite_")] //~ ERROR has 70 bytes, an identifier may have 63 (on PostgreSQL): give a shorter name with `was`
    d: Pair,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Gadget", namespaced)]
#[ingest(was = "Gadget")] //~ ERROR `Gadget` is the table's name now: `was` is for a former one, leave it out
struct Gadget {
    #[index(was = "second")] //~ ERROR columns cannot exchange their names in one step
    first: String,
    #[index(was = "first")] //~ ERROR columns cannot exchange their names in one step
    second: String,
    #[index(was = "fourth")]
    third: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Moved", namespaced)]
#[index(path = "metadata.uid", column = "id", was = "create_time")] //~ ERROR `create_time` is a column of every table, which keeps its name
struct Moved {
    #[index(was = "Second")] //~ ERROR `Second` is the name of another column now, whose values would go to this one: give that one another name
    first: String,
    #[index]
    second: String,
    // A chain: each name is free when it is needed.
    #[index(was = "fourth")]
    third: String,
    #[index(was = "fifth")]
    fourth: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Gizmo", namespaced, table = "gizmos")]
#[ingest(was = "g i z m o")] //~ ERROR `g i z m o` cannot be the name of a table
struct Gizmo {}

#[derive(Indexed, Deserialize)]
#[ingest(was = "other")] //~ ERROR `was` is for the table that Ingestable makes; Indexed makes none
struct Nested {}

#[derive(ColumnValue, Deserialize)]
struct Pair {
    namespace: String,
    #[index(was = "name")] //~ ERROR `name` is the column's name now: `was` is for a former one, leave it out
    name: String,
    #[index(was = "a b")] //~ ERROR `a b` cannot be the name of a column
    c: String,
}

#[derive(Indexed, Deserialize)]
struct Part {
    #[index(was = "part")] //~ ERROR `part` is the column's name now: `was` is for a former one, leave it out
    part: String,
}

#[derive(ColumnValue, Serialize, Deserialize)]
#[serde(rename_all = "Train-Case")] //~ ERROR unknown rename rule `rename_all = "Train-Case"`
enum Mode {
    VeryFast,
    Slow,
}

fn main() {}
