//! Varints, tags and lengths (protobuf.dev, "Encoding").

/// How a field's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Delimited = 2,
    Fixed32 = 5,
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that a varint takes.
pub(super) fn varint_len(value: u64) -> usize {
    // Seven bits a byte; zero takes one too.
    (70 - (value | 1).leading_zeros() as usize) / 7
}

pub(super) fn put_tag(out: &mut Vec<u8>, number: u32, wire: WireType) {
    put_varint(out, u64::from(number) << 3 | wire as u64);
}

/// Writes the length of what stands in `out` after `start` in front of it, where one byte was left for it.
pub(super) fn put_length(out: &mut Vec<u8>, start: usize) {
    let len = out.len() - start - 1;
    let bytes = varint_len(len as u64);
    if bytes > 1 {
        let end = out.len();
        out.resize(end + bytes - 1, 0);
        out.copy_within(start + 1..end, start + bytes);
    }
    let mut value = len;
    for place in 0..bytes {
        let more = if place + 1 < bytes { 0x80 } else { 0 };
        out[start + place] = (value & 0x7f) as u8 | more;
        value >>= 7;
    }
}

/// A position in bytes that may be anything.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    /// Where the bytes begin in the whole.
    base: usize,
    pos: usize,
}

/// A field's value as it stands in the bytes.
#[derive(Clone, Copy)]
pub(super) enum Raw<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// The bytes, and where they begin in the whole.
    Delimited(&'b [u8], usize),
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8], base: usize) -> Self {
        Cursor { bytes, base, pos: 0 }
    }

    pub(super) fn offset(&self) -> usize {
        self.base + self.pos
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.pos == self.bytes.len()
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = *self.bytes.get(self.pos)?;
            self.pos += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.pos..self.pos.checked_add(len)?)?;
        self.pos += len;
        Some(taken)
    }

    pub(super) fn fixed32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn fixed64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// The next field's number and value; `None` if the bytes are not a field.
    pub(super) fn field(&mut self) -> Option<(u32, Raw<'b>)> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
        let raw = match tag & 7 {
            0 => Raw::Varint(self.varint()?),
            1 => Raw::Fixed64(self.fixed64()?),
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                let base = self.offset();
                Raw::Delimited(self.take(len)?, base)
            }
            5 => Raw::Fixed32(self.fixed32()?),
            _ => return None,
        };
        Some((number, raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_as_long_as_they_must_be_and_read_back() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u64::from(u32::MAX), i64::MAX as u64, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_len(value), "{value}");
            assert_eq!(Cursor::new(&out, 0).varint(), Some(value));
        }
        assert_eq!(Cursor::new(&[0xff; 11], 0).varint(), None);
    }

    #[test]
    fn a_length_of_any_size_goes_in_front() {
        for len in [0, 1, 127, 128, 16_383, 16_384, 3_000_000] {
            let mut out = vec![7, 0];
            out.extend((0..len).map(|n| n as u8));
            put_length(&mut out, 1);
            let mut cursor = Cursor::new(&out[1..], 0);
            assert_eq!(cursor.varint(), Some(len as u64));
            let content = cursor.take(len).unwrap();
            assert!(cursor.is_at_end() && content.iter().enumerate().all(|(n, byte)| *byte == n as u8));
        }
    }
}
