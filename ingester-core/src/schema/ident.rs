//! The name of a table, column or key.

use super::limits::IDENTIFIER_BYTES;
use super::text::{Text, is_identifier, is_identifier_byte, same_name};

/// A checked SQL identifier of at most 63 bytes: ASCII letters, digits, `_` and `$`.
///
/// It holds its bytes itself, so that constant evaluation can join names such as `src_pipeline_run` and `namespace`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ident {
    bytes: [u8; IDENTIFIER_BYTES],
    len: u8,
}

/// Why a text is not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentError {
    /// It is empty or longer than 63 bytes.
    #[error("`{name}` has {} bytes, an identifier has 1 to 63", .0.len(), name = .0)]
    Length(String),
    /// It has other characters.
    #[error("`{0}` is not an identifier: letters, digits and underscores of ASCII")]
    Characters(String),
}

impl Ident {
    /// As [`Ident::join`], but makes a short identifier of a text that is not one.
    ///
    /// It is for the layout of tables. The checks report a wrong name on the user's tokens; a panic here would report it a second
    /// time, on other tokens.
    pub const fn tolerant(head: &str, tail: &str) -> Self {
        let text = joined(head, tail);
        if is_identifier(text.as_str()) {
            Self::cut(text.as_str(), IDENTIFIER_BYTES)
        } else {
            // Short enough that joining it with others causes no second report because of its length.
            Self::cut(text.as_str(), IDENTIFIER_BYTES / 4)
        }
    }

    /// The first `most` bytes of `text`, without those that an identifier may not have.
    pub(super) const fn cut(text: &str, most: usize) -> Self {
        let from = text.as_bytes();
        let mut bytes = [0; IDENTIFIER_BYTES];
        let mut i = 0;
        let mut len = 0;
        while i < from.len() && len < most {
            if is_identifier_byte(from[i]) {
                bytes[len] = from[i];
                len += 1;
            }
            i += 1;
        }
        Ident { bytes, len: len as u8 }
    }

    /// An identifier from data of others, such as a lock file.
    ///
    /// # Errors
    /// If `name` is not an identifier.
    pub fn parse(name: &str) -> Result<Self, IdentError> {
        if name.is_empty() || name.len() > IDENTIFIER_BYTES {
            return Err(IdentError::Length(name.to_owned()));
        }
        if !name.bytes().all(is_identifier_byte) {
            return Err(IdentError::Characters(name.to_owned()));
        }
        Ok(Self::cut(name, IDENTIFIER_BYTES))
    }

    /// The name as text.
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len as usize).0) {
            Ok(name) => name,
            // Unreachable: every constructor checks for ASCII.
            Err(_) => "",
        }
    }

    /// True if this is the name `head` with an underscore and `tail`, ignoring case.
    pub(crate) const fn is_joined(&self, head: &Ident, tail: &str) -> bool {
        // Most names differ in length already: constant evaluation is slow.
        let length = head.len as usize + 1 + tail.len();
        self.len as usize == length && same_name(self.as_str(), joined(head.as_str(), tail).as_str())
    }

    /// Compares two names; MySQL compares names of columns and keys without case.
    pub const fn same(&self, other: &Ident) -> bool {
        self.len == other.len && self.same_as(other.as_str())
    }

    /// Returns true if this is the name `other`, ignoring case.
    pub const fn same_as(&self, other: &str) -> bool {
        same_name(self.as_str(), other)
    }
}

/// `head` and `tail` with an underscore between them; only one of them if the other is empty.
pub(super) const fn joined(head: &str, tail: &str) -> Text {
    if head.is_empty() || tail.is_empty() { Text::new(head).str(tail) } else { Text::new(head).str("_").str(tail) }
}

impl std::fmt::Display for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.as_str())
    }
}

impl serde::Serialize for Ident {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Ident {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ident::parse(&name).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Ident;

    #[test]
    fn names_are_joined_with_an_underscore_where_both_are_given() {
        assert_eq!(Ident::join("src_pipeline_run", "namespace").as_str(), "src_pipeline_run_namespace");
        assert_eq!(Ident::join("owner", "").as_str(), "owner");
        assert_eq!(Ident::join("", "owner").as_str(), "owner");
    }

    #[test]
    fn a_name_of_65_bytes_or_with_a_backtick_is_refused() {
        assert!(Ident::parse(&"x".repeat(63)).is_ok());
        assert!(Ident::parse(&"x".repeat(64)).is_err());
        assert!(Ident::parse("a`b").is_err());
        assert!(Ident::parse("").is_err());
        assert!(std::panic::catch_unwind(|| Ident::new("a`b")).is_err());
        assert!(std::panic::catch_unwind(|| Ident::join(&"x".repeat(60), "name")).is_err());
    }
}
