//! The console in a real browser, beside `ingester serve` and a database that changes.

mod browser;
mod counted;
mod hostile;
mod related;

use crate::callers::{Process, World as Cluster};
use crate::program::metric;
use crate::server::{Fate, Server, free_port, model, store};
use crate::watch::until;
use anyhow::{Context as _, Result, ensure};
use browser::Browser;
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_tests::{install, shared_modern_apiserver, skipped_without_modern_apiserver};
use serde_json::{Value as Json, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// A kind that keeps a history.
const RUNS: &str = "kinds:
- group: example.com
  version: v1
  kind: Run
  namespaced: true
  history: forever
  columns:
  - {column: phase, path: .status.phase, type: VARCHAR(64)}
  - {column: tries, path: .spec.tries, type: INT}
  - {column: owner, path: .spec.owner.name, type: VARCHAR(64)}
";

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/samples");

/// The view of all runs.
const VIEW: &str = "#/kinds/example.com/v1/runs";

/// The names of the shown objects.
const NAMES: &str = "[...document.querySelectorAll('tbody th')].map((cell) => cell.innerText).join()";

/// The cells of each row.
const ROWS: &str =
    "[...document.querySelectorAll('tbody tr')].map((row) => row.innerText.replace(/\\s+/g, ' ').trim())";

/// The lines that differ between two versions.
const CHANGED: &str = "[...document.querySelectorAll('.removed, .added')]\
                       .map((line) => line.textContent.replace(/\\s+/g, ' ').trim()).join('|')";

/// A server, and a browser at its console.
struct World {
    server: Server,
    browser: Browser,
    probes: u16,
}

/// A version of a run.
fn run(name: &str, version: u64, phase: &str) -> Json {
    json!({
        "apiVersion": "example.com/v1", "kind": "Run",
        "metadata": {
            "namespace": "ml", "name": name, "uid": format!("uid-{name}"), "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"team": if name < "n" { "search" } else { "pricing" }},
        },
        "spec": {"tries": version, "seed": 9_007_199_254_740_993_u64, "owner": {"name": "ada"}},
        "status": {"phase": phase},
    })
}

impl World {
    /// A server of these objects and runs, beside the cluster of this kubeconfig; `None`, after a message, without a browser.
    async fn start(objects: &[(Json, Fate)], runs: &[Json], kubeconfig: Option<&Path>) -> Result<Option<Self>> {
        Self::start_of("", objects, runs, kubeconfig).await
    }

    /// The same with these kinds beside runs.
    async fn start_of(
        kinds: &str,
        objects: &[(Json, Fate)],
        runs: &[Json],
        kubeconfig: Option<&Path>,
    ) -> Result<Option<Self>> {
        let folder = tempfile::tempdir()?;
        let probes = free_port()?;
        let database = folder.path().join("objects.db");
        store(&database, objects).await?;
        let config = json!({
            "metadataStorage": {"enableMetadataStorage": true, "databaseURL": format!("sqlite://{}", database.display())},
            "ingester": {"kindsFile": "kinds.yaml"},
            "serve": {"probes": format!("127.0.0.1:{probes}")},
        });
        std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?;
        std::fs::write(folder.path().join("kinds.yaml"), format!("{RUNS}{kinds}"))?;
        for object in runs {
            import(folder.path(), object)?;
        }
        let server = match kubeconfig {
            Some(kubeconfig) => Server::start_in_beside(folder, kubeconfig)?,
            None => Server::start_in(folder)?,
        };
        let browser = Browser::at(&server.url).await.with_context(|| server.log())?;
        Ok(browser.map(|browser| World { server, browser, probes }))
    }

    /// Waits until this many watches of runs are open.
    async fn watched(&self, count: f64) -> Result<()> {
        let name = "ingester_serve_watches{resource=\"runs\"}";
        until("a watch", async || Ok(metric(self.probes, name).await? == Some(count))).await
    }

    /// Stores an object as the mirror does.
    fn import(&self, object: &Json) -> Result<()> {
        import(self.server.folder(), object)
    }
}

/// Stores an object in the database of this folder.
fn import(folder: &Path, object: &Json) -> Result<()> {
    let file = folder.join("object.json");
    std::fs::write(&file, object.to_string())?;
    import_files(folder, &file)
}

fn import_files(folder: &Path, files: &Path) -> Result<()> {
    let done = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["import", "--states", "--config", "ingester.yaml"])
        .arg(files)
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .output()?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_shown_with_its_rows_by_state() -> Result<()> {
    let objects = [
        (model("ml", "kept", 1, &json!({})), Fate::Evicted),
        (model("ml", "kept-too", 2, &json!({})), Fate::Evicted),
        (model("ml", "gone", 3, &json!({})), Fate::Deleted),
    ];
    let Some(World { server, browser, .. }) = World::start(&objects, &[run("nightly", 1, "Running")], None).await?
    else {
        return Ok(());
    };
    import_files(server.folder(), Path::new(SAMPLES))?;
    browser.go("", "table").await?;
    browser.until(&format!("!document.querySelector('table').innerText.includes('…') && {ROWS}.length === 14")).await?;
    let rows: Vec<String> = serde_json::from_value(browser.run(&format!("return {ROWS}")).await?)?;
    for (kind, counts) in KINDS.iter().map(|kind| (kind, if kind.kind() == "Model" { "1 2 1 0" } else { "1 0 0 0" })) {
        let expected = format!("{} {} {counts} 20", kind.kind(), kind.api_version());
        ensure!(rows.iter().any(|row| row.starts_with(&expected) && row.ends_with(" ago)")), "{expected} in {rows:?}");
    }
    // All of that is one request.
    ensure!(browser.run(counted::COUNTS).await? == 1);
    browser.is_sound(&[]).await?;
    browser.picture("console-kinds.png").await?;
    // A view of each kind, and one of its object.
    for kind in KINDS {
        browser.go(&format!("#/kinds/{}/{}/{}", kind.group(), kind.version(), kind.plural()), "tbody th a").await?;
        browser.says("following changes").await?;
        browser.click("tbody th a").await?;
        browser.says(&format!("kind: {}", kind.kind())).await?;
    }
    browser.is_sound(&[]).await?;
    // The number of a state leads to these rows.
    browser.go("", "a[aria-label='2 evicted']").await?;
    browser.click("a[aria-label='2 evicted']").await?;
    browser.until("document.querySelectorAll('tbody tr').length === 2").await?;
    browser.says("kept-too").await?;
    browser.go("#/kinds/none/v1/none", "h1").await?;
    browser.says("The address means no view of this server").await?;
    // What is checked in every view can fail.
    browser.run("document.querySelector('main').append(document.createElement('input'))").await?;
    let faults = browser.faults().await?;
    ensure!(faults.iter().any(|fault| fault.starts_with("label (critical)")), "{faults:?}");
    browser.quit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_follow_the_database_while_the_tab_is_seen() -> Result<()> {
    let runs = [run("daily", 1, "Pending"), run("nightly", 2, "Running")];
    let Some(mut world) = World::start(&[], &runs, None).await? else { return Ok(()) };
    world.browser.go(VIEW, "tbody th a").await?;
    world.browser.says("following changes").await?;
    world.import(&run("nightly", 3, "Failed"))?;
    world.browser.says("Failed").await?;
    world.browser.has("tr.changed").await?;
    // A new one comes at its place, by namespace and name.
    world.import(&run("hourly", 4, "Pending"))?;
    world.browser.until(&format!("{NAMES} === 'daily,hourly,nightly'")).await?;
    // No watch is open for a tab that is not seen.
    world.watched(1.0).await?;
    world.browser.hide().await?;
    world.browser.says("paused while this tab is hidden").await?;
    world.watched(0.0).await?;
    world.import(&run("hourly", 7, "Hidden"))?;
    world.browser.show().await?;
    world.browser.says("Hidden").await?;
    world.watched(1.0).await?;
    // The server goes, and comes back.
    world.server.stop()?;
    world.browser.says("trying again in").await?;
    world.import(&run("hourly", 8, "Succeeded"))?;
    world.server.restart()?;
    world.browser.says("Succeeded").await?;
    world.browser.says("following changes").await?;
    // An object follows as well.
    world.browser.click("tbody th a").await?;
    world.browser.says("phase: Pending").await?;
    world.browser.says("following changes").await?;
    world.import(&run("daily", 9, "Cancelled"))?;
    world.browser.says("phase: Cancelled").await?;
    // The history has it, too.
    world.browser.says("From version 1 to 9").await?;
    world.browser.quit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn selectors_orders_and_pages_are_those_of_the_server() -> Result<()> {
    let mut runs: Vec<Json> = (1..=5).map(|number| run(&format!("m{number}"), number, "Running")).collect();
    runs.push(run("nightly", 6, "Failed"));
    let Some(World { server: _server, browser, .. }) = World::start(&[], &runs, None).await? else { return Ok(()) };
    let shows = async |expected: &str| browser.until(&format!("{NAMES} === {}", json!(expected))).await;
    browser.go(VIEW, "tbody th a").await?;
    browser.write("[name=labelSelector]", "team=pricing").await?;
    browser.press("Search").await?;
    shows("nightly").await?;
    ensure!(browser.run("return location.hash").await? == format!("{VIEW}?labelSelector=team%3Dpricing"));
    browser.picture("console-kind.png").await?;
    browser.write("[name=labelSelector]", "team!=pricing").await?;
    browser.write("[name=fieldSelector]", "spec.tries>=4").await?;
    browser.press("Search").await?;
    shows("m4,m5").await?;
    // A column orders, and once more in the other direction.
    browser.go(VIEW, "thead a[href*='order-by=tries']").await?;
    browser.click("thead a[href*='order-by=tries']").await?;
    browser.has("th[aria-sort=ascending]").await?;
    browser.click("thead a[href*='order-by=-tries']").await?;
    shows("nightly,m5,m4,m3,m2,m1").await?;
    // Pages; each has an address of its own.
    browser.go(&format!("{VIEW}?limit=4&count=true"), "tbody th a").await?;
    browser.says("4 rows, 2 more on later pages").await?;
    shows("m1,m2,m3,m4").await?;
    browser.click("a[href*='continue=']").await?;
    shows("m5,nightly").await?;
    browser.run("history.back()").await?;
    shows("m1,m2,m3,m4").await?;
    browser.is_sound(&[]).await?;
    // What the server refuses is shown as it says it.
    browser.write("[name=fieldSelector]", "spec.nothing=1").await?;
    browser.press("Search").await?;
    browser.has("[role=alert]").await?;
    browser.says("spec.nothing").await?;
    browser.is_sound(&[400]).await?;
    browser.quit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_shows_its_versions_and_what_differs_between_any_two() -> Result<()> {
    let runs = [("Pending", 2), ("Running", 3), ("Failed", 4)].map(|(phase, version)| run("nightly", version, phase));
    let Some(World { server: _server, browser, .. }) = World::start(&[], &runs, None).await? else { return Ok(()) };
    browser.go(VIEW, "tbody th a").await?;
    browser.click("tbody th a").await?;
    browser.says("From version 3 to 4").await?;
    let shows = async |expected: &str| browser.until(&format!("{CHANGED} === {}", json!(expected))).await;
    shows("- resourceVersion: \"3\"|+ resourceVersion: \"4\"|- tries: 3|+ tries: 4|- phase: Running|+ phase: Failed")
        .await?;
    // No kind has the columns that would tell of Events and owned objects: none is asked.
    let text = browser.read_text().await?;
    ensure!(!text.contains("Owned objects") && !text.contains("No Event"), "{text}");
    // A number that JavaScript would round.
    browser.says("seed: 9007199254740993").await?;
    browser.is_sound(&[]).await?;
    browser.run("document.querySelector('#history').scrollIntoView()").await?;
    browser.picture("console-history.png").await?;
    browser.click("li:last-child input[name=from]").await?;
    browser.says("From version 2 to 4").await?;
    shows("- resourceVersion: \"2\"|+ resourceVersion: \"4\"|- tries: 2|+ tries: 4|- phase: Pending|+ phase: Failed")
        .await?;
    // One of them as a view of its own, and back.
    browser.click("li:last-child a").await?;
    browser.says("As it was in version 2").await?;
    browser.until("document.querySelector('.yaml')?.innerText.includes('phase: Pending')").await?;
    browser.run("document.querySelector('.note a').click()").await?;
    browser.says("phase: Failed").await?;
    // Before it was there, the server says since when it was.
    browser.write("[name=at]", "2026-01-01").await?;
    browser.press("Show").await?;
    browser.says("404 NotFound").await?;
    browser.is_sound(&[404]).await?;
    // Blocks fold, and a search unfolds what it finds.
    browser.run("history.back()").await?;
    browser.says("phase: Failed").await?;
    browser.press("Fold").await?;
    browser.until("!document.querySelector('.yaml').innerText.includes('team: pricing')").await?;
    browser.write(".yaml input", "PRICING").await?;
    browser.says("1 of 1").await?;
    browser.until("document.querySelector('.current').innerText.includes('team: pricing')").await?;
    browser.quit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evicted_object_is_restored_after_what_would_be_created_was_shown() -> Result<()> {
    let Some(cluster) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    let client = cluster.client().await?;
    install(&client, &KINDS.iter().filter_map(Kind::crd).collect::<Vec<_>>()).await?;
    let object = model("restores", "churn", 7, &json!({"team": "pricing"}));
    let objects = [(object, Fate::Evicted)];
    let Some(World { server, browser, .. }) =
        World::start(&objects, &[run("nightly", 1, "Running")], Some(&cluster.kubeconfig())).await?
    else {
        return Ok(());
    };
    let models = kube::Api::<crd_specs::model::Model>::namespaced(client, "restores");
    browser
        .go("#/objects/michelangelo.api/v2/models/restores/churn?uid=restores-churn-7", ".restore button")
        .await
        .with_context(|| server.log())?;
    browser.press("Show what would be restored").await?;
    browser.says("nothing has changed yet").await?;
    browser.says("michelangelo/RestoredFrom: restores-churn-7").await?;
    ensure!(models.get_opt("churn").await?.is_none(), "a dry run creates nothing");
    browser.is_sound(&[]).await?;
    browser.press("Restore it into the cluster").await?;
    let mut restored = None;
    until("it is in the cluster", async || {
        restored = models.get_opt("churn").await?;
        Ok(restored.is_some())
    })
    .await?;
    // As the mirror would.
    import(server.folder(), &serde_json::to_value(restored)?)?;
    browser.says("Restored.").await?;
    browser.click(".restore .note a").await?;
    browser.has("h1 .state.live").await?;
    browser.quit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_former_version_of_an_evicted_object_is_restored_after_it_was_shown() -> Result<()> {
    let Some(cluster) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    let mut evicted = run("nightly", 4, "Failed");
    evicted["metadata"]["annotations"] = json!({
        "mirror.michelangelo.api/state": "evicted", "mirror.michelangelo.api/evicted-at": "2026-01-03T00:00:00Z",
    });
    let runs = [run("nightly", 2, "Pending"), run("nightly", 3, "Running"), evicted, run("live", 5, "Pending")];
    let Some(World { server, browser, .. }) = World::start(&[], &runs, Some(&cluster.kubeconfig())).await? else {
        return Ok(());
    };
    let of = |name: &str, more: &str| format!("#/objects/example.com/v1/runs/ml/{name}?uid=uid-{name}{more}");
    browser.go(&of("nightly", "&version=2"), ".restore button").await.with_context(|| server.log())?;
    browser.press("Show what would be restored").await?;
    browser.says("nothing has changed yet").await?;
    browser.until("document.querySelector('.restore .yaml').innerText.includes('phase: Pending')").await?;
    browser.is_sound(&[]).await?;
    browser.press("Restore this version").await?;
    browser.says("Restored.").await?;
    browser.go(&of("nightly", ""), ".yaml").await?;
    browser.until("document.querySelector('h1').innerText.includes('evicted')").await?;
    browser.until("document.querySelector('.yaml').innerText.includes('phase: Pending')").await?;
    // Nothing is restored over a live object, so that is not offered.
    browser.go(&of("live", "&version=5"), ".yaml").await?;
    ensure!(browser.run("return document.querySelector('.restore')").await?.is_null());
    browser.quit().await
}

/// A browser beside a server that authenticates its callers: the token of the reader of models in one namespace.
pub(crate) async fn without_a_token_nothing_is_shown(world: &Cluster) -> Result<()> {
    let Some(browser) = Browser::at(&world.url()).await? else { return Ok(()) };
    browser.go("", "input[type=password]").await?;
    ensure!(!browser.read_text().await?.contains("Model"), "kinds are shown to strangers");
    browser.is_sound(&[401]).await?;
    browser.write("input[type=password]", "no token").await?;
    browser.press("Use it").await?;
    browser.says("401 Unauthorized").await?;
    browser.write("input[type=password]", &world.token().await?).await?;
    browser.press("Use it").await?;
    browser.has("tbody th a").await?;
    // The list of all namespaces needs a right that the reader does not have.
    browser
        .until("[...document.querySelectorAll('tbody tr')].some((row) => row.innerText.includes('no right'))")
        .await?;
    browser.click("a[href='#/kinds/michelangelo.api/v2/models']").await?;
    browser.says("403 Forbidden").await?;
    browser.says("cannot list resource \"models\" in API group \"michelangelo.api\"").await?;
    browser.write("[name=namespace]", "ml").await?;
    browser.press("Search").await?;
    browser.until("document.querySelectorAll('tbody tr').length === 2").await?;
    // They may list, and not watch.
    browser.says("not following: models.michelangelo.api is forbidden").await?;
    browser.is_sound(&[401, 403]).await?;
    // The object may be read, and not be restored.
    browser.click("tbody th a").await?;
    browser.says("You may not restore it: the right to create and delete models is missing.").await?;
    // The token is gone with the page.
    browser.go("", "input[type=password]").await?;
    browser.quit().await
}

/// `ingester ui` beside the same server: its page has the rights of the kubeconfig's user, and nothing without its secret.
pub(crate) async fn a_proxy_lends_its_users_credentials_to_its_page(world: &Cluster) -> Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ingester"));
    command.args(["ui", "--kubeconfig"]).arg(world.kubeconfig().await?);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut proxy = Process(command.spawn()?);
    let mut address = String::new();
    BufReader::new(proxy.0.stdout.take().context("its output")?).read_line(&mut address)?;
    let (url, secret) = address.trim().split_once("/ui/#secret=").context(address.clone())?;
    let Some(browser) = Browser::at(url).await? else { return Ok(()) };
    // Without the secret.
    browser.go("", "input[type=password]").await?;
    browser.is_sound(&[401]).await?;
    browser.go(&format!("#secret={secret}"), "a[href='#/kinds/michelangelo.api/v2/models']").await?;
    ensure!(browser.run("return location.hash").await? == "#/", "the secret stays in the address");
    browser.run("location.hash = '#/kinds/michelangelo.api/v2/models?namespace=ml'").await?;
    browser.until("document.querySelectorAll('tbody tr').length === 2").await?;
    browser.run("location.hash = '#/kinds/michelangelo.api/v2/models'").await?;
    browser.says("cannot list resource \"models\" in API group \"michelangelo.api\"").await?;
    // What changes something is not passed on.
    let post = format!(
        "return fetch('/apis/michelangelo.api/v2/namespaces/ml/models/one/restore', \
         {{ method: 'POST', headers: {{ Authorization: 'Bearer {secret}' }} }}).then((answer) => answer.json())"
    );
    let refused = browser.run(&post).await?;
    ensure!(refused["code"] == 403 && refused["message"].to_string().contains("--write"), "{refused}");
    browser.quit().await
}
