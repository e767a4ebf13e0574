//! JSON: where documents begin and end, and what is lost with a broken one.

use serde_json::json;

use super::{failure, objects, raw, read, summary};
use ingester_core::json::MAX_DEPTH;

#[test]
fn documents_may_follow_each_other_in_any_layout() {
    let layouts = [
        r#"{"name":"a"}{"name":"b"}{"name":"c"}"#,
        "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{\"name\":\"c\"}",
        "{\"name\":\"a\"}\r\n{\"name\":\"b\"}\r\n{\"name\":\"c\"}\r\n",
        "{\n\t\"name\": \"a\"\n}\n\n\n{\n\t\"name\": \"b\"\n} {\"name\":\"c\"}",
        r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#,
        "[\n{\"name\":\"a\"},\n{\"name\":\"b\"},\n{\"name\":\"c\"}\n]\n",
        r#"[{"name":"a"}][][{"name":"b"},{"name":"c"}]"#,
        r#"{"items":[{"name":"a"},{"name":"b"}]}{"name":"c"}"#,
        r#"{"name":"a"}[{"name":"b"}]{"kind":"List","items":[{"name":"c"}]}"#,
    ];
    for text in layouts {
        assert_eq!(objects(text), [json!({"name": "a"}), json!({"name": "b"}), json!({"name": "c"})], "{text}");
    }
}

#[test]
fn the_text_of_an_object_is_that_of_the_file() {
    let text = "{ \"a\" : 1.50,\t\"b\": 123456789012345678901234567890,\r\n \"c\": \"\\u00e9\\\\\\\"}{[\" }";
    let found = raw(format!("  {text} ").as_bytes(), 64);
    assert_eq!(found[0].content.as_deref(), Ok(text));
}

#[test]
fn brackets_and_quotes_inside_of_strings_do_not_count() {
    let text = r#"{"name":"a","x":"}]{[\"\\"}{"name":"b","\"}":["]"]}"#;
    assert_eq!(summary(text), ["1 a", "1 b"]);
}

#[test]
fn lines_are_those_where_objects_begin() {
    let text = "\n{\"name\":\"a\"}\n\n  {\n\"name\":\"b\"} {\"name\":\"c\"}\n{\"apiVersion\":\"v1\",\n\"items\":[\n{\"name\":\"d\"},\n\n{\"name\":\"e\"}],\"kind\":\"List\"}\n{\"name\":\"f\"}";
    assert_eq!(summary(text), ["2 a", "4 b", "5 c", "8 d", "10 e", "11 f"]);
}

