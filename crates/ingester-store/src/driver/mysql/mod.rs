//! MySQL, MariaDB and other servers with their protocol.
//!
//! May use: ingester-core, ingester-sql, driver.

mod abandoned;
mod address;
mod connect;
mod error;
mod examine;
mod holder;
mod migrations;
mod pool;
mod servers;
mod session;
mod values;

use super::interface::Product;
pub(super) use address::of_parts;
use ingester_sql::dialect::Dialect;

const DIALECT: Dialect = Dialect::MySql;

pub(super) const PRODUCT: Product = Product {
    schemes: &["mysql", "mariadb"],
    example: "mysql://user:password@host:3306/database",
    is_file: false,
    variables: None,
    encryption: Some("ssl-mode and ssl-ca of the URL or `mysql.tls` of the configuration"),
    of_url: address::of_url,
    facts: error::facts,
};
