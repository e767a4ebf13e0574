//! Types for values that protobuf and Kubernetes write as text in JSON, for which serde's own types are too strict. All of them read every
//! form that occurs and write the canonical one.
//!
//! | module or type | what it has |
//! |---|---|
//! | [`Timestamp`], [`Time`], [`Duration`], [`Moment`] | times and durations of objects |
//! | [`Micros`] | a time with the precision of SQL |
//! | [`Int64`], [`read_enum`], [`Opaque`] | 64-bit integers, open enums, values that are kept as text |
//! | [`quantity`], [`resources`] | Kubernetes' quantities as exact integers, and their sums over a pod |
//! | [`duration`] | the grammar of durations, for fields of objects and for what people write |
//! | [`schema`] | JSON schemas of fields whose form the API server must leave alone |
//!
//! It does no I/O, and knows no SQL statements, tables or kinds. `ingester-core` exports everything here, and makes columns of the types.

pub mod duration;
mod enum_name;
mod int64;
mod micros;
mod opaque;
pub mod quantity;
pub mod resources;
pub mod schema;
mod time;

pub use enum_name::{EnumName, read_enum};
pub use int64::Int64;
pub use micros::Micros;
pub use opaque::Opaque;
pub use time::{Duration, Moment, NoMoment, Time, Timestamp, moment};
