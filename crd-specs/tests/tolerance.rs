//! Any object is either decoded or rejected with a reason that names the path. Nothing panics, and unknown fields are
//! kept.

use crate::golden::sources;
use crate::objects::{Refusal, column, json, object, read, row};
use crate::places::{FieldPath, Shape, Step, Type, path, places};
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::kind::DecodeError;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::RowError;
use ingester_core::schema::BASE_COLUMNS;
use ingester_core::value::Value;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::sync::LazyLock;

/// Where a test puts a value: a kind, and a path in its objects.
pub(crate) type ValuePath = (&'static Kind, Vec<Step>);

/// Every field, item and entry of spec and status, the sections themselves, and the metadata that the ingester reads.
static TARGETS: LazyLock<Vec<ValuePath>> = LazyLock::new(|| {
    let mut targets = Vec::new();
    for kind in KINDS {
        for top in ["apiVersion", "kind", "metadata", "spec", "status", "more"] {
            targets.push((kind, vec![Step::Field(top)]));
        }
        for name in METADATA {
            targets.push((kind, vec![Step::Field("metadata"), Step::Field(name)]));
        }
        for entries in ["labels", "annotations"] {
            targets.push((kind, vec![Step::Field("metadata"), Step::Field(entries), Step::Entry]));
        }
        targets.push((kind, vec![Step::Field("metadata"), Step::Field("finalizers"), Step::Item]));
        for place in places(kind) {
            if place.field.shape != Shape::One {
                targets.push((kind, place.value()));
            }
            targets.push((kind, place.steps));
        }
    }
    targets
});

const METADATA: [&str; 13] = [
    "uid",
    "namespace",
    "name",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "labels",
    "annotations",
    "finalizers",
    "managedFields",
    "generation",
    "ownerReferences",
    "more",
];

pub(crate) fn target() -> impl Strategy<Value = ValuePath> {
    select(&**TARGETS)
}

/// The fields whose value is a message, which may have unknown fields.
static MESSAGES: LazyLock<Vec<FieldPath>> =
    LazyLock::new(|| KINDS.iter().flat_map(places).filter(|place| place.field.ty == Type::Message).collect());

/// Any JSON, as text: a `serde_json::Value` can hold neither duplicate keys nor numbers beyond its types.
pub(crate) fn any_json() -> impl Strategy<Value = String> {
    const NUMBERS: &[&str] = &[
        "0",
        "-0",
        "2147483648",
        "9223372036854775808",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1e400",
        "-1E+400",
        "1e-400",
        "0.1000000000000000055511151231257827",
        "3.0",
    ];
    const TEXTS: &[&str] = &[
        "",
        "NaN",
        "17",
        "-Infinity",
        "2026-03-09T20:36:46Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
        "-009999-01-01T00:00:00Z",
        "99999999999999999999h",
        "90.500s",
        "MODEL_KIND_REGRESSION",
    ];
    const NAMES: &[&str] =
        &["namespace", "name", "kind", "type", "state", "seconds", "nanos", "trigger", "spec", "pipeline", ""];
    let leaf = prop_oneof![
        2 => select(&["null", "true", "false", r#""\ud800""#, r#""\u0000""#]).prop_map(str::to_owned),
        2 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| json!(number).to_string()),
        2 => select(NUMBERS).prop_map(str::to_owned),
        2 => select(TEXTS).prop_map(|text| json!(text).to_string()),
        3 => any::<String>().prop_map(|text| json!(text).to_string()),
        1 => (250usize..1000).prop_map(|length| json!("é".repeat(length)).to_string()),
        1 => (1usize..500).prop_map(|digits| "9".repeat(digits)),
    ];
    let key = prop_oneof![
        2 => select(NAMES).prop_map(|name| json!(name).to_string()),
        1 => any::<String>().prop_map(|name| json!(name).to_string()),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        let member = (key.clone(), inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..5).prop_map(|members| format!("{{ {} }}", members.join(" , "))),
        ]
    })
}

