//! Checks that a text is JSON and that no object in it has a key twice.

use std::borrow::Cow;

use super::{Error, Reader, TokenKind};

/// A mistake in a text.
#[derive(Debug, PartialEq)]
pub enum CheckError {
    /// It is not JSON.
    Syntax(Error),
    /// An object has a key twice.
    Duplicate {
        /// Where the key appears again.
        offset: usize,
        /// The key.
        key: String,
    },
}

/// Checks that a text is one JSON value with white space around it, and that no object in it has a key twice. Keys are
/// compared after their escapes are decoded.
pub fn check(text: &str) -> Result<(), CheckError> {
    let mut reader = Reader::new(text);
    let mut keys: Vec<(Cow<'_, str>, usize)> = Vec::new();
    // For each open container: where its keys begin in `keys`; `None` for an array.
    let mut open: Vec<Option<usize>> = Vec::new();
    let syntax = CheckError::Syntax;
    loop {
        match reader.peek().map_err(syntax)? {
            TokenKind::Object => {
                reader.begin_object().map_err(syntax)?;
                open.push(Some(keys.len()));
            }
            TokenKind::Array => {
                reader.begin_array().map_err(syntax)?;
                open.push(None);
            }
            _ => reader.skip().map_err(syntax)?,
        }
        // Go to the next value, leaving the containers that end before it.
        loop {
            match open.last() {
                None => return reader.finish().map_err(syntax),
                Some(None) => {
                    if reader.next_element().map_err(syntax)? {
                        break;
                    }
                }
                Some(Some(first)) => {
                    let before = reader.offset();
                    if let Some(key) = reader.next_key().map_err(syntax)? {
                        keys.push((key, before));
                        break;
                    }
                    distinct(text, &mut keys[*first..])?;
                    keys.truncate(*first);
                }
            }
            open.pop();
        }
    }
}

/// Fails on the first key that repeats another. Each key comes with the offset after the previous member.
fn distinct(text: &str, keys: &mut [(Cow<'_, str>, usize)]) -> Result<(), CheckError> {
    // Go writes the keys of maps in this order: nothing to sort.
    if keys.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Ok(());
    }
    keys.sort_unstable();
    let twice = keys.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| &pair[1]);
    let Some((key, before)) = twice.min_by_key(|(_, before)| *before) else { return Ok(()) };
    let separators = text[*before..].find('"').unwrap_or_default();
    Err(CheckError::Duplicate { offset: before + separators, key: key.clone().into_owned() })
}
