//! KubeDL's jobs, as `examples/kubedl/kinds.yaml` declares them: the rows of the view `job_info` after each step of a job's life.
//!
//! Jobs of several kinds go through each step side by side. The expected rows come from the objects that the API server returned
//! and from the comments in `examples/kubedl/objects`, never from another row.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::{Edition, install};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, PostParams};
use serde_json::{Value as Json, json};
use std::process::Command;

use crate::cluster::{authorizer_knows, create};
use crate::eventually::eventually;
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    every_state_of_a_job_is_in_its_row
    a_job_that_is_deleted_has_stopped_if_it_ran
    a_name_that_is_taken_again_has_a_row_for_each_job
    changes_of_jobs_during_an_outage_are_in_their_rows
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kubedl");

/// Kind, group, plural, and the file of CRDs begins with the last two. The first four have a file of objects.
const KINDS: [(&str, &str, &str); 8] = [
    ("TFJob", "training.kubedl.io", "tfjobs"),
    ("PyTorchJob", "training.kubedl.io", "pytorchjobs"),
    ("MPIJob", "training.kubedl.io", "mpijobs"),
    ("MarsJob", "training.kubedl.io", "marsjobs"),
    ("XGBoostJob", "training.kubedl.io", "xgboostjobs"),
    ("XDLJob", "training.kubedl.io", "xdljobs"),
    ("ElasticBatchJob", "inference.kubedl.io", "elasticbatchjobs"),
    ("ElasticDLJob", "training.kubedl.io", "elasticdljobs"),
];

/// The kinds whose lives are in the files, and the names of the jobs.
const TOLD: [(&str, &str); 4] = [("TFJob", "mnist"), ("PyTorchJob", "bert"), ("MPIJob", "horovod"), ("MarsJob", "etl")];

/// The resources of the jobs of a kind, which all have the spec of the file, as in the folder's README.md.
fn resources(kind: &str) -> Result<String> {
    let (_, name) = TOLD.iter().find(|(told, _)| *told == kind).context("a kind with a file")?;
    let text = std::fs::read_to_string(format!("{FOLDER}/README.md"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("| {name} | `"))).context("its resources")?;
    Ok(line.trim_end_matches("` |").to_owned())
}

/// Installs KubeDL's kinds, gives the ingester the rights that `ingester rbac` prints for them, and returns the settings that it needs.
pub(crate) async fn furnish(world: &World) -> Result<Settings> {
    let client = &world.objects.client;
    let mut crds = Vec::new();
    for (_, group, plural) in KINDS {
        let text = std::fs::read_to_string(format!("{FOLDER}/crds/{plural}.{group}.yaml"))?;
        crds.push(serde_saphyr::from_str::<CustomResourceDefinition>(&text)?);
    }
    install(client, &crds).await?;
    let kinds = format!("{FOLDER}/kinds.yaml");
    let mut lines = vec![format!("kindsFile: {kinds}")];
    match world.cluster.edition() {
        Edition::Classic => {
            let role = Command::new(env!("CARGO_BIN_EXE_ingester"))
                .args(["rbac", "--name", "ingester-kubedl", "--kinds", &kinds])
                .output()?;
            ensure!(role.status.success(), "{role:?}");
            create(client, &serde_saphyr::from_slice::<Json>(&role.stdout)?).await?;
            create(client, &binding("ingester-kubedl")).await?;
            authorizer_knows(client, "training.kubedl.io", "tfjobs").await?;
        }
        // It has no core API: neither pods nor events.
        Edition::Modern => lines.push(format!("kinds: [{}]", KINDS.map(|(kind, ..)| kind).join(", "))),
    }
    Ok(Settings { ingester: lines.into_iter().map(|line| &*line.leak()).collect(), ..world.settings() })
}

/// Gives the ingester the rights of this ClusterRole.
pub(crate) fn binding(role: &str) -> Json {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "User",
            "name": ingester_tests::apiserver::SERVICE_ACCOUNT,
        }],
    })
}

/// One more line of the section `ingester`.
pub(crate) fn with(settings: &Settings, line: &'static str) -> Settings {
    let mut settings = settings.clone();
    settings.ingester.push(line);
    settings
}

/// A state from a file of objects: the object, and the expected row from its comment.
struct State {
    object: Json,
    status: String,
    running: Option<String>,
    finished: Option<String>,
}

