//! A custom resource with a status, a kind in a function, and a program that has no generated SQL yet.

#![deny(warnings)]

use ingester_core::GeneratedSql;
use ingester_core::{Indexed, Ingestable, Kind};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", root = "WidgetObject", status = "status::WidgetStatus")]
#[ingest(key(namespace, phase), filter = "WidgetSpec::is_big")]
#[index(path = "metadata.uid", column = "id", type = "VARCHAR(36)")]
pub struct WidgetSpec {
    #[index]
    pub size: i64,
}

impl WidgetSpec {
    fn is_big(&self) -> bool {
        self.size > 7
    }
}

mod status {
    use super::*;

    #[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
    pub struct WidgetStatus {
        #[index]
        pub phase: String,
    }
}

fn in_a_function() -> &'static [Kind] {
    #[derive(Ingestable, Deserialize)]
    #[ingest(group = "", version = "v1", kind = "Node")]
    struct Node {
        #[index(with = local)]
        role: String,
    }

    fn local(text: &str) -> &str {
        text
    }

    const { &[Kind::of::<Node>(), Kind::of::<WidgetObject>()] }
}

const SQL: GeneratedSql = ingester_core::generated_sql!("there-is-no-folder-yet");

fn main() {
    println!("{:?} {SQL:?}", in_a_function());
}
