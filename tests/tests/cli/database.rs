//! Which database a command uses, and the messages when it cannot.

use crate::program::{Folder, RunOutput, SAMPLES, finish, model, query};
use std::process::Command;

/// A password that no message may contain.
const PASSWORD: &str = "hunter2";

#[test]
fn the_default_database_is_a_file_in_the_current_folder() {
    let folder = Folder::new();
    folder.run(&["import", SAMPLES]).exits(0).says(&["sqlite://ingester.db"]);
    assert_eq!(query(&folder.path().join("ingester.db"), "SELECT COUNT(*) FROM project"), ["1"]);
}

#[test]
fn the_database_is_taken_from_argument_then_url_then_mysql_variables() {
    let folder = Folder::new();
    let import = |arguments: &[&str], variables: &[(&str, &str)]| {
        let arguments = [&["import"], arguments, &[SAMPLES]].concat();
        finish(folder.command(&arguments).envs(variables.iter().copied()))
    };
    let url = ("DATABASE_URL", "sqlite://url.db");
    let host = ("MYSQL_HOST", "127.0.0.1");
    let name = ("MYSQL_DB_NAME", "d");
    import(&["--database-url", "sqlite://argument.db"], &[url, host, name]).exits(0);
    import(&[], &[url, host, name]).exits(0);
    assert!(folder.path().join("argument.db").exists() && folder.path().join("url.db").exists());
    import(&[], &[host, name, ("MYSQL_PORT", "1")]).exits(2).says(&["mysql://root@127.0.0.1:1/d"]);
    import(&[], &[("MYSQL_HOST", "::1"), name, ("MYSQL_PORT", "1")]).exits(2).says(&["mysql://root@[::1]:1/d"]);
    // An empty variable counts as unset.
    import(&[], &[("DATABASE_URL", ""), ("MYSQL_HOST", ""), ("MYSQL_DB_NAME", "")])
        .exits(0)
        .says(&["sqlite://ingester.db"]);

    import(&[], &[host]).exits(2).says(&["MYSQL_HOST is set and MYSQL_DB_NAME is not"]);
    import(&[], &[name]).exits(2).says(&["MYSQL_DB_NAME is set and MYSQL_HOST is not"]);
    import(&[], &[host, name, ("MYSQL_PORT", "99999")]).exits(2).says(&["MYSQL_PORT", "99999", "1 to 65535"]);
}

#[test]
fn wrong_usage_exits_with_2_and_touches_no_database() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    folder.run(&[]).exits(2).says(&["Usage: ingester", "import", "schema", "crds", "kinds"]);
    folder.run(&["import"]).exits(2).says(&["<PATH>"]);
    folder.run(&["imprt"]).exits(2).says(&["imprt", "import"]);
    folder.run(&["import", "--databse-url", "x", "y"]).exits(2).says(&["--databse-url", "--database-url"]);
    folder.run(&["import", "--show=few", "x"]).exits(2).says(&["--show", "few"]);
    folder.run(&["import", "-o", "xml", "x"]).exits(2).says(&["xml", "table", "json", "yaml"]);
    folder.run(&["import", "nowhere.yaml"]).exits(2).says(&["cannot read nowhere.yaml", "No such file"]);
    folder.run(&["import", "empty"]).exits(2).says(&["no .yaml, .yml, .json, .jsonl or .ndjson file in empty"]);
    // None of them created a database.
    assert!(!folder.path().join("ingester.db").exists());
}

#[test]
fn an_invalid_database_url_is_reported_with_an_example() {
    let folder = Folder::new();
    let import = |url: &str| folder.run(&["import", "--database-url", url, SAMPLES]).exits(2);
    let example = "mysql://user:password@host:3306/database or sqlite://file.db";
    import("").says(&["no scheme", example]);
    import("test.db").says(&["no scheme", example]);
    import("oracle://u:p@h/d").says(&["`oracle` is not a database that the ingester knows", example]);
    import("postgres://u@h").says(&["names no database", "postgres://user:password@host:5432/database"]);
    import("postgres://u@h/d?sslmod=require").says(&["`sslmod` is not known: did you mean `sslmode`?"]);
    import("mysql://u@h").says(&["names no database", example]);
    import("mysql://u@h:port/d").says(&["port", example]);
    import("sqlite://a.db?colour=red").says(&["colour", example]);
    import("sqlite://").says(&["names no file", "sqlite://FILE"]);
    import("sqlite:?mode=rwc").says(&["names no file", "sqlite://FILE"]);
}

#[test]
fn an_unusable_database_file_is_reported_with_the_reason() {
    let folder = Folder::new();
    folder.write("text.db", "this is a text that is longer than the header of a database, which has a hundred bytes, so that it is looked at");
    let import = |url: &str| folder.run(&["import", "--database-url", url, SAMPLES]).exits(2);
    import("sqlite://no/such/folder/x.db").says(&["sqlite://no/such/folder/x.db", "does its folder exist"]);
    import("sqlite://.").says(&[". is a folder", "name a file in it"]);
    import("sqlite://text.db").says(&["not an intact SQLite database"]);
    assert!(std::fs::read_to_string(folder.path().join("text.db")).unwrap().starts_with("this is a text"));
}

