//! KubeDL's pods and the events on them and on jobs, as `examples/kubedl/kinds.yaml` declares them: the rows of the views `replica_info`, `pod` and
//! `event_info` after each step of a pod's life. Only the classic API server has a core API.
//!
//! There is no kubelet: the tests write the status that it would write.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value as Json, json};

use crate::eventually::eventually;
use crate::kubedl::{Jobs, furnish, since, until, with};
use crate::on_every_database;
use crate::world::World;

on_every_database! { OwnServers::NOTHING =>
    every_state_of_a_pod_is_in_its_row
    a_pod_that_is_deleted_has_stopped_unless_it_had_ended
    only_pods_of_persisted_jobs_have_rows
    events_on_managed_jobs_and_pods_are_in_their_view
}

/// A row of `replica_info`, by column. `version` and `gmt_modified` are checked separately.
const COLUMNS: [&str; 18] = [
    "name",
    "namespace",
    "pod_id",
    "status",
    "image",
    "job_id",
    "replica_type",
    "resources",
    "host_ip",
    "pod_ip",
    "deploy_region",
    "deleted",
    "is_in_etcd",
    "remark",
    "gmt_created",
    "gmt_started",
    "gmt_finished",
    "version",
];

/// A job that owns pods.
struct Owner {
    kind: &'static str,
    group: &'static str,
    name: String,
    uid: String,
}

/// The pods of one namespace.
struct Pods<'w> {
    world: &'w World,
    api: Api<Pod>,
}

/// What a test expects of a pod's row; the rest follows from the pod.
#[derive(Clone, Debug, Default)]
struct Expected {
    status: &'static str,
    started: Option<String>,
    finished: Option<String>,
    remark: Option<&'static str>,
    ips: Option<[&'static str; 2]>,
    region: Option<&'static str>,
    gone: bool,
}

fn at(minute: u32) -> String {
    format!("2026-07-01T10:{minute:02}:00Z")
}

fn sql_at(minute: u32) -> Option<String> {
    Some(format!("2026-07-01 10:{minute:02}:00.000000"))
}

fn created(pod: &Pod) -> Result<String> {
    let created = serde_json::to_value(pod.creation_timestamp().context("when it was created")?)?;
    Ok(created.as_str().context("a time")?.replace('T', " ").replace('Z', ".000000"))
}

/// A pod of a job as KubeDL makes it, with a container beside that of the job.
fn pod(name: &str, owner: &Owner, main: &str) -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"group-name": owner.group, "job-name": owner.name, "replica-type": "worker", "replica-index": "0"},
            "ownerReferences": [{
                "apiVersion": format!("{}/v1alpha1", owner.group), "kind": owner.kind, "name": owner.name, "uid": owner.uid,
                "controller": true, "blockOwnerDeletion": false,
            }],
        },
        "spec": {
            "restartPolicy": "OnFailure",
            "initContainers": [{"name": "fetch", "image": "fetch:1", "resources": {"requests": {"cpu": "3"}}}],
            "containers": [
                {"name": "sidecar", "image": "sidecar:1", "resources": {"requests": {"cpu": "500m", "memory": "64Mi"}}},
                {"name": main, "image": "train:2", "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "1", "memory": "512Mi"}}},
            ],
        },
    })
}

/// By the rule: the larger of the greatest init container and the sum of the others.
const RESOURCES: &str = r#"{"limits":{"memory":"1Gi"},"requests":{"cpu":"3","memory":"576Mi"}}"#;
const IPS: [&str; 2] = ["10.0.0.7", "10.1.2.3"];

/// The status with the states of the main container and of the one beside it, which began and ended at different times.
fn status(phase: &str, main: &str, state: Json) -> Json {
    let container = |name: &str, state: Json| json!({"name": name, "state": state, "ready": false, "restartCount": 0, "image": "i", "imageID": "i"});
    let beside = json!({"terminated": {"exitCode": 1, "reason": "Other", "startedAt": at(50), "finishedAt": at(51)}});
    json!({
        "phase": phase, "hostIP": IPS[0], "podIP": IPS[1],
        "containerStatuses": [container("sidecar", beside), container(main, state)],
    })
}

impl<'w> Pods<'w> {
    fn new(world: &'w World) -> Self {
        Pods { world, api: Api::namespaced(world.objects.client.clone(), &world.objects.namespace) }
    }

    async fn create(&self, pod: Json) -> Result<Pod> {
        let name = pod["metadata"]["name"].to_string();
        let created = self.api.create(&PostParams::default(), &serde_json::from_value(pod)?).await;
        created.with_context(|| format!("creating the pod {name}"))
    }

