//! Rows in statements: how many fit into one. Pure.

/// The most rows in one statement. Statements are prepared once for each number of rows, so numbers above [`EXACT`] are powers
/// of two: a dozen prepared texts per statement instead of hundreds.
pub(super) const MOST_ROWS: usize = 128;

/// Up to this number, rows are one statement whatever their number: a single object has few labels, and each round trip counts.
const EXACT: usize = 8;

/// The most parameters in one statement; SQLite's default of 32,766 is the lowest limit.
const MOST_PARAMS: usize = 32_000;

/// The most rows in one statement that has so many parameters for each.
pub(super) fn most_rows(params: usize) -> usize {
    (MOST_PARAMS / params.max(1)).clamp(1, MOST_ROWS)
}

/// How many bytes of parameters fit into one packet of this size, beside the statement's text and the types of the parameters.
pub(super) fn room(max_packet: usize) -> usize {
    max_packet.saturating_sub(max_packet / 16).saturating_sub(4096)
}

/// Why a row of so many bytes cannot be written.
pub(super) fn too_large(bytes: usize, max_packet: usize) -> String {
    format!(
        "its {bytes} bytes do not fit into one packet of the server, which takes {max_packet}: raise max_allowed_packet"
    )
}

/// Splits rows into statements of at most `most` rows that fit into one packet of the server.
pub(super) fn packets<T>(
    rows: &[T],
    most: usize,
    max_packet: usize,
    bytes: impl Fn(&T) -> usize,
) -> Result<Vec<&[T]>, sqlx::Error> {
    let room = room(max_packet);
    let mut packets = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, row) in rows.iter().enumerate() {
        let more = bytes(row);
        if more > room {
            return Err(sqlx::Error::InvalidArgument(too_large(more, max_packet)));
        }
        if size + more > room {
            packets.extend(chunks(&rows[start..index], most));
            (start, size) = (index, 0);
        }
        size += more;
    }
    packets.extend(chunks(&rows[start..], most));
    Ok(packets)
}

/// Slices of at most `most` rows; lengths above [`EXACT`] are powers of two.
pub(crate) fn chunks<T>(mut rows: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        if rows.is_empty() {
            return None;
        }
        let length = if rows.len() <= EXACT { rows.len() } else { 1 << rows.len().ilog2() }.min(1 << most.ilog2());
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn statements_come_in_powers_of_two() {
        let rows = [0; 300];
        let lengths: Vec<usize> = chunks(&rows, 128).map(<[i32]>::len).collect();
        assert_eq!(lengths, [128, 128, 32, 8, 4]);
        let lengths: Vec<usize> = chunks(&rows[..39], 128).map(<[i32]>::len).collect();
        assert_eq!(lengths, [32, 7]);
        let lengths: Vec<usize> = chunks(&rows[..7], 100).map(<[i32]>::len).collect();
        assert_eq!(lengths, [7]);
        let lengths: Vec<usize> = chunks(&rows[..7], 5).map(<[i32]>::len).collect();
        assert_eq!(lengths, [4, 3]);
        assert_eq!(chunks(&rows[..0], 100).count(), 0);
    }
}
