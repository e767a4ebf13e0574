//! The effects of the program's configuration, and how it ends.

use crate::callers::{ML, ask, names};
use crate::server::{Fate, Server, free_port, model};
use anyhow::{Context as _, Result, ensure};
use crd_specs::KINDS;
use http::Method;
use ingester_core::kind::find;
use ingester_store::{ConnectOptions, Store};
use serde_json::{Value as Json, json};
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn one_of_each() -> Vec<(Json, Fate)> {
    let object = |name: &str, version: u64| model("ml", name, version, &json!({}));
    vec![(object("live", 1), Fate::Live), (object("evicted", 2), Fate::Evicted), (object("deleted", 3), Fate::Deleted)]
}

/// Waits for a condition.
async fn until(what: &str, mut condition: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !condition().await? {
        ensure!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn former_objects_are_hidden_if_the_configuration_says_so() -> Result<()> {
    let server = Server::start_with(&one_of_each(), json!({"serve": {"formerObjects": "none"}})).await?;
    let (code, list) = ask(&server.client()?, Method::GET, &format!("{ML}?state=all"), &[]).await?;
    assert_eq!((code, names(&list)), (200, vec!["live"]));
    let server = Server::start(&one_of_each()).await?;
    let (code, list) = ask(&server.client()?, Method::GET, &format!("{ML}?state=all"), &[]).await?;
    assert_eq!((code, names(&list)), (200, vec!["deleted", "evicted", "live"]), "by default they are not");
    Ok(())
}

#[test]
fn the_age_of_a_namespace_needs_a_cluster() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let config = json!({
        "metadataStorage": {"enableMetadataStorage": true, "databaseURL": "sqlite://objects.db"},
        "serve": {"formerObjects": "olderHidden"},
    });
    std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?;
    let ended = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["serve", "--config", "ingester.yaml", "--insecure-loopback", &free_port()?.to_string()])
        .current_dir(folder.path())
        .env_remove("KUBECONFIG")
        .env_remove("DATABASE_URL")
        .output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.code() == Some(2), "{said}");
    ensure!(said.contains("serve.formerObjects: olderHidden") && said.contains("--kubeconfig"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_has_a_third_of_the_time_of_the_configuration() -> Result<()> {
    let objects: Vec<(Json, Fate)> = (0..400)
        .map(|number| {
            let mut object = model("ml", &format!("m{number}"), number + 1, &json!({}));
            object["spec"]["unknown"] = "x".repeat(2000).into();
            (object, Fate::Evicted)
        })
        .collect();
    let server = Server::start_with(&objects, json!({"query": {"timeout": "1s"}})).await?;
    // No text matches these, and the database needs many steps for each to find that out.
    let unlike = json!({
        "fieldName": "spec.unknown", "operator": "CRITERION_OPERATOR_LIKE",
        "matchValue": {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": format!("{}y", "x".repeat(30))},
    });
    let options = json!({"operation": {"criterion": vec![unlike; 40], "logicalOperator": "LOGICAL_OPERATOR_OR"}});
    let quoted = options.to_string().replace('{', "%7B").replace('}', "%7D").replace('"', "%22");
    for limit in ["", "&limit=5"] {
        let path = format!("{ML}?scan=true&listOptionsExt={quoted}{limit}");
        let (code, status) = ask(&server.client()?, Method::GET, &path, &[]).await?;
        let message = status["message"].as_str().unwrap_or_default();
        ensure!(code == 504 && message.contains("the database took longer than 333.333333ms"), "{code} {status}");
    }
    Ok(())
}

/// The value of a metric.
pub(crate) async fn metric(port: u16, name: &str) -> Result<Option<f64>> {
    let client = kube::Client::try_from(kube::Config::new(format!("http://127.0.0.1:{port}").parse()?))?;
    let text = client.request_text(http::Request::get("/metrics").body(Vec::new())?).await?;
    Ok(text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_goes_on_to_its_end_after_a_signal() -> Result<()> {
    let port = free_port()?;
    let probes = json!({"serve": {"probes": format!("127.0.0.1:{port}")}});
    let mut server = Server::start_with(&one_of_each(), probes).await?;
    let in_flight = "ingester_serve_requests_in_flight";
    // Another program writes.
    let mut other = SqliteConnection::connect(&server.database()).await?;
    other.execute("BEGIN IMMEDIATE").await?;

    let mut stream = server.connect()?;
    write!(stream, "DELETE {ML}/evicted HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n")?;
    until("it is asked", async || Ok(metric(port, in_flight).await? == Some(1.0))).await?;
    // A later request has its answer, so this one has begun.
    assert_eq!(ask(&server.client()?, Method::GET, &format!("{ML}/live"), &[]).await?.0, 200);
    drop(stream);
    until("its client has gone", async || Ok(metric(port, in_flight).await? == Some(0.0))).await?;
    server.terminate()?;
    until("it listens no more", async || Ok(server.connect().is_err())).await?;
    ensure!(server.ended()?.is_none(), "it did not wait for the write: {}", server.log());
    ensure!(!server.log().contains("evicted"), "it is not known yet what becomes of it: {}", server.log());

    other.execute("ROLLBACK").await?;
    other.close().await?;
    until("it ends", async || Ok(server.ended()?.is_some())).await?;
    let log = server.log();
    ensure!(server.ended()?.is_some_and(|status| status.code() == Some(0)), "{log}");
    let line = log.lines().find(|line| line.contains(" audit: ") && line.contains("delete")).context("no line")?;
    ensure!(["evicted", "499", "outcome", "200"].iter().all(|part| line.contains(part)), "{line}");
    let store = Store::connect(&server.database().parse()?, ConnectOptions::default()).await?;
    let kind = find(KINDS, "michelangelo.api/v2", "Model").context("a kind")?;
    let rows = store.read_stored(kind.table(), &["ml-evicted-2"]).await?;
    ensure!(rows.len() == 1 && rows[0].delete_time.is_some(), "it is not deleted");
    Ok(())
}
