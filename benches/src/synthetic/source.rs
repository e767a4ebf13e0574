//! The source: it answers like an API server for one kind, from texts that were rendered beforehand; it does not compress.
//!
//! Its objects are a few thousand templates, again and again, with the number's own name, uid and version.

use super::leases::Leases;
use crate::live::{kind, name, object};
use crate::objects::{Dice, updated};
use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use futures::{Stream, StreamExt as _, stream};
use ingester_core::Kind;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// The parameters of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// Objects.
    pub(super) objects: usize,
    /// Bytes of JSON of an object, about, if they are not as pipeline runs are.
    pub(super) bytes: Option<usize>,
    /// Bytes that it sends in a second for each request, at most.
    pub(super) speed: Option<u64>,
    /// The source sends only the objects of a `shardSelector`, like API servers with server-side shards.
    pub(super) shards: bool,
}

impl Parameters {
    /// As the value of a variable.
    pub(super) fn to_text(self) -> String {
        json!({"objects": self.objects, "bytes": self.bytes, "speed": self.speed, "shards": self.shards}).to_string()
    }

    fn parse(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text).context("the parameters of a source")?;
        let number = |name: &str| value[name].as_u64().map(usize::try_from).transpose();
        Ok(Parameters {
            objects: number("objects")?.context("the number of objects")?,
            bytes: number("bytes")?,
            speed: value["speed"].as_u64(),
            shards: value["shards"].as_bool().unwrap_or_default(),
        })
    }
}

/// Different objects, at most.
const TEMPLATES: usize = 2000;
/// Bytes of events that are sent at once, about.
const CHUNK: usize = 64 << 10;

/// Serves as the source until the parent process is gone.
pub(crate) fn serve(parameters: &str) -> Result<()> {
    // The kernel closes the other end of the input however the parent ends.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    let source = Source::new(kind()?, Parameters::parse(parameters)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening")?;
        println!("{}", listener.local_addr()?.port());
        // Like the API server: the end of an answer does not wait for the acknowledgement of earlier packets.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, Router::new().fallback(answer).with_state(Arc::new(source))).await?;
        Ok(())
    })
}

async fn answer(
    State(source): State<Arc<Source>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    source.answer(&method, &uri, &headers, body).unwrap_or_else(|| {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
            "message": "the source has no such thing", "code": 404});
        respond_text(StatusCode::NOT_FOUND, status.to_string())
    })
}

fn respond_text(status: StatusCode, text: impl Into<Body>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

fn parameter<'u>(uri: &'u Uri, name: &str) -> Option<&'u str> {
    let mut pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| value)
}

/// The value of a parameter without its percent signs.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The uids of a shard: those whose hash is from the first number to before the second one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range(u128, u128);

impl Range {
    const ALL: Range = Range(0, 1 << 64);

    /// Of `shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')`.
    fn parse(selector: &str) -> Option<Self> {
        let mut bounds =
            selector.split('\'').filter_map(|part| u128::from_str_radix(part.strip_prefix("0x")?, 16).ok());
        Some(Range(bounds.next()?, bounds.next()?))
    }

    fn has(self, place: usize) -> bool {
        // FNV-1a, as the API server has it.
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self == Range::ALL || {
            let hash = u128::from(uid(place).bytes().fold(0xcbf2_9ce4_8422_2325, fnv));
            (self.0..self.1).contains(&hash)
        }
    }
}

/// The values in which the objects of a template differ.
#[derive(Clone, Copy)]
enum Slot {
    Name,
    Uid,
    Version,
}

const SLOTS: [(Slot, &str); 3] =
    [(Slot::Name, "(its name)"), (Slot::Uid, "(its uid)"), (Slot::Version, "(its version)")];

/// A text with slots: each comes after a piece, and a last piece comes after all of them.
struct Template {
    slots: Vec<(Box<str>, Slot)>,
    end: Box<str>,
}

