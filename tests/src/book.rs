//! The pages that readers follow, README.md and the pages of `docs/`: their blocks of code, each with a mark that says how tests treat it.
//!
//! A mark is an HTML comment. Directly before a block it applies to this block. Between a heading and an empty line it applies to all
//! blocks of the section that have no other mark.
//!
//! | mark | meaning |
//! |---|---|
//! | none | `tests/tests/cli/book.rs` runs the block |
//! | `run by FILE` | this test reads the page and runs its blocks; `FILE::function` names one of its tests |
//! | `part of FILE` | its lines are lines of this file, which is compiled or read by tests |
//! | `not run: REASON` | the part that is missing here, and, if there is one, the test that does the same |
//! | `before: COMMANDS` | not a mark: commands that `book.rs` runs at this place, and that the page does not show |

use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};

/// A block of code of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The word behind the fence, such as `sh`.
    pub language: String,
    /// Its lines without the indentation of the fence.
    pub text: String,
    /// The line of the fence, from 1.
    pub line: usize,
    /// The treatment of the block.
    pub mark: Option<Mark>,
}

/// The treatment of a block that is not run as part of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// These tests run it.
    RunBy(String),
    /// Its lines are in this file.
    PartOf(String),
    /// It is not run, for this reason.
    NotRun(String),
}

impl Mark {
    fn parse(comment: &str) -> Option<Self> {
        let after = |begin: &str| comment.strip_prefix(begin).map(str::to_owned);
        let run_by = after("run by ").map(Self::RunBy);
        let part_of = after("part of ").map(Self::PartOf);
        run_by.or(part_of).or_else(|| after("not run: ").map(Self::NotRun))
    }

    /// Returns the Rust files that it names, each with the function behind `::`.
    #[must_use]
    pub fn named(&self) -> Vec<(&str, Option<&str>)> {
        let (Self::RunBy(text) | Self::PartOf(text) | Self::NotRun(text)) = self;
        let words = text.split([' ', ',', ';']);
        let names = words.map(|word| word.split_once("::").map_or((word, None), |(file, name)| (file, Some(name))));
        names.filter(|(file, _)| file.ends_with(".rs")).collect()
    }
}

/// Returns the pages, by their paths from the root of the repository, with their texts.
///
/// # Errors
/// When a file cannot be read.
pub fn pages() -> Result<Vec<(String, String)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the root of the repository")?;
    let mut files = vec![PathBuf::from("README.md")];
    for folder in ["docs", "docs/decisions"] {
        for entry in std::fs::read_dir(root.join(folder))? {
            files.push(Path::new(folder).join(entry?.file_name()));
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let read = |file: PathBuf| Ok((file.display().to_string(), std::fs::read_to_string(root.join(&file))?));
    files.into_iter().map(read).collect()
}

/// Returns the blocks of a page, or of a section, in their order, with the commands of `before`.
///
/// # Errors
/// When a block or a comment does not end, or a mark is at a place where it marks nothing.
pub fn blocks(page: &str) -> Result<Vec<Block>> {
    let mut found = Vec::new();
    let mut mark = None;
    // The level of the heading while no text follows it; the text of a section begins below its heading.
    let mut heading = Some(1);
    let mut sections = Vec::<(usize, Mark)>::new();
    let mut lines = page.lines().zip(1..);
    while let Some((line, at)) = lines.next() {
        let text = line.trim_start();
        if let Some(language) = text.strip_prefix("```") {
            let inner =
                until(&mut lines, |line| line.trim() == "```").with_context(|| format!("line {at}: the block"))?;
            let indent = line.len() - text.len();
            let inner: Vec<&str> = inner.iter().map(|line| line.get(indent..).unwrap_or_default()).collect();
            let mark = mark.take().or_else(|| sections.last().map(|(_, mark)| mark.clone()));
            found.push(Block { language: language.trim().into(), text: inner.join("\n"), line: at, mark });
            heading = None;
        } else if let Some(begin) = text.strip_prefix("<!--") {
            let comment = match begin.split_once("-->") {
                Some((comment, _)) => comment.to_owned(),
                None => {
                    let rest = until(&mut lines, |line| line.trim() == "-->");
                    format!("{begin}\n{}", rest.with_context(|| format!("line {at}: the comment"))?.join("\n"))
                }
            };
            match comment.trim().strip_prefix("before:") {
                Some(commands) => {
                    found.push(Block { language: "sh".into(), text: commands.trim().into(), line: at, mark: None });
                }
                None => mark = Mark::parse(comment.trim()),
            }
        } else if text.is_empty() {
            if let Some(mark) = mark.take() {
                let level = heading.with_context(|| format!("line {at}: the mark before it is not below a heading"))?;
                sections.push((level, mark));
            }
        } else {
            ensure!(mark.is_none(), "line {at}: the mark before it marks neither a block nor a section");
            let level = line.bytes().take_while(|byte| *byte == b'#').count();
            heading = (level > 0).then_some(level);
            sections.retain(|(above, _)| level == 0 || *above < level);
        }
    }
    Ok(found)
}

/// Returns the lines up to one that ends them.
fn until<'a>(lines: &mut impl Iterator<Item = (&'a str, usize)>, ends: impl Fn(&str) -> bool) -> Result<Vec<&'a str>> {
    let mut found = Vec::new();
    for (line, _) in lines {
        if ends(line) {
            return Ok(found);
        }
        found.push(line);
    }
    bail!("it does not end")
}

