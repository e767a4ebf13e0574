//! Changes made while the ingester was down.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use serde_json::json;

use crate::eventually::eventually;
use crate::mirror::Row;
use crate::objects::{kinds, model, object};
use crate::settings::Settings;
use crate::world::World;
use crate::{on_both_api_servers, on_every_database, on_servers};

on_both_api_servers! { OwnServers::NOTHING =>
    only_objects_deleted_while_the_ingester_was_down_are_swept
    rows_changed_by_hand_are_corrected_at_the_next_start
}

on_servers! { OwnServers::NOTHING => hundreds_of_differences_are_read_again_and_repaired_together [mariadb MARIADB #[ignore = "before a release"]] [postgres POSTGRES #[ignore = "in the set --all"]] [modern MODERN] }

on_every_database! { OwnServers::NOTHING =>
    a_sweep_beyond_the_limit_marks_nothing_and_says_so
}

async fn only_objects_deleted_while_the_ingester_was_down_are_swept(world: &mut World) -> Result<()> {
    let both = vec![world.objects.namespace.clone(), world.elsewhere.namespace.clone()];
    world.start_with(&Settings { namespaces: both, ..world.settings() })?;
    for objects in [&world.objects, &world.elsewhere] {
        for kind in kinds() {
            for name in ["swept", "stays", "evicted"] {
                objects.create(object(kind, name, &json!({}))).await?;
            }
        }
    }
    world.settled().await?;
    for kind in kinds() {
        world.objects.annotate(kind, "evicted", "michelangelo/Immutable").await?;
    }
    for kind in kinds() {
        world.gone(kind, "evicted").await?;
    }
    let elsewhere = async || {
        let mut rows = Vec::new();
        for kind in kinds() {
            rows.extend(world.database.list_rows(kind, &world.elsewhere.namespace).await?);
        }
        anyhow::Ok(rows)
    };
    let look = "the other namespace to be mirrored";
    eventually(look, async || elsewhere().await, |rows| rows.len() == 39).await?;

    world.stop()?;
    for objects in [&world.objects, &world.elsewhere] {
        for kind in kinds() {
            objects.delete_by_force(kind, "swept").await?;
        }
    }
    let before = elsewhere().await?;
    assert!(before.iter().all(Row::is_live), "{before:?}");
    world.start()?;
    for kind in kinds() {
        let swept = world.row_that("deleted", kind, "swept", |row| row.deleted).await?;
        assert!(!swept.evicted, "{swept:?}");
        assert!(world.row(kind, "stays").await?.is_some_and(|row| row.is_live()), "{kind}");
        assert!(world.row(kind, "evicted").await?.is_some_and(|row| row.evicted && !row.deleted), "{kind}");
    }
    world.settled().await?;
    let mut after = world.database.list_rows("Model", &world.elsewhere.namespace).await?;
    after.sort_by(|a, b| a.uid.cmp(&b.uid));
    let mut models =
        before.into_iter().filter(|row| after.iter().any(|model| model.uid == row.uid)).collect::<Vec<_>>();
    models.sort_by(|a, b| a.uid.cmp(&b.uid));
    assert_eq!(after.len(), 3);
    assert_eq!(after, models, "a namespace that is not mirrored is left alone");
    world.audit_is_clean()
}

async fn rows_changed_by_hand_are_corrected_at_the_next_start(world: &mut World) -> Result<()> {
    world.start()?;
    for name in ["behind", "moved"] {
        world.objects.create(model(name, "x")).await?;
    }
    world.settled().await?;
    world.stop()?;
    world.database.sql("UPDATE model SET res_version = 1, algorithm = 'y' WHERE name = 'behind'").await?;
    world.database.sql("UPDATE model SET uid = 'of-no-object', name = 'lost' WHERE name = 'moved'").await?;
    world.restart()?;
    let lost = world.row_that("deleted", "Model", "lost", |row| row.deleted).await?;
    assert_eq!(lost.uid, "of-no-object");
    world.settled().await?;
    assert_eq!(world.database.count("model WHERE algorithm = 'x' AND delete_time IS NULL").await?, 2);
    world.row("Model", "moved").await?.context("its row again").map(drop)
}

async fn a_sweep_beyond_the_limit_marks_nothing_and_says_so(world: &mut World) -> Result<()> {
    let settings = world.settings();
    let limited = Settings { ingester: [settings.ingester.clone(), vec!["sweepLimit: 1"]].concat(), ..settings };
    world.start_with(&limited)?;
    let names = ["a", "b", "c", "d", "e"];
    for name in names {
        world.objects.create(model(name, "x")).await?;
    }
    world.settled().await?;
    world.stop()?;
    for name in &names[..3] {
        world.objects.delete_by_force("Model", name).await?;
    }
    world.start_with(&limited)?;
    let refused = async || Ok(world.metrics()?.sum("ingester_sweeps_refused_total", &["kind=\"Model\""]));
    eventually("the sweep to be refused", refused, |refused| *refused > 0.5).await?;
    let events: Api<Event> = Api::namespaced(world.objects.client.clone(), "default");
    let published = async || {
        let events = events.list(&ListParams::default()).await?.items;
        Ok(events.into_iter().filter(|event| event.reason.as_deref() == Some("SweepRefused")).count())
    };
    eventually("the Event", published, |count| *count > 0).await?;
    ensure!(!world.log_lines(&["ingester audit --repair", "sweepLimit"])?.is_empty(), "{}", world.ingester().logs()?);
    assert_eq!(world.database.count("model WHERE delete_time IS NULL").await?, 5);
    // A person has checked: they are really gone.
    let audit = world.audit(&["--repair"])?;
    ensure!(audit.code == Some(0), "{audit:?}");
    assert_eq!(world.database.count("model WHERE delete_time IS NULL").await?, 2);
    world.audit_is_clean()
}

async fn hundreds_of_differences_are_read_again_and_repaired_together(world: &mut World) -> Result<()> {
    world.start()?;
    world.objects.create_all((0..185).map(|number| model(&format!("m{number:03}"), "x"))).await?;
    world.settled().await?;
    world.stop()?;
    world.database.sql("UPDATE model SET algorithm = 'y'").await?;
    let begin = std::time::Instant::now();
    let audit = world.audit(&[])?;
    let audited = begin.elapsed();
    ensure!(audit.code == Some(1) && audit.out.contains("185"), "{audit:?}");
    let repair = world.audit(&["--repair"])?;
    eprintln!("185 differences: {audited:?}, with their repair: {:?}", begin.elapsed() - audited);
    ensure!(repair.code == Some(0), "{repair:?}");
    assert_eq!(world.database.count("model WHERE algorithm = 'x'").await?, 185);
    world.audit_is_clean()
}
