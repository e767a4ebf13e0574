//! Rust that README.md and the pages of `docs/` show in part: here it compiles and means what they say. `tests/tests/documents.rs` compares its lines
//! with theirs.

#![allow(unreachable_pub, reason = "the pages show public structs")]

use crd_specs::common::{ResourceIdentifier, UserInfo};
use futures::TryStreamExt as _;
use ingester_core::schema::BASE_COLUMNS;
use ingester_core::wire::Timestamp;
use ingester_core::{Indexed, Ingestable, Kind};
use ingester_store::Store;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[rustfmt::skip]
mod readme {
    use super::*;

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "michelangelo.api", version = "v2", kind = "Model", plural = "models", namespaced, status = "ModelStatus")]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSpec {
    #[index]
    pub algorithm: String,
    #[index(path = "name")]
    pub owner: Option<UserInfo>,
    #[index(column = "src_pipeline_run")]
    pub source_pipeline_run: Option<ResourceIdentifier>,
}

    #[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    pub struct ModelStatus {}
}

#[rustfmt::skip]
mod rules {
    use super::*;

    #[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced, status = "RunStatus")]
#[ingest(history = "90d", versions = 500)]
#[ingest(evict(
    name = "finished",
    when(field_selector = "status.state=Succeeded", label_selector = "tier!=gold"),
    after = "7d",
    since = "status.endTime",
    keep_last(count = 3, by = ["spec.pipeline.name"]),
    namespaces = ["ml"],
    namespace_selector = "tier=batch",
))]
    #[serde(rename_all = "camelCase", default)]
    pub struct RunSpec {
        #[index]
        pub pipeline: Option<ResourceIdentifier>,
    }

    #[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct RunStatus {
        #[index]
        pub state: String,
        #[index]
        pub end_time: Option<Timestamp>,
    }
}

#[rustfmt::skip]
mod values {
    use super::*;

    #[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "example.com", version = "v1", kind = "Task", plural = "tasks", namespaced)]
#[ingest(history = "90d")]
#[ingest(filter = is_big, revision = 2)]
    #[serde(default)]
    pub struct TaskSpec {
#[index(path = "name", with = short, revision = 2)]
        pub owner: UserInfo,
#[index(path = "started", column = "start_time", keep)]
#[index(path = "node", column = "first_node", first)]
        pub seen: Seen,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[serde(default)]
    pub struct Seen {
        pub started: Option<Timestamp>,
        pub node: Option<String>,
    }

    fn short(name: &str) -> String {
        name.chars().take(8).collect()
    }

    fn is_big(task: &TaskSpec) -> bool {
        task.seen.node.is_some()
    }
}

/// The names of a kind's own columns, behind those that every kind has.
fn columns(kind: &Kind) -> Vec<String> {
    let all = kind.table().columns;
    all[BASE_COLUMNS.len()..].iter().map(|column| column.name.to_string()).collect()
}

#[test]
fn structs_of_the_pages_have_the_columns_and_rules_that_the_pages_say() {
    let model = Kind::of::<readme::Model>();
    assert_eq!(columns(&model), ["algorithm", "owner", "src_pipeline_run_namespace", "src_pipeline_run_name"]);
    let keys = model.table().keys;
    assert!(keys.iter().any(|key| key.name.as_str() == "algorithm"), "{keys:?}");
    let run = Kind::of::<rules::Run>();
    assert_eq!(run.evict().iter().map(|rule| rule.name).collect::<Vec<_>>(), ["finished"]);
    assert_eq!(columns(&Kind::of::<values::Task>()), ["owner", "start_time", "first_node"]);
}

/// As docs/changes.md has it; `changes.rs` tests what it gives.
#[allow(dead_code, clippy::print_stdout, reason = "it only has to compile")]
#[rustfmt::skip]
async fn changes_of_the_page(store: &Store) -> anyhow::Result<()> {
    use readme::Model;
let table = Kind::of::<Model>().table();
let from = store.number_changes(table).await?;
let mut changes = std::pin::pin!(store.follow_changes(table, from));
while let Some(change) = changes.try_next().await? {
    println!("{} {:?}", change.name, change.what);
}
    Ok(())
}
