//! Types for the JSON that protobuf and Kubernetes APIs write, for which serde's own types are too strict.
//! May use: duration, json, schema, value.
//!
//! All of them read every form that occurs and write the canonical one.

mod kubernetes;
mod opaque;
pub mod quantity;
pub mod resources;
pub mod schema;
mod time;
mod wire_enum;

pub use opaque::Opaque;
pub(crate) use time::moment;
pub use time::{Duration, Moment, NoMoment, Time, Timestamp};
pub use wire_enum::{EnumName, read_enum};

use crate::schema::{Shape, SqlType};
use crate::value::{ColumnValue, Literal, Scalar, Value, Values, class};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A 64-bit integer, which protobuf's JSON writes as a decimal string. Read from a string or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Int64(pub i64);

impl Serialize for Int64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Int64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Int64;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an integer of 64 bits, as a number or a string")
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Int64, E> {
                Ok(Int64(value))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Int64, E> {
                i64::try_from(value)
                    .map(Int64)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(value), &self))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Int64, E> {
                value.parse().map(Int64).map_err(|_| E::invalid_value(serde::de::Unexpected::Str(value), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl schemars::JsonSchema for Int64 {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Int64".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schema::int_or_string(generator)
    }
}

impl ColumnValue for Int64 {
    const SHAPE: Shape = Shape::scalar(SqlType::BigInt);

    fn write(&self, out: &mut Values) {
        out.push(Value::Int(self.0));
    }
}

impl Scalar for Int64 {
    type Class = class::Integers;
}

impl Literal<class::Integers> for Int64 {}
impl Literal<class::Anything> for Int64 {}
