//! Creates, changes and deletes objects of all kinds, at the test's pace, and keeps trying while servers are down.

use anyhow::{Result, bail, ensure};
use kube::ResourceExt as _;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::database::Database;
use crate::objects::{KEEP, Objects, has_finalizer, kinds, object};

/// Tasks, each with its own objects.
const WORKERS: usize = 16;

/// Objects that a worker handles at a time.
const HAND: usize = 20;

/// How long one step is retried. Servers are down for seconds only.
const PATIENCE: Duration = Duration::from_secs(180);

/// One step in the life of an object.
#[derive(Clone, Copy, Debug)]
enum Step {
    Create,
    /// New labels and annotations.
    Change(u32),
    Delete,
    /// Sets `michelangelo/Deleting` or `michelangelo/Immutable`.
    Annotate(&'static str),
    /// Removes all finalizers and deletes it.
    Force,
    /// Adds a finalizer of another controller.
    Hold,
    /// Removes that finalizer.
    Release,
}

/// The steps of object `number`. A quarter of the objects still exist at the end.
fn life(number: usize) -> Vec<Step> {
    use Step::{Annotate, Change, Create, Delete, Force, Hold, Release};
    let mut life = vec![Create, Change(1), Change(2)];
    match number % 8 {
        0 => life.push(Delete),
        1 => life.push(Annotate("michelangelo/Deleting")),
        2 => life.push(Annotate("michelangelo/Immutable")),
        // Recreated under the same name as soon as the first is gone.
        3 => life.extend([Delete, Create, Change(3)]),
        4 => life.push(Force),
        // Evicted while another controller holds it, which still writes a result.
        5 => life.extend([Hold, Annotate("michelangelo/Immutable"), Change(3), Release]),
        _ => life.push(Change(3)),
    }
    life
}

/// Fails unless the objects of a churn that the ingester itself removed from the cluster have the rows that it wrote before.
pub(crate) async fn removed_objects_have_rows(database: &Database, namespace: &str, count: usize) -> Result<()> {
    let names: Vec<&'static str> = kinds().collect();
    for (place, kind) in names.iter().enumerate() {
        let rows = database.list_rows(kind, namespace).await?;
        for number in (place..count).step_by(names.len()) {
            let name = churn_name(number);
            let rows: Vec<_> = rows.iter().filter(|row| row.name == name).collect();
            let holds = match life(number)[..] {
                [.., Step::Annotate("michelangelo/Deleting")] => rows.len() == 1 && rows[0].deleted,
                [.., Step::Annotate("michelangelo/Immutable")] | [.., Step::Release] => {
                    rows.len() == 1 && rows[0].evicted && !rows[0].deleted
                }
                // Objects that users delete may be gone before the ingester has seen them.
                _ => true,
            };
            ensure!(holds, "{kind} {name} was removed by the ingester; its rows: {rows:?}");
        }
    }
    Ok(())
}

fn churn_name(number: usize) -> String {
    format!("churn-{number:05}")
}

/// A running churn.
pub(crate) struct Churn {
    workers: JoinSet<Result<()>>,
    allowed: Arc<Semaphore>,
    done: watch::Receiver<usize>,
    /// The steps of all objects.
    pub(crate) steps: usize,
}

impl Churn {
    /// A churn of `count` objects. It waits until steps are [allowed](Self::allow).
    pub(crate) fn new(objects: &Objects, count: usize) -> Self {
        let allowed = Arc::new(Semaphore::new(0));
        let (counter, done) = watch::channel(0);
        let counter = Arc::new(counter);
        let kinds: Arc<[&'static str]> = kinds().collect();
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let objects = objects.clone();
            let kinds = Arc::clone(&kinds);
            let allowed = Arc::clone(&allowed);
            let counter = Arc::clone(&counter);
            workers.spawn(async move {
                let mine: Vec<usize> = (worker..count).step_by(WORKERS).collect();
                for hand in mine.chunks(HAND) {
                    let longest = hand.iter().map(|number| life(*number).len()).max().unwrap_or_default();
                    for place in 0..longest {
                        for number in hand {
                            let Some(step) = life(*number).get(place).copied() else { continue };
                            allowed.acquire().await?.forget();
                            let kind = kinds[number % kinds.len()];
                            persist(&objects, kind, &churn_name(*number), step).await?;
                            counter.send_modify(|done| *done += 1);
                        }
                    }
                }
                Ok(())
            });
        }
        Churn { workers, allowed, done, steps: (0..count).map(|number| life(number).len()).sum() }
    }

