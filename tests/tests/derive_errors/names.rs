//! Names that are not identifiers.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
#[ingest(table = "widgets_of_a_kind_that_has_a_name_with_many_letters_x")] //~ ERROR table `widgets_of_a_kind_that_has_a_name_with_many_letters_x` has 53 bytes and may have 51, as `_annotations` is added
struct Widget {
    #[index(column = "first name")] //~ ERROR `first name` cannot be the name of a column: use letters and digits of ASCII and underscores in `column`
    name: String,
    #[index]
    größe: i32, //~ ERROR `größe` cannot be the name of a column
    #[index(column = "")] //~ ERROR the name of the column is empty: give one with `column`
    shade: String,
    #[index(column = "a_name_that_is_one_byte_longer_than_what_every_database_can_take_")] //~ ERROR has 65 bytes, an identifier may have 63 (on PostgreSQL): give a shorter name with `column`
    long: String,
    // 60 bytes, and with `_space` 66.
    #[index(column = "a_name_that_would_do_for_one_column_but_not_for_a_composite_")] //~ ERROR column `a_name_that_would_do_for_one_column_but_not_for_a_composite__space` has 66 bytes
    pair: Pair,
    #[index(column = "")] //~ ERROR a key over the columns of a composite is named by `column`, which is empty: give a name, or set `key` to false
    //~^ ERROR key `` is made by field `shade` already
    //~| ERROR column `namespace` is one of the columns that every table has
    nameless: Pair,
    #[index(was = "last name")] //~ ERROR `last name` cannot be the name of a column: use letters and digits of ASCII and underscores in `was`
    last_name: String,
    // Reported only in the structs below.
    #[index]
    wrong: Wrong,
    #[index]
    parts: Parts,
}

#[derive(ColumnValue, Deserialize)]
struct Pair {
    space: String,
    namespace: String,
}

#[derive(ColumnValue, Deserialize)]
struct Wrong {
    #[index(column = "a.b")] //~ ERROR `a.b` cannot be the name of a column
    ab: String,
    fine: String,
}

#[derive(Indexed, Deserialize)]
struct Parts {
    #[index(column = "one_byte_longer_than_what_every_database_can_take_in_a_name_is_65")] //~ ERROR has 65 bytes, an identifier may have 63
    long: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Gadget", namespaced, table = "drop table")] //~ ERROR `drop table` cannot be the name of a table: use letters and digits of ASCII and underscores in `table`
struct Gadget {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Kind that cannot be", namespaced, plural = "gizmos")] //~ ERROR `kind that cannot be` cannot be the name of a table
struct Gizmo {}

fn main() {}
