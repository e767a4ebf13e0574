//! YAML text of Rust values, and scalars of text that is written line by line.
//! May use: ingester-core.

use ingester_core::place::is_obeyed;
use std::fmt::Write as _;

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

/// Words that YAML 1.1 or 1.2 reads as booleans or as null.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// A text as a scalar that is read back as this text, also within `{...}`: without quotes if it is a word.
pub fn scalar(text: &str) -> String {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/'))
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_word { text.to_owned() } else { quoted(text) }
}

/// A text in single quotes; in double quotes if a terminal would obey one of its characters, because only these have escapes.
pub fn quoted(text: &str) -> String {
    if !text.contains(is_obeyed) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            c if is_obeyed(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            '"' | '\\' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn a_scalar_is_read_back_as_its_text() {
        for (text, written) in [
            ("phase", "phase"),
            ("cert-manager.io", "cert-manager.io"),
            ("y", "'y'"),
            ("On", "'On'"),
            ("null", "'null'"),
            ("3scale.net", "'3scale.net'"),
            ("", "''"),
            ("it's", "'it''s'"),
            ("a\nb", "\"a\\u000ab\""),
            ("\"\u{1b}\\", "\"\\\"\\u001b\\\\\""),
        ] {
            assert_eq!(scalar(text), written);
            let read: Vec<String> = serde_saphyr::from_str(&format!("[{written}]")).unwrap();
            assert_eq!(read, [text]);
        }
    }
}
