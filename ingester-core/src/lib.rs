//! The engine of the ingester: one annotated struct per Kubernetes kind gives its tables, its rows and its CRD.
//!
//! ```
//! use ingester_core::{Ingestable, Kind};
//! use kube::CustomResource;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! /// Desired state of a [`Widget`].
//! #[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
//! #[kube(group = "example.com", version = "v1", kind = "Widget", namespaced)]
//! #[serde(rename_all = "camelCase", default)]
//! pub struct WidgetSpec {
//!     #[index]
//!     pub colour: String,
//!     pub size: i32,
//! }
//!
//! const KINDS: &[Kind] = &[Kind::of::<Widget>()];
//! assert_eq!(KINDS[0].table().name.as_str(), "widget");
//! assert_eq!(KINDS[0].table().indexed()[0].name.as_str(), "colour");
//! ```
//!
//! Rooms, from the bottom up: [`schema`], [`value`] and [`json`] are pure data and functions; [`object`], [`wire`] and
//! [`kind`] turn an object's JSON into a row; [`documents`] splits files into objects; [`dialect`] is the only place that knows SQL text;
//! [`store`] runs it; [`config`] says where and how.

pub mod audit;
pub mod config;
pub mod ddl;
pub mod dialect;
pub mod documents;
pub mod events;
#[cfg(test)]
mod fixture;
pub mod health;
pub mod import;
pub mod json;
pub mod kind;
pub mod metrics;
pub mod migrate;
mod nearest;
pub mod object;
pub mod protobuf;
mod registry;
pub mod schema;
pub mod store;
pub mod sync;
pub mod value;
pub mod wire;
pub mod yaml;

pub use ingester_macros::{ColumnValue, Indexed, Ingestable, generated_sql};
pub use kind::{Indexed, Ingestable, Kind};
pub use value::ColumnValue;

/// What the derives' code refers to. Not for anybody else: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::kind::derived::{FieldsOf, NoFields, NoStatus, RowSource};
    pub use crate::kind::{Definition, Indexed, Ingestable, Kind, Protobuf};
    pub use crate::migrate::GeneratedSql;
    pub use crate::object::Meta;
    pub use crate::registry::{count_kinds, join_registries};
    pub use crate::schema::{
        Column, Field, Key, Part, Shape, SqlType, Table, TableParts, check_apart, check_base, check_base_of_status,
        check_column_count, check_composite_key, check_key, check_key_column, check_key_count, check_name,
        check_row_size, check_table_name, check_type, check_was,
    };
    pub use crate::value::derived::{Layout, NoLayout, Probe, named, shape_of};
    pub use crate::value::{ColumnValue, Values};
    pub use {schemars, serde};
}
