//! What the console shows of counts, units, policies and rejects.

use super::{World, run};
use crate::server::{Fate, model};
use anyhow::{Context as _, Result, ensure};
use crd_specs::KINDS;
use ingester_store::units::{RuleRecord, UnitPhase, UnitRecord};
use ingester_store::{ConnectOptions, Reject, Store};
use serde_json::{Value as Json, json};

/// How many requests for counts the page has sent.
pub(super) const COUNTS: &str =
    "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/counts')).length";

#[tokio::test(flavor = "multi_thread")]
async fn units_policies_and_rejects_are_shown_and_rejects_counted_by_kind() -> Result<()> {
    let Some(World { server, browser, .. }) = World::start(&[], &[run("nightly", 1, "Running")], None).await? else {
        return Ok(());
    };
    browser.go("#/mirror", "main table").await?;
    browser.says("0 rejects").await?;
    let reject = |uid: &str, (group_ver, kind): (&str, &str), reason: &str| Reject {
        uid: uid.to_owned(),
        group_ver: group_ver.to_owned(),
        kind: kind.to_owned(),
        namespace: "ml".to_owned(),
        name: format!("name-{uid}"),
        res_version: "7".to_owned(),
        reason: reason.to_owned(),
    };
    let address = format!("sqlite://{}", server.folder().join("objects.db").display()).parse()?;
    let store = Store::connect(&address, ConnectOptions::default()).await?;
    let rejects = [
        reject(
            "a",
            ("michelangelo.api/v2", "Model"),
            "spec.description: it has 900 characters, and the column `description` takes 768",
        ),
        reject("b", ("example.com/v1", "Run"), "<b>status</b>.phase: \u{202e}a list is not a text"),
    ];
    store.record_rejects(&rejects).await?;
    record_units(&store).await?;
    browser.press("Load again").await?;
    browser.says("3 units").await?;
    let rows = "return [...document.querySelectorAll('[aria-label=Units] tbody tr')]\
                .map((row) => row.innerText.replace(/\\s+/g, ' ').replace(/ 20.*/, '').trim())";
    let expected = json!([
        "Model michelangelo.api lab part 1/2 <b>pod</b>/7 listing 12 s 340 1,900 0 0 none",
        "Model michelangelo.api ml ingester-1/9 synced stale 0 s 0 12,480 1 1 2 differences,",
        "Project michelangelo.api all ingester-0/7 suspended 0 s 0 31 0 0 none",
    ]);
    let shown = browser.run(rows).await?;
    ensure!(shown == expected, "{shown}");
    ensure!(browser.run("return document.querySelectorAll('tr.stale').length").await? == 1);
    browser.says("2 policies").await?;
    browser.says("finished").await?;
    browser.says("dry run").await?;
    browser.says("2 rejects").await?;
    browser.says("takes 768").await?;
    browser.says("<b>status</b>.phase: \\u202ea list").await?;
    // What is not known in SQL is not shown, but where it is.
    browser.says("ingester_sync_lag_seconds").await?;
    browser.is_sound(&[]).await?;
    browser.picture("console-mirror.png").await?;
    browser.go("", "a[aria-label='1 rejects']").await?;
    browser.click("a[href='#/mirror?kind=Run']").await?;
    browser.says("1 reject").await?;
    let text = browser.read_text().await?;
    ensure!(!text.contains("takes 768") && text.contains("0 units"), "that is of other kinds");
    browser.quit().await
}

/// Three units, one of a process that was killed, and two rules.
async fn record_units(store: &Store) -> Result<()> {
    let now = store.now().0 / 1_000_000;
    let kind = |name: &str| KINDS.iter().find(|kind| kind.kind() == name).context("a kind");
    let unit = |ago: i64, phase: UnitPhase, (namespace, shard): (&str, &str), member: &str| UnitRecord {
        heartbeat: now - ago,
        phase,
        lag: 0,
        waiting: 0,
        live: 31,
        held: 0,
        rejected: 0,
        audit: None,
        namespace: namespace.to_owned(),
        shard: shard.to_owned(),
        member: member.to_owned(),
    };
    let listing = unit(2, UnitPhase::Listing, ("lab", "1/2"), "<b>pod</b>/7");
    let listing = UnitRecord { lag: 12, waiting: 340, live: 1900, ..listing };
    store.record_unit(kind("Model")?, "Model in lab 1/2", &listing).await?;
    let stale = unit(400, UnitPhase::Synced, ("ml", ""), "ingester-1/9");
    let stale = UnitRecord { live: 12_480, held: 1, rejected: 1, audit: Some((now - 3600, 2)), ..stale };
    store.record_unit(kind("Model")?, "Model in ml", &stale).await?;
    let suspended = unit(9, UnitPhase::Suspended, ("", ""), "ingester-0/7");
    store.record_unit(kind("Project")?, "Project", &suspended).await?;
    for (rule, enforced, moved) in [("finished", true, 40), ("older-than-a-year", false, 0)] {
        let matches = 52;
        let waiting = if enforced { 12 } else { 0 };
        let rule =
            RuleRecord { time: now - 20, enforced, judged: true, matches, waiting, moved, rule: rule.to_owned() };
        store.record_rule(kind("Model")?, "Model in ml", &rule).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_over_time_are_a_plot_and_a_table() -> Result<()> {
    let objects: Vec<(Json, Fate)> = (1..=12)
        .map(|number| {
            let mut object = model("ml", &format!("m{number}"), number, &json!({}));
            object["metadata"]["creationTimestamp"] = json!(format!("2026-{:02}-02T00:00:00Z", number / 2 + 1));
            (
                object,
                if number % 4 == 0 {
                    Fate::Evicted
                } else if number % 5 == 0 {
                    Fate::Deleted
                } else {
                    Fate::Live
                },
            )
        })
        .collect();
    let Some(World { server: _server, browser, .. }) =
        World::start(&objects, &[run("nightly", 1, "Running")], None).await?
    else {
        return Ok(());
    };
    browser.go("#/kinds/michelangelo.api/v2/models", "tbody th a").await?;
    ensure!(browser.run(COUNTS).await? == 0, "nothing is counted before it is wanted");
    browser.click(".over-time > summary").await?;
    browser.has(".plot polyline.deleted").await?;
    let span = "const select = document.querySelector('.over-time select'); select.value = '365d'; \
                select.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.run(span).await?;
    browser
        .until("document.querySelector('.plot title').textContent === 'Model objects by state, the last 365d'")
        .await?;
    browser
        .until("document.querySelector('.plot desc').textContent.includes('evicted from 0 to 3, deleted from 0 to 2')")
        .await?;
    browser.is_sound(&[]).await?;
    browser.picture("console-plot.png").await?;
    browser.click(".over-time details summary").await?;
    browser.until("document.querySelectorAll('.over-time tbody tr').length === 60").await?;
    browser.until("document.querySelector('.over-time tbody tr:last-child').innerText.replace(/\\s+/g, ' ').endsWith(' 7 3 2')").await?;
    browser.is_sound(&[]).await?;
    browser.quit().await
}
