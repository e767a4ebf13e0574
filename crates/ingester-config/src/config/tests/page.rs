//! Tests that `docs/configuration.md` says the same about each key as its row.

use super::*;
use crate::config::row::{Effect, Row, Settings as _};
use ingester_core::duration::{Units, nanoseconds};
use std::fmt::Write as _;

const WRITES: &str = "`INGESTER_UPDATE=1 cargo test -p ingester-config config::tests::page` writes docs/configuration.md, for you to review";

/// Returns the path of a key's section, and the key's name in it.
fn place(row: &Row) -> (&'static str, &'static str) {
    row.path.rsplit_once('.').expect("every key is in a section")
}

/// Returns a file with every key and its default.
fn defaults(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    for row in rows {
        let (section, key) = place(row);
        let section: Vec<&str> = section.split('.').collect();
        let common = section.iter().zip(&open).take_while(|(one, other)| one == other).count();
        for (depth, name) in section.iter().enumerate().skip(common) {
            let _ = writeln!(text, "{}{name}:", "  ".repeat(depth));
        }
        let _ = writeln!(text, "{}", format!("{}{key}: {}", "  ".repeat(section.len()), row.default).trim_end());
        open = section;
    }
    text
}

/// Returns the table of a section.
fn table(rows: &[Row], section: &str) -> String {
    let mut text = "| key | type | default | a change | what it does |\n|---|---|---|---|---|\n".to_owned();
    for row in rows.iter().filter(|row| place(row).0 == section) {
        let default = match row.default {
            "" => "none".to_owned(),
            "[]" | "{}" => "empty".to_owned(),
            text => format!("`{text}`"),
        };
        let change = match row.effect {
            Effect::Now => "at once",
            Effect::Restart | Effect::Serve => "restart",
            Effect::None => "no effect",
        };
        let _ = writeln!(text, "| `{}` | {} | {default} | {change} | {} |", place(row).1, row.takes, row.about);
    }
    text
}

/// Replaces the text behind `heading`, from the next line that begins with `first` up to the next line `end`.
fn replace(page: &mut String, heading: &str, first: &str, end: &str, text: &str) {
    let from = page.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading `{heading}`"));
    let from =
        from + page[from..].find(&format!("\n{first}")).unwrap_or_else(|| panic!("nothing behind `{heading}`")) + 1;
    let to = page[from..].find(&format!("\n{end}")).map_or(page.len(), |at| from + at + 1);
    page.replace_range(from..to, text);
}

#[test]
fn the_page_has_every_key_as_its_row_says() {
    let page = page();
    let rows = Config::list_rows();
    let mut expected = page.clone();
    let text = format!("```yaml\n{}", defaults(&rows));
    replace(
        &mut expected,
        "A file with every key and its default. Keys without a value have no default:",
        "```yaml",
        "```\n",
        &text,
    );
    let sections: std::collections::BTreeSet<&str> = rows.iter().map(|row| place(row).0).collect();
    for section in sections {
        replace(&mut expected, &format!("### `{section}`"), "| key |", "\n", &table(&rows, section));
    }
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        return std::fs::write(PAGE, expected).unwrap();
    }
    assert!(expected == page, "{WRITES}");
}

#[test]
fn the_defaults_of_the_rows_are_those_of_the_structs() {
    assert_eq!(parse(&defaults(&Config::list_rows())).unwrap(), Config::default());
    assert_eq!(Config::default().ingester.backfill_rate, ingester_store::migrate::RATE);
}

/// Returns true if `path` may have this value. Conditions of other keys do not count.
fn takes(path: &str, value: &str) -> bool {
    let sections = path.matches('.').count();
    let text = format!("{}: {value}{}", path.replace('.', ": {"), "}".repeat(sections));
    match parse(&text) {
        Ok(_) => true,
        // A contradiction names it in backticks.
        Err(error) => !error.to_string().contains(&format!(": {path}")),
    }
}

#[test]
fn an_empty_text_is_allowed_where_the_page_says_so() {
    for row in Config::list_rows() {
        let is_text = row.takes == "text" || row.takes.starts_with("path");
        let may_be_empty = is_text || matches!(row.path, "server.address" | "serve.probes");
        assert_eq!(takes(row.path, "\"\""), may_be_empty, "{}", row.path);
    }
}

/// A row says in words what its reader takes.
#[test]
fn a_key_takes_what_its_row_says_and_nothing_beyond() {
    for row in Config::list_rows() {
        let (of_map, one) = row.takes.strip_prefix("map from kinds to ").map_or((false, row.takes), |one| (true, one));
        let takes =
            |value: &str| takes(row.path, &if of_map { format!("{{Model: {value}}}") } else { value.to_owned() });
        let mut right: Vec<String> = Vec::new();
        let mut wrong: Vec<String> = Vec::new();
        let quoted: Vec<&str> = one.split('`').skip(1).step_by(2).collect();
        if let Some((least, most)) = one
            .split_once(" to ")
            .and_then(|(least, most)| Some((least.parse::<i64>().ok()?, most.parse::<i64>().ok()?)))
        {
            right.extend([least.to_string(), most.to_string()]);
            wrong.extend([(least - 1).to_string(), (most + 1).to_string()]);
        } else if one.starts_with("one of ") {
            right.extend(quoted.iter().map(ToString::to_string));
            let mistake =
                parse(&format!("{}: '?'{}", row.path.replace('.', ": {"), "}".repeat(row.path.matches('.').count())));
            if !of_map {
                let mistake = mistake.unwrap_err().to_string();
                assert!(mistake.ends_with(&format!("use one of {}", quoted.join(", "))), "{mistake}");
            }
        } else if one.starts_with("duration") {
            let bound = |word: &str| one.split_once(word).map(|(_, text)| text.split('`').nth(1).expect("a bound"));
            let least = bound(" from ");
            let most = bound(" up to ").unwrap_or("365d");
            right.extend([least.unwrap_or("0s").to_owned(), most.to_owned()]);
            wrong.extend(["-1ns".to_owned(), format!("{most}1ns")]);
            wrong
                .extend(least.and_then(|least| nanoseconds(least, Units::All)).map(|nanos| format!("{}ns", nanos - 1)));
        } else if one == "bool" {
            right.extend(["true".to_owned(), "no".to_owned()]);
            wrong.push("1".to_owned());
        }
        for (value, expected) in right.iter().map(|value| (value, true)).chain(wrong.iter().map(|value| (value, false)))
        {
            assert_eq!(takes(value), expected, "{}: {} and `{value}`", row.path, row.takes);
        }
    }
}

#[test]
fn variables_are_those_of_the_rows_and_the_page_says_what_they_override() {
    let read = std::cell::RefCell::new(Vec::new());
    Environment::read(|name| {
        read.borrow_mut().push(name.to_owned());
        None
    });
    let rows = Config::list_rows();
    let mut named: Vec<&str> = rows.iter().filter_map(|row| row.variable).collect();
    let page = page();
    for row in &rows {
        if let Some(name) = row.variable {
            let line = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            assert!(line.is_some_and(|line| line.contains(&format!("`{}`", row.path))), "{name}: {line:?}");
        }
    }
    named.push("REGION");
    // The variables of databases' own clients override nothing.
    for name in ["PGHOST", "PGDATABASE"] {
        assert!(page.contains(&format!("`{name}`")), "{name}");
        named.push(name);
    }
    let mut read = read.into_inner();
    named.sort_unstable();
    read.sort_unstable();
    assert_eq!(read, named);
}
