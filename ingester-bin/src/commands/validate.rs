//! `ingester validate`: runs the life of test objects in a live cluster with a running mirror, and checks its effect in SQL.
//!
//! It creates objects with unique names, only in a namespace that is labelled for it, and removes all of them in the end: the objects, and
//! their rows. The mirror looks for the rows of objects that it has evicted; the label tells it that the rows of test objects are removed.

mod example;

use super::doctor::ask;
use super::{chosen, comparison, resource};
use crate::arguments::{Format, Validate};
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use crate::program::Program;
use anyhow::anyhow;
use http::{Method, StatusCode};
use ingester_config::Config;
use ingester_core::Kind;
use ingester_core::kind::Finalizer;
use ingester_core::marks::Mark;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Eviction;
use ingester_core::value::Micros;
use ingester_mirror::replicas::random_name;
use ingester_store::{Store, StoredRow, compare};
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time that the mirror has for a step, in addition to the configured delay of deletions.
const STEP: Duration = Duration::from_secs(60);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// One step of one object's life.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    kind: String,
    object: String,
    step: &'static str,
    /// `ok`, `failed` or `skipped`.
    result: &'static str,
    milliseconds: Option<u128>,
    message: String,
}

pub(crate) async fn run(arguments: &Validate, config: Config, program: Program) -> Result<Ending, Failure> {
    let kinds = chosen(program.kinds, &arguments.kinds)?;
    check(arguments, &config, &kinds)?;
    let context = comparison(&arguments.cluster, &config, &arguments.config.config, program).await?;
    let label = program.marks.name(Mark::Validate).to_string();
    is_meant(&context.client, &arguments.namespace, &label).await?;
    let run = random_name();
    note(&format!(
        "creates objects `ingester-validate-{run}-...` with the label {label}={run} in {}",
        arguments.namespace
    ));
    let mut steps = Vec::new();
    for kind in &kinds {
        let life = Life {
            client: &context.client,
            store: &context.store,
            kind,
            namespace: &arguments.namespace,
            label: &label,
            run: &run,
            finalizer: config.ingester.finalizer_of(kind) == Finalizer::Ensure,
            patience: STEP + config.metadata_storage.deletion_delay,
        };
        life.run(&mut steps).await;
    }
    show(arguments.output.output, &steps, || table(&steps))?;
    let failed = steps.iter().filter(|step| step.result == "failed").count();
    if arguments.output.output == Format::Table {
        note(&format!("{failed} of {} steps failed", steps.len()));
    }
    Ok(if failed == 0 { Ending::Done } else { Ending::Problem })
}

/// Returns errors that are known before any request.
fn check(arguments: &Validate, config: &Config, kinds: &[Kind]) -> Result<(), Failure> {
    let wrong = |why: String| Err(Failure::Usage(anyhow!(why)));
    let namespace = &arguments.namespace;
    if !arguments.yes {
        return wrong(format!(
            "nothing was done: this creates and deletes objects in the namespace {namespace} of a live cluster, where controllers act on them; if that \
             is meant, say so with --yes"
        ));
    }
    if !config.ingester.namespaces.is_empty() && !config.ingester.namespaces.contains(namespace) {
        return wrong(format!(
            "the configuration does not mirror the namespace {namespace}: name one of `ingester.namespaces`"
        ));
    }
    for kind in kinds {
        if !config.ingester.has_kind(kind.name()) || config.ingester.is_suspended(kind.name()) {
            return wrong(format!(
                "the configuration does not mirror {}: see `ingester.kinds` and `ingester.suspend`",
                kind.name()
            ));
        }
        if !kind.namespaced() {
            return wrong(format!(
                "{} is not in namespaces, and only a namespace can be labelled for test objects",
                kind.name()
            ));
        }
    }
    Ok(())
}

