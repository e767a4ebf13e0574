//! Objects that cannot be stored: each is reported to its owner, and none blocks another.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DynamicObject, ListParams, PostParams};
use serde_json::{Value as Json, json};

use crate::database::On;
use crate::eventually::eventually;
use crate::objects::{OURS, model, object, project};
use crate::world::World;
use crate::{on_every_database, on_own_api_servers, on_servers};
use ingester_tests::Edition;

on_every_database! { OwnServers::CLUSTER =>
    an_object_of_the_wrong_type_is_rejected_alone_until_it_is_fixed
}

on_own_api_servers! { OwnServers::CLUSTER =>
    a_rejected_object_can_still_be_deleted
    an_object_that_is_nested_too_deeply_stops_nothing_and_is_held_until_it_is_given_up
}

on_servers! { OwnServers::NOTHING => an_api_server_without_events_is_not_complained_about [modern MODERN] }

on_every_database! { OwnServers::NOTHING =>
    an_object_with_an_unknown_error_is_tried_again_and_blocks_nothing
    the_reject_of_an_object_that_is_gone_is_deleted
}

on_every_database! { OwnServers::BOTH =>
    an_object_that_only_the_database_refuses_is_rejected_alone
}

/// Makes the API server accept any spec of a project, like a CRD without types.
async fn loosen_projects(world: &World) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(world.objects.client.clone());
    let name = "projects.michelangelo.api";
    let mut crd = serde_json::to_value(crds.get(name).await?)?;
    let spec = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties/spec").context("its schema")?;
    *spec = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    crds.replace(name, &PostParams::default(), &serde_json::from_value(crd)?).await?;
    // The server takes a moment to apply the new schema.
    let api = world.objects.api("Project");
    let mut wrong = object("Project", "trial", &json!({"tier": {"a": 1}, "unknown": 1}));
    wrong["metadata"]["namespace"] = json!(world.objects.namespace);
    let wrong: DynamicObject = serde_json::from_value(wrong)?;
    let try_it = async || {
        let taken = api.create(&PostParams { dry_run: true, ..PostParams::default() }, &wrong).await?;
        Ok(serde_json::to_value(taken)?["spec"]["unknown"] == 1)
    };
    eventually("the API server to take any project", try_it, |kept| *kept).await.map(drop)
}

/// The recorded reason of a project's reject, if any.
async fn reason(world: &World, name: &str) -> Result<Option<String>> {
    let namespace = &world.objects.namespace;
    let sql = format!(
        "SELECT reason FROM ingester_rejects WHERE kind = 'Project' AND namespace = '{namespace}' AND name = '{name}'"
    );
    Ok(world.database.sql(&sql).await?.into_iter().flatten().next().flatten())
}

/// Waits until a project is recorded as rejected, and returns the reason.
async fn rejected(world: &World, name: &str) -> Result<String> {
    let what = format!("{name} to be rejected");
    eventually(&what, async || reason(world, name).await, Option::is_some).await?.context("a reason")
}

/// Waits until a project has no recorded reject.
async fn cleared(world: &World, name: &str) -> Result<()> {
    let what = format!("the reject of {name} to be cleared");
    eventually(&what, async || reason(world, name).await, Option::is_none).await.map(drop)
}

/// The tier of the live row of a project.
async fn tier(world: &World, name: &str) -> Result<Option<String>> {
    let sql = format!("SELECT tier FROM project WHERE name = '{name}' AND delete_time IS NULL");
    Ok(world.database.sql(&sql).await?.into_iter().flatten().next().flatten())
}

/// Waits until the live row of a project has this tier.
async fn has_tier(world: &World, name: &str, wanted: &str) -> Result<()> {
    let what = format!("{name} to have tier {wanted}");
    eventually(&what, async || tier(world, name).await, |seen| seen.as_deref() == Some(wanted)).await.map(drop)
}

