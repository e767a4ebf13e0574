//! The rules of decoding, one by one, and the places that errors name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{Boundary, CheckError, Error, MAX_DEPTH, RAW_TOKEN, Reader, Stop, TokenKind, check, from_str};

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Cluster {
    name: String,
    workers: Vec<Worker>,
    labels: BTreeMap<String, String>,
    head: Option<Worker>,
    phase: Option<Phase>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Worker {
    min_instances: i32,
    ratio: f64,
    spot: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Phase {
    Ready,
    Waiting(u8),
    Pair(u8, u8),
    Failed { reason: String },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Required {
    id: u64,
}

/// The text of a value.
#[derive(Debug, PartialEq)]
struct Raw<'a>(&'a str);

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Raw<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Raw<'de>, E> {
                Ok(Raw(text))
            }
        }
        deserializer.deserialize_newtype_struct(RAW_TOKEN, Text)
    }
}

#[track_caller]
fn reads<T: DeserializeOwned + PartialEq + fmt::Debug>(text: &str, value: T) {
    assert_eq!(from_str::<T>(text).as_ref(), Ok(&value), "{text}");
}

#[track_caller]
fn refuses<T: DeserializeOwned + fmt::Debug>(text: &str, message: &str) {
    match from_str::<T>(text) {
        Ok(value) => panic!("{text} was read as {value:?}"),
        Err(error) => assert_eq!(error.to_string(), message, "{text}"),
    }
}