    /// Brings a pod into a state, as the kubelet does.
    async fn becomes(&self, name: &str, status: Json) -> Result<Pod> {
        let patch = Patch::Merge(json!({ "status": status }));
        let patched = self.api.patch_status(name, &PatchParams::default(), &patch).await;
        patched.with_context(|| format!("the status of {name}"))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        // No kubelet reports that its containers have ended.
        let now = DeleteParams::default().grace_period(0);
        self.api.delete(name, &now).await.map(drop).with_context(|| format!("deleting {name}"))
    }

    /// Waits until the row of a pod is as expected, in both views; returns `gmt_modified`.
    async fn is(&self, what: &str, pod: &Pod, owner: &Owner, expected: &Expected) -> Result<String> {
        let uid = pod.uid().context("a uid")?;
        let truth = |is: bool| Some(u8::from(is).to_string());
        let text = |text: &str| Some(text.to_owned());
        let label = pod.labels().get("replica-type");
        let wanted = vec![
            Some(pod.name_any()),
            pod.namespace(),
            Some(uid.clone()),
            text(expected.status),
            text("train:2"),
            Some(owner.uid.clone()),
            label.cloned(),
            text(RESOURCES),
            expected.ips.map(|ips| ips[0].to_owned()),
            expected.ips.map(|ips| ips[1].to_owned()),
            expected.region.and_then(text),
            // Pods are never evicted.
            truth(false),
            truth(!expected.gone),
            expected.remark.and_then(text),
            Some(created(pod)?),
            expected.started.clone(),
            expected.finished.clone(),
        ];
        let sql = format!("SELECT {}, gmt_modified FROM replica_info WHERE pod_id = '{uid}'", COLUMNS.join(", "));
        let look = async || self.world.database.sql(&sql).await;
        // The last state of a pod that is gone has its own version.
        let version = pod.resource_version().context("a version")?;
        let holds = |rows: &Vec<Vec<Option<String>>>| match rows.as_slice() {
            [row] => row[..17] == wanted && (expected.gone || row[17].as_ref() == Some(&version)),
            _ => false,
        };
        let what = format!("{what}: {wanted:?} at version {version}");
        let rows = eventually(&what, look, holds).await?;
        // The manual's table has the same values in the common columns.
        let both = "name, namespace, pod_id, version, status, image, job_id, replica_type, resources, host_ip, pod_ip, deploy_region, gmt_created, gmt_started";
        let [of_code, of_manual] =
            ["replica_info", "pod"].map(|view| format!("SELECT {both} FROM {view} WHERE pod_id = '{uid}'"));
        let (of_code, of_manual) =
            (self.world.database.sql(&of_code).await?, self.world.database.sql(&of_manual).await?);
        ensure!(of_code == of_manual, "{of_code:?} {of_manual:?}");
        rows[0][18].clone().context("when it was written")
    }

    /// One cell of a pod's row.
    async fn cell(&self, column: &str, pod: &Pod) -> Result<Option<String>> {
        let uid = pod.uid().context("a uid")?;
        self.world.database.cell(&format!("SELECT {column} FROM replica_info WHERE pod_id = '{uid}'")).await
    }
}

/// A job of a kind, without any state.
async fn owner(world: &World, kind: &str) -> Result<Owner> {
    let all = Jobs::list(world)?;
    let jobs = all.iter().find(|jobs| jobs.kind == kind).context("a kind of jobs")?;
    let job = jobs.create_in(jobs.job("owner", &[], false)).await?;
    Ok(Owner { kind: jobs.kind, group: jobs.group, name: job.name_any(), uid: job.uid().context("a uid")? })
}

