//! The shapes of tokens: where a number, an escape, a string or a word ends.

/// The offset after the number that starts at `pos`, or the offset at which it stops being one.
#[inline]
pub(super) fn number_end(bytes: &[u8], mut pos: usize) -> Result<usize, usize> {
    let byte = |pos: usize| bytes.get(pos).copied().unwrap_or(0);
    let digits = |mut pos: usize| {
        let start = pos;
        while byte(pos).is_ascii_digit() {
            pos += 1;
        }
        if pos == start { Err(pos) } else { Ok(pos) }
    };
    if byte(pos) == b'-' {
        pos += 1;
    }
    pos = if byte(pos) == b'0' { pos + 1 } else { digits(pos)? };
    if byte(pos) == b'.' {
        pos = digits(pos + 1)?;
    }
    if matches!(byte(pos), b'e' | b'E') {
        pos += 1;
        if matches!(byte(pos), b'+' | b'-') {
            pos += 1;
        }
        pos = digits(pos)?;
    }
    Ok(pos)
}

/// True if a number may be beyond a 64-bit float: its text has an exponent, or very many digits.
#[inline]
pub(super) fn may_be_infinite(number: &str) -> bool {
    // The greatest float has 309 digits before its point; `1e309` is the shortest text beyond it.
    if number.len() < 5 {
        return false;
    }
    let mut has_exponent = number.len() > 308;
    for byte in number.as_bytes() {
        has_exponent |= matches!(byte, b'e' | b'E');
    }
    has_exponent
}

/// The character of the escape whose backslash is at `pos`, and the offset after it. Both halves of a surrogate pair
/// are one escape; half a pair is not a character.
pub(super) fn escape(bytes: &[u8], pos: usize) -> Option<(Option<char>, usize)> {
    let short = match bytes.get(pos + 1)? {
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => {
            let unit = unicode_escape(bytes, pos)?;
            if let 0xd800..0xdc00 = unit
                && let Some(low @ 0xdc00..0xe000) = unicode_escape(bytes, pos + 6)
            {
                return Some((Some(char::decode_utf16([unit, low]).next()?.ok()?), pos + 12));
            }
            return Some((char::from_u32(u32::from(unit)), pos + 6));
        }
    };
    Some((Some(short), pos + 2))
}

/// The code unit of the `\uXXXX` at `pos`.
fn unicode_escape(bytes: &[u8], pos: usize) -> Option<u16> {
    let digits = bytes.get(pos..pos + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit: u16, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// Returns the high bit of the first of eight bytes that is a quote, a backslash or a control character. Higher bits mean nothing.
#[inline]
fn special(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // A byte below `limit` borrows from its high bit; a borrow out of a byte disturbs only those after it.
    let below = |bytes: u64, limit: u8| bytes.wrapping_sub(EACH * u64::from(limit)) & !bytes;
    let equal = |byte: u8| below(bytes ^ (EACH * u64::from(byte)), 1);
    (below(bytes, 0x20) | equal(b'"') | equal(b'\\')) & (EACH * 0x80)
}

/// The offset of the first byte from `pos` on that does not stand for itself in a string: a quote, a backslash, a
/// control character, or the end of the text.
#[inline]
pub(super) fn plain_end(bytes: &[u8], mut pos: usize) -> usize {
    let Some(rest) = bytes.get(pos..) else { return pos };
    // Chunks of known length need no checks in the loop.
    for chunk in rest.as_chunks::<8>().0 {
        let found = special(u64::from_le_bytes(*chunk));
        if found != 0 {
            return pos + found.trailing_zeros() as usize / 8;
        }
        pos += 8;
    }
    while bytes.get(pos).is_some_and(|byte| *byte >= 0x20 && *byte != b'"' && *byte != b'\\') {
        pos += 1;
    }
    pos
}

/// The offset after the closing quote of the string whose body starts at `pos`; none where it is not closed. The
/// body is not checked.
pub(super) fn string_end(bytes: &[u8], mut pos: usize) -> Option<usize> {
    loop {
        pos = plain_end(bytes, pos);
        match bytes.get(pos)? {
            b'"' => return Some(pos + 1),
            b'\\' => pos += 2,
            _ => pos += 1,
        }
    }
}

/// Returns the offset after the value whose first byte is at `pos`, judged only from its strings and brackets; `None` if it does not end.
/// It may be nested to any depth: brackets are counted, and nothing recurses.
pub(super) fn value_end(bytes: &[u8], mut pos: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(pos)? {
            b'"' => pos = string_end(bytes, pos + 1)?,
            b'{' | b'[' => {
                depth += 1;
                pos += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                pos += 1;
            }
            byte if is_word(*byte) => pos = word_end(bytes, pos),
            _ if depth > 0 => {
                pos += 1;
                continue;
            }
            _ => return None,
        }
        if depth == 0 {
            return Some(pos);
        }
    }
}

/// The offset of the first byte from `pos` on that is not part of a number, `true`, `false` or `null`.
#[inline]
pub(super) fn word_end(bytes: &[u8], mut pos: usize) -> usize {
    while bytes.get(pos).is_some_and(|byte| is_word(*byte)) {
        pos += 1;
    }
    pos
}

/// True if a number, `true`, `false` or `null` may contain this byte.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}
