//! What InnoDB does not allow: keys and rows that are too long, or too many. What is not a duration that rows are kept.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
struct Widget {
    #[index(type = "VARCHAR(800)")] //~ ERROR the key on `description` takes 3200 bytes (4 a character), InnoDB allows 3072: set `type` to a shorter one (VARCHAR(768) is the longest), or `key` to false
    description: String,
    #[index(type = "VARCHAR(768)")]
    summary: String,
    #[index(type = "VARCHAR(800)", key = false)]
    details: String,
    #[index(type = "TEXT")] //~ ERROR column `text` cannot have a key, its type has no bounded length: set `type` to VARCHAR(n), or `key` to false
    text: String,
    #[index(type = "mediumtext")] //~ ERROR column `more` cannot have a key
    more: String,
    #[index(type = "MEDIUMTEXT", key = false)]
    most: String,
    #[index]
    place: Place, //~ ERROR the key on `place` takes 4096 bytes (4 a character), InnoDB allows 3072: set shorter types on the fields of the composite, or `key` to false
    #[index(column = "former_place", key = false)]
    before: Place,
    #[index]
    story: Story, //~ ERROR column `story_text` cannot have a key
    #[index]
    many: Many, //~ ERROR the key on `many` has 17 columns, InnoDB allows 16: set `key` to false here or on fields of the composite
    // Reported only in the struct below.
    #[index]
    nested: Nested,
}

#[derive(ColumnValue, Deserialize)]
struct Place {
    #[index(type = "VARCHAR(512)")]
    town: String,
    #[index(type = "VARCHAR(512)")]
    street: String,
}

#[derive(ColumnValue, Deserialize)]
struct Story {
    title: String,
    #[index(type = "TEXT")]
    text: String,
}

#[derive(ColumnValue, Deserialize)]
#[rustfmt::skip]
struct Many {
    a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, g: i32, h: i32,
    i: i32, j: i32, k: i32, l: i32, m: i32, n: i32, o: i32, p: i32, q: i32,
}

#[derive(Indexed, Deserialize)]
struct Nested {
    #[index(type = "VARCHAR(769)")] //~ ERROR the key on `text` takes 3076 bytes
    text: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Long", namespaced, table = "long")] //~ ERROR a row of table `long` takes up to 6
struct Long {
    #[index(type = "VARCHAR(8000)", key = false)]
    a: String,
    #[index(type = "VARCHAR(7700)", key = false)]
    b: String,
}

// 61 keys, besides the 5 that every table has.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Keyed", namespaced)] //~ ERROR table `keyed` has 67 keys, InnoDB allows 64: set `key` to false on columns that are not searched alone
struct Keyed {
    #[index]
    one: Twenty,
    #[index]
    two: Twenty,
    #[index]
    three: Twenty,
    #[index]
    last: i32,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Kept", namespaced, retention = "90")] //~ ERROR `retention` is how long after its object's deletion a row is kept: a duration such as `10s`, `1h30m` or `90d`, from `1s` to `36500d`
struct Kept {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Former", namespaced, history = "always")] //~ ERROR `history` is how long former versions are kept, `forever` or a duration such as `10s`, `1h30m` or `90d`, from `1s` to `36500d`
struct Former {}

#[derive(Indexed, Deserialize)]
#[rustfmt::skip]
struct Twenty {
    #[index] a: i32, #[index] b: i32, #[index] c: i32, #[index] d: i32, #[index] e: i32,
    #[index] f: i32, #[index] g: i32, #[index] h: i32, #[index] i: i32, #[index] j: i32,
    #[index] k: i32, #[index] l: i32, #[index] m: i32, #[index] n: i32, #[index] o: i32,
    #[index] p: i32, #[index] q: i32, #[index] r: i32, #[index] s: i32, #[index] t: i32,
}

fn main() {}
