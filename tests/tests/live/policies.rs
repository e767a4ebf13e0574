//! Objects that leave etcd by rules.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};
use tokio::task::JoinSet;

use crate::eventually::{DEADLINE, eventually, within};
use crate::objects::{KEEP, OURS, has_finalizer, model, object, project};
use crate::settings::Settings;
use crate::world::World;
use crate::{on_both_api_servers, on_servers};

on_both_api_servers! { OwnServers::NOTHING =>
    finished_objects_leave_by_a_rule_within_the_limit_and_the_rest_stays
}

// The costs and the gain depend only on etcd.
on_servers! { OwnServers::CLUSTER => finished_runs_leave_etcd_and_one_command_brings_them_back [mariadb MARIADB] }

// Namespaces with labels: the classic API server has them.
on_servers! { OwnServers::CLUSTER => objects_leave_only_from_namespaces_with_the_labels_of_a_rule [mariadb MARIADB] }
on_servers! { OwnServers::NOTHING => a_rule_that_selects_namespaces_is_refused_where_there_are_none [modern MODERN] }

const DRY: &str = "{period: 1s, evictLimit: 100, evict: {Model: [{name: done, when: {fieldSelector: algorithm=done}, keepLast: {count: 2, by: [algorithm]}}]}}";
const ENFORCED: &str = "{period: 1s, evictLimit: 100, evict: {Model: [{name: done, when: {fieldSelector: algorithm=done}, keepLast: {count: 2, by: [algorithm]}, enforce: true}]}}";

const PURGED: &str = "{grace: 1h, rules: [{name: old, kinds: [Model], state: evicted, after: 1s, keepLast: {count: 5, by: [algorithm]}, enforce: true}]}";

/// How many objects are done, and how many are not.
const DONE: usize = 80;
const RUNNING: usize = 120;

/// A fifth of all, which is what may leave within an hour.
const FIFTH: usize = (DONE + RUNNING + HELD) / 5;

/// Done, but kept in the cluster: by another finalizer, by an object that it owns, by its owner.
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
    // Times of creation have whole seconds: the last ones must be among those that come now.
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
    // An object that has just received our finalizer has changed since it was judged.
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

    // Enforced: a fifth of all within the hour, and no more, even after a restart.
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
    // Each is marked first, and goes after the grace.
    let marked = async || world.database.count("ingester_marks").await;
    within(Duration::from_secs(60), "rows to be marked", marked, |count| *count == most - 5).await?;
    ensure!(confirmed().await? == most, "a marked row is purged before the grace is over");
    // As if an hour later.
    world.database.sql("UPDATE ingester_marks SET mark_time = mark_time - INTERVAL '1' HOUR").await?;
    within(Duration::from_secs(60), "rows to be purged", confirmed, |count| *count == 5).await?;
    ensure!(world.objects.list("Model").await?.len() == objects.len());
    let rest = world.database.count("model WHERE evict_time IS NULL AND delete_time IS NULL").await?;
    ensure!(rest as usize == objects.len(), "{rest} live rows");
    ensure!(world.metrics()?.sum("ingester_evictions_lost_total", &["kind=\"Model\""]) == 0.0);
    world.audit_is_clean()
}

/// `INGESTER_TEST_RUNS=10000` is the number of finished runs; one more in twenty is unfinished.
const RUNS: &str = "INGESTER_TEST_RUNS";

const FINISHED: &str = "PIPELINE_RUN_STATE_SUCCEEDED";

/// Creates runs, with a text of eight kilobytes, and writes their states.
async fn create_runs(world: &World, names: &[String], state: &'static str) -> Result<()> {
    // Not compressible, like texts of objects.
    let text = |seed: usize| -> String {
        (0..1800).map(|at| format!("{:x}", (seed * 7919 + at * 104_729) % 65_521)).collect()
    };
    let run = |(seed, name): (usize, &String)| object("PipelineRun", name, &json!({"description": text(seed)}));
    world.objects.create_all(names.iter().enumerate().map(run)).await?;
    let mut writing = JoinSet::new();
    for name in names {
        if writing.len() == 32 {
            writing.join_next().await.context("one of them")???;
        }
        let api = world.objects.api("PipelineRun");
        let name = name.clone();
        writing.spawn(async move {
            let status = json!({"status": {"state": state, "endTime": "2026-01-01T00:00:00Z"}});
            api.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await.map(drop)
        });
    }
    while let Some(written) = writing.join_next().await {
        written??;
    }
    Ok(())
}

