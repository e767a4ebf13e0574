//! Copies the sources of the mirror, without their tests, and applies the edits of `src/table.rs` to the copy. One file of tests is kept: the copy is
//! optimized, so it runs the histories.

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "src/table.rs"]
mod table;

use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use table::{Edit, MISTAKES};

/// The tests of histories, and the module that has them.
const HISTORIES: [&str; 2] = ["simulation/tests.rs", "simulation/mod.rs"];

/// In the mirror, the test of all histories does not run.
const IGNORED: &str = "#[ignore = \"ingester-mistakes runs it, optimized\"]\n";

fn main() -> Result<()> {
    let sources = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../crates/ingester-mirror/src");
    let copy = Path::new(&env::var("OUT_DIR")?).join("src");
    watch(&sources);
    watch("src/table.rs");

    let mut files = BTreeMap::new();
    read(&sources, &sources, &mut files)?;
    let mut problems = Vec::new();
    for (file, text) in &mut files {
        if HISTORIES.iter().any(|kept| file == Path::new(kept)) {
            *text = text.replace(IGNORED, "");
            continue;
        }
        *text = without_tests(text);
        if text.contains("#[test]") || text.contains("#[tokio::test") {
            let file = file.display();
            problems
                .push(format!("{file} has tests that would run twice; move them into its `#[cfg(test)] mod tests`"));
        }
    }
    for (number, mistake) in MISTAKES.iter().enumerate() {
        for edit in mistake.edits {
            if let Err(problem) = apply(edit, number, &mut files) {
                let Edit { file, .. } = edit;
                problems
                    .push(format!("src/table.rs: the mistake {} cannot be made in {file}: {problem}", mistake.name));
            }
        }
    }
    if let Some(root) = files.get_mut(Path::new("lib.rs")) {
        *root = without_crate_documentation(root);
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));

    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    for (file, text) in &files {
        let path = copy.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&copy))?;
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "so a build script tells cargo")]
fn watch(path: impl AsRef<Path>) {
    println!("cargo::rerun-if-changed={}", path.as_ref().display());
}

/// Modules that have only tests.
fn is_of_tests(path: &Path) -> bool {
    matches!(path.file_stem().and_then(|stem| stem.to_str()), Some("tests" | "properties"))
}

/// Reads the files of a folder by their paths within the root.
fn read(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if is_of_tests(&path) && !path.ends_with(HISTORIES[0]) {
            continue;
        }
        if path.is_dir() {
            read(root, &path, files)?;
        } else {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            files.insert(path.strip_prefix(root)?.to_owned(), text);
        }
    }
    Ok(())
}

/// Applies an edit of the mistake with this number.
fn apply(edit: &Edit, number: usize, files: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let text = files.get_mut(Path::new(edit.file)).ok_or("the mirror has no such file; correct `file`")?;
    let [place] = &places(text, edit.before)[..] else {
        let count = places(text, edit.before).len();
        return Err(format!(
            "`{}` is there {count} times; make `before` the text of one place, as it is now",
            edit.before
        ));
    };
    text.replace_range(place.clone(), &edit.after.replace("MADE", &format!("crate::made({number})")));
    Ok(())
}

/// Where a text has a part, however the two are broken into lines: whitespace does not count.
fn places(text: &str, part: &str) -> Vec<Range<usize>> {
    let visible =
        |text: &str| -> Vec<(usize, char)> { text.char_indices().filter(|(_, c)| !c.is_whitespace()).collect() };
    let text = visible(text);
    let part = visible(part);
    let is_part = |window: &&[(usize, char)]| window.iter().map(|(_, c)| c).eq(part.iter().map(|(_, c)| c));
    let found = text.windows(part.len()).filter(is_part);
    found.map(|window| window[0].0..window[window.len() - 1].0 + window[window.len() - 1].1.len_utf8()).collect()
}

/// A file without its modules of tests: they run where they are, so they are not compiled once more.
fn without_tests(text: &str) -> String {
    let text = text.replace("#[cfg(test)]\nmod tests;", "").replace("#[cfg(test)]\nmod properties;", "");
    let Some((before, module)) = text.split_once("#[cfg(test)]\nmod tests {\n") else { return text };
    // It is formatted, so this is the module's own brace.
    let after = module.split_once("\n}\n").map_or("", |(_, after)| after);
    format!("{before}{after}")
}

/// `include!` takes no documentation of the crate.
fn without_crate_documentation(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect()
}
