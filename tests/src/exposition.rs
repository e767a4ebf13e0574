//! Metrics in Prometheus' text format, turned into the table of `docs/metrics.md`. Uses nothing except the standard library: the crates
//! that own the metrics include this file in their unit tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The comment above a table; the rest of its line is the command that writes the table again.
const MARK: &str = "<!-- generated from the texts of the metrics; write it again with: ";

#[derive(Default)]
struct Metric {
    kind: String,
    help: String,
    labels: BTreeSet<String>,
}

/// The rows of a Markdown table, sorted by name: name, type, labels, meaning.
fn list_rows(exposition: &str) -> String {
    let mut metrics: BTreeMap<&str, Metric> = BTreeMap::new();
    for line in exposition.lines() {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|line| line.split_once(' ')) {
            help.clone_into(&mut metrics.entry(name).or_default().help);
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' ')) {
            kind.clone_into(&mut metrics.entry(name).or_default().kind);
        } else if let Some((name, labels)) = line.split_once('{') {
            let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            let labels = labels.rsplit_once('}').map_or("", |(labels, _)| labels);
            let names = labels.split(',').filter_map(|label| Some(label.split_once('=')?.0));
            if let Some(metric) = metrics.get_mut(name) {
                metric.labels.extend(names.filter(|name| *name != "le").map(str::to_owned));
            }
        }
    }
    let mut rows = String::new();
    for (name, Metric { kind, help, labels }) in metrics {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        writeln!(rows, "| `{name}` | {kind} | {} | {help} |", labels.join(", ")).expect("a string takes everything");
    }
    rows
}

/// Compares the table below `heading` with the metrics, or, with `UPDATE_EXPECT` in the environment, writes it.
///
/// # Panics
/// If they differ, naming the command that writes the table; and if the page has no such heading or no table below it.
pub fn compare_table(page: &Path, heading: &str, exposition: &str) {
    let text = std::fs::read_to_string(page).expect("the page is readable");
    let section = text.find(heading).expect("the page has the heading");
    let mark = section + text[section..].find(MARK).expect("a comment announces the table");
    let command = text[mark + MARK.len()..].split(" -->").next().unwrap_or_default();
    let table = mark + text[mark..].find("|---|").expect("a table follows the comment");
    let start = table + text[table..].find('\n').expect("rows follow the head") + 1;
    let end =
        start + text[start..].lines().take_while(|line| line.starts_with('|')).map(|l| l.len() + 1).sum::<usize>();
    let expected = list_rows(exposition);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let updated = [&text[..start], &expected, &text[end..]].concat();
        std::fs::write(page, updated).expect("the page is writable");
        return;
    }
    let found: Vec<&str> = text[start..end].lines().collect();
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(found, expected, "{} is out of date; write it again with: {command}", page.display());
}
