//! A configuration file that changes while the ingester runs, as a mounted ConfigMap does.

use anyhow::{Context as _, Result};

use crate::eventually::eventually;
use crate::objects::model;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

on_servers! { OwnServers::NOTHING => a_changed_file_is_taken_up_and_one_with_mistakes_changes_nothing [mariadb MARIADB] [postgres POSTGRES #[ignore = "in the set --all"]] }
on_servers! { OwnServers::NOTHING => a_scheduled_audit_counts_its_findings_and_repairs_nothing [mariadb MARIADB] [postgres POSTGRES #[ignore = "in the set --all"]] }

async fn a_changed_file_is_taken_up_and_one_with_mistakes_changes_nothing(world: &mut World) -> Result<()> {
    let period = vec!["resyncPeriod: 1s"];
    world.start()?;
    world.objects.create(model("a", "x")).await?;
    world.settled().await?;
    let said = async |parts: &'static [&'static str]| {
        let look = async || world.log_lines(parts);
        eventually(parts[0], look, |lines| !lines.is_empty()).await.map(|mut lines| lines.remove(0))
    };
    let current = async || anyhow::Ok(world.metrics()?.sum("ingester_config_last_reload_successful", &[]));

    // A mistake beside a change that would be possible.
    world.reconfigure(&Settings { ingester: vec!["resyncPeriod: 1s", "suspend: [Modle]"], ..world.settings() })?;
    let line = said(&["Configuration file cannot be used"]).await?;
    assert!(line.contains("did you mean `Model`?"), "{line}");
    assert!(current().await? < 0.1);
    assert!((world.metrics()?.sum("ingester_config_reloads_total", &["result=\"failed\""]) - 1.0).abs() < 0.1);
    world.database.sql("UPDATE model SET algorithm = 'z', res_version = 1").await?;

    // Some keys take effect, others are reported.
    let settings = Settings { ingester: period.clone(), log_level: "debug", log_format: "json", ..world.settings() };
    world.reconfigure(&settings)?;
    let line = said(&["Configuration changed", "keys=", "resyncPeriod"]).await?;
    assert!(line.contains("ingester.resyncPeriod, log.level"), "{line}");
    let line = said(&["need a restart"]).await?;
    assert!(line.contains("log.format"), "{line}");
    assert!(current().await? > 0.9);
    said(&["DEBUG", "Resync found nothing"]).await?;
    // Only a resync finds the row that was changed by hand, and with the former period it would not be due yet.
    let cell = async || world.database.cell("SELECT algorithm FROM model").await;
    eventually("the resync", cell, |algorithm| algorithm.as_deref() == Some("x")).await?;

    world.reconfigure(&Settings { ingester: period, log_level: "warn", log_format: "json", ..world.settings() })?;
    let quiet = async || Ok(world.log_lines(&["Configuration changed", "log.level"])?.len());
    eventually("the level", quiet, |lines| *lines == 2).await?;
    let lines = world.log_lines(&["INFO"])?.len();
    world.objects.create(model("b", "x")).await?;
    world.settled().await?;
    assert_eq!(world.log_lines(&["INFO"])?.len(), lines, "nothing is said of it");
    assert_eq!(world.log_lines(&["Configuration file cannot be used"])?.len(), 1, "once");
    Ok(())
}

async fn a_scheduled_audit_counts_its_findings_and_repairs_nothing(world: &mut World) -> Result<()> {
    world.start()?;
    for name in ["a", "b"] {
        world.objects.create(model(name, "x")).await?;
    }
    world.settled().await?;
    world.database.sql("DELETE FROM model WHERE name = 'a'").await?;
    assert!(world.metrics()?.sum("ingester_last_audit_timestamp_seconds", &[]) < 0.1, "off by default");
    world.reconfigure(&Settings { ingester: vec!["auditPeriod: 1s"], ..world.settings() })?;
    let missing = ["kind=\"Model\"", "finding=\"missing\""];
    let found = async || Ok(world.metrics()?.sum("ingester_audit_findings", &missing));
    eventually("the finding", found, |found| *found > 0.5).await?;
    let metrics = world.metrics()?;
    assert!((metrics.sum("ingester_audit_findings", &[]) - 1.0).abs() < 0.1, "nothing else differs");
    assert!(metrics.sum("ingester_last_audit_timestamp_seconds", &missing[..1]) > 1e9);
    assert!(metrics.sum("ingester_audits_total", &["kind=\"Model\"", "result=\"success\""]) > 0.5);
    let lines = world.log_lines(&["Audit", "finding=\"missing\"", "name=\"a\""])?;
    lines.first().context("the log names it")?;
    assert_eq!(world.row("Model", "a").await?, None);
    // While an audit runs, the kind is as synced as before.
    assert!(metrics.sum("ingester_synced", &["kind=\"Model\""]) > 0.5);
    Ok(())
}