/// Returns true if the path `found` is `wanted` or lies below it.
fn within(found: &str, wanted: &str) -> bool {
    found.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns true if a value at `place` can cause `error`: the column of the error is read from it, or from a part of it.
fn feeds(kind: &Kind, place: &str, error: &RowError) -> bool {
    let column = match error {
        RowError::TooLong { column, .. }
        | RowError::ValueTooLong { column, .. }
        | RowError::OutOfRange { column, .. }
        | RowError::NotAQuantity { column, .. } => column,
        RowError::Metadata { what, .. } => {
            let from = match what.split(' ').nth(1) {
                Some("name") => "metadata.name",
                Some("namespace") => "metadata.namespace",
                _ if what.contains("label") => "metadata.labels",
                _ => "metadata.annotations",
            };
            return within(place, from) || within(from, place);
        }
        other => panic!("{other:?} is new: say what feeds it"),
    };
    let base = [
        ("uid", "metadata.uid"),
        ("group_ver", "apiVersion"),
        ("namespace", "metadata.namespace"),
        ("name", "metadata.name"),
        ("create_time", "metadata.creationTimestamp"),
    ];
    let base = base.map(|(column, path)| (column.to_owned(), path.to_owned()));
    let indexed = sources(kind).into_iter().map(|source| (source.column, source.path));
    base.into_iter()
        .chain(indexed)
        .any(|(name, path)| name == *column && (within(place, &path) || within(&path, place)))
}

/// Puts `value` at the target. The object must be decoded and kept, or rejected with the path.
fn judge((kind, steps): &ValuePath, value: &str) -> Result<(), TestCaseError> {
    let text = object(kind, steps, value);
    let place = path(steps);
    match read(kind, &text) {
        Ok(row) => {
            let kept = json(&row);
            if place == "metadata.managedFields" {
                prop_assert_eq!(
                    kept,
                    object(kind, steps, value).replacen(&format!(r#","managedFields":{value}"#), "", 1)
                );
            } else {
                prop_assert_eq!(kept, &text);
            }
        }
        Err(refusal) => match (&refusal, refusal.path()) {
            (Refusal::Decode(DecodeError::Row(error)), None) => {
                prop_assert!(feeds(kind, &place, error), "{place} = {value} gives: {error}");
            }
            (_, Some(found)) => {
                prop_assert!(within(found, &place), "{place} = {value} gives: {refusal}");
                prop_assert!(refusal.to_string().starts_with(found), "{refusal}");
            }
            (_, None) => prop_assert!(false, "{place} = {value} gives an error without a place: {refusal}"),
        },
    }
    Ok(())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn any_json_at_any_path_is_read_or_rejected_with_its_path(target in target(), value in any_json()) {
        judge(&target, &value)?;
    }

    #[test]
    fn an_unknown_field_is_kept_and_changes_no_column(place in select(&**MESSAGES), value in any_json()) {
        let steps = place.value();
        let with = object(place.kind, &steps, &format!(r#"{{"unknownField":{value}}}"#));
        let without = object(place.kind, &steps, "{}");
        // Numbers beyond a float and halves of surrogate pairs, which serde_json refuses, too.
        if serde_json::from_str::<serde_json::Value>(&value).is_err() {
            prop_assert!(read(place.kind, &with).is_err(), "{}", with);
            return Ok(());
        }
        let with_row = row(place.kind, &with);
        let without_row = row(place.kind, &without);
        prop_assert_eq!(json(&with_row), &with);
        prop_assert_eq!(&with_row.values[BASE_COLUMNS.len()..], &without_row.values[BASE_COLUMNS.len()..]);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn any_json_as_the_whole_object_never_panics(value in any_json()) {
        for kind in KINDS {
            let _ = read(kind, &value);
        }
    }

    #[test]
    fn arbitrary_text_as_the_whole_object_is_rejected(text in any::<String>()) {
        prop_assert!(read(&KINDS[0], &text).is_err());
    }

    #[test]
    fn two_wrong_fields_at_once_never_panic(first in target(), second in target(), values in (any_json(), any_json())) {
        let (kind, steps) = &first;
        let text = object(kind, steps, &values.0);
        let other = object(kind, &second.1, &values.1);
        let both = format!("{},{}", text.trim_end_matches('}'), other.trim_start_matches('{'));
        let _ = read(kind, &both);
        // Both objects' members in one: every top-level key comes twice.
        let twice = format!("{},{}", &text[..text.len() - 1], &other[1..]);
        prop_assert!(read(kind, &twice).is_err(), "{}", twice);
    }
}

#[test]
fn a_truncated_object_is_rejected() {
    for kind in KINDS {
        let text = object(kind, &[Step::Field("spec")], r#"{"description":"é","tier":3,"more":[{"a":null}]}"#);
        row(kind, &text);
        for (end, _) in text.char_indices() {
            assert!(read(kind, &text[..end]).is_err(), "{kind:?}: {}", &text[..end]);
        }
    }
}

/// `levels` of nesting around a number.
fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("{}1{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn two_hundred_thousand_levels_are_an_error_in_every_field() {
    let forms =
        [("[", "]"), (r#"{"a":"#, "}"), (r#"[{"a":"#, "}]"), (r#"{"subSteps":["#, "]}"), ("[", ""), ("{\"a\":", "")];
    let run = KINDS.iter().find(|kind| kind.kind() == "PipelineRun").unwrap();
    let tops = ["apiVersion", "kind", "metadata", "spec", "status", "more"].map(|top| vec![Step::Field(top)]);
    let metadata = METADATA.map(|name| vec![Step::Field("metadata"), Step::Field(name)]);
    // One field of each type and shape: the decoder makes no other distinction.
    let mut known = Vec::new();
    let mut fields = places(run);
    fields.retain(|place| {
        let like = (place.field.ty, place.field.shape);
        let new = !known.contains(&like);
        known.push(like);
        new
    });
    let fields = fields.into_iter().map(|place| place.steps);
    let opaque = [vec![Step::Field("spec"), Step::Field("noSuchField")]];
    for steps in tops.into_iter().chain(metadata).chain(fields).chain(opaque) {
        for (open, close) in forms {
            let text = object(run, &steps, &nested(open, close, 200_000));
            // Text that is cut out is not read, unless it has no end.
            let is_cut_out = path(&steps) == "metadata.managedFields" && !close.is_empty();
            assert_eq!(read(run, &text).is_ok(), is_cut_out, "{}: {open}", path(&steps));
        }
    }
    let text = object(run, &[Step::Field("spec"), Step::Field("input")], &nested("[", "]", 200_000));
    let refusal = read(run, &text).unwrap_err().to_string();
    assert!(refusal.contains("spec.input[0][0]") && refusal.contains("nested deeper than 120 levels"), "{refusal}");
}

// Each nested step recurses through the decoder of its type, so the stack gets no deeper than this.
#[test]
fn recursive_steps_reach_the_depth_limit_on_a_small_stack() {
    let run = KINDS.iter().find(|kind| kind.kind() == "PipelineRun").unwrap();
    let read_nested = move |open: &str, close: &str, levels: usize| {
        let steps = nested(open, close, levels).replace('1', r#"{"state":2}"#);
        let at = [Step::Field("status"), Step::Field("steps"), Step::Item];
        read(run, &object(run, &at, &steps)).map(drop).map_err(|refusal| refusal.to_string())
    };
    // Three levels are above the first step, and the last step is one: 116 are left.
    let sub_steps = move |levels| read_nested(r#"{"name":"s","subSteps":["#, "]}", levels);
    let attempts = move |levels| read_nested(r#"{"attemptDetails":[{"stepInfo":"#, "}]}", levels);
    // The stack of a runtime worker thread is 2 MiB.
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let thread = small.spawn(move || ([sub_steps(58), attempts(38)], [sub_steps(59), attempts(39)])).unwrap();
    let (fit, too_deep) = thread.join().unwrap();
    assert_eq!(fit, [Ok(()), Ok(())]);
    for refusal in too_deep {
        assert!(refusal.as_ref().is_err_and(|text| text.contains("nested deeper")), "{refusal:?}");
    }
}

/// Three million letters without a short cycle.
fn noise() -> String {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    (0..3_000_000).map(next).collect()
}

#[test]
fn three_megabytes_of_noise_are_kept_or_rejected_briefly() {
    let noise = noise();
    let text = json!(noise).to_string();
    let key = format!("{{{text}:1}}");
    let words: Vec<&str> = (0..100_000).map(|i| &noise[i * 30..(i + 1) * 30]).collect();
    let keys =
        format!("{{{}}}", words.iter().map(|word| format!("\"{word}\":\"{word}\"")).collect::<Vec<_>>().join(","));
    let list = json!(words).to_string();
    let kind = |name: &str| KINDS.iter().find(|kind| kind.kind() == name).unwrap();
    let spec = |name| vec![Step::Field("spec"), Step::Field(name)];

    for (kind, steps, value) in [
        (kind("PipelineRun"), vec![Step::Field("spec")], &keys),
        (kind("PipelineRun"), vec![Step::Field("spec")], &key),
        (kind("PipelineRun"), vec![Step::Field("more")], &keys),
        (kind("PipelineRun"), spec("input"), &keys),
        (kind("PipelineRun"), spec("input"), &list),
        (kind("PipelineRun"), spec("localDiff"), &text),
        (kind("PipelineRun"), spec("noSuchField"), &text),
        (kind("SparkJob"), spec("sparkConf"), &keys),
        (kind("SparkJob"), spec("mainArgs"), &list),
        (kind("Project"), vec![Step::Field("metadata"), Step::Field("annotations"), Step::Entry], &text),
        (kind("Project"), vec![Step::Field("metadata"), Step::Field("annotations")], &keys),
    ] {
        let text = object(kind, &steps, value);
        assert!(json(&row(kind, &text)) == text, "{kind:?}: {} is not kept", path(&steps));
    }

    for (kind, steps, value) in [
        (kind("Model"), spec("algorithm"), &text),
        (kind("Model"), spec("revisionId"), &text),
        (kind("Model"), spec("owner"), &text),
        (kind("PipelineRun"), vec![Step::Field("spec")], &text),
        (kind("PipelineRun"), vec![Step::Field("status")], &list),
        (kind("SparkJob"), spec("sparkConf"), &list),
        (kind("SparkJob"), spec("mainArgs"), &keys),
        (kind("Project"), vec![Step::Field("metadata"), Step::Field("annotations")], &key),
        (kind("Project"), vec![Step::Field("metadata"), Step::Field("labels"), Step::Entry], &text),
        (kind("Project"), vec![Step::Field("metadata"), Step::Field("name")], &text),
        (kind("Project"), vec![Step::Field("metadata"), Step::Field("resourceVersion")], &text),
    ] {
        let refusal = read(kind, &object(kind, &steps, value)).unwrap_err().to_string();
        // A reason ends up in a log line, so it must not repeat the value. A number is shown whole; its length is
        // limited elsewhere.
        if path(&steps) != "metadata.resourceVersion" {
            assert!(refusal.len() < 400, "{} bytes of reason for {}", refusal.len(), path(&steps));
        }
    }
}

#[test]
fn column_key_twice_is_an_error_with_its_path() {
    for kind in KINDS {
        for source in
            sources(kind).iter().filter(|source| source.path.starts_with("sp") || source.path.starts_with("st"))
        {
            let steps: Vec<Step> = source.path.split('.').map(|name| Step::Field(name.to_owned().leak())).collect();
            let parent = &steps[..steps.len() - 1];
            let leaf = source.path.rsplit_once('.').unwrap().1;
            let text = |members: &[&str]| {
                let members: Vec<String> = members.iter().map(|value| format!("{leaf:?}:{value}")).collect();
                object(kind, parent, &format!("{{{}}}", members.join(",")))
            };
            let filled = |members: &[&str]| {
                let text = text(members);
                let place = &source.column;
                let row = row(kind, &text);
                assert_eq!(json(&row), text);
                column(kind, &row, place).clone()
            };
            let (one, other) = match filled(&[]) {
                Value::Int(_) => ("1", "2"),
                Value::Bool(_) => ("false", "true"),
                Value::Null if source.column.ends_with("_time") => {
                    (r#""2026-01-01T00:00:00Z""#, r#""2026-01-02T00:00:00Z""#)
                }
                _ => (r#""one""#, r#""other""#),
            };
            for members in [&[one, other][..], &[one, one], &[one, "null", other]] {
                let refusal = read(kind, &text(members)).unwrap_err();
                assert_eq!(refusal.path(), Some(&*path(parent)), "{refusal}");
                assert!(
                    refusal.to_string().ends_with(&format!("`{leaf}` appears twice in the same object")),
                    "{refusal}"
                );
            }
            // A null is not an entry.
            let expected = filled(&[other]);
            assert_ne!(expected, filled(&[one]), "{kind:?}: {}", source.column);
            for members in [&[other, "null"][..], &["null", other], &["null", other, "null"]] {
                assert_eq!(filled(members), expected, "{kind:?}: {} of {members:?}", source.column);
            }
        }
    }
}

#[test]
fn numbers_beyond_a_float_are_rejected_everywhere() {
    let digits = "9".repeat(5000);
    let fraction = format!("0.{}", "3".repeat(5000));
    let huge = [digits.as_str(), &format!("-{digits}"), "1e400", "-1e400", &format!("1e{digits}")];
    let mut refused = 0;
    for place in KINDS.iter().flat_map(places) {
        if !matches!(place.field.ty, Type::Opaque | Type::Int32 | Type::Int64 | Type::Float | Type::Double) {
            continue;
        }
        for number in huge {
            let text = object(place.kind, &place.value(), number);
            let refusal = read(place.kind, &text).expect_err(number);
            assert_eq!(refusal.path(), Some(&*path(&place.value())), "{refusal}");
            refused += 1;
        }
        if matches!(place.field.ty, Type::Float | Type::Double) {
            row(place.kind, &object(place.kind, &place.value(), &fraction));
        }
    }
    assert!(refused > 100, "only {refused} numbers were looked at");
}

#[test]
fn cutting_managed_fields_changes_nothing_else() {
    for members in [
        r#""managedFields":[],"name":"a""#,
        r#""name":"a","managedFields":[]"#,
        r#" "name" : "a" , "managedFields" : [ { } ] , "uid" : "u" "#,
        r#" "managedFields" : [ ] , "name" : "a" "#,
        r#""name":"a","managedFields":null"#,
    ] {
        let text = format!(
            r#"{{"apiVersion":"michelangelo.api/v2","kind":"Project","metadata":{{{members}}},"spec":{{"tier":3}}}}"#
        );
        let object = Object::parse(text.as_str(), ManagedFields::Prune).unwrap();
        let mut expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        expected["metadata"].as_object_mut().unwrap().remove("managedFields");
        assert_eq!(serde_json::from_str::<serde_json::Value>(object.text()).unwrap(), expected, "{text}");
        assert_eq!(object.parts().unwrap(), (r#"{"tier":3}"#, "{}"), "{text}");
        assert_eq!(Object::parse(text.as_str(), ManagedFields::Keep).unwrap().text(), text);
    }
}
