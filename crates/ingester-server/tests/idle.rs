//! Idle connections. The only test in its process, because it measures the memory.

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

use axum::body::Body;
use http::{Request, Response};
use ingester_server::access::AccessLog;
use ingester_server::identity::Peer;
use ingester_server::listen::{Limits, Listener, Tls};
use ingester_server::metrics::Metrics;
use rcgen::generate_simple_self_signed;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

/// Returns the memory that this process holds, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

/// The clients are in the same process, so the server uses less than what is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_connections_are_small() {
    let own = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["tls.crt", "tls.key"].map(|name| folder.path().join(name));
    std::fs::write(&certificate, own.cert.pem()).unwrap();
    std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let tls = Tls::read(&certificate, &key).unwrap();
    let listener = Listener::with_tls("127.0.0.1:0", &tls).await.unwrap();
    let address = listener.address().unwrap();
    let limits = Limits { connections: 1001, idle: Duration::from_secs(600), ..Limits::default() };
    let metrics = Metrics::new().unwrap();
    let handler = |_: Request<Body>, _: Peer, _: AccessLog| async { Response::new(Body::from("ok")) };
    let stop = CancellationToken::new();
    let serving = tokio::spawn(listener.serve(limits, metrics.clone(), handler, stop.clone()));

    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let connector = TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
    let connect = async || {
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = connector.connect(name, TcpStream::connect(address).await.unwrap()).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\nok") {
            assert!(stream.read_buf(&mut answer).await.unwrap() > 0);
        }
        stream
    };
    // Allocations that happen once.
    let mut idle = vec![connect().await];
    let before = resident();
    for _ in 0..1000 {
        idle.push(connect().await);
    }
    let grown = resident().saturating_sub(before);
    assert!(metrics.render().contains("ingester_serve_connections 1001\n"));
    assert!(grown < 64 << 20, "{} bytes a connection, client and server together", grown / 1000);
    stop.cancel();
    serving.await.unwrap();
}
