//! SQLite, linked in.
//!
//! May use: ingester-core, driver.

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
use ingester_core::dialect::Dialect;

const DIALECT: Dialect = Dialect::Sqlite;
