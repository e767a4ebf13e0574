//! The requests of the service account: kube-apiserver's audit log, read as a set of accesses.

use std::{collections::BTreeSet, ffi::OsString, fmt, fs, path::Path};

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

use super::{ApiServer, SERVICE_ACCOUNT};
use crate::sql_server::path_option;

/// One access, as a rule of a ClusterRole grants it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The API group; empty for the core group and for non-resource requests.
    pub group: String,
    /// `models`, `models/status`; for a non-resource request its path, such as `/version`.
    pub resource: String,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group.is_empty() { "" } else { "." };
        write!(f, "{} {}{group}{}", self.verb, self.resource, self.group)
    }
}

/// The requests of [`SERVICE_ACCOUNT`] since the server's first start, across restarts.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// All requests, regardless of the answer.
    pub used: BTreeSet<Access>,
    /// The requests that RBAC did not allow.
    pub forbidden: BTreeSet<Access>,
}

const FOLDER: &str = "audit";

/// Writes the policy and returns the flags for kube-apiserver. A watch completes only when it ends, so the policy also
/// logs the start of the response; but 1.20 writes even that at the end of the watch.
pub(super) fn flags(home: &Path) -> Result<[OsString; 2]> {
    let policy = serde_json::json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": [SERVICE_ACCOUNT]}, {"level": "None"}],
    });
    let file = home.join("audit-policy.yaml");
    let folder = home.join(FOLDER);
    fs::write(&file, policy.to_string()).context("writing the audit policy")?;
    fs::create_dir(&folder).context("making the folder of the audit log")?;
    // After 100 MB the log continues in another file of this folder. These files are never removed.
    Ok([path_option("--audit-policy-file", &file), path_option("--audit-log-path", &folder.join("audit.log"))])
}

impl ApiServer {
    /// The requests of [`SERVICE_ACCOUNT`] so far. A request is included once it was answered, a watch at the latest
    /// shortly after it ended. To see all of them, stop the client first.
    ///
    /// # Errors
    /// When the audit log cannot be read; the modern edition has no audit log.
    pub fn audit(&self) -> Result<Audit> {
        let mut audit = Audit::default();
        for file in fs::read_dir(self.folder().join(FOLDER)).context("reading the folder of the audit log")? {
            let text = fs::read_to_string(file?.path()).context("reading the audit log")?;
            // The last line may be incomplete.
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            for line in whole.lines() {
                audit.take(&serde_json::from_str(line).with_context(|| format!("a line of the audit log: {line}"))?);
            }
        }
        Ok(audit)
    }
}

impl Audit {
    fn take(&mut self, event: &Json) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        if text("/user/username") != SERVICE_ACCOUNT {
            return;
        }
        let resource = match (text("/objectRef/resource"), text("/objectRef/subresource")) {
            ("", _) => text("/requestURI").split('?').next().unwrap_or_default().to_owned(),
            (resource, "") => resource.to_owned(),
            (resource, subresource) => format!("{resource}/{subresource}"),
        };
        let access = Access { verb: text("/verb").to_owned(), group: text("/objectRef/apiGroup").to_owned(), resource };
        // Ask for the authorizer's decision: admission answers 403, too.
        if event.pointer("/annotations/authorization.k8s.io~1decision").and_then(Json::as_str) == Some("forbid") {
            self.forbidden.insert(access.clone());
        }
        self.used.insert(access);
    }
}
