//! Reads the output of test programs with `--format json` from standard input, and prints it for people: each test with its time, the
//! output of failed tests, the counts, and the slowest tests. Other lines pass through. `tests/run.sh` is its user.
//!
//! `report FOLDER` writes three files there: `counts` (`passed failed ignored`), `failed` (one name per line), and `said` (the output of
//! failed tests). It exits with 1 if a test failed or a test program ended without a result, which happens if it is killed.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints a report")]

use std::fs;
use std::io::{self, BufRead as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

/// The number of slowest tests that are printed.
const SLOWEST: usize = 20;

/// The output of a failed test can be long. Its last lines have the panic.
const MOST_LINES: usize = 40;

#[derive(Debug, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

#[derive(Debug, Default)]
struct Report {
    /// The test program that runs.
    program: String,
    /// It has begun and not ended.
    running: bool,
    counts: Counts,
    failed: Vec<String>,
    /// The output of failed tests.
    said: String,
    /// Seconds, and the test.
    times: Vec<(f64, String)>,
    broken: Vec<String>,
}

impl Report {
    /// Takes one line. Returns the text to print instead of it.
    fn take(&mut self, line: &str) -> Option<String> {
        let Some(event) = event(line) else { return Some(line.to_owned()) };
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        let seconds = event["exec_time"].as_f64().unwrap_or_default();
        match (text("type"), text("event")) {
            ("program", _) => {
                self.begin(text("name"));
                None
            }
            ("suite", "started") => Some(format!("\nrunning {} tests of {}", event["test_count"], self.program)),
            ("suite", _) => {
                self.running = false;
                let count = |key: &str| event[key].as_u64().unwrap_or_default();
                let counts = Counts { passed: count("passed"), failed: count("failed"), ignored: count("ignored") };
                let Counts { passed, failed, ignored } = counts;
                self.counts.passed += passed;
                self.counts.failed += failed;
                self.counts.ignored += ignored;
                let program = &self.program;
                Some(format!("{program}: {passed} passed, {failed} failed, {ignored} ignored in {seconds:.0} s"))
            }
            ("test", "started") => None,
            ("test", "ok") => {
                self.times.push((seconds, format!("{} {}", self.program, text("name"))));
                Some(format!("ok {seconds:7.2} s  {}", text("name")))
            }
            ("test", "failed") => {
                self.failed.push(text("name").to_owned());
                let said = without_frames(text("stdout"));
                let said = &said[said.len().saturating_sub(MOST_LINES)..];
                let shown = format!("FAILED {seconds:.2} s  {}\n{}", text("name"), said.join("\n"));
                self.said.push_str(&shown);
                self.said.push('\n');
                Some(shown)
            }
            ("test", "ignored") => Some(format!("ignored     {} ({})", text("name"), text("message"))),
            ("test", "timeout") => Some(format!("running for more than a minute: {}", text("name"))),
            _ => Some(line.to_owned()),
        }
    }

    /// Records that a test program begins. The one before it has ended, or was killed.
    fn begin(&mut self, program: &str) {
        if self.running {
            self.broken.push(std::mem::take(&mut self.program));
        }
        self.program = program.to_owned();
        self.running = true;
    }

    /// Returns the end of the report.
    fn end(&mut self) -> String {
        self.begin("");
        self.times.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut lines = vec!["\nslowest tests:".to_owned()];
        lines.extend(self.times.iter().take(SLOWEST).map(|(seconds, test)| format!("{seconds:8.1} s  {test}")));
        lines.extend(self.broken.iter().map(|program| format!("FAILED: {program} ended without a result")));
        lines.join("\n")
    }
}

/// Returns the event that a line is, if it is one.
fn event(line: &str) -> Option<Json> {
    let event: Json = serde_json::from_str(line.strip_prefix('{').and(Some(line))?).ok()?;
    event["type"].is_string().then_some(event)
}

/// Returns the lines without the frames of backtraces, which would hide the message. The causes of an error have numbers, too.
fn without_frames(said: &str) -> Vec<&str> {
    let mut in_backtrace = false;
    let mut kept = Vec::new();
    for line in said.lines() {
        if line.eq_ignore_ascii_case("stack backtrace:") {
            in_backtrace = true;
        } else if !in_backtrace || !is_frame(line) {
            in_backtrace = false;
            kept.push(line);
        }
    }
    kept
}

/// Returns true for a line of a backtrace.
fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("at ") || line.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

fn main() -> Result<ExitCode> {
    let folder = PathBuf::from(std::env::args_os().nth(1).context("usage: report FOLDER")?);
    let mut report = Report::default();
    for line in io::stdin().lock().split(b'\n') {
        if let Some(shown) = report.take(&String::from_utf8_lossy(&line?)) {
            println!("{shown}");
        }
    }
    println!("{}", report.end());
    let Counts { passed, failed, ignored } = report.counts;
    fs::write(folder.join("counts"), format!("{passed} {failed} {ignored}\n")).context("writing the counts")?;
    let names: String = report.failed.iter().map(|name| format!("{name}\n")).collect();
    fs::write(folder.join("failed"), names).context("writing the names of failed tests")?;
    fs::write(folder.join("said"), &report.said).context("writing what failed tests said")?;
    let fails = failed > 0 || !report.broken.is_empty();
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use super::{Counts, Report, without_frames};

    fn taken(lines: &[&str]) -> Report {
        let mut report = Report::default();
        lines.iter().for_each(|line| drop(report.take(line)));
        report.end();
        report
    }

    #[test]
    fn results_are_counted_over_programs_and_failed_tests_are_named() {
        let report = taken(&[
            r#"{"type":"program","name":"store"}"#,
            r#"{ "type": "suite", "event": "started", "test_count": 2 }"#,
            r#"{ "type": "test", "name": "a", "event": "ok", "exec_time": 1.5 }"#,
            r#"{ "type": "test", "name": "b", "event": "failed", "exec_time": 0.5, "stdout": "why" }"#,
            r#"{ "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0, "exec_time": 2.0 }"#,
            r#"{"type":"program","name":"live"}"#,
            r#"{ "type": "suite", "event": "ok", "passed": 2, "failed": 0, "ignored": 3, "exec_time": 2.0 }"#,
        ]);
        assert!(matches!(report.counts, Counts { passed: 3, failed: 1, ignored: 3 }), "{report:?}");
        assert_eq!(report.failed, ["b"]);
        assert_eq!(report.times, [(1.5, "store a".to_owned())]);
        assert!(report.broken.is_empty());
    }

    #[test]
    fn a_program_that_was_killed_is_named() {
        let report = taken(&[r#"{"type":"program","name":"store"}"#, r#"{"type":"program","name":"live"}"#]);
        assert_eq!(report.broken, ["store", "live"]);
    }

    #[test]
    fn other_lines_pass_through() {
        let mut report = Report::default();
        for line in ["   Compiling a v1", "{", "{\"kind\": 1}", "skipped: no MySQL (a)"] {
            assert_eq!(report.take(line).as_deref(), Some(line));
        }
    }

    #[test]
    fn frames_of_a_backtrace_are_not_what_a_test_said() {
        let said = "Error: creating a\n\nCaused by:\n    0: sending\n    1: refused\n\nStack backtrace:\n   0: core::panicking\n             at src/lib.rs:3\nnote: none";
        let kept = ["Error: creating a", "", "Caused by:", "    0: sending", "    1: refused", "", "note: none"];
        assert_eq!(without_frames(said), kept);
    }
}
