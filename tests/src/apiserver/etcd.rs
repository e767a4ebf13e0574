//! What can be done to the data of a cluster: a copy of it, put back later, and compaction.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::ApiServer;
use crate::http;

/// etcd's data as it was at one moment. Its files go when it is dropped.
#[derive(Debug)]
pub struct Snapshot(TempDir);

impl ApiServer {
    /// Copies the data of the cluster. Both servers are stopped for it and started again: clients lose their connections and
    /// find the same objects under the same resourceVersions.
    ///
    /// # Errors
    /// When the files cannot be copied, or one of the servers does not become ready again.
    pub fn snapshot(&self) -> Result<Snapshot> {
        // kube-apiserver keeps nothing, so it need not be asked.
        self.kill()?;
        self.etcd().stop()?;
        let copy = tempfile::Builder::new().prefix("snapshot-").tempdir_in(self.folder()).context("making a folder")?;
        copy_folder(&self.etcd_data(), copy.path()).context("copying etcd's data")?;
        self.restart()?;
        Ok(Snapshot(copy))
    }

    /// Puts the data of a snapshot back, as after a disaster: objects, resourceVersions and all. Both servers are killed for
    /// it and started again. A snapshot may be put back more than once.
    ///
    /// # Errors
    /// When the files cannot be copied, or one of the servers does not become ready again.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<()> {
        self.kill()?;
        self.etcd().kill()?;
        fs::remove_dir_all(self.etcd_data()).context("removing etcd's data")?;
        copy_folder(snapshot.0.path(), &self.etcd_data()).context("copying a snapshot back")?;
        self.restart()
    }

    /// Compacts etcd up to now: older revisions are gone, and a watch that starts at one of them is answered 410. Where
    /// kube-apiserver still has the events in its watch cache it answers from there: restart it afterwards, or start it with
    /// `--watch-cache=false`.
    ///
    /// Returns the revision, which is what Kubernetes calls resourceVersion.
    ///
    /// # Errors
    /// When etcd does not answer as expected.
    pub fn compact(&self) -> Result<u64> {
        // The key is one zero byte, of which there is none; the answer's header has the revision.
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

/// Copies what is in `from` into `to`, which is made if it is not there.
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
