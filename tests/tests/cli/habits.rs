//! What people who know kubectl, sqlx and mysql try first.

use crate::program::{Folder, RunOutput, SAMPLES, finish, model, model_json};
use serde_json::{Value, json};
use sqlx::Connection as _;
use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

const DATABASE: [&str; 2] = ["--database-url", "sqlite://test.db"];

/// Runs a command on the database of [`Folder::import`].
fn on_database(folder: &Folder, arguments: &[&str]) -> RunOutput {
    folder.run(&[arguments, &DATABASE[..]].concat())
}

#[test]
fn filename_reads_a_folder_as_kubectl_does() {
    let folder = Folder::new();
    folder.write("in/a.yaml", model("a", &[], &[]));
    folder.write("in/notes.md", "# no object");
    folder.write("in/deep/b.yaml", model("b", &[], &[]));
    folder.write("c.json", model_json(json!({"name": "c"}), json!({})));
    let names = |arguments: &[&str]| {
        let _ = std::fs::remove_file(folder.path().join("test.db"));
        folder.import(arguments).exits(0);
        folder.query("SELECT name FROM model ORDER BY name")
    };
    assert_eq!(names(&["-f", "in"]), ["a"]);
    assert_eq!(names(&["-f", "in", "-R"]), ["a", "b"]);
    assert_eq!(names(&["--filename", "in,c.json"]), ["a", "c"]);
    assert_eq!(names(&["-f", "in", "-f", "c.json"]), ["a", "c"]);
    // A path without --filename is still read at any depth.
    assert_eq!(names(&["in"]), ["a", "b"]);
    assert_eq!(names(&["-f", "c.json", "in"]), ["a", "b", "c"]);

    std::fs::create_dir_all(folder.path().join("outer/inner")).unwrap();
    folder.write("outer/inner/d.yaml", model("d", &[], &[]));
    folder.import(&["-f", "outer"]).exits(2).says(&["no .yaml, .yml", "in outer", "--recursive"]);
    folder
        .import(&["-f", "https://example.com/model.yaml"])
        .exits(2)
        .says(&["curl https://example.com/model.yaml | ingester import -"]);
    folder.import(&["-f", "nowhere"]).exits(2).says(&["nowhere", "No such file"]);
    folder.import(&[]).exits(2).says(&["<PATH"]);
}

#[test]
fn a_namespace_is_given_to_objects_without_one() {
    let folder = Folder::new();
    let of = |name: &str, metadata: Value| {
        let mut metadata = metadata;
        metadata["name"] = json!(name);
        model_json(metadata, json!({}))
    };
    folder.write(
        "in.ndjson",
        [of("none", json!({})), of("empty", json!({"namespace": ""})), of("own", json!({"namespace": "ml"}))].concat(),
    );
    folder.import(&["-n", "ml", "in.ndjson"]).exits(0);
    let rows = "SELECT name, namespace, json ->> '$.metadata.namespace' FROM model ORDER BY name";
    assert_eq!(folder.query(rows), ["empty|ml|ml", "none|ml|ml", "own|ml|ml"]);
    // The uid is that of the object with its namespace.
    folder.write("own.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: none, namespace: ml}\n");
    folder.import(&["own.yaml"]).exits(0);
    assert_eq!(folder.query("SELECT COUNT(*) FROM model"), ["3"]);

    // As in kubectl, it does not move an object out of the namespace that it names. The others are stored.
    folder.write("other.yaml", format!("{}---\n{}", model("x", &[], &[]), of("y", json!({}))));
    let ran = folder.import(&["-n", "dev", "other.yaml"]).exits(1);
    assert_eq!(
        ran.rejected(),
        [
            "other.yaml: document 1 (line 1): Model ml/x: its namespace is not `dev`, which --namespace names: import it without --namespace"
        ]
    );
    assert_eq!(folder.query("SELECT name FROM model WHERE namespace = 'dev'"), ["y"]);
    assert_eq!(folder.query("SELECT COUNT(*) FROM ingester_rejects"), ["0"]);

    // A cluster-scoped kind has no namespace, and an invalid name of a namespace is wrong usage.
    folder.import(&["-n", "ml", SAMPLES]).exits(1);
    folder.import(&["-n", "My Team", "in.ndjson"]).exits(2).says(&["My Team", "lower-case letters"]);
}

