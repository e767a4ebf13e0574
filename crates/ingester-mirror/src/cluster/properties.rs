//! Properties of the wire format, below the trait: whatever the bytes of an answer are, each object is read as it was sent, and an
//! unreadable object fails alone.

use super::{ApiErrorKind, ApiServer, Cluster as _, ListEvent, RemoteEvent, StreamedLists};
use crate::fixture::MODEL;
use crate::replicas::shard::Shard;
use crate::unit::parse;
use futures::{StreamExt as _, TryStreamExt as _};
use http::{Request, Response};
use ingester_core::json::MAX_DEPTH;
use ingester_core::object::{Identity, ManagedFields};
use kube::Client;
use kube::client::Body;
use proptest::prelude::*;
use std::convert::Infallible;
use std::time::Duration;

/// A server that answers with the bytes that `answer` makes from the parameters of a request.
fn server(answer: impl Fn(&str) -> (Duration, Vec<u8>) + Clone + Send + 'static) -> ApiServer {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (takes, bytes) = answer(request.uri().query().unwrap_or_default());
        async move {
            tokio::time::sleep(takes).await;
            Ok::<_, Infallible>(Response::new(Body::from(bytes)))
        }
    });
    ApiServer::new(Client::new(service, "default"), MODEL, None, Shard::WHOLE, StreamedLists::default())
}

/// Does the work in virtual time.
fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(work)
}

/// An object as it is sent.
#[derive(Clone, Debug)]
struct ObjectBytes {
    bytes: Vec<u8>,
    /// The object can be read.
    good: bool,
}

impl ObjectBytes {
    /// Returns the received text: bytes that are not UTF-8 are replaced by a character that JSON does not allow.
    fn to_text(&self) -> Box<str> {
        String::from_utf8_lossy(&self.bytes).replace('\u{fffd}', "\u{1a}").into()
    }
}

