//! What the service account asked for: kube-apiserver's audit log, read as a set of accesses.

use std::{collections::BTreeSet, ffi::OsString, fmt, fs, path::Path};

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

use super::{ApiServer, SERVICE_ACCOUNT};
use crate::sql_server::path_option;

/// One thing that somebody may be allowed to do, as a rule of a ClusterRole grants it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The API group, empty for the core group and for requests that are about no resource.
    pub group: String,
    /// `models`, `models/status`; for a request that is about no resource its path, `/version`.
    pub resource: String,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group.is_empty() { "" } else { "." };
        write!(f, "{} {}{group}{}", self.verb, self.resource, self.group)
    }
}

/// The requests of [`SERVICE_ACCOUNT`] since the server was first started, its restarts included.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Everything that was asked for, whatever the answer.
    pub used: BTreeSet<Access>,
    /// What was asked for and RBAC did not allow.
    pub forbidden: BTreeSet<Access>,
}

const FOLDER: &str = "audit";

/// Writes the policy and returns the flags for kube-apiserver. A watch completes only when it ends, so the start of the
/// answer counts too; but 1.20 writes even that at the end of the watch.
pub(super) fn flags(home: &Path) -> Result<[OsString; 2]> {
    let policy = serde_json::json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": [SERVICE_ACCOUNT]}, {"level": "None"}],
    });
    let (file, folder) = (home.join("audit-policy.yaml"), home.join(FOLDER));
    fs::write(&file, policy.to_string()).context("writing the audit policy")?;
    fs::create_dir(&folder).context("making the folder of the audit log")?;
    // The log moves on to another file of this folder after 100 MB, and none is ever removed.
    Ok([path_option("--audit-policy-file", &file), path_option("--audit-log-path", &folder.join("audit.log"))])
}

impl ApiServer {
    /// What [`SERVICE_ACCOUNT`] has asked for until now. A request is in it once it was answered, a watch at the latest a
    /// moment after it has ended: whoever wants to see all of them ends the client first.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub fn audit(&self) -> Result<Audit> {
        let mut audit = Audit::default();
        for file in fs::read_dir(self.folder().join(FOLDER)).context("reading the folder of the audit log")? {
            let text = fs::read_to_string(file?.path()).context("reading the audit log")?;
            // The last line may still be in the making.
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
        // The authorizer's own word: admission answers 403 too.
        if event.pointer("/annotations/authorization.k8s.io~1decision").and_then(Json::as_str) == Some("forbid") {
            self.forbidden.insert(access.clone());
        }
        self.used.insert(access);
    }
}
