//! Pruned values are nowhere: in no byte of the database's files, in no message, in no answer.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{mariadb_dump, postgres, process::free_port};
use serde_json::{Value as Json, json};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::database::On;
use crate::eventually::{eventually, within};
use crate::objects::model;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// The files of its own server: nothing else has written there.
on_servers! { OwnServers::DATABASE => a_pruned_value_is_in_no_file_no_message_and_no_answer [mariadb MARIADB] [postgres POSTGRES #[ignore = "in the set --all"]] }

/// The value of the pruned fields; each time with a different end.
const SECRET: &str = "TOPSECRET-8c1f";

/// A value that is stored beside them, so that the test knows that it looks in the right places.
const SHOWN: &str = "shown-51b7";

const KINDS: &str = r#"builtIn: false
kinds:
- group: michelangelo.api
  version: v2
  kind: Model
  namespaced: true
  finalizer: ensure
  evictable: false
  absent: "null"
  strict: true
  prune: [.spec.description, '.spec.deployableArtifactUri[*]', '.metadata.annotations["example.com/token"]', .metadata.labels.token]
  columns:
  - {column: algorithm, path: .spec.algorithm, type: VARCHAR(16)}
"#;

fn with_secret(name: &str, algorithm: &str, end: &str) -> Json {
    let mut object = model(name, algorithm);
    object["spec"]["description"] = json!(format!("{SECRET}-{end}"));
    object["spec"]["deployableArtifactUri"] = json!([format!("s3://{SECRET}-{end}")]);
    object["spec"]["source"] = json!(SHOWN);
    let applied = object.to_string();
    object["metadata"]["labels"] = json!({"token": format!("{SECRET}-{end}")});
    object["metadata"]["annotations"] = json!({
        "example.com/token": format!("{SECRET}-{end}"),
        "kubectl.kubernetes.io/last-applied-configuration": applied,
    });
    object
}

/// The checked texts and files.
#[derive(Default)]
struct CheckedTexts {
    texts: Vec<(String, String)>,
}

impl CheckedTexts {
    fn add(&mut self, what: &str, text: String) {
        self.texts.push((what.to_owned(), text));
    }

    /// Fails if one of them has the secret, or a text that should have the stored value lacks it.
    fn check(&self, shown: &[&str]) -> Result<()> {
        for (what, text) in &self.texts {
            ensure!(!text.contains("TOPSECRET"), "{what} has the secret: {text}");
        }
        for what in shown {
            let found = self.texts.iter().any(|(name, text)| name == what && text.contains(SHOWN));
            ensure!(found, "{what} should have what is stored: {:?}", self.texts);
        }
        Ok(())
    }
}

/// The dump of the database, by its own program; `None` if that is not installed.
fn dump(world: &World) -> Result<Option<String>> {
    let port = world.database.port().context("a server of the test's own")?.to_string();
    let mut command = match world.database.on {
        On::Postgres => {
            let mut command = postgres::program("pg_dump").unwrap_or_else(|| Command::new("pg_dump"));
            command.args([
                "--host=127.0.0.1",
                "--username=postgres",
                "--dbname",
                &world.database.name,
                "--port",
                &port,
            ]);
            command
        }
        _ => {
            let Some(program) = mariadb_dump() else { return Ok(None) };
            let mut command = Command::new(program);
            command.args(["--no-defaults", "--host=127.0.0.1", "--user=root", "--protocol=tcp", "--port", &port]);
            command.args(["--single-transaction", &world.database.name]);
            command
        }
    };
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// How many bytes the files in a folder have, and those of them that have the text.
fn files_with(folder: &Path, text: &[u8]) -> Result<(u64, Vec<String>)> {
    let mut bytes = 0;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let (more, others) = files_with(&entry.path(), text)?;
            (bytes, found) = (bytes + more, [found, others].concat());
        } else if kind.is_file() {
            let content = std::fs::read(entry.path())?;
            bytes += content.len() as u64;
            if content.windows(text.len()).any(|window| window == text) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    Ok((bytes, found))
}

/// A server of the rows, which ends with this.
struct ServeProcess(Child, u16);

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl ServeProcess {
    fn start(world: &World, kinds: &Path) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_ingester"));
        command.args(["serve", "--insecure-loopback", &port.to_string(), "--database-url", &world.database.url]);
        command.arg("--kinds").arg(kinds).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(ServeProcess(command.spawn().context("starting the server")?, port))
    }

    /// The whole answer, with its head.
    fn get(&self, path: &str, accept: &str) -> Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.1))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

async fn a_pruned_value_is_in_no_file_no_message_and_no_answer(world: &mut World) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let kinds = folder.path().join("kinds.yaml");
    std::fs::write(&kinds, KINDS)?;
    let file = format!("kindsFile: {}", kinds.display());
    let settings = Settings { ingester: vec![file.leak()], log_level: "trace", ..world.settings() };
    world.objects.create(with_secret("before", "x", "a")).await?;
    world.start_with(&settings)?;
    world.objects.create(with_secret("changes", "x", "b")).await?;
    world.objects.create(with_secret("goes", "x", "c")).await?;
    // Too long for its column: a reject.
    world.objects.create(with_secret("bad", "an algorithm with a long name", "d")).await?;
    for name in ["before", "changes", "goes"] {
        world.row_that("live", "Model", name, |row| row.is_live()).await?;
    }
    let again = json!({"spec": {"description": format!("{SECRET}-e"), "algorithm": "y"}});
    world.objects.patch("Model", "changes", &again).await?;
    world.objects.delete("Model", "goes").await?;
    world.row_that("deleted", "Model", "goes", |row| row.deleted).await?;
    let changed = async || world.database.count("model WHERE name = 'changes' AND algorithm = 'y'").await;
    eventually("the change", changed, |rows| *rows == 1).await?;
    let rejected = async || world.database.count("ingester_rejects").await;
    eventually("the reject", rejected, |rows| *rows == 1).await?;
    // The object itself still has it.
    let object = world.objects.get("Model", "changes").await?.context("it is there")?;
    ensure!(serde_json::to_string(&object)?.contains(SECRET));

    let mut seen = CheckedTexts::default();
    // A row that differs, so that the audit has something to report.
    world.database.sql("UPDATE model SET algorithm = 'z' WHERE name = 'before'").await?;
    let all: [&[&str]; 12] = [
        &["audit"],
        &["audit", "-o", "json"],
        &["get", "models", "-A", "--state", "all"],
        &["get", "models", "-A", "--state", "all", "-o", "json"],
        &["get", "models", "-A", "--state", "all", "-o", "yaml"],
        &["get", "models", "-A", "--state", "all", "-o", "csv"],
        &["get", "models", "-A", "--show-labels"],
        &["rejects"],
        &["rejects", "-o", "json"],
        &["restore", "model", "goes", "-n", &world.objects.namespace],
        &["policies"],
        &["doctor", "-o", "json"],
    ];
    for arguments in all {
        let ran = world.ingester().run(arguments)?;
        seen.add(&arguments.join(" "), format!("{}{}", ran.out, ran.err));
    }
    let audited = &seen.texts[1].1;
    ensure!(audited.contains("before"), "the audit has found the row: {audited}");
    ensure!(seen.texts[8].1.contains("bad"), "the reject is listed: {}", seen.texts[8].1);

    let serving = ServeProcess::start(world, &kinds)?;
    let models = format!("/apis/michelangelo.api/v2/namespaces/{}/models", world.objects.namespace);
    let list = async || Ok(serving.get(&models, "application/json").unwrap_or_default());
    let listed = within(Duration::from_secs(30), "an answer", list, |answer| answer.contains(" 200 ")).await?;
    seen.add("serve list", listed);
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    for (path, accept) in [
        (format!("{models}/changes"), "application/json"),
        (models.clone(), table),
        (format!("{models}?labelSelector=state%20in%20(live,deleted)"), "application/json"),
        ("/openapi/v2".to_owned(), "application/json"),
    ] {
        seen.add(&format!("serve {path}"), serving.get(&path, accept)?);
    }
    drop(serving);

    seen.add("metrics", world.ingester().metrics()?);
    world.stop()?;
    let logs = world.ingester().logs()?;
    ensure!(logs.contains("TRACE") && logs.contains("bad"), "the log was meant to have everything");
    seen.add("the log", logs);
    let events = kube::Api::<k8s_openapi::api::events::v1::Event>::namespaced(
        world.objects.client.clone(),
        &world.objects.namespace,
    );
    let told = async || Ok(events.list(&kube::api::ListParams::default()).await?.items);
    let told = eventually("the Event about the reject", told, |events| !events.is_empty()).await?;
    seen.add("Events", serde_json::to_string(&told)?);
    if let Some(dump) = dump(world)? {
        ensure!(dump.contains("ingester_rejects"), "the dump has all tables");
        seen.add("dump", dump);
        seen.check(&["dump"])?;
    }
    seen.check(&["get models -A --state all -o json", "serve list"])?;
    let folder = world.database.folder().context("a server of the test's own")?;
    let (bytes, found) = files_with(folder, b"TOPSECRET")?;
    ensure!(found.is_empty(), "files of the database have the secret: {found:?}");
    let (_, shown) = files_with(folder, SHOWN.as_bytes())?;
    ensure!(!shown.is_empty(), "what is stored is in no file of {bytes} bytes");
    eprintln!("{} texts and {bytes} bytes of files have no pruned value", seen.texts.len());
    Ok(())
}