/// The states of the job in a kind's file.
fn states(kind: &str) -> Result<Vec<State>> {
    let text = std::fs::read_to_string(format!("{FOLDER}/objects/{}.yaml", kind.to_lowercase()))?;
    let mut states: Vec<State> = Vec::new();
    for document in text.split("\n---\n") {
        let said = document.lines().find_map(|line| said(line, &text));
        let (status, running, finished) = match (said, states.last()) {
            (Some(said), _) => said,
            // `as before`
            (None, Some(before)) => (before.status.clone(), before.running.clone(), before.finished.clone()),
            (None, None) => anyhow::bail!("nothing is said of the first state of the {kind}"),
        };
        states.push(State { object: serde_saphyr::from_str(document)?, status, running, finished });
    }
    Ok(states)
}

/// The text of a comment above a state: `# Restarting, the condition is gone: Restarting, 08:02:00 (kept), none.`
fn said(comment: &str, text: &str) -> Option<(String, Option<String>, Option<String>)> {
    let (_, wanted) = comment.strip_prefix("# ")?.trim_end_matches('.').split_once(": ")?;
    let parts: Vec<&str> = wanted.split(", ").map(|part| part.split(" (").next().unwrap_or(part)).collect();
    let [status, running, finished] = parts.as_slice() else { return None };
    Some(((*status).to_owned(), time(running, text)?, time(finished, text)?))
}

/// `none`, or a time of day, whose date comes from the place in the file. In SQL's format.
fn time(said: &str, text: &str) -> Option<Option<String>> {
    if said == "none" {
        return Some(None);
    }
    let at = text.find(&format!("T{said}Z"))?;
    Some(Some(format!("{} {said}.000000", &text[at - 10..at])))
}

/// A row of `job_info`, without the time of its last write.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// Name, namespace, uid, kind.
    identity: [String; 4],
    version: String,
    status: String,
    deploy_region: Option<String>,
    /// Tenant and owner.
    tenancy: [String; 2],
    /// `deleted` and `is_in_etcd`.
    deleted: bool,
    is_in_etcd: bool,
    remark: Option<String>,
    resources: String,
    created: String,
    running: Option<String>,
    finished: Option<String>,
}

impl Row {
    /// The row of a job that is in the cluster, from the object; its state comes from the test.
    fn from_object(
        object: &DynamicObject,
        status: &str,
        running: Option<&str>,
        finished: Option<&str>,
    ) -> Result<Self> {
        let annotation = |name: &str| object.annotations().get(name);
        let tenancy = annotation("kubedl.io/tenancy").and_then(|text| serde_json::from_str::<Json>(text).ok());
        let of_tenancy = |name: &str| tenancy.as_ref().and_then(|tenancy| tenancy[name].as_str()).unwrap_or_default();
        let created = serde_json::to_value(object.creation_timestamp().context("when it was created")?)?;
        let kind = object.types.as_ref().context("its type")?.kind.clone();
        let created = created.as_str().context("a time")?.replace('T', " ").replace('Z', ".000000");
        Ok(Row {
            identity: [
                object.name_any(),
                object.namespace().context("a namespace")?,
                object.uid().context("a uid")?,
                kind.clone(),
            ],
            version: object.resource_version().context("a version")?,
            status: status.to_owned(),
            deploy_region: Some(of_tenancy("region").to_owned()).filter(|region| !region.is_empty()),
            tenancy: ["tenant", "user"].map(|name| of_tenancy(name).to_owned()),
            deleted: false,
            is_in_etcd: true,
            remark: annotation("kubedl.io/tensorboard-config").map(|_| "EnableTensorBoard".to_owned()),
            resources: resources(&kind)?,
            created,
            running: running.map(str::to_owned),
            finished: finished.map(str::to_owned),
        })
    }

    /// The same job, deleted. If it ran, the time of its end is not known beforehand.
    fn gone(&self) -> Self {
        let ran = ["Created", "Running", "Restarting"].contains(&self.status.as_str());
        let status = if ran { "Stopped".to_owned() } else { self.status.clone() };
        Row { status, deleted: true, is_in_etcd: false, ..self.clone() }
    }
}

