//! Lints that a user may have switched on, which must not apply to generated code.

#![deny(warnings)]
// Lints that serde's derive switches off for itself, which it could not do if they were forbidden.
#![deny(non_upper_case_globals, unused_extern_crates, unused_qualifications)]
#![forbid(
    ambiguous_glob_reexports,
    dead_code,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    impl_trait_redundant_captures,
    let_underscore_drop,
    missing_debug_implementations,
    missing_docs,
    non_snake_case,
    private_bounds,
    private_interfaces,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unnameable_types,
    unreachable_pub,
    unsafe_code,
    unused_import_braces,
    unused_imports,
    unused_lifetimes,
    unused_results,
    unused_variables,
    variant_size_differences
)]

use ingester_core::protobuf::DescriptorSet;
use ingester_core::{ColumnValue, Indexed, Ingestable, Kind};
use serde::Deserialize;

/// A user's messages, which are not read here.
static DESCRIPTORS: DescriptorSet = DescriptorSet::new(b"");

#[derive(Ingestable, Deserialize, Debug)]
#[ingest(group = "example.com", version = "v1", kind = "Widget", namespaced, immutable)]
#[ingest(table = "widgets", was = "gadgets", key(namespace, size), protobuf = "example.v1.Widget")]
#[index(path = "metadata.creation_timestamp", column = "created", key = false)]
struct Widget {
    #[index(column = "size")]
    größe: i32,
    #[index(path = "name", column = "owner", type = "VARCHAR(100)")]
    owner: Option<Owner>,
    #[index(path = "place.street", column = "street", with = shortened)]
    #[index]
    keeper: Option<Option<Owner>>,
    #[index]
    r#type: Mode,
    #[index(with = text::length, column = "length")]
    text: String,
}

#[derive(Indexed, Deserialize, Debug)]
struct Owner {
    name: String,
    #[index]
    place: Place,
}

#[derive(ColumnValue, Deserialize, Debug)]
struct Place {
    street: String,
    number: Option<u32>,
}

#[derive(ColumnValue, Deserialize, Debug)]
enum Mode {
    Fast,
    r#Slow,
}

/// No columns at all.
#[derive(Ingestable, Deserialize, Debug)]
#[ingest(group = "", version = "v1", kind = "Node")]
struct Node {}

mod text {
    pub(super) fn length(text: &str) -> u32 {
        text.len() as u32
    }
}

fn shortened(street: &str) -> &str {
    street.split(' ').next().unwrap_or_default()
}

fn main() {
    const KINDS: &[Kind] = ingester_core::registry![&[Kind::of::<Widget>()], &[Kind::of::<Node>()]];
    println!("{KINDS:?}");
}
