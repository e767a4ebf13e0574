//! Types for the JSON that protobuf and Kubernetes APIs write, for which serde's own types are too strict, as values of columns.
//! May use: ingester-wire, schema, value.
//!
//! All of them read every form that occurs and write the canonical one. `ingester-wire` has the types; this room has their columns.

mod kubernetes;
pub mod quantity;
pub mod resources;
mod scalars;
mod wire_enum;

#[doc(inline)]
pub use ingester_wire::{Duration, EnumName, Int64, Moment, NoMoment, Opaque, Time, Timestamp, read_enum, schema};