/// The notes of the warnings on a project.
async fn warnings(world: &World, name: &str) -> Result<Vec<String>> {
    let events: Api<Event> = Api::namespaced(world.objects.client.clone(), &world.objects.namespace);
    let events = events.list(&ListParams::default()).await?;
    let about = events.items.into_iter().filter(|event| {
        event.type_.as_deref() == Some("Warning")
            && event.involved_object.kind.as_deref() == Some("Project")
            && event.involved_object.name.as_deref() == Some(name)
    });
    Ok(about.filter_map(|event| event.message).collect())
}

async fn an_object_of_the_wrong_type_is_rejected_alone_until_it_is_fixed(world: &mut World) -> Result<()> {
    loosen_projects(world).await?;
    // One exists before the ingester starts, one is created later.
    let wrong = |name: &str| object("Project", name, &json!({"tier": {"a": 1}}));
    for object in [wrong("early"), project("early-good", 1)] {
        world.objects.create(object).await?;
    }
    world.start()?;
    // A field that the protobuf message lacks is counted. The object is stored.
    let more = object("Project", "late-good", &json!({"tier": 2, "unknown": 1}));
    for object in [wrong("late"), more] {
        world.objects.create(object).await?;
    }
    has_tier(world, "early-good", "1").await?;
    has_tier(world, "late-good", "2").await?;
    for name in ["early", "late"] {
        let reason = rejected(world, name).await?;
        ensure!(reason.contains("spec.tier"), "{reason}");
        assert_eq!(tier(world, name).await?, None);
        let warnings = eventually("a warning", async || warnings(world, name).await, |notes| !notes.is_empty()).await?;
        ensure!(warnings.iter().any(|note| note.contains("spec.tier")), "{warnings:?}");
        let lines = world.log_lines(&["spec.tier", &world.objects.namespace, name])?;
        ensure!(!lines.is_empty(), "the log does not speak of {name}");
    }
    let metrics = world.metrics()?;
    assert!(metrics.sum("ingester_rejects_total", &["kind=\"Project\""]) > 1.5);
    let present = metrics.sum("ingester_rejected_objects", &["kind=\"Project\""]);
    assert!((present - 2.0).abs() < 0.5, "{present} are rejected");
    assert!(metrics.sum("ingester_proto_lost_total", &["kind=\"Project\"", "what=\"field\""]) > 0.5);

    for name in ["early", "late"] {
        world.objects.patch("Project", name, &json!({"spec": {"tier": 3}})).await?;
    }
    for name in ["early", "late"] {
        has_tier(world, name, "3").await?;
        cleared(world, name).await?;
    }
    world.settled().await?;
    let present = async || Ok(world.metrics()?.sum("ingester_rejected_objects", &["kind=\"Project\""]));
    eventually("no project to be rejected", present, |present| *present < 0.5).await?;
    world.audit_is_clean()
}

async fn a_rejected_object_can_still_be_deleted(world: &mut World) -> Result<()> {
    loosen_projects(world).await?;
    world.start()?;
    world.objects.create(project("went-wrong", 1)).await?;
    world.objects.create(object("Project", "was-wrong", &json!({"tier": [1]}))).await?;
    has_tier(world, "went-wrong", "1").await?;
    world.settled_but("was-wrong").await?;
    world.objects.patch("Project", "went-wrong", &json!({"spec": {"tier": {"a": 1}}})).await?;
    for name in ["went-wrong", "was-wrong"] {
        rejected(world, name).await?;
    }
    assert_eq!(tier(world, "went-wrong").await?.as_deref(), Some("1"), "the row keeps what was good");

    for name in ["went-wrong", "was-wrong"] {
        world.objects.delete("Project", name).await?;
    }
    for name in ["went-wrong", "was-wrong"] {
        world.gone("Project", name).await?;
        let row = async || world.row("Project", name).await;
        eventually("no row to be live", row, |row| row.as_ref().is_none_or(|row| row.deleted)).await?;
    }
    assert!(world.row("Project", "went-wrong").await?.is_some(), "its row is marked, not removed");
    Ok(())
}

/// A project with this many levels, with our finalizer.
fn nested(name: &str, levels: usize) -> Json {
    // Its own level and that of its spec are two of them.
    let deep = (0..levels - 2).fold(json!(1), |inner, _| json!({"a": inner}));
    let mut project = object("Project", name, &json!({"tier": 7, "unknown": deep}));
    project["metadata"]["finalizers"] = json!([OURS]);
    project
}

