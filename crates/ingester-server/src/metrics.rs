//! The server's metrics for Prometheus. `docs/metrics.md` lists them.
//!
//! May use: caller.
//!
//! Nothing here is global: each [`Metrics`] has its own registry. Labels come from a request only where few values are possible.

use crate::caller::Verb;
use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, Result, TextEncoder,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Buckets of requests, in seconds: an object by name takes a millisecond, a long list a minute.
const SECONDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// All metrics of one server. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    requests: IntCounterVec,
    seconds: HistogramVec,
    in_flight: IntGauge,
    connections: IntGauge,
    refused: IntCounterVec,
    reviews: IntCounterVec,
    certificates: IntCounterVec,
    watches: IntGaugeVec,
    watch_events: IntCounterVec,
    watches_ended: IntCounterVec,
    watch_lag: HistogramVec,
    registry: Registry,
}

/// Why a connection got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalReason {
    /// The limit is reached, and all connections are in use.
    Full,
    /// It was idle, and the limit was reached.
    Idle,
    /// The TLS handshake failed.
    Handshake,
}

/// The questions to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Review {
    /// The user of a token.
    Token,
    /// The rights of a caller.
    Access,
}

impl Review {
    const ALL: [Review; 2] = [Review::Token, Review::Access];

    const fn label(self) -> &'static str {
        match self {
            Review::Token => "token",
            Review::Access => "access",
        }
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewResult {
    /// The answer was known.
    Cached,
    /// The API server said yes.
    Yes,
    /// The API server said no.
    No,
    /// The API server gave no answer.
    Failed,
}

impl ReviewResult {
    const ALL: [ReviewResult; 4] = [ReviewResult::Cached, ReviewResult::Yes, ReviewResult::No, ReviewResult::Failed];

    const fn label(self) -> &'static str {
        match self {
            ReviewResult::Cached => "cached",
            ReviewResult::Yes => "yes",
            ReviewResult::No => "no",
            ReviewResult::Failed => "failed",
        }
    }
}

impl Inner {
    /// Creates the series whose labels are known, so that they begin at 0.
    fn begin(&self) {
        for reason in [RefusalReason::Full, RefusalReason::Idle, RefusalReason::Handshake] {
            self.refused.with_label_values(&[reason.label()]);
        }
        for review in Review::ALL {
            for result in ReviewResult::ALL {
                self.reviews.with_label_values(&[review.label(), result.label()]);
            }
        }
        for result in ["success", "failed"] {
            self.certificates.with_label_values(&[result]);
        }
        for reason in ["slow", "expired", "refused"] {
            self.watches_ended.with_label_values(&[reason]);
        }
    }
}

fn registered<M: Collector + Clone + 'static>(on: &Registry, metric: Result<M>) -> Result<M> {
    let metric = metric?;
    on.register(Box::new(metric.clone()))?;
    Ok(metric)
}

