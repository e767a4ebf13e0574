//! Tests that need no database.

use super::change::{RowChange, latest_of_each};
use super::companions::{CompanionChanges, alike_but_for_labels};
use super::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone};
use super::plan::{StoredCompanions, WritePlan, expected_version};
use crate::driver::{ErrorClass, StoreError};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::Companion;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::ChangeKind;
use std::collections::HashSet;

fn row(uid: &str, res_version: u64, labels: &[(&str, &str)]) -> Row {
    Row {
        lost: Default::default(),
        unfit: Default::default(),
        origin: None,
        expected: None,
        uid: uid.into(),
        res_version,
        ingest_version: 0,
        delete_time: None,
        evict_time: None,
        evict_confirmed: false,
        values: Box::default(),
        labels: labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
        annotations: Default::default(),
        many: Box::default(),
    }
}

#[test]
fn only_the_latest_change_of_each_object_is_kept_in_uid_order() {
    let gone = RowChange::Tombstone { uid: "a".into(), res_version: 3, delete_time: Micros(0) };
    let changes = vec![
        RowChange::Row(row("b", 10, &[])),
        RowChange::Row(row("a", 2, &[])),
        gone.clone(),
        RowChange::Row(row("b", 9, &[])),
        // Of two changes with one version, the later one wins, such as a tombstone that follows a live state.
        RowChange::Row(row("c", 1, &[("x", "1")])),
        RowChange::Row(row("c", 1, &[("x", "2")])),
    ];
    let latest = latest_of_each(changes);
    assert_eq!(latest, [gone, RowChange::Row(row("b", 10, &[])), RowChange::Row(row("c", 1, &[("x", "2")]))]);
}

#[test]
fn only_labels_that_differ_are_written_or_deleted() {
    let pair = |uid: &str, key: &str, value: &str| (uid.to_owned(), key.to_owned(), value.to_owned());
    let stored = [pair("a", "same", "1"), pair("a", "other", "1"), pair("a", "gone", "1"), pair("b", "gone", "2")];
    let (a, b, c) =
        (row("a", 1, &[("new", "1"), ("other", "2"), ("same", "1")]), row("b", 1, &[]), row("c", 1, &[("x", "y")]));
    let mut difference = CompanionChanges::between(Companion::Labels, &stored, &[&a, &b]);
    assert_eq!(difference.delete, [("a", "gone"), ("b", "gone")]);
    assert_eq!(difference.write, [("a", "new", "1"), ("a", "other", "2")]);
    difference.write_all(Companion::Labels, &c);
    assert_eq!(difference.write.last(), Some(&("c", "x", "y")));
    assert_eq!(CompanionChanges::between(Companion::Annotations, &[], &[&a]), CompanionChanges::default());
}

#[test]
fn stored_labels_tell_whether_annotations_stay_the_same() {
    let annotated = |uid: &str, labels: &[(&str, &str)], annotation: &str| Row {
        annotations: [("key".into(), annotation.into())].into(),
        ..row(uid, 2, labels)
    };
    let replacing = |old: &Row, row: Row| {
        let expected = Expected::Stored { res_version: 1, companions: old.companions_hash() };
        Row { expected: Some(expected), ..row }
    };
    let stored = |row: &Row| {
        row.labels
            .iter()
            .map(|(key, value)| (row.uid.to_string(), key.to_string(), value.to_string()))
            .collect::<Vec<_>>()
    };
    let old = ["a", "b", "c", "d"].map(|uid| annotated(uid, &[("x", "1"), ("y", "1")], "1"));
    let new = [
        replacing(&old[0], annotated("a", &[("y", "2"), ("z", "1")], "1")),
        replacing(&old[1], annotated("b", &[("y", "2"), ("z", "1")], "2")),
        replacing(&old[2], annotated("c", &[], "1")),
        // Its labels are not the ones that its writer wrote.
        replacing(&old[3], annotated("d", &[("x", "1")], "1")),
    ];
    let mut labels: Vec<_> = old.iter().flat_map(stored).collect();
    labels.reverse();
    labels[0].2 = "by hand".to_owned();
    let mut alike: Vec<&str> = alike_but_for_labels(&new.each_ref(), &labels).into_iter().collect();
    alike.sort_unstable();
    assert_eq!(alike, ["a", "c"]);
}