async fn every_state_of_a_pod_is_in_its_row(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let mut last = Vec::new();
    for (kind, main) in [("TFJob", "tensorflow"), ("PyTorchJob", "pytorch")] {
        let owner = owner(world, kind).await?;
        let pods = Pods::new(world);
        let name = format!("{main}-worker-0");
        let since = since(world).await?;
        let made = pods.create(pod(&name, &owner, main)).await?;
        let written = pods
            .is("nobody has taken it", &made, &owner, &Expected { status: "Unknown", ..Expected::default() })
            .await?;
        ensure!(since < written && written < until(world).await?, "{since} < {written}");
        let waiting =
            pods.becomes(&name, status("Pending", main, json!({"waiting": {"reason": "ContainerCreating"}}))).await?;
        let pending = Expected { status: "Pending", ips: Some(IPS), ..Expected::default() };
        pods.is("its containers wait", &waiting, &owner, &pending).await?;
        let runs = pods.becomes(&name, status("Running", main, json!({"running": {"startedAt": at(1)}}))).await?;
        let running = Expected { status: "Running", started: sql_at(1), ..pending };
        pods.is("it runs", &runs, &owner, &running).await?;
        // Its container is started again: the first time stays.
        let again = pods.becomes(&name, status("Running", main, json!({"running": {"startedAt": at(5)}}))).await?;
        pods.is("it runs again", &again, &owner, &running).await?;
        let killed = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "out of memory", "startedAt": at(5), "finishedAt": at(7)}});
        let fails = pods.becomes(&name, status("Failed", main, killed)).await?;
        let remark = "Reason: OOMKilled\nExitCode: 137\nMessage: out of memory";
        let failed = Expected { status: "Failed", finished: sql_at(7), remark: Some(remark), ..running };
        pods.is("it has failed", &fails, &owner, &failed).await?;
        // The first end stays, too.
        let later = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "out of memory", "startedAt": at(5), "finishedAt": at(9)}});
        let later = pods.becomes(&name, status("Failed", main, later)).await?;
        pods.is("it has failed still", &later, &owner, &failed).await?;

        // A pod that succeeds at once, and one that its node evicted before any container ran.
        let name = format!("{main}-worker-1");
        pods.create(pod(&name, &owner, main)).await?;
        let done =
            json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": at(2), "finishedAt": at(3)}});
        let ended = pods.becomes(&name, status("Succeeded", main, done)).await?;
        let succeeded = Expected {
            status: "Succeeded",
            started: sql_at(2),
            finished: sql_at(3),
            ips: Some(IPS),
            ..Expected::default()
        };
        pods.is("it has ended", &ended, &owner, &succeeded).await?;
        let name = format!("{main}-worker-2");
        pods.create(pod(&name, &owner, main)).await?;
        let evicted = pods
            .becomes(&name, json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}))
            .await?;
        let eventually_failed = async || pods.cell("status", &evicted).await;
        eventually("the end without a word of containers", eventually_failed, |status| {
            status.as_deref() == Some("Failed")
        })
        .await?;
        // The pod does not say when it ended: the time of the write counts.
        let finished = pods.cell("gmt_modified", &evicted).await?;
        let remark = Some("Reason: Evicted\nMessage: The node was low on memory.");
        let thrown_out =
            Expected { status: "Failed", started: Some(created(&evicted)?), finished, remark, ..Expected::default() };
        pods.is("it was thrown out", &evicted, &owner, &thrown_out).await?;
        last.push((owner, ended, succeeded));
    }
    ensure!(world.database.count("replica_info").await? == 6);
    // The region is the process's, even for rows that it wrote before it had one.
    world.start_with(&with(&settings, "viewSettings: {deploy_region: here}"))?;
    for (owner, pod, expected) in &last {
        Pods::new(world)
            .is("with a region", pod, owner, &Expected { region: Some("here"), ..expected.clone() })
            .await?;
    }
    Ok(())
}

async fn a_pod_that_is_deleted_has_stopped_unless_it_had_ended(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let owner = owner(world, "TFJob").await?;
    let main = "tensorflow";
    // Each once while the ingester runs, and once while it does not.
    let mut all = Vec::new();
    for seen in ["seen", "unseen"] {
        let pods = Pods::new(world);
        let [fresh, runs, ended] = ["fresh", "runs", "ended"].map(|name| format!("{seen}-{name}"));
        let pod_of_fresh = pods.create(pod(&fresh, &owner, main)).await?;
        let started = Some(created(&pod_of_fresh)?);
        all.push((pod_of_fresh, Expected { status: "Stopped", started, ..Expected::default() }));
        pods.create(pod(&runs, &owner, main)).await?;
        let running = pods.becomes(&runs, status("Running", main, json!({"running": {"startedAt": at(1)}}))).await?;
        all.push((running, Expected { status: "Stopped", started: sql_at(1), ips: Some(IPS), ..Expected::default() }));
        pods.create(pod(&ended, &owner, main)).await?;
        let done = json!({"terminated": {"exitCode": 0, "startedAt": at(2), "finishedAt": at(3)}});
        let succeeded = pods.becomes(&ended, status("Succeeded", main, done)).await?;
        all.push((
            succeeded,
            Expected {
                status: "Succeeded",
                started: sql_at(2),
                finished: sql_at(3),
                ips: Some(IPS),
                ..Expected::default()
            },
        ));
    }
    for (pod, _) in &all {
        let version = pod.resource_version();
        eventually("it is stored", async || Pods::new(world).cell("version", pod).await, |stored| *stored == version)
            .await?;
    }
    ensure!(world.database.count("replica_info WHERE is_in_etcd = 1 AND status <> 'Stopped'").await? == 6);
    let since = since(world).await?;
    for (pod, _) in all.iter().filter(|(pod, _)| pod.name_any().starts_with("seen")) {
        Pods::new(world).delete(&pod.name_any()).await?;
    }
    let in_etcd = async || world.database.count("replica_info WHERE is_in_etcd = 1").await;
    eventually("the deletions are seen", in_etcd, |count| *count == 3).await?;
    world.stop()?;
    for (pod, _) in all.iter().filter(|(pod, _)| pod.name_any().starts_with("unseen")) {
        Pods::new(world).delete(&pod.name_any()).await?;
    }
    world.start_with(&settings)?;
    for (pod, expected) in all {
        let pods = Pods::new(world);
        let mut expected = Expected { gone: true, ..expected };
        if expected.finished.is_none() {
            let gone = async || pods.cell("gmt_finished", &pod).await;
            let finished = eventually("it has stopped", gone, Option::is_some).await?.context("a time")?;
            // Kubernetes records a deletion request to the second.
            ensure!(finished[..19] >= since[..19] && finished <= until(world).await?, "{since} <= {finished}");
            expected.finished = Some(finished);
        }
        pods.is("deleted", &pod, &owner, &expected).await?;
    }
    ensure!(world.database.count("replica_info WHERE is_in_etcd = 0 AND deleted = 0").await? == 6);
    Ok(())
}

