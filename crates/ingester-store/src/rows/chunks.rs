//! Rows in statements: how many fit into one. Pure.

use ingester_sql::dialect::Dialect;

/// The most rows in one statement whose text depends on their number. Such statements are prepared once for each number, so numbers above
/// [`EXACT`] are powers of two: a dozen prepared texts per statement instead of hundreds.
pub(super) const MOST_ROWS: usize = 128;

/// Up to this many rows go into one statement, whatever their number. A single object has few labels, and each round trip counts.
const EXACT: usize = 8;

/// A statement takes this many times as many rows if one text serves any number of them.
const IN_ARRAYS: usize = 8;

/// The most parameters in one statement; SQLite's default of 32,766 is the lowest limit.
const MOST_PARAMS: usize = 32_000;

/// The most rows in one statement that has this many parameters for each.
pub(super) fn most_rows(params: usize) -> usize {
    (MOST_PARAMS / params.max(1)).clamp(1, MOST_ROWS)
}

/// Returns how many bytes of parameters fit into one packet of this size, next to the statement's text and the types of the parameters.
pub(super) fn room(max_packet: usize) -> usize {
    max_packet.saturating_sub(max_packet / 16).saturating_sub(4096)
}

/// Returns the message for a row that is too large for one packet.
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
    dialect: Dialect,
    bytes: impl Fn(&T) -> usize,
) -> Result<Vec<&[T]>, sqlx::Error> {
    let room = room(max_packet);
    let mut packets = Vec::new();
    let mut start = 0;
    let mut size = 0;
    for (index, row) in rows.iter().enumerate() {
        let more = bytes(row);
        if more > room {
            return Err(sqlx::Error::InvalidArgument(too_large(more, max_packet)));
        }
        if size + more > room {
            packets.extend(chunks(&rows[start..index], most, dialect));
            (start, size) = (index, 0);
        }
        size += more;
    }
    packets.extend(chunks(&rows[start..], most, dialect));
    Ok(packets)
}

/// Splits rows into slices of at most `most` rows. Lengths above [`EXACT`] are powers of two. If one text of the statement serves any
/// number of rows, slices are larger and of any length.
pub(crate) fn chunks<T>(mut rows: &[T], most: usize, dialect: Dialect) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        if rows.is_empty() {
            return None;
        }
        let length = match rows.len() {
            all if dialect.has_arrays() => all.min(IN_ARRAYS * most),
            few if few <= EXACT => few.min(1 << most.ilog2()),
            many => (1 << many.ilog2()).min(1 << most.ilog2()),
        };
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, chunks};

    #[test]
    fn statements_come_in_powers_of_two() {
        let rows = [0; 300];
        let lengths = |rows, most| chunks(rows, most, Dialect::MySql).map(<[i32]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(&rows, 128), [128, 128, 32, 8, 4]);
        assert_eq!(lengths(&rows[..39], 128), [32, 7]);
        assert_eq!(lengths(&rows[..7], 100), [7]);
        assert_eq!(lengths(&rows[..7], 5), [4, 3]);
        assert!(lengths(&rows[..0], 100).is_empty());
    }

    #[test]
    fn arrays_have_any_number_of_rows() {
        let rows = [0; 300];
        let lengths = |most| chunks(&rows, most, Dialect::Postgres).map(<[i32]>::len).collect::<Vec<_>>();
        assert_eq!((lengths(128), lengths(16)), (vec![300], vec![128, 128, 44]));
    }
}