/// The row of a job, and `gmt_modified`.
async fn row(world: &World, uid: &str) -> Result<Option<(Row, String)>> {
    let sql = format!(
        "SELECT name, namespace, job_id, kind, version, status, deploy_region, tenant, owner, deleted, is_in_etcd, remark,
                gmt_created, gmt_job_running, gmt_job_finished, gmt_modified, resources
         FROM job_info WHERE job_id = '{uid}'"
    );
    let rows = world.database.sql(&sql).await?;
    ensure!(rows.len() < 2, "{rows:?}");
    let Some(cells) = rows.into_iter().next() else { return Ok(None) };
    let text = |place: usize| cells[place].clone().with_context(|| format!("column {place} is NULL in {cells:?}"));
    let truth = |place: usize| Ok::<_, anyhow::Error>(text(place)?.parse::<u8>()? == 1);
    let row = Row {
        identity: [text(0)?, text(1)?, text(2)?, text(3)?],
        version: text(4)?,
        status: text(5)?,
        deploy_region: cells[6].clone(),
        tenancy: [text(7)?, text(8)?],
        deleted: truth(9)?,
        is_in_etcd: truth(10)?,
        remark: cells[11].clone(),
        resources: text(16)?,
        created: text(12)?,
        running: cells[13].clone(),
        finished: cells[14].clone(),
    };
    Ok(Some((row, text(15)?)))
}

/// Waits until the row of a job is this one; returns `gmt_modified`.
async fn is(world: &World, what: &str, wanted: &Row) -> Result<String> {
    let what = format!("{what}: {wanted:?}");
    let look = async || row(world, &wanted.identity[2]).await;
    let seen = eventually(&what, look, |seen| seen.as_ref().is_some_and(|(row, _)| row == wanted)).await?;
    Ok(seen.context("it was there")?.1)
}

/// Waits until the row of a job is that of one that was deleted since then.
async fn is_gone(world: &World, what: &str, before: &Row, since: &str) -> Result<()> {
    let look = async || row(world, &before.identity[2]).await;
    let what = format!("{what}: {before:?} to be deleted");
    let (seen, modified) = eventually(&what, look, |seen| seen.as_ref().is_some_and(|(row, _)| row.deleted))
        .await?
        .context("it was there")?;
    let mut wanted = before.gone();
    // The API server gives the last state its own version, which the ingester may have seen.
    ensure!(seen.version.parse::<u64>()? >= before.version.parse()?, "{seen:?}");
    wanted.version.clone_from(&seen.version);
    if wanted.status == "Stopped" {
        // Kubernetes records a deletion request to the second.
        let finished = seen.finished.clone().unwrap_or_default();
        let now = until(world).await?;
        ensure!(finished[..19] >= since[..19] && finished <= now, "{since} <= {finished} <= {now}: {seen:?}");
        wanted.finished = Some(finished);
    }
    ensure!(seen == wanted, "{what}, it is {seen:?}");
    ensure!(modified[..19] >= since[..19], "{what}, written at {modified}");
    Ok(())
}

/// How far the ingester's reading of the database's clock may be off in a test: it asks once a minute, and knows the time to within half
/// the time that the answer took.
const CLOCK: &str = "INTERVAL '1' SECOND";

/// A time before all that is written from now on.
pub(crate) async fn since(world: &World) -> Result<String> {
    world.database.cell(&format!("SELECT {} - {CLOCK}", world.database.on.now())).await?.context("a time")
}

/// A time after all that was written until now.
pub(crate) async fn until(world: &World) -> Result<String> {
    world.database.cell(&format!("SELECT {} + {CLOCK}", world.database.on.now())).await?.context("a time")
}

/// The jobs of one kind.
pub(crate) struct Jobs {
    pub(crate) kind: &'static str,
    pub(crate) group: &'static str,
    api: Api<DynamicObject>,
    namespace: String,
    /// The spec of any job.
    spec: Json,
}

