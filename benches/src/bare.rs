//! The least that a reader of the API server can do: it receives the bytes, and finds where they end. The baselines of lists and
//! watches.

use anyhow::{Context as _, Result, ensure};
use futures::{AsyncBufRead, AsyncBufReadExt as _};
use kube::Client;
use serde_json::Value;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How objects are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadMethod {
    /// Page by page, with this encoding.
    Paged(&'static str),
    /// As a streamed list.
    Stream,
    /// As a streamed list of metadata.
    Metadata,
}

/// The time and the bytes of reading all objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadCost {
    pub(crate) took: Duration,
    pub(crate) bytes: usize,
}

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// How many of the latest bytes are kept: more than the bookmark has, which is the last line of a streamed list.
const TAIL: usize = 1024;

/// Reads all objects of several kinds at the same time.
pub(crate) async fn read(client: &Client, paths: &[String], how: ReadMethod) -> Result<ReadCost> {
    let start = Instant::now();
    let mut reading = JoinSet::new();
    for path in paths {
        let client = client.clone();
        let path = path.clone();
        reading.spawn(async move {
            match how {
                ReadMethod::Paged(encoding) => paged(&client, &path, encoding).await,
                ReadMethod::Stream => streamed(&client, &path, "application/json").await,
                ReadMethod::Metadata => streamed(&client, &path, METADATA).await,
            }
        });
    }
    let mut bytes = 0;
    while let Some(read) = reading.join_next().await {
        bytes += read??;
    }
    Ok(ReadCost { took: start.elapsed(), bytes })
}

/// Reads every page, and finds only the token of the next one.
async fn paged(client: &Client, path: &str, encoding: &str) -> Result<usize> {
    let mut bytes = 0;
    let mut next = String::new();
    loop {
        let request =
            http::Request::get(format!("{path}?limit=500&continue={next}")).header("accept-encoding", encoding);
        let text = client.request_text(request.body(Vec::new())?).await.context("listing objects")?;
        bytes += text.len();
        // In the list's own metadata; no object has such a member.
        next = match text.rsplit_once("\"continue\":\"") {
            Some((_, rest)) if !rest.starts_with('"') => rest.split('"').next().unwrap_or_default().to_owned(),
            _ => return Ok(bytes),
        };
    }
}

/// Reads a stream up to the bookmark after its last object. Looks only at the last line that has arrived.
async fn streamed(client: &Client, path: &str, accept: &str) -> Result<usize> {
    let request = http::Request::get(format!(
        "{path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3600"
    ));
    let request = request.header("accept", accept).header("accept-encoding", "identity").body(Vec::new())?;
    let mut stream = std::pin::pin!(client.request_stream(request).await.context("reading a streamed list")?);
    let mut bytes = 0;
    let mut tail = Vec::with_capacity(2 * TAIL);
    loop {
        let read = stream.fill_buf().await.context("reading a streamed list")?;
        ensure!(!read.is_empty(), "the streamed list has ended early: {}", String::from_utf8_lossy(&tail));
        let length = read.len();
        tail.extend_from_slice(&read[length.saturating_sub(TAIL)..]);
        tail.drain(..tail.len().saturating_sub(TAIL));
        stream.consume_unpin(length);
        bytes += length;
        if is_end(&tail) {
            return Ok(bytes);
        }
    }
}

/// Returns true if the last line is complete and the bookmark comes after the last object.
pub(crate) fn is_end(tail: &[u8]) -> bool {
    let Some(lines) = tail.strip_suffix(b"\n") else { return false };
    let last = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    last.starts_with(br#"{"type":"BOOKMARK""#) && String::from_utf8_lossy(last).contains("k8s.io/initial-events-end")
}

/// A watch that only looks for line ends.
pub(crate) struct Watch(Pin<Box<dyn AsyncBufRead + Send>>);

impl Watch {
    /// Watches all events after this version.
    pub(crate) async fn open(client: &Client, path: &str, version: u64) -> Result<Self> {
        let request = http::Request::get(format!("{path}?watch=true&timeoutSeconds=3600&resourceVersion={version}"));
        let request = request.header("accept-encoding", "identity").body(Vec::new())?;
        Ok(Watch(Box::pin(client.request_stream(request).await.context("watching")?)))
    }

    /// Reads this many events.
    pub(crate) async fn read(&mut self, events: usize) -> Result<()> {
        let mut lines = 0;
        while lines < events {
            let read = self.0.fill_buf().await.context("watching")?;
            ensure!(!read.is_empty(), "the watch ended after {lines} of {events} events");
            lines += read.iter().filter(|byte| **byte == b'\n').count();
            let length = read.len();
            self.0.consume_unpin(length);
        }
        Ok(())
    }
}

/// The version of the cluster, out of a list of one object.
pub(crate) async fn version(client: &Client, path: &str) -> Result<u64> {
    let request = http::Request::get(format!("{path}?limit=1")).body(Vec::new())?;
    let list: Value = serde_json::from_str(&client.request_text(request).await.context("listing one object")?)?;
    let version = list["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok());
    version.context("a list's version")
}