/// Refuses a namespace that is not labelled for test objects. An API server without namespaces has nothing to label.
async fn is_meant(client: &Client, namespace: &str, label: &str) -> Result<(), Failure> {
    let wrong = |why: String| Err(Failure::Usage(anyhow!(why)));
    let path = format!("/api/v1/namespaces/{namespace}");
    let (status, answer) = ask(client, Method::GET, &path, None).await.map_err(|why| Failure::Usage(anyhow!(why)))?;
    if status == StatusCode::NOT_FOUND {
        let core = ask(client, Method::GET, "/api/v1", None).await.map_err(|why| Failure::Usage(anyhow!(why)))?;
        if core.0 == StatusCode::NOT_FOUND {
            note("warning: this API server has no namespaces, so none can be labelled for test objects");
            return Ok(());
        }
        return wrong(format!(
            "there is no namespace {namespace}: make one and label it, `kubectl label namespace {namespace} {label}=true`"
        ));
    }
    if !status.is_success() {
        return wrong(format!(
            "asked for the label of namespace {namespace}, the API server answers {status}: grant `get` on namespaces"
        ));
    }
    match answer["metadata"]["labels"][label] == "true" {
        true => Ok(()),
        false => wrong(format!(
            "nothing was done: the namespace {namespace} is not labelled for test objects; `kubectl label namespace {namespace} {label}=true` does so"
        )),
    }
}

fn table(steps: &[Step]) -> String {
    let mut table = Table::new(["kind", "step", "result", "ms", "object", "message"]);
    for step in steps {
        let took = step.milliseconds.map(|milliseconds| milliseconds.to_string()).unwrap_or_default();
        let [result, name] = [step.result, step.step].map(str::to_owned);
        table.row([step.kind.clone(), name, result, took, step.object.clone(), step.message.clone()]);
    }
    table.to_string()
}

/// The lives of the test objects of one kind.
struct Life<'a> {
    client: &'a Client,
    store: &'a Store,
    kind: &'a Kind,
    namespace: &'a str,
    label: &'a str,
    run: &'a str,
    /// The mirror gives the objects its finalizer.
    finalizer: bool,
    patience: Duration,
}

/// The reason why a step failed; empty while nothing was seen.
type StepResult = Result<(), String>;

