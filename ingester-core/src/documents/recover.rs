//! The way out of a broken JSON document, to the next that may be whole.

use std::io;

use super::json::{Json, Place, Token};
use super::source::{Position, Source};
use super::{DocumentError, Found};

impl Json {
    /// Gives the open document up. Returns the text to go back to, if it holds the beginning of another.
    pub(super) fn fail(
        &mut self,
        error: DocumentError,
        at: Position,
        found: &mut Found,
    ) -> Option<(Vec<u8>, Position)> {
        let line = if self.in_object() { self.start.line } else { self.root.line };
        let error = if self.too_large { DocumentError::TooLarge } else { self.flaw.take().unwrap_or(error) };
        let error = match error {
            DocumentError::Unclosed { .. } => DocumentError::Unclosed { line },
            error => error,
        };
        if !std::mem::replace(&mut self.in_garbage, true) {
            found.push_back((line, Err(error)));
        }
        let mut back = None;
        if self.holding {
            let from = usize::try_from(self.strict_until.saturating_sub(self.start.offset)).unwrap_or(usize::MAX);
            let text = self.text.get(from.max(1) - 1..).unwrap_or_default();
            if let Some(feed) = text.windows(2).position(|pair| pair == b"\n{") {
                let begins = self.text.len() - text.len() + feed + 1;
                let mut position = self.start;
                position.pass_all(&self.text[..begins]);
                back = Some((self.text[begins..].to_vec(), position));
                self.strict_until = at.offset;
            }
        }
        self.open.clear();
        self.text.clear();
        self.holding = false;
        self.too_large = false;
        self.list = None;
        self.base = 0;
        self.token = Token::None;
        self.word = None;
        self.place = Place::Lost;
        back
    }

    /// Reads again from where [`fail`](Json::fail) said, if it did.
    pub(super) fn go_back<R: io::BufRead>(
        &mut self,
        back: Option<(Vec<u8>, Position)>,
        source: &mut Source<R>,
    ) -> bool {
        let Some((bytes, position)) = back else { return false };
        source.rewind(bytes, position);
        self.place = Place::Between;
        true
    }

    /// Passes over garbage up to a line that begins with `{`.
    pub(super) fn lost(&mut self, rest: &[u8], at: &mut Position) -> usize {
        for (skipped, &byte) in rest.iter().enumerate() {
            if byte == b'{' && at.column() == 1 {
                self.place = Place::Between;
                return skipped;
            }
            at.pass(byte);
        }
        rest.len()
    }
}
