//! Plain kubectl reads and changes the objects in SQL.

use crate::server::{Fate, Server, model};
use anyhow::Result;
use ingester_tests::{kubectl, skipped_without_kubectl};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::process::Command;

/// kubectl with a server.
pub(crate) struct Kubectl {
    program: PathBuf,
    pub(crate) server: Server,
}

/// The output of kubectl.
#[derive(Debug)]
struct KubectlOutput {
    ok: bool,
    out: String,
    err: String,
}

impl Kubectl {
    /// kubectl with a server of these objects; `None` if it is not installed.
    async fn asks(objects: &[(Json, Fate)]) -> Result<Option<Self>> {
        Ok(Self::new(Server::start(objects).await?))
    }

    /// kubectl with this server; `None` if it is not installed.
    pub(crate) fn new(server: Server) -> Option<Self> {
        let program = kubectl();
        if program.is_none() {
            skipped_without_kubectl();
        }
        program.map(|program| Kubectl { program, server })
    }

    /// kubectl with this server, to be started; `None` if it is not installed.
    pub(crate) fn command(server: &Server) -> Option<Command> {
        let program = kubectl();
        if program.is_none() {
            skipped_without_kubectl();
        }
        let mut command = Command::new(program?);
        command
            .arg(format!("--server={}", server.url))
            .arg(format!("--cache-dir={}", server.folder().join("cache").display()))
            .env("KUBECONFIG", "/dev/null")
            .env("HOME", server.folder());
        Some(command)
    }

    fn run(&self, arguments: &[&str]) -> Result<KubectlOutput> {
        self.run_with(&[], arguments)
    }

    fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Result<KubectlOutput> {
        let output = Command::new(&self.program)
            .arg(format!("--server={}", self.server.url))
            .arg(format!("--cache-dir={}", self.server.folder().join("cache").display()))
            .args(arguments)
            .env("KUBECONFIG", "/dev/null")
            .env("HOME", self.server.folder())
            .envs(environment.iter().copied())
            .output()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(KubectlOutput { ok: output.status.success(), out: text(output.stdout), err: text(output.stderr) })
    }

    /// Its output; it must succeed.
    pub(crate) fn prints(&self, arguments: &[&str]) -> Result<String> {
        let said = self.run(arguments)?;
        assert!(said.ok, "{arguments:?}: {said:?}");
        Ok(said.out)
    }

    /// The names that it prints.
    fn names(&self, arguments: &[&str]) -> Result<Vec<String>> {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["-o", "name"]).collect();
        let out = self.prints(&arguments)?;
        Ok(out.lines().map(|line| line.rsplit('/').next().unwrap().to_owned()).collect())
    }
}

