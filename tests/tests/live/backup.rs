//! The backup guide of `docs/operations.md`, step by step: a dump, later changes, the database restored from it.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{mariadb_dump, postgres, skipped};
use serde_json::Value as Json;
use std::fs::File;
use std::process::{Command, Stdio};

use crate::database::On;
use crate::eventually::eventually;
use crate::objects::{OURS, has_finalizer, model};
use crate::on_servers;
use crate::world::World;

on_servers! { OwnServers::NOTHING => a_restored_dump_lacks_what_was_evicted_since_and_the_audit_says_what [mariadb MARIADB] [postgres POSTGRES #[ignore = "in the set --all"]] }

/// The programs that dump the database and restore it; `None`, after it has said so, if they are not installed.
fn programs(world: &World) -> Result<Option<[Command; 2]>> {
    let database = &world.database;
    let Some(port) = database.port() else {
        skipped("the server that the environment names is not ours to dump");
        return Ok(None);
    };
    if database.on == On::Postgres {
        let mut programs =
            ["pg_dump", "psql"].map(|name| postgres::program(name).unwrap_or_else(|| Command::new(name)));
        for program in &mut programs {
            program.args(["--host=127.0.0.1", "--username=postgres", "--dbname", &database.name]);
            program.arg(format!("--port={port}"));
        }
        programs[0].args(["--clean", "--if-exists"]);
        programs[1].args(["--quiet", "--set=ON_ERROR_STOP=1"]).stdout(Stdio::null());
        return Ok(Some(programs));
    }
    let Some(dump) = mariadb_dump() else { return Ok(None) };
    let mut programs = [Command::new(dump), Command::new("mariadb")];
    for program in &mut programs {
        program.arg("--no-defaults").args(["--host=127.0.0.1", "--user=root", "--protocol=tcp"]);
        program.arg(format!("--port={port}"));
    }
    programs[0].args(["--single-transaction", "--hex-blob"]);
    for program in &mut programs {
        program.arg(&database.name);
    }
    Ok(Some(programs))
}

fn succeeds(mut command: Command) -> Result<()> {
    let output = command.stderr(Stdio::piped()).spawn()?.wait_with_output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The findings of an audit, as `name: finding`.
fn findings(world: &World) -> Result<Vec<String>> {
    let audit = world.audit(&["-o", "json", "Model"])?;
    let report: Json = serde_json::from_str(&audit.out).with_context(|| format!("{audit:?}"))?;
    let findings = report["findings"].as_array().context("findings")?;
    let text = |finding: &Json, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let mut found: Vec<String> =
        findings.iter().map(|finding| format!("{}: {}", text(finding, "name"), text(finding, "finding"))).collect();
    found.sort();
    Ok(found)
}

async fn mirrored(world: &World, name: &str) -> Result<()> {
    world.objects.create(model(name, "x")).await?;
    let finalized = async || {
        let object = world.objects.get("Model", name).await?.context("it is there")?;
        Ok(has_finalizer(&object, OURS))
    };
    eventually("its finalizer", finalized, |finalized| *finalized).await?;
    world.row_that("live", "Model", name, |row| row.is_live()).await.map(drop)
}

async fn a_restored_dump_lacks_what_was_evicted_since_and_the_audit_says_what(world: &mut World) -> Result<()> {
    let Some([mut dump, mut restore]) = programs(world)? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("ingester.sql");
    world.start()?;
    for name in ["changed", "deleted", "evicted", "marked"] {
        mirrored(world, name).await?;
    }
    world.settled().await?;

    // The dump, while the ingester runs.
    dump.stdout(File::create(&file)?);
    succeeds(dump)?;

    // The changes after it.
    mirrored(world, "created").await?;
    mirrored(world, "lost").await?;
    world.objects.patch("Model", "changed", &serde_json::json!({"spec": {"algorithm": "y"}})).await?;
    world.objects.delete("Model", "deleted").await?;
    for name in ["evicted", "marked", "lost"] {
        world.objects.annotate("Model", name, "michelangelo/Immutable").await?;
    }
    for name in ["deleted", "evicted", "marked", "lost"] {
        world.gone("Model", name).await?;
    }
    world.settled().await?;
    assert!(world.row("Model", "lost").await?.is_some_and(|row| row.evicted));
    // The log names the evicted objects.
    assert_eq!(world.log_lines(&["Immutable object evicted from etcd"])?.len(), 3);
    world.stop()?;

    // The restore, while it is stopped.
    restore.stdin(File::open(&file)?);
    succeeds(restore)?;
    let expected = ["changed: stale", "created: missing", "deleted: orphaned", "evicted: orphaned", "marked: orphaned"];
    assert_eq!(findings(world)?, expected);
    assert_eq!(world.row("Model", "lost").await?, None, "nobody has it any more, and nothing says so");
    for name in ["deleted", "evicted", "marked"] {
        assert!(world.row("Model", name).await?.is_some_and(|row| row.is_live()), "{name} as it was at the dump");
    }

    // An evicted object, whose row is marked as evicted before the ingester starts.
    let now = world.database.on.now();
    world.database.sql(&format!("UPDATE model SET evict_time = {now} WHERE name = 'marked'")).await?;
    world.restart()?;
    world.settled().await?;
    assert_eq!(findings(world)?, [""; 0]);
    let state = async |name: &str| anyhow::Ok(world.row("Model", name).await?.map(|row| (row.deleted, row.evicted)));
    assert_eq!(state("marked").await?, Some((false, true)), "it is there as at the dump");
    assert_eq!(state("evicted").await?, Some((true, false)), "it counts as deleted");
    assert_eq!(state("deleted").await?, Some((true, false)));
    // Late, but not too late.
    let late = format!("UPDATE model SET evict_time = {now}, delete_time = NULL WHERE name = 'evicted'");
    world.database.sql(&late).await?;
    world.restart()?;
    world.settled().await?;
    assert_eq!(state("evicted").await?, Some((false, true)));
    for name in ["changed", "created"] {
        assert_eq!(state(name).await?, Some((false, false)), "{name}");
    }
    Ok(())
}
