//! What `ingester run` and `ingester serve` do before they work: whose database it is, which server hangs, which address is in use.

use crate::program::{Folder, SAMPLES};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long anything here may take on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// An API server that answers every request with this status and body.
struct ApiServer {
    answer: Arc<Mutex<(u16, String)>>,
    requests: Arc<AtomicU32>,
    /// The lines of the last request.
    head: Arc<Mutex<Vec<String>>>,
    port: u16,
}

impl ApiServer {
    fn answering(status: u16, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answer = Arc::new(Mutex::new((status, body.to_owned())));
        let requests = Arc::new(AtomicU32::new(0));
        let head = Arc::new(Mutex::new(Vec::new()));
        let answers = answer.clone();
        let counted = requests.clone();
        let last = head.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(mut connection) = connection else { return };
                let mut reader = BufReader::new(connection.try_clone().unwrap());
                let mut lines = Vec::new();
                let mut line = String::new();
                // The head of one request. The rest is not read, because the connection is closed.
                while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
                    lines.push(std::mem::take(&mut line).trim_end().to_owned());
                }
                *last.lock().unwrap() = lines;
                let (status, body) = answers.lock().unwrap().clone();
                let length = body.len();
                let _ = write!(
                    connection,
                    "HTTP/1.1 {status} Whatever\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
                     Connection: close\r\n\r\n{body}"
                );
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        ApiServer { answer, requests, head, port }
    }

    fn answers(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (status, body.to_owned());
    }

    fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Writes a kubeconfig for it.
    fn kubeconfig(&self, folder: &Folder, user: &str) {
        let server = format!("http://127.0.0.1:{}", self.port);
        folder.write(
            "kubeconfig",
            format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- {{name: c, cluster: {{server: '{server}'}}}}\n\
                 contexts:\n- {{name: c, context: {{cluster: c, user: u}}}}\nusers:\n- {{name: u, user: {user}}}\n"
            ),
        );
    }
}

fn namespace(uid: &str) -> String {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}}).to_string()
}

/// A program that is ended with the test.
struct RunningProgram {
    child: Child,
    log: std::path::PathBuf,
}

