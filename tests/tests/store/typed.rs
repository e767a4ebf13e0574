//! Queries in Rust's own terms.

use crate::world::{Stores as _, World, kind, model, row};
use anyhow::{Result, ensure};
use crd_specs::common::ResourceIdentifier;
use crd_specs::model::Model;
use crd_specs::pipeline_run::{PipelineRun, PipelineRunState, PipelineRunStatus};
use futures::TryStreamExt as _;
use ingester_core::Kind;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::{AskError, Stored};
use ingester_store::{RowChange, Store};
use ingester_tests::on_every_database;
use serde_json::{Value as Json, json};

on_every_database! {
    columns_of_spec_status_and_composites_are_asked_by_their_handles
    deleted_objects_never_come_unasked
    an_object_with_a_null_is_read
    an_object_that_lost_its_type_does_not_stop_others
    a_stream_gives_all_and_pages_go_on_by_their_tokens
    objects_are_counted_by_a_column
}

const KINDS: &[Kind] = &[Kind::of::<Model>(), Kind::of::<PipelineRun>()];

fn run(uid: &str, state: &str, pipeline: &str) -> Json {
    let mut object = model(uid, 1);
    object["kind"] = json!("PipelineRun");
    object["spec"] = json!({ "actor": { "name": "ann" }, "pipeline": { "namespace": "ml", "name": pipeline } });
    object["status"] = json!({ "state": state });
    object
}

async fn fill(store: &Store, objects: &[Json]) -> Result<()> {
    for object in objects {
        let kind = kind(object["kind"].as_str().unwrap());
        let report = store.write(kind.table(), vec![RowChange::Row(row(object))]).await?;
        ensure!(report.written == 1, "{report:?}");
    }
    Ok(())
}

fn names<T>(found: &[Stored<T>]) -> Vec<&str> {
    found.iter().map(|stored| &*stored.uid).collect()
}

async fn columns_of_spec_status_and_composites_are_asked_by_their_handles(world: World) -> Result<()> {
    let store = world.store_of(KINDS).await?;
    let failed = "PIPELINE_RUN_STATE_FAILED";
    let objects =
        [run("a", failed, "train"), run("b", failed, "serve"), run("c", "PIPELINE_RUN_STATE_SUCCEEDED", "train")];
    fill(&store, &objects).await?;
    let query = || store.query::<PipelineRun>().namespace("ml");
    let found = query().filter(PipelineRunStatus::state().eq(failed)).page().await?;
    assert_eq!(names(&found.items), ["a", "b"]);
    let found = query()
        .filter(PipelineRunStatus::state().eq(PipelineRunState::Failed))
        .filter(PipelineRun::pipeline().part(ResourceIdentifier::name()).eq("train"))
        .page()
        .await?;
    assert_eq!(names(&found.items), ["a"]);
    let stored = &found.items[0];
    assert_eq!((&*stored.namespace, &*stored.name, stored.res_version), ("ml", "model-a", 1));
    assert_eq!(stored.object.spec.pipeline.as_ref().map(|pipeline| pipeline.name.as_str()), Some("train"));
    let either = PipelineRun::actor().eq("bob").or(PipelineRunStatus::state().ne(failed));
    assert_eq!(names(&query().filter(either).page().await?.items), ["c"]);
    let backwards = query().order_by(PipelineRun::name().desc()).limit(2).page().await?;
    assert_eq!(names(&backwards.items), ["c", "b"]);
    assert!(backwards.next.is_some());
    let selected = query().label_selector("same in (same),version!=2")?.field_selector("spec.pipeline.name=serve")?;
    assert_eq!(names(&selected.page().await?.items), ["b"]);
    assert_eq!(query().name("model-c").first().await?.map(|stored| stored.uid), Some("c".into()));
    // A path accepts any literal, and reports its errors when it is asked.
    let error = query().filter(PipelineRun::actor().eq(5)).page().await.unwrap_err().to_string();
    assert!(error.contains("`5` is not a text"), "{error}");
    Ok(())
}

async fn deleted_objects_never_come_unasked(world: World) -> Result<()> {
    let store = world.store_of(KINDS).await?;
    let mut gone = row(&model("gone", 2));
    gone.delete_time = Some(Micros::now());
    let mut evicted = row(&model("evicted", 2));
    evicted.evict_time = Some(Micros::now());
    let changes = vec![RowChange::Row(gone), RowChange::Row(evicted), RowChange::Row(row(&model("live", 2)))];
    store.write(kind("Model").table(), changes).await?;
    let of = async |states: Option<States>| -> Result<Vec<String>> {
        let query = store.query::<Model>();
        let query = states.into_iter().fold(query, |query, states| query.states(states));
        let found: Vec<Stored<Model>> = query.stream().try_collect().await?;
        Ok(found.into_iter().map(|stored| stored.uid.to_string()).collect())
    };
    assert_eq!(of(None).await?, ["evicted", "live"]);
    assert_eq!(of(Some(States::LIVE)).await?, ["live"]);
    assert_eq!(of(Some(States::EVICTED)).await?, ["evicted"]);
    assert_eq!(of(Some(States::DELETED)).await?, ["gone"]);
    assert_eq!(of(Some(States::ALL)).await?, ["evicted", "gone", "live"]);
    Ok(())
}