async fn an_object_that_is_nested_too_deeply_stops_nothing_and_is_held_until_it_is_given_up(
    world: &mut World,
) -> Result<()> {
    loosen_projects(world).await?;
    // As deep as is read, and deeper, before the first list; and one that comes by the watch.
    let good = (0..20).map(|number| project(&format!("good-{number}"), 2));
    world.objects.create_all(good.chain([nested("deep-99", 99), nested("deep-121", 121)])).await?;
    world.start()?;
    assert_eq!(world.database.count("project WHERE tier = 2 AND delete_time IS NULL").await?, 20);
    ensure!(rejected(world, "deep-121").await?.contains("nested deeper than 120 levels"));
    match world.database.on {
        // It takes 32 levels.
        On::MariaDb => rejected(world, "deep-99").await.map(drop)?,
        _ => has_tier(world, "deep-99", "7").await?,
    }
    // kube reads 127 levels, and managedFields have four more than the object.
    world.objects.create(nested("deep-122", 122)).await?;
    world.objects.create(project("after", 3)).await?;
    has_tier(world, "after", "3").await?;
    rejected(world, "deep-122").await?;
    let audit = world.audit(&[])?;
    ensure!(audit.code == Some(1), "{audit:?}");
    let all = format!("{audit:?}");
    ensure!(all.contains("deep-121") && all.contains("deep-122") && !all.contains("good-"), "{audit:?}");

    let held = async || Ok(world.metrics()?.sum("ingester_held_objects", &["kind=\"Project\""]));
    world.objects.delete("Project", "deep-121").await?;
    eventually("it to be counted", held, |held| (*held - 1.0).abs() < 0.1).await?;
    if world.cluster.edition() == Edition::Classic {
        let told = async || warnings(world, "deep-121").await;
        eventually("its owner to be told", told, |notes| notes.iter().any(|note| note.contains("held back"))).await?;
    }
    world.restart()?;
    eventually("it to be counted after a restart", held, |held| (*held - 1.0).abs() < 0.1).await?;
    world.objects.patch("Project", "deep-121", &json!({"metadata": {"finalizers": null}})).await?;
    world.gone("Project", "deep-121").await?;
    cleared(world, "deep-121").await?;
    eventually("none to be counted", held, |held| *held < 0.1).await.map(drop)
}

async fn an_api_server_without_events_is_not_complained_about(world: &mut World) -> Result<()> {
    world.start()?;
    let long = "x".repeat(300);
    world.objects.create_all((0..20).map(|number| model(&format!("too-long-{number}"), &long))).await?;
    let failed = async || Ok(world.metrics()?.sum("ingester_events_total", &["result=\"failed\""]));
    eventually("twenty events to be refused", failed, |failed| *failed > 19.5).await?;
    let mut said = world.log_lines(&[" ERROR "])?;
    said.extend(world.log_lines(&[" WARN "])?);
    // This server has no namespaces, either.
    said.retain(|line| !line.contains("Cannot check that the database belongs to this cluster"));
    // Only the rejects, and nothing about their events.
    assert_eq!(said.len(), 20, "{said:#?}");
    ensure!(said.iter().all(|line| line.contains("Object rejected") && line.contains("`algorithm`")), "{said:#?}");
    Ok(())
}

/// A project that the ingester accepts and this database refuses.
fn poison(on: On) -> Json {
    match on {
        // Nested deeper than MariaDB's JSON functions allow (32 levels).
        On::MariaDb => {
            let deep = (0..60).fold(json!(1), |inner, _| json!({"a": inner}));
            object("Project", "poison", &json!({"tier": 1, "unknown": deep}))
        }
        // Larger than MySQL's largest packet, which the test has lowered, and than a constraint on PostgreSQL, which has no such limit.
        _ => object("Project", "poison", &json!({"tier": 1, "unknown": {"a": "x".repeat(1_100_000)}})),
    }
}

