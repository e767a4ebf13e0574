//! The derives as a user's compiler sees them.
//!
//! - `derive_errors/*.rs` are misuses, annotated with the expected errors like rustc's own tests:
//!   `//~ ERROR part of the message` on the wrong line, `//~^` for the line above (one more `^` for each further line),
//!   `//~|` for the line of the previous annotation. `NOTE` in place of `ERROR` is a label, note or help of an error on
//!   that line. A missing error fails the test, and so does one without an annotation.
//! - `derive_hygiene/*.rs` are correct, in scopes that could confuse a derive. They are compiled in crates of two
//!   editions that rename ingester-core, and must give neither errors nor warnings.
//!
//! All are compiled in one run of cargo, in a workspace of their own in the target folder. Stored output of rustc would
//! change with every line number of ingester-core; the annotations contain only what a user reads.

#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]

use ingester_tests::cargo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// One diagnostic of rustc.
#[derive(Debug, Clone, PartialEq)]
struct Diagnostic {
    level: String,
    /// The line of the primary span, if it is in the case's own file.
    line: Option<usize>,
    message: String,
    /// Labels, notes and help.
    details: Vec<String>,
    /// The whole diagnostic, as a user sees it.
    rendered: String,
}

/// One annotation of a case: an expected error, or a part of one.
#[derive(Debug, PartialEq)]
struct Expected {
    line: usize,
    /// Whether it is an error; otherwise it is a part of one.
    is_error: bool,
    text: String,
}

/// The diagnostics of every case, by path.
static RUN: LazyLock<BTreeMap<PathBuf, Vec<Diagnostic>>> = LazyLock::new(check_all);

