//! `ingester doctor` on set-ups with one defect each: the defect is named, and nothing is changed.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::ingester::CommandResult;
use kube::Api;
use kube::api::{DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

use crate::database::On;
use crate::eventually::eventually;
use crate::objects::{OURS, model};
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// It has its own servers, because it changes their settings.
on_servers! { OwnServers::BOTH => each_broken_set_up_is_named_and_nothing_is_changed
    [mariadb MARIADB] [mysql MYSQL #[ignore = "before a release"]] [postgres POSTGRES #[ignore = "in the set --all"]]
}

on_servers! { OwnServers::CLUSTER => a_modern_api_server_is_examined_as_far_as_it_tells [modern MODERN] }

/// Texts that no output may contain.
const SECRET: &str = "TOPSECRET";

/// A line of the report.
#[derive(Debug, Deserialize)]
struct ReportLine {
    check: String,
    subject: String,
    result: String,
    message: String,
    remedy: Option<String>,
}

/// A defect, and the report about it.
#[derive(Default)]
struct Case {
    what: &'static str,
    /// The administrator's SQL that causes the defect, and that repairs it.
    breaks: Vec<String>,
    mends: Vec<String>,
    /// Another configuration.
    settings: Option<Settings>,
    /// Another kubeconfig.
    kubeconfig: Option<String>,
    check: &'static str,
    result: &'static str,
    says: &'static str,
}

fn case(what: &'static str, check: &'static str, result: &'static str, says: &'static str) -> Case {
    Case { what, check, result, says, ..Case::default() }
}

impl Case {
    fn sql(self, breaks: &[&str], mends: &[&str]) -> Self {
        let owned = |all: &[&str]| all.iter().map(|sql| (*sql).to_owned()).collect();
        Case { breaks: owned(breaks), mends: owned(mends), ..self }
    }

    fn settings(self, settings: Settings) -> Self {
        Case { settings: Some(settings), ..self }
    }

    fn kubeconfig(self, kubeconfig: String) -> Self {
        Case { kubeconfig: Some(kubeconfig), ..self }
    }
}

fn read(ran: &CommandResult) -> Result<Vec<ReportLine>> {
    ensure!(!ran.out.contains(SECRET) && !ran.err.contains(SECRET), "a secret is shown: {ran:?}");
    serde_json::from_str(&ran.out).with_context(|| format!("{ran:?}"))
}

fn examined(world: &World, arguments: &[&str]) -> Result<(Option<i32>, Vec<ReportLine>)> {
    let ran = world.ingester().run(&[&["doctor", "-o", "json"], arguments].concat())?;
    Ok((ran.code, read(&ran)?))
}

/// Whether the report has the line, with a remedy, and the exit code matches its lines.
fn has(case: &Case, code: Option<i32>, lines: &[ReportLine]) -> bool {
    let any_error = lines.iter().any(|line| line.result == "error");
    let is_meant = |line: &ReportLine| {
        line.check == case.check
            && line.result == case.result
            && format!("{} {}", line.subject, line.message).contains(case.says)
            && line.remedy.as_ref().is_some_and(|remedy| remedy.len() > 10)
    };
    code == Some(i32::from(any_error)) && lines.iter().any(is_meant)
}

fn check(case: &Case, code: Option<i32>, lines: &[ReportLine]) -> Result<()> {
    let worse: Vec<&ReportLine> = lines.iter().filter(|line| line.result != "ok").collect();
    ensure!(has(case, code, lines), "{}: exit code {code:?}, {worse:#?}", case.what);
    Ok(())
}

async fn each_broken_set_up_is_named_and_nothing_is_changed(world: &mut World) -> Result<()> {
    world.start()?;
    world.objects.create(model("kept", "x")).await?;
    world.objects.create(model("evicted", "x")).await?;
    world.settled().await?;
    world.objects.annotate("Model", "evicted", "michelangelo/Immutable").await?;
    world.gone("Model", "evicted").await?;
    let (code, lines) = examined(world, &[])?;
    let errors: Vec<&ReportLine> = lines.iter().filter(|line| line.result == "error").collect();
    ensure!(code == Some(0) && errors.is_empty(), "beside a mirror that runs: {errors:#?}");
    world.stop()?;
    // Without our finalizer.
    world.objects.create(model("plain", "x")).await?;
    nothing_is_changed(world).await?;

    for case in of_databases(world).into_iter().chain(of_clusters(world)?) {
        try_case(world, &case).await.with_context(|| format!("on {:?}", world.database.on))?;
    }
    rights(world).await?;
    admission(world).await?;
    definitions_of_kinds(world).await
}

async fn try_case(world: &World, case: &Case) -> Result<()> {
    for sql in &case.breaks {
        world.database.sql(sql).await.with_context(|| format!("{}: {sql}", case.what))?;
    }
    if let Some(settings) = &case.settings {
        world.reconfigure(settings)?;
    }
    let file = world.cluster.folder().join("broken.kubeconfig");
    let mut arguments = Vec::new();
    if let Some(kubeconfig) = &case.kubeconfig {
        std::fs::write(&file, kubeconfig)?;
        arguments = vec!["--kubeconfig", file.to_str().context("a path")?];
    }
    let (code, lines) = examined(world, &arguments)?;
    check(case, code, &lines)?;
    for sql in &case.mends {
        world.database.sql(sql).await.with_context(|| format!("{}: {sql}", case.what))?;
    }
    if case.settings.is_some() {
        world.reconfigure(&world.settings())?;
    }
    Ok(())
}

/// Neither in the cluster nor in the database: a user who may only read it can check everything.
async fn nothing_is_changed(world: &World) -> Result<()> {
    let version = async || {
        let object = world.objects.get("Model", "plain").await?.context("the object")?;
        ensure!(
            !object.metadata.finalizers.unwrap_or_default().iter().any(|name| name == OURS),
            "it has the finalizer"
        );
        object.metadata.resource_version.context("its version")
    };
    let before = version().await?;
    for sql in reader(world.database.on, &world.database.name) {
        world.database.sql(&sql).await?;
    }
    world.reconfigure(&other_url(world, &url_of(world, "reader")))?;
    let (code, lines) = examined(world, &[])?;
    world.reconfigure(&world.settings())?;
    check(&case("a user who may only read", "database-rights", "error", "INSERT"), code, &lines)?;
    check(&case("rows behind", "lag", "warning", "2 objects in the cluster, 1 live row"), code, &lines)?;
    for check in ["identity", "migrations", "tables", "definitions"] {
        let line = lines.iter().find(|line| line.check == check).context(check)?;
        ensure!(line.result == "ok", "{line:?}");
    }
    let admitted = lines.iter().find(|line| line.check == "admission" && line.subject.starts_with("models"));
    ensure!(admitted.is_some_and(|line| line.result == "ok" && line.message.contains("plain")), "{admitted:?}");
    ensure!(version().await? == before, "the object was changed");
    if world.database.on != On::Postgres {
        let written = world.database.writing_statements().await?;
        examined(world, &[])?;
        ensure!(world.database.writing_statements().await? == written, "the database was written");
    }
    Ok(())
}

/// Creates a user who may only read, and the users and databases of other cases. The testbed's PostgreSQL asks for no password.
fn reader(on: On, database: &str) -> Vec<String> {
    let all: &[&str] = match on {
        On::Postgres => &[
            "CREATE ROLE reader LOGIN",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
            "CREATE ROLE standby SUPERUSER LOGIN",
            "ALTER ROLE standby SET default_transaction_read_only = on",
            "ALTER ROLE standby SET work_mem = '64kB'",
        ],
        _ => &[
            "CREATE USER 'reader'@'%'",
            "GRANT SELECT ON `{}`.* TO 'reader'@'%'",
            "CREATE USER 'hunter'@'%' IDENTIFIED BY 'right'",
            "CREATE USER 'behind'@'%'",
            "GRANT ALL ON `{}`.* TO 'behind'@'%'",
        ],
    };
    all.iter().map(|sql| sql.replace("{}", database)).collect()
}

fn url_of(world: &World, user: &str) -> String {
    let (scheme, rest) = world.database.url.split_once("://").unwrap();
    format!("{scheme}://{user}@{}", rest.split_once('@').unwrap().1)
}

/// The same configuration with another database.
fn other_url(world: &World, url: &str) -> Settings {
    Settings { mysql: None, database_url: Some(url.to_owned()), ..world.settings() }
}

fn of_databases(world: &World) -> Vec<Case> {
    let on = world.database.on;
    let name = &world.database.name;
    let last = "version = (SELECT * FROM (SELECT MAX(version) FROM _sqlx_migrations) AS latest)";
    let empty = Settings {
        ingester: vec!["createTables: false"],
        ..other_url(world, &world.database.url.replace(name, "bare"))
    };
    let unreachable = match on {
        On::Postgres => "postgres://u@127.0.0.1:1/db",
        _ => "mysql://u@127.0.0.1:1/db",
    };
    let mut cases = vec![
        case("a storage that is not enabled", "database", "error", "enableMetadataStorage is false")
            .settings(Settings { enabled: false, ..world.settings() }),
        case("a database that cannot be reached", "database", "error", "127.0.0.1:1").settings(other_url(world, unreachable)),
        case("a user or password that is wrong", "database", "error", "hunter")
            .settings(other_url(world, &url_of(world, &format!("hunter:{SECRET}")))),
        case("another cluster's database", "identity", "error", "another cluster").sql(
            &["CREATE TABLE kept_settings AS SELECT * FROM ingester_settings", "UPDATE ingester_settings SET value = 'another' WHERE name = 'cluster'"],
            &["UPDATE ingester_settings SET value = (SELECT value FROM kept_settings WHERE name = 'cluster') WHERE name = 'cluster'"],
        ),
        case("another prefix", "identity", "error", "the prefix `other.example.com`").sql(
            &["INSERT INTO ingester_settings (name, value) VALUES ('marks/prefix', 'other.example.com')"],
            &["DELETE FROM ingester_settings WHERE name = 'marks/prefix'"],
        ),
        case("a pending migration", "migrations", "warning", "not yet run: 00").sql(
            &["CREATE TABLE kept_ledger AS SELECT * FROM _sqlx_migrations", &format!("DELETE FROM _sqlx_migrations WHERE {last}")],
            &["INSERT INTO _sqlx_migrations SELECT * FROM kept_ledger WHERE version NOT IN (SELECT version FROM _sqlx_migrations)"],
        ),
        case("an interrupted migration", "migrations", "warning", "interrupted: 00").sql(
            &[&format!("UPDATE _sqlx_migrations SET success = FALSE WHERE {last}")],
            &["UPDATE _sqlx_migrations SET success = TRUE"],
        ),
        case("a migration with another text", "migrations", "error", "another text of 0001").sql(
            &[&format!("UPDATE _sqlx_migrations SET checksum = {} WHERE version = 1", on.bytes("00"))],
            &["UPDATE _sqlx_migrations SET checksum = (SELECT checksum FROM kept_ledger WHERE version = 1) WHERE version = 1"],
        ),
        case("a migration of a later release", "migrations", "warning", "does not have: 9999").sql(
            &["INSERT INTO _sqlx_migrations SELECT 9999, description, installed_on, success, checksum, execution_time FROM kept_ledger WHERE version = 1"],
            &["DELETE FROM _sqlx_migrations WHERE version = 9999"],
        ),
        case("a column by hand", "tables", "warning", "`model`.`byhand`")
            .sql(&["ALTER TABLE model ADD COLUMN byhand INT"], &["ALTER TABLE model DROP COLUMN byhand"]),
        case("a column that is gone", "tables", "error", "`project`.`name`")
            .sql(&["ALTER TABLE project RENAME COLUMN name TO gone"], &["ALTER TABLE project RENAME COLUMN gone TO name"]),
        case("rows of an older definition", "definitions", "warning", "not yet filled: algorithm").sql(
            &[
                "DELETE FROM ingester_backfills WHERE table_name = 'model'",
                &format!(
                    "INSERT INTO ingester_backfills (table_name, column_name, migration, position, rows_read, rows_filled, rows_failed, begin_time) \
                     VALUES ('model', 'algorithm', 1, '', 0, 0, 0, {})",
                    on.now()
                ),
            ],
            &["DELETE FROM ingester_backfills WHERE table_name = 'model'"],
        ),
        // The testbed's servers do not wait for the disk, and an object was evicted.
        case("commits that may be lost", "durability", "warning", "(Model) are the only copies"),
        case("a database without tables", "migrations", "error", "not yet run: 0001, 0002").sql(&["CREATE DATABASE bare"], &[]).settings(empty),
    ];
    match on {
        On::Postgres => cases.extend([
            case("a database that is read-only", "database-writable", "error", "default_transaction_read_only is on")
                .settings(other_url(world, &url_of(world, "standby"))),
            case("little memory for sorting", "database-sort-buffer", "warning", "64 kB")
                .settings(other_url(world, &url_of(world, "standby"))),
        ]),
        _ => cases.extend(of_mysql(world)),
    }
    cases
}

/// Settings of servers of MySQL's family.
fn of_mysql(world: &World) -> Vec<Case> {
    let name = &world.database.name;
    let behind = "SET GLOBAL init_connect = 'SET timestamp = IF(CURRENT_USER() LIKE \"behind@%\", UNIX_TIMESTAMP() - 8640000, 0)'";
    let foreign = other_url(world, &world.database.url.replace(name, "strange"));
    vec![
        case("a server that is read-only", "database-writable", "error", "read_only is ON")
            .sql(&["SET GLOBAL read_only = ON"], &["SET GLOBAL read_only = OFF"]),
        case("small packets", "database-packet", "warning", "1048576")
            .sql(&["SET GLOBAL max_allowed_packet = 1048576"], &["SET GLOBAL max_allowed_packet = 67108864"]),
        case("little memory for sorting", "database-sort-buffer", "warning", "65536")
            .sql(&["SET GLOBAL sort_buffer_size = 65536"], &["SET GLOBAL sort_buffer_size = 2097152"]),
        case("a database of another character set", "database-charset", "warning", "latin1").sql(
            &[&format!("ALTER DATABASE {name} CHARACTER SET latin1")],
            &[&format!("ALTER DATABASE {name} CHARACTER SET utf8mb4")],
        ),
        case("a clock that is behind", "database-clock", "warning", "behind this machine's")
            .sql(&[behind], &["SET GLOBAL init_connect = ''"])
            .settings(other_url(world, &url_of(world, "behind"))),
        case("tables of another program", "tables", "error", "model")
            .sql(&["CREATE DATABASE strange", "CREATE TABLE strange.model (x INT PRIMARY KEY)"], &[])
            .settings(foreign),
    ]
}

fn of_clusters(world: &World) -> Result<Vec<Case>> {
    let good = std::fs::read_to_string(world.cluster.service_account_kubeconfig())?;
    let with = |pointer: &str, value: &str| -> Result<String> {
        let mut kubeconfig: Json = serde_json::from_str(&good)?;
        *kubeconfig.pointer_mut(pointer).context("a part of the kubeconfig")? = value.into();
        Ok(kubeconfig.to_string())
    };
    let other = rcgen::KeyPair::generate()?;
    let other = rcgen::CertificateParams::new(vec!["other".to_owned()])?.self_signed(&other)?;
    let authority: PathBuf = world.cluster.folder().join("other.crt");
    std::fs::write(&authority, other.pem())?;
    Ok(vec![
        case("an API server that cannot be reached", "api-server", "error", "127.0.0.1:1")
            .kubeconfig(with("/clusters/0/cluster/server", "https://127.0.0.1:1")?),
        case("another authority of certificates", "api-server", "error", "certificate")
            .kubeconfig(with("/clusters/0/cluster/certificate-authority", authority.to_str().context("a path")?)?),
        case("an expired token", "api-server", "error", "401").kubeconfig(with("/users/0/user/token", SECRET)?),
        case("a file that is not a kubeconfig", "kubeconfig", "error", "broken.kubeconfig").kubeconfig("[".to_owned()),
    ])
}

fn dynamic(world: &World, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::all_with(world.objects.client.clone(), &resource)
}

/// A role that lacks rights.
async fn rights(world: &World) -> Result<()> {
    let roles = dynamic(world, "rbac.authorization.k8s.io", "v1", "ClusterRole");
    let role = roles.get("ingester").await?;
    let mut lacking: Json = role.data["rules"].clone();
    for rule in lacking.as_array_mut().into_iter().flatten() {
        let verbs = rule["verbs"].as_array_mut().context("verbs")?;
        verbs.retain(|verb| !["patch", "delete", "watch", "get"].iter().any(|lost| verb == lost));
        if verbs.is_empty() {
            verbs.push("list".into());
        }
    }
    let patch = async |rules: &Json| {
        roles.patch("ingester", &PatchParams::default(), &Patch::Merge(json!({"rules": rules}))).await
    };
    patch(&lacking).await?;
    for case in [
        case("a role without rights", "rights", "error", "models.michelangelo.api the ingester may not watch"),
        case("a role without rights to patch", "rights", "error", "patch in"),
        case("a role without rights to delete", "rights", "error", "delete in"),
        case("a role without rights to Events", "rights", "warning", "events.events.k8s.io the ingester may not"),
        case("a role that does not see the cluster's uid", "cluster-identity", "warning", "403"),
    ] {
        let look = async || examined(world, &[]);
        eventually(case.what, look, |(code, lines)| has(&case, *code, lines)).await?;
    }
    patch(&role.data["rules"]).await?;
    let granted = case("the role", "rights", "error", "");
    let look = async || examined(world, &[]);
    eventually("the rights to be there again", look, |(_, lines)| {
        !lines.iter().any(|line| line.check == granted.check && line.result == granted.result)
    })
    .await?;
    Ok(())
}

/// A webhook that refuses everything, because it does not exist.
async fn admission(world: &World) -> Result<()> {
    let webhooks = dynamic(world, "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration");
    let webhook: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "refusing"},
        "webhooks": [{
            "name": "refusing.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 1,
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [{"apiGroups": ["michelangelo.api"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["models"]}],
        }],
    }))?;
    webhooks.create(&PostParams::default(), &webhook).await?;
    let case = case("a webhook that refuses the finalizer", "admission", "error", "refusing.example.com");
    let look = async || examined(world, &[]);
    eventually(case.what, look, |(code, lines)| has(&case, *code, lines)).await?;
    webhooks.delete("refusing", &kube::api::DeleteParams::default()).await?;
    Ok(())
}

