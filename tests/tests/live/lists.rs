//! What is read from the API server: everything at first, then only metadata.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::time::Duration;

use crate::eventually::{DEADLINE, eventually};
use crate::objects::{OURS, model, object};
use crate::world::World;
use crate::{on_both_api_servers, on_servers};
use ingester_tests::Edition;

on_both_api_servers! { OwnServers::NOTHING =>
    a_restart_reads_metadata_and_then_what_has_changed
}

// Its own API server, because so many large objects prevent it from streaming lists to others.
on_servers! { OwnServers::BOTH =>
    a_list_waits_for_a_database_that_does_not_answer [modern MODERN]
}

/// More changed objects than are read one by one.
const OBJECTS: usize = 210;

/// How many models lists brought, whole and as metadata, since the process began.
fn listed(world: &World) -> Result<(f64, f64)> {
    let metrics = world.metrics()?;
    let of =
        |read: &str| metrics.sum("ingester_objects_listed_total", &["kind=\"Model\"", &format!("read=\"{read}\"")]);
    Ok((of("stream") + of("pages"), of("metadata")))
}

/// Whether `figure` is `count`.
fn is(figure: f64, count: usize) -> bool {
    (figure - count as f64).abs() < 0.5
}

async fn a_restart_reads_metadata_and_then_what_has_changed(world: &mut World) -> Result<()> {
    let models = (0..OBJECTS).map(|number| {
        let mut model = model(&format!("m-{number:03}"), "before");
        model["metadata"]["finalizers"] = json!([OURS]);
        model
    });
    world.objects.create_all(models).await?;
    world.start()?;
    world.settled().await?;
    let (whole, metadata) = listed(world)?;
    ensure!(is(whole, OBJECTS) && is(metadata, 0), "on an empty table {whole} whole, {metadata} as metadata");
    let read = if world.cluster.edition() == Edition::Modern { "stream" } else { "pages" };
    let by = world.metrics()?.sum("ingester_objects_listed_total", &["kind=\"Model\"", &format!("read=\"{read}\"")]);
    ensure!(is(by, OBJECTS), "{by} as {read}");

    world.stop()?;
    world.objects.patch("Model", "m-001", &json!({"spec": {"algorithm": "after"}})).await?;
    world.objects.delete("Model", "m-002").await?;
    world.objects.delete_by_force("Model", "m-003").await?;
    world.objects.create(model("new", "after")).await?;
    world.restart()?;
    world.settled().await?;
    let (whole, metadata) = listed(world)?;
    ensure!(is(whole, 0) && is(metadata, OBJECTS), "after a few changes {whole} whole, {metadata} as metadata");

    world.stop()?;
    let patch = json!({"metadata": {"labels": {"changed": "yes"}}});
    for number in 5..OBJECTS {
        world.objects.patch("Model", &format!("m-{number:03}"), &patch).await?;
    }
    world.restart()?;
    world.settled().await?;
    let (whole, _) = listed(world)?;
    ensure!(is(whole, OBJECTS - 1), "after many changes {whole} whole");
    Ok(())
}

/// Larger in total than what is read before the first write, and than what sockets hold.
const LARGE: usize = 1500;
const BYTES: usize = 40_000;

async fn a_list_waits_for_a_database_that_does_not_answer(world: &mut World) -> Result<()> {
    let text = "a text ".repeat(BYTES / 7);
    let large = (0..LARGE).map(|number| object("Model", &format!("m-{number:04}"), &json!({ "positiveLabel": text })));
    world.objects.create_all(large).await?;
    world.launch(&world.settings())?;
    let rows = async || world.database.count("model").await;
    eventually("the first rows", rows, |rows| *rows > 0).await?;
    world.database.process().context("a server of its own")?.freeze();
    // Changes fill the buffer of a watch that is not read.
    for number in 0..300 {
        let patch = json!({"metadata": {"labels": {"number": number.to_string()}}});
        world.objects.patch("Model", &format!("m-{:04}", number % 5), &patch).await?;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (before, _) = listed(world)?;
    ensure!(before < LARGE as f64, "all {before} were read although nothing is written");
    world.database.process().context("a server of its own")?.thaw();
    world.ingester().wait_ready(4 * DEADLINE)?;
    world.settled_within(4 * DEADLINE).await?;
    let (whole, _) = listed(world)?;
    // The API server may have cut off the stream; then the rest came in pages.
    ensure!(whole < 2.5 * LARGE as f64, "{whole} objects read for {LARGE}");
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", world.ingester().process().id().context("it runs")?))?;
    let kilobytes = |name: &str| -> Result<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    };
    // Without the pages of the program itself, which grow with every feature.
    let peak = kilobytes("VmHWM:")?;
    let program = kilobytes("RssFile:")?;
    ensure!(
        peak - program < 112 << 10,
        "{} MB at the most, and {} MB of the program",
        (peak - program) >> 10,
        program >> 10
    );
    Ok(())
}