#[test]
fn a_read_only_database_exits_with_2() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    folder.write("more.yaml", model("more", &[], &[]));
    let read_only = |url: &str| {
        let ran = folder.run(&["import", "--database-url", url, "more.yaml"]).exits(2);
        ran.says(&["read-only", "allow writing, or name another file"]);
    };
    // With tables, and without.
    read_only("sqlite://test.db?mode=ro");
    folder.write("empty.db", "");
    read_only("sqlite://empty.db?mode=ro");
    assert_eq!(folder.query("SELECT COUNT(*) FROM model"), ["1"]);
}

#[test]
fn a_file_on_a_read_only_file_system_is_read_and_not_written() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    std::fs::create_dir(folder.path().join("mounted")).unwrap();
    for name in ["test.db", "log.db"] {
        std::fs::copy(folder.path().join("test.db"), folder.path().join("mounted").join(name)).unwrap();
    }
    folder.write("mounted/log.db-wal", "changes");
    folder.write("more.yaml", model("more", &[], &[]));
    let mounted = |arguments: &str| {
        let program = env!("CARGO_BIN_EXE_ingester");
        let script =
            format!("mount --bind mounted mounted && mount -o remount,bind,ro mounted && exec {program} {arguments}");
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
        finish(command.current_dir(folder.path()).env_remove("INGESTER_KINDS"))
    };
    let is_allowed = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).status();
    if !is_allowed.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user may not mount");
        return;
    }
    let listed = mounted("get models --database-url sqlite://mounted/test.db -o name").exits(0);
    assert_eq!(listed.out.lines().count(), 1, "{}", listed.out);
    mounted("import --database-url sqlite://mounted/test.db more.yaml").exits(2).says(&["read-only", "allow writing"]);
    mounted("get models --database-url sqlite://mounted/log.db")
        .exits(2)
        .says(&["read-only file system, and mounted/log.db-wal has changes", "copy both files"]);
}

#[test]
fn a_database_file_without_write_permission_exits_with_2() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    let file = folder.path().join("test.db");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    if std::fs::OpenOptions::new().write(true).open(&file).is_ok() {
        eprintln!("skipped: this user may write every file");
        return;
    }
    folder.import(&[SAMPLES]).exits(2).says(&["read-only"]);
}

#[test]
fn an_unreachable_server_is_reported_with_what_to_check() {
    let folder = Folder::new();
    // Nothing listens on port 1.
    let ran = folder.run(&["import", "--database-url", "mysql://u@127.0.0.1:1/d", SAMPLES]).exits(2);
    ran.says(&["mysql://u@127.0.0.1:1/d", "Connection refused", "is the server running"]);
}

#[test]
fn no_message_contains_a_password() {
    let folder = Folder::new();
    let at = |rest: &str| format!("mysql://user:{PASSWORD}@{rest}");
    let urls = [
        at("127.0.0.1:1/d"),
        at("127.0.0.1:1/d?ssl-mode=strange"),
        at("127.0.0.1:port/d"),
        at("127.0.0.1"),
        at("@127.0.0.1:1/d"),
        at("/127.0.0.1:1/d"),
        format!("oracle://user:{PASSWORD}@h/d"),
        format!("postgres://user:{PASSWORD}@127.0.0.1:1/d"),
        format!("postgres://127.0.0.1:1/d?user=user&password={PASSWORD}"),
        format!("user:{PASSWORD}@127.0.0.1/d"),
        format!("mysql://127.0.0.1:1/d?user=user&password={PASSWORD}"),
    ];
    let parts = [("MYSQL_HOST", "127.0.0.1"), ("MYSQL_PORT", "1"), ("MYSQL_DB_NAME", "d"), ("MYSQL_USER", "u")];
    let mut commands: Vec<Command> = Vec::new();
    for url in &urls {
        commands.push(folder.command(&["import", "--database-url", url, SAMPLES]));
        let mut by_variable = folder.command(&["import", SAMPLES]);
        by_variable.env("DATABASE_URL", url);
        commands.push(by_variable);
    }
    let mut by_parts = folder.command(&["import", SAMPLES]);
    by_parts.envs(parts).env("MYSQL_PASSWORD", PASSWORD);
    commands.push(by_parts);
    // In parallel: each command without a server retries for a while.
    let all: Vec<RunOutput> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            commands.iter_mut().map(|command| scope.spawn(|| finish(command.env("RUST_LOG", "trace")))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(all.iter().any(|ran| ran.err.contains("mysql://u:***@127.0.0.1:1/d")));
    for ran in all {
        let ran = ran.exits(2);
        assert!(!ran.out.contains(PASSWORD) && !ran.err.contains(PASSWORD), "{}", ran.err);
    }
}

#[test]
fn help_never_shows_values_of_the_environment() {
    let folder = Folder::new();
    for arguments in [["import", "--help"], ["import", "-h"], ["help", "import"]] {
        let mut command = folder.command(&arguments);
        command.env("DATABASE_URL", format!("mysql://u:{PASSWORD}@h/d")).env("MYSQL_PASSWORD", PASSWORD);
        let ran = finish(&mut command).exits(0);
        assert!(ran.out.contains("--database-url") && ran.out.contains("DATABASE_URL"), "{}", ran.out);
        assert!(!ran.out.contains(PASSWORD), "{}", ran.out);
    }
}
