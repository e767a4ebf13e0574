//! The database: from the argument, else the environment, else a file in the current folder.
//!
//! May use: arguments, ending, ingester-core, ingester-mirror, ingester-store.

use crate::arguments::{ConfigFile, Database, Target};
use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_mirror::config::{Config, Environment, Gate};
use ingester_store::Address;

/// The database if none is named.
const DEFAULT: &str = "sqlite://ingester.db";

/// The configuration of a file, overridden by the environment.
pub(crate) fn configuration(file: &ConfigFile, kinds: &[Kind]) -> Result<Config, Failure> {
    let names: Vec<&str> = kinds.iter().map(Kind::kind).collect();
    Config::load(&file.config, &Environment::of_process(), &names).map_err(|error| Failure::Usage(error.into()))
}

impl Target {
    /// Reads the address.
    pub(crate) fn address(&self, kinds: &[Kind]) -> Result<Address, Failure> {
        let Some(file) = &self.config else { return self.database.address() };
        let config = configuration(&ConfigFile { config: file.clone() }, kinds)?;
        match config.gate().map_err(|error| Failure::Usage(error.into()))? {
            Gate::Open(address) => Ok(address),
            Gate::Disabled | Gate::NoDatabase => {
                Err(Failure::Usage(anyhow!("{} names no database, or does not enable it", file.display())))
            }
        }
    }
}

impl Database {
    /// Reads the address.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        let named = match &self.database_url {
            Some(_) => None,
            None => Environment::of_process().address().map_err(|error| Failure::Usage(error.into()))?,
        };
        match named {
            Some(address) => Ok(address),
            None => {
                let url = self.database_url.as_deref().unwrap_or(DEFAULT);
                url.parse().map_err(|error: ingester_store::StoreError| Failure::Usage(error.into()))
            }
        }
    }
}
