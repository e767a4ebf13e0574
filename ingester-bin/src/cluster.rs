//! The cluster, found as kubectl finds it.
//!
//! May use: arguments, ending.

use crate::arguments::Cluster;
use crate::ending::Failure;
use anyhow::anyhow;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use std::error::Error;

impl Cluster {
    /// Whether the arguments name one.
    pub(crate) fn is_named(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    /// A client of the cluster that the arguments, the environment, or the pod's service account name.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let wrong = |what: String, error: &(dyn Error + 'static)| {
            let said = said(error);
            Failure::Usage(anyhow!("{what}: {said} (name one with --kubeconfig FILE or the variable KUBECONFIG)"))
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

/// What an error says about a kubeconfig, without a word of the file: what is quoted where it cannot be read may be a token.
pub(crate) fn said(error: &(dyn Error + 'static)) -> String {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(KubeconfigError::Parse(error)) = error.downcast_ref() {
            return match error.location() {
                Some(place) => format!("it is no kubeconfig: line {}, column {}", place.line(), place.column()),
                None => "it is no kubeconfig".to_owned(),
            };
        }
        cause = error.source();
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::said;
    use kube::config::Kubeconfig;

    #[test]
    fn nothing_of_a_kubeconfig_is_shown_but_the_place() {
        for text in [
            "users:\n- name: me\n  user: {token: SECRET, token: SECRET}\n",
            "users:\n- name: me\n  user: token: SECRET\n",
            "users:\n- name: me\n  user: [SECRET]\n",
            "users: {SECRET\n",
            "users: SECRET",
            "SECRET",
        ] {
            let error = Kubeconfig::from_yaml(text).unwrap_err();
            let said = said(&error);
            assert!(!said.contains("SECRET") && said.starts_with("it is no kubeconfig"), "{text}: {said}");
        }
        let error = Kubeconfig::from_yaml("users:\n- name: me\n  user: [SECRET]\n").unwrap_err();
        assert!(said(&error).ends_with("line 3, column 9"), "{}", said(&error));
        let absent = Kubeconfig::read_from("none/kubeconfig").unwrap_err();
        assert!(said(&absent).contains("none/kubeconfig"), "{}", said(&absent));
    }
}
