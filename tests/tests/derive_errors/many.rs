//! Columns of many values that cannot be.

use ingester_core::{Indexed, Ingestable, Kind, registry};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
struct Widget {
    #[index(many, keep)] //~ ERROR `many` excludes `keep` and `first`: which of many values would stay is not defined
    a: Vec<String>,
    #[index(many, first)] //~ ERROR `many` excludes `keep` and `first`
    b: Vec<String>,
    #[index(many, key = false)] //~ ERROR `many` and `key` exclude each other: the table of the values is there for its keys
    c: Vec<String>,
    #[index(many = "yes")] //~ ERROR `many` is a switch: write it alone
    d: Vec<String>,
    #[index(many)]
    e: String,
    //~^ ERROR `String` is neither a list nor a map of values
    //~| NOTE make one with `#[index(many, with = function)]`, or leave `many` out for a single value
    #[index]
    f: Vec<String>,
    //~^ ERROR `Vec<String>` cannot be stored in a column
    //~| NOTE take all values of a list or a map, in a table of their own, with `#[index(many)]`
    #[index(many)]
    g: Vec<Part>,
    //~^ ERROR `Part` cannot be stored in a column
    #[index(many, with = first)] //~ ERROR `String` is neither a list nor a map of values
    h: Vec<String>,
    #[index(many)]
    i: BTreeMap<i32, String>, //~ ERROR the trait bound `i32: ManyKey` is not satisfied
}

fn first(list: &Vec<String>) -> Option<String> {
    list.first().cloned()
}

#[derive(Deserialize)]
struct Part {
    name: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Gadget", namespaced, key(name, tags))] //~ ERROR column `tags` cannot stand in a key: its many values are in a table of their own
struct Gadget {
    #[index(many)]
    tags: Vec<String>,
    #[index(many, type = "VARCHAR(705)")] //~ ERROR column `long` of many values: their key takes 3076 bytes (4 a character), InnoDB allows 3072: set `type` to a shorter one (VARCHAR(704) is the longest)
    long: Vec<String>,
    #[index(many, type = "VARCHAR(704)")]
    fits: Vec<String>,
    #[index(many, type = "VARCHAR(452)")] //~ ERROR set `type` to a shorter one (VARCHAR(451) is the longest)
    long_of_map: BTreeMap<String, String>,
    #[index(many, type = "VARCHAR(451)")]
    fits_of_map: BTreeMap<String, String>,
    #[index(many, type = "TEXT")] //~ ERROR column `text` of many values: they are in a key, and their type has no bounded length: set `type` to VARCHAR(n)
    text: Vec<String>,
    #[index(many, type = "INT")] //~ ERROR `type` on `wrong` does not fit the field
    wrong: Vec<String>,
    #[index(many)]
    ratios: Vec<f64>, //~ ERROR column `ratios` of many values: they may be texts, integers or times
    #[index(many)]
    nested: Vec<Both>, //~ ERROR column `nested` of many values: each of them is several columns
    #[index(many, was = "tags")] //~ ERROR `tags` is the name of another column now
    was: Vec<String>,
    #[index(column = "twice")]
    one: String,
    #[index(many, column = "twice")] //~ ERROR column `twice` is made by field `one` already
    two: Vec<String>,
    #[index(many)]
    uid: Vec<String>, //~ ERROR column `uid` is one of the columns that every table has
}

#[derive(Indexed, Deserialize)]
struct Both {
    #[index]
    a: String,
    #[index]
    b: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Labelled", namespaced)] //~ ERROR column `labels` of many values would have the table of the object's labels: give it another name with `column`
struct Labelled {
    #[index(many)]
    labels: BTreeMap<String, String>,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Long", namespaced, table = "a_table_with_a_name_of_almost_fifty_bytes")] //~ ERROR column `and_a_column` of many values has the table `a_table_with_a_name_of_almost_fifty_bytes_and_a_column`, a name of 54 bytes, and it may have 52: give a shorter one with `column` or `table`
struct Long {
    #[index(many)]
    and_a_column: Vec<String>,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Ingester", namespaced, table = "ingester")] //~ ERROR column `rejects` of many values has the table `ingester_rejects`, which is one of the ingester's own
struct Ingester {
    #[index(many)]
    rejects: Vec<String>,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Job", namespaced)]
struct Job {
    #[index(many)]
    run_ids: Vec<String>,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "JobRunIds", namespaced, table = "job_run_ids")]
struct JobRunIds {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "JobRun", namespaced, table = "job_run")]
struct JobRun {
    #[index(many)]
    ids: Vec<String>,
}

const TABLE: &[Kind] = registry![&[Kind::of::<JobRunIds>(), Kind::of::<Job>()]];
//~^ ERROR the table of kind `v1 JobRunIds`, `job_run_ids`, is the one for the values of column `run_ids` of kind `v1 Job`

const COMPANIONS: &[Kind] = registry![&[Kind::of::<Job>(), Kind::of::<JobRun>()]];
//~^ ERROR a table of many values of kind `v1 Job`, `job_run_ids`, is the one for the values of column `ids` of kind `v1 JobRun`

fn main() {
    println!("{TABLE:?} {COMPANIONS:?}");
}