/// A CRD that is missing, and then exists in another version.
async fn definitions_of_kinds(world: &World) -> Result<()> {
    const NAME: &str = "rayjobs.michelangelo.api";
    let crds = dynamic(world, "apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let before = crds.get(NAME).await?;
    crds.delete(NAME, &kube::api::DeleteParams::default()).await?;
    let look = async || examined(world, &[]);
    let missing = case("a CRD that is not there", "crd", "error", "no rayjobs of michelangelo.api/v2");
    eventually(missing.what, look, |(code, lines)| has(&missing, *code, lines)).await?;
    eventually("the CRD to be gone", async || Ok(crds.get_opt(NAME).await?), Option::is_none).await?;
    let mut spec = before.data["spec"].clone();
    spec["versions"][0]["name"] = "v1".into();
    let other: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": spec,
    }))?;
    crds.create(&PostParams::default(), &other).await?;
    let version = case("a CRD of another version", "crd", "error", "but of michelangelo.api/v1");
    eventually(version.what, look, |(code, lines)| has(&version, *code, lines)).await?;
    Ok(())
}

async fn a_modern_api_server_is_examined_as_far_as_it_tells(world: &mut World) -> Result<()> {
    world.start()?;
    world.objects.create(model("kept", "x")).await?;
    world.settled().await?;
    let (code, lines) = examined(world, &[])?;
    let errors: Vec<&ReportLine> = lines.iter().filter(|line| line.result == "error").collect();
    ensure!(code == Some(0) && errors.is_empty(), "{errors:#?}");
    let says = |check: &str| lines.iter().find(|line| line.check == check).map(|line| (&*line.result, &*line.message));
    assert_eq!(says("streamed-lists"), Some(("ok", "the API server streams lists")));
    assert_eq!(says("rights"), Some(("skipped", "this API server has no reviews of rights")));
    let text = world.ingester().run(&["doctor"])?;
    ensure!(text.out.starts_with("RESULT") && text.err.contains("0 errors"), "{text:?}");
    Ok(())
}