#[test]
fn a_dry_run_of_an_import_counts_and_writes_nothing() {
    let folder = Folder::new();
    let version = |version: &str| model("a", &[&format!("resourceVersion: '{version}'")], &[]);
    folder.write("a.yaml", version("7"));
    folder.write("b.yaml", model("b", &[], &["revisionId: much"]));
    let dry = |file: &str| folder.import(&["--dry-run", file]);
    // Without a database.
    dry("a.yaml").exits(0).says(&["would make sqlite://test.db", "nothing is written"]);
    assert!(!folder.path().join("test.db").exists());
    // With a database without tables.
    folder.write("test.db", "");
    let ran = dry("a.yaml").exits(0).says(&["would make tables in sqlite://test.db"]);
    assert_eq!(ran.counts("Model"), [1, 1, 0, 0, 0, 0]);
    assert_eq!(folder.query("SELECT COUNT(*) FROM sqlite_master"), ["0"]);

    folder.import(&["a.yaml"]).exits(0);
    assert_eq!(dry("a.yaml").exits(0).counts("Model"), [1, 0, 1, 0, 0, 0]);
    folder.write("newer.yaml", format!("{}---\n{}", version("8"), model("c", &[], &[])));
    assert_eq!(dry("newer.yaml").exits(0).counts("Model"), [2, 2, 0, 0, 0, 0]);
    folder.write("older.yaml", version("6"));
    assert_eq!(dry("older.yaml").exits(0).counts("Model"), [1, 0, 0, 1, 0, 0]);
    let ran = dry("b.yaml").exits(1).says(&["1 would be rejected"]);
    assert_eq!((ran.rejected().len(), ran.counts("Model")), (1, [1, 0, 0, 0, 0, 1]));
    assert_eq!(folder.query("SELECT name, res_version FROM model"), ["a|7"]);
    assert_eq!(folder.query("SELECT COUNT(*) FROM ingester_rejects"), ["0"]);
    folder.import(&["--dry-run", "--show", "a.yaml"]).exits(2).says(&["--dry-run", "--show"]);
}

#[test]
fn an_interrupted_import_says_what_is_stored_and_exits_with_130() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = Folder::new();
        let mut command = folder.command(&[&["import"], &DATABASE[..], &["-"]].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // More than a batch; then standard input stays open, as a terminal's does.
        let objects: String = (0..5000).map(|i| model_json(json!({"name": format!("m{i}")}), json!({}))).collect();
        input.write_all(objects.as_bytes()).unwrap();
        let stored = || folder.path().join("test.db").exists() && count_rows(&folder) >= 4096;
        until(stored);
        let killed = std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{err}");
        for part in
            ["interrupted: ending after the batch", "4096 are stored in sqlite://test.db", "run the same import"]
        {
            assert!(err.contains(part), "`{part}` is not in {err}");
        }
        assert_eq!(count_rows(&folder), 4096);
        drop(input);
    }
}

#[test]
fn a_second_interrupt_ends_an_import_at_once() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    folder.write("a.yaml", model("a", &[], &[]));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // The writer waits for this lock for half a minute.
    let lock = runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("test.db"));
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
        connection
    });
    let interrupt = |child: &std::process::Child| {
        let killed = std::process::Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    };
    // On a busy machine, the import may be interrupted before it has read the object: then it ends by itself.
    let waits = |_| {
        let mut command = folder.command(&[&["import"], &DATABASE[..], &["a.yaml"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        until(|| listens_for_interrupts(child.id()));
        interrupt(&child);
        let mut first = String::new();
        std::io::BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
        assert_eq!(first, "interrupted: ending after the batch that is being written; once more ends at once\n");
        child.try_wait().unwrap().is_none().then_some(child)
    };
    let mut child = (0..20).find_map(waits).expect("an import waits for the lock");
    let begin = Instant::now();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(10));
    runtime.block_on(lock.close()).unwrap();
    assert_eq!(folder.query("SELECT COUNT(*) FROM model WHERE name = 'a'"), ["0"]);
}

#[test]
fn an_interrupted_backfill_exits_with_130_and_the_next_one_goes_on() {
    let folder = Folder::new();
    let objects: String = (0..3000).map(|i| model_json(json!({"name": format!("m{i}")}), json!({}))).collect();
    folder.write("many.ndjson", objects);
    folder.import(&["many.ndjson"]).exits(0);
    let mut command = folder.command(&[&["backfill", "model", "--rate", "10"], &DATABASE[..]].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| listens_for_interrupts(child.id()));
    let killed = std::process::Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("interrupted: the next run continues from here"), "{err}");
    on_database(&folder, &["backfill", "model", "--rate", "0"]).exits(0);
}