#[test]
fn labels_and_annotations_that_are_the_same_do_not_cancel_each_other_out() {
    let of = |label: &str, annotation: &str| {
        let annotations = [("key".into(), annotation.into())].into();
        Row { annotations, ..row("a", 1, &[("key", label)]) }.companions_hash()
    };
    let hashes = [row("a", 1, &[]).companions_hash(), of("1", "1"), of("2", "2"), of("1", "2"), of("2", "1")];
    assert_eq!(HashSet::from(hashes).len(), hashes.len());
}

#[test]
fn errors_that_a_retry_cannot_fix_are_not_transient() {
    let error = StoreError::from_sqlx("connecting".into(), sqlx::Error::Configuration("no".into()));
    assert_eq!(error.class(), ErrorClass::Operator);
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    assert_eq!(StoreError::from_sqlx("writing".into(), reset.into()).class(), ErrorClass::Transient);
}

const EVICTIONS: [Eviction; 4] = [Eviction::None, Eviction::Intended, Eviction::Confirmed, Eviction::Unrecorded];

/// Returns every state of a row, in versions before, at and after 5, by two definitions.
fn versions() -> impl Iterator<Item = Version> {
    let of = |(res_version, ingest_version)| {
        let state =
            move |eviction| [false, true].map(|deleted| Version { res_version, ingest_version, deleted, eviction });
        EVICTIONS.into_iter().flat_map(state)
    };
    [4, 5, 6].into_iter().flat_map(|version| [(version, 1), (version, 2)]).flat_map(of)
}

/// Returns a row in this state. No writer writes an eviction without a record of its progress.
fn row_of(version: Version) -> Option<Row> {
    let Version { res_version, ingest_version, deleted, eviction } = version;
    (eviction != Eviction::Unrecorded).then(|| Row {
        ingest_version,
        delete_time: deleted.then_some(Micros(1)),
        evict_time: (eviction != Eviction::None).then_some(Micros(1)),
        evict_confirmed: eviction == Eviction::Confirmed,
        ..row("a", res_version, &[])
    })
}

fn plan(change: &RowChange, stored: Option<Version>) -> WritePlan<'_> {
    let mut plan = WritePlan::default();
    plan.add(change, stored);
    plan
}

#[test]
fn a_plan_does_with_each_change_what_the_guard_says() {
    for (stored, new) in versions().flat_map(|stored| versions().filter_map(row_of).map(move |new| (stored, new))) {
        let says = verdict(stored, new.version());
        let change = RowChange::Row(new);
        let plan = plan(&change, Some(stored));
        let does = [plan.overwrite.len(), plan.unchanged, plan.stale.len(), plan.mark.len(), plan.confirm.len()];
        let verdicts = [Verdict::Write, Verdict::Unchanged, Verdict::Stale, Verdict::Mark, Verdict::Confirm];
        assert_eq!(does, verdicts.map(|verdict| usize::from(verdict == says)), "{stored:?} {change:?}");
        assert_eq!(plan.insert.len(), 0);
        assert_eq!(plan.report().written, plan.uids().count());
    }
    let change = RowChange::Row(row("a", 5, &[]));
    let plan = plan(&change, None);
    assert_eq!((plan.insert.len(), plan.report().written), (1, 1));
}

