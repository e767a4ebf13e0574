//! The published crates can be published: each has the keys that a registry requires, and needs nothing that its package lacks. `cargo package`
//! itself is a step of docs/releasing.md.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The members that are not published.
const UNPUBLISHED: [&str; 4] = ["ingester-bench", "ingester-mistakes", "ingester-tests", "kubedl-specs"];

const KEYS: [&str; 7] = ["description", "license", "readme", "repository", "keywords", "categories", "rust_version"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| "..".into(), Path::to_path_buf)
}

fn read(file: &str) -> Result<String> {
    std::fs::read_to_string(root().join(file)).with_context(|| format!("reading {file}"))
}

/// The packages that `cargo metadata` lists with these options.
fn packages(options: &[&str]) -> Result<Vec<Json>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(options)
        .current_dir(root())
        .output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Json = serde_json::from_slice(&output.stdout)?;
    Ok(metadata["packages"].as_array().context("packages")?.clone())
}

/// The members of the workspace, as cargo reads their manifests.
fn members() -> Result<Vec<Json>> {
    packages(&["--no-deps"])
}

fn published() -> Result<Vec<Json>> {
    Ok(members()?.into_iter().filter(|member| member["publish"].is_null()).collect())
}

fn name(package: &Json) -> &str {
    package["name"].as_str().unwrap_or_default()
}

fn dependencies(package: &Json) -> impl Iterator<Item = &Json> {
    package["dependencies"].as_array().into_iter().flatten()
}

#[test]
fn every_crate_is_published_or_says_that_it_is_not() -> Result<()> {
    let members = members()?;
    let staying: BTreeSet<&str> = members.iter().filter(|member| !member["publish"].is_null()).map(name).collect();
    assert_eq!(staying, BTreeSet::from(UNPUBLISHED));
    Ok(())
}

#[test]
fn published_crates_have_the_keys_that_a_registry_asks_for() -> Result<()> {
    let mut wrong = Vec::new();
    for package in published()? {
        for key in KEYS {
            let empty = match &package[key] {
                Json::String(text) => text.is_empty(),
                Json::Array(list) => list.is_empty() || list.len() > 5,
                _ => true,
            };
            if empty {
                wrong.push(format!("{}: `{key}` is missing, or has more than five entries", name(&package)));
            }
        }
        if package["metadata"]["docs"]["rs"].is_null() {
            wrong.push(format!("{}: [package.metadata.docs.rs] is missing", name(&package)));
        }
        let manifest = Path::new(package["manifest_path"].as_str().context("manifest_path")?);
        if !manifest.with_file_name("LICENSE").exists() {
            wrong.push(format!("{}: the licence is missing: ln -s ../LICENSE LICENSE", name(&package)));
        }
        for word in package["keywords"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            if word.len() > 20 || word.contains(' ') {
                wrong.push(format!("{}: the keyword `{word}` is not one word of up to 20 characters", name(&package)));
            }
        }
    }
    ensure!(wrong.is_empty(), "correct these manifests:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn published_crates_depend_on_published_versions() -> Result<()> {
    let (published, mut wrong) = (published()?, Vec::new());
    let version = |of: &str| published.iter().find(|package| name(package) == of).map(|package| &package["version"]);
    for package in &published {
        for dependency in dependencies(package).filter(|dependency| !dependency["path"].is_null()) {
            let (of, required) = (name(dependency), dependency["req"].as_str().unwrap_or_default());
            let fits = match version(of) {
                Some(version) => format!("^{}", version.as_str().unwrap_or_default()) == required,
                // A package leaves out such a dependency of tests if it has no version.
                None => dependency["kind"] == "dev" && required == "*",
            };
            if !fits {
                wrong.push(format!("{} needs {of} {required}", name(package)));
            }
        }
    }
    ensure!(wrong.is_empty(), "name the version of the workspace in [workspace.dependencies]:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn the_page_on_releases_names_the_crates_in_an_order_that_works() -> Result<()> {
    let page = read("docs/releasing.md")?;
    let (_, list) = page.split_once("<!-- crates -->\n").context("docs/releasing.md has no list of crates")?;
    let order: Vec<&str> = list.lines().map_while(|line| line.split('`').nth(1)).collect();
    let published = published()?;
    assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), published.iter().map(name).collect());
    for package in &published {
        let place = |of: &str| order.iter().position(|name| *name == of);
        for dependency in dependencies(package).filter(|dependency| dependency["req"] != "*") {
            let needed = place(name(dependency));
            ensure!(
                dependency["path"].is_null() || needed < place(name(package)),
                "docs/releasing.md: {} needs {} before it",
                name(package),
                name(dependency)
            );
        }
    }
    Ok(())
}

