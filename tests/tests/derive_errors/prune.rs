//! Paths that cannot be pruned, which constant evaluation finds.

use ingester_core::Ingestable;
use serde::Deserialize;

// What is not stored may be nothing that is needed, and nothing that a column has.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Vault", namespaced, evictable = false)]
#[ingest(prune = [
    "token", //~ ERROR `token` cannot be pruned: write a path of names from the object inwards
    ".metadata.name", //~ ERROR `.metadata.name` cannot be pruned: the ingester needs apiVersion, kind and metadata
    ".owner", //~ ERROR `.owner` is pruned, so the value of column `owner` is stored nowhere: leave the column out, or the path out of `prune`
    ".data.token",
    ".data.token.inner", //~ ERROR `.data.token.inner` is pruned already with `.data.token`: leave it out
])]
#[serde(rename_all = "camelCase")]
struct Vault {
    #[index]
    owner: String,
}

fn main() {}
