//! Kinds are isolated from each other, and so are the objects of a kind: a panicking controller, a panicking decoder, a
//! locked table. The engine with a real API server, on SQLite and on MariaDB.

#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]

use anyhow::{Context as _, Result};
use crd_specs::model::Model;
use crd_specs::project::Project;
use ingester_config::{Config, Live};
use ingester_core::kind::{Decode, Functions, Plural};
use ingester_core::object::Object;
use ingester_core::value::Values;
use ingester_core::{Kind, json};
use ingester_mirror::events::Publisher;
use ingester_mirror::health::Health;
use ingester_mirror::metrics::Metrics;
use ingester_mirror::replicas::Assignment;
use ingester_mirror::suspend::Suspension;
use ingester_mirror::sync::{self, Context};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::{install, shared_apiserver, shared_mariadb};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject, GroupVersionKind, PostParams};
use kube::core::{ApiResource, ObjectMeta};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const MODEL: Kind = Kind::of::<Model>();
const PROJECT: Kind = Kind::of::<Project>();

/// A kind like Model, except for some of its functions.
const fn like_model(functions: Functions) -> Kind {
    Kind::new(*MODEL.definition(), functions)
}

const PANICS_AT_ONCE: Kind =
    like_model(Functions { plural: Plural::Function(|| panic!("a defect")), ..*MODEL.functions() });

const PANICS_AT_POISON: Kind =
    like_model(Functions { decode: Decode::Function(decode_or_panic), ..*MODEL.functions() });

fn decode_or_panic(object: &Object, out: &mut Values) -> Result<bool, json::Error> {
    assert_ne!(object.meta().name.as_ref(), "poison");
    MODEL.functions().decode.decode(object, out)
}

struct Mirror {
    client: Client,
    namespace: &'static str,
    metrics: Metrics,
    stop: CancellationToken,
    running: tokio::task::JoinHandle<Result<(), ingester_core::RegistryError>>,
}

impl Mirror {
    /// Mirrors `kinds` of a new namespace into the database.
    async fn start(namespace: &'static str, kinds: &'static [Kind], url: &str) -> Result<Self> {
        let client = shared_apiserver()?.client().await?;
        let crds: Vec<CustomResourceDefinition> = [MODEL.crd(), PROJECT.crd()].into_iter().flatten().collect();
        install(&client, &crds).await?;
        let metadata = ObjectMeta { name: Some(namespace.into()), ..ObjectMeta::default() };
        let namespaces: Api<Namespace> = Api::all(client.clone());
        namespaces.create(&PostParams::default(), &Namespace { metadata, ..Namespace::default() }).await?;

        let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
        store.create_missing(kinds).await?;
        let mut config = Config::default();
        config.ingester.namespaces = vec![namespace.into()];
        let metrics = Metrics::new()?;
        let context = Context {
            client: client.clone(),
            store: Arc::new(store),
            metrics: metrics.clone(),
            health: Health::new(sync::names(kinds, &config).iter().map(String::as_str)),
            publisher: Publisher::off(),
            assignment: Assignment::alone(),
        };
        let stop = CancellationToken::new();
        let token = stop.clone();
        let suspension = Suspension::new(kinds, &config, &metrics);
        let live = Live::fixed(config);
        let running = tokio::spawn(async move { sync::run(context, kinds, &live, &suspension, token).await });
        Ok(Mirror { client, namespace, metrics, stop, running })
    }

    async fn create(&self, kind: Kind, name: &str) -> Result<()> {
        let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind());
        let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.plural());
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), self.namespace, &resource);
        api.create(&PostParams::default(), &DynamicObject::new(name, &resource)).await?;
        Ok(())
    }

    /// The sum of a metric's series that contain this text.
    fn count(&self, series: &str) -> f64 {
        let text = self.metrics.render();
        let lines = text.lines().filter(|line| line.starts_with(series));
        lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    }

    async fn stop(self) -> Result<()> {
        self.stop.cancel();
        self.running.await.context("the engine ends in order")?.context("the kinds go together")
    }
}

/// Waits up to a minute for a condition.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn names(url: &str, sql: &str) -> Vec<String> {
    let (mysql, sqlite);
    if url.starts_with("sqlite") {
        let mut connection = sqlx::SqliteConnection::connect(url).await.unwrap();
        sqlite = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(&mut connection).await.unwrap();
        return sqlite;
    }
    let mut connection = sqlx::MySqlConnection::connect(url).await.unwrap();
    mysql = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(&mut connection).await.unwrap();
    mysql
}

const MODELS: &str = "SELECT name FROM model WHERE delete_time IS NULL ORDER BY name";
const PROJECTS: &str = "SELECT name FROM project WHERE delete_time IS NULL ORDER BY name";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_panics_is_started_again_and_touches_no_other() -> Result<()> {
    static KINDS: &[Kind] = &[PANICS_AT_ONCE, PROJECT];
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}?mode=rwc", folder.path().join("test.db").display());
    let mirror = Mirror::start("isolation-panic", KINDS, &url).await?;
    mirror.create(PROJECT, "well").await?;
    until("the project's row", async || names(&url, PROJECTS).await == ["well"]).await;
    until("a second start", async || mirror.count("ingester_controller_panics_total{kind=\"Model\"}") >= 2.0).await;
    mirror.create(PROJECT, "still-well").await?;
    until("the next project's row", async || names(&url, PROJECTS).await == ["still-well", "well"]).await;
    assert_eq!(mirror.count("ingester_controller_panics_total{kind=\"Project\"}"), 0.0);
    mirror.stop().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_makes_its_decoder_panic_is_rejected_alone() -> Result<()> {
    static KINDS: &[Kind] = &[PANICS_AT_POISON];
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}?mode=rwc", folder.path().join("test.db").display());
    let mirror = Mirror::start("isolation-poison", KINDS, &url).await?;
    for name in ["a", "poison", "b"] {
        mirror.create(MODEL, name).await?;
    }
    until("the other rows", async || names(&url, MODELS).await == ["a", "b"]).await;
    let rejects = "SELECT name FROM ingester_rejects WHERE reason LIKE '%panicked%'";
    until("the reject", async || names(&url, rejects).await == ["poison"]).await;
    assert_eq!(mirror.count("ingester_controller_panics_total"), 0.0);
    // It is counted once its row is committed.
    until("the count", async || mirror.count("ingester_rejected_objects{kind=\"Model\"}") == 1.0).await;
    mirror.stop().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_table_delays_only_its_own_kind() -> Result<()> {
    static KINDS: &[Kind] = &[MODEL, PROJECT];
    let url = shared_mariadb()?.create_database("isolation").await?;
    let mirror = Mirror::start("isolation-lock", KINDS, &url).await?;
    mirror.create(MODEL, "before").await?;
    until("the first row", async || names(&url, MODELS).await == ["before"]).await;
    let mut holder = sqlx::MySqlConnection::connect(&url).await?;
    holder.execute("LOCK TABLES model WRITE, model AS seen READ").await?;
    for number in 0..20 {
        mirror.create(MODEL, &format!("model-{number}")).await?;
        mirror.create(PROJECT, &format!("project-{number}")).await?;
    }
    until("the projects", async || names(&url, PROJECTS).await.len() == 20).await;
    let held: Vec<String> = sqlx::query_scalar("SELECT name FROM model AS seen").fetch_all(&mut holder).await?;
    assert_eq!(held, ["before"]);
    holder.close().await?;
    until("the models", async || names(&url, MODELS).await.len() == 21).await;
    mirror.stop().await
}
