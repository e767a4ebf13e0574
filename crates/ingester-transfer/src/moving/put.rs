//! Writes rows with the states of their objects over the stored rows.

use ingester_core::kind::Kind;
use ingester_core::row::Row;
use ingester_store::guard::{Eviction, Version};
use ingester_store::{Effect, ErrorClass, RejectedObject, Report, RowChange, Store, StoreError};

/// The action for a row that tells the state of its object, given the stored row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PutAction {
    /// Write it under the guard.
    Write,
    /// Replace the stored row of this version. The guard would keep that row because it is, or may become, the only copy, but a person has
    /// decided.
    Replace(Version),
    /// The stored row is the same.
    Nothing,
    /// Keep the stored row: it is later, or only its own writer can judge it.
    Keep,
}

/// Decides what to do with a row. The guard judges states that a cluster reports. A person who moves rows knows more: if an evicted object
/// has a higher version, its users have changed it, and if it is deleted, they have deleted it.
pub(super) fn due(stored: Option<Version>, new: Version) -> PutAction {
    let Some(old) = stored else { return PutAction::Write };
    let later = new.res_version > old.res_version;
    let same = new.res_version == old.res_version;
    if old.deleted {
        return match (new.deleted, later) {
            (true, false) => PutAction::Nothing,
            (true, true) if old.evicted() => PutAction::Replace(old),
            (true, true) => PutAction::Write,
            (false, _) => PutAction::Keep,
        };
    }
    match old.eviction {
        _ if !later && !same => PutAction::Keep,
        Eviction::None if later || new.deleted || new.evicted() || new.res_version == 0 => PutAction::Write,
        Eviction::None => PutAction::Nothing,
        _ if new.deleted => PutAction::Replace(old),
        Eviction::Intended if later || new.eviction.is_only_copy() => PutAction::Write,
        Eviction::Intended if new.evicted() => PutAction::Nothing,
        Eviction::Confirmed | Eviction::Unrecorded if later && new.eviction.is_only_copy() => PutAction::Replace(old),
        Eviction::Confirmed if new.eviction.is_only_copy() => PutAction::Nothing,
        Eviction::Unrecorded if new.eviction.is_only_copy() => PutAction::Write,
        Eviction::Intended | Eviction::Confirmed | Eviction::Unrecorded => PutAction::Keep,
    }
}

/// Writes rows with the states of their objects. Stored rows that are kept are in the report's `stale`. With [`Effect::Tried`] it writes
/// nothing and reports what a write would do, as far as the guard decides it.
///
/// # Errors
/// As [`Store::write`].
pub(crate) async fn put(store: &Store, kind: &Kind, rows: Vec<Row>, effect: Effect) -> Result<Report, StoreError> {
    let uids: Vec<&str> = rows.iter().map(|row| &*row.uid).collect();
    let stored = store.versions(kind.table(), &uids).await?;
    let mut report = Report::default();
    let mut writes = Vec::with_capacity(rows.len());
    for row in rows {
        match due(stored.get(&row.uid).copied(), row.version()) {
            PutAction::Write => writes.push(RowChange::Row(row)),
            PutAction::Nothing => report.unchanged += 1,
            PutAction::Keep => report.stale.push(row.uid),
            PutAction::Replace(_) if effect == Effect::Tried => report.written += 1,
            PutAction::Replace(seen) => match store.replace_evicted(kind, &row, seen).await {
                Ok(true) => report.written += 1,
                Ok(false) => report.stale.push(row.uid),
                Err(error) if error.class() == ErrorClass::Object => {
                    report.rejected.push(RejectedObject { uid: row.uid, reason: error.reason().to_owned() });
                }
                Err(error) => return Err(error),
            },
        }
    }
    if !writes.is_empty() {
        report.add(match effect {
            Effect::Written => store.write(kind.table(), writes).await?,
            Effect::Tried => store.try_write(kind.table(), &writes).await?,
        });
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::{PutAction, due};
    use ingester_store::guard::{Eviction, Verdict, Version, verdict};

    const EVICTIONS: [Eviction; 4] = [Eviction::None, Eviction::Intended, Eviction::Confirmed, Eviction::Unrecorded];

    fn version(res_version: u64, deleted: bool, eviction: Eviction) -> Version {
        Version { res_version, ingest_version: 1, deleted, eviction }
    }

    fn all() -> impl Iterator<Item = (Version, Version)> {
        let states = || [false, true].into_iter().flat_map(|deleted| EVICTIONS.map(|eviction| (deleted, eviction)));
        let olds = states().map(|(deleted, eviction)| version(5, deleted, eviction));
        olds.flat_map(move |old| {
            [4, 5, 6].into_iter().flat_map(move |number| {
                states().map(move |(deleted, eviction)| (old, version(number, deleted, eviction)))
            })
        })
    }

    #[test]
    fn nothing_goes_back_to_an_earlier_version_and_nothing_that_is_deleted_lives_again() {
        for (old, new) in all() {
            let due = due(Some(old), new);
            let is_write = matches!(due, PutAction::Write | PutAction::Replace(_));
            assert!(!is_write || new.res_version >= old.res_version, "{old:?} {new:?} {due:?}");
            assert!(!is_write || !old.deleted || new.deleted, "{old:?} {new:?} {due:?}");
        }
    }

    #[test]
    fn an_only_copy_gives_way_to_an_only_copy_or_a_deletion_alone() {
        for (old, new) in all().filter(|(old, _)| old.eviction.is_only_copy()) {
            if let PutAction::Replace(seen) = due(Some(old), new) {
                assert_eq!(seen, old);
                assert!(new.deleted || new.eviction.is_only_copy(), "{old:?} {new:?}");
            }
        }
    }

    #[test]
    fn rows_that_are_due_pass_the_guard() {
        for (old, new) in all().filter(|(_, new)| new.eviction != Eviction::Unrecorded) {
            if due(Some(old), new) == PutAction::Write {
                let verdict = verdict(old, new);
                assert!(!matches!(verdict, Verdict::Stale | Verdict::Unchanged), "{old:?} {new:?} {verdict:?}");
            }
        }
    }

    #[test]
    fn a_row_that_was_copied_is_not_due_again() {
        for deleted in [false, true] {
            for eviction in EVICTIONS {
                let new = version(5, deleted, eviction);
                let stored = Version {
                    eviction: if eviction == Eviction::Unrecorded { Eviction::Confirmed } else { eviction },
                    ..new
                };
                assert_eq!(due(Some(stored), new), PutAction::Nothing, "{new:?}");
            }
        }
        // Its version is unknown, so it may have changed.
        let assumed = version(0, false, Eviction::None);
        assert_eq!(due(Some(assumed), assumed), PutAction::Write);
        assert_eq!(due(Some(version(7, false, Eviction::None)), assumed), PutAction::Keep);
    }
}
