//! Paths that lead nowhere.

use ingester_core::{Indexed, Ingestable};
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
#[index(path = "metadata.deletionTimestamp", column = "deletion")] //~ ERROR there is no `deletionTimestamp` in the metadata: there are uid
#[index(path = "metadata.uid", column = "id", json = "metadata.uid")] //~ ERROR `json` is for the paths of fields: what the JSON calls the metadata is known
struct Widget {
    #[index(path = "nam")] //~ ERROR no field `nam` on type `&Owner`
    //~| NOTE a field with a similar name exists
    owner: Owner,
    #[index(path = "0", column = "zeroth")] //~ ERROR no field `0` on type `&Owner`
    zeroth: Owner,
    #[index(path = "address.street.number", column = "number")] //~ ERROR no field `number` on type
    maker: Option<Box<Owner>>,
    #[index(path = "keeper.name", column = "keeper_name")] //~ ERROR no field `keeper` on type `&Owner`
    // Without quotes each step has a place of its own, so that rustc may propose another one.
    #[index(path = keeper.name, column = "keeper_again")] //~ ERROR no field `keeper` on type `&Owner`
    //~| NOTE available fields are: `name`, `names`, `address`
    #[index(path = address.steet, column = "street")] //~ ERROR no field `steet` on type `&Address`
    //~| NOTE a field with a similar name exists
    keeper: Option<Owner>,
    #[index(path = "owner name")] //~ ERROR `owner name` is not a path: write Rust field names with dots between them, such as "owner.name"
    a: Owner,
    #[index(path = "")] //~ ERROR `` is not a path
    b: Owner,
    #[index(path = "address.")] //~ ERROR `address.` is not a path
    c: Owner,
    #[index(path = "names[0]")] //~ ERROR `names[0]` is not a path
    d: Owner,
    #[index(path = "names", column = "names")] //~ ERROR cannot be stored in a column
    e: Owner,
    #[index(path = "name", column = "first")] //~ ERROR no field `name` on type `&Vec<Owner>`
    all: Vec<Owner>,
    #[index(path = "private", column = "private")] //~ ERROR field `private` of struct `Closed` is private
    closed: elsewhere::Closed,
    #[index(path = "name", column = "called", json = "name.")] //~ ERROR `name.` is not a path in JSON: write its names with dots between them, such as "owner.displayName"
    f: Owner,
    #[index(json = "theColour")] //~ ERROR `json` says how the JSON calls the steps of `path`; what it calls the field itself is serde's to say, with `rename`
    colour: String,
    // Found despite the wrong paths above.
    #[index(column = "colour", type = "FLOAT")] //~ ERROR column `colour` is made by field `colour` already
    //~| ERROR `FLOAT` is not a column type
    shade: f64,
}

#[derive(Indexed, Deserialize)]
struct Skipping {
    #[serde(skip)]
    #[index] //~ ERROR serde never reads `cached` (`#[serde(skip)]`), so its column would have the default in every row
    cached: bool,
}

#[derive(Deserialize)]
struct Owner {
    name: String,
    names: Vec<String>,
    address: Option<Address>,
}

#[derive(Deserialize)]
struct Address {
    street: String,
}

mod elsewhere {
    #[derive(serde::Deserialize)]
    pub struct Closed {
        private: String,
    }
}

fn main() {}
