//! SQLite, linked in.
//!
//! May use: ingester-core, ingester-sql, driver.

mod address;
mod connect;
mod deadline;
mod durability;
mod error;
mod examine;
mod migrations;
mod pool;
mod session;
#[cfg(test)]
mod tests;
mod values;

use super::interface::Product;
use ingester_sql::dialect::Dialect;

const DIALECT: Dialect = Dialect::Sqlite;

pub(super) const PRODUCT: Product = Product {
    schemes: &["sqlite"],
    example: "sqlite://file.db",
    is_file: true,
    variables: None,
    encryption: None,
    of_url: address::of_url,
    facts: error::facts,
};
