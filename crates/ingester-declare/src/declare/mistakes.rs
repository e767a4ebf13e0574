//! The mistakes that people make in a file of kinds, and the message about each. `mistakes.md` in this folder is the table, for people to
//! read; `INGESTER_UPDATE=1 cargo test -p ingester-declare declare::mistakes` writes it.

use super::kinds;
use super::tests::crd_of;
use std::fmt::Write as _;
use std::io;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/declare/mistakes.md");

/// The properties of `Widget` in its CRD.
const WIDGET: &str = r"
          spec:
            type: object
            properties:
              mode: {type: string, enum: [Batch, Stream]}
              replicas: {type: integer}
";

/// The files that mistakes name.
fn open(file: &str) -> io::Result<Vec<u8>> {
    match file {
        "widget.pb" => Ok(Vec::new()),
        "crd.yaml" => Ok(crd_of("Widget", WIDGET).into_bytes()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such file")),
    }
}

/// The messages about a file; empty if it has no mistake.
fn said(text: &str) -> String {
    let Err(error) = kinds("kinds.yaml", text, &open) else { return String::new() };
    let mut said = String::new();
    for mistake in error.mistakes {
        let _ = writeln!(said, "{}", mistake.fault);
    }
    said
}

#[test]
fn each_mistake_is_named_with_its_line_and_a_remedy() {
    let table = std::fs::read_to_string(TABLE).unwrap();
    let mut written = String::new();
    let mut rest = table.as_str();
    let mut mistakes = 0;
    let mut right = false;
    while let Some((before, behind)) = rest.split_once("```yaml\n") {
        let (yaml, behind) = behind.split_once("```\n").unwrap();
        let said = said(yaml);
        right |= before.contains("## What is right");
        assert_eq!(said.is_empty(), right, "{before}{said}");
        let _ = write!(written, "{before}```yaml\n{yaml}```\n");
        rest = behind.strip_prefix("\n```text\n").map_or(behind, |text| text.split_once("```\n").unwrap().1);
        if !said.is_empty() {
            let _ = write!(written, "\n```text\n{said}```\n");
            mistakes += 1;
        }
    }
    written.push_str(rest);
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(TABLE, &written).unwrap();
    }
    assert!(mistakes > 100, "{mistakes}");
    for (number, (is, was)) in (1..).zip(written.lines().zip(table.lines())) {
        assert_eq!(is, was, "{TABLE}:{number}");
    }
    assert_eq!(written.lines().count(), table.lines().count());
}