    /// Allows `steps` more steps.
    pub(crate) fn allow(&self, steps: usize) {
        self.allowed.add_permits(steps);
    }

    /// Waits until `steps` steps are done.
    pub(crate) async fn reached(&mut self, steps: usize) -> Result<()> {
        ensure!(steps <= self.steps, "there are only {} steps", self.steps);
        let mut done = self.done.clone();
        let reached = done.wait_for(|done| *done >= steps);
        tokio::select! {
            reached = reached => reached.map(drop).map_err(Into::into),
            // Workers that end without an error are simply finished.
            failed = first_failure(&mut self.workers) => failed,
        }
    }

    /// Allows all remaining steps and waits for them.
    pub(crate) async fn finish(mut self) -> Result<()> {
        self.allow(self.steps);
        while let Some(ended) = self.workers.join_next().await {
            ended??;
        }
        Ok(())
    }
}

/// Returns only when a worker fails.
async fn first_failure(workers: &mut JoinSet<Result<()>>) -> Result<()> {
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    std::future::pending().await
}

/// Removes the other controller's finalizer where a restored etcd lacks its removal, as that controller would when it sees its object again.
pub(crate) async fn release_again(objects: &Objects) -> Result<()> {
    for kind in kinds() {
        for object in objects.list(kind).await?.iter().filter(|object| has_finalizer(object, KEEP)) {
            persist(objects, kind, &object.name_any(), Step::Release).await?;
        }
    }
    Ok(())
}

/// Retries one step until the API server accepts it.
async fn persist(objects: &Objects, kind: &str, name: &str, step: Step) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt(objects, kind, name, step).await {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() > end => bail!("{step:?} of {kind} {name}, for {PATIENCE:?}: {error}"),
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn attempt(objects: &Objects, kind: &str, name: &str, step: Step) -> kube::Result<()> {
    let api = objects.api(kind);
    let code = |error: &kube::Error| if let kube::Error::Api(error) = error { error.code } else { 0 };
    let patch = async |patch: Json| match api.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await {
        // Already gone: nothing to change.
        Err(error) if code(&error) == 404 => Ok(()),
        patched => patched.map(drop),
    };
    let delete = async || match api.delete(name, &DeleteParams::default()).await {
        Err(error) if code(&error) == 404 => Ok(()),
        deleted => deleted.map(drop),
    };
    match step {
        Step::Create => {
            let mut object = object(kind, name, &json!({}));
            object["metadata"]["labels"] = json!({"change": "0", "of": name});
            let object: DynamicObject = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
            match api.create(&PostParams::default(), &object).await {
                Err(error) if code(&error) == 409 => match api.get_opt(name).await? {
                    // An earlier attempt succeeded, but its answer was lost.
                    Some(object) if object.metadata.deletion_timestamp.is_none() && !object.labels().is_empty() => {
                        Ok(())
                    }
                    _ => Err(error),
                },
                created => created.map(drop),
            }
        }
        Step::Change(number) => {
            let only = format!("only-{number}");
            patch(json!({"metadata": {
                "labels": {"change": number.to_string(), only: "yes", "only-1": (number == 1).then_some("yes")},
                "annotations": {"example.com/change": number.to_string()},
            }}))
            .await
        }
        Step::Delete => delete().await,
        Step::Annotate(annotation) => patch(json!({"metadata": {"annotations": {annotation: "true"}}})).await,
        Step::Hold | Step::Release => {
            let Some(object) = api.get_opt(name).await? else { return Ok(()) };
            let mut finalizers = object.finalizers().to_vec();
            finalizers.retain(|finalizer| finalizer != KEEP);
            if matches!(step, Step::Hold) && object.metadata.deletion_timestamp.is_none() {
                finalizers.push(KEEP.to_owned());
            }
            // Only in the version that was read: the ingester changes the list, too.
            patch(json!({"metadata": {"finalizers": finalizers, "resourceVersion": object.resource_version()}})).await
        }
        Step::Force => {
            patch(json!({"metadata": {"finalizers": null}})).await?;
            delete().await
        }
    }
}
