//! The access log: one line per request, whatever its outcome.
//!
//! May use: caller, metrics.
//!
//! Everything that works on a request holds an [`AccessLog`]: the connection, and the task of a write, which may outlive the connection.
//! The last holder writes the line, even if all of them are dropped. The request is counted at the same moment.
//!
//! Health requests have no line; version and discovery have one if they are refused. Requests of unauthenticated callers get only a few
//! lines a second, because a flood of them would fill the disk: the next line says how many were left out.
//!
//! Every other log event about a request is inside its span, which has `user`, `verb` and `resource`. The access log does not depend on the
//! span, so that its lines are complete where only the target `audit` is logged.

use crate::caller::{Attributes, Verb};
use crate::metrics::Metrics;
use http::{Method, StatusCode};
use parking_lot::{Mutex, MutexGuard};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Span;
use tracing::field::Empty;

/// The code of a request whose client left before the answer, as in nginx.
const CLIENT_GONE: u16 = 499;

/// The most bytes of a text that a client has chosen. Names are never longer.
const MOST_BYTES: usize = 253;

/// The most lines a second about unauthenticated callers.
const UNKNOWN_LINES: u32 = 10;

/// Creates the access log lines of one server. Clones share everything.
#[derive(Clone, Debug)]
pub(crate) struct AccessLogs(Arc<AccessLogState>);

#[derive(Debug)]
struct AccessLogState {
    metrics: Metrics,
    unknown: Mutex<UnknownCallers>,
}

/// The lines about unauthenticated callers.
#[derive(Debug)]
struct UnknownCallers {
    since: Instant,
    lines: u32,
    left_out: u64,
}

/// The access log line of one request. Clones refer to the same request.
#[derive(Clone)]
pub struct AccessLog(Arc<Entry>);

struct Entry {
    shared: Arc<AccessLogState>,
    begin: Instant,
    source: SocketAddr,
    method: Method,
    path: Box<str>,
    span: Span,
    facts: Mutex<Facts>,
}

#[derive(Default)]
struct Facts {
    user: Option<Arc<str>>,
    attributes: Option<Attributes>,
    /// The object that the path names. A right to create has no name.
    object: Box<str>,
    subresource: Box<str>,
    uid: Option<Box<str>>,
    count: Option<u64>,
    dry_run: bool,
    /// Machines send this request repeatedly, and its line would have no value.
    quiet: bool,
    /// The answer to the client, and its latency.
    answered: Option<(u16, Duration)>,
    work: Work,
}

/// Work that continues without its client.
#[derive(Clone, Copy, Default)]
enum Work {
    /// There is none.
    #[default]
    None,
    /// The work has begun.
    Begun,
    /// The work has ended with this result.
    Ended(u16),
}

impl AccessLogs {
    /// Creates the access log of a server with these metrics.
    pub(crate) fn new(metrics: Metrics) -> Self {
        let unknown = Mutex::new(UnknownCallers { since: Instant::now(), lines: 0, left_out: 0 });
        AccessLogs(Arc::new(AccessLogState { metrics, unknown }))
    }

    /// Begins a request.
    pub(crate) fn begin(&self, method: &Method, path: &str, source: SocketAddr) -> AccessLog {
        AccessLog(Arc::new(Entry {
            shared: self.0.clone(),
            begin: Instant::now(),
            source,
            method: method.clone(),
            path: cut(path).into(),
            span: tracing::error_span!("request", user = Empty, verb = Empty, resource = Empty),
            facts: Mutex::default(),
        }))
    }
}

impl AccessLogState {
    /// Returns the number of lines left out since the last one, if an unauthenticated caller may have a line now.
    fn line_of_unknown(&self, now: Instant) -> Option<u64> {
        let mut unknown = self.unknown.lock();
        if now.saturating_duration_since(unknown.since) >= Duration::from_secs(1) {
            unknown.since = now;
            unknown.lines = 0;
        }
        if unknown.lines >= UNKNOWN_LINES {
            unknown.left_out += 1;
            return None;
        }
        unknown.lines += 1;
        Some(std::mem::take(&mut unknown.left_out))
    }
}

