//! The variables of the environment that name a database: the only place that knows them.
//!
//! They are those that the reference system's deployments set, and `DATABASE_URL`. A variable that is set to nothing is
//! not set, as in a container's template.

use super::error::{ConfigError, Problem};
use super::secret::Secret;
use super::values;
use super::{Config, Mysql};
use ingester_store::Address;

/// What the environment says about the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `DATABASE_URL`: names the database by itself, whatever else is set.
    pub url: Option<Secret>,
    /// `MYSQL_HOST`.
    pub host: Option<String>,
    /// `MYSQL_PORT`, as it is set.
    pub port: Option<String>,
    /// `MYSQL_USER`.
    pub user: Option<String>,
    /// `MYSQL_PASSWORD`.
    pub password: Option<Secret>,
    /// `MYSQL_DB_NAME`.
    pub database: Option<String>,
}

impl Environment {
    /// Asks `lookup` for each variable.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name| lookup(name).filter(|value| !value.is_empty());
        Environment {
            url: variable("DATABASE_URL").map(Secret::from),
            host: variable("MYSQL_HOST"),
            // Where a Service is called `mysql`, Kubernetes sets this one by itself to `tcp://10.0.0.1:3306` in every
            // container of the namespace ("Service environment variables"). Nobody meant that as a port.
            port: variable("MYSQL_PORT").filter(|port| !port.starts_with("tcp://")),
            user: variable("MYSQL_USER"),
            password: variable("MYSQL_PASSWORD").map(Secret::from),
            database: variable("MYSQL_DB_NAME"),
        }
    }

    /// The environment of this process.
    pub fn of_process() -> Self {
        Environment::read(|name| std::env::var(name).ok())
    }

    /// The database for commands that have no configuration: `DATABASE_URL`, else the `MYSQL_*` variables; `None` where
    /// neither names one.
    ///
    /// # Errors
    /// When the URL is none, only one of host and database is named, or the port is none.
    pub fn address(&self) -> Result<Option<Address>, ConfigError> {
        if let Some(url) = &self.url {
            return url.reveal().parse().map(Some).map_err(|error| ConfigError::of(format!("{error}")));
        }
        match (&self.host, &self.database) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {}
            (Some(_), None) => {
                return Err(ConfigError::of("MYSQL_HOST is set and MYSQL_DB_NAME is not: name the database"));
            }
            (None, Some(_)) => {
                return Err(ConfigError::of("MYSQL_DB_NAME is set and MYSQL_HOST is not: name the server"));
            }
        }
        let (mut mysql, mut problems) = (Mysql::default(), Vec::new());
        self.apply_to(&mut mysql, &mut problems);
        if problems.is_empty() { mysql.address() } else { Err(ConfigError::new(problems)) }
    }

    /// Puts what is set in the place of what the file says.
    pub(super) fn apply(&self, config: &mut Config, problems: &mut Vec<Problem>) {
        self.apply_to(&mut config.mysql, problems);
        if let Some(url) = &self.url {
            config.metadata_storage.database_url = Some(url.clone());
        } else if self.host.is_some() || self.database.is_some() {
            config.metadata_storage.database_url = None;
        }
    }

    fn apply_to(&self, mysql: &mut Mysql, problems: &mut Vec<Problem>) {
        let mut wrong = |name: &str, value: &str, allowed: String| {
            problems.push(Problem::somewhere(format!("{name} is `{}`; {allowed}", super::stanza::shown(value))));
        };
        if let Some(text) = &self.host {
            match values::host(text) {
                Ok(host) => mysql.host = host,
                Err(allowed) => wrong("MYSQL_HOST", text, allowed),
            }
        }
        if let Some(text) = &self.port {
            match values::whole(1..=u16::MAX)(text) {
                Ok(port) => mysql.port = port,
                Err(allowed) => wrong("MYSQL_PORT", text, allowed),
            }
        }
        mysql.user = self.user.clone().or_else(|| mysql.user.take());
        mysql.password = self.password.clone().or_else(|| mysql.password.take());
        mysql.database = self.database.clone().or_else(|| mysql.database.take());
    }
}
