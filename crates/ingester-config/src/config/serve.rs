//! The sections of `ingester serve`. `ingester run` checks them, but does not use them.

use super::{Config, ConfigError};
use ingester_store::Address;

/// The trust in an API server that names callers in headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrontProxy {
    /// Trust it if its ConfigMap with the certificate can be read.
    #[default]
    Auto,
    /// Trust it. If the ConfigMap cannot be read, the server does not start.
    Required,
    /// Do not trust it.
    Never,
}

/// The callers who may see deleted and evicted objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormerObjects {
    /// Every user who may read the objects of the namespace.
    #[default]
    Granted,
    /// The same users, but not for objects that are older than the namespace.
    OlderHidden,
    /// No caller.
    None,
}

/// The identity with which `ingester serve` restores objects into the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestoreAs {
    /// The caller.
    #[default]
    User,
    /// The server's own account.
    Server,
    /// Objects are not restored.
    Off,
}

impl Config {
    /// Returns the database from which objects are read, if `query.databaseURL` names another one than [`Config::gate`].
    ///
    /// # Errors
    /// If the URL is not valid, or `mysql.tls` contradicts itself. [`Config::parse`] reports these, too.
    pub fn reading(&self) -> Result<Option<Address>, ConfigError> {
        let Some(url) = &self.query.database_url else { return Ok(None) };
        let wrong = |error| ConfigError::from_message(format!("`query.databaseURL`: {error}"));
        let address: Address = url.reveal().parse().map_err(wrong)?;
        address.tls(&self.mysql.tls).map(Some).map_err(wrong)
    }

    /// Looks for contradictions in these sections.
    pub(super) fn check_serve(&self) -> Result<(), ConfigError> {
        self.reading()?;
        let (one, other) = match (&self.serve.certificate, &self.serve.key) {
            (Some(_), None) => ("certificate", "key"),
            (None, Some(_)) => ("key", "certificate"),
            _ => return Ok(()),
        };
        Err(ConfigError::from_message(format!("`serve.{one}` is set and `serve.{other}` is not: set both")))
    }
}