async fn an_object_with_a_null_is_read(world: World) -> Result<()> {
    let store = world.store_of(KINDS).await?;
    let mut object = model("a", 1);
    object["spec"]["algorithm"] = Json::Null;
    fill(&store, &[object]).await?;
    let stored = store.query::<Model>().first().await?.unwrap();
    assert_eq!(stored.object.spec.algorithm, "");
    assert_eq!(stored.object.metadata.uid.as_deref(), Some("a"));
    Ok(())
}

async fn an_object_that_lost_its_type_does_not_stop_others(world: World) -> Result<()> {
    let store = world.store_of(KINDS).await?;
    fill(&store, &[model("a", 1), model("b", 1), model("c", 1)]).await?;
    // As an earlier release of the kind may have stored it.
    let broken = model("b", 1).to_string().replace("\"algorithm-1\"", "[]").replace('\'', "''");
    world.sql(&format!("UPDATE model SET json = '{broken}' WHERE uid = 'b'")).await?;
    let mut stream = std::pin::pin!(store.query::<Model>().stream());
    let mut read = Vec::new();
    let mut errors = Vec::new();
    loop {
        match stream.try_next().await {
            Ok(Some(stored)) => read.push(stored.uid.to_string()),
            Ok(None) => break,
            Err(error) => errors.push(error),
        }
    }
    assert_eq!(read, ["a", "c"]);
    let told = errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(matches!(&errors[..], [AskError::Object { uid, .. }] if uid == "b"), "{told:?}");
    assert!(told[0].starts_with("ml/model-b (uid b): "), "{told:?}");
    let texts: Vec<Stored<Box<str>>> = store.query::<Model>().stream_json().try_collect().await?;
    assert_eq!(names(&texts), ["a", "b", "c"]);
    Ok(())
}

async fn a_stream_gives_all_and_pages_go_on_by_their_tokens(world: World) -> Result<()> {
    let store = world.store_of(KINDS).await?;
    let objects: Vec<Json> = (0..250).map(|number| model(&format!("{number:03}"), 1)).collect();
    let rows = objects.iter().map(|object| RowChange::Row(row(object))).collect();
    store.write(kind("Model").table(), rows).await?;
    let all: Vec<Stored<Model>> = store.query::<Model>().order_by(Model::uid().desc()).stream().try_collect().await?;
    let expected: Vec<String> = (0..250).rev().map(|number| format!("{number:03}")).collect();
    assert_eq!(names(&all), expected);
    let mut uids = Vec::new();
    let mut token = None;
    loop {
        let query = store.query::<Model>().order_by(Model::uid().desc()).limit(100);
        let query = token.into_iter().fold(query, |query, token: String| query.after(token));
        let page = query.page().await?;
        uids.extend(page.items.iter().map(|stored| stored.uid.to_string()));
        match page.next {
            Some(next) => token = Some(next),
            None => break,
        }
    }
    assert_eq!(uids, expected);
    // A token is valid only for its query about its kind.
    let token = store.query::<Model>().limit(1).page().await?.next.unwrap();
    let other = store.query::<Model>().name("a").after(&*token).page().await.unwrap_err();
    assert!(matches!(other, AskError::Token(_)), "{other}");
    let other = store.query::<PipelineRun>().after(&*token).page().await.unwrap_err();
    assert!(matches!(other, AskError::Token(_)), "{other}");
    Ok(())
}

async fn objects_are_counted_by_a_column(world: World) -> Result<()> {
    let store = world.store_of(KINDS).await?;
    let failed = "PIPELINE_RUN_STATE_FAILED";
    fill(&store, &[run("a", failed, "x"), run("b", failed, "y"), run("c", "PIPELINE_RUN_STATE_KILLED", "x")]).await?;
    let counted = store.query::<PipelineRun>().count_by(PipelineRunStatus::state()).await?;
    assert_eq!(counted, [(Value::text(failed), 2), (Value::text("PIPELINE_RUN_STATE_KILLED"), 1)]);
    let of_x = PipelineRun::pipeline().part(ResourceIdentifier::name()).eq("x");
    assert_eq!(store.query::<PipelineRun>().filter(of_x).count().await?, 2);
    Ok(())
}