async fn finished_runs_leave_etcd_and_one_command_brings_them_back(world: &mut World) -> Result<()> {
    let asked: Option<usize> = std::env::var(RUNS).ok().map(|text| text.parse()).transpose()?;
    let count = asked.unwrap_or(300);
    let finished: Vec<String> = (0..count).map(|number| format!("finished-{number:05}")).collect();
    let running: Vec<String> = (0..count / 20).map(|number| format!("running-{number:05}")).collect();
    create_runs(world, &finished, FINISHED).await?;
    create_runs(world, &running, "PIPELINE_RUN_STATE_RUNNING").await?;
    let rule = |enforce: bool| -> &'static str {
        let when = format!("fieldSelector: status.state={FINISHED}");
        let rule =
            format!("{{name: finished, when: {{{when}}}, after: 1h, since: status.endTime, enforce: {enforce}}}");
        format!("{{period: 1s, evictLimit: 1000000, evict: {{PipelineRun: [{rule}]}}}}").leak()
    };
    let settings =
        |enforce| Settings { policies: rule(enforce), ingester: vec!["finalizerRate: 5000"], ..world.settings() };
    let dry = settings(false);
    let enforced = settings(true);
    let slow = Duration::from_secs(600);
    let begin = Instant::now();
    world.launch(&dry)?.wait_ready(slow)?;
    let all = (finished.len() + running.len()) as u64;
    let live = "pipelinerun WHERE delete_time IS NULL AND evict_time IS NULL";
    let stored = async || world.database.count(live).await;
    within(slow, "all rows", stored, |rows| *rows == all).await?;
    world.settled_within(slow).await?;
    eprintln!("{all} runs are stored after {:?}", begin.elapsed());
    world.cluster.compact()?;
    world.cluster.defragment()?;
    let before = world.cluster.etcd_size()?;

    let begin = Instant::now();
    world.reconfigure(&enforced)?;
    let confirmed = async || world.database.count("pipelinerun WHERE evict_confirmed").await;
    loop {
        let now = confirmed().await?;
        if now == count as u64 {
            break;
        }
        // As if an hour later: objects that have left are not counted any more.
        world.database.sql("DELETE FROM ingester_settings WHERE name LIKE 'evict/%'").await?;
        within(slow, "more to leave", confirmed, |later| *later > now).await?;
    }
    eprintln!("{count} runs have left within {:?}", begin.elapsed());
    let uncompacted = world.cluster.etcd_size()?;
    world.cluster.compact()?;
    world.cluster.defragment()?;
    let after = world.cluster.etcd_size()?;
    eprintln!("etcd: {before:?}, then {uncompacted:?}, compacted and defragmented {after:?}");
    ensure!(after.used < before.used, "{before:?} {after:?}");

    // Exactly these, and all of them are found.
    let there: BTreeSet<String> =
        world.objects.list("PipelineRun").await?.iter().map(|object| object.name_any()).collect();
    ensure!(there == running.iter().cloned().collect(), "{} objects are there", there.len());
    let namespace = world.objects.namespace.clone();
    let found = world.ingester().run(&["get", "pipelineruns", "-n", &namespace, "--state", "evicted", "-o", "name"])?;
    ensure!(found.code == Some(0), "{found:?}");
    let names: BTreeSet<&str> = found.out.lines().filter_map(|line| line.rsplit('/').next()).collect();
    ensure!(names == finished.iter().map(String::as_str).collect(), "{} are found", names.len());

    // One command, while nothing leaves.
    world.reconfigure(&dry)?;
    let taken_up = async || world.log_lines(&["Configuration changed"]);
    eventually("the rule to be switched off", taken_up, |lines| lines.len() == 2).await?;
    let selector = format!("status.state={FINISHED}");
    let begin = Instant::now();
    let kubeconfig = world.cluster.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path of UTF-8")?;
    let arguments = [
        "restore",
        "pipelineruns",
        "-n",
        &namespace,
        "--field-selector",
        &selector,
        "-o",
        "name",
        "--kubeconfig",
        kubeconfig,
    ];
    let restored = world.ingester().run_within(slow, &arguments)?;
    ensure!(restored.code == Some(0), "{:?} {}", restored.code, restored.err.lines().last().unwrap_or_default());
    ensure!(restored.out.lines().count() == count, "{} lines", restored.out.lines().count());
    eprintln!("{count} runs are back within {:?}", begin.elapsed());
    let objects = world.objects.list("PipelineRun").await?;
    ensure!(objects.len() as u64 == all, "{} objects are there", objects.len());
    let done = objects.iter().filter(|object| object.data.pointer("/status/state") == Some(&json!(FINISHED)));
    ensure!(done.count() == count, "their states are back, too");
    world.settled_within(slow).await?;
    ensure!(stored().await? == all);
    let again = world.ingester().run(&arguments)?;
    ensure!(again.code == Some(0) && again.out.is_empty(), "nothing is left to restore: {again:?}");

    // The rule is on again, and takes none of them away before their grace has passed.
    world.reconfigure(&enforced)?;
    let waiting = async || Ok(world.metrics()?.sum("ingester_policy_waiting_objects", &["kind=\"PipelineRun\""]));
    within(slow, "the rule to be judged", waiting, |waiting| *waiting == count as f64).await?;
    let ran = world.ingester().run(&["policies", "pipelineruns", "--explain", &finished[0]])?;
    ensure!(ran.code == Some(0) && ran.out.contains("`policies.restoreGrace` exempts it"), "{ran:?}");
    ensure!(world.objects.list("PipelineRun").await?.len() as u64 == all, "none has left");
    let ran = world.ingester().run_within(slow, &["audit"])?;
    ensure!(ran.code == Some(0), "{ran:?}");
    Ok(())
}

