//! Everything in a database except rows of objects: the tables and views in the catalog, the tables of the migrations that were run, and
//! the ingester's own tables with their settings.
//!
//! May use: ingester-core, ingester-sql, driver, store.
//! Must not: hold SQL text (that is `ingester_sql::dialect`), name a database.

pub(crate) mod catalog;
mod changes;
mod declared;
pub(crate) mod foreign;
mod latest;
pub(crate) mod migrations;
mod settings;
mod tables;
pub(crate) mod view;
mod views;

pub use catalog::{Catalog, FoundTable};
pub(crate) use declared::DeclaredRecords;
pub use migrations::{Ledger, LedgerError};
