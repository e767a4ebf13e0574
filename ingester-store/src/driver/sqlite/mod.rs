//! SQLite, linked in.
//!
//! May use: ingester-core, ingester-sql, driver.

mod address;
mod connect;
mod deadline;
mod durability;
mod error;
mod migrations;
mod pool;
mod session;
#[cfg(test)]
mod tests;
mod values;

pub(super) use address::of_url;
pub(super) use error::facts;
use ingester_sql::dialect::Dialect;

const DIALECT: Dialect = Dialect::Sqlite;