/// Whether a process has a handler for SIGINT.
fn listens_for_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
    u64::from_str_radix(caught, 16).unwrap() & 0b10 != 0
}

#[test]
fn progress_is_animated_only_on_a_terminal() {
    let folder = Folder::new();
    let program = folder.command(&["get", "models", "--database-url", "mysql://u@127.0.0.1:1/d"]);
    let words: Vec<_> = std::iter::once(program.get_program()).chain(program.get_args()).collect();
    let line = words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ");
    let moving = |text: &str| text.contains("⠁ connecting to mysql://u@127.0.0.1:1/d");
    let terminal = std::process::Command::new("script").args(["-qec", &line, "/dev/null"]).output();
    let Ok(terminal) = terminal else {
        eprintln!("skipped: there is no `script` to make a terminal");
        return;
    };
    assert!(moving(&String::from_utf8_lossy(&terminal.stdout)), "{terminal:?}");
    let piped = folder.run(&["get", "models", "--database-url", "mysql://u@127.0.0.1:1/d"]).exits(2);
    assert!(piped.err.starts_with("error: connecting to mysql://u@127.0.0.1:1/d"), "{}", piped.err);
}

/// How many models are stored; 0 before the table exists.
fn count_rows(folder: &Folder) -> usize {
    match folder.query("SELECT COUNT(*) FROM sqlite_master WHERE name = 'model'")[0].as_str() {
        "0" => 0,
        _ => folder.query("SELECT COUNT(*) FROM model")[0].parse().unwrap(),
    }
}

/// Waits until something holds.
fn until(holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not come to hold");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_command_takes_the_database_out_of_a_configuration() {
    let folder = Folder::new();
    folder.write(
        "ingester.yaml",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://configured.db'}\n",
    );
    let by_configuration = |arguments: &[&str]| folder.run(&[arguments, &["--config", "ingester.yaml"]].concat());
    by_configuration(&["import", SAMPLES]).exits(0).says(&["made 39 tables in sqlite://configured.db"]);
    for arguments in [
        &["get", "models"] as &[&str],
        &["rejects"],
        &["schema", "info"],
        &["schema", "verify"],
        &["schema", "diff"],
        &["schema", "apply"],
        &["schema", "apply", "--dry-run"],
        &["backfill", "model"],
    ] {
        let ran = by_configuration(arguments).exits(0);
        // The command line names it.
        assert!(!ran.err.contains("database: "), "{arguments:?}: {}", ran.err);
    }
    let both = folder.run(&["import", "--config", "ingester.yaml", "--database-url", "sqlite://x.db", SAMPLES]);
    both.exits(2).says(&["--config", "--database-url"]);
    // The environment overrides the file, and the output says so.
    let mut command = folder.command(&["get", "models", "--config", "ingester.yaml"]);
    let ran = finish(command.env("DATABASE_URL", "sqlite://other.db")).exits(2);
    ran.says(&["database: sqlite://other.db (DATABASE_URL of the environment, which overrides ingester.yaml)"]);
    folder.write("disabled.yaml", "mysql: {host: h, database: d}\n");
    folder.run(&["import", "--config", "disabled.yaml", SAMPLES]).exits(2).says(&["enableMetadataStorage is false"]);
}

