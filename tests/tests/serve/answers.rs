//! One answer: the output of `ingester get` equals the server's answer, printed by kubectl's rules, and kubectl's output of it.

use crate::callers::ask;
use crate::kubectl::Kubectl;
use crate::server::Server;
use anyhow::{Context as _, Result, ensure};
use crd_specs::KINDS;
use http::Method;
use ingester_core::value::Micros;
use ingester_printers::table::{Options, PrintedColumn, Row, TablePrinter};
use ingester_printers::{Tree, json, name, yaml};
use serde::Deserialize as _;
use serde_json::{Value as Json, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The samples of `crd-specs`, one object of each kind.
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples");

/// A cluster-scoped kind, whose columns have the names of the row's own fields, and all types.
const PROBES: &str = "
kinds:
- group: example.com
  version: v1
  kind: Probe
  namespaced: false
  columns:
  - {column: state, path: .status.state, type: VARCHAR(20)}
  - {column: age, path: .spec.age, type: INT}
  - {column: version, path: .spec.version, type: VARCHAR(20)}
  - {column: deleted, path: .spec.deleted, type: BOOLEAN}
  - {column: ratio, path: .spec.ratio, type: DOUBLE}
  - {column: large, path: .spec.large, type: BIGINT UNSIGNED}
  - {column: time, path: .spec.time, type: DATETIME(6)}
";

/// The kinds with objects in all states: their tables and API groups, and how their columns differ.
const IN_ALL_STATES: [(&str, &str, &str); 4] = [
    ("Model", "michelangelo.api/v2", r#"{"spec": {"algorithm": "xgboost", "owner": {"name": "ann"}}}"#),
    ("Deployment", "michelangelo.api/v2", r#"{"status": {"state": "DEPLOYMENT_STATE_HEALTHY"}}"#),
    ("InferenceServer", "michelangelo.api/v2", r#"{"spec": {"owner": {"name": "two\nlines"}}}"#),
    (
        "Probe",
        "example.com/v1",
        r#"{"spec": {"age": -3, "version": "v9", "deleted": true, "ratio": 1e6,
        "large": 9223372036854775807, "time": "2026-01-02T03:04:05.5Z"}, "status": {"state": "up"}}"#,
    ),
];

/// Objects by name, with their namespaces and labels. The rows of `evicted-` and `deleted-` have that state, too.
const OBJECTS: [(&str, &str, &str); 7] = [
    ("live", "ml", r#"{"team": "pricing", "team-b": "x", "a/b": ""}"#),
    ("live-with-a-rather-long-name", "ml", "{}"),
    ("live", "lab", r#"{"team": "search"}"#),
    ("evicted-1", "ml", r#"{"team": "pricing"}"#),
    ("evicted-2", "lab", "{}"),
    ("deleted-1", "ml", r#"{"team": "pricing"}"#),
    ("deleted-evicted", "lab", "{}"),
];

/// A time this many days and a half ago: its age does not change while this runs.
fn days_ago(days: u64) -> Micros {
    Micros::ago(Duration::from_mins(days * 24 * 60 + 750))
}

/// The `OBJECTS` as objects of each kind, as lines of JSON. Some fields are absent in every second one.
fn objects() -> Result<String> {
    let mut lines = String::new();
    for (kind, version, fields) in IN_ALL_STATES {
        for (number, (name, namespace, labels)) in OBJECTS.into_iter().enumerate() {
            let mut object: Json = match number % 2 {
                0 => serde_json::from_str(fields)?,
                _ => json!({}),
            };
            object["kind"] = kind.into();
            object["apiVersion"] = version.into();
            object["metadata"] = json!({
                "name": name, "namespace": namespace, "uid": format!("{kind}-{number}"),
                "resourceVersion": (100 - number).to_string(), "labels": serde_json::from_str::<Json>(labels)?,
                "creationTimestamp": days_ago(10 * (number as u64 % 3) + 1).rfc3339(),
            });
            if kind == "Probe" {
                object["metadata"].as_object_mut().context("metadata")?.remove("namespace");
                object["metadata"]["name"] = format!("{name}-{number}").into();
            }
            lines.push_str(&format!("{object}\n"));
        }
    }
    Ok(lines)
}

/// The output of a run of the program: standard output and standard error.
fn run(folder: &Path, arguments: &[&str]) -> Result<(String, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ingester"));
    let output = command.args(arguments).args(["--config", "ingester.yaml"]).current_dir(folder).output()?;
    let out = String::from_utf8(output.stdout)?;
    let err = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{arguments:?}: {out}{err}");
    Ok((out, err))
}

/// A server of the samples and of `OBJECTS`.
async fn serve() -> Result<Server> {
    let folder = tempfile::tempdir()?;
    let config = json!({
        "metadataStorage": {"enableMetadataStorage": true, "databaseURL": "sqlite://objects.db"},
        "ingester": {"kindsFile": "probes.yaml"},
        "server": {"address": ""},
    });
    std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?;
    std::fs::write(folder.path().join("probes.yaml"), PROBES)?;
    std::fs::write(folder.path().join("objects.ndjson"), objects()?)?;
    run(folder.path(), &["import", SAMPLES, "objects.ndjson"])?;
    let mut database = SqliteConnection::connect(&format!("sqlite://{}/objects.db", folder.path().display())).await?;
    for (kind, ..) in IN_ALL_STATES {
        for (column, days) in [("evict", 4), ("delete", 2)] {
            let table = kind.to_lowercase();
            let time = days_ago(days).sql();
            let sql = format!("UPDATE {table} SET {column}_time = '{time}' WHERE name LIKE '%{column}%'");
            database.execute(AssertSqlSafe(sql)).await?;
        }
    }
    database.close().await?;
    Server::start_in(folder)
}

/// The answer to a question, in the form of this media type.
async fn answered(server: &Server, path: &str, accept: &str) -> Result<Json> {
    let (code, answer) = ask(&server.client()?, Method::GET, path, &[("accept", accept)]).await?;
    ensure!(code == 200, "{path}: {code} {answer}");
    Ok(answer)
}

/// A `Table` as kubectl prints it.
fn table(table: &Json, options: Options) -> Result<String> {
    fn row(row: &Json) -> Result<Row<'_>> {
        let metadata = &row["object"]["metadata"];
        let labels = metadata["labels"].as_object().into_iter().flatten();
        Ok(Row {
            cells: Vec::deserialize(&row["cells"])?,
            namespace: metadata["namespace"].as_str().unwrap_or_default(),
            labels: labels.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default())).collect(),
        })
    }
    let column = |column: &Json| PrintedColumn {
        name: column["name"].as_str().unwrap_or_default().to_owned(),
        wide: column["priority"] != 0,
        is_name: column["format"] == "name",
    };
    let columns = table["columnDefinitions"].as_array().context("columns")?.iter().map(column).collect();
    let rows = table["rows"].as_array().context("rows")?.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(TablePrinter::new(columns, Options { headers: true, ..options }).render_rows(rows))
}

/// Compares the output of `get` for these arguments, in each format, with the server's answer for this path and these parameters.
async fn same(server: &Server, arguments: &[&str], path: &str, parameters: &str) -> Result<()> {
    const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let path = format!("{path}?{parameters}");
    let got = |more: &[&str]| run(server.folder(), &[&["get"], arguments, more].concat()).map(|(out, _)| out);
    let answer = answered(server, &path, TABLE).await?;
    ensure!(!answer["rows"].as_array().context("rows")?.is_empty(), "{path}: nothing to compare");
    let namespaces = arguments.contains(&"-A");
    for (flags, options) in [
        (&[][..], Options { namespaces, ..Options::default() }),
        (&["-o", "wide"], Options { namespaces, wide: true, ..Options::default() }),
        (
            &["-L", "team,a/b", "--show-labels"],
            Options {
                namespaces,
                label_columns: ["team", "a/b"].map(str::to_owned).into(),
                show_labels: true,
                ..Options::default()
            },
        ),
    ] {
        pretty(arguments, &got(flags)?, &table(&answer, options)?);
    }
    let answer = answered(server, &path, "application/json").await?;
    let (objects, shown) = match answer["items"].as_array() {
        Some(items) => (items.clone(), Tree::list_of(Vec::deserialize(&answer["items"])?)),
        None => (vec![answer.clone()], Tree::deserialize(&answer)?),
    };
    pretty(arguments, &got(&["-o", "json"])?, &json::pretty(&shown));
    pretty(arguments, &got(&["-o", "yaml"])?, &yaml::document(&shown));
    let name = |object: &Json| {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let group = text(&object["apiVersion"]).split_once('/').map(|(group, _)| group.to_owned()).unwrap_or_default();
        name::qualified(&text(&object["kind"]), &group, &text(&object["metadata"]["name"])) + "\n"
    };
    pretty(arguments, &got(&["-o", "name"])?, &objects.iter().map(name).collect::<String>());
    Ok(())
}

#[track_caller]
fn pretty(arguments: &[&str], printed: &str, expected: &str) {
    assert!(printed == expected, "{arguments:?}: it printed\n{printed}\nand not\n{expected}");
}

/// The path of a kind's objects in all namespaces.
fn path(version: &str, kind: &str) -> String {
    format!("/apis/{version}/{}", plural(kind))
}

fn plural(kind: &str) -> String {
    let built_in = KINDS.iter().find(|built_in| built_in.kind() == kind);
    built_in.map_or_else(|| format!("{}s", kind.to_lowercase()), |kind| kind.plural().into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_printed_as_it_is_answered() -> Result<()> {
    let server = serve().await?;
    for kind in KINDS {
        same(&server, &[&kind.plural(), "-A"], &path(&kind.api_version(), kind.kind()), "").await?;
    }
    for (kind, version, _) in IN_ALL_STATES {
        // A cluster-scoped kind has no namespaces.
        let all = if kind == "Probe" { None } else { Some("-A") };
        for state in ["live", "evicted", "deleted", "evicted,deleted", "all"] {
            let kind_name = plural(kind);
            let arguments = [[kind_name.as_str()].as_slice(), &["--state", state], &Vec::from_iter(all)].concat();
            same(&server, &arguments, &path(version, kind), &format!("state={state}")).await?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_selection_is_printed_as_it_is_answered() -> Result<()> {
    let server = serve().await?;
    let models = path("michelangelo.api/v2", "Model");
    for (flags, parameters) in [
        (&["-l", "team=pricing"][..], "labelSelector=team%3Dpricing"),
        (&["-l", "team in (search,pricing),!team-b"], "labelSelector=team+in+(search,pricing),!team-b"),
        (&["--field-selector", "spec.owner.name=ann"], "fieldSelector=spec.owner.name%3Dann"),
        (&["--sort-by", "-create_time,name"], "order-by=-create_time,name"),
        (&["--created-after", "5d"], "created-after=5d"),
        (&["--deleted-before", "1d"], "deleted-before=1d"),
        (&["--state", "all", "--sort-by", "owner"], "state=all&order-by=owner"),
    ] {
        same(&server, &[&["models", "-A"], flags].concat(), &models, parameters).await?;
        let in_ml = path("michelangelo.api/v2/namespaces/ml", "Model");
        same(&server, &[&["models", "-n", "ml"], flags].concat(), &in_ml, parameters).await?;
    }
    for (kind, name) in [("Model", "live"), ("Deployment", "evicted-1"), ("InferenceServer", "live")] {
        let path = path("michelangelo.api/v2/namespaces/ml", kind) + "/" + name;
        same(&server, &[&kind.to_lowercase(), name, "-n", "ml"], &path, "").await?;
    }
    same(&server, &["probe", "evicted-1-3"], &(path("example.com/v1", "Probe") + "/evicted-1-3"), "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_end_with_the_same_token() -> Result<()> {
    let server = serve().await?;
    let path = path("michelangelo.api/v2", "Model");
    let list = answered(&server, &format!("{path}?limit=2&state=all"), "application/json").await?;
    let arguments = ["get", "models", "-A", "--state", "all", "--limit", "2"];
    let (_, err) = run(server.folder(), &arguments)?;
    let token = err.trim().rsplit_once("--continue=").context("a token")?.1;
    // The server's has the version of its list before it.
    let of_server = list["metadata"]["continue"].as_str().context("a token")?;
    let version: u64 = list["metadata"]["resourceVersion"].as_str().context("a version")?.parse()?;
    assert_eq!(of_server, format!("{version:x}.{token}"));
    // And the server continues with both.
    let other =
        answered(&server, &format!("{path}?limit=2&state=all&continue={of_server}"), "application/json").await?;
    assert_eq!(other["metadata"]["resourceVersion"], list["metadata"]["resourceVersion"]);
    let (out, _) = run(server.folder(), &[&arguments[..], &["-o", "json", "--continue", token]].concat())?;
    let next = answered(&server, &format!("{path}?limit=2&state=all&continue={token}"), "application/json").await?;
    assert_eq!(next["items"], other["items"]);
    pretty(&arguments, &out, &json::pretty(&Tree::list_of(Vec::deserialize(&next["items"])?)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_prints_what_get_prints() -> Result<()> {
    let Some(kubectl) = Kubectl::new(serve().await?) else { return Ok(()) };
    let same = |arguments: &[&str], of_kubectl: &[&str], of_get: &[&str]| {
        let (printed, _) = run(kubectl.server.folder(), &[&["get"], arguments, of_get].concat())?;
        let expected = kubectl.prints(&[&["get"], arguments, of_kubectl].concat())?;
        pretty(arguments, &printed, &expected);
        Ok::<_, anyhow::Error>(())
    };
    for format in [&[][..], &["-o", "wide"], &["-o", "json"], &["-o", "yaml"], &["-o", "name"], &["--no-headers"]] {
        for of in [
            &["models", "-A"][..],
            &["deployments,models", "-n", "ml"],
            &["inferenceservers", "-A", "-l", "team=pricing"],
            &["models", "-n", "ml", "--field-selector", "spec.owner.name=ann"],
            &["model", "live", "-n", "ml"],
            &["probes"],
            &["models", "-n", "none"],
        ] {
            same(&[of, format].concat(), &[], &[])?;
        }
        let all_of_kubectl = ["-l", "mirror.michelangelo.api/state=all"];
        let all_of_get = ["--state", "all"];
        same(&[&["deployments", "-A"], format].concat(), &all_of_kubectl, &all_of_get)?;
        same(&[&["probes"], format].concat(), &all_of_kubectl, &all_of_get)?;
    }
    same(&["models", "-A", "-L", "team,a/b", "--show-labels"], &[], &[])?;
    same(&["models", "-A", "-o", "custom-columns=N:.metadata.name,O:.spec.owner"], &[], &[])?;
    same(&["models", "-A", "-o", "jsonpath={.items[*].metadata.uid}"], &[], &[])
}
