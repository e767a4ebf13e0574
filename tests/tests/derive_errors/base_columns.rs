//! Columns and keys that every table has.

use ingester_core::{ColumnValue, Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", status = "WidgetStatus")] //~ ERROR column `update_time` is one of the columns that every table has: give this one another name with `column`; column `uid` is one
#[index(path = "metadata.creation_timestamp", column = "create_time")] //~ ERROR column `create_time` is one of the columns that every table has
struct WidgetSpec {
    #[index]
    name: String, //~ ERROR column `name` is one of the columns that every table has: give this one another name with `column`
    #[index(column = "Json")] //~ ERROR column `json` is one of the columns that every table has
    text: String,
    #[index(path = "id", column = "uid")] //~ ERROR column `uid` is one of the columns that every table has
    //~^ ERROR column `uid` is made by the status already
    owner: Owner,
    #[index(column = "res")] //~ ERROR column `res_version` is one of the columns that every table has
    resource: Resource,
    #[index(column = "namespace_name")] //~ ERROR key `namespace_name` is one of the keys that every table has
    full_name: String,
}

// In a struct that is part of another these names are allowed: they become `owner_name`.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Owner {
    id: String,
    #[index]
    name: String,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Resource {
    version: String,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct WidgetStatus {
    #[index]
    update_time: String,
    #[index(column = "uid")]
    id: String,
}

fn main() {}
