//! The cost of the derives for the compiler: `cargo check` of kinds with all derives, of kinds without ours, and of no
//! kinds.

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Args)]
pub(crate) struct Derive {
    /// Kinds in a crate.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    kinds: u16,
    /// How often each crate is checked.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

/// A kind of usual size: 15 and 5 fields, among them structs and an enum, and 4 columns. `@` is its number.
const KIND: &str = r#"
pub mod kind_@ {
    use ingester_core::{ColumnValue, Indexed, Ingestable};
    use ingester_core::wire::Timestamp;
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    /// Desired state of a `Kind@`.
    #[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
    #[kube(
        group = "example.com",
        version = "v1",
        kind = "Kind@",
        plural = "kind@s",
        namespaced,
        status = "Status",
        derive = "Default",
        derive = "PartialEq",
        doc = "A job that trains a model."
    )]
    #[serde(rename_all = "camelCase", default)]
    pub struct Spec {
        /// Who answers for it.
        #[index(path = "name")]
        pub owner: Option<Owner>,
        /// Its purpose.
        pub description: String,
        /// Learning algorithm.
        #[index]
        pub algorithm: String,
        /// Importance, 1 to 5.
        #[index]
        pub tier: i32,
        /// Number of its version.
        pub revision: i64,
        /// It is closed to changes.
        pub sealed: bool,
        /// Probability from which the answer is yes.
        pub threshold: f64,
        /// Addresses of its files.
        pub artifacts: Vec<String>,
        /// Variables of its environment.
        pub environment: BTreeMap<String, String>,
        /// The resources of its pods.
        pub resources: Resources,
        /// Its inputs.
        pub inputs: Vec<Reference>,
        /// Its output.
        pub output: Option<Reference>,
        /// Which sort of problem it solves.
        pub problem: Problem,
        /// When it is to begin.
        pub start: Option<Timestamp>,
        /// How long it may take.
        pub timeout_seconds: Option<i64>,
    }

    /// Observed state of a `Kind@`.
    #[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Status {
        /// How far it is.
        #[index]
        pub phase: Phase,
        /// The error, if it failed.
        pub error_message: String,
        /// When it ended.
        pub end_time: Option<Timestamp>,
        /// Pods that run.
        pub ready: i32,
        /// Where its log is.
        pub log_url: String,
    }

    /// A person in a team.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Owner {
        /// Login name.
        pub name: String,
        /// The team's name.
        pub team: String,
    }

    /// The resources of pods.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Resources {
        /// Processors.
        pub cpu: i32,
        /// Memory, such as `4Gi`.
        pub memory: String,
        /// Graphics processors.
        pub gpu: i32,
    }

    /// Another object.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Reference {
        /// Its namespace.
        pub namespace: String,
        /// Its name.
        pub name: String,
    }

    /// A sort of problem.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Problem {
        /// Predicts a number.
        #[default]
        Regression,
        /// Decides between classes.
        Classification,
        /// Finds groups.
        Clustering,
    }

    /// How far it is.
    #[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Phase {
        /// It has not begun.
        #[default]
        Pending,
        /// It runs.
        Running,
        /// It has ended well.
        Succeeded,
        /// It has ended without a result.
        Failed,
    }
}
"#;

/// The crates: their names, whether they have kinds, and whether these have our derives.
const CRATES: [(&str, bool, bool); 3] = [("none", false, false), ("others", true, false), ("all", true, true)];

/// The dependencies of a kind's derives, with the versions and features of the workspace.
const DEPENDENCIES: [&str; 5] = ["k8s-openapi", "kube", "schemars", "serde", "serde_json"];

