//! One HTTP request to a port of 127.0.0.1, without a runtime. It is HTTP/1.0, so the response ends when the connection
//! does.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

use anyhow::{Context as _, Result};

/// The time for which the other side may be silent.
const TIMEOUT: Option<Duration> = Some(Duration::from_secs(10));

/// Returns the status and the body of the answer.
///
/// # Errors
/// When no server listens or answers in ten seconds, or the answer is not HTTP with a text.
pub(crate) fn request(port: u16, method: &str, path: &str, body: &str) -> Result<(u16, String)> {
    let mut stream =
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).with_context(|| format!("connecting to port {port}"))?;
    stream.set_read_timeout(TIMEOUT)?;
    stream.set_write_timeout(TIMEOUT)?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("reading the answer to {method} {path}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").with_context(|| format!("no HTTP: {answer}"))?;
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    Ok((status.with_context(|| format!("no status in {head}"))?, body.to_owned()))
}
