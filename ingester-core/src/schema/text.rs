//! A string that constant evaluation can put together, for the messages of compile-time checks.

use super::limits;

/// How many bytes a [`Text`] can hold; the rest is cut off.
const CAPACITY: usize = 640;

/// A message under construction.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Text {
    /// A message that begins with `text`.
    pub(crate) const fn new(text: &str) -> Self {
        Text { bytes: [0; CAPACITY], len: 0 }.str(text)
    }

    /// Adds `text`.
    pub(crate) const fn str(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < CAPACITY {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    /// Adds `number` in decimal digits.
    pub(crate) const fn number(mut self, number: u64) -> Self {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        while at < digits.len() && self.len < CAPACITY {
            self.bytes[self.len] = digits[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    /// The message.
    pub(crate) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // The message was cut off inside a character. The error remains, with a shorter text.
            Err(_) => "a name here is too long",
        }
    }

    /// Stops constant evaluation with this message, which makes it a compile error.
    ///
    /// rustc shows the calls from the user's code to a panic, except for functions that track their caller. So each function on the way has
    /// the attribute, and users read the message and nothing of this crate.
    ///
    /// # Panics
    /// Always.
    #[track_caller]
    pub(crate) const fn fail(self) -> ! {
        panic!("{}", self.as_str())
    }
}

/// Compares two strings in constant evaluation.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let a = a.as_bytes();
    let b = b.as_bytes();
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Compares two strings apart from the case of ASCII letters, as MySQL compares names of columns and keys.
pub(super) const fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Returns true if `name` can be an identifier: 1 to 63 bytes of `a-z A-Z 0-9 _ $`.
pub(super) const fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.len() <= limits::IDENTIFIER_BYTES && first_foreign(name).is_none()
}

/// The index of the first byte that an identifier may not have.
pub(super) const fn first_foreign(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !is_identifier_byte(bytes[i]) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Returns true if an identifier may have this byte.
pub(crate) const fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}
