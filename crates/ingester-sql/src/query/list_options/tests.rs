//! List options as clients of the reference system send them.

use super::{ListOptions, parse_list_options};
use crate::query::{Filter, Order, Test};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ingester_core::value::Value;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn parse(json: &Json) -> Result<ListOptions, String> {
    parse_list_options(&json.to_string(), "PipelineRun").map_err(|error| error.to_string())
}

fn make_text(value: &str) -> Json {
    json!({ "@type": "type.googleapis.com/google.protobuf.StringValue", "value": value })
}

/// The filter of one criterion.
fn criterion(field: &str, operator: impl Into<Json>, value: &Json) -> Result<Filter, String> {
    let criterion = json!({ "field_name": field, "match_value": value, "operator": operator.into() });
    Ok(parse(&json!({ "operation": { "criterion": [criterion] } }))?.filter.unwrap())
}

/// The value of one comparison.
fn matched(value: &Json) -> Result<Value, String> {
    match criterion("size", 1, value)? {
        Filter::Field { test: Test::Equal(value), .. } => Ok(value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_of_both_spellings_mean_the_same() {
    let raw = |text: &str| json!({ "type_url": "", "value": STANDARD.encode(text) });
    let camel = json!({
        "orderBy": [
            { "field": "metadata.creation_timestamp", "dir": "SORT_ORDER_DESC" },
            { "field": "pipeline_run.spec.owner.name", "dir": "SORT_ORDER_ASC" },
            { "field": "state" },
        ],
        "operation": {
            "criterion": [{ "fieldName": "spec.owner.name", "matchValue": make_text("ada"), "operator": "CRITERION_OPERATOR_EQUAL" }],
            "logicalOperator": "LOGICAL_OPERATOR_AND",
            "subOperations": [{
                "criterion": [
                    { "fieldName": "pipeline_run.label.team", "matchValue": make_text("a"), "operator": "CRITERION_OPERATOR_EQUAL" },
                    { "fieldName": "spec.source_pipeline_run.name", "matchValue": make_text("b"), "operator": "CRITERION_OPERATOR_LIKE" },
                ],
                "logicalOperator": "LOGICAL_OPERATOR_OR",
                "subOperations": [{}],
            }],
        },
        "pagination": { "offset": 40, "limit": 20 },
        "returnedFieldSkipList": ["spec.legacy_model_spec.training_job_id", "pipeline_run.status.steps"],
    });
    let snake = json!({
        "order_by": [
            { "field": "metadata.creationTimestamp", "dir": 2 },
            { "field": "PipelineRun.spec.owner.name", "dir": 1 },
            { "field": "state", "dir": 0 },
        ],
        "operation": {
            "criterion": [{ "field_name": "pipelinerun.spec.owner.name", "match_value": raw("ada"), "operator": 1 }],
            "logical_operator": 0,
            "sub_operations": [{
                "criterion": [
                    { "field_name": "metadata.labels.team", "match_value": raw("a"), "operator": 1 },
                    { "field_name": "spec.sourcePipelineRun.name", "match_value": raw("b"), "operator": 9 },
                ],
                "logical_operator": 1,
                "sub_operations": null,
            }],
        },
        "pagination": { "offset": "40", "limit": "20" },
        "returned_field_skip_list": ["spec.legacyModelSpec.trainingJobId", "status.steps"],
    });
    let order = |field: &'static str, descending| Order { field: field.into(), descending };
    let expected = ListOptions {
        filter: Some(Filter::And(vec![
            Filter::field("spec.owner.name", Test::Equal(Value::text("ada"))),
            Filter::Or(vec![
                Filter::label("team", Test::Equal(Value::text("a"))),
                Filter::field("spec.sourcePipelineRun.name", Test::Like("%b%".into())),
            ]),
        ])),
        order: vec![order("metadata.creationTimestamp", true), order("spec.owner.name", false), order("state", false)],
        offset: 40,
        limit: Some(20),
        skip: vec!["spec.legacyModelSpec.trainingJobId".into(), "status.steps".into()],
    };
    assert_eq!(parse(&camel).as_ref(), Ok(&expected));
    assert_eq!(parse(&snake), Ok(expected));
}

#[test]
fn nothing_asks_for_everything() {
    for json in [
        json!(null),
        json!({}),
        json!({ "orderBy": [], "operation": {}, "pagination": {}, "returnedFieldSkipList": null }),
        json!({ "operation": { "criterion": [], "subOperations": [{ "logicalOperator": 1 }] }, "pagination": { "limit": 0 } }),
    ] {
        assert_eq!(parse(&json), Ok(ListOptions::default()), "{json}");
    }
}

#[test]
fn each_operator_has_its_test() {
    let is = |test: Test| Filter::field("size", test);
    let one = Value::text("a,b");
    let value = make_text("a,b");
    let two = || Test::In(vec![Value::text("a"), Value::text("b")]);
    for (number, name, filter) in [
        (1, "EQUAL", is(Test::Equal(one.clone()))),
        (2, "NOT_EQUAL", is(Test::Equal(one.clone())).negated()),
        (3, "GREATER_THAN", is(Test::Greater(one.clone()))),
        (4, "GREATER_THAN_OR_EQUAL_TO", is(Test::GreaterOrEqual(one.clone()))),
        (5, "LESS_THAN", is(Test::Less(one.clone()))),
        (6, "LESS_THAN_OR_EQUAL_TO", is(Test::LessOrEqual(one.clone()))),
        (7, "IN", is(two())),
        (8, "NOT_IN", is(two()).negated()),
        (9, "LIKE", is(Test::Like("%a,b%".into()))),
        (10, "IS_NULL", is(Test::Exists).negated()),
        (11, "IS_NOT_NULL", is(Test::Exists)),
    ] {
        assert_eq!(criterion("size", number, &value).as_ref(), Ok(&filter), "{name}");
        assert_eq!(criterion("size", format!("CRITERION_OPERATOR_{name}"), &value), Ok(filter), "{name}");
    }
    assert_eq!(criterion("size", 10, &Json::Null), Ok(is(Test::Exists).negated()));
}

#[test]
fn a_field_is_a_label_a_column_or_a_path() {
    let test = || Test::Equal(Value::text("x"));
    for (name, filter) in [
        ("owner_name", Filter::field("owner_name", test())),
        ("spec.owner.name", Filter::field("spec.owner.name", test())),
        ("pipeline_run.owner_name", Filter::field("owner_name", test())),
        ("pipelinerun.spec.owner.name", Filter::field("spec.owner.name", test())),
        // Another kind's name is a part of a path that the table does not have.
        ("model.spec.owner.name", Filter::field("model.spec.owner.name", test())),
        ("pipeline_run", Filter::field("pipeline_run", test())),
        ("metadata.name", Filter::field("metadata.name", test())),
        ("metadata.update_timestamp", Filter::field("update_time", test())),
        ("pipeline_run.metadata.creation_timestamp", Filter::field("metadata.creationTimestamp", test())),
        ("pipeline_run.label.michelangelo/Some_Key.x", Filter::label("michelangelo/Some_Key.x", test())),
        ("pipeline_run.metadata.labels.a_b.c/d", Filter::label("a_b.c/d", test())),
        ("x'; --\0", Filter::field("x'; --\0", test())),
    ] {
        assert_eq!(criterion(name, 1, &make_text("x")), Ok(filter), "{name}");
    }
}

#[test]
fn a_value_comes_as_json_or_as_bytes() {
    let value = |value: Json| json!({ "@type": "type.googleapis.com/google.protobuf.Value", "value": value });
    let bytes = |url: &str, bytes: &[u8]| json!({ "type_url": url, "value": STANDARD.encode(bytes) });
    let string_url = "type.googleapis.com/google.protobuf.StringValue";
    let value_url = "google.protobuf.Value";
    for (any, expected) in [
        (make_text("ada"), Value::text("ada")),
        (make_text("'\"%\\\0"), Value::text("'\"%\\\0")),
        (json!({ "@type": string_url }), Value::text("")),
        (value(json!("ada")), Value::text("ada")),
        (value(json!(true)), Value::Bool(true)),
        (value(json!(-7)), Value::Int(-7)),
        (value(json!(u64::MAX)), Value::UInt(u64::MAX)),
        (value(json!(2.0)), Value::Int(2)),
        (value(json!(2.5)), Value::Double(2.5)),
        (value(json!(1e300)), Value::Double(1e300)),
        (bytes("", "ada".as_bytes()), Value::text("ada")),
        (json!({ "typeUrl": "", "value": "YWRh" }), Value::text("ada")),
        (json!({ "value": "YWRhMQ" }), Value::text("ada1")),
        (json!({ "value": "w7_Dvw==" }), Value::text("ÿÿ")),
        (json!({}), Value::text("")),
        (bytes(string_url, b"\x0a\x03ada"), Value::text("ada")),
        (bytes(string_url, b""), Value::text("")),
        (bytes(value_url, b"\x1a\x03ada"), Value::text("ada")),
        (bytes(value_url, b"\x11\0\0\0\0\0\0\x1c\x40"), Value::Int(7)),
        (bytes(value_url, b"\x11\0\0\0\0\0\0\xe0\xbf"), Value::Double(-0.5)),
        (bytes(value_url, b"\x20\x01"), Value::Bool(true)),
    ] {
        assert_eq!(matched(&any), Ok(expected), "{any}");
    }
    let several = Filter::field("size", Test::In(vec![Value::text("a,b"), Value::Int(7)]));
    assert_eq!(criterion("size", 7, &value(json!(["a,b", 7]))).as_ref(), Ok(&several));
    let list = b"\x32\x12\x0a\x05\x1a\x03a,b\x0a\x09\x11\0\0\0\0\0\0\x1c\x40";
    assert_eq!(criterion("size", 7, &bytes(value_url, list)), Ok(several));
    assert_eq!(criterion("size", 7, &value(json!(7))), Ok(Filter::field("size", Test::In(vec![Value::Int(7)]))));
}

#[test]
fn like_finds_what_contains_the_value() {
    for (value, pattern) in [("", "%%"), ("a_b%", "%a_b%%"), (r"a\", r"%a\\%"), (r"a\\", r"%a\\%"), (r"\\\", r"%\\\\%")]
    {
        assert_eq!(
            criterion("size", 9, &make_text(value)),
            Ok(Filter::field("size", Test::Like(pattern.into()))),
            "{value}"
        );
    }
}

#[test]
fn malformed_list_options_are_refused_with_their_path() {
    let one = |criterion: Json| json!({ "operation": { "subOperations": [{}, { "criterion": [criterion] }] } });
    let at = "operation.subOperations[1].criterion[0]";
    let with = |value: Json| one(json!({ "fieldName": "a", "operator": 1, "matchValue": value }));
    let known = "google.protobuf.StringValue or google.protobuf.Value";
    let scalar = "expected a text, a number, a boolean, or a list of these";
    for (json, said) in [
        (json!([]), "expected an object, found a list".to_owned()),
        (json!({ "orderby": [] }), "unknown field `orderby`; did you mean `order_by`?".into()),
        (
            json!({ "colour": [] }),
            "unknown field `colour`; known: order_by, operation, pagination, returned_field_skip_list".into(),
        ),
        (json!({ "order_by": [], "orderBy": [] }), "the field `order_by` is there twice".into()),
        (json!({ "orderBy": {} }), "orderBy: expected a list, found an object".into()),
        (json!({ "orderBy": [{}] }), "orderBy[0]: it has no field".into()),
        (json!({ "orderBy": [{ "field": "" }] }), "orderBy[0].field: expected the name of a field".into()),
        (json!({ "orderBy": [{ "field": 5 }] }), "orderBy[0].field: expected a text, found a number".into()),
        (
            json!({ "orderBy": [{ "field": "a", "dir": "DESC" }] }),
            "orderBy[0].dir: expected SORT_ORDER_INVALID, SORT_ORDER_ASC, SORT_ORDER_DESC or its number".into(),
        ),
        (
            json!({ "operation": { "logicalOperator": 2 } }),
            "operation.logicalOperator: expected LOGICAL_OPERATOR_AND, LOGICAL_OPERATOR_OR or its number".into(),
        ),
        (
            json!({ "pagination": { "offset": -1 } }),
            "pagination.offset: expected a whole number from 0 to 2147483647".into(),
        ),
        (
            json!({ "pagination": { "limit": 2_147_483_648_u32 } }),
            "pagination.limit: expected a whole number from 0 to 2147483647".into(),
        ),
        (json!({ "returnedFieldSkipList": "a" }), "returnedFieldSkipList: expected a list, found a text".into()),
        (
            json!({ "returnedFieldSkipList": ["a", 1] }),
            "returnedFieldSkipList[1]: expected a text, found a number".into(),
        ),
        (one(json!({})), format!("{at}: it has no field_name")),
        (one(json!({ "fieldName": "a" })), format!("{at}: it has no operator")),
        (one(json!({ "fieldName": "a", "operator": 1 })), format!("{at}: it has no match_value")),
        (one(json!({ "fieldName": "", "operator": 10 })), format!("{at}.fieldName: expected the name of a field")),
        (one(json!({ "fieldName": "label.", "operator": 10 })), format!("{at}.fieldName: expected the key of a label")),
        (one(json!({ "fieldName": "a", "operator": 0 })), format!("{at}.operator: expected an operator that compares")),
        (
            one(json!({ "fieldName": "a", "value": 1 })),
            format!("{at}: unknown field `value`; did you mean `match_value`?"),
        ),
        (with(json!("a")), format!("{at}.matchValue: expected a google.protobuf.Any, found a text")),
        (
            with(json!({ "@type": "x/google.protobuf.Duration" })),
            format!("{at}.matchValue.@type: expected {known}, found `google.protobuf.Duration`"),
        ),
        (
            with(json!({ "type_url": "x/a.B", "value": "" })),
            format!("{at}.matchValue.type_url: expected {known}, found `a.B`"),
        ),
        (with(json!({ "value": "=a=" })), format!("{at}.matchValue.value: expected base64")),
        (with(json!({ "value": "/w==" })), format!("{at}.matchValue.value: expected the bytes of a text in UTF-8")),
        (
            with(json!({ "type_url": "google.protobuf.StringValue", "value": "CgVh" })),
            format!("{at}.matchValue.value: these are not the bytes of a google.protobuf.StringValue"),
        ),
        (
            with(json!({ "@type": "google.protobuf.Value", "value": { "a": 1 } })),
            format!("{at}.matchValue.value: {scalar}"),
        ),
        (with(json!({ "@type": "google.protobuf.Value", "value": [[1]] })), format!("{at}.matchValue.value: {scalar}")),
        (
            with(json!({ "@type": "google.protobuf.Value", "value": null })),
            format!("{at}.matchValue: nothing compares with null: use CRITERION_OPERATOR_IS_NULL"),
        ),
        (
            with(json!({ "@type": "google.protobuf.Value", "value": [1] })),
            format!("{at}.matchValue: expected one value, found a list: use CRITERION_OPERATOR_IN"),
        ),
    ] {
        assert_eq!(parse(&json).unwrap_err(), format!("list options: {said}"), "{json}");
    }
    let unknown = parse(&one(json!({ "fieldName": "a", "operator": "EQUALS" }))).unwrap_err();
    assert!(
        unknown.starts_with(&format!("list options: {at}.operator: expected CRITERION_OPERATOR_INVALID, ")),
        "{unknown}"
    );
    let broken = parse_list_options("{\"orderBy\": [}", "Model").unwrap_err().to_string();
    assert_eq!(broken, "list options: expected value at line 1 column 14");
}

#[test]
fn ten_thousand_criteria_are_read_and_depth_is_bounded() {
    let many = |n: usize| {
        let criterion = json!({ "fieldName": "label.a", "operator": 1, "matchValue": make_text("x") });
        json!({ "operation": { "criterion": vec![criterion; n], "logicalOperator": 1 } })
    };
    let Some(Filter::Or(filters)) = parse(&many(10_000)).unwrap().filter else { panic!("one of them is enough") };
    assert_eq!(filters.len(), 10_000);
    let deep = format!("{{\"operation\":{}", "{\"subOperations\":[".repeat(100_000));
    assert!(parse_list_options(&deep, "Model").unwrap_err().to_string().contains("recursion limit"));
    // A list in a list, in bytes: lengths are not trusted.
    let mut nested = vec![0x32, 2, 0x0a, 0];
    for _ in 0..50 {
        nested = [&[0x32, (nested.len() + 2) as u8, 0x0a, nested.len() as u8], &nested[..]].concat();
    }
    let any = json!({ "type_url": "google.protobuf.Value", "value": STANDARD.encode(nested) });
    assert!(matched(&any).is_err());
}

/// JSON that is nearly right.
fn nearly() -> impl Strategy<Value = Json> {
    let keys = [
        "order_by",
        "operation",
        "pagination",
        "criterion",
        "operator",
        "field_name",
        "matchValue",
        "@type",
        "value",
        "type_url",
        "subOperations",
        "field",
        "dir",
        "offset",
    ];
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (0..12).prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        prop::sample::select(vec!["google.protobuf.Value", "google.protobuf.StringValue", "GgNhZGE=", "label.a", ""])
            .prop_map(Json::from),
    ];
    scalar.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((prop::sample::select(keys.to_vec()), inner), 0..4)
                .prop_map(|entries| entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_list_options_or_an_error(json in nearly(), bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        let _ = parse(&json);
        let _ = criterion("a", 7, &json);
        for url in ["", "google.protobuf.StringValue", "google.protobuf.Value"] {
            let _ = criterion("a", 7, &json!({ "type_url": url, "value": STANDARD.encode(&bytes) }));
        }
    }
}
