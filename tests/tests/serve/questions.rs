//! One question: the command, the URL, pseudo-labels and saved queries find the same objects.

use crate::callers::{ML, ask, names};
use crate::server::{Fate, Server, model, store};
use anyhow::{Context as _, Result, ensure};
use http::Method;
use ingester_core::value::Micros;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A question in each spelling, and the names of the objects that it finds, in their order.
struct Question {
    options: &'static [&'static str],
    url: &'static [(&'static str, &'static str)],
    /// `@` stands for the prefix.
    pseudo_labels: &'static str,
    saved: &'static str,
    found: &'static [&'static str],
}

const QUESTIONS: [Question; 10] = [
    Question { options: &[], url: &[], pseudo_labels: "", saved: "", found: &["evicted", "live"] },
    Question {
        options: &["--state", "all"],
        url: &[("state", "all")],
        pseudo_labels: "@state=all",
        saved: "states: all",
        found: &["deleted-long-ago", "deleted-now", "evicted", "live"],
    },
    Question {
        options: &["--state", "live,deleted"],
        url: &[("state", "live"), ("state", "deleted")],
        pseudo_labels: "@state in (deleted,live)",
        saved: "states: [live, deleted]",
        found: &["deleted-long-ago", "deleted-now", "live"],
    },
    Question {
        options: &["--deleted-after", "30d"],
        url: &[("deleted-after", "30d")],
        pseudo_labels: "@deleted-after=30d",
        saved: "deletedAfter: 30d",
        found: &["deleted-now"],
    },
    Question {
        options: &["--state=evicted,deleted", "--deleted-before=30d"],
        url: &[("deleted-before", "30d"), ("state", "evicted,deleted")],
        pseudo_labels: "@deleted-before=30d,@state in (evicted,deleted)",
        saved: "states: [evicted, deleted]\ndeletedBefore: 30d",
        found: &["deleted-long-ago"],
    },
    Question {
        options: &["--uid", "ml-deleted-now-3,ml-live-1"],
        url: &[("uid", "ml-deleted-now-3"), ("uid", "ml-live-1")],
        pseudo_labels: "@uid in (ml-live-1,ml-deleted-now-3)",
        saved: "uids: [ml-live-1, ml-deleted-now-3]",
        found: &["deleted-now", "live"],
    },
    Question {
        options: &["-l", "team=a", "--state", "all", "--sort-by", "-name"],
        url: &[("labelSelector", "team=a"), ("state", "all"), ("order-by", "-name")],
        pseudo_labels: "@order-by=-name,@state=all,team=a",
        saved: "labelSelector: team=a\nstates: all\norderBy: -name",
        found: &["live", "deleted-now"],
    },
    Question {
        options: &["--created-after", "2026-01-01", "--created-before", "2026-01-02T03:04:05Z", "--state", "all"],
        url: &[("created-after", "2026-01-01"), ("created-before", "2026-01-02T03:04:05Z"), ("state", "all")],
        pseudo_labels: "@state=all,@created-after=2026-01-01,@created-before=2026-01-02T03:04:05Z",
        saved: "createdAfter: 2026-01-01\ncreatedBefore: \"2026-01-02T03:04:05Z\"\nstates: all",
        found: &[],
    },
    Question {
        options: &["--field-selector", "spec.unknown=x", "--scan"],
        url: &[("fieldSelector", "spec.unknown=x"), ("scan", "true")],
        pseudo_labels: "@scan",
        saved: "fieldSelector: spec.unknown=x\nscan: true",
        found: &["evicted"],
    },
    Question {
        options: &["--created-before", "in 1d", "--field-selector", "metadata.name<f,create_time<=now"],
        url: &[("fieldSelector", "metadata.name<f,create_time<=now"), ("created-before", "in 1d")],
        pseudo_labels: "@created-before=in 1d",
        saved: "fieldSelector: metadata.name<f,create_time<=now\ncreatedBefore: in 1d",
        found: &["evicted"],
    },
];

/// A server of models in all states, with a saved query `q0`, `q1`, ... for each question.
async fn server() -> Result<Server> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("objects.db");
    let object = |name: &str, version: u64, team: &str| model("ml", name, version, &json!({"team": team}));
    let mut evicted = object("evicted", 2, "b");
    evicted["spec"]["unknown"] = "x".into();
    let objects = [
        (object("live", 1, "a"), Fate::Live),
        (evicted, Fate::Evicted),
        (object("deleted-now", 3, "a"), Fate::Deleted),
        (object("deleted-long-ago", 4, "b"), Fate::Deleted),
    ];
    store(&database, &objects).await?;
    let url = format!("sqlite://{}", database.display());
    let mut connection = SqliteConnection::connect(&url).await?;
    for (name, days) in [("deleted-now", 3), ("deleted-long-ago", 60)] {
        let time = Micros::ago(Duration::from_hours(24 * days)).sql();
        let update = format!("UPDATE model SET delete_time = '{time}' WHERE name = '{name}'");
        connection.execute(AssertSqlSafe(update)).await?;
    }
    connection.close().await?;
    std::fs::create_dir(folder.path().join("queries"))?;
    for (number, Question { saved, .. }) in QUESTIONS.iter().enumerate() {
        write_query(folder.path(), &format!("q{number}"), saved)?;
    }
    write_query(folder.path(), "existing", "states: [live, evicted]")?;
    let config = json!({
        "metadataStorage": {"enableMetadataStorage": true, "databaseURL": url}, "server": {"address": ""},
    });
    std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?;
    Server::start_in(folder)
}

