//! A server over a database in a file, with the test's own objects.

use anyhow::{Context as _, Result, ensure};
use crd_specs::KINDS;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Micros;
use ingester_store::{ConnectOptions, RowChange, Store};
use serde_json::{Value as Json, json};
use std::ffi::OsStr;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running `ingester serve`, which any program on this machine may use.
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
    port: u16,
    folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The fate of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Live,
    Evicted,
    Deleted,
}

/// A model as an API server sends it.
pub(crate) fn model(namespace: &str, name: &str, version: u64, labels: &Json) -> Json {
    json!({
        "apiVersion": "michelangelo.api/v2",
        "kind": "Model",
        "metadata": {
            "namespace": namespace, "name": name, "uid": format!("{namespace}-{name}-{version}"),
            "resourceVersion": version.to_string(), "creationTimestamp": "2026-01-02T03:04:05Z", "labels": labels,
            "generation": 1,
        },
        "spec": {"algorithm": "xgboost", "trainingFramework": "spark", "owner": {"name": "ann"}},
    })
}

/// A kubeconfig of a server without authentication.
pub(crate) fn kubeconfig(url: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": url}}],
        "users": [{"name": "it", "user": {}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    })
    .to_string()
}

/// A free port of this machine.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Stores objects.
pub(crate) async fn store(path: &Path, objects: &[(Json, Fate)]) -> Result<()> {
    let store = Store::connect(&format!("sqlite://{}", path.display()).parse()?, ConnectOptions::default()).await?;
    store.create_missing(KINDS).await?;
    for (object, fate) in objects {
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        let kind = find(KINDS, object.api_version(), object.kind()).context("a kind")?;
        let mut row = kind.row(&object)?.context("a row")?;
        match fate {
            Fate::Live => {}
            Fate::Evicted => (row.evict_time, row.evict_confirmed) = (Some(Micros::now()), true),
            Fate::Deleted => row.delete_time = Some(Micros::now()),
        }
        let report = store.write(kind.table(), vec![RowChange::Row(row)]).await?;
        ensure!(report.rejected.is_empty(), "{:?}", report.rejected);
    }
    store.close().await;
    Ok(())
}

/// Stores objects in a folder, beside this configuration.
async fn furnish(folder: &TempDir, objects: &[(Json, Fate)], mut config: Json) -> Result<()> {
    let database = folder.path().join("objects.db");
    store(&database, objects).await?;
    let url = format!("sqlite://{}", database.display());
    config["metadataStorage"] = json!({"enableMetadataStorage": true, "databaseURL": url});
    config["server"] = json!({"address": ""});
    Ok(std::fs::write(folder.path().join("ingester.yaml"), config.to_string())?)
}

impl Server {
    /// A server of these objects.
    pub(crate) async fn start(objects: &[(Json, Fate)]) -> Result<Self> {
        Self::start_with(objects, json!({})).await
    }

    /// A server of these objects, with this configuration.
    pub(crate) async fn start_with(objects: &[(Json, Fate)], config: Json) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        furnish(&folder, objects, config).await?;
        Self::start_in(folder)
    }

    /// A server of these objects and files, beside the cluster of this kubeconfig.
    pub(crate) async fn start_beside(
        objects: &[(Json, Fate)],
        files: &[(&str, &str)],
        kubeconfig: &Path,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            std::fs::write(path, text)?;
        }
        furnish(&folder, objects, json!({})).await?;
        Self::start_in_beside(folder, kubeconfig)
    }

    /// A server by the configuration `ingester.yaml` in this folder.
    pub(crate) fn start_in(folder: TempDir) -> Result<Self> {
        Self::start_at(folder, &[])
    }

    /// The same, beside the cluster of this kubeconfig.
    pub(crate) fn start_in_beside(folder: TempDir, kubeconfig: &Path) -> Result<Self> {
        Self::start_at(folder, &[OsStr::new("--kubeconfig"), kubeconfig.as_os_str()])
    }

    fn start_at(folder: TempDir, options: &[&OsStr]) -> Result<Self> {
        let port = free_port()?;
        let process = Self::spawn(&folder, port, options)?;
        Ok(Server { process, url: format!("http://127.0.0.1:{port}"), port, folder })
    }

    /// Ends it.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.terminate()?;
        let status = self.process.wait()?;
        ensure!(status.code() == Some(0), "{status}: {}", self.log());
        Ok(())
    }

    /// Starts it again at its port.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.process = Self::spawn(&self.folder, self.port, &[])?;
        Ok(())
    }

    fn spawn(folder: &TempDir, port: u16, options: &[&OsStr]) -> Result<Child> {
        let log = std::fs::File::create(folder.path().join("log"))?;
        let mut process = Command::new(env!("CARGO_BIN_EXE_ingester"))
            .args(["serve", "--insecure-loopback", &port.to_string(), "--config", "ingester.yaml"])
            .args(options)
            .current_dir(folder.path())
            .env_remove("KUBECONFIG")
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = std::fs::read_to_string(folder.path().join("log"))?;
            ensure!(process.try_wait()?.is_none(), "it ended: {log}");
            ensure!(begin.elapsed() < Duration::from_secs(60), "it does not answer: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    /// Its own connection.
    pub(crate) fn connect(&self) -> std::io::Result<TcpStream> {
        TcpStream::connect(("127.0.0.1", self.port))
    }

    /// The store of its objects.
    pub(crate) fn database(&self) -> String {
        format!("sqlite://{}", self.folder.path().join("objects.db").display())
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) -> Result<()> {
        let told = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status()?;
        ensure!(told.success(), "it cannot be told to end");
        Ok(())
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.process.try_wait()?)
    }

    /// The test's own folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A kubeconfig whose cluster is this server.
    pub(crate) fn kubeconfig(&self) -> Result<PathBuf> {
        let path = self.folder().join("kubeconfig");
        if !path.exists() {
            std::fs::write(&path, kubeconfig(&self.url))?;
        }
        Ok(path)
    }

    /// A client of kube.
    pub(crate) fn client(&self) -> Result<kube::Client> {
        let mut config = kube::Config::new(self.url.parse()?);
        // The first answer counts.
        config.default_retry = false;
        Ok(kube::Client::try_from(config)?)
    }
}
