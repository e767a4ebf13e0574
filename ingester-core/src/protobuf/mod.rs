//! Objects in protobuf's wire format, by descriptors: the `proto` column, and the way back.
//! May use: ingester-json, ingester-wire, schema.
//!
//! | file | what it does |
//! |---|---|
//! | `descriptor.rs` | a `FileDescriptorSet` as tables that are looked up by JSON name and by number |
//! | `reflect.rs` | the reader of these tables (feature `protobuf`) |
//! | `set.rs` | the set of an API, which is read on first use |
//! | `names.rs` | a table of names, for fields and enum values |
//! | `encode.rs` | JSON text to bytes in one pass over the text |
//! | `encode_special.rs` | the same for messages whose JSON is not an object of their fields |
//! | `encoder.rs` | what both write into, and count |
//! | `decode.rs` | bytes to JSON text |
//! | `special.rs` | which messages these are, and which fields Kubernetes always writes |
//! | `varint.rs` | varints, tags and lengths |
//!
//! Nothing here does I/O.
//!
//! The bytes are those that the reference system's Go code writes for the same object: fields in the order of their
//! numbers, map entries in the order of their keys, zero values left out where proto3 leaves them out and written where
//! Kubernetes' own generated code writes them.

mod decode;
mod descriptor;
mod encode;
mod encode_special;
mod encoder;
mod names;
#[cfg(feature = "protobuf")]
mod reflect;
mod set;
mod special;
mod varint;

pub use decode::DecodeError;
pub use descriptor::{DescriptorError, Descriptors, MessageId};
pub use encoder::Lost;
pub use set::DescriptorSet;

#[cfg(test)]
#[cfg(feature = "protobuf")]
mod tests;
