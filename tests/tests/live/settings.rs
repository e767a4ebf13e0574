//! The configuration file of an ingester.

use std::fmt::Write as _;

/// The settings of a test. The testbed adds the address of the metrics and probes.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// `metadataStorage.enableMetadataStorage`
    pub(crate) enabled: bool,
    /// `metadataStorage.deletionDelay`
    pub(crate) deletion_delay: &'static str,
    /// `metadataStorage.databaseURL`
    pub(crate) database_url: Option<String>,
    /// The section `mysql`.
    pub(crate) mysql: Option<Mysql>,
    /// `ingester.namespaces`
    pub(crate) namespaces: Vec<String>,
    /// Further lines of the section `ingester`, such as `resyncPeriod: 2s`.
    pub(crate) ingester: Vec<&'static str>,
    /// The section `retention`, such as `{deleted: 90d}`.
    pub(crate) retention: &'static str,
    /// The section `policies`.
    pub(crate) policies: &'static str,
    /// `log.format`
    pub(crate) log_format: &'static str,
    /// `log.level`
    pub(crate) log_level: &'static str,
    /// Environment variables of the program.
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// The section `mysql`.
#[derive(Clone, Debug)]
pub(crate) struct Mysql {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
}

impl Settings {
    /// The text of the file.
    pub(crate) fn yaml(&self) -> String {
        let mut yaml = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| writeln!(yaml, "{text}").unwrap();
        line(format_args!("metadataStorage:"));
        line(format_args!("  enableMetadataStorage: {}", self.enabled));
        line(format_args!("  deletionDelay: {}", self.deletion_delay));
        if let Some(url) = &self.database_url {
            line(format_args!("  databaseURL: '{url}'"));
        }
        if let Some(mysql) = &self.mysql {
            line(format_args!("mysql:"));
            line(format_args!("  host: {}", mysql.host));
            line(format_args!("  port: {}", mysql.port));
            line(format_args!("  user: {}", mysql.user));
            line(format_args!("  password: '{}'", mysql.password));
            line(format_args!("  database: {}", mysql.database));
        }
        line(format_args!("ingester:"));
        line(format_args!("  namespaces: [{}]", self.namespaces.join(", ")));
        line(format_args!("  requeuePeriod: 1s"));
        for setting in &self.ingester {
            line(format_args!("  {setting}"));
        }
        line(format_args!("retention: {}", self.retention));
        line(format_args!("policies: {}", self.policies));
        line(format_args!("log:"));
        line(format_args!("  format: {}", self.log_format));
        line(format_args!("  level: {}", self.log_level));
        yaml
    }
}
