//! Logging: lines on standard error, as text for people or as JSON for a log collector.
//!
//! May use: output, spans.
//!
//! No line may contain a password or a token, at any level. Most libraries comply by themselves: sqlx logs statements with placeholders and
//! never its connect options (on MySQL we turn its statement log off, because some texts contain an object's values); kube marks the
//! `Authorization` header as sensitive; hyper logs sizes and states; rustls logs no keys. [`QUIET`] limits the others, whatever level is
//! set.

use crate::output;
use crate::spans::Export;
use anyhow::anyhow;
use serde_json::{Map, Value};
use std::fmt::{self, Write as _};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

/// Targets of libraries that log forbidden content, and the lowest level that still passes. Nothing is lost, because both also return the
/// same to us as an error.
const QUIET: &[(&str, tracing::Level)] = &[
    // As a warning, it logs a whole unreadable answer, with objects.
    ("kube_client::client", tracing::Level::ERROR),
    // It logs complete errors. The error of an exec plugin contains its environment and its output, which may be the token.
    ("kube_runtime::watcher", tracing::Level::WARN),
];

/// The format of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people, in colours if standard error is a terminal and `NO_COLOR` is not set.
    Text,
    /// One JSON object per line: `timestamp` (RFC 3339, UTC), `level`, `target`, `message`, and the fields of the event and of its spans
    /// (`kind`, `namespace`, `name`, ...).
    Json,
}

/// Changes the level of a running program.
pub(crate) struct Level {
    filter: reload::Handle<EnvFilter, Registry>,
    /// `RUST_LOG` decides what is logged.
    fixed: bool,
}

impl Level {
    /// Logs from this level on. Returns false if that has no effect, because `RUST_LOG` is set.
    ///
    /// # Errors
    /// If the level is not valid.
    pub(crate) fn set(&self, level: &str) -> anyhow::Result<bool> {
        if !self.fixed {
            self.filter.reload(configured(level)?)?;
        }
        Ok(!self.fixed)
    }
}

/// The filter of `log.level`.
fn configured(level: &str) -> anyhow::Result<EnvFilter> {
    let of = "`log.level` of the configuration";
    filter(level, of)?;
    filter(&unless_named(level), of)
}

/// Starts logging for this process. `level` is `log.level` of the configuration: a level, or also levels for single targets, as
/// in `info,sqlx=warn`. `RUST_LOG` of the environment overrides it. `export` gets the spans, too.
///
/// # Errors
/// If the level that applies is not valid, or logging was started before.
pub(crate) fn start(format: Format, level: &str, export: Option<&Export>) -> anyhow::Result<Level> {
    let variable = std::env::var_os("RUST_LOG").filter(|value| !value.is_empty());
    let filter = match &variable {
        Some(value) => filter(&value.to_string_lossy(), "RUST_LOG of the environment")?,
        None => configured(level)?,
    };
    let colours = output::has_colours(&std::io::stderr());
    let (filter, handle) = reload::Layer::new(filter);
    let mut layers = vec![lines(format, filter, colours, std::io::stderr)];
    layers.extend(export.map(Export::layer));
    Registry::default().with(layers).try_init().map_err(|error| anyhow!("logging cannot be set up: {error}"))?;
    Ok(Level { filter: handle, fixed: variable.is_some() })
}

/// Returns the levels, without kube's own line for each request that fails, and for each connection without a check of the certificate: our
/// errors say the same, and name the server, and we warn once. A user who names one of kube's targets wants these lines.
fn unless_named(level: &str) -> String {
    if level.contains("kube") { level.to_owned() } else { format!("{level},{ECHO}=off,{TLS}=off") }
}

/// The target of kube that logs each connection without a check of the certificate.
const TLS: &str = "kube_client::client::tls";

/// The target of kube that logs each request that fails.
const ECHO: &str = "kube_client::client::builder";

