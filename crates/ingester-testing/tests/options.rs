//! docs/options.md has a row for each public function and macro of this crate, with the first paragraph of its documentation.

use std::fmt::Write as _;
use std::path::Path;

const COMMAND: &str = "UPDATE_EXPECT=1 cargo test -p ingester-testing options";

const SOURCES: [&str; 2] = [include_str!("../src/lib.rs"), include_str!("../src/paths.rs")];

/// The public functions and macros of a source, each with its first paragraph; without those that are hidden.
fn helpers(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // The first paragraph of the documentation above a line, and whether it has ended.
    let mut paragraph = Vec::new();
    let mut ended = false;
    let mut hidden = false;
    // The type whose methods follow, with `::`.
    let mut of = String::new();
    for whole in source.lines() {
        let line = whole.trim_start();
        if let Some(text) = line.strip_prefix("///") {
            ended |= text.is_empty();
            if !ended {
                paragraph.push(text.trim().replace("[`", "`").replace("`]", "`"));
            }
            continue;
        }
        if line.starts_with("#[") {
            hidden |= line == "#[doc(hidden)]";
            continue;
        }
        if let Some(name) = line.strip_prefix("impl ").and_then(|rest| rest.strip_suffix(" {")) {
            of = if name.contains(' ') { String::new() } else { format!("{name}::") };
        }
        let name = |begin: &str, end: &str| {
            let rest = line.strip_prefix(begin)?;
            Some(format!("{of}{}{end}", rest.split(['<', '(', ' ']).next().unwrap_or_default()))
        };
        if let Some(name) = name("pub fn ", "").or_else(|| name("macro_rules! ", "!")).filter(|_| !hidden) {
            found.push((name, paragraph.join(" ")));
        }
        if whole == "}" {
            // The end of an `impl`, or of something in none.
            of.clear();
        }
        (ended, hidden) = (false, false);
        paragraph.clear();
    }
    found
}

#[test]
fn the_page_of_options_has_every_helper() {
    let mut table = "| helper | what it does |\n|---|---|\n".to_owned();
    for (name, text) in SOURCES.iter().flat_map(|source| helpers(source)) {
        assert!(!text.is_empty() && !text.contains('|'), "{name}: {text}");
        writeln!(table, "| `{name}` | {text} |").expect("a string takes everything");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let begin = format!("write it again with: {COMMAND} -->\n\n");
    let (before, rest) = text.split_once(&begin).expect("a comment announces the table");
    let (_, after) = rest.split_once("<!-- end -->").expect("a comment ends it");
    let expected = format!("{before}{begin}{table}\n<!-- end -->{after}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(page, expected).expect("the page is writable");
        return;
    }
    assert!(text == expected, "docs/options.md is out of date; write it again with: {COMMAND}");
}

#[test]
fn hidden_and_private_functions_are_no_helpers() {
    let source = "/// One\n/// two.\n///\n/// Three.\npub fn a() {}\n/// Hidden.\n#[doc(hidden)]\npub fn b() {}\nfn c() {}\n\
                  impl D {\n    /// Of [`D`].\n    #[must_use]\n    pub fn e<T>(self) {\n    }\n}\n/// M.\nmacro_rules! m {\n}\n";
    let found = helpers(source);
    let found: Vec<(&str, &str)> = found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(found, [("a", "One two."), ("D::e", "Of `D`."), ("m!", "M.")]);
}
