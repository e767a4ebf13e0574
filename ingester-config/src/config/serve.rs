//! The sections of `ingester serve`. `ingester run` checks them, but does not use them.

use super::{Config, ConfigError};
use ingester_store::Address;

/// Whether the API server is believed that names callers in headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrontProxy {
    /// If it says by which certificate it is known.
    #[default]
    Auto,
    /// It must say so, or the server does not start.
    Required,
    /// No.
    Never,
}

/// Who may see deleted and evicted objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormerObjects {
    /// Every user who has the right to the objects of their namespace.
    #[default]
    Granted,
    /// The same, but not those that are older than the namespace.
    OlderHidden,
    /// No caller.
    None,
}

/// As whom `ingester serve` restores objects into the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestoreAs {
    /// As the caller.
    #[default]
    User,
    /// As its own account.
    Server,
    /// It does not.
    Off,
}

impl Config {
    /// Where objects are read, if `query.databaseURL` names another database than the one of [`Config::gate`].
    ///
    /// # Errors
    /// If the URL is not valid, or `mysql.tls` contradicts itself. [`Config::parse`] reports these, too.
    pub fn reading(&self) -> Result<Option<Address>, ConfigError> {
        let Some(url) = &self.query.database_url else { return Ok(None) };
        let wrong = |error| ConfigError::of(format!("`query.databaseURL`: {error}"));
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
        Err(ConfigError::of(format!("`serve.{one}` is set and `serve.{other}` is not: set both")))
    }
}