impl Life<'_> {
    fn api(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(self.kind.group(), self.kind.version(), self.kind.kind());
        let resource = ApiResource::from_gvk_with_plural(&kind, &self.kind.plural());
        Api::namespaced_with(self.client.clone(), self.namespace, &resource)
    }

    async fn run(&self, steps: &mut Vec<Step>) {
        if !self.kind.immutable() {
            let object = format!("ingester-validate-{}-deleted", self.run);
            let mut uid = None;
            let life = async {
                self.step(steps, &object, "create", self.create(&object, &mut uid)).await?;
                let update = json!({"metadata": {"annotations": {self.label: "updated"}}});
                self.step(steps, &object, "update", self.patch(&object, &update)).await?;
                let label = json!({"metadata": {"labels": {format!("{}-Label", self.label): "labelled"}}});
                self.step(steps, &object, "label", self.patch(&object, &label)).await?;
                self.step(steps, &object, "delete", self.delete(&object)).await
            };
            let _ = life.await;
            let cleaned = self.clean(&object, uid.as_deref());
            let _ = self.step(steps, &object, "clean up", cleaned).await;
        }
        let object = format!("ingester-validate-{}-evicted", self.run);
        if !self.kind.evictable() {
            let message = "the kind is not evictable".to_owned();
            let kind = resource(self.kind);
            steps.push(Step { kind, object, step: "evict", result: "skipped", milliseconds: None, message });
            return;
        }
        let mut uid = None;
        let _ = self.step(steps, &object, "evict", self.evict(&object, &mut uid)).await;
        let cleaned = self.clean(&object, uid.as_deref());
        let _ = self.step(steps, &object, "clean up", cleaned).await;
    }

    /// Carries out a step and reports it.
    async fn step(
        &self,
        steps: &mut Vec<Step>,
        object: &str,
        step: &'static str,
        work: impl Future<Output = StepResult>,
    ) -> Result<(), ()> {
        let begin = Instant::now();
        let done = work.await;
        let (result, message) = match &done {
            Ok(()) => ("ok", String::new()),
            Err(why) => ("failed", why.clone()),
        };
        let milliseconds = Some(begin.elapsed().as_millis());
        steps.push(Step { kind: resource(self.kind), object: object.to_owned(), step, result, milliseconds, message });
        done.map_err(|_| ())
    }

    async fn create(&self, name: &str, uid: &mut Option<String>) -> StepResult {
        let needs = |why: String| {
            format!(
                "{why}: {} needs an example that cannot be made up from its schema; leave the kind out",
                self.kind.name()
            )
        };
        let labels = json!({self.label: self.run});
        let mut object = json!({
            "apiVersion": self.kind.api_version(),
            "kind": self.kind.kind(),
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
        });
        for (name, value) in example::members(&self.schema().await).map_err(needs)? {
            object[name] = value;
        }
        let object: DynamicObject = serde_json::from_value(object).map_err(|error| error.to_string())?;
        let created = match self.api().create(&PostParams::default(), &object).await {
            Err(kube::Error::Api(error)) if error.code == 422 => return Err(needs(error.message)),
            created => created.map_err(|error| error.to_string())?,
        };
        *uid = created.metadata.uid;
        if self.kind.immutable() {
            return Ok(());
        }
        self.until(async || self.is_stored(name).await).await
    }

    /// Returns the schema of the kind's version, from its CRD; null without a CRD, or without the right to read it.
    async fn schema(&self) -> Value {
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let path = format!("{crds}/{}.{}", self.kind.plural(), self.kind.group());
        let Ok((status, crd)) = ask(self.client, Method::GET, &path, None).await else { return Value::Null };
        let versions = crd["spec"]["versions"].as_array().filter(|_| status.is_success());
        let version = versions.and_then(|all| all.iter().find(|version| version["name"] == self.kind.version()));
        version.map_or(Value::Null, |version| version["schema"]["openAPIV3Schema"].clone())
    }

    async fn patch(&self, name: &str, patch: &Value) -> StepResult {
        let patched = self.api().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map_err(|error| error.to_string())?;
        self.until(async || self.is_stored(name).await).await
    }

    async fn delete(&self, name: &str) -> StepResult {
        let object = self.object(name).await?.ok_or("the object was removed before it was to be deleted")?;
        let uid = object.metadata.uid.unwrap_or_default();
        self.api().delete(name, &DeleteParams::default()).await.map_err(|error| error.to_string())?;
        self.until(async || {
            if self.object(name).await?.is_some() {
                return Err("the object is still in the cluster".to_owned());
            }
            let row = self.row(&uid).await?;
            if row.delete_time.is_some() { Ok(()) } else { Err("its row has no delete_time".to_owned()) }
        })
        .await
    }

    async fn evict(&self, name: &str, uid: &mut Option<String>) -> StepResult {
        self.create(name, uid).await?;
        let mut last = self.object(name).await?;
        if !self.kind.immutable() {
            let annotation = self.kind.marks().name(Mark::Immutable).to_string();
            let patch = Patch::Merge(json!({"metadata": {"annotations": {annotation: "true"}}}));
            let patched = self.api().patch(name, &PatchParams::default(), &patch).await;
            last = Some(patched.map_err(|error| error.to_string())?);
        }
        let uid = uid.as_deref().unwrap_or_default();
        self.until(async || {
            if self.object(name).await?.is_some() {
                return Err("the object is still in the cluster".to_owned());
            }
            let row = self.row(uid).await?;
            if row.delete_time.is_some() || row.eviction != Eviction::Confirmed {
                return Err("its row is not that of an evicted object".to_owned());
            }
            match &last {
                Some(last) => same(self.kind, last, &row),
                // The object left before it could be read.
                None => Ok(()),
            }
        })
        .await
    }

    /// Removes everything that is left in the cluster and in SQL.
    async fn clean(&self, name: &str, uid: Option<&str>) -> StepResult {
        let Some(uid) = uid else { return Ok(()) };
        // Delete it only with its own uid: another object may have the name by now.
        if self.object(name).await?.is_some_and(|object| object.metadata.uid.as_deref() == Some(uid)) {
            match self.api().delete(name, &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(error)) if error.code == 404 => {}
                Err(error) => return Err(error.to_string()),
            }
            self.until(async || match self.object(name).await? {
                Some(_) => Err("the object is still in the cluster: is `ingester run` running?".to_owned()),
                None => Ok(()),
            })
            .await?;
        }
        let failed = |error: ingester_store::StoreError| error.to_string();
        let Ok(row) = self.row(uid).await else { return Ok(()) };
        if row.eviction != Eviction::None {
            // Turn it into the row of a deleted object, which can be purged.
            let object = Object::parse(row.json(), ManagedFields::Keep).map_err(|error| error.to_string())?;
            let mut deleted = self.kind.bare_row(&object).map_err(|error| error.to_string())?;
            deleted.delete_time = Some(self.store.now());
            self.store.replace_evicted(self.kind, &deleted, row.version()).await.map_err(failed)?;
        }
        self.until(async || match self.row(uid).await {
            Ok(row) if row.delete_time.is_none() => {
                Err("its row has no delete_time: is `ingester run` running?".to_owned())
            }
            _ => Ok(()),
        })
        .await?;
        // Regardless of the clocks.
        let purged =
            self.store.purge_rows(self.kind, &[uid], Micros(self.store.now().0.saturating_add(60_000_000))).await;
        purged.map(drop).map_err(failed)
    }

    /// Checks that SQL agrees with the cluster.
    async fn is_stored(&self, name: &str) -> StepResult {
        let object = self.object(name).await?.ok_or("the object is no longer in the cluster")?;
        let ours = self.kind.marks().name(Mark::Finalizer).to_string();
        if self.finalizer && !object.metadata.finalizers.iter().flatten().any(|finalizer| *finalizer == ours) {
            return Err(format!("the object does not have the finalizer {ours}: is `ingester run` running?"));
        }
        let row = self.row(object.metadata.uid.as_deref().unwrap_or_default()).await?;
        let version = object.metadata.resource_version.as_deref().unwrap_or_default();
        if row.res_version.to_string() != version {
            return Err(format!("its row is of version {}, and the object of {version}", row.res_version));
        }
        same(self.kind, &object, &row)?;
        let labels = object.metadata.labels.unwrap_or_default();
        let stored =
            |key: &String, value: &String| row.labels.iter().any(|(has, is)| **has == **key && **is == **value);
        match labels.iter().find(|(key, value)| self.kind.table().companions && !stored(key, value)) {
            Some((key, _)) => Err(format!("the label {key} is not in the table of labels")),
            None => Ok(()),
        }
    }

    async fn object(&self, name: &str) -> Result<Option<DynamicObject>, String> {
        self.api().get_opt(name).await.map_err(|error| error.to_string())
    }

    async fn row(&self, uid: &str) -> Result<StoredRow, String> {
        let rows = self.store.read_stored(self.kind.table(), &[uid]).await.map_err(|error| error.to_string())?;
        rows.into_iter().next().ok_or_else(|| "there is no row: is `ingester run` running?".to_owned())
    }

    /// Looks repeatedly; the last observation is the reason of a failure.
    async fn until(&self, look: impl AsyncFn() -> StepResult) -> StepResult {
        let begin = Instant::now();
        loop {
            match look().await {
                Ok(()) => return Ok(()),
                Err(why) if begin.elapsed() > self.patience => {
                    return Err(format!("after {} s: {why}", self.patience.as_secs()));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// Checks that a row has the content of an object, except for the parts that its kind does not store.
fn same(kind: &Kind, object: &DynamicObject, row: &StoredRow) -> StepResult {
    let text = serde_json::to_string(object).map_err(|error| error.to_string())?;
    let text = kind.stored_text(&text).map_err(|error| error.to_string())?;
    let differences = compare::content_differences(&text, row);
    if differences.is_empty() {
        return Ok(());
    }
    Err(differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}
