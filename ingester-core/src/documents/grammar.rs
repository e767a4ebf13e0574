//! As much of the grammar of JSON as the scanner of boundaries needs.

use super::DocumentError;
use super::source::Position;

/// What the grammar allows next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

impl Expect {
    /// What may follow an opening bracket.
    pub(super) fn behind(bracket: u8) -> Expect {
        if bracket == b'[' { Expect::ValueOrEnd } else { Expect::KeyOrEnd }
    }

    /// Whether a closing bracket may follow.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Expect::KeyOrEnd | Expect::ValueOrEnd | Expect::CommaOrEnd)
    }

    /// For an error, given the open brackets.
    pub(super) fn name(self, open: &[u8]) -> &'static str {
        match self {
            Expect::Value | Expect::ValueOrEnd => "a value",
            Expect::Key | Expect::KeyOrEnd => "a key in double quotes",
            Expect::Colon => "`:`",
            Expect::CommaOrEnd if open.last() == Some(&b'[') => "`,` or `]`",
            Expect::CommaOrEnd => "`,` or `}`",
        }
    }
}

/// The keys of an object which its head ([`super::list::Head`]) is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Kind,
    ApiVersion,
    Items,
    Other,
}

impl Field {
    pub(super) fn of(key: &[u8]) -> Field {
        match key {
            b"kind" => Field::Kind,
            b"apiVersion" => Field::ApiVersion,
            b"items" => Field::Items,
            _ => Field::Other,
        }
    }
}

/// A byte of a number or of `true`, `false` and `null`.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// How many bytes of a string, from its front, stand for themselves in JSON.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let special = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < b' ');
    // Blocks without early exit, which the compiler turns into vector instructions.
    let blocks = bytes.chunks_exact(16).take_while(|block| !block.iter().fold(false, |any, &byte| any | special(byte)));
    let run = blocks.count() * 16;
    run + bytes[run..].iter().position(|&byte| special(byte)).unwrap_or(bytes.len() - run)
}

pub(super) fn syntax(message: impl Into<String>, at: Position) -> DocumentError {
    DocumentError::Syntax { line: at.line, column: at.column(), message: message.into() }
}

/// One thing stands where the grammar wants another.
pub(super) fn unexpected(expected: &str, byte: u8, at: Position) -> DocumentError {
    let seen = match byte {
        b' '..=b'~' => format!("`{}`", byte as char),
        _ => format!("the byte 0x{byte:02X}"),
    };
    syntax(format!("expected {expected} but found {seen}"), at)
}
