//! Reading JSON text, once and tolerantly.
//!
//! What lives here: [`Reader`], a pull tokenizer over text; [`from_str`] and [`Reader::decode`], which
//! decode a typed value straight from the text by serde, without a tree in between; [`Error`], which names
//! the place in the document. Nothing here knows Kubernetes objects, SQL or protobuf, and nothing does I/O.
//!
//! Invariants
//! - The grammar is strict RFC 8259: no trailing commas, no comments, no bare control characters in strings.
//!   Tolerance is about the values, never about the grammar.
//! - No input panics, and none recurses deeper than [`MAX_DEPTH`]. Skipping does not recurse at all.
//! - A good document pays nothing for the quality of the errors: paths, lines and duplicate keys are worked
//!   out by a second look at the text, after something went wrong.
//!
//! The rules of decoding, which are those of Kubernetes and of protobuf's JSON mapping:
//!
//! | target | takes | notes |
//! |---|---|---|
//! | struct, map | object | entries whose value is null are absent; null itself is the empty one |
//! | sequence, tuple | array | null elements are absent; null itself is the empty one |
//! | `Option` | anything | null is `None` |
//! | integers | `30`, `"30"` | not `3.0`, `1e3` or `"3.0"`; out of range is an error |
//! | floats | `0.5`, `"0.5"`, `"NaN"`, `"Infinity"`, `"-Infinity"` | a number beyond the type's range is an error |
//! | `String` | string | half a surrogate pair reads as U+FFFD |
//! | `bool` | `true`, `false` | |
//! | enum | `"Unit"`, `{"Variant": value}` | tagged from outside, as serde_json does |
//! | any (`serde_json::Value`) | anything | nulls are kept |
//! | newtype named [`RAW_TOKEN`] | anything | the value's own text, checked but not decoded |
//!
//! Unknown fields are ignored. Of a key that is repeated the last entry counts that is not null. Two things
//! are outside of the rules because serde buffers them in a form of its own: untagged and internally tagged
//! enums, and the fields of a `#[serde(flatten)]`.

mod de;
mod error;
mod key;
mod number;
#[cfg(test)]
mod properties;
mod reader;
mod scan;
#[cfg(test)]
mod tests;

pub use de::{RAW_TOKEN, from_str};
pub use error::Error;
pub(crate) use error::push_name;
pub use reader::{MAX_DEPTH, Reader, TokenKind};

/// An integer as JSON writes it, or a string in JSON: no point, no exponent, no leading zeros.
pub(crate) fn integer<T: std::str::FromStr>(text: &str) -> Option<T> {
    number::parse_integer(text).ok()
}

/// A float as JSON writes it, or one of the names that protobuf gives to what JSON cannot write.
pub(crate) fn float<T: std::str::FromStr + Into<f64> + Copy>(text: &str) -> Option<T> {
    number::parse_float(text).ok()
}

/// The float that a text of [`Reader::number`] says; `None` where it is beyond the type.
#[inline]
pub(crate) fn float_of_number<T: std::str::FromStr + Into<f64> + Copy>(number: &str) -> Option<T> {
    number.parse().ok().filter(|value: &T| (*value).into().is_finite())
}
