//! YAML text of Rust values.
//! May use: nothing.

pub use serde_saphyr::ser::Error;

/// `value` as one YAML document, without a leading `---`.
///
/// # Errors
/// When the value cannot be expressed in YAML: a map with keys that are not scalars.
pub fn to_string(value: &impl serde::Serialize) -> Result<String, Error> {
    let text = serde_saphyr::to_string(value)?;
    // Empty lines of a text block come out indented; they mean the same without, and committed files stay clean.
    Ok(text.lines().fold(String::with_capacity(text.len()), |out, line| {
        out + if line.trim().is_empty() { "" } else { line } + "\n"
    }))
}
