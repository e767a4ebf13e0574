//! The limits of the shell, and files without an end: the program says what it lacks, and ends.

use crate::program::{Folder, RunOutput, SAMPLES, finish};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

impl Folder {
    /// Runs the program within a limit of the shell.
    fn run_within(&self, limit: &str, arguments: &[&str]) -> RunOutput {
        let program = self.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]).arg(program.get_program());
        shell.args(program.get_args()).current_dir(self.path()).stdin(Stdio::null());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        finish(&mut shell)
    }
}

#[test]
fn a_small_stack_is_enough() {
    let folder = Folder::new();
    folder.run_within("-s 128", &["kinds"]).exits(0);
    folder.run_within("-s 128", &["import", "--database-url", "sqlite://test.db", SAMPLES]).exits(0);
}

#[test]
fn too_few_files_are_an_error_with_its_remedy() {
    let folder = Folder::new();
    let says = ["error: ", "Too many open files", "raise `ulimit -n`"];
    for files in 4..24 {
        let get = folder.run_within(&format!("-n {files}"), &["get", "models", "--database-url", "sqlite://none.db"]);
        let get = get.exits(2);
        assert!(!get.err.contains("panicked"), "{files}: {}", get.err);
        if files < 16 {
            get.says(&says);
        }
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_with_its_remedy() {
    let folder = Folder::new();
    let ran = folder.run_within("-f 10", &["import", "--database-url", "sqlite://test.db", SAMPLES]);
    assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
    ran.says(&["error: ", "`ulimit -f`"]);
}

#[test]
fn a_pipe_without_a_writer_is_waited_for_until_a_signal() {
    let folder = Folder::new();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = folder.command(&["import", "--database-url", "sqlite://test.db", "pipe"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    let waits = |child: &mut std::process::Child| {
        assert!(begin.elapsed() < Duration::from_secs(60), "it still runs");
        std::thread::sleep(Duration::from_millis(20));
        child.try_wait().unwrap().is_none()
    };
    // The tables are there: it listens for signals, and the pipe is next.
    while folder.query("SELECT name FROM sqlite_master WHERE name = 'ingester_rejects'").is_empty() {
        assert!(waits(&mut child), "it did not wait");
    }
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    while waits(&mut child) {}
    let ran = RunOutput::from_output(child.wait_with_output().unwrap());
    ran.exits(128 + 15).says(&["interrupted: "]);
}
