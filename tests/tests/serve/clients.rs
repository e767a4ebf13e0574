//! Clients in Rust and Python.

use crate::server::{Fate, Server, model};
use anyhow::{Result, ensure};
use crd_specs::model::Model;
use futures::StreamExt as _;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::runtime::watcher::{self, Event, ListSemantic};
use kube::{ResourceExt as _, runtime};
use serde_json::{Value as Json, json};
use std::process::Command;
use std::time::Duration;

fn many(count: u64) -> Vec<(Json, Fate)> {
    (0..count)
        .map(|n| {
            (
                model("ml", &format!("m-{n:04}"), n + 1, &json!({"n": (n % 7).to_string()})),
                if n % 2 == 0 { Fate::Live } else { Fate::Evicted },
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn kube_lists_watches_and_changes() -> Result<()> {
    let server = Server::start(&many(1200)).await?;
    let client = server.client()?;
    let models: Api<Model> = Api::namespaced(client.clone(), "ml");
    assert_eq!(models.list(&ListParams::default()).await?.items.len(), 1200, "without a limit all of them");
    let mut names = Vec::new();
    let mut token = None::<String>;
    loop {
        let mut page = ListParams::default().labels("n=3").limit(50);
        page.continue_token = token.take();
        let list = models.list(&page).await?;
        ensure!(list.items.len() <= 50);
        names.extend(list.items.iter().map(|model| model.name_any()));
        token = list.metadata.continue_.filter(|token| !token.is_empty());
        if token.is_none() {
            break;
        }
    }
    let expected: Vec<String> = (0..1200).filter(|n| n % 7 == 3).map(|n| format!("m-{n:04}")).collect();
    assert_eq!(names, expected);

    let most_recent = watcher::Config { list_semantic: ListSemantic::MostRecent, ..watcher::Config::default() };
    for config in [most_recent, watcher::Config::default().streaming_lists()] {
        let (reader, writer) = runtime::reflector::store();
        let events = runtime::reflector(writer, watcher::watcher(models.clone(), config));
        tokio::pin!(events);
        let all = async {
            while let Some(event) = events.next().await {
                if let Event::InitDone = event? {
                    return Ok::<_, anyhow::Error>(());
                }
            }
            anyhow::bail!("it ended")
        };
        tokio::time::timeout(Duration::from_secs(60), all).await??;
        assert_eq!(reader.len(), 1200);
    }

    let patch = Patch::Merge(json!({"metadata": {"labels": {"mark": "yes"}}}));
    let patched = models.patch("m-0001", &PatchParams::default(), &patch).await?;
    assert_eq!(patched.labels()["mark"], "yes");
    let applied = models
        .patch(
            "m-0001",
            &PatchParams::apply("test"),
            &Patch::Apply(json!({"apiVersion": "michelangelo.api/v2", "kind": "Model"})),
        )
        .await;
    assert!(matches!(&applied, Err(kube::Error::Api(status)) if status.code == 415), "{applied:?}");
    models.delete("m-0001", &DeleteParams::default()).await?;
    let gone = models.get("m-0001").await;
    assert!(
        matches!(&gone, Err(kube::Error::Api(status)) if status.code == 404 && status.reason == "NotFound"),
        "{gone:?}"
    );
    // A live object belongs to the cluster.
    let live = models.delete("m-0002", &DeleteParams::default()).await;
    assert!(matches!(&live, Err(kube::Error::Api(status)) if status.code == 405), "{live:?}");
    let metadata: Api<kube::core::PartialObjectMeta<Model>> = Api::namespaced(client, "ml");
    let listed = models.list_metadata(&ListParams::default().labels("n=5").limit(3)).await?;
    assert_eq!(listed.items.len(), 3);
    drop(metadata);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pythons_client_lists_pages_and_deletes_collections() -> Result<()> {
    let server = Server::start(&many(40)).await?;
    let output = Command::new("/usr/bin/python3")
        .args(["-c", include_str!("client.py"), &server.url])
        .env("NO_PROXY", "127.0.0.1")
        .output()?;
    let out = String::from_utf8(output.stdout)?;
    let err = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{out}{err}");
    let answer: Json = serde_json::from_str(&out)?;
    let names = |of: &dyn Fn(u64) -> bool| (0..40).filter(|n| of(*n)).map(|n| format!("m-{n:04}")).collect::<Vec<_>>();
    assert_eq!(answer["all"], json!(names(&|_| true)));
    assert_eq!(answer["selected"], json!(names(&|n| n % 7 == 2)));
    assert_eq!(answer["pages"], json!([15, 15, 10]));
    // The live ones of these belong to the cluster.
    assert_eq!(answer["left"], json!(names(&|n| n % 7 != 3 || n % 2 == 0)));
    assert_eq!(answer["missing"], json!([404, "NotFound"]));
    Ok(())
}
