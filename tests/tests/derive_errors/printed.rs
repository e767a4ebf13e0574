//! `header`, `wide`, `age` and `columns(...)`: how tables of objects print columns.

use ingester_core::wire::Time;
use ingester_core::{ColumnValue, Indexed, Ingestable};
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Job", namespaced)]
#[ingest(columns(phase, began, Phase))] //~ ERROR column `Phase` is named twice
struct Job {
    #[index(header = 1)] //~ ERROR `header` takes a string
    #[index(column = "other", wide)] //~ ERROR `wide` takes true or false: `wide = false` shows the column in every table
    #[index(column = "third", age)] //~ ERROR only a time has an age, and column `third` is none: leave `age` out
    phase: String,
    #[index(age, header = "Began", wide = false)]
    began: Option<Time>,
    #[index(many, header = "Names")] //~ ERROR `many` excludes `header`, `wide` and `age`: no table prints a column of many values
    names: Vec<String>,
    #[index(header = "Owner")] //~ ERROR `header` is for one column, and column `owner_name` is one of several that this value has
    owner: Owner,
    #[index(wide = true)]
    team: Team,
}

#[derive(ColumnValue, Deserialize, Default)]
struct Owner {
    name: String,
    namespace: String,
}

#[derive(Indexed, Deserialize, Default)]
#[serde(default)]
struct Team {
    #[index(header = "Lead")]
    lead: String,
    #[index(age)] //~ ERROR only a time has an age, and column `since` is none: leave `age` out
    since: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Task", namespaced)]
#[ingest(columns(state, name, tags))]
//~^ ERROR `state` is not a column of this kind: name columns of the kind
//~| ERROR `name` is not a column of this kind
//~| ERROR no table prints column `tags`, which has many values: leave it out
struct Task {
    #[index(many)]
    tags: Vec<String>,
    #[index]
    phase: String,
}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Run", namespaced)]
#[ingest(columns())] //~ ERROR `columns` takes the names of columns: `columns(owner, state)`
#[ingest(columns = "phase")] //~ ERROR `columns` takes the names of columns
struct Run {
    #[index]
    phase: Option<String>,
}

fn main() {}
