//! The documents for contributors are up to date: the files and functions that they name exist, every room has its line in
//! ARCHITECTURE.md, the links of all documents lead somewhere, every page is in the book, and what the marks of blocks name exists.

use anyhow::{Context as _, Result, ensure};
use ingester_core::value::{ColumnValue, Value, Values};
use ingester_core::wire;
use ingester_sql::dialect::Dialect;
use ingester_tests::book::{Block, Mark, blocks, pages};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The documents about the code. Others show users' files, such as `kinds.yaml`.
const ABOUT_CODE: [&str; 5] =
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions/", "docs/glossary.md", "docs/invariants.md"];

/// Files that a recipe tells the reader to write.
const EXAMPLES: [&str; 1] = ["crd-specs/src/widget.rs"];

/// The pages of the book. Its links lead only to pages and diagrams in it, because the rest of the repository is not published with it.
const BOOK: &str = "docs/";

/// The README of a release's archive, which has these folders beside it.
const ARCHIVE: &str = "deploy/archive.md";

const TABLE_OF_TYPES: &str = include_str!("../../docs/schema-evolution.md");

/// More would not be a bird's eye view.
const LONGEST: usize = 200;

#[test]
fn files_and_functions_that_documents_name_exist() -> Result<()> {
    let files = files()?;
    let mut wrong = Vec::new();
    let mut named = 0;
    for document in files.iter().filter(|file| ABOUT_CODE.iter().any(|begin| file.starts_with(begin))) {
        for span in code_spans(&read(document)?) {
            let (path, function) =
                span.split_once("::").map_or((span.as_str(), None), |(path, name)| (path, Some(name)));
            if !path.ends_with(".rs")
                || path.contains(['*', '{', ' '])
                || path.contains("NAME")
                || EXAMPLES.contains(&path)
            {
                continue;
            }
            named += 1;
            let found: Vec<&String> = files.iter().filter(|file| ends_with(file, path)).collect();
            if found.is_empty() {
                wrong.push(format!("{document}: the file `{path}` does not exist"));
            } else if let Some(function) = function {
                let begin = format!("fn {function}");
                let mut texts = found.iter().map(|file| read(file).unwrap_or_default());
                if !texts.any(|text| has_word(&text, &begin)) {
                    wrong.push(format!("{document}: `{path}` has no function `{function}`"));
                }
            }
        }
    }
    ensure!(named > 100, "only {named} files are named: how documents are read is wrong");
    ensure!(wrong.is_empty(), "correct these, or what they name:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn pages_that_help_errors_and_comments_name_exist() -> Result<()> {
    let files = files()?;
    let mut wrong = Vec::new();
    let mut named = 0;
    for file in files.iter().filter(|file| file.ends_with(".rs") && file.contains("/src/")) {
        let text = read(file)?;
        for (at, _) in text.match_indices("docs/") {
            let end = text[at..].find(|c: char| !(c.is_ascii_alphanumeric() || "/-._".contains(c)));
            let path = text[at..].get(..end.unwrap_or_default()).unwrap_or_default().trim_end_matches('.');
            if path.ends_with(".md") && !text[..at].ends_with(['/', '.']) {
                named += 1;
                if !files.iter().any(|file| file == path) {
                    wrong.push(format!("{file}: {path} does not exist"));
                }
            }
        }
    }
    ensure!(named > 20, "only {named} pages are named: how sources are read is wrong");
    ensure!(wrong.is_empty(), "correct these:\n{}", wrong.join("\n"));
    Ok(())
}

/// What a line begins with that makes a test: an attribute, or a macro such as `on_every_database!`.
const TESTS: [&str; 5] = ["#[test]", "#[tokio::test", "#[cfg(test)]", "on_", "with_"];

#[test]
fn each_invariant_names_a_test() -> Result<()> {
    let files = files()?;
    let makes_one =
        |line: &str| TESTS.iter().any(|begin| line.trim_start().starts_with(begin)) && line.contains(['!', ']']);
    let is_test = |file: &&String| file.ends_with(".rs") && read(file).is_ok_and(|text| text.lines().any(makes_one));
    let mut wrong = Vec::new();
    let mut rows = 0;
    for document in ["ARCHITECTURE.md", "docs/invariants.md"] {
        for (invariant, test) in invariants(&read(document)?) {
            rows += 1;
            let spans = code_spans(&test);
            let named = |path: &str| {
                let path = path.split("::").next().unwrap_or_default().to_owned();
                let is_in = move |file: &&String| match path.strip_suffix('/') {
                    Some(_) => file.starts_with(&path) || file.contains(&format!("/{path}")),
                    None => path.contains('.') && ends_with(file, &path),
                };
                files.iter().filter(is_in).collect::<Vec<_>>()
            };
            for folder in spans.iter().filter(|span| span.ends_with('/') && named(span).is_empty()) {
                wrong.push(format!("{document}: the folder `{folder}` does not exist"));
            }
            if !spans.iter().any(|span| named(span).iter().any(is_test)) {
                wrong.push(format!("{document}: no test is named for: {invariant}"));
            }
        }
    }
    ensure!(rows > 100, "only {rows} invariants: how they are read is wrong");
    ensure!(wrong.is_empty(), "name a file or a folder that has a test:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn marks_of_blocks_name_tests_and_files_that_agree() -> Result<()> {
    let files = files()?;
    let mut wrong = Vec::new();
    let mut marked = 0;
    for (page, text) in pages()? {
        for block in blocks(&text)? {
            let Some(mark) = &block.mark else { continue };
            marked += 1;
            if let Err(error) = check_mark(mark, &page, &block, &files) {
                wrong.push(format!("{page} line {}: {error:#}", block.line));
            }
        }
    }
    ensure!(marked > 100, "only {marked} blocks are marked: how pages are read is wrong");
    ensure!(wrong.is_empty(), "correct these blocks or their marks:\n{}", wrong.join("\n"));
    Ok(())
}

/// Whether a test that a mark names exists and, if it runs the page, knows it; and whether a file has the lines of its part.
fn check_mark(mark: &Mark, page: &str, block: &Block, files: &[String]) -> Result<()> {
    for (path, function) in mark.named() {
        let found: Vec<String> =
            files.iter().filter(|file| ends_with(file, path)).map(|file| read(file)).collect::<Result<_>>()?;
        ensure!(!found.is_empty(), "the file `{path}` does not exist");
        let begin = function.map(|function| format!("fn {function}"));
        ensure!(
            begin.is_none_or(|begin| found.iter().any(|text| has_word(text, &begin))),
            "`{path}` has no such function"
        );
        let name = page.rsplit('/').next().unwrap_or(page);
        ensure!(
            !matches!(mark, Mark::RunBy(_)) || found.iter().any(|text| text.contains(name)),
            "`{path}` does not read {name}"
        );
    }
    match mark {
        Mark::RunBy(_) => ensure!(!mark.named().is_empty(), "the mark names no file of a test"),
        Mark::PartOf(file) => {
            let whole = read(file)?;
            // What a page adds at the end of a line is for its readers.
            let code = |line: &str| {
                line.split(" //").next().unwrap_or_default().split(" # ").next().unwrap_or_default().trim().to_owned()
            };
            let lines: BTreeSet<String> = whole.lines().map(code).collect();
            let missing = block.text.lines().map(code).find(|line| !lines.contains(line));
            ensure!(missing.is_none(), "{file} has no line `{}`", missing.unwrap_or_default());
        }
        Mark::NotRun(reason) => ensure!(reason.len() > 10, "the mark gives no reason"),
    }
    Ok(())
}

/// The rows of the tables of invariants: what holds, and its tests.
fn invariants(document: &str) -> Vec<(String, String)> {
    let mut lines = document.lines();
    let mut found = Vec::new();
    while lines.any(|line| line == "| invariant | test |") {
        let rows =
            lines.by_ref().skip(1).map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit_once(" | "));
        found.extend(rows.map(|(invariant, test)| (invariant.to_owned(), test.to_owned())));
    }
    found
}

#[test]
fn links_of_documents_lead_somewhere() -> Result<()> {
    let files: Vec<String> = files()?.into_iter().filter(|file| file.ends_with(".md")).collect();
    let mut broken = Vec::new();
    let mut followed = 0;
    for document in &files {
        let folder = Path::new(document).parent().filter(|_| document != ARCHIVE).unwrap_or(Path::new(""));
        for link in links(&read(document)?) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            followed += 1;
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { PathBuf::from(document) } else { normal(&folder.join(path)) };
            if !root().join(&target).exists() {
                broken.push(format!("{document}: `{path}` does not exist"));
            } else if document.starts_with(BOOK) && !(target.starts_with(BOOK) && target.extension().is_some()) {
                broken.push(format!("{document}: `{link}` leaves the book: name the file in backticks instead"));
            } else if let Some(anchor) = anchor
                && !anchors(&std::fs::read_to_string(root().join(&target))?).contains(anchor)
            {
                broken.push(format!("{document}: `{link}`: GitHub and mdBook give this anchor to no heading"));
            }
        }
    }
    ensure!(followed > 300, "only {followed} links are found: how documents are read is wrong");
    ensure!(broken.is_empty(), "correct these links:\n{}", broken.join("\n"));
    Ok(())
}