/// Parses levels, more strictly than the library. The library takes a word that is not a level for a target: it logs everything of that
/// target and nothing of all others. So a misspelt level would make the program silent.
fn filter(text: &str, origin: &str) -> anyhow::Result<EnvFilter> {
    let wrong = |part: &str, reason: &str| {
        anyhow!(
            "{origin} is `{text}`, of which `{part}` {reason}: use off, error, warn, info, debug or trace, or levels for \
             single parts too, as in `info,ingester_core=debug,sqlx=warn`"
        )
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    // A part with a bracket is for a span and needs no level.
    for part in parts.iter().filter(|part| !part.contains('[')) {
        let level = part.split_once('=').map_or(*part, |(_, level)| level);
        if level.parse::<LevelFilter>().is_err() {
            return Err(wrong(part, "is not a level"));
        }
    }
    EnvFilter::builder().parse(parts.join(",")).map_err(|error| wrong(text, &format!("cannot be read ({error})")))
}

/// Lines of JSON with the message and the fields of an event and of its spans. If a field occurs several times, the line has the innermost
/// value; the event is inside all of its spans.
struct FlatJson(format::Format<format::Json>);

impl FlatJson {
    fn new() -> Self {
        FlatJson(format::format().json().flatten_event(true).with_current_span(false).with_span_list(false))
    }
}

impl<S, N> FormatEvent<S, N> for FlatJson
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        let mut of_spans = Map::new();
        for span in context.event_scope().into_iter().flat_map(|spans| spans.from_root()) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>().map(|fields| serde_json::from_str(fields));
            of_spans.extend(fields.and_then(Result::<Map<String, Value>, _>::ok).unwrap_or_default());
        }
        if !of_spans.is_empty() {
            let of_event: Map<String, Value> = serde_json::from_str(&line).map_err(|_| fmt::Error)?;
            of_spans.retain(|field, _| !of_event.contains_key(field));
            line.truncate(line.rfind('}').ok_or(fmt::Error)?);
            for (field, value) in of_spans {
                write!(line, ",{}:{value}", Value::from(field))?;
            }
            line.push_str("}\n");
        }
        writer.write_str(&line)
    }
}

/// A layer of the subscriber.
type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The layer that writes lines, for any writer.
fn lines<W>(format: Format, filter: reload::Layer<EnvFilter, Registry>, colours: bool, writer: W) -> BoxedLayer
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    let layer: BoxedLayer = match format {
        Format::Text => layer.with_ansi(colours).boxed(),
        Format::Json => layer.json().event_format(FlatJson::new()).boxed(),
    };
    // Keep the hint of the inner filter: without one, lines that are not shown would be formatted anyway.
    let quiet = filter_fn(|metadata| {
        QUIET.iter().all(|(target, level)| metadata.target() != *target || metadata.level() <= level)
    })
    .with_max_level_hint(LevelFilter::TRACE);
    layer.with_filter(filter.and(quiet)).boxed()
}

#[cfg(test)]
mod tests {
    use super::{Format, Level, Registry, configured, filter, lines, reload, unless_named};
    use ingester_store::{Address, ConnectOptions, Retry, Store};
    use kube::api::{Api, DynamicObject, ListParams};
    use kube::core::{ApiResource, GroupVersionKind};
    use parking_lot::Mutex;
    use serde_json::{Map, Value, json};
    use std::io::{self, Write};
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tracing::field::Empty;
    use tracing_subscriber::layer::SubscriberExt as _;

    /// A writer that keeps its text.
    #[derive(Clone, Default)]
    struct TextBuffer(Arc<Mutex<Vec<u8>>>);

    impl Write for TextBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl TextBuffer {
        fn to_text(&self) -> String {
            String::from_utf8(self.0.lock().clone()).unwrap()
        }
    }

    /// Returns the log of `act`.
    fn logged(format: Format, levels: &str, colours: bool, act: impl FnOnce()) -> String {
        let kept = TextBuffer::default();
        let writer = kept.clone();
        let (filter, _) = reload::Layer::new(filter(levels, "here").unwrap());
        let subscriber = Registry::default().with(lines(format, filter, colours, move || writer.clone()));
        tracing::subscriber::with_default(subscriber, act);
        kept.to_text()
    }

