//! Reads a configuration as a tree whose values are text: a password of digits is not a number, and the key decides the meaning of a value.

use ingester_declare::text::{self, Fault, Syntax};
pub(super) use ingester_declare::text::{Content, Tree};

/// The syntax of a configuration, which may have passwords.
pub(super) const SYNTAX: Syntax = Syntax { passwords: true, hint: |_| None };

/// Reads `text`, which is one YAML document; an empty one is [`Content::Null`].
pub(super) fn read(text: &str) -> Result<Tree, Fault> {
    text::read(text, &SYNTAX)
}
