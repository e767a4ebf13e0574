//! Every kind of difference, and the pairs that are equal.

use super::{Difference, differences};
use crate::rows::StoredRow;
use ingester_core::object::StringMap;
use ingester_core::row::{Eviction, Row};
use ingester_core::schema::{Column, Field, Ident, Shape, SqlType, Table, TableParts, base};
use ingester_core::value::{Micros, Value};

const FIELDS: &[Field] = &[
    Field::new("owner", Shape::scalar(SqlType::VarChar(255))),
    Field::new("count", Shape::scalar(SqlType::BigIntUnsigned)),
    Field::new("ratio", Shape::scalar(SqlType::Double)),
    Field::new("ready", Shape::scalar(SqlType::Boolean)),
    Field::new("since", Shape::scalar(SqlType::DateTime)),
];
const PARTS: TableParts = TableParts::of(FIELDS);
const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
static TABLE: Table = Table {
    kind: "Widget",
    name: Ident::new("widget"),
    was: None,
    columns: &COLUMNS,
    many: &[],
    keys: &[],
    companions: true,
    history: None,
};

const OWNER: usize = base::JSON + 1;
const COUNT: usize = base::JSON + 2;
const RATIO: usize = base::JSON + 3;
const READY: usize = base::JSON + 4;
const SINCE: usize = base::JSON + 5;

