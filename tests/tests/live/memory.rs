//! How much memory it takes to read large objects.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use crate::eventually::DEADLINE;
use crate::objects::object;
use crate::world::World;

crate::on_servers! { OwnServers::NOTHING =>
    three_hundred_large_objects_take_less_than_128_mb [mariadb MARIADB #[ignore = "before a release"]] [postgres POSTGRES #[ignore = "in the set --all"]] [modern MODERN]
}

const OBJECTS: u64 = 300;

/// As large as an API server accepts, with some room for metadata.
const BYTES: usize = 900_000;

async fn three_hundred_large_objects_take_less_than_128_mb(world: &mut World) -> Result<()> {
    let text = "a large text ".repeat(BYTES / 13);
    let model = |number| object("Model", &format!("large-{number}"), &json!({ "positiveLabel": text }));
    // A few at a time: the test's own memory is bounded, too.
    for start in (0..OBJECTS).step_by(10) {
        world.objects.create_all((start..start + 10).map(model)).await?;
    }
    let settings = world.settings();
    world.launch(&settings)?.wait_ready(4 * DEADLINE)?;
    let text = world.database.on.json_text("json", "spec.positiveLabel");
    let rows = world.database.count(&format!("model WHERE LENGTH({text}) > {BYTES} - 13")).await?;
    ensure!(rows == OBJECTS, "{rows} rows");
    let id = world.ingester().process().id().context("it runs")?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let megabytes = |name: &str| -> Result<u64> {
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(value.with_context(|| format!("no {name}"))?.trim().trim_end_matches(" kB").parse::<u64>()? >> 10)
    };
    // Without the program's own code, which takes 40 MB in a build for tests, and half of that in one for users.
    let taken = megabytes("VmHWM")? - megabytes("RssFile")?;
    ensure!(taken < 128 - 20, "{taken} MB at the most beside its code");
    Ok(())
}
