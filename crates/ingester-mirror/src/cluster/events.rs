//! Reads the events of a watch: one event per line.
//!
//! kube's own reader parses each line into a value and copies it twice. Here an object's text is cut out of its line, and parsed only when
//! it is needed.

use super::error::{ApiError, ApiErrorKind};
use futures::{AsyncBufRead, AsyncBufReadExt as _};
use ingester_core::json::{self, Reader};
use ingester_core::object::Identity;
use kube::core::Status;
use serde::Deserialize;
use std::borrow::Cow;
use std::time::Duration;

/// A buffer that is larger than this is freed after its line.
const KEPT: usize = 64 << 10;

/// One event, whose object `T` is the requested representation.
#[derive(Debug, PartialEq)]
pub(super) enum Event<T> {
    /// An object was created or changed, or belongs to the beginning of a streamed list.
    Applied(T),
    /// An object was deleted; its last state.
    Deleted(T),
    /// All events up to this version were sent. `listed`: the streamed list that the watch began with ends here.
    Bookmark { version: u64, listed: bool },
}

/// A representation that can be read from the object of an event.
pub(super) trait FromText: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// When the text is not the requested representation and does not even identify its object.
    fn from_text(text: &str) -> Result<Self, serde_json::Error>;
}

impl FromText for Box<str> {
    fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        Ok(text.into())
    }
}

impl FromText for super::PartialObjectMeta {
    fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct EventMetadata {
            metadata: super::PartialObjectMeta,
        }
        match serde_json::from_str::<EventMetadata>(text) {
            Ok(partial) => Ok(partial.metadata),
            // A look at the object finds out what is wrong with it.
            Err(error) => super::PartialObjectMeta::from_identity(Identity::probe(text)).ok_or(error),
        }
    }
}

/// The replacement for bytes that are not UTF-8: ASCII's SUBSTITUTE. JSON allows it nowhere, so an object that contains it cannot be read.
/// It is reported like other unreadable objects, and does not affect the objects that were received with it.
const SUBSTITUTE: char = '\u{1a}';

/// Returns these bytes as text.
pub(super) fn readable(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| substituted(error.as_bytes()))
}

fn substituted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(SUBSTITUTE);
        }
    }
    text
}

/// Logs that one of the received objects is left out.
pub(super) fn left_out(doing: &str, error: &serde_json::Error) {
    tracing::warn!(doing, %error, "Object skipped: its name cannot be read");
}

/// The events of a watch, read line by line.
pub(super) struct Events<R> {
    lines: R,
    line: Vec<u8>,
    doing: String,
}

impl<R: AsyncBufRead + Unpin> Events<R> {
    /// `doing` is the text for errors.
    pub(super) fn new(lines: R, doing: String) -> Self {
        Events { lines, line: Vec::new(), doing }
    }

    /// Returns the next event; `None` at the end. The API server may be silent for `silence`.
    pub(super) async fn next<T: FromText>(&mut self, silence: Duration) -> Option<Result<Event<T>, ApiError>> {
        loop {
            if self.line.capacity() > KEPT {
                self.line = Vec::new();
            }
            self.line.clear();
            let read = tokio::time::timeout(silence, self.lines.read_until(b'\n', &mut self.line)).await;
            match read {
                Err(_) => {
                    let error = self.error("no sign of life from the API server");
                    return Some(Err(ApiError { timeout: true, ..error }));
                }
                Ok(Err(error)) if is_end(&error) => return None,
                Ok(Err(error)) => return Some(Err(self.error(&super::error::chain(&error)))),
                // Text after the last line end was cut off, and is not an event.
                Ok(Ok(_)) if self.line.last() != Some(&b'\n') => return None,
                Ok(Ok(_)) if self.line.trim_ascii().is_empty() => {}
                Ok(Ok(_)) => {
                    if let Some(event) = self.event().transpose() {
                        return Some(event);
                    }
                }
            }
        }
    }

    fn error(&self, reason: &str) -> ApiError {
        ApiError::new(self.doing.as_str(), reason, ApiErrorKind::Transient)
    }

    /// Returns the event of the line; `None` if its object cannot be identified.
    fn event<T: FromText>(&self) -> Result<Option<Event<T>>, ApiError> {
        let wrong = |error: &dyn std::error::Error| ApiError {
            kind: ApiErrorKind::Other,
            ..self.error(&format!("a line of the watch cannot be read: {error}"))
        };
        let line = match std::str::from_utf8(&self.line) {
            Ok(line) => Cow::Borrowed(line),
            Err(_) => Cow::Owned(substituted(&self.line)),
        };
        let (kind, object) = cut(&line).map_err(|error| wrong(&error.locate(&line)))?;
        let of = |object: &str| T::from_text(object).inspect_err(|error| left_out(&self.doing, error)).ok();
        match &*kind {
            "ADDED" | "MODIFIED" => Ok(of(object).map(Event::Applied)),
            "DELETED" => Ok(of(object).map(Event::Deleted)),
            "BOOKMARK" => {
                let bookmark: Bookmark = serde_json::from_str(object).map_err(|error| wrong(&error))?;
                let version = bookmark.metadata.resource_version.parse();
                let version = version.map_err(|error: std::num::ParseIntError| wrong(&error))?;
                let listed = bookmark.metadata.annotations.and_then(|annotations| annotations.listed);
                Ok(Some(Event::Bookmark { version, listed: listed.is_some_and(|listed| &*listed == "true") }))
            }
            "ERROR" => {
                let status: Status = serde_json::from_str(object).map_err(|error| wrong(&error))?;
                Err(ApiError::from_kube(self.doing.as_str(), kube::Error::Api(status.boxed())))
            }
            other => Err(self.error(&format!("an event of the unknown type {other:?}"))),
        }
    }
}

