//! The questions of docs/queries.md in Rust, with their answers. The body of each function is a block of the document, but for its last
//! line.

use anyhow::Result;
use crd_specs::common::ResourceIdentifier;
use crd_specs::deployment::{Deployment, DeploymentStatus};
use crd_specs::inference_server::{InferenceServer, InferenceServerState, InferenceServerStatus};
use crd_specs::model::Model;
use crd_specs::pipeline_run::{PipelineRun, PipelineRunState, PipelineRunStatus};
use crd_specs::revision::Revision;
use crd_specs::trigger_run::{TriggerRun, TriggerRunState, TriggerRunStatus};
use futures::future::LocalBoxFuture;
use futures::{Stream, TryStreamExt as _};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::{AskError, Stored};
use ingester_store::{ConnectOptions, Store};
use std::future::ready;
use std::time::Duration;

/// Uids, or numbers with what is counted before them.
type QuestionAnswer = Vec<String>;

pub(crate) struct Question {
    pub(crate) title: &'static str,
    pub(crate) function: &'static str,
    pub(crate) ask: for<'s> fn(&'s Store) -> LocalBoxFuture<'s, Result<QuestionAnswer>>,
    answer: &'static [&'static str],
}

impl Question {
    /// The answer, sorted unless it has an order.
    pub(crate) fn expected(&self, is_ordered: bool) -> QuestionAnswer {
        let mut answer: QuestionAnswer = self.answer.iter().map(|&line| line.to_owned()).collect();
        assert!(!answer.is_empty(), "{}", self.title);
        if !is_ordered {
            answer.sort_unstable();
        }
        answer
    }
}

macro_rules! questions {
    ($($title:literal, $function:ident => [$($answer:literal),+];)*) => {
        /// In the order of the document.
        pub(crate) const QUESTIONS: &[Question] = &[$(Question {
            title: $title,
            function: stringify!($function),
            ask: |store| Box::pin($function(store)),
            answer: &[$($answer),+],
        }),*];
    };
}

questions! {
    "Which pipeline runs failed in the last week, by owner?", failed_by_owner =>
        ["run-lab-1", "run-1", "run-3", "run-2"];
    "What are the newest failed pipeline runs of my team?", newest_failed_of_my_team => ["run-1", "run-2", "run-4"];
    "How many pipeline runs are in each state?", runs_by_state =>
        [
            "PIPELINE_RUN_STATE_FAILED|5",
            "PIPELINE_RUN_STATE_SUCCEEDED|3",
            "PIPELINE_RUN_STATE_RUNNING|2",
            "PIPELINE_RUN_STATE_PENDING|1"
        ];
    "Which pipelines of a namespace failed most in the last week?", failed_by_pipeline => ["train|2", "score|1"];
    "Which pipeline runs have been running for more than a day?", running_for_long => ["run-7"];
    "Which project has the most running triggers?", triggers_by_project => ["ml|2", "lab|1"];
    "Which triggers did Ada start?", triggers_of_ada => ["trigger-1", "trigger-3"];
    "Which models have no owner?", without_owner => ["fraud-1", "fraud-2"];
    "Which models did a pipeline run train?", trained_by_a_run => ["churn-1", "churn-2"];
    "Which models of a family were evicted?", evicted_of_a_family => ["churn-1"];
    "What is the newest revision of a model family?", newest_of_a_family => ["churn-3"];
    "Which models have one label but not another?", one_label_but_not_another => ["churn-2", "churn-3"];
    "How many models exist only in SQL?", only_in_sql => ["2"];
    "Which deployments run a revision?", deployments_of_a_revision => ["deployment-1", "deployment-2"];
    "Which deployments are being deleted, but still exist?", deployments_being_deleted => ["deployment-2"];
    "Which inference servers are not serving?", servers_that_do_not_serve => ["server-2", "server-3"];
    "Which revisions does a pipeline have, the newest first?", revisions_of_a_pipeline => ["revision-2", "revision-1"];
    "What was deleted in this namespace on a day?", deleted_on_a_day => ["churn-4", "midnight", "run-5"];
    "Which objects have had this name, one after the other?", objects_of_a_name =>
        ["5f0c6c1e-2a4d-4b0e-9a53-7d1f3c9be001", "demand-b", "demand-c"];
    "What became of the object with this uid?", object_of_a_uid => ["5f0c6c1e-2a4d-4b0e-9a53-7d1f3c9be001"];
}

