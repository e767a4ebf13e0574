//! Writes to objects while they are evicted: the mirror and the writers meet on one row, between any two of the mirror's steps.

use anyhow::{Context as _, Result, bail, ensure};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_server::status::{Reason, Status};
use ingester_server::write::{self, Options, WriteResponse, WriteTarget};
use ingester_store::compare::differences;
use ingester_store::{ConnectOptions, Store, StoredRow};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

use crate::eventually::{DEADLINE, eventually};
use crate::objects::{OURS, has_finalizer, model, uid};
use crate::on_both_api_servers;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    what_is_written_while_objects_are_evicted_is_not_lost
}

const OBJECTS: usize = 40;

fn kind() -> &'static Kind {
    crd_specs::KINDS.iter().find(|kind| kind.kind() == "Model").unwrap()
}

/// A writer, as in the server.
struct Writer {
    store: Store,
    namespace: String,
}

impl Writer {
    fn target<'a>(&'a self, name: &'a str) -> WriteTarget<'a> {
        WriteTarget { kind: kind(), namespace: &self.namespace, name }
    }

    async fn label(&self, name: &str, key: &str) -> Result<WriteResponse, Status> {
        let body = json!({"metadata": {"labels": {key: "yes"}}}).to_string();
        let content_type = Some("application/merge-patch+json");
        let options = Options::default();
        let body = body.as_bytes();
        write::patch(&self.store, self.target(name), &options, content_type, body).await
    }

    async fn delete(&self, name: &str) -> Result<WriteResponse, Status> {
        write::delete(&self.store, self.target(name), &Options::default(), None, b"").await
    }

    /// Repeats a write until it is done: until the object is stored, and evicted, and has left etcd.
    async fn until_done<F: Future<Output = Result<WriteResponse, Status>>>(&self, write: impl Fn() -> F) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        loop {
            match write().await {
                Ok(_) => return Ok(()),
                Err(status) if Instant::now() >= end => bail!("in vain: {status}"),
                Err(Status { reason: Reason::NotFound | Reason::MethodNotAllowed | Reason::Conflict, .. }) => {}
                Err(status) => return Err(status.into()),
            }
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until the object's row is evicted, for the first time.
    async fn evicted(&self, uid: &str) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        while !self.store.versions(kind().table(), &[uid]).await?.get(uid).is_some_and(|version| version.evicted()) {
            ensure!(Instant::now() < end, "{uid} is not evicted");
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn row(&self, uid: &str) -> Result<StoredRow> {
        self.store.read_stored(kind().table(), &[uid]).await?.pop().context("a row")
    }
}

async fn what_is_written_while_objects_are_evicted_is_not_lost(world: &mut World) -> Result<()> {
    world.start()?;
    let store = Store::connect(&world.database.url.parse()?, ConnectOptions::default()).await?;
    let writer = Writer { store, namespace: world.objects.namespace.clone() };
    let objects = &world.objects;
    let mut written = Vec::new();
    // One by one, so that the writers are fast enough to meet the mirror between its steps.
    for i in 0..OBJECTS {
        let name = format!("m{i}");
        let mut object = model(&name, "final");
        // Every other one is evicted as soon as it is seen. The rest have our finalizer, so their rows are written twice.
        if i % 2 == 0 {
            object["metadata"]["annotations"] = json!({"michelangelo/Immutable": "true"});
        }
        let uid = uid(&objects.create(object).await?);
        if i % 2 == 1 {
            let look = async || objects.get("Model", &name).await?.context("it is there");
            eventually("the finalizer", look, |object| has_finalizer(object, OURS)).await?;
            objects.annotate("Model", &name, "michelangelo/Immutable").await?;
        }
        writer.evicted(&uid).await?;
        // Two writers at a time.
        let [first, second] = ["first", "second"].map(|key| writer.until_done(|| writer.label(&name, key)));
        futures::try_join!(first, second)?;
        if i % 3 == 0 {
            writer.until_done(|| writer.delete(&name)).await?;
        }
        written.push((i, uid));
    }
    let look = async || Ok(world.objects.list("Model").await?.len());
    eventually("all objects to leave etcd", look, |count| *count == 0).await?;
    // The mirror's remaining work is done.
    world.stop()?;
    for (i, uid) in written {
        let stored = writer.row(&uid).await?;
        let labels: Vec<&str> = stored.labels.iter().map(|(key, _)| &**key).collect();
        ensure!(labels == ["first", "second"], "{uid}: {labels:?}");
        ensure!(stored.evict_time.is_some() && stored.delete_time.is_some() == (i % 3 == 0), "{stored:?}");
        let Value::Text(text) = &stored.values[base::JSON] else { bail!("no object") };
        let mut row = kind().row(&Object::parse(&**text, ManagedFields::Prune)?)?.context("a row")?;
        (row.evict_time, row.delete_time) = (stored.evict_time, stored.delete_time);
        let differences = differences(kind().table(), &row, &stored);
        ensure!(differences.is_empty(), "{uid}: {differences:?}");
    }
    Ok(())
}
