//! `key(...)`: keys over several columns.

use ingester_core::{Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", status = "WidgetStatus")]
#[ingest(key(colour))] //~ ERROR `key` takes two or more columns: `key(namespace, state)`
#[ingest(key())] //~ ERROR `key` takes two or more columns
#[ingest(key = "colour")] //~ ERROR `key` takes two or more columns
#[ingest(key(1, 2))] //~ ERROR `key` takes two or more columns
#[ingest(key("phase", "nothing"))] //~ ERROR `nothing` is not a column of this table
#[ingest(key(namespace, state))] //~ ERROR `state` is not a column of this table: a key names columns of the kind, and those that every table has
#[ingest(key(namespace, size, weight))]
//~^ ERROR `size` is not a column of this table
//~| ERROR `weight` is not a column of this table
#[ingest(key(colour, Colour))] //~ ERROR column `Colour` is in this key twice
#[ingest(key(namespace, text))] //~ ERROR column `text` cannot stand in a key, its type has no bounded length
#[ingest(key(uid, json))] //~ ERROR column `json` cannot stand in a key
#[ingest(key(summary, colour))] //~ ERROR this key takes 4092 bytes (4 a character), InnoDB allows 3072: use fewer or shorter columns
#[ingest(key(namespace, name))] //~ ERROR key `namespace_name` is there already
#[ingest(key(phase, colour))]
#[ingest(key(phase, colour))] //~ ERROR key `phase_colour` is there already: leave this one out, or give the column of that name another one
#[ingest(key(colour, phase))] //~ ERROR key `colour_phase` is there already
#[rustfmt::skip]
#[ingest(key(uid, group_ver, namespace, name, res_version, create_time, update_time, delete_time, evict_time,
    phase, colour, colour_phase, a, b, c, d, e))]
//~^^ ERROR this key has 17 columns, InnoDB allows 16: use fewer
struct WidgetSpec {
    #[index]
    colour: String,
    #[index(type = "VARCHAR(64)")]
    colour_phase: String,
    #[index(type = "VARCHAR(768)")]
    summary: String,
    #[index(type = "TEXT", key = false)]
    text: String,
    size: i32,
    #[index]
    a: bool,
    #[index]
    b: bool,
    #[index]
    c: bool,
    #[index]
    d: bool,
    #[index]
    e: bool,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct WidgetStatus {
    #[index(type = "VARCHAR(64)")]
    phase: String,
}

fn main() {}
