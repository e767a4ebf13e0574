//! A kind in two releases, of which the second has more columns, and a folder with the migrations of both.

use anyhow::Result;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_store::migrate::{Folder, GenerateOptions, ReleasedSchema};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::databases::Database;
use serde_json::{Value as Json, json};

/// The first release.
pub(crate) mod first {
    use ingester_core::{Ingestable, Kind};
    use kube::CustomResource;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
    #[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
    #[serde(rename_all = "camelCase", default)]
    pub struct JobSpec {
        #[index]
        pub queue: String,
    }

    pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
}

/// The second release.
pub(crate) mod second {
    use ingester_core::{Ingestable, Kind};
    use kube::CustomResource;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
    #[kube(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced, schema = "disabled")]
    #[serde(rename_all = "camelCase", default)]
    pub struct JobSpec {
        #[index]
        pub queue: String,
        #[index]
        pub owner: Option<String>,
        #[index]
        pub priority: i64,
    }

    pub const KINDS: &[Kind] = &[Kind::of::<Job>()];
}

/// The migrations of the second release.
pub(crate) const SECOND: [&str; 2] = ["0001_create_tables", "0002_add_owner"];

pub(crate) const FIRST_KIND: Kind = first::KINDS[0];
pub(crate) const SECOND_KIND: Kind = second::KINDS[0];

/// The migrations of both releases, and of the first alone.
pub(crate) struct Releases {
    pub(crate) root: tempfile::TempDir,
    pub(crate) first: ReleasedSchema,
    pub(crate) second: ReleasedSchema,
}

pub(crate) fn releases() -> Result<Releases> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(first::KINDS, &GenerateOptions::default())?;
    let first = folder.released()?;
    folder.generate(second::KINDS, &GenerateOptions { name: Some("add_owner"), ..GenerateOptions::default() })?;
    let second = folder.released()?;
    Ok(Releases { root, first, second })
}

pub(crate) async fn connect(database: &Database) -> Result<Store> {
    Ok(Store::connect(&database.url.parse()?, ConnectOptions::default()).await?)
}

/// Applies the migrations and returns the names of those that ran.
pub(crate) async fn apply(released: &ReleasedSchema, store: &Store) -> Result<Vec<String>> {
    Ok(released.apply(store, &mut |_| {}).await?.run)
}

pub(crate) fn job(number: usize, version: u64) -> Json {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Job",
        "metadata": {
            "namespace": "default",
            "name": format!("job-{number}"),
            "uid": format!("uid-{number:06}"),
            "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-03-09T20:36:46Z",
        },
        "spec": { "queue": "q", "owner": format!("owner-{number}-{version}"), "priority": number },
    })
}

/// The row of an object.
pub(crate) fn row(kind: &Kind, object: &Json) -> Row {
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    kind.row(&object).unwrap().unwrap()
}

/// Writes jobs with the columns of a release.
pub(crate) async fn write(store: &Store, kind: &Kind, jobs: impl IntoIterator<Item = Json>) -> Result<()> {
    let changes: Vec<RowChange> = jobs.into_iter().map(|job| RowChange::Row(row(kind, &job))).collect();
    let count = changes.len();
    let report = store.write(kind.table(), changes).await?;
    anyhow::ensure!(report.written == count, "{report:?}");
    Ok(())
}