#[test]
fn object_with_items_is_a_list_unless_an_earlier_kind_says_no() {
    let item = json!({"name": "a", "apiVersion": "v1", "kind": "A"});
    for text in [
        format!(r#"{{"apiVersion":"v1","items":[{item}],"kind":"List","metadata":{{"resourceVersion":""}}}}"#),
        format!(r#"{{"kind":"List","items":[{item}]}}"#),
        format!(r#"{{"kind":"WidgetList","apiVersion":"x/v1","metadata":{{"items":["no"]}},"items":[{item}]}}"#),
        format!(r#"{{"items":[{item}]}}"#),
    ] {
        assert_eq!(objects(&text), std::slice::from_ref(&item), "{text}");
    }
    for whole in [
        json!({"items": {"a": 1}, "kind": "List"}).to_string(),
        r#"{"kind":"Menu","items":["soup"]}"#.to_owned(),
        r#"{"apiVersion":"v1","kind":"Menu","metadata":{"name":"m"},"items":[{"name":"soup"}]}"#.to_owned(),
        r#"{"spec":{"items":[{"name":"soup"}]},"kind":"List"}"#.to_owned(),
    ] {
        assert_eq!(objects(&whole), [serde_json::from_str::<serde_json::Value>(&whole).expect("JSON")], "{whole}");
    }
    for empty in
        [r#"{"items":[],"kind":"List"}"#, r#"{"kind":"PodList","items":[ ]}"#, r#"{"kind":"PodList","items":null}"#]
    {
        assert!(read(empty).is_empty(), "{empty}");
    }
}

#[test]
fn kind_after_items_that_is_not_a_list_is_an_error() {
    assert_eq!(
        summary("{\"items\":[{\"name\":\"soup\"}, \"water\"],\n\"kind\":\"Menu\"}"),
        [
            "1 soup",
            "1 !the document is not an object but a string",
            "1 !kind `Menu` is not a list, but its `items` came first and were read as objects; write `kind` before `items`"
        ]
    );
}

#[test]
fn items_of_a_typed_list_get_the_kind_and_version_they_lack() {
    let text = r#"{"kind":"PodList","apiVersion":"v1","items":[
        {"metadata":{"name":"a"}}, { }, {"kind":"Other","x":1}, {"apiVersion":"v2"}, {"apiVersion":"v3","kind":"Own"}]}"#;
    assert_eq!(
        objects(text),
        [
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}),
            json!({"apiVersion": "v1", "kind": "Pod"}),
            json!({"apiVersion": "v1", "kind": "Other", "x": 1}),
            json!({"apiVersion": "v2", "kind": "Pod"}),
            json!({"apiVersion": "v3", "kind": "Own"}),
        ]
    );
    // `List` gives its items no type.
    assert_eq!(objects(r#"{"kind":"List","apiVersion":"v1","items":[{"name":"a"}]}"#), [json!({"name": "a"})]);
}

#[test]
fn a_list_in_a_list_is_unpacked_and_a_third_one_is_not() {
    let text = "{\"items\":[\n{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[\n{\"name\":\"a\"},\n\n{\"name\":\"b\"},7]},\n{\"name\":\"c\"}],\"kind\":\"List\"}";
    assert_eq!(summary(text), ["3 a", "5 b", "5 !the document is not an object but a number", "6 c"]);
    assert_eq!(objects(text.replace(",7", ""))[0]["kind"], "Pod");
    let three =
        r#"{"kind":"List","items":[{"kind":"List","items":[{"kind":"List","items":[{"name":"a"}]},{"name":"b"}]}]}"#;
    assert_eq!(summary(three), ["1 !lists are nested more than two deep", "1 b"]);
    // Items are lists by their kind only.
    assert_eq!(objects(r#"{"items":[{"items":[{"a":1}]}]}"#), [json!({"items": [{"a": 1}]})]);
}

#[test]
fn a_document_that_is_not_an_object_names_its_type() {
    assert_eq!(
        summary("[\"a\", 1, null, true, [{}],\n-1.5e3, {\"name\":\"x\"}]"),
        [
            "1 !the document is not an object but a string",
            "1 !the document is not an object but a number",
            "1 !the document is not an object but null",
            "1 !the document is not an object but a boolean",
            "1 !the document is not an object but a list",
            "2 !the document is not an object but a number",
            "2 x"
        ]
    );
}

#[test]
fn bad_line_of_ndjson_loses_one_line() {
    let bad = [
        (r#"{"a": 1,, "b": 2}"#, "line 2 column 9: expected a key, found ','"),
        (r#"{"a" 1}"#, "line 2 column 6: expected a colon, found '1'"),
        (r#"{"a": }"#, "line 2 column 7: expected a value, found '}'"),
        (r#"{"a": 1 "b": 2}"#, "line 2 column 9: expected a comma or the end of the object, found '\"'"),
        (r#"{'a': 1}"#, "line 2 column 2: expected a key, found '\\''"),
        (r#"{"a": [1, 2}"#, "line 2 column 12: expected a comma or the end of the array, found '}'"),
        (r#"{"a": 1}}"#, "line 2 column 9: expected an object, found '}'"),
        (r#"not json"#, "line 2 column 1: expected an object, found 'n'"),
        (r#"{"a": "b}"#, "line 2 column 10: expected a closing quote, found the end of the line"),
        (r#"{"a": "b\"#, "line 2 column 9: invalid escape in a string"),
        (r#"{"a": {"b": 1}"#, "brackets opened on line 2 are never closed"),
        (r#"{"a":"#, "brackets opened on line 2 are never closed"),
        (r#"{"a": 1,"#, "brackets opened on line 2 are never closed"),
        (r#"{"a": [1,"#, "brackets opened on line 2 are never closed"),
        (r#"{"a": ["#, "brackets opened on line 2 are never closed"),
        (r#"{"a": [{"#, "brackets opened on line 2 are never closed"),
        (r#"{"#, "brackets opened on line 2 are never closed"),
        ("{\"a\": \"\u{1}\"}", "line 2 column 8: expected no control character in a string, found '\\u{1}'"),
        ("{\"a\": \0}", "line 2 column 7: expected a value, found '\\0'"),
    ];
    for (line, error) in bad {
        for feed in ["\n", "\r\n"] {
            let text = ["{\"name\":\"a\"}", line, "{\"name\":\"b\"}", "{\"name\":\"c\"}", ""].join(feed);
            let found = summary(&text);
            let objects: Vec<&String> = found.iter().filter(|found| !found.contains('!')).collect();
            let wanted: &[&str] =
                if line.ends_with("}}") { &["1 a", "2 ?", "3 b", "4 c"] } else { &["1 a", "3 b", "4 c"] };
            assert_eq!(objects, wanted, "{line:?}: {found:?}");
            assert!(found.contains(&format!("2 !{error}")), "{line:?}: {found:?}");
            assert_eq!(found.len(), wanted.len() + 1, "{line:?}: {found:?}");
        }
    }
}

#[test]
fn two_bad_objects_in_a_row_are_two_errors() {
    assert_eq!(
        summary("{\"a\": [1}\n{\"b\": 1,,}\n{\"name\":\"c\"}\n"),
        [
            "1 !line 1 column 9: expected a comma or the end of the array, found '}'",
            "2 !line 2 column 9: expected a key, found ','",
            "3 c"
        ]
    );
}

#[test]
fn consecutive_garbage_is_one_error_at_its_first_line() {
    assert_eq!(
        summary("{\"name\":\"a\"}\nERROR one\nERROR two\n{ERROR three\n  {\"x\":1}\n{\"name\":\"b\"}\nERROR four\n"),
        [
            "1 a",
            "2 !line 2 column 1: expected an object, found 'E'",
            "6 b",
            "7 !line 7 column 1: expected an object, found 'E'"
        ]
    );
}

#[test]
fn flawed_json_item_loses_only_itself() {
    assert_eq!(
        summary(
            "{\n  \"items\": [\n    {\"name\": \"a\"},\n    {\"name\": },\n    {\n      \"x\": \"open,\n      \"y\": 1\n    },\n    {\"name\": \"b\"}\n  ],\n  \"kind\": \"List\"\n}\n"
        ),
        [
            "3 a",
            "4 !line 4 column 14: expected a value, found '}'",
            "5 !line 6 column 18: expected a closing quote, found the end of the line",
            "9 b"
        ]
    );
    assert_eq!(summary(r#"[{"name":"a"},]"#), ["1 a", "1 !line 1 column 15: expected a value, found ']'"]);
}

#[test]
fn item_with_an_unmatched_bracket_loses_the_rest_of_its_list() {
    assert_eq!(
        summary(
            "{\n  \"items\": [\n    {\"name\": \"a\"},\n    {\"x\": ]},\n    {\"name\": \"b\"}\n  ]\n}\n{\"name\": \"c\"}\n"
        ),
        ["3 a", "4 !line 4 column 11: expected a value, found ']'", "8 c"]
    );
}

#[test]
fn broken_indented_json_loses_text_up_to_the_next_document() {
    let text = "{\n  \"a\": [1, 2}\n}\n{\n  \"name\": \"b\"\n}\n";
    assert_eq!(summary(text), ["1 !line 2 column 13: expected a comma or the end of the array, found '}'", "4 b"]);
}

#[test]
fn an_object_in_the_first_column_may_be_a_value() {
    // As `json.dumps(..., indent=0)` of Python writes it.
    let text = "{\n\"name\": \"a\",\n\"list\": [\n{\n\"x\": 1\n},\n{\n\"x\": 2\n}\n],\n\"map\":\n{\n\"y\": []\n}\n}\n";
    assert_eq!(objects(text), [json!({"name": "a", "list": [{"x": 1}, {"x": 2}], "map": {"y": []}})]);
}

#[test]
fn early_end_names_the_line_of_the_open_bracket() {
    for text in [
        "\n\n{\"a\": {\n\"b\": [1,",
        "\n\n[\n",
        "\n\n[{},\n",
        "\n\n{\"items\": [\n",
        "\n\n{\"items\": [\n1",
        "\n\n{\"items\": [{},\n{}],\n",
        "\n\n{\"a\": \"",
        "\n\n{\"a\": \"\\",
        "\n\n{\"a\": tru",
    ] {
        let found = summary(text);
        assert_eq!(
            found.last().map(String::as_str),
            Some("3 !brackets opened on line 3 are never closed"),
            "{text:?}: {found:?}"
        );
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(raw(nested(MAX_DEPTH - 1).as_bytes(), 1 << 16).iter().filter(|found| found.content.is_ok()).count(), 1);
    assert_eq!(failure(nested(MAX_DEPTH)), "line 1: nested deeper than 120 levels");
    assert_eq!(failure("{\"a\":".repeat(200_000)), "line 1: nested deeper than 120 levels");
    assert_eq!(failure("[".repeat(200_000)), "line 1: nested deeper than 120 levels");
}

#[test]
fn unclosed_lines_are_read_at_most_twice() {
    // Each line could swallow all that follow: going back from the end of each would take hours.
    let found = raw("{\"a\":[1,\n".repeat(100_000).as_bytes(), 1 << 16);
    assert_eq!(found.len(), 100_000);
}

#[test]
fn a_key_twice_is_an_error_of_its_object() {
    let twice = |place: &str, key: &str| format!("!{place}: the key `{key}` appears twice in the same object");
    assert_eq!(
        summary(
            "{\"name\":\"a\"}\n{\"name\":\"b\",\n \"x\": {\"y\": [{\"z\": 1,\n  \"\\u007a\": 1}]}}\n{\"name\":\"c\"}\n"
        ),
        ["1 a".to_owned(), format!("2 {}", twice("line 4 column 3", "z")), "5 c".to_owned()]
    );
    let list = "{\"items\": [\n{\"name\": \"a\", \"name\": \"b\"},\n{\"name\": \"c\"}], \"kind\": \"List\"}";
    assert_eq!(summary(list), [format!("2 {}", twice("line 2 column 15", "name")), "3 c".to_owned()]);
    let nested = "{\"items\": [{\"kind\": \"List\", \"items\": [{\"x\": 1, \"x\": 2}, {\"name\": \"b\"}]}]}";
    assert_eq!(summary(nested), [format!("1 {}", twice("line 1 column 48", "x"))]);
}

#[test]
fn a_value_that_no_database_keeps_is_an_error_of_its_object() {
    for wrong in ["1e999", r#""\ud800""#] {
        let list =
            format!("{{\"items\": [\n{{\"name\": \"a\", \"x\": {wrong}}},\n{{\"name\": \"c\"}}], \"kind\": \"List\"}}");
        let found = summary(&list);
        assert!(found.len() == 2 && found[0].starts_with("2 !line 2 column ") && found[1] == "3 c", "{found:?}");
    }
}

#[test]
fn list_with_a_key_twice_fails_and_its_items_come_out() {
    for (text, found) in [
        (
            "{\"kind\": \"List\",\n\"items\": [\n{\"name\": \"a\"}],\n\"kind\": \"List\"}",
            ["3 a", "1 !line 4 column 1: the key `kind` appears twice in the same object"],
        ),
        (
            "{\"apiVersion\": \"v1\",\n \"apiVersion\": \"v1\", \"items\": [\n{\"name\": \"a\"}]}",
            ["3 a", "1 !line 2 column 2: the key `apiVersion` appears twice in the same object"],
        ),
        (
            "{\"items\": [{\"name\": \"a\"}],\n\"items\": [{\"name\": \"b\"}]}",
            ["1 a", "1 !line 2 column 1: the key `items` appears twice in the same object"],
        ),
    ] {
        assert_eq!(summary(text), found, "{text}");
    }
}

#[test]
fn mistake_outside_the_items_has_line_and_column() {
    assert_eq!(
        summary(
            "{\"kind\": \"List\",\n\"items\": [\n{\"name\": \"a\"}],\n\"metadata\": {\"x\": tru}}\n{\"name\": \"b\"}"
        ),
        ["3 a", "1 !line 4 column 19: expected true", "5 b"]
    );
    assert_eq!(
        summary("{\"items\": [\n{\"name\": \"a\"}],,\n\"metadata\": {}}\n{\"name\": \"b\"}"),
        ["2 a", "1 !line 2 column 16: expected a key, found ','", "4 b"]
    );
}

#[test]
fn wrong_words_and_escapes_fail_with_line_and_column() {
    for (text, error) in [
        ("{\"a\": 1,\n\"b\": tru}", "line 2 column 6: expected true"),
        ("{\"a\": 01}", "line 1 column 8: expected a comma or the end of the object, found '1'"),
        ("{\"a\": -}", "line 1 column 7: expected a digit, found '}'"),
        ("{\"\u{e9}\":\n\"\u{e9}\\x\"}", "line 2 column 4: invalid escape in a string"),
    ] {
        assert_eq!(failure(text), error, "{text}");
    }
}

#[test]
fn nesting_is_counted_from_the_item_of_a_list() {
    let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    for around in ["{\"items\":[X]}", "[X]", "X"] {
        let with = |depth: usize| around.replace('X', &nested(depth));
        assert_eq!(objects(with(MAX_DEPTH)).len(), 1, "{around}");
        assert_eq!(failure(with(MAX_DEPTH + 1)), "line 1: nested deeper than 120 levels", "{around}");
    }
}

#[test]
fn key_that_ends_with_items_makes_no_list() {
    let text = r#"{"x\"items":[{"name":"a"}],"y\\":[],"kind":"List"}"#;
    assert_eq!(objects(text).len(), 1);
    // A key with escapes is not a reason to stream: the list is held whole, then unpacked.
    assert_eq!(summary(r#"{"\u0069tems":[{"name":"a"},{"name":"b"}]}"#), ["1 a", "1 b"]);
}

#[test]
fn failure_carries_what_was_read_of_its_object() {
    let fragment = |text: &str| match raw(text.as_bytes(), 16).as_slice() {
        [document] if document.content.is_err() => document.fragment.clone(),
        other => panic!("one failure expected, not {other:?}"),
    };
    for text in
        ["{\"kind\":\"A\",\"x\":tru}", "{\"kind\":\"A\",\"kind\":\"B\"}", "{\"kind\":\"A\",,}", "{\"kind\":\"A\""]
    {
        assert_eq!(fragment(text), text);
    }
    assert_eq!(fragment("{\"kind\":\"A\",\"x\":[}\n"), "{\"kind\":\"A\",\"x\":[");
    assert_eq!(fragment("not json"), "");
    assert_eq!(fragment("kind: A\nmetadata:\n  name: a\n  name: b\n"), "{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"");
    assert_eq!(fragment("just text"), "");
}
