//! YAML: documents, list items and scalars as kubectl reads them.

use serde_json::{Value, json};

use super::{failure, objects, read, summary};

const LIST: &str = "apiVersion: v1\nitems:\n- apiVersion: a/v1\n  kind: A\n  metadata:\n    name: a\n- kind: B\n  metadata:\n    name: b\n  text: |\n    - no item\n\n    --- no end\n  list:\n  - 1\n  - 2\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";

#[test]
fn documents_end_at_markers_in_the_first_column() {
    let text = "# head\nname: a\n--- # next\nname: b\ntext: |\n  ---\n  ...\n...\n# between\n%YAML 1.2\n---\nname: c\n---\n\n---\n...\n...\n--- {name: d}\n---\n---x: 1\nname: e\n---\tname: f\n";
    assert_eq!(
        summary(text),
        [
            "2 a",
            "4 b",
            "12 c",
            "18 d",
            "20 e",
            "22 !line 22 column 9: mapping values are not allowed in this context; put a text with `: ` in quotes"
        ]
    );
    assert_eq!(objects(text.replace("---\tname: f\n", ""))[1]["text"], "---\n...\n");
}

#[test]
fn broken_yaml_document_loses_only_itself() {
    assert_eq!(
        summary(
            "name: a\n---\na: b\n  c: d: e\n---\nname: b\n---\nx: \"open\n---\nname: c\n---\njust text\n---\n- 1\n- name: d\n"
        ),
        [
            "1 a",
            "3 !line 4 column 4: mapping values are not allowed in this context; put a text with `: ` in quotes",
            "6 b",
            "8 !line 8 column 4: unclosed quote",
            "10 c",
            "12 !the document is not an object but a string",
            "14 !the document is not an object but a number",
            "14 d"
        ]
    );
}

#[test]
fn a_list_as_kubectl_prints_it_gives_its_items() {
    assert_eq!(summary(LIST), ["3 a", "7 b"]);
    let items = objects(LIST);
    assert_eq!(items[1]["text"], "- no item\n\n--- no end\n");
    assert_eq!(items[1]["list"], json!([1, 2]));
    assert_eq!(objects(LIST.replace('\n', "\r\n")), items);
    assert_eq!(objects(format!("---\n# c\n\n{LIST}")), items);
    // Two lists and a document behind each other.
    assert_eq!(summary(format!("{LIST}---\nname: x\n---\n{LIST}")), ["3 a", "7 b", "21 x", "25 a", "29 b"]);
}

#[test]
fn a_list_may_be_written_in_other_ways() {
    let wanted = [json!({"name": "a"}), json!({"name": "b", "x": [1]})];
    for text in [
        "items:\n  - name: a\n  - name: b\n    x:\n    - 1\n",
        "items: # these\n\n# first\n- name: a\n# second\n-   name: b\n    x: [1]\n\n# end\n",
        "kind: \"List\"\nmetadata:\n  resourceVersion: \"1\"\nitems:\n-\n  name: a\n- # b\n  name: b\n  x: [\n    1 ]\nother: 1\n",
        "items: [{name: a}, {name: b, x: [1]}]\n",
        "items:\n [{name: a}, {name: b, x: [1]}]\nkind: List",
        "--- {items: [{name: a}, {name: b, x: [1]}]}\n",
        "{\"items\": [{\"name\": \"a\"}, {\"name\": \"b\", \"x\": [1]}]}",
        "? items\n: - name: a\n  - {name: b, x: [1]}\n",
        "base: &x [1]\nitems:\n- name: a\n- name: b\n  x: *x\n",
        "%YAML 1.2\n---\nitems:\n- name: a\n- name: b\n  x: [1]\n",
        "- name: a\n- name: b\n  x: [1]\n",
        "items:\n- {name: a}\n- &anchor\n  name: b\n  x: !!seq [1]\n",
        "\"items\":\n- name: a\n- name: b\n  x: [1]\n",
    ] {
        assert_eq!(objects(text), wanted, "{text}");
    }
    for empty in ["apiVersion: v1\nitems: []\nkind: List\n", "kind: PodList\nitems:\n", "kind: PodList\nitems: null\n"]
    {
        assert!(read(empty).is_empty(), "{empty}");
    }
}

