//! `#[index]` on the struct: columns from the metadata.

use ingester_core::Ingestable;
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced)]
#[index(column = "deletion")] //~ ERROR `#[index]` on the struct needs a path into the metadata: `#[index(path = "metadata.deletion_timestamp", column = "...")]`
#[index(path = "metadata.creation_timestamp")] //~ ERROR `#[index]` on the struct needs a name: `column = "..."`
#[index]
//~^ ERROR `#[index]` on the struct needs a path into the metadata
//~| ERROR `#[index]` on the struct needs a name
#[index(path = "spec.size", column = "size")] //~ ERROR `#[index]` on the struct takes a column from the metadata: `path = "metadata.deletion_timestamp"`; put any other on its field
#[index(path = "metadata", column = "meta")] //~ ERROR `#[index]` on the struct takes a column from the metadata
#[index(path = "metadata.creation_timestamp", colum = "created")] //~ ERROR `#[index]` has no option `colum`: did you mean `column`?
#[index(path = "metadata.created", column = "created")] //~ ERROR there is no `created` in the metadata: there are uid, namespace, name, resource_version, creation_timestamp, deletion_timestamp, labels, annotations, finalizers, generation, owner_uid
#[index(path = "metadata.labels", column = "labels")] //~ ERROR `Arc<[(Box<str>, Box<str>)]>` cannot be stored in a column
#[index(path = "metadata.finalizers", column = "finalizers", with = count)] //~ ERROR mismatched types
#[index(path = "metadata.uid", column = "id", type = "INT")] //~ ERROR `type` on `id` does not fit the field
#[index(path = "metadata.uid", column = "the id")] //~ ERROR `the id` cannot be the name of a column
#[index(path = "metadata.uid", column = "owner", was = "owner")] //~ ERROR `owner` is the column's name now: `was` is for a former one, leave it out
#[index(path = "metadata.uid", column = "text", type = "TEXT")] //~ ERROR column `text` cannot have a key
struct Widget {}

fn count(names: &[String]) -> i64 {
    names.len() as i64
}

fn main() {}
