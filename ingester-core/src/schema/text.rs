//! A string that can be put together in constant evaluation, for messages of compile-time checks.

use super::limits;

/// Bytes that a [`Text`] can hold; what goes over is cut off.
const CAPACITY: usize = 640;

/// A message under construction. Only whole `&str`s are pushed, so it is always valid UTF-8 unless cut.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    /// A message that begins with `text`.
    pub const fn new(text: &str) -> Self {
        Text { bytes: [0; CAPACITY], len: 0 }.str(text)
    }

    /// Adds `text`.
    pub const fn str(mut self, text: &str) -> Self {
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
    pub const fn number(mut self, number: u64) -> Self {
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
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // Only a message cut inside a character ends here; it is still an error, only a shorter one.
            Err(_) => "a name here is too long",
        }
    }

    /// Stops constant evaluation with this message.
    ///
    /// # Panics
    /// Always: that is what turns it into a compile error.
    pub const fn fail(self) -> ! {
        panic!("{}", self.as_str())
    }
}

/// Whether two strings are the same, in constant evaluation.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
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

/// Whether two strings are the same but for the case of ASCII letters, as MySQL compares names of columns and keys.
pub(crate) const fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Whether `name` can be an identifier: 1 to 64 bytes of `a-z A-Z 0-9 _ $`.
pub(crate) const fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.len() <= limits::IDENTIFIER_BYTES && first_foreign(name).is_none()
}

/// The place of the first byte that an identifier may not have.
const fn first_foreign(name: &str) -> Option<usize> {
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

/// Whether an identifier may have this byte.
pub(crate) const fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Fails when `name` cannot be an identifier. `what` is what has the name, `option` where the name can be given.
pub(crate) const fn assert_identifier(what: &str, name: &str, option: &str) {
    if name.is_empty() {
        Text::new("the name of the ").str(what).str(" is empty: give one with `").str(option).str(" = \"...\"`").fail()
    }
    if first_foreign(name).is_some() {
        Text::new("`")
            .str(name)
            .str("` cannot be the name of a ")
            .str(what)
            .str(": use letters and digits of ASCII and underscores in `")
            .str(option)
            .str(" = \"...\"`")
            .fail()
    }
    if name.len() > limits::IDENTIFIER_BYTES {
        Text::new(what)
            .str(" `")
            .str(name)
            .str("` has ")
            .number(name.len() as u64)
            .str(" bytes, an identifier may have 64: give a shorter name with `")
            .str(option)
            .str(" = \"...\"`")
            .fail()
    }
}
