//! Every type and shape that descriptors can have, on a message made for it. The messages of a real API are tested with the
//! kinds, in `crd-specs/tests/proto.rs`.

use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::LazyLock;

const PROTO: &str = r#"
syntax = "proto3";
package test;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

enum Level { LEVEL_NONE = 0; LEVEL_LOW = 1; LEVEL_HIGH = -2; }

message All {
  double a_double = 1;
  float a_float = 2;
  int32 an_int32 = 3;
  int64 an_int64 = 4;
  uint32 a_uint32 = 5;
  uint64 a_uint64 = 6;
  sint32 a_sint32 = 7;
  sint64 a_sint64 = 8;
  fixed32 a_fixed32 = 9;
  fixed64 a_fixed64 = 10;
  sfixed32 a_sfixed32 = 11;
  sfixed64 a_sfixed64 = 12;
  bool a_bool = 13;
  string a_text = 14;
  bytes some_bytes = 15;
  Level a_level = 16;
  All inner = 17;
  optional int32 present = 18;
  oneof choice { string left = 19; int32 right = 20; All both = 21; }
  repeated int32 packed = 22;
  repeated int32 loose = 23 [packed = false];
  repeated string texts = 24;
  repeated Level levels = 25;
  map<string, int32> by_text = 26;
  map<int32, string> by_number = 27;
  map<bool, All> by_truth = 28;
  google.protobuf.Timestamp time = 29;
  google.protobuf.Duration span = 30;
  google.protobuf.Struct free = 31;
  google.protobuf.Value any_value = 32;
  google.protobuf.ListValue any_list = 33;
  google.protobuf.Any packed_any = 34;
  google.protobuf.StringValue maybe_text = 35;
  google.protobuf.Int64Value maybe_long = 36;
  repeated All many = 37;
  repeated google.protobuf.Value values = 38;
}
"#;

static ALL: LazyLock<(Descriptors, MessageId)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("test.proto"), PROTO).unwrap();
    let mut compiler = protox::Compiler::new([folder.path()]).unwrap();
    compiler.include_imports(true).open_file("test.proto").unwrap();
    let descriptors = Descriptors::read(&compiler.encode_file_descriptor_set()).unwrap();
    let message = descriptors.message("test.All").unwrap();
    (descriptors, message)
});

fn encode(text: &str) -> (Vec<u8>, Lost) {
    ALL.0.encode(ALL.1, text).unwrap()
}

