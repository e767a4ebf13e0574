//! An object whose texts are as bad as a user of the cluster can make them.

use super::{VIEW, World, run};
use anyhow::{Result, ensure};
use serde_json::{Value as Json, json};

/// Elements, scripts, entities, templates, and characters that cannot be seen or that change what is seen.
const TEXT: &str = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script></pre>\
                    '\"&lt;${7*7}\u{202e}gnp\u{0}\u{7}\u{200b}";

/// How many elements an object has put into the page.
const ELEMENTS: &str = "return document.querySelectorAll('main :is(script, img, iframe, pre, b, i, object, u)').length";

fn hostile(version: u64) -> Json {
    let mut object = run("hostile", version, "Running");
    object["metadata"]["annotations"] = json!({"example.com/note": TEXT});
    object["metadata"]["ownerReferences"] = json!([
        {"apiVersion": TEXT, "kind": TEXT, "name": TEXT, "uid": TEXT},
        {"apiVersion": "example.com/v1", "kind": "Run", "name": "../../../#<script>?x=y", "uid": TEXT},
    ]);
    object["status"]["phase"] = TEXT[..62].into();
    let lines: Vec<String> = (0..5000).map(|line| format!("<b>{line}</b>")).collect();
    object["spec"] = json!({
        "tries": version, TEXT: TEXT, "__proto__": {"a": TEXT}, "constructor": TEXT, "type": "script", "props": {"src": "x"},
        "dangerouslySetInnerHTML": {"__html": TEXT}, "key": "k", "ref": {"current": TEXT},
        "large": format!("<i>{}", "A".repeat(1 << 20)), "lines": lines.join("\n"), "list": [TEXT, [TEXT], {TEXT: [TEXT]}],
    });
    object
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_object_is_text_everywhere() -> Result<()> {
    let Some(world) = World::start(&[], &[hostile(1), hostile(2)], None).await? else { return Ok(()) };
    let browser = &world.browser;
    let is_text = async || -> Result<()> {
        let found = browser.run(ELEMENTS).await?;
        ensure!(found == 0, "{found} elements of the object");
        let title = browser.run("return document.title").await?;
        ensure!(!title.to_string().contains("hacked"), "{title}");
        Ok(())
    };
    browser.go(VIEW, "tbody th a").await?;
    browser.says("<img src=x onerror=").await?;
    is_text().await?;
    browser.is_sound(&[]).await?;
    browser.click("tbody th a").await?;
    browser.says("From version 1 to 2").await?;
    for shown in
        ["&lt;${7*7}\\u202egnp\\u0000\\u0007\\u200b", "__html: \"<img src=x", "1,046,", "characters more", "<b>10</b>"]
    {
        browser.says(shown).await?;
    }
    is_text().await?;
    browser.is_sound(&[]).await?;
    // All of it.
    browser.click(".yaml .line > button:not(.fold)").await?;
    browser.until("document.querySelector('.yaml').textContent.length > 1048576").await?;
    is_text().await?;
    // A search for what is beyond the shown lines.
    browser.write(".yaml input", "<b>4999</b>").await?;
    browser.until("document.querySelector('.current')?.textContent.includes('<b>4999</b>')").await?;
    // The page goes on: it shows the next version.
    world.import(&hostile(3))?;
    browser.says("From version 2 to 3").await?;
    is_text().await?;
    world.browser.quit().await
}
