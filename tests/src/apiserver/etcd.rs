//! The data of a cluster: snapshot, restore and compaction.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::ApiServer;
use crate::http;

/// A copy of etcd's data. Dropping it removes its files.
#[derive(Debug)]
pub struct Snapshot(TempDir);

/// Etcd's report about its file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtcdSize {
    /// The whole file, which its quota limits.
    pub file: u64,
    /// The part in use.
    pub used: u64,
}

impl ApiServer {
    /// Copies the data of the cluster. This restarts both servers: clients lose their connections, then find the same
    /// objects with the same resourceVersions.
    ///
    /// # Errors
    /// When the files cannot be copied, or one of the servers does not become ready again.
    pub fn snapshot(&self) -> Result<Snapshot> {
        // The API server has no own data, so it may be killed.
        self.kill()?;
        self.etcd().stop()?;
        let copy = tempfile::Builder::new().prefix("snapshot-").tempdir_in(self.folder()).context("making a folder")?;
        copy_folder(&self.etcd_data(), copy.path()).context("copying etcd's data")?;
        self.restart()?;
        Ok(Snapshot(copy))
    }

    /// Restores the data of a snapshot, including resourceVersions. This kills and restarts both servers. A snapshot
    /// can be restored more than once.
    ///
    /// # Errors
    /// When the files cannot be copied, or one of the servers does not become ready again.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<()> {
        self.replace_data(snapshot)?;
        self.restart()
    }

    /// [`restore`](Self::restore), with this many more revisions before the API server is back, as
    /// `etcdutl snapshot restore --bump-revision` makes them: resourceVersions do not go back.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), and when etcd refuses a write.
    pub fn restore_with_bumped_revision(&self, snapshot: &Snapshot, revisions: u32) -> Result<()> {
        self.replace_data(snapshot)?;
        self.start_etcd()?;
        for _ in 0..revisions {
            // The key `bump`, which is outside of Kubernetes' prefix.
            self.ask_etcd("/v3/kv/put", &json!({"key": "YnVtcA==", "value": "AA=="}))?;
        }
        self.start_apiserver()
    }

    /// Kills both servers and copies a snapshot back.
    fn replace_data(&self, snapshot: &Snapshot) -> Result<()> {
        self.kill()?;
        self.etcd().kill()?;
        fs::remove_dir_all(self.etcd_data()).context("removing etcd's data")?;
        copy_folder(snapshot.0.path(), &self.etcd_data()).context("copying a snapshot back")
    }

    /// Compacts etcd up to now: older revisions are gone, and a watch from one of them gets 410. If the API server
    /// still has the events in its watch cache, it answers from there. So restart it afterwards, or start it with
    /// `--watch-cache=false`.
    ///
    /// Returns the revision, which Kubernetes calls resourceVersion.
    ///
    /// # Errors
    /// When etcd does not answer as expected.
    pub fn compact(&self) -> Result<u64> {
        // A key that does not exist, one zero byte: the header of the answer has the revision.
        let answer = self.ask_etcd("/v3/kv/range", &json!({"key": "AA=="}))?;
        let revision = answer.pointer("/header/revision").and_then(Json::as_str);
        let revision = revision.with_context(|| format!("etcd named no revision: {answer}"))?;
        match self.ask_etcd("/v3/kv/compaction", &json!({"revision": revision, "physical": true})) {
            // Nothing was written since the last compaction.
            Err(error) if format!("{error:#}").contains("has been compacted") => {}
            answered => drop(answered?),
        }
        revision.parse().with_context(|| format!("etcd's revision {revision}"))
    }

    /// The size of etcd's file.
    ///
    /// # Errors
    /// When etcd does not answer as expected.
    pub fn etcd_size(&self) -> Result<EtcdSize> {
        let answer = self.ask_etcd("/v3/maintenance/status", &json!({}))?;
        let number = |name: &str| {
            let number = answer[name].as_str().and_then(|text| text.parse().ok());
            number.with_context(|| format!("etcd named no {name}: {answer}"))
        };
        Ok(EtcdSize { file: number("dbSize")?, used: number("dbSizeInUse")? })
    }

    /// Gives the free pages of etcd's file back to the file system.
    ///
    /// # Errors
    /// When etcd refuses.
    pub fn defragment(&self) -> Result<()> {
        self.ask_etcd("/v3/maintenance/defragment", &json!({})).map(drop)
    }

    fn ask_etcd(&self, path: &str, question: &Json) -> Result<Json> {
        let (status, body) = http::request(self.etcd_port, "POST", path, &question.to_string())
            .with_context(|| format!("asking etcd for {path}"))?;
        if status != 200 {
            bail!("etcd answered {status} to {path}: {body}");
        }
        serde_json::from_str(&body).with_context(|| format!("etcd's answer to {path}: {body}"))
    }

    fn etcd_data(&self) -> std::path::PathBuf {
        self.folder().join("etcd")
    }
}

/// Copies the content of `from` into `to`, which is created if needed.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
