//! What `ingester changes` prints.

use crate::program::{Folder, Ran, model_json};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const DATABASE: [&str; 2] = ["--database-url", "sqlite://test.db"];

impl Folder {
    fn changes_command(&self, arguments: &[&str]) -> Command {
        self.command(&[&["changes"], arguments, &DATABASE].concat())
    }

    fn changes(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["changes"], arguments, &DATABASE].concat())
    }

    /// Stores these versions of models.
    fn store(&self, models: &[(&str, u32)]) {
        let model = |(name, version): &(&str, u32)| {
            let labels = json!({"team": if name.ends_with('1') { "pricing" } else { "growth" }});
            let namespace = if name.starts_with('a') { "ads" } else { "ml" };
            let metadata = json!({
                "name": name, "namespace": namespace, "uid": format!("uid-{name}"), "resourceVersion": version.to_string(), "labels": labels,
            });
            model_json(metadata, json!({"algorithm": format!("v{version}")}))
        };
        self.import_input(&models.iter().map(model).collect::<String>()).exits(0);
    }

    /// A database with one model, and the position behind it.
    fn with_position() -> (Self, String) {
        let folder = Folder::new();
        folder.store(&[("m0", 1)]);
        let lines = lines(&folder.changes(&["models", "--metadata"]).exits(0));
        let position = lines.last().unwrap()["position"].as_str().unwrap().to_owned();
        (folder, position)
    }
}

/// The lines of JSON.
fn lines(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Name and version of each line.
fn versions(ran: &Ran) -> Vec<(String, String)> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    lines(ran).iter().map(|line| (text(line, "name"), text(line, "resourceVersion"))).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}

#[test]
fn a_line_has_a_change_with_the_object_as_it_is() {
    let (folder, position) = Folder::with_position();
    folder.store(&[("m1", 5)]);
    folder.store(&[("a1", 6)]);
    folder.store(&[("m1", 7)]);
    let ran = folder.changes(&["models", "--since", &position]).exits(0);
    // What has changed again is printed at its last change.
    assert_eq!(versions(&ran), owned(&[("a1", "6"), ("m1", "7")]));
    let line = &lines(&ran)[1];
    assert_eq!((&line["kind"], &line["apiVersion"]), (&json!("Model"), &json!("michelangelo.api/v2")));
    assert_eq!(
        (&line["change"], &line["namespace"], &line["uid"]),
        (&json!("updated"), &json!("ml"), &json!("uid-m1"))
    );
    assert_eq!(line["object"]["spec"]["algorithm"], "v7");
    assert!(line["position"].as_str().unwrap() > lines(&ran)[0]["position"].as_str().unwrap());
    // Each entry, without objects.
    let ran = folder.changes(&["models", "--since", &position, "--metadata"]).exits(0);
    assert_eq!(versions(&ran), owned(&[("m1", "5"), ("a1", "6"), ("m1", "7")]));
    assert!(lines(&ran).iter().all(|line| line.get("object").is_none()));
    // From the position of a line, only what comes behind it.
    let first = lines(&ran)[1]["position"].as_str().unwrap().to_owned();
    assert_eq!(versions(&folder.changes(&["models", "--since", &first]).exits(0)), owned(&[("m1", "7")]));
}

#[test]
fn changes_are_selected_by_namespace_labels_and_time() {
    let (folder, position) = Folder::with_position();
    folder.store(&[("m1", 5), ("m2", 6), ("a1", 7), ("a2", 8)]);
    let since = ["models", "--since", &position];
    let names = |more: &[&str]| folder.changes(&[&since, &["-o", "name"], more].concat()).exits(0).out;
    let all = names(&[]);
    assert_eq!(all.lines().count(), 4, "{all}");
    assert!(all.contains("model.michelangelo.api/m1\n"));
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&names(&["-n", "ads"])), ["model.michelangelo.api/a1", "model.michelangelo.api/a2"]);
    assert_eq!(sorted(&names(&["-l", "team=pricing"])), ["model.michelangelo.api/a1", "model.michelangelo.api/m1"]);
    assert_eq!(sorted(&names(&["-n", "ml", "-l", "team=pricing"])), ["model.michelangelo.api/m1"]);
    // Of all kinds, since a time.
    let of_all = folder.changes(&["--since", "1h", "-o", "name"]).exits(0).out;
    assert!(all.lines().all(|line| of_all.contains(line)), "{of_all}");
    assert_eq!(folder.changes(&["models", "--since", "now", "-o", "name"]).exits(0).out, "");
}

