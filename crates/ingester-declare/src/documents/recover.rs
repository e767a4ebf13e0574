//! From a broken JSON document to the next one that may be whole.

use std::io;

use super::json::{EnclosingContainer, Json, Mode};
use super::source::{Position, Source};
use super::{DocumentError, Finding, Findings};

impl Json {
    /// Gives up the open document. If its text holds the beginning of another, returns the text from there on.
    pub(super) fn fail(
        &mut self,
        error: DocumentError,
        at: Position,
        found: &mut Findings,
    ) -> Option<(Vec<u8>, Position)> {
        let line = self.begins().line;
        let mut failure = Finding::failure(line, error);
        let mut back = None;
        if self.mode == Mode::Value {
            if self.value.too_large() {
                failure = Finding::failure(line, DocumentError::TooLarge);
            } else if let Some(flaw) = self.boundary.flawed().then(|| self.value.mistake()).flatten() {
                failure = Finding::failure(line, flaw);
            }
            failure = failure.with_fragment(self.value.fragment());
            self.in_garbage &= !self.value.makes_sense();
            back = self.next_inside();
        }
        if !std::mem::replace(&mut self.in_garbage, true) {
            found.push_back(failure);
        }
        if back.is_some() {
            self.strict_until = at.offset;
        }
        self.around = EnclosingContainer::Nothing;
        self.value.begin(at);
        self.mode = Mode::Lost;
        back
    }

    /// The beginning of another document inside of the value being read: the text from there on, and its position.
    fn next_inside(&self) -> Option<(Vec<u8>, Position)> {
        // Between the beginning and the rest of a list were its items.
        if matches!(self.around, EnclosingContainer::RestOfList) {
            return None;
        }
        let text = self.value.bytes();
        let mut position = self.value.start();
        let from = usize::try_from(self.strict_until.saturating_sub(position.offset)).unwrap_or(usize::MAX);
        let from = from.max(1) - 1;
        let feed = text.get(from..)?.windows(2).position(|pair| pair == b"\n{")?;
        let begins = from + feed + 1;
        position.pass_all(&text[..begins]);
        Some((text[begins..].to_vec(), position))
    }

    /// Reads again from where [`fail`](Json::fail) said, if it did.
    pub(super) fn go_back<R: io::BufRead>(
        &mut self,
        back: Option<(Vec<u8>, Position)>,
        source: &mut Source<R>,
    ) -> bool {
        let Some((bytes, position)) = back else { return false };
        source.rewind(bytes, position);
        self.mode = Mode::Between;
        true
    }

    /// Passes over garbage up to a line that begins with `{`.
    pub(super) fn lost(&mut self, rest: &[u8], at: Position) -> usize {
        let begins_line = |place: usize| if place == 0 { at.column() == 1 } else { rest[place - 1] == b'\n' };
        match (0..rest.len()).find(|&place| rest[place] == b'{' && begins_line(place)) {
            Some(skipped) => {
                self.mode = Mode::Between;
                skipped
            }
            None => rest.len(),
        }
    }
}