#[test]
fn a_command_says_which_database_it_takes_and_why() {
    let folder = Folder::new();
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        finish(folder.command(arguments).envs(variables.iter().copied()))
    };
    let why =
        "database: sqlite://ingester.db (neither --database-url, --config, DATABASE_URL, MYSQL_HOST nor PGHOST is set)";
    run(&["import", SAMPLES], &[]).exits(0).says(&[why]);
    for arguments in [&["get", "models"] as &[&str], &["schema", "info"], &["rejects", "list"], &["schema", "diff"]] {
        run(arguments, &[]).exits(0).says(&[why]);
        let ran = run(arguments, &[("DATABASE_URL", "sqlite://ingester.db")]).exits(0);
        ran.says(&["database: sqlite://ingester.db (named by DATABASE_URL)"]);
        let ran = run(&[arguments, &["--database-url", "sqlite://ingester.db"]].concat(), &[]).exits(0);
        assert!(!ran.err.contains("database: "), "{}", ran.err);
    }
    let server =
        [("MYSQL_HOST", "127.0.0.1"), ("MYSQL_PORT", "1"), ("MYSQL_DB_NAME", "d"), ("MYSQL_PASSWORD", "hunter2")];
    let ran = run(&["get", "models"], &server).exits(2);
    let ran = ran.says(&["database: mysql://root:***@127.0.0.1:1/d (named by MYSQL_HOST and MYSQL_DB_NAME)"]);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    let server =
        [("PGHOST", "127.0.0.1"), ("PGPORT", "1"), ("PGUSER", "me"), ("PGDATABASE", "d"), ("PGPASSWORD", "hunter2")];
    let ran = run(&["get", "models"], &server).exits(2);
    let ran = ran.says(&["database: postgresql://me@127.0.0.1:1/d (named by PGHOST)"]);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    run(&["get", "models"], &[("PGHOST", "127.0.0.1")]).exits(2).says(&["names no database", "PGDATABASE is not set"]);

    // A forgotten host must not lead to a file.
    let folder = Folder::new();
    let ran = finish(folder.command(&["import", SAMPLES]).env("MYSQL_USER", "me").env("MYSQL_PASSWORD", "hunter2"));
    let ran =
        ran.exits(2).says(&["MYSQL_USER and MYSQL_PASSWORD are set, but neither MYSQL_HOST nor MYSQL_DB_NAME is"]);
    assert!(!ran.err.contains("hunter2") && !folder.path().join("ingester.db").exists(), "{}", ran.err);
}

#[test]
fn a_password_file_is_never_shown_and_its_errors_name_it() {
    let folder = Folder::new();
    folder.write("password", "hunter2\n");
    folder.write("empty", "\n");
    let refused = ["get", "models", "--database-url", "mysql://u@127.0.0.1:1/d", "--password-file"];
    let get = |file: &str| folder.run(&[&refused[..], &[file]].concat()).exits(2);
    let ran = get("password").says(&["mysql://u:***@127.0.0.1:1/d"]);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    let ran = get("hunter2").says(&["the password file that --password-file", "No such file"]);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    get("empty").says(&["the password file empty is empty"]);
    get(".").says(&["the password file . cannot be read"]);
    let with =
        |url: &str| folder.run(&["get", "models", "--database-url", url, "--password-file", "password"]).exits(2);
    with("sqlite://test.db").says(&["SQLite has no passwords"]);
    with("mysql://u:other@127.0.0.1:1/d").says(&["mysql://u:***@127.0.0.1:1/d", "has one already"]);
    let mut by_variable = folder.command(&["get", "models"]);
    by_variable.envs([("MYSQL_HOST", "127.0.0.1"), ("MYSQL_DB_NAME", "d"), ("MYSQL_PASSWORD_FILE", "hunter2")]);
    let ran = finish(&mut by_variable)
        .exits(2)
        .says(&["DATABASE_PASSWORD_FILE or a key `passwordFile` names does not exist"]);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
}