async fn only_pods_of_persisted_jobs_have_rows(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let tf = owner(world, "TFJob").await?;
    let mpi = owner(world, "MPIJob").await?;
    let mars = owner(world, "MarsJob").await?;
    let pods = Pods::new(world);
    // Without the label of the group, of kinds whose pods are not persisted, of another group's kind, without an owner.
    let mut unlabelled = pod("unlabelled", &tf, "tensorflow");
    unlabelled["metadata"]["labels"] = json!({"replica-type": "worker"});
    let mut of_others = pod("of-others", &tf, "tensorflow");
    of_others["metadata"]["ownerReferences"][0]["apiVersion"] = json!("kubeflow.org/v1");
    let mut of_nobody = pod("of-nobody", &tf, "tensorflow");
    of_nobody["metadata"]["ownerReferences"] = json!([]);
    // An owner that is not the controller.
    let mut owned = pod("owned", &tf, "tensorflow");
    owned["metadata"]["ownerReferences"][0]["controller"] = json!(false);
    for other in [unlabelled, of_others, of_nobody, owned, pod("of-mpi", &mpi, "mpi"), pod("of-mars", &mars, "mars")] {
        pods.create(other).await?;
    }
    // A pod without a type still has a row. It comes last: the others have been processed by then.
    let mut untyped = pod("untyped", &tf, "tensorflow");
    untyped["metadata"]["labels"] = json!({"group-name": tf.group});
    let untyped = pods.create(untyped).await?;
    pods.is("of no type", &untyped, &tf, &Expected { status: "Unknown", ..Expected::default() }).await?;
    ensure!(world.database.count("replica_info").await? == 1 && world.database.count("kubedl_pod").await? == 1);
    // A pod that loses its job has no live row any more.
    let orphan = Patch::Merge(json!({"metadata": {"ownerReferences": null}}));
    pods.api.patch("untyped", &PatchParams::default(), &orphan).await?;
    let in_etcd = async || world.database.count("replica_info WHERE is_in_etcd = 1").await;
    eventually("the pod of nobody has left", in_etcd, |count| *count == 0).await?;
    Ok(())
}

/// The row of an event.
async fn event(world: &World, name: &str) -> Result<Vec<Vec<Option<String>>>> {
    let sql = format!(
        "SELECT kind, type, obj_name, obj_uid, reason, message, count, region, first_timestamp, last_timestamp
         FROM event_info WHERE name = '{name}' AND obj_namespace = '{}'",
        world.objects.namespace
    );
    world.database.sql(&sql).await
}