#[test]
fn every_misuse_is_an_error_on_the_users_own_tokens_all_at_once() {
    let mut report = String::new();
    for path in cases("derive_errors") {
        let source = std::fs::read_to_string(&path).unwrap();
        let expected = annotations(&source);
        assert!(!expected.is_empty(), "{}: a case without annotations", path.display());
        let errors: Vec<_> = diagnostics(&path).iter().filter(|d| d.level.starts_with("error")).cloned().collect();
        let differences = compare(&expected, &errors);
        if !differences.is_empty() {
            let _ = writeln!(report, "\n{}\n{differences}", path.display());
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// `derive_errors/spelled.rs` has each mistake as a struct, and above it as a file.
#[test]
fn a_struct_and_a_file_are_told_the_same_sentence() {
    let path = cases("derive_errors").into_iter().find(|path| path.ends_with("spelled.rs")).unwrap();
    let source = std::fs::read_to_string(&path).unwrap();
    let mut structs = annotations(&source).into_iter();
    let mut report = String::new();
    let mut yaml = String::new();
    let mut count = 0;
    for line in source.lines() {
        if let Some(key) = line.strip_prefix("//- ") {
            let _ = writeln!(yaml, "  {key}");
        }
        let Some((_, name)) = line.split_once("kind = \"").filter(|_| !yaml.is_empty()) else { continue };
        let name = name.split('"').next().unwrap();
        let text = format!("kinds:\n- group: a.example.com\n  version: v1\n  kind: {name}\n  namespaced: true\n{yaml}");
        let open = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let of_file = match ingester_declare::declare::kinds("kinds.yaml", &text, &open) {
            Ok(_) => Vec::new(),
            Err(error) => error.mistakes.iter().map(|mistake| without_maker(&mistake.to_string())).collect(),
        };
        let expected = structs.next().unwrap();
        let errors = diagnostics(&path).iter().filter(|error| error.line == Some(expected.line));
        let of_struct: Vec<String> = errors.map(|error| without_maker(&error.message)).collect();
        let sentence = without_maker(&expected.text);
        let is_one = |told: &[String]| matches!(told, [told] if told.ends_with(&format!(": {sentence}")));
        if !is_one(&of_file) || !is_one(&of_struct) {
            let _ = writeln!(report, "\n{name}: {sentence}\n  the file: {of_file:?}\n  the struct: {of_struct:?}");
        }
        yaml.clear();
        count += 1;
    }
    assert!(report.is_empty(), "{report}");
    assert!(structs.next().is_none() && count > 30, "{count}");
}

/// A sentence without the origin of an earlier column: a field, or a path.
fn without_maker(sentence: &str) -> String {
    match (sentence.split_once("is made by "), sentence.split_once(" already:")) {
        (Some((head, _)), Some((_, tail))) => format!("{head}is made already:{tail}"),
        _ => sentence.to_owned(),
    }
}

#[test]
fn correct_code_compiles_without_warnings_in_any_scope() {
    let mut report = String::new();
    for path in cases("derive_hygiene") {
        for diagnostic in diagnostics(&path) {
            report.push_str(&diagnostic.rendered);
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn an_extra_missing_or_misplaced_error_is_a_difference() {
    let error = |line, message: &str| Diagnostic {
        level: "error".into(),
        line,
        message: message.into(),
        details: vec!["rename it".into()],
        rendered: message.into(),
    };
    let expected = annotations("a //~ ERROR first\nb\n//~^ ERROR second\n//~| NOTE rename\n");
    let texts: Vec<_> = expected.iter().map(|e| (e.line, e.is_error, e.text.as_str())).collect();
    assert_eq!(texts, [(1, true, "first"), (2, true, "second"), (2, false, "rename")]);
    let first = error(Some(1), "the first");
    let second = error(Some(2), "the second");
    assert_eq!(compare(&expected, &[first.clone(), second.clone()]), "");
    assert!(compare(&expected, std::slice::from_ref(&first)).contains("missing"));
    assert!(compare(&expected, &[first.clone(), error(Some(3), "the second")]).contains("missing"));
    assert!(
        compare(&expected, &[first.clone(), error(Some(1), "first, again"), second.clone()]).contains("unexpected")
    );
    assert!(compare(&expected, &[first, second, error(None, "elsewhere")]).contains("unexpected"));
}

/// A proposal of rustc that changes one of our attributes into something that the derives do not accept, or that changes the derive itself.
#[test]
fn rustc_proposes_nothing_that_the_derives_refuse() {
    let mut report = String::new();
    for path in cases("derive_errors") {
        for Diagnostic { line, rendered, .. } in diagnostics(&path) {
            let proposed = rendered.lines().filter(|line| {
                let text = line.trim_start_matches(|c: char| c.is_ascii_digit() || [' ', '|', '+'].contains(&c));
                let ours =
                    text.starts_with("#[index(") || text.starts_with("#[ingest(") || text.starts_with("#[derive(");
                ours && [".to_string()", ".clone()", ".expect(", ".unwrap", ".as_ref()", ".as_deref()"]
                    .iter()
                    .any(|call| text.contains(call))
            });
            for line_of in proposed {
                let _ = writeln!(report, "{}:{}: {line_of}", path.display(), line.unwrap_or_default());
            }
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// The differences, in words; empty if they agree.
fn compare(expected: &[Expected], errors: &[Diagnostic]) -> String {
    let mut report = String::new();
    let mut left: Vec<&Diagnostic> = errors.iter().collect();
    for Expected { line, is_error, text } in expected {
        if *is_error {
            // Two errors on one line are told apart by their texts.
            match left.iter().position(|error| error.line == Some(*line) && error.message.contains(text)) {
                Some(place) => drop(left.remove(place)),
                None => _ = writeln!(report, "missing: line {line}: {text}"),
            }
        } else {
            let on_line = |error: &&Diagnostic| error.line == Some(*line);
            if !errors.iter().filter(on_line).any(|error| error.details.iter().any(|detail| detail.contains(text))) {
                let _ = writeln!(report, "missing in the error of line {line}: {text}");
            }
        }
    }
    for error in left {
        let _ = writeln!(report, "unexpected: {}", error.rendered);
    }
    report
}

/// The annotations of a case, each with the line that it refers to.
fn annotations(source: &str) -> Vec<Expected> {
    let mut annotations: Vec<Expected> = Vec::new();
    for (place, line) in source.lines().enumerate() {
        let Some((_, annotation)) = line.split_once("//~") else { continue };
        let (mark, text) = annotation.split_once(' ').expect("a space behind the mark");
        let line = match mark {
            "|" => annotations.last().expect("an annotation before").line,
            _ => {
                assert!(mark.bytes().all(|byte| byte == b'^'), "not a mark: {mark}");
                place + 1 - mark.len()
            }
        };
        let (kind, text) = text.split_once(' ').expect("ERROR or NOTE, then a text");
        assert!(["ERROR", "NOTE"].contains(&kind), "not ERROR or NOTE: {kind}");
        annotations.push(Expected { line, is_error: kind == "ERROR", text: text.trim().to_owned() });
    }
    annotations
}

/// The cases in a folder beside this file.
fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn diagnostics(case: &Path) -> &'static [Diagnostic] {
    RUN.get(case).map(Vec::as_slice).unwrap_or_default()
}

/// Compiles all cases in one run of cargo.
fn check_all() -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let workspace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("derive_errors");
    let manifest_of_all = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    // With another profile, cargo would compile every dependency once more.
    let profile = &manifest_of_all[manifest_of_all.find("[profile.dev]").expect("the profile of tests")..];
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"misuse\", \"hygiene\", \"hygiene_2021\"]\n\n";
    write(&workspace.join("Cargo.toml"), &format!("{members}{profile}"));
    for (package, edition, folder) in [
        ("misuse", "2024", "derive_errors"),
        ("hygiene", "2024", "derive_hygiene"),
        ("hygiene_2021", "2021", "derive_hygiene"),
    ] {
        write(&workspace.join(package).join("Cargo.toml"), &manifest(root, package, edition, folder));
    }
    // All dependencies are those of the workspace, so nothing is downloaded.
    std::fs::copy(root.join("Cargo.lock"), workspace.join("Cargo.lock")).unwrap();
    let output = cargo()
        .args(["check", "--offline", "--workspace", "--bins", "--keep-going", "--message-format=json", "--quiet"])
        .current_dir(&workspace)
        // The target folder and profile of this very test: so that compiled dependencies are reused.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    let mut finished = false;
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        finished |= line["reason"] == "build-finished";
        if line["reason"] != "compiler-message" {
            continue;
        }
        let file = PathBuf::from(line["target"]["src_path"].as_str().unwrap());
        let diagnostic = diagnostic(&line["message"], &workspace, &file);
        let level = diagnostic.level.as_str();
        if file.starts_with(root.join("tests")) {
            // Skip the summaries, which count the other diagnostics.
            if level != "failure-note" && !diagnostic.message.starts_with("aborting due to") && !is_count(&diagnostic) {
                found.entry(file).or_default().push(diagnostic);
            }
        } else {
            assert!(!level.starts_with("error"), "{} does not compile:\n{}", file.display(), diagnostic.rendered);
        }
    }
    assert!(finished, "cargo did not come to its end:\n{errors}");
    let manifests: Vec<&str> = errors.lines().filter(|line| !line.contains("could not compile")).collect();
    assert!(!found.is_empty(), "nothing was compiled:\n{}", manifests.join("\n"));
    found
}

/// Whether this is a summary such as "3 warnings emitted".
fn is_count(diagnostic: &Diagnostic) -> bool {
    diagnostic.level == "warning" && diagnostic.line.is_none() && diagnostic.message.ends_with("emitted")
}

/// The manifest of a crate with one program for each case, and the dependencies of a user's crate in the workspace's
/// versions.
fn manifest(root: &Path, package: &str, edition: &str, folder: &str) -> String {
    let mut manifest = format!(
        "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\npublish = false\n\n[dependencies]\n\
         ingester-core = {{ path = {:?}, features = [\"protobuf\"] }}\n",
        root.join("ingester-core"),
    );
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for name in ["k8s-openapi", "kube", "schemars", "serde", "serde_json"] {
        let start = format!("{name} = ");
        let line = workspace.lines().find(|line| line.starts_with(&start)).expect("a dependency of the workspace");
        // The workspace leaves kube's features to the crates that use it, and the version of Kubernetes to programs.
        match name {
            "kube" => manifest.push_str(&line.replace(" }", ", features = [\"derive\"] }")),
            "k8s-openapi" => manifest.push_str(&line.replace("features = [", "features = [\"latest\", ")),
            _ => manifest.push_str(line),
        }
        manifest.push('\n');
    }
    for case in cases(folder) {
        let name = case.file_stem().unwrap().to_str().unwrap().to_owned();
        // All programs share the target folder, so their names must differ.
        let _ = write!(manifest, "\n[[bin]]\nname = \"{package}_{name}\"\npath = {case:?}\n");
    }
    manifest
}

/// Writes a file only if it differs, so that cargo rebuilds only what has changed.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|present| present == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn diagnostic(message: &Value, workspace: &Path, file: &Path) -> Diagnostic {
    // rustc writes the full path of a type if its name is ambiguous.
    let text = |value: &Value| value.as_str().unwrap_or_default().replace("std::string::String", "String");
    let none = Vec::new();
    let spans = message["spans"].as_array().unwrap_or(&none);
    // Code from a macro of another crate is shown at the macro's call.
    let here = |span: &Value| {
        let mut spans =
            std::iter::successors(Some(span), |span| Some(&span["expansion"]["span"]).filter(|s| s.is_object()));
        let here = |span: &&Value| workspace.join(span["file_name"].as_str().unwrap_or_default()) == file;
        spans.find(here).and_then(|span| span["line_start"].as_u64())
    };
    let line = spans.iter().filter(|span| span["is_primary"] == true).find_map(here);
    let labels = spans.iter().map(|span| text(&span["label"]));
    let children = message["children"].as_array().unwrap_or(&none).iter().map(|child| text(&child["message"]));
    Diagnostic {
        level: text(&message["level"]),
        line: line.map(|line| line as usize),
        message: text(&message["message"]),
        details: labels.chain(children).collect(),
        rendered: text(&message["rendered"]),
    }
}
