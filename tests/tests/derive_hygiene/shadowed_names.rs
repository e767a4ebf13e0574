//! Names of the prelude, of crates and of the derives' own library that mean something else where the derives stand.

#![deny(warnings)]
#![allow(dead_code, non_camel_case_types, unused_macros, reason = "names that are in the way need no use")]

use ::ingester_core::{ColumnValue, Indexed, Ingestable, Kind};

// Of crates.
mod core {}
mod std {}
mod ingester_core {}
mod reexported {
    pub use ::ingester_core as renamed;
}

// Of the prelude.
enum Option {}
enum Result {}
struct Some;
struct None;
struct Ok;
struct Err;
struct Vec;
struct Box;
struct Cow;
struct Into;

// Of the library.
struct Field;
struct Column;
struct Key;
struct Table;
struct TableParts;
struct Definition;
struct Values;
struct Meta;
struct Probe;
struct Layout;
struct NoLayout;
struct NoStatus;
struct Shape;
struct Handle;
struct Dynamic;
struct Parts;
struct PartOf;
struct Scalar;
struct Literal;
struct Micros;

// Of primitive types, but for those that serde's derive would stumble over.
struct bool;
struct u32;

// Of methods and constants that the generated code uses, on every type.
trait InTheWay {
    const FIELDS: i32 = 0;
    const PARTS: i32 = 0;
    fn write(&self, _: i32) {}
    fn open(&self) {}
    fn named(&self) {}
    fn has_row(&self) {}
    fn of(&self) {}
    fn uid(&self) {}
    fn role(&self) {}
}
impl<T: ?Sized> InTheWay for T {}

macro_rules! base_handles {
    ($($tokens:tt)*) => {};
}
macro_rules! concat {
    ($($tokens:tt)*) => {};
}
macro_rules! panic {
    ($($tokens:tt)*) => {};
}

#[derive(Ingestable, serde::Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node", filter = is_ready, key(namespace, role))]
#[index(path = "metadata.deletion_timestamp", column = "deletion")]
#[index(path = "metadata.labels", column = "label_count", with = count)]
struct Node {
    #[index]
    role: ::std::string::String,
    #[index(column = "zone")]
    zone: ::std::option::Option<Place>,
    #[index(path = "name", column = "room_name")]
    room: ::std::option::Option<Nested>,
    #[index(with = shortened, column = "short")]
    long: ::std::option::Option<::std::string::String>,
    #[index]
    mode: Mode,
    #[index]
    nested: Nested,
}

#[derive(ColumnValue, serde::Deserialize)]
struct Place {
    name: ::std::string::String,
    number: i64,
}

#[derive(Indexed, serde::Deserialize)]
struct Nested {
    #[index(type = "VARCHAR(100)", was = "title", key = false)]
    name: ::std::string::String,
    place: Place,
}

#[derive(ColumnValue, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Some,
    None,
    Field,
}

#[derive(Ingestable, serde::Deserialize)]
#[ingest(group = "", version = "v1", kind = "Event", namespaced, crate = "reexported::renamed")]
struct Event {
    #[index]
    reason: ::std::string::String,
}

type Text = ::core::primitive::str;

fn is_ready(node: &Node) -> ::core::primitive::bool {
    !node.role.is_empty()
}

fn count(labels: &[(::std::boxed::Box<Text>, ::std::boxed::Box<Text>)]) -> i64 {
    labels.len() as i64
}

fn shortened(text: &::std::option::Option<::std::string::String>) -> ::std::option::Option<&Text> {
    text.as_deref()
}

const FIRST: &[Kind] = &[Kind::of::<Node>()];
const KINDS: &[Kind] = ::ingester_core::registry![FIRST, &[Kind::of::<Event>()]];
const SQL: ::ingester_core::GeneratedSql =
    ::ingester_core::generated_sql!("there-is-no-folder-yet", crate = "reexported::renamed");

fn main() {
    println!("{KINDS:?} {SQL:?}");
}