impl RunningProgram {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let log = folder.path().join("log");
        let mut command = folder.command(arguments);
        command.env("KUBECONFIG", folder.path().join("kubeconfig")).stdout(Stdio::null());
        command.stderr(std::fs::File::create(&log).unwrap());
        RunningProgram { child: command.spawn().unwrap(), log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < DEADLINE, "waited in vain for {what}: {}", self.log());
            assert!(self.child.try_wait().unwrap().is_none(), "it ended before {what}: {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    fn ends(&mut self, within: Duration) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < within, "it still runs: {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn terminate(&self) {
        let status = Command::new("kill").args(["-s", "TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Everything in the database: the definitions, and every row.
fn dump(folder: &Folder) -> Vec<String> {
    let mut dump = folder.query("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name, type");
    for table in folder.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
        let columns = folder.query(&format!("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('{table}')"));
        dump.extend(folder.query(&format!("SELECT '{table}', {} FROM \"{table}\" ORDER BY 2, 3", columns.join(", "))));
    }
    dump
}

const CONFIG: &str =
    "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\nserver: {address: ''}\n";

#[test]
fn nothing_is_written_before_the_database_is_known_to_be_the_clusters() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    // Tables of an earlier release, with rows of it, in the database of another cluster.
    let url = ["--database-url", "sqlite://test.db"];
    folder.run(&[&["schema", "revert", "--to", "14", "--allow-destructive"], &url[..]].concat()).exits(0);
    folder.query("UPDATE model SET ingest_version = 0, algorithm = 'theirs'");
    folder.query("INSERT INTO ingester_settings (name, value) VALUES ('cluster', 'another')");
    folder.write("ingester.yaml", CONFIG);
    let before = dump(&folder);

    let server = ApiServer::answering(503, "{}");
    server.kubeconfig(&folder, "{}");
    let mut run = RunningProgram::start(&folder, &["run", "--config", "ingester.yaml"]);
    run.until("three refusals of the API server", |_| server.requests() >= 3);
    // The client asks again by itself for a while.
    run.until("a word about it", |run| run.log().contains("Still waiting for the API server"));
    assert_eq!(dump(&folder), before, "{}", run.log());

    server.answers(200, &namespace("this-one"));
    let status = run.ends(DEADLINE);
    assert_eq!(status.code(), Some(2), "{}", run.log());
    assert!(run.log().contains("the database belongs to another cluster"), "{}", run.log());
    assert_eq!(dump(&folder), before, "{}", run.log());
}

#[test]
fn the_cluster_is_recorded_before_the_first_table_is_made_or_changed() {
    let folder = Folder::new();
    // A database without a record, whose tables are of an earlier release.
    folder.import(&[SAMPLES]).exits(0);
    let url = ["--database-url", "sqlite://test.db"];
    folder.run(&[&["schema", "revert", "--to", "14", "--allow-destructive"], &url[..]].concat()).exits(0);
    folder.query("DROP TABLE ingester_settings");
    // The first pending migration cannot be run.
    folder.query("CREATE TABLE project__namespace_create_time (a INT)");
    folder.write("ingester.yaml", CONFIG);
    let server = ApiServer::answering(200, &namespace("this-one"));
    server.kubeconfig(&folder, "{}");
    let mut run = RunningProgram::start(&folder, &["run", "--config", "ingester.yaml"]);
    let status = run.ends(DEADLINE);
    assert!(!status.success(), "{}", run.log());
    assert_eq!(
        folder.query("SELECT value FROM ingester_settings WHERE name = 'cluster'"),
        ["this-one"],
        "{}",
        run.log()
    );
}

#[test]
fn a_signal_ends_a_program_whose_credential_plugin_hangs() {
    for arguments in
        [&["run", "--config", "ingester.yaml"][..], &["serve", "--insecure-loopback", "0", "--context", "c"]]
    {
        let folder = Folder::new();
        folder.import(&[SAMPLES]).exits(0);
        folder.write("ingester.yaml", CONFIG);
        let plugin = folder.write("login", "#!/bin/sh\ntouch \"$1/started\"\nexec sleep 300\n");
        executable(&plugin);
        let user = json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": plugin, "args": [folder.path()],
        }});
        ApiServer::answering(200, &namespace("a")).kubeconfig(&folder, &user.to_string());
        let arguments: Vec<&str> = match arguments[0] {
            "serve" => [arguments, &["--database-url", "sqlite://test.db"]].concat(),
            _ => arguments.to_vec(),
        };
        let mut running = RunningProgram::start(&folder, &arguments);
        running.until("the plugin", |_| folder.path().join("started").exists());
        running.until("a word about it", |running| running.log().contains("Still waiting for the command `"));
        assert!(running.log().contains("/login` of the kubeconfig's user"), "{}", running.log());
        running.terminate();
        let status = running.ends(Duration::from_secs(10));
        assert!(status.success(), "{status}: {}", running.log());
    }
}

fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn serve_has_an_address_for_probes_of_its_own() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    // As if `ingester run` with the same file used it.
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = held.local_addr().unwrap();
    let storage = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}";
    let serve = ["serve", "--insecure-loopback", "0", "--config", "ingester.yaml"];
    folder.write("ingester.yaml", format!("{storage}\nserver: {{address: '{taken}'}}\n"));
    folder.run(&serve).exits(2).says(&[&format!("cannot listen on `{taken}`"), "`serve.probes`"]);

    folder.write(
        "ingester.yaml",
        format!("{storage}\nserver: {{address: '{taken}'}}\nserve: {{probes: '127.0.0.1:0'}}\n"),
    );
    let mut running = RunningProgram::start(&folder, &serve);
    running.until("it to serve", |running| running.log().contains("Serving on http://"));
    running.terminate();
    running.ends(Duration::from_secs(10));
    drop(held);
}

/// A kind of a file, in a program with its own prefix.
const OWN_PREFIX: &str = "prefix: data.example.com
builtIn: false
kinds:
- {group: example.com, version: v1, kind: Job, namespaced: true}
";

