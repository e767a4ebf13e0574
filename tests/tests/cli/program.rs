//! Runs the program in its own folder, and reads the results there.

use sqlx::{Connection as _, Row as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The samples of `crd-specs`, one object of each kind.
pub(crate) const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples");

/// The database of [`Folder::import`].
const DATABASE: &str = "test.db";

/// A temporary folder in which the program runs.
pub(crate) struct Folder(tempfile::TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl RunOutput {
    pub(crate) fn from_output(output: std::process::Output) -> Self {
        RunOutput {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text on standard output"),
            err: String::from_utf8(output.stderr).expect("text on standard error"),
        }
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }

    /// Checks that standard error contains all these parts.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not in: {}", self.err);
        }
        self
    }

    /// The lines of standard error that name a rejected document.
    pub(crate) fn rejected(&self) -> Vec<&str> {
        self.err.lines().filter_map(|line| line.strip_prefix("rejected: ")).collect()
    }

    /// The counts of a kind: read, written, unchanged, stale, left out, rejected.
    #[track_caller]
    pub(crate) fn counts(&self, kind: &str) -> [u64; 6] {
        let line = self.out.lines().find(|line| line.split_whitespace().next() == Some(kind));
        let line = line.unwrap_or_else(|| panic!("no line for {kind} in: {}", self.out));
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().expect("six counts")
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, and creates its parent folders.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The program in this folder, without the database variables of the caller's environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ingester"));
        for variable in [
            "DATABASE_URL",
            "DATABASE_PASSWORD_FILE",
            "MYSQL_HOST",
            "MYSQL_PORT",
            "MYSQL_USER",
            "MYSQL_PASSWORD",
            "MYSQL_PASSWORD_FILE",
            "MYSQL_DB_NAME",
            "RUST_LOG",
            "INGESTER_KINDS",
        ] {
            command.env_remove(variable);
        }
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        finish(&mut self.command(arguments))
    }

    /// Imports into [`DATABASE`].
    pub(crate) fn import(&self, arguments: &[&str]) -> RunOutput {
        self.run(&[&["import", "--database-url", "sqlite://test.db"], arguments].concat())
    }

    /// Imports `input` from standard input into [`DATABASE`].
    pub(crate) fn import_input(&self, input: &str) -> RunOutput {
        let mut command = self.command(&["import", "--database-url", "sqlite://test.db", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        RunOutput::from_output(child.wait_with_output().unwrap())
    }

    /// The rows of a query on [`DATABASE`], cells joined by `|`.
    pub(crate) fn query(&self, sql: &str) -> Vec<String> {
        query(&self.path().join(DATABASE), sql)
    }
}

pub(crate) fn finish(command: &mut Command) -> RunOutput {
    RunOutput::from_output(command.output().unwrap())
}

/// The rows of a query on an SQLite file, cells joined by `|`.
pub(crate) fn query(file: &Path, sql: &str) -> Vec<String> {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let cell = |row: &sqlx::sqlite::SqliteRow, place| {
            row.try_get_unchecked::<Option<String>, _>(place).unwrap().unwrap_or_else(|| "NULL".into())
        };
        rows.iter().map(|row| (0..row.len()).map(|place| cell(row, place)).collect::<Vec<_>>().join("|")).collect()
    })
}

/// A model as YAML, with further lines for its metadata and spec.
pub(crate) fn model(name: &str, metadata: &[&str], spec: &[&str]) -> String {
    let lines = |lines: &[&str]| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    format!(
        "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata:\n  namespace: ml\n  name: {name}\n{}spec:\n  algorithm: xgboost\n{}",
        lines(metadata),
        lines(spec)
    )
}

/// A model as a line of JSON.
pub(crate) fn model_json(metadata: serde_json::Value, spec: serde_json::Value) -> String {
    let model =
        serde_json::json!({ "apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": metadata, "spec": spec });
    model.to_string() + "\n"
}
