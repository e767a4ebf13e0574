//! docs/kubectl.md, command by command.

use crate::server::{Fate, Server, model};
use anyhow::{Context as _, Result, ensure};
use ingester_tests::{
    Page, install, kubectl, shared_modern_apiserver, skipped_without_kubectl, skipped_without_modern_apiserver,
};
use serde_json::json;
use std::path::Path;
use std::process::Command;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kubectl.md");

/// The saved query of the page.
const QUERY: &str = "name: by-team
kind: Model
description: The models of a team.
parameters:
- {name: team, type: list, description: Names of teams.}
filter: {label: team, in: \"${team}\"}
";

#[tokio::test(flavor = "multi_thread")]
async fn the_page_about_kubectl_is_true() -> Result<()> {
    let Some(kubectl) = kubectl() else {
        skipped_without_kubectl();
        return Ok(());
    };
    let Some(cluster) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    let crds: Vec<_> = crd_specs::KINDS.iter().filter_map(ingester_core::Kind::crd).collect();
    install(&cluster.client().await?, &crds).await?;
    let mut risk = model("lab", "risk", 5, &json!({}));
    risk["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z".into();
    let objects = [
        (model("ml", "fraud", 1, &json!({"team": "pricing"})), Fate::Live),
        (model("ml", "churn-1", 2, &json!({"team": "pricing"})), Fate::Evicted),
        (model("ml", "churn-2", 3, &json!({"team": "search"})), Fate::Evicted),
        (model("ml", "retired", 4, &json!({"team": "search"})), Fate::Deleted),
        (risk, Fate::Live),
    ];
    let server = Server::start_beside(&objects, &[("queries/by-team.yaml", QUERY)], &cluster.kubeconfig()).await?;
    let ingester = Path::new(env!("CARGO_BIN_EXE_ingester"));
    let mut page = Page::new(ingester)?;
    page.program("kubectl", &kubectl)?;
    std::fs::copy(cluster.kubeconfig(), page.folder().join("cluster.yaml"))?;
    let made = Command::new(ingester).args(["kubeconfig", "--server", &server.url]).output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::write(page.folder().join("mirror.yaml"), made.stdout)?;
    page.set("KUBECONFIG", "mirror.yaml");
    page.set("HOME", page.folder());
    let compared =
        page.walk(&std::fs::read_to_string(PAGE)?).with_context(|| format!("docs/kubectl.md\n{}", server.log()))?;
    ensure!(compared == 13, "{compared} outputs are compared");
    Ok(())
}