async fn events_on_managed_jobs_and_pods_are_in_their_view(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let owner = owner(world, "TFJob").await?;
    let pods = Pods::new(world);
    let worker = pods.create(pod("worker", &owner, "tensorflow")).await?;
    let mut foreign = pod("foreign", &owner, "tensorflow");
    foreign["metadata"]["ownerReferences"] = json!([]);
    let foreign = pods.create(foreign).await?;
    let uid = |pod: &Pod| pod.uid().context("a uid");
    let namespace = &world.objects.namespace;
    let api: Api<Event> = Api::namespaced(world.objects.client.clone(), namespace);
    let on = |name: &str, kind: &str, of: &str, uid: &str, more: Json| {
        let mut event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
            "involvedObject": {"apiVersion": "v1", "kind": kind, "name": of, "namespace": namespace, "uid": uid},
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let counted = json!({
        "type": "Warning", "reason": "BackOff", "message": "Back-off\nrestarting \"größe\"", "count": 3, "firstTimestamp": at(1), "lastTimestamp": at(4),
        "source": {"component": "kubelet"},
    });
    // As clients of events.k8s.io write them: only one time, with a fraction, and no count.
    let modern = json!({
        "type": "Normal", "reason": "Scheduled", "message": "Assigned.", "eventTime": "2026-07-01T10:02:00.123456Z", "action": "Binding",
        "reportingComponent": "scheduler", "reportingInstance": "scheduler-0",
    });
    let events = [
        on(
            "of-job",
            "TFJob",
            &owner.name,
            &owner.uid,
            json!({"type": "Normal", "reason": "Created", "message": "m", "firstTimestamp": at(0), "lastTimestamp": at(0)}),
        ),
        on("of-pod", "Pod", "worker", &uid(&worker)?, counted),
        on("modern", "Pod", "worker", &uid(&worker)?, modern),
        // On a pod without an owner, and on objects of kinds that are not KubeDL's.
        on("of-foreign", "Pod", "foreign", &uid(&foreign)?, json!({"reason": "r", "message": "m"})),
        on(
            "of-other",
            "Deployment",
            "web",
            "00000000-0000-0000-0000-000000000001",
            json!({"reason": "r", "message": "m"}),
        ),
    ];
    for event in events {
        api.create(&PostParams::default(), &serde_json::from_value(event)?).await?;
    }
    let text = |text: &str| Some(text.to_owned());
    let of_job = vec![
        text("TFJob"),
        text("Normal"),
        text("owner"),
        text(&owner.uid),
        text("Created"),
        text("m"),
        text("1"),
        None,
        sql_at(0),
        sql_at(0),
    ];
    let mut of_pod = vec![
        text("Pod"),
        text("Warning"),
        text("worker"),
        worker.uid(),
        text("BackOff"),
        text("Back-off\nrestarting \"größe\""),
        text("3"),
        None,
        sql_at(1),
        sql_at(4),
    ];
    let when = text("2026-07-01 10:02:00.123456");
    let modern = vec![
        text("Pod"),
        text("Normal"),
        text("worker"),
        worker.uid(),
        text("Scheduled"),
        text("Assigned."),
        text("1"),
        None,
        when.clone(),
        when,
    ];
    for (name, wanted) in [("of-job", &of_job), ("of-pod", &of_pod), ("modern", &modern)] {
        let look = async || event(world, name).await;
        eventually(&format!("the event {name}: {wanted:?}"), look, |rows| *rows == [wanted.clone()]).await?;
    }
    // It happens once more.
    let again = Patch::Merge(json!({"count": 4, "lastTimestamp": at(6)}));
    api.patch("of-pod", &PatchParams::default(), &again).await?;
    (of_pod[6], of_pod[9]) = (text("4"), sql_at(6));
    eventually(
        "the event that happened again",
        async || event(world, "of-pod").await,
        |rows| *rows == [of_pod.clone()],
    )
    .await?;
    let of_foreign = async || world.database.count("kubedl_event WHERE name = 'of-foreign'").await;
    eventually("the event on a pod of nobody is stored", of_foreign, |count| *count == 1).await?;
    ensure!(world.database.count("event_info").await? == 3 && world.database.count("kubedl_event").await? == 4);

    // The API server forgets events after an hour, and pods are deleted: their events stay. The region is the process's.
    api.delete("of-pod", &DeleteParams::default()).await?;
    pods.delete("worker").await?;
    let forgotten = async || world.database.count("kubedl_event WHERE delete_time IS NOT NULL").await;
    eventually("the event is deleted", forgotten, |count| *count == 1).await?;
    let stopped = async || pods.cell("status", &worker).await;
    eventually("the pod is deleted", stopped, |status| status.as_deref() == Some("Stopped")).await?;
    ensure!(event(world, "of-pod").await? == [of_pod.clone()]);
    world.start_with(&with(&settings, "viewSettings: {deploy_region: here}"))?;
    of_pod[7] = text("here");
    ensure!(
        event(world, "of-pod").await? == [of_pod]
            && world.database.count("event_info WHERE region = 'here'").await? == 3
    );
    Ok(())
}