/// A value, in at most 5 levels, with strings that look like other parts of JSON.
fn values() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec![
        "null",
        "true",
        "-0.5e+7",
        "18446744073709551616",
        r#""""#,
        r#""{""#,
        r#""]}""#,
        r#""\"""#,
        r#""\\""#,
        r#""\\\"}""#,
        r#""é😀""#,
        r#""\u005b""#,
        r#"",\"object\":{""#,
        "{}",
        "[ ]",
    ]);
    let scalar = scalar.prop_map(str::to_owned);
    scalar.prop_recursive(4, 24, 4, |inner| {
        let key = prop::sample::select(vec![r#""a""#, r#""items""#, r#""metadata""#, r#""}""#, r#""k\"""#]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(" , "))),
            prop::collection::vec((key, inner), 0..4).prop_map(|members| {
                let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Values that an object must not have, with brackets that match.
fn flaws() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(vec![
        &b"\"\xff\""[..],
        b"\"\xe2\x82\"",
        b"tru",
        b"01",
        b"1e999",
        br#""\ud800""#,
        b"\"\x01\"",
        br#""\x""#,
        b"[1 2]",
        b"{1:2}",
        b"[,]",
    ])
}

/// `1` within this many objects and arrays.
fn nested(depth: usize) -> String {
    let mut text = String::new();
    let mut end = String::new();
    for level in 0..depth {
        text.push_str(if level % 3 == 0 { "[" } else { r#"{"a":"# });
        end.push(if level % 3 == 0 { ']' } else { '}' });
    }
    text.push('1');
    text.extend(end.chars().rev());
    text
}

/// The objects of a list, with the uids `u0`, `u1` and so on.
fn objects() -> impl Strategy<Value = Vec<ObjectBytes>> {
    let depth = prop_oneof![4 => 0_usize..20, 2 => 90_usize..140, 1 => Just(20_000_usize)];
    let flaw = prop_oneof![3 => Just(None), 1 => flaws().prop_map(Some)];
    let object = (depth, 0_usize..150, values(), flaw, any::<bool>());
    prop::collection::vec(object, 0..12).prop_map(|objects| {
        let sent = objects.into_iter().enumerate().map(|(number, (depth, managed, value, flaw, first))| {
            let metadata = format!(
                r#""metadata":{{"managedFields":[{{"fieldsV1":{}}}], "uid":"u{number}","namespace":"ml","name":"n{number}","resourceVersion":"7"}}"#,
                nested(managed)
            );
            let mut data = format!(r#""data":{{"deep":{},"more":[{value},"#, nested(depth)).into_bytes();
            data.extend_from_slice(flaw.unwrap_or(b"0"));
            data.extend_from_slice(b"]}");
            let (one, other) = if first { (data, metadata.into_bytes()) } else { (metadata.into_bytes(), data) };
            // One level for this object, and one for the data.
            ObjectBytes { bytes: [&b"{"[..], &one, b", ", &other, b" }"].concat(), good: flaw.is_none() && depth + 2 <= MAX_DEPTH }
        });
        sent.collect()
    })
}

/// The bytes of a list, with its members in this order, and unknown members.
fn list(objects: &[ObjectBytes], version: u64, order: bool, unknown: &str) -> Vec<u8> {
    let items: Vec<&[u8]> = objects.iter().map(|object| &*object.bytes).collect();
    let items = [&b"\"items\": ["[..], &items.join(&b" ,"[..]), b"]"].concat();
    let metadata = format!(r#""metadata":{{"x":{unknown},"resourceVersion":"{version}"}}"#).into_bytes();
    let (one, other) = if order { (items, metadata) } else { (metadata, items) };
    [format!(r#"{{"kind":"ModelList","x":{unknown},"#).as_bytes(), &one, b",", &other, b"}\n"].concat()
}

/// Returns true if the whole object can be read.
fn is_readable(text: &str) -> bool {
    parse(&MODEL, text.into(), ManagedFields::Prune).is_ok_and(|object| object.parts().is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn objects_come_out_of_a_list_as_they_were_sent(
        objects in objects(), order: bool, depth in prop_oneof![0_usize..3, Just(20_000_usize)],
    ) {
        let bytes = list(&objects, 42, order, &nested(depth));
        let page = run(async move { server(move |_| (Duration::ZERO, bytes.clone())).list(500, None).await });
        let page = page.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!((page.version, page.next), (42, None));
        prop_assert_eq!(&page.items, &objects.iter().map(ObjectBytes::to_text).collect::<Vec<_>>());
        for (number, (text, sent)) in page.items.iter().zip(&objects).enumerate() {
            prop_assert_eq!(is_readable(text), sent.good, "{}", text);
            prop_assert_eq!(Identity::probe(text).uid, Some(format!("u{number}").into()));
        }
    }

    #[test]
    fn a_page_of_metadata_has_all_objects_whatever_they_are(objects in objects(), order: bool) {
        let bytes = list(&objects, 42, order, "{}");
        let page = run(async move { server(move |_| (Duration::ZERO, bytes.clone())).list_metadata(None).await });
        let page = page.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let found: Vec<_> = page.items.iter().map(|item| (item.uid.to_string(), item.name.to_string(), item.version())).collect();
        let expected: Vec<_> = (0..objects.len()).map(|number| (format!("u{number}"), format!("n{number}"), 7)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn objects_come_out_of_a_stream_and_a_watch_as_they_were_sent(objects in objects(), usual: bool) {
        let mut bytes = Vec::new();
        for object in &objects {
            let parts: [&[u8]; 3] = match usual {
                true => [br#"{"type":"ADDED","object":"#, &object.bytes, b"}\n"],
                false => [br#"{ "object" : "#, &object.bytes, b", \"type\":\"MODIFIED\" }\r\n"],
            };
            bytes.extend(parts.concat());
        }
        let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        bytes.extend([end.as_bytes(), b"\n"].concat());
        let expected: Vec<Box<str>> = objects.iter().map(ObjectBytes::to_text).collect();
        let (listed, watched) = run(async move {
            let server = server(move |_| (Duration::ZERO, bytes.clone()));
            let listed: Result<Vec<_>, _> = server.stream().await.unwrap().unwrap().try_collect().await;
            (listed.unwrap(), server.watch(3).await.unwrap().collect::<Vec<_>>().await)
        });
        let of_list = listed.iter().filter_map(|listed| match listed {
            ListEvent::Object(text) => Some(text),
            ListEvent::Deleted(_) | ListEvent::End(_) => None,
        });
        prop_assert_eq!(of_list.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
        prop_assert!(matches!(listed.last(), Some(ListEvent::End(9))));
        let of_watch = watched.iter().filter_map(|event| match event {
            Ok(RemoteEvent::Applied(text)) => Some(text),
            _ => None,
        });
        prop_assert_eq!(of_watch.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
        prop_assert_eq!(watched.len(), expected.len() + 1, "one of them has ended the watch");
    }

    /// The list is read to the end from an API server of any speed, if the server answers in time for a single object.
    #[test]
    fn metadata_comes_page_by_page_from_a_slow_server(count in 0_usize..1500, millis in 0_u64..25_000, fixed in 0_u64..5_000) {
        let (names, seconds) = run(metadata_of(count, Duration::from_millis(fixed), Duration::from_millis(millis)));
        let names = names.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        prop_assert_eq!(names, (0..count).collect::<Vec<_>>());
        // The time of abandoned requests, and of pages with at least a third of the objects that fit, bounds the reading.
        let needed = (count as u64 * millis / 1000).max(1);
        prop_assert!(seconds <= 400 + 10 * needed + count as u64 * fixed / 1000, "{} s for {} s", seconds, needed);
    }
}

/// Reads a list from a server that takes this long for a page and for each object in it. Returns the numbers of the objects, and the
/// seconds that the list took.
async fn metadata_of(count: usize, fixed: Duration, each: Duration) -> (Result<Vec<usize>, ApiErrorKind>, u64) {
    let server = server(move |query| {
        let of = |key: &str| {
            let value = query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
            value.map_or(0, |value| value.parse::<usize>().unwrap())
        };
        let begin = of("continue");
        let limit = of("limit");
        let end = count.min(begin + limit);
        let items: Vec<String> =
            (begin..end).map(|number| format!(r#"{{"metadata":{{"uid":"{number}","name":"n"}}}}"#)).collect();
        let next = if end < count { end.to_string() } else { String::new() };
        let text =
            format!(r#"{{"metadata":{{"resourceVersion":"7","continue":"{next}"}},"items":[{}]}}"#, items.join(","));
        (fixed + each * u32::try_from(end - begin).unwrap(), text.into_bytes())
    });
    let begin = tokio::time::Instant::now();
    let mut numbers = Vec::new();
    let mut next = None;
    let end = |result| (result, begin.elapsed().as_secs());
    loop {
        match server.list_metadata(next.as_deref()).await {
            Ok(page) => {
                numbers.extend(page.items.iter().map(|item| item.uid.parse::<usize>().unwrap()));
                next = page.next;
            }
            Err(error) => return end(Err(error.kind())),
        }
        if next.is_none() {
            return end(Ok(numbers));
        }
    }
}

#[test]
fn a_page_of_metadata_that_takes_too_long_is_halved_down_to_one_object() {
    // 2,000 of them take 80 s, and 500 is the first page size that fits into the 30 s of a request.
    let (read, seconds) = run(metadata_of(6000, Duration::ZERO, Duration::from_millis(40)));
    assert_eq!(read, Ok((0..6000).collect()));
    assert!(seconds < 400, "{seconds} s: what was learned is forgotten");
    let (read, _) = run(metadata_of(2, Duration::ZERO, Duration::from_secs(31)));
    assert_eq!(read, Err(ApiErrorKind::Transient));
}

/// An inconsistent read may come from an API server that is behind, and would confirm an eviction too early.
#[test]
fn looks_and_lists_are_consistent_reads() {
    let asked: std::sync::Arc<parking_lot::Mutex<Vec<String>>> = std::sync::Arc::default();
    let seen = asked.clone();
    run(async {
        let server = server(move |query| {
            seen.lock().push(query.to_owned());
            (Duration::ZERO, br#"{"metadata":{"resourceVersion":"9"},"items":[]}"#.to_vec())
        });
        server.look("ml", "a").await.unwrap();
        server.list(10, None).await.unwrap();
        server.list_metadata(None).await.unwrap();
        server.position().await.unwrap();
    });
    let asked = asked.lock();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert!(asked.iter().all(|query| !query.contains("resourceVersion")), "{asked:?}");
}
