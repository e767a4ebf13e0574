//! Files that people name: pipes are read, links are followed, and what is no file is refused.

use crate::program::{Folder, RunOutput, finish};
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

const KINDS: &str = "builtIn: false\nkinds:\n- {group: a.b, version: v1, kind: T, namespaced: true}\n";
const OBJECT: &str = r#"{"apiVersion":"a.b/v1","kind":"T","metadata":{"name":"x","namespace":"n"}}"#;

/// Runs a text of bash, in which `$0` is the program.
fn bash(folder: &Folder, text: &str) -> RunOutput {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(["-c", text, env!("CARGO_BIN_EXE_ingester")]).env_clear().env("PATH", path);
    finish(command.current_dir(folder.path()))
}

#[test]
fn a_configuration_and_its_kinds_come_from_pipes() {
    let folder = Folder::new();
    folder.write("kinds.yaml", KINDS);
    folder.write("object.json", OBJECT);
    let config = "metadataStorage: {enableMetadataStorage: true, databaseURL: \"sqlite://piped.db\"}\\n\
                  ingester: {kindsFile: kinds.yaml}\\n";
    bash(&folder, &format!("\"$0\" import --config <(printf '{config}') <(cat object.json)")).exits(0);
    // The files that it names are in the current folder, and standard input is a file like others.
    for text in [
        format!("\"$0\" get ts --config <(printf '{config}') -o name"),
        format!("printf '{config}' | \"$0\" get ts --config /dev/stdin -o name"),
        "cat kinds.yaml | \"$0\" get ts --kinds /dev/stdin --database-url sqlite://piped.db -o name".to_owned(),
        "\"$0\" get ts --kinds /dev/fd/0 --database-url sqlite://piped.db -o name < kinds.yaml".to_owned(),
    ] {
        assert_eq!(bash(&folder, &text).exits(0).out, "t.a.b/x\n", "{text}");
    }
}

#[test]
fn what_is_no_file_is_refused_wherever_a_file_is_named() {
    let folder = Folder::new();
    let _listener = UnixListener::bind(folder.path().join("socket")).unwrap();
    symlink("socket", folder.path().join("link")).unwrap();
    for arguments in [
        &["kinds", "--kinds", "socket"][..],
        &["get", "models", "--config", "link"],
        &["scaffold", "link"],
        &["kubeconfig", "--server", "https://h", "--from", "socket"],
        &["kubeconfig", "--server", "https://h", "--certificate-authority", "socket"],
        &["scaffold", "--from-cluster", "ts.a.b", "--kubeconfig", "link"],
        &["manifests", "--out", "base", "--config", "socket"],
    ] {
        folder.run(arguments).exits(2).says(&["it is a device, not a file"]);
    }
    let mut command = folder.command(&["kubeconfig", "--server", "https://h", "--from"]);
    finish(command.env("KUBECONFIG", folder.path().join("socket"))).exits(2).says(&["it is a device, not a file"]);
}

#[test]
fn written_files_replace_regular_files_only() {
    let folder = Folder::new();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("crds/kept")).unwrap();
    std::fs::create_dir_all(at("elsewhere")).unwrap();
    let name = "models.michelangelo.api.yaml";
    symlink(Path::new("kept").join(name), at("crds").join(name)).unwrap();
    folder.run(&["crds", "models", "--out", "crds"]).exits(0);
    assert!(at("crds").join(name).is_symlink());
    let kept = std::fs::read_to_string(at("crds/kept").join(name)).unwrap();
    assert!(kept.contains("kind: CustomResourceDefinition"), "{kept}");
    std::fs::remove_file(at("crds").join(name)).unwrap();
    symlink(Path::new("../elsewhere").join(name), at("crds").join(name)).unwrap();
    folder
        .run(&["crds", "models", "--out", "crds"])
        .exits(1)
        .says(&["it is outside of the folder that the command writes"]);
    assert!(!at("elsewhere").join(name).exists());
    std::fs::remove_file(at("crds").join(name)).unwrap();
    assert!(Command::new("mkfifo").arg(at("crds").join(name)).status().unwrap().success());
    folder
        .run(&["crds", "models", "--out", "crds"])
        .exits(1)
        .says(&["it is a pipe, and only a regular file is written"]);
    assert!(at("crds").join(name).symlink_metadata().unwrap().file_type().is_fifo());
}
