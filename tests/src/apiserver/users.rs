//! The users: bearer tokens, and the kubeconfig files that contain them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::ApiServer;

/// The user name of the service account `ingester` in the namespace `ingester`, as in RBAC and the audit log.
pub const SERVICE_ACCOUNT: &str = "system:serviceaccount:ingester:ingester";

/// Fixed tokens are safe here: the server listens on 127.0.0.1 and lives as long as a test.
const ADMIN_TOKEN: &str = "testbed-admin";
const SERVICE_ACCOUNT_TOKEN: &str = "testbed-service-account";

/// The file for `--token-auth-file`: token, user, uid, groups. The service account has the groups that a real token
/// would give it.
pub(super) fn token_file() -> String {
    format!(
        "{ADMIN_TOKEN},admin,admin,\"system:masters\"\n\
         {SERVICE_ACCOUNT_TOKEN},{SERVICE_ACCOUNT},ingester,\
         \"system:serviceaccounts,system:serviceaccounts:ingester,system:authenticated\"\n"
    )
}

impl ApiServer {
    /// The bearer token of the administrator (group `system:masters`).
    #[must_use]
    pub fn token(&self) -> &str {
        ADMIN_TOKEN
    }

    /// A kubeconfig file for the administrator: address, certificate to trust, token.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder().join("kubeconfig")
    }

    /// A kubeconfig file for [`SERVICE_ACCOUNT`], which has only the rights that RBAC grants (in the modern edition all).
    /// This creates neither the account nor its namespace.
    #[must_use]
    pub fn service_account_kubeconfig(&self) -> PathBuf {
        self.folder().join("service-account.kubeconfig")
    }

    /// The same through another port of 127.0.0.1, which leads to this server.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn service_account_kubeconfig_at(&self, port: u16) -> Result<PathBuf> {
        let file = self.folder().join(format!("service-account-{port}.kubeconfig"));
        let text = self.kubeconfig_text("ingester", SERVICE_ACCOUNT_TOKEN);
        let text = text.replace(&self.url(), &format!("https://127.0.0.1:{port}"));
        fs::write(&file, text).context("writing a kubeconfig")?;
        Ok(file)
    }

    /// A new client of this server for the administrator. It belongs to the runtime in which it is created, so every
    /// asynchronous test creates its own.
    ///
    /// # Errors
    /// When the kubeconfig cannot be used.
    pub async fn client(&self) -> Result<kube::Client> {
        client(&self.kubeconfig()).await
    }

    /// A new client of this server for [`SERVICE_ACCOUNT`].
    ///
    /// # Errors
    /// When the kubeconfig cannot be used.
    pub async fn service_account_client(&self) -> Result<kube::Client> {
        client(&self.service_account_kubeconfig()).await
    }

    pub(super) fn write_kubeconfigs(&self) -> Result<()> {
        fs::write(self.kubeconfig(), self.kubeconfig_text("admin", ADMIN_TOKEN)).context("writing the kubeconfig")?;
        fs::write(self.service_account_kubeconfig(), self.kubeconfig_text("ingester", SERVICE_ACCOUNT_TOKEN))
            .context("writing the kubeconfig of the service account")
    }

    fn kubeconfig_text(&self, user: &str, token: &str) -> String {
        // JSON is YAML, and quotes paths correctly. The API server creates this certificate at its first start.
        serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "testbed", "cluster": {
                "server": self.url(),
                "certificate-authority": self.folder().join("certificates/apiserver.crt"),
            }}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
            "current-context": "testbed",
        })
        .to_string()
    }
}

pub(super) async fn client(kubeconfig: &Path) -> Result<kube::Client> {
    let file = Kubeconfig::read_from(kubeconfig).context("reading the kubeconfig")?;
    let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .context("using the kubeconfig")?;
    kube::Client::try_from(config).context("making a Kubernetes client")
}
