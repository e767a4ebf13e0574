//! The expansions of the derives, formatted, below the items that they stand on: `snapshots/`, for people to read. A
//! change of the expansion shows there in its review; `INSTA_UPDATE=always cargo test -p ingester-macros` writes it.

use crate::ast::Derive;
use syn::DeriveInput;

/// Compares an item and its expansion with the snapshot of that name.
macro_rules! expands {
    ($name:ident, $derive:ident, $item:literal) => {
        #[test]
        fn $name() {
            let settings = {
                let mut settings = insta::Settings::new();
                settings.set_prepend_module_to_snapshot(false);
                settings.set_omit_expression(true);
                settings
            };
            settings.bind(|| {
                insta::assert_snapshot!(stringify!($name), item_and_expansion(Derive::$derive, $item));
            });
        }
    };
}

fn item_and_expansion(derive: Derive, item: &str) -> String {
    let item = item.trim();
    let parsed: DeriveInput = syn::parse_str(item).expect("an item");
    let expansion = crate::expansion(derive, &parsed);
    let expansion = prettyplease::unparse(&syn::parse2(expansion).expect("code"));
    format!("{item}\n\n// expands to\n\n{expansion}")
}

expands!(
    custom_resource,
    Ingestable,
    r#"
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
    pub description: String,
}
"#
);

expands!(
    custom_resource_without_status_or_columns,
    Ingestable,
    r#"
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget")]
pub struct WidgetSpec {
    pub colour: String,
}
"#
);

expands!(
    projection,
    Ingestable,
    r#"
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced, filter = has_owner)]
#[index(column = "ready", with = is_ready)]
#[index(column = "restarts", with = Pod::restarts, json = "status.containerStatuses", first)]
pub struct Pod {
    #[index(column = "owner_uid", with = owner_uid)]
    pub metadata: PodMetadata,
    #[index(column = "node", path = "node_name")]
    #[index(column = "image", with = first_image)]
    pub spec: PodSpec,
}
"#
);

expands!(
    every_option,
    Ingestable,
    r#"
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", root = "WidgetObject", status = WidgetStatus)]
#[ingest(table = "widgets", was = "gadget", immutable, finalizer = "existing", companions = false, retention = "90d", history = "30d", versions = 500, crate = "crate::reexported::ingester_core")]
#[ingest(protobuf = "example.v1.Widget", descriptors = messages::DESCRIPTORS)]
#[ingest(key(namespace, state), key(colour, deletion, size), columns(size, "colour"), filter = is_big, evictable = true)]
#[index(path = "metadata.deletion_timestamp", column = "deletion", was = "deleted", key = false, age)]
#[index(path = "metadata.labels", column = "label_count", with = count, type = "BIGINT")]
pub struct WidgetSpec {
    #[index(column = "colour", type = "VARCHAR(64)", was = "color", key = false, header = "Colour", wide = false)]
    pub shade: String,
    #[index(path = "address.zip_code", json = "address.ZIP", column = "zip")]
    #[index(path = "address.street", with = shorten, column = "street", type = "VARCHAR(100)", was = "road")]
    pub owner: Option<Owner>,
    #[index(keep)]
    #[index(column = "size_again", first)]
    pub size: Option<i64>,
    #[deprecated]
    #[index(with = "states::name")]
    pub state: State,
}
"#
);

expands!(
    absent_and_units,
    Ingestable,
    r#"
#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Volume", namespaced, absent = "null")]
pub struct Volume {
    #[index(path = "size", unit = "whole")]
    #[index(path = "speed", unit = "milli", absent = "empty")]
    pub spec: VolumeSpec,
    #[index(unit = "milli")]
    pub cpu: Quantity,
}
"#
);

expands!(
    evictions,
    Ingestable,
    r#"
#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Run", namespaced)]
#[ingest(evict(
    name = "finished",
    when(field_selector = "state=Succeeded", label_selector = "tier!=gold"),
    after = "7d",
    since = "end_time",
    keep_last(count = 3, by = ["owner", "namespace"]),
    namespaces = ["ml", "ads"],
    namespace_selector = "tier=batch",
))]
#[ingest(evict(name = "old", after = "1y"))]
pub struct Run {}
"#
);

expands!(
    status,
    Indexed,
    r#"
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelStatus {
    #[index]
    pub phase: Phase,
    #[index(path = "time", column = "ready_time")]
    pub ready: Option<Condition>,
    pub message: String,
}
"#
);

expands!(
    composite,
    ColumnValue,
    r#"
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
pub struct ResourceIdentifier {
    pub namespace: String,
    #[index(column = "title", type = "VARCHAR(128)", was = "label")]
    pub name: String,
    #[index(key = false)]
    pub r#type: Option<String>,
    #[serde(rename = "app/version")]
    pub version: String,
    #[serde(skip)]
    pub cached: bool,
}
"#
);

expands!(
    unit_enum,
    ColumnValue,
    r#"
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Copy, Debug)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    Pending,
    InProgress,
    #[serde(rename = "DONE")]
    Succeeded,
    #[deprecated]
    Lost,
}
"#
);

expands!(
    refused_kind,
    Ingestable,
    r#"
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget")]
pub enum WidgetSpec {
    Round,
    Square,
}
"#
);

expands!(
    refused_value,
    ColumnValue,
    r#"
#[derive(ColumnValue, Deserialize)]
pub struct Pair<T>(T, T);
"#
);

expands!(
    option_that_cannot_be_read,
    Ingestable,
    r#"
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Node", tabel = "nodes")]
pub struct Node {
    #[index(colum = "x")]
    pub name: String,
    #[index]
    pub ready: bool,
}
"#
);

expands!(
    many_values,
    Ingestable,
    r#"
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced)]
#[index(column = "images", many, with = Pod::images)]
#[index(path = "metadata.finalizers", column = "finalizers", many)]
pub struct Pod {
    #[index(path = "node_selector", many, type = "VARCHAR(63)")]
    #[index(column = "claims", path = "volumes", many, with = claims, was = "volumes")]
    pub spec: PodSpec,
}
"#
);
