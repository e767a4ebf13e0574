//! Everything that a crate of annotated structs needs: the derives, and the code that follows from a struct without any input or output.
//! One struct per Kubernetes kind gives its tables, its rows and its CRD.
//!
//! Three things to do with it:
//! - derive [`Ingestable`] for a kind, [`Indexed`] for its status, [`ColumnValue`] for the values of columns;
//! - list the kinds in a constant, the registry, which `ingester::Program` takes;
//! - read an [object](object::Object), make its [row](row::Row).
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
//! Values that protobuf and Kubernetes write as JSON have types in [`wire`]; [`wire_enum!`] makes an enum that knows its
//! names and keeps those that it does not know.
//!
//! The crates above: `ingester-testing` helps a kind's own tests, `ingester-sql` renders SQL and checks queries, `ingester-declare`
//! reads kinds and objects from files, `ingester-store` runs the SQL, and `ingester-mirror` follows a cluster.

pub mod age;
#[cfg(test)]
extern crate self as ingester_core;
#[cfg(test)]
mod fixture;
mod generated;
pub mod kind;
pub mod labels;
pub mod marks;
pub mod nearest;
pub mod object;
#[cfg_attr(not(feature = "protobuf"), allow(dead_code, reason = "nothing reads descriptors"))]
pub mod protobuf;
pub mod prune;
pub mod query;
mod registry;
pub mod row;
pub mod schema;
pub mod value;
pub mod view;
pub mod wire;

pub use generated::GeneratedSql;
#[doc(inline)]
pub use ingester_json::{json, place};
pub use ingester_macros::{ColumnValue, Indexed, Ingestable, generated_sql};
#[doc(inline)]
pub use ingester_wire::duration;
pub use kind::{Indexed, Ingestable, Kind};
pub use registry::{KindNames, Registry, RegistryError, TakenNames, check_pair, check_registry};
pub use value::ColumnValue;

/// Items that the code of the derives refers to. Not for other use: they change without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::__base_handles as base_handles;
    pub use crate::GeneratedSql;
    pub use crate::kind::derived::{
        FieldsOf, NoDescriptors, NoFields, NoStatus, RowSource, after, history, refuse_after, refuse_history,
        refuse_retention, retention,
    };
    pub use crate::kind::{Definition, Finalizer, Indexed, Ingestable, Kind, Protobuf};
    pub use crate::object::Meta;
    pub use crate::protobuf::DescriptorSet;
    pub use crate::query::{Dynamic, Handle, PartOf, Parts};
    pub use crate::registry::{count_kinds, join_registries};
    pub use crate::schema::check::{
        check_absent, check_absent_of_status, check_apart, check_base, check_base_of_status, check_column_count,
        check_composite_key, check_former, check_key, check_key_column, check_key_count, check_many, check_many_tables,
        check_name, check_parts_stay, check_printed, check_printed_column, check_row_size, check_stays,
        check_stays_of_status, check_table_name, check_table_was, check_type, check_was,
    };
    pub use crate::schema::{
        Absent, Column, EvictionRule, Field, History, Key, Many, Named, Part, Shape, SqlType, Stays, Table, TableParts,
        check_evict, check_evict_by, check_evict_fields, check_evict_namespace, check_evict_namespaces,
        check_evict_since, check_evictable, check_history, check_prune, refuse,
    };
    pub use crate::value::class::{Anything, NamesOf};
    pub use crate::value::derived::{
        Layout, LayoutOfMany, NoLayout, Probe, filter, named, type_of, type_of_many, with,
    };
    pub use crate::value::{ColumnValue, Literal, ManyValues, Names, Scalar, Values};
    pub use crate::wire::quantity::in_unit;
    pub use {schemars, serde};
}
