//! Kinds that cannot be in one registry.

use ingester_core::{Ingestable, Kind, registry};
use serde::Deserialize;

// A constant, which is only evaluated where the rest of the crate is right.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Event", namespaced, protobuf = "example.v1.Event")] //~ ERROR the crate's root has no static `DESCRIPTORS` for this message: say where it is described with `descriptors = path`
struct Event {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "ConfigMap", namespaced, table = "things")]
struct ConfigMap {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Secret", namespaced, table = "things")]
struct Secret {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Widget", namespaced)]
struct Widget {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v2", kind = "Widget", namespaced, table = "widget_v2")]
struct WidgetV2 {}

#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "WidgetLabels", namespaced, table = "widget_labels")]
struct WidgetLabels {}

const ONE_TABLE: &[Kind] = registry![&[Kind::of::<ConfigMap>(), Kind::of::<Secret>()]];
//~^ ERROR kinds `v1 ConfigMap` and `v1 Secret` have one table, `things`: give one of them another name with `#[ingest(table = "...")]`

const ONE_KIND: &[Kind] = registry![&[Kind::of::<Widget>()], &[Kind::of::<WidgetV2>()]];
//~^ ERROR one kind is in the registry twice, as `example.com/v1 Widget` and as `example.com/v2 Widget`

const COMPANION: &[Kind] = registry![&[Kind::of::<WidgetLabels>(), Kind::of::<Widget>()]];
//~^ ERROR the table of kind `example.com/v1 WidgetLabels`, `widget_labels`, is the one for labels or annotations of kind `example.com/v1 Widget`

fn main() {
    println!("{ONE_TABLE:?} {ONE_KIND:?} {COMPANION:?}");
}
