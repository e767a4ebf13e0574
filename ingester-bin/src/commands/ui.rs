//! `ingester ui`: the console on a port of this machine, with the credentials of a kubeconfig.
//!
//! The page knows only the secret of this process, which is in the part of its address that browsers do not send. So the user's credentials
//! stay here, and another program on this machine cannot use them.

use super::start::stop_on_signals;
use crate::arguments::Ui;
use crate::ending::{Ending, Failure};
use crate::output::{note, print};
use anyhow::{Context as _, anyhow};
use axum::body::Body;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WARNING};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use ingester_server::body::{WaitMark, read};
use ingester_server::console;
use ingester_server::listen::{Limits, Listener};
use ingester_server::metrics::Metrics;
use ingester_server::request::path::{self, OUTER_GROUP, OUTER_VERSION, RequestTarget};
use ingester_server::status::{Reason, Status};
use kube::Client;
use std::io::Read as _;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The headers that are passed on to the server.
const ASKED: [HeaderName; 2] = [ACCEPT, CONTENT_TYPE];

/// The headers that are passed back.
const ANSWERED: [HeaderName; 3] = [CONTENT_TYPE, RETRY_AFTER, WARNING];

/// Passes requests on to the server.
struct Proxy {
    client: Client,
    secret: String,
    /// Requests that change something are passed on, too.
    writes: bool,
}

pub(crate) async fn run(arguments: &Ui) -> Result<Ending, Failure> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let client = arguments.cluster.client().await?;
    let Some(checked) = stop.run_until_cancelled(ensure_ours(&client)).await else { return Ok(Ending::Done) };
    checked?;
    let listener = Listener::on_loopback(arguments.port).await.map_err(|error| {
        Failure::Usage(anyhow!("cannot listen on 127.0.0.1:{}: {error} (--port names another one)", arguments.port))
    })?;
    let address = listener.address().context("the port is not known")?;
    let secret = secret().context("cannot make a secret")?;
    print(&format!("http://{address}/ui/#secret={secret}\n"))?;
    note("Open this address in a browser of this machine. It is good until Ctrl-C; anyone who has it acts as you.");
    let metrics = Metrics::new().map_err(|error| anyhow!("cannot set up the metrics: {error}"))?;
    let proxy = Arc::new(Proxy { client, secret, writes: arguments.write });
    let handler = move |request, _, log: ingester_server::access::AccessLog| {
        log.quiet();
        let proxy = proxy.clone();
        async move { proxy.answer(request).await.unwrap_or_else(|status| status.response()) }
    };
    listener.serve(Limits::default(), metrics, handler, stop).await;
    Ok(Ending::Done)
}

/// Checks that the server of the kubeconfig is an `ingester serve`.
async fn ensure_ours(client: &Client) -> Result<(), Failure> {
    let uri = format!("/apis/{OUTER_GROUP}/{OUTER_VERSION}");
    let request = Request::get(&uri).body(Vec::new()).context("a request")?;
    match client.request_text(request).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Err(Failure::Usage(anyhow!(
            "the server of the kubeconfig is not `ingester serve`: it has no {uri} (`ingester kubeconfig` prints a kubeconfig for one)"
        ))),
        Err(error) => Err(Failure::Usage(anyhow!("the server of the kubeconfig does not answer {uri}: {error}"))),
    }
}

/// 256 bits that cannot be guessed.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Proxy {
    async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let (parts, body) = request.into_parts();
        let target = path::parse(parts.uri.path())?;
        // The console's own files come from this program.
        if let Some(file) = console::answer(&target, &parts) {
            return Ok(file);
        }
        if !self.knows_secret(&parts.headers) {
            let mut status = Status::unauthorized();
            status.message = "open the address that `ingester ui` printed, with its secret".to_owned();
            return Err(status);
        }
        self.ensure_passed(&parts.method, &target)?;
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut passed = Request::builder().method(parts.method.clone()).uri(path);
        for name in ASKED {
            passed = parts.headers.get_all(&name).iter().fold(passed, |passed, value| passed.header(&name, value));
        }
        let passed = passed.body(read(body).await?.to_vec().into()).map_err(Status::internal)?;
        let failed = |error: kube::Error| Status::unavailable(format!("the server does not answer: {error}"));
        let (answer, body) = self.client.send(passed).await.map_err(failed)?.into_parts();
        let mut response = Response::new(Body::new(body));
        *response.status_mut() = answer.status;
        for name in ANSWERED {
            for value in answer.headers.get_all(&name) {
                response.headers_mut().append(&name, value.clone());
            }
        }
        if parts.uri.query().is_some_and(|query| query.split('&').any(|key| key == "watch=true")) {
            response.extensions_mut().insert(WaitMark);
        }
        Ok(response)
    }

    /// Returns true if a request is from the page whose address has the secret.
    fn knows_secret(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        // Compare without stopping at the first difference, because the time would reveal its position.
        given.is_some_and(|given| {
            let differs = |(a, b): (u8, u8)| a ^ b;
            given.len() == self.secret.len()
                && given.bytes().zip(self.secret.bytes()).map(differs).fold(0, |all, one| all | one) == 0
        })
    }

    /// Refuses requests that change something, unless `--write` allows them.
    fn ensure_passed(&self, method: &Method, target: &RequestTarget<'_>) -> Result<(), Status> {
        let reads = match *method {
            Method::GET | Method::HEAD => true,
            Method::POST => matches!(target, RequestTarget::SelfReview(_)),
            _ => false,
        };
        if reads || self.writes {
            return Ok(());
        }
        let message = "`ingester ui` only reads: start it with --write to change something";
        Err(Status::failure(StatusCode::FORBIDDEN, Reason::Forbidden, message))
    }
}
