//! JSON text, read once and tolerantly.
//! May use: place.
//!
//! | file | what it does |
//! |---|---|
//! | `reader.rs` | [`Reader`]: pulls tokens out of a text that is held as a whole |
//! | `boundary.rs` | finds the end of a value in text that comes in pieces |
//! | `grammar.rs`, `scan.rs` | the rules of both: states of the grammar, the limit of nesting, the shapes of tokens |
//! | `de.rs`, `key.rs`, `number.rs` | [`from_str`]: typed values by serde, straight from the tokens |
//! | `check.rs` | checks that a whole text is JSON and has no key twice |
//! | `error.rs` | [`Error`], which names the place in the text |
//!
//! Nothing here does I/O or knows Kubernetes objects, SQL or protobuf.
//!
//! Invariants
//! - The grammar is strict RFC 8259: no trailing commas, no comments, no bare control characters in strings.
//!   Tolerance is about the values, never about the grammar.
//! - A number beyond a 64-bit float (`1e999`, 400 digits) and half of a surrogate pair are errors wherever they are, even in skipped
//!   text. RFC 8259 leaves both to the reader; other readers (Go and so the API server, serde_json, Python, MySQL) each refuse some of
//!   them, so a text that has them fits no database.
//! - No input panics, and none recurses deeper than [`MAX_DEPTH`]. Skipping does not recurse at all. A value that the reader only passes over
//!   ([`Reader::pass`]) may be nested to any depth.
//! - A good text pays nothing for the quality of the errors: paths and lines are worked out by a second look at the
//!   text, after something went wrong.
//!
//! The rules of decoding, which follow Kubernetes and protobuf's JSON mapping:
//!
//! | target | takes | notes |
//! |---|---|---|
//! | struct, map | object | entries whose value is null are absent; null itself is the empty one |
//! | sequence, tuple | array | null elements are absent; null itself is the empty one |
//! | `Option` | anything | null is `None` |
//! | integers | `30`, `"30"` | not `3.0`, `1e3` or `"3.0"`; out of range is an error |
//! | floats | `0.5`, `"0.5"`, `"NaN"`, `"Infinity"`, `"-Infinity"` | a number beyond the type's range is an error |
//! | `String` | string | |
//! | `bool` | `true`, `false` | |
//! | enum | `"Unit"`, `{"Variant": value}` | tagged from outside, as serde_json does |
//! | any (`serde_json::Value`) | anything | nulls are kept |
//! | newtype named [`RAW_TOKEN`] | anything | the value's own text, checked but not decoded |
//!
//! Unknown fields are ignored. Two things are outside of the rules because serde buffers them in its own form:
//! untagged and internally tagged enums, and the fields of a `#[serde(flatten)]`.
//!
//! # Keys that come twice
//!
//! | reader | a key that comes twice in one object |
//! |---|---|
//! | `check.rs`, for all that `documents` reads from files | an error, in every object of the text |
//! | the room `object` | an error in the object itself, its metadata, labels and annotations |
//! | decoding a struct | an error for the fields of the struct |
//! | decoding a map or free JSON | the last value counts |
//! | skipping, passing over, and keeping as text | not checked |
//!
//! The first costs a pass over the text. The others cost nothing: the API server, whose objects they read, never writes a key twice. There
//! a null counts as absent, so a null together with a value of the same key is not an error.

mod boundary;
mod check;
mod de;
mod error;
mod grammar;
mod key;
mod number;
#[cfg(test)]
mod properties;
mod reader;
mod scan;
#[cfg(test)]
mod tests;

pub use boundary::{Boundary, Stop};
pub use check::{CheckError, check};
pub use de::{RAW_TOKEN, from_str};
pub use error::Error;
pub use error::push_name;
pub use grammar::MAX_DEPTH;
pub use grammar::Phase;
pub use reader::{Reader, TokenKind};

/// An integer as JSON writes it, or a string in JSON: no point, no exponent, no leading zeros.
pub fn integer<T: std::str::FromStr>(text: &str) -> Option<T> {
    number::parse_integer(text).ok()
}

/// A float as JSON writes it, or one of the names that protobuf gives to what JSON cannot write.
pub fn float<T: std::str::FromStr + Into<f64> + Copy>(text: &str) -> Option<T> {
    number::parse_float(text).ok()
}

/// How many bytes of a text, from its front, stand for themselves in a string.
pub fn plain_end(text: &[u8]) -> usize {
    scan::plain_end(text, 0)
}

/// The float that a text of [`Reader::number`] says; `None` where it is beyond the type.
#[inline]
pub fn float_of_number<T: std::str::FromStr + Into<f64> + Copy>(number: &str) -> Option<T> {
    number.parse().ok().filter(|value: &T| (*value).into().is_finite())
}