pub(crate) fn run(arguments: &Derive) -> Result<()> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace's folder")?;
    let folder = workspace.join("target/derive-bench");
    let crates = CRATES.map(|(name, kinds, ours)| (name, source(if kinds { arguments.kinds } else { 0 }, ours)));
    write_manifests(workspace, &folder)?;
    println!("checking the dependencies first, which takes minutes where that was not done before");
    for (name, text) in &crates {
        write(&source_of(&folder, name), text)?;
        check(&folder, name)?;
    }
    let mut times = [const { Vec::new() }; CRATES.len()];
    for _ in 0..arguments.rounds {
        for ((name, text), times) in crates.iter().zip(&mut times) {
            // The same text in a newer file.
            write(&source_of(&folder, name), text)?;
            times.push(check(&folder, name)?);
        }
    }
    let [none, others, all] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1000.0
    });
    let kinds = f64::from(arguments.kinds);
    let theirs = (others - none) / kinds;
    let ours = (all - others) / kinds;
    println!("{} kinds, medians of {} checks", arguments.kinds, arguments.rounds);
    println!("  {:<28} {:>8} {:>10}", "", "ms", "ms a kind");
    println!("  {:<28} {none:>8.0}", "no kinds");
    println!("  {:<28} {others:>8.0} {theirs:>10.1}", "kube, serde, schemars, std");
    println!("  {:<28} {all:>8.0} {ours:>10.1}  {:.2}x of these", "ours on top", ours / theirs);
    Ok(())
}

/// A crate with this many kinds. With our derives, the lines of the registry are part of a kind's cost.
fn source(kinds: u16, ours: bool) -> String {
    let kind = if ours { KIND.to_owned() } else { without_ours(KIND) };
    let mut text: String = (0..kinds).map(|number| kind.replace('@', &number.to_string())).collect();
    if ours {
        let line = |number| format!("    ingester_core::Kind::of::<kind_{number}::Kind{number}>(),\n");
        let lines: String = (0..kinds).map(line).collect();
        text.push_str(&format!("\npub const KINDS: &[ingester_core::Kind] = &[\n{lines}];\n"));
    }
    text
}

fn without_ours(kind: &str) -> String {
    let is_ours =
        |line: &str| ["#[index", "use ingester_core::{"].iter().any(|start| line.trim_start().starts_with(start));
    let mut text: String = kind.lines().filter(|line| !is_ours(line)).flat_map(|line| [line, "\n"]).collect();
    for derive in ["ColumnValue, ", "Indexed, ", "Ingestable, "] {
        text = text.replace(derive, "");
    }
    text
}

/// A workspace with the crates and Cargo's default profile, like any new workspace: no derive is optimized.
fn write_manifests(workspace: &Path, folder: &Path) -> Result<()> {
    let manifest = workspace.join("Cargo.toml");
    let manifest = fs::read_to_string(&manifest).with_context(|| format!("reading {}", manifest.display()))?;
    let mut dependencies = String::from("ingester-core = { path = \"../../../ingester-core\" }\n");
    for name in DEPENDENCIES {
        let line = manifest.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(" = ")));
        let line = line.with_context(|| format!("the workspace's Cargo.toml has no line `{name} = ...`"))?;
        dependencies.push_str(line);
        dependencies.push('\n');
    }
    let members = CRATES.map(|(name, ..)| name);
    write(&folder.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"))?;
    for name in members {
        let package = format!("[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n", package(name));
        let text = format!("{package}\n[lib]\npath = \"lib.rs\"\n\n[dependencies]\n{dependencies}");
        write(&folder.join(name).join("Cargo.toml"), &text)?;
    }
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).context("copying the workspace's Cargo.lock")?;
    Ok(())
}

fn package(name: &str) -> String {
    format!("derive-bench-{name}")
}

fn source_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).join("lib.rs")
}

fn write(file: &Path, text: &str) -> Result<()> {
    let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, text));
    written.with_context(|| format!("writing {}", file.display()))
}

/// How long `cargo check` takes. Not incremental, because that would reuse the results for the unchanged text.
fn check(folder: &Path, name: &str) -> Result<Duration> {
    let start = Instant::now();
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["check", "--quiet", "--package", &package(name), "--target-dir"])
        .arg(folder.join("target"))
        .current_dir(folder)
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .context("starting cargo")?;
    let took = start.elapsed();
    ensure!(output.status.success(), "cargo check of {name}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(took)
}