/// Users match these lines. Tests have copies of them, so only the crates' sources count.
#[test]
fn log_lines_that_operations_lists_exist() -> Result<()> {
    let page = read("docs/operations.md")?;
    let (_, table) = page.split_once("### Log lines").context("docs/operations.md lists no log lines")?;
    let rows =
        table.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
    let listed: Vec<String> = rows.filter_map(|row| row.split(" | ").next()).flat_map(code_spans).collect();
    ensure!(listed.len() > 10, "only {} log lines are listed: how the table is read is wrong", listed.len());
    let mut sources = String::new();
    for file in files()?.iter().filter(|file| file.ends_with(".rs") && !file.contains("tests")) {
        if file.starts_with("crates/") || file.starts_with("ingester-bin/") {
            sources.push_str(&read(file)?);
        }
    }
    let gone: Vec<&String> = listed.iter().filter(|text| !sources.contains(text.as_str())).collect();
    ensure!(gone.is_empty(), "no source has these log lines: change the table, and say so in CHANGELOG.md: {gone:?}");
    Ok(())
}

#[test]
fn every_page_is_in_the_book_once() -> Result<()> {
    let mut listed = links(&read("docs/SUMMARY.md")?);
    listed.sort();
    let pages = files()?.into_iter().filter_map(|file| Some(file.strip_prefix(BOOK)?.to_owned()));
    let pages: Vec<String> = pages.filter(|file| file.ends_with(".md") && file != "SUMMARY.md").collect();
    assert_eq!(listed, pages, "docs/SUMMARY.md has each page of docs/ once");
    let book = read("book.toml")?;
    ensure!(book.contains("src = \"docs\"") && book.contains("use-default-preprocessors = false"), "book.toml: {book}");
    Ok(())
}

