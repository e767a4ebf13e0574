//! Properties that hold for any input.

use proptest::prelude::*;

use super::raw;

/// Parts for making files, good and bad ones.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}"#.to_owned()),
        Just("{\n  \"kind\": \"B\",\n  \"spec\": {\"s\": \"}\\\"\\\\ é\", \"n\": [1, {\"x\": null}]}\n}".to_owned()),
        Just(
            r#"{"apiVersion":"v1","items":[{"kind":"A"},{"kind":"PodList","items":[{"a":1}]}],"kind":"List"}"#
                .to_owned()
        ),
        Just("[{\"a\":1},\n{\"b\":[\n{\"c\":2}]}]".to_owned()),
        Just("{\"a\":[1,\n{\"b\":{\"c\":1}".to_owned()),
        Just("{\"a\": \"open".to_owned()),
        Just("ERROR: none".to_owned()),
        Just("---".to_owned()),
        Just("...".to_owned()),
        Just("# comment".to_owned()),
        Just("apiVersion: v1\nkind: A\nspec:\n  text: |\n    - x\n\n    --- y\n  'n': 0x10".to_owned()),
        Just("apiVersion: v1\nitems:\n- kind: A\n  x: &x [1]\n- kind: B\n  x: *x\nkind: List".to_owned()),
        Just("items:\n  - a: [\n  - b: 1\n  -\n    c: 2".to_owned()),
        Just("\u{feff}".to_owned()),
        "[ -~\\n]{0,12}",
        "[{}\\[\\]\",:a1 \\n\\\\-]{0,12}",
    ]
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let feed = prop_oneof![Just("\n"), Just("\r\n"), Just(" "), Just("")];
    prop::collection::vec((part(), feed), 0..8)
        .prop_map(|parts| parts.into_iter().flat_map(|(part, feed)| (part + feed).into_bytes()).collect())
}

fn seen(text: &[u8], buffer: usize) -> Vec<(u64, Result<String, String>)> {
    let found = raw(text, buffer).into_iter();
    found.map(|document| (document.line, document.content.map_err(|error| error.to_string()))).collect()
}

proptest! {
    #[test]
    fn the_size_of_the_buffer_changes_nothing(text in file(), size in 2usize..40) {
        let whole = seen(&text, 1 << 16);
        for buffer in [1, 7, size] {
            prop_assert_eq!(&seen(&text, buffer), &whole, "with {} bytes", buffer);
        }
    }

    #[test]
    fn any_bytes_never_panic(text in prop::collection::vec(any::<u8>(), 0..400)) {
        raw(&text, 16);
    }

    #[test]
    fn any_bytes_after_the_start_of_a_format_never_panic(
        begin in prop_oneof![Just("{\"a\":"), Just("{\"items\":["), Just("["), Just("items:\n- "), Just("a: "), Just("--- ")],
        text in "[\\PC\\n\\t\\x00{}\\[\\]:,&*!|>'\"-]{0,200}",
    ) {
        raw(format!("{begin}{text}").as_bytes(), 16);
    }

    #[test]
    fn objects_come_out_of_any_json_as_they_went_in(
        strings in prop::collection::vec("\\PC{0,20}|[\\x00-\\x7f]{0,20}", 1..6), indented: bool, listed: bool,
    ) {
        let objects: Vec<_> = strings.iter().map(|text| serde_json::json!({"name": text, text: {"n": [text, {}]}})).collect();
        let print = |value: &serde_json::Value| if indented { format!("{value:#}") } else { value.to_string() };
        let text = if listed {
            print(&serde_json::json!({"apiVersion": "v1", "items": objects, "kind": "List"}))
        } else {
            objects.iter().map(|object| print(object) + "\n").collect()
        };
        // A generated key may be `items` or `kind`: those have separate tests.
        prop_assume!(!strings.iter().any(|text| matches!(text.as_str(), "items" | "kind" | "apiVersion" | "name")));
        prop_assert_eq!(super::objects(&text), objects.clone());
        // Any JSON object is YAML in flow style, as long as its characters are printable.
        prop_assume!(!strings.iter().any(|text| text.contains(['\u{7f}', '\u{fffe}', '\u{ffff}', '\u{feff}'])));
        let yaml: String = objects.iter().map(|object| format!("--- {object}\n")).collect();
        prop_assert_eq!(super::objects(yaml), objects);
    }
}
