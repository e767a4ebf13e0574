//! Fields, variants and whole types that are deprecated. Their own derives must not warn about the use.

#![deny(warnings)]

use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::Deserialize;

#[derive(Ingestable, Deserialize, Debug)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
pub struct Widget {
    #[deprecated]
    #[index]
    pub colour: String,
    #[deprecated]
    #[index(path = "name", column = "owner")]
    pub owner: Option<Owner>,
    #[deprecated]
    #[index(with = length, column = "length")]
    pub text: String,
    #[index(path = "former", column = "former")]
    pub maker: Owner,
    #[index]
    pub place: Place,
}

#[derive(Indexed, Deserialize, Debug)]
pub struct Owner {
    #[index]
    pub name: String,
    #[deprecated]
    #[index(column = "was")]
    pub former: String,
}

#[derive(ColumnValue, Deserialize, Debug)]
pub struct Place {
    #[deprecated]
    pub street: String,
}

#[derive(ColumnValue, Deserialize, Debug)]
pub enum Mode {
    Fast,
    #[deprecated]
    Slow,
}

#[deprecated]
#[derive(Ingestable, Deserialize, Debug)]
#[ingest(group = "", version = "v1", kind = "Gadget", namespaced)]
#[index(path = "metadata.uid", column = "id")]
pub struct Gadget {
    #[index]
    pub number: i64,
    #[index(path = "name", column = "owner")]
    pub owner: Option<Owner>,
}

#[deprecated]
#[derive(ColumnValue, Deserialize, Debug)]
pub enum State {
    Old,
}

#[deprecated]
#[derive(Indexed, Deserialize, Debug)]
pub struct Part {
    #[index]
    pub number: i64,
}

fn length(text: &str) -> u32 {
    text.len() as u32
}

fn main() {}
