//! The tables of all options in docs/options.md, and in the documentation of the derive, which docs.rs shows.

use super::setting::AttributeOption;
use super::{evict, index, ingest};
use std::fmt::Write as _;
use std::path::Path;

const COMMAND: &str = "UPDATE_EXPECT=1 cargo test -p ingester-macros options";

fn table<T>(title: &str, options: &[AttributeOption<T>]) -> String {
    let mut table = format!("{title}\n\n| option | meaning |\n|---|---|\n");
    for AttributeOption { name, form, text, .. } in options {
        assert!(form.starts_with(name), "`{form}` is another option than `{name}`");
        assert!(!text.ends_with('.') && !text.contains('|') && !form.contains('|'), "{text}");
        writeln!(table, "| `{form}` | {text} |").expect("a string takes everything");
    }
    table
}

fn tables() -> String {
    [
        table("`#[index(...)]` on a field or on the struct:", index::OPTIONS),
        table("`#[ingest(...)]` on the struct:", ingest::OPTIONS),
        table(
            "`evict(...)` of `#[ingest]`. An object must meet all conditions of a rule, and a rule needs `when`, `after` or `keep_last`. \
             Nothing leaves before the configuration enforces the rule by its name:",
            evict::OPTIONS,
        ),
    ]
    .join("\n")
}

/// Compares a part of a file with the tables, or, with `UPDATE_EXPECT` in the environment, writes it.
fn compare(path: &Path, begin: &str, end: &str) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let (before, rest) = text.split_once(begin).unwrap_or(("", &text));
    let after = if end.is_empty() { "" } else { rest.split_once(end).expect("a comment ends the tables").1 };
    let expected = format!("{before}{begin}{}{end}{after}", tables());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, expected).expect("the file is writable");
        return;
    }
    assert!(text == expected, "{} is out of date; write it again with: {COMMAND}", path.display());
}

#[test]
fn the_page_and_the_documentation_have_all_options() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    compare(&root.join("src/attr/options.md"), "", "");
    let begin = format!("<!-- generated from the tables of the derive; write it again with: {COMMAND} -->\n\n");
    compare(&root.join("../docs/options.md"), &begin, "\n<!-- end -->\n");
}