#[test]
fn every_page_of_decisions_is_in_their_index() -> Result<()> {
    let index: BTreeSet<String> = links(&read("docs/decisions/README.md")?).into_iter().collect();
    for file in files()?.iter().filter_map(|file| file.strip_prefix("docs/decisions/")) {
        ensure!(file == "README.md" || index.contains(file), "docs/decisions/README.md has no line for {file}: add it");
    }
    Ok(())
}

#[test]
fn every_room_has_its_line_in_the_architecture() -> Result<()> {
    let text = read("ARCHITECTURE.md")?;
    ensure!(text.lines().count() <= LONGEST, "ARCHITECTURE.md has more than {LONGEST} lines: move details to docs/");
    let rows: String = text.lines().filter(|line| line.starts_with('|')).collect();
    let named: BTreeSet<String> = code_spans(&rows).iter().map(|span| span.trim_end_matches('/').to_owned()).collect();
    let mut missing = Vec::new();
    for file in files()?
        .iter()
        .filter(|file| (file.starts_with("ingester-") || file.starts_with("crates/")) && file.ends_with(".rs"))
    {
        let Some((package, module)) = file.split_once("/src/") else { continue };
        let first = read(file)?;
        if !first.lines().take_while(|line| line.starts_with("//!")).any(|line| line.starts_with("//! May use: ")) {
            continue;
        }
        let module = module.trim_end_matches(".rs").trim_end_matches("/mod");
        let room = if module == "lib" { package } else { module.rsplit('/').next().unwrap_or(module) };
        // Modules that only tests use do not count as rooms.
        if room != "fixture" && !named.contains(room) {
            missing.push(format!("{file}: `{room}`"));
        }
    }
    ensure!(missing.is_empty(), "ARCHITECTURE.md has no line for these rooms:\n{}", missing.join("\n"));
    Ok(())
}

/// What a JSON value is as one of these types: the value, and the type in MySQL and in SQLite.
fn column<T: ColumnValue + serde::Deserialize<'static>>(json: &'static str) -> Result<[String; 3]> {
    let mut values = Values::with_capacity(1);
    serde_json::from_str::<T>(json)?.write(&mut values);
    let [part] = T::SHAPE.parts else { anyhow::bail!("more than one column") };
    let stored = match &values.into_vec()[..] {
        [Value::Bool(value)] => u8::from(*value).to_string(),
        [Value::Time(time)] => time.sql(),
        [value] => value.to_string(),
        values => anyhow::bail!("{values:?} are no single value"),
    };
    Ok([stored, Dialect::MySql.spelled(part.ty), Dialect::Sqlite.spelled(part.ty)])
}