/// The lines of a function of this file, but for the last one.
pub(crate) fn body(function: &str) -> String {
    let from = format!("\nasync fn {function}(");
    let (_, rest) = include_str!("questions.rs").split_once(&from).expect("the function");
    let (_, rest) = rest.split_once("{\n").expect("its body");
    let (body, _) = rest.split_once("\n}\n").expect("its end");
    let (lines, _) = body.rsplit_once('\n').expect("its last line");
    lines.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

async fn uids<K>(found: impl Stream<Item = Result<Stored<K>, AskError>>) -> Result<QuestionAnswer> {
    Ok(found.map_ok(|stored| stored.uid.into()).try_collect().await?)
}

fn counted(found: Vec<(Value, u64)>) -> Result<QuestionAnswer> {
    Ok(found.into_iter().map(|(value, count)| format!("{value}|{count}")).collect())
}

fn uid<K>(found: Option<Stored<K>>) -> Result<QuestionAnswer> {
    Ok(found.into_iter().map(|stored| stored.uid.into()).collect())
}

#[expect(dead_code, reason = "it is compiled: it would open a file of that name")]
async fn how_to_ask() -> Result<Option<Stored<Model>>> {
    let store = Store::connect(&"sqlite://ingester.db".parse()?, ConnectOptions::default()).await?;
    let query = store.query::<Model>().namespace("ml").filter(Model::algorithm().eq("xgboost"));
    Ok(query.first().await?)
}

async fn failed_by_owner(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<PipelineRun>()
        .filter(PipelineRunStatus::state().eq(PipelineRunState::Failed))
        .filter(PipelineRun::create_time().ge(Micros::ago(Duration::from_hours(7 * 24))))
        .order_by(PipelineRun::actor().asc())
        .order_by(PipelineRun::create_time().desc())
        .stream();
    uids(found).await
}

async fn newest_failed_of_my_team(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<PipelineRun>()
        .label("team", "pricing")
        .filter(PipelineRunStatus::state().eq(PipelineRunState::Failed))
        .order_by(PipelineRun::create_time().desc())
        .limit(10)
        .stream();
    uids(found).await
}

async fn runs_by_state(store: &Store) -> Result<QuestionAnswer> {
    let found = store.query::<PipelineRun>().count_by(PipelineRunStatus::state()).await?;
    counted(found)
}

async fn failed_by_pipeline(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<PipelineRun>()
        .namespace("ml")
        .filter(PipelineRunStatus::state().eq(PipelineRunState::Failed))
        .filter(PipelineRun::create_time().ge(Micros::ago(Duration::from_hours(7 * 24))))
        .count_by(PipelineRun::pipeline().part(ResourceIdentifier::name()))
        .await?;
    counted(found)
}

async fn running_for_long(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<PipelineRun>()
        .filter(PipelineRunStatus::state().eq(PipelineRunState::Running))
        .filter(PipelineRun::create_time().lt(Micros::ago(Duration::from_hours(24))))
        .order_by(PipelineRun::create_time().asc())
        .stream();
    uids(found).await
}

async fn triggers_by_project(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<TriggerRun>()
        .filter(TriggerRunStatus::state().eq(TriggerRunState::Running))
        .count_by(TriggerRun::namespace())
        .await?;
    counted(found)
}

async fn triggers_of_ada(store: &Store) -> Result<QuestionAnswer> {
    let is_hers = |run: &Stored<TriggerRun>| run.object.spec.actor.as_ref().is_some_and(|actor| actor.name == "ada");
    let found = store.query::<TriggerRun>().stream().try_filter(|run| ready(is_hers(run)));
    uids(found).await
}

async fn without_owner(store: &Store) -> Result<QuestionAnswer> {
    let found = store.query::<Model>().filter(Model::owner().is_null().or(Model::owner().eq(""))).stream();
    uids(found).await
}

async fn trained_by_a_run(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<Model>()
        .filter(Model::src_pipeline_run().part(ResourceIdentifier::namespace()).eq("ml"))
        .filter(Model::src_pipeline_run().part(ResourceIdentifier::name()).eq("train-8"))
        .stream();
    uids(found).await
}

async fn evicted_of_a_family(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<Model>()
        .states(States::EVICTED)
        .filter(Model::model_family().part(ResourceIdentifier::namespace()).eq("ml"))
        .filter(Model::model_family().part(ResourceIdentifier::name()).eq("churn"))
        .stream();
    uids(found).await
}

async fn newest_of_a_family(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<Model>()
        .filter(Model::model_family().part(ResourceIdentifier::namespace()).eq("ml"))
        .filter(Model::model_family().part(ResourceIdentifier::name()).eq("churn"))
        .order_by(Model::revision_id().desc())
        .first()
        .await?;
    uid(found)
}

async fn one_label_but_not_another(store: &Store) -> Result<QuestionAnswer> {
    let found = store.query::<Model>().label_selector("team=pricing,!legacy")?.stream();
    uids(found).await
}

async fn only_in_sql(store: &Store) -> Result<QuestionAnswer> {
    let found = store.query::<Model>().states(States::EVICTED).count().await?;
    Ok(vec![found.to_string()])
}

async fn deployments_of_a_revision(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<Deployment>()
        .filter(DeploymentStatus::current_revision().part(ResourceIdentifier::namespace()).eq("ml"))
        .filter(DeploymentStatus::current_revision().part(ResourceIdentifier::name()).eq("churn-r7"))
        .stream();
    uids(found).await
}

async fn deployments_being_deleted(store: &Store) -> Result<QuestionAnswer> {
    let found = store.query::<Deployment>().filter(Deployment::deletion_requested_timestamp().is_not_null()).stream();
    uids(found).await
}

async fn servers_that_do_not_serve(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<InferenceServer>()
        .filter(InferenceServerStatus::state().ne(InferenceServerState::Serving))
        .stream();
    uids(found).await
}

async fn revisions_of_a_pipeline(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<Revision>()
        .filter(Revision::base_type().eq("Pipeline"))
        .filter(Revision::base_resource().part(ResourceIdentifier::namespace()).eq("ml"))
        .filter(Revision::base_resource().part(ResourceIdentifier::name()).eq("train"))
        .order_by(Revision::create_time().desc())
        .stream();
    uids(found).await
}

async fn deleted_on_a_day(store: &Store) -> Result<QuestionAnswer> {
    let models = store
        .query::<Model>()
        .namespace("ml")
        .states(States::DELETED)
        .filter(Model::delete_time().dynamic().ge("2026-03-09"))
        .filter(Model::delete_time().dynamic().lt("2026-03-10"))
        .stream();
    let runs = store
        .query::<PipelineRun>()
        .namespace("ml")
        .states(States::DELETED)
        .filter(PipelineRun::delete_time().dynamic().ge("2026-03-09"))
        .filter(PipelineRun::delete_time().dynamic().lt("2026-03-10"))
        .stream();
    Ok([uids(models).await?, uids(runs).await?].concat())
}

async fn objects_of_a_name(store: &Store) -> Result<QuestionAnswer> {
    let found = store
        .query::<Model>()
        .namespace("ml")
        .name("demand")
        .states(States::ALL)
        .order_by(Model::create_time().asc())
        .stream();
    uids(found).await
}

async fn object_of_a_uid(store: &Store) -> Result<QuestionAnswer> {
    let found = store.query::<Model>().uid("5f0c6c1e-2a4d-4b0e-9a53-7d1f3c9be001").states(States::ALL).first().await?;
    uid(found)
}
