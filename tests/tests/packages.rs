//! The published crates can be published: each has the keys that a registry requires, and needs nothing that its package lacks. A crate
//! outside of the repository can depend on them, by git and as packages. deploy/release.sh also compiles such a crate.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::cargo;
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
    let output =
        cargo().args(["metadata", "--offline", "--format-version", "1"]).args(options).current_dir(root()).output()?;
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
    let published = published()?;
    let mut wrong = Vec::new();
    let version = |of: &str| published.iter().find(|package| name(package) == of).map(|package| &package["version"]);
    for package in &published {
        for dependency in dependencies(package).filter(|dependency| !dependency["path"].is_null()) {
            let of = name(dependency);
            let required = dependency["req"].as_str().unwrap_or_default();
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

/// A crate outside of the repository: the sources of the example, and the manifest of the tutorial as `change` makes it.
fn outside_crate(folder: &Path, change: impl Fn(&str) -> String) -> Result<PathBuf> {
    let page = read("docs/tutorial.md")?;
    ensure!(!page.contains("../"), "docs/tutorial.md: a reader is not in the repository");
    let (_, block) = page.split_once("```toml\n# Cargo.toml\n").context("docs/tutorial.md has no Cargo.toml")?;
    let manifest = block.split_once("```").context("the end of the block")?.0;
    let outside = folder.join("outside");
    std::fs::create_dir_all(outside.join("src"))?;
    let example = root().join("examples/dataset-operator");
    for entry in std::fs::read_dir(example.join("src"))? {
        let path = entry?.path();
        std::fs::copy(&path, outside.join("src").join(path.file_name().context("a name")?))?;
    }
    // With the versions that are downloaded.
    std::fs::copy(example.join("Cargo.lock"), outside.join("Cargo.lock"))?;
    std::fs::write(outside.join("Cargo.toml"), change(manifest))?;
    Ok(outside)
}

/// Runs cargo in a folder, and returns its output.
fn run_cargo(folder: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<Vec<u8>> {
    let mut command = cargo();
    // Set by the cargo that runs this test, for its own workspace.
    command.args(arguments).current_dir(folder).env_remove("CARGO_TARGET_DIR").env_remove("CARGO_MANIFEST_DIR");
    let output = command.envs(environment.iter().copied()).output()?;
    ensure!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// The packages of ours that the crate outside uses: each with its source, or with the folder of its manifest.
fn ours_of(outside: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<Vec<(String, String)>> {
    let arguments = [&["metadata", "--format-version", "1"], arguments].concat();
    let metadata: Json = serde_json::from_slice(&run_cargo(outside, &arguments, environment)?)?;
    let published = published()?;
    let packages = metadata["packages"].as_array().context("packages")?;
    let ours = packages.iter().filter(|package| published.iter().any(|ours| name(ours) == name(package)));
    let from = |package: &Json| package["source"].as_str().or(package["manifest_path"].as_str()).map(str::to_owned);
    let found: Vec<_> = ours.map(|package| (name(package).to_owned(), from(package).unwrap_or_default())).collect();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    for needed in ["ingester", "ingester-core", "ingester-testing", "ingester-store"] {
        ensure!(names.contains(&needed), "{needed} is not in {names:?}");
    }
    Ok(found)
}

/// The address in the manifests of the workspace, and in what users copy.
fn address() -> Result<String> {
    let members = members()?;
    Ok(members[0]["repository"].as_str().context("repository")?.to_owned())
}

#[test]
fn a_crate_outside_of_the_repository_finds_the_crates_by_git() -> Result<()> {
    let root = root().canonicalize()?;
    if !root.join(".git").exists() {
        ingester_tests::skipped("a dependency on git: these sources are no clone");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let clone = format!("file://{}", root.display());
    let address = address()?;
    let outside = outside_crate(folder.path(), |manifest| manifest.replace(&address, &clone))?;
    // Its own folder for clones, with the packages that are downloaded.
    let home = folder.path().join("home");
    std::fs::create_dir(&home)?;
    let user = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let user = user.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).context("HOME")?;
    for part in ["registry", "config.toml"].iter().filter(|part| user.join(part).exists()) {
        std::os::unix::fs::symlink(user.join(part), home.join(part))?;
    }
    let found = ours_of(&outside, &[], &[("CARGO_HOME", &home)])?;
    for (name, source) in found {
        ensure!(source.starts_with(&format!("git+{clone}")), "{name} is from {source}");
    }
    Ok(())
}

#[test]
fn a_crate_outside_of_the_repository_finds_the_packages() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("target");
    let published = published()?;
    let mut arguments = vec!["package", "--offline", "--no-verify", "--allow-dirty", "--quiet"];
    arguments.extend(published.iter().flat_map(|package| ["--package", name(package)]));
    run_cargo(&root(), &arguments, &[("CARGO_TARGET_DIR", &target)])?;
    // As a registry would have them: unpacked, without the paths of the workspace.
    let mut patch = "[patch.crates-io]\n".to_owned();
    for package in &published {
        let file = format!("{}-{}", name(package), package["version"].as_str().unwrap_or_default());
        let archive = target.join("package").join(format!("{file}.crate"));
        let unpacked = Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(folder.path()).status()?;
        ensure!(unpacked.success(), "{}", archive.display());
        patch += &format!("{} = {{ path = \"{}\" }}\n", name(package), folder.path().join(file).display());
    }
    let address = address()?;
    let outside = outside_crate(folder.path(), |manifest| {
        let lines = manifest.lines().filter(|line| !line.contains(&address));
        let lines =
            lines.map(|line| line.strip_prefix("# ").filter(|rest| rest.starts_with("ingester")).unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n")
    })?;
    std::fs::create_dir(outside.join(".cargo"))?;
    std::fs::write(outside.join(".cargo/config.toml"), patch)?;
    for (name, manifest) in ours_of(&outside, &["--offline"], &[])? {
        ensure!(Path::new(&manifest).starts_with(folder.path()), "{name} is from {manifest}");
    }
    Ok(())
}

#[test]
fn the_tutorial_has_the_dependencies_of_the_example() -> Result<()> {
    let [page, example] = ["docs/tutorial.md", "examples/dataset-operator/Cargo.toml"].map(read);
    let page = page?;
    let example = example?;
    let (_, dependencies) = example.split_once("[dependencies]\n").context("[dependencies]")?;
    for line in dependencies.lines().take_while(|line| !line.starts_with('[')) {
        if line.starts_with('#') {
            continue;
        }
        let (name, _) = line.split_once(" = ").unwrap_or((line, ""));
        let kept = if line.contains("path = ") { format!("\n{name} = {{ git = ") } else { line.to_owned() };
        ensure!(page.contains(&kept), "docs/tutorial.md lacks the dependency {line}");
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
    let mut wrong = Vec::new();
    let mut seen = 0;
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
