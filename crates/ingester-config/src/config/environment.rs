//! The environment variables that name a database, and the region. Nothing else reads them.
//!
//! These are the variables that deployments of the reference system and of KubeDL set, and `DATABASE_URL`. If none of them is set, the
//! variables of the databases' own clients are used. A variable with an empty value counts as not set, because container templates often
//! have such variables.

use super::error::ConfigError;
use super::secret::Secret;
use super::values;
use super::{Config, Mysql};
use ingester_declare::text::{Fault as Problem, without_password};
use ingester_store::Address;
use std::path::PathBuf;

/// The environment variables that name a database, and `REGION`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `DATABASE_URL`: it overrides all others.
    url: Option<Secret>,
    /// `DATABASE_PASSWORD_FILE`, for the URL.
    url_password_file: Option<PathBuf>,
    /// `MYSQL_HOST`.
    host: Option<String>,
    /// `MYSQL_PORT`, not parsed yet.
    port: Option<String>,
    /// `MYSQL_USER`.
    user: Option<String>,
    /// `MYSQL_PASSWORD`.
    password: Option<Secret>,
    /// `MYSQL_PASSWORD_FILE`.
    password_file: Option<PathBuf>,
    /// `MYSQL_DB_NAME`.
    database: Option<String>,
    /// A variable of a database's own clients, and the URL that leaves everything to such variables.
    clients: Option<(&'static str, &'static str)>,
    /// `REGION`.
    region: Option<String>,
}