async fn an_object_that_only_the_database_refuses_is_rejected_alone(world: &mut World) -> Result<()> {
    loosen_projects(world).await?;
    match world.database.on {
        On::MySql => drop(world.database.sql("SET GLOBAL max_allowed_packet = 1048576").await?),
        On::Postgres => {
            world.start()?;
            world.stop()?;
            world.database.sql("ALTER TABLE project ADD CHECK (LENGTH(CAST(json AS TEXT)) < 1048576)").await?;
        }
        _ => {}
    }
    let good = |prefix: &str| (0..50).map(|number| project(&format!("{prefix}-{number}"), 2)).collect::<Vec<_>>();
    // In the first list with others, perhaps in one batch.
    world.objects.create_all(good("before")).await?;
    world.objects.create(poison(world.database.on)).await?;
    world.start()?;
    world.objects.create_all(good("after")).await?;
    let reason = rejected(world, "poison").await?;
    ensure!(!reason.is_empty());
    world.settled_but("poison").await?;
    assert_eq!(world.database.count("project WHERE tier = 2 AND delete_time IS NULL").await?, 100);
    assert_eq!(world.database.count("ingester_rejects").await?, 1);
    let lines = world.log_lines(&["poison"])?;
    ensure!(lines.iter().all(|line| line.len() < 10_000), "the log has all of the object");

    world.objects.patch("Project", "poison", &json!({"spec": {"unknown": null, "tier": 3}})).await?;
    has_tier(world, "poison", "3").await?;
    cleared(world, "poison").await?;
    world.settled().await?;
    world.audit_is_clean()
}

async fn an_object_with_an_unknown_error_is_tried_again_and_blocks_nothing(world: &mut World) -> Result<()> {
    world.start()?;
    let (refuse, no_more) = match world.database.on {
        On::Postgres => (
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.name LIKE 'unlucky%' THEN \
             RAISE 'who knows' USING ERRCODE = 'IW999'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON project FOR EACH ROW EXECUTE FUNCTION refuse()",
            "DROP TRIGGER refuse ON project",
        ),
        _ => (
            "CREATE TRIGGER refuse BEFORE INSERT ON project FOR EACH ROW BEGIN IF NEW.name LIKE 'unlucky%' THEN \
             SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 31999, MESSAGE_TEXT = 'who knows'; END IF; END",
            "DROP TRIGGER refuse",
        ),
    };
    world.database.sql(refuse).await?;
    world.objects.create_all(["unlucky-1", "unlucky-2", "unlucky-3"].map(|name| project(name, 1))).await?;
    world.objects.create_all((0..20).map(|number| project(&format!("good-{number}"), 2))).await?;
    let good = async || world.database.count("project WHERE tier = 2").await;
    eventually("the others to be stored", good, |count| *count == 20).await?;
    let tried = async || Ok(world.metrics()?.sum("ingester_database_errors_total", &["class=\"unknown\""]));
    eventually("them to be tried again", tried, |tried| *tried > 5.5).await?;
    assert_eq!(world.database.count("ingester_rejects").await?, 0);
    world.database.sql(no_more).await?;
    for name in ["unlucky-1", "unlucky-2", "unlucky-3"] {
        has_tier(world, name, "1").await?;
    }
    ensure!(world.metrics()?.sum("ingester_rejects_total", &[]) < 0.5);
    world.settled().await?;
    world.audit_is_clean()
}

async fn the_reject_of_an_object_that_is_gone_is_deleted(world: &mut World) -> Result<()> {
    world.start()?;
    // Neither was ever stored, so only the reject shows it.
    for name in ["goes", "stays"] {
        world.objects.create(model(name, &"x".repeat(300))).await?;
    }
    let count = async || world.database.count("ingester_rejects").await;
    eventually("both to be rejected", count, |count| *count == 2).await?;
    world.stop()?;
    world.objects.delete_by_force("Model", "goes").await?;
    world.restart()?;
    eventually("the reject to be deleted", count, |count| *count == 1).await?;
    assert_eq!(world.database.cell("SELECT name FROM ingester_rejects").await?.as_deref(), Some("stays"));
    Ok(())
}
