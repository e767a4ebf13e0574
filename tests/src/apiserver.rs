//! A private Kubernetes API server with its etcd: no nodes, no controllers, only the API.
//!
//! It has two users: an administrator, and the ingester's service account, to which RBAC applies. An audit log records
//! the requests of the service account. The data can be copied, restored and compacted.

mod audit;
mod etcd;
mod users;

pub use audit::{Access, Audit};
pub use etcd::Snapshot;
pub use users::SERVICE_ACCOUNT;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
    thread,
};

use anyhow::{Context as _, Result, anyhow};
use kube::api::GetParams;

use crate::process::{Home, Process, ask_port, cache_folder, find_program, free_port};

/// A running etcd and kube-apiserver.
///
/// [`stop`](Self::stop), [`kill`](Self::kill) and [`restart`](Self::restart) act on kube-apiserver;
/// [`etcd`](Self::etcd) returns the other process. Data and ports stay the same.
#[derive(Debug)]
pub struct ApiServer {
    // Fields drop in this order: etcd last.
    apiserver: Process,
    etcd: Process,
    home: Arc<Home>,
    port: u16,
    etcd_port: u16,
}

impl ApiServer {
    /// Starts both; takes about five seconds.
    ///
    /// # Errors
    /// When a program is not installed (the message names the command that does it) or does not start.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts both, with further flags for kube-apiserver.
    ///
    /// # Errors
    /// As [`ApiServer::start`].
    pub fn start_with(flags: &[&str]) -> Result<Self> {
        let home = Home::new("ingester-apiserver")?;
        let folder = home.path();
        let (port, etcd_port, etcd_peer_port) = (free_port()?, free_port()?, free_port()?);
        let (client_url, peer_url) =
            (format!("http://127.0.0.1:{etcd_port}"), format!("http://127.0.0.1:{etcd_peer_port}"));

        let mut etcd = Command::new(program("etcd")?);
        etcd.arg("--unsafe-no-fsync")
            .arg("--data-dir")
            .arg(folder.join("etcd"))
            .args(["--listen-client-urls", &client_url, "--advertise-client-urls", &client_url])
            .args(["--listen-peer-urls", &peer_url, "--initial-advertise-peer-urls", &peer_url])
            .args(["--initial-cluster", &format!("default={peer_url}")]);
        let etcd = Process::new(&home, "etcd", etcd);

        let key = folder.join("service-account.key");
        let mut openssl = Command::new(find_program("openssl")?);
        openssl.args(["genrsa", "-out"]).arg(&key).arg("2048");
        home.run("openssl", openssl).context("making the key of the service accounts")?;

        let tokens = folder.join("tokens.csv");
        fs::write(&tokens, users::token_file()).context("writing the token file")?;

        let mut apiserver = Command::new(program("kube-apiserver")?);
        apiserver
            .args([format!("--etcd-servers={client_url}"), format!("--secure-port={port}")])
            // A loopback address is refused unless it is advertised to nobody.
            .args(["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"])
            .args(["--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24"])
            .args(["--service-account-issuer=https://localhost", "--disable-admission-plugins=ServiceAccount"])
            .arg("--cert-dir")
            .arg(folder.join("certificates"))
            .arg("--token-auth-file")
            .arg(&tokens)
            .arg("--service-account-key-file")
            .arg(&key)
            .arg("--service-account-signing-key-file")
            .arg(&key)
            .args(audit::flags(folder)?)
            .args(flags);
        let apiserver = Process::new(&home, "kube-apiserver", apiserver);

        let server = Self { apiserver, etcd, home, port, etcd_port };
        server.write_kubeconfigs()?;
        server.start_etcd()?;
        server.start_apiserver()?;
        Ok(server)
    }

    fn start_etcd(&self) -> Result<()> {
        self.etcd
            .start(|| {
                ask_port(self.etcd_port, b"GET /health HTTP/1.0\r\n\r\n")
                    .is_some_and(|answer| answer.starts_with(b"HTTP/1.0 200") || answer.starts_with(b"HTTP/1.1 200"))
            })
            .context("starting etcd")
    }

    fn start_apiserver(&self) -> Result<()> {
        self.apiserver.start(|| is_ready(&self.kubeconfig())).context("starting kube-apiserver")
    }

    /// The address, `https://127.0.0.1:<port>`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The folder of its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    /// The process of kube-apiserver.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.apiserver
    }

    /// The process of etcd.
    #[must_use]
    pub fn etcd(&self) -> &Process {
        &self.etcd
    }

    /// The URL on which etcd listens for clients, `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.etcd_port)
    }

    /// Stops kube-apiserver gracefully and waits for its end.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn stop(&self) -> Result<()> {
        self.apiserver.stop()
    }

    /// Kills kube-apiserver as a crash would and waits for its end.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn kill(&self) -> Result<()> {
        self.apiserver.kill()
    }

    /// Restarts kube-apiserver, starts etcd if it does not run, and waits until the API server answers.
    ///
    /// # Errors
    /// When one of them does not become ready in two minutes.
    pub fn restart(&self) -> Result<()> {
        self.apiserver.stop()?;
        self.start_etcd()?;
        self.start_apiserver()
    }
}

/// A program of the API server: from `KUBEBUILDER_ASSETS` if that is set, else from the cache or PATH.
fn program(name: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()) {
        let program = PathBuf::from(folder).join(name);
        return if program.is_file() {
            Ok(program)
        } else {
            Err(anyhow!("KUBEBUILDER_ASSETS is set, but there is no {}", program.display()))
        };
    }
    let cached = cache_folder()?.join(name).join(name);
    if cached.is_file() { Ok(cached) } else { find_program(name) }
}

/// Whether the API server is ready and has the namespace `default`, which it creates a moment after it becomes ready.
/// Asks on a thread with a runtime of its own, because the caller may be inside one.
fn is_ready(kubeconfig: &Path) -> bool {
    thread::scope(|scope| {
        let asking = scope.spawn(|| -> Result<bool> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let client = users::client(kubeconfig).await?;
                for (path, name) in [("", "readyz"), ("/api/v1/namespaces", "default")] {
                    client.request_text(kube::core::Request::new(path).get(name, &GetParams::default())?).await?;
                }
                Ok(true)
            })
        });
        matches!(asking.join(), Ok(Ok(true)))
    })
}

/// One API server for all tests of a test program, started by the first test that asks. Each test uses its own
/// namespace.
///
/// # Errors
/// As [`ApiServer::start`]; every caller gets the same one.
pub fn shared_apiserver() -> Result<&'static ApiServer> {
    static SHARED: OnceLock<Result<ApiServer, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| ApiServer::start().map_err(|error| format!("{error:#}")))
        .as_ref()
        .map_err(|error| anyhow!("{error}"))
}
