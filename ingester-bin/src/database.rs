//! The database: from the arguments, otherwise the environment, otherwise a file in the current folder. A command reports its database, and
//! the reason, unless its own arguments name it.
//!
//! May use: arguments, ending, output, progress, ingester-config, ingester-core, ingester-mirror, ingester-store.

use crate::arguments::{ConfigFile, DatabaseArguments};
use crate::ending::Failure;
use crate::output::note;
use crate::progress;
use anyhow::anyhow;
use ingester_config::{Config, ConfigError, Environment, Gate, Ingester, with_password};
use ingester_core::{Kind, KindNames};
use ingester_store::{Address, ConnectOptions, Store, StoreError};
use std::fmt;
use std::path::Path;

/// The database if none is named.
const DEFAULT: &str = "sqlite://ingester.db";

/// A database, and the reason for the choice.
pub(crate) struct Database {
    address: Address,
    /// The source of its name; `None` for the arguments.
    why: Option<String>,
}

/// Returns the configuration of a file, overridden by the environment.
pub(crate) fn configuration(file: &ConfigFile, kinds: &[Kind]) -> Result<Config, Failure> {
    Config::load(&file.config, &Environment::of_process(), &KindNames::of(kinds)).map_err(usage)
}

impl DatabaseArguments {
    /// Returns the chosen database.
    pub(crate) fn database(&self, kinds: &[Kind]) -> Result<Database, Failure> {
        let mut database = match (&self.config, &self.database_url) {
            (Some(file), _) => {
                Database::from_config(&configuration(&ConfigFile { config: file.clone() }, kinds)?, file)?
            }
            (None, Some(url)) => Database { address: parsed(url)?, why: None },
            (None, None) => Database::of_environment(&Environment::of_process())?,
        };
        if let Some(file) = &self.password_file {
            database.address = with_password(database.address, file).map_err(usage)?;
        }
        Ok(database)
    }
}

impl DatabaseArguments {
    /// Returns the section `ingester` of the configuration file; its defaults without one.
    pub(crate) fn ingester(&self, kinds: &[Kind]) -> Result<Ingester, Failure> {
        match &self.config {
            Some(file) => Ok(configuration(&ConfigFile { config: file.clone() }, kinds)?.ingester),
            None => Ok(Ingester::default()),
        }
    }
}

impl Database {
    /// Returns the database of the configuration that was read from a file.
    pub(crate) fn from_config(config: &Config, file: &Path) -> Result<Self, Failure> {
        let shown = file.display();
        let address = match config.gate().map_err(usage)? {
            Gate::Open(address) => address,
            Gate::Disabled => {
                return Err(Failure::Usage(anyhow!(
                    "{shown} does not enable the database: metadataStorage.enableMetadataStorage is false; set it to true, or name the database \
                     with --database-url"
                )));
            }
            Gate::NoDatabase => {
                return Err(Failure::Usage(anyhow!(
                    "{shown} names no database: set `mysql.host` and `mysql.database`, or `metadataStorage.databaseURL`"
                )));
            }
        };
        let overrides = |by: &str| format!("{by} of the environment, which overrides {shown}");
        Ok(Database { address, why: Environment::of_process().named_by().map(overrides) })
    }

    /// Returns the database of a URL. If there is a password file, it has the password.
    pub(crate) fn named(url: &str, password_file: Option<&Path>) -> Result<Self, Failure> {
        let address = parsed(url)?;
        let address = match password_file {
            Some(file) => with_password(address, file).map_err(usage)?,
            None => address,
        };
        Ok(Database { address, why: None })
    }

    fn of_environment(environment: &Environment) -> Result<Self, Failure> {
        match environment.address().map_err(usage)? {
            Some(address) => {
                let by = environment.named_by().or(environment.named_for_clients().map(|(name, _)| name));
                Ok(Database { address, why: by.map(|by| format!("named by {by}")) })
            }
            None => {
                let why = "neither --database-url, --config, DATABASE_URL, MYSQL_HOST nor PGHOST is set";
                Ok(Database { address: parsed(DEFAULT)?, why: Some(why.to_owned()) })
            }
        }
    }

    /// Its address.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The source of its name, if not the command.
    pub(crate) fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Opens it, and creates the file of a missing SQLite database.
    pub(crate) async fn open(&self) -> Result<Store, Failure> {
        self.open_with(ConnectOptions::default()).await
    }

    /// Opens it for a command that has nothing to do if it does not exist.
    pub(crate) async fn open_existing(&self) -> Result<Store, Failure> {
        self.open_with(ConnectOptions::default().create(false)).await
    }

    /// Opens it. Whatever the reason of a failure is, no work has begun.
    pub(crate) async fn open_with(&self, options: ConnectOptions) -> Result<Store, Failure> {
        self.announce();
        let bar = progress::spinner("{spinner} {msg}");
        bar.set_message(format!("connecting to {self}"));
        let opened = Store::connect(&self.address, options).await;
        bar.finish_and_clear();
        opened.map_err(|error| Failure::Usage(error.into()))
    }

    /// Reports which database it is, unless the arguments name it.
    pub(crate) fn announce(&self) {
        if let Some(why) = &self.why {
            note(&format!("database: {self} ({why})"));
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

fn parsed(url: &str) -> Result<Address, Failure> {
    url.parse().map_err(|error: StoreError| Failure::Usage(error.into()))
}

fn usage(error: ConfigError) -> Failure {
    Failure::Usage(error.into())
}
