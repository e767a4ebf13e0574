//! The mistakes that a newcomer makes: the command line, the output, the exit code. `mistakes.md` beside this file is the table, to be
//! read by people; `INGESTER_UPDATE=1 cargo test -p ingester --test cli mistakes` writes it.
//!
//! For each mistake the test also checks: the output names the thing at fault and the remedy, the exit code is the documented one, and
//! no password or token is shown, neither by default nor with `RUST_LOG=trace`. A full disk is in `full_disk.rs`.

use crate::program::{Folder, RunOutput, SAMPLES, finish};
use ingester_tests::shared_mariadb;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

/// Texts that no output may contain.
const SECRETS: [&str; 2] = ["Hunter2", "TOPSECRET"];

/// One mistake.
struct Mistake {
    /// What the user did.
    what: &'static str,
    /// The arguments, with `{words}` for what differs from run to run; blanks only within quotes.
    line: &'static str,
    environment: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str)],
    /// Commands that come first.
    before: &'static [&'static str],
    code: i32,
    /// The thing at fault, as the output names it.
    names: &'static str,
    /// A part of the remedy in the output.
    remedy: &'static str,
}

const fn mistake(
    what: &'static str,
    line: &'static str,
    code: i32,
    names: &'static str,
    remedy: &'static str,
) -> Mistake {
    Mistake { what, line, environment: &[], files: &[], before: &[], code, names, remedy }
}

impl Mistake {
    const fn with(mut self, environment: &'static [(&'static str, &'static str)]) -> Self {
        self.environment = environment;
        self
    }

    const fn files(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }

    const fn after(mut self, before: &'static [&'static str]) -> Self {
        self.before = before;
        self
    }
}

const DB: &str = "sqlite://test.db";
const NEW: &str =
    r#"{"apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": {"namespace": "ml", "name": "new"}}"#;

const FILLED: &[&str] = &["import --database-url sqlite://test.db {samples}"];
const EMPTY_CONFIG: &str = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\n";
const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
    clusters: [{name: c, cluster: {server: '{server}'}}]\n\
    users: [{name: u, user: {token: TOPSECRET}}]\n\
    contexts: [{name: c, context: {cluster: c, user: u}}]\n";
const RUN_CONFIG: &str =
    "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://test.db'}\nserver: {address: ''}\n";
/// A kubeconfig for this user.
macro_rules! kubeconfig_of {
    ($user:literal) => {
        concat!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '{server}'}}]\n",
            "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers:\n- name: u\n  user: ",
            $user,
            "\n"
        )
    };
}
const GOOD_MODEL: &str = "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: m, namespace: ml}\nspec: {}\n";

