//! Rereads the trusted authorities: the ConfigMap of the front proxy, and the file of the users' authority.

use super::Identity;
use super::authority::{Authority, AuthorityError};
use super::proxy::{FrontProxyError, TrustedProxy};
use ingester_config::FrontProxy;
use ingester_store::files;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The ConfigMap in which the API server publishes its front proxy.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

/// The first pause before another attempt to read a front proxy that could not be read. Each further pause is twice as long.
const AGAIN: Duration = Duration::from_secs(1);

/// The time limit for an answer of the API server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The sources of the trusted authorities.
#[derive(Clone)]
pub struct Sources {
    /// The cluster whose API server is the front proxy.
    pub cluster: Client,
    /// The rule about the front proxy. It is an error if the API server does not name one that is [`FrontProxy::Required`].
    pub front_proxy: FrontProxy,
    /// The file of the authority that signs users' certificates.
    pub users: Option<PathBuf>,
    /// How often both are read again.
    pub every: Duration,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("users", &self.users).finish_non_exhaustive()
    }
}

/// The result of reading the trusted authorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorityReading {
    /// Both were read.
    All,
    /// The front proxy, which is not [`FrontProxy::Required`], could not be read. It is read again soon.
    WithoutProxy,
}

/// The trusted authorities cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The file of the users' authority cannot be read.
    #[error("the certificates in {} cannot be read: {error}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The content of the file cannot be used.
    #[error("the certificates in {} cannot be used: {error}", path.display())]
    Authority {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: AuthorityError,
    },
    /// The API server does not answer, or refuses our request.
    #[error(
        "the ConfigMap {NAMESPACE}/{NAME} cannot be read: {0} (bind the Role extension-apiserver-authentication-reader in \
         {NAMESPACE} to the server's service account)"
    )]
    Api(String),
    /// The API server has no front proxy.
    #[error(
        "the ConfigMap {NAMESPACE}/{NAME} names no front proxy: the API server runs without --requestheader-client-ca-file"
    )]
    NoProxy,
    /// The ConfigMap cannot be used.
    #[error("the ConfigMap {NAMESPACE}/{NAME} cannot be used: {0}")]
    Proxy(#[from] FrontProxyError),
}

impl Sources {
    /// Reads both once. If this fails, the previous authorities stay trusted.
    ///
    /// # Errors
    /// If one of them cannot be read or used. A front proxy that is not [`FrontProxy::Required`] may be missing.
    pub async fn read(&self, identity: &Identity) -> Result<AuthorityReading, FollowError> {
        if let Some(path) = &self.users {
            let failed = |error| FollowError::File { path: path.clone(), error };
            let text = tokio::task::spawn_blocking({
                let path = path.clone();
                move || files::read(&path)
            });
            let text = text.await.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(failed)?;
            let authority = Authority::from_pem(&text);
            let authority = authority.map_err(|error| FollowError::Authority { path: path.clone(), error })?;
            identity.trust_users(Some(authority));
        }
        if self.front_proxy != FrontProxy::Never {
            match (self.trusted_proxy().await, self.front_proxy == FrontProxy::Required) {
                (Ok(Some(proxy)), _) => identity.trust_proxy(Some(proxy)),
                (Ok(None), false) => identity.trust_proxy(None),
                (Ok(None), true) => return Err(FollowError::NoProxy),
                (Err(error @ FollowError::Api(_)), false) => {
                    tracing::warn!(
                        %error,
                        "Cannot read which front proxy to trust: requests through an APIService may be refused; trying again"
                    );
                    return Ok(AuthorityReading::WithoutProxy);
                }
                (Err(error), _) => return Err(error),
            }
        }
        Ok(AuthorityReading::All)
    }

    async fn trusted_proxy(&self) -> Result<Option<TrustedProxy>, FollowError> {
        let maps: Api<ConfigMap> = Api::namespaced(self.cluster.clone(), NAMESPACE);
        let map = match tokio::time::timeout(TIMEOUT, maps.get_opt(NAME)).await {
            Ok(Ok(map)) => map,
            Ok(Err(error)) => return Err(FollowError::Api(error.to_string())),
            Err(_) => return Err(FollowError::Api("the API server does not answer".into())),
        };
        let data = map.and_then(|map| map.data).unwrap_or_default();
        Ok(TrustedProxy::read(&data)?)
    }

    /// Reads both repeatedly until `stop` is cancelled; `last` is the result of the last reading.
    pub async fn follow(self, identity: Identity, mut last: AuthorityReading, stop: CancellationToken) {
        if self.front_proxy == FrontProxy::Never && self.users.is_none() {
            return;
        }
        let mut again = AGAIN;
        loop {
            let pause = match last {
                AuthorityReading::All => {
                    again = AGAIN;
                    self.every
                }
                AuthorityReading::WithoutProxy => {
                    let pause = again.min(self.every);
                    again = (again * 2).min(self.every);
                    pause
                }
            };
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            match self.read(&identity).await {
                Ok(read) => {
                    if (last, read) == (AuthorityReading::WithoutProxy, AuthorityReading::All) {
                        tracing::info!("The front proxy is known now");
                    }
                    last = read;
                }
                Err(error) => tracing::warn!(%error, "The previous authorities stay trusted"),
            }
        }
    }
}