#[test]
fn commands_that_read_make_no_file_of_a_mistyped_path() {
    let folder = Folder::new();
    for arguments in [
        &["get", "models"] as &[&str],
        &["rejects"],
        &["rejects", "clear", "--all"],
        &["schema", "diff"],
        &["schema", "verify"],
        &["schema", "info"],
        &["schema", "revert", "--to", "1", "--allow-destructive"],
        &["backfill", "model"],
        &["proto", "decode", "model", "uid"],
    ] {
        let ran = on_database(&folder, arguments).exits(2);
        ran.says(&["connecting to sqlite://test.db: there is no file test.db", "check the path", "ingester import"]);
    }
    on_database(&folder, &["schema", "apply", "--dry-run"]).exits(0).says(&["this would make sqlite://test.db"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_server_that_is_not_there_exits_with_2_in_every_command() {
    let folder = Folder::new();
    let url = "mysql://u@127.0.0.1:1/d";
    folder.write("in.yaml", model("a", &[], &[]));
    let configuration =
        format!("metadataStorage: {{enableMetadataStorage: true, databaseURL: '{url}'}}\nserver: {{address: ''}}\n");
    folder.write("ingester.yaml", configuration);
    let kubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n\
                      clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: u, user: {}}]\n";
    folder.write("kubeconfig", kubeconfig);
    let commands = [
        "import in.yaml",
        "import --dry-run in.yaml",
        "get models",
        "rejects",
        "rejects clear --all",
        "schema diff",
        "schema verify",
        "schema info",
        "schema apply",
        "schema apply --dry-run",
        "schema revert --to 1 --allow-destructive",
        "backfill model",
        "proto decode model uid",
        "restore model a --kubeconfig kubeconfig",
        "audit --kubeconfig kubeconfig --config ingester.yaml",
        "finalizers remove --kubeconfig kubeconfig --config ingester.yaml",
    ];
    // In parallel: each one retries for a while.
    std::thread::scope(|scope| {
        for text in commands {
            let folder = &folder;
            scope.spawn(move || {
                let mut arguments: Vec<&str> = text.split(' ').collect();
                if !text.contains("--config") {
                    arguments.extend(["--database-url", url]);
                }
                let ran = folder.run(&arguments);
                assert_eq!(ran.code, Some(2), "{text}: {}", ran.err);
                let part = if text.starts_with("finalizers") { "Connection refused" } else { "127.0.0.1:1" };
                assert!(ran.err.contains(part), "{text}: {}", ran.err);
            });
        }
    });
}

#[test]
fn arguments_are_checked_before_a_server_is_asked() {
    let folder = Folder::new();
    folder.write(
        "ingester.yaml",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'mysql://u@127.0.0.1:1/d'}\n",
    );
    // A database that does not answer would be waited for.
    for arguments in [
        "get modle",
        "get models,modle",
        "get modle/a",
        "rejects modle",
        "rejects clear modle",
        "backfill modle",
        "proto decode modle uid",
        "restore modle a",
        "audit modle",
        "finalizers remove modle",
    ] {
        let arguments = format!("{arguments} --config ingester.yaml");
        let begin = Instant::now();
        let ran = folder.run(&arguments.split(' ').collect::<Vec<_>>()).exits(2);
        assert_eq!(
            ran.err.lines().last().unwrap_or_default().split(" Known").next(),
            Some("error: unknown kind `modle`, did you mean `Model`?"),
            "{arguments}"
        );
        assert!(begin.elapsed() < Duration::from_secs(2), "{arguments}");
    }
    for arguments in ["kinds modle", "crds modle", "schema print modle"] {
        let ran = folder.run(&arguments.split(' ').collect::<Vec<_>>()).exits(2);
        ran.says(&["unknown kind `modle`, did you mean `Model`? Known: "]);
    }
    let ran = folder.run(&["backfill", "model", "--column", "ownr", "--config", "ingester.yaml"]).exits(2);
    assert!(ran.err.contains("ownr") && !ran.err.contains("127.0.0.1"), "{}", ran.err);
}

#[test]
fn kinds_are_listed_by_name() {
    let folder = Folder::new();
    let out = folder.run(&["kinds", "models", "Pipeline"]).exits(0).out;
    let kinds: Vec<&str> = out.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(kinds, ["KIND", "Model", "Pipeline"]);
}

