//! Entries of a log, for tests.

use ingester_core::value::Micros;
use ingester_store::changes::{Change, ChangeKind, Position};

/// The entry at this position.
pub(super) fn change(place: u64, uid: &str, res_version: u64, what: ChangeKind) -> Change {
    let position = Position::of_version(1 << 62 | place).unwrap();
    let namespace = "ml".into();
    let name = uid.into();
    Change { position, uid: uid.into(), namespace, name, res_version, what, at: Micros(0) }
}