/// What [`column`] says of a type, by its name in the table.
type Column = fn(&'static str) -> Result<[String; 3]>;

const TYPES: [(&str, Column); 24] = [
    ("String", column::<String>),
    ("&str", column::<&str>),
    ("Cow<str>", column::<Cow<'static, str>>),
    ("bool", column::<bool>),
    ("i8", column::<i8>),
    ("i16", column::<i16>),
    ("i32", column::<i32>),
    ("i64", column::<i64>),
    ("isize", column::<isize>),
    ("u8", column::<u8>),
    ("u16", column::<u16>),
    ("u32", column::<u32>),
    ("u64", column::<u64>),
    ("usize", column::<usize>),
    ("f32", column::<f32>),
    ("f64", column::<f64>),
    ("wire::Int64", column::<wire::Int64>),
    ("wire::Timestamp", column::<wire::Timestamp>),
    ("wire::Time", column::<wire::Time>),
    ("wire::Duration", column::<wire::Duration>),
    ("Time", column::<Time>),
    ("MicroTime", column::<MicroTime>),
    ("Quantity", column::<Quantity>),
    ("IntOrString", column::<IntOrString>),
];

#[test]
fn the_table_of_types_is_what_types_and_dialects_say() -> Result<()> {
    let (_, table) = TABLE_OF_TYPES.split_once("\n| Rust | JSON |").context("the table")?;
    let mut shown = Vec::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let [names, json, rest @ ..] = &row.trim_matches('|').split(" | ").collect::<Vec<_>>()[..] else {
            anyhow::bail!("{row}: too few cells");
        };
        let plain = |cell: &str| cell.trim_matches([' ', '`']).to_owned();
        let says: Vec<String> = rest.iter().map(|cell| plain(cell)).collect();
        for name in names.split('`').skip(1).step_by(2) {
            let (_, column) = TYPES.iter().find(|(known, _)| *known == name).with_context(|| format!("`{name}`"))?;
            let is = column(json.trim_matches([' ', '`'])).with_context(|| row.to_owned())?;
            ensure!(says == is, "docs/schema-evolution.md: {name} is {is:?}, not {says:?}");
            shown.push(name);
        }
    }
    for (name, _) in TYPES {
        let rows = shown.iter().filter(|shown| **shown == name).count();
        ensure!(rows == 1, "docs/schema-evolution.md has no row for `{name}`");
    }
    Ok(())
}

/// The files of the repository, by their paths from its root, without build output.
fn files() -> Result<Vec<String>> {
    let (root, mut found, mut folders) = (root(), Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(&root)?.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(file: &str) -> Result<String> {
    std::fs::read_to_string(root().join(file)).with_context(|| format!("reading {file}"))
}

/// Whether a file is what a path's end names.
fn ends_with(file: &str, path: &str) -> bool {
    file.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Whether a text has these characters, not followed by more of a name.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| !text[at + word.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_'))
}

/// The text without blocks of code.
fn prose(text: &str) -> String {
    let mut within = false;
    let outside = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        within ^= fence;
        !fence && !within
    });
    outside.collect::<Vec<_>>().join("\n")
}

/// The texts between backticks.
fn code_spans(text: &str) -> Vec<String> {
    prose(text).split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The targets of the links.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let ends = text.split("](").skip(1);
    ends.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.to_owned()).collect()
}

/// The path without its `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(component);
        }
    }
    normal
}

/// The anchors of the headings on which GitHub and mdBook agree. A repeated heading gets a number from both.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeMap::new();
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    for heading in headings {
        let github = github(heading);
        let mdbook = mdbook(heading);
        let times = seen.entry(github.clone()).and_modify(|times| *times += 1).or_insert(0);
        // GitHub and mdBook treat the text of a link, and an explicit anchor, differently.
        if github == mdbook && !heading.contains(['[', '{']) {
            found.insert(if *times == 0 { github } else { format!("{github}-{times}") });
        }
    }
    found
}

fn github(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>().replace(' ', "-")
}

/// As in `normalize_id` of mdBook.
fn mdbook(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '-' | '_'));
    kept.map(|c| if c.is_whitespace() { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| "..".into(), Path::to_path_buf)
}

#[test]
fn spans_links_and_anchors_are_read_as_they_are_written() {
    let text = "See `a/b.rs::f` and [this](c.md#two-words).\n```text\n`no.rs` [no](no.md)\n```\n## Two `words`";
    assert_eq!(code_spans(text), ["a/b.rs::f", "words"]);
    assert_eq!(links(text), ["c.md#two-words"]);
    assert_eq!(anchors(text), BTreeSet::from(["two-words".to_owned()]));
    let twice = "# Again\n## Again\n## Über uns\n## A [link](b.md)\n## Named {#name}\n## Plain";
    assert_eq!(anchors(twice).into_iter().collect::<Vec<_>>(), ["again", "again-1", "plain"], "mdBook keeps the Ü");
    assert_eq!(normal(Path::new("docs/decisions/../queries.md")), Path::new("docs/queries.md"));
    assert!(ends_with("a/b/c.rs", "b/c.rs") && !ends_with("a/bb/c.rs", "b/c.rs"));
    assert!(has_word("fn read(", "fn read") && !has_word("fn reads(", "fn read"));
}
