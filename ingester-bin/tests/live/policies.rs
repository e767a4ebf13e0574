//! Objects that leave etcd by rules.

use anyhow::{Result, ensure};
use kube::ResourceExt as _;
use serde_json::{Value as Json, json};
use std::time::{Duration, SystemTime};

use crate::eventually::within;
use crate::objects::{KEEP, OURS, has_finalizer, model, project};
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_both_api_servers! { Own::NOTHING =>
    finished_objects_leave_by_a_rule_within_the_limit_and_the_rest_stays
}

const DRY: &str = "{period: 1s, evictLimit: 100, evict: {Model: [{name: done, when: {fieldSelector: algorithm=done}, keepLast: {count: 2, by: [algorithm]}}]}}";
const ENFORCED: &str = "{period: 1s, evictLimit: 100, evict: {Model: [{name: done, when: {fieldSelector: algorithm=done}, keepLast: {count: 2, by: [algorithm]}, enforce: true}]}}";

const PURGED: &str = "{rules: [{name: old, kinds: [Model], state: evicted, after: 1s, keepLast: {count: 5, by: [algorithm]}, enforce: true}]}";

/// How many objects are done, and how many are not.
const DONE: usize = 80;
const RUNNING: usize = 120;

/// A fifth of all, which is what may leave within an hour.
const FIFTH: usize = (DONE + RUNNING + HELD) / 5;

/// Done, and kept in the cluster by something: a finalizer of others, an object that it owns, its owner.
const HELD: usize = 3;

fn named(prefix: &str, count: usize, algorithm: &'static str) -> impl Iterator<Item = Json> {
    let prefix = prefix.to_owned();
    (0..count).map(move |number| model(&format!("{prefix}-{number:03}"), algorithm))
}

async fn finished_objects_leave_by_a_rule_within_the_limit_and_the_rest_stays(world: &mut World) -> Result<()> {
    let owner = |kind: &str, name: &str, uid: &str| json!([{"apiVersion": "michelangelo.api/v2", "kind": kind, "name": name, "uid": uid, "controller": true}]);
    let mut held = model("a-finalizer", "done");
    held["metadata"]["finalizers"] = json!([KEEP]);
    world.objects.create(held).await?;
    let project_uid = world.objects.create(project("owner", 1)).await?.uid().unwrap_or_default();
    let mut owned = model("a-owned", "done");
    owned["metadata"]["ownerReferences"] = owner("Project", "owner", &project_uid);
    world.objects.create(owned).await?;
    let owning_uid = world.objects.create(model("a-owning", "done")).await?.uid().unwrap_or_default();
    let mut dependent = project("dependent", 1);
    dependent["metadata"]["ownerReferences"] = owner("Model", "a-owning", &owning_uid);
    world.objects.create(dependent).await?;
    // Times of creation have whole seconds: the last ones are to be among those that come now.
    let second = || SystemTime::UNIX_EPOCH.elapsed().map(|since| since.as_secs());
    let begin = second()?;
    within(Duration::from_secs(10), "the next second", async || Ok(second()?), |now| *now > begin).await?;
    world.objects.create_all(named("done", DONE, "done").chain(named("running", RUNNING, "running"))).await?;

    // Not enforced: counted, and explained.
    let dry = Settings { policies: DRY, ..world.settings() };
    world.start_with(&dry)?;
    world.settled().await?;
    let counted = async || Ok(world.metrics()?.sum("ingester_policy_objects", &["kind=\"Model\""]));
    let all = (DONE + HELD - 2) as f64;
    within(Duration::from_secs(60), "the rule to count its objects", counted, |count| *count == all).await?;
    // What just gets our finalizer has changed since it was judged.
    let said = async || {
        let ran = world.ingester().run(&["policies", "-o", "json"])?;
        ensure!(ran.code == Some(0), "{ran:?}");
        Ok(serde_json::from_str::<Json>(&ran.out)?[0].clone())
    };
    let line =
        within(Duration::from_secs(60), "all to have our finalizer", said, |line| line["hindered"] == HELD).await?;
    ensure!(line["leaves"] == DONE - 2 && line["stays"] == 2, "{line}");
    ensure!(line["bytes"].as_u64().is_some_and(|bytes| bytes > 10_000) && line["enforce"] == false, "{line}");
    for (name, why) in
        [("a-finalizer", "the finalizer"), ("a-owned", "its owner is live"), ("a-owning", "has it as its owner")]
    {
        let ran = world.ingester().run(&["policies", "--explain", name])?;
        ensure!(ran.code == Some(0) && ran.out.contains(why), "{name}: {ran:?}");
    }
    ensure!(world.objects.list("Model").await?.len() == DONE + RUNNING + HELD);

    // Enforced: a fifth of all within the hour, and no more, also after a restart.
    let enforced = Settings { policies: ENFORCED, ..world.settings() };
    world.reconfigure(&enforced)?;
    let confirmed = async || world.database.count("model WHERE evict_confirmed").await;
    let most = FIFTH.min(DONE - 2) as u64;
    within(Duration::from_secs(60), "objects to leave", confirmed, |count| *count == most).await?;
    world.restart()?;
    world.settled().await?;
    let waiting = async || Ok(world.metrics()?.sum("ingester_policy_waiting_objects", &["kind=\"Model\""]));
    let rest = (DONE - 2 + HELD) as f64 - most as f64;
    within(Duration::from_secs(60), "the rest to wait", waiting, |count| *count == rest).await?;

    let objects = world.objects.list("Model").await?;
    let there = |name: &str| objects.iter().any(|object| object.name_any() == name);
    ensure!(objects.len() as u64 == (DONE + RUNNING + HELD) as u64 - most, "{} are there", objects.len());
    ensure!(["a-finalizer", "a-owned", "a-owning"].into_iter().all(there), "what is hindered stays");
    ensure!(objects.iter().filter(|object| object.name_any().starts_with("running")).count() == RUNNING);
    ensure!(objects.iter().all(|object| has_finalizer(object, OURS)), "what stays has our finalizer");
    let wrong =
        "model WHERE evict_time IS NOT NULL AND (algorithm <> 'done' OR delete_time IS NOT NULL OR name LIKE 'a-%')";
    ensure!(world.database.count(wrong).await? == 0, "only what the rule means has left");
    let last = "model WHERE algorithm = 'done' AND evict_time IS NULL AND delete_time IS NULL";
    ensure!(world.database.count(last).await? >= 2, "the last ones stay");
    world.audit_is_clean()?;

    // Their rows leave SQL by another rule, all but the last ones, and nothing else does.
    world.reconfigure(&Settings { retention: PURGED, ..enforced })?;
    within(Duration::from_secs(60), "rows to be purged", confirmed, |count| *count == 5).await?;
    ensure!(world.objects.list("Model").await?.len() == objects.len());
    let rest = world.database.count("model WHERE evict_time IS NULL AND delete_time IS NULL").await?;
    ensure!(rest as usize == objects.len(), "{rest} live rows");
    ensure!(world.metrics()?.sum("ingester_evictions_lost_total", &["kind=\"Model\""]) == 0.0);
    world.audit_is_clean()
}