#[test]
fn rejects_are_listed_and_cleared() {
    let folder = Folder::new();
    let broken = |kind: &str, namespace: &str, name: &str| {
        format!(
            "apiVersion: michelangelo.api/v2\nkind: {kind}\nmetadata: {{namespace: {namespace}, name: {name}}}\nspec: much\n"
        )
    };
    let all = [broken("Model", "ml", "b"), broken("Model", "dev", "a"), broken("Pipeline", "ml", "c")];
    let import = || folder.import_input(&all.join("---\n")).exits(1);
    import();
    let list = |arguments: &[&str]| on_database(&folder, &[&["rejects"], arguments].concat()).exits(0).out;
    let names = |out: &str| -> Vec<String> {
        out.lines().skip(1).map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ")).collect()
    };
    let table = list(&[]);
    assert!(table.starts_with("KIND       NAMESPACE   NAME   TIME                   REASON\n"), "{table}");
    assert!(table.lines().nth(1).unwrap().contains("spec"), "{table}");
    assert_eq!(names(&table), ["Model dev a", "Model ml b", "Pipeline ml c"]);
    assert_eq!(list(&["list"]), table);
    assert_eq!(names(&list(&["models"])), ["Model dev a", "Model ml b"]);
    assert_eq!(names(&list(&["list", "models,pipelines", "-n", "ml"])), ["Model ml b", "Pipeline ml c"]);
    assert_eq!(names(&list(&["--limit", "1"])), ["Model dev a"]);
    on_database(&folder, &["rejects", "--limit", "1"]).says(&["more than 1", "--limit N"]);
    let json: Value = serde_json::from_str(&list(&["pipelines", "-o", "json"])).unwrap();
    let yaml: Value = serde_saphyr::from_str(&list(&["pipelines", "-o", "yaml"])).unwrap();
    assert_eq!((&json, json.as_array().unwrap().len()), (&yaml, 1));
    assert_eq!(
        (&json[0]["kind"], &json[0]["namespace"], &json[0]["name"]),
        (&json!("Pipeline"), &json!("ml"), &json!("c"))
    );
    assert!(json[0]["reason"].as_str().unwrap().contains("spec") && json[0]["time"].as_str().unwrap().ends_with('Z'));

    let clear = |arguments: &[&str]| on_database(&folder, &[&["rejects", "clear"], arguments].concat());
    clear(&[]).exits(2).says(&["KIND", "--uid", "--all"]);
    clear(&["models", "--all"]).exits(2);
    clear(&["models", "-n", "ml"]).exits(0).says(&["1 reject cleared in sqlite://test.db"]);
    assert_eq!(names(&list(&[])), ["Model dev a", "Pipeline ml c"]);
    clear(&["--uid", json[0]["uid"].as_str().unwrap()]).exits(0).says(&["1 reject cleared"]);
    assert_eq!(names(&list(&[])), ["Model dev a"]);
    import();
    clear(&["--all"]).exits(0).says(&["3 rejects cleared"]);
    on_database(&folder, &["rejects"]).exits(0).says(&["No rejects found in sqlite://test.db"]);
    assert_eq!((list(&[]).as_str(), list(&["-o", "json"]).as_str()), ("", "[]\n"));
    // A database that another program created.
    let other = Folder::new();
    other.query("CREATE TABLE a (b)");
    on_database(&other, &["rejects"])
        .exits(2)
        .says(&["sqlite://test.db has no table `ingester_rejects`", "schema apply"]);
}

#[test]
fn schema_info_tells_the_state_of_each_migration() {
    let folder = Folder::new();
    folder.write("test.db", "");
    let info = || on_database(&folder, &["schema", "info", "-o", "json"]);
    let states = |ran: &RunOutput| -> Vec<String> {
        let migrations: Value = serde_json::from_str(&ran.out).unwrap();
        migrations.as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap().to_owned()).collect()
    };
    let ran = info().exits(0).says(&["`ingester schema apply` runs what is pending"]);
    assert!(states(&ran).len() > 1 && states(&ran).iter().all(|state| state == "pending"), "{}", ran.out);
    on_database(&folder, &["schema", "apply"]).exits(0);
    let ran = info().exits(0);
    assert!(states(&ran).iter().all(|state| state == "applied") && !ran.err.contains("pending"), "{}", ran.out);

    folder.query("UPDATE _sqlx_migrations SET checksum = x'00' WHERE version = 1");
    folder.query("DELETE FROM _sqlx_migrations WHERE version = 2");
    folder.query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (999, 'later', 1, x'00', 1)",
    );
    let ran = info().exits(1).says(&["changed: ", "missing: "]);
    let states = states(&ran);
    assert_eq!((states[0].as_str(), states[1].as_str()), ("changed", "pending"));
    assert_eq!(states.last().unwrap(), "missing");
    let out = on_database(&folder, &["schema", "info"]).exits(1).out;
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["VERSION", "STATE", "DESCRIPTION"]);
    assert_eq!(lines[1], ["0001", "changed", "create", "tables"]);
    assert_eq!(lines.last().unwrap(), &["0999", "missing"]);
}

