//! PostgreSQL.
//!
//! May use: ingester-core, ingester-sql, driver, quiet.

mod address;
mod connect;
mod error;
mod examine;
mod migrations;
mod pool;
mod servers;
mod session;
#[cfg(test)]
mod tests;
mod values;

use super::interface::{POSTGRES_VARIABLES, Product};
use ingester_sql::dialect::Dialect;

const DIALECT: Dialect = Dialect::Postgres;

pub(super) const PRODUCT: Product = Product {
    schemes: &["postgres", "postgresql"],
    example: "postgres://user:password@host:5432/database",
    is_file: false,
    variables: Some(POSTGRES_VARIABLES),
    encryption: Some("sslmode and sslrootcert of a PostgreSQL URL"),
    of_url: address::of_url,
    facts: error::facts,
};
