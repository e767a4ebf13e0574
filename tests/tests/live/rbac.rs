//! `deploy/` grants exactly the rights that the ingester uses.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::apiserver::Access;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

use crate::cluster::manifests;
use crate::eventually::eventually;
use crate::objects::{Objects, kinds, model, object};
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// Requests to the API server do not depend on the database.
on_servers! { OwnServers::CLUSTER => the_ingester_uses_exactly_the_rights_that_deploy_grants [mariadb MARIADB] }

/// The grants of the ClusterRoles and Roles in `deploy/`.
fn granted() -> Result<BTreeSet<Access>> {
    let manifests = manifests()?;
    ensure!(!manifests.is_empty(), "deploy/ has no manifests: the other tests ran with all rights");
    let mut granted = BTreeSet::new();
    for role in manifests.iter().filter(|manifest| manifest["kind"] == "ClusterRole" || manifest["kind"] == "Role") {
        for rule in role["rules"].as_array().context("a role has rules")? {
            let list = |field: &str| -> Result<Vec<&str>> {
                let list = rule[field].as_array().with_context(|| format!("a rule has {field}"))?;
                list.iter().map(|text| text.as_str().context("a text")).collect()
            };
            for group in list("apiGroups")? {
                for resource in list("resources")? {
                    for verb in list("verbs")? {
                        let [verb, group, resource] = [verb, group, resource].map(str::to_owned);
                        granted.insert(Access { verb, group, resource });
                    }
                }
            }
        }
    }
    Ok(granted)
}

/// The rights of every authenticated user: read the version and the list of resources, and review their own access.
fn is_everybodys(access: &Access) -> bool {
    access.resource.starts_with('/')
        || (access.group == "authorization.k8s.io" && access.resource.starts_with("selfsubject"))
}

/// One object of each kind.
async fn create(objects: &Objects, name: &str) -> Result<()> {
    objects.create_all(kinds().map(|kind| object(kind, name, &json!({})))).await
}

async fn the_ingester_uses_exactly_the_rights_that_deploy_grants(world: &mut World) -> Result<()> {
    let granted = granted()?;
    // As in `deploy/`, in the namespace of its Role. The last member of a group removes its Lease.
    let ingester = vec!["resyncPeriod: 1s", "replicas: {enabled: true, namespace: ingester}"];
    let settings = Settings { ingester, deletion_delay: "200ms", ..world.settings() };
    for name in ["finalized", "swept", "audited"] {
        create(&world.objects, name).await?;
    }
    world.start_with(&settings)?;
    for name in ["deleted", "annotated", "evicted"] {
        create(&world.objects, name).await?;
    }
    world.settled().await?;
    for kind in kinds() {
        world.objects.delete(kind, "deleted").await?;
        world.objects.annotate(kind, "annotated", "michelangelo/Deleting").await?;
        world.objects.annotate(kind, "evicted", "michelangelo/Immutable").await?;
    }
    for kind in kinds() {
        for name in ["deleted", "annotated", "evicted"] {
            world.gone(kind, name).await?;
        }
    }

    // It is rejected, then rejected in a later version, and again by each resync. So Events are created, and one
    // becomes a series.
    world.objects.create(model("rejected", &"x".repeat(300))).await?;
    let published = async || Ok(world.metrics()?.sum("ingester_events_total", &["result=\"published\""]));
    for round in 1..=2 {
        let wanted = f64::from(round) - 0.5;
        eventually("the Event to be published", published, |published| *published > wanted).await?;
        let label: Json = json!({"metadata": {"labels": {"round": round.to_string()}}});
        world.objects.patch("Model", "rejected", &label).await?;
    }
    eventually("the Event to be counted up", published, |published| *published > 5.5).await?;

    // Before a row is swept, its object is read by name.
    world.stop()?;
    for kind in kinds() {
        world.objects.delete_by_force(kind, "swept").await?;
    }
    world.restart()?;
    for kind in kinds() {
        world.row_that("deleted", kind, "swept", |row| row.deleted).await?;
    }

    // A difference to be repaired.
    world.stop()?;
    world.database.sql("DELETE FROM project WHERE name = 'audited'").await?;
    let audit = world.audit(&[])?;
    ensure!(audit.code == Some(1), "{audit:?}");
    world.audit(&["--repair"])?;
    let removed = world.ingester().run(&["finalizers", "remove"])?;
    ensure!(removed.code == Some(0), "{removed:?}");

    let look = async || {
        let audit = world.cluster.audit()?;
        let used: BTreeSet<Access> = audit.used.into_iter().filter(|access| !is_everybodys(access)).collect();
        let unused: Vec<String> = granted.difference(&used).map(ToString::to_string).collect();
        let missing: Vec<String> = used.difference(&granted).map(ToString::to_string).collect();
        let forbidden: Vec<String> = audit.forbidden.iter().map(ToString::to_string).collect();
        Ok((unused, missing, forbidden))
    };
    // A watch appears in the audit log shortly after its end.
    eventually("the rights to be those that are used", look, |(unused, missing, forbidden)| {
        unused.is_empty() && missing.is_empty() && forbidden.is_empty()
    })
    .await
    .map(drop)
}
