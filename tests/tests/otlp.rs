//! Spans that the program exports over OTLP, to receivers that answer and that do not.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use ingester_tests::Ingester;
use ingester_tests::process::{free_port, wait_until};
use ingester_tests::shared_apiserver;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use parking_lot::Mutex;
use prost::Message as _;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Far longer than anything here takes.
const DEADLINE: Duration = Duration::from_secs(60);

const BINARY: &str = env!("CARGO_BIN_EXE_ingester");

/// A list of models.
const MODELS: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";

/// A span as its receiver gets it.
#[derive(Clone, Debug, PartialEq)]
struct Span {
    service: String,
    name: String,
    fields: BTreeMap<String, String>,
}

/// A receiver of OTLP over HTTP.
struct Receiver {
    port: u16,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let spans = Arc::new(Mutex::new(Vec::new()));
        let all = spans.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let all = all.clone();
                std::thread::spawn(move || receive(connection.unwrap(), &all));
            }
        });
        Receiver { port, spans }
    }

    fn environment(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the fields of the spans of this name, once they satisfy a condition.
    fn until(&self, name: &str, enough: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let mut found = Vec::new();
        wait_until(&format!("spans `{name}`"), DEADLINE, || {
            found = self.spans.lock().iter().filter(|span| span.name == name).cloned().collect();
            Ok(enough(&found))
        })
        .unwrap_or_else(|error| panic!("{error:#}: {:?}", self.spans.lock()));
        found
    }
}

/// Answers requests of one connection, and keeps their spans.
fn receive(mut connection: TcpStream, all: &Mutex<Vec<Span>>) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    loop {
        let mut length = 0;
        let mut lines = Vec::new();
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
            line = line.trim_end().to_lowercase();
            length = line.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
            lines.push(std::mem::take(&mut line));
        }
        if lines.is_empty() {
            return;
        }
        assert!(lines[0].starts_with("post /v1/traces "), "{lines:?}");
        assert!(lines.contains(&"content-type: application/x-protobuf".to_owned()), "{lines:?}");
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
        for of_resource in request.resource_spans {
            let service = fields(of_resource.resource.unwrap().attributes).remove("service.name").unwrap();
            let spans = of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            all.lock().extend(spans.map(|span| {
                assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
                assert!(span.events.is_empty(), "events are the log: {span:?}");
                Span { service: service.clone(), name: span.name, fields: fields(span.attributes) }
            }));
        }
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    }
}

fn fields(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::StringValue(text) => text,
        other => format!("{other:?}"),
    };
    attributes.into_iter().map(|field| (field.key, text(field.value.unwrap().value.unwrap()))).collect()
}

/// A running `ingester serve`.
struct Server {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crd-specs/samples");
        let database = ["--database-url", "sqlite://objects.db"];
        let command = |arguments: &[&str]| {
            let mut command = Command::new(BINARY);
            command.args(arguments).args(database).current_dir(folder.path()).env_remove("KUBECONFIG");
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command
        };
        let imported = command(&["import", samples.to_str().unwrap()]).output().unwrap();
        assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
        let port = free_port().unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut command = command(&["serve", "--insecure-loopback", &port.to_string()]);
        let process = command.envs(environment.iter().copied()).stderr(log).spawn().unwrap();
        let server = Server { process, port, folder };
        wait_until("the server", DEADLINE, || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok()))
            .unwrap_or_else(|error| panic!("{error:#}: {}", server.log()));
        server
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Returns the first line of the answer.
    fn get(&self, path: &str) -> String {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(connection, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }

    /// Ends it, and returns how long that took.
    fn stop(&mut self) -> Duration {
        let begin = Instant::now();
        assert!(Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap().success());
        let status = self.process.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.log());
        begin.elapsed()
    }
}