#[test]
fn a_database_of_another_prefix_is_refused_until_that_is_named_or_given_up() {
    let folder = Folder::new();
    folder.write("usual.yaml", OWN_PREFIX.replace("prefix: data.example.com\n", ""));
    folder.write("own.yaml", OWN_PREFIX);
    folder.write(
        "a.json",
        r#"{"apiVersion": "example.com/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "x", "uid": "u1", "resourceVersion": "5"}}"#,
    );
    folder.import(&["--kinds", "usual.yaml", "a.json"]).exits(0);
    // An earlier release has recorded its cluster, and nothing about the prefix.
    folder.query("INSERT INTO ingester_settings (name, value) VALUES ('cluster', 'this-one')");
    folder.write("ingester.yaml", CONFIG);
    folder.write("moved.yaml", format!("{CONFIG}ingester: {{formerPrefixes: [michelangelo]}}\n"));
    let recorded = || folder.query("SELECT value FROM ingester_settings WHERE name = 'marks/prefix'");
    let server = ApiServer::answering(200, &namespace("this-one"));
    server.kubeconfig(&folder, "{}");
    for command in ["run", "audit", "ghosts"] {
        let arguments = [command, "--config", "ingester.yaml", "--kinds", "own.yaml"];
        let mut refused = RunningProgram::start(&folder, &arguments);
        assert_eq!(refused.ends(DEADLINE).code(), Some(2), "{command}: {}", refused.log());
        for says in ["`michelangelo`", "`data.example.com`", "formerPrefixes: [michelangelo]", "finalizers remove"] {
            assert!(refused.log().contains(says), "{command}: {}", refused.log());
        }
    }
    assert!(recorded().is_empty());
    let mut run = RunningProgram::start(&folder, &["run", "--config", "moved.yaml", "--kinds", "own.yaml"]);
    run.until("the record", |_| recorded() == ["data.example.com"]);
    run.terminate();
    run.ends(DEADLINE);
    let mut refused = RunningProgram::start(&folder, &["run", "--config", "ingester.yaml", "--kinds", "usual.yaml"]);
    assert_eq!(refused.ends(DEADLINE).code(), Some(2), "{}", refused.log());
    assert!(refused.log().contains("formerPrefixes: [data.example.com]"), "{}", refused.log());

    // A program that has removed its finalizer from everything gives up its prefix, and nothing else.
    let nothing = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "no such kind", "reason": "NotFound",
        "code": 404,
    });
    server.answers(404, &nothing.to_string());
    let remove = |kinds: &str, says: &str| {
        let arguments = ["finalizers", "remove", "--config", "ingester.yaml", "--kinds", kinds];
        let mut removing = RunningProgram::start(&folder, &arguments);
        assert_eq!(removing.ends(DEADLINE).code(), Some(0), "{}", removing.log());
        assert!(removing.log().contains(says), "{}", removing.log());
    };
    remove("usual.yaml", "removed was michelangelo/Ingester; ");
    assert_eq!(recorded(), ["data.example.com"]);
    remove("own.yaml", "");
    assert_eq!(recorded(), [""]);
}

#[test]
fn a_foreign_table_ends_run_and_nothing_is_changed() {
    let url = ["--database-url", "sqlite://test.db"];
    let foreign = |folder: &Folder| {
        folder.query("CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT)");
        folder.query("INSERT INTO model VALUES (1, 'theirs')");
    };
    for of_earlier_release in [false, true] {
        let folder = Folder::new();
        if of_earlier_release {
            folder.import(&[SAMPLES]).exits(0);
            folder.run(&[&["schema", "revert", "--to", "14", "--allow-destructive"], &url[..]].concat()).exits(0);
            folder.query("DROP TABLE model");
        }
        foreign(&folder);
        folder.write("ingester.yaml", CONFIG);
        let before = dump(&folder);
        let server = ApiServer::answering(200, &namespace("this-one"));
        server.kubeconfig(&folder, "{}");
        let mut run = RunningProgram::start(&folder, &["run", "--config", "ingester.yaml"]);
        let status = run.ends(DEADLINE);
        assert_eq!(status.code(), Some(2), "{}", run.log());
        for says in ["the table model: the ingester did not make it", "rename its table"] {
            assert!(run.log().contains(says), "{}", run.log());
        }
        assert!(server.requests() > 0, "the cluster was asked");
        assert_eq!(dump(&folder), before, "{}", run.log());
    }
}

#[test]
fn the_token_of_a_file_that_ends_with_a_line_break_is_sent_without_it() {
    let folder = Folder::new();
    folder.import(&[SAMPLES]).exits(0);
    folder.query("INSERT INTO ingester_settings (name, value) VALUES ('cluster', 'another')");
    folder.write("ingester.yaml", CONFIG);
    folder.write("token", "TOPSECRET\n");
    let server = ApiServer::answering(200, &namespace("this-one"));
    // The path is relative to the kubeconfig.
    server.kubeconfig(&folder, "{tokenFile: token}");
    let mut run = RunningProgram::start(&folder, &["run", "--config", "ingester.yaml"]);
    let status = run.ends(DEADLINE);
    assert_eq!(status.code(), Some(2), "{}", run.log());
    assert!(run.log().contains("the database belongs to another cluster"), "{}", run.log());
    let head = server.head.lock().unwrap().clone();
    assert!(head.iter().any(|line| line.eq_ignore_ascii_case("authorization: Bearer TOPSECRET")), "{head:?}");
    assert!(!run.log().contains("TOPSECRET"), "{}", run.log());
}