impl Template {
    fn new(object: &Value) -> Self {
        let text = object.to_string();
        let mut slots = Vec::new();
        let mut rest = text.as_str();
        let next = |rest: &str| {
            let places = SLOTS.iter().filter_map(|(slot, mark)| Some((rest.find(mark)?, *slot, mark.len())));
            places.min_by_key(|(place, ..)| *place)
        };
        while let Some((place, slot, length)) = next(rest) {
            slots.push((rest[..place].into(), slot));
            rest = &rest[place + length..];
        }
        Template { slots, end: rest.into() }
    }

    fn write(&self, out: &mut String, kind: &Kind, place: usize, version: usize) {
        for (before, slot) in &self.slots {
            out.push_str(before);
            match slot {
                Slot::Name => out.push_str(&name(kind, place)),
                Slot::Uid => out.push_str(&uid(place)),
                Slot::Version => out.push_str(&version.to_string()),
            }
        }
        out.push_str(&self.end);
    }
}

/// The uid of the object of this number.
fn uid(place: usize) -> String {
    let mut dice = Dice::new(place as u64);
    let mut digits = |count: u32| dice.below(1 << (4 * count));
    let [a, b, c, d, e] = [8, 4, 3, 3, 12].map(&mut digits);
    format!("{a:08x}-{b:04x}-4{c:03x}-8{d:03x}-{e:012x}")
}

/// A state of an object: whole, and its metadata alone.
struct ObjectTemplates {
    whole: Template,
    metadata: Template,
}

impl ObjectTemplates {
    fn new(mut object: Value) -> Self {
        for ((_, mark), member) in SLOTS.iter().zip(["name", "uid", "resourceVersion"]) {
            object["metadata"][member] = json!(mark);
        }
        let metadata = json!({
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"],
        });
        ObjectTemplates { whole: Template::new(&object), metadata: Template::new(&metadata) }
    }
}

/// Some objects, and the number of updates so far. Updates go through the objects in turn, again and again. Every
/// answer follows from these two.
struct Source {
    kind: Kind,
    /// Two states of each template, which alternate.
    templates: Vec<[ObjectTemplates; 2]>,
    objects: usize,
    speed: Option<u64>,
    /// The source has server-side shards.
    shards: bool,
    sent: watch::Sender<usize>,
    leases: Arc<Leases>,
}

/// Where a watch is.
#[derive(Clone, Copy)]
enum Next {
    /// At this object, of the cluster after this many updates.
    Initial { place: usize, sent: usize },
    /// At this update.
    Update(usize),
}

impl Source {
    fn new(kind: Kind, Parameters { objects, bytes, speed, shards }: Parameters) -> Result<Self> {
        let mut dice = Dice::new(3);
        let mut templates = Vec::new();
        for place in 0..objects.min(TEMPLATES) {
            let object = object(&mut dice, &kind, place, bytes)?;
            let update = updated(&mut dice, &object);
            templates.push([object, update].map(ObjectTemplates::new));
        }
        let leases = Arc::new(Leases::new());
        Ok(Source { kind, templates, objects, speed, shards, sent: watch::Sender::new(0), leases })
    }

