//! Connections to databases, and everything that differs between databases.
//!
//! May use: ingester-core, ingester-sql, files.
//! Must not: hold SQL text (that is `ingester_sql::dialect`), know which tables there are.
//!
//! Each database has a folder, with the same names in each: `address.rs` (URLs and hosts), `connect.rs`, `pool.rs`, `session.rs` (one
//! connection, its transactions), `migrations.rs` (the lock of migrations), `error.rs` (the classes of its errors), `values.rs`. The
//! interface of a driver for the rest of the crate is in `interface.rs`. A new database is a folder here, a line in [`PRODUCTS`], and a
//! folder in `ingester_sql::dialect`.

mod address;
mod clock;
mod command;
mod connections;
mod error;
mod examine;
mod facts;
mod hosts;
mod interface;
#[cfg(feature = "mysql")]
mod mysql;
mod options;
mod password;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
mod servers;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tls;
mod values;

pub use address::Address;
pub use command::PasswordCommand;
pub use connections::Connections;
pub use error::StoreError;
pub(crate) use error::{class_of, is_about, is_lost};
pub(crate) use examine::Answers;
pub use examine::{Finding, Verdict};
pub use facts::ErrorClass;
pub(crate) use facts::ErrorSubject;
pub(crate) use hosts::SearchResult;
pub(crate) use interface::{Call, Migrations, Session, TransactionEnd, read};
pub use options::{ConnectOptions, Retry};
pub(crate) use pool::{Pool, Transaction};
pub use tls::{Tls, TlsMistake, TlsMode};

use interface::{MissingDriver, Product};
use servers::Servers;
use std::sync::Arc;

/// The products with a driver in this program.
const PRODUCTS: &[&Product] = &[
    #[cfg(feature = "mysql")]
    &mysql::PRODUCT,
    #[cfg(feature = "sqlite")]
    &sqlite::PRODUCT,
    #[cfg(feature = "postgres")]
    &postgres::PRODUCT,
];

/// The products without a driver in this program.
const LEFT_OUT: &[MissingDriver] = &[
    #[cfg(not(feature = "mysql"))]
    (&["mysql", "mariadb"], "mysql", None),
    #[cfg(not(feature = "sqlite"))]
    (&["sqlite"], "sqlite", None),
    #[cfg(not(feature = "postgres"))]
    (&["postgres", "postgresql"], "postgres", Some(interface::POSTGRES_VARIABLES)),
];

/// Connects once.
pub(crate) async fn open(address: &Address, options: ConnectOptions) -> Result<Pool, StoreError> {
    let (target, password) = address.now().await?;
    target.check(options)?;
    let servers = Arc::new(Servers::default());
    let connected = target.connect(options, servers.clone()).await;
    let driver = connected.map_err(|error| target.refused(error))?;
    Ok(Pool::new(driver, target.dialect(), servers, password))
}

impl Address {
    /// Returns the error of an attempt to connect that got no answer in time.
    pub(crate) fn silent(&self) -> StoreError {
        self.target.silent()
    }
}
