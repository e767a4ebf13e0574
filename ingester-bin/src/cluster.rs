//! The cluster, found as kubectl finds it.
//!
//! May use: arguments, ending.

use crate::arguments::Cluster;
use crate::ending::Failure;
use anyhow::anyhow;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

impl Cluster {
    /// Whether the arguments name one.
    pub(crate) fn is_named(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    /// A client of the cluster that the arguments, the environment, or the pod's service account name.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let wrong = |what: String, error: &dyn std::error::Error| {
            Failure::Usage(anyhow!("{what}: {error} (name one with --kubeconfig FILE or the variable KUBECONFIG)"))
        };
        let config = match (&self.kubeconfig, &self.context) {
            (Some(file), _) => {
                let what = || format!("the kubeconfig {} cannot be used", file.display());
                let kubeconfig = Kubeconfig::read_from(file).map_err(|error| wrong(what(), &error))?;
                Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| wrong(what(), &error))?
            }
            (None, Some(context)) => Config::from_kubeconfig(&options)
                .await
                .map_err(|error| wrong(format!("context {context} cannot be used"), &error))?,
            (None, None) => Config::infer().await.map_err(|error| wrong("no cluster is known".into(), &error))?,
        };
        Client::try_from(config).map_err(|error| wrong("no connection to the cluster can be made".into(), &error))
    }
}
