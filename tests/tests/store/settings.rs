//! The record of the cluster that a database belongs to.

use crate::world::{Stores as _, World, kind};
use anyhow::Result;
use ingester_store::ConnectOptions;
use ingester_store::units::{RuleRecord, UnitPhase, UnitRecord};
use ingester_tests::{on_every_database, on_galera};
use std::time::Duration;

on_every_database! {
    a_database_belongs_to_the_first_cluster_that_claims_it
    of_two_clusters_at_once_one_wins
    a_prefix_is_recorded_in_the_place_of_the_one_that_was_read
    what_units_and_rules_do_is_kept_for_a_day
}

on_galera! {
    of_two_clusters_at_once_one_wins
}

async fn a_database_belongs_to_the_first_cluster_that_claims_it(world: World) -> Result<()> {
    let store = world.store().await?;
    assert_eq!(store.claim_for_cluster("one").await?, "one");
    assert_eq!(store.claim_for_cluster("one").await?, "one");
    assert_eq!(store.claim_for_cluster("other").await?, "one");
    // The remedy for a cluster that has taken the other's place.
    world.sql("DELETE FROM ingester_settings WHERE name = 'cluster'").await?;
    assert_eq!(store.claim_for_cluster("other").await?, "other");
    assert_eq!(
        world.sql("SELECT name, value FROM ingester_settings").await?,
        [["cluster", "other"].map(|cell| Some(cell.to_owned()))]
    );
    Ok(())
}

async fn a_prefix_is_recorded_in_the_place_of_the_one_that_was_read(world: World) -> Result<()> {
    let store = world.store().await?;
    let recorded = async || store.recorded_prefix("earlier").await;
    assert_eq!(recorded().await?, None);
    assert!(store.record_prefix(None, "a.example.com").await?);
    assert!(!store.record_prefix(None, "b.example.com").await?, "another one was faster");
    assert!(!store.record_prefix(Some("earlier"), "b.example.com").await?);
    assert_eq!(recorded().await?.as_deref(), Some("a.example.com"));
    assert!(store.record_prefix(Some("a.example.com"), "").await?);
    assert_eq!(recorded().await?.as_deref(), Some(""), "it was taken back, also if the cluster is recorded");
    assert!(store.record_prefix(Some(""), "b.example.com").await?);
    // An earlier release has recorded only its cluster.
    world.sql("DELETE FROM ingester_settings").await?;
    store.claim_for_cluster("one").await?;
    assert_eq!(recorded().await?.as_deref(), Some("earlier"));
    assert!(store.record_prefix(Some("earlier"), "").await?);
    assert_eq!((recorded().await?.as_deref(), store.cluster().await?.as_deref()), (Some(""), Some("one")));
    Ok(())
}

async fn of_two_clusters_at_once_one_wins(world: World) -> Result<()> {
    let one = world.store().await?;
    let other = world.connect(ConnectOptions::default()).await?;
    for _ in 0..20 {
        world.sql("DELETE FROM ingester_settings").await?;
        let (first, second) = tokio::try_join!(one.claim_for_cluster("one"), other.claim_for_cluster("other"))?;
        assert_eq!(first, second);
    }
    Ok(())
}

async fn what_units_and_rules_do_is_kept_for_a_day(world: World) -> Result<()> {
    const TIME: Duration = Duration::from_secs(10);
    let store = world.store().await?;
    let model = kind("Model");
    let now = store.now().0 / 1_000_000;
    let unit = |ago: i64, phase: UnitPhase| UnitRecord {
        heartbeat: now - ago,
        phase,
        lag: u64::MAX,
        waiting: 2,
        live: 3,
        held: 4,
        rejected: 5,
        audit: Some((now, 6)),
        namespace: "n".repeat(63),
        shard: "3/4".to_owned(),
        member: "m".repeat(63),
    };
    let rule = |ago: i64, rule: &str| RuleRecord {
        time: now - ago,
        enforced: true,
        judged: true,
        matches: 7,
        waiting: 1,
        moved: 2,
        rule: rule.to_owned(),
    };
    store.record_unit(model, "Model in a", &unit(0, UnitPhase::Listing)).await?;
    store.record_unit(model, "Model in a", &unit(0, UnitPhase::Synced)).await?;
    store.record_unit(model, "Model in b", &unit(86_402, UnitPhase::Synced)).await?;
    store.record_unit(kind("Project"), "Project", &unit(0, UnitPhase::Failed)).await?;
    store.record_rule(model, "Model in a", &rule(0, "finished")).await?;
    store.record_rule(model, "Model in a", &rule(86_402, "old")).await?;
    let units = store.units(&[*model], TIME).await?;
    let kept = UnitRecord { lag: 9_999_999_999, ..unit(0, UnitPhase::Synced) };
    let records: Vec<_> = units.into_iter().map(|(_, record)| record).collect();
    assert_eq!(records, std::slice::from_ref(&kept));
    let rules = store.rules(&[*model], TIME).await?;
    assert_eq!(rules.into_iter().map(|(_, record)| record).collect::<Vec<_>>(), [rule(0, "finished")]);
    // What is old goes, and nothing else.
    store.claim_for_cluster("one").await?;
    let names = async || world.sql("SELECT COUNT(*) FROM ingester_settings").await;
    assert_eq!(names().await?, [[Some("6".to_owned())]]);
    store.forget_old_records().await?;
    assert_eq!(names().await?, [[Some("4".to_owned())]]);
    // A process that ends says so, unless another one has the unit by then.
    store.record_stopped(model, "Model in a", &unit(5, UnitPhase::Synced)).await?;
    assert_eq!(store.units(&[*model], TIME).await?[0].1, kept);
    store.record_stopped(model, "Model in a", &unit(0, UnitPhase::Synced)).await?;
    let stopped = &store.units(&[*model], TIME).await?[0].1;
    assert_eq!((stopped.phase, stopped.waiting, stopped.live), (UnitPhase::Stopped, 0, 3));
    store.forget_rule(model, "Model in a", "finished").await?;
    assert!(store.rules(&[*model], TIME).await?.is_empty());
    Ok(())
}
