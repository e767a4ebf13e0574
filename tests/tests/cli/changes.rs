//! The output of `ingester changes`.

use crate::program::{Folder, RunOutput, model_json};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);
const DATABASE: [&str; 2] = ["--database-url", "sqlite://test.db"];

impl Folder {
    fn changes_command(&self, arguments: &[&str]) -> Command {
        self.command(&[&["changes"], arguments, &DATABASE].concat())
    }

    fn changes(&self, arguments: &[&str]) -> RunOutput {
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

    /// A database with one model, and the position after it.
    fn with_position() -> (Self, String) {
        let folder = Folder::new();
        folder.store(&[("m0", 1)]);
        let lines = lines(&folder.changes(&["models", "--metadata"]).exits(0));
        let position = lines.last().unwrap()["position"].as_str().unwrap().to_owned();
        (folder, position)
    }
}

/// The lines of JSON.
fn lines(ran: &RunOutput) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Name and version of each line.
fn versions(ran: &RunOutput) -> Vec<(String, String)> {
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
    // An object that has changed again is printed at its last change.
    assert_eq!(versions(&ran), owned(&[("a1", "6"), ("m1", "7")]));
    let ran = ran.says(&["1 entry is not printed, because its object has changed again", "--metadata"]);
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
    // From the position of a line, only later changes.
    let first = lines(&ran)[1]["position"].as_str().unwrap().to_owned();
    assert_eq!(versions(&folder.changes(&["models", "--since", &first]).exits(0)), owned(&[("m1", "7")]));
}

#[test]
fn changes_are_selected_by_namespace_labels_and_time() {
    let (folder, position) = Folder::with_position();
    folder.store(&[("m1", 5), ("m2", 6), ("a1", 7), ("a2", 8)]);
    let since = ["models", "--since", &position];
    let names = |more: &[&str]| folder.changes(&[&since[..], &["-o", "name"], more].concat()).exits(0).out;
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
    // For all kinds, since a time.
    let of_all = folder.changes(&["--since", "1h", "-o", "name"]).exits(0).out;
    assert!(all.lines().all(|line| of_all.contains(line)), "{of_all}");
    assert_eq!(folder.changes(&["models", "--since", "now", "-o", "name"]).exits(0).out, "");
}

#[test]
fn wrong_positions_and_times_are_named() {
    let (folder, position) = Folder::with_position();
    folder.changes(&["--since", &position]).exits(2).says(&["a position is only valid for its KIND"]);
    folder.changes(&["models", "--since", "17"]).exits(2).says(&["17 is not a position"]);
    folder.changes(&["models", "--since", "yesterday"]).exits(2).says(&["--since", "yesterday"]);
    folder.changes(&["nonsense"]).exits(2).says(&["nonsense"]);
    folder.changes(&["models", "-l", "=="]).exits(2);
    // No entry has this position: the database was restored, or the entry was purged.
    let other = (position.parse::<u64>().unwrap() + 1).to_string();
    folder.changes(&["models", "--since", &other]).exits(1).says(&["does not have position", "ingester get"]);
    folder.write("positions", "nonsense");
    folder.changes(&["models", "--since-file", "positions"]).exits(2).says(&["positions", "does not have positions"]);
    folder.changes(&["models", "--since-file", "absent/positions"]).exits(1).says(&["absent/positions"]);
    let empty = Folder::new();
    empty.write("test.db", "");
    empty.changes(&["models"]).exits(2).says(&["lacks", "schema apply"]);
}

#[test]
fn a_database_without_a_log_has_a_remedy_that_is_not_followed_yet() {
    let (folder, _) = Folder::with_position();
    folder.query("DELETE FROM ingester_settings WHERE name = 'changes'");
    folder.query("INSERT INTO ingester_settings (name, value) VALUES ('changes', 'off')");
    for (enabled, says) in
        [(false, "set `changes.enabled: true`"), (true, "`changes.enabled` is true, so `ingester run`")]
    {
        folder.write(
            "config.yaml",
            format!(
                "metadataStorage: {{enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}}\nchanges: {{enabled: {enabled}}}\n"
            ),
        );
        folder.run(&["changes", "models", "--config", "config.yaml"]).exits(2).says(&["has no log of changes", says]);
    }
}

/// Stores new versions of some of eleven models.
fn churn(folder: &Folder, round: u32) {
    let models: Vec<String> = (0..4).map(|number| format!("m{}", (round + number * 7) % 11)).collect();
    folder.store(&models.iter().map(|name| (name.as_str(), 100 + round)).collect::<Vec<_>>());
}

/// Checks that the last version of each model that was seen is the stored one.
#[track_caller]
fn has_all(folder: &Folder, seen: &BTreeMap<String, u64>) {
    let rows = folder.query("SELECT name, res_version FROM model WHERE res_version > 1 ORDER BY name");
    let seen: Vec<String> = seen.iter().map(|(name, version)| format!("{name}|{version}")).collect();
    assert_eq!(rows.len(), 11);
    assert_eq!(seen, rows);
}

fn see(line: &str, seen: &mut BTreeMap<String, u64>) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    if let (Some(name), Some(version)) = (line["name"].as_str(), line["resourceVersion"].as_str()) {
        seen.insert(name.to_owned(), version.parse().unwrap());
    }
    line["position"].as_str().map(str::to_owned)
}

