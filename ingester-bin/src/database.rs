//! Which database is meant: the argument, else the environment, else a file beside.

use crate::Failure;
use crate::arguments::Database;
use ingester_core::store::Address;
use std::env;

/// The database when nobody names one.
const DEFAULT: &str = "sqlite://ingester.db";

impl Database {
    /// Reads the address.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        let address: Result<Address, _> = match &self.database_url {
            Some(url) => url.parse::<Address>(),
            None => match Self::from_environment()? {
                Some(address) => return Ok(address),
                None => DEFAULT.parse::<Address>(),
            },
        };
        address.map_err(|error| Failure::Usage(error.into()))
    }

    /// The variables that the reference system's deployments set.
    fn from_environment() -> Result<Option<Address>, Failure> {
        let read = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let (host, database) = (read("MYSQL_HOST"), read("MYSQL_DB_NAME"));
        let (host, database) = match (host, database) {
            (None, None) => return Ok(None),
            (Some(host), Some(database)) => (host, database),
            (Some(_), None) => return Err(Failure::Usage(anyhow::anyhow!("MYSQL_HOST is set and MYSQL_DB_NAME is not: name the database"))),
            (None, Some(_)) => return Err(Failure::Usage(anyhow::anyhow!("MYSQL_DB_NAME is set and MYSQL_HOST is not: name the server"))),
        };
        let port = match read("MYSQL_PORT") {
            None => 3306,
            Some(port) => port
                .parse()
                .map_err(|_| Failure::Usage(anyhow::anyhow!("MYSQL_PORT is `{port}`, which is no port: use a number from 1 to 65535")))?,
        };
        let user = read("MYSQL_USER").unwrap_or_else(|| "root".into());
        Ok(Some(Address::mysql(&host, port, &user, read("MYSQL_PASSWORD").as_deref(), &database)))
    }
}
