//! A private Kubernetes API server with its etcd: no nodes, no controllers, only the API.
//!
//! There are two [`Edition`]s. Both have two users, an administrator and the ingester's service account, and both servers'
//! data can be copied, restored and compacted. In the classic edition RBAC applies to the service account, and an audit log
//! records its requests.

mod audit;
mod etcd;
mod users;

pub use audit::{Access, Audit};
pub use etcd::{EtcdSize, Snapshot};
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

/// The edition of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// kube-apiserver 1.20.2, or the one in `KUBEBUILDER_ASSETS`: the whole API, with RBAC.
    Classic,
    /// Kubernetes' server of custom resources, 1.36 or later: CustomResourceDefinitions and their objects. It has no core
    /// API (namespaces need not exist; Events, Leases and reviews are 404), no RBAC (each user may do everything), and no
    /// audit log.
    Modern,
}

/// A running etcd and API server.
///
/// [`stop`](Self::stop), [`kill`](Self::kill) and [`restart`](Self::restart) act on the API server;
/// [`etcd`](Self::etcd) returns the other process. Data and ports stay the same.
#[derive(Debug)]
pub struct ApiServer {
    edition: Edition,
    // Fields drop in this order: etcd last.
    apiserver: Process,
    etcd: Process,
    home: Arc<Home>,
    port: u16,
    etcd_port: u16,
}

/// The programs of an edition.
#[derive(Debug)]
struct Programs {
    apiserver: PathBuf,
    etcd: PathBuf,
}

impl ApiServer {
    /// Starts the classic edition; takes about five seconds.
    ///
    /// # Errors
    /// When a program is not installed (the message names the command that does it) or does not start.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts the classic edition, with further flags for kube-apiserver.
    ///
    /// # Errors
    /// As [`ApiServer::start`].
    pub fn start_with(flags: &[&str]) -> Result<Self> {
        let programs = Programs { apiserver: program("kube-apiserver")?, etcd: program("etcd")? };
        Self::start_programs(Edition::Classic, programs, flags)
    }

    /// Starts the modern edition, with further flags for its API server; takes about two seconds. `None` if it is not
    /// installed: the test then calls [`skipped_without_modern_apiserver`](crate::skipped_without_modern_apiserver) and
    /// returns.
    ///
    /// # Errors
    /// When it is installed but does not start.
    pub fn start_modern(flags: &[&str]) -> Result<Option<Self>> {
        let folder = cache_folder()?.join("modern-apiserver");
        let programs = Programs { apiserver: folder.join("apiserver"), etcd: folder.join("etcd") };
        if !programs.apiserver.is_file() {
            return Ok(None);
        }
        Self::start_programs(Edition::Modern, programs, flags).map(Some)
    }

    /// Starts either edition; `None` if it is the modern one and not installed.
    ///
    /// # Errors
    /// As [`ApiServer::start`].
    pub fn start_edition(edition: Edition) -> Result<Option<Self>> {
        match edition {
            Edition::Classic => Self::start().map(Some),
            Edition::Modern => Self::start_modern(&[]),
        }
    }

    fn start_programs(edition: Edition, programs: Programs, flags: &[&str]) -> Result<Self> {
        let home = Home::new("ingester-apiserver")?;
        let folder = home.path();
        let port = free_port()?;
        let etcd_port = free_port()?;
        let etcd_peer_port = free_port()?;
        let (client_url, peer_url) =
            (format!("http://127.0.0.1:{etcd_port}"), format!("http://127.0.0.1:{etcd_peer_port}"));

        let mut etcd = Command::new(programs.etcd);
        etcd.arg("--unsafe-no-fsync")
            // A hundred thousand objects with their updates do not fit the default of 2 GB.
            .arg("--quota-backend-bytes=8589934592")
            .arg("--data-dir")
            .arg(folder.join("etcd"))
            .args(["--listen-client-urls", &client_url, "--advertise-client-urls", &client_url])
            .args(["--listen-peer-urls", &peer_url, "--initial-advertise-peer-urls", &peer_url])
            .args(["--initial-cluster", &format!("default={peer_url}")]);
        let etcd = Process::new(&home, "etcd", etcd);

        let tokens = folder.join("tokens.csv");
        fs::write(&tokens, users::token_file()).context("writing the token file")?;
        let mut apiserver = Command::new(programs.apiserver);
        apiserver
            .args([format!("--etcd-servers={client_url}"), format!("--secure-port={port}")])
            .arg("--bind-address=127.0.0.1")
            .arg("--cert-dir")
            .arg(folder.join("certificates"))
            .arg("--token-auth-file")
            .arg(&tokens)
            // It lives for minutes, and collecting its garbage takes a tenth of its time.
            .env("GOGC", "400");
        if edition == Edition::Classic {
            add_core_api(&mut apiserver, &home)?;
        }
        apiserver.args(flags);
        let apiserver = Process::new(&home, "apiserver", apiserver);

        let server = Self { edition, apiserver, etcd, home, port, etcd_port };
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
        let ready = || is_ready(self.edition, &self.kubeconfig());
        self.apiserver.start(ready).with_context(|| format!("starting the {:?} API server", self.edition))
    }

