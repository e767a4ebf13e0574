//! The sections of `ingester serve`. `ingester run` reads them, and does without.

use super::{Config, ConfigError, Secret};
use ingester_store::Address;
use std::path::PathBuf;
use std::time::Duration;

/// Section `serve`.
#[derive(Clone, Debug, PartialEq)]
pub struct Serve {
    /// `address`: the address of the API.
    pub address: String,
    /// `probes`: the address of metrics and probes of `ingester serve`, if it is not that of `server.address`.
    pub probes: Option<String>,
    /// `certificate`: the server's certificate, a PEM file.
    pub certificate: Option<PathBuf>,
    /// `key`: its key.
    pub key: Option<PathBuf>,
    /// `clientCA`: the authorities that sign users' certificates, a PEM file.
    pub client_ca: Option<PathBuf>,
    /// `frontProxy`: whether the API server is believed that names callers in headers.
    pub front_proxy: FrontProxy,
    /// `formerObjects`: who may see deleted and evicted objects.
    pub former_objects: FormerObjects,
    /// `audiences`: for whom a token must be; empty for the API server.
    pub audiences: Vec<String>,
    /// `maxConnections`.
    pub max_connections: usize,
    /// `maxInFlight`: the most requests at a time.
    pub max_in_flight: usize,
    /// `rate`: the requests of one user in a second; 0 for any number.
    pub rate: u32,
    /// `burst`: the requests of one user at once.
    pub burst: u32,
    /// `timeout`: how long until an answer begins.
    pub timeout: Duration,
}

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

/// Section `query`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// `databaseURL`: where objects are read, if it is another server than where they are written.
    pub database_url: Option<Secret>,
    /// `timeout`: how long the database may take for one statement.
    pub timeout: Duration,
}

impl Default for Serve {
    fn default() -> Self {
        Serve {
            address: "0.0.0.0:8443".into(),
            probes: None,
            certificate: None,
            key: None,
            client_ca: None,
            front_proxy: FrontProxy::default(),
            former_objects: FormerObjects::default(),
            audiences: Vec::new(),
            max_connections: 1000,
            max_in_flight: 200,
            rate: 100,
            burst: 400,
            timeout: Duration::from_secs(60),
        }
    }
}

impl Default for Query {
    fn default() -> Self {
        Query { database_url: None, timeout: Duration::from_secs(30) }
    }
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