impl AccessLog {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.facts.lock()
    }

    /// Returns the span around all work on the request.
    pub(crate) fn span(&self) -> &Span {
        &self.0.span
    }

    /// Records the caller's name.
    pub fn user(&self, user: &str) {
        self.0.span.record("user", user);
        self.facts().user = Some(user.into());
    }

    /// Returns the caller, once known.
    pub(crate) fn known_user(&self) -> Option<Arc<str>> {
        self.facts().user.clone()
    }

    /// Records the objects of the request.
    pub fn about(&self, attributes: &Attributes, object: &str, subresource: &str) {
        self.0.span.record("verb", attributes.verb.as_str());
        self.0.span.record("resource", attributes.resource.as_str());
        let mut facts = self.facts();
        facts.attributes = Some(attributes.clone());
        facts.object = object.into();
        facts.subresource = subresource.into();
    }

    /// Records the uid of the row that the request changes.
    pub fn uid(&self, uid: &str) {
        self.facts().uid = Some(uid.into());
    }

    /// Records that the request has changed this many more objects.
    pub fn count(&self, objects: usize) {
        *self.facts().count.get_or_insert_default() += objects as u64;
    }

    /// Records that the request gets no line, only a count.
    pub fn quiet(&self) {
        self.facts().quiet = true;
    }

    /// Records that the request is a dry run.
    pub fn dry_run(&self) {
        self.facts().dry_run = true;
    }

    /// Records that work has begun that does not end with the connection.
    pub(crate) fn work_begins(&self) {
        self.facts().work = Work::Begun;
    }

    /// Records that this work has ended, and the code of its answer.
    pub(crate) fn work_ended(&self, code: StatusCode) {
        self.facts().work = Work::Ended(code.as_u16());
    }

    /// Records the answer to the client.
    pub fn answered(&self, code: StatusCode) {
        self.facts().answered = Some((code.as_u16(), self.0.begin.elapsed()));
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Entry { shared, begin, source, method, path, facts, .. } = self;
        let facts = facts.get_mut();
        let (code, time) = facts.answered.unwrap_or_else(|| (CLIENT_GONE, begin.elapsed()));
        let verb: Option<Verb> = facts.attributes.as_ref().map(|attributes| attributes.verb);
        let resource = facts.attributes.as_ref().map_or("", |attributes| attributes.resource.as_str());
        shared.metrics.answered(verb, resource, code, time);
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let Some(attributes) = &facts.attributes else {
            if facts.quiet || code < 400 {
                return;
            }
            let left_out = match facts.user {
                Some(_) => 0,
                None => match shared.line_of_unknown(Instant::now()) {
                    Some(left_out) => left_out,
                    None => return,
                },
            };
            tracing::info!(
                target: "audit", parent: None, user = facts.user.as_deref(), %method, path = &**path, code, milliseconds,
                left_out = (left_out > 0).then_some(left_out), %source, "Request"
            );
            return;
        };
        let Attributes { verb, group, resource, namespace, name, .. } = attributes;
        let name = if facts.object.is_empty() { name.as_str() } else { &*facts.object };
        let outcome = match facts.work {
            Work::Ended(outcome) if outcome == code => None,
            Work::Ended(outcome) => Some(outcome.to_string()),
            Work::Begun => Some("unfinished".to_owned()),
            Work::None => None,
        };
        tracing::info!(
            target: "audit", parent: None, user = facts.user.as_deref().unwrap_or_default(), verb = verb.as_str(), group, resource,
            subresource = &*facts.subresource, namespace = cut(namespace), name = cut(name), uid = facts.uid.as_deref(),
            count = facts.count, dryRun = facts.dry_run.then_some(true), code, outcome, milliseconds, %source, "Request"
        );
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessLog")
    }
}

/// Returns the beginning of a text.
fn cut(text: &str) -> &str {
    let end = (0..=MOST_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::{AccessLogs, MOST_BYTES, UNKNOWN_LINES, cut};
    use crate::metrics::Metrics;
    use std::time::{Duration, Instant};

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = "ä".repeat(MOST_BYTES);
        assert_eq!(cut(&long).len(), MOST_BYTES - 1);
    }

    #[test]
    fn callers_who_are_not_known_have_a_few_lines_a_second() {
        let logs = AccessLogs::new(Metrics::new().unwrap());
        let begin = Instant::now();
        let written = (0..100).filter(|_| logs.0.line_of_unknown(begin).is_some()).count();
        assert_eq!(written, UNKNOWN_LINES as usize);
        let later = begin + Duration::from_secs(2);
        assert_eq!(logs.0.line_of_unknown(later), Some(100 - u64::from(UNKNOWN_LINES)));
        assert_eq!(logs.0.line_of_unknown(later), Some(0));
    }
}