    /// Returns the log of asynchronous work at all levels.
    fn traced(work: impl Future<Output = ()>) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        logged(Format::Text, "trace", false, || runtime.block_on(work))
    }

    fn say_something() {
        tracing::info!(kind = "Model", namespace = "ml", name = "fraud", rows = 3, "two\nlines");
    }

    #[test]
    fn a_json_log_line_has_its_fields_beside_the_message() {
        let text = logged(Format::Json, "info", true, say_something);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1, "{text}");
        let mut line: Value = serde_json::from_str(lines[0]).unwrap();
        let timestamp = line["timestamp"].take();
        let timestamp = timestamp.as_str().unwrap();
        let time = timestamp.parse::<k8s_openapi::jiff::Timestamp>();
        assert!(time.is_ok() && timestamp.ends_with('Z'), "{timestamp}");
        let expected = json!({
            "timestamp": null, "level": "INFO", "target": "ingester::logging::tests", "message": "two\nlines",
            "kind": "Model", "namespace": "ml", "name": "fraud", "rows": 3
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn a_json_log_line_has_the_fields_of_its_spans_beside_the_message() {
        let text = logged(Format::Json, "warn", false, || {
            let unit = tracing::error_span!("unit", kind = "Model", namespace = "ml", shard = Empty, user = Empty);
            let _unit = unit.enter();
            unit.record("user", "a \"b\"");
            let _request = tracing::error_span!("request", kind = "Project", objects = 2).entered();
            let _too_fine = tracing::info_span!("part", objects = 3).entered();
            tracing::warn!(namespace = "other", rows = 3, "said {}", "}");
            tracing::warn!(parent: &unit, "said of the unit");
            tracing::warn!(parent: None, "said outside");
        });
        let lines: Vec<Value> = text
            .lines()
            .map(|line| {
                assert!(line.starts_with("{\"timestamp\":"), "{line}");
                let mut line: Map<String, Value> = serde_json::from_str(line).unwrap();
                line.retain(|field, _| !["timestamp", "level", "target"].contains(&field.as_str()));
                line.into()
            })
            .collect();
        let user = "a \"b\"";
        let expected = [
            json!({
                "message": "said }", "kind": "Project", "namespace": "other", "user": user, "objects": 2, "rows": 3
            }),
            json!({"message": "said of the unit", "kind": "Model", "namespace": "ml", "user": user}),
            json!({"message": "said outside"}),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_text_log_line_begins_with_its_spans() {
        let text = logged(Format::Text, "warn", false, || {
            tracing::error_span!("unit", kind = "Model").in_scope(|| tracing::warn!("said"));
        });
        assert!(text.ends_with(" WARN unit{kind=\"Model\"}: ingester::logging::tests: said\n"), "{text}");
    }

    #[test]
    fn text_logs_have_colours_only_on_request() {
        let plain = logged(Format::Text, "info", false, say_something);
        assert!(plain.contains("INFO") && plain.contains("kind=\"Model\""), "{plain}");
        assert!(!plain.contains('\u{1b}'), "{plain}");
        assert!(logged(Format::Text, "info", true, say_something).contains('\u{1b}'));
    }

    #[test]
    fn the_level_decides_what_is_shown() {
        assert_eq!(logged(Format::Text, "warn", false, say_something), "");
        assert_eq!(logged(Format::Text, "info,ingester=warn", false, say_something), "");
        assert_ne!(logged(Format::Text, "warn,ingester=info", false, say_something), "");
        assert_eq!(logged(Format::Text, "off", false, || tracing::error!("x")), "");
    }

    #[test]
    fn the_level_changes_while_the_program_runs_unless_rust_log_says_it() {
        for fixed in [false, true] {
            let kept = TextBuffer::default();
            let writer = kept.clone();
            let (filter, handle) = reload::Layer::new(configured("warn").unwrap());
            let level = Level { filter: handle, fixed };
            let subscriber = Registry::default().with(lines(Format::Text, filter, false, move || writer.clone()));
            tracing::subscriber::with_default(subscriber, || {
                let say = |text: &str| tracing::info!("{text}");
                say("at first");
                assert_eq!(level.set("info").unwrap(), !fixed);
                say("then");
                tracing::error!(target: "kube_client::client::builder", "said by kube");
                assert!(level.set("loud").is_err() != fixed);
                say("past a mistake");
                level.set("error").unwrap();
                say("in the end");
            });
            let said = ["at first", "then", "past a mistake", "in the end"].map(|text| kept.to_text().contains(text));
            assert_eq!(said, if fixed { [false; 4] } else { [false, true, true, false] }, "{}", kept.to_text());
            assert!(!kept.to_text().contains("said by kube"), "{}", kept.to_text());
        }
    }

    #[test]
    fn requests_that_fail_are_logged_by_kube_on_request_only() {
        let echo = || tracing::error!(target: "kube_client::client::builder", "failed with error");
        for (level, shown) in [("info", false), ("debug", false), ("", false), ("info,kube_client=error", true)] {
            let text = logged(Format::Text, &unless_named(level), false, echo);
            assert_eq!(text.contains("failed with error"), shown, "{level}: {text}");
        }
        assert!(logged(Format::Text, "info", false, echo).contains("failed with error"), "as RUST_LOG has it");
        let bypassed = || tracing::warn!(target: "kube_client::client::tls::rustls_tls", "Server cert bypassed");
        for (level, shown) in [("info", false), ("info,kube_client=warn", true)] {
            assert_eq!(
                logged(Format::Text, &unless_named(level), false, bypassed).contains("bypassed"),
                shown,
                "{level}"
            );
        }
        let other = logged(Format::Text, &unless_named("info"), false, say_something);
        assert!(other.contains("kind=\"Model\""), "{other}");
    }

    #[test]
    fn an_unknown_level_is_an_error_naming_its_source_and_the_levels() {
        for (text, part) in [
            ("inof", "inof"),
            ("info,sqlx=loud", "sqlx=loud"),
            ("info,sqlx", "sqlx"),
            ("a=b=c", "a=b=c"),
            ("info,=[", "info,=["),
        ] {
            let error = filter(text, "RUST_LOG of the environment").unwrap_err().to_string();
            let start = format!("RUST_LOG of the environment is `{text}`, of which `{part}` ");
            assert!(error.starts_with(&start) && error.contains("use off, error, warn, info"), "{error}");
        }
        for text in ["info", "WARN", "off", "info, sqlx=warn", "", "warn,", "ingester_store=trace", "[x{a=1}]=info"] {
            assert!(filter(text, "here").is_ok(), "{text}");
        }
    }

    #[test]
    fn targets_that_may_log_secrets_are_filtered_at_every_level() {
        let text = logged(Format::Text, "trace", false, || {
            tracing::warn!(target: "kube_client::client", "an answer");
            tracing::debug!(target: "kube_runtime::watcher", "an error");
            tracing::warn!(target: "kube_runtime::watcher", "a warning");
            tracing::debug!(target: "kube_client::client::builder", "a request");
        });
        assert!(!text.contains("an answer") && !text.contains("an error"), "{text}");
        assert!(text.contains("a warning") && text.contains("a request"), "{text}");
    }

    /// Requests a list, with a token, from a server that gives this answer.
    async fn ask_with_a_token(status: &str, body: &str) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut config = kube::Config::new(url.parse().unwrap());
        config.auth_info.token = Some("Unspeakable".to_owned().into());
        config.default_retry = false;
        let client = kube::Client::try_from(config).unwrap();
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("michelangelo.api", "v2", "Model"));
        let models: Api<DynamicObject> = Api::all_with(client, &resource);
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(request).unwrap()
        };
        let parameters = ListParams::default();
        let (request, answer) = tokio::join!(serve, models.list(&parameters));
        assert!(request.contains("Bearer Unspeakable"), "the token was sent: {request}");
        assert_eq!(answer.is_ok(), status == "200 OK" && body.starts_with("{\"kind\""));
    }

    #[test]
    fn no_log_line_contains_a_token_at_any_level() {
        for (status, body) in [
            ("200 OK", r#"{"kind":"ModelList","apiVersion":"michelangelo.api/v2","metadata":{},"items":[]}"#),
            ("200 OK", "{\"token\": \"Unspeakable\", \"items\": 3}"),
            ("403 Forbidden", r#"{"kind":"Status","code":403,"message":"no"}"#),
            ("500 Internal Server Error", "broken"),
            ("nonsense", ""),
        ] {
            let text = traced(ask_with_a_token(status, body));
            assert!(text.contains("requesting") && text.contains("hyper_util"), "the libraries log: {text}");
            assert!(!text.contains("Unspeakable"), "{text}");
        }
    }

    #[test]
    fn no_log_line_contains_a_password_at_any_level() {
        let text = traced(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            // A server that hangs up is enough: a MySQL client sends nothing before the greeting.
            let serve = async {
                loop {
                    drop(listener.accept().await);
                }
            };
            let address: Address = format!("mysql://root:Unspeakable@127.0.0.1:{port}/db").parse().unwrap();
            tracing::debug!(?address, %address, "an address");
            let once = Retry::SHORT.attempts(Some(1));
            let options = ConnectOptions::default().retry(once);
            tokio::select! {
                store = Store::connect(&address, options) => {
                    let error = store.err().expect("nobody answers");
                    tracing::debug!(?error, %error, "an error");
                }
                () = serve => {}
            }
        });
        assert!(text.contains("an error"), "{text}");
        assert!(!text.contains("Unspeakable"), "{text}");
    }
}
