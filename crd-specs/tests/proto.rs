//! The `proto` column: the reference system can decode its bytes, and they decode back to the object.

use crate::generator::Dice;
use crate::golden::{VECTORS, kind_of};
use crate::objects::row;
use crate::places::API;
use crd_specs::{DESCRIPTORS, KINDS};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::protobuf::{Descriptors, Lost, MessageId};
use ingester_core::schema::base;
use ingester_core::value::Value as Column;
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use std::path::Path;

fn descriptors() -> &'static Descriptors {
    DESCRIPTORS.get().unwrap()
}

fn message(kind: &Kind) -> MessageId {
    kind.protobuf().unwrap().get().unwrap().1
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn proto(kind: &Kind, object: &Json) -> Vec<u8> {
    match &row(kind, &object.to_string()).values[base::PROTO] {
        Column::Bytes(bytes) => bytes.to_vec(),
        other => panic!("the proto column holds {other}"),
    }
}

fn decoded(kind: &Kind, bytes: &[u8]) -> Json {
    serde_json::from_str(&descriptors().decode(message(kind), bytes).unwrap()).unwrap()
}

#[test]
fn the_compiled_descriptors_match_the_proto_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let mut compiler = protox::Compiler::new([&root]).unwrap();
    compiler.include_imports(true).include_source_info(false);
    compiler.open_file("michelangelo/api/v2.proto").unwrap_or_else(|error| panic!("{error:?}"));
    let compiled = compiler.encode_file_descriptor_set();
    let path = root.join("descriptors.bin");
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(&path, &compiled).unwrap();
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    assert!(committed == compiled, "descriptors.bin is not proto/ compiled: run this test with INGESTER_UPDATE=1");
}

#[test]
fn every_kind_names_a_message_that_has_a_descriptor() {
    for kind in KINDS {
        let name = kind.protobuf().unwrap_or_else(|| panic!("{kind:?} has no message")).message;
        assert_eq!(name, format!("michelangelo.api.v2.{}", kind.kind()));
        message(kind);
    }
}

#[test]
fn the_descriptors_have_every_message_field_and_number_of_the_api() {
    // The descriptors must give each field of the API its number.
    let mut messages = 0;
    let mut seen = 0;
    for (name, of) in API["messages"].as_object().unwrap() {
        let Some(id) = descriptors().message(name) else {
            // Messages that no kind uses are not compiled in.
            assert!(of["well_known"] == true || !name.starts_with("michelangelo.api.v2."), "{name} is not described");
            continue;
        };
        messages += 1;
        for field in of["fields"].as_array().unwrap() {
            let json = field["json"].as_str().unwrap();
            let number = field["number"].as_u64().unwrap();
            let described = descriptors().field_of(id, json);
            assert_eq!(described, u32::try_from(number).ok(), "{name}.{json}");
            seen += 1;
        }
    }
    assert!(messages > 200 && seen > 900, "{messages} messages, {seen} fields");
}

#[test]
fn every_vector_gives_the_bytes_of_the_reference_system() {
    for vector in VECTORS.iter() {
        let label = &vector["label"];
        let input = &vector["input"];
        let kind = kind_of(input);
        let ours = proto(kind, input);
        let mut expected = unhex(vector["proto_hex"].as_str().unwrap());
        if vector["proto_map_order_varies"] == true {
            // The reference writes map entries in any order. Decoding and encoding again sorts them by key.
            let text = descriptors().decode(message(kind), &expected).unwrap();
            let (sorted, lost) = descriptors().encode(message(kind), &text).unwrap();
            assert_eq!((sorted.len(), lost), (expected.len(), Lost::default()), "{label}");
            expected = sorted;
        }
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&ours), hex(&expected), "{label}\n{}\n{}", decoded(kind, &ours), decoded(kind, &expected));
    }
}