fn decode(bytes: &[u8]) -> Json {
    serde_json::from_str(&ALL.0.decode(ALL.1, bytes).unwrap()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const NOTHING: Lost = Lost { fields: 0, enums: 0, values: 0 };

#[test]
fn every_scalar_is_written_as_the_encoding_says() {
    for (json, expected) in [
        (r#"{"aDouble": 1.5}"#, "09000000000000f83f"),
        (r#"{"aDouble": "-Infinity"}"#, "09000000000000f0ff"),
        (r#"{"aFloat": 0.5}"#, "150000003f"),
        (r#"{"anInt32": -1}"#, "18ffffffffffffffffff01"),
        (r#"{"anInt32": "150"}"#, "189601"),
        (r#"{"anInt64": "-9223372036854775808"}"#, "2080808080808080808001"),
        (r#"{"aUint32": 4294967295}"#, "28ffffffff0f"),
        (r#"{"aUint64": "18446744073709551615"}"#, "30ffffffffffffffffff01"),
        (r#"{"aSint32": -2}"#, "3803"),
        (r#"{"aSint64": 2147483647}"#, "40feffffff0f"),
        (r#"{"aFixed32": 1}"#, "4d01000000"),
        (r#"{"aFixed64": 1}"#, "510100000000000000"),
        (r#"{"aSfixed32": -1}"#, "5dffffffff"),
        (r#"{"aSfixed64": -1}"#, "61ffffffffffffffff"),
        (r#"{"aBool": true}"#, "6801"),
        (r#"{"aText": "testing"}"#, "720774657374696e67"),
        (r#"{"someBytes": "AQ_-"}"#, "7a03010ffe"),
        (r#"{"aLevel": "LEVEL_LOW"}"#, "800101"),
        (r#"{"aLevel": -2}"#, "8001feffffffffffffffff01"),
        (r#"{"a_text": "by its own name"}"#, "720f627920697473206f776e206e616d65"),
        (r#"{"inner": {}}"#, "8a0100"),
        (r#"{"packed": [3, 270, 86942]}"#, "b20106038e029ea705"),
        (r#"{"loose": [1, 2]}"#, "b80101b80102"),
        (r#"{"byText": {"b": 2, "a": 1}}"#, "d201050a01611001d201050a01621002"),
        (r#"{"byNumber": {"7": ""}}"#, "da010408071200"),
        (r#"{"time": "1970-01-01T00:00:01.5Z"}"#, "ea0108080110 80cab5ee01"),
        (r#"{"time": {"seconds": "1"}}"#, "ea01020801"),
        (r#"{"span": "1.5s"}"#, "f2010808011080cab5ee01"),
        (r#"{"anyValue": null}"#, "8202020800"),
        (r#"{"maybeLong": "0"}"#, "a20200"),
    ] {
        let (bytes, lost) = encode(json);
        assert_eq!((hex(&bytes), lost), (expected.replace(' ', ""), NOTHING), "{json}");
    }
}

#[test]
fn zero_is_written_where_a_field_tells_it_from_absence() {
    for (json, expected) in [
        (
            r#"{"anInt32": 0, "aText": "", "aBool": false, "aDouble": 0, "aFloat": -0.0, "aLevel": "LEVEL_NONE", "packed": []}"#,
            "",
        ),
        (r#"{"present": 0}"#, "900100"),
        (r#"{"right": 0}"#, "a00100"),
        (r#"{"byText": {"": 0}}"#, "d201040a001000"),
        (r#"{"texts": [""]}"#, "c20100"),
        (r#"{"anInt32": null, "inner": null, "packed": null, "byText": null}"#, ""),
    ] {
        let (bytes, lost) = encode(json);
        assert_eq!((hex(&bytes).as_str(), lost), (expected, NOTHING), "{json}");
    }
}

#[test]
fn fields_are_in_number_order_and_the_last_value_counts() {
    let (bytes, _) =
        encode(r#"{"aText": "x", "anInt32": 1, "inner": {"aBool": true, "aDouble": 1}, "texts": ["a", "b"]}"#);
    let (same, _) =
        encode(r#"{"texts": ["a", "b"], "inner": {"aDouble": 1, "aBool": true}, "anInt32": 1, "aText": "x"}"#);
    assert_eq!(bytes, same);
    assert_eq!(hex(&encode(r#"{"left": "x", "right": 7}"#).0), "a00107");
    assert_eq!(hex(&encode(r#"{"right": 7, "left": "x", "both": null}"#).0), "9a010178");
    assert_eq!(hex(&encode(r#"{"anInt32": 1, "anInt32": 2}"#).0), "1802");
    assert_eq!(hex(&encode(r#"{"anInt32": 1, "anInt32": 0}"#).0), "");
    assert_eq!(hex(&encode(r#"{"byText": {"a": 1, "b": 3, "a": 2}}"#).0), "d201050a01611002d201050a01621003");
}

#[test]
fn value_that_does_not_fit_is_left_out_and_counted() {
    for (json, lost) in [
        (r#"{"unknown": {"deep": [1]}}"#, Lost { fields: 1, ..NOTHING }),
        (r#"{"aLevel": "LEVEL_OF_A_LATER_RELEASE"}"#, Lost { enums: 1, ..NOTHING }),
        (r#"{"levels": ["LEVEL_LOW", "NEW", "LEVEL_HIGH"]}"#, Lost { enums: 1, ..NOTHING }),
        (r#"{"anInt32": 3.0}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"anInt32": 2147483648}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"aText": 7}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"aBool": "true"}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"someBytes": "not base64!"}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"inner": "text"}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"packed": 7}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"time": "yesterday"}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"span": "a while"}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"free": []}"#, Lost { values: 1, ..NOTHING }),
        (r#"{"byNumber": {"seven": "x"}}"#, Lost { values: 1, ..NOTHING }),
    ] {
        let kept = json.replacen('{', r#"{"present": 1, "#, 1);
        let (bytes, found) = encode(&kept);
        assert_eq!(found, lost, "{json}");
        assert_eq!(decode(&bytes)["present"], 1, "{json}");
    }
    assert_eq!(
        decode(&encode(r#"{"levels": ["LEVEL_LOW", "NEW", "LEVEL_HIGH"]}"#).0),
        json!({"levels": ["LEVEL_LOW", "LEVEL_HIGH"]})
    );
}

#[test]
fn every_type_comes_back() {
    let object = json!({
        "aDouble": 0.1, "aFloat": 0.1, "anInt32": -5, "anInt64": "-5", "aUint32": 5, "aUint64": "5", "aSint32": -5, "aSint64": "-5",
        "aFixed32": 5, "aFixed64": "5", "aSfixed32": -5, "aSfixed64": "-5", "aBool": true, "aText": "née \u{0} \"", "someBytes": "AQ/+",
        "aLevel": "LEVEL_HIGH", "inner": {"inner": {"aLevel": 77}}, "present": 0, "both": {"aBool": true}, "packed": [0, 1, -1], "loose": [0, 1],
        "texts": ["", "x"], "levels": ["LEVEL_NONE", "LEVEL_LOW"], "byText": {"": 0, "x": 1}, "byNumber": {"-1": "", "1": "x"},
        "byTruth": {"false": {}, "true": {"aBool": true}}, "time": "1969-12-31T23:59:59.500Z", "span": "-1.500s",
        "free": {"a": [null, true, 1.5, "x", {}, []], "b": {"c": null}}, "anyValue": [1, {"x": null}], "anyList": [null, "x"],
        "packedAny": {"@type": "type.googleapis.com/test.All", "value": "AQ=="}, "maybeText": "", "maybeLong": "0",
        "many": [{}, {"aText": "x"}], "values": [null, 1],
    });
    let (bytes, lost) = encode(&object.to_string());
    assert_eq!(lost, NOTHING);
    let back = decode(&bytes);
    let float = |value: &Json| value["aFloat"].as_f64().unwrap() as f32;
    assert_eq!(float(&back), float(&object));
    let without = |mut value: Json| {
        value.as_object_mut().unwrap().remove("aFloat");
        value
    };
    assert_eq!(without(back.clone()), without(object));
    assert_eq!(encode(&back.to_string()).0, bytes);
}

#[test]
fn long_messages_have_long_lengths() {
    for length in [0, 1, 126, 127, 128, 16_380, 16_384, 2_100_000] {
        let object = json!({"inner": {"inner": {"aText": "x".repeat(length)}, "anInt32": 1}, "aText": "y"});
        let (bytes, _) = encode(&object.to_string());
        let mut expected = object;
        if length == 0 {
            expected["inner"]["inner"] = json!({});
        }
        assert_eq!(decode(&bytes), expected);
    }
}

#[test]
fn text_that_is_too_deep_or_not_json_is_an_error() {
    for text in ["", "{", "[]", "7", r#"{"aText": "x"} more"#, r#"{"aText": tru}"#] {
        assert!(ALL.0.encode(ALL.1, text).is_err(), "{text}");
    }
    let deep = format!("{}{}", r#"{"inner":"#.repeat(200), "}".repeat(200));
    assert!(ALL.0.encode(ALL.1, &deep).is_err());
}

#[test]
fn bytes_that_are_not_a_message_are_an_error_with_a_reason() {
    for (bytes, part) in [
        (&[0x07_u8][..], "no field begins"),
        (&[0x72, 5, b'x'], "no field begins"),
        (&[0x72, 1, 0xff], "not UTF-8"),
        (&[0x70, 1], "another type"),
        (&[0xb2, 1, 1, 0x80], "cut off"),
        (&[0x00, 0x00], "no field begins"),
    ] {
        let error = ALL.0.decode(ALL.1, bytes).unwrap_err();
        assert!(error.to_string().contains(part), "{bytes:?}: {error}");
    }
    // An unknown field has no name.
    assert_eq!(decode(&[0xf8, 0x3f, 1, 0x68, 1]), json!({"aBool": true}));
    let nested: Vec<u8> = (0..120).fold(Vec::new(), |inner, _| {
        let mut out = vec![0x8a, 0x01, 0];
        out.extend(inner);
        varint::put_length(&mut out, 2);
        out
    });
    assert!(ALL.0.decode(ALL.1, &nested).unwrap_err().to_string().contains("deeper"));
}

#[test]
fn bytes_that_are_not_a_descriptor_set_are_an_error() {
    static NONE: DescriptorSet = DescriptorSet::new(b"not one");
    assert!(NONE.get().unwrap_err().to_string().starts_with("not a descriptor set: "));
    assert!(ALL.0.message("test.Missing").is_none());
}

proptest! {
    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes: Vec<u8>) {
        if let Ok(text) = ALL.0.decode(ALL.1, &bytes) {
            serde_json::from_str::<Json>(&text).unwrap();
        }
    }
}
