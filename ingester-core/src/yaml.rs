//! YAML out of Rust values; the way in is [`documents`](crate::documents).

pub use serde_saphyr::ser::Error;

/// `value` as one YAML document, without a leading `---`.
///
/// # Errors
/// When the value cannot be expressed in YAML: a map with keys that are no scalars.
pub fn to_string(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_saphyr::to_string(value)
}
