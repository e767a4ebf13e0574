//! The encoder's state: the bytes that it has written, and what it has left out of them.

use super::descriptor::Descriptors;
use super::varint::{WireType, put_tag, put_varint};
use ingester_json::json::{Error, Reader};
use std::borrow::Cow;
use std::ops::Range;

/// How much of an object does not fit its message. It is left out, and the rest is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Members that match no field.
    pub fields: u64,
    /// Unknown names of enum values.
    pub enums: u64,
    /// Values that are not of their field's type.
    pub values: u64,
}

impl Lost {
    /// Returns true if nothing was left out.
    pub fn is_nothing(self) -> bool {
        self == Lost::default()
    }
}

impl std::ops::AddAssign for Lost {
    fn add_assign(&mut self, other: Self) {
        self.fields += other.fields;
        self.enums += other.enums;
        self.values += other.values;
    }
}

/// A field as it stands in the output.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) number: u32,
    pub(super) oneof: u16,
    pub(super) place: Range<usize>,
}

pub(super) struct Encoder<'d, 't> {
    pub(super) descriptors: &'d Descriptors,
    pub(super) out: Vec<u8>,
    /// Those of the messages that are open, the innermost last.
    pub(super) pieces: Vec<Piece>,
    /// The entries of the maps that are open, the innermost map's last.
    pub(super) entries: Vec<(Cow<'t, str>, Range<usize>)>,
    /// Where pieces and entries are put into order.
    pub(super) sorted: Vec<u8>,
    pub(super) lost: Lost,
}

/// True if a value was written, false if it is absent or does not fit.
pub(super) type WriteResult = Result<bool, Error>;

impl<'t> Encoder<'_, 't> {
    pub(super) fn write_text(&mut self, number: u32, text: &str) {
        put_tag(&mut self.out, number, WireType::Delimited);
        put_varint(&mut self.out, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn number(&mut self, number: u32, value: u64) {
        put_tag(&mut self.out, number, WireType::Varint);
        put_varint(&mut self.out, value);
    }

    /// Skips a value that does not fit.
    pub(super) fn misfit(&mut self, reader: &mut Reader<'t>) -> WriteResult {
        self.lost.values += 1;
        reader.skip()?;
        Ok(false)
    }

    /// Counts a value that does not fit.
    pub(super) fn no_place(&mut self) -> WriteResult {
        self.lost.values += 1;
        Ok(false)
    }
}
