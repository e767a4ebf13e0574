//! The bytes of a stream with their positions; goes back over bytes that were read already.

use std::io;

use super::MAX_DOCUMENT;

/// A position in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// Bytes before it.
    pub(super) offset: u64,
    /// Counted from 1.
    pub(super) line: u64,
    /// Bytes before the first of its line.
    line_start: u64,
}

impl Position {
    /// The first byte of a file.
    pub(super) const START: Position = Position { offset: 0, line: 1, line_start: 0 };

    /// In bytes, counted from 1.
    pub(super) fn column(&self) -> u64 {
        self.offset - self.line_start + 1
    }

    /// Moves past a byte.
    #[inline]
    pub(super) fn pass(&mut self, byte: u8) {
        self.offset += 1;
        if byte == b'\n' {
            self.line += 1;
            self.line_start = self.offset;
        }
    }

    /// Moves past bytes that contain no line feed.
    #[inline]
    pub(super) fn pass_run(&mut self, bytes: usize) {
        self.offset += bytes as u64;
    }

    /// Moves past any bytes.
    pub(super) fn pass_all(&mut self, bytes: &[u8]) {
        let feeds = newlines(bytes);
        if feeds > 0 {
            self.line += feeds;
            let last = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or_default();
            self.line_start = self.offset + last as u64 + 1;
        }
        self.offset += bytes.len() as u64;
    }

    /// The position this many bytes before, on the same line.
    pub(super) fn back(mut self, bytes: usize) -> Position {
        self.offset = self.offset.saturating_sub(bytes as u64).max(self.line_start);
        self
    }
}

impl Default for Position {
    fn default() -> Position {
        Position::START
    }
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// A reader which knows where it is.
#[derive(Debug)]
pub(super) struct Source<R> {
    reader: R,
    /// Bytes to be read again before the reader's.
    again: Vec<u8>,
    again_used: usize,
    position: Position,
    bytes_read: u64,
    /// How many bytes may be read in all before the next document is found.
    until: u64,
}

/// How many bytes without a document are read before the stream is given up: it may have no end.
const WITHOUT_DOCUMENT: u64 = 16 * MAX_DOCUMENT as u64;

impl<R: io::BufRead> Source<R> {
    pub(super) fn new(reader: R) -> Source<R> {
        Source {
            reader,
            again: Vec::new(),
            again_used: 0,
            position: Position::START,
            bytes_read: 0,
            until: WITHOUT_DOCUMENT,
        }
    }

    /// A document was found, or a mistake.
    pub(super) fn found(&mut self) {
        self.until = self.bytes_read + WITHOUT_DOCUMENT;
    }

    /// Acts as if all but this many of the bytes before the next document had been read.
    #[cfg(test)]
    pub(super) fn expect_within(&mut self, bytes: u64) {
        self.until = self.bytes_read + bytes;
    }

    /// Where the next byte stands.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.again.capacity()
    }

    /// The next bytes, as many as are at hand; none at the end.
    pub(super) fn chunk(&mut self) -> io::Result<&[u8]> {
        if self.again_used < self.again.len() {
            return Ok(&self.again[self.again_used..]);
        }
        if self.bytes_read > self.until {
            return Err(io::Error::other(
                "1 GiB without the end of a document: is it a file of objects? Separate them by `---`",
            ));
        }
        self.reader.fill_buf()
    }

    /// Takes bytes of the last [`chunk`](Source::chunk); the caller counted the lines in them.
    pub(super) fn consume(&mut self, bytes: usize, position: Position) {
        self.position = position;
        if self.again_used < self.again.len() {
            self.again_used += bytes;
            if self.again_used == self.again.len() {
                self.again = Vec::new();
                self.again_used = 0;
            }
            return;
        }
        self.reader.consume(bytes);
        self.bytes_read += bytes as u64;
    }

    /// Puts bytes back in front of what is left, the first of them at `position`.
    pub(super) fn rewind(&mut self, mut bytes: Vec<u8>, position: Position) {
        if bytes.is_empty() {
            return;
        }
        bytes.extend_from_slice(&self.again[self.again_used..]);
        self.again = bytes;
        self.again_used = 0;
        self.position = position;
    }

    /// Appends the next line with its line feed, but at most `most` bytes of it. `false` at the end.
    ///
    /// An interrupted read may be repeated with the same `line`.
    pub(super) fn read_line(&mut self, line: &mut Vec<u8>, most: usize) -> io::Result<bool> {
        loop {
            let mut position = self.position;
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                return Ok(!line.is_empty());
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let taken = &chunk[..end.map_or(chunk.len(), |at| at + 1)];
            line.extend_from_slice(&taken[..taken.len().min(most.saturating_sub(line.len()))]);
            match end {
                Some(before) => {
                    position.pass_run(before);
                    position.pass(b'\n');
                }
                None => position.pass_run(taken.len()),
            }
            let used = taken.len();
            self.consume(used, position);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}
