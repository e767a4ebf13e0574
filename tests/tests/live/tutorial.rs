//! The part of docs/tutorial.md that needs a cluster, after the part that creates its file of kinds. The rest is run by the tests of
//! `examples/dataset-operator`.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::page::{Page, section};
use ingester_tests::{kubectl, shared_modern_apiserver, skipped_without_kubectl, skipped_without_modern_apiserver};
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn the_tutorial_follows_a_cluster() -> Result<()> {
    let Some(kubectl) = kubectl() else {
        skipped_without_kubectl();
        return Ok(());
    };
    let Some(server) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    let mut page = Page::new(Path::new(env!("CARGO_BIN_EXE_ingester")))?;
    page.program("kubectl", &kubectl)?;
    page.set("KUBECONFIG", server.kubeconfig());
    page.copy(&Path::new(ROOT).join("examples/dataset-operator"))?;
    let text = std::fs::read_to_string(format!("{ROOT}/docs/tutorial.md"))?;
    let mut compared = 0;
    for heading in ["## As a file", "## Follow a cluster"] {
        compared += page.walk(section(&text, heading)?).with_context(|| format!("docs/tutorial.md, {heading}"))?;
    }
    ensure!(compared == 5, "{compared} outputs are compared");
    Ok(())
}
