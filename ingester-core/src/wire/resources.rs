//! The resources that pods request: quantities that are added and compared as Kubernetes does, and the rule that adds up a pod's
//! containers.
//!
//! For each resource, a pod needs the sum of its containers, or the largest need of an init container if that is more, because init
//! containers run before the others, one after another. The function `resources` of a declared column and kinds that are built in share
//! this:
//!
//! ```
//! use ingester_core::Ingestable;
//! use ingester_core::wire::resources::{PodSpec, ReplicaSpec, Requirements, replicas};
//! use std::collections::BTreeMap;
//!
//! #[derive(Ingestable, serde::Deserialize, Default)]
//! #[ingest(group = "example.com", version = "v1", kind = "Training", namespaced)]
//! #[serde(default)]
//! struct Training {
//!     #[index(column = "driver", with = PodSpec::resources, type = "TEXT", key = false)]
//!     driver: PodSpec,
//!     #[index(column = "resources", with = replicas, type = "TEXT", key = false)]
//!     replicas: BTreeMap<String, ReplicaSpec>,
//! }
//! ```

use crate::schema::{Shape, SqlType};
use crate::value::{ColumnValue, Scalar, Value, Values, class};
#[doc(inline)]
pub use ingester_wire::resources::{Amount, Container, PodSpec, PodTemplate, ReplicaSpec, Requirements, replicas};

impl ColumnValue for Requirements {
    const SHAPE: Shape = Shape::scalar(SqlType::VarChar(255));

    fn write(&self, out: &mut Values) {
        out.push(Value::text(self.to_string()));
    }
}

impl Scalar for Requirements {
    type Class = class::Texts;
}
