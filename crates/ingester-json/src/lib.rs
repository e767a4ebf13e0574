//! JSON text, read once and tolerantly, and the places in a text that errors name.
//!
//! | module | what it has |
//! |---|---|
//! | [`json`] | a pull parser, and a serde deserializer on top of it |
//! | [`place`] | texts as errors repeat them |
//!
//! It may use serde and the standard library. It does no I/O, and knows no other crate of this project. `ingester-core` exports both modules
//! under the same names.

pub mod json;
pub mod place;