#[test]
fn an_object_whose_kind_came_first_keeps_its_items() {
    let menu = json!({"kind": "Menu", "items": [{"name": "soup"}]});
    assert_eq!(objects("kind: Menu\nitems:\n- name: soup\n"), std::slice::from_ref(&menu));
    assert_eq!(objects("--- {kind: Menu, items: [{name: soup}]}\n"), [menu]);
    assert_eq!(
        summary("items:\n- name: soup\nkind: Menu\n"),
        [
            "2 soup",
            "3 !kind `Menu` is not a list, but its `items` came first and were read as objects; write `kind` before `items`"
        ]
    );
}

#[test]
fn items_of_a_typed_list_get_the_kind_and_version_they_lack() {
    let text = "apiVersion: x/v1\nkind: WidgetList\nitems:\n- name: a\n- kind: Own\n- {}\n";
    let wanted = [
        json!({"apiVersion": "x/v1", "kind": "Widget", "name": "a"}),
        json!({"apiVersion": "x/v1", "kind": "Own"}),
        json!({"apiVersion": "x/v1", "kind": "Widget"}),
    ];
    assert_eq!(objects(text), wanted);
    assert_eq!(objects("--- {apiVersion: x/v1, kind: WidgetList, items: [{name: a}, {kind: Own}, {}]}"), wanted);
}

#[test]
fn a_list_in_a_list_is_unpacked() {
    let text = "items:\n- kind: PodList\n  apiVersion: v1\n  items:\n  - name: a\n  - name: b\n- name: c\nkind: List\n";
    assert_eq!(summary(text), ["2 a", "2 b", "7 c"]);
    assert_eq!(objects(text)[0]["kind"], "Pod");
    assert_eq!(
        failure("items:\n- kind: List\n  items:\n  - kind: List\n    items:\n    - name: a\n"),
        "lists are nested more than two deep"
    );
}

#[test]
fn broken_yaml_item_loses_only_itself() {
    assert_eq!(
        summary(
            "items:\n- name: a\n- x: [1\n- name: b\n  x: 1\n  x: 2\n- text\n-\n- name: c\nkind: List\nkind: List\n"
        ),
        [
            "2 a",
            "3 !line 3 column 6: unclosed bracket '['",
            "4 !line 6 column 3: the key `x` appears twice in the same object",
            "7 !the document is not an object but a string",
            "8 !the document is not an object but null",
            "9 c",
            "10 !line 11 column 1: the key `kind` appears twice in the same object",
        ]
    );
    assert_eq!(
        summary("kind: List\nkind: List\nitems:\n- name: a\n"),
        ["1 !line 2 column 1: the key `kind` appears twice in the same object"]
    );
    assert_eq!(
        summary("kind: List\n  x: y\nitems:\n- name: a\n"),
        ["1 !line 2 column 4: mapping values are not allowed in this context; put a text with `: ` in quotes", "4 a"]
    );
    assert_eq!(
        summary("items:\n- name: a\nitems:\n- name: b\n"),
        ["2 a", "3 !line 3 column 1: the key `items` appears twice in the same object"]
    );
    assert_eq!(
        summary("kind: List\nx: y\nitems:\n- name: a\na: 1\nx: 2\n"),
        ["4 a", "5 !line 6 column 1: the key `x` appears twice in the same object"]
    );
}

