//! The bytes of the `proto` column, decoded by Python's protobuf runtime and compared field by field.

use crate::generator::Dice;
use crate::golden::{VECTORS, kind_of};
use crd_specs::KINDS;
use ingester_core::Kind;
use serde_json::{Value as Json, json};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A Python with the protobuf runtime. Debian's own comes first: another one in the path may lack the package.
fn python() -> &'static str {
    let has = |python: &&str| {
        let probe = Command::new(python).args(["-c", "import google.protobuf"]).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(has);
    found.expect("no Python with protobuf's runtime; install it with: bash tests/install.sh packages")
}

fn task(kind: &Kind, input: &Json, said: &Json) -> Json {
    let (descriptors, message) = kind.protobuf().unwrap().get().unwrap();
    let (bytes, lost) = descriptors.encode(message, &input.to_string()).unwrap();
    assert!(lost.is_nothing(), "{lost:?} in {input}");
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"message": kind.protobuf().unwrap().message, "bytes": hex, "object": said})
}

/// Runs the tasks, and returns what the script printed: the differences, then the counts.
fn decode(tasks: &[Json]) -> (Vec<String>, Json) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut child = Command::new(python())
        .arg(here.join("tests/decode.py"))
        .arg(here.join("proto/descriptors.bin"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = tasks.iter().map(|task| format!("{task}\n")).collect();
    // Writes on its own thread, so that writing and reading do not block each other.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let mut lines: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    let counts = serde_json::from_str(&lines.pop().unwrap()).unwrap();
    (lines, counts)
}

#[test]
fn pythons_protobuf_runtime_reads_the_same_values() {
    let mut tasks = Vec::new();
    for vector in VECTORS.iter() {
        let mut said = vector["json_column"].clone();
        // Go also writes the empty lists of the metadata.
        said["metadata"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        tasks.push(task(kind_of(&vector["input"]), &vector["input"], &said));
    }
    for seed in 0..60 {
        for kind in KINDS {
            let object = Dice(seed).object(kind);
            tasks.push(task(kind, &object, &object));
        }
    }
    let (wrong, counts) = decode(&tasks);
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(counts["messages"], tasks.len());
    // A comparison that skips everything must not pass.
    assert!(counts["fields"].as_u64().unwrap() > 20_000, "{counts}");
}

#[test]
fn the_comparison_reports_wrong_and_missing_values() {
    let vector = &VECTORS[0];
    let kind = kind_of(&vector["input"]);
    let mut said = vector["json_column"].clone();
    said["metadata"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
    said["metadata"]["name"] = json!("another");
    said["spec"]["unheardOf"] = json!(1);
    let (wrong, counts) = decode(&[task(kind, &vector["input"], &said)]);
    assert_eq!((wrong.len(), &counts["wrong"]), (2, &json!(2)), "{wrong:?}");
    assert!(wrong[0].contains(".metadata.name") && wrong[1].contains(".spec.unheardOf"), "{wrong:?}");
}