#[test]
fn a_request_has_a_span_with_user_verb_and_resource() {
    let receiver = Receiver::start();
    let endpoint = receiver.environment();
    let mut server = Server::start(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_SERVICE_NAME", "models-of-ml"),
        // The log does not decide about spans.
        ("RUST_LOG", "off"),
    ]);
    assert_eq!(server.get(MODELS), "HTTP/1.1 200 OK");
    // Sent at the end, not only after five seconds.
    server.stop();
    let of_models = |span: &&Span| span.fields.contains_key("resource");
    let spans = receiver.until("request", |spans| spans.iter().any(|span| of_models(&span)));
    let span = spans.iter().find(of_models).unwrap();
    let expected = [("user", "ingester:insecure-loopback"), ("verb", "list"), ("resource", "models")];
    assert_eq!(span.fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    assert_eq!(span.service, "models-of-ml");
}

#[test]
fn a_unit_has_a_span_with_its_kind_when_it_ends() {
    let receiver = Receiver::start();
    let endpoint = receiver.environment();
    let cluster = shared_apiserver().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "metadataStorage: {{enableMetadataStorage: true, databaseURL: 'sqlite://{}'}}\n\
         ingester: {{kinds: [Model], namespaces: [otlp]}}\n",
        folder.path().join("objects.db").display()
    );
    let environment = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{endpoint}/v1/traces"))];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let kubeconfig = cluster.kubeconfig();
    let ingester = Ingester::start(Path::new(BINARY), &config, &kubeconfig, &environment).unwrap();
    wait_until("the units", DEADLINE, || Ok(ingester.logs()?.contains("connection established"))).unwrap();
    ingester.stop().unwrap();
    let spans = receiver.until("unit", |spans| !spans.is_empty());
    let fields = [("kind", "Model"), ("namespace", "otlp")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(spans, [Span { service: "ingester".into(), name: "unit".into(), fields }]);
}

#[test]
fn a_silent_receiver_delays_neither_requests_nor_the_end() {
    // It takes connections and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let mut server = Server::start(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "600000"),
        // A short queue is full at once.
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "2"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
    ]);
    let begin = Instant::now();
    for _ in 0..20 {
        assert_eq!(server.get(MODELS), "HTTP/1.1 200 OK");
    }
    assert!(begin.elapsed() < DEADLINE, "requests took {:?}", begin.elapsed());
    let took = server.stop();
    assert!(took < DEADLINE, "it took {took:?} to end");
    assert!(server.log().contains("The last spans were not exported"), "{}", server.log());
}

#[test]
fn a_receiver_that_is_not_there_is_logged_once() {
    let endpoint = format!("http://127.0.0.1:{}", free_port().unwrap());
    let environment = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "50"),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
    ];
    let mut server = Server::start(&environment);
    let failed = |server: &Server| server.log().matches("Spans cannot be exported").count();
    wait_until("a line of the log", DEADLINE, || {
        server.get(MODELS);
        Ok(failed(&server) > 0)
    })
    .unwrap();
    server.get(MODELS);
    server.stop();
    assert_eq!(failed(&server), 1, "{}", server.log());
    assert!(server.log().contains("Connection refused"), "{}", server.log());
}

#[test]
fn a_mistake_in_a_variable_is_logged_and_the_program_works() {
    for (environment, says) in [
        (
            [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")],
            "OTEL_EXPORTER_OTLP_TIMEOUT is `10s`",
        ),
        ([("OTEL_EXPORTER_OTLP_ENDPOINT", "no address"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "10")], "endpoint"),
    ] {
        let mut server = Server::start(&environment);
        assert_eq!(server.get(MODELS), "HTTP/1.1 200 OK");
        server.stop();
        let log = server.log();
        assert!(log.contains("Spans are not exported") && log.contains(says), "{log}");
    }
}

#[test]
fn nothing_is_exported_without_an_endpoint_or_when_the_sdk_is_disabled() {
    let receiver = Receiver::start();
    let endpoint = receiver.environment();
    let disabled = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_SDK_DISABLED", "true")];
    for environment in [&disabled[..], &[("OTEL_SERVICE_NAME", "named")]] {
        let mut server = Server::start(environment);
        assert_eq!(server.get(MODELS), "HTTP/1.1 200 OK");
        server.stop();
        assert!(!server.log().to_lowercase().contains("spans"), "{}", server.log());
    }
    assert_eq!(*receiver.spans.lock(), []);
}