impl Environment {
    /// Reads each variable through `lookup`.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| lookup(name).filter(|value| !value.is_empty());
        Environment {
            url: variable("DATABASE_URL").map(Secret::from),
            url_password_file: variable("DATABASE_PASSWORD_FILE").map(PathBuf::from),
            host: variable("MYSQL_HOST"),
            // If a Service is named `mysql`, Kubernetes sets this variable to a value such as `tcp://10.0.0.1:3306` in every container of
            // the namespace ("Service environment variables"). That is no port.
            port: variable("MYSQL_PORT").filter(|port| !port.starts_with("tcp://")),
            user: variable("MYSQL_USER"),
            password: variable("MYSQL_PASSWORD").map(Secret::from),
            password_file: variable("MYSQL_PASSWORD_FILE").map(PathBuf::from),
            database: variable("MYSQL_DB_NAME"),
            clients: Address::by_variables(|name| variable(name).is_some()),
            region: variable("REGION"),
        }
    }

    /// Returns the environment of this process.
    pub fn of_process() -> Self {
        Environment::read(|name| std::env::var(name).ok())
    }

    /// Returns the setting of views that a variable provides: KubeDL takes the region of its rows from `REGION`. It is used if a view reads
    /// the setting and `ingester.viewSettings` does not have it.
    ///
    /// # Errors
    /// If the value is too long for a setting. The error says what is allowed.
    pub fn view_setting(&self) -> Option<Result<(&'static str, &str), String>> {
        let region = self.region.as_deref()?;
        Some(
            values::setting_value(region)
                .map(|_| ("deploy_region", region))
                .map_err(|allowed| format!("REGION is `{}`; {allowed}", without_password(region))),
        )
    }

    /// Returns the variables that name a database, for people; `None` if none does.
    pub fn named_by(&self) -> Option<&'static str> {
        match (&self.url, &self.host, &self.database) {
            (Some(_), _, _) => Some("DATABASE_URL"),
            (None, Some(_), Some(_)) => Some("MYSQL_HOST and MYSQL_DB_NAME"),
            (None, Some(_), None) => Some("MYSQL_HOST"),
            (None, None, Some(_)) => Some("MYSQL_DB_NAME"),
            (None, None, None) => None,
        }
    }

    /// If no variable names a database, returns one that names a database to its own clients (`PGHOST`), and the URL that leaves everything
    /// to such variables. It does not override a configuration.
    pub fn named_for_clients(&self) -> Option<(&'static str, &'static str)> {
        if self.named_by().is_some() { None } else { self.clients }
    }

    /// Returns true if it has the URL of a database, which a configuration then does not need.
    pub(super) fn has_url(&self) -> bool {
        self.url.is_some()
    }

    /// Returns the database for commands without a configuration file: from `DATABASE_URL`, otherwise from the `MYSQL_*` variables,
    /// otherwise from the variables of a database's own clients; `None` if no variable is set.
    ///
    /// # Errors
    /// If the URL or the port is not valid, if the variables name no server or no database, or if the password's file cannot be read.
    pub fn address(&self) -> Result<Option<Address>, ConfigError> {
        if let Some(url) = &self.url {
            return super::of_url(url, self.url_password_file.as_deref()).map(Some);
        }
        if self.url_password_file.is_some() {
            return Err(ConfigError::from_message(
                "DATABASE_PASSWORD_FILE is set, but not DATABASE_URL: set it (`postgresql:///` leaves the rest to PGHOST and the like)",
            ));
        }
        match (&self.host, &self.database) {
            (None, None) => {
                self.names_nothing()?;
                let url = self.named_for_clients().map(|(_, url)| url.parse());
                return url.transpose().map_err(|error| ConfigError::from_message(format!("{error}")));
            }
            (Some(_), Some(_)) => {}
            (Some(_), None) => {
                return Err(ConfigError::from_message(
                    "MYSQL_HOST is set and MYSQL_DB_NAME is not: set it to the name of the database",
                ));
            }
            (None, Some(_)) => {
                return Err(ConfigError::from_message("MYSQL_DB_NAME is set and MYSQL_HOST is not: name the server"));
            }
        }
        let mut mysql = Mysql::default();
        let mut problems = Vec::new();
        self.apply_to(&mut mysql, &mut problems);
        if problems.is_empty() { mysql.address() } else { Err(ConfigError::new(problems)) }
    }

    /// Checks that no variable describes a server that no other variable names. If the name was forgotten, another database would be
    /// written.
    fn names_nothing(&self) -> Result<(), ConfigError> {
        let about_a_server = [
            ("MYSQL_PORT", self.port.is_some()),
            ("MYSQL_USER", self.user.is_some()),
            ("MYSQL_PASSWORD", self.password.is_some()),
            ("MYSQL_PASSWORD_FILE", self.password_file.is_some()),
        ];
        let set: Vec<&str> = about_a_server.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
        if set.is_empty() {
            return Ok(());
        }
        let are = if set.len() == 1 { "is" } else { "are" };
        Err(ConfigError::from_message(format!(
            "{} {are} set, but neither MYSQL_HOST nor MYSQL_DB_NAME is: set both, or name the database with --database-url or \
             --config",
            set.join(" and ")
        )))
    }

    /// Overrides the file's values with the variables that are set.
    pub(super) fn apply(&self, config: &mut Config, problems: &mut Vec<Problem>) {
        self.apply_to(&mut config.mysql, problems);
        let storage = &mut config.metadata_storage;
        if self.url.is_some() || self.host.is_some() || self.database.is_some() {
            // The password file in the configuration belongs to another database.
            (storage.database_url, storage.password_file) = (self.url.clone(), None);
            storage.password_command = Default::default();
        }
        if self.url_password_file.is_some() {
            storage.password_file.clone_from(&self.url_password_file);
            storage.password_command = Default::default();
        }
    }

    fn apply_to(&self, mysql: &mut Mysql, problems: &mut Vec<Problem>) {
        let mut wrong = |name: &str, value: &str, allowed: String| {
            problems.push(Problem::somewhere(format!("{name} is `{}`; {allowed}", without_password(value))));
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
        if self.password.is_some() && self.password_file.is_some() {
            let message = "MYSQL_PASSWORD and MYSQL_PASSWORD_FILE are both set: leave out one";
            problems.push(Problem::somewhere(message));
        }
        if self.password.is_some() || self.password_file.is_some() {
            (mysql.password, mysql.password_file) = (self.password.clone(), self.password_file.clone());
            mysql.password_command = Default::default();
        }
        mysql.user = self.user.clone().or_else(|| mysql.user.take());
        mysql.database = self.database.clone().or_else(|| mysql.database.take());
    }
}