const MISTAKES: &[Mistake] = &[
    // The command line.
    mistake("no command", "", 2, "Usage: ingester", "Commands:"),
    mistake("a misspelt command", "imprt models.yaml", 2, "imprt", "import"),
    mistake("a misspelt option", "import --databse-url x y", 2, "--databse-url", "--database-url"),
    mistake("an import of nothing", "import", 2, "<PATH>", "--help"),
    mistake("a format that does not exist", "get models -o xml", 2, "xml", "yaml"),
    mistake("a kind that does not exist", "get modle", 2, "modle", "did you mean `Model`?"),
    mistake("a kind of another group", "get deployments.apps", 2, "deployments.apps", "Known: "),
    mistake("no kind", "get", 2, "KIND", "--help"),
    mistake("a comma too many", "get models,,pipelines", 2, "`models,,pipelines`", "give KIND or KIND,KIND"),
    mistake("a comma at the end", "get models,", 2, "`models,`", "give KIND or KIND,KIND"),
    mistake("a name that is none for Kubernetes", "rbac --name a/b", 2, "'a/b'", "a name has neither `/` nor `%`"),
    mistake("an image with a blank", "manifests --out base --image \"a b\"", 2, "'a b'", "give REGISTRY/REPOSITORY:TAG"),
    mistake("a name that YAML reads otherwise", "manifests --out base --name true", 2, "'true'", "give another name"),
    mistake("a shell that is not known", "completions tcsh", 2, "tcsh", "bash"),
    mistake("rejects cleared without saying which", "rejects clear", 2, "--all", "--uid"),
    mistake("a log level that does not exist", "kinds", 2, "RUST_LOG", "use off, error, warn, info")
        .with(&[("RUST_LOG", "inof")]),
    // Files to import.
    mistake("a file that is not there", "import --database-url {db} models.yaml", 2, "models.yaml", "No such file"),
    mistake("a device in the place of a file", "import --database-url {db} /dev/zero", 2, "/dev/zero", "`-` reads standard input"),
    mistake("a missing file among good ones", "import --database-url {db} m.yaml models.yaml", 1, "models.yaml", "No such file")
        .files(&[("m.yaml", GOOD_MODEL)]),
    mistake("a folder without objects", "import --database-url {db} empty", 2, "no .yaml, .yml, .json, .jsonl or .ndjson file in empty", "name a folder that has some")
        .files(&[("empty/README.md", "nothing")]),
    mistake("text that is no object", "import --database-url {db} a.yaml", 1, "a.yaml: document 1 (line 1)", "not an object but a string")
        .files(&[("a.yaml", "just text\n")]),
    mistake("tabs in YAML", "import --database-url {db} a.yaml", 1, "line 1 column 7", "indent YAML with spaces")
        .files(&[("a.yaml", "kind: Model\n\tmetadata: {}\n")]),
    mistake("an object without a kind", "import --database-url {db} a.yaml", 1, "a.yaml: document 1", "kind: missing; every Kubernetes object has one: add it")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nmetadata: {name: x}\n")]),
    mistake("an object without a name", "import --database-url {db} a.yaml", 1, "metadata.name", "missing")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {namespace: ml}\n")]),
    mistake("a kind in small letters", "import --database-url {db} a.yaml", 1, "model of", "did you mean Model")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: model\nmetadata: {name: x}\n")]),
    mistake("a version that is not mirrored", "import --database-url {db} a.yaml", 1, "michelangelo.api/v1", "knows Model of michelangelo.api/v2")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v1\nkind: Model\nmetadata: {name: x}\n")]),
    mistake("a key twice", "import --database-url {db} a.yaml", 1, "`algorithm`", "appears twice in the same object")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: x}\nspec:\n  algorithm: a\n  algorithm: b\n")]),
    mistake("a text where a number is meant", "import --database-url {db} a.yaml", 1, "spec.revisionId", "expected")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: x}\nspec: {revisionId: many}\n")]),
    mistake("a time that is none", "import --database-url {db} a.yaml", 1, "metadata.creationTimestamp", "such as `2026-01-31T10:00:00Z`")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: x, creationTimestamp: yesterday}\n")]),
    mistake("a resourceVersion that is none", "import --database-url {db} a.yaml", 1, "metadata.resourceVersion", "remove it from a hand-written object")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: x, resourceVersion: new}\n")]),
    mistake("a label with a blank", "import --database-url {db} a.yaml", 1, "label `team `", "a key has letters, digits")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: x, labels: {'team ': a}}\n")]),
    mistake("text in UTF-16", "import --database-url {db} a.yaml", 2, "UTF-16", "iconv")
        .files(&[("a.yaml", "k\0i\0n\0d\0:\0")]),
    mistake("an archive", "import --database-url {db} a.zip", 2, "a.zip", "unpack it").files(&[("a.zip", "PK\u{3}\u{4}....")]),
    mistake("a uid that is none", "import --database-url {db} a.yaml", 1, "column `uid`", "remove it from a hand-written object")
        .files(&[("a.yaml", "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {name: x, uid: 0123456789-0123456789-0123456789-0123456789-0123456789-0123456789}\n")]),
    mistake("a pipe from a program that failed", "import --database-url {db} -", 2, "standard input", "program before"),
    // The database: SQLite.
    mistake("a database that is not there", "get models --database-url sqlite://tset.db", 2, "no file tset.db", "check the path"),
    mistake("a folder that is not there", "import --database-url sqlite://none/a.db {samples}", 2, "none/a.db", "folder exist"),
    mistake("a folder as the database", "import --database-url sqlite://empty {samples}", 2, "empty is a folder", "name a file in it")
        .files(&[("empty/x", "")]),
    mistake("a folder without the right to write", "import --database-url sqlite:///proc/a.db {samples}", 2, "/proc/a.db", "may this user write there"),
    mistake("a file that is no database", "get models --database-url sqlite://notes.db", 2, "notes.db", "name another")
        .files(&[("notes.db", "These are notes, and by no means a database of anybody, however long they become......................................")]),
    mistake("a database that may not be written", "import --database-url sqlite://test.db?mode=ro new.json", 2, "read-only", "allow writing")
        .files(&[("new.json", NEW)]).after(FILLED),
    mistake("a table that was changed by hand", "import --database-url {db} {samples}", 2, "model.algorithm", "ingester schema apply")
        .after(&["import --database-url sqlite://test.db {samples}", "SQL DROP INDEX model__algorithm", "SQL ALTER TABLE model DROP COLUMN algorithm"]),
    mistake("a table of another program", "import --database-url {db} {samples}", 2, "ingester_rejects", "rename its table")
        .after(&["SQL CREATE TABLE ingester_rejects (id INT)"]),
    mistake("a table of another program, verified", "schema verify --database-url {db}", 1, "`ingester_rejects`", "rename the table of another program")
        .after(&["import --database-url sqlite://test.db {samples}", "SQL DROP TABLE ingester_rejects", "SQL CREATE TABLE ingester_rejects (id INT)"]),
    mistake("a password for SQLite", "get models --database-url {db} --password-file p", 2, "SQLite has no passwords", "sqlite://")
        .files(&[("p", "Hunter2")]).after(FILLED),
    // The database: a server.
    mistake("a URL without a scheme", "import --database-url ingester.db {samples}", 2, "no scheme", "sqlite://file.db"),
    mistake("another database's URL", "import --database-url oracle://u:Hunter2@db/ma {samples}", 2, "oracle", "mysql://"),
    mistake("a URL without a database", "import --database-url mysql://u:Hunter2@db {samples}", 2, "names no database", "/database"),
    mistake("a URL without a host", "import --database-url mysql://u:1Hunter2 {samples}", 2, "mysql://u:***", "host:3306"),
    mistake("a password with @ in a URL", "import --database-url mysql://u:a@Hunter2@127.0.0.1:1/d {samples}", 2, "mysql://u:***@127.0.0.1:1/d", "is the server running"),
    mistake("a misspelt parameter", "import --database-url mysql://u:Hunter2@db/ma?ssl-mod=REQUIRED {samples}", 2, "`ssl-mod`", "did you mean `ssl-mode`?"),
    mistake("a server that is not there", "import --database-url mysql://u:Hunter2@127.0.0.1:1/d {samples}", 2, "127.0.0.1:1", "is the server running"),
    mistake("a wrong password", "import --database-url mysql://nobody:Hunter2@{maria}/{name} {samples}", 2, "nobody", "check user and password"),
    mistake("a database that does not exist", "import --database-url mysql://root@{maria}/{name}_none {samples}", 2, "{name}_none", "CREATE DATABASE"),
    mistake("a user who may not make tables", "import --database-url mysql://{name}_r:Hunter2@{maria}/{name} {samples}", 2, "CREATE", "run GRANT CREATE ON"),
    mistake("a user who may not read", "get models --database-url mysql://{name}_i:Hunter2@{maria}/{name}_full", 2, "SELECT", "run GRANT SELECT ON"),
    mistake("a database without tables", "get models --database-url mysql://root@{maria}/{name}", 2, "model", "ingester schema apply"),
    mistake("an object that MariaDB cannot take", "import --database-url mysql://root@{maria}/{name}_full deep.json", 1, "Model deep", "at most 32 levels")
        .files(&[("deep.json", r#"{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{"name":"deep"},"spec":{"x":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}"#)]),
    mistake("a host without a database", "import {samples}", 2, "MYSQL_HOST is set and MYSQL_DB_NAME is not", "set it to the name of the database").with(&[("MYSQL_HOST", "127.0.0.1")]),
    mistake("a user without a host", "import {samples}", 2, "MYSQL_USER", "MYSQL_HOST").with(&[("MYSQL_USER", "u"), ("MYSQL_PASSWORD", "Hunter2")]),
    mistake("a port that is none", "import {samples}", 2, "MYSQL_PORT", "1 to 65535")
        .with(&[("MYSQL_HOST", "127.0.0.1"), ("MYSQL_DB_NAME", "d"), ("MYSQL_PORT", "99999"), ("MYSQL_PASSWORD", "Hunter2")]),
    mistake("a password file that is not there", "import --database-url mysql://u@127.0.0.1:1/d --password-file none {samples}", 2, "--password-file", "No such file"),
    // Questions.
    mistake("a selector that does not end", "get models --database-url {db} -l \"team in (a\"", 2, "label selector", "expected").after(FILLED),
    mistake("a field that is no column", "get models --database-url {db} --field-selector spec.nope=1", 2, "spec.nope", "--scan").after(FILLED),
    mistake("an order by no column", "get models --database-url {db} --sort-by -nope", 2, "nope", "column").after(FILLED),
    mistake("a column that does not exist", "get models --database-url {db} --columns name,algoritm", 2, "algoritm", "did you mean `algorithm`?").after(FILLED),
    mistake("a word that is not a time", "get models --database-url {db} --created-after yesterday", 2, "yesterday", "expected a time such as `2026-01-31T10:00:00Z`").after(FILLED),
    mistake("a token from somewhere else", "get models --database-url {db} --continue abc", 2, "the continue token is damaged", "pass it unchanged").after(FILLED),
    mistake("a state that does not exist", "get models --database-url {db} --state gone", 2, "gone", "deleted").after(FILLED),
    mistake("a template that does not end", "get models --database-url {db} -o jsonpath={.items[", 2, "-o: unterminated array", "`ingester get --help`").after(FILLED),
    mistake("an object that is not there", "get model none --database-url {db}", 1, "none", "not found").after(FILLED),
    mistake("a saved query that is not there", "get --query nope --database-url {db}", 2, "found no folder `queries`", "name the folder of the saved queries with --queries").after(FILLED),
    mistake("columns of another kind", "backfill model --column nope --database-url {db}", 2, "nope", "column").after(FILLED),
    mistake("an object without a row", "proto decode model none --database-url {db}", 1, "none", "prints the uid of one").after(FILLED),
    // Migrations.
    mistake("a migration that does not exist", "schema revert --to 99 --database-url {db}", 2, "there is no migration 99", "`ingester schema info` lists them").after(FILLED),
    mistake("data that would be lost", "schema revert --to 0 --database-url {db}", 2, "drops data", "--allow-destructive").after(FILLED),
    mistake("a view that the ingester did not make", "schema apply --drop-view runs --database-url {db}", 2, "runs", "is dropped by that program, or by hand").after(FILLED),
    mistake("a folder without migrations", "schema apply --sql nowhere --database-url {db}", 2, "it has no nowhere/schema.lock.json", "`ingester schema generate` writes such a folder"),
    // The configuration.
    mistake("no configuration", "run --config none.yaml", 2, "none.yaml", "name a file that exists"),
    mistake("no database to run with", "run", 2, "no database is named", "MYSQL_HOST and MYSQL_DB_NAME"),
    mistake("tabs in the configuration", "run --config c.yaml", 2, "c.yaml", "line 2").files(&[("c.yaml", "mysql:\n\thost: db\n")]),
    mistake("a misspelt key", "run --config c.yaml", 2, "mysql.hots: unknown key `hots`", "did you mean `host`?").files(&[("c.yaml", "mysql: {hots: db, password: Hunter2}\n")]),
    mistake("a password with a colon", "run --config c.yaml", 2, "line 2: column", "put a text with `: ` in quotes")
        .files(&[("c.yaml", "mysql:\n  password: Hunter2: x\n")]),
    mistake("a number that is none", "run --config c.yaml", 2, "port", "1 to 65535").files(&[("c.yaml", "mysql: {port: many, password: Hunter2}\n")]),
    mistake("a key twice in the configuration", "run --config c.yaml", 2, "password", "twice").files(&[("c.yaml", "mysql:\n  password: Hunter2\n  password: Hunter2\n")]),
    mistake("an empty configuration", "audit --config c.yaml", 2, "c.yaml", "enable").files(&[("c.yaml", "")]),
    mistake("a folder as the configuration", "run --config c", 2, "c", "name a file that exists").files(&[("c/x", "")]),
    // The cluster.
    mistake("no kubeconfig", "audit --config c.yaml --kubeconfig none", 2, "none cannot be read: No such file", "--kubeconfig FILE").files(&[("c.yaml", EMPTY_CONFIG)]),
    mistake("a kubeconfig that is none", "audit --config c.yaml --kubeconfig k", 2, "the kubeconfig k cannot be used: it is not a kubeconfig: line 3, column 9", "--kubeconfig FILE")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", "users:\n- name: me\n  user: token: TOPSECRET\n")]),
    mistake("one of several kubeconfigs is none", "audit --config c.yaml", 2, "the kubeconfig k cannot be used", "KUBECONFIG")
        .files(&[("c.yaml", EMPTY_CONFIG), ("a", "apiVersion: v1\nkind: Config\n"), ("k", "users:\n- user: [TOPSECRET\n")])
        .with(&[("KUBECONFIG", "a:k")]),
    mistake("an empty kubeconfig", "audit --config c.yaml --kubeconfig k", 2, "k cannot be used", "--kubeconfig FILE")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", "")]),
    mistake("no current context", "audit --config c.yaml --kubeconfig k", 2, "it has no current context", "choose one with --context NAME")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", "apiVersion: v1\nkind: Config\nusers: [{name: u, user: {token: TOPSECRET}}]\n")]),
    mistake("a context that does not exist", "audit --config c.yaml --kubeconfig k --context prod", 2, "it has no context `prod`", "`kubectl config get-contexts` lists")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", KUBECONFIG)]),
    mistake("an API server that is not there", "audit --config c.yaml --kubeconfig k", 2, "http://127.0.0.1:1", "is it running")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", KUBECONFIG)]).with(&[("SERVER", "http://127.0.0.1:1")]).after(FILLED),
    mistake("an API server without a scheme", "run --config c.yaml --kubeconfig k", 2, "host must be a URL", "such as https://10.0.0.1:6443")
        .files(&[("c.yaml", RUN_CONFIG), ("k", KUBECONFIG)]).with(&[("SERVER", "10.0.0.1:6443")]),
    mistake("a token with a line break", "run --config c.yaml --kubeconfig k", 2, "the user's `token` cannot be used: invalid header field value", "not even at its end")
        .files(&[("c.yaml", RUN_CONFIG), ("k", kubeconfig_of!(r#"{token: "TOPSECRET\n"}"#))]),
    mistake("a token in the place of its file", "run --config c.yaml --kubeconfig k", 2, "`tokenFile`", "No such file")
        .files(&[("c.yaml", RUN_CONFIG), ("k", kubeconfig_of!("{tokenFile: TOPSECRET}"))]),
    mistake("a plugin whose token has a line break", "run --config c.yaml --kubeconfig k", 2, "the command of the kubeconfig's user", "`printf %s TOKEN`")
        .files(&[("c.yaml", RUN_CONFIG), ("k", kubeconfig_of!(r#"{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: cat, args: [FOLDER/credential]}}"#)),
            ("credential", r#"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "TOPSECRET\n"}}"#)]),
    mistake("a plugin whose token has a line break and expires", "run --config c.yaml --kubeconfig k", 2, "the command of the kubeconfig's user", "`printf %s TOKEN`")
        .files(&[("c.yaml", RUN_CONFIG), ("k", kubeconfig_of!(r#"{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: cat, args: [FOLDER/credential]}}"#)),
            ("credential", r#"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "TOPSECRET\n", "expirationTimestamp": "2999-01-01T00:00:00Z"}}"#)]),
    mistake("an expired token", "audit --config c.yaml --kubeconfig k", 2, "401 Unauthorized", "renew that of the kubeconfig")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", KUBECONFIG)]).with(&[("SERVER", "{api}/unauthorized")]).after(FILLED),
    mistake("another cluster's database", "audit --config c.yaml --kubeconfig k", 2, "another cluster", "name another database")
        .files(&[("c.yaml", EMPTY_CONFIG), ("k", KUBECONFIG)]).with(&[("SERVER", "{api}/other")])
        .after(&["import --database-url sqlite://test.db {samples}", "SQL INSERT INTO ingester_settings VALUES ('cluster', 'ours')"]),
    mistake("an object restored that was never there", "restore model none --database-url {db} --kubeconfig k", 1, "none", "found")
        .files(&[("k", KUBECONFIG)]).with(&[("SERVER", "{api}/other")]).after(FILLED),
];

/// An API server that rejects every caller below `/unauthorized`, and elsewhere only has the uid of its cluster.
fn api_server() -> String {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    let start = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut buffer) {
                        Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
                        _ => break,
                    }
                }
                let (status, body) = if request.starts_with(b"GET /unauthorized") {
                    (
                        "401 Unauthorized",
                        r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#,
                    )
                } else {
                    (
                        "200 OK",
                        r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"theirs"}}"#,
                    )
                };
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        address
    };
    ADDRESS.get_or_init(start).clone()
}

/// The databases and users on the server.
const NAME: &str = "mistakes";

/// The host and port of a MariaDB with an empty database, one with tables, a user who may only read and one who may only insert.
fn mariadb() -> String {
    use sqlx::{Connection as _, Executor as _};
    let server = shared_mariadb().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let empty = server.create_database(NAME).await.unwrap();
        let full = server.create_database(&format!("{NAME}_full")).await.unwrap();
        let mut connection = sqlx::MySqlConnection::connect(&empty).await.unwrap();
        for (user, right, of) in [("r", "SELECT", "mistakes"), ("i", "INSERT", "mistakes_full")] {
            for sql in [
                format!("CREATE OR REPLACE USER '{NAME}_{user}'@'%' IDENTIFIED BY 'Hunter2'"),
                format!("GRANT {right} ON `{of}`.* TO '{NAME}_{user}'@'%'"),
            ] {
                connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql))).await.unwrap();
            }
        }
        connection.close().await.unwrap();
        Folder::new().run(&["schema", "apply", "--database-url", &full]).exits(0);
        let host = empty.strip_prefix("mysql://root@").expect("a server of our own");
        host.split_once('/').unwrap().0.to_owned()
    })
}

/// Splits a line into arguments; blanks in double quotes stay.
fn arguments(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all.retain(|argument| !argument.is_empty());
    all
}

/// The replacements of this run.
struct Words(Vec<(&'static str, String)>);

impl Words {
    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value))
    }

    /// The same text as in every other run.
    fn hide(&self, text: &str, folder: &Folder) -> String {
        let text = text.replace(&folder.path().display().to_string(), "FOLDER");
        // A line of the log begins with the time.
        let without_time = |line: &str| match line.split_once("Z ") {
            Some((time, rest)) if time.len() == 26 && time.starts_with("20") => format!("TIME {rest}"),
            _ => line.to_owned(),
        };
        let text = text.split('\n').map(without_time).collect::<Vec<_>>().join("\n");
        // The server's name for this machine.
        let text = text.replace("'@'127.0.0.1'", "'@'localhost'");
        let hidden = [("{samples}", "crd-specs/samples"), ("{maria}", "mariadb:3306"), ("{api}", "http://apiserver")];
        hidden.iter().fold(text, |text, (word, shown)| text.replace(&self.fill(word), shown))
    }
}

fn command(folder: &Folder, words: &Words, mistake: &Mistake, log: Option<&str>) -> Command {
    let line = arguments(&words.fill(mistake.line));
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let mut command = folder.command(&line);
    for variable in ["KUBECONFIG", "MYSQL_PASSWORD_FILE", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
        command.env_remove(variable);
    }
    command.envs(mistake.environment.iter().filter(|(name, _)| *name != "SERVER").copied());
    command.envs(log.map(|level| ("RUST_LOG", level))).env("HOME", folder.path()).stdin(Stdio::null());
    command
}

/// Makes a mistake; returns its part of the table.
fn make(mistake: &Mistake, words: &Words, wrong: &Mutex<Vec<String>>) -> String {
    let folder = Folder::new();
    let server =
        mistake.environment.iter().find(|(name, _)| *name == "SERVER").map_or("https://10.0.0.1", |(_, url)| url);
    for (name, content) in mistake.files {
        let content = content.replace("{server}", &words.fill(server));
        folder.write(name, content.replace("FOLDER", &folder.path().display().to_string()));
    }
    for before in mistake.before {
        match before.strip_prefix("SQL ") {
            Some(sql) => drop(folder.query(sql)),
            None => {
                let line = arguments(&words.fill(before));
                folder.run(&line.iter().map(String::as_str).collect::<Vec<_>>()).exits(0);
            }
        }
    }
    let ran = finish(&mut command(&folder, words, mistake, None));
    let RunOutput { code, out, err } = &ran;
    let said = words.hide(&format!("{out}{err}"), &folder);
    let complain = |what: String| wrong.lock().unwrap().push(format!("{}: {what}:\n{said}", mistake.what));
    if *code != Some(mistake.code) {
        complain(format!("it exits with {code:?}, not {}", mistake.code));
    }
    for part in [mistake.names, mistake.remedy] {
        if !said.contains(&words.fill(part)) {
            complain(format!("`{part}` is not said"));
        }
    }
    if said.contains("panicked") || said.contains("defect") {
        complain("it is a defect".into());
    }
    let given = [mistake.line].into_iter().chain(mistake.environment.iter().map(|(_, value)| *value));
    let given: String = given.chain(mistake.files.iter().map(|(_, content)| *content)).collect();
    if SECRETS.iter().any(|secret| given.contains(secret)) {
        let talkative = match mistake.environment.iter().any(|(name, _)| *name == "RUST_LOG") {
            true => String::new(),
            false => {
                let ran = finish(&mut command(&folder, words, mistake, Some("trace")));
                ran.out + &ran.err
            }
        };
        for secret in SECRETS {
            for text in [out, err, &talkative] {
                if text.contains(secret) {
                    complain(format!("a secret is shown, `{secret}`, in: {text}"));
                }
            }
        }
    }

    let mut text = format!("\n## {}\n\n```console\n", mistake.what);
    for (name, content) in mistake.files {
        if *name == "k" || name.ends_with(".yaml") && content.chars().all(|c| !c.is_control() || c == '\n' || c == '\t')
        {
            let _ = writeln!(text, "# {name}: {}", content.trim_end().replace("{server}", server).escape_debug());
        }
    }
    for before in mistake.before.iter().filter_map(|before| before.strip_prefix("SQL ")) {
        let _ = writeln!(text, "# {before}");
    }
    let environment = mistake.environment.iter().filter(|(name, _)| *name != "SERVER");
    let environment: String = environment.map(|(name, value)| format!("{name}={value} ")).collect();
    let line = words.hide(&words.fill(mistake.line), &folder);
    let said = said.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    let line = format!("{environment}ingester {line}");
    let _ = write!(text, "$ {}\n{said}```\n\nExit code {}.\n", line.trim_end(), mistake.code);
    for secret in SECRETS {
        text = text.replace(secret, "SECRET");
    }
    text
}

#[test]
fn each_mistake_is_named_with_its_remedy_and_without_a_secret() {
    let words = Words(vec![
        ("{db}", DB.to_owned()),
        ("{samples}", SAMPLES.to_owned()),
        ("{maria}", mariadb()),
        ("{name}", NAME.to_owned()),
        ("{api}", api_server()),
    ]);
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let parts: Vec<Mutex<String>> = MISTAKES.iter().map(|_| Mutex::default()).collect();
    thread::scope(|scope| {
        // More than there are processors: a few of them wait for a server that does not exist.
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(mistake) = MISTAKES.get(place) else { break };
                    *parts[place].lock().unwrap() = make(mistake, &words, &wrong);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let mut table = String::from(
        "# Mistakes, and what is said about them\n\nWritten by `INGESTER_UPDATE=1 cargo test -p ingester --test cli mistakes`. \
         A secret that was given is shown here as SECRET;\nthe program shows none.\n",
    );
    for part in parts {
        table.push_str(&part.into_inner().unwrap());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/tests/cli/mistakes.md");
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    assert!(wrong.is_empty(), "{} of {}:\n\n{}", wrong.len(), MISTAKES.len(), wrong.join("\n\n"));
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    let other = expected.lines().zip(table.lines()).find(|(expected, found)| expected != found);
    assert_eq!(other, None, "mistakes.md is not what is said now: review what INGESTER_UPDATE=1 writes");
    assert_eq!(expected.lines().count(), table.lines().count(), "mistakes.md has other mistakes");
}

#[test]
fn there_are_fifty_mistakes_at_least_each_once() {
    let names: std::collections::BTreeSet<&str> = MISTAKES.iter().map(|mistake| mistake.what).collect();
    assert!(names.len() == MISTAKES.len() && names.len() >= 50, "{}", names.len());
    assert_eq!(arguments("get -l \"a in (b)\""), ["get", "-l", "a in (b)"]);
}