/// Writes a saved query for models, with these lines.
fn write_query(folder: &Path, name: &str, lines: &str) -> Result<()> {
    let text = format!("name: {name}\nkind: Model\n{lines}\n");
    Ok(std::fs::write(folder.join(format!("queries/{name}.yaml")), text)?)
}

/// The names that `ingester get` prints, or its exit code and message.
fn by_command(server: &Server, arguments: &[&str]) -> Result<Result<Vec<String>, (i32, String)>> {
    let output = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["get", "--config", "ingester.yaml", "-o", "name"])
        .args(arguments)
        .current_dir(server.folder())
        .env_remove("DATABASE_URL")
        .output()?;
    let out = String::from_utf8(output.stdout)?;
    let err = String::from_utf8(output.stderr)?;
    if !output.status.success() {
        return Ok(Err((output.status.code().context("a code")?, err)));
    }
    let name = |line: &str| line.rsplit('/').next().map(str::to_owned);
    Ok(Ok(out.lines().filter_map(name).collect()))
}

/// The names that the server answers, or the code and the message of its error.
async fn by_url(server: &Server, parameters: &[(&str, &str)]) -> Result<Result<Vec<String>, (i32, String)>> {
    let encoded = |(name, value): &(&str, &str)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
    let query: Vec<String> = parameters.iter().map(encoded).collect();
    let (code, answer) = ask(&server.client()?, Method::GET, &format!("{ML}?{}", query.join("&")), &[]).await?;
    if code != 200 {
        return Ok(Err((code.into(), answer["message"].as_str().unwrap_or_default().to_owned())));
    }
    Ok(Ok(names(&answer).into_iter().map(str::to_owned).collect()))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_spelling_of_a_question_finds_the_same_objects() -> Result<()> {
    let server = server().await?;
    for (number, question) in QUESTIONS.iter().enumerate() {
        let Question { options, url, pseudo_labels, found, .. } = question;
        let saved = format!("q{number}");
        let selector = pseudo_labels.replace('@', "mirror.michelangelo.api/");
        // The field selector of the same request is the one of the URL.
        let fields = url.iter().filter(|(name, _)| *name == "fieldSelector");
        let by_label: Vec<(&str, &str)> =
            [("labelSelector", selector.as_str())].into_iter().chain(fields.copied()).collect();
        let answers = [
            ("the command", by_command(&server, &[&["models"], *options].concat())?),
            ("the URL", by_url(&server, url).await?),
            ("pseudo-labels", by_url(&server, &by_label).await?),
            ("a saved query by the command", by_command(&server, &["--query", &saved])?),
            ("a saved query by the URL", by_url(&server, &[("query", &saved)]).await?),
        ];
        for (spelling, answer) in answers {
            let answer = answer.unwrap_or_else(|error| panic!("{options:?} by {spelling}: {error:?}"));
            assert_eq!(answer, *found, "{options:?} by {spelling}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_of_deletion_of_what_exists_is_refused_in_every_spelling() -> Result<()> {
    let server = server().await?;
    let none = "objects that are live or evicted have no time of deletion: leave out ";
    let pseudo_labels = "mirror.michelangelo.api/deleted-after=30d,mirror.michelangelo.api/state in (live,evicted)";
    let apart = "no object passes both this and `states` of the saved query";
    for (answer, code, said) in [
        (
            by_command(&server, &["models", "--state", "live,evicted", "--deleted-after", "30d"])?,
            2,
            format!("--deleted-after: {none}--state"),
        ),
        (
            by_url(&server, &[("state", "live,evicted"), ("deleted-after", "30d")]).await?,
            400,
            format!("deleted-after: {none}`state`"),
        ),
        (by_url(&server, &[("labelSelector", pseudo_labels)]).await?, 400, format!("deleted-after: {none}`state`")),
        (
            by_command(&server, &["--query", "existing", "--deleted-after", "30d"])?,
            2,
            format!("--deleted-after: {apart}"),
        ),
        (
            by_url(&server, &[("query", "existing"), ("deleted-after", "30d")]).await?,
            400,
            format!("deleted-after: {apart}"),
        ),
    ] {
        let (found, message) = answer.err().context(said.clone())?;
        ensure!(found == code && message.contains(&said), "{found} {message}: {code} {said}");
    }
    write_query(server.folder(), "wrong", "states: [live, evicted]\ndeletedAfter: 30d")?;
    let (code, said) = by_command(&server, &["--query", "wrong"])?.err().context("a mistake")?;
    ensure!(code == 2 && said.contains(&format!("deletedAfter: {none}`states`")), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn list_options_find_what_a_label_selector_does() -> Result<()> {
    let server = server().await?;
    let text = json!({"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "a"});
    let team = json!({"fieldName": "label.team", "operator": "CRITERION_OPERATOR_EQUAL", "matchValue": text});
    let options = json!({"operation": {"criterion": [team]}}).to_string();
    for (states, found) in [("all", &["deleted-now", "live"][..]), ("live,evicted", &["live"])] {
        for selected in [("listOptionsExt", options.as_str()), ("labelSelector", "team=a")] {
            assert_eq!(by_url(&server, &[selected, ("state", states)]).await?.unwrap(), found, "{selected:?}");
        }
    }
    Ok(())
}
