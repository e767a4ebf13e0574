//! Tests that need no database.

use super::change::{RowChange, latest_of_each};
use super::companions::{CompanionChanges, alike_but_for_labels};
use crate::driver::{ErrorClass, StoreError};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::Companion;
use ingester_core::value::Micros;
use std::collections::HashSet;

fn row(uid: &str, res_version: u64, labels: &[(&str, &str)]) -> Row {
    Row {
        lost: Default::default(),
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
        // At one version the later of the two: a tombstone behind a live state, say.
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
        // Its labels are not those that its writer has written.
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
    let error = StoreError::of("connecting".into(), sqlx::Error::Configuration("no".into()));
    assert_eq!(error.class(), ErrorClass::Operator);
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    assert_eq!(StoreError::of("writing".into(), reset.into()).class(), ErrorClass::Transient);
}
