//! Schemas that differ from the program's, under a running mirror.

use anyhow::{Context as _, Result, ensure};

use crate::eventually::eventually;
use crate::objects::model;
use crate::on_every_database;
use crate::settings::Settings;
use crate::world::World;

on_every_database! { OwnServers::NOTHING =>
    incomplete_columns_are_backfilled_while_the_mirror_runs
    the_ingester_waits_for_a_missing_column
    a_database_of_a_later_release_is_used_if_it_has_every_column
}

async fn incomplete_columns_are_backfilled_while_the_mirror_runs(world: &mut World) -> Result<()> {
    world.start()?;
    for name in ["a", "b", "c"] {
        world.objects.create(model(name, "x")).await?;
    }
    world.settled().await?;
    world.objects.delete("Model", "b").await?;
    world.row_that("is deleted", "Model", "b", |row| !row.is_live()).await?;
    world.stop()?;

    // The state after a migration that adds the column; here `algorithm` stands for that column.
    world.database.sql("UPDATE model SET algorithm = NULL").await?;
    world
        .database
        .sql("INSERT INTO ingester_backfills VALUES ('model', 'algorithm', 1, '', 0, 0, 0, '2026-01-01', NULL)")
        .await?;
    // A suspended kind is not backfilled.
    world.start_with(&Settings { ingester: vec!["suspend: [Model]"], ..world.settings() })?;
    let incomplete = async || Ok(world.metrics()?.sum("ingester_incomplete_columns", &["kind=\"Model\""]));
    eventually("the columns to be counted", incomplete, |columns| *columns > 0.5).await?;
    ensure!(world.database.count("model WHERE algorithm IS NULL").await? == 3);
    // The objects are unchanged, so the mirror itself writes no row.
    world.reconfigure(&world.settings())?;
    let complete = async || world.database.cell("SELECT complete_time IS NOT NULL FROM ingester_backfills").await;
    eventually("the column to be complete", complete, |complete| complete.as_deref() == Some("1")).await?;
    let filled = world.database.count("model WHERE algorithm = 'x'").await?;
    ensure!(filled == 3, "live and deleted rows have their value: {filled}");
    let metrics = world.metrics()?;
    let rows = |result: &str| {
        metrics.sum("ingester_backfill_rows_total", &["kind=\"Model\"", &format!("result=\"{result}\"")])
    };
    ensure!((rows("filled"), rows("unchanged"), rows("failed")) == (3.0, 0.0, 0.0));
    ensure!(metrics.sum("ingester_incomplete_columns", &["kind=\"Model\""]) == 0.0);
    ensure!(!world.log_lines(&["Backfill finished", "algorithm", "filled=3"])?.is_empty());
    world.audit_is_clean()
}

async fn the_ingester_waits_for_a_missing_column(world: &mut World) -> Result<()> {
    world.start()?;
    world.objects.create(model("a", "x")).await?;
    world.settled().await?;
    world.stop()?;
    world.database.sql("ALTER TABLE model DROP COLUMN algorithm").await?;
    world.launch(&Settings { ingester: vec!["createTables: false"], ..world.settings() })?;
    let told = async || world.log_lines(&["waiting for `ingester schema apply`", "model.algorithm"]);
    eventually("it to say what is missing", told, |lines| !lines.is_empty()).await?;
    ensure!(world.ingester().probe("/readyz")? == 503);
    world.database.sql("ALTER TABLE model ADD COLUMN algorithm VARCHAR(255) NULL").await?;
    world.ingester().wait_ready(crate::eventually::DEADLINE)?;
    world.objects.create(model("b", "y")).await?;
    world.settled().await?;
    world.row("Model", "b").await?.context("its row").map(drop)
}

async fn a_database_of_a_later_release_is_used_if_it_has_every_column(world: &mut World) -> Result<()> {
    world.start()?;
    world.stop()?;
    world.database.sql("ALTER TABLE model ADD COLUMN of_a_later_release VARCHAR(255) NULL").await?;
    world
        .database
        .sql(&format!(
            "INSERT INTO _sqlx_migrations VALUES (9999, 'of a later release', NOW(), TRUE, {}, 1)",
            world.database.on.bytes("00")
        ))
        .await?;
    world.start()?;
    world.objects.create(model("a", "x")).await?;
    world.settled().await?;
    world.row("Model", "a").await?.context("its row")?;
    ensure!(!world.log_lines(&["WARN", "later release", "9999"])?.is_empty());
    Ok(())
}