#[test]
fn a_dry_run_of_migrations_prints_a_script_and_runs_nothing() {
    let folder = Folder::new();
    folder.write("test.db", "");
    let dry = || on_database(&folder, &["schema", "apply", "--dry-run"]).exits(0);
    let ran = dry().says(&["nothing was run in sqlite://test.db", "migrations would be"]);
    assert!(ran.out.starts_with("-- 0001_create_tables\n--   "), "{}", ran.out);
    assert!(ran.out.contains("create table `model`: instant") && ran.out.contains("CREATE TABLE"), "{}", ran.out);
    assert_eq!(folder.query("SELECT COUNT(*) FROM sqlite_master"), ["0"]);
    // The script equals the statements that would have been run.
    folder.query(&ran.out);
    let ran = dry().says(&["is there already, would be recorded: 0001_create_tables"]);
    assert_eq!(ran.out, "");
    on_database(&folder, &["schema", "apply"]).exits(0);
    assert_eq!(dry().says(&["has run every migration"]).out, "");
    on_database(&folder, &["schema", "verify"]).exits(0);
}

/// The completions in bash for the last of these words.
fn completed(folder: &Folder, script: &str, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let last = words[words.len() - 1];
    let before = words[words.len() - 2];
    let lines = format!(
        "{script}\nCOMP_WORDS=({})\nCOMP_CWORD={}\nCOMPREPLY=()\n_ingester ingester '{last}' '{before}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        quoted.join(" "),
        words.len() - 1
    );
    folder.write("complete.bash", lines);
    let output = std::process::Command::new("bash").arg("complete.bash").current_dir(folder.path()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_kinds() {
    let folder = Folder::new();
    let script = folder.run(&["completions", "bash"]).exits(0).out;
    let offered = |words: &[&str]| completed(&folder, &script, words);
    assert_eq!(offered(&["ingester", "imp"]), ["import"]);
    let all = offered(&["ingester", ""]);
    for command in ["get", "schema", "rejects", "completions"] {
        assert!(all.iter().any(|offered| offered == command), "{all:?}");
    }
    assert_eq!(offered(&["ingester", "get", "mod"]), ["modelfamilys", "models"]);
    assert_eq!(offered(&["ingester", "schema", "ver"]), ["verify"]);
    assert_eq!(offered(&["ingester", "schema", "apply", "--dry"]), ["--dry-run"]);
    assert_eq!(offered(&["ingester", "import", "-o", "j"]), ["json"]);
    for command in ["audit", "kinds", "backfill", "crds", "restore", "rejects"] {
        assert_eq!(offered(&["ingester", command, "pipelineruns"]), ["pipelineruns"], "{command}");
    }
    assert_eq!(offered(&["ingester", "schema", "print", "pipelineruns"]), ["pipelineruns"]);
    assert_eq!(offered(&["ingester", "rejects", "clear", "pipelineruns"]), ["pipelineruns"]);
}

#[test]
fn scripts_for_zsh_and_fish_have_the_kinds() {
    let folder = Folder::new();
    let zsh = folder.run(&["completions", "zsh"]).exits(0).out;
    assert!(zsh.starts_with("#compdef ingester") && zsh.contains("modelfamilys"), "{zsh}");
    let fish = folder.run(&["completions", "fish"]).exits(0).out;
    let get = "complete -c ingester -n \"__fish_ingester_using_subcommand get\" -f -a \"";
    let line = fish.lines().find(|line| line.starts_with(get)).unwrap();
    assert!(line.contains(" models ") || line.contains("\"models "), "{line}");
    assert!(fish.contains("using_subcommand schema; and __fish_seen_subcommand_from print\" -f -a \""));
    folder.run(&["completions", "tcsh"]).exits(2).says(&["bash", "zsh", "fish"]);
}

#[test]
fn every_command_has_its_row_on_the_page_of_commands() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/commands.md")).unwrap();
    let rows: String = page.lines().filter(|line| line.starts_with("| `ingester ")).collect();
    let folder = Folder::new();
    let commands = |of: &[&str]| -> Vec<String> {
        let help = folder.run(&[of, &["--help"]].concat()).exits(0).out;
        let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
        let list = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
        let names = list.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
        names.filter(|name| *name != "help").map(str::to_owned).collect()
    };
    let all = commands(&[]);
    assert!(all.len() > 20, "{all:?}");
    for command in &all {
        assert!(rows.contains(&format!("`ingester {command}")), "docs/commands.md has no row for {command}");
    }
    for command in commands(&["schema"]) {
        assert!(rows.contains(&format!("`ingester schema {command}")), "docs/commands.md: schema {command}");
    }
}