fn companion(rows: &[(&str, &str)]) -> StringMap {
    rows.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

/// Returns a row, and the same row as it is stored.
fn both() -> (Row, StoredRow) {
    let mut values = vec![Value::Null; COLUMNS.len()];
    values[base::UID] = Value::text("a");
    values[base::GROUP_VER] = Value::text("example.com/v1");
    values[base::NAMESPACE] = Value::text("ns");
    values[base::NAME] = Value::text("name");
    values[base::RES_VERSION] = Value::UInt(7);
    values[base::CREATE_TIME] = Value::Time(Micros(1_773_088_606_500_000));
    values[base::PROTO] = Value::Bytes((0..40).collect());
    values[base::JSON] = Value::text(r#"{"spec":{"owner":"me"}}"#);
    values[OWNER] = Value::text("me");
    values[COUNT] = Value::UInt(3);
    values[RATIO] = Value::Double(0.5);
    values[READY] = Value::Bool(true);
    let row = Row {
        lost: Default::default(),
        unfit: Default::default(),
        origin: None,
        expected: None,
        uid: "a".into(),
        res_version: 7,
        ingest_version: 0,
        delete_time: None,
        evict_time: None,
        evict_confirmed: false,
        values: values.clone().into(),
        labels: companion(&[("tier", "one"), ("zone", "b")]),
        annotations: companion(&[("note", "text")]),
        many: Box::default(),
    };
    values[base::UPDATE_TIME] = Value::Time(Micros(1));
    let stored = StoredRow {
        uid: "a".into(),
        res_version: 7,
        ingest_version: 0,
        delete_time: None,
        evict_time: None,
        eviction: Eviction::None,
        values: values.into(),
        many: row.many.clone(),
        labels: row.labels.clone(),
        annotations: row.annotations.clone(),
    };
    (row, stored)
}

/// Returns the differences if one value is stored in place of the other.
fn found(place: usize, wanted: Value, stored: Value) -> Vec<Difference> {
    let (mut row, mut beside) = both();
    row.values[place] = wanted;
    beside.values[place] = stored;
    differences(&TABLE, &row, &beside)
}

#[test]
fn a_text_with_nul_may_be_stored_as_null() {
    assert_eq!(found(OWNER, Value::text("m\0e"), Value::Null), []);
    assert_eq!(found(OWNER, Value::text("me"), Value::Null).len(), 1);
    assert_eq!(found(OWNER, Value::Null, Value::text("m\0e")).len(), 1);
    assert_eq!(found(OWNER, Value::text("m\0e"), Value::text("me")).len(), 1);
}

fn difference(what: &str, wanted: &str, stored: &str) -> Difference {
    Difference { what: what.into(), wanted: wanted.into(), stored: stored.into() }
}

#[test]
fn a_row_that_is_stored_as_it_was_written_has_no_difference() {
    let (row, stored) = both();
    assert_eq!(differences(&TABLE, &row, &stored), []);
}

#[test]
fn every_column_is_compared_except_those_outside_the_object() {
    for (place, column) in COLUMNS.iter().enumerate() {
        let (row, mut stored) = both();
        match place {
            base::DELETE_TIME => stored.delete_time = Some(Micros(0)),
            base::EVICT_TIME => stored.evict_time = Some(Micros(0)),
            _ => stored.values[place] = Value::text("altered"),
        }
        let found = differences(&TABLE, &row, &stored);
        let whats: Vec<&str> = found.iter().map(|difference| difference.what.as_str()).collect();
        if [base::UPDATE_TIME, base::INGEST_VERSION, base::EVICT_CONFIRMED].contains(&place) {
            assert_eq!(found, []);
        } else {
            assert_eq!(whats, [column.name.as_str()]);
        }
    }
}

#[test]
fn a_difference_shows_both_values() {
    for (place, wanted, stored, shown) in [
        (OWNER, Value::text("me"), Value::text("Me "), difference("owner", "\"me\"", "\"Me \"")),
        (OWNER, Value::text("NULL"), Value::Null, difference("owner", "\"NULL\"", "NULL")),
        (OWNER, Value::Null, Value::text(""), difference("owner", "NULL", "\"\"")),
        (
            COUNT,
            Value::UInt(u64::MAX),
            Value::UInt(u64::MAX - 1),
            difference("count", "18446744073709551615", "18446744073709551614"),
        ),
        (COUNT, Value::Int(-1), Value::UInt(u64::MAX), difference("count", "-1", "18446744073709551615")),
        (
            RATIO,
            Value::Double(0.1),
            Value::Double(0.1 + f64::EPSILON),
            difference("ratio", "0.1", "0.10000000000000023"),
        ),
        (READY, Value::Bool(true), Value::Int(2), difference("ready", "true", "2")),
        (
            SINCE,
            Value::Time(Micros(1_773_088_606_500_000)),
            Value::Time(Micros(1_773_088_606_500_001)),
            difference("since", "2026-03-09T20:36:46.5Z", "2026-03-09T20:36:46.500001Z"),
        ),
        (SINCE, Value::Null, Value::text("soon"), difference("since", "NULL", "\"soon\"")),
        (
            base::PROTO,
            Value::Bytes((0..40).collect()),
            Value::Bytes((0..20).chain([255]).collect()),
            difference("proto", "40 bytes, from 20: 1415161718191a1b1c1d1e1f20212223…", "21 bytes, from 20: ff"),
        ),
        (base::PROTO, Value::Bytes(Box::default()), Value::Null, difference("proto", "0 bytes", "NULL")),
    ] {
        assert_eq!(found(place, wanted, stored), [shown]);
    }
}

#[test]
fn numbers_that_no_query_can_tell_apart_are_equal() {
    assert_eq!(found(COUNT, Value::Int(3), Value::UInt(3)), []);
    assert_eq!(found(COUNT, Value::UInt(3), Value::Int(3)), []);
    assert_eq!(found(RATIO, Value::Double(-0.0), Value::Double(0.0)), []);
}

#[test]
fn delete_and_evict_times_are_compared_as_set_or_not() {
    let (mut row, mut stored) = both();
    (row.delete_time, stored.delete_time) = (Some(Micros(1)), Some(Micros(2)));
    (row.evict_time, stored.evict_time) = (Some(Micros(3)), Some(Micros(4)));
    assert_eq!(differences(&TABLE, &row, &stored), []);
    stored.delete_time = None;
    row.evict_time = None;
    assert_eq!(
        differences(&TABLE, &row, &stored),
        [
            difference("delete_time", "1970-01-01T00:00:00.000001Z", "NULL"),
            difference("evict_time", "NULL", "1970-01-01T00:00:00.000004Z")
        ]
    );
}

#[test]
fn labels_and_annotations_are_compared_by_key() {
    let (mut row, mut stored) = both();
    row.labels = companion(&[("gone", "1"), ("other", "a"), ("same", "x")]);
    stored.labels = companion(&[("Gone", "1"), ("other", "b"), ("same", "x")]);
    stored.annotations = companion(&[("more\n", ""), ("note", "text")]);
    assert_eq!(
        differences(&TABLE, &row, &stored),
        [
            difference("label \"Gone\"", "(none)", "\"1\""),
            difference("label \"gone\"", "\"1\"", "(none)"),
            difference("label \"other\"", "\"a\"", "\"b\""),
            difference("annotation \"more\\n\"", "(none)", "\"\""),
        ]
    );
}

fn in_json(wanted: &str, stored: &str) -> Vec<Difference> {
    found(base::JSON, Value::text(wanted), Value::text(stored))
}

#[test]
fn json_in_mysqls_spelling_counts_as_equal() {
    for (wanted, stored) in [
        (r#"{"b":1,"a":{"dd":[],"c":{}}}"#, r#"{"a": {"c": {}, "dd": []}, "b": 1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a": 2}"#),
        ("[1.0,1E2,-0,0.10,1e-7]", "[1.0, 100.0, 0, 0.1, 1e-7]"),
        ("[1, 1.0, 1e0]", "[1.0, 1e0, 1]"),
        ("[12345678901234567890123]", "[1.2345678901234568e22]"),
        (r#""\u00e4\ud83d\ude00\/""#, r#""ä😀/""#),
        (" [ null , true ]\n", "[null, true]"),
    ] {
        assert_eq!(in_json(wanted, stored), [], "{wanted}");
    }
}

#[test]
fn json_differences_are_reported_by_path() {
    for (wanted, stored, shown) in [
        (
            r#"{"spec":{"owner":"me"}}"#,
            r#"{"spec":{"owner":"you"}}"#,
            difference("json spec.owner", "\"me\"", "\"you\""),
        ),
        (r#"{"a":{"b.c/d":[1,2]}}"#, r#"{"a":{"b.c/d":[1,3]}}"#, difference("json a[\"b.c/d\"][1]", "2", "3")),
        (r#"{"a":null}"#, "{}", difference("json a", "null", "(none)")),
        (
            r#"{"a":{"b":
            1}}"#,
            "{}",
            difference("json a", "{\"b\":             1}", "(none)"),
        ),
        ("[]", "{}", difference("json", "[]", "{}")),
        ("[1]", r#"["1"]"#, difference("json [0]", "1", "\"1\"")),
        (r#"["a"]"#, r#"["a "]"#, difference("json [0]", "\"a\"", "\"a \"")),
        (
            "[18446744073709551615]",
            "[18446744073709551614]",
            difference("json [0]", "18446744073709551615", "18446744073709551614"),
        ),
    ] {
        assert_eq!(in_json(wanted, stored), [shown], "{wanted}");
    }
}

#[test]
fn of_many_differences_the_first_are_shown_and_the_others_counted() {
    let numbers =
        |first: u32| format!("[{}]", (first..first + 100).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let found = in_json(&numbers(0), &numbers(1000));
    assert_eq!(found.len(), 6);
    assert_eq!(found[4], difference("json [4]", "4", "1004"));
    assert_eq!(found[5], difference("json in 95 more places", "…", "…"));
}

#[test]
fn stored_text_that_is_not_json_is_reported() {
    let found = in_json("{}", "{");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].what, "json");
    assert!(found[0].stored.starts_with("no JSON: "), "{}", found[0].stored);
}

#[test]
fn long_values_are_shown_around_their_first_difference() {
    let long = |end: &str| format!("{}{end}{}", "x".repeat(200), "y".repeat(200));
    let found = found(OWNER, Value::text(long("1")), Value::text(long("2")));
    let shown = |end: &str| format!("…\"{}{end}{}\"…", "x".repeat(20), "y".repeat(59));
    assert_eq!(found, [difference("owner", &shown("1"), &shown("2"))]);
    let found = in_json(&format!("\"{}\"", "é".repeat(200)), "7");
    assert_eq!(found, [difference("json", &format!("\"{}…", "é".repeat(79)), "7")]);
}
