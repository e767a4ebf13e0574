//! What is mirrored beside an object: its Events, and the objects that it owns.

use super::{World, run};
use anyhow::{Result, ensure};
use serde_json::{Value as Json, json};

/// Events and steps with the columns by which the console finds them.
const KINDS: &str = "
- group: ''
  version: v1
  kind: Event
  namespaced: true
  columns:
  - {column: involved_uid, path: .involvedObject.uid, type: VARCHAR(64)}
- group: example.com
  version: v1
  kind: Step
  namespaced: true
  columns:
  - {column: owner_uid, path: '.metadata.ownerReferences[*].uid', many: true, type: VARCHAR(64)}
";

/// Elements, and characters that cannot be seen or that change what is seen.
const MESSAGE: &str =
    "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>\u{202e}gnp\u{0}\u{7}";

fn event(name: &str, about: &str, minute: u32, message: &str) -> Json {
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {
            "namespace": "ml", "name": name, "uid": format!("uid-{name}"), "resourceVersion": minute.to_string(),
            "creationTimestamp": format!("2026-01-02T03:{minute:02}:00Z"),
        },
        "involvedObject": {"apiVersion": "example.com/v1", "kind": "Run", "namespace": "ml", "name": about, "uid": format!("uid-{about}")},
        "type": "Warning", "reason": format!("Reason-{name}"), "message": message, "count": minute,
        "lastTimestamp": format!("2026-01-02T04:{minute:02}:00Z"),
    })
}

fn step(name: &str, owners: &[&str]) -> Json {
    let owner = |owner: &&str| json!({"apiVersion": "example.com/v1", "kind": "Run", "name": owner, "uid": format!("uid-{owner}")});
    json!({
        "apiVersion": "example.com/v1", "kind": "Step",
        "metadata": {
            "namespace": "ml", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "5",
            "ownerReferences": owners.iter().map(owner).collect::<Vec<_>>(),
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_shows_its_events_and_the_objects_that_it_owns() -> Result<()> {
    let objects = [
        run("nightly", 2, "Running"),
        run("daily", 3, "Running"),
        event("first", "nightly", 10, MESSAGE),
        event("last", "nightly", 20, "no node has a GPU"),
        event("other", "daily", 30, "of another object"),
        step("prepare", &["nightly"]),
        step("train", &["daily", "nightly"]),
        step("alone", &[]),
    ];
    let Some(world) = World::start_of(KINDS, &[], &objects, None).await? else { return Ok(()) };
    let browser = &world.browser;
    browser.go("#/objects/example.com/v1/runs/ml/nightly", "[aria-label='Owned objects'] tbody tr").await?;
    browser.has("[aria-label=Events] tbody tr").await?;
    let cells = "[...row.children].map((cell) => cell.innerText.replace(/\\s*\\(.*/, '')).join(' | ')";
    let rows = async |list: &str| {
        browser
            .run(&format!(
                "return [...document.querySelectorAll('[aria-label=\"{list}\"] tbody tr')].map((row) => {cells})"
            ))
            .await
    };
    let shown = rows("Events").await?;
    let hostile = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>\\u202egnp\\u0000\\u0007";
    let expected = json!([
        "Warning | Reason-last | no node has a GPU | 20 | 2026-01-02T04:20:00Z",
        format!("Warning | Reason-first | {hostile} | 10 | 2026-01-02T04:10:00Z"),
    ]);
    ensure!(shown == expected, "{shown}");
    let shown = rows("Owned objects").await?;
    ensure!(shown == json!(["Step | ml | prepare | live", "Step | ml | train | live"]), "{shown}");
    let title = browser.run("return document.title").await?;
    ensure!(!title.to_string().contains("hacked"), "{title}");
    browser.is_sound(&[]).await?;
    // A link leads to what is owned, which owns nothing itself.
    browser.click("[aria-label='Owned objects'] tbody tr:last-child a").await?;
    browser.says("It owns no object that is in SQL.").await?;
    browser.says("No Event about this object is in SQL.").await?;
    browser.says("kind: Step").await?;
    browser.is_sound(&[]).await?;
    world.browser.quit().await
}