/// Words of a shell after which a command begins.
const BEFORE_COMMANDS: [&str; 9] = ["if", "then", "else", "while", "do", "exec", "time", "!", "{"];

/// Returns the commands of a shell's text, each as its words. It includes the commands in `$(...)`, and leaves out redirections, comments
/// and variables that are set for one command. Only `$(...)` is expanded, to `1`.
#[must_use]
pub fn commands(text: &str) -> Vec<Vec<String>> {
    let rest = text.chars().peekable();
    let mut shell = Shell { rest, found: Vec::new(), words: Vec::new(), word: None, redirected: false };
    shell.read();
    shell.found
}

struct Shell<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    found: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the target of output or the source of input.
    redirected: bool,
}

impl Shell<'_> {
    fn read(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next() {
                    None | Some('\n') => {}
                    Some(c) => self.push(c),
                },
                '\'' => {
                    self.word.get_or_insert_default();
                    while let Some(c) = self.rest.next().filter(|c| *c != '\'') {
                        self.push(c);
                    }
                }
                '"' => self.quoted(),
                '$' if self.rest.peek() == Some(&'(') => self.substituted(),
                '#' if self.word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                ' ' | '\t' => self.end_word(),
                '\n' | ';' | '|' | '&' | '(' | ')' => self.end_command(),
                '>' | '<' => {
                    // The number of a file is not a word.
                    if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
                        self.word = None;
                    }
                    self.end_word();
                    while self.rest.next_if(|c| ['>', '<', '&'].contains(c)).is_some() {}
                    self.redirected = true;
                }
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.next().filter(|c| *c != '"') {
            match c {
                '\\' => {
                    if let Some(c) = self.rest.next() {
                        self.push(c);
                    }
                }
                '$' if self.rest.peek() == Some(&'(') => self.substituted(),
                c => self.push(c),
            }
        }
    }

    fn substituted(&mut self) {
        let mut depth = 0_usize;
        let mut inner = String::new();
        for c in self.rest.by_ref() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            inner.push(c);
        }
        self.found.extend(commands(inner.strip_prefix('(').unwrap_or(&inner)));
        self.push('1');
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.redirected)
        {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = false;
        let sets = |word: &str| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let words = std::mem::take(&mut self.words);
        let begin = words.iter().position(|word| !sets(word) && !BEFORE_COMMANDS.contains(&word.as_str()));
        self.found.extend(begin.map(|begin| words[begin..].to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_of_their_block_or_of_their_section() {
        let page = "# A\n\n<!-- run by a.rs -->\n\n```sh\n1\n```\n\n## B\n\n<!-- not run: b.rs::c does it -->\n   ```sh\n   2\n     3\n   ```\n\
            ```sh\n4\n```\n## C\n<!-- part of c.rs -->\n\n### D\n```sh\n5\n```\n# E\n```sh\n6\n```\n";
        let blocks = blocks(page).expect("it is right");
        let marks: Vec<(&str, Option<Mark>)> =
            blocks.iter().map(|block| (block.text.as_str(), block.mark.clone())).collect();
        let run_by = || Some(Mark::RunBy("a.rs".into()));
        assert_eq!(
            marks,
            [
                ("1", run_by()),
                ("2\n  3", Some(Mark::NotRun("b.rs::c does it".into()))),
                ("4", run_by()),
                ("5", Some(Mark::PartOf("c.rs".into()))),
                ("6", None),
            ]
        );
        assert_eq!(marks[1].1.as_ref().expect("a mark").named(), [("b.rs", Some("c"))]);
        assert_eq!((blocks[0].line, blocks[2].line), (5, 16));
    }

    #[test]
    fn hidden_commands_are_blocks() {
        let blocks = blocks("a\n<!-- before:\necho 1\n-->\n").expect("it is right");
        assert_eq!((blocks[0].language.as_str(), blocks[0].text.as_str()), ("sh", "echo 1"));
    }

    #[test]
    fn what_does_not_end_and_a_mark_of_nothing_are_named_by_their_lines() {
        for (page, said) in [
            ("a\n```sh\n", "line 2: the block"),
            ("<!-- run by\n", "line 1: the comment"),
            ("a\n<!-- run by a.rs -->\n\n```sh\n```\n", "line 3"),
            ("# A\n<!-- run by a.rs -->\nb\n", "line 3"),
        ] {
            let error = blocks(page).expect_err(page);
            assert!(format!("{error:#}").contains(said), "{page}: {error:#}");
        }
    }

    #[test]
    fn commands_are_read_as_a_shell_reads_them() {
        for (text, words) in [
            ("a b  'c d' \"e f\" g\\ h", &[&["a", "b", "c d", "e f", "g h"][..]][..]),
            ("a | b && c; d\ne", &[&["a"], &["b"], &["c"], &["d"], &["e"]]),
            ("a \\\n  b   # c", &[&["a", "b"]]),
            ("A=1 b > c 2>&1 < d e", &[&["b", "e"]]),
            ("while a \"x-$(b -u +%F)\"; do c; done", &[&["b", "-u", "+%F"], &["a", "x-1"], &["c"], &["done"]]),
            ("a -l 'x in (y,z)' '' b#c", &[&["a", "-l", "x in (y,z)", "", "b#c"]]),
        ] {
            assert_eq!(commands(text), words, "{text}");
        }
    }
}
