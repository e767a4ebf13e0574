//! A browser with a page of the console, and what holds for each of its views.

use crate::watch::until;
use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use ingester_tests::ChromeDriver;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Finds what people who use a keyboard or a screen reader could not use.
const AXE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/axe/axe.min.js"));

/// Runs it on the page, and leaves what it finds.
const RUN_AXE: &str = "window.found = null; axe.run({ resultTypes: ['violations'] }).then(({ violations }) => {
    const fault = ({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0].html} ${nodes[0].failureSummary}`;
    window.found = violations.map(fault);
})";

/// The origins of all that the page has loaded.
const ORIGINS: &str = "return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).origin)";

/// The pictures of the documentation.
const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/images");

/// A browser with one tab, and its end of WebDriver (W3C), which is JSON over HTTP. The crates for it change how `serde_json` orders fields, in every test
/// of the workspace.
pub(crate) struct Browser {
    client: Client<HttpConnector, Full<Bytes>>,
    /// The address of the session's commands.
    session: String,
    /// Where the console is.
    url: String,
    _chrome: ChromeDriver,
}

/// How an element is found.
#[derive(Clone, Copy, Debug)]
enum ElementQuery<'a> {
    Css(&'a str),
    XPath(&'a str),
}

/// A command of WebDriver.
async fn command(
    client: &Client<HttpConnector, Full<Bytes>>,
    method: Method,
    url: &str,
    parameters: Option<&Json>,
) -> Result<Json> {
    let body = parameters.map_or_else(Full::default, |parameters| Full::from(parameters.to_string()));
    let request = Request::builder().method(method).uri(url).header("content-type", "application/json").body(body)?;
    let answer = client.request(request).await?.into_body().collect().await?.to_bytes();
    let mut answer: Json = serde_json::from_slice(&answer)?;
    if let Some(error) = answer["value"]["error"].as_str() {
        bail!("{url}: {error}: {}", answer["value"]["message"]);
    }
    Ok(answer["value"].take())
}

impl Browser {
    /// A browser at the console of this server; `None`, after a message, if it is not installed.
    pub(crate) async fn at(server: &str) -> Result<Option<Self>> {
        let Some(chrome) = ChromeDriver::start()? else { return Ok(None) };
        // Its sandbox needs another user than root, and the pages are our own.
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,800"];
        let wanted = json!({
            "browserName": "chrome",
            // The authorities of tests are their own.
            "acceptInsecureCerts": true,
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments},
        });
        let client = Client::builder(TokioExecutor::new()).build_http();
        let sessions = format!("{}/session", chrome.url());
        let wanted = json!({"capabilities": {"alwaysMatch": wanted}});
        let made = command(&client, Method::POST, &sessions, Some(&wanted)).await?;
        let session = format!("{sessions}/{}", made["sessionId"].as_str().context("a session")?);
        Ok(Some(Browser { client, session, url: format!("{server}/ui/"), _chrome: chrome }))
    }

    /// Ends it.
    pub(crate) async fn quit(self) -> Result<()> {
        command(&self.client, Method::DELETE, &self.session, None).await.map(drop)
    }

    /// A command of its session.
    async fn post(&self, path: &str, parameters: &Json) -> Result<Json> {
        command(&self.client, Method::POST, &format!("{}/{path}", self.session), Some(parameters)).await
    }

    /// The path of the commands of an element.
    async fn element(&self, by: ElementQuery<'_>) -> Result<String> {
        let (using, value) = match by {
            ElementQuery::Css(value) => ("css selector", value),
            ElementQuery::XPath(value) => ("xpath", value),
        };
        let found = self.post("element", &json!({"using": using, "value": value})).await?;
        let id = found.as_object().and_then(|found| found.values().next()?.as_str()).context("an element")?;
        Ok(format!("element/{id}"))
    }

    /// Goes to a view, and waits for this element.
    pub(crate) async fn go(&self, view: &str, element: &str) -> Result<()> {
        // The same address with another view would not be loaded.
        self.post("url", &json!({"url": "about:blank"})).await?;
        self.post("url", &json!({"url": format!("{}{view}", self.url)})).await?;
        self.has(element).await
    }

    /// Runs a script.
    pub(crate) async fn run(&self, script: &str) -> Result<Json> {
        self.post("execute/sync", &json!({"script": script, "args": []})).await
    }

    /// The text of the page, as people see it.
    pub(crate) async fn read_text(&self) -> Result<String> {
        let text = self.run("return document.body.innerText").await?;
        Ok(text.as_str().context("a text")?.to_owned())
    }

    /// Waits until an expression of JavaScript is true.
    pub(crate) async fn until(&self, expression: &str) -> Result<()> {
        let script = format!("return Boolean({expression})");
        let waited = until(expression, async || Ok(self.run(&script).await? == json!(true))).await;
        match waited {
            Err(error) => Err(error.context(format!("the page has\n{}", self.read_text().await?))),
            Ok(()) => Ok(()),
        }
    }

    /// Waits for an element.
    pub(crate) async fn has(&self, element: &str) -> Result<()> {
        self.until(&format!("document.querySelector({})", json!(element))).await
    }

    /// Waits until the page shows a text.
    pub(crate) async fn says(&self, text: &str) -> Result<()> {
        self.until(&format!("document.body.innerText.includes({})", json!(text))).await
    }

    /// Clicks on an element.
    pub(crate) async fn click(&self, element: &str) -> Result<()> {
        self.click_on(ElementQuery::Css(element)).await
    }

    /// Clicks on the button with this text.
    pub(crate) async fn press(&self, button: &str) -> Result<()> {
        self.click_on(ElementQuery::XPath(&format!("//button[normalize-space()={button:?}]"))).await
    }

    /// Clicks on it once it is there. A page that changes meanwhile may take it away.
    async fn click_on(&self, by: ElementQuery<'_>) -> Result<()> {
        let mut last = None;
        let click = async || {
            let clicked = async { self.post(&format!("{}/click", self.element(by).await?), &json!({})).await }.await;
            last = clicked.err();
            Ok(last.is_none())
        };
        match until(&format!("a click on {by:?}"), click).await {
            Err(error) => {
                Err(last.unwrap_or(error).context(format!("{by:?}: the page has\n{}", self.read_text().await?)))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Types into an empty field.
    pub(crate) async fn write(&self, field: &str, text: &str) -> Result<()> {
        self.has(field).await?;
        let field = self.element(ElementQuery::Css(field)).await?;
        self.post(&format!("{field}/clear"), &json!({})).await?;
        self.post(&format!("{field}/value"), &json!({"text": text})).await.map(drop)
    }

    /// Hides the tab.
    pub(crate) async fn hide(&self) -> Result<()> {
        self.post("window/minimize", &json!({})).await.map(drop)
    }

    /// Shows it again.
    pub(crate) async fn show(&self) -> Result<()> {
        self.post("window/rect", &json!({"width": 1280, "height": 800})).await.map(drop)
    }

    /// A command of Chromium's own protocol.
    pub(crate) async fn chromium(&self, command: &str, parameters: Json) -> Result<()> {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters})).await.map(drop)
    }

    /// What holds for every view: everyone can use it, light and dark, on a small screen and a large one; the console has no error but
    /// answers with these codes; nothing was loaded from elsewhere.
    pub(crate) async fn is_sound(&self, codes: &[u16]) -> Result<()> {
        for scheme in ["light", "dark"] {
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            self.chromium("Emulation.setEmulatedMedia", media).await?;
            let faults = self.faults().await?;
            ensure!(faults.is_empty(), "{scheme}: {}", faults.join("\n"));
        }
        self.chromium("Emulation.setEmulatedMedia", json!({"features": []})).await?;
        for width in [320, 2560] {
            let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
            self.chromium("Emulation.setDeviceMetricsOverride", size).await?;
            let beyond = self.run("return document.documentElement.scrollWidth - innerWidth").await?;
            ensure!(beyond.as_i64().is_some_and(|beyond| beyond <= 0), "{beyond} pixels beyond a width of {width}");
        }
        self.chromium("Emulation.clearDeviceMetricsOverride", json!({})).await?;
        let from = self.run(ORIGINS).await?;
        let own = self.run("return location.origin").await?;
        let from = from.as_array().context("a list")?;
        ensure!(!from.is_empty() && from.iter().all(|origin| *origin == own), "beside {own}: {from:?}");
        let log = self.post("se/log", &json!({"type": "browser"})).await?;
        for entry in log.as_array().context("a log")? {
            let message = entry["message"].as_str().context("a message")?;
            let is_expected = codes.iter().any(|code| message.contains(&format!("with a status of {code} ")));
            ensure!(is_expected, "{entry}");
        }
        Ok(())
    }

    /// What axe-core finds.
    pub(crate) async fn faults(&self) -> Result<Vec<String>> {
        self.run(&format!("if (!window.axe) {{ {AXE} }}")).await?;
        self.run(RUN_AXE).await?;
        self.until("window.found").await?;
        let found = self.run("return window.found").await?;
        Ok(serde_json::from_value(found)?)
    }

    /// Writes a picture of the window for the documentation, if the environment asks for it.
    pub(crate) async fn picture(&self, name: &str) -> Result<()> {
        if std::env::var_os("INGESTER_UPDATE").is_none() {
            return Ok(());
        }
        std::fs::create_dir_all(PICTURES)?;
        let picture = command(&self.client, Method::GET, &format!("{}/screenshot", self.session), None).await?;
        let picture = STANDARD.decode(picture.as_str().context("a picture")?)?;
        Ok(std::fs::write(Path::new(PICTURES).join(name), picture)?)
    }
}