fn counters(on: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec> {
    registered(on, IntCounterVec::new(Opts::new(name, help), labels))
}

fn gauge(on: &Registry, name: &str, help: &str) -> Result<IntGauge> {
    registered(on, IntGauge::new(name, help))
}

fn gauges(on: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntGaugeVec> {
    registered(on, IntGaugeVec::new(Opts::new(name, help), labels))
}

fn seconds(on: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<HistogramVec> {
    registered(on, HistogramVec::new(HistogramOpts::new(name, help).buckets(SECONDS.to_vec()), labels))
}

impl Metrics {
    /// A registry with all metrics.
    ///
    /// # Errors
    /// If two metrics have the same name, which would be a defect of this crate.
    pub fn new() -> Result<Self> {
        let registry = Registry::new();
        let on = &registry;
        let inner = Inner {
            requests: counters(
                on,
                "ingester_serve_requests_total",
                "Requests answered, by verb as in RBAC (other without one), the kind's plural (empty without one) and HTTP code; 499: the client disconnected before the answer",
                &["verb", "resource", "code"],
            )?,
            seconds: seconds(
                on,
                "ingester_serve_request_duration_seconds",
                "Time from a request to the start of its answer",
                &["verb", "resource"],
            )?,
            in_flight: gauge(
                on,
                "ingester_serve_requests_in_flight",
                "Requests in progress; at most serve.maxInFlight of them for objects",
            )?,
            connections: gauge(on, "ingester_serve_connections", "Open connections, at most serve.maxConnections")?,
            refused: counters(
                on,
                "ingester_serve_connections_refused_total",
                "Connections closed without an answer: all were in use (full), it was idle and made room for another one (idle), or the TLS handshake failed (handshake)",
                &["reason"],
            )?,
            reviews: counters(
                on,
                "ingester_serve_reviews_total",
                "Reviews of tokens (token) and of callers' rights (access): the answer was known (cached), the API server said yes or no, or it did not answer, or was not asked because 15 other tokens were under review (failed)",
                &["review", "result"],
            )?,
            certificates: counters(
                on,
                "ingester_serve_certificate_reloads_total",
                "Times that the certificate was read again: success, or failed if the former one was kept",
                &["result"],
            )?,
            watches: gauges(
                on,
                "ingester_serve_watches",
                "Open watches; at most serve.maxWatches for all resources together",
                &["resource"],
            )?,
            watch_events: counters(
                on,
                "ingester_serve_watch_events_total",
                "Events passed to connections, by type",
                &["resource", "type"],
            )?,
            watches_ended: counters(
                on,
                "ingester_serve_watches_ended_total",
                "Watches ended early: the client did not read its events (slow), its version is no longer in the log (expired), or the client lost the right or the database failed (refused)",
                &["reason"],
            )?,
            watch_lag: seconds(
                on,
                "ingester_serve_watch_lag_seconds",
                "Time from the commit of a change (the database's clock) until its event was passed to the connection (the server's clock)",
                &["resource"],
            )?,
            registry,
        };
        inner.begin();
        Ok(Metrics(Arc::new(inner)))
    }

    /// A request was answered. `resource` is the plural of a kind that is served, or empty.
    pub fn answered(&self, verb: impl Into<Option<Verb>>, resource: &str, code: u16, time: Duration) {
        let verb = verb.into().map_or("other", Verb::as_str);
        let mut digits = *b"000";
        for (digit, divisor) in digits.iter_mut().zip([100, 10, 1]) {
            *digit += u8::try_from(code / divisor % 10).unwrap_or(0);
        }
        let code = std::str::from_utf8(&digits).unwrap_or_default();
        self.0.requests.with_label_values(&[verb, resource, code]).inc();
        self.0.seconds.with_label_values(&[verb, resource]).observe(time.as_secs_f64());
    }

    /// Counts one request while the result exists.
    pub(crate) fn request(&self) -> GaugeGuard {
        GaugeGuard::new(&self.0.in_flight)
    }

    /// Counts one connection while the result exists.
    pub(crate) fn connection(&self) -> GaugeGuard {
        GaugeGuard::new(&self.0.connections)
    }

    pub(crate) fn refused(&self, reason: RefusalReason) {
        self.0.refused.with_label_values(&[reason.label()]).inc();
    }

    pub(crate) fn reviewed(&self, review: Review, result: ReviewResult) {
        self.0.reviews.with_label_values(&[review.label(), result.label()]).inc();
    }

    pub(crate) fn reloaded(&self, success: bool) {
        let reloads: IntCounter = self.0.certificates.with_label_values(&[if success { "success" } else { "failed" }]);
        reloads.inc();
    }

    /// Counts one watch of a kind while the result exists.
    pub(crate) fn watch(&self, resource: &str) -> GaugeGuard {
        GaugeGuard::new(&self.0.watches.with_label_values(&[resource]))
    }

    /// An event was handed to the connection.
    pub(crate) fn watch_event(&self, resource: &str, event: &str) {
        self.0.watch_events.with_label_values(&[resource, event]).inc();
    }

    /// A watch was ended before its time.
    pub(crate) fn watch_ended(&self, reason: &str) {
        self.0.watches_ended.with_label_values(&[reason]).inc();
    }

    /// An event was handed to the connection this many microseconds after its change.
    pub(crate) fn watch_lag(&self, resource: &str, microseconds: i64) {
        let time = Duration::from_micros(u64::try_from(microseconds).unwrap_or(0));
        self.0.watch_lag.with_label_values(&[resource]).observe(time.as_secs_f64());
    }

    /// All metrics in Prometheus' text format, sorted by name.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for family in self.0.registry.gather() {
            // One family at a time, so that an error in one does not hide the others.
            if let Err(error) = TextEncoder::new().encode_utf8(std::slice::from_ref(&family), &mut text) {
                tracing::debug!(metric = family.name(), %error, "a metric cannot be shown");
            }
        }
        text
    }
}

impl RefusalReason {
    const fn label(self) -> &'static str {
        match self {
            RefusalReason::Full => "full",
            RefusalReason::Idle => "idle",
            RefusalReason::Handshake => "handshake",
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// An item that is counted while it exists.
#[derive(Debug)]
pub(crate) struct GaugeGuard(IntGauge);

impl GaugeGuard {
    fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        GaugeGuard(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::{Metrics, RefusalReason, Review, ReviewResult};
    use crate::caller::Verb;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn requests_are_counted_by_verb_resource_and_code() {
        let metrics = Metrics::new().unwrap();
        metrics.answered(Some(Verb::List), "models", 200, Duration::from_millis(3));
        metrics.answered(Some(Verb::List), "models", 200, Duration::from_millis(30));
        metrics.answered(None, "", 404, Duration::ZERO);
        let request = metrics.request();
        let _connection = metrics.connection();
        metrics.refused(RefusalReason::Full);
        metrics.reviewed(Review::Access, ReviewResult::Cached);
        metrics.reloaded(false);
        drop(metrics.request());
        let text = metrics.render();
        for line in [
            "ingester_serve_requests_total{code=\"200\",resource=\"models\",verb=\"list\"} 2",
            "ingester_serve_requests_total{code=\"404\",resource=\"\",verb=\"other\"} 1",
            "ingester_serve_request_duration_seconds_bucket{resource=\"models\",verb=\"list\",le=\"0.005\"} 1",
            "ingester_serve_requests_in_flight 1",
            "ingester_serve_connections 1",
            "ingester_serve_connections_refused_total{reason=\"full\"} 1",
            "ingester_serve_connections_refused_total{reason=\"idle\"} 0",
            "ingester_serve_connections_refused_total{reason=\"handshake\"} 0",
            "ingester_serve_reviews_total{result=\"cached\",review=\"access\"} 1",
            "ingester_serve_reviews_total{result=\"no\",review=\"token\"} 0",
            "ingester_serve_certificate_reloads_total{result=\"failed\"} 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
        }
        drop(request);
        assert!(metrics.render().contains("ingester_serve_requests_in_flight 0\n"));
    }

    #[test]
    fn the_documentation_lists_every_metric() {
        let metrics = Metrics::new().unwrap();
        metrics.answered(None, "", 200, Duration::ZERO);
        let _watch = metrics.watch("models");
        metrics.watch_event("models", "ADDED");
        metrics.watch_lag("models", 1000);
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
        ingester_tests::exposition::compare_table(&page, "## The server's", &metrics.render());
    }
}
