//! The text of one value while it is read, and where its bytes stand in the file.

use super::source::Position;
use super::{DocumentError, MAX_DOCUMENT};
use ingester_core::json::{CheckError, Reader, check};

/// Holds at most [`MAX_DOCUMENT`] bytes, and nothing of a larger value.
#[derive(Debug, Default)]
pub(super) struct DocumentBuffer {
    bytes: Vec<u8>,
    /// Where it begins.
    start: Position,
    /// The bytes from this index on stand there in the file: what lies between is not held.
    resumed: Option<(usize, Position)>,
    too_large: bool,
}

impl DocumentBuffer {
    /// Begins another value in the same memory.
    pub(super) fn begin(&mut self, at: Position) {
        self.bytes.clear();
        self.start = at;
        self.resumed = None;
        self.too_large = false;
    }

    /// Goes on at a later position in the file.
    pub(super) fn resume(&mut self, at: Position) {
        self.resumed = Some((self.bytes.len(), at));
    }

    pub(super) fn keep(&mut self, bytes: &[u8]) {
        if self.too_large {
            return;
        }
        if self.bytes.len() + bytes.len() > MAX_DOCUMENT {
            self.too_large = true;
            self.bytes = Vec::new();
            return;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn start(&self) -> Position {
        self.start
    }

    pub(super) fn too_large(&self) -> bool {
        self.too_large
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// The text up to the first byte that is not UTF-8.
    pub(super) fn fragment(&self) -> &str {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or_default(),
        }
    }

    /// The text of a whole value, if it is JSON without a key twice.
    pub(super) fn checked(&self) -> Result<&str, DocumentError> {
        if self.too_large {
            return Err(DocumentError::TooLarge);
        }
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            let byte = self.place(error.valid_up_to()).offset;
            self.mistake().unwrap_or(DocumentError::InvalidUtf8 { byte })
        })?;
        check(text).map_err(|error| self.error(error))?;
        Ok(text)
    }

    /// The first mistake in a value that breaks off, other than its missing end.
    pub(super) fn mistake(&self) -> Option<DocumentError> {
        let text = self.fragment();
        match check(text) {
            Err(CheckError::Syntax(error)) if error.offset() == text.len() => None,
            Err(error) => Some(self.error(error)),
            Ok(()) => None,
        }
    }

    /// Returns true if it begins like an object, with a key and a colon.
    pub(super) fn makes_sense(&self) -> bool {
        let mut reader = Reader::new(self.fragment());
        self.too_large || (reader.begin_object().is_ok() && matches!(reader.next_key(), Ok(Some(_))))
    }

    fn error(&self, error: CheckError) -> DocumentError {
        match error {
            CheckError::Syntax(error) => {
                let at = self.place(error.offset());
                DocumentError::Syntax { line: at.line, column: at.column(), message: error.reason().to_owned() }
            }
            CheckError::Duplicate { offset, key } => {
                let at = self.place(offset);
                DocumentError::DuplicateKey { line: at.line, column: at.column(), key }
            }
        }
    }

    /// The position of a byte in the file.
    fn place(&self, offset: usize) -> Position {
        let (from, mut at) = match self.resumed {
            Some((from, at)) if from <= offset => (from, at),
            _ => (0, self.start),
        };
        at.pass_all(&self.bytes[from..offset]);
        at
    }
}
