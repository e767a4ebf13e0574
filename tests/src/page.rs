//! Runs the commands of a page as a reader does: block by block, in the page's order, in one folder.
//!
//! | block | treatment |
//! |---|---|
//! | `sh` | bash runs it, and it must succeed; `ingester run` continues until the page ends |
//! | `sql` | runs on `ingester.db`, the default database; its rows are printed as `sqlite3` prints them |
//! | `text` | the exact standard output of the block before it, except that a long line may end in `...`; while `ingester run` works, the block is repeated until it prints this |
//! | `yaml`, `rust`, `toml` | a file; the comment in its first line is its name. A file that exists must have the same text, or, with `, in part` after the name, contain these lines |
//!
//! A block of another language, or an output without a command before it, is an error, because it would not be checked.

use crate::book::{Block, blocks};
use crate::process::{Home, Process, wait_until};
use anyhow::{Context as _, Result, bail, ensure};
use sqlx::{
    AssertSqlSafe, Connection as _, Row as _, SqliteConnection, sqlite::SqliteConnectOptions, sqlite::SqliteRow,
};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The time that a mirror has until its rows are as on the page.
const DEADLINE: Duration = Duration::from_secs(120);

/// Variables that would name another database or cluster than the page does.
const REMOVED: [&str; 11] = [
    "RUST_LOG",
    "DATABASE_URL",
    "DATABASE_PASSWORD_FILE",
    "INGESTER_KINDS",
    "KUBERNETES_SERVICE_HOST",
    "MYSQL_HOST",
    "MYSQL_PORT",
    "MYSQL_USER",
    "MYSQL_PASSWORD",
    "MYSQL_PASSWORD_FILE",
    "MYSQL_DB_NAME",
];

/// The folder in which a page's commands run, and the programs that they find.
#[derive(Debug)]
pub struct Page {
    home: Arc<Home>,
    environment: Vec<(String, OsString)>,
    running: Option<Process>,
}

impl Page {
    /// Creates an empty folder. In addition to the system's programs, commands find `ingester`, which is `program`.
    ///
    /// # Errors
    /// When folders and links cannot be made.
    pub fn new(program: &Path) -> Result<Self> {
        let home = Home::new("page")?;
        fs::create_dir(home.path().join("bin"))?;
        fs::create_dir(home.path().join("folder"))?;
        let page = Self { home, environment: Vec::new(), running: None };
        page.program("ingester", program)?;
        Ok(page)
    }

    /// The folder in which the commands run.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.home.path().join("folder")
    }

    /// Lets commands find this program under this name.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn program(&self, name: &str, program: &Path) -> Result<()> {
        symlink(program, self.home.path().join("bin").join(name)).with_context(|| format!("linking {name}"))
    }

    /// Makes `cargo run -- ARGUMENTS` run this program, which cargo has built from the crate that the page is about. Other commands of
    /// cargo fail.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cargo_run(&self, program: &Path) -> Result<()> {
        let script = format!(
            "#!/bin/sh\nif [ \"$1 $2\" != 'run --' ]; then echo \"this cargo runs nothing else: $*\" >&2; exit 2; fi\n\
             shift 2\nexec '{}' \"$@\"\n",
            program.display()
        );
        let cargo = self.home.path().join("bin/cargo");
        fs::write(&cargo, script)?;
        Ok(fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755))?)
    }

    /// Sets a variable for the commands.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Copies the files of a folder, except build output.
    ///
    /// # Errors
    /// When files cannot be read or written.
    pub fn copy(&self, from: &Path) -> Result<()> {
        self.copy_as(from, "")
    }

    /// Does the same as [`Page::copy`], into a folder with this name.
    ///
    /// # Errors
    /// As [`Page::copy`].
    pub fn copy_as(&self, from: &Path, name: &str) -> Result<()> {
        copy(from, &self.folder().join(name))
    }

    /// Runs the blocks of a text, whatever their marks say, and returns how many outputs it has compared.
    ///
    /// # Errors
    /// When a command fails, an output differs, or a block cannot be checked; the message has the line of the block.
    pub fn walk(&mut self, text: &str) -> Result<usize> {
        self.run_all(&blocks(text)?)
    }

    /// Does the same as [`Page::walk`], for some of the blocks of a page.
    ///
    /// # Errors
    /// As [`Page::walk`].
    pub fn run_all(&mut self, blocks: &[Block]) -> Result<usize> {
        let mut last = None;
        let mut compared = 0;
        for (place, block) in blocks.iter().enumerate() {
            let at = || format!("line {}:\n{}", block.line, block.text);
            match block.language.as_str() {
                "sh" if block.text.starts_with("ingester run ") => self.start(&block.text).with_context(at)?,
                "sh" | "sql" => {
                    // A mirror may need time, so its output is requested again until it is as expected.
                    let waits =
                        self.running.is_some() && blocks.get(place + 1).is_some_and(|next| next.language == "text");
                    let out = if waits { String::new() } else { self.run(block).with_context(at)? };
                    last = Some((out, block));
                }
                "text" => {
                    let (out, shown) = last.take().with_context(|| format!("{}: no command before it", at()))?;
                    self.compare(out, shown, &block.text).with_context(at)?;
                    compared += 1;
                }
                "yaml" | "rust" | "toml" => self.file(&block.text).with_context(at)?,
                other => bail!("{}: a block of `{other}` is not checked", at()),
            }
        }
        Ok(compared)
    }

    /// Returns the output of a block.
    fn run(&self, block: &Block) -> Result<String> {
        if block.language == "sql" {
            return query(&self.folder().join("ingester.db"), &block.text);
        }
        let output = self.bash(&block.text)?.current_dir(self.folder()).output().context("starting bash")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}\n{}{said}", output.status, String::from_utf8_lossy(&output.stdout));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts a command that does not end by itself.
    fn start(&mut self, line: &str) -> Result<()> {
        let line = format!("cd folder && exec {line}");
        let process = Process::new(&self.home, "run", self.bash(&line)?);
        process.spawn()?;
        self.running = Some(process);
        Ok(())
    }

    fn compare(&self, mut out: String, shown: &Block, wanted: &str) -> Result<()> {
        let same = |out: &str| {
            let lines = |text: &str| text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
            let out = lines(out);
            let wanted = lines(wanted);
            // A line that is too long for the page ends in `...` there.
            let is_line = |(out, wanted): (&String, &String)| match wanted.strip_suffix("...") {
                Some(begin) => out.starts_with(begin),
                None => out == wanted,
            };
            out.len() == wanted.len() && out.iter().zip(&wanted).all(is_line)
        };
        if let Some(process) = &self.running {
            let waited = wait_until("what the page shows", DEADLINE, || {
                ensure!(process.id().is_some(), "`ingester run` has ended: {}", process.last_words());
                // Before the first list, there may be no table yet.
                out = self.run(shown).unwrap_or_else(|error| format!("{error:#}"));
                Ok(same(&out))
            });
            return waited.with_context(|| format!("it printed\n{out}"));
        }
        ensure!(same(&out), "it printed\n{out}");
        Ok(())
    }

    fn file(&self, text: &str) -> Result<()> {
        let (first, rest) = text.split_once('\n').context("a file with one line")?;
        let comment = first.trim_start_matches(['#', '/', ' ']);
        let (name, in_part) = comment.strip_suffix(", in part").map_or((comment, false), |name| (name, true));
        ensure!(first != comment && !name.contains(' '), "its first line must be a comment with the name of the file");
        let path = self.folder().join(name);
        if in_part || path.exists() {
            let there = fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
            let same = if in_part { there.contains(rest) } else { there.trim_end() == rest };
            ensure!(same, "{name} is\n{there}");
            return Ok(());
        }
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        Ok(fs::write(path, format!("{rest}\n"))?)
    }

    fn bash(&self, text: &str) -> Result<Command> {
        let mut path = vec![self.home.path().join("bin")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", text]).stdin(Stdio::null());
        for name in REMOVED {
            command.env_remove(name);
        }
        command
            .env("PATH", std::env::join_paths(path)?)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

/// The part of a page below one of its headings, as `## Look`, up to the next one of the same level.
///
/// # Errors
/// When the page has no such heading.
pub fn section<'a>(page: &'a str, heading: &str) -> Result<&'a str> {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).with_context(|| format!("no heading `{heading}`"))?;
    let level = heading.split(' ').next().unwrap_or_default();
    Ok(rest.split_once(&format!("\n{level} ")).map_or(rest, |(section, _)| section))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        match path.is_dir() {
            true if name != "target" => copy(&path, &to.join(name))?,
            true => {}
            false => drop(fs::copy(&path, to.join(name))?),
        }
    }
    Ok(())
}