const SELECTING: &str = "{period: 1s, evict: {Model: [{name: done, when: {fieldSelector: algorithm=done}, namespaceSelector: 'tier=batch', enforce: true}]}}";

async fn label_namespace(world: &World, name: &str, tier: &str) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(world.objects.client.clone());
    let labels = json!({"metadata": {"labels": {"tier": tier}}});
    namespaces.patch(name, &PatchParams::default(), &Patch::Merge(&labels)).await?;
    Ok(())
}

async fn objects_leave_only_from_namespaces_with_the_labels_of_a_rule(world: &mut World) -> Result<()> {
    let one = world.objects.namespace.clone();
    let other = world.elsewhere.namespace.clone();
    label_namespace(world, &one, "gold").await?;
    label_namespace(world, &other, "batch").await?;
    world.objects.create(model("one", "done")).await?;
    world.elsewhere.create(model("other", "done")).await?;
    let settings = Settings { namespaces: vec![one.clone(), other.clone()], policies: SELECTING, ..world.settings() };
    // The service account may not list namespaces: nothing starts, and the rule is named.
    world.launch(&settings)?;
    let ended = world.ingester().wait_end(DEADLINE)?;
    ensure!(ended.code() == Some(2), "{ended}");
    let logs = world.ingester().logs()?;
    ensure!(logs.contains("the rule `done` of Model") && logs.contains("grant `list` on namespaces"), "{logs}");
    let role = world.ingester().run(&["rbac", "--name", "lists-namespaces"])?;
    ensure!(role.out.contains("resources: [namespaces]\n  verbs: [list]"), "{role:?}");
    let role: Json = serde_saphyr::from_str(&role.out)?;
    crate::cluster::create(&world.objects.client, &role).await?;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "lists-namespaces"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "lists-namespaces"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ingester_tests::apiserver::SERVICE_ACCOUNT}],
    });
    crate::cluster::create(&world.objects.client, &binding).await?;
    crate::cluster::authorizer_knows(&world.objects.client, "", "namespaces").await?;

    world.start_with(&settings)?;
    let evicted = async || world.database.count("model WHERE name = 'other' AND evict_confirmed").await;
    eventually("the object of the namespace with the label to leave", evicted, |rows| *rows == 1).await?;
    ensure!(world.objects.get("Model", "one").await?.is_some(), "the other one stays");
    let ran = world.ingester().run(&["policies", "-o", "json"])?;
    let line: Json = serde_json::from_str(&ran.out).with_context(|| format!("{ran:?}"))?;
    ensure!(line[0]["leaves"] == 0 && line[0]["from"] == "configuration", "{line}");
    // Now it has the label.
    label_namespace(world, &one, "batch").await?;
    world.gone("Model", "one").await?;
    world.audit_is_clean()
}

async fn a_rule_that_selects_namespaces_is_refused_where_there_are_none(world: &mut World) -> Result<()> {
    let settings = Settings { policies: SELECTING, ..world.settings() };
    world.launch(&settings)?;
    let ended = world.ingester().wait_end(DEADLINE)?;
    ensure!(ended.code() == Some(2), "{ended}");
    let logs = world.ingester().logs()?;
    ensure!(logs.contains("the rule `done` of Model") && logs.contains("name them with `namespaces`"), "{logs}");
    Ok(())
}