impl Jobs {
    /// The kinds whose lives are in files.
    pub(crate) fn list(world: &World) -> Result<Vec<Jobs>> {
        let of = |kind: &'static str| {
            let (_, group, plural) = KINDS.iter().find(|(known, ..)| *known == kind).context("a kind of KubeDL")?;
            let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1alpha1", kind), plural);
            let client = world.objects.client.clone();
            let namespace = world.objects.namespace.clone();
            let api = Api::namespaced_with(client, &namespace, &resource);
            let spec = states(kind)?.first().context("a state")?.object["spec"].clone();
            Ok(Jobs { kind, group, api, namespace, spec })
        };
        TOLD.into_iter().map(|(kind, _)| of(kind)).collect()
    }

    /// Creates a job, without the status.
    async fn create(&self, mut object: Json) -> Result<DynamicObject> {
        let metadata = object["metadata"].as_object_mut().context("metadata")?;
        metadata.retain(|key, _| ["name", "labels", "annotations"].contains(&key.as_str()));
        metadata.insert("namespace".to_owned(), json!(self.namespace));
        object.as_object_mut().context("an object")?.remove("status");
        let name = object["metadata"]["name"].to_string();
        let created = self.api.create(&PostParams::default(), &serde_json::from_value(object)?).await;
        created.with_context(|| format!("creating {} {name}", self.kind))
    }

    /// Brings a job into a state: its metadata and spec, then its status, as the controller does.
    async fn becomes(&self, object: &Json) -> Result<DynamicObject> {
        let name = object["metadata"]["name"].as_str().context("a name")?;
        let mut now = self.api.get(name).await?;
        let wanted: DynamicObject = serde_json::from_value(object.clone())?;
        now.metadata.labels = wanted.metadata.labels;
        now.metadata.annotations = wanted.metadata.annotations;
        now.data["spec"] = object["spec"].clone();
        let mut now = self.api.replace(name, &PostParams::default(), &now).await?;
        if let Some(status) = object.get("status") {
            now.data["status"] = status.clone();
            now = self.api.replace_status(name, &PostParams::default(), &now).await?;
        }
        Ok(now)
    }

    /// A job of this name with the conditions of these types, a minute apart; the first one at `10:00`.
    pub(crate) fn job(&self, name: &str, conditions: &[&str], ended: bool) -> Json {
        let at = |minute: usize| format!("2026-07-01T10:{minute:02}:00Z");
        let conditions: Vec<Json> = conditions
            .iter()
            .enumerate()
            .map(|(minute, ty)| {
                let status = if *ty == "Running" && ended { "False" } else { "True" };
                json!({"type": ty, "status": status, "lastTransitionTime": at(minute), "lastUpdateTime": at(minute)})
            })
            .collect();
        let mut job = json!({
            "apiVersion": format!("{}/v1alpha1", self.group),
            "kind": self.kind,
            "metadata": {"name": name},
            "spec": self.spec,
        });
        if !conditions.is_empty() {
            job["status"] = json!({"conditions": conditions, "replicaStatuses": {}});
        }
        if ended {
            job["status"]["completionTime"] = json!("2026-07-01T11:00:00Z");
        }
        job
    }

    /// Creates a job and brings it into its state.
    pub(crate) async fn create_in(&self, job: Json) -> Result<DynamicObject> {
        self.create(job.clone()).await?;
        self.becomes(&job).await
    }

    async fn delete(&self, name: &str) -> Result<()> {
        let deleted = self.api.delete(name, &DeleteParams::default()).await;
        deleted.map(drop).with_context(|| format!("deleting {} {name}", self.kind))
    }
}

const TEN: &str = "2026-07-01 10:00:00.000000";
const RUNNING: &str = "2026-07-01 10:01:00.000000";
const ENDED: &str = "2026-07-01 11:00:00.000000";

