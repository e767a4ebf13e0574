//! MySQL, MariaDB and other servers with their protocol.
//!
//! May use: ingester-core, ingester-sql, driver.

mod abandoned;
mod address;
mod connect;
mod error;
mod holder;
mod hosts;
mod migrations;
mod pool;
mod servers;
mod session;
mod values;

pub(super) use address::{of_parts, of_url};
pub(super) use error::facts;
use ingester_sql::dialect::Dialect;

const DIALECT: Dialect = Dialect::MySql;