/// The rows of a query, as `sqlite3` prints them.
fn query(file: &Path, sql: &str) -> Result<String> {
    let cell = |row: &SqliteRow, place: usize| -> Result<String> {
        Ok(row.try_get_unchecked::<Option<String>, _>(place)?.unwrap_or_default())
    };
    let query = async {
        let mut connection = SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(file)).await?;
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await?;
        connection.close().await?;
        let line = |row: &SqliteRow| (0..row.len()).map(|place| cell(row, place)).collect::<Result<Vec<_>>>();
        rows.iter().map(|row| Ok(line(row)?.join("|") + "\n")).collect()
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(query)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        // No command of these pages is the ingester.
        Page::new(Path::new("/bin/false")).expect("a page")
    }

    #[test]
    fn what_a_page_shows_is_run_in_its_order() {
        let text = "# One\n\n```sh\necho 1 > a; cat a\n```\nprints\n```text\n1\n```\n```yaml\n# b/c.yaml\nd: 1\n```\n\
            ```sh\ncat b/c.yaml\n```\n```text\nd: 1\n```\n```yaml\n# b/c.yaml, in part\nd:\n```\n";
        assert_eq!(page().walk(text).expect("it is right"), 2);
    }

    #[test]
    fn a_page_that_is_wrong_is_named_by_its_line() {
        for (text, said) in [
            ("\n```sh\necho 1\n```\n```text\n2\n```\n", "line 5"),
            ("```sh\nfalse\n```\n", "line 1"),
            ("```sh\nfalse | cat\n```\n", "line 1"),
            ("```text\n1\n```\n", "no command before it"),
            ("```console\n1\n```\n", "is not checked"),
            ("```yaml\na: 1\nb: 2\n```\n", "the name of the file"),
            ("```yaml\n# a.yaml, in part\nb: 2\n```\n", "reading a.yaml"),
            ("```sh\nprintf 'b: 1\\nc: 2' > a.yaml\n```\n```yaml\n# a.yaml, in part\nc: 3\n```\n", "a.yaml is"),
            ("```sh\necho 'b: 1' > a.yaml\n```\n```yaml\n# a.yaml\nb: 2\n```\n", "a.yaml is"),
            ("```sh\n", "does not end"),
        ] {
            let error = page().walk(text).expect_err(text);
            assert!(format!("{error:#}").contains(said), "{text}: {error:#}");
        }
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let page = "# A\n## B\nb\n### C\nc\n## D\nd\n";
        assert_eq!(section(page, "## B").expect("it is there"), "b\n### C\nc");
        assert_eq!(section(page, "## D").expect("it is there"), "d\n");
        assert!(section(page, "## C").is_err());
    }
}