#[test]
fn the_log_has_what_becomes_of_an_object_and_what_was_before_its_eviction() {
    let version = |res_version, deleted, eviction| Version { res_version, ingest_version: 2, deleted, eviction };
    let stored = |deleted, eviction| version(5, deleted, eviction);
    let live = stored(false, Eviction::None);
    let gone = stored(true, Eviction::None);
    let leaving = stored(false, Eviction::Intended);
    let later = |deleted, eviction| version(6, deleted, eviction);
    #[rustfmt::skip]
    let cases = [
        (live, later(false, Eviction::None), [None, Some(ChangeKind::Updated)]),
        (live, later(true, Eviction::None), [None, Some(ChangeKind::Deleted)]),
        (live, later(false, Eviction::Intended), [None, Some(ChangeKind::Evicting)]),
        (live, later(false, Eviction::Confirmed), [Some(ChangeKind::Evicting), Some(ChangeKind::Evicted)]),
        (gone, later(false, Eviction::None), [None, Some(ChangeKind::Revived)]),
        (gone, later(false, Eviction::Intended), [Some(ChangeKind::Revived), Some(ChangeKind::Evicting)]),
        (gone, later(false, Eviction::Confirmed), [Some(ChangeKind::Revived), Some(ChangeKind::Evicted)]),
        (leaving, later(false, Eviction::None), [None, Some(ChangeKind::Revived)]),
        (leaving, later(false, Eviction::Confirmed), [None, Some(ChangeKind::Evicted)]),
        // Another definition of the kind made the row from the same version.
        (Version { ingest_version: 1, ..live }, live, [None, None]),
    ];
    for (stored, new, entries) in cases {
        let change = RowChange::Row(row_of(new).unwrap());
        let plan = plan(&change, Some(stored));
        let [overwrite] = &plan.overwrite[..] else { panic!("{stored:?} {new:?}: {plan:?}") };
        assert_eq!(overwrite.entries, entries, "{stored:?} {new:?}");
        // If the cluster was restored, even a row of the same version says something else.
        let change = RowChange::Replacement { row: row_of(new).unwrap(), seen: stored };
        let plan = self::plan(&change, Some(stored));
        assert!(plan.overwrite[0].becomes().is_some(), "{stored:?} {new:?}");
    }
}

#[test]
fn what_a_statement_requires_leads_to_the_same_plan_as_the_row_that_meets_it() {
    let old = Row { ingest_version: 2, ..row("a", 5, &[("x", "1")]) };
    let expected = Some(Expected::Stored { res_version: 5, companions: old.companions_hash() });
    let new = |labels: &[(&str, &str)]| Row { expected, ingest_version: 2, ..row("a", 6, labels) };
    for (labels, companions) in [("1", StoredCompanions::Same), ("2", StoredCompanions::Expected)] {
        let change = RowChange::Row(new(&[("x", labels)]));
        let RowChange::Row(row) = &change else { unreachable!() };
        let by_expected = plan(&change, expected_version(row));
        assert_eq!(by_expected.overwrite[0].companions, companions);
        // The statement for one object overwrites rows of earlier definitions, too.
        for ingest_version in [1, 2] {
            let stored = Version { res_version: 5, ingest_version, deleted: false, eviction: Eviction::None };
            assert_eq!(plan(&change, Some(stored)), by_expected);
        }
        let other = Version { res_version: 4, ingest_version: 2, deleted: false, eviction: Eviction::None };
        assert_eq!(plan(&change, Some(other)).overwrite[0].companions, StoredCompanions::Unknown);
    }
    // Any earlier live row.
    let gone = RowChange::Tombstone { uid: "a".into(), res_version: 5, delete_time: Micros(1) };
    for stored in versions().filter(|stored| !stored.deleted && !stored.evicted()) {
        let is_marked = !plan(&gone, Some(stored)).mark.is_empty();
        assert_eq!(is_marked, verdict_of_tombstone(stored, 5) == Verdict::Write, "{stored:?}");
        assert_eq!(is_marked, stored.res_version <= 5, "{stored:?}");
    }
}