#[test]
fn scalars_mean_what_they_mean_to_kubectl() {
    let cases: &[(&str, Value)] = &[
        ("", Value::Null),
        ("~", Value::Null),
        ("null", Value::Null),
        ("Null", Value::Null),
        ("nULL", json!("nULL")),
        ("true", json!(true)),
        ("FALSE", json!(false)),
        ("yes", json!(true)),
        ("No", json!(false)),
        ("on", json!(true)),
        ("OFF", json!(false)),
        ("y", json!(true)),
        ("n", json!(false)),
        ("yEs", json!("yEs")),
        ("tRUE", json!("tRUE")),
        ("'yes'", json!("yes")),
        ("\"null\"", json!("null")),
        ("'12'", json!("12")),
        ("\"1.5\"", json!("1.5")),
        ("0", json!(0)),
        ("-0", json!(0)),
        ("12", json!(12)),
        ("-12", json!(-12)),
        ("+12", json!(12)),
        ("1_000", json!(1000)),
        ("0x1F", json!(31)),
        ("-0x1f", json!(-31)),
        ("0b101", json!(5)),
        ("0o17", json!(15)),
        ("0644", json!(420)),
        ("089", json!(89)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("1.5", json!(1.5)),
        (".5", json!(0.5)),
        ("-.5", json!(-0.5)),
        ("5.", json!(5)),
        ("1.0", json!(1)),
        ("1e3", json!(1000)),
        ("1.5e-7", json!(1.5e-7)),
        ("1e999", json!("1e999")),
        ("+", json!("+")),
        ("-", json!(["x"])),
        (".", json!(".")),
        ("0x", json!("0x")),
        ("1e", json!("1e")),
        ("1.2.3", json!("1.2.3")),
        ("v1", json!("v1")),
        ("1Gi", json!("1Gi")),
        ("100m", json!("100m")),
        ("inf", json!("inf")),
        ("nan", json!("nan")),
        ("NaN", json!("NaN")),
        ("=", json!("=")),
        ("2026-03-09T20:36:46Z", json!("2026-03-09T20:36:46Z")),
        ("2026-03-09", json!("2026-03-09")),
        ("2026-03-09 20:36:46.5", json!("2026-03-09 20:36:46.5")),
        ("12:30:45", json!("12:30:45")),
        ("10.0.0.1", json!("10.0.0.1")),
        ("!!str 12", json!("12")),
        ("! 12", json!("12")),
        ("!!int '12'", json!(12)),
        ("!!float 12", json!(12)),
        ("!own 12", json!("12")),
        ("!!null ''", Value::Null),
        ("!!timestamp 2026-03-09", json!("2026-03-09")),
        ("\"a\\tb\\u00e9\\0\\\"\\\\\"", json!("a\tb\u{e9}\0\"\\")),
        ("'it''s'", json!("it's")),
        ("|\n  a\n   b\n\n", json!("a\n b\n")),
        (">-\n  a\n  b\n", json!("a b")),
        ("|+\n  a\n", json!("a\n\n")),
        ("a\n  b", json!("a b")),
        ("\"a\n  b\"", json!("a b")),
        ("a#b # c", json!("a#b")),
    ];
    for (text, value) in cases {
        let text = if *text == "-" { "\n- x" } else { text };
        assert_eq!(objects(format!("a: {text}\n")), [json!({"a": value})], "{text}");
    }
}

#[test]
fn integers_above_64_bits_keep_their_digits() {
    for digits in ["18446744073709551616", "-123456789012345678901234567890"] {
        let found = super::raw(format!("a: {digits}\n").as_bytes(), 64);
        assert_eq!(found[0].content, Ok(format!("{{\"a\":{digits}}}")));
    }
}

#[test]
fn keys_are_strings_whatever_they_look_like() {
    assert_eq!(
        objects("1: a\n0x10: b\n1.5: c\ny: d\n'y': g\n\"null\": e\n2026-03-09: f\n"),
        [json!({"1": "a", "16": "b", "1.5": "c", "true": "d", "y": "g", "null": "e", "2026-03-09": "f"})]
    );
    assert_eq!(failure("a: 1\n~: 2\n"), "line 2 column 1: null cannot be a key");
    assert_eq!(failure("a: 1\n? [b]\n: 2\n"), "line 2 column 3: a key must be a single value, not an object or a list");
}

#[test]
fn yaml_values_without_a_form_in_json_are_errors() {
    assert_eq!(failure("a: 1\nb: .inf\n"), "line 2 column 4: `.inf` is a number which JSON does not have");
    assert_eq!(failure("- {b: -.Inf}\n"), "line 1 column 7: `-.Inf` is a number which JSON does not have");
    assert_eq!(failure("a: .NaN\n"), "line 1 column 4: `.NaN` is a number which JSON does not have");
    assert_eq!(
        failure("a: !!binary aGk=\n"),
        "line 1 column 13: !!binary has no form in JSON; write base64 text without the tag"
    );
    assert_eq!(failure("a: !!int x\n"), "line 1 column 10: `x` cannot be read as !!int");
}

#[test]
fn a_key_twice_is_an_error() {
    for (text, place, key) in [
        ("a: 1\nb: 2\na: 3\n", "line 3 column 1", "a"),
        ("x:\n  1: a\n  '1': b\n", "line 3 column 3", "1"),
        ("--- {a: 1, \"a\": 2}\n", "line 1 column 12", "a"),
    ] {
        assert_eq!(failure(text), format!("{place}: the key `{key}` appears twice in the same object"), "{text}");
    }
}

#[test]
fn anchors_and_merge_keys_are_resolved() {
    assert_eq!(
        objects("a: &a {x: 1, z: [2]}\nb: *a\nc: &s text\nd: [*s, *s]\n*s : k\ne: &s other\nf: *s\n"),
        [
            json!({"a": {"x": 1, "z": [2]}, "b": {"x": 1, "z": [2]}, "c": "text", "d": ["text", "text"], "text": "k", "e": "other", "f": "other"})
        ]
    );
    assert_eq!(
        objects(
            "a: &a {x: 1, v: 2}\nb: &b\n  v: 3\n  z: 4\nc:\n  <<: *a\n  x: 9\nd:\n  w: 0\n  <<: [*b, *a]\ne:\n  <<: {q: 1}\nf: {\"<<\": 1}\n"
        ),
        [json!({
            "a": {"x": 1, "v": 2}, "b": {"v": 3, "z": 4}, "c": {"x": 9, "v": 2}, "d": {"w": 0, "x": 1, "v": 3, "z": 4},
            "e": {"q": 1}, "f": {"<<": 1}
        })]
    );
    assert_eq!(failure("a: 1\n<<: 5\n"), "line 3 column 1: `<<` merges a mapping or a list of mappings, nothing else");
    assert_eq!(failure("a: *b\n"), "line 1 column 4: `*b` refers to an anchor that is not defined before it");
    assert_eq!(failure("a: &a [*a]\n"), "line 1 column 8: `*a` refers to an anchor that is not defined before it");
}

#[test]
fn alias_reaches_earlier_items_but_no_other_document() {
    let text = "items:\n- name: a\n  labels: &l {x: 1}\n- name: b\n  labels: *l\n";
    assert_eq!(objects(text), [json!({"name": "a", "labels": {"x": 1}}), json!({"name": "b", "labels": {"x": 1}})]);
    assert_eq!(
        summary("name: a\nx: &l 1\n---\nname: b\nx: *l\n"),
        ["1 a", "4 !line 5 column 4: `*l` refers to an anchor that is not defined before it"]
    );
}

#[test]
fn alias_bombs_and_deep_nesting_fail_at_their_limits() {
    let laughs =
        |first: &str, line: &dyn Fn(usize) -> String| first.to_owned() + &(1..30).map(line).collect::<String>();
    let lists =
        laughs("a0: &a0 [lol]\n", &|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(",")));
    let merges = laughs("a0: &a0 {k: lol}\n", &|i| {
        format!("a{i}: &a{i} {{<<: [*a{p}, *a{p}], b{i}: [*a{p}, *a{p}]}}\n", p = i - 1)
    });
    for bomb in [lists, merges] {
        let error = failure(bomb);
        assert!(error.ends_with("aliases expand this document to more than 16 MiB"), "{error}");
    }
    let stairs: String = (0..2000).map(|indent| format!("{}a:\n", " ".repeat(indent))).collect();
    for deep in
        ["- ".repeat(200_000), format!("a: {}", "[".repeat(200_000)), format!("--- {}", "{a: ".repeat(200_000)), stairs]
    {
        let error = failure(deep);
        assert!(error.ends_with("nested deeper than 120 levels"), "{error}");
    }
    assert_eq!(failure("? ".repeat(200_000)), "line 1 column 3: a key must be a single value, not an object or a list");
}

#[test]
fn a_nul_byte_is_an_error_with_its_place() {
    assert_eq!(failure("a: b\nc: d\0e\n"), "line 2 column 5: a NUL byte, which no YAML text has");
    assert_eq!(failure("\0"), "line 1 column 1: a NUL byte, which no YAML text has");
}

#[test]
fn lines_of_errors_inside_items_are_those_of_the_file() {
    assert_eq!(
        failure("# c\n\nitems:\n# c\n-   \n    a: 1\n    b: .inf\n"),
        "line 7 column 8: `.inf` is a number which JSON does not have"
    );
    assert_eq!(failure("\n\n---\n# c\né: .inf\n"), "line 5 column 4: `.inf` is a number which JSON does not have");
}
