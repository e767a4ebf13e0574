//! The log of the program.

use crate::program::{Folder, finish, model};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

#[test]
fn an_unknown_log_level_exits_with_2_and_lists_the_levels() {
    for level in ["inof", "ingester=loud", "a=b=c"] {
        let folder = Folder::new();
        let ran = finish(folder.command(&["kinds"]).env("RUST_LOG", level)).exits(2);
        assert_eq!(ran.out, "");
        ran.says(&["error: RUST_LOG of the environment is", level, "use off, error, warn, info, debug or trace"]);
    }
}

#[test]
fn logging_is_off_by_default_and_has_no_colours_in_a_pipe() {
    let folder = Folder::new();
    folder.write("model.yaml", model("fraud", &[], &["description: Unspeakable"]));
    let import = ["import", "--database-url", "sqlite://test.db", "model.yaml"];
    let quiet = finish(folder.command(&import).env("RUST_LOG", "")).exits(0);
    assert!(!quiet.err.contains("sqlx::query"), "{}", quiet.err);
    std::fs::remove_file(folder.path().join("test.db")).unwrap();
    let talkative = finish(folder.command(&import).env("RUST_LOG", "trace")).exits(0);
    let lines = talkative.says(&["DEBUG", "sqlx::query", "INSERT INTO"]);
    assert!(!lines.err.contains('\u{1b}'), "{}", lines.err);
    assert!(!lines.err.contains("Unspeakable"), "statements are logged without their values: {}", lines.err);
    assert_eq!(lines.out, quiet.out, "data is data, whatever is logged");
}

/// The log of `run` until it has tried twice to reach this API server.
fn logged(server: &str, level: &str) -> String {
    let folder = Folder::new();
    folder.write(
        "c.yaml",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\nserver: {address: ''}\n",
    );
    folder.write(
        "k",
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n\
             users: [{{name: u, user: {{token: TOPSECRET}}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n"
        ),
    );
    let mut command = folder.command(&["run", "--config", "c.yaml", "--kubeconfig", "k"]);
    command.env("RUST_LOG", level);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        lines.push(line.unwrap());
        if lines.iter().filter(|line| line.contains("trying again")).count() == 2 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines.join("\n")
}

#[test]
fn an_api_server_that_is_not_there_is_named_by_us_alone() {
    let text = logged("https://127.0.0.1:1", "");
    let said = "the API server https://127.0.0.1:1 cannot be reached: Connection refused (os error 111) (is it running";
    assert_eq!(text.matches(said).count(), 2, "{text}");
    assert!(!text.contains("kube_client") && !text.contains("TOPSECRET"), "{text}");
}

#[test]
fn secrets_in_the_address_of_an_api_server_are_not_logged() {
    let text = logged("https://u:TOPSECRET@127.0.0.1:1/?token=TOPSECRET", "trace");
    assert_eq!(text.matches("the API server https://127.0.0.1:1 cannot be reached").count(), 2, "{text}");
    // Libraries log where they connect to.
    assert!(text.contains("TRACE") && text.contains("hyper_util"), "{text}");
    assert!(!text.contains("TOPSECRET"), "{text}");
}