    fn answer(self: Arc<Self>, method: &Method, uri: &Uri, headers: &HeaderMap, body: Bytes) -> Option<Response> {
        let path: Vec<&str> = uri.path().trim_start_matches('/').split('/').collect();
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let metadata = accept.contains("as=PartialObjectMetadata");
        let plural = self.kind.plural();
        let sent = *self.sent.borrow();
        let range = match parameter(uri, "shardSelector").filter(|_| self.shards) {
            Some(selector) => Range::parse(&decoded(selector))?,
            None => Range::ALL,
        };
        let seconds = parameter(uri, "timeoutSeconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(300);
        let lasting = Duration::from_secs(seconds);
        let label = parameter(uri, "labelSelector").map(decoded);
        let response = match (method.as_str(), &*path) {
            ("GET", ["apis", "coordination.k8s.io", .., "leases"]) if parameter(uri, "watch").is_some() => {
                let version = parameter(uri, "resourceVersion")?.parse().ok()?;
                respond_text(StatusCode::OK, self.leases.watch(label, version, lasting))
            }
            ("GET", ["apis", "coordination.k8s.io", .., "leases"]) => {
                respond_text(StatusCode::OK, self.leases.list(label.as_deref()))
            }
            (verb @ ("POST" | "PUT" | "DELETE"), ["apis", "coordination.k8s.io", _, _, _, "leases", name @ ..]) => {
                let (code, answer) = match (verb, name) {
                    ("POST", []) => self.leases.put(None, &body),
                    ("PUT", [name]) => self.leases.put(Some(name), &body),
                    ("DELETE", [name]) => self.leases.delete(name),
                    _ => return None,
                };
                respond_text(code, answer)
            }
            ("GET", ["readyz"]) => "ok".into_response(),
            ("POST", ["burst"]) => {
                let events: usize = parameter(uri, "events")?.parse().ok()?;
                self.sent.send_modify(|sent| *sent += events);
                StatusCode::OK.into_response()
            }
            ("POST", ["apis", "events.k8s.io", .., "events"]) => respond_text(StatusCode::CREATED, body),
            ("GET", ["apis", .., last]) if *last == plural && parameter(uri, "watch").is_some() => {
                let next = match parameter(uri, "sendInitialEvents") {
                    Some("true") => Next::Initial { place: 0, sent },
                    _ => {
                        let version: usize = parameter(uri, "resourceVersion")?.parse().ok()?;
                        Next::Update(version.saturating_sub(self.objects))
                    }
                };
                let speed = self.speed;
                respond_text(StatusCode::OK, paced(self.watch(next, range, metadata, lasting), speed))
            }
            ("GET", ["apis", .., last]) if *last == plural => {
                let page = self.list(uri, range, sent, metadata)?;
                respond_text(StatusCode::OK, paced(stream::iter([page]), self.speed))
            }
            // Every object has the finalizer, so there is nothing to patch.
            ("GET" | "PATCH", ["apis", .., last, name]) if *last == plural => {
                let place = name.rsplit('-').next()?.parse().ok().filter(|place| *place < self.objects)?;
                let mut item = String::new();
                self.item(&mut item, place, sent, metadata);
                respond_text(StatusCode::OK, item)
            }
            _ => return None,
        };
        Some(response)
    }

    /// An object, or its metadata alone, after this many updates of it. The first versions are the objects' numbers; each update
    /// adds one.
    fn object(&self, out: &mut String, place: usize, updates: usize, metadata: bool) {
        let state = &self.templates[place % self.templates.len()][updates % 2];
        let template = if metadata { &state.metadata } else { &state.whole };
        template.write(out, &self.kind, place, place + 1 + updates * self.objects);
    }

    /// An object after this many updates in total.
    fn item(&self, out: &mut String, place: usize, sent: usize, metadata: bool) {
        self.object(out, place, (sent + self.objects - 1 - place) / self.objects, metadata);
    }

    /// The version and kind of what is answered.
    fn types(&self, metadata: bool) -> (String, &str) {
        match metadata {
            true => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadata"),
            false => (self.kind.api_version(), self.kind.kind()),
        }
    }

    /// One page. Its continue token has the version of the first page, and the start of the next one.
    fn list(&self, uri: &Uri, range: Range, sent: usize, metadata: bool) -> Option<String> {
        let (sent, begin) = match parameter(uri, "continue") {
            Some(token) => {
                let (sent, begin) = token.split_once('-')?;
                (sent.parse().ok()?, begin.parse().ok()?)
            }
            None => (sent, 0),
        };
        let objects = self.objects;
        let limit = parameter(uri, "limit").and_then(|limit| limit.parse().ok()).unwrap_or(objects);
        let end = objects.min(begin + limit);
        let (api_version, kind) = self.types(metadata);
        let mut page = format!(r#"{{"apiVersion":"{api_version}","items":["#);
        for (number, place) in (begin..end).filter(|place| range.has(*place)).enumerate() {
            if number > 0 {
                page.push(',');
            }
            self.item(&mut page, place, sent, metadata);
        }
        let mut about = json!({"resourceVersion": (objects + sent).to_string()});
        if end < objects {
            about["continue"] = json!(format!("{sent}-{end}"));
            about["remainingItemCount"] = json!(objects - end);
        }
        page.push_str(&format!(r#"],"kind":"{kind}List","metadata":{about}}}"#));
        Some(page)
    }

    /// The events from there on, as soon as they exist, until the time is over.
    fn watch(
        self: Arc<Self>,
        next: Next,
        range: Range,
        metadata: bool,
        lasting: Duration,
    ) -> impl Stream<Item = String> + use<> {
        let end = Instant::now() + lasting;
        let sent = self.sent.subscribe();
        stream::unfold((self, next, sent), move |(source, next, mut sent)| async move {
            if let Next::Update(next) = next {
                let there = tokio::time::timeout_at(end, sent.wait_for(|sent| *sent > next)).await;
                there.ok()?.ok()?;
            }
            let now = *sent.borrow();
            let (chunk, next) = source.chunk(next, range, now, metadata);
            Some((chunk, (source, next, sent)))
        })
    }

    /// Events that exist after `now` updates, as many as are sent at once. Returns what comes after them.
    fn chunk(&self, mut next: Next, range: Range, now: usize, metadata: bool) -> (String, Next) {
        let mut chunk = String::with_capacity(CHUNK + CHUNK / 4);
        while chunk.len() < CHUNK {
            match &mut next {
                Next::Initial { place, sent } if *place < self.objects => {
                    if range.has(*place) {
                        chunk.push_str(r#"{"type":"ADDED","object":"#);
                        self.item(&mut chunk, *place, *sent, metadata);
                        chunk.push_str("}\n");
                    }
                    *place += 1;
                }
                Next::Initial { sent, .. } => {
                    let (api_version, kind) = self.types(metadata);
                    let version = (self.objects + *sent).to_string();
                    let metadata =
                        json!({"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": version});
                    let bookmark = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
                    // The type comes first in every event of an API server.
                    chunk.push_str(&format!("{{\"type\":\"BOOKMARK\",\"object\":{bookmark}}}\n"));
                    next = Next::Update(*sent);
                    break;
                }
                Next::Update(number) if *number < now => {
                    if range.has(*number % self.objects) {
                        chunk.push_str(r#"{"type":"MODIFIED","object":"#);
                        self.object(&mut chunk, *number % self.objects, *number / self.objects + 1, metadata);
                        chunk.push_str("}\n");
                    }
                    *number += 1;
                }
                Next::Update(_) => break,
            }
        }
        (chunk, next)
    }
}

/// Sends texts at this speed at most.
fn paced(texts: impl Stream<Item = String> + Send + 'static, speed: Option<u64>) -> Body {
    let mut until = Instant::now();
    let texts = texts.then(move |text| {
        if let Some(speed) = speed {
            until = until.max(Instant::now()) + Duration::from_secs_f64(text.len() as f64 / speed as f64);
        }
        async move {
            if speed.is_some() {
                tokio::time::sleep_until(until).await;
            }
            Ok::<_, Infallible>(text)
        }
    });
    Body::from_stream(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use std::collections::BTreeSet;

    /// Returns the source's answer to a GET, up to the objects that exist.
    async fn get(source: &Arc<Source>, query: &str, accept: &str) -> Result<String> {
        let uri =
            format!("/apis/michelangelo.api/v2/namespaces/default/pipelineruns?timeoutSeconds=0&{query}").parse()?;
        let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse()?)]);
        let answer = source.clone().answer(&Method::GET, &uri, &headers, Bytes::new()).context("404")?;
        Ok(String::from_utf8(to_bytes(answer.into_body(), usize::MAX).await?.into())?)
    }

    #[tokio::test]
    async fn the_source_streams_lists_as_a_kube_apiserver_1_36_does() -> Result<()> {
        const OBJECTS: usize = TEMPLATES + 10;
        let parameters = Parameters { objects: OBJECTS, bytes: Some(600), speed: Some(1 << 40), shards: true };
        let source = Arc::new(Source::new(kind()?, Parameters::parse(&parameters.to_text())?)?);
        source.sent.send_replace(3);
        let stream = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        for (accept, kind, api_version) in [
            ("application/json", "PipelineRun", "michelangelo.api/v2"),
            (metadata, "PartialObjectMetadata", "meta.k8s.io/v1"),
        ] {
            let text = get(&source, stream, accept).await?;
            let mut uids = BTreeSet::new();
            let mut lines: Vec<&str> = text.lines().collect();
            let bookmark = lines.pop().context("no line")?;
            assert_eq!(lines.len(), OBJECTS);
            for (place, line) in lines.into_iter().enumerate() {
                assert!(line.starts_with(r#"{"type":"ADDED","object":{"#), "{line}");
                let object = &serde_json::from_str::<Value>(line)?["object"];
                assert_eq!((&object["kind"], &object["apiVersion"]), (&json!(kind), &json!(api_version)));
                assert_eq!(object.get("spec").is_some(), kind == "PipelineRun", "{line}");
                // The first three have been updated.
                let version = if place < 3 { OBJECTS + place + 1 } else { place + 1 };
                assert_eq!(object["metadata"]["resourceVersion"], version.to_string());
                assert_eq!(object["metadata"]["name"], format!("pipelinerun-{place:06}"));
                assert!(uids.insert(object["metadata"]["uid"].as_str().context("a uid")?.to_owned()), "{line}");
            }
            // Recorded from that API server, except for the order of members.
            let expected = json!({"type": "BOOKMARK", "object": {"kind": kind, "apiVersion": api_version, "metadata": {
                "resourceVersion": (OBJECTS + 3).to_string(), "annotations": {"k8s.io/initial-events-end": "true"},
            }}});
            assert_eq!(serde_json::from_str::<Value>(bookmark)?, expected);
            assert!(crate::bare::is_end(text.as_bytes()), "{bookmark}");
        }

        let list: Value = serde_json::from_str(&get(&source, "limit=1", metadata).await?)?;
        assert_eq!(
            (&list["kind"], list["items"].as_array().map(Vec::len)),
            (&json!("PartialObjectMetadataList"), Some(1))
        );
        assert_eq!(list["metadata"]["resourceVersion"], (OBJECTS + 3).to_string());
        let watched = get(&source, &format!("watch=1&resourceVersion={}", OBJECTS + 1), "application/json").await?;
        let versions: Vec<Value> = watched
            .lines()
            .map(|line| Ok(serde_json::from_str::<Value>(line)?["object"]["metadata"]["resourceVersion"].clone()))
            .collect::<Result<_>>()?;
        assert_eq!(versions, [OBJECTS + 2, OBJECTS + 3].map(|version| json!(version.to_string())));
        Ok(())
    }

    #[tokio::test]
    async fn the_source_sends_the_objects_of_a_shard() -> Result<()> {
        let parameters = Parameters { objects: 100, bytes: Some(600), speed: None, shards: true };
        let source = Arc::new(Source::new(kind()?, parameters)?);
        let half =
            |from: &str, to: &str| format!("shardSelector=shardRange(object.metadata.uid,%27{from}%27,%27{to}%27)");
        let mut uids = Vec::new();
        for (from, to) in [("0x0000000000000000", "0x8000000000000000"), ("0x8000000000000000", "0x10000000000000000")]
        {
            let list: Value = serde_json::from_str(&get(&source, &half(from, to), "application/json").await?)?;
            let items = list["items"].as_array().context("items")?;
            assert!(items.len() > 30, "{}", items.len());
            uids.extend(items.iter().map(|item| item["metadata"]["uid"].to_string()));
        }
        assert_eq!(uids.len(), 100);
        assert_eq!(uids.into_iter().collect::<BTreeSet<_>>().len(), 100);
        Ok(())
    }

    #[test]
    fn the_uid_of_a_number_is_a_random_looking_uuid() {
        let uid = uid(7);
        let lengths: Vec<usize> = uid.split('-').map(str::len).collect();
        assert_eq!((lengths, uid.get(14..15), uid.get(19..20)), (vec![8, 4, 4, 4, 12], Some("4"), Some("8")));
        assert_ne!(uid, self::uid(8));
    }
}
