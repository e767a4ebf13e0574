//! A program without migrations in three releases: its tables follow the structs as far as that only adds.
//! `RELEASE=2 cargo run --example follows -- schema diff`

use ingester_core::Kind;
use std::process::ExitCode;

mod first {
    use ingester_core::Ingestable;
    use serde::Deserialize;

    #[derive(Ingestable, Deserialize)]
    #[ingest(group = "", version = "v1", kind = "Node")]
    pub(crate) struct Node {}
}

mod second {
    use ingester_core::Ingestable;
    use serde::Deserialize;

    #[derive(Ingestable, Deserialize, Default)]
    #[ingest(group = "", version = "v1", kind = "Node")]
    #[serde(default)]
    pub(crate) struct Node {
        #[index(column = "provider", path = "provider_id", json = "providerID")]
        spec: Spec,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(crate) struct Spec {
        #[serde(rename = "providerID")]
        provider_id: String,
    }
}

mod third {
    use ingester_core::Ingestable;
    use serde::Deserialize;

    #[derive(Ingestable, Deserialize, Default)]
    #[ingest(group = "", version = "v1", kind = "Node")]
    #[serde(default)]
    pub(crate) struct Node {
        #[index(column = "provider", with = length)]
        spec: Spec,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(crate) struct Spec {
        #[serde(rename = "providerID")]
        provider_id: String,
    }

    fn length(spec: &Spec) -> i64 {
        spec.provider_id.len() as i64
    }
}

const FIRST: &[Kind] = &[Kind::of::<first::Node>()];
const SECOND: &[Kind] = &[Kind::of::<second::Node>()];
const THIRD: &[Kind] = &[Kind::of::<third::Node>()];

fn main() -> ExitCode {
    ingester::main(match std::env::var("RELEASE").as_deref() {
        Ok("2") => SECOND,
        Ok("3") => THIRD,
        _ => FIRST,
    })
}