fn objects() -> Vec<(Json, Fate)> {
    vec![
        (model("ml", "a", 1, &json!({"team": "pricing", "tier": "1"})), Fate::Live),
        (model("ml", "b", 2, &json!({"team": "pricing"})), Fate::Evicted),
        (model("ml", "c", 3, &json!({"team": "search"})), Fate::Evicted),
        (model("ml", "gone", 4, &json!({"team": "search"})), Fate::Deleted),
        (model("lab", "d", 5, &json!({})), Fate::Live),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn it_lists_and_selects() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    let of_ml = ["get", "models", "-n", "ml"];
    let with = |more: &[&'static str]| of_ml.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    assert_eq!(kubectl.names(&of_ml)?, ["a", "b", "c"]);
    assert_eq!(kubectl.names(&["get", "models", "-A"])?, ["d", "a", "b", "c"], "by namespace, then by name");
    assert_eq!(kubectl.names(&with(&["-l", "team=pricing"]))?, ["a", "b"]);
    assert_eq!(kubectl.names(&with(&["-l", "team in (search),!tier"]))?, ["c"]);
    assert_eq!(kubectl.names(&with(&["--field-selector", "metadata.name=c"]))?, ["c"]);
    assert_eq!(kubectl.names(&with(&["--field-selector", "spec.owner.name=ann,metadata.name!=a"]))?, ["b", "c"]);
    // kubectl sends the text of both selectors as it is.
    assert_eq!(
        kubectl.names(&with(&["--field-selector", "metadata.name>=b,metadata.creationTimestamp<in 1d"]))?,
        ["b", "c"]
    );
    assert_eq!(kubectl.names(&with(&["-l", "mirror.michelangelo.api/created-after=in 1d"]))?, [""; 0]);
    assert_eq!(kubectl.names(&with(&["--chunk-size=1"]))?, ["a", "b", "c"]);
    assert_eq!(kubectl.names(&with(&["-l", "mirror.michelangelo.api/state=evicted"]))?, ["b", "c"]);
    assert_eq!(kubectl.names(&with(&["-l", "mirror.michelangelo.api/state=deleted,team=search"]))?, ["gone"]);
    assert_eq!(kubectl.names(&with(&["-l", "mirror.michelangelo.api/order-by=-name"]))?, ["c", "b", "a"]);
    assert_eq!(kubectl.names(&["get", "model", "b", "-n", "ml"])?, ["b"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_prints_in_every_form() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    let table = kubectl.prints(&["get", "models", "-A", "--show-labels", "-L", "tier"])?;
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let header = lines.next().unwrap();
    assert_eq!(header[..3], ["NAMESPACE", "NAME", "OWNER"], "{table}");
    assert_eq!(header[header.len() - 4..], ["STATE", "AGE", "TIER", "LABELS"], "{table}");
    assert!(table.contains("team=pricing,tier=1"), "{table}");
    let wide = kubectl.prints(&["get", "models", "-n", "ml", "-o", "wide"])?;
    assert!(wide.contains("ALGORITHM") && wide.contains("xgboost"), "{wide}");
    let one: Json = serde_json::from_str(&kubectl.prints(&["get", "model", "b", "-n", "ml", "-o", "json"])?)?;
    assert_eq!((&one["kind"], &one["spec"]["algorithm"]), (&json!("Model"), &json!("xgboost")));
    let all: Json = serde_json::from_str(&kubectl.prints(&["get", "models", "-n", "ml", "-o", "json"])?)?;
    assert_eq!((&all["kind"], all["items"].as_array().unwrap().len()), (&json!("List"), 3));
    let yaml = kubectl.prints(&["get", "model", "b", "-n", "ml", "-o", "yaml"])?;
    assert!(yaml.starts_with("apiVersion: michelangelo.api/v2\nkind: Model\nmetadata:\n"), "{yaml}");
    let sorted =
        kubectl.prints(&["get", "models", "-n", "ml", "--sort-by", ".metadata.resourceVersion", "--no-headers"])?;
    assert!(sorted.starts_with("a "), "{sorted}");
    let columns =
        kubectl.prints(&["get", "models", "-n", "ml", "--no-headers", "-o", "custom-columns=N:.metadata.name"])?;
    assert_eq!(columns, "a\nb\nc\n");
    let path = kubectl.prints(&["get", "models", "-n", "ml", "-o", "jsonpath={.items[*].metadata.name}"])?;
    assert_eq!(path, "a b c");
    let described = kubectl.prints(&["describe", "model", "b", "-n", "ml"])?;
    assert!(described.contains("Name:         b") && described.contains("Algorithm:"), "{described}");
    let explained = kubectl.prints(&["explain", "model.spec.algorithm"])?;
    assert!(explained.contains("Learning algorithm"), "{explained}");
    let explained = kubectl.prints(&["explain", "units.status"])?;
    assert!(explained.contains("lagSeconds") && explained.contains("oldest change"), "{explained}");
    let resources = kubectl.prints(&["api-resources", "--api-group=michelangelo.api", "-o", "name"])?;
    assert_eq!(resources.lines().count(), 13, "{resources}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_explains_by_the_older_form_of_schemas() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&[]).await? else { return Ok(()) };
    let explained = |path: &str| kubectl.prints(&["explain", path, "--output=plaintext-openapiv2"]);
    let models = explained("models")?;
    assert!(models.contains("KIND:     Model\n") && models.contains("   spec\t<Object>"), "{models}");
    let metadata = explained("model.metadata")?;
    assert!(metadata.contains("resourceVersion") && metadata.contains("unique within a namespace"), "{metadata}");
    let algorithm = explained("model.spec.algorithm")?;
    assert!(algorithm.contains("Learning algorithm"), "{algorithm}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_asks_for_everything_for_events_and_for_the_version() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    assert_eq!(kubectl.names(&["get", "all", "-n", "ml"])?, ["a", "b", "c"]);
    let none = kubectl.run(&["get", "all", "-n", "typo"])?;
    assert!(none.ok && none.err == "No resources found in typo namespace.\n", "{none:?}");
    let events = kubectl.run(&["events", "-n", "ml"])?;
    assert!(events.ok && events.err.contains("No events found in ml namespace."), "{events:?}");
    assert!(events.err.contains("Warning: Events are not mirrored here"), "{events:?}");
    let described = kubectl.run(&["describe", "model", "b", "-n", "ml"])?;
    assert!(described.out.contains("Events:") && described.err.is_empty(), "{described:?}");
    let version = kubectl.run(&["version"])?;
    assert!(version.out.contains("+ingester") && version.err.is_empty(), "{version:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn its_errors_are_those_of_an_api_server() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    for (arguments, expected) in [
        (
            &["get", "model", "none", "-n", "ml"][..],
            "Error from server (NotFound): models.michelangelo.api \"none\" not found\n",
        ),
        (
            &["get", "model", "gone", "-n", "ml"],
            "Error from server (NotFound): models.michelangelo.api \"gone\" not found; a deleted object of this name is in SQL: ",
        ),
        (&["get", "models", "-n", "ml", "--field-selector", "spec.none=x"], "Error from server (BadRequest): "),
        (&["get", "models", "-n", "ml", "-l", "mirror.michelangelo.api/stat=live"], "Error from server (BadRequest): "),
        // The namespace does not exist, either, but that was not the question.
        (
            &["get", "model", "none", "-n", "typo"],
            "Error from server (NotFound): models.michelangelo.api \"none\" not found\n",
        ),
        (&["get", "namespace", "typo"], "Error from server (Forbidden): namespaces \"typo\" is forbidden: "),
        (&["get", "cats"], "error: the server doesn't have a resource type \"cats\"\n"),
        (&["label", "model", "a", "-n", "ml", "x=y"], "Error from server (MethodNotAllowed): "),
    ] {
        let said = kubectl.run(arguments)?;
        assert!(!said.ok && said.err.starts_with(expected), "{arguments:?}: {said:?}");
    }
    let none = kubectl.run(&["get", "models", "-n", "typo"])?;
    assert!(none.ok && none.err == "No resources found in typo namespace.\n", "{none:?}");
    let unprefixed = kubectl.run(&["get", "models", "-n", "ml", "-l", "state=deleted"])?;
    assert!(unprefixed.err.contains("Warning: no object has such a label `state`"), "{unprefixed:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_knows_namespaces_rights_and_parameters() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    assert_eq!(kubectl.names(&["get", "ns"])?, ["lab", "ml"]);
    let namespace = kubectl.prints(&["get", "ns", "ml"])?;
    assert_eq!(namespace.split_whitespace().collect::<Vec<_>>(), ["NAME", "STATUS", "ml", "Active"]);
    for arguments in
        [["auth", "can-i", "get", "models"], ["auth", "can-i", "*", "*"], ["auth", "can-i", "get", "/version"]]
    {
        let said = kubectl.run(&arguments)?;
        assert_eq!((said.ok, said.out.as_str()), (true, "yes\n"), "{arguments:?}: {said:?}");
    }
    assert!(kubectl.prints(&["auth", "whoami"])?.contains("ingester:insecure-loopback"));
    let rights = kubectl.run(&["auth", "can-i", "--list", "-n", "ml"])?;
    assert!(rights.ok && rights.err.contains("the list may be incomplete"), "{rights:?}");
    let parameters = kubectl.prints(&["get", "parameters.mirror.michelangelo.api"])?;
    assert!(parameters.starts_with("NAME ") && parameters.contains("\ncreated-after "), "{parameters}");
    let of_ml = ["get", "models", "-n", "ml"];
    // kubectl requests pages of 500, and all of them.
    for (limit, chunk, found) in [(2, 500, &["a", "b"][..]), (2, 1, &["a", "b"]), (9, 1, &["a", "b", "c"])] {
        let limit = format!("mirror.michelangelo.api/limit={limit}");
        let chunk = format!("--chunk-size={chunk}");
        assert_eq!(kubectl.names(&[&of_ml[..], &["-l", &limit, &chunk]].concat())?, found, "{limit} {chunk}");
    }
    let status = kubectl.prints(&["get", "model", "b", "-n", "ml", "--subresource=status", "-o", "name"])?;
    assert_eq!(status, "model.michelangelo.api/b\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_shows_the_state_of_what_is_not_live() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    let path = r"{range .items[*]}{.metadata.name}={.metadata.annotations.mirror\.michelangelo\.api/state} {end}";
    let form = format!("jsonpath={path}");
    let all = ["get", "models", "-n", "ml", "-l", "mirror.michelangelo.api/state=all", "-o", &form];
    assert_eq!(kubectl.prints(&all)?, "a= b=evicted c=evicted gone=deleted ");
    Ok(())
}

/// A server of the run `nightly` in the versions 1 to 3, each of which began when the one before it ended.
fn with_a_past() -> Result<Server> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, content: &Json| std::fs::write(folder.path().join(name), content.to_string());
    let columns = json!([{"column": "phase", "path": ".status.phase", "type": "VARCHAR(32)"}]);
    let kind = json!({"group": "example.com", "version": "v1", "kind": "Run", "namespaced": true, "history": "forever", "columns": columns});
    write("kinds.yaml", &json!({"builtIn": false, "kinds": [kind]}))?;
    let config = json!({
        "metadataStorage": {"enableMetadataStorage": true, "databaseURL": "sqlite://objects.db"},
        "ingester": {"kindsFile": "kinds.yaml"}, "server": {"address": ""},
    });
    write("ingester.yaml", &config)?;
    for (version, phase) in [(1, "Pending"), (2, "Running"), (3, "Failed")] {
        let metadata = json!({
            "namespace": "ml", "name": "nightly", "uid": "u1", "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"team": if version < 3 { "ads" } else { "pricing" }},
        });
        let run =
            json!({"apiVersion": "example.com/v1", "kind": "Run", "metadata": metadata, "status": {"phase": phase}});
        write("run.json", &run)?;
        let mut import = Command::new(env!("CARGO_BIN_EXE_ingester"));
        let imported =
            import.args(["import", "--config", "ingester.yaml", "run.json"]).current_dir(folder.path()).output()?;
        assert!(imported.status.success(), "{imported:?}");
    }
    Server::start_in(folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn it_reads_the_past() -> Result<()> {
    let Some(kubectl) = Kubectl::new(with_a_past()?) else { return Ok(()) };
    let raw = |path: &str| -> Result<Json> {
        let path = format!("/apis/example.com/v1{path}");
        Ok(serde_json::from_str(&kubectl.prints(&["get", "--raw", &path])?)?)
    };
    let resources = raw("")?;
    let names = resources["resources"].as_array().unwrap().iter().map(|resource| resource["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["runs", "runs/history", "runs/restore", "runs/status"]);
    let nightly = "/namespaces/ml/runs/nightly";
    let history = raw(&format!("{nightly}/history"))?;
    let shown = |object: &Json, name: &str| {
        let annotation = &object["metadata"]["annotations"][format!("mirror.michelangelo.api/{name}")];
        annotation.as_str().unwrap_or("none").to_owned()
    };
    let items = history["items"].as_array().unwrap();
    let told: Vec<String> =
        items.iter().map(|item| format!("{} {}", item["status"]["phase"], shown(item, "change"))).collect();
    assert_eq!(told, [r#""Failed" updated"#, r#""Running" updated"#, r#""Pending" none"#]);
    let second = raw(&format!("{nightly}/history?version=2"))?;
    assert_eq!(second, items[1]);
    let began = shown(&second, "valid-from");
    assert_eq!(raw(&format!("{nightly}?at={began}"))?["status"]["phase"], "Running");

    // The label selector is kubectl's only way to a parameter.
    let at = |selector: &str| format!("mirror.michelangelo.api/at={selector}");
    let phases = ["get", "runs", "-n", "ml", "-o", "jsonpath={.items[*].status.phase}", "-l"];
    let phase = |selector: &str| kubectl.prints(&[&phases[..], &[selector]].concat());
    assert_eq!(phase(&at(&began))?, "Running");
    assert_eq!(phase(&at("0s"))?, "Failed");
    assert_eq!(phase(&at("1h"))?, "");
    assert_eq!(phase(&format!("{},mirror.michelangelo.api/scan=true,team=ads", at(&began)))?, "Running");
    let table = kubectl.prints(&["get", "runs", "-n", "ml", "-l", &at(&began)])?;
    assert!(table.contains("nightly") && table.contains("Running"), "{table}");
    for (selector, part) in [
        (format!("{},team=ads", at(&began)), "scan=true"),
        (at("in 1h"), "is in the future"),
        (at("tuesday"), "time `tuesday`"),
    ] {
        let said = kubectl.run(&["get", "runs", "-n", "ml", "-l", &selector])?;
        assert!(!said.ok && said.err.contains(part), "{selector}: {said:?}");
    }
    let watched = kubectl.run(&["get", "runs", "-n", "ml", "-w", "-l", &at(&began)])?;
    assert!(!watched.ok && watched.err.contains("`at` works for objects and lists"), "{watched:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_edits_replaces_and_applies_evicted_objects() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    let of = |name: &str, path: &str| {
        let form = format!("jsonpath={path}");
        kubectl.prints(&["get", "model", name, "-n", "ml", "-o", &form])
    };
    let file = kubectl.server.folder().join("b.yaml");
    let path = file.to_str().unwrap();
    let write = |change: &dyn Fn(String) -> String| -> Result<()> {
        let shown = kubectl.prints(&["get", "model", "b", "-n", "ml", "-o", "yaml"])?;
        Ok(std::fs::write(&file, change(shown))?)
    };
    // Nothing is changed, although the file contains the state.
    write(&|shown| shown)?;
    kubectl.prints(&["replace", "-f", path])?;
    assert_eq!(of("b", "{.metadata.resourceVersion}")?, "2");

    write(&|shown| shown.replace("team: pricing", "team: web").replace("state: evicted", "state: live"))?;
    kubectl.prints(&["replace", "-f", path])?;
    assert_eq!(of("b", "{.metadata.labels.team} {.metadata.resourceVersion}")?, "web 3");
    write(&|shown| shown.replace("team: web", "team: search"))?;
    kubectl.prints(&["apply", "-f", path])?;
    assert_eq!(of("b", "{.metadata.labels.team} {.metadata.resourceVersion}")?, "search 4");
    let edited =
        kubectl.run_with(&[("KUBE_EDITOR", "sed -i s/search/edited/")], &["edit", "model", "b", "-n", "ml"])?;
    assert!(edited.ok && edited.out.contains("edited"), "{edited:?}");
    assert_eq!(of("b", "{.metadata.labels.team}")?, "edited");
    let annotations: Json = serde_json::from_str(&of("b", "{.metadata.annotations}")?)?;
    assert_eq!(annotations["mirror.michelangelo.api/state"], "evicted");

    for (change, arguments, expected) in [
        // The manifest of a missing object means that it is created.
        (("name: b", "name: other"), &["apply"][..], "models.michelangelo.api are created in the cluster"),
        (("name: b", "name: other"), &["create"], "models.michelangelo.api are created in the cluster"),
        (("name: b", "name: a"), &["apply"], "is in the cluster: write to its API server"),
        (("algorithm: xgboost", "algorithm: x"), &["apply"], "only its labels and annotations can be changed"),
        (("algorithm: xgboost", "algorithm: x"), &["replace"], "only its labels and annotations can be changed"),
        (
            ("team: edited", "team: x"),
            &["apply", "--server-side", "--force-conflicts"],
            "kubectl without --server-side",
        ),
    ] {
        write(&|shown| {
            let shown = shown.replace(change.0, change.1);
            let own = |line: &&str| !["resourceVersion:", "uid:"].iter().any(|own| line.trim().starts_with(own));
            shown.lines().filter(own).map(|line| format!("{line}\n")).collect()
        })?;
        let said = kubectl.run(&[arguments, &["-f", path]].concat())?;
        assert!(!said.ok && said.err.contains(expected), "{arguments:?} {change:?}: {said:?}");
    }
    assert_eq!(of("b", "{.metadata.labels.team}")?, "edited");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_changes_evicted_objects() -> Result<()> {
    let Some(kubectl) = Kubectl::asks(&objects()).await? else { return Ok(()) };
    let of = |path: &str| {
        let form = format!("jsonpath={path}");
        kubectl.prints(&["get", "model", "b", "-n", "ml", "-o", &form])
    };
    assert_eq!(of("{.metadata.resourceVersion}")?, "2");
    kubectl.prints(&["label", "model", "b", "-n", "ml", "stage=old", "team-"])?;
    assert_eq!(of("{.metadata.labels}")?, r#"{"stage":"old"}"#);
    assert_eq!(of("{.metadata.resourceVersion}")?, "3");
    assert_eq!(kubectl.names(&["get", "models", "-n", "ml", "-l", "stage=old"])?, ["b"]);
    kubectl.prints(&["annotate", "model", "b", "-n", "ml", "note=kept"])?;
    assert_eq!(of("{.metadata.annotations.note}")?, "kept");
    let patch = r#"[{"op": "add", "path": "/metadata/labels/by", "value": "patch"}]"#;
    kubectl.prints(&["patch", "model", "b", "-n", "ml", "--type=json", "-p", patch])?;
    assert_eq!(of("{.metadata.labels.by}")?, "patch");
    let tried = ["label", "model", "b", "-n", "ml", "stage=new", "--overwrite", "--dry-run=server"];
    kubectl.prints(&tried)?;
    assert_eq!(of("{.metadata.labels.stage}")?, "old", "that was a try");
    let spec =
        kubectl.run(&["patch", "model", "b", "-n", "ml", "--type=merge", "-p", r#"{"spec":{"algorithm":"x"}}"#])?;
    assert!(!spec.ok && spec.err.contains("invalid"), "{spec:?}");
    let applied =
        kubectl.run(&["label", "model", "b", "-n", "ml", "stage=x", "--overwrite", "--resource-version=1"])?;
    assert!(!applied.ok && applied.err.contains("Conflict"), "{applied:?}");

    kubectl.prints(&["delete", "model", "b", "-n", "ml", "--wait=false"])?;
    assert_eq!(kubectl.names(&["get", "models", "-n", "ml"])?, ["a", "c"]);
    let deleted = ["get", "models", "-n", "ml", "-l", "mirror.michelangelo.api/state=deleted"];
    assert_eq!(kubectl.names(&deleted)?, ["b", "gone"]);
    // kubectl deletes a selection one by one, and waits until each is gone.
    kubectl.prints(&["delete", "models", "-n", "ml", "-l", "team=search"])?;
    assert_eq!(kubectl.names(&["get", "models", "-n", "ml"])?, ["a"]);
    Ok(())
}
