//! Prints how often the texts of this repository use phrases of translated English, for each 100,000 words, and the sentences with the most
//! such phrases. It fails no build: a phrase can be the right one. `tests/run.sh` prints the report; `english FOLDER...` reads other
//! folders.

#![allow(clippy::print_stdout, reason = "it prints a report")]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The number of sentences that are printed.
const SENTENCES: usize = 15;

/// A sentence that begins so is often a riddle: its verb comes last.
const OPENINGS: [&str; 2] = ["whether ", "what "];

/// Phrases that are rare in English texts of this field, with their spaces.
const PHRASES: [&str; 16] = [
    " beside ",
    " anew ",
    " is to be ",
    " are to be ",
    " that of ",
    " those of ",
    " of which ",
    " so that it ",
    " hardly ",
    " by its ",
    " is said ",
    " are said ",
    " is told ",
    " as often as ",
    " but for ",
    " such as have ",
];

/// Folders with other authors' texts, or without texts.
const SKIPPED: [&str; 4] = ["target", ".git", "node_modules", "snapshots"];

/// The texts of one kind: pages, documentation of items, comments inside functions.
#[derive(Debug, Default)]
struct Tally {
    words: usize,
    openings: usize,
    phrases: BTreeMap<&'static str, usize>,
}

#[derive(Debug, Default)]
struct Survey {
    tallies: BTreeMap<&'static str, Tally>,
    /// The number of signs in a sentence, its place, and its text.
    sentences: Vec<(usize, String, String)>,
}

impl Survey {
    fn read(&mut self, path: &Path) -> Result<()> {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let is_page = path.extension().is_some_and(|end| end == "md");
        let mut paragraph = String::new();
        let mut of = "";
        let mut is_code = false;
        let lines: Vec<&str> = text.lines().chain([""]).collect();
        for (number, line) in lines.iter().enumerate() {
            let (kind, words) = if is_page { ("pages", *line) } else { comment(line, &lines[number..]) };
            is_code ^= words.trim_start().starts_with("```");
            let ends =
                kind != of || words.trim().is_empty() || words.trim_start().starts_with(['#', '|', '-', '`', '<']);
            if ends && !paragraph.is_empty() {
                self.take(of, &format!("{}:{number}", path.display()), &std::mem::take(&mut paragraph));
            }
            of = kind;
            // A heading may be a question.
            let is_heading = is_page && words.starts_with('#');
            if !is_code && !is_heading && !kind.is_empty() {
                paragraph.push_str(words.trim().trim_start_matches(['-', '|', '#', ' ']));
                paragraph.push(' ');
            }
        }
        Ok(())
    }

    fn take(&mut self, kind: &'static str, place: &str, paragraph: &str) {
        let tally = self.tallies.entry(kind).or_default();
        for sentence in paragraph.split_inclusive(". ") {
            let lower = format!(" {}", sentence.trim().to_lowercase());
            tally.words += lower.split_whitespace().count();
            let opens = OPENINGS.iter().any(|opening| lower[1..].starts_with(opening));
            tally.openings += usize::from(opens);
            let mut signs = usize::from(opens);
            for phrase in PHRASES {
                let found = lower.matches(phrase).count();
                *tally.phrases.entry(phrase.trim()).or_default() += found;
                signs += found;
            }
            if signs > 1 {
                self.sentences.push((signs, place.to_owned(), sentence.trim().to_owned()));
            }
        }
    }

    fn print(mut self) {
        for (kind, tally) in &self.tallies {
            // With few words, as in a test, a rate has no meaning.
            let rate = |found: usize| found * 100_000 / tally.words.max(1);
            println!("{kind}: {} words; for each 100,000 of them:", tally.words);
            println!("  {:>5}  sentences that begin with Whether or What", rate(tally.openings));
            for (phrase, found) in tally.phrases.iter().filter(|(_, found)| **found > 0) {
                println!("  {:>5}  {phrase}", rate(*found));
            }
        }
        println!("The sentences with most of them:");
        self.sentences.sort_by_key(|(signs, place, _)| (Reverse(*signs), place.clone()));
        for (signs, place, sentence) in self.sentences.iter().take(SENTENCES) {
            println!("  {signs}  {place}  {sentence}");
        }
    }
}

/// Returns the kind and the words of a line of Rust that is a comment. `rest` begins with it.
fn comment<'a>(line: &'a str, rest: &[&str]) -> (&'static str, &'a str) {
    let line = line.trim_start();
    if let Some(words) = line.strip_prefix("//!") {
        return ("documentation of modules", words);
    }
    if let Some(words) = line.strip_prefix("///") {
        let mut rest = rest.iter().map(|line| line.trim_start());
        let item = rest.find(|line| !line.starts_with("///") && !line.starts_with("#["));
        let is_public = item.is_some_and(|item| item.starts_with("pub "));
        return (if is_public { "documentation of public items" } else { "documentation of private items" }, words);
    }
    line.strip_prefix("//").map_or(("", ""), |words| ("comments", words))
}

fn texts(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
        if entry.file_type()?.is_dir() && !is_skipped {
            texts(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "md" || end == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(PathBuf::from("."));
    }
    let mut found = Vec::new();
    for folder in &folders {
        texts(folder, &mut found)?;
    }
    found.sort();
    let mut survey = Survey::default();
    for path in &found {
        survey.read(path)?;
    }
    survey.print();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Survey;

    #[test]
    fn openings_and_phrases_are_counted_outside_of_code() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.md");
        let page = "# What is it\n\nWhether it is so. It stands beside\nthe other one, and is to be done.\n\n```text\nWhat is beside it.\n```\n";
        std::fs::write(&path, page).unwrap();
        let mut survey = Survey::default();
        survey.read(&path).unwrap();
        let tally = &survey.tallies["pages"];
        assert_eq!((tally.openings, tally.phrases["beside"], tally.phrases["is to be"]), (1, 1, 1));
        let [(signs, place, sentence)] = survey.sentences.as_slice() else { panic!("{survey:?}") };
        assert_eq!((*signs, sentence.as_str()), (2, "It stands beside the other one, and is to be done."));
        assert!(place.ends_with("page.md:4"), "{place}");
    }

    #[test]
    fn comments_of_rust_are_apart_from_its_documentation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib.rs");
        std::fs::write(&path, "//! Hardly anything.\n\n/// What it does.\n#[inline]\npub fn f() {\n    // Anew that of it.\n    g();\n}\n")
            .unwrap();
        let mut survey = Survey::default();
        survey.read(&path).unwrap();
        assert_eq!(survey.tallies["documentation of modules"].phrases["hardly"], 1);
        assert_eq!(survey.tallies["documentation of public items"].openings, 1);
        assert_eq!(survey.tallies["comments"].phrases["that of"], 1);
    }
}
