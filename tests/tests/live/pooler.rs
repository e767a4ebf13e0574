//! PgBouncer before PostgreSQL, in the mode in which each transaction may get a different session of the server.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::PgBouncer;
use serde_json::json;
use std::fmt::Write as _;
use std::process::{Command, Output};
use std::time::Instant;

use crate::objects::{model, project};
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// A pooler of PostgreSQL's.
on_servers! { OwnServers::DATABASE => a_pooler_is_enough_for_all_but_changes_of_tables [postgres POSTGRES] }

/// Objects of an import whose cost is printed.
const MANY: usize = 3_000;

/// Runs a command of the program.
fn ingester(arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ingester"));
    command.args(arguments).env_remove("DATABASE_URL").output().with_context(|| format!("{arguments:?}"))
}

/// Runs a command, which succeeds; returns what it prints.
fn done(arguments: &[&str]) -> Result<String> {
    let output = ingester(arguments)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A file of objects with a uid each, at a version.
fn objects(version: usize) -> String {
    let mut lines = String::new();
    for number in 0..MANY {
        let mut object = project(&format!("imported-{number}"), 1);
        object["metadata"] = json!({
            "namespace": "imported",
            "name": format!("imported-{number:05}"),
            "uid": format!("imported-{number:05}"),
            "resourceVersion": version.to_string(),
            "labels": {"number": number.to_string()},
        });
        let _ = writeln!(lines, "{object}");
    }
    lines
}

async fn a_pooler_is_enough_for_all_but_changes_of_tables(world: &mut World) -> Result<()> {
    let pooler = PgBouncer::start(&world.database)?;
    let direct = world.database.url.clone();
    let pooled = format!("{}?statement-cache-capacity=0", pooler.url(&world.database.name));

    // A pooler keeps no lock for a connection.
    let refused = ingester(&["schema", "apply", "--database-url", &pooled])?;
    let said = String::from_utf8_lossy(&refused.stderr);
    ensure!(!refused.status.success() && said.contains("name the server itself"), "{said}");
    done(&["schema", "apply", "--database-url", &direct])?;

    // The costs of a first fill, of a second one that overwrites, and of a page, by either way.
    let folder = tempfile::tempdir()?;
    for (number, (name, url)) in [("the server", &direct), ("the pooler", &pooled)].into_iter().enumerate() {
        let mut took = Vec::new();
        for version in [10 * number + 1, 10 * number + 2] {
            let file = folder.path().join("objects.jsonl");
            std::fs::write(&file, objects(version))?;
            let begin = Instant::now();
            done(&["import", "--database-url", url, &file.display().to_string()])?;
            took.push(begin.elapsed());
        }
        let begin = Instant::now();
        let listed =
            done(&["get", "projects", "-n", "imported", "--database-url", url, "--limit", "500", "-o", "name"])?;
        ensure!(listed.lines().count() == 500, "{listed}");
        let version = format!("project WHERE res_version = {}", 10 * number + 2);
        ensure!(world.database.count(&version).await? == MANY as u64, "by way of {name}");
        eprintln!("by way of {name}: {MANY} objects in {took:?}, a page of 500 in {:?}", begin.elapsed());
    }
    world.database.sql("DELETE FROM project; DELETE FROM project_labels").await?;

    // The mirror: new objects, changed, deleted and evicted ones.
    let settings = Settings { database_url: Some(pooled), ingester: vec!["createTables: false"], ..world.settings() };
    world.start_with(&settings)?;
    world.objects.create_all((0..40).map(|number| model(&format!("model-{number}"), "x"))).await?;
    world.settled().await?;
    for number in 0..20 {
        let patch = json!({"spec": {"algorithm": "y"}, "metadata": {"labels": {"changed": "yes"}}});
        world.objects.patch("Model", &format!("model-{number}"), &patch).await?;
    }
    for number in 10..15 {
        world.objects.delete("Model", &format!("model-{number}")).await?;
    }
    world.objects.annotate("Model", "model-20", "michelangelo/Immutable").await?;
    world.gone("Model", "model-20").await?;
    for number in 10..15 {
        world.row_that("deleted", "Model", &format!("model-{number}"), |row| !row.is_live()).await?;
    }
    world.settled().await?;
    world.audit_is_clean()?;
    ensure!(world.database.count("model WHERE algorithm = 'y' AND delete_time IS NULL").await? == 15);
    ensure!(world.database.count("model_labels WHERE \"key\" = 'changed'").await? == 20);
    // A restart reads the present rows.
    world.restart()?;
    world.settled().await?;
    world.stop()
}
