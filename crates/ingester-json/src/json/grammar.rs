//! The states of JSON's grammar and the open containers, for both readers of JSON.

/// Deepest nesting of objects and arrays that is read. serde_json, with which objects are shown in lists, reads 127 levels. It also bounds
/// the stack of recursive decoders. MySQL's JSON type stores 100 levels, and MariaDB's 32: they refuse such an object themselves.
pub const MAX_DEPTH: usize = 120;

/// The states of the grammar, each with the tokens that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A value.
    Value,
    /// The first member of the container just opened, or its end.
    Open,
    /// A key, after the comma of an object.
    Key,
    /// The colon after a key.
    Colon,
    /// A comma or the end of the container; at the root the end of the text.
    After,
}

impl Phase {
    /// Describes the expected tokens for an error message.
    pub fn wanted(self, in_object: bool) -> &'static str {
        match (self, in_object) {
            (Phase::Value, _) | (Phase::Open, false) => "a value",
            (Phase::Key, _) | (Phase::Open, true) => "a key",
            (Phase::Colon, _) => "a colon",
            (Phase::After, true) => "a comma or the end of the object",
            (Phase::After, false) => "a comma or the end of the array",
        }
    }
}

/// The open containers.
#[derive(Debug, Clone, Default)]
pub(super) struct Nesting {
    depth: usize,
    /// One bit for each, the innermost lowest: 1 for an object.
    objects: u128,
}

// The bits have to hold every level.
const _: () = assert!(MAX_DEPTH <= u128::BITS as usize);

impl Nesting {
    /// One open object.
    pub(super) fn of_object() -> Self {
        Self { depth: 1, objects: 1 }
    }

    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// True if the innermost container is an object.
    #[inline]
    pub(super) fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    /// Opens a container. `false` if that would be deeper than [`MAX_DEPTH`].
    #[inline]
    #[must_use]
    pub(super) fn push(&mut self, object: bool) -> bool {
        if self.depth == MAX_DEPTH {
            return false;
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(object);
        true
    }

    /// Closes the innermost container; there must be one.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }
}