/// Returns true if the licences of this list satisfy a licence expression.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    // An older form of OR.
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // As if each OR were in parentheses, as it is wherever an expression has both.
    expression
        .split(" AND ")
        .all(|part| part.split(" OR ").any(|term| allowed.iter().any(|allowed| allowed == term.trim())))
}

#[test]
fn every_dependency_has_a_licence_and_a_source_that_deny_toml_allows() -> Result<()> {
    let deny = read("deny.toml")?;
    let allowed =
        deny.lines().find_map(|line| line.strip_prefix("allow = ")).context("deny.toml allows no licences")?;
    let allowed: Vec<String> = serde_json::from_str(allowed)?;
    // Also dependencies of features that are off by default, which `cargo build` does not download.
    let options = ["--filter-platform=x86_64-unknown-linux-gnu", "--all-features"];
    let packages = packages(&options).context("download all dependencies with `cargo fetch`")?;
    let mut wrong = Vec::new();
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or("no licence");
        if !is_met(licence, &allowed) {
            wrong.push(format!("{}: {licence}", name(package)));
        }
        // The members have no source.
        let source = package["source"].as_str();
        if source.is_some_and(|source| source != "registry+https://github.com/rust-lang/crates.io-index") {
            wrong.push(format!("{}: from {}", name(package), source.unwrap_or_default()));
        }
    }
    ensure!(packages.len() > 200, "only {} packages are found: how they are listed is wrong", packages.len());
    ensure!(wrong.is_empty(), "deny.toml does not allow:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn licence_expressions_are_read() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for met in
        ["MIT", "GPL-3.0 OR MIT", "Apache-2.0/MIT", "(GPL-3.0 OR MIT) AND ISC", "Apache-2.0 WITH LLVM-exception OR X"]
    {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in ["", "no licence", "Apache-2.0", "MIT AND GPL-3.0", "GPL-3.0", "(GPL-3.0 OR X) AND MIT"] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
}

/// The files that a source includes when it is compiled as a dependency: without its tests.
fn included(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code_only = code.split("include_").skip(1).filter_map(|rest| rest.split_once("!(\""));
    code_only.filter_map(|(_, rest)| rest.split_once("\")")).map(|(path, _)| path).collect()
}

/// The files of a folder and of those in it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    Ok(())
}

#[test]
fn a_package_has_every_file_that_its_code_includes() -> Result<()> {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for package in published()? {
        let folder = Path::new(package["manifest_path"].as_str().context("manifest_path")?).with_file_name("");
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files)?;
        for file in files {
            let depth = file.strip_prefix(&folder)?.components().count() - 1;
            for path in included(&std::fs::read_to_string(&file)?) {
                seen += 1;
                if path.matches("../").count() > depth {
                    wrong.push(format!("{} includes {path}, which is outside of its crate", file.display()));
                }
            }
        }
    }
    ensure!(seen > 8, "only {seen} included files are found: how sources are read is wrong");
    ensure!(wrong.is_empty(), "link these files into the crate's folder:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn the_newest_version_of_the_changelog_is_that_of_the_crates() -> Result<()> {
    let changelog = read("CHANGELOG.md")?;
    let headings: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    ensure!(headings.first() == Some(&"Unreleased"), "CHANGELOG.md does not begin with `## Unreleased`: {headings:?}");
    let newest = headings.get(1).context("CHANGELOG.md has no version")?;
    let plugin = read("deploy/krew/ingester.yaml")?;
    for package in published()? {
        let version = package["version"].as_str().unwrap_or_default();
        ensure!(newest.starts_with(&format!("{version} (")), "CHANGELOG.md begins with {newest}, not {version}");
        let names = [format!("version: v{version}"), format!("/v{version}/ingester-{version}-x86_64-")];
        ensure!(names.iter().all(|name| plugin.contains(name)), "deploy/krew/ingester.yaml lacks one of {names:?}");
    }
    Ok(())
}

#[test]
fn what_a_source_includes_is_read_without_its_tests() {
    let source =
        "const A: &str = include_str!(\"../a\");\n#[cfg(test)]\nmod tests {\n    include_str!(\"../../b\");\n}";
    assert_eq!(included(source), ["../a"]);
}
