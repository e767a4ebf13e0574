//! Kinds whose fields, types and functions come from a user's macro.

#![deny(warnings)]

use ingester_core::{ColumnValue, Ingestable, Kind};
use serde::Deserialize;

macro_rules! projection {
    ($name:ident { $($field:ident: $ty:ty, $column:literal, $function:path;)* }) => {
        #[derive(Ingestable, Deserialize)]
        #[ingest(group = "", version = "v1", kind = "Widget", namespaced, plural = "widgets")]
        pub struct $name {
            $( #[index(column = $column, with = $function)] pub $field: $ty, )*
            #[index]
            pub of_the_macro: Pair,
        }

        #[derive(ColumnValue, Deserialize)]
        pub struct Pair {
            $( pub $field: $ty, )*
        }
    };
}

projection!(Widget {
    first: i64, "one", twice;
    this: i64, "other", twice;
});

fn twice(number: &i64) -> i64 {
    2 * number
}

fn main() {
    println!("{:?}", Kind::of::<Widget>());
}
