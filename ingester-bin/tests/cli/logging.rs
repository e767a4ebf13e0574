//! What the program logs.

use crate::program::{Folder, finish, model};

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