#[test]
fn a_null_entry_is_absent_from_structs_and_maps() {
    let text = r#"{"name": null, "workers": null, "labels": {"a": null, "b": "c"}, "head": null, "other": null}"#;
    let labels = BTreeMap::from([("b".to_owned(), "c".to_owned())]);
    reads(text, Cluster { labels, ..Cluster::default() });
    refuses::<Required>(r#"{"id": null}"#, "missing field `id`");
}

#[test]
fn a_null_element_is_absent_from_sequences_and_tuples() {
    reads("[null, 1, null, 2, null]", vec![1, 2]);
    reads("[null, 1, null, 2, null]", (1, 2));
    reads("[null]", Vec::<Option<i32>>::new());
}

#[test]
fn null_itself_is_the_empty_struct_map_and_sequence() {
    reads("null", Cluster::default());
    reads(" null ", BTreeMap::<String, String>::new());
    reads("null", Vec::<String>::new());
    reads("null", None::<i32>);
    reads("null", ());
    refuses::<i32>("null", "expected a number, found null");
    refuses::<String>("null", "expected a string, found null");
    refuses::<Vec<i32>>("nul", "line 1 column 1: expected null");
}

#[test]
fn free_json_keeps_its_nulls() {
    let text = r#"{"a": null, "b": [null, {"c": null}]}"#;
    reads(text, json!({"a": null, "b": [null, {"c": null}]}));
}

#[test]
fn integers_are_read_from_numbers_and_from_strings() {
    reads("30", 30_i32);
    reads(r#""30""#, 30_i32);
    reads(r#""\u0033\u0030""#, 30_i32);
    reads("-9223372036854775808", i64::MIN);
    reads(r#""9223372036854775807""#, i64::MAX);
    reads("18446744073709551615", u64::MAX);
    reads("-128", i8::MIN);
    reads("65535", u16::MAX);
    reads("-0", 0_u8);
    reads("170141183460469231731687303715884105727", i128::MAX);
}

#[test]
fn integers_are_not_read_from_anything_else() {
    refuses::<i32>("3.0", "expected an integer, found number 3.0");
    refuses::<i32>("1e3", "expected an integer, found number 1e3");
    refuses::<i64>(r#""3.0""#, r#"expected an integer, found string "3.0""#);
    for text in ["", "abc", " 1", "+1", "007", "0x10", "1_000", "-", "--1", "٣"] {
        let message = format!("expected a number, found string \"{text}\"");
        refuses::<i32>(&format!("\"{text}\""), &message);
    }
    refuses::<i32>("true", "expected a number, found boolean true");
    refuses::<i32>("[1]", "expected a number, found an array");
    refuses::<i32>("{}", "expected a number, found an object");
}

#[test]
fn an_integer_out_of_range_is_named_with_the_range() {
    refuses::<i32>("3000000000", "number 3000000000 is out of range for i32");
    refuses::<u8>(r#""256""#, r#"string "256" is out of range for u8"#);
    refuses::<u8>("-1", "number -1 is out of range for u8");
    refuses::<i64>("9223372036854775808", "number 9223372036854775808 is out of range for i64");
    refuses::<u64>("18446744073709551616", "number 18446744073709551616 is out of range for u64");
}

#[test]
fn floats_are_read_from_numbers_strings_and_names() {
    reads("0.5", 0.5_f64);
    reads("3", 3.0_f64);
    reads("1e+21", 1e21_f64);
    reads(r#""-2.5e-3""#, -0.0025_f64);
    reads("0.1", 0.1_f32);
    reads(r#""Infinity""#, f64::INFINITY);
    reads(r#""-Infinity""#, f32::NEG_INFINITY);
    assert!(from_str::<f64>(r#""NaN""#).is_ok_and(f64::is_nan));
    refuses::<f64>(r#""inf""#, r#"expected a number, found string "inf""#);
    refuses::<f64>(r#""nan""#, r#"expected a number, found string "nan""#);
    refuses::<f64>(r#""1.""#, r#"expected a number, found string "1.""#);
    refuses::<f64>("1e999", "number 1e999 is out of range for f64");
    refuses::<f32>("1e39", "number 1e39 is out of range for f32");
    refuses::<Value>("[-1e999]", "[0]: number -1e999 is out of range for f64");
}

#[test]
fn strings_and_booleans_are_read_only_from_their_own_kind() {
    reads(r#""a""#, "a".to_owned());
    reads("true", true);
    reads("false", false);
    reads(r#""é""#, 'é');
    refuses::<String>("7", "expected a string, found number 7");
    refuses::<String>("true", "expected a string, found boolean true");
    refuses::<String>("{\"a\": 1}", "expected a string, found an object");
    refuses::<bool>(r#""true""#, r#"expected a boolean, found string "true""#);
    refuses::<bool>("1", "expected a boolean, found number 1");
    refuses::<Cluster>("[]", "expected an object, found an array");
    refuses::<Vec<i32>>("{}", "expected an array, found an object");
    refuses::<char>(r#""ab""#, r#"expected a character, found string "ab""#);
}

#[test]
fn unknown_fields_are_ignored_but_have_to_be_json() {
    let text = r#"{"x": {"y": [1, "]}", {}], "z": -0.1e+3}, "name": "a", "w": []}"#;
    reads(text, Cluster { name: "a".to_owned(), ..Cluster::default() });
    refuses::<Cluster>(r#"{"x": [1,]}"#, "x[1]: line 1 column 10: expected a value, found ']'");
}

#[test]
fn struct_field_twice_is_an_error() {
    for (text, message) in [
        (r#"{"name": "a", "name": "b"}"#, "the field `name` appears twice in the same object"),
        (
            r#"{"workers": [{"minInstances": 1, "min\u0049nstances": 2}]}"#,
            "workers[0]: the field `minInstances` appears twice in the same object",
        ),
        (r#"{"head": {"spot": true}, "head": {}}"#, "the field `head` appears twice in the same object"),
    ] {
        refuses::<Cluster>(text, message);
    }
    // A null is not an entry.
    reads(r#"{"name": null, "name": "a", "name": null}"#, Cluster { name: "a".to_owned(), ..Cluster::default() });
}

#[test]
fn struct_field_under_two_names_is_an_error() {
    #[derive(Debug, Deserialize)]
    struct Aliased {
        #[serde(alias = "git_repo")]
        #[expect(dead_code, reason = "only decoded")]
        repo: String,
    }
    refuses::<Vec<Aliased>>(
        r#"[{"git_repo": "a", "repo": "b"}]"#,
        "[0]: the field `repo` appears twice in the same object",
    );
}

#[test]
fn map_key_twice_takes_the_last_value() {
    reads(r#"{"a": "1", "b": "2", "a": "3", "b": null}"#, BTreeMap::from([("a", "3"), ("b", "2")].map(owned)));
    reads(r#"{"a": 1, "a": 2}"#, json!({"a": 2}));
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

#[test]
fn check_finds_a_key_twice_at_any_depth() {
    for (text, offset, key) in [
        (r#"{"a": 1, "b": 2, "a": 3}"#, 17, "a"),
        ("{\"a\": 1 ,\n \"a\": null}", 11, "a"),
        (r#"[{"x": {"b": 1, "a": [{}], "\u0062": {}}}]"#, 27, "b"),
        (r#"{"a": {"a": {"a": 1}}, "b": {"a": 1}, "b": 2}"#, 38, "b"),
        // The innermost and first ones first.
        (r#"{"c": 1, "b": 1, "c": 2, "b": 2}"#, 17, "c"),
        (r#"{"a": 1, "a": {"b": 1, "b": 2}}"#, 23, "b"),
        (r#"{"": 1, "": 2}"#, 8, ""),
    ] {
        assert_eq!(check(text), Err(CheckError::Duplicate { offset, key: key.to_owned() }), "{text}");
    }
    for text in [r#"{"a": {"a": [{"a": 1}, {"a": 1}]}, "b": {"a": "a"}}"#, "[]", " 1 ", r#"{"b": 1, "a": 2}"#] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    let many: String = (0..100_000).rev().map(|n| format!("\"{n}\":1,")).collect();
    assert_eq!(check(&format!("{{{many}\"x\":1}}")), Ok(()));
    let Err(CheckError::Duplicate { key, .. }) = check(&format!("{{{many}\"77777\":1}}")) else { panic!("not found") };
    assert_eq!(key, "77777");
}

#[test]
fn check_finds_text_that_is_not_json() {
    for (text, offset) in [(r#"{"a": tru}"#, 6), (r#"{"a": 1} x"#, 9), (r#"{"a": [1,]}"#, 9), (r#"["\x"]"#, 2), ("", 0)]
    {
        let Err(CheckError::Syntax(error)) = check(text) else { panic!("{text} was taken") };
        assert_eq!(error.offset(), offset, "{text}");
    }
}

#[test]
fn enums_are_tagged_from_outside() {
    reads(r#""Ready""#, Phase::Ready);
    reads(r#"{"Ready": null}"#, Phase::Ready);
    reads(r#"{"Waiting": "3"}"#, Phase::Waiting(3));
    reads(r#"{"Pair": [1, 2]}"#, Phase::Pair(1, 2));
    let failed = Phase::Failed { reason: "x".to_owned() };
    reads(r#"{"Failed": {"reason": "x", "y": 1}}"#, failed);
    reads(r#"{"phase": "Ready"}"#, Cluster { phase: Some(Phase::Ready), ..Cluster::default() });

    let one = "expected an object with one entry, whose key is the variant";
    refuses::<Phase>("{}", one);
    refuses::<Phase>(r#"{"Waiting": 1, "Ready": null}"#, one);
    refuses::<Phase>("7", "expected a string or an object with one entry, found number 7");
    refuses::<Cluster>(r#"{"phase": {"Waiting": 300}}"#, "phase.Waiting: number 300 is out of range for u8");
    refuses::<Cluster>(r#"{"phase": {"Failed": {}}}"#, "phase.Failed: missing field `reason`");
    refuses::<Cluster>(
        r#"{"phase": "Gone"}"#,
        "phase: unknown variant `Gone`, expected one of `Ready`, `Waiting`, `Pair`, `Failed`",
    );
}

#[test]
fn a_raw_value_is_its_own_text() {
    let text = r#"{"a" : [1 , "\u0041" ] , "b":null,"c": "x" }"#;
    let raw: BTreeMap<&str, Raw<'_>> = from_str(text).expect("valid");
    let expected = [("a", Raw(r#"[1 , "\u0041" ]"#)), ("c", Raw(r#""x""#))];
    assert_eq!(raw, BTreeMap::from(expected));
    assert_eq!(from_str("\n null "), Ok(Raw("null")));
    assert_eq!(from_str("[null,null]"), Ok(Vec::<Raw<'_>>::new()));
    assert!(from_str::<Raw<'_>>(r#"{"a": [1 2]}"#).is_err());
}

#[test]
fn a_newtype_is_what_it_wraps() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Count(u8);
    reads("[1, \"2\"]", vec![Count(1), Count(2)]);
}

#[test]
fn keys_are_read_as_the_type_that_a_map_has() {
    reads(r#"{"-1": 1, "2": null, "3": 4}"#, BTreeMap::from([(-1, 1), (3, 4)]));
    reads(r#"{"Ready": 1}"#, BTreeMap::from([(Phase::Ready, 1)]));
    reads(r#"{"true": 1}"#, BTreeMap::from([(true, 1)]));
    refuses::<BTreeMap<u8, u8>>(r#"{"1": 1, "x": 2}"#, "x: expected a key that is an u8");
}

#[test]
fn containers_of_fixed_length_want_exactly_that_many() {
    refuses::<(u8, u8)>("[1, 2, 3]", "[2]: expected no further element in the array");
    refuses::<(u8, u8)>("[1]", "invalid length 1, expected a tuple of size 2");
}

#[test]
fn strings_borrow_unless_they_have_escapes() {
    let text = r#"["plain, and longer than eight bytes", "a\tb", "é\n", ""]"#;
    let mut reader = Reader::new(text);
    reader.begin_array().expect("an array");
    let mut strings = Vec::new();
    while reader.next_element().expect("valid") {
        strings.push(reader.string().expect("a string"));
    }
    assert_eq!(strings, ["plain, and longer than eight bytes", "a\tb", "é\n", ""]);
    let borrowed: Vec<bool> = strings.iter().map(|text| matches!(text, Cow::Borrowed(_))).collect();
    assert_eq!(borrowed, [true, false, false, true]);
}

#[test]
fn escapes_are_decoded_and_half_surrogate_pairs_refused() {
    for (text, value) in [
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\u00e9\u20AC""#, "é€"),
        (r#""x\ud83d\ude00y""#, "x😀y"),
        (r#""\\ud83d \ufffd""#, "\\ud83d \u{fffd}"),
    ] {
        reads(text, value.to_owned());
        assert_eq!(Reader::new(text).raw(), Ok(text));
    }
    for text in [r#""\x""#, r#""\u12g4""#, r#""\u12""#, r#""\ud83d\u1""#, r#""\"#] {
        assert!(from_str::<String>(text).is_err(), "{text}");
        assert!(Reader::new(text).skip().is_err(), "{text}");
    }
    for half in [r"\ud83d", r"\ud83dz", r"\ude00\ud83d", r"\ud83d\u0041", r"\ud83d\ud83d\ude00", r"\uDFFF"] {
        for text in [format!("\"{half}\""), format!("{{\"{half}\": 1}}"), format!("[1, \"{half}\"]")] {
            for error in [from_str::<Value>(&text).unwrap_err(), Reader::new(&text).skip().unwrap_err()] {
                assert!(error.reason().contains("half of a surrogate pair"), "{text}: {error}");
            }
        }
    }
}

#[test]
fn numbers_beyond_a_float_are_refused_wherever_they_are() {
    let digits = "9".repeat(400);
    let zeros = format!("0.{}", "0".repeat(400));
    let largest = format!("17976931348623157{}", "0".repeat(292));
    for number in ["1e999", "-1E+400", "1.8e308", &digits, &format!("{digits}.5"), &format!("0.1e{digits}")] {
        for text in [number.to_owned(), format!("[{number}]"), format!("{{\"a\": {{\"b\": {number}}}}}")] {
            let error = Reader::new(&text).skip().unwrap_err();
            assert!(error.reason().ends_with("is out of range for f64"), "{text}: {error}");
            assert!(super::check(&text).is_err() && from_str::<Value>(&text).is_err(), "{text}");
        }
    }
    for number in
        ["1e308", "-1.7976931348623157e308", "1e-999", "5e-324", "123456789012345678901234567890", &largest, &zeros]
    {
        assert_eq!(Reader::new(number).raw(), Ok(number));
        assert_eq!(super::check(number), Ok(()), "{number}");
    }
}

#[test]
fn control_characters_in_strings_are_errors_at_every_offset() {
    for (head, tail) in (0..20).flat_map(|head| [(head, ""), (head, "é and eight bytes more")]) {
        let head = "a".repeat(head);
        for control in 0..0x20_u8 {
            let text = format!("\"{head}{}{tail}\"", char::from(control));
            let at = Err(1 + head.len());
            assert_eq!(from_str::<String>(&text).map_err(|error| error.offset()).map(drop), at, "{text:?}");
            assert_eq!(Reader::new(&text).skip().map_err(|error| error.offset()), at, "{text:?}");
        }
        let plain = format!("{head} \u{7f}é{tail}");
        reads(&format!("\"{plain}\""), plain);
    }
}

#[test]
fn the_grammar_is_strict() {
    for text in [
        "",
        " ",
        ",",
        "]",
        "[",
        "[1",
        "[1,",
        "[,1]",
        "[1,]",
        "[1 2]",
        "[1]]",
        "[1}",
        "[1] 2",
        "1 1",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{\"a\" 1}",
        "{\"a\",1}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1]",
        "{\"a\"::1}",
        "01",
        "-",
        "-01",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1.e1",
        "0x1",
        "NaN",
        "Infinity",
        "tru",
        "truex",
        "True",
        "nulll",
        "'a'",
        "\"a",
        "// c\n1",
        "\u{feff}1",
        "\u{a0}1",
        "1\0",
        "\u{b}1",
    ] {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text:?} is not JSON");
        assert!(from_str::<Value>(text).is_err(), "{text:?} was read");
        let mut reader = Reader::new(text);
        assert!(reader.skip().and_then(|()| reader.finish()).is_err(), "{text:?} was skipped");
    }
}

#[test]
fn a_reader_is_walked_step_by_step() {
    let mut reader = Reader::new(" {\"a\" : [ 1 , true ] , \"b\\n\" : null } ");
    assert_eq!(reader.peek(), Ok(TokenKind::Object));
    reader.begin_object().expect("an object");
    assert_eq!(reader.next_key(), Ok(Some("a".into())));
    assert_eq!((reader.peek(), reader.offset()), (Ok(TokenKind::Array), 8));
    reader.begin_array().expect("an array");
    assert_eq!(reader.next_element(), Ok(true));
    assert_eq!(reader.number(), Ok("1"));
    assert_eq!(reader.next_element(), Ok(true));
    assert_eq!(reader.bool(), Ok(true));
    assert_eq!(reader.next_element(), Ok(false));
    assert_eq!(reader.next_key(), Ok(Some("b\n".into())));
    assert_eq!(reader.null(), Ok(()));
    assert!(reader.clone().finish().is_err(), "the object is still open");
    assert_eq!(reader.next_key(), Ok(None));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn steps_out_of_order_are_errors() {
    let start = || Reader::new(r#"{"a": [1]}"#);
    assert!(start().next_key().is_err());
    assert!(start().next_element().is_err());
    assert!(start().finish().is_err());
    let mut reader = start();
    reader.begin_object().expect("an object");
    assert!(reader.clone().next_element().is_err());
    assert!(reader.clone().skip().is_err());
    assert!(reader.clone().peek().is_err());
    reader.next_key().expect("a key");
    assert!(reader.clone().next_key().is_err());
    assert!(reader.clone().finish().is_err());
    let mut inner = reader.clone();
    inner.begin_array().expect("an array");
    assert_eq!(inner.next_element(), Ok(true));
    assert!(inner.clone().next_element().is_err());
    assert!(inner.next_key().is_err());
    reader.skip().expect("a value");
    assert!(reader.clone().skip().is_err());
    assert_eq!(reader.next_key(), Ok(None));
    assert!(reader.clone().next_key().is_err());
    assert!(reader.skip().is_err());
}

#[test]
fn an_error_names_the_path_of_the_value() {
    let path = |text: &str| from_str::<Cluster>(text).expect_err(text).path().to_owned();
    assert_eq!(path(r#"{"workers": [{}, {"ratio": 1, "spot": 1}]}"#), "workers[1].spot");
    assert_eq!(path(r#"{"skipped": {"a": [1, {}]}, "name": []}"#), "name");
    assert_eq!(path(r#"{"labels": {"x": "}", "a.b/c": 1}}"#), r#"labels["a.b/c"]"#);
    assert_eq!(path(r#"{"labels": {"\"": 1}}"#), r#"labels["\""]"#);
    assert_eq!(path(r#"{"labels": {"\u0041": 1}}"#), "labels.A");
    assert_eq!(path(r#"{"labels": {"": 1}}"#), r#"labels[""]"#);
    assert_eq!(path(r#"{"head": {"minInstances": 1.5}}"#), "head.minInstances");
    // Wrong text has the path of the innermost value that it is part of.
    assert_eq!(path(r#"{"head": {"minInstances": 1 "spot": true}}"#), "head");
    assert_eq!(path(r#"{"head": {"minInstances": -}}"#), "head.minInstances");
    assert_eq!(path(r#"{"head": {"minInstances"#), "head");
    assert_eq!(path(r#"{"name": "abc"#), "name");
    assert_eq!(path(r#"{"name": "abc""#), "");
}

#[test]
fn an_error_shows_the_value_cut_to_sixty_four_characters() {
    refuses::<Cluster>(
        r#"{"workers": [{"minInstances": "abc"}]}"#,
        r#"workers[0].minInstances: expected a number, found string "abc""#,
    );
    let long = "é".repeat(65);
    let cut = "é".repeat(63);
    refuses::<i32>(&format!("\"{long}\""), &format!("expected a number, found string \"{cut}…\""));
    let fits = "é".repeat(62);
    refuses::<i32>(&format!("\"{fits}\""), &format!("expected a number, found string \"{fits}\""));
    let digits = "9".repeat(1000);
    refuses::<i32>(&digits, &format!("number {}… is out of range for f64", "9".repeat(64)));
}

#[test]
fn a_syntax_error_has_line_and_column_with_and_without_a_path() {
    refuses::<Cluster>(
        "{\n  \"name\": \"é\"\n \"x\": 1}",
        "line 3 column 2: expected a comma or the end of the object, found '\"'",
    );
    refuses::<Cluster>("{\"head\":\n{\"spot\": é}}", "head.spot: line 2 column 10: expected a value, found 'é'");
    refuses::<i32>("1 x", "line 1 column 3: expected the end of the text, found 'x'");
    refuses::<Cluster>(
        "{\"name\": \"a\u{1}\"}",
        "name: line 1 column 12: expected no control character in a string, found '\\u{1}'",
    );
    refuses::<Value>("[", "[0]: line 1 column 2: expected a value, found the end of the text");
}

#[test]
fn prefix_goes_before_the_path_of_an_error() {
    let prefixed = |text: &str| from_str::<Cluster>(text).expect_err(text).with_prefix("spec");
    assert_eq!(prefixed(r#"{"name": 7}"#).to_string(), "spec.name: expected a string, found number 7");
    assert_eq!(prefixed("7").to_string(), "spec: expected an object, found number 7");
    assert_eq!(prefixed("7").reason(), "expected an object, found number 7");
    let error = from_str::<Vec<i32>>("[{}]").expect_err("an object");
    assert_eq!(error.with_prefix("spec").path(), "spec[0]");
}

#[test]
fn the_error_of_a_single_step_is_located_on_demand() {
    let text = r#"{"a": [1, 2"#;
    let error: Error = Reader::new(text).skip().expect_err("not closed");
    assert_eq!((error.path(), error.offset()), ("", 11));
    let located = error.with_prefix("spec").locate(text);
    assert_eq!(located.path(), "spec.a");
    assert_eq!(located.clone().locate(text), located);
}

#[test]
fn errors_of_the_types_themselves_have_a_path() {
    #[derive(Debug)]
    struct Even;
    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            match u8::deserialize(deserializer)? % 2 {
                0 => Ok(Even),
                _ => Err(serde::de::Error::custom("odd")),
            }
        }
    }
    refuses::<BTreeMap<String, Vec<Even>>>(r#"{"a": [2, 3]}"#, "a[1]: odd");
    refuses::<BTreeMap<String, Required>>(r#"{"a": {"id": 1}, "b": {}}"#, "b: missing field `id`");
}

#[test]
fn nesting_ends_at_the_depth_that_the_database_stores() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |levels: usize| open.repeat(levels) + "1" + &close.repeat(levels);
        assert!(from_str::<Value>(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(Reader::new(&nested(MAX_DEPTH)).skip(), Ok(()));
        let text = nested(MAX_DEPTH + 1);
        for error in [from_str::<Value>(&text).expect_err("too deep"), Reader::new(&text).skip().expect_err("too deep")]
        {
            assert_eq!(error.reason(), "nested deeper than 120 levels");
            assert_eq!(error.offset(), MAX_DEPTH * open.len());
        }
    }
}

#[test]
fn depth_is_counted_from_the_root_where_a_part_is_skipped() {
    let text = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
    let mut reader = Reader::new(&text);
    reader.begin_array().expect("an array");
    reader.next_element().expect("an element");
    assert_eq!(reader.skip().map_err(|error| error.offset()), Err(MAX_DEPTH));
}

#[test]
fn two_hundred_thousand_levels_fail_at_once() {
    #[derive(Debug, Deserialize)]
    struct Endless {
        #[expect(dead_code, reason = "only decoded")]
        a: Option<Box<Endless>>,
    }
    let arrays = "[".repeat(200_000);
    let objects = "{\"a\":".repeat(200_000);
    for error in [
        from_str::<Value>(&arrays).expect_err("too deep"),
        from_str::<Cluster>(&format!("{{\"x\":{arrays}")).expect_err("too deep"),
        from_str::<Endless>(&objects).expect_err("too deep"),
        from_str::<Raw<'_>>(&objects).expect_err("too deep"),
        from_str::<String>(&arrays).expect_err("too deep"),
    ] {
        assert_eq!(error.reason(), "nested deeper than 120 levels");
        // At the first level beyond the limit: the rest is not read.
        assert!(error.offset() <= 6 * (MAX_DEPTH + 1), "{}", error.offset());
    }
}

/// Where a value ends that begins the text, and why the boundary stopped there.
fn boundary(text: &str) -> (usize, Stop) {
    Boundary::default().advance(text.as_bytes(), true, 0)
}

#[test]
fn boundary_stops_after_the_last_byte_of_a_value() {
    for (value, rest) in [
        (r#"{"a": {"}": "]\"\\"}, "b": 1}"#, r#"{"a": 1}"#),
        ("{}", "}"),
        ("[{}, [1]]", ", 2"),
        (r#""a\"b""#, r#""c""#),
        ("-1.5e+3", "]"),
        ("null", " "),
    ] {
        assert_eq!(boundary(&format!("{value}{rest}")), (value.len(), Stop::End), "{value}");
    }
    for text in ["{", "[[]", "\"a", "12", "{\"a\": \"\\"] {
        assert_eq!(boundary(text), (text.len(), Stop::Piece), "{text}");
    }
}

#[test]
fn boundary_passes_flaws_while_brackets_match() {
    for flawed in
        ["{\"a\" 1}", "{,}", "{\"a\": \"b\n\"c\": 1}", "{\"a\": \"\u{1}\"}", "[1 2]", "{oops: 'x'}", "{\"a\": 1,}"]
    {
        let mut boundary = Boundary::default();
        assert_eq!(boundary.advance(flawed.as_bytes(), true, 0), (flawed.len(), Stop::End), "{flawed}");
        assert!(boundary.flawed(), "{flawed}");
        assert!(check(flawed).is_err(), "{flawed}");
    }
}

#[test]
fn boundary_stops_before_the_next_document() {
    // Where no value may stand, behind a flaw, and in the bytes that are strict.
    let value = "{\"a\": [1,\n{\"b\": 1}\n";
    assert_eq!(after_array(&format!("{value}{{"), 0), (value.len(), Stop::Document));
    assert_eq!(after_array("{\"a\": [1 2,\n{", 0), (12, Stop::Document));
    assert_eq!(after_array("{\"a\": [1,\n{", 99), (10, Stop::Document));
    assert_eq!(after_array("{\"a\": [1,\n {", 99), (12, Stop::Piece));
}

/// As [`boundary`], after the first array.
fn after_array(text: &str, strict: usize) -> (usize, Stop) {
    let mut boundary = Boundary::default();
    let (taken, stop) = boundary.advance(text.as_bytes(), true, strict);
    assert_eq!(stop, Stop::Array, "{text}");
    let (rest, stop) = boundary.advance(&text.as_bytes()[taken..], false, strict.saturating_sub(taken));
    (taken + rest, stop)
}

#[test]
fn boundary_and_reader_have_the_same_depth_limit() {
    let deep = "{\"a\":".repeat(MAX_DEPTH + 1);
    assert_eq!(boundary(&deep), (5 * MAX_DEPTH, Stop::Depth));
    assert_eq!(Reader::new(&deep).skip().map_err(|error| error.offset()), Err(5 * MAX_DEPTH));
    assert_eq!(boundary("{\"a\": 1]"), (7, Stop::Bracket { wanted: "a comma or the end of the object" }));
}