    /// Its edition.
    #[must_use]
    pub fn edition(&self) -> Edition {
        self.edition
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

    /// The process of the API server.
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

    /// Stops the API server gracefully and waits for its end.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn stop(&self) -> Result<()> {
        self.apiserver.stop()
    }

    /// Kills the API server as a crash would and waits for its end.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn kill(&self) -> Result<()> {
        self.apiserver.kill()
    }

    /// Restarts the API server, starts etcd if it does not run, and waits until the API server answers.
    ///
    /// # Errors
    /// When one of them does not become ready in two minutes.
    pub fn restart(&self) -> Result<()> {
        self.apiserver.stop()?;
        self.start_etcd()?;
        self.start_apiserver()
    }
}

/// Adds the flags for the parts that only kube-apiserver has: authorization, admission, service accounts, the audit log.
fn add_core_api(apiserver: &mut Command, home: &Arc<Home>) -> Result<()> {
    let key = home.path().join("service-account.key");
    let mut openssl = Command::new(find_program("openssl")?);
    openssl.args(["genrsa", "-out"]).arg(&key).arg("2048");
    home.run("openssl", openssl).context("making the key of the service accounts")?;
    apiserver
        // A loopback address is refused unless it is not advertised.
        .args(["--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"])
        .args(["--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24"])
        .args(["--service-account-issuer=https://localhost", "--disable-admission-plugins=ServiceAccount"])
        .arg("--service-account-key-file")
        .arg(&key)
        .arg("--service-account-signing-key-file")
        .arg(&key)
        .args(audit::flags(home.path())?);
    Ok(())
}

/// A program of the classic edition: from `KUBEBUILDER_ASSETS` if that is set, otherwise from the cache or PATH.
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

/// Returns true if the API server is ready. A classic one must also have the namespace `default`, which it creates a moment later. Asks on
/// a thread with its own runtime, because the caller may be inside one.
fn is_ready(edition: Edition, kubeconfig: &Path) -> bool {
    let paths: &[_] = match edition {
        Edition::Classic => &[("", "readyz"), ("/api/v1/namespaces", "default")],
        Edition::Modern => &[("", "readyz")],
    };
    thread::scope(|scope| {
        let asking = scope.spawn(|| -> Result<bool> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let client = users::client(kubeconfig).await?;
                for (path, name) in paths {
                    client.request_text(kube::core::Request::new(*path).get(name, &GetParams::default())?).await?;
                }
                Ok(true)
            })
        });
        matches!(asking.join(), Ok(Ok(true)))
    })
}

/// One classic API server for all tests of a test program, started by the first test that asks. Each test uses its own
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

/// [`shared_apiserver`] of the modern edition; `None` if it is not installed.
///
/// # Errors
/// As [`ApiServer::start_modern`]; every caller gets the same one.
pub fn shared_modern_apiserver() -> Result<Option<&'static ApiServer>> {
    static SHARED: OnceLock<Result<Option<ApiServer>, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| ApiServer::start_modern(&[]).map_err(|error| format!("{error:#}")))
        .as_ref()
        .map(Option::as_ref)
        .map_err(|error| anyhow!("{error}"))
}