#[test]
fn every_vector_reads_back_as_the_json_of_the_reference_system() {
    for vector in VECTORS.iter() {
        let kind = kind_of(&vector["input"]);
        let bytes = unhex(vector["proto_hex"].as_str().unwrap());
        let mut expected = vector["json_column"].clone();
        // Go also writes the empty lists of the metadata.
        expected["metadata"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(decoded(kind, &bytes), expected, "{}", vector["label"]);
    }
}

#[test]
fn an_empty_object_is_written_with_its_four_fields() {
    let kind = &KINDS[0];
    let (bytes, lost) = descriptors().encode(message(kind), "{}").unwrap();
    assert!(lost.is_nothing());
    let meta = ["0a00", "1200", "1a00", "2200", "2a00", "3200", "3800", "4200"].concat();
    assert_eq!(bytes, unhex(&format!("0a040a0012001210{meta}1a002200")));
    assert_eq!(decoded(kind, &bytes)["spec"], json!({}));
}

#[test]
fn an_object_that_cannot_be_decoded_still_has_its_proto_bytes() {
    let kind = KINDS.iter().find(|kind| kind.kind() == "Model").unwrap();
    let text = json!({"apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1"},
        "spec": {"algorithm": 7, "trainingFramework": "pytorch", "kind": "NO_SUCH_KIND", "unheardOf": {}}});
    let object = Object::parse(text.to_string(), ManagedFields::Prune).unwrap();
    assert!(kind.row(&object).is_err());
    let row = kind.bare_row(&object).unwrap();
    let Column::Bytes(bytes) = &row.values[base::PROTO] else { panic!("no bytes") };
    assert_eq!(row.lost, Lost { fields: 1, enums: 1, values: 1 });
    assert_eq!(decoded(kind, bytes)["spec"], json!({"trainingFramework": "pytorch"}));
}

/// The first difference of two values, and its path. Numbers compare by value.
fn difference(left: &Json, right: &Json, path: &str) -> Option<String> {
    match (left, right) {
        (Json::Number(a), Json::Number(b)) if a.as_f64() == b.as_f64() => None,
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.filter_map(|(n, (a, b))| difference(a, b, &format!("{path}[{n}]"))).next()
        }
        (Json::Object(a), Json::Object(b)) => {
            let absent = &Json::String("(absent)".into());
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let of = |of: &Map<String, Json>, key: &str| of.get(key).unwrap_or(absent).clone();
            keys.filter_map(|key| difference(&of(a, key), &of(b, key), &format!("{path}.{key}"))).next()
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path}: {a} went in, {b} came out")),
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn objects_of_every_kind_survive_the_round_trip(seed: u64) {
        for kind in KINDS {
            let object = Dice(seed).object(kind);
            let (bytes, lost) = descriptors().encode(message(kind), &object.to_string()).unwrap();
            prop_assert_eq!(lost, Lost::default(), "{}", object);
            let back = decoded(kind, &bytes);
            prop_assert_eq!(difference(&object, &back, ""), None);
            let (again, _) = descriptors().encode(message(kind), &back.to_string()).unwrap();
            prop_assert_eq!(&again, &bytes);
        }
    }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn any_json_that_encodes_gives_a_readable_message(target in crate::tolerance::target(), json in crate::tolerance::any_json()) {
        let (kind, steps) = target;
        let text = crate::objects::object(kind, &steps, &json);
        if let Ok((bytes, _)) = descriptors().encode(message(kind), &text) {
            let back = descriptors().decode(message(kind), &bytes);
            prop_assert!(back.is_ok(), "{}: {:?}", text, back);
            let (again, lost) = descriptors().encode(message(kind), &back.unwrap()).unwrap();
            // The JSON of a message holds everything in it, except numbers that JSON has no name for.
            prop_assert_eq!(again, bytes, "{}", text);
            prop_assert!(lost.is_nothing(), "{}: {:?}", text, lost);
        }
    }

    #[test]
    fn decoding_arbitrary_bytes_never_panics(bytes: Vec<u8>) {
        let _ = descriptors().decode(message(&KINDS[0]), &bytes);
    }
}