/// Possible situations of a job: its name, the types of its conditions, whether it has ended; its status, and when it last ran.
type Stand = (&'static str, &'static [&'static str], bool, &'static str, Option<&'static str>);

const STANDS: [Stand; 6] = [
    ("seen-by-nobody", &[], false, "Created", None),
    ("queued", &["Created", "Queuing"], false, "Queuing", None),
    ("running", &["Created", "Running"], false, "Running", Some(RUNNING)),
    ("restarting", &["Created", "Restarting"], false, "Restarting", None),
    ("succeeded", &["Created", "Running", "Succeeded"], true, "Succeeded", Some(RUNNING)),
    ("failed", &["Running", "Failed"], true, "Failed", Some(TEN)),
];

/// The situation with this name.
fn stand(name: &str) -> &'static Stand {
    STANDS.iter().find(|stand| stand.0 == name).unwrap()
}

/// Creates a job in this situation, under a name; returns its row.
async fn create_stand(jobs: &Jobs, name: &str, stand: &Stand) -> Result<Row> {
    let (_, conditions, ended, status, running) = *stand;
    let object = jobs.create_in(jobs.job(name, conditions, ended)).await?;
    Row::from_object(&object, status, running, ended.then_some(ENDED))
}

async fn every_state_of_a_job_is_in_its_row(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let all = Jobs::list(world)?;
    let lives: Vec<(&Jobs, Vec<State>)> =
        all.iter().map(|jobs| Ok((jobs, states(jobs.kind)?))).collect::<Result<_>>()?;
    let longest = lives.iter().map(|(_, states)| states.len()).max().unwrap_or_default();
    ensure!(longest > 5, "the lives are short: {longest}");
    let mut last: Vec<Row> = Vec::new();
    for step in 0..longest {
        let since = since(world).await?;
        let mut now_wanted = Vec::new();
        for (jobs, states) in &lives {
            let Some(state) = states.get(step) else { continue };
            let object = match step {
                0 => jobs.create(state.object.clone()).await?,
                _ => jobs.becomes(&state.object).await?,
            };
            let wanted = Row::from_object(&object, &state.status, state.running.as_deref(), state.finished.as_deref())?;
            now_wanted.push(wanted);
        }
        for wanted in &now_wanted {
            let modified = is(world, &format!("step {step}"), wanted).await?;
            let until = until(world).await?;
            let was = last.iter().find(|row| row.identity == wanted.identity);
            if was.is_none_or(|was| was.version != wanted.version) {
                ensure!(since < modified && modified < until, "{since} < {modified} < {until}: {wanted:?}");
            }
        }
        last.retain(|row| now_wanted.iter().all(|now| now.identity != row.identity));
        last.extend(now_wanted);
    }
    ensure!(last.len() == TOLD.len() && world.database.count("job_info").await? == last.len() as u64);

    // The process has a region, and then has none any more.
    world.start_with(&with(&settings, "viewSettings: {deploy_region: here}"))?;
    for row in &last {
        is(world, "with a region", &Row { deploy_region: Some("here".to_owned()), ..row.clone() }).await?;
    }
    world.start_with(&with(&settings, "viewSettings: {deploy_region: ''}"))?;
    for row in &last {
        is(world, "without a region again", row).await?;
    }
    // As in a deployment of KubeDL.
    let mut by_variable = settings.clone();
    by_variable.environment.push(("REGION", "there".to_owned()));
    world.start_with(&by_variable)?;
    for row in &last {
        is(world, "with a region of the environment", &Row { deploy_region: Some("there".to_owned()), ..row.clone() })
            .await?;
    }
    world.start_with(&with(&by_variable, "viewSettings: {deploy_region: ''}"))?;
    for row in &last {
        is(world, "the file says that there is none", row).await?;
    }
    Ok(())
}

async fn a_job_that_is_deleted_has_stopped_if_it_ran(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let mut rows = Vec::new();
    for jobs in &Jobs::list(world)? {
        for stand in &STANDS {
            rows.push((jobs.kind, create_stand(jobs, stand.0, stand).await?));
        }
    }
    // A job that ran, and whose condition disappears while it starts again: the time that it had stays. Then it runs from another time on.
    let all = Jobs::list(world)?;
    for jobs in &all {
        let ran = jobs.create_in(jobs.job("twice", &["Created", "Running"], false)).await?;
        is(world, "it runs", &Row::from_object(&ran, "Running", Some(RUNNING), None)?).await?;
        let again = jobs.becomes(&jobs.job("twice", &["Created", "Restarting"], false)).await?;
        is(world, "it starts again", &Row::from_object(&again, "Restarting", Some(RUNNING), None)?).await?;
        let runs = jobs.becomes(&jobs.job("twice", &["Running"], false)).await?;
        let running = Row::from_object(&runs, "Running", Some(TEN), None)?;
        is(world, "it runs again", &running).await?;
        let ends = jobs.becomes(&jobs.job("twice", &["Created", "Restarting"], false)).await?;
        rows.push((jobs.kind, Row::from_object(&ends, "Restarting", Some(TEN), None)?));
        // An annotation that is not JSON has no tenant, and does not cause a reject.
        let mut broken = jobs.job("broken", &["Created"], false);
        broken["metadata"]["annotations"] = json!({"kubedl.io/tenancy": "{tenant: a"});
        let broken = Row::from_object(&jobs.create_in(broken).await?, "Created", None, None)?;
        ensure!(broken.tenancy == ["", ""] && broken.deploy_region.is_none());
        rows.push((jobs.kind, broken));
    }
    for (_, row) in &rows {
        is(world, "before it is deleted", row).await?;
    }
    let since = since(world).await?;
    for (kind, row) in &rows {
        let jobs = all.iter().find(|jobs| jobs.kind == *kind).context("its kind")?;
        jobs.delete(&row.identity[0]).await?;
    }
    for (_, row) in &rows {
        is_gone(world, "deleted", row, &since).await?;
    }
    ensure!(world.database.count("job_info WHERE is_in_etcd = 1 OR deleted = 0").await? == 0);
    Ok(())
}

async fn a_name_that_is_taken_again_has_a_row_for_each_job(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let all = Jobs::list(world)?;
    let mut pairs = Vec::new();
    let since = since(world).await?;
    for jobs in &all {
        let old = create_stand(jobs, "again", stand("running")).await?;
        is(world, "the first of its name", &old).await?;
        jobs.delete("again").await?;
        let new = create_stand(jobs, "again", stand("queued")).await?;
        pairs.push((old, new));
        // Here the ingester sees neither the deletion nor the creation until both are over.
        let old = create_stand(jobs, "unseen", stand("running")).await?;
        is(world, "the first of its name", &old).await?;
        pairs.push((old, Row { version: String::new(), ..pairs[0].0.clone() }));
    }
    world.stop()?;
    for (jobs, place) in all.iter().zip((1..).step_by(2)) {
        jobs.delete("unseen").await?;
        pairs[place].1 = create_stand(jobs, "unseen", stand("succeeded")).await?;
    }
    world.start_with(&settings)?;
    for (old, new) in &pairs {
        is_gone(world, "the first of its name", old, &since).await?;
        is(world, "the second of its name", new).await?;
        let [name, namespace, _, kind] = &new.identity;
        let of_name = format!("job_info WHERE name = '{name}' AND namespace = '{namespace}' AND kind = '{kind}'");
        ensure!(world.database.count(&of_name).await? == 2);
        ensure!(world.database.count(&format!("{of_name} AND is_in_etcd = 1")).await? == 1);
    }
    Ok(())
}

async fn changes_of_jobs_during_an_outage_are_in_their_rows(world: &mut World) -> Result<()> {
    let settings = furnish(world).await?;
    world.start_with(&settings)?;
    let all = Jobs::list(world)?;
    let mut gone = Vec::new();
    let mut there = Vec::new();
    for jobs in &all {
        for stand in &STANDS {
            gone.push(create_stand(jobs, stand.0, stand).await?);
        }
        // It ends and is deleted: it is only known that it ran.
        gone.push(create_stand(jobs, "ends-and-goes", stand("running")).await?);
        there.push(create_stand(jobs, "stays", stand("running")).await?);
        there.push(create_stand(jobs, "ends", stand("running")).await?);
    }
    for row in gone.iter().chain(&there) {
        is(world, "before", row).await?;
    }
    world.stop()?;
    let since = since(world).await?;
    for jobs in &all {
        for stand in &STANDS {
            jobs.delete(stand.0).await?;
        }
        let (_, conditions, ended, status, running) = *stand("succeeded");
        jobs.becomes(&jobs.job("ends-and-goes", conditions, ended)).await?;
        jobs.delete("ends-and-goes").await?;
        let ended = jobs.becomes(&jobs.job("ends", conditions, ended)).await?;
        let ended = Row::from_object(&ended, status, running, Some(ENDED))?;
        there.retain(|row| row.identity != ended.identity);
        there.push(ended);
        there.push(create_stand(jobs, "new", stand("queued")).await?);
        // It cannot be known.
        create_stand(jobs, "never-seen", stand("running")).await?;
        jobs.delete("never-seen").await?;
    }
    world.start_with(&settings)?;
    for row in &there {
        is(world, "in the cluster", row).await?;
    }
    for row in &gone {
        is_gone(world, "deleted while nobody looked", row, &since).await?;
    }
    ensure!(world.database.count("job_info").await? == (gone.len() + there.len()) as u64);
    Ok(())
}
