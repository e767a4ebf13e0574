//! SQL types that do not exist or do not fit, and Rust types that no column can hold.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
struct Widget {
    #[index(type = "VARCHAR")] //~ ERROR `VARCHAR` is not a column type: use VARCHAR(n), TEXT, MEDIUMTEXT, BOOLEAN, INT, BIGINT, BIGINT UNSIGNED, DOUBLE or DATETIME(6)
    a: String,
    #[index(type = "VARCHAR(20000)")] //~ ERROR `VARCHAR(20000)` is not a column type
    b: String,
    #[index(type = "INT")] //~ ERROR `type` on `c` does not fit the field: a text column holds text, an integer column integers, and so on; convert with `with = function`
    c: String,
    #[index(column = "text", type = "TEXT")] //~ ERROR `type` on `text` does not fit the field
    //~^ ERROR column `text` cannot have a key
    d: Option<bool>,
    #[index(type = "VARCHAR(64)")] //~ ERROR `type` on `pair`, which is several columns: give the type on the fields of the composite
    pair: Pair,
    #[index]
    tags: Vec<String>, //~ ERROR `Vec<String>` cannot be stored in a column
    //~| NOTE no SQL type is known for `Vec<String>`
    //~| NOTE pick a field of it with `#[index(path = "...")]`, convert it with `#[index(with = function)]`
    //~| NOTE or derive for it, when it is yours, `ColumnValue` (a unit enum, or a struct all of whose fields are columns) or `Indexed`
    //~| NOTE a time is `ingester_core::wire::Time`, a duration `wire::Duration`
    #[index(column = "map", key = false)]
    labels: Option<BTreeMap<String, String>>, //~ ERROR `BTreeMap<String, String>` cannot be stored in a column
    #[index(type = "TEXT")]
    plain: Plain, //~ ERROR `Plain` cannot be stored in a column
    // Found although a type above has no columns: one mistake must not hide another.
    #[index(column = "pair")]
    other: Pair,
    //~^^ ERROR column `pair_a` is made by field `pair` already
    #[index]
    letter: char, //~ ERROR `char` cannot be stored in a column
}

#[derive(Deserialize)]
struct Plain {}

#[derive(ColumnValue, Deserialize)]
struct Pair {
    a: String,
    #[index(type = "DOUBLE")] //~ ERROR `type` on `b` does not fit the field
    b: i64,
}

#[derive(ColumnValue, Deserialize)]
struct Lists {
    a: Vec<u8>, //~ ERROR `Vec<u8>` cannot be stored in a column
    b: (), //~ ERROR `()` cannot be stored in a column
}

#[derive(Indexed, Deserialize)]
struct Part {
    #[index]
    a: [u8; 4], //~ ERROR `[u8; 4]` cannot be stored in a column
    #[index]
    b: Missing, //~ ERROR cannot find type `Missing` in this scope
}

fn main() {}
