//! Clients behind a proxy that ends each watch after one event.

use crate::beside::follow;
use crate::server::{Fate, kubeconfig};
use crate::watch::{RunningClient, World, python, until};
use anyhow::{Context as _, Result, ensure};
use crd_specs::model::Model;
use ingester_tests::databases::Database;
use ingester_tests::on_databases;
use kube::ResourceExt as _;
use kube::api::{Api, ListParams};
use kube::runtime::watcher;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

// The events are the same on every database: one without and one with servers.
on_databases! { (nothing_is_lost_by_clients_whose_connections_end_after_every_event) [sqlite Sqlite] [postgres Postgres] }

/// The changes.
const CHANGES: u64 = 220;

/// A proxy that passes on one event of each watch, and then ends the connection.
struct Cutter {
    url: String,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    async fn before(server: &str) -> Result<Self> {
        let server = server.strip_prefix("http://").context("an address")?.to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let cutter = Cutter { url: format!("http://{}", listener.local_addr()?), cuts: Arc::default() };
        let cuts = cutter.cuts.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = server.clone();
                let cuts = cuts.clone();
                tokio::spawn(async move { pass(client, &server, &cuts).await });
            }
        });
        Ok(cutter)
    }
}

/// Reads until the text has such an end, and takes the text up to there.
async fn take(stream: &mut TcpStream, read: &mut Vec<u8>, end: impl Fn(&[u8]) -> Option<usize>) -> Result<Vec<u8>> {
    loop {
        if let Some(end) = end(read) {
            return Ok(read.drain(..end).collect());
        }
        ensure!(stream.read_buf(read).await? > 0, "it ended");
    }
}

/// The end of this text.
fn behind(text: &'static [u8]) -> impl Fn(&[u8]) -> Option<usize> {
    move |read| read.windows(text.len()).position(|window| window == text).map(|at| at + text.len())
}

/// Passes on one request without a body, and its answer.
async fn pass(mut client: TcpStream, server: &str, cuts: &AtomicUsize) -> Result<()> {
    let mut server = TcpStream::connect(server).await?;
    let request = take(&mut client, &mut Vec::new(), behind(b"\r\n\r\n")).await?;
    let request = String::from_utf8(request)?.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    server.write_all(request.as_bytes()).await?;
    let line = request.lines().next().unwrap_or_default().to_lowercase();
    if !line.contains("watch=true") && !line.contains("watch=1") {
        tokio::io::copy(&mut server, &mut client).await?;
        return Ok(());
    }
    let mut read = Vec::new();
    let head = take(&mut server, &mut read, behind(b"\r\n\r\n")).await?;
    client.write_all(&head).await?;
    let mut event = Vec::new();
    while !event.ends_with(b"\n") {
        let size = take(&mut server, &mut read, behind(b"\r\n")).await?;
        let size = usize::from_str_radix(std::str::from_utf8(&size)?.trim(), 16)?;
        ensure!(size > 0, "the watch has ended by itself");
        let chunk = take(&mut server, &mut read, |read| (read.len() >= size + 2).then_some(size + 2)).await?;
        // One event per chunk, otherwise the next one would be cut off.
        event.extend_from_slice(&chunk[..size]);
    }
    let events = event.iter().filter(|byte| **byte == b'\n').count();
    ensure!(events == 1, "{events} events in a chunk");
    cuts.fetch_add(1, Ordering::SeqCst);
    client.write_all(format!("{:x}\r\n", event.len()).as_bytes()).await?;
    client.write_all(&event).await?;
    client.write_all(b"\r\n").await?;
    Ok(())
}

async fn nothing_is_lost_by_clients_whose_connections_end_after_every_event(database: Database) -> Result<()> {
    let world = World::start(&database).await?;
    for n in 0..3 {
        world.write(&format!("old-{n}"), n + 1, &json!({}), Fate::Live).await?;
    }
    let cutters = [Cutter::before(&world.server.url).await?, Cutter::before(&world.server.url).await?];
    let models = |url: &str| -> Result<Api<Model>> {
        let mut config = kube::Config::new(url.parse()?);
        config.default_retry = false;
        Ok(Api::namespaced(kube::Client::try_from(config)?, "ml"))
    };
    let by_kube = follow(models(&cutters[0].url)?, watcher::Config::default());
    let path = world.server.folder().join("cutter");
    std::fs::write(&path, kubeconfig(&cutters[1].url))?;
    let by_python = RunningClient::start(&mut python(&path), world.server.folder().join("python"))?;
    let lines = || -> Result<[Vec<String>; 2]> { Ok([by_kube.lines()?, by_python.lines()?]) };
    let have = |text: &str| lines().map(|lines| lines.iter().all(|lines| lines.iter().any(|line| line.contains(text))));
    until("both to list", async || have("SYNCED")).await?;

    for version in 100..100 + CHANGES {
        let (name, fate) = match version % 4 {
            // Every change of these must be reported.
            0 | 1 => (format!("new-{version}"), Fate::Live),
            // These change again and again.
            2 => (format!("old-{}", version % 3), Fate::Live),
            _ => (format!("new-{}", version - 3), if version % 8 == 3 { Fate::Deleted } else { Fate::Evicted }),
        };
        world.write(&name, version, &json!({"version": version.to_string()}), fate).await?;
    }
    world.write("last", 1000, &json!({}), Fate::Live).await?;
    until("both to be told of the last change", async || have(" last ")).await?;

    let listed = models(&world.server.url)?.list(&ListParams::default()).await?;
    let rows: BTreeMap<String, u64> = listed
        .iter()
        .map(|model| Ok((model.name_any(), model.resource_version().context("a version")?.parse()?)))
        .collect::<Result<_>>()?;
    for (lines, cutter) in lines()?.iter().zip(&cutters) {
        agrees(lines, &rows)?;
        let told = lines.iter().skip_while(|line| *line != "SYNCED").count() - 1;
        ensure!(u64::try_from(told)? > CHANGES / 2, "{told} events");
        ensure!(cutter.cuts.load(Ordering::SeqCst) >= told, "a connection had two events");
    }
    Ok(())
}

/// Checks that a client listed once, received the changes of every object in order, and ends with the present objects.
fn agrees(lines: &[String], rows: &BTreeMap<String, u64>) -> Result<()> {
    let mut known = BTreeMap::new();
    let mut last = 0;
    let mut names = std::collections::BTreeSet::new();
    for line in lines {
        let [what, name, version] = line.split(' ').collect::<Vec<_>>()[..] else {
            ensure!(line == "SYNCED", "{line}");
            continue;
        };
        let version: u64 = version.parse()?;
        names.insert(name.to_owned());
        match what {
            "LISTED" => {}
            _ if version <= last => anyhow::bail!("{line} comes behind {last}: {lines:#?}"),
            _ => last = version,
        }
        match what {
            "DELETED" => drop(known.remove(name)),
            _ => drop(known.insert(name.to_owned(), version)),
        }
    }
    assert_eq!(lines.iter().filter(|line| *line == "SYNCED").count(), 1, "it has listed again");
    assert_eq!(known, *rows);
    for version in (100..100 + CHANGES).filter(|version| version % 4 < 2) {
        // An object that was deleted before it was read is reported as deleted.
        ensure!(names.contains(&format!("new-{version}")), "it was not told of new-{version}: {lines:#?}");
    }
    Ok(())
}