#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    resource_version: Box<str>,
    annotations: Option<BookmarkAnnotations>,
}

#[derive(Deserialize)]
struct BookmarkAnnotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    listed: Option<Box<str>>,
}

/// Returns the type of an event and the text of its object, whatever its nesting. An API server writes them in this order and without
/// blanks; any other JSON is read, too.
fn cut(line: &str) -> Result<(Cow<'_, str>, &str), json::Error> {
    let cut = || {
        let (kind, object) = line.strip_prefix(r#"{"type":""#)?.split_once(r#"","object":"#)?;
        let object = object.trim_ascii_end().strip_suffix('}')?;
        let plain = kind.bytes().all(|byte| byte.is_ascii_uppercase());
        (plain && object.starts_with('{') && object.ends_with('}')).then_some((Cow::Borrowed(kind), object))
    };
    if let Some(cut) = cut() {
        return Ok(cut);
    }
    let mut kind = None;
    let mut object = None;
    let mut reader = Reader::new(line);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        match key.as_ref() {
            "type" => kind = Some(reader.string()?),
            "object" => object = Some(reader.pass()?),
            _ => reader.pass().map(drop)?,
        }
    }
    reader.finish()?;
    kind.zip(object).ok_or_else(|| json::Error::value(0, "an event has a type and an object"))
}

/// Returns true if the connection ended in the middle of the answer, which is how the server or a proxy ends watches.
fn is_end(error: &std::io::Error) -> bool {
    let text = super::error::chain(error);
    ["unexpected EOF", "end of file", "connection closed before message completed"].iter().any(|end| text.contains(end))
}

#[cfg(test)]
mod tests {
    use super::{Event, Events, FromText};
    use crate::cluster::{ApiErrorKind, PartialObjectMeta};
    use std::time::Duration;

    async fn read<T: FromText>(text: &str) -> Vec<Result<Event<T>, ApiErrorKind>> {
        let mut events = Events::new(futures::io::BufReader::with_capacity(7, text.as_bytes()), "watching".into());
        let mut read = Vec::new();
        while let Some(event) = events.next::<T>(Duration::from_secs(1)).await {
            read.push(event.map_err(|error| error.kind()));
        }
        read
    }

    #[tokio::test]
    async fn objects_are_cut_out_of_their_lines_unchanged() {
        let text = concat!(
            "{\"type\":\"ADDED\",\"object\":{\"a\":{\"b\": 1}}}\n\n",
            "{ \"object\" : {\"a\":2}, \"type\" : \"MODIFIED\" }\r\n",
            "{\"type\":\"DELETED\",\"object\":{}}\n",
            "{\"type\":\"ADDED\",\"object\":{\"cut",
        );
        let expected: [Event<Box<str>>; 3] = [
            Event::Applied(r#"{"a":{"b": 1}}"#.into()),
            Event::Applied(r#"{"a":2}"#.into()),
            Event::Deleted("{}".into()),
        ];
        assert_eq!(read(text).await, expected.map(Ok));
    }

    #[tokio::test]
    async fn a_bookmark_says_whether_the_list_ends_there() {
        let bookmark = |annotations: &str| {
            format!(
                "{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"7\"{annotations}}}}}}}\n"
            )
        };
        let text = bookmark("")
            + &bookmark(r#","annotations":{"k8s.io/initial-events-end":"true"}"#)
            + &bookmark(r#","annotations":{"other":"true"}"#);
        let expected = [false, true, false].map(|listed| Ok(Event::Bookmark { version: 7, listed }));
        assert_eq!(read::<Box<str>>(&text).await, expected);
    }

    #[tokio::test]
    async fn metadata_is_read_out_of_an_event() {
        let text =
            "{\"type\":\"ADDED\",\"object\":{\"kind\":\"PartialObjectMetadata\",\"metadata\":{\"name\":\"n\"}}}\n";
        let mut name = PartialObjectMeta::default();
        name.name = "n".into();
        assert_eq!(read(text).await, [Ok(Event::Applied(name))]);
    }

    #[tokio::test]
    async fn what_is_not_an_event_is_an_error() {
        let expired = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\
            \"Failure\",\"message\":\"too old\",\"reason\":\"Expired\",\"code\":410}}\n";
        assert_eq!(read::<Box<str>>(expired).await, [Err(ApiErrorKind::Expired)]);
        for text in ["no JSON\n", "{\"type\":\"ADDED\"}\n", "{\"type\":\"BOOKMARK\",\"object\":{}}\n"] {
            assert_eq!(read::<Box<str>>(text).await, [Err(ApiErrorKind::Other)], "{text}");
        }
    }
}