#[test]
fn wrong_positions_and_times_are_named() {
    let (folder, position) = Folder::with_position();
    folder.changes(&["--since", &position]).exits(2).says(&["a position is one of a kind"]);
    folder.changes(&["models", "--since", "17"]).exits(2).says(&["17 is not a position"]);
    folder.changes(&["models", "--since", "yesterday"]).exits(2).says(&["--since", "yesterday"]);
    folder.changes(&["nonsense"]).exits(2).says(&["nonsense"]);
    folder.changes(&["models", "-l", "=="]).exits(2);
    // No entry has it: another database had, or it was purged.
    let other = (position.parse::<u64>().unwrap() - 1).to_string();
    folder.changes(&["models", "--since", &other]).exits(1).says(&["does not have position", "ingester get"]);
    folder.write("positions", "nonsense");
    folder.changes(&["models", "--since-file", "positions"]).exits(2).says(&["positions", "does not have positions"]);
    folder.changes(&["models", "--since-file", "absent/positions"]).exits(1).says(&["absent/positions"]);
    let empty = Folder::new();
    empty.write("test.db", "");
    empty.changes(&["models"]).exits(2).says(&["lacks", "schema apply"]);
}

#[test]
fn a_consumer_that_is_killed_loses_nothing() {
    let (folder, _) = Folder::with_position();
    let taken = "positions";
    folder.changes(&["models", "--since-file", taken]).exits(0);
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let kept = |folder: &Folder| std::fs::read_to_string(folder.path().join(taken)).unwrap();
    for round in 0..50_u32 {
        let models: Vec<String> = (0..4).map(|number| format!("m{}", (round + number * 7) % 11)).collect();
        folder.store(&models.iter().map(|name| (name.as_str(), 100 + round)).collect::<Vec<_>>());
        // It is killed at any moment after its first line, or before.
        let mut child = folder
            .changes_command(&["models", "--since-file", taken, "--follow"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = kept(&folder);
        let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..round % 4 {
            let line: Value = serde_json::from_str(&printed.next().unwrap().unwrap()).unwrap();
            if let Some(name) = line["name"].as_str() {
                seen.insert(name.to_owned(), line["resourceVersion"].as_str().unwrap().parse().unwrap());
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What was printed and not read is lost with the pipe, unless the position before it is used again.
        let positions = kept(&folder);
        if round % 4 == 0 || positions != before {
            std::fs::write(folder.path().join(taken), before).unwrap();
            let again = folder.changes(&["models", "--since-file", taken]).exits(0);
            for (name, version) in versions(&again).into_iter().filter(|(name, _)| !name.is_empty()) {
                seen.insert(name, version.parse().unwrap());
            }
        }
    }
    let rows = folder.query("SELECT name, res_version FROM model WHERE name <> 'm0' OR res_version > 1 ORDER BY name");
    let seen: Vec<String> = seen.into_iter().map(|(name, version)| format!("{name}|{version}")).collect();
    let missing: Vec<&String> = rows.iter().filter(|row| !seen.contains(row)).collect();
    assert!(missing.is_empty(), "{missing:?} of {rows:?}");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let (folder, position) = Folder::with_position();
    folder.store(&[("m1", 5), ("m2", 6), ("m3", 7)]);
    let mut child = folder
        .changes_command(&["models", "--since", &position, "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("uid-m1"), "{line}");
    drop(out);
    folder.store(&[("m4", 8)]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
