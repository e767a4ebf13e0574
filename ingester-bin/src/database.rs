//! Which database is meant: the argument, else the environment, else a file beside.

use crate::Failure;
use crate::arguments::Database;
use anyhow::anyhow;
use ingester_core::store::Address;
use std::env;

/// The database when nobody names one.
const DEFAULT: &str = "sqlite://ingester.db";

/// A variable of the environment; one that is set to nothing is not set, as in a container's template.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

impl Database {
    /// Reads the address.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        let url = match self.database_url.clone().or_else(|| variable("DATABASE_URL")) {
            Some(url) => url,
            None => match Self::from_variables()? {
                Some(address) => return Ok(address),
                None => DEFAULT.into(),
            },
        };
        // To SQLite no name is a database of its own that is gone with the connection: never what somebody meant.
        if ["sqlite:", "sqlite://"].contains(&url.split_once('?').map_or(url.as_str(), |(url, _)| url)) {
            return Err(Failure::Usage(anyhow!("the database URL `{url}` names no file: write sqlite://FILE")));
        }
        url.parse::<Address>().map_err(|error| Failure::Usage(error.into()))
    }

    /// The variables that the reference system's deployments set.
    fn from_variables() -> Result<Option<Address>, Failure> {
        let (host, database) = (variable("MYSQL_HOST"), variable("MYSQL_DB_NAME"));
        let (host, database) = match (host, database) {
            (None, None) => return Ok(None),
            (Some(host), Some(database)) => (host, database),
            (Some(_), None) => {
                return Err(Failure::Usage(anyhow!("MYSQL_HOST is set and MYSQL_DB_NAME is not: name the database")));
            }
            (None, Some(_)) => {
                return Err(Failure::Usage(anyhow!("MYSQL_DB_NAME is set and MYSQL_HOST is not: name the server")));
            }
        };
        let port = match variable("MYSQL_PORT") {
            None => 3306,
            Some(port) => port.parse().map_err(|_| {
                Failure::Usage(anyhow!("MYSQL_PORT is `{port}`, which is no port: use a number from 1 to 65535"))
            })?,
        };
        let user = variable("MYSQL_USER").unwrap_or_else(|| "root".into());
        Ok(Some(Address::mysql(&host, port, &user, variable("MYSQL_PASSWORD").as_deref(), &database)))
    }
}
