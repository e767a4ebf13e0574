//! Properties: reading returns the value that was printed, and we accept exactly the texts that serde_json accepts.

use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::tests::{Cluster, Phase};
use super::{Boundary, CheckError, Reader, Stop, check, from_str};

/// Any JSON value, with strings and keys that need escapes and numbers at the edges.
fn values() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("not finite", |float| serde_json::Number::from_f64(float).map(Value::Number)),
        (-1000_i32..1000).prop_map(|number| Value::from(f64::from(number) / 8.0)),
    ];
    let scalar =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), number, strings().prop_map(Value::String),];
    scalar.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((strings(), inner), 0..8).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

fn strings() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        8 => prop::char::range('a', 'z'),
        2 => prop::sample::select(vec!['"', '\\', '\n', '\u{1}', '\u{7f}', '/', '{', ']', ',', ':', 'é', '€', '😀']),
        1 => any::<char>(),
    ];
    prop::collection::vec(char, 0..24).prop_map(String::from_iter)
}

/// Text made of pieces of JSON, more often nearly right than random characters are.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"",
        "\\",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\\n",
        "1",
        "0",
        "-",
        ".",
        "e",
        "E",
        "+",
        "12",
        "1.5",
        "true",
        "false",
        "null",
        "t",
        " ",
        "\n",
        "\t",
        "\u{1}",
        "é",
        "[]",
        "{}",
        "\"a\":1",
        "\"b\":[",
        "99999999999999999999",
        "1e400",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// A valid text, then some of its characters removed, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(b"{}[],:\"\\0-.eutn \n\x01".to_vec()));
    (values(), any::<bool>(), prop::collection::vec(change, 1..4)).prop_map(|(value, pretty, changes)| {
        let mut chars: Vec<char> = print(&value, pretty).chars().collect();
        for (index, action, byte) in changes {
            if chars.is_empty() {
                break;
            }
            let at = index.index(chars.len());
            match action {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, char::from(byte)),
                _ => chars[at] = char::from(byte),
            }
        }
        chars.into_iter().collect()
    })
}

fn printed() -> impl Strategy<Value = String> {
    (values(), any::<bool>()).prop_map(|(value, pretty)| print(&value, pretty))
}

fn print(value: &Value, pretty: bool) -> String {
    if pretty { format!("{value:#}") } else { value.to_string() }
}

#[track_caller]
fn accepts_what_serde_json_accepts(text: &str) {
    let ours = from_str::<Value>(text);
    // The other differences do not come up: nesting is at most 16, and out of range means the same to both.
    let whole = serde_json::from_str::<Value>(text);
    match &whole {
        Ok(theirs) => assert!(ours.is_ok_and(|ours| same(&ours, theirs)), "{text}"),
        Err(_) => assert!(ours.is_err(), "{text}"),
    }
    let mut reader = Reader::new(text);
    let ours = reader.raw().and_then(|raw| reader.finish().map(|()| raw));
    // serde_json does not look into what it keeps as text.
    let theirs = serde_json::from_str::<&RawValue>(text).ok().filter(|_| whole.is_ok()).map(RawValue::get);
    assert_eq!(ours.ok(), theirs, "{text}");
    // Nothing to compare with, but neither these nor the search for the path may panic.
    let _ = from_str::<Cluster>(text).map_err(|error| error.to_string());
    let _ = from_str::<Vec<Phase>>(text).map_err(|error| error.to_string());
}

/// Equal, except for the last bits of floats, which serde_json rounds in a faster way.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) if ours.is_f64() && theirs.is_f64() => {
            let (Some(ours), Some(theirs)) = (ours.as_f64(), theirs.as_f64()) else {
                return false;
            };
            (ours - theirs).abs() <= ours.abs() * 1e-15 + f64::MIN_POSITIVE
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, ours)| theirs.get(key).is_some_and(|theirs| same(ours, theirs)))
        }
        _ => ours == theirs,
    }
}

proptest! {
    #[test]
    fn a_printed_value_is_read_back(value in values(), pretty: bool) {
        let text = print(&value, pretty);
        prop_assert_eq!(from_str::<Value>(&text), Ok(value));
    }

    #[test]
    fn acceptance_of_arbitrary_text_is_that_of_serde_json(text in any::<String>()) {
        accepts_what_serde_json_accepts(&text);
        accepts_what_serde_json_accepts(&format!("\"{text}\""));
    }

    #[test]
    fn acceptance_of_pieces_of_json_is_that_of_serde_json(text in pieces()) {
        accepts_what_serde_json_accepts(&text);
        accepts_what_serde_json_accepts(&format!("[{text}]"));
        accepts_what_serde_json_accepts(&format!("{{\"a\":{text}}}"));
        accepts_what_serde_json_accepts(&format!("\"{text}\""));
    }

    #[test]
    fn acceptance_of_mutated_json_is_that_of_serde_json(text in mutated()) {
        accepts_what_serde_json_accepts(&text);
    }

    #[test]
    fn skipping_takes_exactly_the_value(value in values(), pretty: bool, rest in "[ ,\\]}]{0,4}") {
        let value = print(&value, pretty);
        // A digit could go on, so what follows never starts with one.
        let text = format!(" {value}{rest}");
        let mut reader = Reader::new(&text);
        prop_assert_eq!(reader.raw(), Ok(value.as_str()));
        prop_assert_eq!(reader.offset(), 1 + value.len());
        let raw: &RawValue = serde_json::from_str(&value).expect("printed by serde_json");
        prop_assert_eq!(raw.get(), &value);
    }

    #[test]
    fn boundary_of_pieces_is_where_the_reader_ends(text in prop_oneof![pieces(), mutated(), printed()], size in 1_usize..9) {
        // In text that is not JSON, the boundary may be anywhere.
        let text = format!("[{text}] ");
        let mut reader = Reader::new(&text);
        if reader.skip().is_err() {
            return Ok(());
        }
        let mut boundary = Boundary::default();
        let mut taken = 0;
        let stop = loop {
            let piece = &text.as_bytes()[taken..text.len().min(taken + size)];
            let (more, stop) = boundary.advance(piece, false, 0);
            taken += more;
            if stop != Stop::Piece || taken == text.len() {
                break stop;
            }
        };
        prop_assert_eq!((stop, taken), (Stop::End, reader.offset()));
        prop_assert!(!boundary.flawed());
    }

    #[test]
    fn check_accepts_what_the_reader_accepts(text in prop_oneof![pieces(), mutated()]) {
        let mut reader = Reader::new(&text);
        let read = reader.skip().and_then(|()| reader.finish());
        match (check(&text), read) {
            (Err(CheckError::Syntax(error)), read) => prop_assert_eq!(read, Err(error)),
            // The key stands there a second time.
            (Err(CheckError::Duplicate { offset, .. }), _) => prop_assert!(text[offset..].starts_with('"')),
            (Ok(()), read) => prop_assert_eq!(read, Ok(())),
        }
    }
}
