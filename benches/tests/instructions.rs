//! The instructions of the pure paths, as ratios to serde_json's on the same objects. Unlike time, they can be tested
//! on shared machines.
//!
//! The program has the dev profile, because a release build would cost CI several more minutes. So this guards against
//! work done twice, not against worse optimization.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::Command;

const BASELINE: &str = "count_serde_json";
const PATHS: [&str; 4] = ["count_parse", "count_protobuf", "count_row", "count_render"];

/// How far a ratio may be from the expected one. Randomly seeded hash maps and another C library stay well within it.
const TOLERANCE: f64 = 0.05;

const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/instructions.txt");
const UPDATE: &str = "UPDATE_EXPECT=1 cargo test -p ingester-bench";

#[test]
fn the_pure_paths_take_as_many_instructions_as_before() -> Result<()> {
    if !cfg!(debug_assertions) {
        return skipped("those that are expected are of the dev profile");
    }
    match Command::new("valgrind").arg("--version").output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return skipped("no valgrind; apt-get install valgrind");
        }
        result => result.context("starting valgrind")?,
    };
    // Another compiler generates other instructions from the same code.
    let compiler = compiler()?;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let mut text = format!("# Instructions, dev profile, for one of {BASELINE}. Written by: {UPDATE}\n");
        writeln!(text, "# {compiler}")?;
        for (path, ratio) in PATHS.into_iter().zip(ratios()?) {
            writeln!(text, "{path} {ratio:.4}")?;
        }
        return std::fs::write(EXPECTED, text).with_context(|| format!("writing {EXPECTED}"));
    }
    let expected = std::fs::read_to_string(EXPECTED)
        .with_context(|| format!("reading {EXPECTED}; where it is missing, write it: {UPDATE}"))?;
    let counted_with = expected.lines().nth(1).and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
    if counted_with != compiler {
        return skipped(&format!("those that are expected are of {counted_with}; this is {compiler}; {UPDATE}"));
    }
    let mut wrong = String::new();
    for (path, found) in PATHS.into_iter().zip(ratios()?) {
        let ratio = expected.lines().find_map(|line| line.strip_prefix(path)?.strip_prefix(' ')?.parse::<f64>().ok());
        let Some(ratio) = ratio else {
            writeln!(wrong, "{path}: there is no line `{path} <ratio>`; write the file anew: {UPDATE}")?;
            continue;
        };
        let more = found / ratio - 1.0;
        let remedy = if more > TOLERANCE {
            "find what is done twice, or say why it has to be and write the file anew"
        } else if more < -TOLERANCE {
            "improved: write the file anew so that the gain is kept"
        } else {
            continue;
        };
        let percent = 100.0 * more;
        writeln!(wrong, "{path}: expected {ratio:.4}, found {found:.4} ({percent:+.1} %); {remedy}: {UPDATE}")?;
    }
    // If all are off by the same factor, the baseline has changed.
    ensure!(wrong.is_empty(), "instructions for one of {BASELINE} that are not those of {EXPECTED}:\n{wrong}");
    Ok(())
}

/// Reports a skipped test. Bypasses the test harness, which hides the output of a passing test.
fn skipped(why: &str) -> Result<()> {
    writeln!(std::io::stderr(), "skipped: instruction counts ({why})").context("writing to standard error")
}

fn compiler() -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(program)
        .arg("--version")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .context("asking rustc for its version")?;
    ensure!(output.status.success(), "rustc --version: {}", String::from_utf8_lossy(&output.stderr));
    Ok(format!("{}, {}", String::from_utf8_lossy(&output.stdout).trim(), std::env::consts::ARCH))
}

/// The instructions of each path, as a ratio to the baseline's, in one run.
fn ratios() -> Result<Vec<f64>> {
    let folder = tempfile::tempdir().context("making a temporary folder")?;
    let profile = folder.path().join("profile");
    run(&profile)?;
    let profile = std::fs::read_to_string(&profile).context("reading callgrind's profile")?;
    let counts = inclusive(&profile)?;
    let count = |name: &str| match counts.get(name) {
        Some(count) if *count > 0 => Ok(*count as f64),
        _ => bail!("callgrind has seen no call of `{name}`, a function of benches/src/pure.rs"),
    };
    let baseline = count(BASELINE)?;
    PATHS.into_iter().map(|path| Ok(count(path)? / baseline)).collect()
}

fn run(profile: &Path) -> Result<()> {
    let mut out = std::ffi::OsString::from("--callgrind-out-file=");
    out.push(profile);
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=no", "--compress-strings=no", "--compress-pos=no"])
        .arg(out)
        .args([env!("CARGO_BIN_EXE_ingester-bench"), "count"])
        .output()
        .context("starting valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind, running `ingester-bench count`: {}\n{said}", output.status);
    Ok(())
}

/// The instructions of each function of ours by its last name, including its callees: `cfn=` names the called function,
/// and the line after `calls=` ends with the instructions of these calls.
fn inclusive(profile: &str) -> Result<HashMap<&str, u64>> {
    ensure!(profile.lines().any(|line| line == "events: Ir"), "callgrind has counted something but instructions");
    let mut counts = HashMap::new();
    let mut called = None;
    let mut lines = profile.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("cfn=") {
            called = name.contains("ingester_bench").then(|| last(name));
        } else if line.starts_with("calls=") {
            let cost = lines.next().and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
            let cost = cost.with_context(|| format!("callgrind's profile: no cost after `{line}`"))?;
            if let Some(name) = called {
                *counts.entry(name).or_default() += cost;
            }
        }
    }
    Ok(counts)
}

/// The `function` in `crate::module::function`, with or without a hash after it.
fn last(name: &str) -> &str {
    let is_hash =
        |part: &str| part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit());
    name.rsplit("::").find(|part| !is_hash(part)).unwrap_or(name)
}

#[test]
fn a_callgrind_profile_is_summed_by_function() -> Result<()> {
    let profile = "\
events: Ir
fn=ingester_bench::main
10 7
cob=/lib/other
cfn=ingester_bench::pure::count_row
calls=1 20
11 1000
cfn=ingester_bench::pure::count_row::{{closure}}
calls=3 20
11 50
cfn=ingester_bench::pure::count_row::h0123456789abcdef
calls=1 20
12 234
fn=ingester_bench::pure::count_row
20 9
cfn=serde_json::count_row
calls=1 20
12 5
";
    let counts = inclusive(profile)?;
    assert_eq!(counts.get("count_row"), Some(&1234));
    assert!(inclusive("events: Ir\ncfn=ingester_bench::main\ncalls=1 1\n").is_err());
    assert!(inclusive("events: Ge\n").is_err());
    Ok(())
}