#[test]
fn fifty_kills_of_a_feed_into_a_file_lose_nothing() {
    let (folder, _) = Folder::with_position();
    folder.changes(&["models", "--since-file", "positions"]).exits(0);
    let file = folder.path().join("changes.ndjson");
    for round in 0..50 {
        churn(&folder, round);
        let out = File::options().append(true).create(true).open(&file).unwrap();
        let feed = ["models", "--since-file", "positions", "--follow"];
        let lines = || std::fs::read_to_string(&file).unwrap_or_default().lines().count();
        let before = lines();
        let deadline = Instant::now() + DEADLINE;
        let mut child = folder.changes_command(&feed).stdout(out).stderr(Stdio::null()).spawn().unwrap();
        // At a different moment each time: before it is connected, and while it prints.
        while lines() < before + (round % 4) as usize {
            assert!(Instant::now() < deadline, "it prints nothing in round {round}");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let out = File::options().append(true).open(&file).unwrap();
    let rest = folder.changes_command(&["models", "--since-file", "positions"]).stdout(out).status().unwrap();
    assert!(rest.success());
    let mut seen = BTreeMap::new();
    // A line that was cut off is printed again after the cut.
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let whole = line.rfind("{\"position\"").map_or(line, |begin| &line[begin..]);
        see(whole, &mut seen);
    }
    has_all(&folder, &seen);
}

#[test]
fn fifty_kills_of_a_consumer_that_keeps_positions_itself_lose_nothing() {
    let (folder, mut position) = Folder::with_position();
    let mut seen = BTreeMap::new();
    for round in 0..50 {
        churn(&folder, round);
        let feed = ["models", "--since", &position, "--follow"];
        let mut child = folder.changes_command(&feed).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Unread output in the pipe is lost with it.
        if let Some(last) = lines.take((round % 4) as usize).filter_map(|line| see(&line.unwrap(), &mut seen)).last() {
            position = last;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for line in folder.changes(&["models", "--since", &position]).exits(0).out.lines() {
        see(line, &mut seen);
    }
    has_all(&folder, &seen);
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

/// The block of docs/changes.md under this heading.
fn recipe(heading: &str) -> String {
    let page = include_str!("../../../docs/changes.md");
    let (_, rest) = page.split_once(heading).unwrap();
    let (_, rest) = rest.split_once("```sh\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

impl Folder {
    /// A shell that runs a recipe on the database of this folder.
    fn shell(&self, recipe: &str) -> Command {
        let mut command = Command::new("sh");
        let program = format!("ingester() {{ '{}' \"$@\" {}; }}\n", env!("CARGO_BIN_EXE_ingester"), DATABASE.join(" "));
        command.args(["-c", &(program + recipe)]).current_dir(self.path()).stdin(Stdio::null());
        command
    }
}

#[test]
fn the_recipe_of_a_rotated_file_writes_each_change_once() {
    let (folder, _) = Folder::with_position();
    let recipe = recipe("### Into a file that is rotated");
    let mut names = Vec::new();
    for round in 0..3 {
        folder.store(&[("m1", 10 + round)]);
        assert!(folder.shell(&recipe).status().unwrap().success());
        // The next day has another file.
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("models-2") {
                let lines = std::fs::read_to_string(&path).unwrap();
                names.push(lines.lines().filter(|line| line.contains("uid-m1")).count());
                std::fs::rename(&path, path.with_file_name(format!("rotated-{round}"))).unwrap();
            }
        }
    }
    assert_eq!(names, [1, 1, 1]);
}

#[test]
fn the_recipe_of_a_webhook_sends_each_change() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: the recipe of a webhook (curl is missing; install it with `apt install curl`)");
        return;
    }
    let (folder, position) = Folder::with_position();
    folder.write("position", &position);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    folder.store(&[("m1", 5)]);
    let mut child = folder.shell(&recipe("### Into a webhook")).env("WEBHOOK", url).process_group(0).spawn().unwrap();
    let mut sent = Vec::new();
    for (name, version) in [("m1", 5), ("m2", 6), ("m3", 7)] {
        folder.store(&[(name, version)]);
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            request.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        request.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
        let line: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(line["name"], name);
        sent.push(line["position"].as_str().unwrap().to_owned());
    }
    let deadline = Instant::now() + DEADLINE;
    let kept = || std::fs::read_to_string(folder.path().join("position")).unwrap_or_default();
    while kept().trim() != sent[2] {
        assert!(Instant::now() < deadline, "{} is not {}", kept(), sent[2]);
        std::thread::yield_now();
    }
    // The shell and both ends of the pipe.
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-TERM", "--", &group]).status().unwrap().success());
    child.wait().unwrap();
}

#[test]
fn a_file_of_positions_is_a_regular_file_behind_its_links() {
    let (folder, _) = Folder::with_position();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("deep")).unwrap();
    symlink("deep/position", at("link")).unwrap();
    assert!(!folder.changes(&["models", "--since-file", "link"]).exits(0).out.is_empty());
    assert!(at("link").is_symlink() && at("deep/position").is_file());
    assert_eq!(folder.changes(&["models", "--since-file", "link"]).exits(0).out, "");
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    symlink("pipe", at("to a pipe")).unwrap();
    for (file, what) in [("pipe", "a pipe"), ("to a pipe", "a pipe"), ("deep", "a folder")] {
        let says = format!("it is {what}, and only a regular file is written");
        let ran = folder.changes(&["models", "--since-file", file]).exits(2).says(&[&says]);
        assert_eq!(ran.out, "");
    }
    assert!(at("pipe").symlink_metadata().unwrap().file_type().is_fifo());
}
