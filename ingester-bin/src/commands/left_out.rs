//! Reports the number of live rows that the filters of kinds leave out.

use crate::output::note;
use ingester_config::Ingester;
use ingester_core::Kind;
use ingester_store::left_out::{FilterVerdict, LeftOutCount};
use ingester_store::{Store, StoreError};
use std::time::Duration;

/// The time limit for counting the rows of one kind: each object is read.
const COUNT: Duration = Duration::from_secs(30);

/// The remedy where rows wait.
pub(super) const REMEDY: &str =
    "correct the filter; if it is meant, run `ingester audit --repair`, or raise ingester.sweepLimit";

/// Counts the live rows that the filter of a kind leaves out, and decides if they may be marked as deleted. Returns `None` if counting
/// takes too long.
pub(super) async fn counted(
    store: &Store,
    kind: &Kind,
    ingester: &Ingester,
) -> Result<Option<FilterVerdict>, StoreError> {
    match tokio::time::timeout(COUNT, store.count_left_out(kind)).await {
        Ok(found) => found.map(|found| Some(FilterVerdict::new(found, ingester.fuse(kind).as_ref()))),
        Err(_) => Ok(None),
    }
}

/// The message about rows that wait.
pub(super) fn waiting(kind: &Kind, LeftOutCount { rows, live }: LeftOutCount) -> String {
    format!(
        "the filter of {} leaves out {rows} of {live} live rows, so many that none is marked as deleted",
        kind.name()
    )
}

/// Reports the live rows that the filters of these kinds leave out, as far as their tables exist.
pub(super) async fn report(store: &Store, kinds: &[Kind], ingester: &Ingester) -> Result<(), StoreError> {
    let tables = store.tables().await?;
    let is_there = |kind: &&Kind| kind.filtered() && tables.contains(kind.table().name.as_str());
    for kind in kinds.iter().filter(is_there) {
        match counted(store, kind, ingester).await {
            Ok(Some(FilterVerdict::Marks(LeftOutCount { rows: 0, .. }))) => {}
            Ok(Some(FilterVerdict::Marks(LeftOutCount { rows, live }))) => note(&format!(
                "warning: the filter of {} leaves out {rows} of {live} live rows: `ingester run` marks them as deleted",
                kind.name()
            )),
            Ok(Some(FilterVerdict::Waits(found))) => note(&format!("warning: {}: {REMEDY}", waiting(kind, found))),
            Ok(None) => note(&format!(
                "warning: the live rows that the filter of {} leaves out were not counted within {} s",
                kind.name(),
                COUNT.as_secs()
            )),
            // For example, a table of an earlier release.
            Err(error) => note(&format!(
                "warning: the live rows that the filter of {} leaves out were not counted: {error}",
                kind.name()
            )),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{counted, waiting};
    use ingester_config::{Ingester, SweepLimit};
    use ingester_core::Kind;
    use ingester_core::object::{ManagedFields, Object};
    use ingester_declare::declare::kinds;
    use ingester_store::left_out::{FilterVerdict, LeftOutCount};
    use ingester_store::migrate::{AllowedChanges, Backfill};
    use ingester_store::{ConnectOptions, RowChange, Store};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    fn job(filter: &str) -> Kind {
        let text = format!("kinds:\n- {{group: example.com, version: v1, kind: Job, namespaced: true{filter}}}\n");
        kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap().kinds[0]
    }

    fn row(kind: Kind, number: u32) -> RowChange {
        let metadata = json!({ "name": format!("j{number}"), "uid": format!("uid-{number}"), "resourceVersion": "1" });
        let spec = json!({ "mode": if number < 3 { "Batch" } else { "Stream" } });
        let object = json!({ "apiVersion": "example.com/v1", "kind": "Job", "metadata": metadata, "spec": spec });
        let object = Object::parse(object.to_string(), ManagedFields::Keep).unwrap();
        RowChange::Row(kind.row(&object).unwrap().unwrap())
    }

    #[tokio::test]
    async fn a_filter_with_a_mistake_marks_nothing_and_a_right_one_marks_what_it_leaves_out() {
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        let all = job("");
        store.make_declared(&[all], AllowedChanges::Add).await.unwrap();
        store.write(all.table(), (0..10).map(|number| row(all, number)).collect()).await.unwrap();
        let limit = |rows| Ingester { sweep_limit: SweepLimit::from_rows(rows), ..Ingester::default() };

        let wrong = job(", filter: .spec.moed = Batch");
        store.make_declared(&[wrong], AllowedChanges::Add).await.unwrap();
        let found = LeftOutCount { rows: 10, live: 10 };
        assert_eq!(counted(&store, &wrong, &limit(9)).await.unwrap(), Some(FilterVerdict::Waits(found)));
        assert_eq!(counted(&store, &wrong, &limit(10)).await.unwrap(), Some(FilterVerdict::Marks(found)));
        assert!(waiting(&wrong, found).starts_with("the filter of Job leaves out 10 of 10 live rows"));
        let backfill = |kind: &Kind, rows| Backfill::older(kind).limited(limit(rows).fuse(kind));
        let stop = CancellationToken::new();
        let filled = store.backfill(&backfill(&wrong, 9), None, &stop, |_| {}).await.unwrap();
        assert_eq!((filled.marked, filled.waits, filled.complete), (0, Some(found), true));
        assert!(!store.incomplete_backfills(&[wrong], None).await.unwrap().is_empty(), "they are found again");

        let right = job(", filter: .spec.mode = Batch");
        store.make_declared(&[right], AllowedChanges::Add).await.unwrap();
        let found = LeftOutCount { rows: 7, live: 10 };
        assert_eq!(counted(&store, &right, &limit(7)).await.unwrap(), Some(FilterVerdict::Marks(found)));
        let filled = store.backfill(&backfill(&right, 7), None, &stop, |_| {}).await.unwrap();
        assert_eq!((filled.marked, filled.waits), (7, None));
        assert_eq!(store.live_by_namespace(&right).await.unwrap(), [(String::new(), 3)]);
        assert_eq!(
            counted(&store, &right, &limit(7)).await.unwrap(),
            Some(FilterVerdict::Marks(LeftOutCount { rows: 0, live: 3 }))
        );
    }

    #[tokio::test]
    async fn a_limit_that_is_raised_lets_a_filter_mark_at_once() {
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        let all = job("");
        store.make_declared(&[all], AllowedChanges::Add).await.unwrap();
        store.write(all.table(), (0..10).map(|number| row(all, number)).collect()).await.unwrap();
        let narrow = job(", filter: .spec.mode = Other");
        store.make_declared(&[narrow], AllowedChanges::Add).await.unwrap();
        let stop = CancellationToken::new();
        let ingester = Ingester::default();
        for (rows, marked) in [(5, 0), (5, 0), (10, 10)] {
            let fuse = Ingester { sweep_limit: SweepLimit::from_rows(rows), ..ingester.clone() }.fuse(&narrow);
            let filled = store.backfill(&Backfill::older(&narrow).limited(fuse), None, &stop, |_| {}).await.unwrap();
            assert_eq!(filled.marked, marked, "{rows}");
        }
        assert!(store.incomplete_backfills(&[narrow], None).await.unwrap().is_empty());
    }
}
